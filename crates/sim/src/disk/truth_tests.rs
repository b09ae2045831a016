//! The truth against what was published.

use super::*;
use crate::disk::closed_loop::ClosedLoop;
use crate::disk::drive::DiskDrive;
use crate::disk::published::{DISK_4TB_CAPACITY, disk_4tb};
use crate::profile::plain_facts;
use model::prng::Prng;

/// Published: 165.3 MB/s outside, 82.7 inside. With zones of as many cylinders each, the mean by time is that of the
/// sectors on their tracks: 2304, three quarters of the outer ones.
#[test]
fn the_model_has_its_published_rates() {
    let disk = DiskTruth::new(&disk_4tb(), DISK_4TB_CAPACITY);
    let (outer, inner) = disk.edge_rates();
    let mean = disk.mean_rate();
    assert!((outer / 165.3e6 - 1.0).abs() < 0.001, "{outer}");
    assert!((inner / 82.7e6 - 1.0).abs() < 0.002, "{inner}");
    assert!((mean / (0.75 * outer) - 1.0).abs() < 0.001, "{mean}");
}

/// Published: 81 reads a second at depth 1, a mean seek of 7.93 ms.
#[test]
fn a_single_read_takes_what_was_published() {
    let disk = DiskTruth::new(&disk_4tb(), DISK_4TB_CAPACITY);
    let iops = 1.0 / disk.access_s(4096);
    assert!((iops / 81.0 - 1.0).abs() < 0.02, "{iops}");
    assert!((disk.seek_average_s(0) * 1e3 - 7.93).abs() < 0.05);
}

fn published() -> DiskTruth {
    DiskTruth::new(&disk_4tb(), DISK_4TB_CAPACITY)
}

/// By hand: 5886 cylinders of 10 tracks of 3072 sectors in the first zone; 1.496 + 0.01918 ms to the next cylinder and
/// 4.510 + 3.14·10⁻⁵·353,159 ms over all. Published: 201 MB to a serpentine outside.
#[test]
fn the_published_model_by_hand() {
    let disk = published();
    let zones = disk.zones();
    assert_eq!(zones.len(), 60);
    assert_eq!((zones[0].first_byte, zones[0].bytes), (0, 92_578_775_040));
    assert_eq!(zones[59].sectors_per_track, vec![1536; 10]);
    assert_eq!(zones.iter().map(|zone| zone.bytes).sum::<u64>(), 4_166_918_830_080);
    assert_eq!(disk.stripe_bytes(0), vec![201_326_592; 10]);
    assert!((disk.seek_track_to_track_s() - 1.515_18e-3).abs() < 1e-9);
    assert!((disk.seek_full_stroke_s(0) - 15.599_19e-3).abs() < 1e-6, "{}", disk.seek_full_stroke_s(0));
    assert!((disk.rotation_period_s() - 8.333_333e-3).abs() < 1e-9);
    assert_eq!((disk.surfaces(), disk.track_skew_turns()), (10, 0.141_669));
}

/// A drive that shows less than its platters hold ends within a zone.
#[test]
fn what_is_not_shown_is_no_zone() {
    let disk = DiskTruth::new(&disk_4tb(), Bytes::new(100_000_000_000));
    let zones = disk.zones();
    assert_eq!(zones.len(), 2);
    assert_eq!(zones[1].bytes, 100_000_000_000 - 92_578_775_040);
}

/// The mean of 6000 single reads, over all of the disk and over its outer tenth, is what was computed: within 2 %.
#[test]
fn single_reads_take_what_the_truth_says() {
    let mut profile = disk_4tb();
    profile.read_ahead.segments = 0;
    let truth = DiskTruth::new(&profile, DISK_4TB_CAPACITY);
    for span_bytes in [DISK_4TB_CAPACITY.get(), DISK_4TB_CAPACITY.get() / 10] {
        let mut drive = DiskDrive::new(plain_facts("sim:test", DISK_4TB_CAPACITY), &profile, 1);
        let mut prng = Prng::new(8, 0);
        let blocks = span_bytes / 4096;
        let (_, latencies) = ClosedLoop::reads(1, 6000).run(&mut drive, |_| prng.below(blocks) * 4096);
        let mean_s = latencies.iter().sum::<f64>() / 6000.0;
        let expected_s = truth.access_within_s(0, span_bytes, 4096);
        assert!((mean_s / expected_s - 1.0).abs() < 0.02, "{mean_s} {expected_s}");
    }
}

/// All of a small disk read in order: from the first sector on it takes the turns that were added up.
#[test]
fn a_pass_takes_the_sum_of_its_turns() {
    let mut profile = disk_4tb();
    profile.geometry.zones.truncate(3);
    for zone in &mut profile.geometry.zones {
        zone.cylinders = 300;
    }
    profile.geometry.surface_skew_turns = Some(0.6);
    let sectors = profile.geometry.build(Bytes::new(512)).unwrap().sectors();
    let capacity = Bytes::new(sectors * 512 / (1 << 20) * (1 << 20));
    let truth = DiskTruth::new(&profile, capacity);
    let mut drive = DiskDrive::new(plain_facts("sim:test", capacity), &profile, 1);
    let host = ClosedLoop { length_bytes: 1 << 20, ..ClosedLoop::reads(1, (capacity.get() >> 20) as usize) };
    let (per_second, _) =
        host.run(&mut drive, |index| ((index as u64) << 20).min(capacity.get() - (1 << 20)));
    let took_s = (capacity.get() >> 20) as f64 / per_second;
    assert!(
        took_s > truth.full_pass_s() && took_s < truth.full_pass_s() + 0.02,
        "{took_s} {}",
        truth.full_pass_s()
    );
}
