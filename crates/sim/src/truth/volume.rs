//! What is true of volumes.

use crate::flaw::Flaw;
use crate::link::LinkNumbers;
use crate::profile::{Profile, member_profile};
use crate::truth::Answer;
use crate::truth::stretches::{Stretch, WRITE_RATES, rates};
use crate::truth::{Truth, member_stretches, without_faults};
use crate::volume::{ReadPolicy, VolumeKind, VolumeProfile};
use model::finding::{Datum, FindingCode};
use model::units::{Bytes, KIB};

/// Where one drive of a mirror answers all reads, these are its own.
const OF_THE_DRIVE_THAT_IS_READ: [FindingCode; 6] = [
    FindingCode::LatencyModes,
    FindingCode::SeekTrackToTrack,
    FindingCode::SeekAverage,
    FindingCode::SeekFullStroke,
    FindingCode::TrackLayout,
    FindingCode::ReadAhead,
];

fn members(volume: &VolumeProfile, depth: u32) -> Result<Vec<Profile>, Flaw> {
    let mut profiles = Vec::new();
    for member in &volume.members {
        let profile = member_profile(&member.profile, depth)?;
        profiles.extend((0..member.count).map(|_| profile.clone()));
    }
    Ok(profiles)
}

/// Rates by position: of a stripe, each drive's place goes along with the volume's; of a mirror they are one drive's.
pub(super) fn stretches(volume: &VolumeProfile, depth: u32) -> Result<Vec<Stretch>, Flaw> {
    let members = members(volume, depth)?;
    let parts: Result<Vec<Vec<Stretch>>, Flaw> =
        members.iter().map(|member| member_stretches(member, depth + 1)).collect();
    let parts = parts?;
    Ok(match volume.kind {
        VolumeKind::Concatenation => one_after_the_other(&parts),
        VolumeKind::Mirror => side_by_side(volume, &parts, 1),
        VolumeKind::Stripe => side_by_side(volume, &parts, parts.len() as u64),
    })
}

fn one_after_the_other(parts: &[Vec<Stretch>]) -> Vec<Stretch> {
    let mut begin = 0;
    let mut joined = Vec::new();
    for drive in parts {
        joined.extend(drive.iter().map(|part| Stretch { first_byte: begin + part.first_byte, ..*part }));
        begin += drive.iter().map(|part| part.bytes).sum::<u64>();
    }
    joined
}

/// `scale` bytes of the volume for each byte of a drive.
fn side_by_side(volume: &VolumeProfile, parts: &[Vec<Stretch>], scale: u64) -> Vec<Stretch> {
    let shortest =
        parts.iter().map(|drive| drive.iter().map(|part| part.bytes).sum::<u64>()).min().unwrap_or(0);
    let mut borders: Vec<u64> =
        parts.iter().flatten().map(|part| part.first_byte).filter(|&at| at < shortest).collect();
    borders.sort_unstable();
    borders.dedup();
    let ends: Vec<u64> = borders.iter().skip(1).copied().chain([shortest]).collect();
    let at = |drive: &[Stretch], byte: u64| drive[drive.partition_point(|part| part.first_byte <= byte) - 1];
    let stretch = |(&first, &end): (&u64, &u64)| {
        let here: Vec<Stretch> = parts.iter().map(|drive| at(drive, first)).collect();
        let reads: Vec<f64> = here.iter().map(|part| part.read).collect();
        let writes: Vec<f64> = here.iter().map(|part| part.write).collect();
        Stretch {
            first_byte: first * scale,
            bytes: (end - first) * scale,
            read: volume.sequential_rate(&reads),
            write: volume.sequential_rate(&writes),
            answer_s: here.iter().map(|part| part.answer_s).fold(0.0, f64::max),
        }
    };
    borders.iter().zip(&ends).map(stretch).collect()
}

