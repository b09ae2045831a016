//! A full pass out of figures at places: added up where they cover the drive, drawn from one to the next where they lie close enough.

use super::{Spot, Stated, without_interval};
use model::estimate::Estimate;
use model::run::RunView;

/// Figures over so much of the drive cover it: what is left out at 1.6 times the mean rate changes the time by 6 % at most, and in steps
/// between areas, which take the rate of their neighbours, by far less.
const COVERED_MIN: f64 = 0.9;
/// Places no farther apart than this share of the drive show its curve. Between two places on a disk, whose rate falls to a half, the time per
/// byte bends by less than four times its value at the start, so that a straight line errs by less than 4/8 · (1/8)² = 0.8 %.
const GAP_MAX: f64 = 1.0 / 8.0;
/// A stretch of which so much was moved was gone through, and not only visited.
const GONE_THROUGH_MIN: f64 = 0.99;

/// How a pass is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cover {
    /// All of it was gone through.
    Measured,
    /// Each figure stands for its stretch, and the stretches cover the drive.
    Stretches,
    /// Drawn from one place to the next.
    Drawn,
}

/// A full pass.
#[derive(Clone, Debug)]
pub(crate) struct Pass<'run> {
    /// Seconds for each byte, over all of the drive.
    pub seconds_per_byte: Estimate,
    /// How it is known.
    pub cover: Cover,
    /// How many places it rests on.
    pub places: usize,
    /// All figures it rests on.
    pub figures: Vec<Stated<'run>>,
}

impl<'run> Pass<'run> {
    /// Out of figures at places; or why not.
    pub(crate) fn of(run: &RunView<'_>, spots: &[Spot<'run>]) -> Result<Pass<'run>, String> {
        let capacity = run.target.capacity.0;
        match (spots.is_empty(), capacity) {
            (true, _) => return Err(super::NO_PLACE.into()),
            (_, 0) => return Err(super::NO_CAPACITY.into()),
            _ => {}
        }
        let chain = chain(spots);
        let covered: u64 = chain.iter().map(|spot| spot.range.bytes().0).sum();
        let share = covered as f64 / capacity as f64;
        let is_whole = chain.iter().all(|spot| is_gone_through(spot)) && share >= GONE_THROUGH_MIN;
        let (seconds, cover) = if share >= COVERED_MIN {
            let seconds: f64 = chain.iter().filter_map(|spot| seconds_there(spot)).sum();
            (seconds / covered as f64, if is_whole { Cover::Measured } else { Cover::Stretches })
        } else {
            let drawn = drawn(&chain, capacity as f64).ok_or_else(|| {
                let percent = share * 100.0;
                format!(
                    "The figures cover {percent:.0} % of the drive and lie too far apart to draw its curve."
                )
            })?;
            (drawn, Cover::Drawn)
        };
        let figures = chain.iter().flat_map(|spot| spot.figures.clone()).collect();
        Ok(Pass { seconds_per_byte: without_interval(seconds), cover, places: chain.len(), figures })
    }
}

/// Places one behind the other without an overlap, as many as there are. A place that holds others, such as that of a whole pass, is taken
/// only where there are none in it.
fn chain<'spots, 'run>(spots: &'spots [Spot<'run>]) -> Vec<&'spots Spot<'run>> {
    let mut by_end: Vec<&Spot<'run>> = spots.iter().collect();
    by_end.sort_by_key(|spot| (spot.range.end(), std::cmp::Reverse(spot.range.first())));
    let mut chain: Vec<&Spot<'run>> = Vec::new();
    for spot in by_end {
        if chain.last().is_none_or(|last| spot.range.first() >= last.range.end()) {
            chain.push(spot);
        }
    }
    let covered = |chain: &[&Spot<'_>]| chain.iter().map(|spot| spot.range.bytes().0).sum::<u64>();
    let widest = spots.iter().max_by_key(|spot| spot.range.bytes());
    // One pass over everything is better than areas here and there.
    match widest.filter(|widest| widest.range.bytes().0 > covered(&chain)) {
        Some(widest) => vec![widest],
        None => chain,
    }
}

fn seconds_there(spot: &Spot<'_>) -> Option<f64> {
    Some(spot.seconds_per_byte()?.value * spot.range.bytes().0 as f64)
}

fn is_gone_through(spot: &Spot<'_>) -> bool {
    let range = spot.range.bytes().0 as f64;
    spot.figures.iter().all(|figure| figure.summary.bytes() as f64 >= GONE_THROUGH_MIN * range)
}

/// The mean of straight lines between the middles of the places, level before the first and behind the last; none when they lie too far
/// apart.
fn drawn(chain: &[&Spot<'_>], capacity: f64) -> Option<f64> {
    let middle =
        |spot: &&Spot<'_>| (spot.range.first().0 as f64 + spot.range.end().0 as f64) / 2.0 / capacity;
    let points: Vec<(f64, f64)> =
        chain.iter().filter_map(|spot| Some((middle(spot), spot.seconds_per_byte()?.value))).collect();
    let (first, last) = (points.first()?, points.last()?);
    let gaps = points.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let widest = gaps.chain([first.0, 1.0 - last.0]).fold(0.0, f64::max);
    if widest > GAP_MAX {
        return None;
    }
    let between: f64 =
        points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0).sum();
    Some(between + first.0 * first.1 + (1.0 - last.0) * last.1)
}
