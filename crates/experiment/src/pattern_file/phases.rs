//! From a file of patterns to phases on a range of a drive.

use super::flaw::StepError;
use super::types::{Load, PatternFile, PatternStep, Shape, Stop};
use crate::error::PlanError;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::target::TargetFacts;
use model::units::{Bytes, Nanos};
use model::workload::{Arrival, BlockSizes, Caching, OperationMix, Pattern, Spacing, Workload};

impl PatternFile {
    pub fn phases(
        &self,
        experiment: ExperimentName,
        range: ByteRange,
        facts: &TargetFacts,
        each: Option<Nanos>,
    ) -> Result<Vec<Phase>, PlanError> {
        let mut phases = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            match step.phase(experiment.clone(), range, facts, each) {
                Ok(phase) => phases.push(phase),
                Err(reason) => {
                    let (plan, name) = (self.name.clone(), step.name.clone());
                    return Err(PlanError::Step { number: index + 1, plan, name, reason });
                }
            }
        }
        Ok(phases)
    }

    /// The same as conditioning: what the file would measure only brings the drive into a state.
    pub fn conditioning(
        &self,
        experiment: ExperimentName,
        range: ByteRange,
        facts: &TargetFacts,
        each: Option<Nanos>,
    ) -> Result<Vec<Phase>, PlanError> {
        let mut phases = self.phases(experiment, range, facts, each)?;
        for phase in &mut phases {
            if phase.kind == PhaseKind::Measure {
                phase.kind = PhaseKind::Precondition;
            }
        }
        Ok(phases)
    }

    fn loads(&self) -> impl Iterator<Item = &Load> {
        self.steps.iter().filter_map(|step| step.load.as_ref())
    }

    pub fn writes(&self) -> bool {
        self.loads().any(|load| load.writes() || load.discards())
    }

    pub fn writes_out_of_order(&self) -> bool {
        self.loads().any(|load| load.writes() && load.shape != Shape::Sequential)
    }

    pub fn has_sizes_below(&self, block: Bytes) -> bool {
        self.loads().flat_map(|load| &load.blocks).any(|(size, _)| !size.is_multiple_of(block))
    }
}

impl PatternStep {
    fn phase(
        &self,
        experiment: ExperimentName,
        range: ByteRange,
        facts: &TargetFacts,
        each: Option<Nanos>,
    ) -> Result<Phase, StepError> {
        let (workload, over) = match &self.load {
            Some(load) => {
                let workload = load.workload(range, facts)?;
                let over = workload.range.bytes();
                (Some(workload), over)
            }
            None => (None, range.bytes()),
        };
        let stop = self.stop.condition(over, each);
        if !stop.is_bounded() {
            return Err(StepError::NoEnd);
        }
        let kind = if workload.is_none() { PhaseKind::Idle } else { self.kind };
        Ok(Phase { name: self.name.clone(), experiment, kind, workload, stop })
    }
}

impl Stop {
    /// A time that is given from outside replaces all others, but those of steps that end by themselves.
    fn condition(&self, over: Bytes, each: Option<Nanos>) -> StopCondition {
        let ends_by_itself = self.bytes.is_some() || self.operations.is_some() || self.passes.is_some();
        let time = if ends_by_itself { self.time } else { each.or(self.time) };
        let bytes = self.bytes.map(|amount| amount.of(over));
        StopCondition { time, bytes, operations: self.operations, passes: self.passes, precision: None }
    }
}

fn round_up(size: Bytes, logical: Bytes) -> Bytes {
    let block = logical.get().max(1);
    Bytes::new(size.get().div_ceil(block).saturating_mul(block))
}

impl Load {
    fn workload(&self, range: ByteRange, facts: &TargetFacts) -> Result<Workload, StepError> {
        let logical = facts.logical_block;
        let mut sizes = Vec::new();
        for (size, share) in &self.blocks {
            sizes.push((round_up(*size, logical), *share));
        }
        let block_sizes = BlockSizes::mix(sizes)?;
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
            (Some(alignment), _) => round_up(alignment, logical),
            (None, _) if is_single => smallest,
            (None, _) => logical,
        };
        let mix = match self.reads {
            None => OperationMix::Discard,
            Some(reads) if reads >= 1.0 => OperationMix::Read,
            Some(reads) if reads <= 0.0 => OperationMix::Write,
            Some(read_share) => OperationMix::ReadWrite { read_share },
        };
        let arrival = match self.per_second {
            Some(per_second) => Arrival::OpenLoop { per_second, spacing: Spacing::Even },
            None => Arrival::ClosedLoop,
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
            arrival,
            caching: Caching::Direct,
        };
        workload.validate(facts.capacity, logical)?;
        Ok(workload)
    }

    fn range_in(&self, range: ByteRange, grid: Bytes) -> Result<ByteRange, StepError> {
        let holds = range.bytes();
        let from = self.from.of(holds);
        let room = holds.saturating_sub(from);
        let over = match self.over {
            Some(over) => over.of(holds),
            None => room,
        };
        if over > room {
            return Err(StepError::NoRoom { over, from, holds });
        }
        let first = range.first().checked_add(from).ok_or(StepError::NoWholeBlock)?;
        let part = ByteRange::new(first, over).ok_or(StepError::NoWholeBlock)?.align_inward(grid);
        if part.is_empty() { Err(StepError::NoWholeBlock) } else { Ok(part) }
    }
}
