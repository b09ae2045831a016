//! How long a single random read takes.
//!
//! # What it finds
//! The mean latency of random reads, one at a time, over the whole measured span, with the smallest block measured.
//! # Why it matters
//! It bounds what a drive does for anything that asks for one small thing after the other: directories, metadata, a
//! database without concurrency. On a disk it is overhead, seek and half a turn: the arm can be helped by using less of the drive, the
//! turn cannot.
//! # How
//! The sum of latencies over their number, with the variance from batches of at least 30 requests, since each seek
//! begins where the last ended and a slice of time cuts a request at each end, and over rounds as in `stats::grouped`. Where every
//! read was kept, reads are grouped by how far each was from the one before: how likely each distance is, is known, so that only the
//! spread at one distance is left, some two thirds of the whole on a disk. Where the time of a turn shows too, on one disk or on a stripe of
//! them, they are also grouped by what they took beside whole turns: that is where a sector lies, as likely anywhere on its track, and
//! leaves half of the variance. Failed requests have no part in it.
//! Of a rate that another program stated of single reads, the reciprocal.
//! # Cannot tell when
//! Fewer than 30 reads succeeded, most failed, or they took no time; one in fifty or more of a disk took longer than any arm does, so that
//! what was measured is the time of two who share a drive.
//! # Known problems
//! Requests that failed are left out, so a drive with many errors in slow places looks faster than it is. Its parts are told only where a run read places
//! again and found memory apart from the medium; the seek then holds the passing of the sectors too, some hundredths of a millisecond.
//! # References
//! Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30, 1982.

use super::stated;
use super::trust::Subject;
use super::wording::short_time;
use super::{Detector, Need};
use crate::cache::{ReadOn, memory_answer_s, read_on};
use crate::geometry::{Rotation, all_readings};
use crate::measured::{
    EXPERIMENT_ACCESS, HELD_UP_SHARE_MAX, NO_TIME, Part, Slice, Visit, batches, evidence_of, held_up_share,
    in_no_time, is_measurement, merged_latencies, random_groups,
};
use crate::stats::CONFIDENCE;
use crate::stats::grouped::mean_of_visits;
use crate::stats::mean::Mean;
use crate::stats::poststratified::{Grouped, mean_of_equal_groups, means_of_visits};
use crate::stats::quantile::of_histogram;
use crate::stats::ratio::{Pair, ratio_of_sums};
use crate::stripe::{Layout, Verdict, reads as stripe_reads};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;
use model::units::Quantile;

/// See the head of this file.
pub(super) struct AccessTime;

const READS_MIN: u64 = 30;
const BATCH_OPERATIONS: f64 = 30.0;
/// Ten groups leave a hundredth of what distance makes latencies differ.
const DISTANCE_GROUPS: usize = 10;
/// Within a tenth of all distances seeks differ by a millisecond or two, a fifth of a turn: finer groups of the turn bring no more.
const TURN_GROUPS: usize = 5;
/// A spread of fewer is too uncertain to add up.
const GROUP_MIN: usize = 5;
/// With a larger share of failures the rest is not the drive's behaviour.
const ERROR_SHARE_MAX: f64 = 0.5;
/// Of answers that memory gives surely, one in ten may come late by chance: a timer, a host that was busy.
const LATE_SHARE_MAX: f64 = 0.1;
/// What the clock does not resolve.
const CLOCK_STEP_S: f64 = 1e-9;

impl Detector for AccessTime {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::AccessTime]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Random(Operation::Read), Need::Asked(crate::stated::EXPERIMENT)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        if stated::is_stated(run) && random_groups(run, Operation::Read).is_empty() {
            return stated::access(run);
        }
        let finding = found(run).unwrap_or_else(|why| Finding::unknown(FindingCode::AccessTime, why));
        vec![finding]
    }
}

