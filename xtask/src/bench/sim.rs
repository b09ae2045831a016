//! `cargo xtask bench sim`: how many requests a second virtual drives answer on one core, against what they must.

use std::fmt::Write as _;
use std::path::Path;

use super::contender::output;
use super::measurement::number;
use super::summary::{load_average, machine, today};
use super::{build_example, keep};
use crate::Failure;

/// Where the table is kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-sim.md";
const USAGE: &str = "Usage: cargo xtask bench sim [--seconds N] [--rounds N]
Measures the virtual drives on one core, in processor time.";

/// A drive, what is asked of it, and what it must do.
struct Case {
    what: &'static str,
    drive: &'static str,
    workload: &'static str,
    target: Target,
}

/// What is measured, and its bound.
enum Target {
    /// Requests in a second, at least.
    PerSecond(f64),
    /// Seconds for all of it, at most.
    Seconds(f64),
    /// Requests in a second, without a bound.
    Unbounded,
}

const CASES: &[Case] = &[
    Case {
        what: "disk, sequential reads of 1 MiB, depth 4",
        drive: "disk",
        workload: "sequential",
        target: Target::PerSecond(3e6),
    },
    Case {
        what: "disk, random reads of 4 KiB, depth 32, aged shortest positioning",
        drive: "disk",
        workload: "random",
        target: Target::PerSecond(400e3),
    },
    Case { what: "disk, full pass over 3 TB", drive: "disk", workload: "pass", target: Target::Seconds(2.0) },
    Case {
        what: "disk with its link, sequential reads of 1 MiB, depth 4",
        drive: "dt01aca300",
        workload: "sequential",
        target: Target::PerSecond(3e6),
    },
    Case {
        what: "disk with its link, random reads of 4 KiB, depth 32",
        drive: "dt01aca300",
        workload: "random",
        target: Target::PerSecond(400e3),
    },
    Case {
        what: "disk with its link, full pass over 3 TB",
        drive: "dt01aca300",
        workload: "pass",
        target: Target::Seconds(2.0),
    },
    Case {
        what: "disk, sequential writes of 1 MiB, depth 4",
        drive: "disk",
        workload: "sequential-write",
        target: Target::Unbounded,
    },
    Case {
        what: "disk, random writes of 4 KiB through its cache, depth 32",
        drive: "disk",
        workload: "random-write",
        target: Target::Unbounded,
    },
    Case {
        what: "flash, random writes of 4 KiB with garbage collection, depth 32",
        drive: "flash",
        workload: "random-write",
        target: Target::PerSecond(1e6),
    },
];

/// How often, and how long each time.
struct Options {
    seconds: u64,
    rounds: u64,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options { seconds: 1, rounds: 5 };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(Failure::cannot(USAGE)) };
            let number = match name.as_str() {
                "--seconds" => &mut options.seconds,
                "--rounds" => &mut options.rounds,
                _ => return Err(Failure::cannot(USAGE)),
            };
            *number =
                value.parse().ok().filter(|&number| number > 0).ok_or_else(|| Failure::cannot(USAGE))?;
        }
        Ok(options)
    }
}

/// Runs every case in every round, prints the table and keeps it. Fails when a bound is missed.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = Options::parse(arguments)?;
    let program = build_example("drive_rate")?;
    let before = load_average();
    let mut turns = vec![Vec::new(); CASES.len()];
    for round in 1..=options.rounds {
        for (case, turns) in CASES.iter().zip(&mut turns) {
            let value = measure(&program, case, options.seconds)?;
            eprintln!("round {round}: {value:>12.3}  {}", case.what);
            turns.push(value);
        }
    }
    let report = report(&options, &turns, &before);
    println!("{report}");
    keep(REPORT, &report)?;
    let all_reached = CASES.iter().zip(&turns).all(|(case, turns)| case.target.ratio(median(turns)) >= 1.0);
    if all_reached { Ok(()) } else { Err(Failure::checks_failed()) }
}

fn measure(program: &Path, case: &Case, seconds: u64) -> Result<f64, Failure> {
    let mut command = std::process::Command::new(program);
    let printed = output(command.args([case.drive, case.workload, &seconds.to_string()]))?;
    let key = if matches!(case.target, Target::Seconds(_)) { "seconds" } else { "requests_per_second" };
    number(&printed, &[key])
}

impl Target {
    /// How much better than its bound a value is: 1 just reaches it.
    fn ratio(&self, value: f64) -> f64 {
        match self {
            Target::PerSecond(least) => value / least,
            Target::Seconds(most) => most / value,
            Target::Unbounded => f64::INFINITY,
        }
    }

    fn shown(&self, value: f64) -> String {
        match self {
            Target::Seconds(_) => format!("{value:.2} s"),
            _ => format!("{:.2} M/s", value / 1e6),
        }
    }

    /// The cells of bound and ratio.
    fn cells(&self, value: f64) -> String {
        match self {
            Target::PerSecond(least) => format!("≥ {} | {:.2}", self.shown(*least), self.ratio(value)),
            Target::Seconds(most) => format!("< {} | {:.2}", self.shown(*most), self.ratio(value)),
            Target::Unbounded => "– | –".to_owned(),
        }
    }
}

fn report(options: &Options, turns: &[Vec<f64>], load_before: &str) -> String {
    let mut text = format!(
        "# Virtual drives on one core\n\n\
         Made by `cargo xtask bench sim --seconds {} --rounds {}` on {}.\n{}\n\
         Load averages before and after: {load_before}; {}.\n\n\
         Requests through the `Drive` trait, as the engine uses it, for each second of processor time: what others on the \
         machine\ndo takes no part but for the caches they share. Medians of the rounds; a ratio above 1 is better than \
         the bound.\n\n\
         | what | median (min–max) | bound | ratio |\n|---|---:|---:|---:|\n",
        options.seconds,
        options.rounds,
        today(),
        machine(),
        load_average(),
    );
    for (case, turns) in CASES.iter().zip(turns) {
        let (low, high) = turns
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(low, high), &value| (low.min(value), high.max(value)));
        let (low, high) = (case.target.shown(low), case.target.shown(high));
        let value = median(turns);
        let (shown, cells) = (case.target.shown(value), case.target.cells(value));
        let _ = writeln!(text, "| {} | {shown} ({low}–{high}) | {cells} |", case.what);
    }
    text
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::{CASES, Options, median, report};

    #[test]
    fn options_are_numbers_from_one_on() {
        let parse = |line: &str| {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            Options::parse(&arguments).map(|options| (options.seconds, options.rounds)).ok()
        };
        assert_eq!(parse(""), Some((1, 5)));
        assert_eq!(parse("--seconds 3 --rounds 7"), Some((3, 7)));
        for line in ["--seconds", "--rounds 0", "--rounds few", "--only disk"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    #[test]
    fn the_table_says_how_far_from_the_bound() {
        let turns: Vec<Vec<f64>> = CASES.iter().map(|_| vec![6e6, 4.5e6, 3e6]).collect();
        let text = report(&Options { seconds: 1, rounds: 3 }, &turns, "0 0 0");
        assert!(text.contains("depth 4 | 4.50 M/s (3.00 M/s–6.00 M/s) | ≥ 3.00 M/s | 1.50 |"), "{text}");
        assert_eq!(median(&[1.0, 2.0, 4.0, 8.0]), 3.0);
    }
}
