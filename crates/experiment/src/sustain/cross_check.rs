//! After a drop of a flash drive: full cache, short free space, or heat. Later writes tell: see [`analysis::sustained::cause`].

use super::drop::written_max;
use super::request::SustainRequest;
use crate::preparation::measure;
use crate::{Experiment, Remaining, Setup, Step};
use analysis::sustained::{Cause, History, RateDrop, Standing, cause, standing};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::range::ByteRange;
use model::run::RunView;
use model::units::{Bytes, MIB, Nanos};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};
use std::collections::VecDeque;

/// Drives keep 5 % of their capacity and more as spare space. Where the rate fell sooner, it was not for want of space.
const SPARE_SHARE: f64 = 0.04;
/// Writes in order are this share of what was written until the drop, in two halves: more than a block of all dies at once.
const IN_ORDER_SHARE: f64 = 0.1;
/// Slower links keep drives cool. SATA carries this at most, in bytes per second: 6 Gbit/s, 8 bits in 10.
const WARM_RATE_MIN: f64 = 600e6;
/// No drive becomes too warm in less: parts of some grams that take some watts.
const WARM_S: f64 = 10.0;
/// While it cools, a write comes every 100 ms, so that it is not idle: drives begin to clean up after some tenths of a second and more.
const COOLING: Nanos = Nanos::from_secs(120);
const COOLING_PER_SECOND: f64 = 10.0;
/// So often it is looked whether it is cool. What a drive and its heat sink take to cool by two thirds is a minute to ten (assumed, as in
/// virtual drives), and it goes on at full rate some degrees below where it was too warm: after ten minutes any has.
const COOLINGS: usize = 5;
/// Then a batch of this share of what was written until the drop shows whether it is fast again.
const AFTER_COOLING_SHARE: f64 = 0.01;
const PIECE_MIN: u64 = 16 * MIB;
const TIME_MAX: Nanos = Nanos::from_secs(600);
/// What is guessed of a rate, in bytes per second: that of a SATA drive.
const RATE: f64 = 300e6;

pub(super) struct CrossCheck {
    setup: Setup,
    request: SustainRequest,
    phases: Option<VecDeque<Phase>>,
    coolings_left: usize,
}

impl CrossCheck {
    /// The question, for anything but a disk, which has neither of these causes; none for writes in order to a drive that does not become warm.
    pub fn new(setup: &Setup, request: &SustainRequest) -> Option<CrossCheck> {
        let (setup, request) = (setup.clone(), request.clone());
        let check = CrossCheck { setup, request, phases: None, coolings_left: 0 };
        (check.may_lack_space() || check.may_be_fast()).then_some(check)
    }

    fn plan(&mut self, so_far: &RunView<'_>) -> VecDeque<Phase> {
        let Some(history) = History::of(so_far) else { return VecDeque::new() };
        let Standing::Fell(drop) = standing(history.first()) else {
            return VecDeque::new();
        };
        let mut phases = VecDeque::new();
        let span = self.setup.range.bytes().as_f64();
        if self.may_lack_space() && drop.bytes.value >= SPARE_SHARE * span && drop.bytes.value < span {
            phases.extend(self.in_order(&drop));
        }
        let warm_s = drop.before.seconds.max(history.first()[0].seconds);
        if self.has_been_fast(&drop) && warm_s >= WARM_S {
            phases.extend(self.cooling(&drop));
            self.coolings_left = COOLINGS - 1;
        }
        phases
    }

    fn cool_again(&mut self, so_far: &RunView<'_>) -> VecDeque<Phase> {
        if self.coolings_left == 0 {
            return VecDeque::new();
        }
        let Some(history) = History::of(so_far) else { return VecDeque::new() };
        self.coolings_left -= 1;
        match standing(history.first()) {
            Standing::Fell(drop) if cause(so_far, &history, &drop) == Cause::Cache => {
                self.cooling(&drop).into()
            }
            _ => VecDeque::new(),
        }
    }

    /// Writes in order leave whole blocks of garbage, and need no space won back.
    fn may_lack_space(&self) -> bool {
        self.request.pattern() != Pattern::Sequential
    }

    /// Whether its link is one of PCIe, or unknown: volumes of several drives tell none.
    fn may_be_fast(&self) -> bool {
        self.setup.facts.link.as_ref().is_none_or(|link| link.name.starts_with("PCIe"))
    }

    fn has_been_fast(&self, drop: &RateDrop) -> bool {
        let is_link_known = self.setup.facts.link.is_some();
        self.may_be_fast() && (is_link_known || drop.before.bytes_per_second() > WARM_RATE_MIN)
    }

