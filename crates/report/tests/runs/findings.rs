//! Findings with content, as detectors make them.

use model::estimate::Estimate;
use model::finding::{
    AccessTime, AccessTimeUnknown, BadBlocks, BadRegion, CacheInfluence, CacheSign, ConcurrencyAxis,
    ConcurrencyGain, ConcurrencyKnee, ConcurrencyPoint, ConcurrencyUnknown, DataIntegrity, DeviceLost,
    Finding, FullPassTime, InFlight, InterfaceLimit, OperatingPoint, Outcome, RateOf, SequentialRate,
    SurveyUnknown,
};
use model::range::ByteRange;
use model::request::{Operation, Status};
use model::units::Bytes;
use std::collections::BTreeMap;

pub fn access_time(mean: Estimate) -> Finding {
    Finding::AccessTime(Outcome::known(
        AccessTime {
            mean,
            block: Bytes::new(4096),
            median_s: None,
            range: None,
            parts: None,
            measured: None,
            imported: None,
        },
        Vec::new(),
    ))
}

pub fn no_access_time() -> Finding {
    Finding::AccessTime(Outcome::Unknown(AccessTimeUnknown::TooFewReads { have: 3, need: 30 }))
}

/// Points as requests in flight, IOPS and their interval.
pub fn concurrency_gain(gain: Estimate, points: &[(u64, f64, f64, f64)]) -> Finding {
    let point = |&(depth, iops, low, high): &(u64, f64, f64, f64)| ConcurrencyPoint {
        in_flight: InFlight::Depth(depth),
        iops,
        low: Some(low),
        high: Some(high),
        p99_s: Some(1.5 * depth as f64 / iops),
    };
    Finding::ConcurrencyGain(Outcome::known(
        ConcurrencyGain {
            gain,
            is_read: true,
            best: InFlight::Depth(points.last().map_or(1, |point| point.0)),
            points: points.iter().map(point).collect(),
            limited_by_tool: Some(false),
            points_by_threads: None,
            write: None,
            imported: None,
        },
        Vec::new(),
    ))
}

pub fn concurrency_knee(in_flight: Estimate) -> Finding {
    let depth = in_flight.value as u64;
    Finding::ConcurrencyKnee(Outcome::known(
        ConcurrencyKnee {
            in_flight,
            knee: OperatingPoint { in_flight: depth, iops: 140.0 },
            one: OperatingPoint { in_flight: 1, iops: 64.0 },
            next: OperatingPoint { in_flight: 2, iops: 80.0 },
            most: None,
            open_beyond: None,
            axis: ConcurrencyAxis::Depth,
            scalability_law: None,
            kneedle: None,
            disagreeing: Vec::new(),
        },
        Vec::new(),
    ))
}

pub fn no_concurrency_knee() -> Finding {
    Finding::ConcurrencyKnee(Outcome::Unknown(ConcurrencyUnknown::TooFewRounds))
}

/// At an edge of the whole target.
pub fn edge_rate(rate: Estimate) -> Outcome<SequentialRate> {
    Outcome::known(SequentialRate::new(rate, RateOf::Edge { is_whole: true, may_rotate: true }), Vec::new())
}

pub fn mean_rate(rate: Estimate, capacity: Bytes) -> Outcome<SequentialRate> {
    let of = RateOf::Pass {
        range: ByteRange::whole(capacity),
        sample: Bytes::from_mib(64),
        is_rate_limited: false,
    };
    Outcome::known(SequentialRate::new(rate, of), Vec::new())
}

pub fn no_edge_rate() -> Outcome<SequentialRate> {
    Outcome::Unknown(SurveyUnknown::TooFewAtEdge { start: false, needed: 2 })
}

pub fn full_pass_time(time: Estimate, capacity: Bytes) -> Finding {
    Finding::FullPassTime(Outcome::known(
        FullPassTime {
            time,
            operation: Operation::Read,
            range: ByteRange::whole(capacity),
            slowed: None,
            is_rate_limited: false,
            covers_bytes: capacity,
            covers_capacity: true,
            measured_as_a_whole: None,
            read: Some(time.value),
            write: None,
            imported: None,
            basis: None,
        },
        Vec::new(),
    ))
}

pub fn interface_limit(rate: f64, link: &str) -> Finding {
    let limit =
        InterfaceLimit { rate: Estimate::exact(rate), link: link.into(), reach: None, imported: None };
    Finding::InterfaceLimit(Outcome::known(limit, Vec::new()))
}

pub fn cache_influence(reasons: Vec<CacheSign>) -> Finding {
    Finding::CacheInfluence(Outcome::known(CacheInfluence { reasons }, Vec::new()))
}

pub fn device_lost(at_s: f64) -> Finding {
    Finding::DeviceLost(Outcome::known(DeviceLost { at_s, failed: None }, Vec::new()))
}

/// So many regions of one block each.
pub fn bad_blocks(count: u64) -> Finding {
    let region = |index: u64| BadRegion { first_byte: 1_204_555_776 + (index << 30), bytes: 4096, count: 1 };
    let bad = BadBlocks {
        regions: (0..count).map(region).collect(),
        errors: count,
        regions_left_out: 0,
        status: Status::MediumError,
    };
    Finding::BadBlocks(Outcome::known(bad, Vec::new()))
}

/// Every block that was compared held what was written.
pub fn sound_blocks() -> Finding {
    let integrity = DataIntegrity {
        wrong: Estimate::exact(0.0),
        checked_blocks: 16_384,
        block_bytes: Bytes::from_kib(4),
        kinds: BTreeMap::new(),
        swapped: 0,
        regions: Vec::new(),
        share_max: None,
        drawn_blocks: 0,
        ends_early: false,
    };
    Finding::DataIntegrity(Outcome::known(integrity, Vec::new()))
}
