//! Layouts as they were measured, and what holds for all of them.

use super::*;
use crate::disk::profile::{TrackLayout, ZoneProfile};
use model::units::Bytes;
use proptest::prelude::*;

fn profile(layout: TrackLayout, serpentine_tracks: u64) -> GeometryProfile {
    GeometryProfile {
        sector_bytes: 512,
        surfaces: 3,
        layout,
        serpentine_tracks,
        track_skew_turns: 0.1,
        surface_skew_turns: Some(0.5),
        group_skew_turns: None,
        spare_cylinders_per_zone: 0,
        zones: vec![
            ZoneProfile { cylinders: 8, sectors_per_track: vec![10, 10, 10] },
            ZoneProfile { cylinders: 5, sectors_per_track: vec![6, 5, 6] },
        ],
        generated_zones: None,
    }
}

fn geometry(layout: TrackLayout, serpentine_tracks: u64) -> Geometry {
    profile(layout, serpentine_tracks).build(Bytes::new(1)).unwrap()
}

fn track_order(geometry: &Geometry) -> Vec<(u64, u32)> {
    let mut order: Vec<(u64, u32)> = Vec::new();
    for sector in 0..geometry.sectors() {
        let place = geometry.place(sector);
        if order.last() != Some(&(place.cylinder, place.surface)) {
            order.push((place.cylinder, place.surface));
        }
    }
    order
}

#[test]
fn the_picture_at_the_head_of_the_file_is_right() {
    let order = track_order(&geometry(TrackLayout::AF, 4));
    let columns = |from: usize| order[from..from + 4].to_vec();
    assert_eq!(columns(0), [(0, 0), (1, 0), (2, 0), (3, 0)]);
    assert_eq!(columns(4), [(3, 1), (2, 1), (1, 1), (0, 1)]);
    assert_eq!(columns(8), [(0, 2), (1, 2), (2, 2), (3, 2)]);
    assert_eq!(columns(12), [(7, 0), (6, 0), (5, 0), (4, 0)]);
}

