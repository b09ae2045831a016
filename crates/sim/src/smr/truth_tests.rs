//! The closed forms against the literals of the reference calculation and each other.

use super::*;
use crate::smr::drive::tests::{BAND, CACHE, TERABYTE, calibrated, disk};

const WRITES: RandomWrites = RandomWrites { request_bytes: 131_072, span_bytes: 2 * TERABYTE };

fn truth(clean_s: f64) -> ShingledTruth {
    ShingledTruth::new(Bytes::new(2 * TERABYTE), &disk(), &calibrated(2 * TERABYTE, 2 * TERABYTE, clean_s))
}

fn assert_near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} instead of {expected}");
}

/// The reference calculation: 15 MB/s until 23 GB; then 0.6 MB/s with 0.93 s a band.
#[test]
fn the_calibrated_drive_is_the_published_one() {
    let truth = truth(0.93);
    assert_near(truth.mean_clean_s(2 * TERABYTE), 0.93, 1e-9);
    assert_near(truth.rate_before_cliff(WRITES), 15.0e6, 0.01);
    // 0.6 % of what was written was overwritten in the media cache, and 16 MiB are in the write cache.
    let cliff = -2e12 * (1.0 - 23.0 / 2000.0f64).ln() + 16.8e6;
    assert_near(truth.cliff_bytes(WRITES).unwrap(), cliff, 1e-4);
    assert_near(truth.rate_after_cliff(WRITES, 39.5e9).unwrap(), 0.60e6, 0.05);
    // 1/(1/15 + 0.93·2 000 000/(1.7·23 000·30)) MB/s.
    assert_near(truth.rate_with_gain(WRITES, 1.7), 0.605e6, 0.01);
    assert_near(truth.rate_with_gain(WRITES, 2.0), 0.709e6, 0.01);
}

/// The reference calculation: 0.55 s outside with three passes at 185 MB/s and 20 ms a positioning, 1.06 s inside at 90 MB/s. This
/// disk positions in 10 to 21 ms; Skylight measured 0.6 to 1.6 s.
#[test]
fn a_band_takes_as_long_as_its_passes() {
    let smr = SmrProfile::plain(CACHE, 250_000, BAND);
    let truth = ShingledTruth::new(Bytes::new(2 * TERABYTE), &disk(), &smr);
    let band = |byte| clean_s(&truth.mechanism, &truth.smr, &truth.bands.range(truth.bands.of(byte)));
    let (outer, inner) =
        (truth.sequential_bytes_per_second(0), truth.sequential_bytes_per_second(2 * TERABYTE - 1));
    assert_near(outer, 190e6, 0.01);
    assert_near(inner, 90e6, 0.01);
    assert_near(band(0), 3.0 * 30.0 / 190.0 + 3.0 * 0.006, 0.02);
    let last = truth.bands.range(truth.bands.count() - 2);
    let seek_s = 0.017;
    assert_near(band(last.start), 3.0 * 30.0 / 90.0 + 3.0 * (seek_s + 1.0 / 240.0), 0.01);
}

#[test]
fn a_small_span_has_no_cliff() {
    let truth = truth(0.93);
    let within = |span_bytes| truth.cliff_bytes(RandomWrites { span_bytes, ..WRITES });
    assert_eq!(within(20_000_000_000), None);
    assert_eq!(truth.rate_after_cliff(RandomWrites { span_bytes: 20_000_000_000, ..WRITES }, 1e9), None);
    assert!(within(25_000_000_000).is_some_and(|bytes| bytes > 50e9));
    // Entries are full at 250,000 of them: 1 GB of 4 KiB.
    let small = truth.cliff_bytes(RandomWrites { request_bytes: 4096, ..WRITES }).unwrap();
    assert_near(small, 250_000.0 * 4096.0 + 16.8e6, 0.001);
}

/// 2 TB in bands of 30 MB: 67,000 of them, of which 93 % are dirty when the cache is full of 128 KiB (2.6 each).
#[test]
fn draining_takes_a_band_after_the_other() {
    let truth = truth(0.55);
    let dirty = truth.dirty_bands(WRITES, 23e9);
    assert_near(dirty, 66_660.0 * (1.0 - (-2.632f64).exp()), 0.001);
    // The reference calculation: 67,000 bands of 0.55 s are 10 h.
    assert_near(truth.drain_s(WRITES, 23e9) / 3600.0, 10.0 * 0.928, 0.02);
    assert_near(truth.idle_recovery_bytes_per_second(WRITES, 23e9).unwrap(), 23e9 / (dirty * 0.55), 1e-3);
    let lazy = SmrProfile { cleaning: CleaningPolicy::Lazy, ..calibrated(2 * TERABYTE, 2 * TERABYTE, 0.55) };
    let lazy = ShingledTruth::new(Bytes::new(2 * TERABYTE), &disk(), &lazy);
    assert_eq!(lazy.idle_recovery_bytes_per_second(WRITES, 10e9), None);
    assert!(lazy.idle_recovery_bytes_per_second(WRITES, 20e9).is_some());
}

#[test]
fn reading_begins_behind_the_media_cache() {
    let truth = truth(0.93);
    let mean = 2e12 / truth.pass_s();
    assert!(mean > 90e6 && mean < 190e6);
    assert_eq!(truth.band_bytes(0), BAND);
    assert_eq!(truth.band_bytes(2 * TERABYTE - 1), 2 * TERABYTE % BAND);
}
