//! The finding of bad blocks.

use super::survey::at_least;
use super::{Conclusion, Value};
use crate::range::ByteRange;
use crate::request::{Operation, Status};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BadBlocks {
    pub regions: Vec<BadRegion>,
    pub errors: u64,
    pub regions_left_out: u64,
    #[serde(skip)]
    pub status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BadRegion {
    pub first_byte: u64,
    pub bytes: u64,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BadBlocksUnknown {
    /// The target refused the requests: permission, size, space.
    Refused { failed: usize, first_byte: u64, status: Status },
    /// All that failed timed out while others were in flight, and of reads alone none did.
    OnlyInQueue { failed: usize, alone: u64 },
    /// Reads of what had failed succeeded, all of them.
    NotAgain { failed: usize, reread: usize },
    /// Only flushes failed, or commits, which are a write and a flush: what failed has no offset.
    OnlyDurability { operation: Operation, failed: usize, first_s: f64 },
    /// No request succeeded from that moment on, and none failed before.
    Silent { from_s: f64 },
}

impl BadBlocks {
    pub fn count(&self) -> u64 {
        self.regions.len() as u64 + self.regions_left_out
    }
}

impl Conclusion for BadBlocks {
    type Unknown = BadBlocksUnknown;

    fn value(&self) -> Value {
        Value::Number(at_least(self.count() as usize))
    }

    fn places(&self) -> Vec<ByteRange> {
        self.regions
            .iter()
            .filter_map(|region| ByteRange::from_bytes(region.first_byte, region.bytes))
            .collect()
    }
}
