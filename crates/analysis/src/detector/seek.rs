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
use crate::examined::Examined;
use crate::geometry::{
    Density, Layout, Mechanics, NearSeeks, SeekCurve, evidence_of, hops_of, near_maps, range_of,
};
use model::estimate::Estimate;
use model::finding::{
    Finding, FindingCode, NoGeometry, Outcome, SeekAverage, SeekFullStroke, SeekPoint, SeekTrackToTrack,
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
        let density = Density::of(range.first().get(), range.bytes().get(), counts);
        let hops = hops_of(readings, rotation);
        let curve = SeekCurve::of(&hops, rotation, &density).ok_or(NoGeometry::TooFewSeeks)?;
        let none = Estimate::exact(0.0);
        // A full stroke takes longer than the mean of all seeks, most of which are shorter than half of it.
        let grows =
            curve.at(1.0).0 > curve.at(SHORT).0 && curve.seek(1.0, &none).low > curve.mean(&none).high;
        if !grows {
            return Err(NoGeometry::NoSingleActuator);
        }
        if curve.late_share() > LATE_SHARE_MAX {
            return Err(NoGeometry::Interference { share: curve.late_share() });
        }
        let maps = near_maps(readings, counts, rotation, sector.get());
        let near = NearSeeks::of(readings, &maps, rotation);
        Ok(Seen { near, layout: Layout::of(counts, rotation), curve, is_whole: covers(run, range) })
    }

    /// The command overhead. Where it is not known, it is something between nothing and what the shortest hops take, if nothing
    /// else delayed the reads.
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
            false => next_cylinder(near).ok_or(NoGeometry::OtherSurface)?,
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

/// The seek to the next cylinder on disks where most tracks follow each other by a head switch; the larger skew is the cylinder's. Heads may be
/// switched there as well, at the same time: it is the time of the seek only if it is longer than a head switch, or shorter, so that there is none.
fn next_cylinder(near: &NearSeeks) -> Option<Estimate> {
    let (usual, other) = (near.next_track?, near.other_track?);
    let (head_switch, seek) = if near.other_skews_more { (usual, other) } else { (other, usual) };
    let differs = seek.low > head_switch.high || seek.high < head_switch.low;
    differs.then_some(seek)
}
