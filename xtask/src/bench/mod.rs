//! `cargo xtask bench engine`: the engine against fio on the same targets, in turns, so that whatever else the machine
//! does meets both alike. Absolute numbers belong to one machine and one hour; the ratios are the result.
//!
//! ```text
//! options ──► build ──► place: tmpfs, file, loop ──► rounds of contenders in random order ──► medians, ratios, table
//! ```

mod access;
mod contender;
mod document;
mod files;
mod measurement;
mod mount;
mod options;
mod place;
mod program;
mod random_drives;
mod report;
mod sim;
mod summary;
mod surface;
mod turns;
mod valleys;
mod verify;
mod virtual_drive;
mod writes;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Failure;
use crate::workspace::{cargo, root, target_folder};
use contender::{Case, Contender, Target};
use options::Options;
use place::Place;
use summary::Results;
pub use summary::{load_average, machine, today};

/// Where the table is kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-engine.md";
/// Queue depths that are compared.
const DEPTHS: [u32; 3] = [1, 32, 128];

/// Runs the comparison, prints its table, and keeps it when all of it was run.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let options = match arguments.split_first() {
        Some((name, rest)) if name == "engine" => Options::parse(rest)?,
        Some((name, rest)) if name == "access" => return access::run(rest),
        Some((name, rest)) if name == "files" => return files::run(rest),
        Some((name, rest)) if name == "mount" => return mount::run(rest),
        Some((name, rest)) if name == "report" => return report::run(rest),
        Some((name, rest)) if name == "sim" => return sim::run(rest),
        Some((name, rest)) if name == "surface" => return surface::run(rest),
        Some((name, rest)) if name == "valleys" => return valleys::run(rest),
        Some((name, rest)) if name == "verify" => return verify::run(rest),
        Some((name, rest)) if name == "writes" => return writes::run(rest),
        _ => return Err(Failure::cannot(options::USAGE)),
    };
    let program = build_example("engine_rate")?;
    let place = if options.includes(Target::Loop) { Some(Place::make()?) } else { None };
    let loop_device = place.as_ref().map_or("", Place::device);

    let load_before = load_average();
    let mut order = Shuffle(options.seed);
    let mut all = Vec::new();
    for target in Target::ALL.into_iter().filter(|target| options.includes(*target)) {
        for depth in DEPTHS {
            let case = Case { target, depth, path: target.path(loop_device).to_owned() };
            all.push(compare(case, &program, &options, &mut order)?);
        }
    }
    drop(place);
    let report = summary::report(&options, &all, &load_before);
    println!("{report}");
    if options.is_complete() { keep(REPORT, &report) } else { Ok(()) }
}

/// Lets each contender run once a round, in an order of its own.
fn compare(
    case: Case,
    program: &std::path::Path,
    options: &Options,
    order: &mut Shuffle,
) -> Result<Results, Failure> {
    let contenders = Contender::for_case(&case);
    let mut measurements = vec![Vec::new(); contenders.len()];
    for round in 1..=options.rounds {
        let mut turns: Vec<usize> = (0..contenders.len()).collect();
        order.apply(&mut turns);
        for turn in turns {
            let measured = contenders[turn].measure(&case, program, options.seconds)?;
            eprintln!(
                "{} depth {}, round {round}: {:>10.0} IOPS  {}",
                case.target.name(),
                case.depth,
                measured.iops,
                contenders[turn].name
            );
            measurements[turn].push(measured);
        }
    }
    Ok(Results { case, contenders: contenders.into_iter().zip(measurements).collect() })
}

/// Builds an example of crate `io`, which is run as a process of its own, like its peers.
fn build_example(name: &str) -> Result<PathBuf, Failure> {
    let arguments = ["build", "--release", "-p", "io", "--example", name];
    let status = cargo(&arguments)
        .status()
        .map_err(|error| Failure::cannot(format!("Cannot start cargo build: {error}.")))?;
    if !status.success() {
        return Err(Failure::cannot("What is measured does not build; its reason is above."));
    }
    Ok(target_folder().join("release/examples").join(name))
}

fn keep(place: &str, report: &str) -> Result<(), Failure> {
    let path = root().join(place);
    let folder = path.parent().unwrap_or(&path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, report))
        .map_err(|error| Failure::cannot(format!("Cannot write {}: {error}.", path.display())))?;
    eprintln!("Kept as {place}.");
    Ok(())
}

/// Does so many jobs on two threads; the results in order.
fn on_two_threads<T: Send>(jobs: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs {
                return done;
            }
            done.push((number, job(number)));
        }
    };
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Puts things in random order; the same seed gives the same orders. Steele et al., SplitMix, OOPSLA 2014.
struct Shuffle(u64);

impl Shuffle {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn apply<Thing>(&mut self, things: &mut [Thing]) {
        for last in (1..things.len()).rev() {
            things.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shuffle, on_two_threads, run};

    #[test]
    fn every_job_is_done_once_and_results_are_in_order() {
        assert_eq!(on_two_threads(7, |number| number * number), [0, 1, 4, 9, 16, 25, 36]);
        assert!(on_two_threads(0, |number| number).is_empty());
    }

    #[test]
    fn every_contender_comes_once_and_in_changing_order() {
        let mut shuffle = Shuffle(1);
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..100 {
            let mut things = [0, 1, 2, 3];
            shuffle.apply(&mut things);
            orders.insert(things);
            things.sort_unstable();
            assert_eq!(things, [0, 1, 2, 3]);
        }
        assert!(orders.len() > 20, "of 24 orders a hundred draws show nearly all: {}", orders.len());
    }

    #[test]
    fn what_there_is_to_compare_is_said() {
        let failure = run(&["disk".to_owned()]).expect_err("there is no such comparison");
        assert!(failure.message.contains("bench engine"), "{}", failure.message);
    }
}