/// Each layout of Wong 2019 by the tracks with which it begins, two to a serpentine where it has serpentines.
#[test]
fn each_layout_goes_its_way() {
    let first = |layout, tracks, count: usize| track_order(&geometry(layout, tracks))[..count].to_vec();
    assert_eq!(first(TrackLayout::F, 1, 5), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
    assert_eq!(first(TrackLayout::A, 1, 7), [(0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0), (2, 0)]);
    assert_eq!(first(TrackLayout::FF, 2, 8)[..4], [(0, 0), (1, 0), (0, 1), (1, 1)]);
    assert_eq!(first(TrackLayout::FF, 2, 8)[4..], [(0, 2), (1, 2), (2, 0), (3, 0)]);
    assert_eq!(first(TrackLayout::FA, 2, 8)[4..], [(0, 2), (1, 2), (2, 2), (3, 2)]);
    assert_eq!(first(TrackLayout::AF, 2, 8)[2..], [(1, 1), (0, 1), (0, 2), (1, 2), (3, 0), (2, 0)]);
    assert_eq!(first(TrackLayout::AA, 2, 8)[2..], [(1, 1), (0, 1), (0, 2), (1, 2), (3, 2), (2, 2)]);
}

/// The change to the next cylinder has a skew of its own.
#[test]
fn skews_are_where_they_are_said_to_be() {
    let mut profile = profile(TrackLayout::F, 1);
    profile.group_skew_turns = Some(0.25);
    let geometry = profile.build(Bytes::new(1)).unwrap();
    let starts: Vec<f64> = [0, 10, 20, 30, 40].map(|sector| geometry.place(sector).revolutions).to_vec();
    for (start, expected) in starts.iter().zip([0.0, 1.5, 3.0, 4.25, 5.75]) {
        assert!((start - expected).abs() < 1e-12, "{starts:?}");
    }
}

#[test]
fn spare_cylinders_are_behind_each_zone() {
    let mut profile = profile(TrackLayout::AF, 4);
    profile.spare_cylinders_per_zone = 2;
    let geometry = profile.build(Bytes::new(1)).unwrap();
    assert_eq!(geometry.cylinders(), 17);
    assert_eq!(geometry.spare_cylinder(0), 8);
    assert_eq!(geometry.place(8 * 30).cylinder, 10, "the first zone had an even number of serpentines");
    assert_eq!(geometry.spare_cylinder(8 * 30), 15);
}

#[test]
fn what_cannot_be_is_named() {
    let refusal = |change: fn(&mut GeometryProfile)| {
        let mut profile = profile(TrackLayout::FF, 4);
        change(&mut profile);
        profile.build(Bytes::new(1)).unwrap_err().key
    };
    assert_eq!(refusal(|g| g.zones.clear()), "zones");
    assert_eq!(refusal(|g| g.sector_bytes = 520), "sector_bytes");
    assert_eq!(refusal(|g| g.surfaces = 0), "surfaces");
    assert_eq!(refusal(|g| g.serpentine_tracks = 0), "serpentine_tracks");
    assert_eq!(refusal(|g| g.layout = TrackLayout::A), "serpentine_tracks");
    assert_eq!(refusal(|g| g.track_skew_turns = f64::NAN), "track_skew_turns");
    assert_eq!(refusal(|g| g.zones[1].sectors_per_track.truncate(2)), "zones.1.sectors_per_track");
    assert_eq!(refusal(|g| g.zones[1].sectors_per_track[2] = 0), "zones.1.sectors_per_track");
    assert_eq!(refusal(|g| g.zones[1].cylinders = 0), "zones.1.cylinders");
    assert_eq!(refusal(|g| g.zones[0].cylinders = u64::MAX), "zones.0.cylinders");
}

fn any_layout() -> impl Strategy<Value = TrackLayout> {
    prop_oneof![Just(TrackLayout::FF), Just(TrackLayout::AF), Just(TrackLayout::AA), Just(TrackLayout::FA),]
}

proptest! {
    /// Each track of each surface comes once; within a track the platter turns by one sector from one to the
    /// next, and between tracks by a skew more.
    #[test]
    fn every_track_comes_once_and_time_only_grows(layout in any_layout(), tracks in 1u64..12) {
        let geometry = geometry(layout, tracks);
        let order = track_order(&geometry);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), order.len());
        prop_assert_eq!(order.len(), 13 * 3);
        for sector in 1..geometry.sectors() {
            let (before, here) = (geometry.place(sector - 1), geometry.place(sector));
            let step = here.revolutions - before.end_revolutions();
            prop_assert!(step.abs() < 1e-9 || (step - 0.1).abs() < 1e-9 || (step - 0.5).abs() < 1e-9, "{}", step);
        }
    }

    #[test]
    fn what_has_passed_is_the_inverse_of_where(layout in any_layout(), tracks in 1u64..12, later in 0.0f64..0.9) {
        let geometry = geometry(layout, tracks);
        for sector in 0..geometry.sectors() {
            let place = geometry.place(sector);
            let during = place.revolutions + later / f64::from(place.sectors_per_track);
            prop_assert_eq!(geometry.sectors_within(during), sector);
            prop_assert_eq!(geometry.sectors_within(place.end_revolutions()), sector + 1);
        }
    }

    #[test]
    fn reading_in_parts_takes_as_long_as_at_once(cut in 1u64..300) {
        let geometry = geometry(TrackLayout::AA, 3);
        let whole = geometry.revolutions_over(0, geometry.sectors());
        let gap = geometry.place(cut).revolutions - geometry.revolutions_over(0, cut);
        let parts =
            geometry.revolutions_over(0, cut) + gap + geometry.revolutions_over(cut, geometry.sectors() - cut);
        prop_assert!((whole - parts).abs() < 1e-9);
    }
}
