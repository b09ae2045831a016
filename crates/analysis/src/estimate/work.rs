//! Work that people wait for, and how long it takes on one drive or on several at once.

use super::curve::rate_over;
use super::rates::{DriveRates, WriteTime};
use super::unknown::RateUnknown;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Read(ByteRange),
    Write(ByteRange),
    WriteAndVerify(ByteRange),
    /// In a RAID of which one drive is replaced: read or write that stretch, all members at once.
    Rebuild(ByteRange),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkTime {
    pub seconds: Estimate,
    pub bytes_per_second: Estimate,
    /// Whether the time of writes in it is that of reads, for writes were not measured.
    pub writes_are_as_reads: bool,
}

impl Work {
    pub fn range(self) -> ByteRange {
        match self {
            Work::Read(range) | Work::Write(range) | Work::WriteAndVerify(range) | Work::Rebuild(range) => {
                range
            }
        }
    }

    fn passes(self) -> f64 {
        if matches!(self, Work::WriteAndVerify(_)) { 2.0 } else { 1.0 }
    }
}

pub fn work_time(drive: &DriveRates, work: Work) -> Result<WorkTime, RateUnknown> {
    let range = work.range();
    if range.end().get() > drive.capacity.get() {
        return Err(RateUnknown::TooSmall { capacity: drive.capacity, end: range.end().get() });
    }
    let (seconds, is_of_reads) = match work {
        Work::Read(range) => (drive.read_time(range)?, false),
        Work::Write(range) => written(drive.write_time(range)?),
        Work::WriteAndVerify(range) => {
            let (write, is_of_reads) = written(drive.write_time(range)?);
            (in_turn(write, drive.read_time(range)?), is_of_reads)
        }
        // Which of the drives is replaced is not known: each is read from, or written to.
        Work::Rebuild(range) => match (drive.read_time(range), drive.write_time(range)) {
            (Ok(read), Ok(write)) => (later(read, write.seconds), write.is_of_reads),
            (Err(_), Ok(write)) => written(write),
            (read, Err(_)) => (read?, true),
        },
    };
    let bytes = range.bytes().as_f64() * work.passes();
    let bytes_per_second = rate_over(bytes, &seconds);
    Ok(WorkTime { seconds, bytes_per_second, writes_are_as_reads: is_of_reads })
}

fn written(time: WriteTime) -> (Estimate, bool) {
    (time.seconds, time.is_of_reads)
}

/// How long a RAID of these drives, used as far as the smallest reaches, takes to rebuild one of them, and which it
/// waits for; else of which drive it is not known, and why.
pub fn rebuild(drives: &[DriveRates]) -> Result<(usize, WorkTime), (usize, RateUnknown)> {
    let capacity = drives.iter().map(|drive| drive.capacity).min().unwrap_or(Bytes::ZERO);
    let mut slowest: Option<(usize, WorkTime)> = None;
    for (index, drive) in drives.iter().enumerate() {
        let work = Work::Rebuild(ByteRange::whole(capacity));
        let time = work_time(drive, work).map_err(|why| (index, why))?;
        slowest = Some(match slowest {
            None => (index, time),
            Some((before, other)) => {
                let which = if time.seconds.value > other.seconds.value { index } else { before };
                let seconds = later(time.seconds, other.seconds);
                let joined = WorkTime {
                    seconds,
                    bytes_per_second: rate_over(capacity.as_f64(), &seconds),
                    writes_are_as_reads: time.writes_are_as_reads || other.writes_are_as_reads,
                };
                (which, joined)
            }
        });
    }
    slowest.ok_or((0, RateUnknown::NoDrive))
}

/// One after the other. Both may be off to the same side.
fn in_turn(first: Estimate, second: Estimate) -> Estimate {
    Estimate {
        value: first.value + second.value,
        low: first.low + second.low,
        high: first.high + second.high,
        ..less_sure(first, second)
    }
}

fn later(one: Estimate, other: Estimate) -> Estimate {
    Estimate {
        value: one.value.max(other.value),
        low: one.low.max(other.low),
        high: one.high.max(other.high),
        ..less_sure(one, other)
    }
}

fn less_sure(one: Estimate, other: Estimate) -> Estimate {
    Estimate {
        confidence: one.confidence.min(other.confidence),
        effective_count: one.effective_count.min(other.effective_count),
        ..one
    }
}
