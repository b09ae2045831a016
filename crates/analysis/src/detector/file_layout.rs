//! Where a file lies.
//!
//! # What it finds
//! In how many pieces the file system keeps a large file, how many of these do not follow each other, on which disk they lie and where on it.
//! # Why it matters
//! A rate is that of a place: on a hard disk the start is faster than the end, and a file in pieces is read with seeks. Whoever compares file
//! systems or folders has to know whether the files were contiguous, on one disk, and at like places.
//! # How
//! After it was written and flushed, the file system is asked for the file's extents. Their places are followed through partitions and
//! straight parts of volumes to a disk. A loop device counts as a disk.
//! # Cannot tell when
//! The file system does not tell (many network file systems, FUSE, tmpfs). On btrfs the number of pieces is told and their place on a disk is not.
//! # Known problems
//! What a drive shows as neighbouring need not be: SMR and flash map places anew.
//! # References
//! Linux, Documentation/filesystems/fiemap.

use super::trust::is_lent;
use super::wording::{number, size};
use super::{Detector, Need};
use crate::file_work::{folders, layout_of};
use crate::measured::evidence_of_phases;
use model::estimate::Estimate;
use model::file_work::{DiskShare, FileLayout};
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct FileLayoutDetector;

impl Detector for FileLayoutDetector {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::FileLayout]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Files]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let folders = folders(run.phases);
        let of_folder = |folder: &&str| {
            let (phase, layout) = layout_of(run.phases, folder)?;
            let place = if folders.len() > 1 { format!("In {folder}: ") } else { String::new() };
            Some(match layout {
                Err(why) => Finding::unknown(FindingCode::FileLayout, format!("{place}{why}.")),
                Ok(layout) => found(run, folder, phase, layout, &place),
            })
        };
        folders.iter().filter_map(of_folder).collect()
    }
}

fn found(run: &RunView<'_>, folder: &str, phase: u32, layout: &FileLayout, place: &str) -> Finding {
    let statement = place.to_string() + &statement(run, layout);
    let evidence = evidence_of_phases(run, &[phase]);
    let count = Estimate::exact(layout.fragments as f64);
    Finding::number(FindingCode::FileLayout, count, "count", statement, evidence)
        .with_data("folder", Datum::Text(folder.into()))
        .with_data("extents", Datum::Integer(layout.extents))
        .with_data("fragments", Datum::Integer(layout.fragments))
        .with_data("is_contiguous", Datum::Flag(layout.fragments <= 1))
        .with_data("disks", Datum::List(layout.disks.iter().map(row).collect()))
}

fn statement(run: &RunView<'_>, layout: &FileLayout) -> String {
    let pieces = match layout.fragments {
        0 | 1 => "The file is contiguous".to_string(),
        pieces => format!("The file lies in {pieces} pieces"),
    };
    match (layout.disks.as_slice(), &layout.unplaced) {
        ([], Some(why)) => format!("{pieces}. Where on a disk is unknown: {why}."),
        ([], None) => format!("{pieces}."),
        ([share], None) => {
            let turns = run.target.rotational == Some(true) && !is_lent(run.target);
            let edge = match (turns, share.position()) {
                (true, position) if position < 0.1 => ", near the outer edge",
                (true, position) if position > 0.9 => ", near the inner edge",
                _ => "",
            };
            format!(
                "{pieces}, {} into {} of {}: at {} % of it{edge}.",
                size(share.middle as u64),
                share.disk,
                size(share.disk_bytes),
                number(100.0 * share.position())
            )
        }
        (shares, unplaced) => {
            let disks: Vec<String> = shares
                .iter()
                .map(|share| {
                    format!(
                        "{} on {} at {} %",
                        size(share.bytes),
                        share.disk,
                        number(100.0 * share.position())
                    )
                })
                .collect();
            let rest = unplaced.as_ref().map_or_else(String::new, |why| format!(" Of the rest: {why}."));
            format!("{pieces}, over {} disks: {}.{rest}", shares.len(), disks.join(", "))
        }
    }
}

fn row(share: &DiskShare) -> Datum {
    Datum::record([
        ("disk", Datum::Text(share.disk.clone())),
        ("disk_bytes", Datum::Integer(share.disk_bytes)),
        ("bytes", Datum::Integer(share.bytes)),
        ("first", Datum::Integer(share.first)),
        ("end", Datum::Integer(share.end)),
        ("position", Datum::Number(share.position())),
    ])
}
