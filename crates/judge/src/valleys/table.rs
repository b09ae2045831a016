//! The page: drives with valleys, drives without, and those of which something is wrong.

use std::fmt::Write as _;

use super::drives::Sort;
use super::score::{Found, INTERVAL_ALLOWED, Said, Score, WIDTH_ALLOWED};
use crate::machine::{today, worst};
use crate::options::ScoreOptions;

pub fn page(options: &ScoreOptions, scores: &[Score]) -> String {
    let mut text = format!(
        "# `drivescope valleys` against the truth\n\n\
         Made by `cargo xtask bench valleys --seed {} --first {} --random {}` on {}. All drives are virtual, drawn at random, and all times \
         are theirs.\nDrives with valleys are flash: those of the generator that have bursts of work by time from the beginning, and others \
         that stand still after\nso many bytes to write out their table. Passes in order in blocks of 64 KiB over 24 GB, as many as the program \
         makes by itself.\nThe number is that of all passes at full rate, of valleys of 50 ms and more: by bytes it has to be exact; by time \
         as many as fit,\nor one more or less in each stretch of passes and what intervals jitter by. Drives without valleys are hard \
         disks, shingled ones and\nflash: three passes over 1 GB, or five over 4 GB where somebody else reads from the drive now and then.\nA disk may be slow where it goes over to its next surface, which is a place.\n\n",
        options.seed,
        options.first,
        options.random,
        today(),
    );
    text.push_str(&with_valleys(scores));
    text.push_str(&without_valleys(scores));
    text.push_str(&oddities(scores));
    text
}

fn of(scores: &[Score], sort: Sort) -> Vec<&Score> {
    scores.iter().filter(|score| score.sort == sort).collect()
}

fn with_valleys(scores: &[Score]) -> String {
    let mut text = format!(
        "## Where there are valleys\n\n| | drives | found | unknown | told there are none | interval within {:.0} % | worst | width within {:.0} % | \
         worst | number right | bound right | left open | wrong |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        100.0 * INTERVAL_ALLOWED,
        100.0 * WIDTH_ALLOWED
    );
    for (sort, bound) in [(Sort::ByTime, "time"), (Sort::ByBytes, "bytes")] {
        let own = of(scores, sort);
        let (mut none, mut unknown, mut at_places, mut bound_right, mut left_open) = (0, 0, 0, 0, 0);
        let mut found: Vec<&Found> = Vec::new();
        for score in &own {
            match &score.said {
                Said::None => none += 1,
                Said::Unknown(_) => unknown += 1,
                Said::AtPlaces(by) => {
                    at_places += 1;
                    left_open += usize::from(by == "unknown");
                }
                Said::Recurring(recurring) => {
                    bound_right += usize::from(recurring.by == bound);
                    left_open += usize::from(recurring.by == "unknown");
                    found.push(recurring);
                }
            }
        }
        let right = |wanted: fn(&Found) -> bool| found.iter().filter(|found| wanted(found)).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {bound_right} | {left_open} | {} |",
            sort.name(),
            own.len(),
            found.len() + at_places,
            unknown,
            none,
            right(Found::is_interval_right),
            percent(worst(found.iter().filter_map(|found| found.interval))),
            right(Found::is_width_right),
            percent(worst(found.iter().filter_map(|found| found.width))),
            right(Found::is_count_right),
            found.len() + at_places - bound_right - left_open,
        );
    }
    text.push('\n');
    text
}

fn percent(error: Option<f64>) -> String {
    match error {
        Some(error) => format!("{:+.1} %", 100.0 * error),
        None => "-".into(),
    }
}

fn without_valleys(scores: &[Score]) -> String {
    let mut text = "## Where there are none\n\n| | drives | none said | unknown | slow places said | some said |\n|---|---:|---:|---:|---:|---:|\n".to_string();
    for sort in [Sort::Quiet, Sort::Loaded] {
        let own = of(scores, sort);
        let (mut none, mut some, mut places) = (0, 0, 0);
        for score in &own {
            match score.said {
                Said::None => none += 1,
                Said::Recurring(_) => some += 1,
                Said::AtPlaces(_) => places += 1,
                Said::Unknown(_) => {}
            }
        }
        let _ = writeln!(
            text,
            "| {} | {} | {none} | {} | {places} | {some} |",
            sort.name(),
            own.len(),
            own.len() - none - some - places
        );
    }
    text.push('\n');
    text
}

fn oddities(scores: &[Score]) -> String {
    let rows: Vec<String> = scores.iter().filter_map(oddity).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "## Those of which something is wrong, missing or too far off\n\n| drive | has | said |\n|---|---|---|\n{}\n",
        rows.concat()
    )
}

fn oddity(score: &Score) -> Option<String> {
    let has_some = matches!(score.sort, Sort::ByTime | Sort::ByBytes);
    let said = match &score.said {
        Said::Unknown(why) if has_some => format!("unknown: {why}"),
        Said::None if has_some => "none".to_string(),
        Said::AtPlaces(by) => format!("at the same places in each pass, by {by}"),
        Said::Recurring(found) if !has_some => format!("some, by {}", found.by),
        Said::Recurring(found) => {
            let bound = if score.sort == Sort::ByTime { "time" } else { "bytes" };
            let (counted, low, high) = found.count.unwrap_or((0, f64::NAN, f64::NAN));
            let is_right = found.is_interval_right()
                && found.is_width_right()
                && found.is_count_right()
                && found.by == bound;
            if is_right {
                return None;
            }
            format!(
                "by {}; interval {}, width {}; {counted} counted of {low:.1} to {high:.1}",
                found.by,
                percent(found.interval),
                percent(found.width)
            )
        }
        Said::Unknown(_) | Said::None => return None,
    };
    Some(format!("| {} | {} | {said} |\n", score.name, score.sort.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_drive_is_counted_where_it_belongs() {
        let found = |by: &str, counted: u64| {
            let count = Some((counted, 5.0, 7.0));
            Said::Recurring(Found { by: by.into(), interval: Some(0.02), width: Some(-0.3), count })
        };
        let score = |sort, said| Score { name: "one".into(), sort, said };
        let scores = [
            score(Sort::ByTime, found("time", 6)),
            score(Sort::ByTime, found("bytes", 4)),
            score(Sort::ByBytes, Said::Unknown("too few".into())),
            score(Sort::Quiet, Said::None),
            score(Sort::Quiet, found("time", 6)),
        ];
        let program = crate::options::ProgramOption { program: None };
        let options = ScoreOptions { random: 3, first: 1, seed: 1, program };
        let text = page(&options, &scores);
        assert!(
            text.contains("| valleys by time | 2 | 2 | 0 | 0 | 2 | +2.0 % | 0 | -30.0 % | 1 | 1 | 0 | 1 |"),
            "{text}"
        );
        assert!(
            text.contains("| valleys by bytes | 1 | 0 | 1 | 0 | 0 | - | 0 | - | 0 | 0 | 0 | 0 |"),
            "{text}"
        );
        assert!(
            text.contains("| none | 2 | 1 | 0 | 0 | 1 |") && text.contains("| one | none | some, by time |"),
            "{text}"
        );
        assert!(text.contains("unknown: too few"), "{text}");
    }
}
