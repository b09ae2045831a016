//! Every kind of chart that there is, in the order in which a reader wants them.

use super::access_time::access_time_over_position;
use super::clipping::write_rate_over_share;
use super::concurrency::{iops_over_depth, latency_over_depth};
use super::file_place::file_rate_over_place;
use super::idle_recovery::idle_recovery;
use super::percentiles::latency_percentiles;
use super::rate_over_position::rate_over_position;
use super::rate_over_size::rate_over_size;
use super::seek_curve::seek_curve;
use super::span::iops_over_span;
use super::valley_passes::{valleys_over_position, valleys_over_time};
use super::write_course::{write_rate_over_bytes, write_rate_over_time};
use super::{Chart, ChartedRun};
use model::request::Operation;

/// A kind of chart.
pub struct ChartKind {
    /// The word for it in options and files.
    pub name: &'static str,
    /// What it shows, for a list.
    pub shows: &'static str,
    /// The command that measures what it needs.
    pub measured_by: &'static str,
    draw: fn(&[ChartedRun<'_>]) -> Option<Chart>,
}

/// All kinds of charts.
pub const CHART_KINDS: &[ChartKind] = &[
    ChartKind {
        name: "rate-over-position",
        shows: "how fast each place is read and written, with zones and slow regions",
        measured_by: "drivescope surface TARGET",
        draw: |runs| rate_over_position(runs, &[Operation::Read, Operation::Write]),
    },
    ChartKind {
        name: "access-time",
        shows: "how long single random requests take, at each place and how often",
        measured_by: "drivescope access TARGET",
        draw: access_time_over_position,
    },
    ChartKind {
        name: "latency-percentiles",
        shows: "how long requests take, from the usual to the one in 100,000",
        measured_by: "drivescope access TARGET",
        draw: latency_percentiles,
    },
    ChartKind {
        name: "iops-over-depth",
        shows: "how many random requests a second come with more at a time, and where that stops to pay",
        measured_by: "drivescope access TARGET",
        draw: iops_over_depth,
    },
    ChartKind {
        name: "latency-over-depth",
        shows: "how long requests take when more are under way",
        measured_by: "drivescope access TARGET",
        draw: latency_over_depth,
    },
    ChartKind {
        name: "iops-over-span",
        shows: "how much quicker random reads are that lie closer together",
        measured_by: "drivescope access TARGET",
        draw: iops_over_span,
    },
    ChartKind {
        name: "seek-curve",
        shows: "how long the arm of a hard disk takes by distance",
        measured_by: "drivescope geometry TARGET",
        draw: seek_curve,
    },
    ChartKind {
        name: "rate-over-size",
        shows: "how fast requests of each size are, and which sizes something spoilt",
        measured_by: "drivescope sizes TARGET",
        draw: rate_over_size,
    },
    ChartKind {
        name: "write-rate-over-time",
        shows: "how the write rate went on, with pauses and where it fell",
        measured_by: "drivescope sustain TARGET --write",
        draw: write_rate_over_time,
    },
    ChartKind {
        name: "write-rate-over-bytes",
        shows: "after how much the write rate falls, and to what",
        measured_by: "drivescope sustain TARGET --write",
        draw: write_rate_over_bytes,
    },
    ChartKind {
        name: "idle-recovery",
        shows: "what each second of rest gives back once the write rate has fallen",
        measured_by: "drivescope sustain TARGET --write --idle",
        draw: idle_recovery,
    },
    ChartKind {
        name: "write-rate-over-share",
        shows: "what random writes settle to when only a part of the drive is used",
        measured_by: "drivescope sustain TARGET --write --clip",
        draw: write_rate_over_share,
    },
    ChartKind {
        name: "valleys-over-position",
        shows: "short falls of the write rate, pass by pass, where they were",
        measured_by: "drivescope valleys TARGET --write",
        draw: valleys_over_position,
    },
    ChartKind {
        name: "valleys-over-time",
        shows: "short falls of the write rate, pass by pass, when they were",
        measured_by: "drivescope valleys TARGET --write",
        draw: valleys_over_time,
    },
    ChartKind {
        name: "file-rate-over-place",
        shows: "how fast a large file is in each folder, by where it lies on the disk",
        measured_by: "drivescope files DIR --compare DIR",
        draw: file_rate_over_place,
    },
];

/// Every chart for which these runs have data.
pub fn charts_of(runs: &[ChartedRun<'_>]) -> Vec<Chart> {
    CHART_KINDS.iter().filter_map(|kind| (kind.draw)(runs)).collect()
}

/// The chart with that name; none when there is no such chart, or these runs have no data for it.
pub fn chart_named(name: &str, runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let kind = CHART_KINDS.iter().find(|kind| kind.name == name)?;
    (kind.draw)(runs)
}
