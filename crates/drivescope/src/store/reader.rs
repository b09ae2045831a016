//! Reads one run: its facts, and its series as streams.
//!
//! On opening, every part of every series but the trace is checked against its checksum, once. What is unsound is left
//! out and named; its journal takes its place if it is still there. Afterwards a part is read one row group at a time,
//! and the last row group stays in memory, since detectors go through the phases in order.

use super::error::StoreError;
use super::folder::{CHECKSUM_FILE, Part, RUN_FILE, checksums, is_being_written, parts};
use super::format::SeriesKind;
use super::journal::{JournalEnd, JournalReader};
use super::listing::facts;
use super::row::StoredRecord;
use super::segment::{Fingerprint, SegmentReader, probe};
use model::plan::{Phase, PhaseKind, StopCondition};
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary, Run, RunStatus, Series};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A run as it was kept.
#[derive(Debug)]
pub struct StoredRun {
    /// Its facts. The totals of its phases have the histograms of the histogram series; a phase that the program was
    /// killed in has the totals of its intervals. A run that has no end is interrupted.
    pub run: Run,
    /// What was measured.
    pub series: StoredSeries,
    /// What is missing and why, as sentences; empty for a sound run.
    pub damage: Vec<String>,
    /// Whether a process writes it now. The series then grow from pass to pass.
    pub under_way: bool,
}

/// The series of a stored run. They are read from the disk in each pass.
#[derive(Debug)]
pub struct StoredSeries {
    folder: PathBuf,
    groups: BTreeMap<SeriesKind, Vec<Group>>,
    trace: Vec<(u32, Part)>,
    under_way: bool,
    checksums: HashMap<String, Fingerprint>,
    intervals: Cache<IntervalRecord>,
    errors: Cache<ErrorRecord>,
    ios: Cache<IoRecord>,
    telemetry: Cache<TelemetryRecord>,
}

/// The name of a phase of which nothing but records was kept.
pub const LOST_PHASE: &str = "a phase that was not noted before the program was killed";

/// What is read at once.
#[derive(Clone, Debug)]
struct Group {
    place: Place,
    phases: RangeInclusive<u32>,
}

/// Where a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Segment { number: u32, group: usize },
    Journal { number: u32 },
}

/// The group that was read last.
type Cache<R> = Mutex<Option<((Place, u64), Arc<Vec<R>>)>>;

/// Reads the run in a folder.
pub(super) fn read(id: &str, folder: &Path) -> Result<StoredRun, StoreError> {
    // First the lock: a writer that ends in between leaves final facts.
    let was_being_written = is_being_written(folder);
    let mut run = facts(&folder.join(RUN_FILE))?;
    let mut damage = Vec::new();
    if run.id != id {
        damage.push(format!("The folder {id} holds the run {}; it was renamed.", run.id));
    }
    let under_way = run.finished.is_none() && was_being_written;
    if run.finished.is_none() {
        run.status = RunStatus::Interrupted;
    }
    let series = StoredSeries::open(folder, under_way, &mut damage)?;
    restore_unfinished_totals(&mut run.phases, &series, 0);
    restore_histograms(&mut run.phases, &series);
    Ok(StoredRun { run, series, damage, under_way })
}

/// With hundreds of phases the facts are not written at every one, so that after a kill there can be records of phases
/// that the facts do not know. They get a place each, with what the records say, since the next phase needs a number of
/// its own.
pub(super) fn add_lost_phases(run: &mut Run, series: &StoredSeries) {
    let first_lost = run.phases.len() as u32;
    let mut began: BTreeMap<u32, u64> = BTreeMap::new();
    for interval in series.stream(SeriesKind::Intervals, None, &series.intervals) {
        began.entry(interval.phase).or_insert(interval.start_ns);
    }
    let last = began.keys().next_back().map_or(0, |last| last.saturating_add(1));
    let experiment = run.phases.last().map(|last| last.phase.experiment.clone()).unwrap_or_default();
    for number in first_lost..last {
        let phase = Phase {
            name: LOST_PHASE.into(),
            experiment: experiment.clone(),
            kind: PhaseKind::WarmUp,
            workload: None,
            stop: StopCondition::default(),
        };
        let start_ns = began.get(&number).copied().unwrap_or_default();
        run.phases.push(PhaseSummary {
            phase,
            start_ns,
            duration_ns: 0,
            stopped: None,
            totals: Vec::new(),
            files: None,
            page_cache: None,
        });
    }
    restore_unfinished_totals(&mut run.phases[first_lost as usize..], series, first_lost);
}

