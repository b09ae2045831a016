//! What shows that parts of a drive move: rereads that complete whole revolutions apart, and latency that grows with the distance from
//! the read before. Slow reads alone show neither an arm nor a platter: a stick, a card and a volume behind a network are as slow.

use crate::geometry::{Reading, Rotation, readings_of};
use model::experiment_name::ExperimentName;
use model::request::Operation;
use model::run::RunView;
use model::workload::{Pattern, Workload};

/// Offsets that are drawn at random have nothing to do with latency by chance, whatever the course of latency over time: Spearman's
/// coefficient is then normal, with a variance of 1/(n − 1), and at most 1.1 times that as neighbouring distances share an offset (their
/// correlation is 0.1). Chance exceeds so many standard deviations one time in 10⁶.
const SEEK_DEVIATIONS: f64 = 4.75 * 1.05;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    Rotation {
        period_s: f64,
    },
    /// The farther apart two reads, the longer the second took.
    Seeks,
}

/// Whether a phase reads each of its offsets again, one at a time.
pub fn is_reread(workload: &Workload) -> bool {
    let Pattern::Listed { offsets } = &workload.pattern else { return false };
    let mut sorted = offsets.clone();
    sorted.sort_unstable();
    workload.in_flight_max() == 1
        && workload.mix.operations() == [Operation::Read]
        && !sorted.is_empty()
        && sorted.chunk_by(|one, other| one == other).all(|same| same.len() > 1)
}

/// What the rereads of that experiment show. None where it made no rereads; else by how many standard deviations latency follows the distance.
pub fn motion(run: &RunView<'_>, experiment: &ExperimentName) -> Result<Motion, Option<f64>> {
    let readings = rereads(run, experiment).ok_or(None)?;
    if let Ok(rotation) = Rotation::of(&readings)
        && rotation.has_all_angles()
    {
        return Ok(Motion::Rotation { period_s: rotation.turn_s() });
    }
    let deviations = by_distance(&readings);
    if deviations >= SEEK_DEVIATIONS { Ok(Motion::Seeks) } else { Err(Some(deviations)) }
}

fn rereads(run: &RunView<'_>, experiment: &ExperimentName) -> Option<Vec<Reading>> {
    let mut readings = Vec::new();
    for (number, summary) in (0u32..).zip(run.phases) {
        if summary.phase.experiment == *experiment && summary.phase.workload.as_ref().is_some_and(is_reread) {
            readings.extend(readings_of(run.series.ios(number)));
        }
    }
    if readings.is_empty() { None } else { Some(readings) }
}

/// By how many standard deviations latency grows with the distance from the read before (Spearman's rank correlation).
fn by_distance(readings: &[Reading]) -> f64 {
    let (mut distances, mut latencies) = (Vec::new(), Vec::new());
    for reading in readings {
        if let Some((before, _)) = reading.before {
            distances.push(reading.offset.abs_diff(before) as f64);
            latencies.push(reading.seconds());
        }
    }
    if distances.len() < 2 {
        return 0.0;
    }
    let (distances, latencies) = (ranks(&distances), ranks(&latencies));
    let middle = (distances.len() as f64 - 1.0) / 2.0;
    let (mut products, mut squares, mut other_squares) = (0.0, 0.0, 0.0);
    for (distance, latency) in distances.iter().zip(&latencies) {
        products += (distance - middle) * (latency - middle);
        squares += (distance - middle).powi(2);
        other_squares += (latency - middle).powi(2);
    }
    let scale = (squares * other_squares).sqrt();
    if scale > 0.0 { products / scale * (distances.len() as f64 - 1.0).sqrt() } else { 0.0 }
}

