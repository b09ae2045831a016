//! `ping`: does the drive answer, how fast, and does it stall? Random reads at QD 1 and a fixed rate, as ioping does.
//!
//! The rate does not wait for the drive, and every read is kept: a stall is charged to each read that it held up.

use crate::composition::Prepared;
use crate::error::PlanError;
use crate::preparation::{Filling, measure, random_block};
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use crate::setup::check_room;
use crate::{Experiment, Remaining, Setup};
use clap::{Args, value_parser};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};
use serde::{Deserialize, Serialize};

const RANGE_MIN: Bytes = Bytes::from_mib(1);
/// 600 reads: the 99th percentile then has six above it.
const TIME: Nanos = Nanos::from_secs(60);
const READS_PER_SECOND: u32 = 10;

/// How often a read is sent, and how large. The duration is `--time-limit`.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Reads")]
#[serde(default)]
pub struct PingRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Reads per second, evenly spaced [default: 10]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    pub rate: Option<u32>,

    /// Block size of each read [default: 4KiB]
    #[arg(long, value_name = "SIZE")]
    pub block: Option<Bytes>,
}

impl DriveRequest for PingRequest {
    has_drive_options!(ExperimentName::Ping);

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        Ok(Box::new(Ping::new(setup, self)?))
    }
}

pub struct Ping {
    setup: Setup,
    prepared: Prepared,
    per_second: u32,
    block: Bytes,
    is_done: bool,
}

impl Ping {
    pub fn new(mut setup: Setup, request: &PingRequest) -> Result<Ping, PlanError> {
        let block = request.block.unwrap_or(random_block(&setup.facts));
        let block = block.round_up_to(setup.facts.logical_block).max(setup.facts.logical_block);
        setup.range = setup.range.align_inward(block);
        check_room(ExperimentName::Ping, setup.range.bytes(), RANGE_MIN.max(block))?;
        let per_second = request.rate.unwrap_or(READS_PER_SECOND);
        let prepared =
            Prepared::new(ExperimentName::Ping, &setup, Filling::BRIEF).and_warm_up(setup.range, block);
        Ok(Ping { setup, prepared, per_second, block, is_done: false })
    }

    fn reads(&self, range: ByteRange) -> Phase {
        let arrival = Arrival::OpenLoop { per_second: self.per_second.into(), spacing: Spacing::Even };
        let single = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Read, self.block, 1);
        let stop = StopCondition::after(self.setup.time_limit.unwrap_or(TIME));
        let name = "random reads at a fixed rate".into();
        measure(ExperimentName::Ping, name, Workload { arrival, ..single }, stop)
    }
}

impl Experiment for Ping {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.prepared.next() {
            return Some(phase);
        }
        if self.is_done {
            return None;
        }
        self.is_done = true;
        let range = self.prepared.range(self.setup.range, so_far)?;
        Some(self.reads(range))
    }

    fn remaining(&self) -> Remaining {
        let mut steps = self.prepared.steps();
        if !self.is_done {
            steps.extend(Remaining::of(&[self.reads(self.setup.range)]).steps);
        }
        Remaining { steps }
    }

    fn needs_trace(&self, phase: &Phase) -> bool {
        phase.kind == PhaseKind::Measure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::run::{Environment, MemorySeries};

    fn ping(request: &PingRequest) -> Ping {
        let facts = sim::open("constant", 1).expect("a drive that ships").facts().clone();
        let setup = Setup {
            range: ByteRange::whole(facts.capacity),
            facts,
            may_write: false,
            empty: false,
            seed: 1,
            time_limit: None,
            precision: None,
        };
        Ping::new(setup, request).expect("room")
    }

    #[test]
    fn after_the_warm_up_it_reads_ten_times_a_second_for_a_minute_and_is_done() {
        let mut ping = ping(&PingRequest::default());
        assert_eq!(ping.remaining().writes(), Some(Bytes::ZERO));
        let facts = ping.setup.facts.clone();
        let environment = Environment::default();
        let series = MemorySeries::default();
        let so_far = RunView { target: &facts, environment: &environment, phases: &[], series: &series };
        let warm_up = ping.next(&so_far).expect("a phase");
        assert_eq!(warm_up.kind, PhaseKind::WarmUp);
        let reads = ping.next(&so_far).expect("a phase");
        assert!(ping.needs_trace(&reads) && !ping.needs_trace(&warm_up));
        assert_eq!(reads.stop, StopCondition::after(Nanos::from_secs(60)));
        let workload = reads.workload.expect("requests");
        assert_eq!(workload.arrival, Arrival::OpenLoop { per_second: 10.0, spacing: Spacing::Even });
        assert_eq!((workload.in_flight_max(), workload.block_sizes.largest()), (1, Bytes::from_kib(4)));
        assert_eq!((ping.next(&so_far), ping.remaining().phases()), (None, 0));
    }

    #[test]
    fn a_block_is_at_least_that_of_the_drive() {
        let tiny = PingRequest { block: Some(Bytes::new(1)), ..PingRequest::default() };
        let ping = ping(&tiny);
        assert_eq!(ping.block, ping.setup.facts.logical_block);
    }
}