/// A phase that the program was killed in has no totals in the facts: its intervals have them.
fn restore_unfinished_totals(phases: &mut [PhaseSummary], series: &StoredSeries, first: u32) {
    for (number, phase) in (first..).zip(phases) {
        if phase.stopped.is_some() || !phase.totals.is_empty() {
            continue;
        }
        let mut totals: BTreeMap<Operation, OperationTotals> = BTreeMap::new();
        for interval in series.intervals(number) {
            let operation = interval.operation;
            let total = totals.entry(operation).or_insert_with(|| OperationTotals::none(operation));
            total.operations = total.operations.saturating_add(interval.operations);
            total.bytes = total.bytes.saturating_add(interval.bytes);
            total.errors = total.errors.saturating_add(interval.errors);
            let end_ns = interval.end_ns();
            phase.duration_ns = phase.duration_ns.max(end_ns.saturating_sub(phase.start_ns));
        }
        phase.totals = totals.into_values().collect();
    }
}

/// A run may have thousands of phases, so no histogram keeps more memory than it needs.
fn restore_histograms(phases: &mut [PhaseSummary], series: &StoredSeries) {
    for record in series.histograms() {
        let totals = phases.get_mut(record.phase as usize).map(|phase| &mut phase.totals);
        let total =
            totals.and_then(|totals| totals.iter_mut().find(|total| total.operation == record.operation));
        if let Some(total) = total {
            total.histogram.merge(&record.histogram);
            total.histogram.shrink();
        }
    }
}

impl StoredSeries {
    pub(super) fn open(
        folder: &Path,
        under_way: bool,
        damage: &mut Vec<String>,
    ) -> Result<StoredSeries, StoreError> {
        // First the names, then the checksums: a segment's checksum is noted before it gets its name.
        let parts = parts(folder)?;
        let mut series = StoredSeries {
            folder: folder.to_owned(),
            groups: BTreeMap::new(),
            trace: Vec::new(),
            under_way,
            checksums: checksums(folder),
            intervals: Cache::default(),
            errors: Cache::default(),
            ios: Cache::default(),
            telemetry: Cache::default(),
        };
        let mut next: HashMap<SeriesKind, u32> = HashMap::new();
        for ((kind, number), part) in parts {
            let expected = next.insert(kind, number + 1).unwrap_or(1);
            if number > expected {
                damage.push(format!(
                    "{} to {} are missing: what they held is lost, unless you restore them from a copy.",
                    kind.segment_name(expected),
                    kind.segment_name(number - 1)
                ));
            }
            if kind == SeriesKind::Trace {
                series.trace.push((number, part));
            } else {
                let groups = series.check(kind, number, part, damage);
                series.groups.entry(kind).or_default().extend(groups);
            }
        }
        Ok(series)
    }

    /// The sound groups of one part; what is unsound is named.
    fn check(&self, kind: SeriesKind, number: u32, part: Part, damage: &mut Vec<String>) -> Vec<Group> {
        if part.segment {
            match self.check_segment(kind, number, damage) {
                Ok(groups) => return groups,
                Err(error) if part.journal => {
                    damage.push(format!("{error}. Its records were read from its journal instead."));
                }
                Err(error) => damage.push(format!("{error}.")),
            }
        }
        if part.journal {
            match self.check_journal(kind, number, damage) {
                Ok(group) => return vec![group],
                // Its writer has just made it a segment.
                Err(error) if error.is_not_found() => {
                    return self.check_segment(kind, number, damage).unwrap_or_default();
                }
                Err(error) => damage.push(format!("{error}.")),
            }
        }
        Vec::new()
    }

