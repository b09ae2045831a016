//! What is true of flash drives.

use crate::flash::housekeeping::{burst_interval_s, burst_width_s};
use crate::flash::profile::{FlashProfile, Initial};
use crate::link::LinkNumbers;
use crate::truth::data::{Cliff, Level, Region, TruthData};
use crate::truth::extents::{Extent, WRITE_RATES, link_access_s, rates};
use crate::truth::faults::regions;
use crate::truth::medium::OF_MOVING_PARTS;
use crate::truth::value::{ACCESS_BYTES, Truth, TruthValue, flush, one_drive, span_effect, write_cache};
use model::finding::FindingCode;
use model::request::Operation;
use model::units::{Bytes, KIB, MIB};

/// A shorter stall does not span an interval of a series.
const VALLEY_MS_MIN: f64 = 50.0;
/// A smaller drop, as a logarithm, is none: a third of the smallest known, 480 to 400 MB/s (870 EVO of 4 TB, TechPowerUp).
const DROP_MIN: f64 = 0.06;
/// The clipping effect is that of using this share of the drive.
const CLIPPED_SHARE: f64 = 0.5;
/// What is told of flash all of which holds data: it has no zones, and a link that limits what holds nothing is no limit of the flash.
const OF_WHOLE_FLASH: [FindingCode; 5] = [
    FindingCode::ZoneRatio,
    FindingCode::ZoneCount,
    FindingCode::ZoneTable,
    FindingCode::InterfaceLimit,
    FindingCode::SpanEffect,
];
/// Fragmentation after many hours of mixed writes, for which the width of a valley is said.
const FRAGMENTED: f64 = 0.8;

/// Reads by what it holds at the start: what was never written, or discarded, touches no flash. Writes of a fresh drive.
pub(super) fn extents(flash: &FlashProfile, capacity: Bytes) -> Vec<Extent> {
    let mut parts = Vec::new();
    for extent in written_extents(flash, capacity) {
        let (mut from, end) = (extent.first_byte, extent.first_byte + extent.bytes);
        for range in &flash.discarded {
            let (first, last) =
                (range.first_byte.clamp(from, end), (range.first_byte + range.bytes).clamp(from, end));
            parts.push(Extent { first_byte: from, bytes: first - from, ..extent });
            parts.push(Extent { first_byte: first, bytes: last - first, read: f64::INFINITY, ..extent });
            from = last;
        }
        parts.push(Extent { first_byte: from, bytes: end - from, ..extent });
    }
    parts.retain(|part| part.bytes > 0);
    parts
}

fn written_extents(flash: &FlashProfile, capacity: Bytes) -> Vec<Extent> {
    let read = match flash.initial {
        Initial::Fresh => f64::INFINITY,
        Initial::Filled => flash.sequential_read_rate(),
    };
    let cached_write_s = (flash.write_overhead_us + flash.command_us) * 1e-6;
    let levels = flash.write_levels(capacity, f64::INFINITY);
    let mut extents = Vec::new();
    for (index, level) in levels.iter().enumerate() {
        let first_byte = level.from_bytes as u64;
        let end =
            if let Some(next) = levels.get(index + 1) { next.from_bytes as u64 } else { capacity.get() };
        let (bytes, write) = (end.saturating_sub(first_byte), level.bytes_per_second);
        if bytes > 0 {
            extents.push(Extent { first_byte, bytes, read, write, cached_write_s });
        }
    }
    extents
}

pub(super) fn truths(flash: &FlashProfile, capacity: Bytes, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let extents = extents(flash, capacity);
    let mut truths = match flash.initial {
        Initial::Filled => rates(&extents, link),
        Initial::Fresh => write_rates(extents, link),
    };
    if flash.initial == Initial::Filled && flash.discarded.is_empty() {
        let access_s = flash.access_s(u64::from(ACCESS_BYTES)) + link_access_s(link);
        truths.push(Truth::number(FindingCode::AccessTime, access_s));
    }
    truths.push(span_effect(1.0, 1.0));
    truths.extend(OF_MOVING_PARTS.map(Truth::absent));
    let unmapped = match flash.initial {
        Initial::Fresh => vec![Region { first_byte: 0, bytes: capacity.get() }],
        Initial::Filled => discarded(flash),
    };
    truths.push(regions(FindingCode::UnmappedRanges, unmapped));
    truths.push(Truth::word(FindingCode::RecordingKind, "flash"));
    if !flash.discarded.is_empty() {
        // How long writes find free space depends on how the rest was written.
        truths.retain(|truth| !OF_WHOLE_FLASH.contains(&truth.code) && !WRITE_RATES.contains(&truth.code));
        return truths;
    }
    let limit = match link {
        Some(link) => link.bytes_per_second(Operation::Write, MIB as u32, 4),
        None => f64::INFINITY,
    };
    truths.push(cliff(flash, capacity, limit));
    let steady = flash.steady_random_write_rate(capacity, 1.0).min(limit);
    truths.push(Truth::number(FindingCode::WriteSteadyState, steady));
    truths.push(Truth::number(FindingCode::ClippingEffect, flash.clipping_effect(capacity, CLIPPED_SHARE)));
    truths.push(match flash.idle_recovery() {
        0.0 => Truth::absent(FindingCode::IdleRecovery),
        recovered => Truth::number(FindingCode::IdleRecovery, recovered),
    });
    truths.push(valleys(flash));
    truths.push(cure(flash));
    truths.push(one_drive());
    truths.push(flush(flash.buffer.as_ref().map(|buffer| buffer.flush)));
    // A buffer that no flush empties looks like none.
    let volatile = flash.buffer.as_ref().filter(|buffer| buffer.flush.stores());
    truths.push(write_cache(volatile.map_or(0, |buffer| buffer.capacity_kib * KIB)));
    truths
}

