//! What is known of the surface of a drive, for one operation.

use super::level::Level;
use super::load::{self, Disturbances, Moments};
use super::pass::{self, Spot};
use super::pause::{LATE_SHARE_MAX, Pauses, is_used_constantly};
use super::sorting::{SlowPlace, Sorting};
use super::touch::quicker_again;
use super::visit::{self, Visit};
use super::{change, clump, level, noise, place};
use crate::moving_parts::is_disk;
use crate::stats::sample::{Sample, middle};
use crate::stats::scaled;
use model::estimate::Estimate;
use model::finding::{OtherLoad, Slowed, SurveyUnknown};
use model::range::ByteRange;
use model::request::Operation;
use model::run::RunView;
use model::units::{Bytes, Offset};

/// Others take twice as much of a stream as of single reads, which seek anyway, but read-ahead hides a part: of six disks that met one or two reads a
/// second, single reads took 1 to 3 times what streams lost, most 1.9 times.
const HIDDEN_TIMES_MAX: f64 = 2.0;

#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceMap {
    pub range: ByteRange,
    /// All usable visits, by their first byte; of those to the same place, by time.
    pub visits: Vec<Visit>,
    pub with_errors: usize,
    /// Visits left out because too few requests followed the first.
    pub too_short: usize,
    /// Robust standard deviation of single visits' times per byte around their level, as a share.
    pub noise: f64,
    /// In order, without a gap from the first byte of the range to its end.
    pub levels: Vec<Level>,
    /// Places that were slow in most of their visits, twice at least; and levels that are much slower than both neighbours.
    pub slow_places: Vec<SlowPlace>,
    /// What was slow once and not when it was measured again.
    pub disturbances: Disturbances,
    suspects: Vec<ByteRange>,
    late_once: Vec<ByteRange>,
    places: usize,
    moments: Moments,
    /// By what share samples were longer than most on average, at most, outside of slow places.
    lost_share_max: f64,
    is_disk_alone: bool,
    is_used_constantly: bool,
    /// Which each have a part of what is in flight, so that a visit depends on how they share it.
    pub several_disks: bool,
    uneven_share: f64,
    pass: Option<Estimate>,
    pub(super) spots: Vec<Spot>,
    clumps: usize,
    /// How many independent visits all of them are worth.
    weight: f64,
}

impl SurfaceMap {
    /// How many times as quick reads are where one was before, if that is more than places differ by.
    pub fn quicker_again(&self) -> Option<f64> {
        quicker_again(&self.visits)
    }

    pub fn of(run: &RunView<'_>, operation: Operation) -> Result<SurfaceMap, SurveyUnknown> {
        let gathered = visit::gather(run, operation)?;
        let mut map = SurfaceMap {
            with_errors: gathered.with_errors,
            too_short: gathered.too_short,
            is_disk_alone: is_disk(run) && !gathered.several_disks,
            is_used_constantly: is_used_constantly(run),
            several_disks: gathered.several_disks,
            ..SurfaceMap::of_visits(gathered.range, gathered.visits)
        };
        // Writes slow down when a cache is full.
        if operation == Operation::Read {
            change::check(&map.visits)?;
        }
        if let Some(share) = Sample::new(gathered.start_shares)
            && gathered.block.is_some()
        {
            map.uneven_share = share.median();
        }
        if let Some(block) = gathered.block
            && map.several_disks
        {
            map.uneven_share = block.as_f64() / map.median_visit(|visit| visit.bytes as f64);
        }
        Ok(map)
    }

    pub(crate) fn with_pauses(mut self, run: &RunView<'_>) -> SurfaceMap {
        let slow: Vec<ByteRange> = self.slow_places.iter().map(SlowPlace::range).collect();
        self.disturbances.pauses = Pauses::of(run, &slow);
        self
    }

    /// The map of visits that were made elsewhere, in any order. Those outside of the range are left out.
    pub fn of_visits(range: ByteRange, visits: Vec<Visit>) -> SurfaceMap {
        let visits = place::sorted(range, visits);
        let places = place::group(&visits);
        let noise = noise::of(&places);
        let sorting = Sorting::of(&visits, places, &noise);
        let clumps = clump::Clumps::of(range, &visits, &sorting, &noise);
        let spots = pass::spots(&visits, &sorting);
        let levels = level::fit(range, &clumps);
        let mut slow_places = sorting.slow_places(range, &visits);
        slow_places.extend(level::slow_levels(&levels, &visits));
        slow_places.sort_by_key(|place| place.first_byte);
        SurfaceMap {
            range,
            noise: clumps.variance.sqrt(),
            levels,
            slow_places,
            disturbances: sorting.disturbances(&visits),
            is_disk_alone: false,
            is_used_constantly: false,
            several_disks: false,
            uneven_share: 0.0,
            suspects: sorting.suspects(&visits),
            late_once: sorting.late_once().to_vec(),
            places: sorting.places.len(),
            lost_share_max: sorting.moments_elsewhere(&visits).lost_share_max(),
            moments: sorting.moments,
            pass: pass::pass_mean(range, &spots).as_ref().map(pass::interval),
            spots,
            clumps: clumps.clumps.len(),
            weight: clumps.points.iter().map(|point| point.weight).sum::<f64>() * clumps.variance,
            visits,
            with_errors: 0,
            too_short: 0,
        }
    }

