//! The arm against arithmetic by hand, and what is quick against what is plain.

use super::*;
use crate::disk::any_profile::any_geometry;
use crate::disk::profile::{GeometryProfile, SeekProfile};
use crate::disk::published::{DISK_4TB_CAPACITY, disk_4tb};
use proptest::prelude::*;

const TURN_S: f64 = 60.0 / 7200.0;

fn plain() -> DiskProfile {
    let mut profile = disk_4tb();
    profile.seek_noise = 0.0;
    profile
}

fn mechanism(profile: &DiskProfile) -> Mechanism {
    profile.check(DISK_4TB_CAPACITY).unwrap();
    Mechanism::new(DISK_4TB_CAPACITY, profile, 1)
}

/// The first sector of the disk, from rest at 0: after 8.2 ms of 8.33 the platter has 0.13 ms to go.
#[test]
fn a_sector_comes_by_once_a_turn() {
    let mechanism = mechanism(&plain());
    let place = mechanism.place_of(0);
    assert!((mechanism.positioning_s(&place, 0.0, false)).abs() < 1e-12);
    assert!((mechanism.positioning_s(&place, 8.2e-3, false) - (TURN_S - 8.2e-3)).abs() < 1e-12);
    assert!(
        (mechanism.positioning_s(&place, 8.2e-3 + 1000.0 * TURN_S, false) - (TURN_S - 8.2e-3)).abs() < 1e-9
    );
}

/// 20,000 cylinders in: 1.496 + 0.01918·√20000 = 4.2084 ms of seek, then the wait for its angle.
#[test]
fn a_seek_is_followed_by_the_wait_for_the_angle() {
    let mechanism = mechanism(&plain());
    let geometry = mechanism.geometry();
    let sector =
        (0..).map(|index| index * 1_000_000).find(|&sector| geometry.place(sector).cylinder >= 20_000);
    let place = geometry.place(sector.unwrap());
    let seek_s = 1.496e-3 + 0.019_18e-3 * (place.cylinder as f64).sqrt();
    assert!((seek_s - 4.21e-3).abs() < 0.01e-3);
    let wait = (place.revolutions - (1.0 + seek_s) / TURN_S).rem_euclid(1.0) * TURN_S;
    assert!((mechanism.positioning_s(&place, 1.0, false) - seek_s - wait).abs() < 1e-9);
}

#[test]
fn what_follows_at_once_costs_its_own_turns_only() {
    let mut mechanism = mechanism(&plain());
    let first = mechanism.transfer(1 << 40, 1 << 20, true, 1.0);
    let second = mechanism.transfer((1 << 40) + (1 << 20), 1 << 20, true, first.end_s);
    let geometry = mechanism.geometry();
    let turns = geometry.revolutions_over((1 << 40) / 512, (2 << 20) / 512);
    assert!((second.end_s - first.first_s - turns * TURN_S).abs() < 1e-9);
    // A moment later it has passed.
    let third = mechanism.transfer((1 << 40) + (2 << 20), 512, true, second.end_s + 1e-4);
    assert!((third.first_s - second.end_s) > 0.9 * TURN_S, "{}", third.first_s - second.end_s);
}

#[test]
fn a_write_settles_unless_it_writes_on() {
    let mut profile = plain();
    profile.write_settle_ms = 0.5;
    let mut mechanism = mechanism(&profile);
    let place = mechanism.place_of(3 << 40);
    let gap_s = mechanism.reach_s(&place, true) - mechanism.reach_s(&place, false);
    assert!((gap_s - 0.5e-3).abs() < 1e-12);
    let end_s = mechanism.transfer(3 << 40, 4096, true, 0.0).end_s;
    let on_the_track = mechanism.place_of((3 << 40) + 8192);
    assert_eq!(mechanism.reach_s(&on_the_track, true), 0.0);
    assert!(end_s > 0.0);
}

#[test]
fn part_of_a_sector_is_read_before_it_is_written() {
    let mut profile = plain();
    profile.geometry.sector_bytes = 4096;
    let capacity = Bytes::new(8 * DISK_4TB_CAPACITY.get());
    profile.check(capacity).unwrap();
    let took = |length_bytes| {
        let transfer = Mechanism::new(capacity, &profile, 1).transfer(1 << 30, length_bytes, true, 0.0);
        (transfer.end_s - transfer.first_s) / TURN_S
    };
    assert!(took(4096) < 0.01);
    assert!((took(512) - 1.0).abs() < 0.01, "{}", took(512));
}

#[test]
fn defects_end_a_stretch_in_which_all_is_sound() {
    let mut profile = plain();
    let at = |first_byte| Defect { kind: DefectKind::Slow, first_byte, bytes: 4096, retry_turns: 1 };
    profile.defects = vec![at(1 << 30), at(1 << 31)];
    let mechanism = mechanism(&profile);
    assert_eq!(mechanism.sound_until(0, 1 << 20), 1 << 20);
    assert_eq!(mechanism.sound_until(0, 1 << 32), 1 << 30);
    assert_eq!(mechanism.sound_until((1 << 30) + 512, 1 << 32), (1 << 30) + 512);
    assert_eq!(mechanism.sound_until((1 << 30) + 4096, 1 << 32), 1 << 31);
    assert_eq!(mechanism.sound_until(1 << 32, 1 << 33), 1 << 33);
}

