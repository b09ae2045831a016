//! The phases that bring a drive into a state before passes.

use super::request::{Amount, Condition};
use crate::error::PlanError;
use crate::pattern_file::{PatternFile, Stop};
use crate::preparation::phase;
use crate::request::Supplies;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, MIB, Nanos};
use model::workload::{BlockSizes, DataPattern, OperationMix, Pattern, Workload};

/// Halves are filled in blocks of this size: what was seen to leave no valleys.
pub(super) const LARGE: Bytes = Bytes::from_mib(8);
/// Sizes of mixed writes and how often each comes: the small ones of a system that is started, and larger ones between.
const MIXED_SIZES: [(Bytes, f64); 3] =
    [(Bytes::from_kib(4), 0.2), (Bytes::from_kib(16), 0.3), (Bytes::from_kib(64), 0.5)];
const RANDOM_BLOCK: Bytes = Bytes::from_kib(16);
/// Erasing asks for so much at once, less where an area does not begin and end at multiples of it, but no less than the other.
pub(super) const DISCARD_BLOCK: Bytes = Bytes::from_mib(64);
const DISCARD_BLOCK_MIN: Bytes = Bytes::from_mib(1);
/// No drive is waited for that writes less than this at random or in order, in bytes a second.
const RANDOM_RATE_MIN: u64 = 4 * MIB;
/// Access specifications mostly say of no time: for each then as long as drives were conditioned with them.
const SPECIFICATION: Nanos = Nanos::from_secs(600);
const RATE_MIN: u64 = 20 * MIB;

pub(super) fn time_max(bytes: Bytes) -> Nanos {
    Nanos::from_secs(bytes.get() / RATE_MIN + 10)
}

/// The phases of a condition of these areas, which do not overlap.
pub(super) fn phases(
    condition: &Condition,
    areas: &[ByteRange],
    facts: &TargetFacts,
    supplies: &Supplies,
) -> Result<Vec<Phase>, PlanError> {
    let all: Bytes = areas.iter().map(ByteRange::bytes).sum();
    let mut phases = Vec::new();
    for &area in areas {
        let share = area.bytes().as_f64() / all.as_f64();
        match condition {
            Condition::None => {}
            Condition::Mixed(amount) => phases.push(mixed(area, amount.part(share))),
            Condition::Random(amount) => phases.push(random(area, amount.part(share), facts)),
            Condition::Sequential(block) => phases.push(fill(area, *block)),
            Condition::Erase => phases.push(erase(area, facts)),
            Condition::Halves => {
                let (first, second) = (area.part(0, 2), area.part(1, 2));
                phases.push(mixed(first, Amount::HalfOfArea));
                phases.push(fill(second.align_inward(LARGE), LARGE));
            }
            Condition::Plan { name, each } => {
                let plan = supplies.plan(name)?;
                phases.extend(plan.conditioning(
                    ExperimentName::Valleys,
                    area,
                    facts,
                    each.or(time_of_endless(plan)),
                )?);
            }
        }
    }
    Ok(phases)
}

fn time_of_endless(plan: &PatternFile) -> Option<Nanos> {
    let is_endless = plan.steps.iter().any(|step| step.stop == Stop::default());
    if is_endless { Some(SPECIFICATION) } else { None }
}

/// Whether a condition is among what brings valleys: writes that are not all in order.
pub(super) fn brings_valleys(condition: &Condition, supplies: &Supplies) -> bool {
    match condition {
        Condition::Mixed(_) | Condition::Random(_) => true,
        Condition::Plan { name, .. } => {
            supplies.plans.get(name).is_some_and(PatternFile::writes_out_of_order)
        }
        _ => false,
    }
}

fn stop(area: ByteRange, amount: Amount) -> StopCondition {
    let bytes = match amount {
        Amount::HalfOfArea => Bytes::new(area.bytes().get() / 2),
        Amount::Bytes(bytes) => bytes,
        Amount::Time(time) => return StopCondition::after(time),
    };
    StopCondition::after(Nanos::from_secs(bytes.get() / RANDOM_RATE_MIN + 10)).or_bytes(bytes)
}

fn mixed(area: ByteRange, amount: Amount) -> Phase {
    let block = Bytes::from_kib(4);
    let workload = Workload {
        block_sizes: BlockSizes::mix(MIXED_SIZES.to_vec()).expect("the shares add up to more than zero"),
        ..Workload::new(
            area.align_inward(block),
            Pattern::Mixed { random_share: 0.5 },
            OperationMix::Write,
            block,
            1,
        )
    };
    precondition("mixed writes", workload, stop(area, amount))
}

fn random(area: ByteRange, amount: Amount, facts: &TargetFacts) -> Phase {
    let block = RANDOM_BLOCK.max(facts.logical_block);
    let pattern = Pattern::RandomWithReplacement;
    let workload = Workload::new(area.align_inward(block), pattern, OperationMix::Write, block, 1);
    precondition("random writes", workload, stop(area, amount))
}

fn fill(area: ByteRange, block: Bytes) -> Phase {
    let area = area.align_inward(block);
    let workload = Workload::new(area, Pattern::Sequential, OperationMix::Write, block, 1);
    let stop = StopCondition { time: Some(time_max(area.bytes())), ..StopCondition::one_pass() };
    precondition(&format!("fill sequentially with blocks of {block}"), workload, stop)
}

fn erase(area: ByteRange, facts: &TargetFacts) -> Phase {
    let stop = StopCondition { time: Some(time_max(area.bytes())), ..StopCondition::one_pass() };
    // Zeroes go out in blocks that leave nothing in pieces, as the erase did after which next to no valleys were seen.
    let (name, mix, mut block) = match facts.discard_max {
        Some(_) => ("erase by discarding", OperationMix::Discard, DISCARD_BLOCK),
        None => ("erase by writing zeroes", OperationMix::Write, LARGE),
    };
    while block > DISCARD_BLOCK_MIN && mix == OperationMix::Discard && area.align_inward(block) != area {
        block = Bytes::new(block.get() / 2);
    }
    let area = area.align_inward(block);
    let workload =
        Workload { data: DataPattern::Zero, ..Workload::new(area, Pattern::Sequential, mix, block, 1) };
    phase(ExperimentName::Valleys, name.into(), PhaseKind::Purge, workload, stop)
}

fn precondition(name: &str, workload: Workload, stop: StopCondition) -> Phase {
    let name = format!("{name} over {}", workload.range.bytes());
    phase(ExperimentName::Valleys, name, PhaseKind::Precondition, workload, stop)
}
