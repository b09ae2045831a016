//! How large a request may be that the kernel hands to a drive whole.

use std::fs;
use std::path::{Path, PathBuf};

/// A buffer lies in memory page by page, and each page may be a segment of its own.
const PAGE: u64 = 4096;

/// The largest request, on a grid of its size, that no disk splits by its `/sys/block/…/queue/`; zero if untold.
pub fn unsplit_bytes_max(disks: &[PathBuf]) -> u64 {
    disks.iter().map(|disk| of_disk(disk).unwrap_or(0)).min().unwrap_or(0)
}

fn of_disk(disk: &Path) -> Option<u64> {
    let by_size = limit(disk, "max_sectors_kb")?.checked_mul(1024)?;
    let by_segments = limit(disk, "max_segments")?.checked_mul(PAGE)?;
    // Requests that cross a border between chunks or zones are split; those of a page on its grid cross none.
    let by_chunks = if limit(disk, "chunk_sectors").unwrap_or(0) > 0 { PAGE } else { u64::MAX };
    Some(by_size.min(by_segments).min(by_chunks))
}

fn limit(disk: &Path, name: &str) -> Option<u64> {
    fs::read_to_string(disk.join("queue").join(name)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(limits: &[(&str, &str)]) -> tempfile::TempDir {
        let disk = tempfile::tempdir().unwrap();
        fs::create_dir(disk.path().join("queue")).unwrap();
        for (name, value) in limits {
            fs::write(disk.path().join("queue").join(name), value).unwrap();
        }
        disk
    }

    #[test]
    fn the_narrowest_limit_counts() {
        // As QEMU's NVMe drive with `mdts=7` and its zoned one tell under Linux 6.1.
        let nvme = disk(&[("max_sectors_kb", "512\n"), ("max_segments", "127\n"), ("chunk_sectors", "0\n")]);
        let zoned =
            disk(&[("max_sectors_kb", "512\n"), ("max_segments", "127\n"), ("chunk_sectors", "32768\n")]);
        let of = |disks: &[&tempfile::TempDir]| {
            unsplit_bytes_max(&disks.iter().map(|disk| disk.path().to_path_buf()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[&nvme]), 127 * 4096);
        assert_eq!(of(&[&zoned]), 4096);
        assert_eq!(of(&[&nvme, &zoned]), 4096);
        assert_eq!(of(&[&nvme, &disk(&[])]), 0, "what is not told is not trusted");
        assert_eq!(of(&[]), 0);
    }
}
