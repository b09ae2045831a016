//! Where a drive became slower or faster between two runs.
//!
//! Every cell of every pair of runs is tested, those that stand are joined with their neighbours of the same direction, and a region is
//! given the mean of its cells, weighted by size, with an interval as wide as choosing it demands. A change of less than a hundredth is left out,
//! however sure it is: a different temperature makes one.
//!
//! Where a region ends is known to within a cell. The cells at its ends may hold some of what did not change, so that of three cells and more
//! only those between them say how much slower it is.
//!
//! It cannot tell a drive that became slower from other load that was there all through the second run; nor, in a
//! full pass from start to end, from load that came and went, since there time and place are one.

use super::ComparedRun;
use super::cells::{Cell, Observation, compare, observations};
use super::multiplicity::{confidence_of_chosen, threshold};
use crate::stats::mean::{Mean, satterthwaite};
use crate::stats::student::{f_tail, t_two_sided};
use crate::surface::SurfaceMap;
use model::comparison::{Change, ChangedRegion, SurfaceChange};
use model::range::ByteRange;
use model::request::Operation;
use model::target::{TargetFacts, TargetKind};

/// A smaller change is none, on the logarithm: the precision that a survey aims at.
const CHANGE_MIN: f64 = 0.01;
/// The share of changes reported that may be none. Visits that are next to each other are a little alike beyond what is taken into
/// account, and the t of eight observations is only roughly so: of 500 drives that did not change, 6 % looked changed at 5 %.
const FALSE_SHARE: f64 = 0.02;
/// A cell between two that stand belongs to them if it would stand alone.
const ALONE: f64 = 0.05;

/// A pair of runs before it is known which of its cells stand.
struct Pair {
    earlier: usize,
    later: usize,
    operation: Operation,
    cells: Result<Vec<Cell>, String>,
}

