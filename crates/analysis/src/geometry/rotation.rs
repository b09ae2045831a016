//! The time of a turn, from places that were read again and again.
//!
//! Between two reads of one sector lie whole turns, however many. A period is found by trying all speeds that disks have: at
//! the right one the phases of repeated reads agree. Multiples of the right speed agree as well, so the slowest is taken. It
//! is refined by a line through the phases of all repeated reads, with an angle for each place.

use super::{Reading, robust_deviation, wrapped};
use crate::stats::sample::middle;
use crate::stats::student::t_two_sided;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;
use model::finding::NoGeometry;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Turns per second that are tried: 3600 to 15,000 a minute are made, and a twelfth to either side.
const TURNS_PER_SECOND: (f64, f64) = (55.0, 271.0);
/// The chance that a drive without a rotation is said to have one.
const FALSE_ALARM: f64 = 1e-6;
const PAIRS_MAX: usize = 512;
const PAIRS_MIN: usize = 40;
/// And how far apart: the longer they are, the more speeds have to be tried.
const INTERVAL_S_MAX: f64 = 60.0;
/// The coherence of a slower speed against that of the best: multiples of the right speed agree as well as it does, parts do not.
const AS_COHERENT: f64 = 0.8;
/// A half, third or quarter of the best needs less: on a stripe a sixth of the pairs that followed the best were half a revolution off.
const PART_COHERENT: f64 = 0.5;
const PARTS_MAX: u32 = 4;
/// Whoever waits for a sector that may be anywhere waits evenly up to a turn: the middle four fifths of all reads are 0.8
/// turns apart then, and seeks only add to that. Allowing for chance, half a turn is the least.
const SPREAD_TURNS_MIN: f64 = 0.5;
/// What is further from the line than that many standard deviations is something else: a read that a cache answered.
const OUTLIER_DEVIATIONS: f64 = 5.0;
/// Two reads of a place are no whole turns apart when they are off by that part of one.
const STRANGE_TURNS: f64 = 0.1;
/// The share of such pairs from which a second rotation is looked for.
const STRANGE_SHARE: f64 = 0.15;
/// The share of them that a second rotation has to explain as closely as the first one explains the others: with five drives each
/// of the four others has a quarter. Of pairs at random a tenth agree at most, since the closeness asked for is a twentieth of a
/// turn to either side or less. Reads that the machine answered late are such pairs: how late follows no speed.
const SECOND_SHARE: f64 = 0.25;
/// Where reads of a place scatter more, a cache answered some, and what the others show may be no revolution.
const AGREEING_TURNS_MAX: f64 = 0.05;
const CLOCK_STEP_S: f64 = 1e-9;
/// A reread in less was answered by a cache: an arm settles in no less (Ruemmler and Wilkes 1994 and data sheets since).
const CACHED_S: f64 = 0.5e-3;
/// Completions at ticks of a timer are whole periods apart as well, but all at one angle. Places of a disk lie at all angles: the mean
/// of 80 such vectors is longer than this one time in 10⁸ (Rayleigh: exp(−n·r²)).
const ONE_ANGLE: f64 = 0.5;

/// Reads that take no longer than this part of a turn were answered by a cache: steps of probes are longer, and so are seeks over the drive.
const CACHED_TURNS: f64 = 0.1;

#[derive(Clone, Debug)]
pub struct Rotation {
    /// The time of a turn, in seconds.
    pub period: Estimate,
    /// The standard deviation of the phase of a single completion, in turns.
    pub scatter_turns: f64,
    /// Repeated reads that agree with it, and all.
    pub agreeing: (usize, usize),
    origin_ns: u64,
    marks: BTreeMap<u64, f64>,
}

/// A repeated read: which place, and when, in seconds since the origin.
#[derive(Clone, Copy)]
struct Point {
    place: usize,
    at_s: f64,
}

impl Rotation {
    pub fn of(readings: &[Reading]) -> Result<Rotation, NoGeometry> {
        let of_all = Rotation::of_all(readings);
        if !matches!(of_all, Err(NoGeometry::NoRevolution)) {
            return of_all;
        }
        let mut read_anew = readings.to_vec();
        read_anew.retain(|reading| reading.seconds() >= CACHED_S);
        if read_anew.len() < PAIRS_MIN { of_all } else { Rotation::of_all(&read_anew) }
    }