    fn bytes_max(&self) -> Bytes {
        let span = self.setup.range.bytes().as_f64();
        let in_order = match self.may_lack_space() {
            true => ((span * IN_ORDER_SHARE) as u64).max(2 * self.request.block().get()),
            false => 0,
        };
        if !self.may_be_fast() {
            return Bytes::new(in_order);
        }
        let drop = written_max(&self.setup, &self.request, false).as_f64();
        let again = ((drop * AFTER_COOLING_SHARE) as u64).max(PIECE_MIN).max(self.request.block().get());
        Bytes::new(in_order + COOLINGS as u64 * (self.bytes_while_cooling().get() + again))
    }

    fn bytes_while_cooling(&self) -> Bytes {
        Bytes::new((COOLING.seconds() * COOLING_PER_SECOND) as u64 * self.request.block().get())
    }

    fn in_order(&self, drop: &RateDrop) -> [Phase; 2] {
        let range = self.setup.range;
        // Requests like those at random: of larger ones a volume that limits requests takes more bytes.
        let (block, depth) = (self.request.block(), self.request.depth());
        let half = Bytes::new((drop.bytes.value * IN_ORDER_SHARE / 2.0) as u64).round_down_to(block);
        let half = half.max(block).min(Bytes::new(range.bytes().get() / 2));
        [range.first(), range.first() + half].map(|first| {
            let part = ByteRange::new(first, half).unwrap_or(range);
            let writes = Workload::new(part, Pattern::Sequential, OperationMix::Write, block, depth);
            let stop = StopCondition { time: Some(TIME_MAX), ..StopCondition::one_pass() };
            let name = "write sequentially, to detect garbage collection".into();
            measure(ExperimentName::Sustain, name, writes, stop)
        })
    }

    fn cooling(&self, drop: &RateDrop) -> [Phase; 2] {
        let range = self.setup.range;
        let (pattern, block) = (self.request.pattern(), self.request.block());
        let writes = Workload::new(range, pattern, self.request.mix(), block, self.request.depth());
        let few = Workload {
            arrival: Arrival::OpenLoop { per_second: COOLING_PER_SECOND, spacing: Spacing::Even },
            ..writes.clone()
        };
        let again = Bytes::new((drop.bytes.value * AFTER_COOLING_SHARE) as u64)
            .max(Bytes::new(PIECE_MIN))
            .round_down_to(block);
        let cool = StopCondition::after(COOLING).or_bytes(self.bytes_while_cooling());
        let stop = StopCondition::after(TIME_MAX).or_bytes(again.max(block));
        [
            measure(ExperimentName::Sustain, "write little, to let it cool".into(), few, cool),
            measure(ExperimentName::Sustain, "write again".into(), writes, stop),
        ]
    }
}

impl Experiment for CrossCheck {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if self.phases.is_none() {
            self.phases = Some(self.plan(so_far));
        } else if self.phases.as_ref().is_some_and(VecDeque::is_empty) {
            self.phases = Some(self.cool_again(so_far));
        }
        if self.setup.is_out_of_time(so_far) { None } else { self.phases.as_mut()?.pop_front() }
    }

    fn remaining(&self) -> Remaining {
        let planned = match &self.phases {
            None if self.may_be_fast() => (2 + 2 * COOLINGS, COOLINGS, Some(self.bytes_max())),
            None => (2, 0, Some(self.bytes_max())),
            Some(phases) if phases.is_empty() && self.coolings_left == 0 => return Remaining::default(),
            Some(phases) => {
                let known = Remaining::of(&Vec::from(phases.clone())).writes();
                let again = self.bytes_max().get() / COOLINGS as u64 * self.coolings_left as u64;
                let coolings = self.coolings_left + usize::from(phases.len() > 2);
                (
                    phases.len() + 2 * self.coolings_left,
                    coolings,
                    known.map(|known| Bytes::new(known.get() + again)),
                )
            }
        };
        let (phases, coolings, writes) = planned;
        let cooling = Nanos::new(COOLING.get() * coolings as u64);
        let writing = Nanos::from_secs_f64(writes.unwrap_or_default().as_f64() / RATE).unwrap_or(TIME_MAX);
        let what = "writes after a write cliff, if any, to find its cause".into();
        let reads = self.request.reads();
        let time = cooling + writing;
        let likely = if self.phases.is_some() { time } else { Nanos::ZERO };
        Remaining {
            steps: vec![Step { what, phases: phases as u32, time, likely, slow: likely, reads, writes }],
        }
    }
}
