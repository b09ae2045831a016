//! Two surveys of one drive, cell by cell: how much longer a byte took in the second.
//!
//! A visit's time per byte has noise of about 2 %, mostly the surface that it met. Visits that are near to each other met the same one, so they
//! count as one observation. Cells are as wide as it takes for both surveys to have a number of observations in each; within a cell,
//! observations are compared within strata, so that a survey that looked more often at the slow end of a cell does not look slower (a blocked
//! comparison: Box, Hunter and Hunter, "Statistics for Experimenters", 2nd ed., chapter 4). The spread of each survey is its own (Welch).

use crate::stats::mean::{Mean, satterthwaite};
use model::range::ByteRange;
use model::units::{Bytes, Offset};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    pub centre: f64,
    pub log_seconds: f64,
}

/// A cell, and how much longer a byte took in the later survey.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub range: ByteRange,
    pub log_ratio: Mean,
}

/// A surface holds 80 to 200 MB in a row (8thway 2013), so that visits nearer than this are alike.
const APART_BYTES: f64 = 200e6;
/// On a small target, no more than this share of the range.
const APART_SHARE: f64 = 1e-3;
/// Observations of each survey in a cell: half as many leave too few degrees of freedom, twice as many too wide cells.
const CELL_OBSERVATIONS_MIN: usize = 8;
/// More cells find nothing smaller that a person would act on.
const CELLS_MAX: usize = 64;
const STRATUM_OBSERVATIONS_MIN: usize = 3;
/// No observation is better known than this, as a standard deviation of the logarithm: clocks are no finer.
const NOISE_MIN: f64 = 1e-3;

/// Joins visits that are near to each other. `visits` are pairs of place and time per byte.
pub(super) fn observations(visits: impl Iterator<Item = (f64, f64)>, range: ByteRange) -> Vec<Observation> {
    let apart = APART_BYTES.min(range.bytes().as_f64() * APART_SHARE);
    let mut visits: Vec<(f64, f64)> = visits.collect();
    visits.retain(|(_, seconds)| *seconds > 0.0 && seconds.is_finite());
    visits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut observations = Vec::new();
    for group in visits.chunk_by(|a, b| b.0 - a.0 < apart) {
        observations.extend(split(group, apart).into_iter().map(mean));
    }
    observations
}

/// Visits that touch all along the range are cut again, by what is apart from the first of each part.
fn split(group: &[(f64, f64)], apart: f64) -> Vec<&[(f64, f64)]> {
    let mut parts = Vec::new();
    let mut rest = group;
    while let Some((first, _)) = rest.first() {
        let count = rest.iter().take_while(|(centre, _)| centre - first < apart).count().max(1);
        let (part, after) = rest.split_at(count);
        parts.push(part);
        rest = after;
    }
    parts
}

fn mean(group: &[(f64, f64)]) -> Observation {
    let (mut centres, mut logs) = (0.0, 0.0);
    for (centre, seconds) in group {
        centres += centre;
        logs += seconds.ln();
    }
    let count = group.len() as f64;
    Observation { centre: centres / count, log_seconds: logs / count }
}

/// Compares two surveys of the same range; observations are in order. Empty when there are too few for a single cell.
pub(super) fn compare(earlier: &[Observation], later: &[Observation], range: ByteRange) -> Vec<Cell> {
    let wanted = CELL_OBSERVATIONS_MIN.max(earlier.len().min(later.len()).div_ceil(CELLS_MAX));
    let cuts = cuts(earlier, later, wanted);
    let mut cells = Vec::new();
    let mut first = range.first().get();
    for (index, (of_earlier, of_later)) in cuts.iter().enumerate() {
        let end = match cuts.get(index + 1) {
            Some(_) => border(earlier, later, of_earlier.end, of_later.end).clamp(first, range.end().get()),
            None => range.end().get(),
        };
        let (earlier, later) = (&earlier[of_earlier.clone()], &later[of_later.clone()]);
        if let (Some(range), Some(log_ratio)) =
            (ByteRange::new(Offset::new(first), Bytes::new(end - first)), log_ratio(earlier, later))
        {
            cells.push(Cell { range, log_ratio });
        }
        first = end;
    }
    cells
}

fn border(earlier: &[Observation], later: &[Observation], at_earlier: usize, at_later: usize) -> u64 {
    let last = earlier[at_earlier - 1].centre.max(later[at_later - 1].centre);
    let next = earlier[at_earlier].centre.min(later[at_later].centre);
    ((last + next) / 2.0).max(0.0) as u64
}

/// Which observations belong together: from left to right, at least `wanted` of each survey. The last takes the rest.
fn cuts(earlier: &[Observation], later: &[Observation], wanted: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut cuts: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a + wanted <= earlier.len() && b + wanted <= later.len() {
        let reach = earlier[a + wanted - 1].centre.max(later[b + wanted - 1].centre);
        let (from_a, from_b) = (a, b);
        a = earlier.partition_point(|observation| observation.centre <= reach);
        b = later.partition_point(|observation| observation.centre <= reach);
        cuts.push((from_a..a, from_b..b));
    }
    if let Some((of_earlier, of_later)) = cuts.last_mut() {
        (of_earlier.end, of_later.end) = (earlier.len(), later.len());
    }
    cuts
}