/// A sector found by going through all tracks before it: zone after zone, group after group.
fn plain_place(profile: &GeometryProfile, zones: &[(u64, Vec<u32>)], sector: u64) -> (u64, u32, f64) {
    let (seek, surface_order) = profile.layout.orders();
    let alternates = |order| order == crate::disk::geometry::Order::Alternating;
    let surface_skew = profile.surface_skew_turns.unwrap_or(profile.track_skew_turns);
    let group_skew = profile.group_skew_turns.unwrap_or(surface_skew);
    let (mut left, mut revolutions, mut first_cylinder) = (sector, 0.0, 0);
    let (mut groups, mut serpentines) = (0, 0);
    for (cylinders, counts) in zones {
        let mut column = 0;
        while column < *cylinders {
            let width = profile.serpentine_tracks.min(cylinders - column);
            for turn in 0..counts.len() {
                let back = alternates(surface_order) && groups % 2 == 1;
                let surface = if back { counts.len() - 1 - turn } else { turn };
                for track in 0..width {
                    let count = u64::from(counts[surface]);
                    if left < count {
                        let outwards = alternates(seek) && serpentines % 2 == 1;
                        let step = if outwards { width - 1 - track } else { track };
                        let angle = left as f64 / count as f64;
                        return (first_cylinder + column + step, surface as u32, revolutions + angle);
                    }
                    left -= count;
                    revolutions += 1.0 + if track + 1 < width { profile.track_skew_turns } else { 0.0 };
                }
                revolutions += if turn + 1 < counts.len() { surface_skew } else { group_skew };
                serpentines += 1;
            }
            groups += 1;
            column += width;
        }
        first_cylinder += cylinders + profile.spare_cylinders_per_zone;
    }
    unreachable!("a sector of the disk");
}

proptest! {
    #[test]
    fn a_place_is_found_as_by_going_there(profile in any_geometry()) {
        let geometry = profile.build(Bytes::new(4096)).unwrap();
        let zones: Vec<_> = geometry
            .zones()
            .map(|(_, zone)| (zone.cylinders, zone.sectors_per_track.clone()))
            .collect();
        for sector in 0..geometry.sectors() {
            let place = geometry.place(sector);
            let (cylinder, surface, revolutions) = plain_place(&profile, &zones, sector);
            prop_assert_eq!((place.cylinder, place.surface), (cylinder, surface));
            prop_assert!((place.revolutions - revolutions).abs() < 1e-7, "{} {}", place.revolutions, revolutions);
            prop_assert!((0.0..1.0).contains(&place.angle_turns));
            prop_assert_eq!(geometry.sectors_within(place.end_revolutions()), sector + 1);
        }
    }

    /// The quick way to a positioning time against the formula of the reference calculation: longer of seek and switch, settling, wait.
    #[test]
    fn positioning_is_the_plain_formula(
        from in 0u64..900_000_000, to in 0u64..900_000_000, start_s in 0.0f64..100_000.0, writes in any::<bool>(),
    ) {
        let mut profile = plain();
        (profile.head_switch_ms, profile.write_settle_ms) = (2.0, 0.4);
        let points: Vec<(f64, f64)> = (0..200).map(|i| (1.0 + 1800.0 * f64::from(i), 1.0 + 0.08 * f64::from(i))).collect();
        profile.seek = SeekProfile::Table { points: points.clone() };
        let mut mechanism = mechanism(&profile);
        let end_s = mechanism.transfer(from * 4096, 4096, false, 0.0).end_s;
        let start_s = start_s.max(end_s + 1e-6);
        let (here, there) = (mechanism.place_of(from * 4096 + 4095), mechanism.place_of(to * 4096));
        let distance = here.cylinder.abs_diff(there.cylinder) as f64;
        let index = points.iter().rposition(|point| point.0 <= distance).unwrap_or(0).min(points.len() - 2);
        let ((d0, t0), (d1, t1)) = (points[index], points[index + 1]);
        let seek_ms = if distance == 0.0 { 0.0 } else { t0 + (t1 - t0) * ((distance - d0) / (d1 - d0)).min(1.0) };
        let switch_ms = if here.surface == there.surface { 0.0 } else { 2.0 };
        let reach_s = (f64::max(seek_ms, switch_ms) + if writes { 0.4 } else { 0.0 }) / 1e3;
        let wait = (there.revolutions - (start_s + reach_s) / TURN_S).rem_euclid(1.0);
        let quick = mechanism.positioning_s(&there, start_s, writes);
        let error = (quick - reach_s) / TURN_S - wait;
        // A wait of nearly a turn and none at all are the same angle.
        prop_assert!(error.abs() < 2e-6 || (error.abs() - 1.0).abs() < 2e-6, "{} {}", quick, wait);
    }
}
