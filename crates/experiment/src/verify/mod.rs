//! `verify`: does it store what it is told, all of it?
//! ```text
//! quick   mark the start ─► look for it further on (wraps?) ─► write probes twice, then others to push them out of caches
//!                        ─► read the probes ─► mark the end, look for it before (wraps, but spares its start?)
//!                        ─► close in on the end, or on that of the spared start, if there is one ─► compare the start
//! full    the same, and if the drive does not lie: write all of it, compare all of it, in parts
//! read    compare what an earlier run wrote last, after the drive was detached for instance
//! ```
//! Places past the start are written only when it is known that they are no others than they seem: on a drive that wraps they
//! would overwrite what nobody has looked at.

mod marked;
mod places;

use marked::kind_of;
pub use marked::{Marked, last_marked};

use crate::error::PlanError;
use crate::preparation::SEQUENTIAL_DEPTH;
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use crate::{Conduct, Experiment, Remaining, Setup};
use analysis::integrity::{self, Extent, TAIL_MIN};
use clap::{Args, ValueEnum, value_parser};
use model::experiment_name::ExperimentName;
use model::payload::Mark;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::run::{PhaseSummary, RunView};
use model::target::TargetKind;
use model::units::{Bytes, GIB, Nanos, Offset};
use model::workload::{DataPattern, OperationMix, Pattern, Workload};
use places::{Places, between, drawn};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The end is closed in on by a factor of [`CLOSER`] + 1 each time: from a drive of 2⁶⁴ bytes to a block in nine.
const ROUNDS_MAX: u32 = 10;
const CLOSER: u64 = 63;
/// The step in which data are written and compared: what is repeated when a run is killed.
const PART: Bytes = Bytes::from_gib(4);
/// The same where each part is saved and given back: how large the journal gets.
const PART_PRESERVED: Bytes = Bytes::new(GIB / 2);
/// What a drive is taken to move in a second, for the estimate of time before anything is known.
const RATE_EXPECTED: f64 = 100e6;
const PLACE_EXPECTED_S: f64 = 0.008;

/// How much is looked at, and when.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Method (default: some hundred samples, one minute)")]
#[serde(default)]
pub struct VerifyRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Write every block and compare every block. Takes hours
    #[arg(long)]
    pub full: bool,

    /// With --full: how often. From the second time on, lost writes are told from other corruption
    #[arg(long, value_name = "N", requires = "full", value_parser = value_parser!(u32).range(1..=100))]
    pub passes: Option<u32>,

    /// Only write now; compare later, after the drive was unplugged for instance, with --read-back
    #[arg(long)]
    pub write_only: bool,

    /// Only compare what that run wrote; `last` is the newest. Writes nothing
    #[arg(long, value_name = "RUN", conflicts_with_all = ["full", "write_only", "write"])]
    pub read_back: Option<String>,

    /// Power cut: `write` reports each record after its flush to --to; after the cut, `check` tells which are missing
    #[arg(long, value_name = "STEP", value_enum, help_heading = "Power cut",
        conflicts_with_all = ["full", "write_only", "read_back", "resume", "dry_run", "preserve"])]
    #[serde(skip)]
    pub power_cut: Option<PowerCutStep>,

    /// Where flushed records are reported; not on the drive under test. `check` reads that file
    #[arg(long, value_name = "HOST:PORT|FILE", requires = "power_cut", help_heading = "Power cut")]
    #[serde(skip)]
    pub to: Option<String>,
}

/// The halves of a test that a power cut divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PowerCutStep {
    /// Write numbered records, flush each, and report it
    Write,
    /// Tell which reported records are missing
    Check,
}

impl DriveRequest for VerifyRequest {
    has_drive_options!(ExperimentName::Verify);

