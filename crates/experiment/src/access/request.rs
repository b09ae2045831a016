//! What `access` is asked to vary.

use crate::error::PlanError;
use crate::request::DriveOptions;
use clap::{Args, value_parser};
use model::share::Share;
use model::units::{Bytes, Nanos};
use model::workload::Caching;
use serde::{Deserialize, Serialize};

/// Numbers of requests that a much-quoted measurement took.
const DEPTHS: [u32; 8] = [1, 2, 5, 10, 25, 100, 250, 1000];
/// The sizes that HD Tune takes, with some between.
const BLOCKS: [u64; 5] = [512, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// Parts of a disk that people use.
const SPANS: [f64; 6] = [0.5, 0.25, 0.1, 0.05, 0.01, 0.001];

/// What is varied, and how. Lists that are empty stand for their defaults.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Grid (each list separated by commas)")]
#[serde(default)]
pub struct AccessRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Queue depths [default: 1,2,5,10,25; 100,250,1000 while IOPS rise]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=4096))]
    pub depths: Vec<u32>,

    /// Threads, each with one request in flight [default: none; with --threads alone there are no --depths]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,

    /// Request sizes besides 4KiB, at QD 1 [default: 512B,16KiB,64KiB,256KiB,1MiB]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub blocks: Vec<Bytes>,

    /// Spans from the start of the range, at QD 1 [default: 50%,25%,10%,5%,1%,0.1%]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub spans: Vec<Share>,

    /// Draw offsets with replacement, instead of reading each block once
    #[arg(long)]
    pub with_replacement: bool,

    /// Report the IOPS at which p99 latency stays within this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub latency_budget: Option<Nanos>,

    /// Buffered reads through the page cache, which is dropped first
    #[arg(long)]
    pub buffered: bool,
}

impl AccessRequest {
    pub(super) fn depths(&self) -> Vec<u32> {
        if self.has_usual_depths() { DEPTHS.to_vec() } else { self.depths.clone() }
    }

    pub(super) fn has_usual_depths(&self) -> bool {
        self.depths.is_empty() && self.threads.is_empty()
    }

    pub(super) fn blocks(&self) -> Vec<Bytes> {
        if self.blocks.is_empty() { BLOCKS.map(Bytes::new).to_vec() } else { self.blocks.clone() }
    }

    pub(super) fn spans(&self) -> Vec<f64> {
        if self.spans.is_empty() {
            SPANS.to_vec()
        } else {
            self.spans.iter().copied().map(Share::get).collect()
        }
    }

    pub(super) fn caching(&self) -> Caching {
        if self.buffered { Caching::Buffered } else { Caching::Direct }
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        if self.latency_budget == Some(Nanos::ZERO) {
            return Err(PlanError::Zero { option: "--latency-budget", example: "a time such as 20ms" });
        }
        for &share in &self.spans {
            if share.get() == 0.0 {
                return Err(PlanError::Zero { option: "--spans", example: "shares such as 10%,1%" });
            }
            if share.get() >= 1.0 {
                return Err(PlanError::WholeShare { option: "--spans", share, leaves: "the whole drive" });
            }
        }
        Ok(())
    }
}
