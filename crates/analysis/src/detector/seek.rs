//! How long the arm of a disk takes.
//! # What it finds
//! A seek to the next track, the mean seek over all pairs of cylinders as makers define it, and the seek from the first cylinder
//! to the last, each without the overhead of a command and without waiting for the platter; and the curve between them.
//! # Why it matters
//! It is what random access costs beside half a turn, and it says what keeping data close together would bring.
//! # How
//! Reads that follow each other bound the time of the arm by a turn, from above and below; the most likely curve through
//! hundreds of such bounds is taken, see `geometry::seek`. Cylinders lie over bytes as the sectors per track say. The overhead is
//! what a read on the same track needs, and the next track what one there needs in addition: see `geometry::near`.
//! # Cannot tell when
//! Nothing turns; reads do not take longer over longer distances, so that no single arm answers; tracks at the places looked at
//! could not be told sector by sector; only a part of the drive was measured.
//! # Known problems
//! What a drive keeps for itself at either edge is not reached, so the longest seek is that between the first and the last byte.
//! On disks that go through all surfaces of a cylinder before the next one, what follows a track is another surface, and the seek is measured
//! where cylinders end. It is unknown where it takes as long as the head switch that may go with it, or where skews scatter too much to tell
//! such disks from others. Overheads that a drive has only with a seek count as part of it.
//! # References
//! Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995. Ruemmler and Wilkes,
//! "An introduction to disk drive modeling", 1994. Henry Wong, "Hard disk geometry microbenchmarking", 2019. Turnbull, "The
//! empirical distribution function with arbitrarily grouped, censored and truncated data", 1976.

use super::detect::{Detector, Need};
use super::trust::covers;
use crate::cache::memory_answer_s;
use crate::examined::Examined;
use crate::geometry::{
    Density, Layout, Mechanics, NearSeeks, SeekCurve, evidence_of, hops_of, near_maps, range_of,
    served_by_actuator,
};
use model::estimate::Estimate;
use model::finding::{
    Finding, FindingCode, Interference, NoGeometry, Outcome, SeekAverage, SeekFullStroke, SeekPoint,
    SeekTrackToTrack,
};
use model::units::Bytes;

/// Points of the curve that are told, as shares of all cylinders.
const CURVE: [f64; 9] = [0.001, 0.01, 0.04, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0];
/// A distance over which every disk seeks much quicker than over all cylinders: published longest seeks take three times as
/// long as those over a hundredth, and more.
const SHORT: f64 = 0.01;
/// With more hops held up than this, what held them up is no longer told from the arm.
const LATE_SHARE_MAX: f64 = 0.4;
/// The same where the overhead is only bounded: more than one in ten is other load, or more than one arm.
const LATE_SHARE_FOR_BOUND: f64 = 0.1;
/// What a read that misses the cache costs a Cheetah 9LP beside seek and rotation (DiskSim 4.0): the guess where the overhead is only bounded.
const OVERHEAD_S: f64 = 0.284e-3;
/// Where the overhead is only bounded, a seek is told if its bounds are as near as data sheets are kept to: seeks are stated in tenths of a
/// millisecond, and differ by some percent from one of a make to the next.
const BOUNDED_SHARE_MAX: f64 = 0.03;
const BOUNDED_S_MAX: f64 = 1e-4;
/// Of two surfaces half of all track ends are ends of cylinders: of fifty that are looked at more are alike one time in two hundred.
const SHARE_OF_TWO_SURFACES_MAX: f64 = 0.7;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::SeekTrackToTrack, FindingCode::SeekAverage, FindingCode::SeekFullStroke],
    needs: &[Need::Asked(model::experiment_name::ExperimentName::Geometry)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let seen = Seen::of(run);
    let seen = seen.as_ref().map_err(|reason| *reason);
    let evidence = evidence_of(run);
    vec![
        Finding::SeekTrackToTrack(Outcome::of(seen.and_then(Seen::next_track), evidence.clone())),
        Finding::SeekAverage(Outcome::of(seen.and_then(Seen::mean), evidence.clone())),
        Finding::SeekFullStroke(Outcome::of(seen.and_then(Seen::full_stroke), evidence)),
    ]
}

