//! Other load: what was slow because of the moment, and not because of the place.
//!
//! Somebody else's request makes one visit longer by a seek there and back, and leaves the next as it was. So a busy drive
//! shows in visits that were late wherever they were, with none that were early by as much; or in visits that follow each other
//! in time and are alike. Places are drawn at random, so neither can come from the place. Where nearly every visit met somebody
//! else's requests none is late any more: then the few that met least are much quicker than most.

use super::pause::{LATE_SHARE_MAX, Pauses, QUARTER_TURN_S, SOME_LATE_SHARE_MAX, SURFACES_DIFFER_MAX};
use super::place::Place;
use crate::stats::mean::squares_about;
use model::finding::OtherLoad;

/// Visits on both sides of a moment that tell how likely a visit then was slow, whatever its place.
const NEIGHBOURS_IN_TIME: usize = 10;
/// As many visits are early as late when it is noise; a fourth leaves no doubt.
const EARLY_PER_LATE_MAX: f64 = 0.25;
/// A visit is late that takes longer by a tenth, and by so many standard deviations of the noise below the median, which a little load
/// does not add to; but a fifth is late whatever the noise, which more load does add to. The noise of surfaces and tracks ends at about
/// 6 %, that of a mirror, whose disks answer in turn, at about 18 %.
const LATE_EXCESS: f64 = 0.1;
const LATE_EXCESS_MAX: f64 = 0.2;
const LATE_DEVIATIONS: f64 = 5.0;
/// The quickest twentieth of visits to a disk that nothing else uses takes less than the median by no more than this, as a difference of
/// logarithms: its surfaces differ by up to ±3 % (8thway 2013), so 6 % from the slowest to the fastest, and a visit of four tracks with
/// one change of surface less, which is a quarter of a turn, takes 5 % less. Of 19 disks and arrays that ship the most is 7.4 %.
const QUICKER_MAX: f64 = 0.12;
const QUICK_SHARE: f64 = 0.05;
/// Fewer places than this lie so far apart that rates around a place are not those of the place.
const PLACES_MIN: usize = 200;
/// So few places that two of them are a tenth say nothing of how often a place is quick.
const PLACES_BESIDE_MIN: usize = 20;
/// Visits that follow each other are alike beyond chance when their correlation exceeds noise so far, 1 in 30,000, and matters.
const CORRELATION_SCORE_MAX: f64 = 4.0;
const CORRELATION_MAX: f64 = 0.15;

/// Visits that were slow once and not when the same place was measured again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disturbances {
    pub visits: usize,
    pub share: f64,
    /// Stretches of time in which visits that follow each other were disturbed: start and end, since the run's clock began.
    pub times_ns: Vec<(u64, u64)>,
    /// How alike visits that follow each other are: the correlation of neighbours, 0 expected. None without random order.
    pub correlation: Option<f64>,
    pub correlation_score: f64,
    /// First visits to places that took longer than noise explains.
    pub late: usize,
    pub early: usize,
    /// The share of slow places that only the moment made slow, at most: others are as slow when they are looked at again.
    pub momentary_share_max: f64,
    pub pauses: Pauses,
    /// By how much less than the median the quickest twentieth of first visits took, as a difference of logarithms; 0 of too few.
    pub quicker: f64,
}

impl Disturbances {
    /// Late samples, with the places that were slow in their only visit.
    pub(super) fn late_samples(&self, suspects: usize) -> usize {
        let slow = self.visits + suspects;
        if outnumber(self.late, self.early) { self.late.max(slow) } else { slow }
    }

    /// Whether visits that follow each other in time are no more alike than others, as far as their order tells.
    pub(super) fn are_without_pattern(&self) -> bool {
        self.correlation.is_some_and(|correlation| {
            correlation <= CORRELATION_MAX || self.correlation_score <= CORRELATION_SCORE_MAX
        })
    }
}

/// First visits to places, in the order of time: what was seen before has not chosen them, so that they tell of the moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moments {
    times_ns: Vec<u64>,
    /// How many of the visits before each were slow; one more entry than visits.
    slow_before: Vec<u32>,
    /// By how much the logarithm of their times exceeds that of the places around them, in rising order.
    excesses: Vec<f64>,
}

impl Moments {
    /// Of the time, the excess and the slowness of each first visit, in any order.
    pub(super) fn of(mut firsts: Vec<(u64, f64, bool)>) -> Moments {
        firsts.sort_by_key(|(time, ..)| *time);
        let mut slow_before = vec![0];
        for (index, (.., slow)) in firsts.iter().enumerate() {
            slow_before.push(slow_before[index] + u32::from(*slow));
        }
        let mut excesses: Vec<f64> = firsts.iter().map(|(_, excess, _)| *excess).collect();
        excesses.sort_by(f64::total_cmp);
        Moments { times_ns: firsts.into_iter().map(|(time, ..)| time).collect(), slow_before, excesses }
    }

