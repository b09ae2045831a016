//! The page: what was done, each drive, and all drives by code.

use std::fmt::Write as _;

use model::finding::FindingCode;

use super::score::{Allowed, CODES, Score, Verdict};
use crate::interval::{expected_to_hold, is_bound};
use crate::machine::{today, worst};
use crate::options::ScoreOptions;

pub fn head(options: &ScoreOptions) -> String {
    let ScoreOptions { random, first, seed, .. } = options;
    let mut text = format!(
        "# `drivescope access` and `drivescope geometry` against the truth\n\n\
         Made by `cargo xtask bench access --seed {seed} --first {first} --random {random}` on {}. All drives are virtual and all times are \
         theirs.\nErrors are against what follows from the drive's profile (`drivescope sim truth NAME`); the knee against many more numbers at a \
         time, measured for long.\n\n",
        today()
    );
    text.push_str(
        "The first drive of a table is measured with that seed, and each that follows with one more.\n\n",
    );
    for (code, name, allowed) in CODES {
        let limit = match allowed {
            Allowed::Share(share) if *share < 1e-3 => format!("{:.0} ppm", share * 1e6),
            Allowed::Share(share) if *name == "sectors of tracks" => {
                format!("every count true in {:.0} % of the zones seen", 100.0 * (1.0 - share))
            }
            Allowed::Share(share) => format!("{:.0} %", 100.0 * share),
            Allowed::ShareOr(share, amount) => format!("{:.0} % or {:.1} ms", 100.0 * share, amount * 1e3),
            Allowed::Exact if *code == FindingCode::StripeLayout => "members, kind and chunk exact".into(),
            Allowed::Exact => "exact".into(),
            Allowed::OneStep => "one step of the numbers measured".into(),
        };
        let _ = writeln!(text, "- *{name}* (`{}`): {limit}.", code.name());
    }
    text.push_str(
        "\nA plain figure is the error, allowed; **bold** is more than allowed; *?* is \"unknown, because\"; *!* is a value of which the \
         truth says nothing; - was not\nasked.\n\n",
    );
    text.push_str(&of_intervals());
    text
}

fn of_intervals() -> String {
    let bounds: Vec<String> =
        CODES.iter().filter(|(code, ..)| is_bound(*code)).map(|(_, name, _)| format!("*{name}*")).collect();
    format!(
        "Intervals are those of 95 %. If each holds the truth with that chance, as many as stand in brackets hold it in 95 of 100 such \
         tables.\nThe intervals of {} are bounds, which may hold more:\n\n\
         - of whole numbers each is inside with all its chance, or outside;\n\
         - what a drive keeps, or reads on by, ends between the last read that its memory answers and the first that it does not, and for what it \
         keeps\n  the farthest is taken;\n\
         - a turn is known to what the clock rounds off, which may drift by a whole step of it.\n\n",
        bounds.join(", ")
    )
}

pub fn by_drive(title: &str, scores: &[Score]) -> String {
    let mut text = format!("## {title}\n\n| drive | access, s | geometry, s |");
    for (_, name, _) in CODES {
        let _ = write!(text, " {name} |");
    }
    text.push_str("\n|---|---:|---:|");
    text.push_str(&"---:|".repeat(CODES.len()));
    text.push('\n');
    for score in scores {
        let _ = write!(text, "| {} | {:.0} | {:.0} |", score.name, score.access_s, score.geometry_s);
        for (verdict, (_, _, allowed)) in score.verdicts.iter().zip(CODES) {
            let _ = write!(text, " {} |", cell(verdict, *allowed));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

fn cell(verdict: &Verdict, allowed: Allowed) -> String {
    match verdict {
        Verdict::None => "-".into(),
        Verdict::Unknown => "?".into(),
        Verdict::Invented => "!".into(),
        Verdict::Found { error, allowed: is_allowed, .. } => {
            let text = match allowed {
                Allowed::Share(share) if share < 1e-3 => format!("{:+.1} ppm", error * 1e6),
                Allowed::Exact | Allowed::OneStep if *is_allowed => "right".into(),
                Allowed::Exact | Allowed::OneStep => "wrong".into(),
                _ => percent(*error),
            };
            if *is_allowed { text } else { format!("**{text}**") }
        }
    }
}

fn percent(error: f64) -> String {
    if error.is_finite() { format!("{:+.1} %", 100.0 * error) } else { "none is there".into() }
}

pub fn by_code(title: &str, scores: &[Score]) -> String {
    let mut text = format!(
        "## {title}: {} drives\n\n| | found | allowed | worst error | intervals that hold | unknown | without a truth |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
        scores.len()
    );
    for (number, (code, name, allowed)) in CODES.iter().enumerate() {
        let (mut errors, mut good, mut known, mut held, mut unknown, mut invented) =
            (Vec::new(), 0, 0, 0, 0, 0);
        for score in scores {
            match &score.verdicts[number] {
                Verdict::None => {}
                Verdict::Unknown => unknown += 1,
                Verdict::Invented => invented += 1,
                Verdict::Found { error, allowed, covered } => {
                    errors.push(*error);
                    good += usize::from(*allowed);
                    known += usize::from(covered.is_some());
                    held += usize::from(*covered == Some(true));
                }
            }
        }
        let worst = match (worst(errors.iter().copied()), allowed) {
            (None, _) | (_, Allowed::Exact | Allowed::OneStep) => "-".into(),
            (Some(worst), Allowed::Share(share)) if *share < 1e-3 => format!("{:+.1} ppm", worst * 1e6),
            (Some(worst), _) => percent(worst),
        };
        let share = match errors.len() {
            0 => "-".to_string(),
            count => format!("{:.1} %", 100.0 * good as f64 / count as f64),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {worst} | {} | {} | {} |",
            errors.len(),
            share,
            holding(*code, held, known),
            unknown,
            invented
        );
    }
    text.push('\n');
    text
}

/// "64 of 67 (60 to 66)": how many of so many intervals hold, and what is to be expected.
fn holding(code: FindingCode, held: usize, count: usize) -> String {
    match (count, is_bound(code)) {
        (0, _) => "-".into(),
        (_, true) => format!("{held} of {count}, bounds"),
        (_, false) => {
            let (least, most) = expected_to_hold(count);
            format!("{held} of {count} ({least} to {most})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_intervals;

    #[test]
    fn what_is_a_bound_is_said() {
        assert!(of_intervals().contains(
            "The intervals of *kinds of answers*, *knee*, *drive cache*, *read-ahead*, *drives*, *turn* are bounds"
        ));
    }
}
