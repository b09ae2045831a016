//! From a file of patterns to phases on a range of a drive.

use super::{Amount, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{Arrival, BlockSizes, OperationMix, Pattern, Spacing, Workload};

impl PatternFile {
    /// The phases on that range of that target, each of `each` long if that is given.
    ///
    /// # Errors
    /// Names the step, and why it cannot be run there.
    pub fn phases(
        &self,
        experiment: &'static str,
        range: ByteRange,
        facts: &TargetFacts,
        each: Option<Nanos>,
    ) -> Result<Vec<Phase>, String> {
        let steps = self.steps.iter().enumerate();
        steps
            .map(|(index, step)| {
                step.phase(experiment, range, facts, each).map_err(|reason| {
                    format!("step {} of {} (`{}`): {reason}", index + 1, self.name, step.name)
                })
            })
            .collect()
    }

    /// The same as conditioning: what the file would measure only brings the drive into a state.
    ///
    /// # Errors
    /// As [`PatternFile::phases`].
    pub fn conditioning(
        &self,
        experiment: &'static str,
        range: ByteRange,
        facts: &TargetFacts,
        each: Option<Nanos>,
    ) -> Result<Vec<Phase>, String> {
        let mut phases = self.phases(experiment, range, facts, each)?;
        for phase in phases.iter_mut().filter(|phase| phase.kind == PhaseKind::Measure) {
            phase.kind = PhaseKind::Precondition;
        }
        Ok(phases)
    }

    /// Whether any step changes what is on the drive.
    pub fn writes(&self) -> bool {
        let loads = self.steps.iter().filter_map(|step| step.load.as_ref());
        loads.into_iter().any(|load| load.reads.is_none_or(|reads| reads < 1.0))
    }

    /// Whether a size is below the drive's block, so that it will be rounded up to it.
    pub fn has_sizes_below(&self, block: Bytes) -> bool {
        let loads = self.steps.iter().filter_map(|step| step.load.as_ref());
        loads.flat_map(|load| &load.blocks).any(|(size, _)| !size.is_multiple_of(block))
    }
}

impl PatternStep {
    fn phase(
        &self,
        experiment: &'static str,
        range: ByteRange,
        facts: &TargetFacts,
        each: Option<Nanos>,
    ) -> Result<Phase, String> {
        let workload = self.load.as_ref().map(|load| load.workload(range, facts)).transpose()?;
        let over = workload.as_ref().map_or(range.bytes(), |workload| workload.range.bytes());
        let stop = self.stop.condition(over, each);
        if !stop.is_bounded() {
            return Err("nothing says when it ends. Give the time of each step, such as --each 60s".into());
        }
        let kind = if workload.is_none() { PhaseKind::Idle } else { self.kind };
        Ok(Phase { name: self.name.clone(), experiment: experiment.into(), kind, workload, stop })
    }
}

impl Stop {
    /// A time that is given from outside replaces all others, but those of steps that end by themselves.
    fn condition(&self, over: Bytes, each: Option<Nanos>) -> StopCondition {
        let ends_by_itself = self.bytes.is_some() || self.operations.is_some() || self.passes.is_some();
        let time = if ends_by_itself { self.time } else { each.or(self.time) };
        let bytes = self.bytes.map(|amount| match amount {
            Amount::Bytes(bytes) => bytes,
            Amount::Share(share) => Bytes((over.0 as f64 * share) as u64),
        });
        StopCondition { time, bytes, operations: self.operations, passes: self.passes, precision: None }
    }
}

impl Load {
    fn workload(&self, range: ByteRange, facts: &TargetFacts) -> Result<Workload, String> {
        let logical = facts.logical_block;
        let up = |size: Bytes| Bytes(size.0.div_ceil(logical.0.max(1)).saturating_mul(logical.0.max(1)));
        let sizes = self.blocks.iter().map(|(size, share)| (up(*size), *share)).collect();
        let block_sizes = BlockSizes::mix(sizes).map_err(|error| error.to_string())?;
        let is_single = block_sizes.single().is_some();
        let pattern = match &self.shape {
            Shape::Sequential => Pattern::Sequential,
            Shape::RandomOnce if is_single => Pattern::RandomOnce,
            Shape::RandomOnce | Shape::Random => Pattern::RandomWithReplacement,
            Shape::Zoned(zones) => Pattern::Zoned { zones: zones.clone() },
            Shape::Mixed(random_share) => Pattern::Mixed { random_share: *random_share },
            Shape::Strided(stride) => Pattern::Strided { stride: *stride },
        };
        let smallest = block_sizes.parts().iter().map(|(size, _)| *size).min().unwrap_or(logical);
        let alignment = match (self.alignment, &pattern) {
            (_, Pattern::RandomOnce) => smallest,
            (Some(alignment), _) => up(alignment),
            (None, _) if is_single => smallest,
            (None, _) => logical,
        };
        let mix = match self.reads {
            None => OperationMix::Discard,
            Some(reads) if reads >= 1.0 => OperationMix::Read,
            Some(reads) if reads <= 0.0 => OperationMix::Write,
            Some(read_share) => OperationMix::ReadWrite { read_share },
        };
        let workload = Workload {
            range: self.range_in(range, alignment.max(logical))?,
            pattern,
            block_sizes,
            alignment,
            mix,
            data: self.data.clone(),
            queue_depth: self.depth,
            threads: self.threads,
            arrival: self.per_second.map_or(Arrival::ClosedLoop, |per_second| Arrival::OpenLoop {
                per_second,
                spacing: Spacing::Even,
            }),
            caching: model::workload::Caching::Direct,
        };
        workload.validate(facts.capacity, logical).map_err(|error| error.to_string())?;
        Ok(workload)
    }

    /// The part of the range that the step goes over, on the drive's grid.
    fn range_in(&self, range: ByteRange, grid: Bytes) -> Result<ByteRange, String> {
        let bytes = |amount: Amount| match amount {
            Amount::Bytes(bytes) => bytes.0,
            Amount::Share(share) => (range.bytes().0 as f64 * share.clamp(0.0, 1.0)) as u64,
        };
        let from = bytes(self.from);
        let room = range.bytes().0.saturating_sub(from);
        let over = self.over.map_or(room, bytes);
        if over > room {
            return Err(format!(
                "it goes over {} from {} on, and the range has {}. Give a larger range or a smaller size",
                Bytes(over),
                Bytes(from),
                range.bytes()
            ));
        }
        let first = range.first().0.checked_add(from).map(Offset);
        let part = first.and_then(|first| ByteRange::new(first, Bytes(over)));
        part.map(|part| part.align_inward(grid))
            .filter(|part| !part.is_empty())
            .ok_or_else(|| "its part of the range holds no whole block".into())
    }
}
