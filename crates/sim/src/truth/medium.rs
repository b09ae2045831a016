//! What is true of drives without a mechanism: those of constant latency, and disks by their rates alone.

use crate::constant::ConstantProfile;
use crate::link::LinkNumbers;
use crate::truth::extents::{DEPTH, Extent, link_access_s, rates};
use crate::truth::value::{ACCESS_BYTES, SPAN_SHARE, Truth, one_drive, span_effect, write_cache};
use crate::zoned::ZonedProfile;
use model::finding::FindingCode;
use model::units::{Bytes, MIB};

/// The rate of a drive of constant latency is that of the requests by which it is measured.
pub(super) fn constant_extents(constant: &ConstantProfile, capacity: Bytes) -> Vec<Extent> {
    let in_flight = f64::from(constant.servers.min(DEPTH));
    let latency_s = constant.latency().seconds() * constant.mean_over_median();
    let write_s = constant.write_latency().seconds() * constant.mean_over_median();
    let extent = Extent::even(0, capacity.get(), in_flight * MIB as f64 / latency_s);
    vec![Extent { cached_write_s: write_s, write: in_flight * MIB as f64 / write_s, ..extent }]
}

pub(super) fn constant(
    constant: &ConstantProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Truth> {
    let mut truths = rates(&constant_extents(constant, capacity), link);
    let access_s = constant.latency().seconds() * constant.mean_over_median() + link_access_s(link);
    truths.push(Truth::number(FindingCode::AccessTime, access_s));
    truths.push(Truth::number(FindingCode::LatencyModes, 1.0));
    truths.push(span_effect(access_s, access_s));
    truths.push(write_cache(0));
    if link.is_none() {
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
