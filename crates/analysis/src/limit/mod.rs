//! Rate limits: credit that is used up, and then a constant rate, whatever is asked for.
//!
//! A token bucket between host and drive makes two drives of one. Everything that tells how fast a drive is therefore
//! looks at phases on one side of the border only: those before the credit was used up, which show the drive.

mod asked;
mod bucket;
mod change;
mod course;
mod even;
mod fits;
mod fitting;
mod together;

use crate::stats::bounded;
use asked::{Asked, Side, Unit, Window};
use bucket::{Bucket, RUN_MIN};
use change::{Change, fit_changed};
use course::Course;
use fits::{CONTRADICTING_SHARE, Fit, alone, candidates_of, fits};
use together::{Pair, pair};

use model::experiment_name::ExperimentName;
use model::finding::{LimitedBy, LimitedOperations, RateLimit, RateLimitUnknown};
use model::plan::PhaseKind;
use model::run::{PhaseSummary, RunView};
use model::units::{Bytes, Nanos};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// So long at the limit makes enough windows of it.
const DECIDING: Nanos = Nanos::from_secs(2);
/// Completions that tell a bucket from a drive where evenness does not yet: a server that scatters by a tenth is as even with a chance of 1e-4.
const EVEN_REQUESTS: f64 = 2000.0;
const DECIDING_MAX: Nanos = Nanos::from_secs(10);

/// Amazon EBS counts a request to an SSD volume as one for each 256 KiB of it, others for each 4, 16 or 64 KiB (recalled).
const PARTS_SOLD: [Bytes; 4] =
    [Bytes::from_kib(4), Bytes::from_kib(16), Bytes::from_kib(64), Bytes::from_kib(256)];

/// What counts parts misses the credit further if it is taken for bytes, and where all requests are whole parts as far.
const AS_EXACT: f64 = 1.5;

const ACROSS: [ExperimentName; 2] = [ExperimentName::Sustain, ExperimentName::Valleys];

#[derive(Clone, Debug)]
pub struct Limit {
    pub found: Result<RateLimit, RateLimitUnknown>,
    pub limited_s: Vec<f64>,
    undecided: Option<Undecided>,
    windows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    Any,
    /// Another one than the only one that met it tells requests from bytes.
    Other(Bytes),
    /// More reads of one that met it show how evenly they complete.
    Same(Bytes),
}

#[derive(Clone, Copy, Debug)]
pub struct Undecided {
    pub read: Sizes,
    pub time: Nanos,
}

/// The limits that a run shows: of reads and writes together, or of either. A change is stated where two rates explain more than one.
pub fn limits(run: &RunView<'_>) -> Vec<Limit> {
    let Some(course) = Course::of(run) else { return Vec::new() };
    limits_by(&course, &all_fits(&course, Side::Both))
}

fn limits_by(course: &Course, fits: &[Fit]) -> Vec<Limit> {
    let mut limits = limits_of(fits);
    // Where only one of them is asked for, it is both.
    if course.is_mixed() && !is_any_known(&limits) {
        let mut of_sides = limits_of(&all_fits(course, Side::Reads));
        of_sides.extend(limits_of(&all_fits(course, Side::Writes)));
        of_sides.sort_by_key(|limit| limit.found.is_err());
        if explained_by(&of_sides) > explained_by(&limits) {
            limits = of_sides;
        }
    } else if course.is_mixed() && !limits.iter().any(Limit::is_of_writes) {
        let of_writes = limits_of(&all_fits(course, Side::Writes));
        limits.extend(of_writes.into_iter().filter(Limit::is_of_writes));
    }
    match changed(course) {
        Some(changed)
            if changed.windows > explained_by(&limits)
                && !limits.iter().any(|one| one.is_before(&changed)) =>
        {
            vec![changed]
        }
        _ => limits,
    }
}

fn explained_by(limits: &[Limit]) -> usize {
    limits.iter().map(|limit| limit.windows).sum()
}

fn is_any_known(limits: &[Limit]) -> bool {
    limits.iter().any(|limit| limit.found.is_ok())
}

