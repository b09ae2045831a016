//! What a file of patterns asks for, on a drive that is not known yet.

use model::plan::PhaseKind;
use model::units::{Bytes, Nanos};
use model::workload::{DataPattern, ZoneShare};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatternFile {
    /// What it calls itself, else the name of the file.
    pub name: String,
    pub description: String,
    pub steps: Vec<PatternStep>,
    /// Where it does less or something else than the file asks for, as sentences.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PatternStep {
    pub name: String,
    pub kind: PhaseKind,
    pub load: Option<Load>,
    pub stop: Stop,
}

/// The first of those given ends the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    pub time: Option<Nanos>,
    pub bytes: Option<Amount>,
    pub operations: Option<u64>,
    pub passes: Option<u64>,
}

/// A size or an offset: in bytes, or as a share of the range in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Bytes(Bytes),
    Share(f64),
}

impl Amount {
    pub(super) fn of(self, whole: Bytes) -> Bytes {
        match self {
            Amount::Bytes(bytes) => bytes,
            Amount::Share(share) => Bytes::new((whole.as_f64() * share) as u64),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    pub from: Amount,
    /// To the end of the range if nothing is said.
    pub over: Option<Amount>,
    pub shape: Shape,
    pub blocks: Vec<(Bytes, f64)>,
    /// Offsets are multiples of this; of the block if nothing is said.
    pub alignment: Option<Bytes>,
    /// The share of requests that read, in [0, 1]; none for discards.
    pub reads: Option<f64>,
    pub data: DataPattern,
    pub depth: u32,
    pub threads: u32,
    /// Requests per second over all threads, at equal distances; closed loop if nothing is said.
    pub per_second: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Sequential,
    /// Each block once in random order; any offset at any time where sizes differ.
    RandomOnce,
    Random,
    Zoned(Vec<ZoneShare>),
    /// Sequential with jumps: the share of the requests that jump, in [0, 1].
    Mixed(f64),
    Strided(Bytes),
}

impl Load {
    pub(super) fn writes(&self) -> bool {
        match self.reads {
            Some(reads) => reads < 1.0,
            None => false,
        }
    }

    pub(super) fn discards(&self) -> bool {
        self.reads.is_none()
    }
}
