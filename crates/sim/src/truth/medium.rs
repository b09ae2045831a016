//! What is true of drives without a mechanism: those of constant latency, and disks by their rates alone.

use crate::constant::ConstantProfile;
use crate::link::LinkNumbers;
use crate::truth::stretches::{DEPTH, Stretch, link_access_s, rates};
use crate::truth::{ACCESS_BYTES, Truth, one_drive};
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
    if link.is_none() {
        truths.push(Truth::number(FindingCode::ConcurrencyGain, f64::from(constant.servers)));
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

pub(super) fn zoned(profile: &ZonedProfile) -> Vec<Truth> {
    let stretches = zoned_stretches(profile);
    let pass_s: f64 = stretches.iter().map(|stretch| stretch.bytes as f64 / stretch.read).sum();
    let mut truths = rates(&stretches, None);
    truths.push(Truth::number(FindingCode::AccessTime, access_s(profile, pass_s)));
    truths.push(Truth::number(FindingCode::RotationPeriod, profile.rotation_s));
    truths.push(one_drive());
    truths
}

/// The exact mean over two uniform places: E√|x−y| = 8/15, E|x−y| = 1/3, half a turn, and the bytes at the mean
/// of the zones' times per byte, weighted by their sizes.
fn access_s(profile: &ZonedProfile, pass_s: f64) -> f64 {
    let seek_s = profile.seek_single_s + profile.seek_root_s * 8.0 / 15.0 + profile.seek_linear_s / 3.0;
    let transfer_s = f64::from(ACCESS_BYTES) * pass_s / profile.capacity.0 as f64;
    profile.overhead_s + seek_s + profile.rotation_s / 2.0 + transfer_s
}
