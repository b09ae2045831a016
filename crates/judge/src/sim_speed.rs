//! `cargo xtask bench sim`: how many requests a second virtual drives answer on one core, against what they must.

use crate::failure::Failure;
use crate::goal::Bound::{self, AtLeast, AtMost};
use crate::goal::{Goal, quantity};
use crate::machine::{conditions, load_average, publish, spread, today};
use crate::options::SimOptions;
use crate::sim_rate::{PASS, RANDOM, RANDOM_WRITE, SEQUENTIAL, SEQUENTIAL_WRITE, Workload, answered};
use std::fmt::Write as _;

const REPORT: &str = "docs/generated/bench-sim.md";
struct Case {
    what: &'static str,
    drive: &'static str,
    workload: Workload,
    bound: Option<Bound>,
}

// Millions of requests a second.
const RATE: &str = "M/s";

const CASES: &[Case] = &[
    case("disk, sequential reads of 1 MiB, depth 4", "disk", SEQUENTIAL, Some(AtLeast(3.0))),
    case(AGED, "disk", RANDOM, Some(AtLeast(0.4))),
    case("disk, full pass over 3 TB", "disk", PASS, Some(AtMost(2.0))),
    case("disk with its link, sequential reads of 1 MiB, depth 4", LINKED, SEQUENTIAL, Some(AtLeast(3.0))),
    case("disk with its link, random reads of 4 KiB, depth 32", LINKED, RANDOM, Some(AtLeast(0.4))),
    case("disk with its link, full pass over 3 TB", LINKED, PASS, Some(AtMost(2.0))),
    case("disk, sequential writes of 1 MiB, depth 4", "disk", SEQUENTIAL_WRITE, None),
    case("disk, random writes of 4 KiB through its cache, depth 32", "disk", RANDOM_WRITE, None),
    case(COLLECTED, "flash", RANDOM_WRITE, Some(AtLeast(1.0))),
];

const AGED: &str = "disk, random reads of 4 KiB, depth 32, aged shortest positioning";
const COLLECTED: &str = "flash, random writes of 4 KiB with garbage collection, depth 32";
const LINKED: &str = "dt01aca300";

const fn case(what: &'static str, drive: &'static str, workload: Workload, bound: Option<Bound>) -> Case {
    Case { what, drive, workload, bound }
}

pub fn run(options: &SimOptions) -> Result<(), Failure> {
    let before = load_average();
    let turns = measure_all(options)?;
    publish(&report(options, &turns, &before), REPORT, true)?;
    if goals(&turns).iter().all(Goal::is_reached) { Ok(()) } else { Err(Failure::Missed) }
}

pub fn measured(options: &SimOptions) -> Result<Vec<Goal>, Failure> {
    Ok(goals(&measure_all(options)?))
}

fn measure_all(options: &SimOptions) -> Result<Vec<Vec<f64>>, Failure> {
    let mut turns = vec![Vec::new(); CASES.len()];
    for round in 1..=options.rounds {
        for (case, turns) in CASES.iter().zip(&mut turns) {
            let value = measure(case, options.seconds)?;
            eprintln!("round {round}: {value:>12.3}  {}", case.what);
            turns.push(value);
        }
    }
    Ok(turns)
}

fn measure(case: &Case, seconds: u64) -> Result<f64, Failure> {
    let (requests, seconds) = answered(case.drive, case.workload, seconds as f64)?;
    Ok(if case.workload.is_pass { seconds } else { requests as f64 / seconds / 1e6 })
}

fn goals(turns: &[Vec<f64>]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for (case, turns) in CASES.iter().zip(turns) {
        if let Some(bound) = case.bound {
            let (value, ..) = spread_of(turns);
            goals.push(Goal { what: case.what.to_owned(), value, unit: case.unit(), bound });
        }
    }
    goals
}

impl Case {
    fn unit(&self) -> &'static str {
        if self.workload.is_pass { "s" } else { RATE }
    }
}

fn report(options: &SimOptions, turns: &[Vec<f64>], load_before: &str) -> String {
    let mut text = format!(
        "# Virtual drives on one core\n\n\
         Made by `cargo xtask bench sim --seconds {} --rounds {}` on {}.\n{}\n\n\
         Requests through the `Drive` trait, as the engine uses it, for each second of processor time: what others on the \
         machine\ndo takes no part but for the caches they share. Medians of the rounds; a ratio above 1 is better than \
         the bound.\n\n\
         | what | median (min–max) | bound | ratio |\n|---|---:|---:|---:|\n",
        options.seconds,
        options.rounds,
        today(),
        conditions(load_before),
    );
    for (case, turns) in CASES.iter().zip(turns) {
        let (value, low, high) = spread_of(turns);
        let [value_shown, low, high] = [value, low, high].map(|value| quantity(value, case.unit()));
        let held = match case.bound {
            Some(bound) => format!("{} | {:.2}", bound.shown(case.unit()), bound.ratio(value)),
            None => "– | –".to_owned(),
        };
        let _ = writeln!(text, "| {} | {value_shown} ({low}–{high}) | {held} |", case.what);
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
        let turns: Vec<Vec<f64>> = CASES.iter().map(|_| vec![6.0, 4.5, 3.0]).collect();
        let text = report(&SimOptions { seconds: 1, rounds: 3 }, &turns, "0 0 0");
        assert!(text.contains("depth 4 | 4.50 M/s (3.00 M/s–6.00 M/s) | ≥ 3.00 M/s | 1.50 |"), "{text}");
    }
}
