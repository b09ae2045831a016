//! Writes one run: records as they come, each series to its journal, each full journal to a segment.

use crate::column::{Cell, StoredRecord};
use crate::disk::{Disk, Lasting};
use crate::document;
use crate::drive_note::DriveNote;
use crate::error::StoreError;
use crate::index;
use crate::journal::JournalWriter;
use crate::lock::Lock;
use crate::places::Places;
use crate::run_folder::{LOCK_FILE, RUN_FILE, fold, fold_all, parts};
use crate::series_kind::SeriesKind;
use crate::stored_series::StoredSeries;
use model::finding::FindingDocument;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::Run;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// At the end of a phase, shorter journals stay journals: an experiment with hundreds of short phases would otherwise
/// leave hundreds of tiny files and spend its time on syncs. All become segments when the run ends.
const FOLD_RECORDS_MIN: u64 = 4096;
/// A sync at the end of a phase comes no more often than this: it may go to the drive that is being measured.
const SYNC_EVERY: Duration = Duration::from_secs(30);
/// The facts hold all phases, so writing them at every phase takes time that grows with the square of the phases: no more than a twentieth
/// of the time goes into that. What a kill loses of phases that began and ended is then some milliseconds, and at 10,000 phases half a second.
const FACTS_TIME_PARTS: u32 = 20;
/// They are also written when the phases have grown by an eighth, for a store that is full a moment later: time grows with phases.
const FACTS_GROWTH_PARTS: usize = 8;

/// Writes one run, which is under way meanwhile; dropped without [`RunWriter::finish`] it reads as interrupted.
pub struct RunWriter {
    places: Places,
    disk: Disk,
    id: String,
    folder: PathBuf,
    /// Where the folder goes when the run is finished, if a repeated run is to take the place of the old one then.
    replaces: Option<PathBuf>,
    series: [SeriesWriter; SeriesKind::ALL.len()],
    row: Vec<Cell>,
    lock: Option<Lock>,
    note: Option<DriveNote>,
    synced: Instant,
    facts_written: Instant,
    facts_took: Duration,
    facts_phases: usize,
    /// Whether phases have begun or ended that the written facts do not have.
    facts_owed: bool,
}

struct SeriesWriter {
    kind: SeriesKind,
    disk: Disk,
    number: u32,
    journal: Option<JournalWriter>,
}

impl RunWriter {
    /// Begins to write into a folder that holds nothing but its lock.
    pub(crate) fn begin(
        places: &Places,
        disk: Disk,
        run: &Run,
        folder: PathBuf,
        lock: Lock,
    ) -> Result<RunWriter, StoreError> {
        let mut writer = RunWriter::new(places, disk, run, folder, lock);
        writer.write_facts(run, &[], Lasting::PowerCut)?;
        Ok(writer)
    }

    /// Goes on with a folder whose journals are folded, behind its parts. The facts stay until a phase begins.
    pub(crate) fn reopen(
        places: &Places,
        disk: Disk,
        run: &Run,
        folder: PathBuf,
        lock: Lock,
    ) -> Result<RunWriter, StoreError> {
        let mut writer = RunWriter::new(places, disk, run, folder, lock);
        for ((kind, number), part) in parts(&writer.folder)? {
            assert!(!part.journal, "the journals of a run are folded before it goes on");
            let series = &mut writer.series[kind as usize];
            series.number = series.number.max(number + 1);
        }
        writer.note = DriveNote::read(&writer.folder);
        Ok(writer)
    }

    fn new(places: &Places, disk: Disk, run: &Run, folder: PathBuf, lock: Lock) -> RunWriter {
        RunWriter {
            places: places.clone(),
            disk,
            id: run.id.clone(),
            folder,
            replaces: None,
            series: SeriesKind::ALL.map(|kind| SeriesWriter { kind, disk, number: 1, journal: None }),
            row: Vec::new(),
            lock: Some(lock),
            note: None,
            synced: Instant::now(),
            facts_written: Instant::now(),
            facts_took: Duration::ZERO,
            facts_phases: 0,
            facts_owed: false,
        }
    }

    pub(crate) fn moved_to(&mut self, folder: PathBuf) {
        self.folder = folder;
    }

