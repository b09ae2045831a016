//! What a screen shows, and how each event changes it. Without terminal or clock, and with bounded memory.

use super::bins::{AccessGrid, PlaceBins, TimeBins};
use crate::event::{Event, EventSink};
use experiment::Remaining;
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

const GROUPS_MAX: usize = 64;
const WARNINGS_MAX: usize = 8;
/// More than there are finding codes.
const FINDINGS_MAX: usize = 256;
/// A phase up to this long is one point of the chart by LBA: its mean has neither the seek nor a cut interval in it.
const SAMPLE_MAX: Nanos = Nanos::from_secs(1);
const TEXT_COLUMNS_MAX: usize = 300;

#[derive(Clone, Debug, Default)]
pub struct ScreenState {
    pub subject: Subject,
    pub groups: Vec<PhaseGroup>,
    pub current: Option<usize>,
    pub progress: Option<Progress>,
    pub phase: Option<PhaseShown>,
    pub measured: Option<PhaseShown>,
    pub places: PlaceBins,
    pub times: TimeBins,
    pub access: AccessGrid,
    pub map: Option<LatencyMap>,
    pub latency: LatencyShown,
    pub host: HostShown,
    pub errors: u64,
    pub last_error: Option<ErrorRecord>,
    pub warnings: VecDeque<String>,
    pub findings: Vec<Finding>,
    pub is_paused: bool,
    pub ended: Option<RunStatus>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    pub run: String,
    pub experiment: String,
    pub drive: String,
    pub capacity: u64,
    /// Sizes of files are shown in powers of two.
    pub is_file: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PhaseGroup {
    pub what: String,
    pub of: u32,
    pub left: u32,
    pub time: Nanos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseShown {
    pub number: u32,
    pub is_in_order: bool,
    pub measures: bool,
    pub is_sample: bool,
}

#[derive(Clone, Debug)]
pub struct LatencyShown {
    pub now: Option<Quantiles>,
    /// Of the phase, or of the one before it until a request of this one completes.
    pub phase: LatencyHistogram,
    phase_number: Option<u32>,
    pub run: LatencyHistogram,
}

impl Default for LatencyShown {
    fn default() -> LatencyShown {
        let none = LatencyHistogram::small();
        LatencyShown { now: None, phase: none.clone(), phase_number: None, run: none }
    }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiles {
    pub median: Nanos,
    pub p99: Nanos,
    pub max: Nanos,
}

impl Quantiles {
    pub fn of(histogram: &LatencyHistogram) -> Option<Quantiles> {
        Some(Quantiles {
            median: histogram.quantile(Quantile::MEDIAN)?,
            p99: histogram.quantile(Quantile::P99)?,
            max: histogram.max()?,
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostShown {
    pub last: TelemetryRecord,
    pub celsius_max: Option<f64>,
    /// Bytes per second of other programs on the drive, over the last second.
    pub background: Option<f64>,
    pub steal_max: f64,
}

impl HostShown {
    fn take(&mut self, record: &TelemetryRecord) {
        let seconds = Nanos::new(record.at_ns.saturating_sub(self.last.at_ns)).seconds();
        self.background = match (record.device_read_bytes, record.device_write_bytes) {
            (Some(read), Some(written)) if seconds > 0.0 => {
                let own = record.own_read_bytes.saturating_add(record.own_write_bytes);
                Some(read.saturating_add(written).saturating_sub(own) as f64 / seconds)
            }
            _ => None,
        };
        if let Some(now) = record.temperature_celsius {
            self.celsius_max = Some(self.celsius_max.unwrap_or(now).max(now));
        }
        self.steal_max = self.steal_max.max(record.cpu_steal_share.unwrap_or(0.0));
        self.last = *record;
    }
}

impl EventSink for ScreenState {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunBegan(run, ahead) => self.begin(run, ahead),
            Event::PhaseBegan(number, phase, ahead) => self.begin_phase(*number, phase, ahead),
            Event::Interval(interval) => self.take_interval(interval),
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
                if matches!(self.phase, Some(PhaseShown { is_sample: true, .. })) {
                    self.add_to_places(summary);
                }
            }
            Event::Paused(is_paused) => self.is_paused = *is_paused,
            Event::Findings(findings) => self.take_findings(findings),
            Event::Warning(warning) => self.warn(warning),
            Event::RunEnded(run) => {
                self.take_findings(&run.findings);
                self.ended = Some(run.status);
            }
        }
    }
}

impl ScreenState {
    fn take_findings(&mut self, findings: &[Finding]) {
        self.findings = findings.iter().take(FINDINGS_MAX).cloned().collect();
    }

    fn begin(&mut self, run: &Run, ahead: &Remaining) {
        let capacity = run.target.capacity.get();
        let model = run.target.model.as_deref().map(str::trim).filter(|model| !model.is_empty());
        let experiment = run.phases.first().map_or("", |phase| phase.phase.experiment.name());
        let subject = Subject {
            run: harmless(&run.id, TEXT_COLUMNS_MAX),
            experiment: harmless(experiment, TEXT_COLUMNS_MAX),
            drive: harmless(model.unwrap_or(&run.target.path), TEXT_COLUMNS_MAX),
            capacity,
            is_file: run.target.kind == TargetKind::File,
        };
        *self = ScreenState {
            subject,
            places: PlaceBins::new(capacity),
            access: AccessGrid::new(capacity),
            ..ScreenState::default()
        };
        for summary in &run.phases {
            self.take_phase(summary);
        }
        let done: Vec<Phase> = run.phases.iter().map(|summary| summary.phase.clone()).collect();
        for step in Remaining::of(&done).steps.into_iter().take(GROUPS_MAX) {
            let what = harmless(&step.what, TEXT_COLUMNS_MAX);
            self.groups.push(PhaseGroup { what, of: step.phases, left: 0, time: Nanos::ZERO });
        }
        for warning in &run.environment.warnings {
            self.warn(warning);
        }
        self.look_ahead(ahead);
    }

    fn take_phase(&mut self, summary: &PhaseSummary) {
        self.errors = self.errors.saturating_add(summary.errors());
        for totals in &summary.totals {
            let time = Nanos::new(summary.duration_ns);
            self.times.add_phase(totals.operation, summary.start_ns, time, totals.bytes);
            self.latency.run.merge(&totals.histogram);
        }
        self.add_to_places(summary);
    }

    fn add_to_places(&mut self, summary: &PhaseSummary) {
        let shown = PhaseShown::of(0, &summary.phase);
        let Some(workload) = &summary.phase.workload else { return };
        if !shown.is_in_order || !shown.measures {
            return;
        }
        let range = workload.range;
        for totals in &summary.totals {
            if totals.bytes == 0 {
                continue;
            }
            let bytes = totals.bytes.min(range.bytes().get());
            // Writes count until the end of the flush, which comes after the last completion.
            let seconds_per_byte = match totals.seconds_per_byte() {
                Some(own) if totals.operation == Operation::Read => own,
                _ => Nanos::new(summary.duration_ns).seconds() / totals.bytes as f64,
            };
            let time = Nanos::from_secs_f64(seconds_per_byte * bytes as f64).unwrap_or_default();
            self.places.add_phase(totals.operation, range.first().get(), bytes, time);
        }
    }

    fn begin_phase(&mut self, number: u32, phase: &Phase, ahead: &Remaining) {
        self.subject.experiment = harmless(phase.experiment.name(), TEXT_COLUMNS_MAX);
        self.phase = Some(PhaseShown::of(number, phase));
        self.measured = self.phase.filter(|phase| phase.measures).or(self.measured);
        self.look_ahead(ahead);
    }

    /// The group of which fewer phases are left than before is the one under way.
    fn look_ahead(&mut self, ahead: &Remaining) {
        for (index, group) in self.groups.iter_mut().enumerate() {
            let next = ahead.steps.iter().find(|next| harmless(&next.what, TEXT_COLUMNS_MAX) == group.what);
            let (left, time) = next.map_or((0, Nanos::ZERO), |next| (next.phases, next.time));
            if left < group.left {
                self.current = Some(index);
            }
            // An experiment may find that it needs more phases than planned.
            group.of += left.saturating_sub(group.left);
            (group.left, group.time) = (left, time);
        }
        for next in &ahead.steps {
            let what = harmless(&next.what, TEXT_COLUMNS_MAX);
            let is_known = self.groups.iter().any(|group| group.what == what);
            if !is_known && self.groups.len() < GROUPS_MAX {
                self.groups.push(PhaseGroup { what, of: next.phases, left: next.phases, time: next.time });
            }
        }
    }

    fn take_interval(&mut self, interval: &IntervalRecord) {
        self.errors = self.errors.saturating_add(interval.errors);
        self.times.add(interval);
        if matches!(self.phase, Some(PhaseShown { is_in_order: true, measures: true, is_sample: false, .. }))
        {
            self.places.add(interval);
        }
    }

    fn take_ios(&mut self, ios: &[IoRecord]) {
        if matches!(self.phase, Some(PhaseShown { is_in_order: false, .. })) {
            for io in ios {
                self.access.add(io);
            }
        }
    }

    fn warn(&mut self, warning: &str) {
        let warning = harmless(warning, TEXT_COLUMNS_MAX);
        if !self.warnings.contains(&warning) {
            self.warnings.push_back(warning);
        }
        if self.warnings.len() > WARNINGS_MAX {
            self.warnings.pop_front();
        }
    }

    pub fn elapsed_s(&self) -> f64 {
        self.progress.as_ref().map_or(0.0, |progress| progress.elapsed.as_f64() / NANOS_PER_SECOND as f64)
    }
}

impl PhaseShown {
    fn of(number: u32, phase: &Phase) -> PhaseShown {
        let is_in_order = match &phase.workload {
            Some(workload) => workload.pattern == Pattern::Sequential,
            None => false,
        };
        let measures = matches!(phase.kind, PhaseKind::Measure | PhaseKind::Verify);
        let is_sample = matches!(phase.stop.time, Some(time) if time <= SAMPLE_MAX);
        PhaseShown { number, is_in_order, measures, is_sample }
    }
}
