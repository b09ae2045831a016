//! What is true of hard disks, shingled or not.

use crate::disk::profile::{DefectKind, DiskProfile};
use crate::disk::truth::{DiskTruth, ZoneTruth};
use crate::link::LinkNumbers;
use crate::smr::profile::{BandZone, SmrProfile, disk_on_platter};
use crate::smr::truth::{RandomWrites, ShingledTruth};
use crate::truth::stretches::{REQUEST_BYTES, Stretch, WRITE_RATES, link_access_s, rates};
use crate::truth::{ACCESS_BYTES, Answer, SPAN_SHARE, Truth, one_drive, span_effect};
use model::finding::{Datum, FindingCode};
use model::units::{Bytes, KIB};

/// The random writes by which a cliff is looked for, as in the article that found it.
const CLIFF_WRITE_BYTES: u64 = 128 * KIB;
/// The rate after the cliff is the mean over so many times what was written before it.
const AFTER_CLIFF: f64 = 2.0;

pub(super) fn stretches(disk: &DiskProfile, capacity: Bytes) -> Vec<Stretch> {
    let zones = DiskTruth::new(disk, capacity).zones();
    let answer_s = disk.command_overhead_ms / 1e3;
    let stretch = |zone: &ZoneTruth| Stretch {
        answer_s,
        ..Stretch::even(zone.first_byte, zone.bytes, zone.bytes_per_second)
    };
    zones.iter().map(stretch).collect()
}

/// The platter of a shingled disk begins with the media cache, which the host does not see.
pub(super) fn shingled_stretches(disk: &DiskProfile, smr: &SmrProfile, capacity: Bytes) -> Vec<Stretch> {
    let (platter, disk) = disk_on_platter(capacity, disk, smr);
    let cache = smr.media_cache_bytes;
    let behind = stretches(&disk, platter).into_iter().filter_map(|stretch| {
        let end = stretch.first_byte + stretch.bytes;
        let first = stretch.first_byte.max(cache);
        (end > first).then(|| Stretch { first_byte: first - cache, bytes: end - first, ..stretch })
    });
    behind.collect()
}

pub(super) fn truths(disk: &DiskProfile, capacity: Bytes, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let truth = DiskTruth::new(disk, capacity);
    let mut truths = stream_rates(&stretches(disk, capacity), disk, link);
    truths.extend(mechanism(disk, &truth, 0, capacity, link));
    truths.push(word(FindingCode::RecordingKind, "cmr"));
    truths.push(Truth::absent(FindingCode::WriteCliff));
    truths.push(Truth::absent(FindingCode::WriteValleys));
    truths
}

