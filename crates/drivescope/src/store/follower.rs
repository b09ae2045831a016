//! Follows the slices of a run while another process writes them: what was read once is not read again.

use super::error::StoreError;
use super::folder::{Part, parts};
use super::format::SeriesKind;
use super::journal::{JournalPosition, JournalReader};
use super::reader::read_segment_group;
use super::row::StoredRecord;
use super::segment::SegmentReader;
use model::record::IntervalRecord;
use std::path::{Path, PathBuf};

const KIND: SeriesKind = SeriesKind::Intervals;

/// Where somebody who follows a run has got to.
#[derive(Debug)]
pub struct Follower {
    folder: PathBuf,
    /// The part that is read, and how far.
    number: u32,
    position: JournalPosition,
}

impl Follower {
    /// Follows the run in a folder from its start.
    pub fn of(folder: &Path) -> Follower {
        Follower { folder: folder.to_owned(), number: 1, position: JournalPosition::default() }
    }

    /// Gives the slices that were added since the last time, in the order in which they were kept. Answers how many records were read.
    ///
    /// # Errors
    /// When the folder or a part cannot be read. What was given before counts as read.
    pub fn added(&mut self, mut take: impl FnMut(IntervalRecord)) -> Result<u64, StoreError> {
        let mut count = 0;
        loop {
            // First the names: a part that is followed by another gets no more records.
            let parts = parts(&self.folder)?;
            let part = parts.get(&(KIND, self.number)).copied().unwrap_or_default();
            count += self.read_part(part, &mut take)?;
            let mut later = parts.keys().filter(|(kind, number)| *kind == KIND && *number > self.number);
            let Some((_, next)) = later.next() else { return Ok(count) };
            (self.number, self.position) = (*next, JournalPosition::default());
        }
    }

    fn read_part(&mut self, part: Part, take: &mut impl FnMut(IntervalRecord)) -> Result<u64, StoreError> {
        if !part.segment && part.journal {
            match self.read_journal(take) {
                // Its writer has just made it a segment.
                Err(error) if error.is_not_found() => {}
                other => return other,
            }
        } else if !part.segment {
            return Ok(0);
        }
        self.read_segment(take)
    }

    fn read_journal(&mut self, take: &mut impl FnMut(IntervalRecord)) -> Result<u64, StoreError> {
        let path = self.folder.join(KIND.journal_name(self.number));
        let mut reader = JournalReader::open_at(&path, KIND, self.position)?;
        let (mut row, before) = (Vec::new(), self.position.records);
        while reader.next_row(&mut row)? {
            IntervalRecord::from_row(&row).into_iter().for_each(&mut *take);
        }
        self.position = reader.position();
        Ok(self.position.records - before)
    }

    /// What of a segment was not yet read when it was a journal: it holds the same records in the same order.
    fn read_segment(&mut self, take: &mut impl FnMut(IntervalRecord)) -> Result<u64, StoreError> {
        let path = self.folder.join(KIND.segment_name(self.number));
        let reader = SegmentReader::open(&path, KIND)?;
        let rows = reader.rows();
        let added = rows.saturating_sub(self.position.records);
        let (mut number, read) = (0, self.position.records);
        for group in 0..reader.groups() {
            let end = number + reader.rows_of(group);
            if end > read {
                let records: Vec<IntervalRecord> = read_segment_group(&reader, group)?;
                records
                    .into_iter()
                    .zip(number..)
                    .filter(|(_, at)| *at >= read)
                    .for_each(|(one, _)| take(one));
            }
            number = end;
        }
        self.position.records = rows.max(self.position.records);
        Ok(added)
    }
}