    fn check_segment(
        &self,
        kind: SeriesKind,
        number: u32,
        damage: &mut Vec<String>,
    ) -> Result<Vec<Group>, StoreError> {
        let reader = self.open_segment(kind, number)?;
        let name = kind.segment_name(number);
        if !self.checksums.contains_key(&name) && !checksums(&self.folder).contains_key(&name) {
            damage
                .push(format!("{CHECKSUM_FILE} does not list {name}, so its content could not be verified."));
        }
        let place = |group| Group { place: Place::Segment { number, group }, phases: reader.phases(group) };
        Ok((0..reader.groups()).map(place).collect())
    }

    /// Opens a segment after comparing it with its checksum; one without a checksum is read once as a trial.
    fn open_segment(&self, kind: SeriesKind, number: u32) -> Result<SegmentReader, StoreError> {
        let name = kind.segment_name(number);
        let path = self.folder.join(&name);
        let noted = self.checksums.get(&name).copied().or_else(|| checksums(&self.folder).remove(&name));
        let Some(noted) = noted else {
            return probe(&path, kind).and_then(|()| SegmentReader::open(&path, kind));
        };
        let found = Fingerprint::of(&path)?;
        if found != noted {
            let why = if found.bytes == noted.bytes {
                "its content was altered after it was written (checksum)".into()
            } else {
                format!("it has {} bytes, and {} were written", found.bytes, noted.bytes)
            };
            return Err(StoreError::Segment { path, why });
        }
        SegmentReader::open(&path, kind)
    }

    fn check_journal(
        &self,
        kind: SeriesKind,
        number: u32,
        damage: &mut Vec<String>,
    ) -> Result<Group, StoreError> {
        let name = kind.journal_name(number);
        let mut reader = JournalReader::open(&self.folder.join(&name), kind)?;
        let mut row = Vec::new();
        while reader.next_row(&mut row)? {}
        match reader.end() {
            Some(JournalEnd::Damaged) => damage.push(format!(
                "{name} is damaged after record {}: the later ones are lost, unless you restore it from a copy.",
                reader.records()
            )),
            Some(JournalEnd::Cut) if !self.under_way => damage.push(format!(
                "{name} ends within a record, as a kill or a full disk leaves it; the {} before it are whole.",
                reader.records()
            )),
            _ => {}
        }
        Ok(Group { place: Place::Journal { number }, phases: 0..=u32::MAX })
    }

