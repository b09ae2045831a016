//! The experiments, each with its request. Imports all of them and is imported by none.

use super::drive_request::DriveRequest;
use crate::access::AccessRequest;
use crate::check::CheckRequest;
use crate::commit::CommitRequest;
use crate::files::FilesRequest;
use crate::geometry::GeometryRequest;
use crate::ping::PingRequest;
use crate::plan_file::RunRequest;
use crate::sizes::SizesRequest;
use crate::surface::SurfaceRequest;
use crate::sustain::SustainRequest;
use crate::valleys::ValleysRequest;
use crate::verify::VerifyRequest;
use clap::Subcommand;
use serde::{Deserialize, Serialize};

/// The experiments in the order of help, each with what can be asked of it: a command, and what is stored with its runs.
#[derive(Clone, Debug, PartialEq, Subcommand, Serialize, Deserialize)]
#[serde(tag = "experiment", rename_all = "kebab-case")]
pub enum Request {
    /// Check a drive or file in a minute: health, throughput, IOPS, latency
    Check(CheckRequest),
    /// Map throughput by LBA; --full scans for bad and slow blocks
    Surface(SurfaceRequest),
    /// Random access: IOPS by queue depth, saturation point, caches, RAID
    Access(AccessRequest),
    /// Hard disk mechanics: rpm, seek times, track layout (read-only)
    Geometry(GeometryRequest),
    /// Sustained writes: SLC or SMR cache size, write cliff, idle recovery
    Sustain(SustainRequest),
    /// Periodic write stalls (valleys): how often, and what cures them
    Valleys(ValleysRequest),
    /// Throughput by block size, as ATTO; repeats disturbed points
    Sizes(SizesRequest),
    /// Latency over time of single reads at a fixed rate, as ioping
    Ping(PingRequest),
    /// Fake capacity and data integrity test, as f3 and badblocks -w
    Verify(VerifyRequest),
    /// File system throughput and small files, as bonnie++
    Files(FilesRequest),
    /// Durable writes: fast enough for etcd or PostgreSQL? Safe?
    Commit(CommitRequest),
    /// Run a fio job file, Iometer specifications or a plan
    Run(RunRequest),
}

/// The request of an experiment on a drive, shared or exclusive as `$request` is.
macro_rules! of_drive {
    ($request:expr) => {
        match $request {
            Request::Check(request) => Some(request),
            Request::Surface(request) => Some(request),
            Request::Access(request) => Some(request),
            Request::Geometry(request) => Some(request),
            Request::Sustain(request) => Some(request),
            Request::Valleys(request) => Some(request),
            Request::Run(request) => Some(request),
            Request::Sizes(request) => Some(request),
            Request::Ping(request) => Some(request),
            Request::Commit(request) => Some(request),
            Request::Verify(request) => Some(request),
            Request::Files(_) => None,
        }
    };
}

impl Request {
    pub fn of_drive(&self) -> Option<&dyn DriveRequest> {
        of_drive!(self)
    }

    pub fn of_drive_mut(&mut self) -> Option<&mut dyn DriveRequest> {
        of_drive!(self)
    }
}
