//! The page: each finding over all families, and each family by itself.

use super::disturbance::Disturbance;
use super::score::{Judged, Verdict};
use crate::interval::expected_to_hold;
use crate::machine::today;
use crate::options::CoverageOptions;
use model::finding::FindingCode;
use std::fmt::Write as _;

pub struct Part {
    pub experiment: &'static str,
    pub words: &'static [&'static str],
    pub disturbance: Option<Disturbance>,
    pub family: &'static str,
    pub judged: Vec<Judged>,
}

impl Part {
    pub fn title(&self) -> String {
        match self.disturbance {
            Some(disturbance) => format!("{}, {}", self.experiment, disturbance.name()),
            None => self.experiment.to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    intervals: usize,
    held: usize,
    sure: usize,
    right: usize,
    none: usize,
    invented: usize,
    unknown: usize,
}

/// Of so many drives of each family that are judged so far.
pub fn page(options: &CoverageOptions, done: u64, parts: &[Part]) -> String {
    let CoverageOptions { first, seed, .. } = options;
    let (title, flags, drives) = match (options.disturbed, options.mounted) {
        (true, _) => (
            "Coverage of every finding under other I/O, and on a late host",
            " --disturbed",
            "virtual; the truth is the drive's alone, without other I/O and without the host's delay",
        ),
        (false, true) => {
            ("Coverage of every finding", " --mounted", "virtual, and served in real time as loop devices")
        }
        (false, false) => ("Coverage of every finding", "", "virtual"),
    };
    let mut text = format!(
        "# {title}\n\n\
         Made by `cargo xtask bench coverage{flags} --seed {seed} --first {first} --random {done}` on {}: `check --deep` and `sustain --write` on {done} \
         random drives\nof each family. All drives are {drives}. A finding is scored where the drive's profile says what is true.\n\n\
         - *intervals*: numbers with an interval of 95 %, and how many hold the truth; in brackets what chance lets hold in 95 of 100 tables.\n\
         - *right*: words, exact numbers and bounds that are true.\n\
         - *unknown*: the truth is known, the run asked for it, and told none.\n\
         - *invented*: nothing is there, and something was told, of all drives without it.\n\n",
        today()
    );
    let mut titles: Vec<String> = parts.iter().map(Part::title).collect();
    titles.dedup();
    for title in titles {
        let of_it: Vec<&Part> = parts.iter().filter(|part| part.title() == title).collect();
        text += &section(&format!("{title}: all families"), &of_it);
        for part in of_it {
            text += &section(&format!("{title}: {}", part.family), &[part]);
        }
    }
    text
}

fn section(title: &str, parts: &[&Part]) -> String {
    let mut text = format!(
        "## {title}\n\n| finding | intervals that hold | right | unknown | invented |\n|---|---:|---:|---:|---:|\n"
    );
    for code in FindingCode::ALL {
        let judged = parts.iter().flat_map(|part| &part.judged).filter(|judged| judged.code == *code);
        let tally = Tally::of(judged.map(|judged| judged.verdict));
        let asked = tally.intervals + tally.sure + tally.unknown;
        if asked + tally.none + tally.invented == 0 {
            continue;
        }
        let intervals = match expected_to_hold(tally.intervals) {
            _ if tally.intervals == 0 => "-".to_owned(),
            (least, most) => format!("{} of {} ({least} to {most})", tally.held, tally.intervals),
        };
        let _ = writeln!(
            text,
            "| `{}` | {intervals} | {} | {} | {} |",
            code.name(),
            share(tally.right, tally.sure),
            share(tally.unknown, asked),
            share(tally.invented, tally.none + tally.invented)
        );
    }
    text.push('\n');
    text
}

fn share(count: usize, of: usize) -> String {
    if of == 0 { "-".to_owned() } else { format!("{count} of {of}") }
}

impl Tally {
    fn of(verdicts: impl Iterator<Item = Verdict>) -> Tally {
        let mut tally = Tally::default();
        for verdict in verdicts {
            match verdict {
                Verdict::Interval { holds } => {
                    tally.intervals += 1;
                    tally.held += usize::from(holds);
                }
                Verdict::Bound { holds: is_right } | Verdict::Exact { is_right } => {
                    tally.sure += 1;
                    tally.right += usize::from(is_right);
                }
                Verdict::None => tally.none += 1,
                Verdict::Invented => tally.invented += 1,
                Verdict::Unknown => tally.unknown += 1,
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, section};
    use crate::coverage::score::{Judged, Verdict};
    use model::finding::FindingCode;

    #[test]
    fn a_code_has_a_row_with_all_its_verdicts() {
        let verdicts = [
            Verdict::Interval { holds: true },
            Verdict::Interval { holds: false },
            Verdict::Exact { is_right: true },
            Verdict::Bound { holds: false },
            Verdict::Unknown,
            Verdict::None,
            Verdict::Invented,
        ];
        let judged =
            verdicts.map(|verdict| Judged { code: FindingCode::WriteCache, verdict, line: String::new() });
        let part = Part {
            experiment: "sustain",
            words: &[],
            disturbance: None,
            family: "cached",
            judged: judged.into(),
        };
        assert_eq!(
            section("sustain", &[&part]),
            "## sustain\n\n| finding | intervals that hold | right | unknown | invented |\n|---|---:|---:|---:|---:|\n\
             | `write-cache` | 1 of 2 (1 to 2) | 1 of 2 | 1 of 5 | 1 of 2 |\n\n"
        );
    }
}
