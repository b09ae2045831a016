//! Which places are sound, which are slow again and again, and which were slow once.

use super::load::{self, Disturbances, Moments};
use super::noise::Noise;
use super::pause::Pauses;
use super::place::Place;
use super::visit::{Visit, longest_bytes, longest_ns, visits_from_to};
use crate::stats::mean::squares_about;
use crate::stats::share::share;
use model::range::ByteRange;
use model::units::Offset;

/// A stretch that was slow in most of its visits, twice at least, with something sound in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowPlace {
    pub first_byte: u64,
    pub bytes: u64,
    /// The most that it may extend: between the visits before and after it that were not slow.
    pub within_first_byte: u64,
    pub within_end_byte: u64,
    pub times_slower: f64,
    pub visits: usize,
    pub longest_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Like those around it; what was slow there once was so for another reason.
    Sound,
    /// Slow, and not measured again often enough to know.
    Suspect,
    Slow,
}

/// By what share a place must be slower than those around it to be looked at again: more than a disk's surfaces, cuts of tracks
/// and a change of surface explain, which is up to a turn of 8 ms in the 30 ms that a visit to the fastest disks takes.
pub(super) const SLOW_EXCESS: f64 = 0.35;
/// And by so many standard deviations of the noise.
const SLOW_DEVIATIONS: f64 = 5.0;
/// If all of these places are late again, the moment made no more than a seventh of the others late (97.5 %).
const AGAIN_ENOUGH: u64 = 24;
/// The chance that any of all places that were ever slow was only disturbed each time, above which they are measured again.
const CHANCE_MAX: f64 = 0.05;
/// Visits that differ by less than this, as a difference of logarithms, are alike: it changes none of the three digits of a rate.
const EVEN: f64 = 1e-3;
/// From this many visits on their order in time is looked at.
const ORDER_MIN: usize = 50;

/// Whether one of the visits, which are sorted by place and none of which is longer than that, was there before.
pub(super) fn was_visited_before(visits: &[Visit], visit: &Visit, longest_bytes: u64) -> bool {
    // What begins before that ends before the visit.
    let from = (visit.first_byte + 1).saturating_sub(longest_bytes);
    for other in visits_from_to(visits, from, visit.end_byte()) {
        if other.start_ns < visit.start_ns && other.end_byte() > visit.first_byte {
            return true;
        }
    }
    false
}

/// Places that were late in their first visit.
#[derive(Default)]
struct Late {
    seen_once: Vec<ByteRange>,
    /// Which were looked at again, and of these the ones that were not late then.
    again: u64,
    sound_again: u64,
}

pub(super) struct Sorting {
    pub places: Vec<Place>,
    pub verdicts: Vec<Verdict>,
    /// For each visit, by how much the logarithm of its time exceeds that of the places around it.
    excess: Vec<f64>,
    /// For each visit, whether it was slow and its place is not.
    disturbed: Vec<bool>,
    late: Late,
    pub moments: Moments,
    limit: f64,
}

impl Sorting {
    pub(super) fn of(visits: &[Visit], places: Vec<Place>, noise: &Noise) -> Sorting {
        let limit = f64::ln_1p(SLOW_EXCESS).max(SLOW_DEVIATIONS * noise.visit);
        let mut excess = vec![0.0; visits.len()];
        for (place, local) in places.iter().zip(&noise.local) {
            for index in place.visits.clone() {
                excess[index] = visits[index].seconds_per_byte.ln() - local;
            }
        }
        let mut sorting = Sorting {
            verdicts: vec![Verdict::Sound; places.len()],
            disturbed: vec![false; visits.len()],
            late: Late::default(),
            places,
            excess,
            moments: Moments::of(Vec::new()),
            limit,
        };
        sorting.moments = sorting.moments_elsewhere(visits);
        sorting.look_at_late(visits);
        sorting.judge(visits);
        sorting
    }

    fn is_slow(&self, visit: usize) -> bool {
        self.excess[visit] > self.limit
    }

    /// The first visit to each place, its excess, and whether it was slow. Places that an earlier visit overlaps may have been chosen by it.
    fn firsts(&self, visits: &[Visit]) -> Vec<(usize, f64, bool)> {
        let longest = longest_bytes(visits);
        let mut firsts = Vec::new();
        for place in &self.places {
            let first = place.visits.start;
            if !was_visited_before(visits, &visits[first], longest) {
                firsts.push((first, self.excess[first], self.is_slow(first)));
            }
        }
        firsts
    }

