//! The size of the bands of shingled disks, by `drivescope sustain`, against that of the place where it looked.

use super::score::{ALLOWED, BandVerdict, Score};
use std::fmt::Write as _;

pub fn text(scores: &[&[Score]]) -> String {
    let (mut found, mut right, mut held, mut worst) = (0, 0, 0, 0.0_f64);
    let (mut unknown, mut invented, mut odd) = (0, 0, String::new());
    for score in scores.iter().copied().flatten() {
        match &score.bands {
            BandVerdict::None => {}
            BandVerdict::Invented(bytes) => {
                invented += 1;
                let _ = writeln!(odd, "| {} | none | **{:.1} MB** |", score.name, bytes / 1e6);
            }
            BandVerdict::Unknown(why) => {
                unknown += 1;
                let _ = writeln!(odd, "| {} | not told | {why} |", score.name);
            }
            BandVerdict::Found { true_bytes, error, is_covered } => {
                found += 1;
                held += usize::from(*is_covered);
                worst = if error.abs() > worst.abs() { *error } else { worst };
                right += usize::from(error.abs() <= ALLOWED);
                if error.abs() > ALLOWED || !is_covered {
                    let _ = writeln!(
                        odd,
                        "| {} | {:.1} MB | **{:+.1} %**, interval holds: {is_covered} |",
                        score.name,
                        true_bytes / 1e6,
                        100.0 * error
                    );
                }
            }
        }
    }
    let head = "| drive | bands | said |\n|---|---|---|\n";
    format!(
        "## Bands of shingled disks\n\nIn the same runs, of all drives above: of {} with bands the size is told on {found}, within {:.0} % on {right} (worst \
         {:+.1} %), and the interval, which is what the distance of the blocks that were looked at leaves open, holds on {held}. Unknown on {unknown}; \
         told where there are none on {invented}.\n\n{}{odd}\n",
        found + unknown,
        100.0 * ALLOWED,
        100.0 * worst,
        if odd.is_empty() { "" } else { head }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_drive::named;
    use serde_json::{Value, json};

    fn verdict(name: &str, finding: &Value) -> BandVerdict {
        let drive = named(name).expect("a drive");
        BandVerdict::of(&drive.profile, &json!({ "findings": [finding] }).into())
    }

    #[test]
    fn a_size_is_scored_where_it_was_looked_at() {
        let told = json!({ "code": "band-size", "value": 30_303_232.0, "low": 29e6, "high": 31e6, "data": { "first_byte": 900_000_000_000_u64 } });
        let BandVerdict::Found { true_bytes, error, is_covered } = verdict("smr-2tb", &told) else {
            panic!("it is told")
        };
        assert_eq!((true_bytes, is_covered), (30_003_200.0, true));
        assert!((error - 0.01).abs() < 1e-6, "{error}");
        assert_eq!(verdict("st3250823a", &told), BandVerdict::Invented(30_303_232.0));
        let unknown = json!({ "code": "band-size", "unknown": "why" });
        assert_eq!(verdict("smr-2tb", &unknown), BandVerdict::Unknown("why".into()));
        assert_eq!(verdict("st3250823a", &json!({})), BandVerdict::None);
    }
}
