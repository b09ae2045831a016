//! The map of a drive: how long a byte takes at each place, made from visits to many places.
//!
//! A visit is one short sequential phase. On a disk its time per byte is that of the zone it lies in and, on top of it, noise
//! of about 2 %: which surface it met (surfaces differ by up to ±3 %: 8thway 2013, HTS541010A9E680), and which part of a track
//! was cut. Zones step by 0.1 to 5 %. A map therefore needs many visits, and says how small a step it may have missed.
//!
//! ```text
//! phases -> visits -> places -> clumps -> levels -> borders
//!                       |                   |
//!                 slow, disturbed     zones, suspects, pass time
//! ```

mod border;
mod clump;
mod level;
mod load;
mod noise;
mod pass;
mod place;
mod visit;

pub use level::Level;
pub use load::OtherLoad;
pub use pass::Edge;
pub use place::{Disturbances, SlowPlace};
pub use visit::Visit;

use crate::measured::turns;
use model::estimate::Estimate;
use model::range::ByteRange;
use model::request::Operation;
use model::run::RunView;

/// What is known of the surface of a drive, for one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMap {
    /// What the map is of: what the visits cover together, out to what was measured.
    pub range: ByteRange,
    /// All usable visits, by their first byte; of those to the same place, by time.
    pub visits: Vec<Visit>,
    /// Visits left out because requests failed in them.
    pub with_errors: usize,
    /// Visits left out because too few requests followed the first.
    pub too_short: usize,
    /// How much the times per byte of single visits scatter around their level: a robust standard deviation, as a share.
    pub noise: f64,
    /// Stretches of one rate each, in order, without a gap from the first byte of the range to its end.
    pub levels: Vec<Level>,
    /// Places that were slow in most of their visits, twice at least; and levels that are much slower than both neighbours.
    pub slow_places: Vec<SlowPlace>,
    /// What was slow once and not when it was measured again.
    pub disturbances: Disturbances,
    suspects: Vec<ByteRange>,
    quickest: f64,
    /// Whether it is the map of a drive that turns.
    turns: bool,
    pass: Option<Estimate>,
    spots: Vec<pass::Spot>,
    clumps: usize,
    /// How many independent visits all of them are worth.
    weight: f64,
}

impl SurfaceMap {
    /// The map that all sequential measured phases of `operation` give.
    ///
    /// # Errors
    /// A sentence: what is missing for a map.
    pub fn of(run: &RunView<'_>, operation: Operation) -> Result<SurfaceMap, String> {
        let gathered = visit::gather(run, operation)?;
        Ok(SurfaceMap {
            with_errors: gathered.with_errors,
            too_short: gathered.too_short,
            turns: turns(run) == Some(true),
            ..SurfaceMap::of_visits(gathered.range, gathered.visits)
        })
    }

    /// The map of visits that were made elsewhere, in any order. Those outside of the range are left out.
    pub fn of_visits(range: ByteRange, visits: Vec<Visit>) -> SurfaceMap {
        let visits = place::sorted(range, visits);
        let places = place::group(&visits);
        let noise = noise::of(&places);
        let sorting = place::Sorting::of(&visits, places, &noise);
        let clumps = clump::Clumps::of(range, &visits, &sorting, &noise);
        let spots = pass::spots(&visits, &sorting);
        let levels = level::fit(range, &clumps);
        let mut slow_places = sorting.slow_places(range, &visits);
        slow_places.extend(place::slow_levels(&levels, &visits));
        slow_places.sort_by_key(|place| place.first_byte);
        SurfaceMap {
            range,
            noise: clumps.variance.sqrt(),
            levels,
            slow_places,
            disturbances: sorting.disturbances(&visits),
            quickest: sorting.quickest(),
            turns: false,
            suspects: sorting.suspects(&visits),
            pass: pass::mean_over(range, &spots).map(|mean| pass::interval(&mean)),
            spots,
            clumps: clumps.clumps.len(),
            weight: clumps.points.iter().map(|point| point.weight).sum::<f64>() * clumps.variance,
            visits,
            with_errors: 0,
            too_short: 0,
        }
    }

    /// Places that were much slower than those around them when they were visited, and were visited only once: to be
    /// measured again, since one slow visit is as likely the fault of the moment as that of the place.
    pub fn suspects(&self) -> &[ByteRange] {
        &self.suspects
    }

    /// Where more visits help most: the 95 % intervals of borders that are wider than this share of the capacity, the border of the
    /// largest step first.
    pub fn uncertain_borders(&self, precision_of_capacity: f64) -> Vec<ByteRange> {
        border::uncertain(self, precision_of_capacity)
    }

    /// Mean seconds per byte of a pass over the range, with its 95 % interval: each place counts by its width, however often it
    /// was visited. None with too few visits.
    pub fn seconds_per_byte(&self) -> Option<Estimate> {
        Some(load::without_load(self, self.pass?))
    }

    /// What the survey shows of other load on the drive, if it does. Rates are then lower than those of the drive alone, and their
    /// intervals reach up to what the quickest visits show.
    pub fn other_load(&self) -> Option<OtherLoad> {
        self.load_in_most_visits()
            .or_else(|| load::other_load(&self.disturbances, self.suspects.len(), self.visits.len()))
    }

    /// Other load on a drive that turns, in so many visits that they do not tell how fast it is alone.
    pub fn load_in_most_visits(&self) -> Option<OtherLoad> {
        load::in_most_visits(&self.disturbances, self.median_visit_s()).filter(|_| self.turns)
    }

    /// How long half of the visits took at most.
    fn median_visit_s(&self) -> f64 {
        let mut seconds: Vec<f64> =
            self.visits.iter().map(|visit| visit.bytes as f64 * visit.seconds_per_byte).collect();
        let middle = seconds.len() / 2;
        if seconds.is_empty() { 0.0 } else { *seconds.select_nth_unstable_by(middle, f64::total_cmp).1 }
    }

    /// How long a pass over the range takes, in seconds.
    pub fn pass_time(&self) -> Option<Estimate> {
        let bytes = self.range.bytes().0 as f64;
        self.seconds_per_byte().map(|mean| mean.map_monotonic(|seconds| seconds * bytes))
    }

    /// Mean seconds per byte of the first (`start`) or the last hundredth of the range, from the visits that lie within it. None with
    /// fewer than eight.
    pub fn edge(&self, start: bool) -> Option<Edge> {
        let edge = pass::edge(self, start)?;
        Some(Edge { seconds_per_byte: load::without_load(self, edge.seconds_per_byte), ..edge })
    }

    /// The smallest step between two stretches of that share of the range each, such as 0.02, that would have been found in nine of
    /// ten cases, as a share of the rate. Smaller ones may have been missed.
    pub fn step_found(&self, share_of_range: f64) -> f64 {
        level::step_found(self, share_of_range)
    }
}
