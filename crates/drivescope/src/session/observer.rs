//! Sees the records of a phase as they come: keeps them, tells how far it is, and says when to stop.

use super::load_watch::LoadWatch;
use super::precision::PrecisionWatch;
use crate::control::Controls;
use crate::event::{Event, EventSink};
use crate::experiment::Outlook;
use crate::recent_rate::RecentRate;
use crate::store::{RunWriter, StoreError};
use io::flushing::PATIENCE_AT_THE_END;
use io::load::collect::{PhaseObserver, Verdict};
use io::rig::RigClock;
use model::latency_map::LatencyMap;
use model::plan::Phase;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::request::Operation;
use model::units::{Bytes, Instant, Nanos};
use report::progress::Progress;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a screen hears how far it is.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(200);

/// The observer of one phase.
pub struct Observer<'phase> {
    writer: &'phase mut RunWriter,
    events: &'phase mut dyn EventSink,
    interrupt: &'phase AtomicBool,
    controls: &'phase Controls,
    load: &'phase mut LoadWatch,
    map: Option<&'phase mut LatencyMap>,
    clock: RigClock,
    began: Instant,
    told: Instant,
    limit: Option<Nanos>,
    bytes_max: Option<Bytes>,
    moved: u64,
    ahead: Nanos,
    progress: Progress,
    recent: RecentRate,
    precision: Option<(f64, PrecisionWatch)>,
    failure: Option<StoreError>,
    moves_data: bool,
    /// The name of the phase, to which it is said while it flushes for how long it has.
    name: String,
    flushing: Option<Instant>,
    has_told_of_the_wait: bool,
}

impl<'phase> Observer<'phase> {
    /// An observer of the phase with that number; `ahead` is what comes after it.
    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of a session that a phase touches, each borrowed apart"
    )]
    pub fn new(
        writer: &'phase mut RunWriter,
        events: &'phase mut dyn EventSink,
        (interrupt, controls): (&'phase AtomicBool, &'phase Controls),
        load: &'phase mut LoadWatch,
        map: Option<&'phase mut LatencyMap>,
        clock: RigClock,
        phase: &Phase,
        number: u32,
        ahead: &Outlook,
    ) -> Observer<'phase> {
        let began = clock.now();
        let progress = Progress {
            phase_name: phase.name.clone(),
            phase_index: number,
            phase_count: Some(number + 1 + ahead.phases()),
            share_done: 0.0,
            bytes_per_second: 0.0,
            iops: 0.0,
            elapsed: Nanos(began.0),
            remaining: None,
            phase_left: None,
        };
        Observer {
            writer,
            events,
            interrupt,
            controls,
            load,
            map,
            clock,
            began,
            told: Instant::START,
            limit: phase.stop.time,
            bytes_max: match &phase.workload {
                Some(workload) => phase.stop.bytes_max(workload),
                None => phase.stop.bytes,
            },
            moved: 0,
            ahead: ahead.likely_time(),
            progress,
            recent: RecentRate::default(),
            precision: phase.stop.precision.map(|precision| (precision, PrecisionWatch::default())),
            failure: None,
            moves_data: phase.workload.is_some(),
            name: phase.name.clone(),
            flushing: None,
            has_told_of_the_wait: false,
        }
    }

    /// Why records could not be kept, if they could not. A phase that was over before anything could be told is told of now.
    pub fn into_failure(mut self) -> Option<StoreError> {
        if self.told == Instant::START {
            self.tell(self.clock.now());
        }
        self.failure
    }

    fn keep(&mut self, write: impl FnOnce(&mut RunWriter) -> Result<(), StoreError>) {
        if self.failure.is_none() {
            self.failure = write(self.writer).err();
        }
    }

    fn tell(&mut self, now: Instant) {
        let rate = self.recent.per_second();
        if rate.is_none() && self.moves_data {
            // Nothing can be said of the rate before the first slice is over.
            return;
        }
        (self.progress.bytes_per_second, self.progress.iops) = rate.unwrap_or_default();
        self.told = now;
        if let Some(since) = self.flushing {
            return self.tell_of_flush(now.since(since), now);
        }
        let spent = now.since(self.began);
        let by_time = self.limit.map(|limit| limit.saturating_sub(spent));
        // A phase that ends with its range ends long before its time does, if all is well.
        let rate = self.moved as f64 / spent.seconds().max(f64::MIN_POSITIVE);
        let by_bytes = self
            .bytes_max
            .and_then(|bytes| Nanos::from_secs_f64(bytes.0.saturating_sub(self.moved) as f64 / rate));
        let left = [by_time, by_bytes].into_iter().flatten().min();
        self.progress.elapsed = Nanos(now.0);
        self.progress.phase_left = left;
        self.progress.remaining = left.map(|left| Nanos(left.0.saturating_add(self.ahead.0)));
        self.progress.share_done = match self.progress.remaining {
            Some(remaining) => share_done(now, remaining),
            None => 0.0,
        };
        self.tell_progress();
    }

    /// Nobody knows how long a flush takes; what comes after it is known, and is left at least.
    fn tell_of_flush(&mut self, spent: Nanos, now: Instant) {
        self.progress.phase_name = format!("{}: flushing, {:.0} s", self.name, spent.seconds().floor());
        (self.progress.bytes_per_second, self.progress.iops) = (0.0, 0.0);
        self.progress.elapsed = Nanos(now.0);
        (self.progress.phase_left, self.progress.remaining) = (None, None);
        self.progress.share_done = share_done(now, self.ahead);
        self.tell_progress();
    }

    fn tell_progress(&mut self) {
        if let Some(map) = &self.map {
            self.events.event(&Event::Map(map));
        }
        self.events.event(&Event::Progress(&self.progress));
    }

    /// Whether the run is to end. Somebody who asked for that during a flush hears at once what is waited for.
    fn is_to_end(&mut self, now: Instant) -> bool {
        let is_asked = self.interrupt.load(Ordering::Relaxed);
        if let Some(since) = self.flushing.filter(|_| is_asked && !self.has_told_of_the_wait) {
            self.has_told_of_the_wait = true;
            let warning = format!(
                "The drive has been flushing what was written for {:.0} s; it gets {} s more. What was measured is kept. Ctrl-C again ends \
                 the run at once",
                now.since(since).seconds(),
                PATIENCE_AT_THE_END.seconds()
            );
            self.events.event(&Event::Warning(&warning));
        }
        is_asked || self.failure.is_some()
    }
}

