//! Where a drive became slower or faster between two runs.
//!
//! Every cell of every pair of runs is tested, those that stand are joined with their neighbours of the same direction, and a region is
//! given the mean of its cells, weighted by size, with an interval as wide as choosing it demands. A change of less than a hundredth is left out,
//! however sure it is: a different temperature makes one.
//!
//! Where a region ends is known to within a cell. Of three cells and more only those between the ends say how much slower it is.
//!
//! It cannot tell a drive that became slower from other load that was there all through the second run; nor, in a
//! full pass from start to end, from load that came and went, since there time and place are one.

use super::cells::{Cell, Observation, compare, observations};
use super::compared_run::ComparedRun;
use super::multiplicity::{confidence_of_chosen, threshold};
use crate::stats::mean::{Mean, satterthwaite};
use crate::stats::student::{f_tail, t_two_sided};
use crate::surface::SurfaceMap;
use model::comparison::{Change, ChangeUnknown, ChangedRegion, SurfaceChange};
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

struct Pair {
    earlier: usize,
    later: usize,
    operation: Operation,
    cells: Result<Vec<Cell>, ChangeUnknown>,
}

pub(super) fn of(runs: &[ComparedRun<'_>]) -> Vec<Change> {
    let mut pairs: Vec<Pair> = Vec::new();
    for (earlier, later) in same_drive(runs) {
        for operation in [Operation::Read, Operation::Write] {
            pairs.extend(pair(runs, earlier, later, operation));
        }
    }
    let mut probabilities: Vec<f64> = Vec::new();
    for pair in &pairs {
        let cells = pair.cells.iter().flatten();
        probabilities.extend(cells.map(|cell| probability(&cell.log_ratio)));
    }
    let stands = threshold(&probabilities, FALSE_SHARE);
    let chosen = probabilities.iter().filter(|probability| **probability <= stands).count();
    let confidence = confidence_of_chosen(chosen, probabilities.len(), FALSE_SHARE);
    let mut changes = Vec::new();
    for Pair { earlier, later, operation, cells } in pairs {
        let outcome = cells.map(|cells| surface_change(&cells, stands, confidence));
        changes.push(Change { earlier, later, operation, outcome });
    }
    changes
}

/// Pairs of runs of one drive: its first run in time and each later one. For virtual drives the order given counts.
fn same_drive(runs: &[ComparedRun<'_>]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| {
        let (one, other) = (runs[a].run, runs[b].run);
        let is_virtual = [one, other].iter().any(|run| run.target.kind == TargetKind::Sim);
        if is_virtual { a.cmp(&b) } else { one.started.cmp(&other.started).then(a.cmp(&b)) }
    });
    let mut pairs = Vec::new();
    for (at, &later) in order.iter().enumerate() {
        let target = &runs[later].run.target;
        if let Some(&earlier) =
            order[..at].iter().find(|earlier| is_one_drive(&runs[**earlier].run.target, target))
        {
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
    let (one, other) = (&runs[earlier], &runs[later]);
    let maps = (
        SurfaceMap::of(&one.run.view(one.series), operation),
        SurfaceMap::of(&other.run.view(other.series), operation),
    );
    let cells = match maps {
        (Ok(a), Ok(b)) => cells_of(&a, &b),
        (Err(_), Err(_)) => return None,
        (Err(reason), _) => Err(ChangeUnknown::Run { name: one.name.into(), reason }),
        (_, Err(reason)) => Err(ChangeUnknown::Run { name: other.name.into(), reason }),
    };
    Some(Pair { earlier, later, operation, cells })
}

fn cells_of(a: &SurfaceMap, b: &SurfaceMap) -> Result<Vec<Cell>, ChangeUnknown> {
    let first = a.range.first().max(b.range.first());
    let end = a.range.end().min(b.range.end());
    if first >= end {
        return Err(ChangeUnknown::DifferentRanges);
    }
    let range = ByteRange::new(first, end - first).ok_or(ChangeUnknown::DifferentRanges)?;
    let (a, b) = (within(a, range), within(b, range));
    let cells = compare(&a, &b, range);
    if cells.is_empty() {
        return Err(ChangeUnknown::TooFewSamples { earlier: a.len(), later: b.len() });
    }
    Ok(cells)
}

fn within(map: &SurfaceMap, range: ByteRange) -> Vec<Observation> {
    let inside = range.first().as_f64()..range.end().as_f64();
    let places = map.visits.iter().map(|visit| (visit.centre(), visit.seconds_per_byte));
    observations(places.filter(|(centre, _)| inside.contains(centre)), range)
}

fn probability(log_ratio: &Mean) -> f64 {
    f_tail(log_ratio.value * log_ratio.value / log_ratio.variance, 1.0, log_ratio.degrees_of_freedom)
}

fn surface_change(cells: &[Cell], stands: f64, confidence: f64) -> SurfaceChange {
    let mut directions: Vec<i8> = cells.iter().map(|cell| direction(cell, stands)).collect();
    for index in 1..cells.len().saturating_sub(1) {
        let between = directions[index - 1];
        if directions[index] == 0
            && between != 0
            && direction(&cells[index], ALONE) == between
            && between == directions[index + 1]
        {
            directions[index] = between;
        }
    }
    let mut regions = Vec::new();
    let mut from = 0;
    for alike in directions.chunk_by(|one, next| one == next) {
        let end = from + alike.len();
        if alike[0] != 0 {
            regions.extend(region(&cells[from..end], confidence));
        }
        from = end;
    }
    SurfaceChange { regions, cells: cells.len(), smallest_seen: smallest_seen(cells) }
}

/// 1 where a cell surely takes longer, -1 where it takes less, else 0.
fn direction(cell: &Cell, level: f64) -> i8 {
    let mean = &cell.log_ratio;
    let changed = probability(mean) <= level && mean.value.abs() >= CHANGE_MIN;
    if changed { mean.value.signum() as i8 } else { 0 }
}

fn region(cells: &[Cell], confidence: f64) -> Option<ChangedRegion> {
    let (first, last) = (cells.first()?, cells.last()?);
    let range = ByteRange::new(first.range.first(), last.range.end() - first.range.first())?;
    let inner = if cells.len() >= 3 { &cells[1..cells.len() - 1] } else { cells };
    let whole: f64 = inner.iter().map(|cell| cell.range.bytes().as_f64()).sum();
    let (mut value, mut parts) = (0.0, Vec::new());
    for Cell { range, log_ratio } in inner {
        let share = range.bytes().as_f64() / whole;
        value += share * log_ratio.value;
        parts.push((share.powi(2) * log_ratio.variance, log_ratio.degrees_of_freedom));
    }
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
    let mut least = Vec::with_capacity(cells.len());
    for Cell { log_ratio, .. } in cells {
        least.push(t_two_sided(confidence, log_ratio.degrees_of_freedom) * log_ratio.variance.sqrt());
    }
    least.sort_by(f64::total_cmp);
    1.0 - (-least[least.len() / 2].max(CHANGE_MIN)).exp()
}
