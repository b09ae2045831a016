//! Words for the findings of disk geometry.

use super::access::REPEAT_ALONE;
use super::numbers::{number, short_time, size, span};
use super::{Group, NO_TIME, Reason, Subject, Wording};
use crate::quantity::count;
use model::estimate::Estimate;
use model::finding::{
    FindingCode, Known, NoGeometry, RotationPeriod, SeekAverage, SeekFullStroke, SeekTrackToTrack,
    TrackLayout, TrackZone,
};
use model::units::Bytes;

impl Wording for RotationPeriod {
    const PLACE: (Group, &'static str) = (Group::Mechanics, "Rotation period");

    fn statement(known: &Known<RotationPeriod>, _: FindingCode, _: &Subject<'_>) -> String {
        let RotationPeriod { period, rpm, .. } = known.conclusion;
        let rpm = number(rpm);
        format!("The platters rotate at {rpm} rpm, one revolution in {:.4} ms.", period.value * 1e3)
    }
}

impl Wording for SeekTrackToTrack {
    const PLACE: (Group, &'static str) = (Group::Mechanics, "Track-to-track seek");

    fn statement(known: &Known<SeekTrackToTrack>, _: FindingCode, _: &Subject<'_>) -> String {
        let SeekTrackToTrack { seek, overhead_s, .. } = &known.conclusion;
        let (seek, overhead) = (short_time(seek.value), short_time(*overhead_s));
        format!("A track-to-track seek takes {seek}, plus {overhead} of command overhead.")
    }
}

impl Wording for SeekAverage {
    const PLACE: (Group, &'static str) = (Group::Mechanics, "Average seek");

    fn statement(known: &Known<SeekAverage>, code: FindingCode, subject: &Subject<'_>) -> String {
        let SeekAverage { seek, is_bounded, .. } = &known.conclusion;
        let random = " Seeks between random LBAs are shorter: outer cylinders hold more sectors.";
        Self::headline(known, code, subject) + random + &bounds(seek, *is_bounded)
    }

    fn headline(known: &Known<SeekAverage>, _: FindingCode, _: &Subject<'_>) -> String {
        format!(
            "The average seek, over all pairs of cylinders, takes {}.",
            short_time(known.conclusion.seek.value)
        )
    }
}

impl Wording for SeekFullStroke {
    const PLACE: (Group, &'static str) = (Group::Mechanics, "Full-stroke seek");

    fn statement(known: &Known<SeekFullStroke>, _: FindingCode, _: &Subject<'_>) -> String {
        let SeekFullStroke { seek, is_bounded, .. } = &known.conclusion;
        format!("A full-stroke seek takes {}.{}", short_time(seek.value), bounds(seek, *is_bounded))
    }
}

/// Where the overhead is only bounded, the position within the interval is mostly a guess.
fn bounds(seek: &Estimate, is_bounded: bool) -> String {
    if !is_bounded {
        return String::new();
    }
    let (low, high) = (short_time(seek.low), short_time(seek.high));
    format!(" The bounds{} include the command overhead, which could not be separated.", span(&low, &high))
}

impl Wording for TrackLayout {
    const PLACE: (Group, &'static str) = (Group::Mechanics, "Recording zones");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("zone", "zones"));

    fn statement(known: &Known<TrackLayout>, _: FindingCode, subject: &Subject<'_>) -> String {
        let layout = &known.conclusion;
        let zones = &layout.sectors_per_track;
        let (Some(first), Some(last)) = (zones.first(), zones.last()) else { return String::new() };
        let surfaces = match layout.surfaces {
            Some(surfaces) => format!(" The drive has {surfaces} heads."),
            None if layout.surfaces_at_least > 1 => {
                format!(" The drive has at least {} heads.", layout.surfaces_at_least)
            }
            None => String::new(),
        };
        let capacity = subject.target.capacity;
        let differ = [first, last].iter().any(|zone| zone.sectors.first() != zone.sectors.last());
        let by_surface = if differ { ", depending on the surface" } else { "" };
        format!(
            "Tracks hold {} sectors of {} {} and {} {}{by_surface}.{surfaces}",
            sectors(first),
            layout.sector,
            edge(first.first_byte, 0, capacity, "at the outer diameter"),
            sectors(last),
            edge(last.last_byte, capacity.get(), capacity, "at the inner diameter"),
        )
    }
}

/// Sectors per track of a zone: "470", or "459 to 487" where they differ.
fn sectors(zone: &TrackZone) -> String {
    match (zone.sectors.last(), zone.sectors.first()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {}", count(u64::from(*least)), count(u64::from(*most)))
        }
        (Some(one), _) => count(u64::from(*one)),
        _ => "an unknown number of".into(),
    }
}

/// The name of an edge, or where else it is: a zone is some hundredths of a drive.
fn edge(at: u64, edge: u64, capacity: Bytes, name: &str) -> String {
    if at.abs_diff(edge) as f64 <= 0.05 * capacity.as_f64() {
        name.into()
    } else {
        format!("at {}", size(at))
    }
}

impl Reason for NoGeometry {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match *self {
            Self::Resumed => {
                "Inconclusive: the run was resumed, and how far the platters turned meanwhile is unknown. Repeat it without a stop.".into()
            }
            Self::TooFewRepeatedReads => {
                "Inconclusive: too few sectors were read twice to see a revolution. Measure longer.".into()
            }
            Self::NoTime => NO_TIME.into(),
            Self::NoRevolution => {
                "Inconclusive: repeated reads of one sector are not whole revolutions apart. Nothing shows that anything turns.".into()
            }
            Self::SeveralSpeeds { rpm, other_rpm } => format!(
                "Inconclusive: some sectors come round at {rpm:.1} rpm, others at {other_rpm:.1}: several drives answer."
            ),
            Self::EqualLatency => {
                "Inconclusive: random reads all take about the same time; on a disk they differ by up to a revolution.".into()
            }
            Self::NoTracks { unfit, probes, rpm } => format!(
                "Inconclusive: the target rotates at {} rpm, but at {unfit} of {probes} probes neighbouring LBAs do not lie along a track. \
                 Several drives answer, or data are remapped.",
                number(rpm)
            ),
            Self::NoSingleReads => "Not measured: no reads at QD 1.".into(),
            Self::TooFewSeeks => {
                "Inconclusive: too few reads between sectors of known angle to time seeks. Measure longer.".into()
            }
            Self::NoSingleActuator => {
                "Inconclusive: latency does not grow with distance as it does with a single actuator.".into()
            }
            Self::SeveralActuators => "Inconclusive: several actuators serve the reads.".into(),
            Self::Interference { share } => format!(
                "Inconclusive: {} % of the reads were delayed by other I/O. {REPEAT_ALONE}",
                number(100.0 * share)
            ),
            Self::NoProbes => "Not measured: no tracks were probed. Measure longer.".into(),
            Self::CoarseTiming => {
                "Inconclusive: completion times scatter too much to count the sectors of a track.".into()
            }
            Self::OnlyPart { sectors: Some((least, most)), sector } => format!(
                "Inconclusive: only a part of the drive was measured, which does not show its zones. \
                 Tracks there hold {least} to {most} sectors of {sector}."
            ),
            Self::OnlyPart { sectors: None, .. } => {
                "Not measured: the range covers only a part of the drive. Omit --range.".into()
            }
            Self::OverheadUnknown { bounds_s: Some((low, high)) } => format!(
                "Inconclusive: {} to {}. Too few reads on a single track to separate the command overhead.",
                short_time(low),
                short_time(high)
            ),
            Self::OverheadUnknown { bounds_s: None } => {
                "Inconclusive: too few reads on a single track to separate the command overhead from the seek.".into()
            }
            Self::OtherSurface => {
                "Inconclusive: the skew differs from track to track, so the next track may be on another surface.".into()
            }
            Self::SurfaceOpen => {
                "Inconclusive: the skew is not known closely enough to tell whether the next track is on the same surface.".into()
            }
            Self::TooNear => "Inconclusive: the next track is reached too soon to tell from the same one.".into(),
            Self::TooImprecise => "Inconclusive: the reads leave the seek open. Measure longer.".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;

    #[test]
    fn the_period_is_told_as_rpm() {
        let period = Estimate::exact(0.008_333_3);
        let finding = RotationPeriod {
            period,
            rpm: 7200.03,
            phase_scatter_turns: 0.001,
            repeated_reads: 10,
            repeated_reads_in_phase: 10,
        };
        assert_eq!(
            statement(&known(finding), FindingCode::RotationPeriod),
            "The platters rotate at 7,200 rpm, one revolution in 8.3333 ms."
        );
    }

    #[test]
    fn a_bounded_seek_names_its_bounds() {
        let seek = Estimate { low: 8.2e-3, high: 8.6e-3, ..Estimate::exact(8.4e-3) };
        let finding = SeekAverage { seek, is_bounded: true, hops: 100, noise: 0.01, held_up: 0.0 };
        assert_eq!(
            statement(&known(finding), FindingCode::SeekAverage),
            "The average seek, over all pairs of cylinders, takes 8.40 ms. Seeks between random LBAs are shorter: outer \
             cylinders hold more sectors. The bounds (8.20 ms to 8.60 ms) include the command overhead, which could not be separated."
        );
    }
}
