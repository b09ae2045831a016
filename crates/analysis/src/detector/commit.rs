//! Commits: writes that are each made durable.
//! # What it finds
//! Latency percentiles of one committer by size; commits per second by the number of committers; the fastest durable method; how much other
//! load slows commits down; and, for a program that was named, whether its published limit is met.
//! # Why it matters
//! A database answers its client when the commit is durable. Throughput says nothing of that time, and a mean hides its tail.
//! # How
//! Rounds of a cell are put together. Percentiles have intervals by order statistics, of fewer commits where rounds differ by more than chance
//! (overdispersion). The probability that the true percentile is within a limit
//! follows from how many commits took longer: a Beta distribution with Jeffreys' prior. A method is the fastest if the interval of its median is
//! below those of all others, and durable if that is not below what the medium takes.
//! # Cannot tell when
//! Too few commits completed for an interval of the 99th percentile: 368. Every commit failed. The program publishes no limit.
//! # Known problems
//! Commits that are slow together widen intervals only where rounds differ, not within one. A stall rarer than the run is long is not seen.
//! # References
//! David and Nagaraja, "Order Statistics", 3rd ed., section 7.1. Brown, Cai and DasGupta, "Interval Estimation for a Binomial Proportion", 2001.

use super::detect::{Detector, Need};
use super::flush_honoured;
use crate::commit::{Cell, CellKey, cells, committed, main_cells};
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::stated;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use model::application::CommitLimit;
use model::commit::{Application, CommitMethod, Log};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{
    CommitGain, CommitInterference, CommitLatency, CommitPoint, CommitRate, CommitUnknown, CommitVerdict,
    CrowdRates, Evidence, FastestCommit, Finding, FindingCode, Fitness, FlushEffect, FlushHonoured,
    FlushUnknown, GainBy, InterferencePoint, MethodPoint, Outcome, RatePoint, VerdictUnknown,
};
use model::histogram::LatencyHistogram;
use model::run::RunView;
use model::target::Caveat;
use model::units::Quantile;
use statrs::distribution::{Beta, ContinuousCDF};

/// A verdict is sure from here on: the error of one in twenty that intervals have everywhere.
const SURE: f64 = 0.95;
/// What gains less is within what rounds differ by.
const GAIN_MIN: f64 = 1.1;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[
        FindingCode::CommitVerdict,
        FindingCode::CommitLatency,
        FindingCode::CommitRate,
        FindingCode::CommitMethod,
        FindingCode::CommitInterference,
    ],
    needs: &[Need::Asked(ExperimentName::Commit), Need::Asked(stated::EXPERIMENT)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let cells = cells(run);
    let main = main_cells(&cells);
    let Some(first) = main.first() else {
        if is_imported(run) {
            return Vec::new();
        }
        return vec![Finding::CommitLatency(Outcome::Unknown(nothing(run)))];
    };
    let evidence = evidence_of_phases(run, &first.phases);
    if is_imported(run) {
        return of_other_program(first, &main, &evidence);
    }
    let lost = not_durable(run, first, &cells);
    let mut findings = Vec::new();
    if let Some(application) = first.commits.application {
        let verdict = match run.target.caveats.contains(&Caveat::InMemory) {
            true => Err(VerdictUnknown::InMemory),
            false => verdict(run, application, first, &cells, &lost),
        };
        findings.push(Finding::CommitVerdict(Outcome::of(verdict, evidence.clone())));
    }
    findings.push(Finding::CommitLatency(Outcome::of(latency(first, &main), evidence.clone())));
    findings.push(Finding::CommitRate(Outcome::of(rate(run, first, &cells), evidence.clone())));
    let method = fastest(first, &cells, lost);
    findings.push(Finding::CommitMethod(Outcome::of(method, evidence.clone())));
    findings.push(Finding::CommitInterference(Outcome::of(interference(first, &cells), evidence)));
    findings
}

/// Also where no bytes are stated, as of flushes alone.
fn is_imported(run: &RunView<'_>) -> bool {
    run.phases.iter().any(|summary| summary.phase.experiment == stated::EXPERIMENT)
}

