//! A full pass out of figures at places: added up where they cover the drive, drawn from one to the next where they lie close enough.

use super::{Spot, Stated, without_interval};
use model::estimate::Estimate;
use model::finding::{PassBasis, SurveyUnknown};
use model::run::RunView;

/// Figures over so much of the drive cover it: what is left out at 1.6 times the mean rate changes the time by 6 % at most.
const COVERED_MIN: f64 = 0.9;
/// Places no farther apart than this share of the drive show its curve. Between two places on a disk, whose rate falls to a half, the time per
/// byte bends by less than four times its value at the start, so that a straight line errs by less than 4/8 · (1/8)² = 0.8 %.
const GAP_MAX: f64 = 1.0 / 8.0;
/// A stretch of which so much was moved was gone through, and not only visited.
const GONE_THROUGH_MIN: f64 = 0.99;

#[derive(Clone, Debug)]
pub(crate) struct Pass<'run> {
    pub seconds_per_byte: Estimate,
    pub basis: PassBasis,
    pub figures: Vec<Stated<'run>>,
}

impl<'run> Pass<'run> {
    pub(crate) fn of(run: &RunView<'_>, spots: &[Spot<'run>]) -> Result<Pass<'run>, SurveyUnknown> {
        super::check_places(run, spots)?;
        let capacity = run.target.capacity.as_f64();
        let chain = chain(spots);
        let figures = chain.len();
        let covered = covered_bytes(&chain);
        let share = covered as f64 / capacity;
        let is_whole = chain.iter().all(|spot| is_gone_through(spot)) && share >= GONE_THROUGH_MIN;
        let (seconds, basis) = if share >= COVERED_MIN {
            let seconds: f64 = chain.iter().filter_map(|spot| seconds_there(spot)).sum();
            let basis = if is_whole { PassBasis::Measured } else { PassBasis::Summed { figures } };
            (seconds / covered as f64, basis)
        } else {
            let seconds = drawn(&chain, capacity).ok_or(SurveyUnknown::TooSparse { share })?;
            (seconds, PassBasis::Interpolated { figures })
        };
        let figures = chain.iter().flat_map(|spot| &spot.figures).copied().collect();
        Ok(Pass { seconds_per_byte: without_interval(seconds), basis, figures })
    }
}

/// As many places one behind the other as there are, without an overlap. One that holds others counts only where it holds none.
fn chain<'spots, 'run>(spots: &'spots [Spot<'run>]) -> Vec<&'spots Spot<'run>> {
    let mut by_end: Vec<&Spot<'run>> = spots.iter().collect();
    by_end.sort_by_key(|spot| (spot.range.end(), std::cmp::Reverse(spot.range.first())));
    let mut chain: Vec<&Spot<'run>> = Vec::new();
    for spot in by_end {
        if !matches!(chain.last(), Some(last) if last.range.end() > spot.range.first()) {
            chain.push(spot);
        }
    }
    // One pass over everything is better than areas here and there.
    match spots.iter().max_by_key(|spot| spot.range.bytes()) {
        Some(widest) if widest.range.bytes().get() > covered_bytes(&chain) => vec![widest],
        _ => chain,
    }
}

fn covered_bytes(chain: &[&Spot<'_>]) -> u64 {
    chain.iter().map(|spot| spot.range.bytes().get()).sum()
}

fn seconds_there(spot: &Spot<'_>) -> Option<f64> {
    Some(spot.seconds_per_byte()?.value * spot.range.bytes().as_f64())
}

fn is_gone_through(spot: &Spot<'_>) -> bool {
    let range = spot.range.bytes().as_f64();
    spot.figures.iter().all(|figure| figure.summary.bytes() as f64 >= GONE_THROUGH_MIN * range)
}

/// The mean of straight lines between the middles of the places, level at both ends; none when they lie too far apart.
fn drawn(chain: &[&Spot<'_>], capacity: f64) -> Option<f64> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for spot in chain {
        let middle = (spot.range.first().as_f64() + spot.range.end().as_f64()) / 2.0 / capacity;
        if let Some(seconds) = spot.seconds_per_byte() {
            points.push((middle, seconds.value));
        }
    }
    let (first, last) = (points.first()?, points.last()?);
    let (mut widest, mut between) = (first.0.max(1.0 - last.0), 0.0);
    for pair in points.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        widest = widest.max(gap);
        between += gap * (pair[0].1 + pair[1].1) / 2.0;
    }
    if widest > GAP_MAX {
        return None;
    }
    Some(between + first.0 * first.1 + (1.0 - last.0) * last.1)
}