    fn plan(&self, setup: Setup, supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        if self.write_only && self.drive.writing.preserve {
            return Err(PlanError::GivenBack);
        }
        let work = match &supplies.marked {
            Some(marked) => Work::Read(marked.clone()),
            None if self.write_only => Work::Write,
            None => Work::Both,
        };
        if !setup.may_write && !matches!(work, Work::Read(_)) {
            return Err(PlanError::NeedsWrite {
                experiment: ExperimentName::Verify,
                path: setup.facts.path.clone(),
            });
        }
        let is_virtual = setup.facts.kind == TargetKind::Sim;
        if is_virtual && matches!(work, Work::Read(_)) || setup.empty && work != Work::Both {
            return Err(PlanError::GoneWithItsRun);
        }
        Ok(Box::new(Verify::new(setup, self, work, supplies.mark_key)?))
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Work {
    Both,
    /// Only writing: the reading follows in another run.
    Write,
    /// Only reading what was written before.
    Read(Vec<Marked>),
}

pub struct Verify {
    setup: Setup,
    full: bool,
    passes: u32,
    /// What was there is given back, so that each part is done with before the next.
    preserves: bool,
    work: Work,
    key: u64,
    places: Places,
    stage: Stage,
    /// What the start holds, and whatever else was written.
    generation: u32,
    end: Offset,
    rounds: u32,
    /// Whether the start was written once more to close in, so that it is compared again.
    was_pushed_out: bool,
    queue: VecDeque<Phase>,
    /// Whether what is left in the queue are parts of the whole range, and whether the last phase was one.
    in_parts: bool,
    last_is_part: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Start,
    Hunted,
    Probed,
    HuntedBack,
    Closing,
    Full { pass: u32 },
    Done,
}

impl Verify {
    fn new(setup: Setup, request: &VerifyRequest, work: Work, key: u64) -> Result<Verify, PlanError> {
        let places = Places::new(&setup)?;
        let queue = match &work {
            Work::Read(marked) => marked.iter().map(Marked::reading).collect(),
            Work::Both | Work::Write => VecDeque::new(),
        };
        Ok(Verify {
            end: places.range.end(),
            generation: 1,
            rounds: 0,
            was_pushed_out: false,
            in_parts: false,
            last_is_part: false,
            stage: if matches!(work, Work::Read(_)) { Stage::Done } else { Stage::Start },
            queue,
            places,
            setup,
            full: request.full,
            passes: request.passes.unwrap_or(1),
            preserves: request.drive.writing.preserve,
            work,
            key,
        })
    }

    /// A part that could not be saved was not written, so that it cannot be compared.
    fn drop_untested(&mut self, so_far: &RunView<'_>) {
        let (Some(last), Some(next)) = (so_far.phases.last(), self.queue.front()) else { return };
        if self.is_untested(last) && next.kind == PhaseKind::Verify && range_of(next) == range_of(&last.phase)
        {
            self.queue.pop_front();
        }
    }

    fn go_on(&mut self, so_far: &RunView<'_>) -> bool {
        match self.stage {
            Stage::Start => {
                self.queue.extend(self.opening());
                self.stage = Stage::Hunted;
            }
            Stage::Hunted => {
                if let Some(Extent::Wraps { period_bytes, .. }) = integrity::extent(so_far) {
                    self.end = self.end.min(Offset::new(period_bytes));
                }
                let probing = self.probing();
                self.queue.extend(probing);
                self.stage = Stage::Probed;
            }
            Stage::Probed => {
                if self.work == Work::Both && matches!(integrity::extent(so_far), Some(Extent::Holds { .. }))
                {
                    self.queue.extend(self.hunt_back());
                }
                self.stage = Stage::HuntedBack;
            }
            Stage::HuntedBack => self.close_in(so_far),
            Stage::Closing => {
                let lies = self.end < self.places.range.end()
                    || !matches!(integrity::extent(so_far), Some(Extent::Holds { .. }));
                self.stage = if self.full && !lies { Stage::Full { pass: 1 } } else { Stage::Done };
            }
            Stage::Full { pass } => {
                self.generation += 1;
                self.in_parts = true;
                self.queue.extend(self.whole(self.generation));
                self.stage = if pass < self.passes { Stage::Full { pass: pass + 1 } } else { Stage::Done };
            }
            Stage::Done => return false,
        }
        true
    }

    fn opening(&self) -> Vec<Phase> {
        let mut phases = vec![self.start(OperationMix::Write, "mark the start")];
        phases.extend(self.hunt());
        phases.extend(self.hunt_at_end());
        phases
    }

    fn hunt(&self) -> Option<Phase> {
        let (range, stride, block) = self.places.hunted()?;
        Some(self.hunting(range, stride, block, "search for the start at higher offsets"))
    }

    fn hunting(&self, range: ByteRange, stride: Bytes, block: Bytes, name: &str) -> Phase {
        let mut workload =
            Workload::new(range, Pattern::Strided { stride }, OperationMix::Read, block, places::DEPTH);
        workload.data = self.mark(0);
        let operations = Some(range.bytes().get().div_ceil(stride.get()));
        let stop = StopCondition { operations, ..StopCondition::default() };
        phase(name, PhaseKind::Verify, workload, stop)
    }

    /// The end is marked, and looked for everywhere before: a drive may wrap to behind its start only.
    fn hunt_back(&self) -> Vec<Phase> {
        let (Some(end), Some((rest, stride, block))) = (self.places.end(), self.places.hunted()) else {
            return Vec::new();
        };
        let before =
            ByteRange::new(rest.first(), end.first() - rest.first()).expect("the end is in the rest");
        vec![
            self.sequential(end, OperationMix::Write, 1, "mark the end".into()),
            self.hunting(before.align_inward(block), stride, block, "search for the end at lower offsets"),
        ]
    }

    /// A drive that is short by less than two places of the hunt are apart.
    fn hunt_at_end(&self) -> Option<Phase> {
        let (range, _, block) = self.places.hunted()?;
        let last = Offset::new(range.end().get() - block.get());
        let pattern = Pattern::Listed { offsets: vec![last] };
        let mut workload = Workload::new(range, pattern, OperationMix::Read, block, 1);
        workload.data = self.mark(0);
        let stop = StopCondition { operations: Some(1), ..StopCondition::default() };
        Some(phase("search for the start at the end", PhaseKind::Verify, workload, stop))
    }

    /// Places all over the rest are written twice, so that a lost write shows the one before; then the start, to clear caches.
    fn probing(&mut self) -> Vec<Phase> {
        let probes = drawn(&self.places, self.end, self.setup.seed);
        if probes.is_empty() {
            return Vec::new();
        }
        let mut phases = vec![
            self.listed(&probes, OperationMix::Write, 1, "write samples over the range"),
            self.listed(&probes, OperationMix::Write, 2, "write the samples again"),
        ];
        phases.extend(self.push_out());
        if self.work == Work::Both {
            phases.push(self.listed(&probes, OperationMix::Read, 2, "compare the samples"));
            phases.push(self.start(OperationMix::Read, "compare the start"));
        }
        phases
    }

    /// The start once more: as much as caches of drives hold.
    fn push_out(&mut self) -> Option<Phase> {
        self.generation += 1;
        Some(self.start(OperationMix::Write, "write the start, which empties caches"))
    }

    fn close_in(&mut self, so_far: &RunView<'_>) {
        self.rounds += 1;
        let (from, to, count, period_bytes) = match integrity::extent(so_far) {
            Some(Extent::Ends { held_to, lost_from }) if held_to < lost_from => {
                (held_to, lost_from, CLOSER, 0)
            }
            Some(Extent::Unclear { held_to, .. }) => (held_to, self.end.get(), 2 * TAIL_MIN as u64, 0),
            Some(Extent::Wraps { period_bytes, spared: (from, to) }) => (from, to, CLOSER, period_bytes),
            _ => (0, 0, 0, 0),
        };
        let probes = between(&self.places, from, to, count);
        if self.rounds > ROUNDS_MAX || probes.is_empty() || self.work != Work::Both {
            if self.work == Work::Both && self.was_pushed_out {
                self.queue.push_back(self.start(OperationMix::Read, "compare the start"));
            }
            self.stage = Stage::Closing;
            return;
        }
        let is_marked = period_bytes > 0 && to <= self.places.start.end().get();
        if !is_marked {
            self.queue.push_back(self.listed(&probes, OperationMix::Write, 2, "write closer to the end"));
            let pushing = self.push_out();
            self.queue.extend(pushing);
            self.was_pushed_out = true;
        }
        let compared = if period_bytes == 0 {
            self.listed(&probes, OperationMix::Read, 2, "compare closer to the end")
        } else {
            let again: Vec<Offset> = probes.iter().map(|at| *at + Bytes::new(period_bytes)).collect();
            self.listed(&again, OperationMix::Read, 0, "search for it past the true capacity")
        };
        self.queue.push_back(compared);
    }

    /// All of it: written and then compared; part by part where each is given back.
    fn whole(&self, generation: u32) -> Vec<Phase> {
        let size = if self.preserves { PART_PRESERVED } else { PART };
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for range in self.places.parts(size) {
            for (mix, phases) in [(OperationMix::Write, &mut writes), (OperationMix::Read, &mut reads)] {
                phases.push(self.sequential(range, mix, generation, self.name_of(range, mix)));
            }
        }
        if self.work == Work::Write {
            return writes;
        }
        if self.preserves {
            return writes.into_iter().zip(reads).flat_map(<[Phase; 2]>::from).collect();
        }
        writes.extend(reads);
        writes
    }

    fn name_of(&self, range: ByteRange, mix: OperationMix) -> String {
        let whole = self.places.range;
        let [from, to] = [range.first(), range.end()]
            .map(|at| (at - whole.first()).as_f64() / whole.bytes().as_f64() * 100.0);
        let verb = if mix == OperationMix::Write { "write" } else { "compare" };
        format!("{verb} {from:.1} % to {to:.1} %")
    }

    /// Whether a part was not written, because what is there could not be saved.
    fn is_untested(&self, last: &PhaseSummary) -> bool {
        last.phase.changes_data()
            && self.last_is_part
            && last.stopped == Some(StopReason::Errors)
            && last.totals.is_empty()
    }

    /// Whether what was to be written was not, to its end: it cannot be compared.
    fn is_broken(&self, last: &PhaseSummary) -> bool {
        let is_cut = matches!(last.stopped, Some(why) if !why.is_complete());
        is_cut && last.phase.changes_data() && !self.is_untested(last)
    }

    fn mark(&self, generation: u32) -> DataPattern {
        DataPattern::Marked(Mark { key: self.key, generation })
    }

    fn start(&self, mix: OperationMix, name: &str) -> Phase {
        self.sequential(self.places.start, mix, self.generation, name.into())
    }

    fn sequential(&self, range: ByteRange, mix: OperationMix, generation: u32, name: String) -> Phase {
        let mut workload =
            Workload::new(range, Pattern::Sequential, mix, self.places.large_block(range), SEQUENTIAL_DEPTH);
        workload.alignment = self.places.grid;
        workload.data = self.mark(generation);
        phase(name, kind_of(mix), workload, StopCondition::one_pass())
    }

    fn listed(&self, offsets: &[Offset], mix: OperationMix, generation: u32, name: &str) -> Phase {
        let pattern = Pattern::Listed { offsets: offsets.to_vec() };
        let mut workload = Workload::new(self.places.range, pattern, mix, self.places.block, places::DEPTH);
        workload.alignment = self.places.grid;
        workload.data = self.mark(generation);
        let stop = StopCondition { operations: Some(offsets.len() as u64), ..StopCondition::default() };
        phase(name, kind_of(mix), workload, stop)
    }

    fn ahead(&self) -> Vec<Phase> {
        let mut rest = Verify {
            queue: VecDeque::new(),
            setup: self.setup.clone(),
            work: self.work.clone(),
            places: self.places,
            ..*self
        };
        let mut phases: Vec<Phase> = self.queue.iter().cloned().collect();
        if self.in_parts {
            phases = joined(phases);
        }
        if rest.stage == Stage::Start {
            phases.extend(rest.opening());
            rest.stage = Stage::Hunted;
        }
        if rest.stage == Stage::Hunted {
            phases.extend(rest.probing());
            rest.stage = Stage::Probed;
        }
        if rest.stage == Stage::Probed && rest.work == Work::Both {
            phases.extend(rest.hunt_back());
            rest.stage = Stage::HuntedBack;
        }
        let passes = match rest.stage {
            Stage::Done => 0,
            Stage::Full { pass } => rest.passes + 1 - pass,
            _ if rest.full => rest.passes,
            _ => 0,
        };
        for _ in 0..passes {
            phases.extend(joined(rest.whole(2)));
        }
        phases
    }
}

impl Experiment for Verify {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        self.drop_untested(so_far);
        if self.setup.is_out_of_time(so_far)
            || matches!(so_far.phases.last(), Some(last) if self.is_broken(last))
        {
            return None;
        }
        loop {
            if let Some(phase) = self.queue.pop_front() {
                self.last_is_part = self.in_parts;
                return Some(phase);
            }
            if !self.go_on(so_far) {
                return None;
            }
        }
    }

    fn remaining(&self) -> Remaining {
        let phases = self.ahead();
        let mut remaining = Remaining::of(&phases);
        for step in &mut remaining.steps {
            let bytes = step.reads.unwrap_or_default() + step.writes.unwrap_or_default();
            let mut places = 0;
            for phase in &phases {
                if phase.name == step.what {
                    places += places_of(phase);
                }
            }
            let seconds = bytes.as_f64() / RATE_EXPECTED + places as f64 * PLACE_EXPECTED_S;
            step.time = Nanos::from_secs_f64(seconds).unwrap_or_default();
            step.likely = step.time;
        }
        remaining
    }

    fn conduct(&self) -> Conduct {
        let places = places::COUNT_MAX.saturating_mul(self.places.block.get());
        let preserved = self.places.start.bytes() * 2 + PART_PRESERVED + Bytes::new(places);
        Conduct {
            mapped_range: Some(self.setup.range),
            preserved_at_once: Some(preserved),
            ..Conduct::default()
        }
    }

    /// Part by part when all of it is written; before that the start is written again and again.
    fn is_done_with(&self, phase: &Phase) -> bool {
        self.preserves && self.last_is_part && phase.kind == PhaseKind::Verify
    }
}

fn range_of(phase: &Phase) -> Option<ByteRange> {
    Some(phase.workload.as_ref()?.range)
}

fn places_of(phase: &Phase) -> u64 {
    match &phase.workload {
        Some(Workload { pattern: Pattern::Listed { offsets }, .. }) => offsets.len() as u64,
        Some(Workload { pattern: Pattern::Strided { .. }, .. }) => phase.stop.operations.unwrap_or(0),
        _ => 0,
    }
}

fn joined(mut parts: Vec<Phase>) -> Vec<Phase> {
    for part in &mut parts {
        let verb = if part.kind == PhaseKind::Verify { "compare" } else { "write" };
        part.name = format!("{verb} every block");
    }
    parts
}

fn phase(name: impl Into<String>, kind: PhaseKind, workload: Workload, stop: StopCondition) -> Phase {
    Phase { name: name.into(), experiment: ExperimentName::Verify, kind, workload: Some(workload), stop }
}