    /// The chance that a visit at that moment is slow wherever it is: its share in time, with Jeffreys' prior.
    pub(super) fn chance_slow(&self, at_ns: u64) -> f64 {
        let middle = self.times_ns.partition_point(|time| *time < at_ns);
        let from = middle.saturating_sub(NEIGHBOURS_IN_TIME);
        let to = (middle + NEIGHBOURS_IN_TIME).min(self.times_ns.len());
        let slow = f64::from(self.slow_before[to] - self.slow_before[from]);
        (slow + 0.5) / ((to - from) as f64 + 1.0)
    }

    fn quantile(&self, share: f64) -> f64 {
        let last = self.excesses.len().saturating_sub(1);
        self.excesses.get((share * last as f64) as usize).copied().unwrap_or(0.0)
    }

    /// One standard deviation by the visits below the median, which single delays do not reach.
    fn below(&self) -> f64 {
        // 15.87 % of a normal distribution lie below that.
        self.quantile(0.5) - self.quantile(0.1587)
    }

    /// By how much less than the median the quickest visits took, as a difference of logarithms; none of fewer places than tell that.
    pub(super) fn quicker(&self) -> Option<f64> {
        if self.excesses.len() < PLACES_MIN {
            return None;
        }
        Some(self.quantile(0.5) - self.quantile(QUICK_SHARE))
    }

    /// By how much a late visit exceeds those around its place, at least; none of fewer places than tell that.
    pub(super) fn late_from(&self) -> Option<f64> {
        (self.excesses.len() >= PLACES_MIN).then(|| self.quantile(0.5) + self.limit())
    }

    fn limit(&self) -> f64 {
        (LATE_DEVIATIONS * self.below()).clamp(LATE_EXCESS, LATE_EXCESS_MAX)
    }

    pub(super) fn late_and_early(&self) -> (usize, usize) {
        let Some(late_from) = self.late_from() else { return (0, 0) };
        let (median, limit) = (self.quantile(0.5), self.limit());
        let late = self.excesses.len() - self.excesses.partition_point(|excess| *excess <= late_from);
        let early = self.excesses.partition_point(|excess| *excess < median - limit);
        (late, early)
    }

    /// By how much less than on average the quickest visits took, such a share of all, as a difference of logarithms.
    fn quickest(&self, share: f64) -> f64 {
        let mean = self.excesses.iter().sum::<f64>() / self.excesses.len().max(1) as f64;
        (self.quantile(share) - mean).min(0.0)
    }

    /// How much less than what was seen the time without other load may be, as a difference of logarithms. Where few visits were held up by so
    /// much that it shows, half of all were at most, by less: the median of the others is above the lower quartile of all.
    pub(super) fn quieter(&self, is_loaded: bool, pauses: &Pauses) -> f64 {
        if is_loaded {
            return self.quickest(QUICK_SHARE);
        }
        if pauses.are_in_some() || self.are_some_late() { self.quickest(0.25) } else { 0.0 }
    }

    /// By what share first visits took longer than most, on average, at most, where noise, 1.25 times as much of a median, does not explain it.
    pub(super) fn lost_share_max(&self) -> f64 {
        let count = self.excesses.len() as f64;
        if count < PLACES_BESIDE_MIN as f64 {
            return 0.0;
        }
        let mean = self.excesses.iter().sum::<f64>() / count;
        let error = 1.25 * (squares_about(mean, &self.excesses)).sqrt() / count;
        let lost = mean - self.quantile(0.5);
        if lost > 2.0 * error { lost + 2.0 * error } else { 0.0 }
    }

    pub(super) fn are_some_late(&self) -> bool {
        let (late, early) = self.late_and_early();
        late as f64 > SOME_LATE_SHARE_MAX * self.excesses.len() as f64 && outnumber(late, early)
    }
}

/// By how much less than both places beside them the quickest twentieth of places took, but two at least, as a difference of logarithms;
/// 0 of fewer than [`PLACES_BESIDE_MIN`]. A drive that other requests keep so busy that few samples fit the time has no more than that.
/// Times rise or fall from place to place and one slow place has two neighbours: the quicker of both leaves neither of them quick.
pub(super) fn quicker_than_beside(places: &[Place]) -> f64 {
    if places.len() < PLACES_BESIDE_MIN {
        return 0.0;
    }
    let mut differences: Vec<f64> = Vec::new();
    for three in places.windows(3) {
        differences.push(three[0].value.min(three[2].value) - three[1].value);
    }
    differences.sort_by(|left, right| right.total_cmp(left));
    let quick = (QUICK_SHARE * differences.len() as f64) as usize;
    differences[quick.max(1)].max(0.0)
}

fn outnumber(late: usize, early: usize) -> bool {
    early as f64 <= EARLY_PER_LATE_MAX * late as f64
}

/// Places that were looked at again count once.
pub(super) fn other_load(disturbances: &Disturbances, suspects: usize, places: usize) -> Option<OtherLoad> {
    let late = disturbances.late_samples(suspects) as f64 * disturbances.momentary_share_max;
    if late > LATE_SHARE_MAX * places.max(1) as f64 {
        return Some(OtherLoad::Late { samples: late as usize, of: places });
    }
    match disturbances.correlation {
        Some(correlation) if !disturbances.are_without_pattern() => Some(OtherLoad::Alike { correlation }),
        _ => None,
    }
}

