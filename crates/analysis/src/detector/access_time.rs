//! How long a single random read takes.
//! # What it finds
//! The mean latency of random reads, one at a time, over the whole measured span, with the smallest block measured.
//! # Why it matters
//! It bounds what a drive does for anything that asks for one small thing after the other: directories, metadata, a database without
//! concurrency. On a disk it is overhead, seek and half a revolution; using less of the drive shortens the seek.
//! # How
//! The sum of latencies over their number, with the variance from batches of at least 30 requests, since each seek begins where the last
//! ended and a slice of time cuts a request at each end, and over rounds as in `stats::grouped`. Where every read was kept, reads are
//! grouped by how far each was from the one before; only the spread at one distance is left, some two thirds on a disk. Where the time of a
//! turn shows too, on one disk or on a stripe of them, they are also grouped by what they took beside whole turns: that is where a sector
//! lies, as likely anywhere on its track, and leaves half of the variance. What the host adds to each request, its processors late by the
//! kernel's accounting and the engine's own time, is inside the mean; the interval reaches down by as much, and by what samples of a survey
//! lost to others. Failed requests have no part in it. Of a rate that another program stated of single reads, the reciprocal.
//! # Cannot tell when
//! Fewer than 30 reads succeeded, most failed, or they took no time; one in fifty of a disk took longer than any arm, or slow ones follow
//! each other, or others took more than 5 % of sequential samples of the run, or came in bursts.
//! # Known problems
//! Requests that failed are left out, so a drive with many errors in slow places looks faster than it is. Its parts are told only where a run read places
//! again and found memory apart from the medium; the seek then holds the passing of the sectors too, some hundredths of a millisecond.
//! # References
//! Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30, 1982.

use super::detect::{Detector, Need};
use super::stated;
use super::trust::doubts;
use crate::cache::{ReadOn, memory_answer_s};
use crate::examined::Examined;
use crate::interference::held_up_share;
use crate::measured::{
    Part, Slice, Visit, batches, evidence_of, host_delay_s, in_no_time, is_measurement, merged_latencies,
    random_groups,
};
use crate::moving_parts::turns;
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::poststratified::{Grouped, mean_of_equal_groups, means_of_visits};
use crate::stats::quantile::of_histogram;
use crate::stats::ratio::ratio_of_sums;
use crate::stats::student::chi_square_limit;
use crate::stripe::{Layout, Verdict};
use model::estimate::Estimate;
use model::finding::{
    AccessMeasured, AccessParts, AccessTime, AccessTimeUnknown, Finding, FindingCode, Outcome,
};
use model::histogram::LatencyHistogram;
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;
use model::units::Quantile;

const READS_MIN: u64 = 30;
const BATCH_OPERATIONS: f64 = 30.0;
/// Ten groups leave a hundredth of what distance makes latencies differ.
const DISTANCE_GROUPS: usize = 10;
/// Within a tenth of all distances seeks differ by a millisecond or two, a fifth of a turn: finer groups of the turn bring no more.
const TURN_GROUPS: usize = 5;
/// With so many reads to a group on average, one of fifty has fewer than [`GROUP_MIN`] in one run of a thousand (Poisson).
const GROUP_MEAN: usize = 18;
/// A spread of fewer is too uncertain to add up.
const GROUP_MIN: usize = 5;
/// With a larger share of failures the rest is not the drive's behaviour.
const ERROR_SHARE_MAX: f64 = 0.5;
/// Of answers that memory gives surely, one in ten may come late by chance: a timer, a host that was busy.
const LATE_SHARE_MAX: f64 = 0.1;
const CLOCK_STEP_S: f64 = 1e-9;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::AccessTime],
    needs: &[Need::Random(Operation::Read), Need::Asked(crate::stated::EXPERIMENT)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let single = random_groups(run, Operation::Read).remove(&1);
    if stated::is_stated(run) && single.is_none() && random_groups(run, Operation::Read).is_empty() {
        return stated::access(run);
    }
    let Some(mut samples) = single else {
        return vec![Finding::AccessTime(Outcome::Unknown(AccessTimeUnknown::NoReads))];
    };
    samples.retain(|sample| is_measurement(sample.summary) && sample.error_share() <= ERROR_SHARE_MAX);
    let outcome = Outcome::of(access_time(run, &samples), evidence_of(&samples));
    vec![Finding::AccessTime(outcome).with_caveats(&doubts(run))]
}

