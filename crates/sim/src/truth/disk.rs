//! What is true of hard disks, shingled or not.

use crate::disk::profile::{DefectKind, DiskProfile, ReadAheadProfile};
use crate::disk::truth::DiskTruth;
use crate::link::LinkNumbers;
use crate::smr::profile::{SmrProfile, disk_on_platter};
use crate::smr::truth::{RandomWrites, ShingledTruth};
use crate::truth::data::{Cliff, Region, TrackZone, TruthData};
use crate::truth::extents::{Extent, REQUEST_BYTES, WRITE_RATES, link_access_s, rates};
use crate::truth::value::{
    ACCESS_BYTES, SPAN_SHARE, Truth, flush, one_drive, span_effect, takes_one_command, write_cache,
};
use model::finding::FindingCode;
use model::units::{Bytes, KIB};

/// Size of the random writes by which a cliff is looked for, as in the article that found it.
const CLIFF_WRITE_BYTES: u64 = 128 * KIB;
/// The rate after the cliff is the mean over so many times what was written before it.
const AFTER_CLIFF: f64 = 2.0;

pub(super) fn extents(disk: &DiskProfile, capacity: Bytes) -> Vec<Extent> {
    let cached_write_s = disk.command_overhead_ms / 1e3;
    let mut extents = Vec::new();
    for zone in DiskTruth::new(disk, capacity).zones() {
        let extent = Extent::even(zone.first_byte, zone.bytes, zone.bytes_per_second);
        extents.push(Extent { cached_write_s, ..extent });
    }
    extents
}

/// The platter of a shingled disk begins with the media cache, which the host does not see.
pub(super) fn shingled_extents(disk: &DiskProfile, smr: &SmrProfile, capacity: Bytes) -> Vec<Extent> {
    let (platter, disk) = disk_on_platter(capacity, disk, smr);
    let hidden = smr.media_cache_bytes;
    let mut seen = Vec::new();
    for extent in extents(&disk, platter) {
        let (first, end) = (extent.first_byte.max(hidden), extent.end_byte());
        if end > first {
            seen.push(Extent { first_byte: first - hidden, bytes: end - first, ..extent });
        }
    }
    seen
}

pub(super) fn truths(disk: &DiskProfile, capacity: Bytes, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let truth = DiskTruth::new(disk, capacity);
    let mut truths = stream_rates(&extents(disk, capacity), disk, link);
    truths.extend(mechanism(disk, &truth, 0, capacity, link));
    truths.push(Truth::word(FindingCode::RecordingKind, "cmr"));
    truths.push(Truth::absent(FindingCode::WriteCliff));
    truths.push(Truth::absent(FindingCode::WriteValleys));
    truths
}

/// The sequential rates, as far as requests stream. Where the link queues no commands, the next request comes after
/// the last completion: then only read-ahead keeps reads from losing a revolution each, and only a write cache keeps
/// writes from it. How many are lost has no closed form, and nothing is said.
fn stream_rates(extents: &[Extent], disk: &DiskProfile, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let mut truths = rates(extents, link);
    if link.is_some_and(takes_one_command) {
        if disk.read_ahead.ahead_bytes() < u64::from(REQUEST_BYTES) {
            truths.retain(|truth| WRITE_RATES.contains(&truth.code));
        }
        if disk.write_cache.capacity_kib == 0 {
            truths.retain(|truth| !WRITE_RATES.contains(&truth.code));
        }
    }
    truths
}