fn discarded(flash: &FlashProfile) -> Vec<Region> {
    let mut regions = Vec::new();
    for range in &flash.discarded {
        regions.push(Region { first_byte: range.first_byte, bytes: range.bytes });
    }
    regions
}

/// Nothing is said of reads of what was never written.
fn write_rates(mut extents: Vec<Extent>, link: Option<&LinkNumbers>) -> Vec<Truth> {
    for extent in &mut extents {
        extent.read = extent.write;
    }
    let mut truths = rates(&extents, link);
    truths.retain(|truth| WRITE_RATES.contains(&truth.code));
    truths
}

/// The levels of a drive that is written at random until as much is written as it holds, where the link lets them show.
fn cliff(flash: &FlashProfile, capacity: Bytes, limit: f64) -> Truth {
    let mut levels: Vec<Level> = Vec::new();
    for level in flash.random_write_levels(capacity, limit) {
        match levels.last() {
            Some(last) if last.bytes_per_second == level.bytes_per_second => {}
            _ => {
                levels.push(Level { from_bytes: level.from_bytes, bytes_per_second: level.bytes_per_second })
            }
        }
    }
    let first = levels[0].bytes_per_second;
    let drop_to = |after: f64| (first / after).ln();
    if let Some(level) = levels.iter().find(|level| drop_to(level.bytes_per_second) >= DROP_MIN) {
        let (cliff_bytes, cliff) = (level.from_bytes, Cliff::new(first, level.bytes_per_second));
        return Truth::number(FindingCode::WriteCliff, cliff_bytes).with(TruthData::Levels { cliff, levels });
    }
    if levels.iter().any(|level| drop_to(level.bytes_per_second) >= DROP_MIN / 2.0) {
        return Truth::depends(FindingCode::WriteCliff, "a drop this small may be told or not");
    }
    if (limit / first).ln() >= DROP_MIN && flash.buffer_full_bytes(limit, first).is_some() {
        let why = "a buffer that keeps its data over a flush is full after some megabytes, which only short batches show";
        return Truth::depends(FindingCode::WriteCliff, why);
    }
    Truth::absent(FindingCode::WriteCliff)
}

/// The translation table, written out after so many bytes: stalls that recur by bytes, too short ones left out.
fn stalls(flash: &FlashProfile) -> Truth {
    let flush = match &flash.map_flush {
        Some(flush) if flush.stall_ms >= VALLEY_MS_MIN => flush,
        _ => return Truth::absent(FindingCode::WriteValleys),
    };
    let why = "they come after so many bytes, so their number in a pass depends on its length";
    Truth::depends(FindingCode::WriteValleys, why).with(TruthData::Stalls {
        interval_bytes: (flush.every_mib * MIB) as f64,
        width_s: flush.stall_ms * 1e-3,
        depth_ratio: 0.0,
        by: "bytes",
    })
}

/// A fill with requests as large as a region takes all fragmentation; flushes of the table come anyway.
fn cure(flash: &FlashProfile) -> Truth {
    let code = FindingCode::ValleyCure;
    match &flash.housekeeping {
        Some(housekeeping) => {
            let block_bytes = u64::from(housekeeping.region_kib) * KIB;
            Truth::word(code, "fill").with(TruthData::Cure { block_bytes })
        }
        None if stalls(flash).value != TruthValue::Absent => Truth::word(code, "none"),
        None => Truth::absent(code),
    }
}

fn valleys(flash: &FlashProfile) -> Truth {
    let Some(housekeeping) = &flash.housekeeping else {
        return stalls(flash);
    };
    let why = "they come after random writes, and go when all of it is overwritten in large pieces";
    Truth::depends(FindingCode::WriteValleys, why).with(TruthData::Valleys {
        interval_s: burst_interval_s(housekeeping, 0.0),
        width_s_after_mixed_writes: burst_width_s(housekeeping, FRAGMENTED),
        depth_ratio: housekeeping.rate_factor,
        by: "time",
    })
}