fn access_time(run: &Examined<'_>, samples: &[Visit<'_>]) -> Result<AccessTime, AccessTimeUnknown> {
    let histogram = merged_latencies(samples, Operation::Read);
    if histogram.count() < READS_MIN {
        return Err(AccessTimeUnknown::TooFewReads { have: histogram.count(), need: READS_MIN });
    }
    if in_no_time(run, samples) {
        return Err(AccessTimeUnknown::NoTime);
    }
    let mean = mean_latency(run, samples).ok_or(AccessTimeUnknown::OneRound)?.interval(CONFIDENCE);
    let mean = Estimate { low: mean.low - CLOCK_STEP_S, high: mean.high + CLOCK_STEP_S, ..mean };
    if mean.low <= 0.0 {
        return Err(AccessTimeUnknown::TooImprecise);
    }
    // What the host adds is inside each latency.
    let host_s = host_delay_s(run, samples.iter().map(Visit::summary));
    let mean = Estimate { low: (mean.low - host_s).max(0.0), ..mean };
    if let Some(by) = run.interference() {
        return Err(AccessTimeUnknown::Interference { mean, by });
    }
    let others = run.share_of_others().unwrap_or(0.0);
    let mean = Estimate { low: mean.low * (1.0 - others).max(0.0), ..mean };
    let is_shared = turns(run) != Some(true) && run.beside_reads().is_some();
    let mean = if is_shared { without_others(mean, &histogram) } else { mean };
    let workload = samples[0].workload;
    let range = workload.range;
    let median = of_histogram(&histogram, Quantile::MEDIAN, CONFIDENCE);
    Ok(AccessTime {
        mean,
        block: workload.block_sizes.largest(),
        median_s: median.map(|median| median.value / 1e9),
        range: Some(range),
        parts: parts(run, mean.value),
        measured: Some(AccessMeasured {
            span_bytes: range.bytes(),
            reads: histogram.count(),
            held_up_share: held_up_share(run),
            host_s,
        }),
        imported: None,
    })
}

/// Half of the reads at most met other I/O: the median of the rest is above the lower quartile of all, and their mean above their median.
fn without_others(seen: Estimate, reads: &LatencyHistogram) -> Estimate {
    let quartile_s = reads.quantile(Quantile::P25).map_or(0.0, |quartile| quartile.as_f64() / 1e9);
    Estimate { low: seen.low.min(quartile_s - CLOCK_STEP_S), ..seen }
}

/// Half a revolution, what a cache hit takes, and what is left for the actuator. None where one of them is not known.
fn parts(run: &Examined<'_>, access_s: f64) -> Option<AccessParts> {
    if !is_one_drive_by_itself(run) {
        return None;
    }
    let overhead_s = memory_answer_s(run)?;
    let rotation_s = run.mechanics().ok()?.rotation.turn_s() / 2.0;
    let seek_s = access_s - rotation_s - overhead_s;
    if seek_s <= 0.0 {
        return None;
    }
    Some(AccessParts { seek_s, rotation_s, overhead_s })
}

/// Whether one arm answered, and for nobody else: memory that answers late now and then waits for a drive that is busy.
fn is_one_drive_by_itself(run: &Examined<'_>) -> bool {
    // What takes longest is asked last.
    matches!(
        run.read_on(),
        ReadOn::Found { low: Some(_), late_share, .. } if *late_share <= LATE_SHARE_MAX
    ) && run.interference().is_none()
        && matches!(run.members(), Some(members) if members.verdict == Verdict::One)
}

fn mean_latency(run: &Examined<'_>, visits: &[Visit<'_>]) -> Option<Mean> {
    let rounds = match by_distance_and_turn(run, visits) {
        Some(rounds) => rounds,
        None => visits.iter().filter_map(|visit| mean_of_visit(run, visit)).collect(),
    };
    match (mean_of_visits(&rounds), rounds.first()) {
        (None, Some(first)) if first.degrees_of_freedom >= 2.0 => Some(*first),
        (mean, _) => mean,
    }
}

