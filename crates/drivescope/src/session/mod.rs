//! Runs an experiment: phase → rig → store → next? It only sequences; it knows no terminal and computes nothing.

pub mod files;
mod load_watch;
mod observer;
mod pause;
mod precision;
pub mod resume;

use crate::control::Controls;
use crate::error::UserError;
use crate::event::{Event, EventSink};
use crate::experiment::Experiment;
use crate::interrupt;
use crate::preserve::Preserving;
use crate::state;
use crate::store::{RunWriter, StoredSeries};
use io::rig::Rig;
use io::target::preserve::SaveEnd;
use io::target::{CachedStretch, Target, cached_stretches, drop_page_cache};
use load_watch::LoadWatch;
use model::latency_map::LatencyMap;
use model::page_cache::CachedRow;
use model::plan::{Phase, PhaseKind, StopReason};
use model::range::ByteRange;
use model::record::{ErrorRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::request::{Operation, Status};
use model::run::{PhaseSummary, Run, RunStatus, Series};
use model::units::Bytes;
use model::workload::Caching;
use observer::Observer;
use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Up to this share of a target in the page cache, next to no read finds its page there.
const CACHED_SHARE_MAX: f64 = 0.001;

/// What a session works with.
pub struct Session<'run> {
    /// What is measured, and by what.
    pub rig: Rig,
    /// Where it is kept.
    pub writer: RunWriter,
    /// What is known of the run so far.
    pub run: Run,
    /// Who wants to know.
    pub events: &'run mut dyn EventSink,
    /// Set when somebody wants the run to end.
    pub interrupt: &'run AtomicBool,
    /// What somebody wants while it goes on.
    pub controls: &'run Controls,
    /// Whether to keep every I/O.
    pub trace: bool,
    /// What a resumed run begins with, before it asks the experiment: see [`resume::catch_up`].
    pub owed: Option<Phase>,
    /// Keeps what is overwritten, to give it back.
    pub preserving: Option<Preserving>,
}

/// How a run has ended, by why its last phase was.
fn status_of(outcome: &Result<Option<StopReason>, UserError>) -> RunStatus {
    match outcome {
        Ok(None) => RunStatus::Complete,
        Ok(Some(StopReason::Interrupted)) => RunStatus::Interrupted,
        Ok(Some(_)) | Err(_) => RunStatus::Failed,
    }
}

