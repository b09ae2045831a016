//! How many kinds of answers single random reads get.
//! # What it finds
//! The modes of the latency of random reads at QD 1 over the whole span: where each is, and its share.
//! # Why it matters
//! A mean over two modes is the latency of neither: memory, retries, denser cells and slower mirrors make their own.
//! # How
//! Latencies are counted in cells of an eighth of an octave. Two peaks are told apart if the cells between them are less than half as dense
//! as either, more surely than chance makes it of one peak at any place in one run of a thousand: see `stats::modes`, which takes no shape
//! for granted. Where a kind is, is the median of its reads; those between count for either.
//! # Cannot tell when
//! There are too few reads for two equal kinds to show; they took no time; on a disk, more than a few reads took longer than any arm does.
//! # Known problems
//! Kinds that overlap or lie nearer together than a fifth count as one. A clock with steps of a tenth of the latency makes its own.
//! # References
//! Dümbgen and Walther, "Multiscale inference about a density", Annals of Statistics 36, 2008.

use super::detect::{Detector, Need};
use super::trust::{DISK_MEDIAN_S, doubts};
use crate::examined::Examined;
use crate::measured::{
    EXPERIMENT_ACCESS, Visit, evidence_of, host_delay_s, in_no_time, is_measurement, merged_latencies,
    random_groups,
};
use crate::moving_parts::turns;
use crate::stats::CONFIDENCE;
use crate::stats::modes::{Cell, Peak, needed, peaks};
use crate::stats::quantile::{at_rank, interval_ranks};
use crate::stats::share::share;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode, LatencyMode, LatencyModes, LatencyModesUnknown, Outcome};
use model::histogram::{LatencyHistogram, RELATIVE_ERROR};
use model::request::Operation;
use model::units::{Nanos, Quantile};

/// Cells of an octave: borders of the histogram's own, so that counts are exact.
const CELLS_PER_OCTAVE: u32 = 8;
/// Below 128 ns the histogram has cells of whole nanoseconds: from here on each of ours holds two and more.
const OCTAVE_FIRST: u32 = 4;
const OCTAVE_LAST: u32 = 40;
/// A second kind of read would have shown if it was twice as slow or quick, with nothing between, and half an octave wide.
const GAP_OCTAVES: f64 = 1.0;
const WIDTH_OCTAVES: f64 = 0.5;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::LatencyModes], needs: &[Need::Asked(EXPERIMENT_ACCESS)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let mut samples = random_groups(run, Operation::Read).remove(&1).unwrap_or_default();
    samples.retain(|sample| is_measurement(sample.summary));
    if samples.is_empty() {
        return Vec::new();
    }
    let outcome = Outcome::of(latency_modes(run, &samples), evidence_of(&samples));
    vec![Finding::LatencyModes(outcome).with_caveats(&doubts(run))]
}

fn latency_modes(run: &Examined<'_>, samples: &[Visit<'_>]) -> Result<LatencyModes, LatencyModesUnknown> {
    if in_no_time(run, samples) {
        return Err(LatencyModesUnknown::NoTime);
    }
    let histogram = merged_latencies(samples, Operation::Read);
    let borders = borders();
    let peaks = peaks(&cells_of(&histogram, &borders));
    let (Some(first), Some(last)) = (peaks.first(), peaks.last()) else {
        return Err(LatencyModesUnknown::NoReads);
    };
    let reads = histogram.count();
    let missed_share = missed_share(last.end - first.first, reads);
    if peaks.len() == 1 && missed_share >= 0.5 {
        return Err(LatencyModesUnknown::TooFewReads { have: reads });
    }
    if let Some(by) = run.interference() {
        return Err(LatencyModesUnknown::Interference(by));
    }
    let is_disk = turns(run) == Some(true);
    let counted = Counted { histogram: &histogram, borders: &borders, visits: samples, is_disk };
    let mut modes = Vec::new();
    for index in 0..peaks.len() {
        modes.push(counted.mode(&peaks, index).ok_or(LatencyModesUnknown::TooFewReads { have: reads })?);
    }
    Ok(LatencyModes {
        // The least number that the reads allow, with odds and not with certainty.
        count: Estimate { confidence: CONFIDENCE, ..Estimate::exact(modes.len() as f64) },
        block: samples[0].workload.block_sizes.largest(),
        missed_share,
        rounds: samples.len(),
        modes,
        reads,
        host_s: host_delay_s(run, samples.iter().map(Visit::summary)),
    })
}

