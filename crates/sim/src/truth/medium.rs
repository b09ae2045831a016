//! What is true of drives without a mechanism: those of constant latency, and disks by their rates alone.

use crate::constant::ConstantProfile;
use crate::link::LinkNumbers;
use crate::truth::disk::word;
use crate::truth::stretches::{DEPTH, Stretch, link_access_s, rates};
use crate::truth::{ACCESS_BYTES, SPAN_SHARE, Truth, one_drive, span_effect};
use crate::zoned::ZonedProfile;
use model::finding::FindingCode;
use model::units::{Bytes, MIB};

/// The rate of a drive of constant latency is that of the requests by which it is measured.
pub(super) fn constant_stretches(constant: &ConstantProfile, capacity: Bytes) -> Vec<Stretch> {
    let at_once = f64::from(constant.servers.min(DEPTH));
    let latency_s = constant.latency().seconds();
    vec![Stretch { answer_s: latency_s, ..Stretch::even(0, capacity.0, at_once * MIB as f64 / latency_s) }]
}

pub(super) fn constant(
    constant: &ConstantProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
) -> Vec<Truth> {
    let mut truths = rates(&constant_stretches(constant, capacity), link);
    let access_s = constant.latency().seconds() + link_access_s(link);
    truths.push(Truth::number(FindingCode::AccessTime, access_s));
    truths.push(Truth::number(FindingCode::LatencyModes, 1.0));
    truths.push(span_effect(access_s, access_s));
    if link.is_none() {
        // Throughput over latency grows as long as a server is free, and falls from there on.
        let servers = f64::from(constant.servers);
        truths.push(Truth::number(FindingCode::ConcurrencyGain, servers));
        truths.push(Truth::number(FindingCode::ConcurrencyKnee, servers));
    }
    truths
}

pub(super) fn zoned_stretches(profile: &ZonedProfile) -> Vec<Stretch> {
    let ends = profile.zones.iter().skip(1).map(|zone| zone.first_byte).chain([profile.capacity.0]);
    let zones = profile.zones.iter().zip(ends);
    zones
        .map(|(zone, end)| Stretch::even(zone.first_byte, end - zone.first_byte, zone.bytes_per_second))
        .collect()
}

pub(super) fn zoned(profile: &ZonedProfile, link: Option<&LinkNumbers>) -> Vec<Truth> {
    let stretches = zoned_stretches(profile);
    let mut truths = rates(&stretches, link);
    if link.is_some() {
        return truths;
    }
    let access_s = |share: f64| access_within_s(profile, &stretches, share);
    truths.push(Truth::number(FindingCode::AccessTime, access_s(1.0)));
    truths.push(span_effect(access_s(1.0), access_s(SPAN_SHARE)));
    truths.push(Truth::number(FindingCode::RotationPeriod, profile.rotation_s));
    // An arm that goes to each place, and nothing between it and the host.
    truths.push(word(FindingCode::RecordingKind, "cmr"));
    truths.push(Truth::absent(FindingCode::WriteCliff));
    truths.push(Truth::absent(FindingCode::WriteValleys));
    truths.push(one_drive());
    truths
}

/// The exact mean over two uniform places of the first part: E√|x−y| = 8/15, E|x−y| = 1/3, half a turn, and the bytes at
/// the mean of the zones' times per byte, weighted by their sizes.
fn access_within_s(profile: &ZonedProfile, stretches: &[Stretch], share: f64) -> f64 {
    let (root_s, linear_s) = (profile.seek_root_s * share.sqrt(), profile.seek_linear_s * share);
    let seek_s = profile.seek_single_s + root_s * 8.0 / 15.0 + linear_s / 3.0;
    let end = profile.capacity.0 as f64 * share;
    let pass_s = stretches.iter().map(|stretch| {
        let first = stretch.first_byte as f64;
        (end - first).clamp(0.0, stretch.bytes as f64) / stretch.read
    });
    let transfer_s = f64::from(ACCESS_BYTES) * pass_s.sum::<f64>() / end;
    profile.overhead_s + seek_s + profile.rotation_s / 2.0 + transfer_s
}