    /// The single I/Os of the run, in the order in which they were kept.
    pub fn trace(&self) -> impl Iterator<Item = Result<IoRecord, StoreError>> + '_ {
        self.trace.iter().flat_map(move |&(number, part)| self.trace_part(number, part))
    }

    fn trace_part(
        &self,
        number: u32,
        part: Part,
    ) -> Box<dyn Iterator<Item = Result<IoRecord, StoreError>> + '_> {
        let kind = SeriesKind::Trace;
        let opened = match part.segment {
            true => self.open_segment(kind, number).map(Opened::Segment),
            false => {
                JournalReader::open(&self.folder.join(kind.journal_name(number)), kind).map(Opened::Journal)
            }
        };
        let opened = match opened {
            Err(error) if error.is_not_found() => self.open_segment(kind, number).map(Opened::Segment),
            other => other,
        };
        match opened {
            Err(error) => Box::new(std::iter::once(Err(error))),
            Ok(Opened::Segment(reader)) => {
                let groups = 0..reader.groups();
                Box::new(groups.flat_map(move |group| match read_segment_group(&reader, group) {
                    Ok(records) => records.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                }))
            }
            Ok(Opened::Journal(reader)) => Box::new(journal_records(reader)),
        }
    }

    /// Where single I/Os of a phase may be. A part that cannot be opened is left out: what reads the whole trace says why.
    fn trace_places(&self, number: u32, part: Part, phase: u32) -> Vec<Place> {
        let in_segment = || {
            let reader = self.open_segment(SeriesKind::Trace, number).ok()?;
            let groups = (0..reader.groups()).filter(|group| reader.phases(*group).contains(&phase));
            Some(groups.map(|group| Place::Segment { number, group }).collect())
        };
        let journal = self.folder.join(SeriesKind::Trace.journal_name(number));
        match part.segment || !journal.exists() {
            true => in_segment().unwrap_or_default(),
            false => vec![Place::Journal { number }],
        }
    }

    /// The histograms of the run, in the order in which they were kept.
    pub fn histograms(&self) -> Box<dyn Iterator<Item = HistogramRecord> + '_> {
        let kind = SeriesKind::Histograms;
        let groups = self.groups.get(&kind).into_iter().flatten();
        Box::new(groups.flat_map(move |group| -> Box<dyn Iterator<Item = HistogramRecord>> {
            // A histogram takes 58 KiB in memory: those of a journal are made one by one.
            let journal = match group.place {
                Place::Journal { number } => {
                    JournalReader::open(&self.folder.join(kind.journal_name(number)), kind).ok()
                }
                Place::Segment { .. } => None,
            };
            match journal {
                Some(reader) => Box::new(journal_records(reader).flatten()),
                None => Box::new(self.read(kind, group.place).into_iter()),
            }
        }))
    }

    /// The histograms of that phase and of those after it.
    pub fn histograms_from(&self, phase: u32) -> Box<dyn Iterator<Item = HistogramRecord> + '_> {
        let kind = SeriesKind::Histograms;
        let groups = self.groups.get(&kind).into_iter().flatten();
        let groups = groups.filter(move |group| *group.phases.end() >= phase);
        let records = groups.flat_map(move |group| self.read::<HistogramRecord>(kind, group.place));
        Box::new(records.filter(move |record| record.phase >= phase))
    }

    /// The slices of a phase that end after a moment. What lies before is looked up, not read.
    pub fn intervals_after(
        &self,
        phase: u32,
        moment_ns: u64,
    ) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        let places = self.interval_places(phase);
        let first = self.first_after(&places, phase, moment_ns);
        let records = places.into_iter().skip(first).flat_map(move |place| self.interval_group(place));
        Box::new(records.filter(move |slice| slice.phase == phase && slice.end_ns() > moment_ns))
    }

    /// The slices of a phase that end before a moment: of a long phase evenly chosen stretches, as many as are read at once.
    pub fn intervals_before(
        &self,
        phase: u32,
        moment_ns: u64,
        stretches_max: usize,
    ) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        let mut places = self.interval_places(phase);
        let first = self.first_after(&places, phase, moment_ns);
        places.truncate(first + 1);
        let every = places.len().div_ceil(stretches_max.max(1)).max(1);
        let records = places.into_iter().step_by(every).flat_map(move |place| self.interval_group(place));
        Box::new(records.filter(move |slice| slice.phase == phase && slice.end_ns() <= moment_ns))
    }

    fn interval_places(&self, phase: u32) -> Vec<Place> {
        let groups = self.groups.get(&SeriesKind::Intervals).into_iter().flatten();
        groups.filter(|group| group.phases.contains(&phase)).map(|group| group.place).collect()
    }

    fn interval_group(&self, place: Place) -> impl Iterator<Item = IntervalRecord> + '_ {
        let records = self.cached(SeriesKind::Intervals, place, &self.intervals);
        (0..records.len()).map(move |index| records[index])
    }

    /// The first of these groups, which are in the order of time, that holds something after a moment of a phase.
    fn first_after(&self, places: &[Place], phase: u32, moment_ns: u64) -> usize {
        places.partition_point(|place| {
            let last = self.interval_group(*place).last();
            last.is_some_and(|last| (last.phase, last.end_ns()) <= (phase, moment_ns))
        })
    }

    /// The single I/Os of a phase from a moment on, likewise.
    pub fn ios_after(&self, phase: u32, moment_ns: u64) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        let parts = self.trace.iter();
        let places: Vec<Place> =
            parts.flat_map(|&(number, part)| self.trace_places(number, part, phase)).collect();
        let group = move |place: Place| self.cached(SeriesKind::Trace, place, &self.ios);
        let first = places.partition_point(|place| {
            group(*place).last().is_some_and(|last| (last.phase, last.completed_ns) <= (phase, moment_ns))
        });
        let records = places.into_iter().skip(first).flat_map(move |place| {
            let records = group(place);
            (0..records.len()).map(move |index| records[index])
        });
        Box::new(records.filter(move |io| io.phase == phase && io.completed_ns > moment_ns))
    }

    /// All records of a group. What was sound on opening and is not any more is left out.
    fn read<R: StoredRecord>(&self, kind: SeriesKind, place: Place) -> Vec<R> {
        match place {
            Place::Segment { number, group } => {
                let reader = SegmentReader::open(&self.folder.join(kind.segment_name(number)), kind);
                reader.and_then(|reader| read_segment_group(&reader, group)).unwrap_or_default()
            }
            Place::Journal { number } => match read_journal(&self.folder, kind, number) {
                Err(error) if error.is_not_found() => {
                    let reader = SegmentReader::open(&self.folder.join(kind.segment_name(number)), kind);
                    let read_all = |reader: SegmentReader| -> Result<Vec<R>, StoreError> {
                        let groups = (0..reader.groups()).map(|group| read_segment_group(&reader, group));
                        Ok(groups.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
                    };
                    reader.and_then(read_all).unwrap_or_default()
                }
                other => other.unwrap_or_default(),
            },
        }
    }

    /// A journal may grow, so it is the same only while it has the same size.
    fn cached<R: StoredRecord>(&self, kind: SeriesKind, place: Place, cache: &Cache<R>) -> Arc<Vec<R>> {
        let bytes = match place {
            Place::Segment { .. } => 0,
            Place::Journal { number } => {
                let path = self.folder.join(kind.journal_name(number));
                path.metadata().map_or(u64::MAX, |metadata| metadata.len())
            }
        };
        let mut last = cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached, records)) = last.as_ref()
            && *cached == (place, bytes)
        {
            return Arc::clone(records);
        }
        let records = Arc::new(self.read(kind, place));
        *last = (bytes != u64::MAX).then(|| ((place, bytes), Arc::clone(&records)));
        records
    }

    fn stream<'series, R: StoredRecord + Copy + 'series>(
        &'series self,
        kind: SeriesKind,
        phase: Option<u32>,
        cache: &'series Cache<R>,
    ) -> impl Iterator<Item = R> + 'series {
        let groups = self.groups.get(&kind).into_iter().flatten();
        groups.filter(move |group| phase.is_none_or(|phase| group.phases.contains(&phase))).flat_map(
            move |group| {
                let records = self.cached(kind, group.place, cache);
                (0..records.len()).map(move |index| records[index])
            },
        )
    }
}