    fn of_all(readings: &[Reading]) -> Result<Rotation, NoGeometry> {
        let places = repeated(readings);
        let origin_ns = readings.first().map_or(0, |reading| reading.completed_ns);
        let (mut points, mut intervals) = (Vec::new(), Vec::new());
        for (place, visits) in places.values().enumerate() {
            let mut before_s: Option<f64> = None;
            for (completed_ns, _) in visits {
                let at_s = completed_ns.saturating_sub(origin_ns) as f64 / 1e9;
                points.push(Point { place, at_s });
                if let Some(before_s) = before_s
                    && at_s - before_s <= INTERVAL_S_MAX
                    && intervals.len() < PAIRS_MAX
                {
                    intervals.push(at_s - before_s);
                }
                before_s = Some(at_s);
            }
        }
        if intervals.len() < PAIRS_MIN {
            return Err(NoGeometry::TooFewRepeatedReads);
        }
        let guess = coherent_speed(&intervals)?;
        is_spread(&places, 1.0 / guess)?;
        let mut line = Line::through(&points, places.len(), guess);
        if let Some(other) = second_speed(&points, &line) {
            // Of two drives each leaves the places of the other one over. Where the other speed leaves none, it is the right one.
            let through_other = Line::through(&points, places.len(), other);
            if second_speed(&points, &through_other).is_some() {
                let (rpm, other_rpm) = (60.0 * line.speed, 60.0 * other);
                return Err(NoGeometry::SeveralSpeeds { rpm, other_rpm });
            }
            line = through_other;
        }
        if line.scatter > AGREEING_TURNS_MAX {
            return Err(NoGeometry::NoRevolution);
        }
        let mut marks = BTreeMap::new();
        for (offset, angle) in places.keys().zip(&line.angles) {
            if let Some(angle) = angle {
                marks.insert(*offset, *angle);
            }
        }
        Ok(Rotation {
            period: line.period(),
            scatter_turns: line.scatter.max(CLOCK_STEP_S / 2.0 * line.speed),
            agreeing: (line.agreeing, points.len()),
            origin_ns,
            marks,
        })
    }

    pub fn turn_s(&self) -> f64 {
        self.period.value
    }

    pub(super) fn is_cached(&self, reading: &Reading) -> bool {
        reading.seconds() < CACHED_TURNS * self.turn_s()
    }

    /// The turns from one moment to a later one, or less than none to an earlier one.
    pub fn turns_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        let ns = i128::from(to_ns) - i128::from(from_ns);
        ns as f64 / 1e9 / self.period.value
    }

    /// The part of a turn at a moment, against the moment that the angles of places count from.
    pub fn phase(&self, at_ns: u64) -> f64 {
        wrapped(self.turns_between(self.origin_ns, at_ns))
    }

    pub fn angle(&self, offset: u64) -> Option<f64> {
        self.marks.get(&offset).copied()
    }

    pub fn marks(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        self.marks.iter().map(|(offset, angle)| (*offset, *angle))
    }

    /// Whether places lie all round, as on a disk.
    pub fn has_all_angles(&self) -> bool {
        let (mut sin, mut cos) = (0.0, 0.0);
        for turns in self.marks.values() {
            sin += (TAU * turns).sin();
            cos += (TAU * turns).cos();
        }
        !self.marks.is_empty() && sin.hypot(cos) / (self.marks.len() as f64) < ONE_ANGLE
    }

    /// How far apart two angles of one thing may be before they are none: a cache answered, or the drive does not turn evenly.
    pub fn tolerance_turns(&self) -> f64 {
        (OUTLIER_DEVIATIONS * 2.0_f64.sqrt() * self.scatter_turns).max(2.0 * CLOCK_STEP_S / self.period.value)
    }
}

fn repeated(readings: &[Reading]) -> BTreeMap<u64, Vec<(u64, f64)>> {
    let mut places: BTreeMap<u64, Vec<(u64, f64)>> = BTreeMap::new();
    for reading in readings {
        places.entry(reading.offset).or_default().push((reading.completed_ns, reading.seconds()));
    }
    places.retain(|_, visits| visits.len() > 1);
    places
}

/// How well the phases of these intervals agree at a speed: the mean cosine, 1 at best.
fn coherence(intervals: &[f64], speed: f64) -> f64 {
    intervals.iter().map(|seconds| (TAU * (speed * seconds).fract()).cos()).sum::<f64>()
        / intervals.len() as f64
}

/// After so many steps angles are computed anew: each step adds a rounding of 10⁻¹⁶.
const STEPS_ON_END: usize = 256;

