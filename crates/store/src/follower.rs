//! Follows the intervals of a run while another process writes them: what was read once is not read again.

use crate::column::StoredRecord;
use crate::error::StoreError;
use crate::journal::{JournalPosition, JournalReader};
use crate::run_folder::{Part, parts};
use crate::segment::SegmentReader;
use crate::series_kind::SeriesKind;
use model::record::IntervalRecord;
use std::path::{Path, PathBuf};

const KIND: SeriesKind = SeriesKind::Intervals;

#[derive(Debug)]
pub struct Follower {
    folder: PathBuf,
    number: u32,
    position: JournalPosition,
}

impl Follower {
    pub fn of(folder: &Path) -> Follower {
        Follower { folder: folder.to_owned(), number: 1, position: JournalPosition::default() }
    }

    /// Gives the intervals that were added since the last time, in the order in which they were kept. Answers how many records were read. Fails
    /// when the folder or a part cannot be read. What was given before counts as read.
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
            if let Some(record) = IntervalRecord::from_row(row.drain(..)) {
                take(record);
            }
        }
        self.position = reader.position();
        assert!(self.position.records >= before, "a follower never goes back");
        Ok(self.position.records - before)
    }

    /// What of a segment was not yet read when it was a journal: it holds the same records in the same order.
    fn read_segment(&mut self, take: &mut impl FnMut(IntervalRecord)) -> Result<u64, StoreError> {
        let reader = SegmentReader::open(&self.folder.join(KIND.segment_name(self.number)), KIND)?;
        let (rows, read) = (reader.rows(), self.position.records);
        let mut first = 0;
        for group in 0..reader.groups() {
            let end = first + reader.rows_of(group);
            if end > read {
                let known = usize::try_from(read.saturating_sub(first)).unwrap_or(usize::MAX);
                reader.records(group)?.into_iter().skip(known).for_each(&mut *take);
            }
            first = end;
        }
        self.position.records = rows.max(read);
        Ok(rows.saturating_sub(read))
    }
}
