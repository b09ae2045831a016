//! What is true of volumes.

use crate::flaw::Flaw;
use crate::link::LinkNumbers;
use crate::profile::{Medium, Profile};
use crate::truth::data::TruthData;
use crate::truth::extents::{DEPTH, Extent, REQUEST_BYTES, WRITE_RATES, bytes_of, rates};
use crate::truth::value::{Truth, TruthValue, members as layout_of, of_code, takes_one_command};
use crate::volume::{ReadPolicy, VolumeKind, VolumeProfile};
use model::finding::FindingCode;
use model::units::KIB;
use std::collections::BTreeSet;

/// Where one drive of a mirror serves all reads, these are its own.
const OF_THE_DRIVE_THAT_IS_READ: [FindingCode; 6] = [
    FindingCode::LatencyModes,
    FindingCode::SeekTrackToTrack,
    FindingCode::SeekAverage,
    FindingCode::SeekFullStroke,
    FindingCode::TrackLayout,
    FindingCode::ReadAhead,
];

/// Sequential rates by offset: of a stripe, the drives' offsets go along with the volume's; of a mirror one's.
pub(super) fn extents(volume: &VolumeProfile, members: &[Vec<Extent>]) -> Vec<Extent> {
    match volume.kind {
        VolumeKind::Concatenation => concatenated(members),
        VolumeKind::Mirror => side_by_side(volume, members, 1),
        VolumeKind::Stripe => side_by_side(volume, members, members.len() as u64),
    }
}

/// What of a request of `bytes` is a request to one drive.
pub(super) fn part_bytes(volume: &VolumeProfile, members: usize, bytes: u32) -> u32 {
    match volume.kind {
        VolumeKind::Concatenation | VolumeKind::Mirror => bytes,
        VolumeKind::Stripe => (bytes / members as u32).max(volume.chunk_kib() * KIB as u32).min(bytes),
    }
}

fn concatenated(members: &[Vec<Extent>]) -> Vec<Extent> {
    let mut begin = 0;
    let mut joined = Vec::new();
    for member in members {
        for extent in member {
            joined.push(Extent { first_byte: begin + extent.first_byte, ..*extent });
        }
        begin += bytes_of(member);
    }
    joined
}

/// `scale` bytes of the volume for each byte of a drive.
fn side_by_side(volume: &VolumeProfile, members: &[Vec<Extent>], scale: u64) -> Vec<Extent> {
    let mut shortest = u64::MAX;
    let mut borders = BTreeSet::new();
    for member in members {
        shortest = shortest.min(bytes_of(member));
        borders.extend(member.iter().map(|extent| extent.first_byte));
    }
    borders.insert(shortest);
    let mut extents = Vec::new();
    for (&first, &end) in borders.range(..shortest).zip(borders.iter().skip(1)) {
        let (mut reads, mut writes, mut cached_write_s) = (Vec::new(), Vec::new(), 0.0_f64);
        for member in members {
            let here = member[member.partition_point(|extent| extent.first_byte <= first) - 1];
            reads.push(here.read);
            writes.push(here.write);
            cached_write_s = cached_write_s.max(here.cached_write_s);
        }
        extents.push(Extent {
            first_byte: first * scale,
            bytes: (end - first) * scale,
            read: volume.sequential_rate(&reads),
            write: volume.sequential_rate(&writes),
            cached_write_s,
        });
    }
    extents
}