/// The later over the earlier survey of one cell: differences within strata, as if all observations spread alike.
fn log_ratio(earlier: &[Observation], later: &[Observation]) -> Option<Mean> {
    let strata = cuts(earlier, later, STRATUM_OBSERVATIONS_MIN);
    let mut total = 0.0;
    for (a, b) in &strata {
        total += weight(a, b);
    }
    let (earlier_variance, earlier_dof) = within(earlier, strata.iter().map(|(a, _)| a))?;
    let (later_variance, later_dof) = within(later, strata.iter().map(|(_, b)| b))?;
    let (mut value, mut of_earlier, mut of_later) = (0.0, 0.0, 0.0);
    for (a, b) in &strata {
        let share = weight(a, b) / total;
        value += share * (mean_of(&later[b.clone()]) - mean_of(&earlier[a.clone()]));
        of_earlier += share * share * earlier_variance / a.len() as f64;
        of_later += share * share * later_variance / b.len() as f64;
    }
    let (variance, degrees_of_freedom) = satterthwaite([(of_earlier, earlier_dof), (of_later, later_dof)]);
    Some(Mean { value, variance, degrees_of_freedom })
}

fn weight(a: &Range<usize>, b: &Range<usize>) -> f64 {
    (a.len() * b.len()) as f64 / (a.len() + b.len()) as f64
}

fn mean_of(observations: &[Observation]) -> f64 {
    observations.iter().map(|observation| observation.log_seconds).sum::<f64>() / observations.len() as f64
}

/// The variance of one observation within strata, and its degrees of freedom.
fn within<'strata>(
    observations: &[Observation],
    strata: impl Iterator<Item = &'strata Range<usize>>,
) -> Option<(f64, f64)> {
    let (mut squares, mut free) = (0.0, 0usize);
    for stratum in strata {
        let part = &observations[stratum.clone()];
        let mean = mean_of(part);
        squares += part.iter().map(|observation| (observation.log_seconds - mean).powi(2)).sum::<f64>();
        free += part.len().saturating_sub(1);
    }
    if free == 0 {
        return None;
    }
    Some(((squares / free as f64).max(NOISE_MIN * NOISE_MIN), free as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RANGE_BYTES: f64 = 1e12;

    fn range() -> ByteRange {
        ByteRange::whole(Bytes::new(RANGE_BYTES as u64))
    }

    fn at(centre: f64, log_seconds: f64) -> Observation {
        Observation { centre, log_seconds }
    }

    #[test]
    fn visits_to_one_place_are_one_observation() {
        let visits = [(0.0, 1.0), (1e8, 1.0), (5e8, 1.0), (6e8, 1.0), (6.5e8, 1.0), (7.5e8, 1.0)];
        let found = observations(visits.into_iter(), range());
        let centres: Vec<f64> = found.iter().map(|observation| observation.centre).collect();
        // 7.5e8 is 2.5e8 after the first of its group.
        assert_eq!(centres, [5e7, (5e8 + 6e8 + 6.5e8) / 3.0, 7.5e8]);
    }

    /// The level falls steeply, and the second survey looked at the slow end of each stratum a little more often.
    #[test]
    fn where_a_survey_looked_makes_little_difference() {
        let level = |centre: f64| 0.5 * centre / RANGE_BYTES;
        let survey = |shift: f64| -> Vec<Observation> {
            (0..96)
                .map(|index| (f64::from(index) + shift) / 96.0 * RANGE_BYTES)
                .map(|centre| at(centre, level(centre)))
                .collect()
        };
        let cells = compare(&survey(0.2), &survey(0.4), range());
        assert_eq!(cells.len(), 12);
        for cell in &cells {
            // A fifth of the distance of two observations, 0.5/96 of the level.
            assert!((cell.log_ratio.value - 0.2 * 0.5 / 96.0).abs() < 1e-9, "{cell:?}");
        }
    }

    #[test]
    fn too_few_observations_are_no_cell() {
        let few: Vec<Observation> = (0..7).map(|index| at(f64::from(index) * 1e11, 0.0)).collect();
        assert!(compare(&few, &few, range()).is_empty());
        assert!(compare(&[], &few, range()).is_empty());
    }

    proptest! {
        #[test]
        fn cells_touch_and_cover_the_range(
            mut a in prop::collection::vec((0.0f64..RANGE_BYTES, -1.0f64..1.0), 8..300),
            mut b in prop::collection::vec((0.0f64..RANGE_BYTES, -1.0f64..1.0), 8..300),
        ) {
            a.sort_by(|x, y| x.0.total_cmp(&y.0));
            b.sort_by(|x, y| x.0.total_cmp(&y.0));
            let survey = |all: &[(f64, f64)]| all.iter().map(|&(centre, log)| at(centre, log)).collect::<Vec<_>>();
            let cells = compare(&survey(&a), &survey(&b), range());
            prop_assert!(!cells.is_empty() && cells.len() <= CELLS_MAX);
            prop_assert_eq!(cells[0].range.first(), Offset::START);
            prop_assert_eq!(cells[cells.len() - 1].range.end(), range().end());
            for pair in cells.windows(2) {
                prop_assert_eq!(pair[0].range.end(), pair[1].range.first());
            }
            for cell in &cells {
                prop_assert!(cell.log_ratio.value.is_finite() && cell.log_ratio.variance > 0.0);
            }
            // Swapped, everything is the other way round.
            for (there, back) in cells.iter().zip(compare(&survey(&b), &survey(&a), range())) {
                prop_assert!((there.log_ratio.value + back.log_ratio.value).abs() < 1e-9);
            }
        }
    }
}