/// The rank of each number from 0 on; equal ones share their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for same in order.chunk_by(|one, other| values[*one] == values[*other]) {
        for index in same {
            ranks[*index] = first as f64 + (same.len() as f64 - 1.0) / 2.0;
        }
        first += same.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;

    /// 80 places, each read twice in the order of `experiment`, with the latency in seconds that `latency_s` gives by place, the place before, and the time.
    fn readings(seed: u64, mut latency_s: impl FnMut(f64, f64, f64) -> f64) -> Vec<Reading> {
        let mut prng = Prng::new(seed, 9);
        let places: Vec<f64> = (0..80).map(|_| prng.unit()).collect();
        let mut again: Vec<usize> = (0..80).collect();
        prng.shuffle(&mut again[..40]);
        prng.shuffle(&mut again[40..]);
        let (mut readings, mut now_s) = (Vec::new(), 1.0);
        let mut before: Option<(u64, u64)> = None;
        let mut last = 0.0;
        for index in (0..80).chain(again) {
            let place = places[index];
            let done_s = now_s + latency_s(place, last, now_s);
            let reading = Reading {
                offset: (place * 1e12) as u64,
                submitted_ns: (now_s * 1e9) as u64,
                completed_ns: (done_s * 1e9) as u64,
                phase: 0,
                before,
            };
            before = Some((reading.offset, reading.completed_ns));
            readings.push(reading);
            (last, now_s) = (place, done_s + 20e-6);
        }
        readings
    }

    fn moves(readings: &[Reading]) -> bool {
        let rotates = Rotation::of(readings).is_ok_and(|rotation| rotation.has_all_angles());
        rotates || by_distance(readings) >= SEEK_DEVIATIONS
    }

    #[test]
    fn a_disk_moves_although_a_busy_host_completes_late() {
        for seed in 0..50 {
            let mut prng = Prng::new(seed, 2);
            let readings = readings(seed, |place, last, now_s| {
                let arrived_s = now_s + 1e-3 + 12e-3 * (place - last).abs().sqrt();
                let (turn_s, angle) = (8.333e-3, (place * 977.0).fract());
                let late_s = if prng.unit() < 0.2 { 0.01 * prng.unit() } else { 1e-4 * prng.unit() };
                ((arrived_s / turn_s - angle).ceil() + angle) * turn_s + late_s - now_s
            });
            assert!(moves(&readings), "seed {seed}");
        }
    }

    /// Seeks over a hundredth of a disk differ by less than a revolution, which shows it.
    #[test]
    fn a_disk_turns_where_seeks_hardly_differ() {
        for seed in 0..50 {
            let readings = readings(seed, |place, last, now_s| {
                let arrived_s = now_s + 1e-3 + 5e-4 * (place - last).abs();
                let (turn_s, angle) = (11.111e-3, (place * 977.0).fract());
                ((arrived_s / turn_s - angle).ceil() + angle) * turn_s - now_s
            });
            assert!(moves(&readings), "seed {seed}");
        }
    }

    #[test]
    fn nothing_moves_where_latency_knows_no_place() {
        for seed in 0..2000 {
            let mut prng = Prng::new(seed, 2);
            let median_s = 1e-3 * (1.0 + 8.0 * prng.unit());
            let jitter = [0.0, 0.01, 0.1, 0.3, 1.0][seed as usize % 5];
            let readings = readings(seed, |_, _, now_s| {
                // Slower for some seconds, as behind a busy network.
                let slower = if ((now_s * 2.0) as u64).is_multiple_of(2) { 2.0 } else { 1.0 };
                slower * median_s * (jitter * prng.normal()).exp()
            });
            assert!(!moves(&readings), "seed {seed}, median {median_s}, jitter {jitter}");
        }
    }

    /// Completions that a host looks for at ticks of its timer are whole periods apart.
    #[test]
    fn ticks_of_a_timer_are_no_rotation() {
        for (seed, tick_s) in [(1, 0.004), (2, 0.01), (3, 1.0 / 120.0)] {
            let mut prng = Prng::new(seed, 2);
            let readings = readings(seed, |_, _, now_s| {
                let done_s = now_s + 2e-3 + 9e-3 * prng.unit();
                (done_s / tick_s).ceil() * tick_s - now_s
            });
            assert!(Rotation::of(&readings).is_ok(), "the ticks agree");
            assert!(!moves(&readings), "tick {tick_s}");
        }
    }

    #[test]
    fn equal_numbers_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
    }
}
