//! The page: what was done, each drive, and all drives by code.

use std::fmt::Write as _;

use model::finding::FindingCode;

use super::score::{Allowed, CODES, Score, Verdict};
use crate::bench::summary::today;

/// The top of the page.
pub fn head(seed: u64, first: u64, random: u64) -> String {
    let mut text = format!(
        "# `drivescope access` and `drivescope geometry` against the truth\n\n\
         Made by `cargo xtask bench access --seed {seed} --first {first} --random {random}` on {}. All drives are virtual and all times are \
         theirs.\nErrors are against what follows from the drive's profile (`drivescope sim truth NAME`); the knee against many more numbers at a \
         time, measured for long.\n\n",
        today()
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
    text
}

/// A row for each drive.
pub fn by_drive(title: &str, scores: &[Score]) -> String {
    let mut text = format!("## {title}\n\n| drive | access, s | geometry, s |");
    CODES.iter().for_each(|(_, name, _)| {
        let _ = write!(text, " {name} |");
    });
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

/// An error as a share of the truth; of what is not there no share can be told.
fn percent(error: f64) -> String {
    if error.is_finite() { format!("{:+.1} %", 100.0 * error) } else { "none is there".into() }
}

/// A row for each code, over all drives.
pub fn by_code(title: &str, scores: &[Score]) -> String {
    let mut text = format!(
        "## {title}: {} drives\n\n| | found | allowed | worst error | intervals that hold | unknown | without a truth |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
        scores.len()
    );
    for (number, (_, name, allowed)) in CODES.iter().enumerate() {
        let verdicts: Vec<&Verdict> = scores.iter().map(|score| &score.verdicts[number]).collect();
        let found: Vec<(f64, bool, Option<bool>)> = verdicts
            .iter()
            .filter_map(|verdict| match verdict {
                Verdict::Found { error, allowed, covered } => Some((*error, *allowed, *covered)),
                _ => None,
            })
            .collect();
        let count = |wanted: &Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let good = found.iter().filter(|(_, allowed, _)| *allowed).count();
        let worst = found.iter().map(|(error, ..)| *error).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let known: Vec<bool> = found.iter().filter_map(|(.., covered)| *covered).collect();
        let held = known.iter().filter(|covered| **covered).count();
        let worst = match (worst, allowed) {
            (None, _) | (_, Allowed::Exact | Allowed::OneStep) => "-".into(),
            (Some(worst), Allowed::Share(share)) if *share < 1e-3 => format!("{:+.1} ppm", worst * 1e6),
            (Some(worst), _) => percent(worst),
        };
        let share = |part: usize, whole: usize| match whole {
            0 => "-".to_string(),
            _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {worst} | {} | {} | {} |",
            found.len(),
            share(good, found.len()),
            share(held, known.len()),
            count(&Verdict::Unknown),
            count(&Verdict::Invented)
        );
    }
    text.push('\n');
    text
}