impl Limit {
    fn is_of_writes(&self) -> bool {
        matches!(&self.found, Ok(found) if found.operations != LimitedOperations::Reads)
    }

    /// Whether it is what a changed one was at first, and what came faster later used credit that had come back.
    fn is_before(&self, changed: &Limit) -> bool {
        let Err(RateLimitUnknown::Changed { by: unit, before_per_second, after_per_second, .. }) =
            changed.found
        else {
            return false;
        };
        if after_per_second < before_per_second {
            return false;
        }
        let per_second = match &self.found {
            Ok(RateLimit { sustained, by, .. }) if *by == unit => sustained.value,
            Err(RateLimitUnknown::OneShape { per_second, block }) if unit == LimitedBy::Bytes => {
                per_second * block.as_f64()
            }
            Err(RateLimitUnknown::OneShape { per_second, .. }) => *per_second,
            _ => return false,
        };
        (per_second / before_per_second - 1.0).abs() <= asked::ALIKE_SHARE
    }
}

fn changed(course: &Course) -> Option<Limit> {
    for (unit, by) in [(Unit::Requests, LimitedBy::Requests), (Unit::Bytes, LimitedBy::Bytes)] {
        let sides = if course.is_mixed() { &[Side::Both, Side::Reads][..] } else { &[Side::Both] };
        for &side in sides {
            let Some(change) = fit_changed(course, unit, side) else { continue };
            let Change { before, after_per_second, from_step, windows } = change;
            let (_, after) = course.steps.split_at(from_step);
            let mut limited_s = before.limited_s;
            // Nothing is known of the credit from there on.
            for step in after {
                limited_s[step.phase as usize] += step.end_ns.saturating_sub(step.start_ns) as f64 / 1e9;
            }
            let at_s = after.first()?.start_ns as f64 / 1e9;
            let before_per_second = before.per_second;
            let found = Err(RateLimitUnknown::Changed { by, before_per_second, after_per_second, at_s });
            return Some(Limit { found, limited_s, undecided: None, windows });
        }
    }
    None
}

fn all_fits(course: &Course, side: Side) -> Vec<Fit> {
    let mut units = vec![Unit::Requests, Unit::Bytes];
    for part in part_sizes(course, side) {
        units.push(Unit::Parts(part));
    }
    let mut all = Vec::new();
    for unit in units {
        all.extend(fits(course, unit, side));
    }
    all
}

fn limits_of(fits: &[Fit]) -> Vec<Limit> {
    match pair(fits) {
        Some(Pair { of_bytes, of_requests }) => vec![of_bytes.stated(), of_requests.stated()],
        None => limit(fits).into_iter().collect(),
    }
}

/// In the unit in which more of the block sizes are limited.
fn limit(fits: &[Fit]) -> Option<Limit> {
    let (requests, bytes) = (alone(fits, Unit::Requests), alone(fits, Unit::Bytes));
    let mut parts = of_parts(fits);
    for whole in [requests, bytes].into_iter().flatten() {
        if parts.is_some_and(|parts| explains_as_much(whole, parts)) {
            parts = None;
        }
    }
    let fit = match (requests, bytes) {
        _ if let Some(parts) = parts => parts,
        (Some(requests), Some(bytes)) => match requests.sizes().cmp(&bytes.sizes()) {
            Ordering::Equal if requests.bucket.is_even || bytes.bucket.is_even => return unknown(requests),
            Ordering::Equal => return None,
            Ordering::Less => bytes,
            Ordering::Greater => requests,
        },
        (one, other) => one.or(other)?,
    };
    let is_of_a_limit = fit.bucket.is_even || fit.unit != Unit::Requests && fit.bucket.is_of_many_sizes();
    match fit.bucket.is_certain {
        _ if !is_of_a_limit => None,
        true => Some(fit.stated()),
        false => unknown(fit),
    }
}

impl Fit {
    /// How long reads of which size go on until completions are even beyond doubt.
    fn undecided(&self) -> Option<Undecided> {
        let block = *self.bucket.blocks.first()?;
        let per_request = if self.unit == Unit::Bytes { block.as_f64() } else { 1.0 };
        let read = match self.unit {
            Unit::Requests | Unit::Bytes if self.sizes() == 1 => Sizes::Other(block),
            Unit::Requests => Sizes::Same(block),
            Unit::Bytes | Unit::Parts(_) => Sizes::Any,
        };
        Some(Undecided { read, time: time_until_even(per_request / self.bucket.per_second)? })
    }

