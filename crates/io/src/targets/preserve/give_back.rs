//! Giving back: from the journal to the target, and a look whether it got there.

use super::journal::{Journal, JournalError, Log};
use super::medium::Medium;
use model::payload::{Mark, Payload, SECTOR_BYTES};
use std::io;

const ATTEMPTS: u32 = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    pub bytes: u64,
    /// What is not: where it begins and how long it is. The journal still holds it.
    pub missing: Vec<(u64, u64)>,
    pub why: Option<String>,
}

impl Given {
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    fn miss(&mut self, offset: u64, length: u64, why: impl ToString) {
        match self.missing.last_mut() {
            Some((first, so_far)) if *first + *so_far == offset => *so_far += length,
            _ => self.missing.push((offset, length)),
        }
        self.why = Some(why.to_string());
    }
}

/// Gives everything back that the journal holds, compares it, and notes that it is done. What could not be written stays in the
/// journal, which then is not changed at all.
/// Fails when the journal cannot be read or written. What the target answers is in the result.
pub fn give_back<L: Log>(journal: &mut Journal<L>, medium: &mut dyn Medium) -> Result<Given, JournalError> {
    let saved = journal.parsed().saved.clone();
    let mut given = Given::default();
    let mut written = Vec::with_capacity(saved.len());
    let mut data = Vec::new();
    for stretch in &saved {
        if !journal.data(stretch, &mut data)? {
            given.miss(stretch.offset, stretch.length, "the journal is damaged there");
        } else if put(medium, stretch.offset, &data, &mut given) {
            written.push(*stretch);
        }
    }
    if let Err(error) = insist(|| medium.flush()) {
        for stretch in written.drain(..) {
            given.miss(stretch.offset, stretch.length, &error);
        }
    }
    let mut found = Vec::new();
    for stretch in &written {
        found.resize(stretch.length as usize, 0);
        let is_known = journal.data(stretch, &mut data)?;
        match is_back(medium, stretch.offset, &data, is_known, &mut found) {
            Ok(true) => given.bytes += stretch.length,
            Ok(false) => given.miss(
                stretch.offset,
                stretch.length,
                "it accepted the data but reads back different data",
            ),
            Err(error) => given.miss(stretch.offset, stretch.length, error),
        }
    }
    if given.is_complete() && !saved.is_empty() {
        let all: u64 = saved.iter().map(|stretch| stretch.length).sum();
        assert_eq!(given.bytes, all, "all is back and was compared");
        journal.all_given_back()?;
    }
    Ok(given)
}

fn is_back(
    medium: &mut dyn Medium,
    offset: u64,
    data: &[u8],
    is_known: bool,
    found: &mut [u8],
) -> io::Result<bool> {
    let read = medium.read_at(offset, found);
    if read.is_ok() && is_known && *found == *data {
        return Ok(true);
    }
    // Data that the journal does not vouch for are written nowhere.
    if is_known && put(medium, offset, data, &mut Given::default()) {
        insist(|| medium.flush())?;
        medium.read_at(offset, found)?;
    } else {
        read?;
    }
    Ok(is_known && *found == *data)
}

fn put(medium: &mut dyn Medium, offset: u64, data: &[u8], given: &mut Given) -> bool {
    if insist(|| medium.write_at(offset, data)).is_ok() {
        return true;
    }
    let block = medium.block();
    let mut all = true;
    for (index, part) in (0..).zip(data.chunks(block as usize)) {
        let at = offset + index * block;
        if let Err(error) = insist(|| medium.write_at(at, part)) {
            given.miss(at, part.len() as u64, error);
            all = false;
        }
    }
    all
}

fn insist(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let mut last = attempt();
    for _ in 1..ATTEMPTS {
        if last.is_ok() {
            break;
        }
        last = attempt();
    }
    last
}

/// How many sectors of the journal hold, on the target, what somebody else wrote since; none if the run's own are unmarked.
pub fn written_by_others<L: Log>(
    journal: &mut Journal<L>,
    medium: &mut dyn Medium,
) -> Result<u64, JournalError> {
    if !journal.parsed().origin.is_marked {
        return Ok(0);
    }
    let payload = Payload::new(Mark { key: 0, generation: 0 });
    let (mut data, mut found) = (Vec::new(), Vec::new());
    let mut others = 0;
    for stretch in journal.parsed().saved.clone() {
        found.resize(stretch.length as usize, 0);
        // What cannot be read tells nothing.
        if !journal.data(&stretch, &mut data)? || medium.read_at(stretch.offset, &mut found).is_err() {
            continue;
        }
        for (found, data) in found.chunks(SECTOR_BYTES).zip(data.chunks(SECTOR_BYTES)) {
            others += u64::from(found != data && !payload.proves_itself(found));
        }
    }
    Ok(others)
}