pub(super) fn shingled_truths(
    disk: &DiskProfile,
    smr: &SmrProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Truth> {
    let (platter, on_platter) = disk_on_platter(capacity, disk, smr);
    let mut truths = stream_rates(&shingled_extents(disk, smr, capacity), disk, link);
    let hidden = smr.media_cache_bytes;
    truths.extend(mechanism(disk, &DiskTruth::new(&on_platter, platter), hidden, capacity, link));
    truths.push(Truth::word(FindingCode::RecordingKind, "smr"));
    truths.push(band_size(smr));
    truths.push(Truth::absent(FindingCode::WriteValleys));
    truths.extend(random_writes(&ShingledTruth::new(capacity, disk, smr).behind(link), smr, capacity));
    truths
}

fn band_size(smr: &SmrProfile) -> Truth {
    let mut zones = Vec::new();
    for zone in &smr.band_zones {
        zones.push(Region { first_byte: zone.first_byte, bytes: zone.band_bytes });
    }
    let first = zones[0].bytes;
    let truth = match zones.iter().all(|zone| zone.bytes == first) {
        true => Truth::number(FindingCode::BandSize, first as f64),
        false => {
            Truth::depends(FindingCode::BandSize, "on where it is looked at: the bands are not of one size")
        }
    };
    truth.with(TruthData::BandZones { zones })
}

/// What follows from rotation and seeks. The host does not see the first `hidden_bytes` of the platter.
fn mechanism(
    disk: &DiskProfile,
    truth: &DiskTruth,
    hidden_bytes: u64,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Truth> {
    let overhead_s = disk.command_overhead_ms / 1e3 + link_access_s(link);
    let span_bytes = (capacity.as_f64() * SPAN_SHARE) as u64;
    let access_bytes = u64::from(ACCESS_BYTES);
    let access_s = truth.access_within_s(hidden_bytes, capacity.get(), access_bytes) + link_access_s(link);
    let span_access_s = truth.access_within_s(hidden_bytes, span_bytes, access_bytes) + link_access_s(link);
    let rotation_s = truth.rotation_period_s();
    let mut truths = vec![
        Truth::number(FindingCode::AccessTime, access_s)
            .with(TruthData::Access { rotation_s: rotation_s / 2.0, overhead_s }),
        span_effect(access_s, span_access_s),
        Truth::number(FindingCode::RotationPeriod, rotation_s)
            .with(TruthData::Rotation { rpm: 60.0 / rotation_s }),
        Truth::number(FindingCode::SeekTrackToTrack, truth.seek_track_to_track_s()),
        Truth::number(FindingCode::SeekAverage, truth.seek_average_s(hidden_bytes)),
        Truth::number(FindingCode::SeekFullStroke, truth.seek_full_stroke_s(hidden_bytes)),
        track_layout(truth, hidden_bytes),
        flush((disk.write_cache.capacity_kib > 0).then_some(disk.write_cache.flush)),
        write_cache(if disk.write_cache.flush.stores() { disk.write_cache.capacity_kib * KIB } else { 0 }),
        drive_cache(&disk.read_ahead),
        read_ahead(&disk.read_ahead),
        one_drive(),
    ];
    // Seeks between random offsets have one mode, since a seek grows ever less with the distance and long distances are
    // rarer; a uniform rotational latency adds no second one (Ibragimov 1956, on unimodal distributions).
    if disk.defects.is_empty() {
        truths.push(Truth::number(FindingCode::LatencyModes, 1.0));
    }
    truths
}

fn drive_cache(read_ahead: &ReadAheadProfile) -> Truth {
    match read_ahead.drops_delivered {
        true => Truth::absent(FindingCode::DriveCache),
        false if read_ahead.on_arrival && read_ahead.ahead_bytes() == 0 => {
            Truth::depends(FindingCode::DriveCache, "each request of a stream caches a whole track again")
        }
        false => Truth::number(FindingCode::DriveCache, read_ahead.cache_bytes() as f64),
    }
}

fn read_ahead(read_ahead: &ReadAheadProfile) -> Truth {
    // Told of single reads, behind which such a disk reads nothing.
    let ahead_bytes = if read_ahead.sequential_only { 0 } else { read_ahead.ahead_bytes() };
    let truth = Truth::number(FindingCode::ReadAhead, ahead_bytes as f64);
    match ahead_bytes {
        0 => truth,
        _ => truth.with(TruthData::Prefetch {
            streams: read_ahead.streams(u64::from(ACCESS_BYTES)),
            keeps_delivered: !read_ahead.drops_delivered,
        }),
    }
}

fn track_layout(truth: &DiskTruth, hidden_bytes: u64) -> Truth {
    let mut zones = Vec::new();
    for zone in truth.zones() {
        if zone.first_byte + zone.bytes > hidden_bytes {
            let first_byte = zone.first_byte.saturating_sub(hidden_bytes);
            zones.push(TrackZone { first_byte, sectors: zone.sectors_per_track });
        }
    }
    Truth::number(FindingCode::TrackLayout, zones.len() as f64).with(TruthData::Tracks {
        sectors_per_track: zones,
        skew: truth.track_skew_turns(),
        surfaces: truth.surfaces(),
    })
}

fn random_writes(truth: &ShingledTruth, smr: &SmrProfile, capacity: Bytes) -> Vec<Truth> {
    let writes = RandomWrites { request_bytes: CLIFF_WRITE_BYTES, span_bytes: capacity.get() };
    let before = truth.rate_before_cliff(writes);
    let Some(cliff_bytes) = truth.cliff_bytes(writes) else {
        return vec![Truth::absent(FindingCode::WriteCliff)];
    };
    let mut truths = Vec::new();
    if let Some(after) = truth.rate_after_cliff(writes, AFTER_CLIFF * cliff_bytes) {
        let cliff = Cliff::new(before, after);
        truths.push(
            Truth::number(FindingCode::WriteCliff, cliff_bytes)
                .with(TruthData::MediaCache { cliff, media_cache_bytes: smr.media_cache_bytes }),
        );
        truths.push(Truth::number(FindingCode::WriteSteadyState, after));
    }
    if let Some(recovered) = truth.idle_recovery_bytes_per_second(writes, cliff_bytes) {
        truths.push(Truth::number(FindingCode::IdleRecovery, recovered));
    }
    truths
}

pub(super) fn defects(disk: &DiskProfile, kind: DefectKind) -> Vec<Region> {
    let mut regions = Vec::new();
    for defect in &disk.defects {
        if defect.kind == kind {
            regions.push(Region { first_byte: defect.first_byte, bytes: defect.bytes });
        }
    }
    regions
}
