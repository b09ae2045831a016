//! Records as events, in the order of time.

use crate::event::{Event, EventSink};
use crate::recent_rate::RecentRate;
use crate::store::StoredRun;
use experiment::{Remaining, Step};
use model::experiment_name::ExperimentName;
use model::latency_map::LatencyMap;
use model::range::ByteRange;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::{PhaseSummary, Run, Series};
use model::units::Nanos;
use report::progress::Progress;
use std::iter::Peekable;

const PROGRESS_EVERY_NS: u64 = 200_000_000;
/// Parts of a long phase that a jump reads, each of up to 4,096 intervals: together in a tenth of a second.
const PARTS_MAX: usize = 256;
const IOS_AT_ONCE: usize = 4096;

type Stream<'run, Record> = Peekable<Box<dyn Iterator<Item = Record> + 'run>>;

pub struct Feed<'run> {
    stored: &'run StoredRun,
    kinds: Vec<usize>,
    steps: Vec<Step>,
    /// The phase under way; the number of phases when all are over.
    number: usize,
    intervals: Stream<'run, IntervalRecord>,
    errors: Stream<'run, ErrorRecord>,
    ios: Stream<'run, IoRecord>,
    histograms: Stream<'run, HistogramRecord>,
    telemetry: Stream<'run, TelemetryRecord>,
    map: Option<LatencyMap>,
    rate: RecentRate,
    told_ns: u64,
    total_ns: u64,
}

impl<'run> Feed<'run> {
    pub fn new(stored: &'run StoredRun) -> Feed<'run> {
        let (kinds, steps) = kinds_of(&stored.run.phases);
        let total_ns = stored.run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0);
        Feed {
            stored,
            kinds,
            steps,
            number: 0,
            intervals: none(),
            errors: none(),
            ios: none(),
            histograms: none(),
            telemetry: none(),
            map: None,
            rate: RecentRate::default(),
            told_ns: 0,
            total_ns,
        }
    }

    pub fn total(&self) -> Nanos {
        Nanos::new(self.total_ns)
    }

    pub fn jump(&mut self, moment: Nanos, sink: &mut dyn EventSink) {
        let (moment_ns, phases) = (moment.get().min(self.total_ns), &self.stored.run.phases);
        self.number = phases.partition_point(|phase| phase.start_ns <= moment_ns).saturating_sub(1);
        self.histograms = self.stored.series.histograms_from(self.number as u32).peekable();
        self.telemetry = self.stored.series.telemetry().peekable();
        self.rate = RecentRate::default();
        self.map = self.empty_map();
        let mut before = Run { phases: Vec::new(), findings: Vec::new(), ..self.stored.run.clone() };
        before.phases.extend_from_slice(&phases[..self.number]);
        sink.event(&Event::RunBegan(&before, &self.ahead(self.number)));
        self.map_before();
        if self.number < phases.len() {
            self.begin_phase(moment_ns, sink);
        }
        self.tell(moment_ns, sink);
        self.advance(moment, sink);
    }

    pub fn advance(&mut self, until: Nanos, sink: &mut dyn EventSink) -> bool {
        let phases = &self.stored.run.phases;
        // The end includes what is dated past it.
        let until_ns = if until.get() >= self.total_ns { u64::MAX } else { until.get() };
        while let Some(phase) = phases.get(self.number) {
            while let Some(interval) = self.intervals.next_if(|interval| interval.end_ns() <= until_ns) {
                self.others_until(interval.end_ns(), sink);
                self.interval(&interval, sink);
            }
            if self.intervals.peek().is_some() || phase.end_ns() > until_ns {
                self.others_until(until_ns, sink);
                self.tell_if_due(until_ns, sink);
                return false;
            }
            self.end_phase(phase, sink);
        }
        self.tell(self.total_ns, sink);
        sink.event(&Event::RunEnded(&self.stored.run));
        true
    }

    fn others_until(&mut self, until_ns: u64, sink: &mut dyn EventSink) {
        let number = self.number as u32;
        while let Some(error) = self.errors.next_if(|error| error.at_ns <= until_ns) {
            if let Some(map) = &mut self.map {
                map.add_error(&error);
            }
            sink.event(&Event::Error(&error));
        }
        let mut ios = Vec::new();
        while let Some(io) = self.ios.next_if(|io| io.completed_ns <= until_ns) {
            ios.push(io);
            if ios.len() == IOS_AT_ONCE {
                sink.event(&Event::Ios(&ios));
                ios.clear();
            }
        }
        if !ios.is_empty() {
            sink.event(&Event::Ios(&ios));
        }
        while let Some(record) = self.histograms.next_if(|record| is_due(record, number, until_ns)) {
            sink.event(&Event::Histogram(&record));
        }
        while let Some(record) = self.telemetry.next_if(|record| record.at_ns <= until_ns) {
            sink.event(&Event::Telemetry(&record));
        }
    }

    fn interval(&mut self, interval: &IntervalRecord, sink: &mut dyn EventSink) {
        self.rate.add(interval);
        if let Some(map) = &mut self.map
            && LatencyMap::is_of(&self.stored.run.phases[self.number].phase)
        {
            map.add_interval(interval);
        }
        sink.event(&Event::Interval(interval));
        self.tell_if_due(interval.end_ns(), sink);
    }

