//! What a drive that loses writes still tells of the newest of them, so that a hasty test does not notice.

use super::corruption::BLOCK;
use crate::fault::FaultProfile;
use std::collections::{BTreeMap, VecDeque};

/// The newest whole blocks, as many as there is room for.
#[derive(Default)]
pub(super) struct Remembered {
    blocks_max: usize,
    /// By block: what was written, and as how manyth.
    blocks: BTreeMap<u64, (u64, Box<[u8]>)>,
    /// In the order in which they were written; a block that was written again stands there twice.
    order: VecDeque<(u64, u64)>,
    written: u64,
}

pub(super) fn lost_from(faults: &[FaultProfile]) -> u64 {
    let real = faults.iter().filter_map(|fault| match fault {
        FaultProfile::LosesPastEnd { real_bytes, .. } => Some(*real_bytes),
        _ => None,
    });
    real.fold(u64::MAX, u64::min)
}

impl Remembered {
    pub(super) fn of(faults: &[FaultProfile]) -> Remembered {
        let remembered = faults.iter().filter_map(|fault| match fault {
            FaultProfile::LosesPastEnd { remembers_blocks, .. } => Some(*remembers_blocks as usize),
            _ => None,
        });
        Remembered { blocks_max: remembered.fold(0, usize::max), ..Remembered::default() }
    }

    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        if self.blocks_max == 0 {
            return;
        }
        let skipped = (offset.next_multiple_of(BLOCK) - offset) as usize;
        for (block, held) in (offset.div_ceil(BLOCK)..)
            .zip(data.get(skipped..).unwrap_or_default().chunks_exact(BLOCK as usize))
        {
            self.written += 1;
            self.blocks.insert(block, (self.written, held.into()));
            self.order.push_back((block, self.written));
            while self.order.len() > self.blocks_max {
                let Some((oldest, written)) = self.order.pop_front() else { break };
                if self.blocks.get(&oldest).is_some_and(|(newest, _)| *newest == written) {
                    self.blocks.remove(&oldest);
                }
            }
        }
    }

    pub(super) fn read(&self, offset: u64, into: &mut [u8]) {
        let end = offset + into.len() as u64;
        for (block, (_, held)) in self.blocks.range(offset / BLOCK..end.div_ceil(BLOCK)) {
            let (first, last) = (block * BLOCK, (block + 1) * BLOCK);
            let (from, to) = (first.max(offset), last.min(end));
            let part = &held[(from - first) as usize..(to - first) as usize];
            into[(from - offset) as usize..(to - offset) as usize].copy_from_slice(part);
        }
    }
}