impl Session<'_> {
    /// Runs the experiment to its end, or until somebody or something ends it; what was measured is kept in any case.
    ///
    /// # Errors
    /// When a phase cannot be run or the store cannot be written. The run is kept as failed as far as it can be.
    pub fn run(mut self, experiment: &mut dyn Experiment) -> Result<Run, UserError> {
        // An experiment that asks for the rest of a cut phase would ask for a skipped one at once.
        self.controls.allow(experiment.may_rest(), !experiment.completes_cut_phases());
        self.events.event(&Event::RunBegan(&self.run, &experiment.outlook()));
        let mut load = LoadWatch::start(&self.rig);
        let mut map = self.map_so_far(experiment.mapped_range());
        let outcome = self.run_phases(experiment, &mut load, map.as_mut());
        // Whatever went wrong, the data come back.
        let outcome = match (outcome, self.give_all_back()) {
            (outcome, Ok(())) => outcome,
            (Ok(_), Err(not_back)) => Err(not_back),
            (Err(first), Err(not_back)) => {
                self.events.event(&Event::Warning(&first.text));
                Err(not_back)
            }
        };
        self.run.status = status_of(&outcome);
        let warnings = load.warnings();
        warnings.iter().for_each(|warning| self.events.event(&Event::Warning(warning)));
        self.run.environment.warnings.extend(warnings);
        let kept = self.conclude();
        outcome.and(kept)?;
        self.events.event(&Event::RunEnded(&self.run));
        Ok(self.run)
    }

    /// Phase after phase; why it ended before the experiment was done, if it did.
    fn run_phases(
        &mut self,
        experiment: &mut dyn Experiment,
        load: &mut LoadWatch,
        mut map: Option<&mut LatencyMap>,
    ) -> Result<Option<StopReason>, UserError> {
        loop {
            let series = LazySeries { writer: &self.writer, opened: OnceCell::new() };
            let next = self.owed.take().or_else(|| experiment.next(&self.run.view(&series)));
            let ahead = experiment.outlook();
            let Some(phase) = next else {
                self.warn_of_what_was_left(ahead.phases());
                return Ok(None);
            };
            // The first read tells how long a drive takes to wake, and comes after the time of its phase if that is long.
            let wakes = phase.kind == PhaseKind::WarmUp;
            let trace = self.trace || wakes || experiment.needs_trace(&phase);
            if !self.pause_if_asked(load) {
                return Ok(Some(StopReason::Interrupted));
            }
            let is_last_look = experiment.is_done_with(&phase);
            let reason = self.run_phase(phase, trace, &ahead, load, map.as_deref_mut())?;
            if is_last_look {
                self.give_back()?;
            }
            if matches!(reason, StopReason::Interrupted | StopReason::DeviceGone) {
                return Ok(Some(reason));
            }
        }
    }

    /// A map of what the phases of a resumed run have seen; an empty one for a new run.
    fn map_so_far(&self, range: Option<ByteRange>) -> Option<LatencyMap> {
        let mut map =
            LatencyMap::new(range.filter(|range| !range.is_empty())?, self.run.target.logical_block);
        let series = LazySeries { writer: &self.writer, opened: OnceCell::new() };
        for (number, _) in (0..).zip(&self.run.phases).filter(|(_, phase)| LatencyMap::is_of(&phase.phase)) {
            series.intervals(number).for_each(|slice| map.add_interval(&slice));
            series.errors(number).for_each(|error| map.add_error(&error));
        }
        Some(map)
    }

    /// An experiment whose time was up is complete, but answers less than it was asked.
    fn warn_of_what_was_left(&mut self, phases: u32) {
        if phases > 0 {
            let (why, what_to_do) = match self.run.phases.last() {
                Some(last) if last.has_all_failed() => ("Too many requests failed", ""),
                _ => ("The time was up", ". Give more time with --time-limit"),
            };
            let warning = format!(
                "{why} with {phases} phases still to do, and what they would have shown is unknown{what_to_do}"
            );
            self.events.event(&Event::Warning(&warning));
            self.run.environment.warnings.push(warning);
        }
    }

    fn run_phase(
        &mut self,
        phase: Phase,
        trace: bool,
        ahead: &crate::experiment::Outlook,
        load: &mut LoadWatch,
        map: Option<&mut LatencyMap>,
    ) -> Result<StopReason, UserError> {
        self.empty_page_cache(&phase)?;
        let rows = self.rows_in_page_cache(&phase);
        let number = self.run.phases.len() as u32;
        let start_ns = self.rig.now().0;
        self.run.phases.push(PhaseSummary {
            phase: phase.clone(),
            start_ns,
            duration_ns: 0,
            stopped: None,
            totals: Vec::new(),
            files: None,
            page_cache: None,
        });
        self.writer.begin_phase(&self.run)?;
        self.events.event(&Event::PhaseBegan(number, &phase, ahead));
        if let Some(reason) = self.save(&phase, number)? {
            let ended_ns = self.rig.now().0;
            let summary = self.run.phases.last_mut().expect("the phase was just added");
            summary.duration_ns = ended_ns - start_ns;
            summary.stopped = Some(reason);
            self.writer.end_phase(&self.run)?;
            return Ok(reason);
        }
        let clock = self.rig.clock();
        let map = map.filter(|_| LatencyMap::is_of(&phase));
        let mut observer = Observer::new(
            &mut self.writer,
            self.events,
            (self.interrupt, self.controls),
            load,
            map,
            clock,
            &phase,
            number,
            ahead,
        );
        let outcome = self.rig.run_phase(&phase, number, self.run.seed, trace, &mut observer);
        let store_failure = observer.into_failure();
        let outcome = outcome?;
        load.count_late(outcome.late_bytes);
        load.count_wait(outcome.waited, outcome.ended.since(outcome.began));
        if outcome.dropped > 0 {
            let warning = format!(
                "{} records of phase `{}` came faster than they could be kept",
                outcome.dropped, phase.name
            );
            self.run.environment.warnings.push(warning);
        }
        let reason = self.reason_of(outcome.reason);
        let summary = self.run.phases.last_mut().expect("the phase was just added");
        summary.start_ns = outcome.began.0;
        summary.duration_ns = outcome.ended.since(outcome.began).0;
        summary.stopped = Some(reason);
        summary.totals = outcome.totals;
        summary.page_cache = rows.map(|rows| Box::new(after_reading(self.rig.target(), rows)));
        self.events.event(&Event::PhaseEnded(number, summary));
        if let Some(failure) = store_failure {
            return Err(failure.into());
        }
        self.writer.end_phase(&self.run)?;
        Ok(reason)
    }

    /// Saves what a phase may overwrite; why it must not be run, if it must not.
    fn save(&mut self, phase: &Phase, number: u32) -> Result<Option<StopReason>, UserError> {
        let Some(preserving) = &mut self.preserving else { return Ok(None) };
        let interrupt = self.interrupt;
        let end = preserving.save(&self.rig, phase, &mut || !interrupt.load(Ordering::Relaxed))?;
        match end {
            SaveEnd::Safe => Ok(None),
            SaveEnd::Interrupted => Ok(Some(StopReason::Interrupted)),
            SaveEnd::NoRoom => Err(UserError::failure(format!(
                "phase `{}` would overwrite more than the journal may hold, so it was not run. Give a smaller --range",
                phase.name
            ))),
            SaveEnd::Unreadable { offset, length, source } => {
                let warning = format!(
                    "Byte {offset} could not be read to be saved ({source}), so phase `{}` was not run",
                    phase.name
                );
                self.events.event(&Event::Warning(&warning));
                self.run.environment.warnings.push(warning);
                let status = source.raw_os_error().map_or(Status::MediumError, Status::from_errno);
                let (at_ns, operation) = (self.rig.now().0, Operation::Read);
                let length_bytes = length.min(u64::from(u32::MAX)) as u32;
                self.writer.append_error(&ErrorRecord {
                    phase: number,
                    at_ns,
                    operation,
                    offset_bytes: offset,
                    length_bytes,
                    status,
                })?;
                Ok(Some(StopReason::Errors))
            }
        }
    }

    /// Gives back what was saved so far. Nothing that a person types breaks that off.
    fn give_back(&mut self) -> Result<(), UserError> {
        let Some(preserving) = &mut self.preserving else { return Ok(()) };
        let rig = &self.rig;
        interrupt::unbroken(|| preserving.give_back(rig))?.map(|_| ())
    }

    /// The same at the end of the run, and the journal is removed. Done once.
    fn give_all_back(&mut self) -> Result<(), UserError> {
        self.give_back()?;
        let Some(preserving) = self.preserving.take() else { return Ok(()) };
        self.run.state_after.push("What the run overwrote was given back.".into());
        preserving.finish()
    }

    /// A phase through the page cache begins with nothing of the target in it; what stays there is said.
    fn empty_page_cache(&mut self, phase: &Phase) -> Result<(), UserError> {
        let is_buffered =
            phase.workload.as_ref().is_some_and(|workload| workload.caching == Caching::Buffered);
        let Some(target) = self.rig.target().filter(|_| is_buffered) else { return Ok(()) };
        let warning = match drop_page_cache(target)? {
            Some(share) if share < CACHED_SHARE_MAX => {
                "Reads went through the page cache, as an application's do. It was emptied before each phase, and nothing stayed"
                    .to_string()
            }
            Some(share) => format!(
                "Reads went through the page cache, and {:.0} % of the target stayed in it although it was to be emptied: another \
                 program uses it",
                100.0 * share
            ),
            None => "Reads went through the page cache; it was emptied before, but the system does not tell whether it was"
                .to_string(),
        };
        if !self.run.environment.warnings.contains(&warning) {
            self.events.event(&Event::Warning(&warning));
            self.run.environment.warnings.push(warning);
        }
        Ok(())
    }

    /// The rows of a list of reads through the page cache, with what of them is in memory before they are read; or why that cannot be told.
    fn rows_in_page_cache(&self, phase: &Phase) -> Option<Result<Vec<CachedRow>, String>> {
        let workload = phase.workload.as_ref().filter(|workload| workload.caching == Caching::Buffered)?;
        let mut rows = CachedRow::all(workload);
        if rows.is_empty() {
            return None;
        }
        let looked = look(self.rig.target()?, &mut rows, |row, found| row.cached_before = found.all);
        Some(looked.map(|()| rows))
    }

    /// Analyses what was stored, so that showing the run later gives the same findings, and closes it.
    fn conclude(&mut self) -> Result<(), UserError> {
        let series = self.writer.series()?;
        self.run.state_after.extend(self.written());
        self.keep_state();
        self.run.findings = analysis::analyse(&self.run.view(&series));
        self.run.finished = Some(crate::stamp::finished(&self.run, self.rig.now()));
        self.writer.finish(&self.run)?;
        Ok(())
    }
}

