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

    /// How much to write next; none where no batch was left to its flush, one has filled the cache or ended by time, or writes fell for good.
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
