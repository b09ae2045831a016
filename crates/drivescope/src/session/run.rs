//! Runs an experiment of requests.

use super::load_watch::LoadWatch;
use super::observer::Observer;
use super::record::{status_of, warn};
use super::{page_cache, pause};
use crate::control::Controls;
use crate::error::UserError;
use crate::event::{Event, EventSink};
use crate::interrupt;
use crate::preserve::Preserving;
use crate::state;
use crate::store::{RunWriter, StoredSeries};
use experiment::{Experiment, Remaining};
use io::rig::Rig;
use io::targets::preserve::SaveEnd;
use model::latency_map::LatencyMap;
use model::plan::{Phase, PhaseKind, StopReason};
use model::range::ByteRange;
use model::record::ErrorRecord;
use model::request::{Operation, Status};
use model::run::{PhaseSummary, Run, Series, moved};
use model::units::Bytes;
use report::quantity::{documented_capacity, rough_time};
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Session<'run> {
    pub rig: Rig,
    pub writer: RunWriter,
    pub run: Run,
    pub events: &'run mut dyn EventSink,
    pub interrupt: &'run AtomicBool,
    pub controls: &'run Controls,
    pub trace: bool,
    /// The phase that a resumed run begins with; see [`super::resume::catch_up`].
    pub owed: Option<Phase>,
    pub preserving: Option<Preserving>,
}

