//! The series of a stored run, read from the disk in each pass.
//!
//! On opening, every part of every series but the trace is checked against its checksum, once. What is unsound is left
//! out and named; its journal takes its place if it is still there. Afterwards a part is read one row group at a time,
//! and the last row group stays in memory, since detectors go through the phases in order.

use crate::column::StoredRecord;
use crate::error::{Damage, SegmentFlaw, StoreError};
use crate::fingerprint::{CHECKSUM_FILE, Fingerprint, checksums};
use crate::journal::{JournalEnd, JournalPosition, JournalReader};
use crate::run_folder::{Part, parts};
use crate::segment::{SegmentReader, probe};
use crate::series_kind::SeriesKind;
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::Series;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub struct StoredSeries {
    folder: PathBuf,
    /// By series and number of the part, in the order of time; none of the trace, whose parts are looked at when they are asked for.
    groups: BTreeMap<(SeriesKind, u32), Vec<Group>>,
    trace: BTreeMap<u32, Part>,
    trace_groups: Mutex<BTreeMap<u32, Vec<Group>>>,
    under_way: bool,
    checksums: HashMap<String, Fingerprint>,
    open_segments: Mutex<Vec<SegmentReader>>,
    /// What could not be read since the series was opened: its records are missing from every pass.
    unread: Mutex<Vec<Damage>>,
    intervals: Cache<IntervalRecord>,
    errors: Cache<ErrorRecord>,
    ios: Cache<IoRecord>,
    telemetry: Cache<TelemetryRecord>,
}

#[derive(Clone, Debug)]
struct Group {
    source: Source,
    phases: RangeInclusive<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Segment { number: u32, group: usize },
    Journal { number: u32 },
}

/// The groups that were read last, the latest at the end.
#[derive(Debug)]
struct Cache<R>(Mutex<Vec<CachedGroup<R>>>);

const CACHED_GROUPS_MAX: usize = 8;
/// Open segments: each has a footer of some hundred columns, which is read once.
const OPEN_SEGMENTS_MAX: usize = 16;

#[derive(Debug)]
struct CachedGroup<R> {
    source: Source,
    /// After which record of a journal it ends; a journal may grow.
    position: JournalPosition,
    records: Arc<Vec<R>>,
}

impl<R> Cache<R> {
    fn groups(&self) -> MutexGuard<'_, Vec<CachedGroup<R>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is known, for whoever keeps it again.
    fn taken(&self, source: Source) -> Option<CachedGroup<R>> {
        let mut groups = self.groups();
        let known = groups.iter().position(|group| group.source == source)?;
        Some(groups.remove(known))
    }

    fn keep(&self, group: CachedGroup<R>) {
        let mut groups = self.groups();
        groups.retain(|other| other.source != group.source);
        if groups.len() == CACHED_GROUPS_MAX {
            groups.remove(0);
        }
        groups.push(group);
    }
}

impl<R> Default for Cache<R> {
    fn default() -> Cache<R> {
        Cache(Mutex::default())
    }
}

impl StoredSeries {
    pub(crate) fn open(
        folder: &Path,
        under_way: bool,
        damage: &mut Vec<Damage>,
    ) -> Result<StoredSeries, StoreError> {
        let mut series = StoredSeries {
            folder: folder.to_owned(),
            groups: BTreeMap::new(),
            trace: BTreeMap::new(),
            trace_groups: Mutex::default(),
            under_way,
            checksums: HashMap::new(),
            open_segments: Mutex::default(),
            unread: Mutex::default(),
            intervals: Cache::default(),
            errors: Cache::default(),
            ios: Cache::default(),
            telemetry: Cache::default(),
        };
        series.look_up(damage)?;
        Ok(series)
    }