/// The same at `count` speeds that are evenly apart, between which the angle of an interval grows by the same.
fn coherences(intervals: &[f64], from: f64, step: f64, count: usize) -> Vec<f64> {
    let (step_sin, step_cos) = sines_and_cosines(intervals, step);
    let mut coherences = Vec::with_capacity(count);
    for first in (0..count).step_by(STEPS_ON_END) {
        let speed = from + step * first as f64;
        let (mut sin, mut cos) = sines_and_cosines(intervals, speed);
        for _ in first..(first + STEPS_ON_END).min(count) {
            coherences.push(cos.iter().sum::<f64>() / intervals.len() as f64);
            for (((sin, cos), step_sin), step_cos) in
                sin.iter_mut().zip(&mut cos).zip(&step_sin).zip(&step_cos)
            {
                (*sin, *cos) = (*sin * step_cos + *cos * step_sin, *cos * step_cos - *sin * step_sin);
            }
        }
    }
    coherences
}

fn sines_and_cosines(intervals: &[f64], speed: f64) -> (Vec<f64>, Vec<f64>) {
    intervals.iter().map(|seconds| (TAU * (speed * seconds).fract()).sin_cos()).unzip()
}

/// The slowest speed at which intervals are whole turns, in turns per second.
fn coherent_speed(intervals: &[f64]) -> Result<f64, NoGeometry> {
    let longest = intervals.iter().copied().fold(0.0, f64::max);
    if longest <= 0.0 {
        return Err(NoGeometry::NoTime);
    }
    // Eight steps to the width of a peak.
    let (from, to) = TURNS_PER_SECOND;
    let step = (1.0 / (8.0 * longest)).min(0.5);
    let count = ((to - from) / step) as usize;
    let coherences = coherences(intervals, from, step, count);
    let best = coherences.iter().copied().fold(-1.0, f64::max);
    // The mean of so many cosines of angles at random exceeds c with a chance below exp(−n·c²).
    let chance = ((count as f64 / FALSE_ALARM).ln() / intervals.len() as f64).sqrt();
    if best < chance {
        return Err(NoGeometry::NoRevolution);
    }
    let first = coherences.iter().position(|value| *value >= AS_COHERENT * best).unwrap_or(0);
    let window = first..(first + 8).min(count);
    let top = window.max_by(|a, b| coherences[*a].total_cmp(&coherences[*b])).unwrap_or(first);
    let speed = climbed(intervals, from + step * top as f64, step);
    for part in (2..=PARTS_MAX).rev() {
        let slower = climbed(intervals, speed / f64::from(part), step);
        if slower >= from && coherence(intervals, slower) >= chance.max(PART_COHERENT * best) {
            return Ok(slower);
        }
    }
    Ok(speed)
}

fn climbed(intervals: &[f64], speed: f64, step: f64) -> f64 {
    let (mut speed, mut step) = (speed, step / 2.0);
    let mut height = coherence(intervals, speed);
    for _ in 0..40 {
        let sides = [speed - step, speed + step].map(|side| (coherence(intervals, side), side));
        match sides.into_iter().find(|side| side.0 > height) {
            Some(higher) => (height, speed) = higher,
            None => step /= 2.0,
        }
    }
    speed
}

/// Whether reads take as differently long as they do on a disk with that turn.
fn is_spread(places: &BTreeMap<u64, Vec<(u64, f64)>>, turn_s: f64) -> Result<(), NoGeometry> {
    let mut seconds: Vec<f64> = places.values().flatten().map(|visit| visit.1).collect();
    seconds.sort_unstable_by(f64::total_cmp);
    let spread = seconds[seconds.len() * 9 / 10] - seconds[seconds.len() / 10];
    if spread < SPREAD_TURNS_MIN * turn_s {
        return Err(NoGeometry::EqualLatency);
    }
    Ok(())
}

/// The speed of a second rotation, if enough of what does not follow the first one follows it.
fn second_speed(points: &[Point], line: &Line) -> Option<f64> {
    let (strange, pairs) = strange_intervals(points, line.speed);
    if strange.len() < PAIRS_MIN || (strange.len() as f64) < STRANGE_SHARE * pairs as f64 {
        return None;
    }
    let looked_at = &strange[..strange.len().min(PAIRS_MAX)];
    let other = coherent_speed(looked_at).ok()?;
    let close = (OUTLIER_DEVIATIONS * 2.0_f64.sqrt() * line.scatter).min(AGREEING_TURNS_MAX);
    let agreeing = looked_at.iter().filter(|seconds| wrapped(other * **seconds).abs() <= close).count();
    (agreeing as f64 >= SECOND_SHARE * looked_at.len() as f64).then_some(other)
}

