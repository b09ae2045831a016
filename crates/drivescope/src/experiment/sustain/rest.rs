//! Rests after the fall: after each, writes until the rate is down again, so that it shows what the rest gave back.

use super::fall::written_max;
use super::{NAME, SustainWish};
use crate::experiment::preparation::phase;
use crate::experiment::{Experiment, Outlook, Question, Step};
use analysis::sustained::{Cause, Fall, History, Standing, Stream, cause, memory_bytes, regained, standing};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos};
use model::workload::Workload;
use std::collections::VecDeque;

/// The stream of the seed that draws the order.
const ORDER_STREAM: u64 = u64::MAX - 2;
/// The first piece after a rest, and by how much each is larger than the one before: what was regained is not known.
const PIECE: u64 = 16 * MIB;
const GROWTH: f64 = 1.5;
/// With fewer rests of which it is known to a tenth what they gave back, longer ones follow, each twice as long, as long as they are no
/// longer than this: SSDs begin to clean up after 1 to 30 s.
const RESTS_KNOWN: usize = 3;
const LONGEST: Nanos = Nanos::from_secs(240);
/// No rest gives back more than all of the cache: so many times that is written at most, and then the rate is not down, whatever it is.
const CACHES_MAX: f64 = 1.2;
/// A piece ends after this at the latest.
const PIECE_TIME: Nanos = Nanos::from_secs(600);

/// The part of `sustain` that leaves the drive alone now and then.
pub(super) struct Rest {
    question: Question,
    wish: SustainWish,
    mechanical: bool,
    rests: VecDeque<Nanos>,
    /// The longest rest so far.
    longest: Nanos,
    /// The size of the next piece; none before a rest.
    piece: Option<f64>,
    is_over: bool,
}

impl Rest {
    /// The question; none when nobody asks.
    pub fn new(question: &Question, wish: &SustainWish, mechanical: bool) -> Option<Rest> {
        let mut rests = wish.rests.clone();
        Prng::new(question.seed, ORDER_STREAM).shuffle(&mut rests);
        (!rests.is_empty()).then(|| Rest {
            question: question.clone(),
            wish: wish.clone(),
            mechanical,
            longest: rests.iter().copied().max().unwrap_or_default(),
            rests: rests.into(),
            piece: None,
            is_over: false,
        })
    }

    fn fall(&self, run: &RunView<'_>, history: &History<'_>) -> Option<Fall> {
        match standing(history.first(), memory_bytes(self.mechanical)) {
            Standing::Fell(fall) if cause(run, history, &fall) == Cause::Cache => Some(*fall),
            _ => None,
        }
    }

    /// What may still be written after rests, also those that follow where too few gave something back.
    fn bytes_max(&self) -> Bytes {
        let longer = std::iter::successors(Some(2 * self.longest.0), |rest| rest.checked_mul(2));
        let rests = self.rests.len() + longer.take_while(|&rest| rest <= LONGEST.0).count() + 1;
        let most = written_max(&self.question, &self.wish, self.mechanical).0 as f64;
        Bytes((rests as f64 * (CACHES_MAX * most + PIECE as f64)) as u64)
    }

    fn write(&mut self, size: f64) -> Phase {
        self.piece = Some(size * GROWTH);
        let block = self.wish.block;
        let bytes = Bytes((size as u64).max(block.0)).round_down_to(block);
        let workload = Workload::new(
            self.question.range,
            self.wish.pattern.clone(),
            self.wish.mix,
            block,
            self.wish.depth,
        );
        let stop = StopCondition::after(PIECE_TIME).or_bytes(bytes);
        phase(NAME, "write after a rest".into(), PhaseKind::Measure, Some(workload), stop)
    }
}

impl Experiment for Rest {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        let history = History::of(so_far);
        let fall = history.as_ref().and_then(|history| self.fall(so_far, history));
        let is_late = self.question.time_limit.is_some_and(|limit| so_far.elapsed() >= limit);
        let (Some(history), Some(fall), false) = (history, fall, is_late) else {
            self.is_over = true;
            return None;
        };
        let gains = regained(so_far, &history, &fall);
        if let Some(size) = self.piece {
            let has_written =
                so_far.phases.last().is_some_and(|summary| summary.phase.kind != PhaseKind::Idle);
            let written = match has_written {
                true => history.streams.last().map_or(0.0, Stream::bytes),
                false => 0.0,
            };
            let left = CACHES_MAX * fall.bytes.value - written;
            let is_down = has_written && gains.last().is_some_and(|gain| gain.is_down);
            if !is_down && left > 0.0 {
                return Some(self.write(size.min(left.max(PIECE as f64))));
            }
            self.piece = None;
        }
        let known = gains.iter().filter(|gain| gain.is_known()).count();
        if self.rests.is_empty() && known < RESTS_KNOWN && Nanos(2 * self.longest.0) <= LONGEST {
            self.longest = Nanos(2 * self.longest.0);
            self.rests.push_back(self.longest);
        }
        let Some(rest) = self.rests.pop_front() else {
            self.is_over = true;
            return None;
        };
        self.piece = Some(PIECE as f64);
        Some(phase(
            NAME,
            format!("leave it alone for {} s", rest.seconds()),
            PhaseKind::Idle,
            None,
            StopCondition::after(rest),
        ))
    }

    fn outlook(&self) -> Outlook {
        if self.is_over {
            return Outlook::default();
        }
        let time = self.rests.iter().fold(Nanos::ZERO, |sum, rest| sum + *rest);
        let what =
            "rests after the fall, if there is one, each with writes until the rate is down again".into();
        let phases = 4 * self.rests.len() as u32;
        Outlook {
            steps: vec![Step {
                what,
                phases,
                time,
                likely: Nanos::ZERO,
                slow: Nanos::ZERO,
                reads: Some(Bytes::ZERO),
                writes: Some(self.bytes_max()),
            }],
        }
    }
}
