//! The finding of data integrity.

use super::{Conclusion, Value};
use crate::estimate::Estimate;
use crate::range::ByteRange;
use crate::units::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataIntegrity {
    /// Its upper bound is larger where more was wrong than was kept.
    #[serde(skip)]
    pub wrong: Estimate,
    pub checked_blocks: u64,
    pub block_bytes: Bytes,
    pub kinds: BTreeMap<WrongKind, u64>,
    /// Blocks that hold each other's data.
    pub swapped: u64,
    pub regions: Vec<WrongRegion>,
    /// Where all are right: the share of wrong blocks that 19 of 20 such samples would have found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_max: Option<f64>,
    #[serde(skip)]
    pub drawn_blocks: u64,
    /// Whether the drive really ends before it says: what is past that is not counted here.
    #[serde(skip)]
    pub ends_early: bool,
}

/// How a block is wrong; what tells most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WrongKind {
    /// It holds what was there before: the write was lost.
    Stale,
    /// It holds what was written for another offset.
    Misplaced,
    Flipped,
    Other,
    Blank,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrongRegion {
    pub first_byte: u64,
    pub bytes: u64,
    pub blocks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataIntegrityUnknown {
    NothingRead,
}

impl Conclusion for DataIntegrity {
    type Unknown = DataIntegrityUnknown;

    fn value(&self) -> Value {
        Value::Number(self.wrong)
    }

    /// Blocks that were found wrong are so many at least.
    fn is_bound(&self) -> bool {
        true
    }

    fn places(&self) -> Vec<ByteRange> {
        self.regions
            .iter()
            .filter_map(|region| ByteRange::from_bytes(region.first_byte, region.bytes))
            .collect()
    }
}