    fn stated(&self) -> Limit {
        let bucket = &self.bucket;
        let &Bucket { per_second, per_second_error, credit, credit_error, .. } = bucket;
        let limited_phases = bucket.limited_s.iter().filter(|seconds| **seconds > 0.0).count() as f64;
        let (low, high) = (per_second - per_second_error, per_second + per_second_error);
        let (by, counted_bytes) = match self.unit {
            Unit::Bytes => (LimitedBy::Bytes, None),
            Unit::Requests => (LimitedBy::Requests, None),
            Unit::Parts(part) => (LimitedBy::Requests, Some(part)),
        };
        let found = RateLimit {
            sustained: bounded(per_second, low, high, limited_phases),
            by,
            counted_bytes,
            operations: match (bucket.has_reads, bucket.has_writes) {
                (true, true) => LimitedOperations::Both,
                (false, true) => LimitedOperations::Writes,
                _ => LimitedOperations::Reads,
            },
            credit,
            credit_low: credit - credit_error - bucket.credit_merged,
            credit_high: bucket.credit_if_several.unwrap_or(credit) + credit_error,
            may_count_several: bucket.credit_if_several.is_some(),
            may_have_been_full: bucket.may_have_been_full,
            burst: bucket.burst,
            refill_s: credit / per_second,
            limited_s: bucket.limited_s.iter().sum(),
        };
        let (limited_s, windows) = (bucket.limited_s.clone(), bucket.windows);
        Limit { found: Ok(found), limited_s, undecided: bucket.larger_undecided(), windows }
    }
}

impl Bucket {
    fn larger_undecided(&self) -> Option<Undecided> {
        let met = *self.blocks.last()?;
        let is_open = self.has_reads && self.credit_if_several.is_some();
        is_open.then_some(Undecided { read: Sizes::Other(met), time: DECIDING })
    }
}

/// Whether parts of requests are a chance: whole ones explain as much, and as exactly unless they are the same at all sizes that were limited, or
/// are even at several sizes where parts are not.
fn explains_as_much(whole: &Fit, parts: &Fit) -> bool {
    let (one, other) = (&whole.bucket, &parts.bucket);
    let is_surer = one.is_even && whole.sizes() > 1 && !other.is_even;
    let is_as_exact = parts.is_the_same_in(whole.unit) || one.requests_off <= AS_EXACT * other.requests_off;
    is_surer || is_as_exact && one.windows as f64 >= (1.0 - CONTRADICTING_SHARE) * other.windows as f64
}

/// A bucket of requests of which larger ones count as several: where two block sizes come at even rates that are as many times apart.
fn of_parts(fits: &[Fit]) -> Option<&Fit> {
    let sizes: BTreeSet<Bytes> = fits.iter().filter_map(|fit| fit.unit.part()).collect();
    let mut best: Option<&Fit> = None;
    for part in sizes {
        let Some(fit) = alone(fits, Unit::Parts(part)) else { continue };
        let is_better = match best {
            Some(other) => fit.bucket.explains_more(&other.bucket),
            None => true,
        };
        if fit.sizes() > 1 && is_better {
            best = Some(fit);
        }
    }
    best
}

