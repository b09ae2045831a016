//! How much a drive holds: by places that show what was written elsewhere, and by places that lose what is written to them.

use super::{BLOCK_BYTES, bytes_of, compared, compared_writes, wrong_stretches};
use model::run::RunView;
use model::workload::Pattern;
use std::collections::{BTreeMap, BTreeSet};

/// So many probed places in a row, up to the last, must have lost their data before a drive is said to end before them. On one
/// that holds all it says and loses data at random, as many as every other block, that happens once in 2⁸ = 256.
pub const TAIL_MIN: usize = 8;
/// Where addresses wrap, all that is read in a row comes from as far away. So many blocks in a row are no stray write.
const WRAPPED_BLOCKS_MIN: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Behind so many bytes addresses begin again, but none leads to the spared start, which ends between two bytes.
    Wraps {
        period_bytes: u64,
        spared: (u64, u64),
    },
    Ends {
        held_to: u64,
        lost_from: u64,
    },
    /// The last place that was probed held what was written to it, up to this byte.
    Holds {
        to: u64,
    },
    /// The last places did not hold it, but they are too few to tell an end from damage.
    Unclear {
        wrong: usize,
        held_to: u64,
    },
    Nothing,
}

/// Places that were written and looked at again: past which byte each ends, and whether it held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probes {
    places: BTreeMap<u64, (u64, bool)>,
}

impl Probes {
    pub fn of(run: &RunView<'_>) -> Probes {
        let mut probes = Probes::default();
        for (number, summary, _) in compared_writes(run) {
            let Some(workload) = &summary.phase.workload else { continue };
            let block = workload.block_sizes.largest().get();
            // A place that could not be read has not held either.
            let failed: Vec<(u64, u64)> = run.series.errors(number).map(|error| bytes_of(&error)).collect();
            match &workload.pattern {
                Pattern::Listed { offsets } => {
                    for offset in offsets {
                        let end = offset.get().saturating_add(block);
                        let held = !overlaps_any(&failed, offset.get(), end);
                        probes.places.insert(offset.get(), (end, held));
                    }
                }
                // A stretch counts as one place: its last block.
                _ => {
                    let end = workload.range.align_inward(workload.alignment).end().get();
                    let first = end.saturating_sub(BLOCK_BYTES);
                    let held = !overlaps_any(&failed, first, end);
                    probes.places.insert(first, (end, held));
                }
            }
        }
        probes
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }

    fn extent(&self) -> Extent {
        let (mut wrong, mut first_lost, mut last_held) = (0, None, None);
        for (first, (end, held)) in self.places.iter().rev() {
            if *held {
                last_held = Some(*end);
                break;
            }
            (wrong, first_lost) = (wrong + 1, Some(*first));
        }
        let Some(held_to) = last_held else { return Extent::Nothing };
        let Some(lost_from) = first_lost else { return Extent::Holds { to: held_to } };
        if wrong < TAIL_MIN {
            return Extent::Unclear { wrong, held_to };
        }
        Extent::Ends { held_to, lost_from }
    }
}

/// Where the drive ends, by all that the run has compared so far; none when it has compared nothing.
pub fn extent(run: &RunView<'_>) -> Option<Extent> {
    if let Some(wraps) = wrapped(run) {
        return Some(wraps);
    }
    let probes = Probes::of(run);
    if probes.count() == 0 { None } else { Some(probes.extent()) }
}

fn overlaps_any(failed: &[(u64, u64)], first: u64, end: u64) -> bool {
    failed.iter().any(|wrong| wrong.0 < end && wrong.1 > first)
}

/// Whether addresses begin again, by reads of places where nothing was written that show what was written elsewhere. The closest two such
/// places are as far apart as the drive repeats itself; others are some multiple of that, or it is no wrap.
fn wrapped(run: &RunView<'_>) -> Option<Extent> {
    let (mut same, mut strides, mut looked_at) = (Vec::new(), Vec::new(), Vec::new());
    let mut start_end = u64::MAX;
    for (number, summary, mark) in compared(run) {
        let Some(workload) = &summary.phase.workload else { continue };
        if mark.generation != 0 {
            continue;
        }
        let before = same.len();
        for stretch in wrong_stretches(run.series.errors(number)) {
            let Some(meant_for) = stretch.meant_for else { continue };
            let (lower, upper) = (stretch.first.min(meant_for), stretch.first.max(meant_for));
            if stretch.end - stretch.first >= WRAPPED_BLOCKS_MIN * BLOCK_BYTES {
                strides.push(upper - lower);
            }
            same.push((lower, upper));
        }
        if let Pattern::Listed { offsets } = &workload.pattern {
            let wrong: BTreeSet<u64> = same[before..].iter().map(|(_, upper)| *upper).collect();
            looked_at.extend(offsets.iter().map(|offset| offset.get()).filter(|at| !wrong.contains(at)));
        } else {
            start_end = start_end.min(workload.range.first().get());
        }
    }
    let period_bytes = strides.iter().copied().min().filter(|period| *period > 0)?;
    if strides.iter().any(|stride| !stride.is_multiple_of(period_bytes)) {
        return None;
    }
    same.retain(|(lower, upper)| (upper - lower).is_multiple_of(period_bytes));
    let to = same.iter().map(|(lower, _)| *lower).min()?;
    let written = listed_writes(run);
    let mut from = if to < start_end { 0 } else { start_end };
    for upper in looked_at {
        let lower = upper.saturating_sub(period_bytes);
        if lower < to && (lower < start_end || written.contains(&lower)) {
            from = from.max(lower + BLOCK_BYTES);
        }
    }
    Some(Extent::Wraps { period_bytes, spared: (from, to) })
}

fn listed_writes(run: &RunView<'_>) -> BTreeSet<u64> {
    let mut written = BTreeSet::new();
    for summary in run.phases {
        let Some(workload) = &summary.phase.workload else { continue };
        if let Pattern::Listed { offsets } = &workload.pattern
            && workload.mix.changes_data()
        {
            written.extend(offsets.iter().map(|offset| offset.get()));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probed(held: &[bool]) -> Probes {
        let places = (0u64..).zip(held).map(|(place, &held)| (place << 20, ((place << 20) + 4096, held)));
        Probes { places: places.collect() }
    }

    #[test]
    fn an_end_is_told_from_damage() {
        let sound = [true; 20];
        assert_eq!(probed(&sound).extent(), Extent::Holds { to: (19 << 20) + 4096 });
        let mut cut = sound;
        cut[12..].fill(false);
        assert_eq!(probed(&cut).extent(), Extent::Ends { held_to: (11 << 20) + 4096, lost_from: 12 << 20 });
        cut[12] = true;
        assert_eq!(probed(&cut).extent(), Extent::Unclear { wrong: 7, held_to: (12 << 20) + 4096 });
        cut[19] = true;
        assert_eq!(probed(&cut).extent(), Extent::Holds { to: (19 << 20) + 4096 });
        assert_eq!(probed(&[false; 20]).extent(), Extent::Nothing);
    }
}