    fn look_at_late(&mut self, visits: &[Visit]) {
        let Some(limit) = self.moments.late_from() else { return };
        for place in &self.places {
            let excesses = &self.excess[place.visits.clone()];
            let Some((first, later)) = excesses.split_first() else { continue };
            if *first <= limit {
                continue;
            }
            let late_again = later.iter().filter(|excess| **excess > limit).count();
            if later.is_empty() {
                self.late.seen_once.push(visits[place.visits.start].range());
            } else {
                self.late.again += 1;
                self.late.sound_again += u64::from(2 * late_again <= later.len());
            }
        }
    }

    /// Places that were late once, where it would tell of the place or the moment to look again.
    pub(super) fn late_once(&self) -> &[ByteRange] {
        if self.late.again < AGAIN_ENOUGH { &self.late.seen_once } else { &[] }
    }

    /// The share of late places that only the moment made late, at most: all, unless most of those that were looked at again were late again.
    fn momentary_share_max(&self) -> f64 {
        let sound_again = share(self.late.sound_again, self.late.again, 0.95);
        if self.late.again > 0 && sound_again.high < 0.5 { sound_again.high } else { 1.0 }
    }

    fn judge(&mut self, visits: &[Visit]) {
        let mut sound_times = Vec::new();
        for (index, visit) in visits.iter().enumerate() {
            if self.excess[index] <= self.limit {
                sound_times.push(visit.start_ns);
            }
        }
        sound_times.sort_unstable();
        let (mut candidates, mut looked_at) = (Vec::new(), 0.0);
        for (number, place) in self.places.iter().enumerate() {
            let slow: Vec<usize> = place.visits.clone().filter(|&visit| self.is_slow(visit)).collect();
            let count = place.visits.len();
            if slow.is_empty() {
                continue;
            }
            looked_at += 1.0;
            if count == 1 || slow.len() == count && !is_apart(visits, &slow, &sound_times) {
                self.verdicts[number] = Verdict::Suspect;
            } else if slow.len() * 2 > count {
                candidates.push((number, slow));
            } else {
                for index in slow {
                    self.disturbed[index] = true;
                }
            }
        }
        for (number, slow) in candidates {
            // The first visit brought the place here; only the others can say that it was no chance.
            let mut by_chance = 1.0;
            for &index in &slow[1..] {
                by_chance *= self.moments.chance_slow(visits[index].start_ns);
            }
            let is_chance = looked_at * by_chance > CHANCE_MAX;
            self.verdicts[number] = if is_chance { Verdict::Suspect } else { Verdict::Slow };
        }
        self.join_suspects(visits, &sound_times, looked_at);
    }

    /// Slow places with no sound one between them confirm each other: a large weak region leaves no time to look again.
    fn join_suspects(&mut self, visits: &[Visit], sound_times: &[u64], looked_at: f64) {
        let mut from = 0;
        while from < self.places.len() {
            let beyond =
                self.verdicts[from..].iter().take_while(|verdict| **verdict != Verdict::Sound).count();
            let places = from..from + beyond;
            from += beyond + 1;
            let (mut slow, mut by_chance) = (Vec::new(), 1.0);
            for visit in self.places[places.clone()].iter().flat_map(|place| place.visits.clone()) {
                if self.is_slow(visit) {
                    slow.push(visit);
                }
            }
            slow.sort_by_key(|&visit| visits[visit].start_ns);
            for &visit in slow.iter().skip(1) {
                by_chance *= self.moments.chance_slow(visits[visit].start_ns);
            }
            if looked_at * by_chance <= CHANCE_MAX && is_apart(visits, &slow, sound_times) {
                self.verdicts[places].fill(Verdict::Slow);
            }
        }
    }

    /// How much first visits exceed those around them, without places that are slow whenever they are visited.
    pub(super) fn moments_elsewhere(&self, visits: &[Visit]) -> Moments {
        let slow = self.ranges_of(Verdict::Slow, visits);
        let mut elsewhere = Vec::new();
        for (first, excess, is_slow) in self.firsts(visits) {
            let own = visits[first].range();
            if !slow.iter().any(|range| range.overlaps(&own)) {
                elsewhere.push((visits[first].start_ns, excess, is_slow));
            }
        }
        Moments::of(elsewhere)
    }