fn found(run: &RunView<'_>) -> Result<Finding, String> {
    let single = random_groups(run, Operation::Read).remove(&1);
    let all = single.ok_or("No random reads were made one at a time.")?;
    let usable = |visit: &Visit<'_>| is_measurement(visit.summary) && visit.error_share() <= ERROR_SHARE_MAX;
    let visits: Vec<Visit<'_>> = all.into_iter().filter(usable).collect();
    let histogram = merged_latencies(&visits, Operation::Read);
    if histogram.count() < READS_MIN {
        let succeeded = match histogram.count() {
            0 => "No single random read succeeded".to_string(),
            1 => "Only 1 single random read succeeded".to_string(),
            count => format!("Only {count} single random reads succeeded"),
        };
        return Err(format!("{succeeded}; at least {READS_MIN} are needed."));
    }
    if in_no_time(run, &visits) {
        return Err(NO_TIME.into());
    }
    let mean = mean_latency(run, &visits).ok_or("A single short round does not show its own spread.")?;
    let estimate = mean.interval(CONFIDENCE);
    let estimate =
        Estimate { low: estimate.low - CLOCK_STEP_S, high: estimate.high + CLOCK_STEP_S, ..estimate };
    if estimate.low <= 0.0 {
        return Err("The reads differ too much to tell their mean. Measure longer.".into());
    }
    let held_up = held_up_share(run);
    if held_up > HELD_UP_SHARE_MAX {
        return Err(of_whoever_waits(&estimate, held_up));
    }
    let range = visits[0].workload.range;
    let subject = Subject::of(run);
    let mut statement = format!(
        "A single random read of {} takes {} on average over {}",
        visits[0].workload.block_sizes.largest(),
        short_time(estimate.value),
        subject.extent(run, range)
    );
    let median = of_histogram(&histogram, Quantile::MEDIAN, CONFIDENCE);
    if let Some(median) = median {
        statement.push_str(&format!("; half of them take {} or less", short_time(median.value / 1e9)));
    }
    statement.push('.');
    let parts = Parts::of(run, estimate.value);
    if let Some(parts) = &parts {
        statement.push_str(&parts.sentence());
    }
    let evidence = evidence_of(&visits);
    let finding = Finding::number(FindingCode::AccessTime, estimate, "s", statement, evidence);
    let data = parts.iter().flat_map(Parts::data);
    let finding = data.fold(finding, |finding, (name, datum)| finding.with_data(name, datum));
    let finding = finding
        .with_data("span_bytes", Datum::Integer(range.bytes().0))
        .with_data("reads", Datum::Integer(histogram.count()))
        .with_data("held_up_share", Datum::Number(held_up));
    Ok(subject.qualify(finding))
}

/// What was measured is the drive's and somebody else's together.
fn of_whoever_waits(estimate: &Estimate, held_up: f64) -> String {
    format!(
        "Single random reads took {} on average ({} to {}), but {:.0} % of them longer than any arm does: something else used the drive, or it \
         had to try again. What an access takes by itself is not told from that. Measure again while nothing else uses the drive.",
        short_time(estimate.value),
        short_time(estimate.low),
        short_time(estimate.high),
        100.0 * held_up
    )
}

/// What a single access consists of, in seconds.
struct Parts {
    seek_s: f64,
    rotation_s: f64,
    overhead_s: f64,
}

impl Parts {
    /// Half a turn, what an answer from memory takes, and what is left for the arm. None where one of them is not known.
    fn of(run: &RunView<'_>, access_s: f64) -> Option<Parts> {
        if !is_one_drive_by_itself(run) {
            return None;
        }
        let overhead_s = memory_answer_s(run)?;
        let rotation_s = Rotation::of(&all_readings(run).ok()?).ok()?.turn_s() / 2.0;
        let seek_s = access_s - rotation_s - overhead_s;
        (seek_s > 0.0).then_some(Parts { seek_s, rotation_s, overhead_s })
    }