/// Intervals between two reads of a place that are no whole turns, and how many pairs there are.
fn strange_intervals(points: &[Point], speed: f64) -> (Vec<f64>, usize) {
    let mut pairs = 0;
    let mut strange = Vec::new();
    for visits in points.chunk_by(|one, other| one.place == other.place) {
        for (index, first) in visits.iter().enumerate() {
            for second in &visits[index + 1..] {
                let seconds = second.at_s - first.at_s;
                if seconds <= INTERVAL_S_MAX {
                    pairs += 1;
                    if wrapped(speed * seconds).abs() > STRANGE_TURNS {
                        strange.push(seconds);
                    }
                }
            }
        }
    }
    (strange, pairs)
}

/// The middle of all slopes from one read of a place to the next: half of them may be off without moving it far.
fn median_slope(points: &[Point], speed: f64) -> f64 {
    let mut slopes = Vec::new();
    for pair in points.windows(2) {
        let seconds = pair[1].at_s - pair[0].at_s;
        if pair[0].place == pair[1].place && seconds > 0.0 {
            slopes.push(wrapped(speed * seconds) / seconds);
        }
    }
    middle(&mut slopes)
}

/// Phases that grow evenly, with an angle for each place.
struct Line {
    speed: f64,
    angles: Vec<Option<f64>>,
    scatter: f64,
    deviation_of_speed: f64,
    degrees_of_freedom: f64,
    baseline_s: f64,
    agreeing: usize,
}

impl Line {
    fn through(points: &[Point], places: usize, guess: f64) -> Line {
        let mut line = Line {
            speed: guess,
            angles: Vec::new(),
            scatter: 0.25,
            deviation_of_speed: f64::INFINITY,
            degrees_of_freedom: 0.0,
            baseline_s: points.iter().map(|point| point.at_s).fold(0.0, f64::max),
            agreeing: 0,
        };
        for _ in 0..3 {
            line.speed -= median_slope(points, line.speed);
        }
        for _ in 0..4 {
            line.refine(points, places);
        }
        line
    }

    fn refine(&mut self, points: &[Point], places: usize) {
        let residuals = self.residuals(points, places);
        let lost = (points.len() as f64 / (points.len() - places) as f64).sqrt();
        self.scatter = robust_deviation(&mut residuals.clone()) * lost;
        let limit = (OUTLIER_DEVIATIONS * self.scatter).max(CLOCK_STEP_S * self.speed);
        let mut kept: Vec<(&Point, f64)> = Vec::new();
        for (point, residual) in points.iter().zip(residuals) {
            if residual.abs() <= limit {
                kept.push((point, residual));
            }
        }
        let mut counts = vec![0.0; places];
        let mut times = vec![0.0; places];
        for (point, _) in &kept {
            counts[point.place] += 1.0;
            times[point.place] += point.at_s;
        }
        let (mut moment, mut square, mut errors, mut freedom) = (0.0, 0.0, 0.0, -1.0);
        for (point, residual) in &kept {
            let count: f64 = counts[point.place];
            let from_mean = point.at_s - times[point.place] / count;
            moment += from_mean * residual;
            square += from_mean * from_mean;
            errors += residual * residual;
            freedom += 1.0 - 1.0 / count;
        }
        self.agreeing = kept.len();
        if square > 0.0 && freedom > 0.0 {
            self.speed -= moment / square;
            self.deviation_of_speed = (errors / freedom / square).sqrt();
            self.degrees_of_freedom = freedom;
        }
    }

