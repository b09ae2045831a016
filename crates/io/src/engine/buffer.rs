//! The memory that requests read into and write from: one aligned mapping, a slot for each tag.
#![allow(unsafe_code, reason = "memory that the kernel writes into is mapped by hand")]

use crate::error::IoError;
use model::request::Tag;

/// Slots begin on this boundary: the largest logical block in use, and a page.
const SLOT_ALIGNMENT: usize = 4096;
/// Mappings of at least this size ask for huge pages: of 4 KiB pages a loop device's request of 1 MiB is split.
const HUGE_PAGE: usize = 2 << 20;

pub struct BufferPool {
    start: *mut u8,
    mapped_bytes: usize,
    slot_bytes: usize,
    count: u32,
}

// SAFETY: the mapping belongs to the pool alone and moves with it.
unsafe impl Send for BufferPool {}

impl BufferPool {
    /// Maps `count` slots of at least `slot_bytes`, filled with zeroes.
    pub fn new(count: u32, slot_bytes: usize) -> Result<BufferPool, IoError> {
        let slot_bytes = slot_bytes.max(1).next_multiple_of(SLOT_ALIGNMENT);
        let mapped_bytes = slot_bytes
            .checked_mul(count.max(1) as usize)
            .and_then(|bytes| bytes.checked_next_multiple_of(HUGE_PAGE))
            .ok_or_else(|| out_of_memory(count, slot_bytes))?;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing of ours.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(out_of_memory(count, slot_bytes));
        }
        if slot_bytes >= HUGE_PAGE / 4 {
            // SAFETY: the range is the mapping just made. Advice that is not taken changes nothing.
            unsafe { libc::madvise(start, mapped_bytes, libc::MADV_HUGEPAGE) };
        }
        // SAFETY: as above. A process that flushes (`crate::flushing`) has no use for it; were it shared with that one, the first to write to
        // a page would pay for a copy of it, in the middle of a measurement or while the kernel writes into it.
        unsafe { libc::madvise(start, mapped_bytes, libc::MADV_DONTFORK) };
        assert!(slot_bytes * count as usize <= mapped_bytes, "all slots lie in the mapping");
        assert!((start as usize).is_multiple_of(SLOT_ALIGNMENT), "slots are aligned for direct I/O");
        Ok(BufferPool { start: start.cast(), mapped_bytes, slot_bytes, count })
    }

    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    pub fn slot(&mut self, tag: Tag) -> &mut [u8] {
        let start = self.pointer(tag);
        // SAFETY: the slot lies in the mapping, and `&mut self` keeps others of this program away. The engine's
        // contract keeps the kernel away: the tag is free.
        unsafe { std::slice::from_raw_parts_mut(start, self.slot_bytes) }
    }

    /// Where the slot of `tag` begins, for the kernel. Panics when there is no such slot.
    pub fn pointer(&self, tag: Tag) -> *mut u8 {
        assert!(tag.0 < self.count, "a tag below the queue depth");
        // SAFETY: the offset stays inside the mapping, since the tag is below the number of slots.
        unsafe { self.start.add(tag.0 as usize * self.slot_bytes) }
    }

    pub fn as_iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.start.cast(), iov_len: self.slot_bytes * self.count as usize }
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` and nothing refers to it any more.
        unsafe { libc::munmap(self.start.cast(), self.mapped_bytes) };
    }
}

fn out_of_memory(count: u32, slot_bytes: usize) -> IoError {
    IoError::last_system("map memory for", format!("{count} requests of {slot_bytes} bytes"))
        .with_hint("Ask for a smaller queue depth or block size")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "dc" among the flags of a mapping is the kernel's word for "do not copy on fork" (proc_pid_smaps(5)).
    #[test]
    fn processes_that_are_started_have_no_part_in_it() {
        let pool = BufferPool::new(2, 4096).unwrap();
        let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (address, mut holds) = (pool.pointer(Tag(0)) as usize, false);
        let is_own_flags = |line: &&str| {
            let range = line.split_whitespace().next().and_then(|word| word.split_once('-'));
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            if let Some((start, end)) = range.and_then(|(start, end)| number(start).zip(number(end))) {
                holds = (start..end).contains(&address);
            }
            holds && line.starts_with("VmFlags:")
        };
        let flags = mappings.lines().find(is_own_flags).expect("it is mapped");
        assert!(flags.split_whitespace().any(|flag| flag == "dc"), "{flags}");
    }

    #[test]
    fn slots_are_apart_and_aligned() {
        let mut pool = BufferPool::new(3, 1000).unwrap();
        assert_eq!(pool.slot_bytes(), 4096);
        pool.slot(Tag(1)).fill(7);
        assert!(
            pool.slot(Tag(0)).iter().chain(&*BufferPool::new(1, 1).unwrap().slot(Tag(0))).all(|&b| b == 0)
        );
        assert!(pool.slot(Tag(2)).iter().all(|&b| b == 0));
        assert_eq!(pool.pointer(Tag(2)) as usize % 4096, 0);
    }

    #[test]
    #[should_panic(expected = "below the queue depth")]
    fn a_tag_past_the_end_has_no_slot() {
        BufferPool::new(3, 512).unwrap().slot(Tag(3));
    }

    #[test]
    fn impossible_sizes_are_an_error() {
        assert!(BufferPool::new(u32::MAX, usize::MAX / 2).is_err());
        assert!(BufferPool::new(4096, 1 << 50).is_err());
    }
}