/// Whether reads take longer over longer distances, as far as that can be told.
pub(super) fn may_be_of_one_arm(run: &Examined<'_>) -> bool {
    !matches!(Seen::of(run), Err(NoGeometry::NoSingleActuator))
}

struct Seen {
    near: Option<NearSeeks>,
    layout: Option<Layout>,
    curve: SeekCurve,
    is_whole: bool,
}

impl Seen {
    fn of(run: &Examined<'_>) -> Result<Seen, NoGeometry> {
        let mechanics = run.mechanics()?;
        let Mechanics { readings, rotation, sector, .. } = mechanics;
        if run.has_several_arms() {
            return Err(NoGeometry::SeveralActuators);
        }
        let counts = mechanics.counts()?;
        let range = range_of(run).ok_or(NoGeometry::NoSingleReads)?;
        let of_disk = served_by_actuator(range, readings, rotation);
        let density = Density::of(of_disk.first().get(), of_disk.bytes().get(), counts);
        let hops = hops_of(readings, rotation);
        let curve = SeekCurve::of(&hops, rotation, &density).ok_or(NoGeometry::TooFewSeeks)?;
        let none = Estimate::exact(0.0);
        // A full stroke takes longer than the mean of all seeks, most of which are shorter than half of it.
        let grows =
            curve.at(1.0).0 > curve.at(SHORT).0 && curve.seek(1.0, &none).low > curve.mean(&none).high;
        if !grows {
            return Err(NoGeometry::NoSingleActuator);
        }
        let is_held_up = curve.late_share() > LATE_SHARE_MAX
            || run.interference() == Some(Interference::Constant)
            || falls(&curve);
        if is_held_up {
            return Err(NoGeometry::Interference { share: curve.late_share() });
        }
        let maps = near_maps(readings, counts, rotation, sector.get());
        let near = match (NearSeeks::of(readings, &maps, rotation), memory_answer_s(run)) {
            (Some(near), Some(hit_s)) => Some(near.with_hits_of(hit_s)),
            (near, _) => near,
        };
        Ok(Seen { near, layout: Layout::of(counts, rotation), curve, is_whole: covers(run, range) })
    }

    /// The command overhead. Where it is not known, it is something between nothing and what the shortest hops take.
    fn overhead(&self) -> Result<Estimate, NoGeometry> {
        if let Some(near) = &self.near {
            return Ok(near.overhead);
        }
        let most = self.curve.at(0.0).0;
        if self.curve.late_share() > LATE_SHARE_FOR_BOUND || most <= 0.0 {
            return Err(NoGeometry::OverheadUnknown { bounds_s: None });
        }
        let value = OVERHEAD_S.min(most / 2.0);
        Ok(Estimate { value, low: 0.0, high: most, ..self.curve.seek(0.0, &Estimate::exact(0.0)) })
    }

    fn next_track(&self) -> Result<SeekTrackToTrack, NoGeometry> {
        let keeps_surface = match &self.layout {
            Some(layout) => layout.keeps_surface.ok_or(NoGeometry::SurfaceOpen)?,
            None => true,
        };
        let near = self.near.as_ref().ok_or(NoGeometry::OverheadUnknown { bounds_s: None })?;
        let seek = match keeps_surface {
            true => near.next_track.ok_or(NoGeometry::TooFewSeeks)?,
            false => {
                let has_more = self.layout.as_ref().is_some_and(has_more_than_two_surfaces);
                next_cylinder(near, has_more).ok_or(NoGeometry::OtherSurface)?
            }
        };
        if seek.low <= 0.0 {
            return Err(NoGeometry::TooNear);
        }
        let pairs = near.pairs.iter().sum();
        Ok(SeekTrackToTrack { seek, overhead_s: near.overhead.value, pairs })
    }

    fn mean(&self) -> Result<SeekAverage, NoGeometry> {
        Ok(SeekAverage {
            seek: self.certain(self.curve.mean(&self.overhead_of_whole()?))?,
            is_bounded: self.near.is_none(),
            hops: self.curve.hops(),
            noise: self.curve.noise(),
            held_up: self.curve.late_share(),
        })
    }

