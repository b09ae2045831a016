//! Where a file lies.
//! # What it finds
//! Extents and fragments of a large file, on which disk they lie and where on it.
//! # Why it matters
//! Throughput is that of a place: on a disk the start is faster than the end, and fragments cost seeks. Comparisons of file
//! systems or folders have to know whether the files were contiguous, on one disk, and at like places.
//! # How
//! After a write and a flush, the file system is asked for its extents, followed through partitions and volumes.
//! # Cannot tell when
//! The file system does not tell (many network file systems, FUSE, tmpfs). btrfs tells the extents, not their place on a disk.
//! # Known problems
//! What a drive shows as neighbouring need not be: SMR and flash map LBAs anew.
//! # References
//! Linux, Documentation/filesystems/fiemap.

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::file_work::{folders, layout_of};
use crate::measured::evidence_of_phases;
use model::file_work::{DiskShare, FileLayout};
use model::finding::{FilePart, FilePlacement, FilePlacementUnknown, Finding, FindingCode, Outcome};
use model::run::RunView;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::FileLayout], needs: &[Need::Files], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let folders = folders(run.phases);
    let is_only_folder = folders.len() == 1;
    let mut findings = Vec::new();
    for folder in folders {
        let outcome = match layout_of(run.phases, folder) {
            None => continue,
            Some((_, Err(why))) => Outcome::Unknown(FilePlacementUnknown {
                folder: if is_only_folder { None } else { Some(folder.into()) },
                why: why.to_string(),
            }),
            Some((phase, Ok(layout))) => {
                let placement = placement(run, folder, layout, is_only_folder);
                Outcome::known(placement, evidence_of_phases(run, &[phase]))
            }
        };
        findings.push(Finding::FileLayout(outcome));
    }
    findings
}

fn placement(run: &RunView<'_>, folder: &str, layout: &FileLayout, is_only_folder: bool) -> FilePlacement {
    FilePlacement {
        folder: folder.into(),
        extents: layout.extents,
        fragments: layout.fragments,
        is_contiguous: layout.fragments <= 1,
        disks: layout.disks.iter().map(part).collect(),
        unplaced: layout.unplaced.clone(),
        is_on_disk: run.target.rotational == Some(true) && !run.target.is_lent(),
        is_only_folder,
    }
}

fn part(share: &DiskShare) -> FilePart {
    FilePart {
        disk: share.disk.clone(),
        disk_bytes: share.disk_bytes,
        bytes: share.bytes,
        first: share.first,
        end: share.end,
        position: share.position(),
        middle: share.middle,
    }
}
