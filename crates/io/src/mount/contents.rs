//! A sparse store of data by byte address.

use std::collections::HashMap;

const CHUNK: u64 = 65536;

/// What was written.
#[derive(Default)]
pub struct Contents {
    chunks: HashMap<u64, Box<[u8]>>,
}

impl Contents {
    /// Reads.
    pub fn read(&mut self, offset: u64, buffer: &mut [u8]) {
        for (offset, part) in parts(offset, buffer.len()) {
            let target = &mut buffer[part.clone()];
            match self.chunks.get(&(offset / CHUNK)) {
                Some(chunk) => {
                    target.copy_from_slice(&chunk[(offset % CHUNK) as usize..][..part.len()]);
                }
                None => target.fill(0),
            }
        }
    }

    /// Writes.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        for (offset, part) in parts(offset, data.len()) {
            let chunk = self.chunks.entry(offset / CHUNK).or_insert_with(|| vec![0; CHUNK as usize].into());
            chunk[(offset % CHUNK) as usize..][..part.len()].copy_from_slice(&data[part]);
        }
    }

    /// Forgets.
    pub fn discard(&mut self, offset: u64, length: u64) {
        let (first, end) = (offset.div_ceil(CHUNK), (offset + length) / CHUNK);
        self.chunks.retain(|chunk, _| !(first..end).contains(chunk));
    }
}

fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == length {
            return None;
        }
        let here = offset + at as u64;
        let size = ((CHUNK - here % CHUNK) as usize).min(length - at);
        at += size;
        Some((here, at - size..at))
    })
}