/// The rates by position, as far as requests stream. Where the link carries one command at a time, the next request comes
/// after the last has been answered: then only reading on past it keeps reads from losing a turn each, and only a write
/// cache keeps writes from it. How many turns are lost has no closed form, and nothing is said.
fn stream_rates(parts: &[Stretch], disk: &DiskProfile, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let mut truths = rates(parts, link);
    if link.is_some_and(|link| link.queue_depth_max == 1) {
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
    let mut truths = stream_rates(&shingled_stretches(disk, smr, capacity), disk, link);
    let hidden = smr.media_cache_bytes;
    truths.extend(mechanism(disk, &DiskTruth::new(&on_platter, platter), hidden, capacity, link));
    truths.push(word(FindingCode::RecordingKind, "smr"));
    truths.push(band_size(smr));
    truths.push(Truth::absent(FindingCode::WriteValleys));
    truths.extend(random_writes(&ShingledTruth::new(capacity, disk, smr).behind(link), smr, capacity));
    truths
}

/// The size of bands: of one size, or by where they lie.
fn band_size(smr: &SmrProfile) -> Truth {
    let row = |zone: &BandZone| {
        Datum::record([
            ("first_byte", Datum::Integer(zone.first_byte)),
            ("bytes", Datum::Integer(zone.band_bytes)),
        ])
    };
    let zones = Datum::List(smr.band_zones.iter().map(row).collect());
    let first = smr.band_zones[0].band_bytes;
    let answer = match smr.band_zones.iter().all(|zone| zone.band_bytes == first) {
        true => Answer::Number(first as f64),
        false => Answer::Depends("on where it is looked at: the bands are not of one size"),
    };
    Truth { code: FindingCode::BandSize, answer, data: Vec::new() }.with("zones", zones)
}

/// What follows from how it turns and seeks. The host does not see the first `hidden_bytes` of the platter.
fn mechanism(
    disk: &DiskProfile,
    truth: &DiskTruth,
    hidden_bytes: u64,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Truth> {
    let access_within_s = |share: f64| {
        let span_bytes = (capacity.0 as f64 * share) as u64;
        truth.access_within_s(hidden_bytes, span_bytes, u64::from(ACCESS_BYTES)) + link_access_s(link)
    };
    let access_s = access_within_s(1.0);
    let seen = |zone: &ZoneTruth| zone.first_byte + zone.bytes > hidden_bytes;
    let zones: Vec<ZoneTruth> = truth.zones().into_iter().filter(seen).collect();
    let tracks = zones.iter().map(|zone| {
        let counts = zone.sectors_per_track.iter().map(|&count| Datum::Integer(u64::from(count)));
        Datum::record([
            ("first_byte", Datum::Integer(zone.first_byte.saturating_sub(hidden_bytes))),
            ("sectors", Datum::List(counts.collect())),
        ])
    });
    let overhead_s = disk.command_overhead_ms / 1e3;
    // Seeks between random places have one peak, since a seek grows ever less with the distance and long distances are rarer; and what is
    // added to it, a part of a turn drawn evenly, makes no second one (Ibragimov, "On the composition of unimodal distributions", 1956).
    let modes = disk.defects.is_empty().then(|| Truth::number(FindingCode::LatencyModes, 1.0));
    let truths = vec![
        Truth::number(FindingCode::AccessTime, access_s)
            .with("rotation_s", Datum::Number(truth.rotation_period_s() / 2.0))
            .with("overhead_s", Datum::Number(overhead_s + link_access_s(link))),
        span_effect(access_s, access_within_s(SPAN_SHARE)),
        Truth::number(FindingCode::RotationPeriod, truth.rotation_period_s())
            .with("rpm", Datum::Number(60.0 / truth.rotation_period_s())),
        Truth::number(FindingCode::SeekTrackToTrack, truth.seek_track_to_track_s()),
        Truth::number(FindingCode::SeekAverage, truth.seek_average_s()),
        Truth::number(FindingCode::SeekFullStroke, truth.seek_full_stroke_s()),
        Truth::number(FindingCode::TrackLayout, zones.len() as f64)
            .with("sectors_per_track", Datum::List(tracks.collect()))
            .with("skew", Datum::Number(truth.track_skew_turns()))
            .with("surfaces", Datum::Integer(truth.surfaces())),
        Truth::number(FindingCode::DriveCache, disk.read_ahead.cache_bytes() as f64),
        Truth::number(FindingCode::ReadAhead, disk.read_ahead.ahead_bytes() as f64),
        one_drive(),
    ];
    truths.into_iter().chain(modes).collect()
}

/// Random writes over the whole drive, the media cache empty at first.
fn random_writes(truth: &ShingledTruth, smr: &SmrProfile, capacity: Bytes) -> Vec<Truth> {
    let writes = RandomWrites { request_bytes: CLIFF_WRITE_BYTES, span_bytes: capacity.0 };
    let before = truth.rate_before_cliff(writes);
    let Some(cliff) = truth.cliff_bytes(writes) else {
        return vec![Truth::absent(FindingCode::WriteCliff)];
    };
    let mut truths = Vec::new();
    if let Some(after) = truth.rate_after_cliff(writes, AFTER_CLIFF * cliff) {
        truths.push(
            Truth::number(FindingCode::WriteCliff, cliff)
                .with("before", Datum::Number(before))
                .with("after", Datum::Number(after))
                .with("ratio", Datum::Number(after / before))
                .with("media_cache_bytes", Datum::Integer(smr.media_cache_bytes)),
        );
        truths.push(Truth::number(FindingCode::WriteSteadyState, after));
    }
    if let Some(regained) = truth.idle_recovery_bytes_per_second(writes, cliff) {
        truths.push(Truth::number(FindingCode::IdleRecovery, regained));
    }
    truths
}

/// First byte and length of the defects of a kind.
pub(super) fn defects(disk: &DiskProfile, kind: DefectKind) -> impl Iterator<Item = (u64, u64)> + '_ {
    let those = disk.defects.iter().filter(move |defect| defect.kind == kind);
    those.map(|defect| (defect.first_byte, defect.bytes))
}

/// A word for a code.
pub(super) fn word(code: FindingCode, word: &'static str) -> Truth {
    Truth { code, answer: Answer::Word(word), data: Vec::new() }
}
