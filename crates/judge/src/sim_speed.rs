//! `cargo xtask bench sim`: how many requests a second virtual drives answer on one core, against what they must.

use crate::engine::measurement::number;
use crate::failure::Failure;
use crate::machine::{load_average, machine, publish, spread, today};
use crate::options::SimOptions;
use crate::place::{output, parsed};
use crate::workspace::build_example;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Where the table is kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-sim.md";
struct Case {
    what: &'static str,
    drive: &'static str,
    workload: &'static str,
    target: Target,
}

enum Target {
    PerSecond(f64),
    Seconds(f64),
    Unbounded,
}

const CASES: &[Case] = &[
    case("disk, sequential reads of 1 MiB, depth 4", "disk", "sequential", Target::PerSecond(3e6)),
    case(
        "disk, random reads of 4 KiB, depth 32, aged shortest positioning",
        "disk",
        "random",
        Target::PerSecond(4e5),
    ),
    case("disk, full pass over 3 TB", "disk", "pass", Target::Seconds(2.0)),
    case(
        "disk with its link, sequential reads of 1 MiB, depth 4",
        "dt01aca300",
        "sequential",
        Target::PerSecond(3e6),
    ),
    case(
        "disk with its link, random reads of 4 KiB, depth 32",
        "dt01aca300",
        "random",
        Target::PerSecond(4e5),
    ),
    case("disk with its link, full pass over 3 TB", "dt01aca300", "pass", Target::Seconds(2.0)),
    case("disk, sequential writes of 1 MiB, depth 4", "disk", "sequential-write", Target::Unbounded),
    case(
        "disk, random writes of 4 KiB through its cache, depth 32",
        "disk",
        "random-write",
        Target::Unbounded,
    ),
    case(
        "flash, random writes of 4 KiB with garbage collection, depth 32",
        "flash",
        "random-write",
        Target::PerSecond(1e6),
    ),
];

const fn case(what: &'static str, drive: &'static str, workload: &'static str, target: Target) -> Case {
    Case { what, drive, workload, target }
}

pub fn run(options: &SimOptions) -> Result<(), Failure> {
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
    publish(&report(options, &turns, &before), REPORT, true)?;
    let mut pairs = CASES.iter().zip(&turns);
    if pairs.all(|(case, turns)| case.target.ratio(spread_of(turns).0) >= 1.0) {
        Ok(())
    } else {
        Err(Failure::Missed)
    }
}

fn measure(program: &Path, case: &Case, seconds: u64) -> Result<f64, Failure> {
    let printed = output(Command::new(program).args([case.drive, case.workload, &seconds.to_string()]))?;
    let key = if matches!(case.target, Target::Seconds(_)) { "/seconds" } else { "/requests_per_second" };
    number(&parsed(&printed)?, key)
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

    fn cells(&self, value: f64) -> String {
        match self {
            Target::PerSecond(least) => format!("≥ {} | {:.2}", self.shown(*least), self.ratio(value)),
            Target::Seconds(most) => format!("< {} | {:.2}", self.shown(*most), self.ratio(value)),
            Target::Unbounded => "– | –".to_owned(),
        }
    }
}

fn report(options: &SimOptions, turns: &[Vec<f64>], load_before: &str) -> String {
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
        let (value, low, high) = spread_of(turns);
        let (low, high) = (case.target.shown(low), case.target.shown(high));
        let (shown, cells) = (case.target.shown(value), case.target.cells(value));
        let _ = writeln!(text, "| {} | {shown} ({low}–{high}) | {cells} |", case.what);
    }
    text
}

fn spread_of(turns: &[f64]) -> (f64, f64, f64) {
    spread(turns.to_vec()).unwrap_or((f64::NAN, f64::NAN, f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::{CASES, report};
    use crate::options::SimOptions;

    #[test]
    fn the_table_says_how_far_from_the_bound() {
        let turns: Vec<Vec<f64>> = CASES.iter().map(|_| vec![6e6, 4.5e6, 3e6]).collect();
        let text = report(&SimOptions { seconds: 1, rounds: 3 }, &turns, "0 0 0");
        assert!(text.contains("depth 4 | 4.50 M/s (3.00 M/s–6.00 M/s) | ≥ 3.00 M/s | 1.50 |"), "{text}");
    }
}
