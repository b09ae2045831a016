//! How long the arm of a disk takes.
//!
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
//! On disks that go through all surfaces of a cylinder before the next one, what follows a track is another surface; then the seek
//! to the next track is unknown. Overheads that a drive has only with a seek count as part of it.
//! # References
//! Worthington, Ganger, Patt and Wilkes, "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995. Ruemmler and Wilkes,
//! "An introduction to disk drive modeling", 1994. Henry Wong, "Hard disk geometry microbenchmarking", 2019. Turnbull, "The
//! empirical distribution function with arbitrarily grouped, censored and truncated data", 1976.

use super::trust::covers;
use super::wording::short_time;
use super::{Detector, Need};
use crate::geometry::{
    Density, Layout, NearSeeks, Rotation, SeekCurve, all_readings, counts_of, evidence_of, hops_of,
    near_maps, probe_count,
};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct Seek;

const CODES: [FindingCode; 3] =
    [FindingCode::SeekTrackToTrack, FindingCode::SeekAverage, FindingCode::SeekFullStroke];
/// Points of the curve that are told, as shares of all cylinders.
const CURVE: [f64; 9] = [0.001, 0.01, 0.04, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0];
/// A distance over which every disk seeks much quicker than over all cylinders: published longest seeks take three times as
/// long as those over a hundredth, and more.
const SHORT: f64 = 0.01;
/// With more hops held up than this, what held them up is no longer told from the arm.
const LATE_SHARE_MAX: f64 = 0.4;
/// The same where the overhead is only bounded: more than one in ten is other load, or more than one arm.
const LATE_SHARE_FOR_BOUND: f64 = 0.1;
/// What a read that misses the cache costs a Cheetah 9LP beside seek and rotation (DiskSim 4.0): the guess where the overhead is
/// only bounded.
const OVERHEAD_S: f64 = 0.284e-3;
/// Where the overhead is only bounded, a seek is told if its bounds are as near as data sheets are kept to: seeks are stated in tenths of a
/// millisecond, and differ by some percent from one of a make to the next.
const BOUNDED_SHARE_MAX: f64 = 0.03;
const BOUNDED_S_MAX: f64 = 1e-4;
const NO_TRACKS: &str =
    "Tracks could not be told sector by sector, so the overhead of a command is not told from a seek.";

impl Detector for Seek {
    fn codes(&self) -> &'static [FindingCode] {
        &CODES
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("geometry")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        match Seen::of(run) {
            Ok(seen) => vec![seen.next_track(run), seen.mean(run), seen.full_stroke(run)],
            Err(why) => CODES.iter().map(|code| Finding::unknown(*code, why.clone())).collect(),
        }
    }
}

/// What reads show of the arm.
struct Seen {
    near: Option<NearSeeks>,
    layout: Option<Layout>,
    curve: SeekCurve,
    is_whole: bool,
}

impl Seen {
    fn of(run: &RunView<'_>) -> Result<Seen, String> {
        let readings = all_readings(run)?;
        let rotation = Rotation::of(&readings)?;
        let sector = run.target.physical_block.max(run.target.logical_block).0;
        let counts = counts_of(&readings, &rotation, sector);
        if 2 * counts.len() < probe_count(&readings) {
            return Err("Sectors side by side lie on no track, so that no single arm answers.".into());
        }
        let range = crate::geometry::range_of(run).ok_or("No single reads were made.")?;
        let density = Density::of(range.first().0, range.bytes().0, &counts);
        let hops = hops_of(&readings, &rotation);
        let curve = SeekCurve::of(&hops, &rotation, &density)
            .ok_or("Too few reads at places of known angle to tell seeks. Measure longer.")?;
        let (short, long) = (curve.at(SHORT).0, curve.at(1.0).0);
        if long <= short {
            return Err(
                "Reads far apart take no longer than reads close together: no single arm answers.".into()
            );
        }
        let none = Estimate::exact(0.0);
        if curve.seek(1.0, &none).low <= curve.mean(&none).high {
            // The longest way of an arm takes longer than the mean of all its ways, of which most are shorter than half of it.
            return Err("Reads from edge to edge do not surely take longer than reads all over the drive do on average: more \
                        than one arm may answer."
                .into());
        }
        if curve.late_share() > LATE_SHARE_MAX {
            return Err(format!(
                "{:.0} % of the reads were held up by something else, so that seeks cannot be told. Measure again while \
                 nothing else uses the drive.",
                curve.late_share() * 100.0
            ));
        }
        let maps = near_maps(&readings, &rotation, sector);
        let near = NearSeeks::of(&readings, &maps, &rotation);
        Ok(Seen { near, layout: Layout::of(&counts, &rotation), curve, is_whole: covers(run, range) })
    }