    /// What passes over the series lacked, each part once; asked again, what came since.
    pub fn take_unread(&self) -> Vec<Damage> {
        std::mem::take(&mut *self.unread.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note_unread(&self, error: StoreError) {
        let (damage, mut unread) =
            (Damage::Unreadable(error), self.unread.lock().unwrap_or_else(PoisonError::into_inner));
        if unread.iter().all(|known| known.to_string() != damage.to_string()) {
            unread.push(damage);
        }
    }

    /// Looks up what a writer has added. What was known is not read again.
    pub fn refresh(&mut self) -> Result<(), StoreError> {
        self.look_up(&mut Vec::new())
    }

    fn look_up(&mut self, damage: &mut Vec<Damage>) -> Result<(), StoreError> {
        // First the names, then the checksums: a segment's checksum is noted before it gets its name.
        let parts = parts(&self.folder)?;
        if self.checksums.is_empty() {
            self.checksums = checksums(&self.folder);
        }
        let mut next: HashMap<SeriesKind, u32> = HashMap::new();
        for ((kind, number), part) in parts {
            let expected = next.insert(kind, number + 1).unwrap_or(1);
            if number > expected {
                let (first, last) = (kind.segment_name(expected), kind.segment_name(number - 1));
                damage.push(Damage::Missing { first, last });
            }
            if kind == SeriesKind::Trace {
                self.trace.insert(number, part);
            } else if !self.knows(kind, number, part) {
                let groups = self.check(kind, number, part, damage);
                self.groups.insert((kind, number), groups);
            }
        }
        Ok(())
    }

    /// Whether a part is still as it was looked up: a journal may have become a segment.
    fn knows(&self, kind: SeriesKind, number: u32, part: Part) -> bool {
        let Some(groups) = self.groups.get(&(kind, number)) else { return false };
        let was_journal = groups.iter().any(|group| matches!(group.source, Source::Journal { .. }));
        !(was_journal && part.segment)
    }

    fn check(&self, kind: SeriesKind, number: u32, part: Part, damage: &mut Vec<Damage>) -> Vec<Group> {
        if part.segment {
            match self.check_segment(kind, number, damage) {
                Ok(groups) => return groups,
                Err(error) if part.journal => damage.push(Damage::ReadFromJournal(error)),
                Err(error) => damage.push(Damage::Unreadable(error)),
            }
        }
        if part.journal {
            match self.check_journal(kind, number, damage) {
                Ok(group) => return vec![group],
                // Its writer has just made it a segment.
                Err(error) if error.is_not_found() => {
                    return self.check_segment(kind, number, damage).unwrap_or_default();
                }
                Err(error) => damage.push(Damage::Unreadable(error)),
            }
        }
        Vec::new()
    }

    fn check_segment(
        &self,
        kind: SeriesKind,
        number: u32,
        damage: &mut Vec<Damage>,
    ) -> Result<Vec<Group>, StoreError> {
        let reader = self.open_segment(kind, number)?;
        let name = kind.segment_name(number);
        if self.noted(&name).is_none() {
            damage.push(Damage::Unverified { list: CHECKSUM_FILE, name });
        }
        Ok(groups_in(&reader, number))
    }

    /// The checksum of a segment. One that was made since the series was opened is looked up.
    fn noted(&self, name: &str) -> Option<Fingerprint> {
        match self.checksums.get(name) {
            Some(noted) => Some(*noted),
            None => checksums(&self.folder).remove(name),
        }
    }

    /// Opens a segment after comparing it with its checksum; one without a checksum is read once as a trial.
    fn open_segment(&self, kind: SeriesKind, number: u32) -> Result<SegmentReader, StoreError> {
        let name = kind.segment_name(number);
        let path = self.folder.join(&name);
        match self.noted(&name) {
            None => probe(&path, kind)?,
            Some(noted) => {
                let found = Fingerprint::of(&path)?;
                if found.bytes != noted.bytes {
                    let flaw = SegmentFlaw::Length { found: found.bytes, noted: noted.bytes };
                    return Err(StoreError::Segment { path, flaw });
                }
                if found != noted {
                    return Err(StoreError::Segment { path, flaw: SegmentFlaw::Altered });
                }
            }
        }
        SegmentReader::open(&path, kind)
    }

    /// Reads a segment by a reader that nobody else has meanwhile: reading moves the position in its file.
    fn with_segment<T>(
        &self,
        kind: SeriesKind,
        number: u32,
        read: impl FnOnce(&SegmentReader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.folder.join(kind.segment_name(number));
        let open = || self.open_segments.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = {
            let mut segments = open();
            let known = segments.iter().position(|reader| reader.path() == path);
            known.map(|known| segments.remove(known))
        };
        let reader = match taken {
            Some(reader) => reader,
            None => SegmentReader::open(&path, kind)?,
        };
        let outcome = read(&reader);
        let mut segments = open();
        if segments.len() == OPEN_SEGMENTS_MAX {
            segments.remove(0);
        }
        segments.push(reader);
        outcome
    }

    fn open_journal(&self, kind: SeriesKind, number: u32) -> Result<JournalReader, StoreError> {
        JournalReader::open(&self.folder.join(kind.journal_name(number)), kind)
    }

    fn check_journal(
        &self,
        kind: SeriesKind,
        number: u32,
        damage: &mut Vec<Damage>,
    ) -> Result<Group, StoreError> {
        let mut reader = self.open_journal(kind, number)?;
        let mut row = Vec::new();
        while reader.next_row(&mut row)? {}
        let (name, records) = (kind.journal_name(number), reader.records());
        match reader.end() {
            Some(JournalEnd::Damaged) => damage.push(Damage::Journal { name, records }),
            Some(JournalEnd::Cut) if !self.under_way => damage.push(Damage::CutJournal { name, records }),
            _ => {}
        }
        Ok(Group { source: Source::Journal { number }, phases: 0..=u32::MAX })
    }

    fn groups_of(&self, kind: SeriesKind) -> impl Iterator<Item = &Group> {
        self.groups.range((kind, 0)..=(kind, u32::MAX)).flat_map(|(_, groups)| groups)
    }

    pub fn trace(&self) -> impl Iterator<Item = Result<IoRecord, StoreError>> + '_ {
        self.trace.iter().flat_map(move |(&number, &part)| self.trace_part(number, part))
    }

    fn trace_part(
        &self,
        number: u32,
        part: Part,
    ) -> Box<dyn Iterator<Item = Result<IoRecord, StoreError>> + '_> {
        match self.open_trace(number, part) {
            Err(error) => Box::new(std::iter::once(Err(error))),
            Ok(Opened::Segment(reader)) => {
                let groups = 0..reader.groups();
                Box::new(groups.flat_map(move |group| match reader.records(group) {
                    Ok(records) => records.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                }))
            }
            Ok(Opened::Journal(reader)) => Box::new(JournalRecords::of(reader)),
        }
    }

    fn open_trace(&self, number: u32, part: Part) -> Result<Opened, StoreError> {
        if !part.segment {
            match self.open_journal(SeriesKind::Trace, number) {
                Err(error) if error.is_not_found() => {}
                opened => return opened.map(Opened::Journal),
            }
        }
        self.open_segment(SeriesKind::Trace, number).map(Opened::Segment)
    }

    /// Where single I/Os of a phase may be, but for parts that cannot be opened: reading the whole trace says why.
    fn trace_sources(&self, number: u32, part: Part, phase: u32) -> Vec<Source> {
        let journal = self.folder.join(SeriesKind::Trace.journal_name(number));
        if !part.segment && journal.exists() {
            return vec![Source::Journal { number }];
        }
        let mut known = self.trace_groups.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = known.entry(number).or_insert_with(|| self.trace_groups_of(number));
        let of_phase = groups.iter().filter(|group| group.phases.contains(&phase));
        of_phase.map(|group| group.source).collect()
    }

    fn trace_groups_of(&self, number: u32) -> Vec<Group> {
        let reader = self.open_segment(SeriesKind::Trace, number);
        self.read_or_noted(reader.map(|reader| groups_in(&reader, number)))
    }

    pub fn histograms(&self) -> Box<dyn Iterator<Item = HistogramRecord> + '_> {
        Box::new(
            self.groups_of(SeriesKind::Histograms).flat_map(move |group| self.histograms_of(group.source)),
        )
    }

