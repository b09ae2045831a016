//! The part of `sustain` that fills a write cache which held all of each batch: batches that double until one ends at the drain rate.

use super::drop::workload;
use super::request::SustainRequest;
use crate::preparation::measure;
use crate::{Experiment, Remaining, Setup, Step};
use analysis::sustained::{Held, History, Standing, caching, standing};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::run::RunView;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern};

/// The largest caches of RAID controllers hold 8 GB (Broadcom MegaRAID 9670, data sheet): twice that fills them.
const BYTES_MAX: u64 = 16 << 30;
/// Doubled from the smallest batch of 16 MiB, so many lead there.
const PIECES_MAX: u32 = 10;
/// A batch that does not end by then says as much as it does: the flush counts, too.
const TIME_MAX: Nanos = Nanos::from_secs(600);

pub(super) struct Cache {
    setup: Setup,
    request: SustainRequest,
    /// What the last of these batches was to write.
    asked: Bytes,
    is_over: bool,
}

impl Cache {
    /// The part, for random writes. Sequential ones go on behind the last batch, which is another question.
    pub fn new(setup: &Setup, request: &SustainRequest) -> Option<Cache> {
        let fits =
            request.pattern() == Pattern::RandomWithReplacement && request.mix() == OperationMix::Write;
        if fits {
            Some(Cache {
                setup: setup.clone(),
                request: request.clone(),
                asked: Bytes::new(0),
                is_over: false,
            })
        } else {
            None
        }
    }

    /// How much to write next; none where no batch was left to its flush, one has filled the cache or reached its time limit, or the rate dropped.
    fn bytes(&self, so_far: &RunView<'_>) -> Option<Bytes> {
        let history = History::of(so_far).filter(|history| self.request.is_of(history.workload))?;
        let is_left_to_flush = matches!(caching(so_far, &history)?.held, Held::AtLeast(_));
        if !is_left_to_flush || matches!(standing(history.first()), Standing::Fell(_)) {
            return None;
        }
        if matches!(history.first().last(), Some(last) if last.bytes < self.asked.as_f64()) {
            return None;
        }
        let largest = history.first().iter().map(|batch| batch.bytes as u64).max()?;
        let next = Bytes::new(2 * largest).round_down_to(self.request.block());
        (next.get() <= BYTES_MAX && next < self.setup.range.bytes()).then_some(next)
    }
}

impl Experiment for Cache {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let bytes = if self.setup.is_out_of_time(so_far) { None } else { self.bytes(so_far) };
        self.is_over = bytes.is_none();
        let bytes = bytes?;
        self.asked = bytes;
        let writes = workload(&self.setup, &self.request, 0, bytes.get());
        let stop = StopCondition::after(TIME_MAX).or_bytes(bytes);
        let name = format!("write {bytes}, to fill the write cache");
        Some(measure(ExperimentName::Sustain, name, writes, stop))
    }

    fn remaining(&self) -> Remaining {
        if self.is_over {
            return Remaining::default();
        }
        // It writes what is left of what was announced: most drives need none of it.
        let time = self.setup.time_limit.unwrap_or(Remaining::UNBOUNDED);
        let what = "larger writes, if all of each batch fits into the write cache".into();
        Remaining { steps: vec![Step::if_any(what, PIECES_MAX, time)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sustain::setup_of;
    use model::range::ByteRange;
    use model::request::Operation;
    use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary};
    use model::units::Offset;

    /// What wrote these bytes in a second, and was flushed for four.
    fn written(phase: Phase, number: u64, bytes: u64) -> PhaseSummary {
        let writes = OperationTotals { operations: 1, bytes, ..OperationTotals::none(Operation::Write) };
        let mut flush = OperationTotals { operations: 1, ..OperationTotals::none(Operation::Flush) };
        flush.histogram.record(4_000_000_000);
        PhaseSummary {
            totals: vec![writes, flush],
            duration_ns: 1_000_000_000,
            ..PhaseSummary::begun(phase, number * 5_000_000_000)
        }
    }

    /// A stick of 0.84 MB/s: batches of 961 MB, each ended by time at 480 MB, were asked for over and over, for 20 hours.
    #[test]
    fn what_time_ends_is_the_last() {
        let range = ByteRange::new(Offset::new(0), Bytes::from_mib(4096)).unwrap();
        let setup = setup_of("sata-tlc-500gb", range);
        let request = SustainRequest::default();
        let batch = || {
            let writes = workload(&setup, &request, 0, 16 << 20);
            measure(ExperimentName::Sustain, "write".into(), writes, StopCondition::default())
        };
        let mut phases: Vec<PhaseSummary> = (0..5).map(|number| written(batch(), number, 16 << 20)).collect();
        let mut cache = Cache::new(&setup, &request).expect("writes at random");
        let (environment, series) = (Environment::default(), MemorySeries::default());
        let mut next = |phases: &[PhaseSummary]| {
            cache.next(&RunView { target: &setup.facts, environment: &environment, phases, series: &series })
        };
        for mib in [32, 64] {
            let phase = next(&phases).expect("all was left to the flush");
            assert_eq!(phase.stop.bytes, Some(Bytes::from_mib(mib)));
            phases.push(written(phase, mib, mib << 20));
        }
        let phase = next(&phases).expect("all was left to the flush");
        phases.push(written(phase, 99, 100 << 20));
        assert_eq!(next(&phases), None, "100 of 128 MiB in ten minutes");
    }
}
