//! What `sizes` is asked to vary.

use crate::request::DriveOptions;
use clap::{Args, value_parser};
use model::units::Bytes;
use serde::{Deserialize, Serialize};

/// QD 1 as File Benchmark has it, and QD 4 as ATTO does.
const DEPTHS: [u32; 2] = [1, 4];
const ROUNDS: u32 = 3;

/// What is varied, and how often each is measured. What is not given stands for its default.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Sweep")]
#[serde(default)]
pub struct SizesRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Block sizes [default: 512B to 64MiB, doubling]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Bytes>,

    /// Queue depths to measure each block size at [default: 1,4]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=4096))]
    pub depths: Vec<u32>,

    /// Rounds of each point; disturbed points are repeated [default: 3]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
}

impl SizesRequest {
    pub(super) fn sizes(&self) -> Vec<Bytes> {
        if self.sizes.is_empty() {
            (9..=26).map(|power| Bytes::new(1 << power)).collect()
        } else {
            self.sizes.clone()
        }
    }

    pub(super) fn depths(&self) -> &[u32] {
        if self.depths.is_empty() { &DEPTHS } else { &self.depths }
    }

    pub(super) fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS)
    }
}
