//! What decides about a rate limit that the phases of an experiment leave open.

use crate::preparation::{self, sequential_block};
use analysis::limit::{self, Sizes, Suspected, limits};
use model::experiment_name::ExperimentName;
use model::finding::{LimitedOperations, RateLimit};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};

/// Between the sizes of random requests and of sequential ones, so that it differs from either.
const BLOCK: Bytes = Bytes::from_kib(64);
/// Requests of which half are this many times as large may come too slowly in that size to meet a limit of bytes.
const LARGER_TIMES: u64 = 4;
/// Enough in flight to reach the rate that larger requests reach with less.
const DEPTH: u32 = 32;
/// Credit that came back while it was read is used up in no more than this.
const WRITING_MAX: Nanos = Nanos::from_secs(60);
/// Longer than this nobody waits for credit: part of it does as well.
const REST_MAX: Nanos = Nanos::from_secs(20);

/// Reads of another size, no sample: they tell requests from bytes, and a limit from a drive that got slower. Every other block is left out,
/// since kernels join neighbours in the queue. To be asked again once it is read: too little may have come in that size.
pub fn deciding(experiment: ExperimentName, so_far: &RunView<'_>, range: ByteRange) -> Option<Phase> {
    let undecided = limit::undecided(so_far, experiment == ExperimentName::Access)?;
    let logical = so_far.target.logical_block;
    let large = sequential_block(range, logical);
    let block = match (undecided.read, read_last(so_far)) {
        // Where one counts as several, that shows, too.
        (Sizes::Other(met), None) if met < large => large,
        (Sizes::Other(met), Some(last)) if last == large && met != BLOCK => BLOCK,
        (Sizes::Other(met), Some(BLOCK)) if met >= BLOCK * LARGER_TIMES => (met / 2).round_down_to(logical),
        (_, Some(_)) => return None,
        (Sizes::Same(met), None) => met,
        (Sizes::Other(_) | Sizes::Any, None) => BLOCK,
    };
    if undecided.read == Sizes::Other(block) || 2 * block.get() > range.bytes().get() {
        return None;
    }
    Some(reads_apart(experiment, range, block, undecided.time))
}

pub fn reads_apart(experiment: ExperimentName, range: ByteRange, block: Bytes, time: Nanos) -> Phase {
    let apart = Pattern::Strided { stride: Bytes::new(2 * block.get()) };
    let reads = Workload::new(range.align_inward(block), apart, OperationMix::Read, block, DEPTH);
    let name = "read other sizes, to tell a rate limit".into();
    preparation::phase(experiment, name, PhaseKind::WarmUp, reads, StopCondition::after(time))
}

fn read_last(so_far: &RunView<'_>) -> Option<Bytes> {
    let last = &so_far.phases.last()?.phase;
    let workload = last.workload.as_ref()?;
    let is_one = last.kind == PhaseKind::WarmUp && matches!(workload.pattern, Pattern::Strided { .. });
    is_one.then(|| workload.block_sizes.largest())
}

/// What tells a rate limit from a full cache where the rate of writes fell to one that no drive keeps so evenly: reads meet the limit, too, or
/// leave it time to give credit back, which writes then use up.
#[derive(Clone, Copy, Debug, Default)]
pub enum DecidingWrites {
    #[default]
    Begun,
    Reading(Suspected),
    Writing,
    Over {
        is_limited: bool,
    },
}

impl DecidingWrites {
    /// The next phase; `writes` are best of another size than those before.
    pub fn next(
        &mut self,
        so_far: &RunView<'_>,
        range: ByteRange,
        name: ExperimentName,
        writes: &Workload,
    ) -> Option<Phase> {
        let phase = match *self {
            DecidingWrites::Over { .. } => None,
            DecidingWrites::Begun => match limit::suspected_of_writes(so_far) {
                Some(suspected) => {
                    *self = DecidingWrites::Reading(suspected);
                    Some(reads_apart(name, range, BLOCK, suspected.time))
                }
                None => None,
            },
            DecidingWrites::Reading(_) | DecidingWrites::Writing if limit::limits_writes(so_far) => {
                *self = DecidingWrites::Over { is_limited: true };
                return None;
            }
            DecidingWrites::Reading(suspected) => {
                *self = DecidingWrites::Writing;
                Some(writes_at_limit(name, writes, suspected))
            }
            DecidingWrites::Writing => None,
        };
        if phase.is_none() && !matches!(self, DecidingWrites::Over { .. }) {
            *self = DecidingWrites::Over { is_limited: false };
        }
        phase
    }
}

/// Half as large as writes were: a limit counts requests or bytes.
pub fn other_size(block: Bytes, logical: Bytes) -> Bytes {
    if block > logical { (block / 2).round_down_to(logical) } else { block * 2 }
}

/// Until what came back while it was read is used up again, and for as long at the limit.
fn writes_at_limit(experiment: ExperimentName, writes: &Workload, suspected: Suspected) -> Phase {
    let Suspected { time, share } = suspected;
    let using_up = Nanos::from_secs_f64(time.seconds() * share / (1.0 - share)).unwrap_or(WRITING_MAX);
    let name = "write on, to tell a rate limit".into();
    let stop = StopCondition::after(time + using_up.min(WRITING_MAX));
    preparation::phase(experiment, name, PhaseKind::WarmUp, writes.clone(), stop)
}

/// The limits of reads that are known, and the rest that brings their credit back, or what of it comes back within `longest`.
pub struct Rest {
    limits: Vec<RateLimit>,
    pub time: Nanos,
}

impl Rest {
    pub fn of(so_far: &RunView<'_>, longest: Nanos) -> Option<Rest> {
        let (mut known, mut refill_s) = (Vec::new(), 0.0_f64);
        for limit in limits(so_far) {
            if let Ok(limit) = limit.found
                && limit.operations != LimitedOperations::Writes
            {
                refill_s = refill_s.max(limit.refill_s);
                known.push(limit);
            }
        }
        let refill = Nanos::from_secs_f64(refill_s).unwrap_or(REST_MAX);
        let time = refill.min(REST_MAX).min(longest);
        (!known.is_empty()).then_some(Rest { limits: known, time })
    }

    pub fn phase(&self, experiment: ExperimentName) -> Phase {
        let name = "let burst credit come back".into();
        preparation::idle(experiment, name, self.time)
    }

    /// What may then be read in requests of that size before the limit is met again.
    pub fn bytes(&self, block: Bytes) -> Bytes {
        let mut bytes = f64::INFINITY;
        for limit in &self.limits {
            bytes = bytes.min(self.time.seconds() * limit.sustained.value * limit.bytes_each(block));
        }
        Bytes::new(bytes as u64)
    }
}
