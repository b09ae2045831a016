//! What a screen shows, and how each event changes it. It knows no terminal and no clock, and its memory does not grow with
//! the run.

use super::bins::{AccessGrid, LANES, PlaceBins, TimeBins};
use crate::event::{Event, EventSink};
use crate::experiment::Outlook;
use model::finding::Finding;
use model::histogram::LatencyHistogram;
use model::latency_map::LatencyMap;
use model::plan::{Phase, PhaseKind};
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::target::TargetKind;
use model::units::{NANOS_PER_SECOND, Nanos, Quantile};
use model::workload::Pattern;
use report::hostile::harmless;
use report::progress::Progress;
use std::collections::VecDeque;

/// Kinds of steps that are listed.
const STEPS_MAX: usize = 64;
/// Messages and errors that are kept to be shown; all are counted.
const MESSAGES_MAX: usize = 8;
/// Findings that are kept to be shown: more than there are codes.
const FINDINGS_MAX: usize = 256;
/// Up to this long a phase is one point of the chart by position: its mean has no seek and no cut slice in it.
const VISIT_MAX: Nanos = Nanos::from_secs(1);
/// The longest text of any kind.
const TEXT_COLUMNS_MAX: usize = 300;

/// What is known of a run so far.
#[derive(Clone, Debug)]
pub struct ScreenState {
    /// What is measured.
    pub subject: Subject,
    /// What is done, under way and to come.
    pub steps: Vec<StepShown>,
    /// Which of them is under way.
    pub current: Option<usize>,
    /// How far it is.
    pub progress: Option<Progress>,
    /// What the phase under way is.
    pub phase: Option<PhaseShown>,
    /// What the last phase was that measured.
    pub measured: Option<PhaseShown>,
    /// Rates by place.
    pub places: PlaceBins,
    /// Rates and latencies by time.
    pub times: TimeBins,
    /// Single requests by place and time.
    pub access: AccessGrid,
    /// The slowest request of each stretch.
    pub map: Option<LatencyMap>,
    /// How long requests take.
    pub latency: LatencyShown,
    /// What host and drive tell.
    pub host: HostShown,
    /// How many requests failed.
    pub errors: u64,
    /// The last of them.
    pub last_error: Option<ErrorRecord>,
    /// What the reader should know, the last at the end.
    pub warnings: VecDeque<String>,
    /// What would be concluded so far.
    pub findings: Vec<Finding>,
    /// Whether the run rests.
    pub is_paused: bool,
    /// How it ended, once it has.
    pub ended: Option<RunStatus>,
}

/// What is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The run's name.
    pub run: String,
    /// The experiment's, once its first phase has begun.
    pub experiment: String,
    /// What the drive calls itself, or where it is.
    pub drive: String,
    /// Its size in bytes.
    pub capacity: u64,
    /// Whether it is a file, whose size is counted in powers of two.
    pub is_file: bool,
}

/// Phases of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct StepShown {
    /// For people.
    pub what: String,
    /// How many there are, as far as is known.
    pub of: u32,
    /// How many of them have not begun.
    pub left: u32,
    /// How long these take at most.
    pub time: Nanos,
}

/// What a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseShown {
    /// Its number in the run.
    pub number: u32,
    /// Whether it goes over its range in order.
    pub is_in_order: bool,
    /// Whether it measures, and does not prepare or rest.
    pub measures: bool,
    /// Whether it is a visit, short enough to be a point of its own.
    pub is_visit: bool,
}

/// Latencies of the last second, of the phase under way and of the whole run.
#[derive(Clone, Debug)]
pub struct LatencyShown {
    /// Of the last second.
    pub now: Option<Quantiles>,
    /// Of the phase, or of the one before it as long as there is nothing of this one.
    pub phase: LatencyHistogram,
    /// Which phase that is.
    phase_number: Option<u32>,
    /// Of the run.
    pub run: LatencyHistogram,
}

impl LatencyShown {
    fn take(&mut self, record: &HistogramRecord) {
        if self.phase_number != Some(record.phase) {
            self.phase_number = Some(record.phase);
            self.phase.clear();
        }
        self.now = Quantiles::of(&record.histogram).or(self.now);
        self.phase.merge(&record.histogram);
        self.run.merge(&record.histogram);
    }
}

/// What is shown of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub median: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
    /// The longest.
    pub worst: Nanos,
}

impl Quantiles {
    /// Of a histogram; none of an empty one.
    pub fn of(histogram: &LatencyHistogram) -> Option<Quantiles> {
        Some(Quantiles {
            median: histogram.quantile(Quantile::MEDIAN)?,
            p99: histogram.quantile(Quantile::P99)?,
            worst: histogram.max()?,
        })
    }
}