    fn full_stroke(&self) -> Result<SeekFullStroke, NoGeometry> {
        let overhead = self.overhead_of_whole()?;
        let seek = self.certain(self.curve.seek(1.0, &overhead))?;
        let curve = CURVE.map(|share_of_cylinders| {
            let Estimate { value, low, high, .. } = self.curve.seek(share_of_cylinders, &overhead);
            SeekPoint { share_of_cylinders, seconds: value, low, high }
        });
        Ok(SeekFullStroke { seek, is_bounded: self.near.is_none(), curve: curve.to_vec() })
    }

    fn overhead_of_whole(&self) -> Result<Estimate, NoGeometry> {
        if !self.is_whole {
            return Err(NoGeometry::OnlyPart { sectors: None, sector: Bytes::ZERO });
        }
        let overhead = self.overhead()?;
        // No seek takes less than no time: what was taken for tracks and the overhead are those of several drives.
        if self.curve.seek(SHORT, &overhead).high < 0.0 {
            return Err(NoGeometry::NoSingleActuator);
        }
        Ok(overhead)
    }

    fn certain(&self, estimate: Estimate) -> Result<Estimate, NoGeometry> {
        if estimate.low <= 0.0 {
            return Err(NoGeometry::TooImprecise);
        }
        let half = (estimate.high - estimate.low) / 2.0;
        if self.near.is_none() && half > (BOUNDED_SHARE_MAX * estimate.value).max(BOUNDED_S_MAX) {
            return Err(NoGeometry::OverheadUnknown { bounds_s: Some((estimate.low, estimate.high)) });
        }
        Ok(estimate)
    }
}

/// Whether a longer seek takes surely less than a shorter one, as of no actuator: most hops were held up, and the fit took some for the others.
fn falls(curve: &SeekCurve) -> bool {
    let seeks = CURVE.map(|share_of_cylinders| curve.seek(share_of_cylinders, &Estimate::exact(0.0)));
    let mut slowest = 0.0_f64;
    for seek in seeks {
        if seek.high < slowest {
            return true;
        }
        slowest = slowest.max(seek.low);
    }
    false
}

fn has_more_than_two_surfaces(layout: &Layout) -> bool {
    layout.surfaces_min > 2 || layout.same_skew_share > SHARE_OF_TWO_SURFACES_MAX
}

/// On disks where most tracks follow each other by a head switch: of three surfaces and more the rarer skew is the cylinder's, of two the larger
/// one. Heads may be switched there at the same time: it is the seek only if it is longer than a head switch, or shorter, so that there is none.
fn next_cylinder(near: &NearSeeks, has_more_than_two: bool) -> Option<Estimate> {
    let (usual, other) = (near.next_track?, near.other_track?);
    let (head_switch, seek) =
        if has_more_than_two || near.other_skews_more { (usual, other) } else { (other, usual) };
    let differs = seek.low > head_switch.high || seek.high < head_switch.low;
    differs.then_some(seek)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three surfaces whose heads take 1.4 ms to switch and 0.9 ms to seek, and cylinders end on the surface that the next one begins on:
    /// "track-to-track 1.41 ms".
    #[test]
    fn the_rarer_skew_is_the_cylinders() {
        let time = |ms: f64| Estimate { low: 0.9e-3 * ms, high: 1.1e-3 * ms, ..Estimate::exact(1e-3 * ms) };
        let near = |usual, other, other_skews_more| NearSeeks {
            overhead: time(0.2),
            next_track: Some(time(usual)),
            other_track: Some(time(other)),
            other_skews_more,
            pairs: [40; 3],
        };
        assert_eq!(next_cylinder(&near(1.4, 0.9, false), true), Some(time(0.9)));
        assert_eq!(next_cylinder(&near(0.9, 1.4, true), true), Some(time(1.4)));
        // Two surfaces: neither is rarer.
        assert_eq!(next_cylinder(&near(1.4, 0.9, false), false), Some(time(1.4)));
        assert_eq!(next_cylinder(&near(1.0, 1.05, true), true), None, "the same but for chance");
    }
}