    /// The mean time per byte of a place, of the visits that were not slow for another reason.
    pub(super) fn seconds_per_byte(&self, place: &Place, visits: &[Visit]) -> f64 {
        let (mut sum, mut count) = (0.0, 0usize);
        for index in place.visits.clone() {
            if !self.disturbed[index] {
                sum += visits[index].seconds_per_byte;
                count += 1;
            }
        }
        sum / count as f64
    }

    fn ranges_of(&self, wanted: Verdict, visits: &[Visit]) -> Vec<ByteRange> {
        let mut ranges = Vec::new();
        for (place, verdict) in self.places.iter().zip(&self.verdicts) {
            if *verdict == wanted {
                ranges.push(visits[place.visits.start].range());
            }
        }
        ranges
    }

    /// Stretches of which it is not known whether they are slow. What overlaps a slow place is known.
    pub(super) fn suspects(&self, visits: &[Visit]) -> Vec<ByteRange> {
        let slow = self.ranges_of(Verdict::Slow, visits);
        let mut suspects = self.ranges_of(Verdict::Suspect, visits);
        suspects.retain(|range| !slow.iter().any(|slow| slow.overlaps(range)));
        suspects
    }

    /// Slow places that follow each other, with no sound one between them, are one.
    pub(super) fn slow_places(&self, range: ByteRange, visits: &[Visit]) -> Vec<SlowPlace> {
        let mut slow_places: Vec<SlowPlace> = Vec::new();
        let (mut sound_end, mut open) = (range.first().get(), false);
        for (place, verdict) in self.places.iter().zip(&self.verdicts) {
            let here = &visits[place.visits.clone()];
            let end_byte = here.iter().map(Visit::end_byte).max().unwrap_or(0);
            match verdict {
                Verdict::Sound => {
                    if open && let Some(last) = slow_places.last_mut() {
                        last.within_end_byte = here[0].first_byte.max(last.first_byte + last.bytes);
                    }
                    (sound_end, open) = (end_byte, false);
                }
                Verdict::Suspect => {}
                Verdict::Slow => {
                    let excess: f64 = self.excess[place.visits.clone()].iter().sum();
                    let first_byte = here[0].first_byte;
                    let slow = SlowPlace {
                        first_byte,
                        bytes: end_byte - first_byte,
                        within_first_byte: sound_end.min(first_byte),
                        within_end_byte: range.end().get(),
                        times_slower: (excess / here.len() as f64).exp(),
                        visits: here.len(),
                        longest_ns: longest_ns(here),
                    };
                    match slow_places.last_mut() {
                        Some(last) if open => last.join(&slow),
                        _ => slow_places.push(slow),
                    }
                    open = true;
                }
            }
        }
        slow_places
    }

    pub(super) fn disturbances(&self, visits: &[Visit]) -> Disturbances {
        let mut order: Vec<usize> = (0..visits.len()).collect();
        order.sort_by_key(|&index| visits[index].start_ns);
        let mut count = 0;
        let mut times_ns: Vec<(u64, u64)> = Vec::new();
        let mut before = false;
        for &index in &order {
            let start_ns = visits[index].start_ns;
            let end_ns = start_ns.saturating_add((visits[index].seconds() * 1e9) as u64);
            if self.disturbed[index] {
                count += 1;
                match times_ns.last_mut() {
                    Some(last) if before => last.1 = end_ns,
                    _ => times_ns.push((start_ns, end_ns)),
                }
            }
            before = self.disturbed[index];
        }
        let correlation = self.correlation(visits, &order);
        let (late, early) = self.moments.late_and_early();
        Disturbances {
            late,
            early,
            pauses: Pauses::default(),
            quicker: self.moments.quicker().unwrap_or_else(|| load::quicker_than_beside(&self.places)),
            momentary_share_max: self.momentary_share_max(),
            visits: count,
            share: count as f64 / visits.len().max(1) as f64,
            times_ns,
            correlation,
            correlation_score: match correlation {
                Some(correlation) => correlation * (visits.len() as f64).sqrt(),
                None => 0.0,
            },
        }
    }

