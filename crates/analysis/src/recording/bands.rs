//! How large the bands of an SMR disk are, by watching it clean them.
//!
//! Small blocks are written at even distances. They go to the media cache, and a read over one waits for the arm to go there and
//! back. Between idle times all are read: once a band is cleaned, its blocks read as fast as what was not written. Borders between
//! blocks that were cleaned at different times are borders of bands. (Step 6 of "Skylight", FAST 2015.)

use crate::stats::bounded;
use crate::stats::quantile::at_share;
use model::estimate::Estimate;
use model::finding::BandSizeUnknown;
use model::plan::PhaseKind;
use model::record::IoRecord;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::Offset;
use model::workload::{Pattern, Workload};

/// Reads of what was not written take longer than those of what is in the cache no more often than this, either way round.
const OVERLAP_MAX: f64 = 0.05;
/// More reads than this that contradict the others of their block are the work of something else.
const CONTRADICTIONS_MAX: f64 = 0.05;
/// Borders that show how long at least two whole bands are.
const BORDERS_MIN: usize = 3;
/// A band holds so many blocks at least: with fewer its borders say little.
const BLOCKS_MIN: u64 = 4;
/// Sizes are tried in steps of this share: over all of the part that was looked at it adds up to less than a block's distance.
const SIZE_STEP: f64 = 0.001;

#[derive(Clone, Debug, PartialEq)]
pub struct Looks {
    blocks: Vec<u64>,
    untouched_s: Vec<f64>,
    read_s: Vec<Vec<f64>>,
    pub phases: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Bands {
    /// What was written is read as fast as what was not: nothing was put elsewhere.
    InPlace,
    /// So many bytes each, from that byte of the drive on.
    Told {
        size: Estimate,
        first_byte: u64,
        borders: usize,
    },
    Unknown(BandSizeUnknown),
}

fn marks(summary: &PhaseSummary) -> Option<&[Offset]> {
    let workload = summary.phase.workload.as_ref()?;
    let Pattern::Listed { offsets } = &workload.pattern else { return None };
    let writes = summary.totals_of(Operation::Write).is_some();
    (summary.phase.kind == PhaseKind::Precondition && writes).then_some(offsets)
}

/// Whether a phase looks at the blocks: reads at listed places in their order, one at a time.
pub(super) fn is_look(workload: &Workload) -> bool {
    let Pattern::Listed { offsets } = &workload.pattern else { return false };
    workload.in_flight_max() == 1 && workload.mix.operations() == [Operation::Read] && offsets.is_sorted()
}

impl Looks {
    /// What that experiment looked at; none when it did not.
    pub fn of(run: &RunView<'_>, experiment: &model::experiment_name::ExperimentName) -> Option<Looks> {
        let mut own = (0u32..).zip(run.phases).filter(|(_, summary)| summary.phase.experiment == *experiment);
        let (number, offsets) = own.find_map(|(number, summary)| Some((number, marks(summary)?)))?;
        let mut blocks: Vec<u64> = offsets.iter().copied().map(Offset::get).collect();
        blocks.sort_unstable();
        let mut looks = Looks { blocks, untouched_s: Vec::new(), read_s: Vec::new(), phases: vec![number] };
        for (number, summary) in own {
            let Some(workload) = &summary.phase.workload else { continue };
            if is_look(workload) && summary.stopped.is_some() {
                looks.add(run, number);
            }
        }
        if looks.read_s.is_empty() { None } else { Some(looks) }
    }

    fn add(&mut self, run: &RunView<'_>, phase: u32) {
        let mut read_s = vec![f64::NAN; self.blocks.len()];
        // The first read of a look waits for the band that is being cleaned.
        for io in run.series.ios(phase).skip(1).filter(IoRecord::is_done) {
            let seconds = io.completed_ns.saturating_sub(io.submitted_ns) as f64 / 1e9;
            let end = io.offset_bytes + u64::from(io.length_bytes);
            let index = self.blocks.partition_point(|&block| block < io.offset_bytes);
            match self.blocks.get(index) {
                Some(&block) if block < end => read_s[index] = seconds,
                _ => self.untouched_s.push(seconds),
            }
        }
        self.read_s.push(read_s);
        self.phases.push(phase);
    }

