//! From records to events, in the order of time.

use crate::event::{Event, EventSink};
use crate::experiment::{Outlook, Step};
use crate::recent_rate::RecentRate;
use crate::store::StoredRun;
use model::latency_map::LatencyMap;
use model::plan::Phase;
use model::range::ByteRange;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::{PhaseSummary, Run, Series};
use model::units::{Bytes, Nanos};
use report::progress::Progress;
use std::iter::Peekable;

/// As often as a live screen hears how far it is.
const PROGRESS_EVERY_NS: u64 = 200_000_000;
/// Stretches of a long phase that a jump reads: of each, up to 65,536 slices, in a few ms.
const STRETCHES_MAX: usize = 64;
/// Single requests that are handed over at once.
const IOS_AT_ONCE: usize = 4096;

type Stream<'run, Record> = Peekable<Box<dyn Iterator<Item = Record> + 'run>>;

/// A run that is told again.
pub struct Feed<'run> {
    stored: &'run StoredRun,
    /// Of each phase, the kind of step that it is.
    kinds: Vec<usize>,
    steps: Vec<Step>,
    /// The phase under way; as many as there are when all are over.
    number: usize,
    slices: Stream<'run, IntervalRecord>,
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
    /// A feed that stands at the beginning; [`Feed::jump`] comes first.
    pub fn new(stored: &'run StoredRun) -> Feed<'run> {
        let (kinds, steps) = kinds_of(&stored.run.phases);
        let total_ns = stored.run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0);
        Feed {
            stored,
            kinds,
            steps,
            number: 0,
            slices: none(),
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

    /// How long the run was.
    pub fn total(&self) -> Nanos {
        Nanos(self.total_ns)
    }

    /// Goes to a moment: tells a fresh sink what was known then.
    pub fn jump(&mut self, moment: Nanos, sink: &mut dyn EventSink) {
        let (moment_ns, phases) = (moment.0.min(self.total_ns), &self.stored.run.phases);
        self.number = phases.partition_point(|phase| phase.start_ns <= moment_ns).saturating_sub(1);
        self.histograms = stream(self.stored.series.histograms_from(self.number as u32));
        self.telemetry = stream(self.stored.series.telemetry());
        self.rate = RecentRate::default();
        self.map = self.empty_map();
        let before = Run { phases: phases[..self.number].to_vec(), findings: Vec::new(), ..self.header() };
        sink.event(&Event::RunBegan(&before, &self.ahead(self.number)));
        self.map_before();
        if self.number < phases.len() {
            self.begin_phase(moment_ns, sink);
        }
        self.tell(moment_ns, sink);
        self.advance(moment, sink);
    }

    /// Tells what happened until a moment. Answers whether that was all.
    pub fn advance(&mut self, until: Nanos, sink: &mut dyn EventSink) -> bool {
        let phases = &self.stored.run.phases;
        // At the end everything is told, also what is dated past it.
        let until_ns = if until.0 >= self.total_ns { u64::MAX } else { until.0 };
        while let Some(phase) = phases.get(self.number) {
            while let Some(slice) = self.slices.next_if(|slice| slice.end_ns() <= until_ns) {
                self.beside(slice.end_ns(), sink);
                self.slice(&slice, sink);
            }
            if self.slices.peek().is_some() || phase.end_ns() > until_ns {
                self.beside(until_ns, sink);
                self.tell_if_due(until_ns, sink);
                return false;
            }
            self.end_phase(phase, sink);
        }
        self.tell(self.total_ns, sink);
        sink.event(&Event::RunEnded(&self.stored.run));
        true
    }

    /// What came beside the slices until a moment.
    fn beside(&mut self, until_ns: u64, sink: &mut dyn EventSink) {
        let number = self.number as u32;
        while let Some(error) = self.errors.next_if(|error| error.at_ns <= until_ns) {
            self.map.iter_mut().for_each(|map| map.add_error(&error));
            sink.event(&Event::Error(&error));
        }
        loop {
            let next = || self.ios.next_if(|io| io.completed_ns <= until_ns);
            let ios: Vec<IoRecord> = std::iter::from_fn(next).take(IOS_AT_ONCE).collect();
            if ios.is_empty() {
                break;
            }
            sink.event(&Event::Ios(&ios));
        }
        let is_due = |record: &HistogramRecord| {
            let end_ns = record.start_ns.saturating_add(record.duration_ns);
            record.phase < number || (record.phase == number && end_ns <= until_ns)
        };
        while let Some(record) = self.histograms.next_if(is_due) {
            sink.event(&Event::Histogram(&record));
        }
        while let Some(record) = self.telemetry.next_if(|record| record.at_ns <= until_ns) {
            sink.event(&Event::Telemetry(&record));
        }
    }

    fn slice(&mut self, slice: &IntervalRecord, sink: &mut dyn EventSink) {
        self.rate.add(slice);
        if LatencyMap::is_of(&self.stored.run.phases[self.number].phase) {
            self.map.iter_mut().for_each(|map| map.add_interval(slice));
        }
        sink.event(&Event::Interval(slice));
        self.tell_if_due(slice.end_ns(), sink);
    }

    fn end_phase(&mut self, phase: &PhaseSummary, sink: &mut dyn EventSink) {
        // What is dated after the end of its phase belongs to it all the same.
        for error in self.errors.by_ref() {
            sink.event(&Event::Error(&error));
        }
        self.beside(phase.end_ns(), sink);
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

    /// Begins the phase, with what it did before a moment if it is entered in its middle.
    fn begin_phase(&mut self, moment_ns: u64, sink: &mut dyn EventSink) {
        let (number, series) = (self.number as u32, &self.stored.series);
        let phase = &self.stored.run.phases[self.number];
        sink.event(&Event::PhaseBegan(number, &phase.phase, &self.ahead(self.number + 1)));
        for slice in series.intervals_before(number, moment_ns, STRETCHES_MAX) {
            self.slice(&slice, sink);
        }
        self.told_ns = 0;
        self.slices = stream(series.intervals_after(number, moment_ns));
        self.errors = stream(series.errors(number));
        self.ios = stream(series.ios_after(number, moment_ns));
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
            phase_name: phase.map_or(String::new(), |phase| phase.phase.name.clone()),
            phase_index: index as u32,
            phase_count: Some(phases.len() as u32),
            share_done: now_ns as f64 / self.total_ns.max(1) as f64,
            bytes_per_second,
            iops,
            elapsed: Nanos(now_ns),
            remaining: Some(Nanos(self.total_ns.saturating_sub(now_ns))),
            phase_left: phase.map(|phase| Nanos(phase.end_ns().saturating_sub(now_ns))),
        };
        if let Some(map) = &self.map {
            sink.event(&Event::Map(map));
        }
        sink.event(&Event::Progress(&progress));
    }

    /// What is known of the run but for its phases.
    fn header(&self) -> Run {
        let run = &self.stored.run;
        Run { phases: Vec::new(), findings: Vec::new(), ..run.clone() }
    }

    /// The phases from that one on, as steps.
    fn ahead(&self, first: usize) -> Outlook {
        let mut steps = self.steps.clone();
        for (kind, phase) in self.kinds.iter().zip(&self.stored.run.phases).skip(first) {
            steps[*kind].phases += 1;
            steps[*kind].time = Nanos(steps[*kind].time.0.saturating_add(phase.duration_ns));
        }
        steps.retain(|step| step.phases > 0);
        Outlook { steps }
    }

    /// A map for a run that went over every block of a range; none for one that visited places.
    fn empty_map(&self) -> Option<LatencyMap> {
        if !self.stored.run.command.split_whitespace().any(|word| word == "--full") {
            return None;
        }
        let mapped = self.stored.run.phases.iter().filter(|phase| LatencyMap::is_of(&phase.phase));
        let ranges: Vec<ByteRange> =
            mapped.filter_map(|phase| phase.phase.workload.as_ref()).map(|workload| workload.range).collect();
        let first = ranges.iter().map(ByteRange::first).min()?;
        let end = ranges.iter().map(ByteRange::end).max()?;
        let whole = ByteRange::new(first, Bytes(end.0 - first.0)).filter(|whole| !whole.is_empty())?;
        Some(LatencyMap::new(whole, self.stored.run.target.logical_block))
    }

    /// Marks on the map what the phases before the one under way saw.
    fn map_before(&mut self) {
        let Some(map) = &mut self.map else { return };
        let phases = self.stored.run.phases.iter().take(self.number).enumerate();
        for (number, _) in phases.filter(|(_, phase)| LatencyMap::is_of(&phase.phase)) {
            let series = &self.stored.series;
            series
                .intervals_before(number as u32, u64::MAX, STRETCHES_MAX)
                .for_each(|slice| map.add_interval(&slice));
            series.errors(number as u32).for_each(|error| map.add_error(&error));
        }
    }
}

fn none<'run, Record: 'run>() -> Stream<'run, Record> {
    stream(Box::new(std::iter::empty()))
}

fn stream<'run, Record>(records: Box<dyn Iterator<Item = Record> + 'run>) -> Stream<'run, Record> {
    records.peekable()
}

/// The kind of step that each phase is, and these kinds without a phase in them.
fn kinds_of(phases: &[PhaseSummary]) -> (Vec<usize>, Vec<Step>) {
    let mut steps: Vec<Step> = Vec::new();
    let mut kind_of = |phase: &Phase| {
        let step = Outlook::of(std::slice::from_ref(phase)).steps.pop()?;
        let known = steps.iter().position(|known| known.what == step.what);
        Some(known.unwrap_or_else(|| {
            steps.push(Step { phases: 0, time: Nanos::ZERO, likely: Nanos::ZERO, slow: Nanos::ZERO, ..step });
            steps.len() - 1
        }))
    };
    let kinds = phases.iter().map(|summary| kind_of(&summary.phase).unwrap_or(0)).collect();
    (kinds, steps)
}