    /// The run takes the place of the one in that folder when it is finished.
    pub(crate) fn replaces(&mut self, folder: PathBuf) {
        self.replaces = Some(folder);
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the run is once it is finished: a repeated run then takes the place of the old one.
    pub fn finished_folder(&self) -> &Path {
        self.replaces.as_deref().unwrap_or(&self.folder)
    }

    /// Keeps what is known of the drive, for the ledger: when the run begins, and again before it is finished.
    pub fn keep_note(&mut self, note: DriveNote) -> Result<(), StoreError> {
        note.write(self.disk, &self.folder)?;
        self.note = Some(note);
        Ok(())
    }

    pub fn note(&self) -> Option<&DriveNote> {
        self.note.as_ref()
    }

    /// Fails when the disk is full or gone. What was written before is kept, and so is what is appended, this and later, if there
    /// is space again; the same holds for all `append` functions.
    pub fn append_interval(&mut self, record: &IntervalRecord) -> Result<(), StoreError> {
        assert!(record.duration_ns > 0, "a rate is over a time");
        self.append(SeriesKind::Intervals, std::slice::from_ref(record))
    }

    pub fn append_histogram(&mut self, record: &HistogramRecord) -> Result<(), StoreError> {
        self.append(SeriesKind::Histograms, std::slice::from_ref(record))
    }

    pub fn append_error(&mut self, record: &ErrorRecord) -> Result<(), StoreError> {
        self.append(SeriesKind::Errors, std::slice::from_ref(record))
    }

    pub fn append_telemetry(&mut self, record: &TelemetryRecord) -> Result<(), StoreError> {
        self.append(SeriesKind::Telemetry, std::slice::from_ref(record))
    }

    /// Keeps single I/Os, as many at once as there are.
    pub fn append_trace(&mut self, records: &[IoRecord]) -> Result<(), StoreError> {
        self.append(SeriesKind::Trace, records)
    }

    /// What was appended so far, to be read back; [`StoredSeries::refresh`] looks up what came later.
    pub fn series(&mut self) -> Result<StoredSeries, StoreError> {
        self.write_records()?;
        StoredSeries::open(&self.folder, true, &mut Vec::new())
    }

    /// Hands all that was appended to the kernel, so that readers find it.
    pub fn write_records(&mut self) -> Result<(), StoreError> {
        for series in &mut self.series {
            if let Some(journal) = &mut series.journal {
                journal.write()?;
            }
        }
        Ok(())
    }

    /// The same, and the facts as they are: nothing is lost if nothing comes for a while.
    pub fn write_out(&mut self, run: &Run) -> Result<(), StoreError> {
        self.write_records()?;
        if self.facts_owed {
            self.write_facts(run, &[], Lasting::Kill)?;
        }
        Ok(())
    }

    /// Notes that a phase has begun: a run that is killed in it then knows what its records belong to. `run` holds
    /// the phase with no reason to have stopped. Nothing is synced: a phase begins on a drive at rest.
    pub fn begin_phase(&mut self, run: &Run) -> Result<(), StoreError> {
        self.facts_owed = true;
        self.keep_up(run)
    }

    /// Writes what is due of facts and records. Called some times a second while a phase lasts, it bounds what a kill loses to a second.
    pub fn keep_up(&mut self, run: &Run) -> Result<(), StoreError> {
        if self.facts_owed && self.facts_are_due(run) {
            self.write_facts(run, &[], Lasting::Kill)?;
        }
        for series in &mut self.series {
            if let Some(journal) = &mut series.journal {
                journal.write_due()?;
            }
        }
        Ok(())
    }

    fn facts_are_due(&self, run: &Run) -> bool {
        run.phases.len() > self.facts_phases + self.facts_phases / FACTS_GROWTH_PARTS
            || self.facts_written.elapsed() >= self.facts_took * FACTS_TIME_PARTS
    }

    /// Keeps the totals of a phase at its end. Now and then, at least twice a minute if phases end so often, journals are synced too and long
    /// ones become segments. Fails when the disk is full or gone. What was appended before is kept.
    pub fn end_phase(&mut self, run: &Run) -> Result<(), StoreError> {
        self.facts_owed = true;
        if self.synced.elapsed() < SYNC_EVERY {
            return self.keep_up(run);
        }
        for series in &mut self.series {
            match &mut series.journal {
                Some(journal) if journal.records() >= FOLD_RECORDS_MIN => series.fold(&self.folder)?,
                Some(journal) => journal.sync()?,
                None => {}
            }
        }
        self.synced = Instant::now();
        self.write_facts(run, &[], Lasting::PowerCut)
    }

    /// Ends the run with what was found: all journals become segments, and the facts are final. Nothing may be appended afterwards. Fails when
    /// the disk is full or gone: what was appended is kept, and where the facts could be written the run reads as complete, from its journals.
    pub fn finish(&mut self, run: &Run, findings: &[FindingDocument]) -> Result<(), StoreError> {
        let written = self.write_records();
        for series in &mut self.series {
            series.journal = None;
        }
        // First the facts, which are small and cannot be had elsewhere: a journal is as good as its segment.
        self.write_facts(run, findings, Lasting::PowerCut)?;
        let folded = fold_all(self.disk, &self.folder);
        let is_late = folded.as_ref().is_err_and(StoreError::is_out_of_time);
        let lock = self.folder.join(LOCK_FILE);
        fs::remove_file(&lock).map_err(StoreError::system("remove", &lock))?;
        self.lock = None;
        if let Some(old) = self.replaces.take() {
            self.disk.exchange_folders(&self.folder, &old)?;
            fs::remove_dir_all(&self.folder).map_err(StoreError::system("remove", &self.folder))?;
            self.folder = old;
        }
        if is_late {
            // The journals hold all of it, and the next run folds them and makes the index again.
            return Ok(());
        }
        // The index can always be made again from the runs, so its failure is no failure of the run.
        let _ = index::refresh(&self.places);
        written.and(folded)
    }

    fn append<R: StoredRecord>(&mut self, kind: SeriesKind, records: &[R]) -> Result<(), StoreError> {
        assert!(self.lock.is_some(), "nothing is appended to a finished run");
        let series = &mut self.series[kind as usize];
        assert_eq!(series.kind, kind, "the writers are in the order of their numbers");
        let mut rest = records;
        while !rest.is_empty() {
            let journal = series.journal(&self.folder)?;
            let room = kind.segment_records_max() - journal.records();
            let (now, later) = rest.split_at(rest.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
            for record in now {
                self.row.clear();
                record.to_row(&mut self.row);
                journal.push(&self.row);
            }
            journal.write_due()?;
            if journal.records() == kind.segment_records_max() {
                series.fold(&self.folder)?;
            }
            rest = later;
        }
        Ok(())
    }

    fn write_facts(
        &mut self,
        run: &Run,
        findings: &[FindingDocument],
        lasting: Lasting,
    ) -> Result<(), StoreError> {
        assert_eq!(run.id, self.id, "a writer writes one run");
        let began = Instant::now();
        let facts = document::to_json(run, findings);
        self.disk.write_whole(&self.folder.join(RUN_FILE), facts.as_bytes(), lasting)?;
        self.facts_written = Instant::now();
        self.facts_took = self.facts_written - began;
        self.facts_phases = run.phases.len();
        self.facts_owed = false;
        Ok(())
    }
}

impl SeriesWriter {
    fn journal(&mut self, folder: &Path) -> Result<&mut JournalWriter, StoreError> {
        match &mut self.journal {
            Some(journal) => Ok(journal),
            none => {
                let path = folder.join(self.kind.journal_name(self.number));
                Ok(none.insert(JournalWriter::create(self.disk, &path, self.kind)?))
            }
        }
    }

    /// Rewrites the journal as a segment. When that fails the journal stays, and a next one is begun after it; where
    /// there was no time for it, that is no failure.
    fn fold(&mut self, folder: &Path) -> Result<(), StoreError> {
        if let Some(journal) = &mut self.journal {
            journal.write()?;
        }
        self.journal = None;
        let number = self.number;
        self.number += 1;
        match fold(self.disk, folder, self.kind, number) {
            Err(error) if error.is_out_of_time() => Ok(()),
            folded => folded,
        }
    }
}
