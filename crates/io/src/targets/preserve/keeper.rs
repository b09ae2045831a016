//! Keeps what a run is about to overwrite, and gives it back.

use super::CHUNK_BYTES;
use super::give_back::{Given, give_back};
use super::journal::{Journal, JournalError, Log};
use super::medium::Medium;
use model::plan::Phase;
use model::workload::Pattern;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;

#[derive(Debug)]
pub enum SaveEnd {
    Safe,
    /// The target could not be read there, so that it must not be overwritten.
    Unreadable {
        offset: u64,
        length: u64,
        source: io::Error,
    },
    /// The journal would grow beyond what it may have.
    NoRoom,
    Interrupted,
}

pub struct Keeper<L: Log = File> {
    journal: Journal<L>,
    saved: BTreeMap<u64, u64>,
    bytes_max: u64,
    bytes: u64,
    /// Whether all of it would survive a power cut.
    is_lasting: bool,
}

impl<L: Log> Keeper<L> {
    pub fn new(journal: Journal<L>, bytes_max: u64) -> Keeper<L> {
        Keeper { journal, saved: BTreeMap::new(), bytes_max, bytes: 0, is_lasting: true }
    }

    pub fn journal(&self) -> &Journal<L> {
        &self.journal
    }

    pub fn into_journal(self) -> Journal<L> {
        self.journal
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Saves what these stretches hold, as far as it is not saved yet: what was saved first is what was there. `go_on` is asked now
    /// and then.
    /// Fails when the journal cannot be written. Then nothing of them may be overwritten.
    pub fn save(
        &mut self,
        medium: &mut dyn Medium,
        stretches: &[(u64, u64)],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<SaveEnd, JournalError> {
        let mut data = vec![0; CHUNK_BYTES];
        for &(first, end) in stretches {
            for (from, to) in self.unsaved(on_grid(first, end, medium)) {
                if self.bytes + (to - from) > self.bytes_max {
                    return Ok(SaveEnd::NoRoom);
                }
                let mut at = from;
                while at < to {
                    if !go_on() {
                        return Ok(SaveEnd::Interrupted);
                    }
                    let length = (to - at).min(CHUNK_BYTES as u64);
                    let part = &mut data[..length as usize];
                    if let Err(source) = medium.read_at(at, part) {
                        return Ok(SaveEnd::Unreadable { offset: at, length, source });
                    }
                    self.is_lasting = false;
                    self.journal.save(at, part)?;
                    self.note(at, at + length);
                    at += length;
                }
            }
        }
        // What was saved for a phase that was then not run was not synced by it.
        if !self.is_lasting {
            self.journal.make_lasting()?;
            self.is_lasting = true;
        }
        Ok(SaveEnd::Safe)
    }

    pub fn give_back(&mut self, medium: &mut dyn Medium) -> Result<Given, JournalError> {
        let given = give_back(&mut self.journal, medium)?;
        if given.is_complete() {
            self.saved.clear();
            self.bytes = 0;
        }
        Ok(given)
    }

    fn note(&mut self, from: u64, to: u64) {
        assert!(from < to, "what is saved is a stretch");
        self.bytes += to - from;
        assert!(self.bytes <= self.bytes_max, "a journal keeps to its room");
        let mut joined = (from, to);
        if let Some((&before, &end)) = self.saved.range(..=from).next_back()
            && end == from
        {
            joined.0 = before;
        }
        self.saved.insert(joined.0, joined.1);
    }

    fn unsaved(&self, (first, end): (u64, u64)) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        let mut at = first;
        let before = self.saved.range(..=first).next_back();
        for (&from, &to) in before.into_iter().chain(self.saved.range(first.saturating_add(1)..end)) {
            if from > at {
                parts.push((at, from));
            }
            at = at.max(to);
        }
        if at < end {
            parts.push((at, end));
        }
        parts
    }
}

fn on_grid(first: u64, end: u64, medium: &dyn Medium) -> (u64, u64) {
    let block = medium.block();
    (first / block * block, end.div_ceil(block).saturating_mul(block).min(medium.capacity()))
}

pub fn stretches(phase: &Phase) -> Vec<(u64, u64)> {
    let Some(workload) = &phase.workload else { return Vec::new() };
    if !workload.mix.changes_data() {
        return Vec::new();
    }
    let (first, end) = (workload.range.first().get(), workload.range.end().get());
    match &workload.pattern {
        Pattern::Listed { offsets } => {
            let largest = workload.block_sizes.largest().get();
            let mut places = Vec::with_capacity(offsets.len());
            for offset in offsets {
                places.push((offset.get(), offset.get().saturating_add(largest)));
            }
            places.sort_unstable();
            places
        }
        // From its start on, as far as bytes say. A request more for each under way is no harm.
        Pattern::Sequential => {
            let spare = workload.block_sizes.largest().get().saturating_mul(workload.in_flight_max() + 1);
            let length = match phase.stop.bytes_max(workload) {
                Some(bytes) => bytes.get().saturating_add(spare),
                None => end - first,
            };
            // Several threads have parts of a range; of several sizes, bytes do not tell how far requests of the largest get.
            let is_mixed = workload.block_sizes.single().is_none();
            let whole =
                is_mixed || workload.threads > 1 || workload.alignment.get() > 0 && length >= end - first;
            vec![(first, if whole { end } else { first.saturating_add(length).min(end) })]
        }
        _ => vec![(first, end)],
    }
}
