//! What all formats become: figures, each with what was done, how much of it and in what time.

use model::commit::CommitMethod;
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::units::Bytes;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    pub tool: &'static str,
    pub version: Option<String>,
    pub host: Option<String>,
    pub drive: Option<String>,
    /// What was measured, as the program names it: "/dev/sdb".
    pub target: Option<String>,
    pub capacity: Option<Bytes>,
    /// When it was measured, in seconds since 1970, likewise.
    pub measured_unix_s: Option<u64>,
    pub direct: Option<bool>,
    /// The results. All figures of a set were measured at one place, unless each tells its own.
    pub sets: Vec<Set>,
    /// What a reader of the figures must know, as sentences.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    pub figures: Vec<Figure>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub name: String,
    pub work: Work,
    pub place: Option<Place>,
    pub seconds: f64,
    /// What each was made durable by before the next, if it was.
    pub commits: Option<Commits>,
    /// The share of one processor that the program used meanwhile; above 1 if it used several.
    pub cpu_share: Option<f64>,
    pub latencies: Option<Box<LatencyHistogram>>,
    pub slices: Vec<Slice>,
    pub requests: Vec<Request>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    Transfer(Transfer),
    /// Files were created, looked at or deleted: so many.
    Files(u64),
    /// What was written was made durable: so many times.
    Flushes(u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Commits {
    pub method: CommitMethod,
    pub write: Bytes,
    /// With the writes, where the seconds of the figure are those of the flushes.
    pub seconds: f64,
}

impl Imported {
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl From<Transfer> for Work {
    fn from(transfer: Transfer) -> Work {
        Work::Transfer(transfer)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    pub order: Order,
    pub moved: Vec<(Operation, u64, u64)>,
    /// How much each request asked for; a byte for what goes through a small buffer byte by byte.
    pub block: Bytes,
    pub queue_depth: u32,
    pub threads: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Sequential,
    Random,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub first_byte: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    pub operation: Operation,
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: u64,
    pub operations: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    pub operation: Operation,
    pub completed_s: f64,
    pub latency_ns: u64,
    pub first_byte: u64,
    pub bytes: u32,
}

impl Figure {
    /// One that a program states as a rate: so many bytes in so long.
    pub(crate) fn of(name: impl Into<String>, work: impl Into<Work>, seconds: f64) -> Figure {
        Figure {
            name: name.into(),
            work: work.into(),
            place: None,
            seconds,
            commits: None,
            cpu_share: None,
            latencies: None,
            slices: Vec::new(),
            requests: Vec::new(),
        }
    }

    pub(crate) fn at(self, place: Option<Place>) -> Figure {
        Figure { place, ..self }
    }
}

impl Transfer {
    /// "random read", "sequential reads and writes": a figure that is called after what was done.
    pub(crate) fn figure(self, seconds: f64) -> Figure {
        let word = match self.order {
            Order::Sequential => "sequential ",
            Order::Random => "random ",
            Order::Unknown => "",
        };
        let name = match self.moved[..] {
            [(operation, _, _)] => format!("{word}{}", operation.name()),
            _ => format!("{word}reads and writes"),
        };
        Figure::of(name, self, seconds)
    }

    /// One operation in requests of one size, one at a time.
    pub(crate) fn of(order: Order, operation: Operation, bytes: u64, block: u64) -> Transfer {
        let operations = bytes.div_ceil(block.max(1));
        Transfer {
            order,
            moved: vec![(operation, operations, bytes)],
            block: Bytes::new(block.max(1)),
            queue_depth: 1,
            threads: 1,
        }
    }

    pub(crate) fn deep(self, queue_depth: u32, threads: u32) -> Transfer {
        Transfer { queue_depth: queue_depth.max(1), threads: threads.max(1), ..self }
    }
}