/// How much of a run is done when so much time is left.
fn share_done(now: Instant, left: Nanos) -> f64 {
    now.0 as f64 / now.0.saturating_add(left.0).max(1) as f64
}

impl PhaseObserver for Observer<'_> {
    fn interval(&mut self, record: &IntervalRecord) {
        self.keep(|writer| writer.append_interval(record));
        self.events.event(&Event::Interval(record));
        self.load.count(record);
        if let Some(map) = &mut self.map {
            map.add_interval(record);
        }
        self.moved += record.bytes;
        self.recent.add(record);
        if let Some((_, watch)) = &mut self.precision
            && record.operation != Operation::Flush
        {
            watch.add(record.operations as f64 / Nanos(record.duration_ns.max(1)).seconds());
        }
    }

    fn histogram(&mut self, record: &HistogramRecord) {
        self.keep(|writer| writer.append_histogram(record));
        self.events.event(&Event::Histogram(record));
    }

    fn error(&mut self, record: &ErrorRecord) {
        self.keep(|writer| writer.append_error(record));
        self.events.event(&Event::Error(record));
        if let Some(map) = &mut self.map {
            map.add_error(record);
        }
    }

    fn trace(&mut self, records: &[IoRecord]) {
        self.keep(|writer| writer.append_trace(records));
        self.events.event(&Event::Ios(records));
    }

    fn verdict(&mut self) -> Verdict {
        let now = self.clock.now();
        if let Some(record) = self.load.telemetry_due(now) {
            self.keep(|writer| writer.append_telemetry(&record));
            self.events.event(&Event::Telemetry(&record));
        }
        if now.since(self.told) >= PROGRESS_EVERY {
            self.tell(now);
        }
        let precise = self
            .precision
            .as_ref()
            .is_some_and(|(wanted, watch)| watch.relative_half_width().is_some_and(|width| width <= *wanted));
        // A phase that is skipped is over when the drive is done with it: the next one begins on a drive at rest.
        let is_skipped = self.controls.wants_skip() && self.flushing.is_none();
        match () {
            () if self.is_to_end(now) || is_skipped => Verdict::Interrupt,
            () if precise => Verdict::PreciseEnough,
            () => Verdict::GoOn,
        }
    }

    fn flushing(&mut self, since: Instant) {
        self.flushing = Some(since);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Step;
    use crate::stamp;
    use crate::store::Store;
    use io::clock::{Clock, VirtualClock};
    use model::plan::{PhaseKind, StopCondition};
    use model::run::Environment;

    struct Told(Vec<(String, f64)>);

    impl EventSink for Told {
        fn event(&mut self, event: &Event<'_>) {
            if let Event::Progress(progress) = event {
                self.0.push((progress.phase_name.clone(), progress.share_done));
            }
        }
    }

    fn step_of(time: Nanos) -> Step {
        Step { what: String::new(), phases: 1, time, likely: time, slow: time, reads: None, writes: None }
    }

    /// Of a run of 40 s that has gone on for 30 s three quarters are done, also when a phase so short that nothing was told of it flushes.
    #[test]
    fn a_flush_does_not_begin_the_run_anew() {
        let folder = tempfile::tempdir().unwrap();
        let facts = sim::open("null", 1).unwrap().facts().clone();
        let run = stamp::imported(String::new(), None, facts, Environment::default());
        let mut writer = Store::open(folder.path()).unwrap().begin(&run).unwrap();
        let (mut told, interrupt, controls) = (Told(Vec::new()), AtomicBool::new(false), Controls::default());
        let mut load = LoadWatch::of_disks(&[], Instant::START);
        let clock = VirtualClock::default();
        clock.pass(Nanos::from_secs(30));
        let stop = StopCondition::after(Nanos::from_millis(100));
        let (name, experiment) = ("write".to_string(), "check".into());
        let phase = Phase { name, experiment, kind: PhaseKind::Measure, workload: None, stop };
        let ahead = Outlook { steps: vec![step_of(Nanos::from_secs(10))] };
        let mut observer = Observer::new(
            &mut writer,
            &mut told,
            (&interrupt, &controls),
            &mut load,
            None,
            RigClock::Virtual(clock.clone()),
            &phase,
            7,
            &ahead,
        );
        observer.flushing(clock.now());
        observer.verdict();
        drop(observer);
        assert_eq!(told.0, [("write: flushing, 0 s".to_string(), 0.75)]);
    }
}