/// The changes of all drives that were measured more than once, each against its first run.
pub(super) fn of(runs: &[ComparedRun<'_>]) -> Vec<Change> {
    let pairs: Vec<Pair> = same_drive(runs)
        .into_iter()
        .flat_map(|(earlier, later)| {
            [Operation::Read, Operation::Write].map(|operation| pair(runs, earlier, later, operation))
        })
        .flatten()
        .collect();
    let probabilities: Vec<f64> = pairs
        .iter()
        .flat_map(|pair| pair.cells.iter().flatten())
        .map(|cell| probability(&cell.log_ratio))
        .collect();
    let stands = threshold(&probabilities, FALSE_SHARE);
    let chosen = probabilities.iter().filter(|probability| **probability <= stands).count();
    let confidence = confidence_of_chosen(chosen, probabilities.len(), FALSE_SHARE);
    let change = |pair: Pair| Change {
        earlier: pair.earlier,
        later: pair.later,
        operation: pair.operation,
        outcome: pair.cells.map(|cells| surface_change(&cells, stands, confidence)),
    };
    pairs.into_iter().map(change).collect()
}

/// Pairs of runs of one drive: its first run in time and each later one. The time of virtual drives is their own, so of these the
/// order given counts.
fn same_drive(runs: &[ComparedRun<'_>]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    let is_virtual = |index: usize| runs[index].run.target.kind == TargetKind::Sim;
    order.sort_by(|&a, &b| {
        let by_time = runs[a].run.started.cmp(&runs[b].run.started);
        if is_virtual(a) || is_virtual(b) { a.cmp(&b) } else { by_time.then(a.cmp(&b)) }
    });
    let mut pairs = Vec::new();
    for (at, &later) in order.iter().enumerate() {
        let is_same = |&&earlier: &&usize| is_one_drive(&runs[earlier].run.target, &runs[later].run.target);
        if let Some(&earlier) = order[..at].iter().find(is_same) {
            pairs.push((earlier, later));
        }
    }
    pairs
}

/// The same serial number and model; of virtual drives the same path.
pub(super) fn is_one_drive(a: &TargetFacts, b: &TargetFacts) -> bool {
    if a.kind != b.kind || a.capacity != b.capacity {
        return false;
    }
    match a.kind {
        TargetKind::Sim => a.path == b.path,
        _ => a.serial.is_some() && a.serial == b.serial && a.model == b.model,
    }
}

/// The cells of two runs; none when neither measured that.
fn pair(runs: &[ComparedRun<'_>], earlier: usize, later: usize, operation: Operation) -> Option<Pair> {
    let map = |index: usize| SurfaceMap::of(&runs[index].run.view(runs[index].series), operation);
    let cells = match (map(earlier), map(later)) {
        (Ok(a), Ok(b)) => cells_of(&a, &b),
        (Err(_), Err(_)) => return None,
        (Err(why), _) => Err(format!("{}: {why}", runs[earlier].name)),
        (_, Err(why)) => Err(format!("{}: {why}", runs[later].name)),
    };
    Some(Pair { earlier, later, operation, cells })
}

fn cells_of(a: &SurfaceMap, b: &SurfaceMap) -> Result<Vec<Cell>, String> {
    let first = a.range.first().max(b.range.first());
    let end = a.range.end().min(b.range.end());
    let range = (first < end).then(|| ByteRange::new(first, end - first)).flatten();
    let range = range.ok_or("The two runs measured different parts of the drive.")?;
    let (a, b) = (within(a, range), within(b, range));
    let cells = compare(&a, &b, range);
    if cells.is_empty() {
        return Err(format!(
            "They have {} and {} places in common that are far enough apart; it takes 8 of each to compare.",
            a.len(),
            b.len()
        ));
    }
    Ok(cells)
}

fn within(map: &SurfaceMap, range: ByteRange) -> Vec<Observation> {
    let is_inside = |centre: &f64| *centre >= range.first().0 as f64 && *centre < range.end().0 as f64;
    let places = map.visits.iter().map(|visit| {
        let centre = visit.first_byte as f64 + visit.bytes as f64 / 2.0;
        (centre, visit.seconds_per_byte)
    });
    observations(places.filter(|(centre, _)| is_inside(centre)), range)
}

fn probability(log_ratio: &Mean) -> f64 {
    f_tail(log_ratio.value * log_ratio.value / log_ratio.variance, 1.0, log_ratio.degrees_of_freedom)
}

/// Regions of cells that stand.
fn surface_change(cells: &[Cell], stands: f64, confidence: f64) -> SurfaceChange {
    let direction = |index: usize, level: f64| {
        let mean = &cells[index].log_ratio;
        let changed = probability(mean) <= level && mean.value.abs() >= CHANGE_MIN;
        if changed { mean.value.signum() as i8 } else { 0 }
    };
    let mut directions: Vec<i8> = (0..cells.len()).map(|index| direction(index, stands)).collect();
    for index in 1..cells.len().saturating_sub(1) {
        let between = directions[index - 1];
        if directions[index] == 0
            && between != 0
            && direction(index, ALONE) == between
            && between == directions[index + 1]
        {
            directions[index] = between;
        }
    }
    let mut regions = Vec::new();
    let mut index = 0;
    while index < cells.len() {
        let end =
            (index..cells.len()).find(|&other| directions[other] != directions[index]).unwrap_or(cells.len());
        if directions[index] != 0 {
            regions.extend(region(&cells[index..end], confidence));
        }
        index = end;
    }
    SurfaceChange { regions, cells: cells.len(), smallest_seen: smallest_seen(cells) }
}

fn region(cells: &[Cell], confidence: f64) -> Option<ChangedRegion> {
    let (first, last) = (cells.first()?, cells.last()?);
    let range = ByteRange::new(first.range.first(), last.range.end() - first.range.first())?;
    let inner = if cells.len() >= 3 { &cells[1..cells.len() - 1] } else { cells };
    let whole: f64 = inner.iter().map(|cell| cell.range.bytes().0 as f64).sum();
    let share = |cell: &Cell| cell.range.bytes().0 as f64 / whole;
    let value = inner.iter().map(|cell| share(cell) * cell.log_ratio.value).sum();
    let parts = inner
        .iter()
        .map(|cell| (share(cell).powi(2) * cell.log_ratio.variance, cell.log_ratio.degrees_of_freedom));
    let (variance, degrees_of_freedom) = satterthwaite(parts);
    let log_ratio = Mean { value, variance, degrees_of_freedom };
    Some(ChangedRegion {
        range,
        rate_ratio: log_ratio.interval(confidence).map_monotonic(|log| (-log).exp()),
    })
}

/// What half of the cells would have to change by, to stand even if they were the only one.
fn smallest_seen(cells: &[Cell]) -> f64 {
    let confidence = 1.0 - FALSE_SHARE / cells.len() as f64;
    let mut least: Vec<f64> = cells
        .iter()
        .map(|cell| {
            t_two_sided(confidence, cell.log_ratio.degrees_of_freedom) * cell.log_ratio.variance.sqrt()
        })
        .collect();
    least.sort_by(f64::total_cmp);
    1.0 - (-least[least.len() / 2].max(CHANGE_MIN)).exp()
}