    fn sentence(&self) -> String {
        format!(
            " Of that the arm takes {}, half a turn of the platters {}, and the command itself {}.",
            short_time(self.seek_s),
            short_time(self.rotation_s),
            short_time(self.overhead_s)
        )
    }

    fn data(&self) -> [(&'static str, Datum); 3] {
        [
            ("seek_s", Datum::Number(self.seek_s)),
            ("rotation_s", Datum::Number(self.rotation_s)),
            ("overhead_s", Datum::Number(self.overhead_s)),
        ]
    }
}

/// Whether one arm answered, and for nobody else: memory that answers late now and then waits for a drive that is busy.
fn is_one_drive_by_itself(run: &RunView<'_>) -> bool {
    // Last, since it takes longest.
    let is_one = || stripe_reads(run, EXPERIMENT_ACCESS).is_some_and(|reads| reads.has_one_arm());
    let is_by_itself = match read_on(run) {
        ReadOn::Found { low: Some(_), late_share, .. } => late_share <= LATE_SHARE_MAX,
        _ => false,
    };
    is_by_itself && held_up_share(run) <= HELD_UP_SHARE_MAX && is_one()
}

fn mean_latency(run: &RunView<'_>, visits: &[Visit<'_>]) -> Option<Mean> {
    let one_by_one = || {
        let of_visit = |visit: &Visit<'_>| by_distance(run, visit).or_else(|| by_batches(run, visit));
        visits.iter().filter_map(of_visit).collect()
    };
    let rounds: Vec<Mean> = by_distance_and_turn(run, visits).unwrap_or_else(one_by_one);
    mean_of_visits(&rounds).or_else(|| rounds.first().copied().filter(|mean| mean.degrees_of_freedom >= 2.0))
}

fn by_batches(run: &RunView<'_>, visit: &Visit<'_>) -> Option<Mean> {
    let pair = |slice: &Slice| Pair { numerator: slice.latency_s, denominator: slice.operations };
    let slices = visit.slices(run, Operation::Read, Part::Whole);
    ratio_of_sums(&batches(&slices, BATCH_OPERATIONS, pair))
}

/// The means of visits whose reads were kept one by one, by how far each was from the one before on its drive, and by what it took beside
/// whole turns: where on its track a sector lies is as likely anywhere, whatever the arm does.
fn by_distance_and_turn(run: &RunView<'_>, visits: &[Visit<'_>]) -> Option<Vec<Mean>> {
    let reads = stripe_reads(run, EXPERIMENT_ACCESS)?;
    let layout = match reads.has_one_arm() {
        true => None,
        false => match reads.verdict() {
            Verdict::Stripe { layout, .. } => Some(layout),
            _ => return None,
        },
    };
    let turn_s = Rotation::of(&all_readings(run).ok()?).ok()?.turn_s();
    let of_visit = |visit: &Visit<'_>| -> Vec<Grouped> {
        let by_distance = distances(run, visit, layout).into_iter();
        let group = |(distance_group, seconds): Grouped| {
            let part = (seconds / turn_s).fract();
            let turn_group = ((part * TURN_GROUPS as f64) as usize).min(TURN_GROUPS - 1);
            (distance_group * TURN_GROUPS + turn_group, seconds)
        };
        by_distance.map(group).collect()
    };
    let visits: Vec<Vec<Grouped>> = visits.iter().map(of_visit).collect();
    means_of_visits(&visits, DISTANCE_GROUPS * TURN_GROUPS, GROUP_MIN)
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
    let drives = layout.map_or(1, |layout| layout.members);
    let bytes_of_drive = visit.workload.range.bytes().0 as f64 / f64::from(drives);
    let mut last: Vec<Option<u64>> = vec![None; drives as usize];
    let mut grouped = Vec::new();
    for io in run.series.ios(visit.phase).filter(|io| io.status.is_done()) {
        let (drive, at) = layout.map_or((0, io.offset_bytes), |layout| layout.place_of(io.offset_bytes));
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
