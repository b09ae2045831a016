//! The page: what was done, each drive, and all drives by what they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::score::{ALLOWED, FallVerdict, KindVerdict, Score};
use crate::machine::{today, worst};
use crate::options::ScoreOptions;

pub fn head(options: &ScoreOptions) -> String {
    let ScoreOptions { random, first, seed, .. } = options;
    format!(
        "# `drivescope sustain` against the truth\n\n\
         Made by `cargo xtask bench writes --seed {seed} --first {first} --random {random}` on {}. All drives are virtual and all times are \
         theirs.\nErrors are against what follows from the drive's profile (`drivescope sim truth NAME`); the rate of a shingled disk after \
         its fall against\nthe rate over the bytes by which it was judged. Random writes of 128 KiB over the whole drive, new at the \
         start, as far as the program\ngoes by itself. Errors above {:.0} % are **bold**.\n\n",
        today(),
        100.0 * ALLOWED
    )
}

pub fn by_drive(title: &str, scores: &[Score]) -> String {
    let mut text = format!(
        "## {title}\n\n| drive | kind | falls after | error | rate before | rate after | interval of the place holds | of the rates | written | device time |\n\
         |---|---|---:|---:|---:|---:|---|---|---:|---:|\n"
    );
    for score in scores {
        let kind = match &score.kind {
            KindVerdict::Right => "right".to_string(),
            KindVerdict::Unknown => "unknown".into(),
            KindVerdict::Wrong(said) => format!("**{said}**"),
        };
        let _ = writeln!(
            text,
            "| {} | {kind} | {} | {} | {} |",
            score.name,
            fall_cells(score),
            written(score),
            time(score.device_s)
        );
    }
    text.push('\n');
    text
}

fn fall_cells(score: &Score) -> String {
    match &score.fall {
        FallVerdict::None => "none | - | - | - | - | -".into(),
        FallVerdict::Missed => "**not found** | - | - | - | - | -".into(),
        FallVerdict::Invented(bytes) => {
            format!("**{:.2} GB, where there is none** | - | - | - | - | -", bytes / 1e9)
        }
        FallVerdict::Found(fall) => format!(
            "{:.2} GB | {} | {} | {} | {} | {}",
            fall.true_bytes / 1e9,
            percent(fall.bytes),
            percent(fall.before),
            percent(fall.after),
            held(fall.is_covered),
            held(fall.are_rates_covered)
        ),
    }
}

fn held(is_covered: Option<bool>) -> &'static str {
    match is_covered {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "-",
    }
}

pub fn percent(error: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * error);
    if error.abs() <= ALLOWED { text } else { format!("**{text}**") }
}

fn written(score: &Score) -> String {
    let bytes = format!("{:.1} GB", score.written / 1e9);
    match &score.fall {
        FallVerdict::Found(fall) => format!("{bytes}, {:.2} ×", fall.written_times),
        _ => bytes,
    }
}

fn time(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

pub fn by_family(title: &str, scores: &[Score]) -> String {
    let mut text = format!(
        "## {title}: {} drives\n\n| | drives | kind right | unknown | wrong | falls there | found | all within {:.0} % | worst place | \
         places' intervals that hold | rates' intervals that hold | written, at most | falls where none are |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        scores.len(),
        100.0 * ALLOWED
    );
    let mut families = BTreeMap::<&str, Vec<&Score>>::new();
    for score in scores {
        families.entry(score.family).or_default().push(score);
    }
    for (family, own) in families {
        let (mut right, mut unknown, mut wrong, mut missed, mut invented) = (0, 0, 0, 0, 0);
        let (mut good, mut held, mut rates_held, mut most) = (0, 0, 0, 0.0_f64);
        let mut errors: Vec<f64> = Vec::new();
        for score in &own {
            match &score.kind {
                KindVerdict::Right => right += 1,
                KindVerdict::Unknown => unknown += 1,
                KindVerdict::Wrong(_) => wrong += 1,
            }
            match &score.fall {
                FallVerdict::None => {}
                FallVerdict::Missed => missed += 1,
                FallVerdict::Invented(_) => invented += 1,
                FallVerdict::Found(fall) => {
                    good += usize::from(fall.is_allowed());
                    held += usize::from(fall.is_covered == Some(true));
                    rates_held += usize::from(fall.are_rates_covered == Some(true));
                    most = most.max(fall.written_times);
                    errors.push(fall.bytes);
                }
            }
        }
        let found = errors.len();
        let worst = worst(errors.into_iter());
        let _ = writeln!(
            text,
            "| {family} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {invented} |",
            own.len(),
            right,
            unknown,
            wrong,
            found + missed,
            found,
            share(good, found),
            worst.map_or("-".into(), percent),
            share(held, found),
            share(rates_held, found),
            if found == 0 { "-".into() } else { format!("{most:.2} ×") },
        );
    }
    text.push('\n');
    text
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_string(),
        _ => format!("{:.0} %", 100.0 * part as f64 / whole as f64),
    }
}

pub fn oddities(scores: &[Score]) -> String {
    let odd: Vec<&Score> = scores.iter().filter(|score| !score.is_right()).collect();
    if odd.is_empty() {
        return String::new();
    }
    let mut text = "### Those of which something is wrong, missing or too far off\n\n| drive | kind | falls after | error | rate before | rate after \
                    | interval of the place holds | of the rates |\n|---|---|---:|---:|---:|---:|---|---|\n"
        .to_string();
    for score in odd {
        let kind = if let KindVerdict::Wrong(said) = &score.kind { said.as_str() } else { "not wrong" };
        let _ = writeln!(text, "| {} | {kind} | {} |", score.name, fall_cells(score));
    }
    text.push('\n');
    text
}
