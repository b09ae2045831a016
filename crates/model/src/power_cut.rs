//! Numbered records whose loss by a power cut can be told: where each is written, what it holds, and the log of acknowledgements,
//! which is kept elsewhere.
//!
//! Records go round and round in a part of the target. Each sector carries its place, the key of the test and its lap.

use crate::payload::{JUDGED_BYTES, Mark, Payload, SECTOR_BYTES};
use crate::range::ByteRange;
use crate::units::{Bytes, Offset};
use serde::Serialize;
use std::fmt::{self, Write};

/// A page of a database, and a multiple of the logical blocks of all drives.
pub const RECORD_BYTES: usize = JUDGED_BYTES;
pub const SECTORS: usize = RECORD_BYTES / SECTOR_BYTES;
const RECORD: Bytes = Bytes::new(RECORD_BYTES as u64);
/// Read in a second. Where a cache loses more than that, slots hold records that are laps old.
pub const RING_MAX: Bytes = Bytes::from_mib(64);
const TITLE: &str = "drivescope power-cut 1";

/// The part of the target that records go round in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    pub key: u64,
    pub first: Offset,
    pub slots: u64,
}

/// What a log of acknowledgements says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    pub ring: Ring,
    /// How many records, numbered from 0 on.
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogError {
    NoTitle,
    NoRing,
    OutOfOrder { line: usize, expected: u64 },
}

impl fmt::Display for LogError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::NoTitle => write!(
                formatter,
                "it does not begin with \"{TITLE}\", so it is no log of `verify --power-cut write`"
            ),
            LogError::NoRing => write!(
                formatter,
                "line 1 does not say where records are: expected {TITLE} key=HEX first=BYTES slots=COUNT"
            ),
            LogError::OutOfOrder { line, expected } => write!(
                formatter,
                "line {line}: expected record {expected}. The log is of several tests, or was changed"
            ),
        }
    }
}

/// What is left of the newest acknowledged record of each slot.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survival {
    pub acknowledged: u64,
    /// Those that no newer acknowledged record has overwritten: each must be there.
    pub expected: u64,
    pub kept: u64,
    /// Nothing of the record is there.
    pub lost: u64,
    /// Some of its sectors are there, others are not.
    pub torn: u64,
    /// An older record of the slot is there instead.
    pub stale: u64,
    /// Of those that are missing: how many were written before a record that is there.
    pub reordered: u64,
    pub first_missing: Option<u64>,
    pub last_missing: Option<u64>,
    /// The newest record of which all sectors are there, acknowledged or not.
    pub newest: Option<u64>,
}

impl Survival {
    pub fn missing(&self) -> u64 {
        self.lost + self.torn + self.stale
    }
}

impl Ring {
    /// As many records as a range has room for; none where it has none.
    pub fn on(key: u64, range: ByteRange) -> Option<Ring> {
        let range = range.align_inward(RECORD);
        let slots = range.bytes().min(RING_MAX).get() / RECORD.get();
        (slots > 0).then_some(Ring { key, first: range.first(), slots })
    }

    pub fn bytes(self) -> Bytes {
        Bytes::new(self.slots * RECORD.get())
    }

    pub fn offset_of(self, record: u64) -> u64 {
        self.first.get() + record % self.slots * RECORD.get()
    }

    /// Makes the sectors of all records of the test.
    pub fn payload(self) -> Payload {
        Payload::new(Mark { key: self.key, generation: 1 })
    }

    pub fn fill(self, payload: &mut Payload, record: u64, buffer: &mut [u8; RECORD_BYTES]) {
        // A lap of the shortest ring is a record: 4 billion of them are not written by any test.
        payload.set_generation((record / self.slots) as u32 + 1);
        payload.write(buffer, self.offset_of(record));
    }

    /// Which record a sector is of that was read there; none where it is of another test or place, or of nothing.
    pub fn record_of(self, payload: &Payload, sector: &[u8; SECTOR_BYTES], offset: u64) -> Option<u64> {
        let (place, mark) = payload.origin(sector)?;
        let slot = offset.checked_sub(self.first.get())? / RECORD.get();
        let is_ours = place == offset && mark.key == self.key && mark.generation > 0 && slot < self.slots;
        if is_ours { Some(u64::from(mark.generation - 1) * self.slots + slot) } else { None }
    }