    /// What is left of each phase, and the angle of each place anew. A place's angle is the middle of its phases by the line
    /// so far; those that lie across the circle from each other have none.
    fn residuals(&mut self, points: &[Point], places: usize) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); places];
        let mut counts = vec![0.0; places];
        for point in points {
            let angle = TAU * (self.speed * point.at_s).fract();
            sums[point.place].0 += angle.cos();
            sums[point.place].1 += angle.sin();
            counts[point.place] += 1.0;
        }
        let mut middles = Vec::with_capacity(places);
        self.angles.clear();
        for (sum, count) in sums.iter().zip(&counts) {
            let middle = sum.1.atan2(sum.0) / TAU;
            let length = (sum.0 * sum.0 + sum.1 * sum.1).sqrt() / count;
            self.angles.push((length > 0.9).then_some(middle));
            middles.push(middle);
        }
        points.iter().map(|point| wrapped(self.speed * point.at_s - middles[point.place])).collect()
    }

    fn period(&self) -> Estimate {
        let factor = t_two_sided(CONFIDENCE, self.degrees_of_freedom);
        // What the clock rounds off may drift by a step over the run, and what a host adds to answers as far as 95 of 100 scatter: of 8 disks
        // served in real time the line alone held 2.
        let drift_s = (2.0 * self.scatter / self.speed).max(CLOCK_STEP_S);
        let share = (factor * self.deviation_of_speed / self.speed).max(drift_s / self.baseline_s);
        let value = 1.0 / self.speed;
        bounded(value, value * (1.0 - share), value * (1.0 + share), self.degrees_of_freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    const TURN_NS: f64 = 60e9 / 7200.0;

    /// 300 places at random angles, each read four times, 13 ms apart in a random order; `turn_ns` tells how its drive turns, and
    /// `late_ns` by how much the answer comes late.
    fn readings(turn_ns: impl Fn(u64) -> f64, late_ns: impl Fn(&mut Prng) -> f64) -> Vec<Reading> {
        let mut prng = Prng::new(5, 1);
        let angles: Vec<f64> = (0..300).map(|_| prng.unit()).collect();
        let mut readings = Vec::new();
        let mut now_ns = 1e9;
        for _ in 0..4 {
            let mut order: Vec<u64> = (0..300).collect();
            prng.shuffle(&mut order);
            for place in order {
                let turn_ns = turn_ns(place);
                let arrived_ns = now_ns + 5e6;
                let turns = ((arrived_ns / turn_ns) - angles[place as usize]).ceil() + angles[place as usize];
                let done_ns = turns * turn_ns + late_ns(&mut prng);
                readings.push(Reading {
                    offset: place << 20,
                    submitted_ns: now_ns as u64,
                    completed_ns: done_ns as u64,
                    phase: 1,
                    before: None,
                });
                now_ns = done_ns + 1e5;
            }
        }
        readings
    }

    /// 600 speeds are more than are turned on in one go.
    #[test]
    fn angles_that_are_turned_on_are_those_that_are_computed() {
        let intervals = [0.7, 13.1, 59.9];
        for (index, turned_on) in coherences(&intervals, 55.0, 0.01, 600).into_iter().enumerate() {
            let computed = coherence(&intervals, 55.0 + 0.01 * index as f64);
            assert!((turned_on - computed).abs() < 1e-10, "{index}: {turned_on} and {computed}");
        }
    }

    /// One answer in eight comes up to a turn late, as on a machine whose processors are busy: none of that is another drive.
    #[test]
    fn a_busy_machine_is_no_second_drive() {
        let late =
            |prng: &mut Prng| if prng.unit() < 0.125 { TURN_NS * prng.unit() } else { 2e4 * prng.unit() };
        let rotation = Rotation::of(&readings(|_| TURN_NS, late)).expect("a disk turns");
        assert!((60.0 / rotation.turn_s() - 7200.0).abs() < 0.01, "{}", 60.0 / rotation.turn_s());
    }

    /// Nothing but the clock's step scatters, and it drifts: where what is left of a line was all, 28 intervals of 33 random disks held.
    #[test]
    fn a_turn_is_known_to_what_the_clock_rounds_off() {
        for number in 0..40 {
            let turn_ns = TURN_NS * (1.0 + 1e-5 * f64::from(number));
            let period = Rotation::of(&readings(|_| turn_ns, |_| 0.0)).expect("a disk turns").period;
            assert!(period.covers(turn_ns / 1e9), "{turn_ns}: {period:?}");
        }
    }

    /// Answers come 5 µs later at the end of the run than at its beginning, and scatter by 20 µs all along: the line alone would exclude the truth.
    #[test]
    fn a_turn_is_known_to_what_the_host_drifts() {
        let answers = std::cell::Cell::new(0.0);
        let late = |prng: &mut Prng| {
            answers.set(answers.get() + 1.0);
            2e4 * prng.unit() + 5e3 * answers.get() / 1200.0
        };
        let period = Rotation::of(&readings(|_| TURN_NS, late)).expect("a disk turns").period;
        assert!(period.covers(TURN_NS / 1e9), "{period:?}");
        assert!(period.high / period.low < 1.0 + 3e-6, "{period:?}");
    }

    #[test]
    fn two_speeds_are_two_drives() {
        for other_rpm in [7211.0, 5400.0] {
            let turn = |place: u64| if place.is_multiple_of(2) { TURN_NS } else { 60e9 / other_rpm };
            let why = Rotation::of(&readings(turn, |prng| 2e4 * prng.unit())).expect_err("two drives");
            assert!(matches!(why, NoGeometry::SeveralSpeeds { .. }), "{other_rpm}: {why:?}");
        }
    }
}