/// Rates without an interval, and latencies where the program tells its percentiles.
fn of_other_program(first: &Cell<'_>, main: &[&Cell<'_>], evidence: &[Evidence]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if first.histogram.count() > 0 {
        findings.push(Finding::CommitLatency(Outcome::of(latency(first, main), evidence.to_vec())));
    }
    if let Some(one_per_second) = first.per_second() {
        let (committers, best) = (first.key.committers, stated::without_interval(one_per_second));
        let point =
            RatePoint { committers, separate_files: false, per_second: one_per_second, p99_s: p99_s(first) };
        let rate = CommitRate {
            best,
            best_committers: committers,
            best_separate_files: false,
            one_per_second,
            points: vec![point],
        };
        findings.push(Finding::CommitRate(Outcome::known(rate, evidence.to_vec())));
    }
    findings
}

fn nothing(run: &RunView<'_>) -> CommitUnknown {
    for (number, summary) in (0..).zip(run.phases) {
        if CellKey::of(summary).is_some()
            && let Some(error) = run.series.errors(number).next()
        {
            return CommitUnknown::Failed { why: error.status.describe() };
        }
    }
    CommitUnknown::TooFew { have: 0 }
}

fn latency(first: &Cell<'_>, main: &[&Cell<'_>]) -> Result<CommitLatency, CommitUnknown> {
    let too_few = CommitUnknown::TooFew { have: first.histogram.count() };
    let p99 = first.quantile(Quantile::P99).ok_or(too_few)?;
    let point = |cell: &&Cell<'_>| CommitPoint {
        write_bytes: cell.key.write,
        commits: cell.histogram.count(),
        p50: cell.quantile(Quantile::MEDIAN).map(Into::into),
        p99: cell.quantile(Quantile::P99).map(Into::into),
        p999: cell.quantile(Quantile::P999).map(Into::into),
    };
    Ok(CommitLatency {
        p99,
        method: first.key.method,
        log: first.key.log,
        points: main.iter().map(point).collect(),
        application: first.commits.application,
    })
}

fn p99_s(cell: &Cell<'_>) -> Option<f64> {
    Some(cell.quantile(Quantile::P99)?.value)
}

