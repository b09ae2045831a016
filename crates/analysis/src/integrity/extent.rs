//! How much a drive holds: by places that show what was written elsewhere, and by places that lose what is written to them.

use super::{BLOCK_BYTES, WrongStretch, compared, wrong_stretches};
use model::payload::Mark;
use model::run::RunView;
use model::workload::Pattern;
use std::collections::BTreeMap;

/// So many probed places in a row, up to the last, must have lost their data before a drive is said to end before them. On one
/// that holds all it says and loses data at random, as many as every other block, that happens once in 2⁸ = 256.
pub const TAIL_MIN: usize = 8;
/// Where addresses wrap, all that is read in a row comes from as far away. So many blocks in a row are no stray write.
const WRAPPED_BLOCKS_MIN: u64 = 3;

/// Where a drive ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Past that byte, addresses begin again at the start.
    Wraps {
        /// What it holds.
        real_bytes: u64,
    },
    /// What was written further on was not found again.
    Ends {
        /// Up to here a probed place held.
        held_to: u64,
        /// From here on none did.
        lost_from: u64,
    },
    /// The last place that was probed held what was written to it, up to this byte.
    Holds {
        /// Past the last block that was probed.
        to: u64,
    },
    /// The last places did not hold it, but they are too few to tell an end from damage.
    Unclear {
        /// How many.
        wrong: usize,
        /// The last that did hold ends here.
        held_to: u64,
    },
    /// No place held what was written.
    Nothing,
}

/// Places that were written and looked at again: past which byte each ends, and whether it held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probes {
    places: BTreeMap<u64, (u64, bool)>,
}

impl Probes {
    /// Those of all comparing phases so far; what was seen last counts.
    pub fn of(run: &RunView<'_>) -> Probes {
        let mut probes = Probes::default();
        for (number, summary, _) in compared(run).filter(|(_, _, mark)| mark.generation > 0) {
            let Some(workload) = &summary.phase.workload else { continue };
            let block = workload.block_sizes.largest().0;
            // A place that could not be read has not held either.
            let failed: Vec<(u64, u64)> = run
                .series
                .errors(number)
                .map(|error| {
                    (error.offset_bytes, error.offset_bytes.saturating_add(error.length_bytes.into()))
                })
                .collect();
            match &workload.pattern {
                Pattern::Listed { offsets } => {
                    for offset in offsets {
                        let end = offset.0.saturating_add(block);
                        let held = !failed.iter().any(|wrong| wrong.0 < end && wrong.1 > offset.0);
                        probes.places.insert(offset.0, (end, held));
                    }
                }
                // A stretch counts as one place: its last block.
                _ => {
                    let end = workload.range.align_inward(workload.alignment).end().0;
                    let first = end.saturating_sub(BLOCK_BYTES);
                    let held = !failed.iter().any(|wrong| wrong.0 < end && wrong.1 > first);
                    probes.places.insert(first, (end, held));
                }
            }
        }
        probes
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    fn extent(&self) -> Extent {
        let wrong = self.places.values().rev().take_while(|(_, held)| !held).count();
        let before = self.places.iter().rev().nth(wrong);
        let Some((_, (held_to, _))) = before else { return Extent::Nothing };
        let held_to = *held_to;
        let Some((lost_from, _)) = self.places.iter().rev().take(wrong).next_back() else {
            return Extent::Holds { to: held_to };
        };
        if wrong < TAIL_MIN {
            return Extent::Unclear { wrong, held_to };
        }
        Extent::Ends { held_to, lost_from: *lost_from }
    }
}

/// Where the drive ends, by all that the run has compared so far; none when it has compared nothing.
pub fn extent(run: &RunView<'_>) -> Option<Extent> {
    if let Some(real_bytes) = wrapped(run) {
        return Some(Extent::Wraps { real_bytes });
    }
    let probes = Probes::of(run);
    (probes.count() > 0).then(|| probes.extent())
}

/// After how many bytes addresses begin again, by reads of places where nothing was written. The first place that shows what
/// was written elsewhere is as far from there as the drive is large; later ones are some multiple of that.
fn wrapped(run: &RunView<'_>) -> Option<u64> {
    let hunted = compared(run).filter(|(_, _, Mark { generation, .. })| *generation == 0);
    let found = hunted.flat_map(|(number, _, _)| wrong_stretches(run.series.errors(number)));
    let is_wrapped = |stretch: &WrongStretch| stretch.end - stretch.first >= WRAPPED_BLOCKS_MIN * BLOCK_BYTES;
    found
        .filter(is_wrapped)
        .filter_map(|stretch| stretch.first.checked_sub(stretch.meant_for?))
        .filter(|away| *away > 0)
        .min()
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
