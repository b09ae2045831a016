//! Findings about writes, block sizes and files, as detectors make them.

use model::estimate::Estimate;
use model::file_work::FileTask;
use model::finding::{
    CliffCause, ClippingEffect, ClippingPoint, FileRate, Finding, IdlePoint, IdleRecovery, NoValleys,
    NoValleysKind, Outcome, SizePattern, SizePoint, SizeProfile, SuspectPoint, SuspectPoints, SuspectReason,
    ValleyPattern, WriteCliff, WriteKind, WriteLevel, WriteOrder, WriteSteadyState, WriteValleys,
};
use model::request::Operation;
use model::units::Bytes;

/// A sequential point at queue depth 1.
pub fn size_point(bytes: u64, operation: Operation, bytes_per_second: f64) -> SizePoint {
    SizePoint {
        bytes: Bytes::new(bytes),
        operation,
        pattern: SizePattern::Sequential,
        depth: 1,
        bytes_per_second,
        low: Some(bytes_per_second * 0.95),
        high: Some(bytes_per_second * 1.05),
        iops: bytes_per_second / bytes as f64,
        rounds: None,
    }
}

pub fn size_profile(points: Vec<SizePoint>) -> Finding {
    let profile = SizeProfile { sizes: points.len(), points, saturation: Vec::new(), is_single: false };
    Finding::SizeProfile(Outcome::known(profile, Vec::new()))
}

/// Each of these points was slower by three tenths with its outlier.
pub fn suspect_points(points: &[SizePoint]) -> Finding {
    let suspect = |point: &SizePoint| SuspectPoint {
        bytes: point.bytes,
        operation: point.operation,
        pattern: point.pattern,
        depth: point.depth,
        why: SuspectReason::OutlierRounds,
        rounds: 4,
        spoilt_rounds: 1,
        before: point.bytes_per_second * 0.7,
        after: point.bytes_per_second,
    };
    let points: Vec<SuspectPoint> = points.iter().map(suspect).collect();
    let suspects = SuspectPoints { count: points.len(), all: 34, points, dips: Vec::new() };
    Finding::SuspectPoints(Outcome::known(suspects, Vec::new()))
}

/// Levels as the bytes written before them and their rate, without intervals.
pub fn write_cliff(bytes: f64, levels: &[(f64, f64)]) -> Finding {
    let level = |&(from_bytes, bytes_per_second): &(f64, f64)| WriteLevel {
        from_bytes,
        from_bytes_low: from_bytes,
        from_bytes_high: from_bytes,
        bytes_per_second,
        low: f64::NAN,
        high: f64::NAN,
        comes_back: false,
    };
    let rate = |index: usize| levels.get(index).map_or(0.0, |level| level.1);
    let (before, after) = (rate(0), rate(1));
    let cliff = WriteCliff {
        bytes: Estimate { low: bytes * 0.9, high: bytes * 1.1, ..Estimate::exact(bytes) },
        comes_back: false,
        before,
        before_low: before,
        before_high: before,
        after,
        after_low: after,
        after_high: after,
        ratio: after / before,
        levels: levels.iter().map(level).collect(),
        further: Vec::new(),
        after_from_bytes: bytes,
        after_over_bytes: bytes,
        in_memory_bytes: 0.0,
        cause: CliffCause::CellCache,
        looked_until_bytes: 2.0 * bytes,
        writes: WriteKind { order: WriteOrder::Random, block: Bytes::from_kib(128) },
        below: None,
        is_whole: false,
        went_on: false,
        has_rests: false,
    };
    Finding::WriteCliff(Outcome::known(cliff, Vec::new()))
}

pub fn write_steady_state(rate: f64) -> Finding {
    let steady = WriteSteadyState {
        rate: Estimate { low: rate * 0.9, high: rate * 1.1, ..Estimate::exact(rate) },
        rounds: vec![rate; 5],
        range_ratio: 0.01,
        slope_ratio: 0.01,
        written_bytes: 1e9,
        times_written: 2.0,
    };
    Finding::WriteSteadyState(Outcome::known(steady, Vec::new()))
}

pub fn no_write_valleys() -> Finding {
    let none = NoValleys { kind: NoValleysKind::Even, passes: 1, bytes: 1 << 30, seconds: 60.0 };
    let valleys = WriteValleys {
        count: 0,
        pattern: ValleyPattern::None(none),
        long_falls: 0,
        lasting_fall: None,
        passes: Vec::new(),
        conditions: 1,
    };
    Finding::WriteValleys(Outcome::known(valleys, Vec::new()))
}

/// Points as idle seconds and bytes written at full throughput after them; cleaning starts after two seconds.
pub fn idle_recovery(rate: f64, points: &[(f64, f64)]) -> Finding {
    let point = |&(idle_s, bytes): &(f64, f64)| IdlePoint { idle_s, bytes };
    let recovery = IdleRecovery {
        rate: Estimate { low: rate * 0.9, high: rate * 1.1, ..Estimate::exact(rate) },
        points: points.iter().map(point).collect(),
        delay_s: 2.0,
        cache_bytes: 500e6,
        cached_rate: 400e6,
    };
    Finding::IdleRecovery(Outcome::known(recovery, Vec::new()))
}

/// Points as the share of the range, the rate and its interval.
pub fn clipping_effect(points: &[(f64, f64, f64, f64)]) -> Finding {
    let point = |&(share, bytes_per_second, low, high): &(f64, f64, f64, f64)| ClippingPoint {
        share,
        bytes_per_second,
        low,
        high,
    };
    let effect = ClippingEffect {
        gain: Estimate { low: 2.7, high: 3.3, ..Estimate::exact(3.0) },
        points: points.iter().map(point).collect(),
        share: 0.5,
        takes_trim: true,
        rates: (30e6, 10e6),
    };
    Finding::ClippingEffect(Outcome::known(effect, Vec::new()))
}

/// Of a large file in that folder.
pub fn file_rate(folder: &str, task: FileTask, rate: f64) -> Outcome<FileRate> {
    let file = FileRate {
        rate: Estimate {
            value: rate,
            low: 0.95 * rate,
            high: 1.05 * rate,
            confidence: 0.95,
            effective_count: 3.0,
        },
        folder: folder.into(),
        file_system: "ext4".into(),
        task,
        rounds: 3,
        processor: None,
        latency_p50_s: None,
        latency_p90_s: None,
        latency_p99_s: None,
        latency_max_s: None,
        without_flush: None,
        cached_share: None,
        file_bytes: Some(Bytes::from_gib(1)),
        block: Bytes::from_mib(1),
        folders: 1,
        threads: 1,
        amount: 3e9,
        is_only_folder: false,
    };
    Outcome::known(file, Vec::new())
}