    /// From which time on a read went to the cache; none where reads of what was not written take as long.
    fn limit_s(&self) -> Option<f64> {
        let untouched = quantile(&self.untouched_s, 1.0 - OVERLAP_MAX)?;
        let elsewhere = quantile(self.read_s.first()?, OVERLAP_MAX)?;
        (untouched < elsewhere).then_some(f64::midpoint(untouched, elsewhere))
    }

    /// How many blocks were cleaned between the last two looks, and how many are left; none where they are not told apart.
    pub fn cleaned(&self) -> Option<(usize, usize)> {
        let limit_s = self.limit_s()?;
        let last = later_than(self.read_s.last()?, limit_s);
        let before = match self.read_s.iter().rev().nth(1) {
            Some(look) => later_than(look, limit_s),
            None => self.blocks.len(),
        };
        Some((before.saturating_sub(last), last))
    }

    pub fn bands(&self) -> Bands {
        let Some(limit_s) = self.limit_s() else { return Bands::InPlace };
        if let Some((_, left)) = self.cleaned()
            && left >= self.blocks.len() * 9 / 10
        {
            return Bands::Unknown(BandSizeUnknown::NotCleaned);
        }
        let (rounds, contradictions) = self.rounds(limit_s);
        if contradictions > CONTRADICTIONS_MAX {
            return Bands::Unknown(BandSizeUnknown::Interference);
        }
        let distance = (self.blocks[1] - self.blocks[0]) as f64;
        let mut borders = Vec::new();
        for index in 1..rounds.len() {
            if rounds[index] != rounds[index - 1] {
                borders.push((self.blocks[index - 1] as f64 + self.blocks[index] as f64) / 2.0);
            }
        }
        match band(&borders, distance) {
            Some(size) => Bands::Told { size, first_byte: borders[0] as u64, borders: borders.len() },
            None => Bands::Unknown(BandSizeUnknown::UnevenBorders { borders: borders.len() }),
        }
    }

    /// In which look each block was first found cleaned (as many as there are looks for never), and the share of reads that contradict it.
    fn rounds(&self, limit_s: f64) -> (Vec<usize>, f64) {
        let (looks, mut contradictions, mut reads) = (self.read_s.len(), 0usize, 0usize);
        let mut rounds = Vec::with_capacity(self.blocks.len());
        for block in 0..self.blocks.len() {
            let read_s: Vec<f64> = self.read_s.iter().map(|look| look[block]).collect();
            let (mut best, mut least) = (looks, usize::MAX);
            for round in 1..=looks {
                let wrong = contradicting(&read_s, limit_s, round);
                if wrong < least {
                    (best, least) = (round, wrong);
                }
            }
            contradictions += least;
            reads += read_s.iter().filter(|seconds| !seconds.is_nan()).count();
            rounds.push(best);
        }
        let mut smooth = rounds.clone();
        for (index, around) in rounds.windows(3).enumerate() {
            if around[0] == around[2] {
                smooth[index + 1] = around[0];
            }
        }
        (smooth, contradictions as f64 / reads.max(1) as f64)
    }
}

fn later_than(look: &[f64], limit_s: f64) -> usize {
    look.iter().filter(|seconds| **seconds > limit_s).count()
}

/// How many of the known reads of a block contradict that it was first found cleaned in that look.
fn contradicting(read_s: &[f64], limit_s: f64, round: usize) -> usize {
    let mut wrong = 0;
    for (look, seconds) in read_s.iter().enumerate() {
        let is_elsewhere = *seconds > limit_s;
        wrong += usize::from(!seconds.is_nan() && is_elsewhere != (look < round));
    }
    wrong
}

/// The value below which that share of those that are known lies; none where none is.
fn quantile(seconds: &[f64], share: f64) -> Option<f64> {
    let mut values = seconds.to_vec();
    values.retain(|seconds| !seconds.is_nan());
    values.sort_by(f64::total_cmp);
    at_share(&values, share)
}

/// The largest size of which all these borders, each known to half of that distance to either side, are multiples apart.
fn band(borders: &[f64], distance: f64) -> Option<Estimate> {
    if borders.len() < BORDERS_MIN {
        return None;
    }
    let longest = borders.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max) + distance;
    let shortest = BLOCKS_MIN as f64 * distance;
    let mut size = longest;
    let (low, high) = loop {
        if size < shortest || size.is_nan() {
            return None;
        }
        let numbers: Vec<f64> = borders.iter().map(|border| ((border - borders[0]) / size).round()).collect();
        if let Some(sizes) = within(borders, &numbers, distance) {
            break sizes;
        }
        size *= 1.0 - SIZE_STEP;
    };
    Some(bounded(f64::midpoint(low, high), low, high, borders.len() as f64))
}

