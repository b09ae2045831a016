//! How `surface` goes over a drive.

use super::adaptive::Adaptive;
use super::areas::Areas;
use super::full::Full;
use crate::error::PlanError;
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use crate::reread::Reread;
use crate::{Experiment, Setup};
use clap::Args;
use model::experiment_name::ExperimentName;
use model::units::Bytes;
use model::workload::OperationMix;
use serde::{Deserialize, Serialize};

/// On any disk some whole groups of its surfaces' stripes.
const AREA_SIZE: Bytes = Bytes::from_gib(1);

/// How the drive is gone over: one of these.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Method (default: short samples at random offsets until precise)")]
#[serde(default)]
pub struct SurfaceRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Short samples at random offsets until precise
    #[arg(long, conflicts_with_all = ["areas", "full"])]
    #[serde(skip)]
    pub adaptive: bool,

    /// Number of equidistant areas to read sequentially
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "full")]
    pub areas: Option<u64>,

    /// Size of each area [default: 1GiB]
    #[arg(long, value_name = "SIZE", requires = "areas", allow_hyphen_values = true)]
    pub area_size: Option<Bytes>,

    /// Read every block once; takes hours on a disk
    #[arg(long)]
    pub full: bool,

    /// Read back and verify what was written
    #[arg(long, requires = "full", requires = "write")]
    pub verify: bool,
}

impl DriveRequest for SurfaceRequest {
    has_drive_options!(ExperimentName::Surface);

    /// Reads, and then writes where they are allowed.
    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        let mut mixes = vec![OperationMix::Read];
        if setup.may_write {
            mixes.push(OperationMix::Write);
        }
        if self.full {
            let full = Full::new(setup, mixes)?;
            return Ok(Box::new(if self.verify { full.verified()? } else { full }));
        }
        match self.areas {
            None => Ok(Reread::after(Adaptive::new(setup, mixes)?)),
            Some(0) => Err(PlanError::Zero { option: "--areas", example: "1 or more" }),
            Some(count) => {
                Ok(Reread::after(Areas::new(setup, mixes, count, self.area_size.unwrap_or(AREA_SIZE))?))
            }
        }
    }
}
