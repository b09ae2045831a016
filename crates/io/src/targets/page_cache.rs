//! The page cache over a target: how much of the target is in it, and how to get it out.

use super::system_call;
use super::target::Target;
use crate::error::IoError;
use model::range::ByteRange;
use model::units::Bytes;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Where the kernel cannot count the pages of a whole file at once, this many stretches are looked at.
const WINDOWS: u64 = 64;
const WINDOW: u64 = 16 << 20;

/// Asks the kernel to forget what it holds of the target; answers the share that stayed, in [0, 1], where the kernel
/// tells. What lies in memory stays there; what another program has mapped does too.
pub fn drop_page_cache(target: &Target) -> Result<Option<f64>, IoError> {
    let buffered = target.buffered_descriptor()?;
    let dropped = system_call::forget_cached(buffered.as_fd(), 0, 0);
    IoError::at("drop from the page cache", target.path(), dropped)?;
    Ok(cached_share(buffered.as_fd(), target.facts().capacity.get()).ok())
}

/// The share of the first `size` bytes that is in the page cache, in [0, 1]. Reads nothing in.
pub(crate) fn cached_share(buffered: BorrowedFd<'_>, size: u64) -> io::Result<f64> {
    let page = rustix::param::page_size() as u64;
    if let Ok(cached) = system_call::cached_pages(buffered, 0, size) {
        return Ok(share(cached, size.div_ceil(page)));
    }
    let (mut cached, mut pages) = (0, 0);
    for window in windows(size, page) {
        let length = WINDOW.min(size - window);
        cached += system_call::mapped_cached_pages(buffered, window, length)?;
        pages += length.div_ceil(page);
    }
    Ok(share(cached, pages))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedStretch {
    pub from_start: Bytes,
    pub all: Bytes,
}

/// What of each stretch is in the page cache. Reads nothing in. Before Linux 6.5 pages that are being read do not count.
pub fn cached_stretches(target: &Target, stretches: &[ByteRange]) -> Result<Vec<CachedStretch>, IoError> {
    let buffered = target.buffered_descriptor()?;
    let mut found = Vec::with_capacity(stretches.len());
    for stretch in stretches {
        let cached = cached_stretch(buffered.as_fd(), *stretch);
        found.push(IoError::at("look into the page cache over", target.path(), cached)?);
    }
    Ok(found)
}

fn cached_stretch(buffered: BorrowedFd<'_>, stretch: ByteRange) -> io::Result<CachedStretch> {
    let page = rustix::param::page_size() as u64;
    let first = stretch.first().get() / page * page;
    let length = stretch.end().get() - first;
    let (from_start, all) = match system_call::cached_pages(buffered, first, length) {
        Ok(all) => (leading_pages(buffered, first, length.div_ceil(page))?, all),
        Err(_) => {
            let pages = system_call::mapped_pages(buffered, first, length)?;
            let leading = pages.iter().take_while(|is_cached| **is_cached).count();
            (leading as u64, pages.iter().filter(|is_cached| **is_cached).count() as u64)
        }
    };
    // Of the first page and the last, what lies outside of the stretch does not count.
    let before = Bytes::new(stretch.first().get() - first);
    let from_start = Bytes::new(from_start * page).saturating_sub(before).min(stretch.bytes());
    let all = Bytes::new(all * page).saturating_sub(before).min(stretch.bytes());
    Ok(CachedStretch { from_start, all })
}

/// How many pages from `first` on are cached without a gap, of `count`: the largest number of which all are, found by halving.
fn leading_pages(buffered: BorrowedFd<'_>, first: u64, count: u64) -> io::Result<u64> {
    let page = rustix::param::page_size() as u64;
    let (mut cached, mut missing) = (0, count + 1);
    while missing - cached > 1 {
        let middle = cached + (missing - cached) / 2;
        let is_cached = system_call::cached_pages(buffered, first, middle * page)? >= middle;
        if is_cached { cached = middle } else { missing = middle }
    }
    assert!(cached <= count, "no more is cached than there is");
    Ok(cached)
}

fn windows(size: u64, page: u64) -> Vec<u64> {
    if size <= WINDOWS * WINDOW {
        return (0..size.div_ceil(WINDOW)).map(|number| number * WINDOW).collect();
    }
    let step = (size - WINDOW) / (WINDOWS - 1);
    (0..WINDOWS).map(|number| number * step / page * page).collect()
}

/// More pages than there are appear when the kernel caches in larger units.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_lie_within_the_target(size in 1u64..1 << 50) {
            let windows = windows(size, 4096);
            prop_assert!(windows.len() as u64 <= WINDOWS && windows.is_sorted() && windows[0] == 0);
            prop_assert!(windows.iter().all(|start| start % 4096 == 0 && *start < size));
        }
    }
}
