//! The size of the bands of shingled disks, by `drivescope sustain`, against that of the place where it looked.

use std::fmt::Write as _;

use serde_json::Value;

use model::finding::FindingCode;
use sim::profile::{Medium, Profile};

use super::score::{ALLOWED, Score};
use crate::bench::document::{covers, finding};

/// What was said of the size of bands.
#[derive(Clone, Debug, PartialEq)]
pub enum BandVerdict {
    /// There are none, and nothing was said.
    None,
    /// It said why it does not know, or nothing where there are some.
    Unknown(String),
    /// There are none, and it told a size in bytes.
    Invented(f64),
    /// There are some.
    Found {
        /// How large they are where it looked, in bytes.
        true_bytes: f64,
        /// The error, as a share.
        error: f64,
        /// Whether the interval holds the true size.
        is_covered: bool,
    },
}

impl BandVerdict {
    /// The verdict on a drive from the document of its run.
    pub fn of(profile: &Profile, document: &Value) -> BandVerdict {
        let found = finding(document, FindingCode::BandSize);
        let told = found.and_then(|found| Some((found, found["value"].as_f64()?)));
        let Ok(Medium::Shingled(_, smr)) = profile.medium() else {
            return told.map_or(BandVerdict::None, |(_, bytes)| BandVerdict::Invented(bytes));
        };
        let Some((found, bytes)) = told else {
            let why = found.and_then(|found| found["unknown"].as_str()).unwrap_or("nothing was said");
            return BandVerdict::Unknown(why.to_owned());
        };
        let first_byte = found["data"]["first_byte"].as_u64().unwrap_or(0);
        let zone = smr.band_zones.iter().rev().find(|zone| zone.first_byte <= first_byte);
        let true_bytes = zone.map_or(f64::NAN, |zone| zone.band_bytes as f64);
        BandVerdict::Found {
            true_bytes,
            error: bytes / true_bytes - 1.0,
            is_covered: covers(found, true_bytes) == Some(true),
        }
    }
}

/// A line for all drives, and one for each that is not told, or wrong.
pub fn text(scores: &[&Score]) -> String {
    let (mut found, mut right, mut held, mut worst) = (0, 0, 0, 0.0_f64);
    let (mut unknown, mut invented, mut odd) = (0, 0, String::new());
    for score in scores {
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
    use crate::bench::virtual_drive::named;
    use serde_json::json;

    fn verdict(name: &str, finding: &Value) -> BandVerdict {
        let drive = named(name).unwrap_or_else(|failure| panic!("{}", failure.message));
        BandVerdict::of(&drive.profile, &json!({ "findings": [finding] }))
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
