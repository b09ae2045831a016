//! The truth against what was published.

use super::*;
use crate::disk::published::{DISK_4TB_CAPACITY, disk_4tb};

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
    assert!((disk.seek_average_s() * 1e3 - 7.93).abs() < 0.05);
}
