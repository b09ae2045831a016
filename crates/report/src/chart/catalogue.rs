//! Every kind of chart that there is, in the order in which a reader wants them.

mod access_time;
mod clipping;
mod commit_latency;
mod commits;
mod concurrency;
mod file_place;
mod idle_recovery;
mod percentiles;
mod rate_over_position;
mod rate_over_size;
mod seek_curve;
mod span;
mod valley_passes;
mod write_course;

pub use access_time::access_time_over_position;
pub use rate_over_position::rate_over_position;

use super::{Chart, ChartedRun};
use clipping::write_rate_over_share;
use commit_latency::commit_latency;
use commits::commits_over_committers;
use concurrency::{iops_over_depth, latency_over_depth};
use file_place::file_rate_over_place;
use idle_recovery::idle_recovery;
use model::request::Operation;
use percentiles::latency_percentiles;
use rate_over_size::rate_over_size;
use seek_curve::seek_curve;
use span::iops_over_span;
use valley_passes::{valleys_over_position, valleys_over_time};
use write_course::{write_rate_over_bytes, write_rate_over_time};

pub struct ChartKind {
    pub name: &'static str,
    pub shows: &'static str,
    pub measured_by: &'static str,
    draw: fn(&[ChartedRun<'_>]) -> Option<Chart>,
}

pub const CHART_KINDS: &[ChartKind] = &[
    ChartKind {
        name: "rate-over-position",
        shows: "sequential throughput by LBA, with zones and slow regions",
        measured_by: "drivescope surface TARGET",
        draw: |runs| rate_over_position(runs, &[Operation::Read, Operation::Write]),
    },
    ChartKind {
        name: "access-time",
        shows: "latency of single random requests by LBA, and its distribution",
        measured_by: "drivescope access TARGET",
        draw: access_time_over_position,
    },
    ChartKind {
        name: "latency-percentiles",
        shows: "latency percentiles, up to the 99.999th",
        measured_by: "drivescope access TARGET",
        draw: latency_percentiles,
    },
    ChartKind {
        name: "commit-latency",
        shows: "latency percentiles of commits, alone and under other load, with the limit",
        measured_by: "drivescope commit TARGET",
        draw: commit_latency,
    },
    ChartKind {
        name: "iops-over-depth",
        shows: "random IOPS by queue depth, with the knee",
        measured_by: "drivescope access TARGET",
        draw: iops_over_depth,
    },
    ChartKind {
        name: "latency-over-depth",
        shows: "mean and 99th percentile latency by queue depth",
        measured_by: "drivescope access TARGET",
        draw: latency_over_depth,
    },
    ChartKind {
        name: "iops-over-span",
        shows: "random read IOPS by span (short-stroking)",
        measured_by: "drivescope access TARGET",
        draw: iops_over_span,
    },
    ChartKind {
        name: "commits-over-committers",
        shows: "commits per second by number of threads",
        measured_by: "drivescope commit TARGET --write",
        draw: commits_over_committers,
    },
    ChartKind {
        name: "seek-curve",
        shows: "seek time by distance",
        measured_by: "drivescope geometry TARGET",
        draw: seek_curve,
    },
    ChartKind {
        name: "rate-over-size",
        shows: "throughput by block size, with disturbed points",
        measured_by: "drivescope sizes TARGET",
        draw: rate_over_size,
    },
    ChartKind {
        name: "write-rate-over-time",
        shows: "write throughput over time, with pauses and the write cliff",
        measured_by: "drivescope sustain TARGET --write",
        draw: write_rate_over_time,
    },
    ChartKind {
        name: "write-rate-over-bytes",
        shows: "write throughput by bytes written, with the write cliff",
        measured_by: "drivescope sustain TARGET --write",
        draw: write_rate_over_bytes,
    },
    ChartKind {
        name: "idle-recovery",
        shows: "write cache recovered by idle time",
        measured_by: "drivescope sustain TARGET --write --idle",
        draw: idle_recovery,
    },
    ChartKind {
        name: "write-rate-over-share",
        shows: "steady-state random writes by share of the drive in use",
        measured_by: "drivescope sustain TARGET --write --clip",
        draw: write_rate_over_share,
    },
    ChartKind {
        name: "valleys-over-position",
        shows: "write valleys by LBA, pass by pass",
        measured_by: "drivescope valleys TARGET --write",
        draw: valleys_over_position,
    },
    ChartKind {
        name: "valleys-over-time",
        shows: "write valleys over time, pass by pass",
        measured_by: "drivescope valleys TARGET --write",
        draw: valleys_over_time,
    },
    ChartKind {
        name: "file-rate-over-place",
        shows: "file throughput by where the file lies on the disk",
        measured_by: "drivescope files DIR --compare DIR",
        draw: file_rate_over_place,
    },
];

pub fn charts_of(runs: &[ChartedRun<'_>]) -> Vec<Chart> {
    CHART_KINDS.iter().filter_map(|kind| (kind.draw)(runs)).collect()
}

pub fn chart_named(name: &str, runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let kind = CHART_KINDS.iter().find(|kind| kind.name == name)?;
    (kind.draw)(runs)
}