/// What host and drive tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostShown {
    /// The last record.
    pub last: TelemetryRecord,
    /// The highest temperature so far.
    pub celsius_max: Option<f64>,
    /// Bytes a second that others moved on the drive, over the last second.
    pub others: Option<f64>,
    /// The largest share of a second that the machine was kept from running.
    pub stolen_max: f64,
}

impl HostShown {
    fn take(&mut self, record: &TelemetryRecord) {
        let seconds = Nanos(record.at_ns.saturating_sub(self.last.at_ns)).seconds();
        let device = record.device_read_bytes.zip(record.device_write_bytes);
        self.others = device.filter(|_| seconds > 0.0).map(|(read, written)| {
            let own = record.own_read_bytes.saturating_add(record.own_write_bytes);
            read.saturating_add(written).saturating_sub(own) as f64 / seconds
        });
        let hotter = |max: f64| record.temperature_celsius.map_or(max, |now| max.max(now));
        self.celsius_max = self.celsius_max.map(hotter).or(record.temperature_celsius);
        self.stolen_max = self.stolen_max.max(record.cpu_steal_share.unwrap_or(0.0));
        self.last = *record;
    }
}

impl Default for ScreenState {
    fn default() -> ScreenState {
        ScreenState {
            subject: Subject::default(),
            steps: Vec::new(),
            current: None,
            progress: None,
            phase: None,
            measured: None,
            places: PlaceBins::new(1),
            times: TimeBins::default(),
            access: AccessGrid::new(1),
            map: None,
            latency: LatencyShown {
                now: None,
                phase: LatencyHistogram::small(),
                phase_number: None,
                run: LatencyHistogram::small(),
            },
            host: HostShown::default(),
            errors: 0,
            last_error: None,
            warnings: VecDeque::new(),
            findings: Vec::new(),
            is_paused: false,
            ended: None,
        }
    }
}

impl EventSink for ScreenState {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunBegan(run, ahead) => self.begin(run, ahead),
            Event::PhaseBegan(number, phase, ahead) => self.begin_phase(*number, phase, ahead),
            Event::Interval(slice) => self.take_slice(slice),
            Event::Histogram(record) => self.latency.take(record),
            Event::Error(error) => self.last_error = Some(**error),
            Event::Ios(ios) => self.take_ios(ios),
            Event::Telemetry(record) => self.host.take(record),
            Event::Progress(progress) => {
                let phase_name = harmless(&progress.phase_name, TEXT_COLUMNS_MAX);
                self.progress = Some(Progress { phase_name, ..(*progress).clone() });
            }
            Event::Map(map) => self.map = Some((*map).clone()),
            Event::PhaseEnded(_, summary) => {
                if self.phase.is_some_and(|phase| phase.is_visit) {
                    self.place_whole(summary);
                }
            }
            Event::Paused(is_paused) => self.is_paused = *is_paused,
            Event::Findings(findings) => {
                self.findings = findings.iter().take(FINDINGS_MAX).cloned().collect()
            }
            Event::Warning(warning) => self.warn(warning),
            Event::RunEnded(run) => {
                self.findings = run.findings.iter().take(FINDINGS_MAX).cloned().collect();
                self.ended = Some(run.status);
            }
        }
    }
}

impl ScreenState {
    fn begin(&mut self, run: &Run, ahead: &Outlook) {
        let capacity = run.target.capacity.0;
        let said = run.target.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        let experiment = run.phases.first().map_or("", |phase| phase.phase.experiment.as_ref());
        let subject = Subject {
            run: harmless(&run.id, TEXT_COLUMNS_MAX),
            experiment: harmless(experiment, TEXT_COLUMNS_MAX),
            drive: harmless(said.unwrap_or(&run.target.path), TEXT_COLUMNS_MAX),
            capacity,
            is_file: run.target.kind == TargetKind::File,
        };
        *self = ScreenState {
            subject,
            places: PlaceBins::new(capacity),
            access: AccessGrid::new(capacity),
            ..ScreenState::default()
        };
        run.phases.iter().for_each(|summary| self.take_whole(summary));
        let done: Vec<Phase> = run.phases.iter().map(|summary| summary.phase.clone()).collect();
        for step in Outlook::of(&done).steps.into_iter().take(STEPS_MAX) {
            let what = harmless(&step.what, TEXT_COLUMNS_MAX);
            self.steps.push(StepShown { what, of: step.phases, left: 0, time: Nanos::ZERO });
        }
        run.environment.warnings.iter().for_each(|warning| self.warn(warning));
        self.look_ahead(ahead);
    }

