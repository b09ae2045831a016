//! Observes a phase: stores its records, reports progress, and decides when to stop.

use super::batch_means::PrecisionWatch;
use super::load_watch::LoadWatch;
use crate::control::Controls;
use crate::event::{Event, EventSink};
use crate::recent_rate::RecentRate;
use crate::store::{RunWriter, StoreError};
use experiment::Remaining;
use io::flushing::PATIENCE_AT_THE_END;
use io::load::collect::{PhaseObserver, Verdict};
use io::rig::RigClock;
use model::latency_map::LatencyMap;
use model::plan::Phase;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord};
use model::request::Operation;
use model::run::Run;
use model::units::{Bytes, Instant, Nanos};
use report::progress::Progress;
use std::sync::atomic::{AtomicBool, Ordering};

const PROGRESS_EVERY: Nanos = Nanos::from_millis(200);

pub struct Observer<'phase> {
    writer: &'phase mut RunWriter,
    run: &'phase Run,
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
    phase_name: String,
    flushing_since: Option<Instant>,
    has_warned: bool,
}

impl<'phase> Observer<'phase> {
    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of a session that a phase touches, each borrowed apart"
    )]
    pub fn new(
        writer: &'phase mut RunWriter,
        events: &'phase mut dyn EventSink,
        run: &'phase Run,
        (interrupt, controls): (&'phase AtomicBool, &'phase Controls),
        load: &'phase mut LoadWatch,
        map: Option<&'phase mut LatencyMap>,
        clock: RigClock,
        phase: &Phase,
        number: u32,
        ahead: &Remaining,
    ) -> Observer<'phase> {
        let began = clock.now();
        let progress = Progress {
            phase_name: phase.name.clone(),
            phase_index: number,
            phase_count: Some(number + 1 + ahead.phases()),
            share_done: 0.0,
            bytes_per_second: 0.0,
            iops: 0.0,
            elapsed: Nanos::new(began.get()),
            remaining: None,
            phase_left: None,
        };
        Observer {
            writer,
            run,
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
            phase_name: phase.name.clone(),
            flushing_since: None,
            has_warned: false,
        }
    }

    /// Why records could not be stored, if so. The progress of a phase too short for any report is reported now.
    pub fn into_failure(mut self) -> Option<StoreError> {
        if self.told == Instant::START {
            self.tell(self.clock.now());
        }
        self.failure
    }

    fn is_precise(&self) -> bool {
        let Some((wanted, watch)) = &self.precision else { return false };
        matches!(watch.relative_half_width(), Some(width) if width <= *wanted)
    }

    fn keep(&mut self, write: impl FnOnce(&mut RunWriter) -> Result<(), StoreError>) {
        if self.failure.is_none() {
            self.failure = write(self.writer).err();
        }
    }

    fn tell(&mut self, now: Instant) {
        let rate = self.recent.per_second();
        if rate.is_none() && self.moves_data {
            return;
        }
        (self.progress.bytes_per_second, self.progress.iops) = rate.unwrap_or_default();
        self.told = now;
        if let Some(since) = self.flushing_since {
            return self.tell_of_flush(now.since(since), now);
        }
        let spent = now.since(self.began);
        let by_time = self.limit.map(|limit| limit.saturating_sub(spent));
        // A phase that ends with its range normally ends long before its time limit.
        let left = by_time.into_iter().chain(self.left_by_bytes(spent)).min();
        self.progress.elapsed = Nanos::new(now.get());
        self.progress.phase_left = left;
        self.progress.remaining = left.map(|left| Nanos::new(left.get().saturating_add(self.ahead.get())));
        self.progress.share_done = match self.progress.remaining {
            Some(remaining) => share_done(now, remaining),
            None => 0.0,
        };
        self.tell_progress();
    }

    fn left_by_bytes(&self, spent: Nanos) -> Option<Nanos> {
        let bytes = self.bytes_max?.get().saturating_sub(self.moved);
        let rate = self.moved as f64 / spent.seconds().max(f64::MIN_POSITIVE);
        Nanos::from_secs_f64(bytes as f64 / rate)
    }

    /// The length of a flush is unknown; what comes after it is left at least.
    fn tell_of_flush(&mut self, spent: Nanos, now: Instant) {
        self.progress.phase_name = format!("{}: flushing, {:.0} s", self.phase_name, spent.seconds().floor());
        (self.progress.bytes_per_second, self.progress.iops) = (0.0, 0.0);
        self.progress.elapsed = Nanos::new(now.get());
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

    /// Whether the run is to end. A request to end during a flush is answered at once.
    fn is_to_end(&mut self, now: Instant) -> bool {
        let is_asked = self.interrupt.load(Ordering::Relaxed);
        if let Some(since) = self.flushing_since
            && is_asked
            && !self.has_warned
        {
            self.has_warned = true;
            let warning = format!(
                "Flushing for {:.0} s; waiting {} s more at most. Results are kept. Ctrl-C again to quit now",
                now.since(since).seconds(),
                PATIENCE_AT_THE_END.seconds()
            );
            self.events.event(&Event::Warning(&warning));
        }
        is_asked || self.failure.is_some()
    }
}

fn share_done(now: Instant, left: Nanos) -> f64 {
    now.as_f64() / now.get().saturating_add(left.get()).max(1) as f64
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
            watch.add(record.operations as f64 / Nanos::new(record.duration_ns.max(1)).seconds());
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
        let (now, run) = (self.clock.now(), self.run);
        self.keep(|writer| writer.keep_up(run));
        if let Some(record) = self.load.telemetry_due(now) {
            self.keep(|writer| writer.append_telemetry(&record));
            self.events.event(&Event::Telemetry(&record));
        }
        if now.since(self.told) >= PROGRESS_EVERY {
            self.tell(now);
        }
        // A skipped phase still flushes, so that the next one begins on an idle drive.
        let is_skipped = self.controls.wants_skip() && self.flushing_since.is_none();
        if self.is_to_end(now) || is_skipped {
            Verdict::Interrupt
        } else if self.is_precise() {
            Verdict::PreciseEnough
        } else {
            Verdict::GoOn
        }
    }

    fn flushing(&mut self, since: Instant) {
        self.flushing_since = Some(since);
    }

    fn unanswered(&mut self, waited: Nanos) {
        if self.interrupt.load(Ordering::Relaxed) && !self.has_warned {
            self.has_warned = true;
            let warning = format!(
                "No I/O completed for {:.0} s; results are kept. Ctrl-C again to quit (may wait for the kernel)",
                waited.seconds()
            );
            self.events.event(&Event::Warning(&warning));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp;
    use crate::store::Store;
    use experiment::Step;
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

    /// 30 s of a run of 40 s are three quarters, also while a phase too short for any report flushes.
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
        let ahead = Remaining { steps: vec![step_of(Nanos::from_secs(10))] };
        let mut observer = Observer::new(
            &mut writer,
            &mut told,
            &run,
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
