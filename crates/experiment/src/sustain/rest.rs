//! Rests after the drop: after each, writes until the rate is down again, so that it shows what the rest gave back.

use super::drop::written_max;
use super::request::SustainRequest;
use crate::preparation::{idle, measure};
use crate::{Experiment, Remaining, Setup, Step};
use analysis::sustained::{Cause, History, RateDrop, Standing, cause, regained, standing};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos};
use model::workload::Workload;
use std::collections::VecDeque;

const ORDER_STREAM: u64 = u64::MAX - 2;
/// The first batch after a rest, and by how much each is larger than the one before: what was regained is not known.
const PIECE: u64 = 16 * MIB;
const GROWTH: f64 = 1.5;
/// With fewer rests of which it is known to a tenth what they gave back, longer ones follow, up to this: SSDs begin after 1 to 30 s.
const RESTS_KNOWN: usize = 3;
const LONGEST: Nanos = Nanos::from_secs(240);
/// No rest gives back more than all of the cache: so many times that is written at most, and then the rate is not down, whatever it is.
const CACHES_MAX: f64 = 1.2;
const PIECE_TIME: Nanos = Nanos::from_secs(600);

pub(super) struct Rest {
    setup: Setup,
    request: SustainRequest,
    mechanical: bool,
    rests: VecDeque<Nanos>,
    longest: Nanos,
    batch: Option<f64>,
    is_over: bool,
}

impl Rest {
    pub fn new(setup: &Setup, request: &SustainRequest, mechanical: bool) -> Option<Rest> {
        let mut rests = request.idle.clone();
        Prng::new(setup.seed, ORDER_STREAM).shuffle(&mut rests);
        let longest = *rests.iter().max()?;
        Some(Rest {
            setup: setup.clone(),
            request: request.clone(),
            mechanical,
            longest,
            rests: rests.into(),
            batch: None,
            is_over: false,
        })
    }

    fn drop(&self, run: &RunView<'_>, history: &History<'_>) -> Option<RateDrop> {
        match standing(history.first()) {
            Standing::Fell(drop) if cause(run, history, &drop) == Cause::Cache => Some(*drop),
            _ => None,
        }
    }

    /// What may still be written after rests, also those that follow where too few gave something back.
    fn bytes_max(&self) -> Bytes {
        let mut rests = self.rests.len() + 1;
        let mut longer = self.longest.saturating_mul(2);
        while longer <= LONGEST && !longer.is_zero() {
            rests += 1;
            longer = longer * 2;
        }
        let most = written_max(&self.setup, &self.request, self.mechanical).as_f64();
        Bytes::new((rests as f64 * (CACHES_MAX * most + PIECE as f64)) as u64)
    }

    fn write(&mut self, size: f64) -> Phase {
        self.batch = Some(size * GROWTH);
        let block = self.request.block();
        let bytes = Bytes::new((size as u64).max(block.get())).round_down_to(block);
        let workload = Workload::new(
            self.setup.range,
            self.request.pattern(),
            self.request.mix(),
            block,
            self.request.depth(),
        );
        let stop = StopCondition::after(PIECE_TIME).or_bytes(bytes);
        measure(ExperimentName::Sustain, "write after idle".into(), workload, stop)
    }
}

impl Experiment for Rest {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let history = History::of(so_far);
        let drop = match &history {
            Some(history) => self.drop(so_far, history),
            None => None,
        };
        let (Some(history), Some(drop), false) = (history, drop, self.setup.is_out_of_time(so_far)) else {
            self.is_over = true;
            return None;
        };
        let gains = regained(so_far, &history, &drop);
        if let Some(size) = self.batch {
            let has_written =
                matches!(so_far.phases.last(), Some(last) if last.phase.kind != PhaseKind::Idle);
            let written = match history.streams.last() {
                Some(stream) if has_written => stream.bytes(),
                _ => 0.0,
            };
            let left = CACHES_MAX * drop.bytes.value - written;
            let is_down = has_written && matches!(gains.last(), Some(gain) if gain.is_down);
            if !is_down && left > 0.0 {
                return Some(self.write(size.min(left.max(PIECE as f64))));
            }
            self.batch = None;
        }
        let known = gains.iter().filter(|gain| gain.is_known()).count();
        if self.rests.is_empty() && known < RESTS_KNOWN && self.longest.saturating_mul(2) <= LONGEST {
            self.longest = self.longest * 2;
            self.rests.push_back(self.longest);
        }
        let Some(rest) = self.rests.pop_front() else {
            self.is_over = true;
            return None;
        };
        self.batch = Some(PIECE as f64);
        Some(idle(ExperimentName::Sustain, format!("idle for {} s", rest.seconds()), rest))
    }

    fn remaining(&self) -> Remaining {
        if self.is_over {
            return Remaining::default();
        }
        let time = self.rests.iter().copied().sum();
        let what = "idle times after the write cliff, if any, each with writes to the next cliff".into();
        let phases = 4 * self.rests.len() as u32;
        let step = Step { writes: Some(self.bytes_max()), ..Step::if_any(what, phases, time) };
        Remaining { steps: vec![step] }
    }
}
