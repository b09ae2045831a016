//! Profiles for property tests: small disks of every make that passes its check.

use crate::disk::profile::{
    Defect, DefectKind, DiskProfile, GeneratedZones, GeometryProfile, QueuePolicy, QueueProfile,
    ReadAheadProfile, SeekProfile, StandbyProfile, TrackLayout, WriteCacheProfile,
};
use model::units::Bytes;
use proptest::prelude::*;

prop_compose! {
    pub(crate) fn any_geometry()(
        layout in prop_oneof![
            Just(TrackLayout::F), Just(TrackLayout::A), Just(TrackLayout::FF),
            Just(TrackLayout::AF), Just(TrackLayout::AA), Just(TrackLayout::FA),
        ],
        surfaces in 1u32..6,
        tracks in 1u64..9,
        skews in (0.0f64..0.4, proptest::option::of(0.0f64..0.9), proptest::option::of(0.0f64..0.9)),
        spare in 0u64..3,
        zone_count in 1u32..5,
        outer in 8u32..40,
        inner in 4u32..30,
        cylinders in 5u64..60,
        spread in 0.0f64..0.3,
        seed in any::<u64>(),
    ) -> GeometryProfile {
        let by_cylinder = matches!(layout, TrackLayout::F | TrackLayout::A);
        GeometryProfile {
            sector_bytes: 4096,
            surfaces,
            layout,
            serpentine_tracks: if by_cylinder { 1 } else { tracks },
            track_skew_turns: skews.0,
            surface_skew_turns: skews.1,
            group_skew_turns: skews.2,
            spare_cylinders_per_zone: spare,
            zones: Vec::new(),
            generated_zones: Some(GeneratedZones {
                zone_count,
                sectors_per_track_outer: outer,
                sectors_per_track_inner: inner.min(outer),
                cylinders: Some(cylinders.max(u64::from(zone_count))),
                surface_densities: Vec::new(),
                surface_spread: spread,
                surface_seed: seed,
            }),
        }
    }
}

fn any_seek() -> impl Strategy<Value = SeekProfile> {
    prop_oneof![
        (0.3f64..2.0, 0.001f64..0.5).prop_map(|(constant_ms, root_ms)| SeekProfile::RootThenLinear {
            constant_ms,
            root_ms,
            long_constant_ms: constant_ms + 0.5 * root_ms * 400f64.sqrt(),
            linear_ms: 0.5 * root_ms / 400f64.sqrt(),
            border_cylinders: 400.0,
        }),
        (0.3f64..2.0, 0.0f64..0.1).prop_map(|(first_ms, step_ms)| SeekProfile::Table {
            points: (0..20)
                .map(|step| (1.0 + 7.0 * f64::from(step), first_ms + step_ms * f64::from(step)))
                .collect(),
        }),
        (0.3f64..1.0, 5.0f64..10.0).prop_map(|(track_to_track_ms, average_ms)| SeekProfile::DataSheet {
            track_to_track_ms,
            average_ms,
            full_stroke_ms: 2.0 * average_ms,
        }),
    ]
}

fn any_queue() -> impl Strategy<Value = QueueProfile> {
    let policy = prop_oneof![
        Just(QueuePolicy::FirstCome),
        Just(QueuePolicy::ShortestPositioning),
        Just(QueuePolicy::Aged)
    ];
    (policy, 1u32..40, 0.0f64..1.0, any::<bool>()).prop_map(|(policy, depth, age_weight, breaks_streams)| {
        QueueProfile { policy, depth, age_weight, breaks_streams }
    })
}

/// Defects one behind the other, each some sectors after the one before.
fn any_defects(sectors: u64, has_spares: bool) -> impl Strategy<Value = Vec<Defect>> {
    let kind = prop_oneof![Just(DefectKind::Remapped), Just(DefectKind::Slow), Just(DefectKind::Unreadable)];
    proptest::collection::vec((kind, 0u64..300, 1u64..20, 0u32..300), 0..6).prop_map(move |drawn| {
        let mut at = 0;
        let mut defects = Vec::new();
        for (kind, gap, count, retry_turns) in drawn {
            let first = at + gap;
            at = first + count;
            if at <= sectors && (has_spares || kind != DefectKind::Remapped) {
                defects.push(Defect { kind, first_byte: first * 4096, bytes: count * 4096, retry_turns });
            }
        }
        defects
    })
}

prop_compose! {
    /// A profile and the capacity with which it passes its check.
    pub(crate) fn any_disk()(geometry in any_geometry())(
        sectors in Just(geometry.build(Bytes::new(4096)).expect("a geometry").sectors()),
        defects in {
            let sectors = geometry.build(Bytes::new(4096)).expect("a geometry").sectors();
            any_defects(sectors, geometry.spare_cylinders_per_zone > 0)
        },
        geometry in Just(geometry),
        seek in any_seek(),
        queue in any_queue(),
        turns_per_minute in 3600.0f64..15_000.0,
        seek_noise in 0.0f64..0.25,
        times in (0.0f64..2.0, 0.0f64..1.0, 0.0f64..1.0),
        segments in 0u32..5,
        segment_kib in 4u64..300,
        write_cache_kib in prop_oneof![Just(0u64), 1u64..2000],
        standby in proptest::option::of((0.01f64..2.0, 0.0f64..10.0, any::<bool>())),
    ) -> (DiskProfile, Bytes) {
        let mut profile = DiskProfile {
            turns_per_minute,
            seek_noise,
            head_switch_ms: times.0,
            write_settle_ms: times.1,
            command_overhead_ms: times.2,
            geometry,
            seek,
            read_ahead: ReadAheadProfile { segments, segment_kib, ahead_kib: None, drops_delivered: false, on_arrival: false, sequential_only: false },
            write_cache: WriteCacheProfile { capacity_kib: write_cache_kib, ..WriteCacheProfile::default() },
            queue,
            standby: standby
                .map(|(after_idle_s, wake_up_s, asleep)| StandbyProfile { after_idle_s, wake_up_s, asleep }),
            defects,
        };
        let capacity = Bytes::new(sectors * 4096);
        // More than the spare cylinders hold.
        if profile.check(capacity).is_err() {
            profile.defects.retain(|defect| defect.kind != DefectKind::Remapped);
        }
        (profile, capacity)
    }
}