    /// Takes in a phase of which no records come.
    fn take_whole(&mut self, summary: &PhaseSummary) {
        self.errors = self.errors.saturating_add(summary.errors());
        for totals in &summary.totals {
            let time = Nanos(summary.duration_ns);
            self.times.add_stretch(totals.operation, summary.start_ns, time, totals.bytes);
            self.latency.run.merge(&totals.histogram);
        }
        self.place_whole(summary);
    }

    /// Puts a phase that went in order where it was.
    fn place_whole(&mut self, summary: &PhaseSummary) {
        let shown = PhaseShown::of(0, &summary.phase);
        let workload = summary.phase.workload.as_ref().filter(|_| shown.is_in_order && shown.measures);
        let Some(range) = workload.map(|workload| workload.range) else { return };
        for operation in LANES {
            let Some(totals) = summary.totals_of(operation).filter(|totals| totals.bytes > 0) else {
                continue;
            };
            let bytes = totals.bytes.min(range.bytes().0);
            let whole = || Nanos(summary.duration_ns).seconds() / totals.bytes as f64;
            // What is written is only there after the flush, which comes after the last completion.
            let own = totals.seconds_per_byte().filter(|_| operation == Operation::Read);
            let time = Nanos::from_secs_f64(own.unwrap_or_else(whole) * bytes as f64).unwrap_or_default();
            self.places.add_stretch(operation, range.first().0, bytes, time);
        }
    }

    fn begin_phase(&mut self, number: u32, phase: &Phase, ahead: &Outlook) {
        self.subject.experiment = harmless(&phase.experiment, TEXT_COLUMNS_MAX);
        self.phase = Some(PhaseShown::of(number, phase));
        self.measured = self.phase.filter(|phase| phase.measures).or(self.measured);
        self.look_ahead(ahead);
    }

    /// Sets what is ahead against what was: the step of which fewer are left is the one that is under way.
    fn look_ahead(&mut self, ahead: &Outlook) {
        for (index, step) in self.steps.iter_mut().enumerate() {
            let next = ahead.steps.iter().find(|next| harmless(&next.what, TEXT_COLUMNS_MAX) == step.what);
            let left = next.map_or(0, |next| next.phases);
            if left < step.left {
                self.current = Some(index);
            }
            // An experiment may find that it needs more of them than it thought.
            step.of += left.saturating_sub(step.left);
            step.left = left;
            step.time = next.map_or(Nanos::ZERO, |next| next.time);
        }
        for next in &ahead.steps {
            let what = harmless(&next.what, TEXT_COLUMNS_MAX);
            let is_known = self.steps.iter().any(|step| step.what == what);
            if !is_known && self.steps.len() < STEPS_MAX {
                self.steps.push(StepShown { what, of: next.phases, left: next.phases, time: next.time });
            }
        }
    }

    fn take_slice(&mut self, slice: &IntervalRecord) {
        self.errors = self.errors.saturating_add(slice.errors);
        self.times.add(slice);
        if self.phase.is_some_and(|phase| phase.is_in_order && phase.measures && !phase.is_visit) {
            self.places.add(slice);
        }
    }

    fn take_ios(&mut self, ios: &[IoRecord]) {
        if self.phase.is_some_and(|phase| !phase.is_in_order) {
            ios.iter().for_each(|io| self.access.add(io));
        }
    }

    fn warn(&mut self, warning: &str) {
        let warning = harmless(warning, TEXT_COLUMNS_MAX);
        if !self.warnings.contains(&warning) {
            self.warnings.push_back(warning);
        }
        if self.warnings.len() > MESSAGES_MAX {
            self.warnings.pop_front();
        }
    }

    /// Where the run's clock stands, in seconds.
    pub fn elapsed_s(&self) -> f64 {
        self.progress.as_ref().map_or(0.0, |progress| progress.elapsed.0 as f64 / NANOS_PER_SECOND as f64)
    }
}

impl PhaseShown {
    fn of(number: u32, phase: &Phase) -> PhaseShown {
        let is_in_order =
            phase.workload.as_ref().is_some_and(|workload| workload.pattern == Pattern::Sequential);
        let measures = matches!(phase.kind, PhaseKind::Measure | PhaseKind::Verify);
        let is_visit = phase.stop.time.is_some_and(|time| time <= VISIT_MAX);
        PhaseShown { number, is_in_order, measures, is_visit }
    }
}