    /// The overhead of a command. Where it could not be told, it is something between nothing and what the shortest hops take,
    /// which is said only of reads that nothing else held up.
    fn overhead(&self) -> Result<Estimate, String> {
        if let Some(near) = &self.near {
            return Ok(near.overhead);
        }
        let most = self.curve.at(0.0).0;
        if self.curve.late_share() > LATE_SHARE_FOR_BOUND || most <= 0.0 {
            return Err(NO_TRACKS.into());
        }
        Ok(Estimate {
            value: OVERHEAD_S.min(most / 2.0),
            low: 0.0,
            high: most,
            ..self.curve.seek(0.0, &Estimate::exact(0.0))
        })
    }

    /// What to add where the overhead is only bounded: then where in the interval a seek lies is mostly a guess.
    fn how_certain(&self, estimate: &Estimate) -> String {
        if self.near.is_some() {
            return String::new();
        }
        let (low, high) = (short_time(estimate.low), short_time(estimate.high));
        format!(" It is {low} to {high}: what the command itself takes could not be told from it.")
    }

    fn next_track(&self, run: &RunView<'_>) -> Finding {
        let code = FindingCode::SeekTrackToTrack;
        let Some(near) = &self.near else {
            return Finding::unknown(code, NO_TRACKS);
        };
        if self.layout.as_ref().is_some_and(|layout| !layout.keeps_surface()) {
            return Finding::unknown(
                code,
                "The angle does not jump by the same at the end of each track, so the next track may be on another surface.",
            );
        }
        let estimate = near.next_track;
        if estimate.low <= 0.0 {
            return Finding::unknown(code, "The next track is reached too soon to tell from the same one.");
        }
        let statement = format!("To the next track the arm takes {}.", short_time(estimate.value));
        Finding::number(code, estimate, "s", statement, evidence_of(run))
            .with_data("overhead_s", Datum::Number(near.overhead.value))
            .with_data("pairs", Datum::Integer((near.pairs.0 + near.pairs.1) as u64))
    }

    fn mean(&self, run: &RunView<'_>) -> Finding {
        let code = FindingCode::SeekAverage;
        let estimate = match self.over_all(|curve, overhead| curve.mean(overhead)) {
            Ok(estimate) => estimate,
            Err(why) => return Finding::unknown(code, why),
        };
        let statement = format!(
            "The arm takes {} on average over all pairs of cylinders.{}",
            short_time(estimate.value),
            self.how_certain(&estimate)
        );
        Finding::number(code, estimate, "s", statement, evidence_of(run))
            .with_data("hops", Datum::Integer(self.curve.hops() as u64))
            .with_data("noise", Datum::Number(self.curve.noise()))
            .with_data("held_up", Datum::Number(self.curve.late_share()))
    }

    fn full_stroke(&self, run: &RunView<'_>) -> Finding {
        let code = FindingCode::SeekFullStroke;
        let (estimate, overhead) =
            match (self.over_all(|curve, overhead| curve.seek(1.0, overhead)), self.overhead()) {
                (Ok(estimate), Ok(overhead)) => (estimate, overhead),
                (Err(why), _) | (_, Err(why)) => return Finding::unknown(code, why),
            };
        let points = CURVE.map(|distance| {
            let seek = self.curve.seek(distance, &overhead);
            Datum::record([
                ("share_of_cylinders", Datum::Number(distance)),
                ("seconds", Datum::Number(seek.value)),
                ("low", Datum::Number(seek.low)),
                ("high", Datum::Number(seek.high)),
            ])
        });
        let statement = format!(
            "From edge to edge the arm takes {}.{}",
            short_time(estimate.value),
            self.how_certain(&estimate)
        );
        Finding::number(code, estimate, "s", statement, evidence_of(run))
            .with_data("curve", Datum::List(points.into()))
    }

    fn over_all(&self, figure: impl Fn(&SeekCurve, &Estimate) -> Estimate) -> Result<Estimate, String> {
        if !self.is_whole {
            return Err("Only a part of the drive was measured.".into());
        }
        let estimate = figure(&self.curve, &self.overhead()?);
        if estimate.low <= 0.0 {
            return Err("The reads do not fix the seek. Measure longer.".into());
        }
        let half = (estimate.high - estimate.low) / 2.0;
        if self.near.is_none() && half > (BOUNDED_SHARE_MAX * estimate.value).max(BOUNDED_S_MAX) {
            return Err(format!(
                "It is {} to {}. {NO_TRACKS}",
                short_time(estimate.low),
                short_time(estimate.high)
            ));
        }
        Ok(estimate)
    }
}
