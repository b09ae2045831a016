//! A way through places of known angle on which each next sector passes just when the arm should get there.

use analysis::geometry::{Density, Rotation, SeekCurve};
use model::prng::Prng;

/// Classes of distance, even in its root, that are to be met equally often.
const CLASSES: usize = 20;
/// How close to the expected moment a sector must pass: the curve's error in turns, and the seek's deviations.
const REACH_TURNS: f64 = 0.05;
const REACH_DEVIATIONS: f64 = 2.0;
/// A share of the places is not gone back to soon, since the drive may still hold them.
const REST_SHARE: f64 = 0.5;

pub struct Router<'known> {
    places: Vec<Place>,
    curve: &'known SeekCurve,
    turn_s: f64,
    met: [u32; CLASSES],
}

#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    angle: f64,
    share: f64,
    passing_s: f64,
    /// The step at which it was read last, counted from the start of the way.
    read_at: i64,
}

impl<'known> Router<'known> {
    pub fn new(rotation: &Rotation, density: &Density, curve: &'known SeekCurve) -> Router<'known> {
        let turn_s = rotation.turn_s();
        let mut places = Vec::new();
        for (offset, angle) in rotation.marks() {
            let passing_s = density.turns_per_sector(offset).unwrap_or(0.0) * turn_s;
            places.push(Place { offset, angle, share: density.share(offset), passing_s, read_at: i64::MIN });
        }
        Router { places, curve, turn_s, met: [0; CLASSES] }
    }

    /// A way of so many reads; `before` are the places that were read last, in their order.
    pub fn way(&mut self, count: usize, before: &[u64], prng: &mut Prng) -> Vec<u64> {
        let rest = (self.places.len() as f64 * REST_SHARE) as i64;
        for (age, offset) in before.iter().rev().enumerate() {
            if let Ok(found) = self.places.binary_search_by_key(offset, |place| place.offset) {
                self.places[found].read_at = self.places[found].read_at.max(-(age as i64));
            }
        }
        let mut way: Vec<u64> = Vec::with_capacity(count);
        let mut at: Option<usize> = None;
        for step in 1..=count as i64 {
            let rested: Vec<usize> = (0..self.places.len())
                .filter(|place| step.saturating_sub(self.places[*place].read_at) > rest)
                .collect();
            let Some(next) = self.next(at, &rested, prng) else { break };
            self.places[next].read_at = step;
            way.push(self.places[next].offset);
            at = Some(next);
        }
        way
    }

    /// Of those that pass at the right moment one whose distance was met least often; any where none does.
    fn next(&mut self, at: Option<usize>, rested: &[usize], prng: &mut Prng) -> Option<usize> {
        if rested.is_empty() {
            return None;
        }
        let any = rested[prng.below(rested.len() as u64) as usize];
        let Some(at) = at else { return Some(any) };
        let from = self.places[at];
        let mut best: Option<(u32, u64, usize, usize)> = None;
        for &next in rested {
            let to = self.places[next];
            let distance = (to.share - from.share).abs();
            let (expected_s, deviation_s) = self.curve.at(distance);
            let late = (to.angle - from.angle) - (expected_s + to.passing_s) / self.turn_s;
            let off_s = (late - late.round()).abs() * self.turn_s;
            if next != at && off_s <= REACH_TURNS * self.turn_s + REACH_DEVIATIONS * deviation_s {
                let class = ((distance.sqrt() * CLASSES as f64) as usize).min(CLASSES - 1);
                let candidate = (self.met[class], prng.next_u64(), class, next);
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
        }
        let Some((_, _, class, next)) = best else { return Some(any) };
        self.met[class] += 1;
        Some(next)
    }
}
