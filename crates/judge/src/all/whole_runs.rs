//! Whole runs of virtual drives: how long they take here, and how long the drive is measured.

use crate::document::{Document, number, rows};
use crate::failure::Failure;
use crate::goal::{Bound, Goal};
use crate::machine::median;
use crate::program::Program;
use std::fmt::Write as _;
use std::time::Instant;

#[derive(Clone, Copy)]
enum Limit {
    /// From start to end of the program, on this machine.
    Here(f64),
    Drive(f64),
}

const RUNS: [(&str, Limit); 12] = [
    ("surface sim:sata-160gb --full", Limit::Here(1.0)),
    ("surface sim:st3000dm001 --full", Limit::Here(4.0)),
    ("surface sim:exos-x20 --full", Limit::Here(10.0)),
    ("surface sim:exos-x20", Limit::Here(0.3)),
    ("geometry sim:dt01aca300", Limit::Here(0.8)),
    ("sustain sim:660p --until steady --write", Limit::Here(12.0)),
    ("access sim:dt01aca300", Limit::Drive(60.0)),
    ("access sim:970-pro", Limit::Drive(15.0)),
    ("geometry sim:st3000dm001", Limit::Drive(55.0)),
    ("check --deep sim:exos-x20", Limit::Drive(180.0)),
    ("check --deep sim:raid1-2", Limit::Drive(180.0)),
    ("check --deep sim:970-pro", Limit::Drive(180.0)),
];
/// Areas of 1 MiB: the same run with tenfold as many phases.
const PHASES: [(&str, u64); 4] = [
    ("surface sim:disk-4tb --area-size 1MiB --areas 10", 10),
    ("surface sim:disk-4tb --area-size 1MiB --areas 100", 100),
    ("surface sim:disk-4tb --area-size 1MiB --areas 1000", 1000),
    ("surface sim:disk-4tb --area-size 1MiB --areas 10000", 10_000),
];
/// How many times as much a phase may cost among 10,000 as among 1,000: what differs is noise.
const PHASE_COST_GROWTH: Bound = Bound::AtMost(1.2);

pub struct Run {
    words: &'static str,
    limit: Option<Limit>,
    seconds: f64,
    drive_s: f64,
    phases: usize,
    requests: f64,
}

pub fn measured(program: &Program, rounds: u64) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    for (words, limit) in RUNS {
        runs.push(timed(program, words, Some(limit), rounds)?);
    }
    for (words, _) in PHASES {
        runs.push(timed(program, words, None, rounds)?);
    }
    Ok(runs)
}

fn timed(program: &Program, words: &'static str, limit: Option<Limit>, rounds: u64) -> Result<Run, Failure> {
    let mut took = Vec::new();
    let mut document = Document::default();
    // The drive's own clock says the same each time.
    let rounds = if matches!(limit, Some(Limit::Drive(_))) { 1 } else { rounds };
    for _ in 0..rounds {
        let begun = Instant::now();
        document = program.run(&[&words.split(' ').collect::<Vec<_>>()[..], &["--seed", "1"]].concat())?;
        took.push(begun.elapsed().as_secs_f64());
    }
    let seconds = median(took);
    eprintln!("{seconds:>8.2} s here, {:>10.1} s of the drive  {words}", document.device_s());
    let mut requests = 0.0;
    for phase in document.phases() {
        for operation in rows(&phase["by_operation"]) {
            requests += number(operation, "operations");
        }
    }
    let phases = document.phases().len();
    Ok(Run { words, limit, seconds, drive_s: document.device_s(), phases, requests })
}

pub fn goals(runs: &[Run]) -> Vec<Goal> {
    let mut goals = Vec::new();
    for run in runs {
        let (what, value, limit) = match run.limit {
            Some(Limit::Here(limit)) => ("as a whole", run.seconds, limit),
            Some(Limit::Drive(limit)) => ("time of the drive", run.drive_s, limit),
            None => continue,
        };
        let what = format!("`{}`, {what}", run.words);
        goals.push(Goal { what, value, unit: "s", bound: Bound::AtMost(limit) });
    }
    goals.extend(growth(runs));
    goals
}

/// What each phase beyond the first thousand costs, over what each of these beyond the first hundred costs.
fn growth(runs: &[Run]) -> Option<Goal> {
    let more: Vec<&Run> = runs.iter().filter(|run| run.limit.is_none()).collect();
    let [_, few, middle, many] = more.as_slice() else { return None };
    let each = |run: &Run, of: &Run| (of.seconds - run.seconds) / (of.phases as f64 - run.phases as f64);
    let value = each(middle, many) / each(few, middle);
    let what = "cost of a phase among 10,000 over that among 1,000".to_owned();
    Some(Goal { what, value, unit: "×", bound: PHASE_COST_GROWTH })
}

pub fn rates(runs: &[Run]) -> String {
    let mut text = String::from(
        "Whole runs, the store and the analysis included; those of the bare model are in the table above, as \"sequential reads\".\n\n\
         | run | time | phases | ms per phase | requests | millions a second |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for Run { words, seconds, phases, requests, .. } in runs {
        // Text in memory cannot fail to be written.
        let _ = writeln!(
            text,
            "| `{words}` | {seconds:.2} s | {phases} | {:.2} | {requests:.0} | {:.2} |",
            seconds * 1e3 / (*phases).max(1) as f64,
            requests / seconds / 1e6,
        );
    }
    text
}
