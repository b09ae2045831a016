//! Stretches that are wrong in one way, from the records of comparing reads.

use super::BLOCK_BYTES;
use model::finding::WrongKind;
use model::record::ErrorRecord;
use model::request::Status;
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongStretch {
    pub first: u64,
    pub end: u64,
    pub kind: WrongKind,
    /// Of misplaced data: the place that its first byte was written for.
    pub meant_for: Option<u64>,
}

impl WrongStretch {
    pub fn blocks(&self) -> u64 {
        self.end.div_ceil(BLOCK_BYTES) - self.first / BLOCK_BYTES
    }
}

fn kind_of(status: Status) -> Option<WrongKind> {
    Some(match status {
        Status::StaleData => WrongKind::Stale,
        Status::MisplacedData => WrongKind::Misplaced,
        Status::BlankData => WrongKind::Blank,
        Status::FlippedBits => WrongKind::Flipped,
        Status::WrongData => WrongKind::Other,
        _ => return None,
    })
}

/// The stretches of a phase, as its records tell them. What is no wrong data is left out.
pub fn wrong_stretches(errors: impl Iterator<Item = ErrorRecord>) -> Vec<WrongStretch> {
    let mut stretches: Vec<WrongStretch> = Vec::new();
    for error in errors {
        let first = error.offset_bytes;
        if error.status == Status::PlaceOfData {
            if let Some(last) = stretches.last_mut().filter(|last| last.kind == WrongKind::Misplaced) {
                last.meant_for = Some(first);
            }
        } else if let Some(kind) = kind_of(error.status) {
            let end = first.saturating_add(u64::from(error.length_bytes));
            stretches.push(WrongStretch { first, end, kind, meant_for: None });
        }
    }
    stretches
}

/// The same in order of place without overlaps: what tells more counts. Neighbours that are wrong in the same way are one.
pub fn union(mut stretches: Vec<WrongStretch>) -> Vec<WrongStretch> {
    stretches.sort_by_key(|stretch| (stretch.first, stretch.kind, Reverse(stretch.end)));
    let away = |stretch: &WrongStretch| stretch.meant_for.map(|meant| meant.wrapping_sub(stretch.first));
    let mut joined: Vec<WrongStretch> = Vec::new();
    for mut stretch in stretches {
        let Some(last) = joined.last_mut() else {
            joined.push(stretch);
            continue;
        };
        if stretch.end <= last.end {
            continue;
        }
        let cut = last.end.saturating_sub(stretch.first);
        stretch.first += cut;
        stretch.meant_for = stretch.meant_for.map(|meant| meant.wrapping_add(cut));
        if stretch.first == last.end && stretch.kind == last.kind && away(&stretch) == away(last) {
            last.end = stretch.end;
        } else {
            joined.push(stretch);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::request::Operation;
    use proptest::prelude::*;

    fn error(offset_bytes: u64, length_bytes: u32, status: Status) -> ErrorRecord {
        ErrorRecord { phase: 0, at_ns: 1, operation: Operation::Read, offset_bytes, length_bytes, status }
    }

    #[test]
    fn a_place_belongs_to_the_record_before() {
        let errors = [
            error(0, 4096, Status::StaleData),
            error(8192, 8192, Status::MisplacedData),
            error(40960, 8192, Status::PlaceOfData),
            error(65536, 4096, Status::MediumError),
        ];
        let stretches = wrong_stretches(errors.into_iter());
        assert_eq!(stretches.len(), 2);
        assert_eq!((stretches[1].meant_for, stretches[1].blocks()), (Some(40960), 2));
    }

    proptest! {
        #[test]
        fn a_union_has_every_block_once(
            drawn in prop::collection::vec((0u64..64, 1u64..9, any::<bool>()), 0..30)
        ) {
            let stretches: Vec<WrongStretch> = drawn.iter().map(|&(first, length, stale)| WrongStretch {
                first: first * BLOCK_BYTES,
                end: (first + length) * BLOCK_BYTES,
                kind: if stale { WrongKind::Stale } else { WrongKind::Blank },
                meant_for: None,
            }).collect();
            let mut touched = [false; 80];
            stretches.iter().for_each(|s| (s.first / 4096..s.end / 4096).for_each(|block| touched[block as usize] = true));
            let joined = union(stretches);
            prop_assert!(joined.windows(2).all(|pair| pair[0].end <= pair[1].first));
            let blocks: u64 = joined.iter().map(WrongStretch::blocks).sum();
            prop_assert_eq!(blocks, touched.iter().filter(|touched| **touched).count() as u64);
        }
    }
}
