//! What is true of flash drives.

use crate::flash::housekeeping::{burst_interval_s, burst_width_s};
use crate::flash::profile::{FlashProfile, Initial};
use crate::flash::truth::WriteLevel;
use crate::link::LinkNumbers;
use crate::truth::disk::word;
use crate::truth::mishaps::regions;
use crate::truth::stretches::{Stretch, WRITE_RATES, link_access_s, rates};
use crate::truth::{ACCESS_BYTES, Answer, Truth, one_drive, span_effect};
use model::finding::{Datum, FindingCode};
use model::request::Operation;
use model::units::{Bytes, KIB, MIB};

/// A stall of less than that does not span a slice of time, in ms.
const VALLEY_MS_MIN: f64 = 50.0;
/// A rate that is slower by less than this, as the logarithm of the ratio, has not fallen: the smallest fall known of a cache is 480 to
/// 400 MB/s (870 EVO of 4 TB, TechPowerUp's test), and a third of that passes for drift.
const FALL_MIN: f64 = 0.06;
/// Of which part of the drive the clipping effect is said.
const CLIPPED_SHARE: f64 = 0.5;
/// The fragmentation after many hours of mixed writes, for which the width of a valley is said.
const FRAGMENTED: f64 = 0.8;

/// Reading by what it holds at the start: what was never written is answered without touching the flash. Writing as a
/// drive that is written once from fresh.
pub(super) fn stretches(flash: &FlashProfile, capacity: Bytes) -> Vec<Stretch> {
    let read = match flash.initial {
        Initial::Fresh => f64::INFINITY,
        Initial::Filled => flash.sequential_read_rate(),
    };
    let levels = flash.write_levels(capacity, f64::INFINITY);
    let ends = levels.iter().skip(1).map(|level| level.from_bytes as u64).chain([capacity.0]);
    let parts = levels.iter().zip(ends).map(|(level, end)| {
        let first_byte = level.from_bytes as u64;
        Stretch {
            first_byte,
            bytes: end.saturating_sub(first_byte),
            read,
            write: level.bytes_per_second,
            answer_s: (flash.write_overhead_us + flash.command_us) * 1e-6,
        }
    });
    parts.filter(|part| part.bytes > 0).collect()
}

pub(super) fn truths(flash: &FlashProfile, capacity: Bytes, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let parts = stretches(flash, capacity);
    let mut truths = if parts.iter().all(|part| part.read.is_finite()) {
        rates(&parts, link)
    } else {
        fresh_rates(&parts, link)
    };
    if flash.initial == Initial::Filled {
        let access_s = flash.access_s(u64::from(ACCESS_BYTES)) + link_access_s(link);
        truths.push(Truth::number(FindingCode::AccessTime, access_s));
    }
    // Cells are as near at one place as at another, and what was never written is answered alike.
    truths.push(span_effect(1.0, 1.0));
    let unmapped = match flash.initial {
        Initial::Fresh => vec![(0, capacity.0)],
        Initial::Filled => Vec::new(),
    };
    truths.push(regions(FindingCode::UnmappedRanges, unmapped));
    let limit = link.map_or(f64::INFINITY, |link| link.bytes_per_second(Operation::Write, MIB as u32, 4));
    truths.push(cliff(flash, capacity, limit));
    let steady = flash.steady_random_write_rate(capacity, 1.0).min(limit);
    truths.push(Truth::number(FindingCode::WriteSteadyState, steady));
    truths.push(Truth::number(FindingCode::ClippingEffect, flash.clipping_effect(capacity, CLIPPED_SHARE)));
    let regained = flash.idle_recovery();
    truths.push(if regained > 0.0 {
        Truth::number(FindingCode::IdleRecovery, regained)
    } else {
        Truth::absent(FindingCode::IdleRecovery)
    });
    truths.push(valleys(flash));
    truths.push(cure(flash));
    truths.push(word(FindingCode::RecordingKind, "flash"));
    truths.push(one_drive());
    truths
}