impl Session<'_> {
    /// Runs the experiment until it is done or ended; what was measured is kept in any case.
    /// Fails when a phase cannot be run or the store cannot be written. The run is kept as failed as far as it can be.
    pub fn run(mut self, experiment: &mut dyn Experiment) -> Result<Run, UserError> {
        // An experiment that asks for the rest of a cut phase would ask for a skipped one at once.
        let conduct = experiment.conduct();
        self.controls.allow(conduct.may_rest, !conduct.completes_cut_phases);
        self.events.event(&Event::RunBegan(&self.run, &experiment.remaining()));
        let mut load = LoadWatch::start(&self.rig);
        let mut series = self.writer.series()?;
        let mut map = self.map_so_far(conduct.mapped_range, &series);
        let mut outcome = self.run_phases(experiment, &mut series, &mut load, map.as_mut());
        // The data come back whatever went wrong, and that they did not is the graver error.
        if let Err(not_restored) = self.restore_all() {
            if let Err(first) = &outcome {
                self.events.event(&Event::Warning(&first.text));
            }
            outcome = Err(not_restored);
        }
        self.run.status = status_of(&outcome);
        for warning in load.warnings() {
            warn(&mut self.run, self.events, warning);
        }
        let concluded = self.conclude(&mut series);
        outcome.and(concluded)?;
        self.events.event(&Event::RunEnded(&self.run));
        Ok(self.run)
    }

    fn run_phases(
        &mut self,
        experiment: &mut dyn Experiment,
        series: &mut StoredSeries,
        load: &mut LoadWatch,
        mut map: Option<&mut LatencyMap>,
    ) -> Result<Option<StopReason>, UserError> {
        loop {
            let next = match self.owed.take() {
                Some(owed) => Some(owed),
                None => {
                    self.writer.write_records()?;
                    series.refresh()?;
                    experiment.next(&self.run.view(series))
                }
            };
            let ahead = experiment.remaining();
            let Some(phase) = next else {
                self.warn_of_phases_left(ahead.phases());
                return Ok(None);
            };
            // The first read shows how long a drive takes to wake, and may complete after its phase.
            let wakes = phase.kind == PhaseKind::WarmUp;
            let trace = self.trace || wakes || experiment.needs_trace(&phase);
            if self.controls.wants_pause() && !self.pause(load)? {
                return Ok(Some(StopReason::Interrupted));
            }
            let is_last_look = experiment.is_done_with(&phase);
            let reason = self.run_phase(phase, trace, &ahead, load, map.as_deref_mut())?;
            if is_last_look {
                self.restore()?;
            }
            if matches!(reason, StopReason::Interrupted | StopReason::DeviceGone) {
                return Ok(Some(reason));
            }
        }
    }

    fn map_so_far(&self, range: Option<ByteRange>, series: &StoredSeries) -> Option<LatencyMap> {
        let range = range.filter(|range| !range.is_empty())?;
        let mut map = LatencyMap::new(range, self.run.target.logical_block);
        for (number, summary) in (0..).zip(&self.run.phases) {
            if LatencyMap::is_of(&summary.phase) {
                for interval in series.intervals(number) {
                    map.add_interval(&interval);
                }
                for error in series.errors(number) {
                    map.add_error(&error);
                }
            }
        }
        Some(map)
    }

    /// An experiment whose time was up is complete, but has measured less than it was asked to.
    fn warn_of_phases_left(&mut self, phases: u32) {
        if phases == 0 {
            return;
        }
        let (why, advice) = match self.run.phases.last() {
            Some(last) if last.has_all_failed() => ("Too many requests failed", ""),
            _ => ("The time limit was reached", ". Raise --time-limit"),
        };
        let warning = format!("{why} with {phases} phases left, which were not measured{advice}");
        warn(&mut self.run, self.events, warning);
    }

    fn run_phase(
        &mut self,
        phase: Phase,
        trace: bool,
        ahead: &Remaining,
        load: &mut LoadWatch,
        map: Option<&mut LatencyMap>,
    ) -> Result<StopReason, UserError> {
        if let Some(warning) = page_cache::empty(self.rig.target(), &phase)?
            && !self.run.environment.warnings.contains(&warning)
        {
            warn(&mut self.run, self.events, warning);
        }
        let rows = page_cache::rows_before(self.rig.target(), &phase);
        let number = self.run.phases.len() as u32;
        let start = self.rig.now();
        self.run.phases.push(PhaseSummary::begun(phase.clone(), start.get()));
        self.writer.begin_phase(&self.run)?;
        self.events.event(&Event::PhaseBegan(number, &phase, ahead));
        if let Some(reason) = self.save(&phase, number)? {
            let duration_ns = self.rig.now().since(start).get();
            let summary = &mut self.run.phases[number as usize];
            (summary.duration_ns, summary.stopped) = (duration_ns, Some(reason));
            self.writer.end_phase(&self.run)?;
            return Ok(reason);
        }
        let mut observer = Observer::new(
            &mut self.writer,
            self.events,
            &self.run,
            (self.interrupt, self.controls),
            load,
            map.filter(|_| LatencyMap::is_of(&phase)),
            self.rig.clock(),
            &phase,
            number,
            ahead,
        );
        let outcome = self.rig.run_phase(&phase, number, self.run.seed, trace, &mut observer);
        let store_failure = observer.into_failure();
        let outcome = outcome?;
        load.count_phase(&outcome);
        if outcome.dropped > 0 {
            let (records, name) = (outcome.dropped, &phase.name);
            self.run.environment.warnings.push(format!(
                "{records} records of phase `{name}` were dropped: they came faster than they could be stored"
            ));
        }
        let reason = self.reason_of(outcome.reason);
        let mut page_cache = None;
        if let Some(rows) = rows {
            page_cache = Some(page_cache::rows_after(self.rig.target(), rows));
        }
        let summary = &mut self.run.phases[number as usize];
        summary.start_ns = outcome.began.get();
        summary.duration_ns = outcome.ended.since(outcome.began).get();
        summary.stopped = Some(reason);
        summary.totals = outcome.totals;
        summary.page_cache = page_cache;
        summary.processor_wait_ns = outcome.waited.get();
        summary.spun_ns = outcome.spun.get();
        summary.late_bytes = outcome.late_bytes;
        self.events.event(&Event::PhaseEnded(number, summary));
        if let Some(failure) = store_failure {
            return Err(failure.into());
        }
        self.writer.end_phase(&self.run)?;
        Ok(reason)
    }

    /// The rig does not know who interrupted a phase. A skip that came too late is forgotten.
    fn reason_of(&mut self, reason: StopReason) -> StopReason {
        let was_skipped = self.controls.take_skip() && !self.interrupt.load(Ordering::Relaxed);
        if reason == StopReason::Interrupted && was_skipped { StopReason::Skipped } else { reason }
    }

    fn pause(&mut self, load: &mut LoadWatch) -> Result<bool, UserError> {
        self.writer.write_out(&self.run)?;
        let began = self.rig.now();
        let paused = pause::wait(self.controls, self.interrupt, self.events);
        // The time of a virtual drive passes only while it works.
        if self.rig.target().is_some() {
            self.rig.go_on_from(began);
            load.go_on_at(self.rig.now());
            self.run.environment.warnings.push(format!(
                "The run was paused for {} before phase {}; its clock does not count that time, and the drive was idle",
                rough_time(paused),
                self.run.phases.len() + 1
            ));
        }
        Ok(!self.interrupt.load(Ordering::Relaxed))
    }

    fn save(&mut self, phase: &Phase, number: u32) -> Result<Option<StopReason>, UserError> {
        let Some(preserving) = &mut self.preserving else { return Ok(None) };
        let interrupt = self.interrupt;
        let end = preserving.save(&self.rig, phase, &mut || !interrupt.load(Ordering::Relaxed))?;
        match end {
            SaveEnd::Safe => Ok(None),
            SaveEnd::Interrupted => Ok(Some(StopReason::Interrupted)),
            SaveEnd::NoRoom => Err(UserError::failure(format!(
                "phase `{}` was not run: it would overwrite more than the journal may hold. Give a smaller --range",
                phase.name
            ))),
            SaveEnd::Unreadable { offset, length, source } => {
                let warning = format!(
                    "Phase `{}` was not run: byte {offset}, which it would overwrite, cannot be read ({source})",
                    phase.name
                );
                warn(&mut self.run, self.events, warning);
                self.writer.append_error(&ErrorRecord {
                    phase: number,
                    at_ns: self.rig.now().get(),
                    operation: Operation::Read,
                    offset_bytes: offset,
                    length_bytes: length.min(u64::from(u32::MAX)) as u32,
                    status: source.raw_os_error().map_or(Status::MediumError, Status::from_errno),
                })?;
                Ok(Some(StopReason::Errors))
            }
        }
    }

    /// Restores what was saved so far. No signal interrupts that.
    fn restore(&mut self) -> Result<(), UserError> {
        let Some(preserving) = &mut self.preserving else { return Ok(()) };
        let rig = &self.rig;
        interrupt::unbroken(|| preserving.give_back(rig))??;
        Ok(())
    }

    /// The same at the end of the run, and the journal is removed.
    fn restore_all(&mut self) -> Result<(), UserError> {
        self.restore()?;
        let Some(preserving) = self.preserving.take() else { return Ok(()) };
        self.run.state_after.push("What the run overwrote was restored.".into());
        preserving.finish()
    }

    /// Analyses what was stored, so that showing the run later gives the same findings, and closes it.
    fn conclude(&mut self, series: &mut StoredSeries) -> Result<(), UserError> {
        // What cannot be written is told when the run is finished, which tries again.
        let _ = self.writer.write_records();
        series.refresh()?;
        let written = moved(&self.run.phases, &[Operation::Write, Operation::Commit]);
        if written > Bytes::ZERO {
            self.run.state_after.push(format!("The run wrote {} to it.", documented_capacity(written)));
        }
        self.keep_state();
        self.run.findings = analysis::analyse(&self.run.view(series));
        self.run.finished = Some(crate::stamp::finished(&self.run, self.rig.now()));
        self.writer.finish(&self.run, &report::finding::documents(&self.run))?;
        Ok(())
    }

    /// Notes the drive's counters for the ledger, and what of their growth other programs wrote.
    fn keep_state(&mut self) {
        let Some((target, note)) = self.rig.target().zip(self.writer.note()) else { return };
        let mut note = note.clone();
        self.run.state_after.extend(state::after(&mut note, target, &self.run));
        // Without the note the ledger shows no end, as after a kill; the run itself matters more.
        let _ = self.writer.keep_note(note);
    }
}