pub(super) fn truths(
    volume: &VolumeProfile,
    capacity: Bytes,
    link: Option<&LinkNumbers>,
    depth: u32,
) -> Result<Vec<Truth>, Flaw> {
    let mut parts = stretches(volume, depth)?;
    // A stripe leaves out what does not fill a row of chunks.
    if let Some(last) = parts.last_mut() {
        last.bytes = capacity.0 - last.first_byte;
    }
    let members = members(volume, depth)?;
    let mut truths = rates(&parts, link);
    // Skipping what the other disk reads is quicker than reading it by as much as a disk happens to seek quicker than it
    // turns: only writing is known.
    if volume.kind == VolumeKind::Mirror && volume.read_policy() != ReadPolicy::First {
        truths.retain(|truth| WRITE_RATES.contains(&truth.code));
    }
    let (kind, count) = match volume.kind {
        VolumeKind::Stripe => ("stripe", members.len()),
        // The others hold the same and never answer: whoever reads cannot know of them.
        VolumeKind::Mirror if volume.read_policy() == ReadPolicy::First => ("none", 1),
        VolumeKind::Mirror => ("mirror", members.len()),
        VolumeKind::Concatenation => ("none", 1),
    };
    let mut layout =
        Truth::number(FindingCode::StripeLayout, count as f64).with("kind", Datum::Text(kind.into()));
    if volume.kind == VolumeKind::Stripe {
        layout = layout.with("chunk_bytes", Datum::Integer(u64::from(volume.chunk_kib()) * KIB));
    }
    truths.push(layout);
    let of_members: Result<Vec<Vec<Truth>>, Flaw> =
        members.iter().map(|member| without_faults(member, depth + 1)).collect();
    let of_members = of_members?;
    truths.extend(common(&of_members, FindingCode::RecordingKind).filter(|truth| truth.value().is_none()));
    for code in [FindingCode::WriteCliff, FindingCode::WriteValleys] {
        truths.extend(common(&of_members, code).filter(|truth| truth.answer == Answer::Absent));
    }
    if link.is_none() && reads_are_those_of_a_member(volume, &members) {
        for code in [FindingCode::AccessTime, FindingCode::SpanEffect] {
            truths.extend(common(&of_members, code));
        }
    }
    // Each place turns with its drive, and drives of one make turn alike.
    truths.extend(common(&of_members, FindingCode::RotationPeriod));
    truths.extend(kept_together(volume, &members, &of_members));
    if volume.kind == VolumeKind::Stripe {
        truths.extend(common(&of_members, FindingCode::ReadAhead));
    }
    if link.is_none() && volume.kind == VolumeKind::Mirror && volume.read_policy() == ReadPolicy::First {
        let of_first = |code: &FindingCode| common(&of_members, *code);
        truths.extend(OF_THE_DRIVE_THAT_IS_READ.iter().filter_map(of_first));
    }
    Ok(truths)
}

/// What drives of one make keep of a stream together, of which each reads its chunks in order: each the end of its own. Of a mirror it
/// depends on which drive a read goes to, unless one reads all.
fn kept_together(volume: &VolumeProfile, members: &[Profile], of_members: &[Vec<Truth>]) -> Option<Truth> {
    let is_of_one_make = members.windows(2).all(|pair| pair[0] == pair[1]);
    let drives = match volume.kind {
        VolumeKind::Stripe if is_of_one_make => members.len(),
        VolumeKind::Mirror if volume.read_policy() == ReadPolicy::First => 1,
        _ => return None,
    };
    let of_one = of_members.first()?.iter().find(|truth| truth.code == FindingCode::DriveCache)?;
    Some(Truth::number(FindingCode::DriveCache, drives as f64 * of_one.value()?))
}

/// What is the same of all members.
fn common(of_members: &[Vec<Truth>], code: FindingCode) -> Option<Truth> {
    let mut of_code = of_members.iter().map(|truths| truths.iter().find(|truth| truth.code == code));
    let first = of_code.next()??;
    of_code.all(|truth| truth == Some(first)).then(|| first.clone())
}

/// Whether a single read at a random place of the volume, or of its first hundredth, is one of a drive at a random place of as
/// much of it: so with a stripe over drives of one make, and with a mirror of them that does not choose the nearest.
fn reads_are_those_of_a_member(volume: &VolumeProfile, members: &[Profile]) -> bool {
    let is_of_one_make = members.windows(2).all(|pair| pair[0] == pair[1]);
    let is_anywhere = match volume.kind {
        VolumeKind::Stripe => true,
        VolumeKind::Mirror => volume.read_policy() != ReadPolicy::Nearest,
        VolumeKind::Concatenation => false,
    };
    is_of_one_make && is_anywhere
}