    /// The correlation of visits that follow each other in time, what exceeds the limit counted as the limit. None where most of
    /// them are also neighbours in place: what is alike then may be the place. None either where all visits are alike.
    fn correlation(&self, visits: &[Visit], order: &[usize]) -> Option<f64> {
        let span = visits.last()?.end_byte() - visits.first()?.first_byte;
        let mut near = 0;
        for pair in order.windows(2) {
            let distance = visits[pair[0]].first_byte.abs_diff(visits[pair[1]].first_byte);
            near += usize::from(distance < span / 50);
        }
        if order.len() < ORDER_MIN || near * 3 > order.len() {
            return None;
        }
        let deviations: Vec<f64> =
            order.iter().map(|&index| self.excess[index].clamp(-self.limit, self.limit)).collect();
        let mean = deviations.iter().sum::<f64>() / deviations.len() as f64;
        let squares = squares_about(mean, &deviations);
        if (squares / deviations.len() as f64).sqrt() < EVEN {
            return None;
        }
        let products: f64 = deviations.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        Some(products / squares)
    }
}

/// Whether something sound was visited between the first and the last of these: then no single reason lasted.
fn is_apart(visits: &[Visit], slow: &[usize], sound_times: &[u64]) -> bool {
    let (Some(&first), Some(&last)) = (slow.first(), slow.last()) else { return false };
    let (first, last) = (visits[first].start_ns, visits[last].start_ns);
    sound_times.partition_point(|time| *time < last) > sound_times.partition_point(|time| *time <= first)
}

impl SlowPlace {
    pub(super) fn is_in(&self, range: ByteRange) -> bool {
        range.contains_offset(Offset::new(self.first_byte + self.bytes / 2))
    }

    pub(crate) fn range(&self) -> ByteRange {
        let range = ByteRange::from_bytes(self.first_byte, self.bytes);
        range.expect("what is slow was visited, within the drive")
    }