/// Powers of two, as everywhere. Where phases are too short for windows of their own, those of volumes that are sold.
fn part_sizes(course: &Course, side: Side) -> BTreeSet<Bytes> {
    let asked = Asked::of(course, Unit::Requests, side);
    let windows = asked.windows();
    let block_of = |window: &Window| Some(asked.only_shape(window)?.block);
    let blocks: BTreeSet<Bytes> = windows.iter().filter_map(block_of).collect();
    let mut rates: Vec<(Bytes, f64)> = Vec::new();
    for &block in &blocks {
        for members in candidates_of(&windows, |window| block_of(window) == Some(block), RUN_MIN) {
            let sum: f64 = members.iter().map(|&member| windows[member].rate()).sum();
            rates.push((block, sum / members.len() as f64));
        }
    }
    let mut asked_for = BTreeSet::new();
    for shape in course.shapes.iter().flatten() {
        asked_for.insert(shape.block);
    }
    let mut parts = BTreeSet::new();
    for part in PARTS_SOLD {
        if asked_for.first() <= Some(&part) && asked_for.last() > Some(&part) {
            parts.insert(part);
        }
    }
    for &(smaller, more) in &rates {
        for &(larger, less) in &rates {
            let part = Bytes::new((larger.as_f64() / (more / less).log2().round().exp2()) as u64);
            if (smaller..larger).contains(&part) {
                parts.insert(part);
            }
        }
    }
    parts
}

/// Of writes alone a full write cache is the likelier cause, which has findings of its own.
fn unknown(fit: &Fit) -> Option<Limit> {
    let Bucket { per_second, blocks, limited_s, windows, .. } = &fit.bucket;
    let block = *blocks.first()?;
    if !fit.bucket.has_reads {
        return None;
    }
    let per_second = if fit.unit == Unit::Bytes { per_second / block.as_f64() } else { *per_second };
    let other = Undecided { read: Sizes::Other(block), time: DECIDING };
    Some(Limit {
        found: Err(RateLimitUnknown::OneShape { per_second, block }),
        limited_s: limited_s.clone(),
        undecided: (fit.sizes() == 1).then_some(other),
        windows: *windows,
    })
}

/// What more reads would decide: what a limit counts, or whether there is one where too few completions came at its rate. Limits of parts only
/// for runs of many block sizes: no other one tells such a limit from the rate of a link.
pub fn undecided(run: &RunView<'_>, has_many_sizes: bool) -> Option<Undecided> {
    let course = Course::of(run)?;
    let fits = all_fits(&course, Side::Both);
    let found = limits_by(&course, &fits);
    if !found.is_empty() {
        return found.iter().find_map(|limit| limit.undecided);
    }
    let parts = if has_many_sizes { of_parts(&fits) } else { None };
    for fit in [alone(&fits, Unit::Requests), alone(&fits, Unit::Bytes), parts].into_iter().flatten() {
        if fit.bucket.has_reads {
            return fit.undecided();
        }
    }
    None
}

/// Writes that fell to an even rate, as at a rate limit.
#[derive(Clone, Copy, Debug)]
pub struct Suspected {
    /// For how long to read, and to write at that rate, until it is decided.
    pub time: Nanos,
    /// That rate as a share of the one before.
    pub share: f64,
}

pub fn suspected_of_writes(run: &RunView<'_>) -> Option<Suspected> {
    let course = Course::of(run)?;
    for side in [Side::Writes, Side::Both] {
        let fits = all_fits(&course, side);
        let Some(fit) = alone(&fits, Unit::Requests).or(alone(&fits, Unit::Bytes)) else { continue };
        if fit.bucket.is_even && fit.bucket.has_writes {
            let share = fit.bucket.per_second / fit.bucket.burst_of_limited;
            return Some(Suspected { time: fit.undecided()?.time, share });
        }
    }
    None
}

pub fn limits_writes(run: &RunView<'_>) -> bool {
    limits(run).iter().any(Limit::is_of_writes)
}

fn time_until_even(request_s: f64) -> Option<Nanos> {
    Some(Nanos::from_secs_f64(EVEN_REQUESTS * request_s)?.clamp(DECIDING, DECIDING_MAX))
}

/// The phases of a run without the work of those that reached one of its limits: what they show is not the drive. None where there is no limit.
pub fn apart(run: &RunView<'_>, limits: &[Limit]) -> Option<Vec<PhaseSummary>> {
    if limits.is_empty() {
        return None;
    }
    let mut phases = run.phases.to_vec();
    for limit in limits {
        for (summary, limited_s) in phases.iter_mut().zip(&limit.limited_s) {
            if *limited_s > 0.0 && !ACROSS.contains(&summary.phase.experiment) {
                (summary.phase.kind, summary.phase.workload) = (PhaseKind::Idle, None);
            }
        }
    }
    Some(phases)
}