/// The cells that differ from the main one in the number of committers, or in that each has a file.
fn crowds<'cells, 'run>(first: &Cell<'run>, cells: &'cells [Cell<'run>]) -> Vec<&'cells Cell<'run>> {
    let mut crowds = Vec::new();
    for cell in cells {
        let is_log = cell.key.log == first.key.log || cell.key.log == Log::OverwriteEach;
        let is_same = cell.key.method == first.key.method && cell.key.write == first.key.write;
        if is_log && is_same && cell.key.beside.is_none() {
            crowds.push(cell);
        }
    }
    crowds
}

fn rate(run: &RunView<'_>, first: &Cell<'_>, cells: &[Cell<'_>]) -> Result<CommitRate, CommitUnknown> {
    let too_few = CommitUnknown::TooFew { have: first.histogram.count() };
    let one_per_second = first.per_second().ok_or(too_few.clone())?;
    let mut points = Vec::new();
    let mut best = first;
    for cell in crowds(first, cells) {
        let Some(per_second) = cell.per_second() else { continue };
        if per_second > best.per_second().unwrap_or(0.0) {
            best = cell;
        }
        let separate_files = cell.key.log == Log::OverwriteEach;
        points.push(RatePoint {
            committers: cell.key.committers,
            separate_files,
            per_second,
            p99_s: p99_s(cell),
        });
    }
    points.sort_by_key(|point| (point.separate_files, point.committers));
    let best_rate = rate_of_rounds(run, best).ok_or(too_few)?;
    Ok(CommitRate {
        best: best_rate,
        best_committers: best.key.committers,
        best_separate_files: best.key.log == Log::OverwriteEach,
        one_per_second,
        points,
    })
}

/// By how rounds differ; none of fewer than two.
fn rate_of_rounds(run: &RunView<'_>, cell: &Cell<'_>) -> Option<Estimate> {
    let mut rates = Vec::new();
    for phase in &cell.phases {
        let (totals, seconds) = committed(&run.phases[*phase as usize])?;
        rates.push(totals.operations as f64 / seconds);
    }
    let value = cell.per_second()?;
    let mean = Mean::about(value, &rates);
    if rates.len() < 2 || !mean.variance.is_finite() {
        return None;
    }
    let estimate = mean.interval(CONFIDENCE);
    // Rounds may agree by chance, or on a virtual drive: a count over a time is known to one commit.
    let one_commit = 1.0 / cell.seconds;
    Some(Estimate {
        low: estimate.low.min(value - one_commit),
        high: estimate.high.max(value + one_commit),
        ..estimate
    })
}

/// Methods that are not durable here, as far as can be seen: of which one kind of log completes before the medium can have the data.
fn not_durable(run: &RunView<'_>, first: &Cell<'_>, cells: &[Cell<'_>]) -> Vec<CommitMethod> {
    let flush = flush_honoured::judge(run);
    let is_fuse = run.target.caveats.contains(&Caveat::PlacesUntold);
    let mut lost = Vec::new();
    for cell in single(first, cells).filter(|cell| cell.key.is_alone()) {
        // Linux hands a write with direct I/O on to a FUSE server without the flag, and does not flush after it (fs/fuse/file.c).
        let is_dropped =
            is_fuse && matches!(cell.key.method, CommitMethod::OpenDsync | CommitMethod::WriteDsync);
        let is_too_quick = match &flush {
            Err(FlushUnknown::InMemory) | Ok(FlushHonoured { effect: FlushEffect::Ignored, .. }) => true,
            Ok(FlushHonoured { effect: FlushEffect::Honoured, seen }) => {
                let median = cell.quantile(Quantile::MEDIAN);
                matches!(median, Some(median) if !flush_honoured::reaches_medium(seen, median.value))
            }
            // Where the cache is protected all are; elsewhere the medium cannot be seen.
            _ => false,
        };
        if (is_dropped || is_too_quick) && !lost.contains(&cell.key.method) {
            lost.push(cell.key.method);
        }
    }
    lost
}

fn fastest(
    first: &Cell<'_>,
    cells: &[Cell<'_>],
    lost: Vec<CommitMethod>,
) -> Result<FastestCommit, CommitUnknown> {
    let Some(main) = first.quantile(Quantile::MEDIAN) else {
        return Err(CommitUnknown::TooFew { have: first.histogram.count() });
    };
    let mut points = Vec::new();
    for cell in single(first, cells).filter(|cell| cell.key.is_alone()) {
        let CellKey { method, log, .. } = cell.key;
        let Some(p50) = cell.quantile(Quantile::MEDIAN) else { continue };
        if lost.contains(&method) {
            continue;
        }
        points.push(MethodPoint {
            method,
            log,
            p50_s: p50.value,
            p50_low_s: p50.low,
            p50_high_s: p50.high,
            p99_s: p99_s(cell),
        });
    }
    if points.len() + lost.len() < 2 {
        return Err(CommitUnknown::NothingToCompare);
    }
    points.sort_by(|one, other| one.p50_s.total_cmp(&other.p50_s));
    let Some(best) = points.first() else { return Err(CommitUnknown::NothingDurable) };
    let (mut alike, mut log) = (Vec::new(), Some(best.log));
    for point in points.iter().filter(|point| point.p50_low_s <= best.p50_high_s) {
        if !alike.contains(&point.method) {
            alike.push(point.method);
        }
        if log != Some(point.log) {
            log = None;
        }
    }
    let gain = if main.low > best.p50_high_s { main.value / best.p50_s } else { 1.0 };
    Ok(FastestCommit { alike, log, gain, points, not_durable: lost })
}

/// Those of one committer that write as the first does.
fn single<'cells, 'run>(
    first: &Cell<'run>,
    cells: &'cells [Cell<'run>],
) -> impl Iterator<Item = &'cells Cell<'run>> {
    cells.iter().filter(|cell| cell.key.committers == 1 && cell.key.write == first.key.write)
}

fn interference(first: &Cell<'_>, cells: &[Cell<'_>]) -> Result<CommitInterference, CommitUnknown> {
    let too_few = CommitUnknown::TooFew { have: first.histogram.count() };
    let alone = first.quantile(Quantile::P99).ok_or(too_few)?;
    let mut points: Vec<InterferencePoint> = Vec::new();
    let mut worst: Option<Estimate> = None;
    let mut most_beside = 0;
    for cell in single(first, cells) {
        let Some(load) = cell.key.beside else { continue };
        most_beside = most_beside.max(cell.histogram.count());
        let Some(loaded) = cell.quantile(Quantile::P99) else { continue };
        let ratio = loaded.value / alone.value;
        let (low, high) = (loaded.low / alone.high, loaded.high / alone.low);
        if worst.is_none_or(|worst| ratio > worst.value) {
            worst = Some(Estimate { value: ratio, low, high, ..loaded });
        }
        points.push(InterferencePoint { load, p99_s: loaded.value, ratio });
    }
    points.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
    match (worst, points.first()) {
        (Some(ratio), Some(most)) => {
            Ok(CommitInterference { ratio, load: most.load, alone_p99_s: alone.value, points })
        }
        _ => Err(CommitUnknown::TooFew { have: most_beside }),
    }
}

fn verdict(
    run: &RunView<'_>,
    application: Application,
    first: &Cell<'_>,
    cells: &[Cell<'_>],
    lost: &[CommitMethod],
) -> Result<CommitVerdict, VerdictUnknown> {
    let need = application.need();
    let too_few = VerdictUnknown::TooFew { have: first.histogram.count() };
    let one_per_second = first.per_second().ok_or(too_few.clone())?;
    let mut rates = CrowdRates { one_per_second, crowd: 1, crowd_per_second: one_per_second };
    for cell in crowds(first, cells) {
        let Some(rate) = rate_of_rounds(run, cell).filter(Estimate::is_conclusive) else { continue };
        if cell.key.log == first.key.log && cell.key.committers > rates.crowd {
            (rates.crowd, rates.crowd_per_second) = (cell.key.committers, rate.value);
        }
    }
    let Some(limit) = need.limit else {
        return Err(VerdictUnknown::NoLimit { application, rates, source: need.source });
    };
    let dispersion = first.dispersion(limit.latency);
    let probability = probability_within(&first.histogram, dispersion, limit).ok_or(too_few)?;
    let fitness = match probability {
        SURE.. => Fitness::Yes,
        sure_no if sure_no <= 1.0 - SURE => Fitness::No,
        _ => Fitness::Edge,
    };
    Ok(CommitVerdict {
        fitness,
        application,
        percentile: limit.percentile,
        limit_s: limit.latency.seconds(),
        latency: first.quantile(limit.percentile).map(Into::into),
        probability,
        rates,
        gains: gains(first, cells, lost),
        source: need.source,
    })
}

/// The probability that no larger share than the percentile leaves takes longer. Rounds that differ count as fewer commits.
fn probability_within(latencies: &LatencyHistogram, dispersion: f64, limit: CommitLimit) -> Option<f64> {
    let (count, within) = (latencies.count(), latencies.count_below(limit.latency));
    if count == 0 {
        return None;
    }
    let above = (count - within) as f64 / dispersion + 0.5;
    let above = Beta::new(above, within as f64 / dispersion + 0.5).ok()?;
    Some(above.cdf(1.0 - limit.percentile.get()))
}

/// What makes the 99th percentile better as far as intervals tell, the best first: other durable ways, and no load beside it.
fn gains(first: &Cell<'_>, cells: &[Cell<'_>], lost: &[CommitMethod]) -> Vec<CommitGain> {
    let Some(main) = first.quantile(Quantile::P99) else { return Vec::new() };
    let mut gains = Vec::new();
    for cell in single(first, cells) {
        let Some(p99) = cell.quantile(Quantile::P99) else { continue };
        let (what, slow, fast) = match cell.key.beside {
            None => (GainBy::Way(cell.key.method, cell.key.log), main, p99),
            Some(load) => (GainBy::OwnDisk(load), p99, main),
        };
        let is_way_lost = cell.key.beside.is_none() && lost.contains(&cell.key.method);
        let ratio = slow.value / fast.value;
        if ratio >= GAIN_MIN && slow.low > fast.high && !is_way_lost {
            gains.push(CommitGain { what, ratio });
        }
    }
    gains.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
    gains
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Nanos;

    /// With 10 of 1000 above the limit, the share is 1 % give or take its own deviation: as likely within as not. Half as many are within by
    /// far, twice as many are not.
    #[test]
    fn a_limit_is_met_as_far_as_commits_tell() {
        let limit = CommitLimit { percentile: Quantile::P99, latency: Nanos::from_millis(10) };
        let probability = |above: u64| {
            let mut latencies = LatencyHistogram::default();
            (0..1000 - above).for_each(|_| latencies.record(1_000_000));
            (0..above).for_each(|_| latencies.record(50_000_000));
            probability_within(&latencies, 1.0, limit).unwrap()
        };
        assert!((0.4..0.6).contains(&probability(10)), "{}", probability(10));
        assert!(probability(4) > 0.97 && probability(20) < 0.01);
        assert_eq!(probability_within(&LatencyHistogram::default(), 1.0, limit), None);
    }
}