fn mean_of_visit(run: &RunView<'_>, visit: &Visit<'_>) -> Option<Mean> {
    match by_distance(run, visit) {
        Some(mean) => Some(mean),
        None => by_batches(run, visit),
    }
}

fn by_batches(run: &RunView<'_>, visit: &Visit<'_>) -> Option<Mean> {
    let slices = visit.slices(run, Operation::Read, Part::Whole);
    ratio_of_sums(&batches(&slices, BATCH_OPERATIONS, Slice::latency_over_operations))
}

/// The means of visits whose reads were kept one by one, by how far each was from the one before on its drive, and by what it took beside
/// whole turns: where on its track a sector lies is as likely anywhere, whatever the arm does.
fn by_distance_and_turn(run: &Examined<'_>, visits: &[Visit<'_>]) -> Option<Vec<Mean>> {
    let layout = match &run.members()?.verdict {
        Verdict::One => None,
        Verdict::Stripe { layout, .. } => Some(*layout),
        _ => return None,
    };
    let turn_s = run.mechanics().ok()?.rotation.turn_s();
    let mut grouped: Vec<Vec<Grouped>> = visits.iter().map(|visit| distances(run, visit, layout)).collect();
    let reads: usize = grouped.iter().map(Vec::len).sum();
    let turn_groups = (reads / (GROUP_MEAN * DISTANCE_GROUPS)).clamp(1, TURN_GROUPS);
    let mut counts = vec![0; turn_groups];
    for (group, seconds) in grouped.iter_mut().flatten() {
        let part = (*seconds / turn_s).fract();
        let of_turn = ((part * turn_groups as f64) as usize).min(turn_groups - 1);
        counts[of_turn] += 1;
        *group = *group * turn_groups + of_turn;
    }
    if !are_even(&counts) {
        return None;
    }
    means_of_visits(&grouped, DISTANCE_GROUPS * turn_groups, GROUP_MIN)
}

/// Whether the groups are equally likely, by Pearson's chi-square: reads from a cache or another tier take alike, and would count as one group.
fn are_even(counts: &[usize]) -> bool {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let squares: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2)).sum();
    counts.len() < 2 || squares / expected <= chi_square_limit(counts.len() - 1)
}

/// The mean of a visit whose reads were kept one by one, by how far each was from the one before.
fn by_distance(run: &RunView<'_>, visit: &Visit<'_>) -> Option<Mean> {
    let mut groups = vec![Vec::new(); DISTANCE_GROUPS];
    for (group, seconds) in distances(run, visit, None) {
        groups[group].push(seconds);
    }
    let is_rich = groups.iter().all(|group| group.len() >= GROUP_MIN);
    if is_rich { mean_of_equal_groups(&groups) } else { None }
}

/// How long each read of a visit took that was kept, and the group of its distance from the one before on the same drive.
fn distances(run: &RunView<'_>, visit: &Visit<'_>, layout: Option<Layout>) -> Vec<Grouped> {
    let drives = if let Some(layout) = layout { layout.members } else { 1 };
    let bytes_of_drive = visit.workload.range.bytes().as_f64() / f64::from(drives);
    let mut last: Vec<Option<u64>> = vec![None; drives as usize];
    let mut grouped = Vec::new();
    for io in run.series.ios(visit.phase).filter(IoRecord::is_done) {
        let (drive, at) = match layout {
            Some(layout) => layout.place_of(io.offset_bytes),
            None => (0, io.offset_bytes),
        };
        if let Some(last) = last[drive].replace(at) {
            let distance = at.abs_diff(last) as f64 / bytes_of_drive;
            // Of two places drawn evenly, this share is no farther apart.
            let nearer = 1.0 - (1.0 - distance.min(1.0)).powi(2);
            let group = ((nearer * DISTANCE_GROUPS as f64) as usize).min(DISTANCE_GROUPS - 1);
            grouped.push((group, io.service_ns() as f64 / 1e9));
        }
    }
    grouped
}
