//! `cargo xtask bench engine`: the engine against fio on the same targets, in turns, so that whatever else the machine
//! does meets both alike. Absolute numbers belong to one machine and one hour; the ratios are the result.
//! ```text
//! options ──► build ──► place: tmpfs, file, loop ──► rounds of contenders in random order ──► medians, ratios, table
//! ```

pub mod contender;
pub mod measurement;
pub mod summary;

use crate::failure::Failure;
use crate::fixed_processors::FixedProcessors;
use crate::machine::{load_average, publish, seed_of_now};
use crate::options::EngineOptions;
use crate::place::Place;
use crate::workspace::build_example;
use contender::{Case, Contender, Target};
use model::prng::Prng;
use std::path::Path;
use summary::Results;

const REPORT: &str = "docs/generated/bench-engine.md";
const DEPTHS: [u32; 3] = [1, 32, 128];

pub fn run(options: &EngineOptions) -> Result<(), Failure> {
    let seed = options.seed.unwrap_or_else(seed_of_now);
    let targets: Vec<Target> = match options.only {
        Some(only) => vec![only],
        None => Target::ALL.to_vec(),
    };
    let load_before = load_average();
    let all = compare_on(&targets, options, seed, Contender::for_case)?;
    let page = summary::report(options, seed, &all, &load_before);
    publish(&page, REPORT, options.only.is_none())
}

/// All depths of these targets, by the contenders that each case has.
pub fn compare_on(
    targets: &[Target],
    options: &EngineOptions,
    seed: u64,
    contenders: fn(&Case) -> Vec<Contender>,
) -> Result<Vec<Results>, Failure> {
    let program = build_example("engine_rate")?;
    let mut order = Prng::new(seed, 0);
    let mut all = Vec::new();
    for &target in targets {
        let on_loop = match target {
            Target::Loop => Some((Place::make()?, FixedProcessors::take()?)),
            _ => None,
        };
        for depth in DEPTHS {
            let path = target.path(on_loop.as_ref().map_or("", |(place, _)| place.device())).to_owned();
            let case = Case { target, depth, path };
            let contenders = contenders(&case);
            all.push(compare(case, contenders, &program, options, &mut order)?);
        }
    }
    Ok(all)
}

fn compare(
    case: Case,
    contenders: Vec<Contender>,
    program: &Path,
    options: &EngineOptions,
    order: &mut Prng,
) -> Result<Results, Failure> {
    let mut measurements = vec![Vec::new(); contenders.len()];
    for round in 1..=options.rounds {
        let mut turns: Vec<usize> = (0..contenders.len()).collect();
        order.shuffle(&mut turns);
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