/// Between which sizes bands lie if the borders have these numbers; none where no size fits all.
fn within(borders: &[f64], numbers: &[f64], distance: f64) -> Option<(f64, f64)> {
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    for (first, (border, number)) in borders.iter().zip(numbers).enumerate() {
        for (other, other_number) in borders.iter().zip(numbers).skip(first + 1) {
            let (apart, bands) = (other - border, other_number - number);
            if bands < 1.0 {
                return None;
            }
            low = low.max((apart - distance) / bands);
            high = high.min((apart + distance) / bands);
        }
    }
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// Borders of bands of that size, as seen by blocks one MiB apart.
    fn seen(size: f64, numbers: &[u32]) -> Vec<f64> {
        let place = |number: &u32| 7e9 + f64::from(*number) * size;
        numbers.iter().map(|number| ((place(number) / MIB - 0.5).floor() + 1.0) * MIB).collect()
    }

    #[test]
    fn the_size_lies_in_its_interval() {
        for size in [15e6, 21.3e6, 30e6, 33.333e6, 40e6] {
            let found = band(&seen(size, &[0, 1, 2, 4, 5, 6]), MIB).expect("it is told");
            assert!(found.low <= size && size <= found.high, "{size}: {found:?}");
            assert!((found.value / size - 1.0).abs() < 0.02, "{size}: {found:?}");
        }
    }

    #[test]
    fn borders_at_odd_distances_are_of_no_bands() {
        assert_eq!(band(&[0.0, 30e6], MIB), None);
        assert_eq!(band(&[0.0, 30e6, 33.6e6, 71e6, 74.2e6, 117e6, 121e6], MIB), None);
    }

    fn looks(bands: &[usize], cleaned_in: &[usize], elsewhere_s: f64) -> Looks {
        let blocks: Vec<u64> = (0..bands.iter().sum::<usize>() as u64).map(|block| block << 20).collect();
        let round_of: Vec<usize> =
            bands.iter().zip(cleaned_in).flat_map(|(&blocks, &round)| vec![round; blocks]).collect();
        let look = |look: usize| {
            let time = |(block, round): (usize, &usize)| {
                let wait = 0.004 + 0.000_03 * ((block * 37) % 100) as f64;
                if look < *round { elsewhere_s + wait } else { wait }
            };
            round_of.iter().enumerate().map(time).collect()
        };
        let untouched_s = (0..100).map(|step| 0.004 + 0.000_03 * f64::from(step)).collect();
        Looks { blocks, untouched_s, read_s: (0..8).map(look).collect(), phases: Vec::new() }
    }

    #[test]
    fn bands_that_are_cleaned_one_by_one_are_told() {
        let found = looks(&[10, 30, 30, 30, 30, 30, 12], &[2, 5, 1, 3, 7, 4, 6], 0.02).bands();
        let Bands::Told { size, first_byte, borders } = found else { panic!("{found:?}") };
        assert!(size.low <= 30.0 * MIB && 30.0 * MIB <= size.high, "{size:?}");
        assert!((size.value / MIB - 30.0).abs() < 0.3, "{size:?}");
        assert_eq!((first_byte, borders), ((19 << 19), 6));
    }

    #[test]
    fn one_block_that_was_read_at_a_bad_moment_changes_nothing() {
        let mut looks = looks(&[10, 30, 30, 30, 30, 30, 12], &[2, 5, 1, 3, 7, 4, 6], 0.02);
        looks.read_s[3][45] = 0.5;
        looks.read_s[7][80] = 0.5;
        assert!(matches!(looks.bands(), Bands::Told { borders: 6, .. }), "{:?}", looks.bands());
    }

    #[test]
    fn what_is_read_in_no_time_is_in_its_place() {
        assert_eq!(looks(&[30, 30, 30], &[9, 9, 9], 0.0).bands(), Bands::InPlace);
    }

    #[test]
    fn a_drive_that_does_not_clean_is_unknown() {
        let found = looks(&[30, 30, 30], &[9, 9, 9], 0.02).bands();
        assert_eq!(found, Bands::Unknown(BandSizeUnknown::NotCleaned));
    }
}
