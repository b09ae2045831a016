//! What `sustain` is asked for.

use crate::error::PlanError;
use crate::request::DriveOptions;
use clap::{Args, ValueEnum, value_parser};
use model::quantity_text::{QuantityError, parse_share, share_text};
use model::share::Share;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, OperationMix, Pattern, Workload};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// As in the measurement that showed the write cliff of SMR disks.
const BLOCK: Bytes = Bytes::from_kib(128);
/// What SATA's queue takes and SNIA's tests keep in flight. At QD 1 the host would limit a fast cache, and its end would not be seen: a
/// drive at 5 GB/s completes a request in 26 µs.
const DEPTH: u32 = 32;

/// How to write, how far to go, and what to do after the cliff. What is not given stands for its default.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Load")]
#[serde(default)]
pub struct SustainRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Write pattern: random, sequential, or mixed:30% (30 % random) [default: random]
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<WritePattern>,

    /// Block size of each write, such as 4KiB [default: 128KiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub block: Option<Bytes>,

    /// Queue depth: writes in flight at once [default: 32]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=4096))]
    pub depth: Option<u32>,

    /// Share of reads in the mix
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub read: Option<Share>,

    /// Maximum bytes to write [default: enough for the largest known caches, or the range once]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub bytes: Option<Bytes>,

    /// Maximum share of the rated endurance (TBW) to write
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub endurance: Option<Share>,

    /// What has to be seen before it stops
    #[arg(long, value_enum, default_value_t)]
    pub until: Until,

    /// Measure idle recovery after the cliff, for these idle times [without times: 1s,5s,10s,25s,50s]
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 0..=1, require_equals = true,
          default_missing_value = "1s,5s,10s,25s,50s")]
    pub idle: Vec<Nanos>,

    /// Measure the over-provisioning gain: steady-state random writes on these shares of the range [without shares: 100%,75%,50%,33%]
    #[arg(long, value_name = "LIST", value_delimiter = ',', num_args = 0..=1, require_equals = true,
          default_missing_value = "100%,75%,50%,33%")]
    pub clip: Vec<Share>,

    /// Write the whole range sequentially at the end: leaves an SMR disk nothing to clean
    #[arg(long)]
    pub drain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum WritePattern {
    Random,
    Sequential,
    /// The share of requests that jump.
    Mixed(f64),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// Until the write cliff is found or ruled out
    // What is written stays within one and a half times a cache.
    #[default]
    #[value(alias = "fall")]
    #[serde(alias = "fall")]
    Cliff,
    /// Until all drops are seen: writes a flash drive once
    // The last cells of a flash drive are slow only when no others are free.
    Levels,
    /// Until steady state by both criteria of SNIA: range and slope
    Steady,
}

impl SustainRequest {
    pub(super) fn pattern(&self) -> Pattern {
        match self.pattern {
            None | Some(WritePattern::Random) => Pattern::RandomWithReplacement,
            Some(WritePattern::Sequential) => Pattern::Sequential,
            Some(WritePattern::Mixed(random_share)) => Pattern::Mixed { random_share },
        }
    }

    pub(super) fn block(&self) -> Bytes {
        self.block.unwrap_or(BLOCK)
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth.unwrap_or(DEPTH)
    }

    pub(super) fn mix(&self) -> OperationMix {
        match self.read {
            Some(share) => OperationMix::ReadWrite { read_share: share.get() },
            None => OperationMix::Write,
        }
    }

    /// What it reads at most: of mixes only the drive's rate bounds it.
    pub(super) fn reads(&self) -> Option<Bytes> {
        if self.read.is_none() { Some(Bytes::ZERO) } else { None }
    }

    pub(super) fn is_of(&self, workload: &Workload) -> bool {
        workload.pattern == self.pattern()
            && workload.block_sizes.single() == Some(self.block())
            && workload.mix == self.mix()
            && workload.queue_depth == self.depth()
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        let size = self.block();
        if size == Bytes::ZERO {
            return Err(PlanError::Zero { option: "--block", example: "a size such as 128KiB" });
        }
        if size > BLOCK_BYTES_MAX {
            return Err(PlanError::BlockTooLarge { option: "--block", size, most: BLOCK_BYTES_MAX });
        }
        for (option, share, leaves) in [
            ("--read", self.read, "no writes"),
            ("--endurance", self.endurance, "no drive that goes on working"),
        ] {
            match share {
                Some(share) if share.get() == 0.0 => {
                    return Err(PlanError::Zero { option, example: "a share such as 30%" });
                }
                Some(share) if share.get() >= 1.0 => {
                    return Err(PlanError::WholeShare { option, share, leaves });
                }
                _ => {}
            }
        }
        if self.idle.contains(&Nanos::ZERO) {
            return Err(PlanError::Zero { option: "--idle", example: "times such as 1s,5s" });
        }
        if self.clip.iter().any(|share| share.get() == 0.0) {
            return Err(PlanError::Zero { option: "--clip", example: "parts such as 100%,50%" });
        }
        Ok(())
    }
}

impl FromStr for WritePattern {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<WritePattern, QuantityError> {
        match (text, text.strip_prefix("mixed:")) {
            ("random", _) => Ok(WritePattern::Random),
            ("sequential", _) => Ok(WritePattern::Sequential),
            (_, Some(share)) => Ok(WritePattern::Mixed(parse_share(share)?)),
            _ => {
                let expected = "one of random, sequential and mixed:30%";
                Err(QuantityError { text: text.to_string(), expected })
            }
        }
    }
}

impl fmt::Display for WritePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WritePattern::Random => formatter.write_str("random"),
            WritePattern::Sequential => formatter.write_str("sequential"),
            WritePattern::Mixed(share) => write!(formatter, "mixed:{}", share_text(*share)),
        }
    }
}

model::stored_as_text!(WritePattern);