    fn join(&mut self, next: &SlowPlace) {
        let visits = self.visits + next.visits;
        let weighted = self.times_slower * self.visits as f64 + next.times_slower * next.visits as f64;
        self.times_slower = weighted / visits as f64;
        self.bytes = next.first_byte + next.bytes - self.first_byte;
        self.visits = visits;
        self.longest_ns = self.longest_ns.max(next.longest_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::SurfaceMap;
    use model::finding::{OtherLoad, SurveyUnknown};
    use model::units::Bytes;

    const PIECE_BYTES: u64 = 1_000_000_000;

    /// A visit at 200 MB/s, give or take a thousandth, as many times slower.
    fn visit(first_byte: u64, bytes: u64, start_ns: u64, times_slower: f64) -> Visit {
        let noise = 1.0 + 0.001 * ((start_ns / 7 % 100) as f64 / 50.0 - 1.0);
        let seconds_per_byte = noise * times_slower / 200e6;
        Visit { phase: 0, first_byte, bytes, seconds_per_byte, start_ns, longest_ns: 0 }
    }

    /// Pieces of a pass, which are hardly slower where a short stretch in them is, and then looks at such stretches, one after the
    /// other and round after round.
    fn pass_and_looks(weak: &[u64], looks: u64, times_slower: f64) -> Vec<Visit> {
        let is_weak = |number: u64| weak.contains(&number);
        let piece = |number| {
            let slower = if is_weak(number) { 1.2 } else { 1.0 };
            visit(number * PIECE_BYTES, PIECE_BYTES, number * 5_000_000_007, slower)
        };
        let mut visits: Vec<Visit> = (0..4000).map(piece).collect();
        for round in 0..looks {
            for (place, number) in (0..).zip(weak) {
                let start_ns = (4000 + 100 * round + place) * 5_000_000_007;
                visits.push(visit(number * PIECE_BYTES + 500_000_000, 64 << 20, start_ns, times_slower));
                // Something sound beside it, so that no moment lasts from one look to the next.
                visits.push(visit(
                    number * PIECE_BYTES + 700_000_000,
                    64 << 20,
                    start_ns + 1_000_000_007,
                    1.0,
                ));
            }
        }
        visits
    }

    /// Two disks that follow one another, as 200 GB of 5400 rpm and 300 GB of 7200 rpm in one volume: the inner half of the first was
    /// told as a slow region. Between two alike it is one.
    #[test]
    fn the_inner_end_of_a_first_drive_is_no_slow_region() {
        let slow = |rates: [f64; 3]| {
            let visits: Vec<Visit> = (0..600)
                .map(|number| {
                    let times_slower = 200.0 / rates[number as usize / 200];
                    visit(number * PIECE_BYTES, 8 << 20, number * 7919 % 600 * 1_000_000_007, times_slower)
                })
                .collect();
            let range = ByteRange::new(Offset::START, Bytes::new(600 * PIECE_BYTES)).expect("a range");
            let map = SurfaceMap::of_visits(range, visits);
            assert_eq!(map.levels.len(), 3);
            map.slow_places.len()
        };
        assert_eq!(slow([46.9, 34.1, 104.7]), 0);
        assert_eq!(slow([100.0, 60.0, 96.0]), 1);
    }

    #[test]
    fn looks_at_many_weak_places_say_nothing_of_the_moment() {
        let weak: Vec<u64> = (0..20).map(|index| 50 + 200 * index).collect();
        let range = ByteRange::new(Offset::START, Bytes::new(4000 * PIECE_BYTES)).expect("a range");
        let map = SurfaceMap::of_visits(range, pass_and_looks(&weak, 4, 5.0));
        let found: Vec<u64> = map.slow_places.iter().map(|place| place.first_byte / PIECE_BYTES).collect();
        assert_eq!(found, weak);
        assert!(map.suspects().is_empty(), "{:?}", map.suspects());
    }

    /// Of a thin volume of which a seventh holds data: "807 of 5958 samples were slow for a moment, not because of their offset".
    #[test]
    fn slow_places_all_over_are_no_other_load_where_they_are_slow_again() {
        let looked_at_again = |times_slower: f64| {
            let at_ns = |number: u64| number * 7919 % 600 * 1_000_000_007;
            let mut visits = Vec::new();
            for number in 0..600 {
                let is_slow = number % 7 == 3;
                let first_byte = number * PIECE_BYTES;
                visits.push(visit(first_byte, 8 << 20, at_ns(number), if is_slow { 3.0 } else { 1.0 }));
                if is_slow && number < 200 {
                    for later in [700, 800] {
                        let start_ns = (later + number / 7) * 1_000_000_007;
                        visits.push(visit(first_byte, 8 << 20, start_ns, times_slower));
                        visits.push(visit(
                            first_byte + PIECE_BYTES / 2,
                            8 << 20,
                            start_ns + 500_000_003,
                            1.0,
                        ));
                    }
                }
            }
            let range = ByteRange::new(Offset::START, Bytes::new(600 * PIECE_BYTES)).expect("a range");
            SurfaceMap::of_visits(range, visits)
        };
        let places = looked_at_again(3.0);
        assert_eq!(places.other_load(), None);
        assert_eq!(places.scattered(), Some(SurveyUnknown::Scattered { samples: 86, of: 629 }));
        let moments = looked_at_again(1.0);
        assert!(matches!(moments.other_load(), Some(OtherLoad::Late { samples: 86.., of: 629 })));
        assert_eq!(moments.scattered(), None);
    }

    /// Of 200 places that were visited once each, 7 in a row took as long as 64: no time was left to look again, and nothing was told.
    #[test]
    fn slow_places_next_to_each_other_confirm_each_other() {
        let mut visits = Vec::new();
        for number in 0..200 {
            let times_slower = if (90..97).contains(&number) { 9.0 } else { 1.0 };
            let start_ns = number * 79 % 200 * 1_000_000_007;
            visits.push(visit(number * PIECE_BYTES, 8 << 20, start_ns, times_slower));
        }
        let range = ByteRange::new(Offset::START, Bytes::new(200 * PIECE_BYTES)).expect("a range");
        let map = SurfaceMap::of_visits(range, visits.clone());
        let [region] = map.slow_places.as_slice() else { panic!("{:?}", map.slow_places) };
        assert_eq!((region.first_byte / PIECE_BYTES, region.visits), (90, 7));
        assert!(map.suspects().is_empty());
        // A moment that held up seven visits in a row says nothing of places that lie side by side.
        for visit in &mut visits {
            visit.start_ns = visit.first_byte / PIECE_BYTES * 1_000_000_007;
        }
        assert!(SurfaceMap::of_visits(range, visits).slow_places.is_empty());
    }

    #[test]
    fn places_that_were_never_slow_again_are_not_slow() {
        let once: Vec<u64> = (0..20).map(|index| 50 + 200 * index).collect();
        let range = ByteRange::new(Offset::START, Bytes::new(4000 * PIECE_BYTES)).expect("a range");
        let map = SurfaceMap::of_visits(range, pass_and_looks(&once, 4, 1.0));
        assert!(map.slow_places.is_empty(), "{:?}", map.slow_places);
    }
}
