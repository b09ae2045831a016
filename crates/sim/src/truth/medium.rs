//! What is true of drives without a mechanism: those of constant latency, and disks by their rates alone.

use crate::constant::ConstantProfile;
use crate::link::LinkNumbers;
use crate::truth::extents::{DEPTH, Extent, READ_RATES, REQUEST_BYTES, WRITE_RATES, link_access_s, rates};
use crate::truth::value::{
    ACCESS_BYTES, SPAN_SHARE, Truth, one_drive, span_effect, takes_one_command, write_cache,
};
use crate::zoned::ZonedProfile;
use model::finding::FindingCode;
use model::request::Operation;
use model::units::{Bytes, MIB};

/// The same sum in another order differs by less, as a share.
const ROUNDING: f64 = 1e-9;
/// From a link that is so many times slower on, latencies that scatter leave the rate to it.
const MUCH_SLOWER: f64 = 1.6;

/// What only an arm over a platter has.
pub(super) const OF_MOVING_PARTS: [FindingCode; 5] = [
    FindingCode::RotationPeriod,
    FindingCode::SeekTrackToTrack,
    FindingCode::SeekAverage,
    FindingCode::SeekFullStroke,
    FindingCode::TrackLayout,
];

/// The rate of a drive of constant latency is that of its requests; behind a link of one command each is waited for.
pub(super) fn constant_extents(
    constant: &ConstantProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Extent> {
    let in_flight = f64::from(constant.servers.min(DEPTH));
    let latency_s = constant.latency().seconds() * constant.mean_over_median();
    let write_s = constant.write_latency().seconds() * constant.mean_over_median();
    let mut extent = Extent::even(0, capacity.get(), in_flight * MIB as f64 / latency_s);
    if let Some(link) = link
        && takes_one_command(link)
    {
        let in_turn = MIB as f64 / read_in_turn_s(constant, link);
        if in_turn < link.bytes_per_second(Operation::Read, REQUEST_BYTES, DEPTH) * (1.0 - ROUNDING) {
            extent.read = in_turn;
        }
    }
    vec![Extent { cached_write_s: write_s, write: in_flight * MIB as f64 / write_s, ..extent }]
}

/// The time of a read of the usual size, a command at a time.
fn read_in_turn_s(constant: &ConstantProfile, link: &LinkNumbers) -> f64 {
    let (mut left, mut read_s) = (REQUEST_BYTES, 0.0);
    while left > 0 {
        let bytes = left.min(link.transfer_bytes_max);
        let data_s = f64::from(bytes) / link.read_bytes_per_second;
        read_s += link_access_s(Some(link)) + longer_mean_s(constant, data_s);
        left -= bytes;
    }
    read_s
}

/// The mean of the latency or so many seconds, whichever is longer: over the quantiles of a normal distribution.
fn longer_mean_s(constant: &ConstantProfile, least_s: f64) -> f64 {
    const STEPS: i32 = 4000;
    const DEVIATIONS: f64 = 6.0;
    let median_s = constant.latency().seconds();
    if constant.jitter == 0.0 {
        return median_s.max(least_s);
    }
    let (mut sum_s, mut weights) = (0.0, 0.0);
    for step in 0..=STEPS {
        let z = DEVIATIONS * f64::from(2 * step - STEPS) / f64::from(STEPS);
        let weight = (-z * z / 2.0).exp();
        sum_s += weight * (median_s * (constant.jitter * z).exp()).max(least_s);
        weights += weight;
    }
    sum_s / weights
}

/// Whether some commands end with the drive and others with their data: then both limit the rate.
fn waits_now_and_then(constant: &ConstantProfile, link: &LinkNumbers) -> bool {
    let data_s = |bytes: u32| f64::from(bytes) / link.read_bytes_per_second;
    let whole_s = data_s(REQUEST_BYTES.min(link.transfer_bytes_max));
    let rest_s = match REQUEST_BYTES % link.transfer_bytes_max {
        0 => whole_s,
        rest => data_s(rest).min(whole_s),
    };
    let latency_s = constant.latency().seconds();
    constant.jitter > 0.0 || (rest_s..whole_s).contains(&latency_s)
}

/// Servers take requests in turn, so that with latencies that scatter some wait while others are free. How many has no
/// closed form, and neither has which of both is later where a link is about as slow.
fn has_closed_form(
    constant: &ConstantProfile,
    medium: f64,
    link: Option<&LinkNumbers>,
    operation: Operation,
) -> bool {
    if constant.jitter == 0.0 {
        return true;
    }
    match link {
        Some(link) if takes_one_command(link) => true,
        Some(link) => {
            let ratio = medium / link.bytes_per_second(operation, REQUEST_BYTES, DEPTH);
            ratio >= MUCH_SLOWER || (constant.servers == 1 && ratio <= 1.0 / MUCH_SLOWER)
        }
        None => constant.servers == 1,
    }
}

pub(super) fn constant(
    constant: &ConstantProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Truth> {
    let extents = constant_extents(constant, capacity, link);
    let mut truths = rates(&extents, link);
    if !has_closed_form(constant, extents[0].write, link, Operation::Write) {
        truths.retain(|truth| !WRITE_RATES.contains(&truth.code));
    }
    if !has_closed_form(constant, extents[0].read, link, Operation::Read) {
        truths.retain(|truth| !READ_RATES.contains(&truth.code));
    }
    if matches!(link, Some(link) if takes_one_command(link) && waits_now_and_then(constant, link)) {
        truths.retain(|truth| truth.code != FindingCode::InterfaceLimit);
    }
    let access_s = constant.latency().seconds() * constant.mean_over_median() + link_access_s(link);
    truths.push(Truth::number(FindingCode::AccessTime, access_s));
    truths.push(Truth::number(FindingCode::LatencyModes, 1.0));
    truths.push(span_effect(access_s, access_s));
    truths.push(write_cache(0));
    truths.extend(OF_MOVING_PARTS.map(Truth::absent));
    truths.push(Truth::absent(FindingCode::StripeLayout));
    truths.push(Truth::absent(FindingCode::UnmappedRanges));
    if link.is_none() && (constant.jitter == 0.0 || constant.servers == 1) {
        // Throughput over latency grows as long as a server is free, and falls from there on.
        let servers = f64::from(constant.servers);
        truths.push(Truth::number(FindingCode::ConcurrencyGain, servers));
        truths.push(Truth::number(FindingCode::ConcurrencyKnee, servers));
    }
    truths
}

pub(super) fn zoned_extents(profile: &ZonedProfile) -> Vec<Extent> {
    let mut extents = Vec::with_capacity(profile.zones.len());
    for (index, zone) in profile.zones.iter().enumerate() {
        let end = profile.zones.get(index + 1).map_or(profile.capacity_bytes, |next| next.first_byte);
        extents.push(Extent::even(zone.first_byte, end - zone.first_byte, zone.bytes_per_second));
    }
    extents
}

pub(super) fn zoned(profile: &ZonedProfile, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let extents = zoned_extents(profile);
    let mut truths = rates(&extents, link);
    if link.is_some() {
        return truths;
    }
    let access_s = access_within_s(profile, &extents, 1.0);
    truths.push(Truth::number(FindingCode::AccessTime, access_s));
    truths.push(span_effect(access_s, access_within_s(profile, &extents, SPAN_SHARE)));
    truths.push(Truth::number(FindingCode::RotationPeriod, profile.rotation_s));
    // An arm that seeks to each request, and no cache between it and the host.
    truths.push(Truth::word(FindingCode::RecordingKind, "cmr"));
    truths.push(write_cache(0));
    truths.push(Truth::absent(FindingCode::WriteCliff));
    truths.push(Truth::absent(FindingCode::WriteValleys));
    truths.push(one_drive());
    truths
}

/// The exact mean over two uniform offsets in the first `share`: E√|x−y| = 8/15, E|x−y| = 1/3, half a revolution, and the
/// bytes at the mean of the zones' times per byte, weighted by their sizes.
fn access_within_s(profile: &ZonedProfile, extents: &[Extent], share: f64) -> f64 {
    let (root_s, linear_s) = (profile.seek_root_s * share.sqrt(), profile.seek_linear_s * share);
    let seek_s = profile.seek_single_s + root_s * 8.0 / 15.0 + linear_s / 3.0;
    let end = profile.capacity_bytes as f64 * share;
    let mut pass_s = 0.0;
    for extent in extents {
        pass_s += (end - extent.first_byte as f64).clamp(0.0, extent.bytes as f64) / extent.read;
    }
    let transfer_s = f64::from(ACCESS_BYTES) * pass_s / end;
    profile.overhead_s + seek_s + profile.rotation_s / 2.0 + transfer_s
}