impl Session<'_> {
    /// Notes what the drive's counters show now, for the ledger, and what of it was others' work.
    fn keep_state(&mut self) {
        let Some((target, note)) = self.rig.target().zip(self.writer.note()) else { return };
        let mut note = note.clone();
        self.run.state_after.extend(state::after(&mut note, target, &self.run));
        // Where it cannot be kept, the ledger knows of no end, as after a kill; the run itself is worth more.
        let _ = self.writer.keep_note(note);
    }

    /// What the run did to the drive, if it wrote.
    fn written(&self) -> Option<String> {
        let writes = self.run.phases.iter().filter_map(|phase| phase.totals_of(Operation::Write));
        let bytes = writes.map(|totals| totals.bytes).sum();
        (bytes > 0).then(|| format!("The run wrote {} to it.", report::quantity::capacity(Bytes(bytes))))
    }
}

/// The same rows with what of them is in memory after they were read.
fn after_reading(
    target: Option<&Target>,
    rows: Result<Vec<CachedRow>, String>,
) -> Result<Vec<CachedRow>, String> {
    let (mut rows, target) = (rows?, target.ok_or("There is no target to look at any more.")?);
    look(target, &mut rows, |row, found| row.cached = found.from_start)?;
    Ok(rows)
}

fn look(
    target: &Target,
    rows: &mut [CachedRow],
    note: fn(&mut CachedRow, CachedStretch),
) -> Result<(), String> {
    let stretches: Vec<ByteRange> = rows.iter().map(CachedRow::stretch).collect();
    let found = cached_stretches(target, &stretches).map_err(|error| error.to_string())?;
    rows.iter_mut().zip(found).for_each(|(row, found)| note(row, found));
    Ok(())
}

/// The series as they are stored so far, opened only if the experiment looks.
struct LazySeries<'run> {
    writer: &'run RunWriter,
    opened: OnceCell<Option<StoredSeries>>,
}

impl LazySeries<'_> {
    /// None when the store cannot be read back; writing to it then fails next and says why.
    fn get(&self) -> Option<&StoredSeries> {
        self.opened.get_or_init(|| self.writer.series().ok()).as_ref()
    }
}

impl Series for LazySeries<'_> {
    fn intervals(&self, phase: u32) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        Box::new(self.get().into_iter().flat_map(move |series| series.intervals(phase)))
    }

    fn errors(&self, phase: u32) -> Box<dyn Iterator<Item = ErrorRecord> + '_> {
        Box::new(self.get().into_iter().flat_map(move |series| series.errors(phase)))
    }

    fn ios(&self, phase: u32) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        Box::new(self.get().into_iter().flat_map(move |series| series.ios(phase)))
    }

    fn telemetry(&self) -> Box<dyn Iterator<Item = TelemetryRecord> + '_> {
        Box::new(self.get().into_iter().flat_map(|series| series.telemetry()))
    }
}