    /// A histogram takes 58 KiB in memory: those of a journal are made one by one.
    fn histograms_of(&self, source: Source) -> Box<dyn Iterator<Item = HistogramRecord> + '_> {
        if let Source::Journal { number } = source
            && let Ok(reader) = self.open_journal(SeriesKind::Histograms, number)
        {
            return Box::new(JournalRecords::of(reader).flatten());
        }
        Box::new(self.read(SeriesKind::Histograms, source).into_iter())
    }

    pub fn histograms_from(&self, phase: u32) -> Box<dyn Iterator<Item = HistogramRecord> + '_> {
        let kind = SeriesKind::Histograms;
        let groups = self.groups_of(kind).filter(move |group| *group.phases.end() >= phase);
        let records = groups.flat_map(move |group| self.read::<HistogramRecord>(kind, group.source));
        Box::new(records.filter(move |record| record.phase >= phase))
    }

    /// The intervals of a phase that end after a moment. What lies before is looked up, not read.
    pub fn intervals_after(
        &self,
        phase: u32,
        moment_ns: u64,
    ) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        let sources = self.interval_sources(phase);
        let first = self.first_after(&sources, phase, moment_ns);
        let records = sources.into_iter().skip(first).flat_map(move |source| self.interval_group(source));
        Box::new(records.filter(move |record| record.phase == phase && record.end_ns() > moment_ns))
    }

    /// The intervals of a phase that end before a moment: of a long phase evenly chosen groups.
    pub fn intervals_before(
        &self,
        phase: u32,
        moment_ns: u64,
        groups_max: usize,
    ) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        let mut sources = self.interval_sources(phase);
        sources.truncate(self.first_after(&sources, phase, moment_ns) + 1);
        let every = sources.len().div_ceil(groups_max.max(1)).max(1);
        let records = sources.into_iter().step_by(every).flat_map(move |source| self.interval_group(source));
        Box::new(records.filter(move |record| record.phase == phase && record.end_ns() <= moment_ns))
    }

    fn interval_sources(&self, phase: u32) -> Vec<Source> {
        let mut sources = Vec::new();
        for group in self.groups_of(SeriesKind::Intervals) {
            if group.phases.contains(&phase) {
                sources.push(group.source);
            }
        }
        sources
    }

    fn interval_group(&self, source: Source) -> impl Iterator<Item = IntervalRecord> + '_ {
        each(self.cached(SeriesKind::Intervals, source, &self.intervals))
    }

    /// The first of these groups, which are in the order of time, that holds something after a moment of a phase.
    fn first_after(&self, sources: &[Source], phase: u32, moment_ns: u64) -> usize {
        sources.partition_point(|source| match self.interval_group(*source).last() {
            Some(last) => (last.phase, last.end_ns()) <= (phase, moment_ns),
            None => false,
        })
    }

    pub fn ios_after(&self, phase: u32, moment_ns: u64) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        let sources: Vec<Source> = self.io_sources(phase).collect();
        let first = sources.partition_point(|source| {
            match self.cached(SeriesKind::Trace, *source, &self.ios).last() {
                Some(last) => (last.phase, last.completed_ns) <= (phase, moment_ns),
                None => false,
            }
        });
        let records = sources.into_iter().skip(first).flat_map(move |source| self.io_group(source));
        Box::new(records.filter(move |io| io.phase == phase && io.completed_ns > moment_ns))
    }

    fn io_sources(&self, phase: u32) -> impl Iterator<Item = Source> + '_ {
        self.trace.iter().flat_map(move |(&number, &part)| self.trace_sources(number, part, phase))
    }

    fn io_group(&self, source: Source) -> impl Iterator<Item = IoRecord> + '_ {
        each(self.cached(SeriesKind::Trace, source, &self.ios))
    }

    /// All records of a group. What was sound on opening and is not any more is left out.
    fn read<R: StoredRecord>(&self, kind: SeriesKind, source: Source) -> Vec<R> {
        let read = match source {
            Source::Segment { number, group } => {
                self.with_segment(kind, number, |reader| reader.records(group))
            }
            Source::Journal { number } => match self.read_journal(kind, number) {
                Err(error) if error.is_not_found() => self.read_segment(kind, number),
                read => read,
            },
        };
        self.read_or_noted(read)
    }

    fn read_or_noted<T>(&self, read: Result<Vec<T>, StoreError>) -> Vec<T> {
        read.unwrap_or_else(|error| {
            self.note_unread(error);
            Vec::new()
        })
    }

    fn read_journal<R: StoredRecord>(&self, kind: SeriesKind, number: u32) -> Result<Vec<R>, StoreError> {
        JournalRecords::of(self.open_journal(kind, number)?).collect()
    }

    fn read_segment<R: StoredRecord>(&self, kind: SeriesKind, number: u32) -> Result<Vec<R>, StoreError> {
        self.with_segment(kind, number, |reader| {
            let mut records = Vec::new();
            for group in 0..reader.groups() {
                records.append(&mut reader.records(group)?);
            }
            Ok(records)
        })
    }

    /// A journal may have grown since it was read; then only what came is read.
    fn cached<R: StoredRecord + Clone>(
        &self,
        kind: SeriesKind,
        source: Source,
        cache: &Cache<R>,
    ) -> Arc<Vec<R>> {
        // Others read other groups meanwhile.
        let mut group = cache.taken(source).unwrap_or_else(|| CachedGroup {
            source,
            position: JournalPosition::default(),
            records: match source {
                Source::Segment { .. } => Arc::new(self.read(kind, source)),
                Source::Journal { .. } => Arc::default(),
            },
        });
        if let Source::Journal { number } = source
            && let Err(error) = self.read_on(kind, number, &mut group)
        {
            let records = if error.is_not_found() { self.read_segment(kind, number) } else { Err(error) };
            return Arc::new(self.read_or_noted(records));
        }
        let records = Arc::clone(&group.records);
        cache.keep(group);
        records
    }

    fn read_on<R: StoredRecord + Clone>(
        &self,
        kind: SeriesKind,
        number: u32,
        cached: &mut CachedGroup<R>,
    ) -> Result<(), StoreError> {
        let path = self.folder.join(kind.journal_name(number));
        let mut reader = JournalReader::open_at(&path, kind, cached.position)?;
        let (mut row, mut added) = (Vec::new(), Vec::new());
        while reader.next_row(&mut row)? {
            added.extend(R::from_row(row.drain(..)));
        }
        cached.position = reader.position();
        Arc::make_mut(&mut cached.records).append(&mut added);
        Ok(())
    }

    fn of_phase<'series, R: StoredRecord + OfPhase + Copy + 'series>(
        &'series self,
        kind: SeriesKind,
        phase: u32,
        cache: &'series Cache<R>,
    ) -> impl Iterator<Item = R> + 'series {
        let groups = self.groups_of(kind).filter(move |group| group.phases.contains(&phase));
        groups.flat_map(move |group| of_phase(self.cached(kind, group.source, cache), phase))
    }

    fn all<'series, R: StoredRecord + Copy + 'series>(
        &'series self,
        kind: SeriesKind,
        cache: &'series Cache<R>,
    ) -> impl Iterator<Item = R> + 'series {
        self.groups_of(kind).flat_map(move |group| each(self.cached(kind, group.source, cache)))
    }

    pub(crate) fn all_intervals(&self) -> impl Iterator<Item = IntervalRecord> + '_ {
        self.all(SeriesKind::Intervals, &self.intervals)
    }
}