/// How much of all answers a second kind may hold without being seen for certain, with 95 % confidence, where those that were seen take so many
/// cells. It would take more cells, and where more places are tried, more is needed.
fn missed_share(cells: usize, count: u64) -> f64 {
    let octaves = GAP_OCTAVES + WIDTH_OCTAVES;
    let cells = cells + (octaves * f64::from(CELLS_PER_OCTAVE)) as usize;
    let needed = needed(cells, GAP_OCTAVES, WIDTH_OCTAVES);
    share((needed - 1).min(count), count, 1.0 - 2.0 * (1.0 - CONFIDENCE)).high
}

/// Where cells begin and end, in nanoseconds: eighths of each power of two.
fn borders() -> Vec<u64> {
    let of_octave = |octave: u32| {
        let eighth = 1u64 << (octave - CELLS_PER_OCTAVE.ilog2());
        (0..u64::from(CELLS_PER_OCTAVE)).map(move |part| (1 << octave) + part * eighth)
    };
    (OCTAVE_FIRST..=OCTAVE_LAST).flat_map(of_octave).collect()
}

/// The first holds all that is shorter, and the last all that is longer.
fn cells_of(histogram: &LatencyHistogram, borders: &[u64]) -> Vec<Cell> {
    let below: Vec<u64> = borders.iter().map(|&border| histogram.count_below(Nanos::new(border))).collect();
    let last = borders.len() - 2;
    let cell = |index: usize| Cell {
        count: (if index == last { histogram.count() } else { below[index + 1] })
            - if index == 0 { 0 } else { below[index] },
        width: (borders[index + 1] as f64 / borders[index] as f64).log2(),
    };
    (0..=last).map(cell).collect()
}

struct Counted<'run> {
    histogram: &'run LatencyHistogram,
    borders: &'run [u64],
    visits: &'run [Visit<'run>],
    is_disk: bool,
}

impl Counted<'_> {
    /// How many took less than what cell `index` begins with.
    fn below(&self, histogram: &LatencyHistogram, index: usize) -> u64 {
        match index {
            0 => 0,
            _ if index + 1 >= self.borders.len() => histogram.count(),
            _ => histogram.count_below(Nanos::new(self.borders[index])),
        }
    }

    fn mode(&self, peaks: &[Peak], index: usize) -> Option<LatencyMode> {
        let peak = peaks[index];
        let all = self.histogram.count();
        let (before, until) = (self.below(self.histogram, peak.first), self.below(self.histogram, peak.end));
        let count = until - before;
        let from = match index.checked_sub(1) {
            Some(left) => self.below(self.histogram, peaks[left].end),
            None => before,
        };
        let to = peaks.get(index + 1).map_or(until, |right| self.below(self.histogram, right.first));
        let within = share(count, all, CONFIDENCE);
        let most = share(to - from, all, CONFIDENCE).high;
        // The middle of a rank's step, so that rounding cannot reach the next rank.
        let at = |rank: f64| {
            let quantile = Quantile::new((before as f64 + rank - 0.5) / all as f64)?;
            Some(self.histogram.quantile(quantile)?.seconds())
        };
        let (low, high) = interval_ranks(count, 0.5, CONFIDENCE)?;
        let seconds = at(count.div_ceil(2) as f64)?;
        Some(LatencyMode {
            seconds,
            seconds_low: at_rank(low, at)? / (1.0 + RELATIVE_ERROR),
            seconds_high: at_rank(high, at)? * (1.0 + RELATIVE_ERROR),
            share: within.value,
            share_low: within.low,
            share_high: most,
            rounds: self.visits.iter().filter(|sample| self.has_reads_of(sample, peak)).count(),
            is_memory: self.is_disk && seconds < DISK_MEDIAN_S,
        })
    }

    fn has_reads_of(&self, sample: &Visit<'_>, peak: Peak) -> bool {
        let Some(totals) = sample.summary.totals_of(Operation::Read) else { return false };
        self.below(&totals.histogram, peak.end) > self.below(&totals.histogram, peak.first)
    }
}
