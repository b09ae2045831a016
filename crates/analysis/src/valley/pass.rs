//! A pass of sequential writing over an area, and when passes have become alike.

use super::dip::Dip;
use crate::stats::sample::middle;
use model::units::Bytes;

/// Passes are alike when their numbers of dips differ by one at most, since that depends on where the first one dips …
const COUNT_DIFFERENCE_MAX: u64 = 1;
/// … and what each takes by a fifth, the accuracy to which a width is claimed, or by as little as is seen at all.
const LOST_RATIO_MAX: f64 = 1.2;
const LOST_DIFFERENCE_S: f64 = 0.025;
/// So many passes are alike before they count as stable.
const ALIKE_MIN: usize = 3;

/// A dip is another one's kind if it takes this share of what half of them take, where there are so many of them.
const ODD_SHARE: f64 = 0.3;
const ODD_AMONG_MIN: usize = 3;

/// What comes within this time may be the return to the start: the drive first writes out some tens of megabytes.
const START_S: f64 = 1.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassShape {
    pub block: Bytes,
    /// Whether it was written more slowly than the drive can, to tell time from bytes.
    pub slowed: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    pub shape: PassShape,
    pub phases: Vec<u32>,
    pub first_byte: u64,
    pub end_byte: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub dips: Vec<Dip>,
    /// Dips that were not kept, since they are too many.
    pub not_kept: u64,
    pub long: u64,
    pub uneven_s: f64,
}

impl Pass {
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }

    /// The dips without those much smaller than the median: a hiccup of the machine. Of few dips nobody can say which are odd.
    pub fn alike(&self) -> impl Iterator<Item = &Dip> {
        let mut lost_s: Vec<f64> = self.dips.iter().map(|dip| dip.lost_s).collect();
        let least_s = if lost_s.len() < ODD_AMONG_MIN { 0.0 } else { ODD_SHARE * middle(&mut lost_s) };
        self.dips.iter().filter(move |dip| dip.lost_s >= least_s)
    }

    pub fn count(&self) -> u64 {
        self.alike().count() as u64 + self.not_kept
    }

    pub fn has_dips(&self) -> bool {
        self.count() > 0
    }

    /// What a dip takes on average, in seconds; 0 when there is none.
    pub fn lost_s(&self) -> f64 {
        let (mut lost_s, mut kept) = (0.0, 0u32);
        for dip in self.alike() {
            lost_s += dip.lost_s;
            kept += 1;
        }
        lost_s / f64::from(kept.max(1))
    }

    pub(super) fn dips_near_start(&self) -> bool {
        let near = self.first_byte as f64 + START_S * self.rate();
        self.alike().all(|dip| dip.first_byte as f64 <= near)
    }

    fn is_like(&self, other: &Pass) -> bool {
        let (less, more) = (self.lost_s().min(other.lost_s()), self.lost_s().max(other.lost_s()));
        let is_as_wide = more <= less * LOST_RATIO_MAX || more - less <= LOST_DIFFERENCE_S;
        match (self.count(), other.count()) {
            (0, 0) => true,
            (0, _) | (_, 0) => false,
            (one, two) => one.abs_diff(two) <= COUNT_DIFFERENCE_MAX && is_as_wide,
        }
    }
}

/// From which of these passes on all are alike, counted from 0, if there are enough of them; two are enough where nothing dips.
pub fn stable_from(passes: &[&Pass]) -> Option<usize> {
    let last = passes.last()?;
    let alike = passes.iter().rev().take_while(|pass| pass.is_like(last)).count();
    let needed = if last.count() == 0 { ALIKE_MIN - 1 } else { ALIKE_MIN };
    (alike >= needed).then_some(passes.len() - alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(count: u64, lost_s: f64) -> Pass {
        let dip = Dip {
            start_s: 1.0,
            end_s: 2.0,
            lost_s,
            inside: None,
            lowest: 0.1,
            at_bytes: 0.0,
            first_byte: 0,
            chain: 0,
        };
        Pass {
            shape: PassShape { block: Bytes::new(65_536), slowed: false },
            phases: vec![0],
            first_byte: 0,
            end_byte: 1,
            bytes: 1,
            seconds: 1.0,
            dips: vec![dip; count as usize],
            not_kept: 0,
            long: 0,
            uneven_s: 0.0,
        }
    }

    #[test]
    fn passes_become_stable() {
        let of = |passes: &[(u64, f64)]| {
            let passes: Vec<Pass> = passes.iter().map(|&(count, lost_s)| pass(count, lost_s)).collect();
            stable_from(&passes.iter().collect::<Vec<_>>())
        };
        assert_eq!(of(&[(6, 0.8), (6, 0.5), (5, 0.3), (6, 0.3), (5, 0.31)]), Some(2));
        assert_eq!(of(&[(6, 0.8), (6, 0.5), (5, 0.3)]), None);
        assert_eq!(of(&[(6, 0.8), (0, 0.0), (0, 0.0)]), Some(1));
        assert_eq!(of(&[(0, 0.0)]), None);
        assert_eq!(of(&[]), None);
    }
}
