//! Where the bytes of a volume lie.

use crate::volume::kind::VolumeKind;
use model::units::Bytes;

/// What lies at the end of a drive past its last whole block is not used.
const BLOCK: u64 = 4096;

/// Which byte of a volume is which byte of which of its drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    kind: VolumeKind,
    chunk_bytes: u64,
    /// How many bytes of each drive are used.
    used: Vec<u64>,
    capacity: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub member: usize,
    pub first_byte: u64,
    pub bytes: u64,
}

impl Layout {
    /// Over drives of those capacities; none when nothing fits on one, or there is none.
    pub(super) fn new(kind: VolumeKind, chunk_bytes: u64, capacities: &[Bytes]) -> Option<Layout> {
        let least = capacities.iter().map(|capacity| capacity.get()).min()?;
        let used: Vec<u64> = match kind {
            VolumeKind::Stripe => vec![least / chunk_bytes * chunk_bytes; capacities.len()],
            VolumeKind::Mirror => vec![least / BLOCK * BLOCK; capacities.len()],
            VolumeKind::Concatenation => {
                capacities.iter().map(|capacity| capacity.get() / BLOCK * BLOCK).collect()
            }
        };
        let all = used.iter().try_fold(0u64, |sum, bytes| sum.checked_add(*bytes))?;
        let capacity = if kind == VolumeKind::Mirror { used[0] } else { all };
        (!used.contains(&0)).then_some(Layout { kind, chunk_bytes, used, capacity })
    }

    pub fn capacity(&self) -> Bytes {
        Bytes::new(self.capacity)
    }

    pub fn kind(&self) -> VolumeKind {
        self.kind
    }

    pub fn members(&self) -> usize {
        self.used.len()
    }

    pub fn chunk(&self) -> Option<Bytes> {
        (self.kind == VolumeKind::Stripe).then_some(Bytes::new(self.chunk_bytes))
    }

    /// Where that byte of the volume lies; on a mirror: on its first drive. None past its end.
    pub fn place(&self, byte: u64) -> Option<(usize, u64)> {
        if byte >= self.capacity {
            return None;
        }
        let members = self.used.len() as u64;
        match self.kind {
            VolumeKind::Mirror => Some((0, byte)),
            VolumeKind::Stripe => {
                let (chunk, within) = (byte / self.chunk_bytes, byte % self.chunk_bytes);
                Some(((chunk % members) as usize, chunk / members * self.chunk_bytes + within))
            }
            VolumeKind::Concatenation => {
                let mut left = byte;
                for (member, used) in self.used.iter().enumerate() {
                    if left < *used {
                        return Some((member, left));
                    }
                    left -= used;
                }
                None
            }
        }
    }

    pub fn volume_byte(&self, member: usize, byte: u64) -> u64 {
        debug_assert!(member < self.used.len() && byte <= self.used[member], "a byte of a member");
        match self.kind {
            VolumeKind::Mirror => byte,
            VolumeKind::Stripe => {
                let (row, within) = (byte / self.chunk_bytes, byte % self.chunk_bytes);
                (row * self.used.len() as u64 + member as u64) * self.chunk_bytes + within
            }
            VolumeKind::Concatenation => self.used[..member].iter().sum::<u64>() + byte,
        }
    }

    /// What a stretch of the volume is on its drives: at most one stretch on each, since chunks that follow each other
    /// on a drive are one request to it. On a mirror: on the first. What is past the end is left out.
    pub fn parts(&self, first_byte: u64, bytes: u64) -> impl Iterator<Item = Part> + '_ {
        let end = first_byte.saturating_add(bytes).min(self.capacity);
        let first_byte = first_byte.min(end);
        let (stripe, mirror) = (self.kind == VolumeKind::Stripe, self.kind == VolumeKind::Mirror);
        let members = if mirror { 1 } else { self.used.len() };
        (0..members).filter_map(move |member| {
            let (first, end) = if stripe {
                (self.before(member, first_byte), self.before(member, end))
            } else {
                let start = if mirror { 0 } else { self.volume_byte(member, 0) };
                let used = self.used[member];
                (first_byte.saturating_sub(start).min(used), end.saturating_sub(start).min(used))
            };
            (first < end).then_some(Part { member, first_byte: first, bytes: end - first })
        })
    }

    fn before(&self, member: usize, byte: u64) -> u64 {
        let (chunk, within) = (byte / self.chunk_bytes, byte % self.chunk_bytes);
        let (row, at) = (chunk / self.used.len() as u64, (chunk % self.used.len() as u64) as usize);
        row * self.chunk_bytes
            + match member.cmp(&at) {
                std::cmp::Ordering::Less => self.chunk_bytes,
                std::cmp::Ordering::Equal => within,
                std::cmp::Ordering::Greater => 0,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stripe(members: usize) -> Layout {
        Layout::new(VolumeKind::Stripe, 65_536, &vec![Bytes::new(1_000_000); members]).unwrap()
    }

    #[test]
    fn chunks_go_round() {
        let layout = stripe(3);
        assert_eq!(layout.capacity(), Bytes::new(3 * 15 * 65_536));
        assert_eq!(layout.place(65_536 * 4 + 7), Some((1, 65_536 + 7)));
        assert_eq!(layout.place(3 * 15 * 65_536), None);
        let parts: Vec<Part> = layout.parts(65_536 * 2 + 100, 65_536 * 3).collect();
        let expected = [
            Part { member: 0, first_byte: 65_536, bytes: 65_536 },
            Part { member: 1, first_byte: 65_536, bytes: 65_536 },
            Part { member: 2, first_byte: 100, bytes: 65_436 + 100 },
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn one_drive_behind_the_other() {
        let capacities = [Bytes::new(10_000), Bytes::new(20_000)];
        let layout = Layout::new(VolumeKind::Concatenation, 4096, &capacities).unwrap();
        assert_eq!(layout.capacity(), Bytes::new(8192 + 16_384));
        let parts: Vec<Part> = layout.parts(8000, 1000).collect();
        let expected =
            [Part { member: 0, first_byte: 8000, bytes: 192 }, Part { member: 1, first_byte: 0, bytes: 808 }];
        assert_eq!(parts, expected);
    }

    proptest! {
        /// Each byte of a stretch is in exactly one part, at its place.
        #[test]
        fn parts_hold_each_byte_once(
            kind in prop_oneof![
                Just(VolumeKind::Stripe),
                Just(VolumeKind::Mirror),
                Just(VolumeKind::Concatenation)
            ],
            chunks in 1u64..5,
            capacities in proptest::collection::vec(20_480u64..100_000, 1..5),
            first in 0u64..400_000,
            bytes in 0u64..100_000,
        ) {
            let capacities: Vec<Bytes> = capacities.into_iter().map(Bytes::new).collect();
            let layout = Layout::new(kind, chunks * 4096, &capacities).unwrap();
            let mut seen: Vec<u64> = Vec::new();
            for part in layout.parts(first, bytes) {
                prop_assert!(part.first_byte + part.bytes <= capacities[part.member].get());
                for byte in [part.first_byte, part.first_byte + part.bytes - 1] {
                    let volume_byte = layout.volume_byte(part.member, byte);
                    prop_assert_eq!(layout.place(volume_byte), Some((part.member, byte)));
                }
                let all = part.first_byte..part.first_byte + part.bytes;
                seen.extend(all.map(|byte| layout.volume_byte(part.member, byte)));
            }
            seen.sort_unstable();
            let end = (first + bytes).min(layout.capacity().get());
            prop_assert!(seen.into_iter().eq(first.min(end)..end));
        }
    }
}
