//! What a run notes of its drive: names, and the counters of all writes.

use crate::stamp;
use crate::store::{DriveNote, DriveSnapshot, Snapshot};
use io::targets::written::{DriveCount, LastingNames, WriteCounts};

pub fn begun(names: &LastingNames) -> DriveNote {
    let before = snapshot(&names.counts(), stamp::now());
    DriveNote::begin(
        names.target.clone(),
        names.drives.clone(),
        names.through.clone(),
        names.may_change,
        before,
    )
}

pub fn snapshot(counts: &WriteCounts, at: String) -> Snapshot {
    let drives = counts.drives.iter().map(drive_snapshot).collect();
    Snapshot { at, start_of_machine: counts.start_of_machine.clone(), drives }
}

fn drive_snapshot(count: &DriveCount) -> DriveSnapshot {
    DriveSnapshot {
        drive: count.drive.clone(),
        since_start_bytes: count.since_start_bytes,
        in_life_bytes: count.in_life.map(|life| life.bytes),
        in_life_source: count.in_life.map(|life| life.source.into()),
        in_life_step_bytes: count.in_life.map(|life| life.step_bytes),
    }
}