fn each<R: Copy>(records: Arc<Vec<R>>) -> impl Iterator<Item = R> {
    (0..records.len()).map(move |index| records[index])
}

enum Opened {
    Segment(SegmentReader),
    Journal(JournalReader),
}

struct JournalRecords<R> {
    reader: JournalReader,
    row: Vec<crate::column::Cell>,
    record: std::marker::PhantomData<R>,
}

impl<R> JournalRecords<R> {
    fn of(reader: JournalReader) -> JournalRecords<R> {
        JournalRecords { reader, row: Vec::new(), record: std::marker::PhantomData }
    }
}

impl<R: StoredRecord> Iterator for JournalRecords<R> {
    type Item = Result<R, StoreError>;

    fn next(&mut self) -> Option<Result<R, StoreError>> {
        match self.reader.next_row(&mut self.row) {
            Ok(true) => R::from_row(self.row.drain(..)).map(Ok),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl Series for StoredSeries {
    fn intervals(&self, phase: u32) -> Box<dyn Iterator<Item = IntervalRecord> + '_> {
        Box::new(self.of_phase(SeriesKind::Intervals, phase, &self.intervals))
    }

    fn errors(&self, phase: u32) -> Box<dyn Iterator<Item = ErrorRecord> + '_> {
        Box::new(self.of_phase(SeriesKind::Errors, phase, &self.errors))
    }

    fn ios(&self, phase: u32) -> Box<dyn Iterator<Item = IoRecord> + '_> {
        let sources = self.io_sources(phase);
        let records = sources
            .flat_map(move |source| of_phase(self.cached(SeriesKind::Trace, source, &self.ios), phase));
        Box::new(records)
    }

    fn telemetry(&self) -> Box<dyn Iterator<Item = TelemetryRecord> + '_> {
        Box::new(self.all(SeriesKind::Telemetry, &self.telemetry))
    }
}

trait OfPhase {
    fn phase(&self) -> u32;
}

macro_rules! of_phase {
    ($($record:ident),+) => {
        $(impl OfPhase for $record {
            fn phase(&self) -> u32 {
                self.phase
            }
        })+
    };
}

of_phase!(IntervalRecord, ErrorRecord, IoRecord);

/// Those of one phase: records are kept in the order of their phases.
fn of_phase<R: OfPhase + Copy>(records: Arc<Vec<R>>, phase: u32) -> impl Iterator<Item = R> {
    let first = records.partition_point(|record| record.phase() < phase);
    let end = records.partition_point(|record| record.phase() <= phase);
    (first..end).map(move |index| records[index])
}

fn groups_in(reader: &SegmentReader, number: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    for group in 0..reader.groups() {
        groups.push(Group { source: Source::Segment { number, group }, phases: reader.phases(group) });
    }
    groups
}
