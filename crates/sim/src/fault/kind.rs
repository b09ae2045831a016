//! What can go wrong with a drive, and where or when.

use model::range::ByteRange;
use model::units::{Instant, Nanos};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Reading or writing there is a medium error; bytes before it are moved.
    Unreadable(ByteRange),
    /// Requests that touch the range take longer, and the drive does nothing else meanwhile.
    Slow {
        range: ByteRange,
        longer: Nanos,
    },
    /// The same, but only requests that come between `at` and `at + duration`.
    SlowFor {
        range: ByteRange,
        longer: Nanos,
        at: Instant,
        duration: Nanos,
    },
    /// Requests that touch the range are not answered until the system gives up.
    TimesOut {
        range: ByteRange,
        /// How long the system waits from when the answer was due.
        after: Nanos,
    },
    /// Requests that come while so many others are in flight are not answered until the system gives up.
    HangsPastDepth {
        depth: usize,
        /// How long the system waits from when the answer was due.
        after: Nanos,
    },
    /// Each `every`th read moves half of its bytes.
    ShortReads {
        /// 1 is each of them; 0 is none.
        every: u64,
    },
    /// No answer comes between `at` and `at + duration`; what was due then comes at its end. The drive itself works on.
    Stall {
        at: Instant,
        duration: Nanos,
    },
    Stalls {
        at: Instant,
        duration: Nanos,
        /// From the beginning of one to the beginning of the next: longer than it lasts.
        every: Nanos,
    },
    /// After this many requests it is gone: those under way and all later ones find no device.
    GoneAfter(u64),
    GoneAt(Instant),
    Wraps(Wrap),
}

/// A drive that holds so much only: later addresses are earlier ones again, but none of the first `spared_bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrap {
    pub real_bytes: u64,
    pub spared_bytes: u64,
}

impl Wrap {
    pub fn address(&self, offset_bytes: u64) -> u64 {
        match offset_bytes.checked_sub(self.spared_bytes) {
            Some(behind) => self.spared_bytes + behind % (self.real_bytes - self.spared_bytes),
            None => offset_bytes,
        }
    }
}
