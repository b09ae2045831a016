//! One I/O: what is asked of an engine, and what it answers.

use crate::words;

words! {
    pub enum Operation {
        Read = "read",
        /// Writes data. A real target needs a write permit.
        Write = "write",
        /// Asks for everything acknowledged to be made lasting. Has no offset and no length.
        Flush = "flush",
        /// Tells the drive that a range holds nothing of use (TRIM, UNMAP). Destroys data, so it needs a permit too.
        Discard = "discard",
        /// Writes data, and completes when they are durable: a write and the flush after it.
        Commit = "commit",
    }
}

impl Operation {
    /// Whether it can change what is on the drive. Only what is known to read is safe, so this lists the safe ones.
    pub fn changes_data(self) -> bool {
        !matches!(self, Operation::Read | Operation::Flush)
    }

    #[inline]
    pub fn sends_data(self) -> bool {
        matches!(self, Operation::Write | Operation::Commit)
    }

    /// The number in stored series: its place in [`Operation::ALL`].
    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Operation> {
        Operation::ALL.get(usize::from(number)).copied()
    }
}

/// Which of an engine's slots a request occupies: below the engine's queue depth, and free until its completion.
/// Slot and buffer are one: the data of tag 3 is in buffer 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub tag: Tag,
    pub operation: Operation,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot that is free again.
    pub tag: Tag,
    /// How it went. An error of the device is data, never the end of the program.
    pub status: Status,
    /// Bytes moved. Less than asked for when the status is [`Status::Short`] or an error.
    pub transferred_bytes: u32,
    /// When it was seen to be done, in nanoseconds of the run's clock.
    pub completed_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Done,
    /// Fewer bytes were moved than asked for, without an error: the end of a file or device.
    Short,
    /// The medium could not be read or written there: EIO, ENODATA, EILSEQ.
    MediumError,
    /// The device went away: ENODEV, ENXIO, ENOTCONN, ESHUTDOWN; ECONNABORTED, as what was under way is told when its server ends.
    DeviceGone,
    /// No answer in the time that the system allows: ETIMEDOUT.
    TimedOut,
    /// The file system or the thin volume is full: ENOSPC, EDQUOT.
    NoSpace,
    /// The target does not do that: EOPNOTSUPP, ENOTTY, ENOSYS.
    NotSupported,
    /// Offset, length or memory do not fit the target's alignment: EINVAL.
    Misaligned,
    /// The target refused: EROFS, EPERM, EACCES, EBADF.
    Refused,
    /// The request succeeded, but what was read is not what was written there, nor anything that could be told.
    WrongData,
    /// Likewise; it is what was written there before.
    StaleData,
    /// Likewise; it was written for another place. A record of that place follows, see [`Status::PlaceOfData`].
    MisplacedData,
    /// Likewise; it is one byte repeated.
    BlankData,
    /// Likewise; some bits of it differ.
    FlippedBits,
    /// No failure of its own: the place for which the data of the record before, [`Status::MisplacedData`], were written.
    PlaceOfData,
    /// Any other error number, which stays visible.
    Other(i32),
}

impl Status {
    /// The status for an error number of the system. The numbers are Linux's, which differ between
    /// architectures only above 34 and not on those that Rust's tier 1 supports.
    pub fn from_errno(errno: i32) -> Status {
        match errno {
            5 | 61 | 84 => Status::MediumError,
            6 | 19 | 103 | 107 | 108 => Status::DeviceGone,
            110 => Status::TimedOut,
            28 | 122 => Status::NoSpace,
            95 | 25 | 38 => Status::NotSupported,
            22 => Status::Misaligned,
            30 | 1 | 13 | 9 => Status::Refused,
            other => Status::Other(other),
        }
    }

    pub fn is_done(self) -> bool {
        self == Status::Done
    }

    /// Whether the request succeeded and other data came back than were written.
    pub fn is_wrong_data(self) -> bool {
        (9..=14).contains(&self.number())
    }

    pub fn describe(self) -> String {
        match self {
            Status::Done => "done".into(),
            Status::Short => "fewer bytes than asked for (end of the target?)".into(),
            Status::MediumError => "medium error".into(),
            Status::DeviceGone => "the device went away".into(),
            Status::TimedOut => "timed out".into(),
            Status::NoSpace => "no space left".into(),
            Status::NotSupported => "not supported by the target".into(),
            Status::Misaligned => "offset or size does not fit the target's block size".into(),
            Status::Refused => "refused by the target".into(),
            Status::WrongData => "wrong data".into(),
            Status::StaleData => "stale data".into(),
            Status::MisplacedData => "data of another offset".into(),
            Status::BlankData => "blank data".into(),
            Status::FlippedBits => "flipped bits".into(),
            Status::PlaceOfData => "the offset that it was written for".into(),
            Status::Other(errno) => format!("error number {errno}"),
        }
    }

    /// The number in stored series: 0 to 14 for the named ones, 1000 + errno for others.
    pub fn number(self) -> i32 {
        match self {
            Status::Done => 0,
            Status::Short => 1,
            Status::MediumError => 2,
            Status::DeviceGone => 3,
            Status::TimedOut => 4,
            Status::NoSpace => 5,
            Status::NotSupported => 6,
            Status::Misaligned => 7,
            Status::Refused => 8,
            Status::WrongData => 9,
            Status::StaleData => 10,
            Status::MisplacedData => 11,
            Status::BlankData => 12,
            Status::FlippedBits => 13,
            Status::PlaceOfData => 14,
            Status::Other(errno) => 1000 + errno,
        }
    }

    /// The status with that number in stored series; a number from a later version stays visible as `Other`.
    pub fn from_number(number: i32) -> Status {
        const NAMED: [Status; 15] = [
            Status::Done,
            Status::Short,
            Status::MediumError,
            Status::DeviceGone,
            Status::TimedOut,
            Status::NoSpace,
            Status::NotSupported,
            Status::Misaligned,
            Status::Refused,
            Status::WrongData,
            Status::StaleData,
            Status::MisplacedData,
            Status::BlankData,
            Status::FlippedBits,
            Status::PlaceOfData,
        ];
        usize::try_from(number)
            .ok()
            .and_then(|index| NAMED.get(index).copied())
            .unwrap_or(Status::Other(number.saturating_sub(1000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_faces_of_a_medium_error_are_one() {
        // Direct reads of a bad sector answer ENODATA (61) on some paths and EIO (5) on others.
        assert_eq!(Status::from_errno(61), Status::MediumError);
        assert_eq!(Status::from_errno(5), Status::MediumError);
    }

    /// When the program behind a FUSE file ends, requests under way are answered with ECONNABORTED (103) and all others with ENOTCONN
    /// (107): of these two the first was counted as a bad block.
    #[test]
    fn a_server_that_ends_takes_its_drive_away() {
        assert_eq!([103, 107].map(Status::from_errno), [Status::DeviceGone; 2]);
    }

    #[test]
    fn an_unknown_error_stays_visible() {
        assert_eq!(Status::from_errno(4242), Status::Other(4242));
        assert!(Status::Other(4242).describe().contains("4242"));
    }

    #[test]
    fn numbers_come_back() {
        for number in (0..15).chain([1004, 1121]) {
            assert_eq!(Status::from_number(number).number(), number);
        }
        for operation in Operation::ALL {
            assert_eq!(Operation::from_number(operation.number()), Some(operation));
        }
    }

    #[test]
    fn only_reads_and_flushes_are_safe() {
        let safe: Vec<_> = Operation::ALL.into_iter().filter(|o| !o.changes_data()).collect();
        assert_eq!(safe, [Operation::Read, Operation::Flush]);
    }
}