    fn end_phase(&mut self, phase: &PhaseSummary, sink: &mut dyn EventSink) {
        // A record dated after the end of its phase still belongs to it.
        for error in self.errors.by_ref() {
            sink.event(&Event::Error(&error));
        }
        self.others_until(phase.end_ns(), sink);
        let number = self.number as u32;
        while let Some(record) = self.histograms.next_if(|record| record.phase <= number) {
            sink.event(&Event::Histogram(&record));
        }
        sink.event(&Event::PhaseEnded(number, phase));
        self.number += 1;
        if self.number < self.stored.run.phases.len() {
            self.begin_phase(0, sink);
        }
    }

    fn begin_phase(&mut self, moment_ns: u64, sink: &mut dyn EventSink) {
        let (number, series) = (self.number as u32, &self.stored.series);
        let phase = &self.stored.run.phases[self.number];
        sink.event(&Event::PhaseBegan(number, &phase.phase, &self.ahead(self.number + 1)));
        for interval in series.intervals_before(number, moment_ns, PARTS_MAX) {
            self.interval(&interval, sink);
        }
        self.told_ns = 0;
        self.intervals = series.intervals_after(number, moment_ns).peekable();
        self.errors = series.errors(number).peekable();
        self.ios = series.ios_after(number, moment_ns).peekable();
    }

    fn tell_if_due(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        if now_ns.saturating_sub(self.told_ns) >= PROGRESS_EVERY_NS || now_ns < self.told_ns {
            self.tell(now_ns, sink);
        }
    }

    fn tell(&mut self, now_ns: u64, sink: &mut dyn EventSink) {
        let now_ns = now_ns.min(self.total_ns);
        self.told_ns = now_ns;
        let phases = &self.stored.run.phases;
        let index = self.number.min(phases.len().saturating_sub(1));
        let (bytes_per_second, iops) = self.rate.per_second().unwrap_or_default();
        let phase = phases.get(index);
        let progress = Progress {
            phase_name: phase.map(|phase| phase.phase.name.clone()).unwrap_or_default(),
            phase_index: index as u32,
            phase_count: Some(phases.len() as u32),
            share_done: now_ns as f64 / self.total_ns.max(1) as f64,
            bytes_per_second,
            iops,
            elapsed: Nanos::new(now_ns),
            remaining: Some(Nanos::new(self.total_ns.saturating_sub(now_ns))),
            phase_left: phase.map(|phase| Nanos::new(phase.end_ns().saturating_sub(now_ns))),
        };
        if let Some(map) = &self.map {
            sink.event(&Event::Map(map));
        }
        sink.event(&Event::Progress(&progress));
    }

    fn ahead(&self, first: usize) -> Remaining {
        let mut steps = self.steps.clone();
        for (kind, phase) in self.kinds.iter().zip(&self.stored.run.phases).skip(first) {
            steps[*kind].phases += 1;
            steps[*kind].time = Nanos::new(steps[*kind].time.get().saturating_add(phase.duration_ns));
        }
        steps.retain(|step| step.phases > 0);
        Remaining { steps }
    }

    /// Of a test that left out nothing between its first byte and its last, as during the run.
    fn empty_map(&self) -> Option<LatencyMap> {
        let mut ranges: Vec<ByteRange> = Vec::new();
        for summary in &self.stored.run.phases {
            let is_test =
                matches!(summary.phase.experiment, ExperimentName::Surface | ExperimentName::Verify);
            if let Some(workload) = &summary.phase.workload
                && is_test
                && LatencyMap::is_of(&summary.phase)
            {
                ranges.push(workload.range);
            }
        }
        match ByteRange::union(&ranges)[..] {
            [whole] => Some(LatencyMap::new(whole, self.stored.run.target.logical_block)),
            _ => None,
        }
    }

    fn map_before(&mut self) {
        let Some(map) = &mut self.map else { return };
        let series = &self.stored.series;
        for (number, summary) in (0..).zip(&self.stored.run.phases[..self.number]) {
            if !LatencyMap::is_of(&summary.phase) {
                continue;
            }
            for interval in series.intervals_before(number, u64::MAX, PARTS_MAX) {
                map.add_interval(&interval);
            }
            for error in series.errors(number) {
                map.add_error(&error);
            }
        }
    }
}

fn none<'run, Record: 'run>() -> Stream<'run, Record> {
    let none: Box<dyn Iterator<Item = Record>> = Box::new(std::iter::empty());
    none.peekable()
}

fn is_due(record: &HistogramRecord, phase: u32, until_ns: u64) -> bool {
    let end_ns = record.start_ns.saturating_add(record.duration_ns);
    record.phase < phase || (record.phase == phase && end_ns <= until_ns)
}

fn kinds_of(phases: &[PhaseSummary]) -> (Vec<usize>, Vec<Step>) {
    let (mut kinds, mut steps) = (Vec::new(), Vec::<Step>::new());
    for summary in phases {
        let Some(step) = Remaining::of(std::slice::from_ref(&summary.phase)).steps.pop() else {
            kinds.push(0);
            continue;
        };
        let kind = steps.iter().position(|known| known.what == step.what).unwrap_or(steps.len());
        if kind == steps.len() {
            let none = Nanos::ZERO;
            steps.push(Step { phases: 0, time: none, likely: none, slow: none, ..step });
        }
        kinds.push(kind);
    }
    (kinds, steps)
}