pub(super) fn truths(
    volume: &VolumeProfile,
    extents: &[Extent],
    grows_with_requests: bool,
    link: Option<&LinkNumbers>,
    members: &[Profile],
    of_members: &[Vec<Truth>],
) -> Result<Vec<Truth>, Flaw> {
    let reads_first = volume.kind == VolumeKind::Mirror && volume.read_policy() == ReadPolicy::First;
    let mut truths = rates(extents, link);
    // Skipping is quicker than reading by as much as seeks are quicker than turns: only the write rate is known.
    if volume.shares_reads() {
        truths.retain(|truth| WRITE_RATES.contains(&truth.code));
    }
    let is_known = |code| of_members.iter().all(|of_member| of_code(of_member, code).is_some());
    for (is_of_writes, code) in [(false, FindingCode::ReadRateMean), (true, FindingCode::WriteRateMean)] {
        if volume.kind != VolumeKind::Stripe && !is_known(code) {
            truths.retain(|truth| WRITE_RATES.contains(&truth.code) != is_of_writes);
        }
    }
    // More than is in flight is in a row: some drives wait, and how much they read ahead meanwhile has no closed form.
    let row_bytes = members.len() as u64 * u64::from(volume.chunk_kib()) * KIB;
    let some_wait = row_bytes > u64::from(DEPTH * REQUEST_BYTES) || any_waits_for_turns(members)?;
    if volume.kind == VolumeKind::Stripe && (some_wait || grows_with_requests) {
        truths.clear();
    }
    // What the links of members carry together has no closed form.
    for of_member in of_members {
        if of_code(of_member, FindingCode::InterfaceLimit)
            .is_some_and(|truth| truth.value != TruthValue::Absent)
        {
            truths.retain(|truth| truth.code != FindingCode::InterfaceLimit);
        }
    }
    truths.push(layout(volume, members.len(), reads_first));
    truths.extend(common(of_members, FindingCode::RecordingKind).filter(|truth| truth.value().is_none()));
    for code in [FindingCode::WriteCliff, FindingCode::WriteValleys] {
        truths.extend(common(of_members, code).filter(|truth| truth.value == TruthValue::Absent));
    }
    if link.is_none() && reads_are_those_of_a_member(volume, members) {
        truths.extend(common(of_members, FindingCode::AccessTime));
        truths.extend(common(of_members, FindingCode::SpanEffect));
    }
    // Each region rotates with its drive, and drives of one model turn alike.
    truths.extend(common(of_members, FindingCode::RotationPeriod));
    truths.extend(cache_of_all(volume, members, of_members, reads_first));
    if volume.kind == VolumeKind::Stripe {
        truths.extend(common(of_members, FindingCode::ReadAhead));
    }
    if link.is_none() && reads_first {
        for code in OF_THE_DRIVE_THAT_IS_READ {
            truths.extend(common(of_members, code));
        }
    }
    Ok(truths)
}

/// A drive that reads nothing ahead and takes one command waits for a turn after each.
fn any_waits_for_turns(members: &[Profile]) -> Result<bool, Flaw> {
    for member in members {
        let (Medium::Disk(disk) | Medium::Shingled(disk, _)) = member.medium()? else { continue };
        if let Some(link) = &member.link
            && disk.read_ahead.ahead_bytes() == 0
            && takes_one_command(&link.numbers()?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Members of a mirror that are never read cannot be known to a reader.
fn layout(volume: &VolumeProfile, members: usize, reads_first: bool) -> Truth {
    match volume.kind {
        VolumeKind::Stripe => {
            let chunk_bytes = Some(u64::from(volume.chunk_kib()) * KIB);
            layout_of("stripe", members).with(TruthData::Members { kind: "stripe", chunk_bytes })
        }
        VolumeKind::Mirror if !reads_first => layout_of("mirror", members),
        VolumeKind::Mirror => layout_of("none", 1),
        VolumeKind::Concatenation => layout_of("concatenation", members),
    }
}

/// What drives of one model keep of a stream together, each of its chunks; of a mirror only if one serves all.
fn cache_of_all(
    volume: &VolumeProfile,
    members: &[Profile],
    of_members: &[Vec<Truth>],
    reads_first: bool,
) -> Option<Truth> {
    let drives = match volume.kind {
        VolumeKind::Stripe if are_alike(members) => members.len(),
        _ if reads_first => 1,
        _ => return None,
    };
    let of_one = of_code(of_members.first()?, FindingCode::DriveCache)?;
    Some(Truth::number(FindingCode::DriveCache, drives as f64 * of_one.value()?))
}

fn common(of_members: &[Vec<Truth>], code: FindingCode) -> Option<Truth> {
    let first = of_code(of_members.first()?, code)?;
    let is_same = of_members.iter().all(|truths| of_code(truths, code) == Some(first));
    if is_same { Some(first.clone()) } else { None }
}

fn are_alike(members: &[Profile]) -> bool {
    members.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether a single random read of the volume, or of its first hundredth, is a random read of as much of a drive: so with a
/// stripe over drives of one model, and with a mirror of them that does not choose the nearest.
fn reads_are_those_of_a_member(volume: &VolumeProfile, members: &[Profile]) -> bool {
    are_alike(members)
        && match volume.kind {
            VolumeKind::Stripe => true,
            VolumeKind::Mirror => volume.read_policy() != ReadPolicy::Nearest,
            VolumeKind::Concatenation => false,
        }
}