/// What most visits of the survey of a disk were disturbed by, if it is so.
pub(super) fn in_most_visits(disturbances: &Disturbances, visit_s: f64) -> Option<OtherLoad> {
    let pauses = &disturbances.pauses;
    if pauses.are_in_most() {
        return Some(OtherLoad::Paused { samples: pauses.paused, of: pauses.of });
    }
    let quicker = disturbances.quicker;
    (quicker > quicker_max(visit_s)).then_some(OtherLoad::Most { quicker: -(-quicker).exp_m1() })
}

/// How much quicker the quickest visits are at most on a disk that nothing else uses, by how long most visits took.
fn quicker_max(visit_s: f64) -> f64 {
    let one_change_less = QUARTER_TURN_S / visit_s;
    // A visit no longer than the change itself tells nothing.
    if one_change_less >= 1.0 {
        return f64::INFINITY;
    }
    QUICKER_MAX.max(SURFACES_DIFFER_MAX - (-one_change_less).ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moment_tells_how_likely_a_slow_visit_is() {
        // From the 100th to the 200th visit everything is slow.
        let firsts = (0..300).map(|index| (index * 10, 0.0, (100..200).contains(&index))).collect();
        let moments = Moments::of(firsts);
        assert!((moments.chance_slow(500) - 0.5 / 21.0).abs() < 1e-12);
        assert!((moments.chance_slow(1500) - 20.5 / 21.0).abs() < 1e-12);
        assert!((Moments::of(Vec::new()).chance_slow(1) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn late_visits_are_told_from_noise() {
        let noise = |index: usize| 0.02 * ((index * 37 % 100) as f64 / 50.0 - 1.0);
        let even: Vec<(u64, f64, bool)> = (0..400).map(|index| (index as u64, noise(index), false)).collect();
        assert_eq!(Moments::of(even.clone()).late_and_early(), (0, 0));
        let mut busy = even;
        busy.iter_mut().step_by(5).for_each(|first| first.1 += 0.25);
        assert_eq!(Moments::of(busy).late_and_early(), (80, 0));
    }

    /// One visit in fifty is late for it met another's request, and of the others each tenth met part of one: means of 27 of 163 shared drives
    /// were told 1 to 2 % too low.
    #[test]
    fn a_few_late_visits_leave_open_how_quick_the_drive_is_alone() {
        let noise = |index: usize| 0.02 * ((index * 37 % 100) as f64 / 50.0 - 1.0);
        let alone: Vec<(u64, f64, bool)> =
            (0..400).map(|index| (index as u64, noise(index), false)).collect();
        assert_eq!(Moments::of(alone.clone()).quieter(false, &Pauses::default()), 0.0);
        let mut shared = alone;
        shared.iter_mut().step_by(10).for_each(|first| first.1 += 0.05);
        assert_eq!(Moments::of(shared.clone()).quieter(false, &Pauses::default()), 0.0, "that may be noise");
        shared.iter_mut().step_by(50).for_each(|first| first.1 += 0.15);
        let added = 0.1 * 0.05 + 0.02 * 0.15;
        let quieter = Moments::of(shared).quieter(false, &Pauses::default());
        assert!((-3.0 * added..=-added).contains(&quieter), "{quieter}");
    }

    /// A third of the visits met nobody, a third one request of somebody else and a third two, each a quarter of a visit long: as many
    /// are quicker than the median as are slower, and only how much they differ tells.
    #[test]
    fn so_much_load_that_no_visit_is_late_is_seen_by_the_few_quick_ones() {
        let visit = |index: usize| (index as u64, (1.0 + 0.25 * (index % 3) as f64).ln(), false);
        let moments = Moments::of((0..300).map(visit).collect());
        let (median, two) = (1.25f64.ln(), 1.5f64.ln());
        assert!(two - median < LATE_EXCESS_MAX && moments.late_and_early() == (0, 100));
        let shown = moments.quicker().expect("enough places");
        assert!((shown - median).abs() < 1e-12);
        let disturbances = Disturbances { quicker: shown, ..Disturbances::default() };
        let Some(OtherLoad::Most { quicker }) = in_most_visits(&disturbances, 0.06) else {
            panic!("it is seen")
        };
        assert!((quicker - 0.2).abs() < 1e-12, "1 of 1.25 is a fifth less: {quicker}");
        assert_eq!(in_most_visits(&Disturbances { quicker: 0.074, ..disturbances }, 0.06), None);
    }

    /// 8 MiB of a stripe of six are a track and a half of each disk: 9 ms, of which a change of surface is up to a third.
    #[test]
    fn short_visits_differ_by_a_change_of_surface() {
        assert!((quicker_max(0.06) - 0.12).abs() < 1e-12);
        assert!((quicker_max(0.009) - 0.429).abs() < 1e-3, "{}", quicker_max(0.009));
        assert_eq!(quicker_max(0.002), f64::INFINITY);
        let disturbances = Disturbances { quicker: 0.14, ..Disturbances::default() };
        assert_eq!(in_most_visits(&disturbances, 0.009), None);
        assert!(in_most_visits(&disturbances, 0.06).is_some());
    }
}