enum Opened {
    Segment(SegmentReader),
    Journal(JournalReader),
}

pub(super) fn read_segment_group<R: StoredRecord>(
    reader: &SegmentReader,
    group: usize,
) -> Result<Vec<R>, StoreError> {
    let mut records = Vec::new();
    reader.read_group(group, |row| {
        let record = R::from_row(row);
        let is_sound = record.is_some();
        records.extend(record);
        is_sound
    })?;
    Ok(records)
}

fn read_journal<R: StoredRecord>(folder: &Path, kind: SeriesKind, number: u32) -> Result<Vec<R>, StoreError> {
    journal_records(JournalReader::open(&folder.join(kind.journal_name(number)), kind)?).collect()
}

fn journal_records<R: StoredRecord>(
    mut reader: JournalReader,
) -> impl Iterator<Item = Result<R, StoreError>> {
    let mut row = Vec::new();
    std::iter::from_fn(move || match reader.next_row(&mut row) {
        Ok(true) => R::from_row(&row).map(Ok),
        Ok(false) => None,
        Err(error) => Some(Err(error)),
    })
}

impl Series for StoredSeries {
    fn intervals(&self, phase: u32) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        let records = self.stream(SeriesKind::Intervals, Some(phase), &self.intervals);
        Box::new(records.filter(move |record| record.phase == phase))
    }

    fn errors(&self, phase: u32) -> Box<dyn Iterator<Item = ErrorRecord> + '_> {
        let records = self.stream(SeriesKind::Errors, Some(phase), &self.errors);
        Box::new(records.filter(move |record| record.phase == phase))
    }

    fn ios(&self, phase: u32) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        let places =
            self.trace.iter().flat_map(move |&(number, part)| self.trace_places(number, part, phase));
        let records = places.flat_map(move |place| {
            let records = self.cached(SeriesKind::Trace, place, &self.ios);
            (0..records.len()).map(move |index| records[index])
        });
        Box::new(records.filter(move |record| record.phase == phase))
    }

    fn telemetry(&self) -> Box<dyn Iterator<Item = TelemetryRecord> + '_> {
        Box::new(self.stream(SeriesKind::Telemetry, None, &self.telemetry))
    }
}