    /// Places that were slow in their only visit: to be measured again, since that is as likely the fault of the moment.
    pub fn suspects(&self) -> &[ByteRange] {
        &self.suspects
    }

    /// Places that took longer once, where reading them again decides between other load and the drive.
    pub fn late_once(&self) -> &[ByteRange] {
        if let Some(OtherLoad::Late { .. }) = self.other_load() { &self.late_once } else { &[] }
    }

    /// Where more visits help most: the 95 % intervals of borders wider than this share, the largest step first. A slow place hides the border within.
    pub fn uncertain_borders(&self, precision_of_capacity: f64) -> Vec<ByteRange> {
        let widest = self.range.bytes().as_f64() * precision_of_capacity;
        let mut borders: Vec<(f64, ByteRange)> = Vec::new();
        for pair in self.levels.windows(2) {
            let Some(bytes) = pair[1].border_high.checked_sub(pair[1].border_low) else { continue };
            let range = ByteRange::new(Offset::new(pair[1].border_low), Bytes::new(bytes));
            if let Some(range) = range
                && bytes as f64 > widest
                && !self.slow_places.iter().any(|place| place.is_in(range))
            {
                borders.push((level::step(&pair[0], &pair[1]), range));
            }
        }
        borders.sort_by(|left, right| right.0.total_cmp(&left.0));
        borders.into_iter().map(|(_, range)| range).collect()
    }

    /// Mean seconds per byte of a pass over the range: each place counts by its width. None with too few visits.
    pub fn seconds_per_byte(&self) -> Option<Estimate> {
        Some(self.without_load(self.as_sampled(self.pass?)))
    }

    /// Of several disks, some are ahead of the others by up to a request at the ends of a visit, and where nothing moves, what a start takes
    /// is known roughly: by so much all visits may be off.
    pub(super) fn as_sampled(&self, seen: Estimate) -> Estimate {
        let uneven = self.uneven_share * seen.value;
        let low = (seen.low - uneven).max(0.0);
        Estimate { low, high: seen.high + uneven, ..seen }
    }

    /// A time per byte without the load of others: between what the quickest visits show and what was seen.
    pub(super) fn without_load(&self, seen: Estimate) -> Estimate {
        let quieter = self.moments.quieter(self.slowed().is_some(), &self.disturbances.pauses);
        Estimate { low: seen.low * quieter.exp(), ..seen }
    }

    /// Why rates may be lower than those of the drive alone: intervals reach up to the quickest visits.
    pub(crate) fn slowed(&self) -> Option<Slowed> {
        if self.other_load().is_some() {
            Some(Slowed::ByOtherLoad)
        } else {
            self.disturbances.pauses.slowed()
        }
    }

    /// Other load that hides zones and slow places.
    pub fn other_load(&self) -> Option<OtherLoad> {
        match self.load_in_most_visits() {
            Some(load) => Some(load),
            None => load::other_load(&self.disturbances, self.suspects.len(), self.places),
        }
    }

    /// Slower places all over the range, which are slower again when others are not: they may be the only ones in use.
    pub(crate) fn scattered(&self) -> Option<SurveyUnknown> {
        let (samples, of) = (self.disturbances.late_samples(self.suspects.len()), self.places);
        let are_many = samples as f64 > LATE_SHARE_MAX * of as f64;
        (are_many && self.other_load().is_none()).then_some(SurveyUnknown::Scattered { samples, of })
    }

    /// By what share others made single reads longer, at most; none where they took most samples, came in bursts, or used one of several disks.
    pub(crate) fn share_of_others(&self) -> Option<f64> {
        let held_up = match self.other_load() {
            Some(OtherLoad::Late { .. }) => true,
            Some(_) => return None,
            None => self.disturbances.pauses.are_in_many(),
        };
        if !self.is_disk_alone {
            // Changes of direction make one visit in fifty of a disk as late.
            let is_quiet = !(held_up || self.several_disks && self.moments.are_some_late());
            return is_quiet.then_some(0.0);
        }
        if held_up && !self.disturbances.are_without_pattern() {
            return None;
        }
        Some(HIDDEN_TIMES_MAX * self.lost_share_max)
    }

    /// Other load on a disk, in so many visits that they do not tell how fast it is alone. The disks of a mirror make visits as different.
    pub fn load_in_most_visits(&self) -> Option<OtherLoad> {
        if self.is_used_constantly {
            return Some(OtherLoad::Constant);
        }
        if !self.is_disk_alone {
            return None;
        }
        load::in_most_visits(&self.disturbances, self.median_visit(Visit::seconds))
    }

    fn median_visit(&self, of: impl Fn(&Visit) -> f64) -> f64 {
        let mut values: Vec<f64> = self.visits.iter().map(of).collect();
        middle(&mut values)
    }

    pub fn pass_time(&self) -> Option<Estimate> {
        Some(scaled(&self.seconds_per_byte()?, self.range.bytes().as_f64()))
    }

    /// The smallest step between two stretches of that share of the range each, such as 0.02, that would have been found in
    /// nine of ten cases, as a share of the rate. Smaller ones may have been missed.
    pub fn step_found(&self, share_of_range: f64) -> f64 {
        level::step_found(self.clumps, self.weight * share_of_range) * self.noise
    }
}
