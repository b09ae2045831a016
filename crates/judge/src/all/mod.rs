//! `cargo xtask bench all`: whatever has a goal, in one table; peers and goals in the same minutes on the same machine.

mod stores;
mod whole_runs;

use crate::engine::contender::{Contender, Target};
use crate::engine::measurement::number;
use crate::engine::{self, summary::Results};
use crate::failure::Failure;
use crate::goal::{Bound, Goal, table};
use crate::machine::{busy_share, conditions, cores, load_average, median, publish, seed_of_now, today};
use crate::options::{AllOptions, EngineOptions, SimOptions};
use crate::place::{output, parsed};
use crate::program::Program;
use crate::sim_speed;
use crate::virtual_drive::Folder;
use crate::workspace::build_example;
use std::process::Command;

const REPORT: &str = "docs/generated/bench-all.md";
/// Of all processors together. Timed turns of two programs then differ by less than the goals are apart.
const BUSY_SHARE_MAX: f64 = 0.1;
/// Of what two workers may lose to each other: one line of memory that both write costs more.
const TWO_WORKERS: Bound = Bound::AtLeast(1.95);

pub fn run(options: &AllOptions) -> Result<(), Failure> {
    refuse_wrong_conditions()?;
    let (seconds, rounds) = if options.quick { (1, 3) } else { (2, 5) };
    let before = load_average();
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;

    let mut goals = Vec::new();
    for results in against_fio(seconds, rounds)? {
        goals.extend(results.goals());
    }
    goals.push(two_workers(rounds)?);
    goals.extend(sim_speed::measured(&SimOptions { seconds: 1, rounds: rounds / 2 })?);
    let runs = whole_runs::measured(&program, rounds)?;
    goals.extend(whole_runs::goals(&runs));
    goals.extend(stores::measured(&program, rounds)?);

    let reached = goals.iter().filter(|goal| goal.is_reached()).count();
    let page = format!(
        "# Every goal in one table\n\n\
         Made by `cargo xtask bench all{}` on {}, release build.\n{} {reached} of {} goals are reached.\n\n\
         A ratio above 1 is better than the goal. Medians of {rounds} turns; peers have theirs in between, in random order. IOPS per core: \
         for each second\nof processor time of the process itself. fio's best: of its settings that take a completion as soon as there is one. On the loop device \
         both run on the first processor and the kernel's workers on the second.\n\n\
         {}\n{}",
        if options.quick { " --quick" } else { "" },
        today(),
        conditions(&before),
        goals.len(),
        table(&goals),
        whole_runs::rates(&runs),
    );
    publish(&page, REPORT, options.program.is_ours())?;
    if reached == goals.len() { Ok(()) } else { Err(Failure::Missed) }
}

fn refuse_wrong_conditions() -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        return Err(Failure::cannot(
            "This is a debug build, whose times say nothing about the program. Run `cargo xtask bench all`, which builds for release.",
        ));
    }
    let busy = busy_share()?;
    if busy <= BUSY_SHARE_MAX {
        return Ok(());
    }
    Err(Failure::cannot(format!(
        "Other programs use {:.0} % of this machine's {} processors, where {:.0} % are allowed. Wait until they are done; `top` shows them.",
        100.0 * busy,
        cores(),
        100.0 * BUSY_SHARE_MAX
    )))
}

fn against_fio(seconds: u64, rounds: u64) -> Result<Vec<Results>, Failure> {
    let options = EngineOptions { seconds, rounds, seed: None, only: None };
    engine::compare_on(&Target::ALL, &options, seed_of_now(), Contender::prompt)
}

fn two_workers(rounds: u64) -> Result<Goal, Failure> {
    /// A second and more, of which the start of threads is little.
    const OPERATIONS: &str = "160000000";
    let program = build_example("engine_rate")?;
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let mut rates = [0.0; 2];
        for (workers, rate) in ["1", "2"].into_iter().zip(&mut rates) {
            let words = ["null", "none", "32", "operations", OPERATIONS, workers];
            *rate = number(&parsed(&output(Command::new(&program).args(words))?)?, "/iops")?;
        }
        ratios.push(rates[1] / rates[0]);
    }
    let what = "null, depth 32: 2 workers over 1".to_owned();
    Ok(Goal { what, value: median(ratios), unit: "×", bound: TWO_WORKERS })
}