    /// The first line of a log; each of the others is the number of a record.
    pub fn title(self) -> String {
        let mut line = String::new();
        let _ =
            writeln!(line, "{TITLE} key={:016x} first={} slots={}", self.key, self.first.get(), self.slots);
        line
    }

    fn of_title(line: &str) -> Option<Ring> {
        let mut words = line.strip_prefix(TITLE)?.split_whitespace();
        let key = u64::from_str_radix(words.next()?.strip_prefix("key=")?, 16).ok()?;
        let first = words.next()?.strip_prefix("first=")?.parse().ok()?;
        let slots = words.next()?.strip_prefix("slots=")?.parse().ok()?;
        let bytes = RECORD.checked_mul(slots)?;
        Offset::new(first).checked_add(bytes)?;
        let is_sound = slots > 0 && bytes <= RING_MAX && words.next().is_none();
        is_sound.then_some(Ring { key, first: Offset::new(first), slots })
    }
}

impl Acknowledged {
    /// Reads a log. Its last line may have been cut off with its end, and then does not count.
    ///
    /// # Errors
    /// When it is no such log, or records are missing in it.
    pub fn parse(text: &[u8]) -> Result<Acknowledged, LogError> {
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let whole = |line: &[u8]| {
            let line = line.strip_suffix(b"\n").and_then(|line| str::from_utf8(line).ok());
            line.map(|line| line.trim_end().to_owned())
        };
        let title = lines.next().and_then(whole).unwrap_or_default();
        if !title.starts_with(TITLE) {
            return Err(LogError::NoTitle);
        }
        let ring = Ring::of_title(&title).ok_or(LogError::NoRing)?;
        let mut count = 0;
        for line in lines {
            if !line.ends_with(b"\n") {
                break;
            }
            if whole(line).and_then(|line| line.parse().ok()) != Some(count) {
                return Err(LogError::OutOfOrder { line: count as usize + 2, expected: count });
            }
            count += 1;
        }
        Ok(Acknowledged { ring, count })
    }

    /// The newest acknowledged record of each slot: what must be there.
    pub fn expected(self) -> std::ops::Range<u64> {
        self.count.saturating_sub(self.ring.slots)..self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RING: Ring = Ring { key: 0xab, first: Offset::new(8192), slots: 3 };

    #[test]
    fn a_sector_proves_its_record() {
        let mut payload = RING.payload();
        let mut record = [0; RECORD_BYTES];
        for number in [0, 1, 2, 3, 100] {
            RING.fill(&mut payload, number, &mut record);
            let offset = RING.offset_of(number);
            for (index, sector) in record.as_chunks().0.iter().enumerate() {
                let at = offset + (index * SECTOR_BYTES) as u64;
                assert_eq!(RING.record_of(&payload, sector, at), Some(number));
                assert_eq!(RING.record_of(&payload, sector, at + 512), None, "another place");
                assert_eq!(Ring { key: 1, ..RING }.record_of(&payload, sector, at), None, "another test");
            }
        }
        assert_eq!((RING.offset_of(2), RING.offset_of(3)), (16384, 8192));
        assert_eq!(RING.record_of(&payload, &[0; SECTOR_BYTES], 8192), None);
    }

    #[test]
    fn a_log_is_read_back_up_to_its_last_whole_line() {
        let log = |text: &str| Acknowledged::parse(text.as_bytes());
        let title = RING.title();
        assert_eq!(title, "drivescope power-cut 1 key=00000000000000ab first=8192 slots=3\n");
        assert_eq!(log(&title), Ok(Acknowledged { ring: RING, count: 0 }));
        let cut = log(&format!("{title}0\n1\n2\n3\n4")).expect("a log");
        assert_eq!((cut.count, cut.expected()), (4, 1..4));
        assert_eq!(log("0\n1\n"), Err(LogError::NoTitle));
        assert_eq!(log("drivescope power-cut 1 key=00 first=0 slots=0\n"), Err(LogError::NoRing));
        assert_eq!(log(&format!("{title}0\n2\n")), Err(LogError::OutOfOrder { line: 3, expected: 1 }));
        assert_eq!(log(&format!("{title}0\n{title}0\n")), Err(LogError::OutOfOrder { line: 3, expected: 1 }));
    }

    proptest! {
        #[test]
        fn no_log_panics(text in any::<Vec<u8>>(), tail in ".{0,60}") {
            let _ = Acknowledged::parse(&text);
            let _ = Acknowledged::parse(format!("{TITLE}{tail}\n0\n").as_bytes());
        }
    }
}