/// Nothing is said of reading what was never written.
fn fresh_rates(parts: &[Stretch], link: Option<&LinkNumbers>) -> Vec<Truth> {
    let written: Vec<Stretch> = parts.iter().map(|part| Stretch { read: part.write, ..*part }).collect();
    let truths = rates(&written, link).into_iter();
    truths.filter(|truth| WRITE_RATES.contains(&truth.code)).collect()
}

/// The levels through which a drive goes that is written at random until as much is written as it holds, where the link lets them show.
fn cliff(flash: &FlashProfile, capacity: Bytes, limit: f64) -> Truth {
    let mut levels = flash.random_write_levels(capacity, limit);
    levels.dedup_by(|later, earlier| later.bytes_per_second == earlier.bytes_per_second);
    let before = levels.first().copied();
    let has_fallen = |level: &WriteLevel, from: f64| (from / level.bytes_per_second).ln() >= FALL_MIN;
    let after =
        before.and_then(|before| levels.iter().find(|level| has_fallen(level, before.bytes_per_second)));
    let (Some(before), Some(after)) = (before, after) else {
        return Truth::absent(FindingCode::WriteCliff);
    };
    let row = |level: &WriteLevel| {
        Datum::record([
            ("from_bytes", Datum::Number(level.from_bytes)),
            ("bytes_per_second", Datum::Number(level.bytes_per_second)),
        ])
    };
    Truth::number(FindingCode::WriteCliff, after.from_bytes)
        .with("before", Datum::Number(before.bytes_per_second))
        .with("after", Datum::Number(after.bytes_per_second))
        .with("ratio", Datum::Number(after.bytes_per_second / before.bytes_per_second))
        .with("levels", Datum::List(levels.iter().map(row).collect()))
}

/// The translation table, written out after so many bytes: stalls that recur by bytes. Shorter ones than valleys are seen to be are
/// none.
fn stalls(flash: &FlashProfile) -> Truth {
    let Some(flush) = flash.map_flush.as_ref().filter(|flush| flush.stall_ms >= VALLEY_MS_MIN) else {
        return Truth::absent(FindingCode::WriteValleys);
    };
    let why = "they come after so many bytes, so their number in a pass depends on its length";
    Truth { code: FindingCode::WriteValleys, answer: Answer::Depends(why), data: Vec::new() }
        .with("interval_bytes", Datum::Number((flush.every_mib * MIB) as f64))
        .with("width_s", Datum::Number(flush.stall_ms * 1e-3))
        .with("depth_ratio", Datum::Number(0.0))
        .with("by", Datum::Text("bytes".into()))
}

/// A fill with blocks as large as a region takes all that fragments it. What is written out after so many bytes comes
/// whatever was written before.
fn cure(flash: &FlashProfile) -> Truth {
    let code = FindingCode::ValleyCure;
    match &flash.housekeeping {
        Some(housekeeping) => {
            let block_bytes = u64::from(housekeeping.region_kib) * KIB;
            word(code, "fill").with("block_bytes", Datum::Integer(block_bytes))
        }
        None if stalls(flash).answer != Answer::Absent => word(code, "none"),
        None => Truth::absent(code),
    }
}

fn valleys(flash: &FlashProfile) -> Truth {
    let Some(housekeeping) = &flash.housekeeping else {
        return stalls(flash);
    };
    let why = "they come after random writes, and go when all of it is overwritten in large pieces";
    Truth { code: FindingCode::WriteValleys, answer: Answer::Depends(why), data: Vec::new() }
        .with("interval_s", Datum::Number(burst_interval_s(housekeeping, 0.0)))
        .with("width_s_after_mixed_writes", Datum::Number(burst_width_s(housekeeping, FRAGMENTED)))
        .with("depth_ratio", Datum::Number(housekeeping.rate_factor))
        .with("by", Datum::Text("time".into()))
}
