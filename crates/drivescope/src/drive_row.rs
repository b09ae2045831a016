//! A drive of the machine as a row of `drivescope list`.

use io::target::listing::{DriveListing, PartitionListing};
use io::target::usage::{Obstacle, ObstacleKind};
use model::target::{Caveat, TargetFacts};
use report::terminal::{DriveRow, PartitionRow};

/// The row of a drive.
pub fn of(drive: DriveListing) -> DriveRow {
    let used_by = drive.used_by().map(String::from).collect();
    let DriveListing { facts, partitions, read_refusal, obstacles, .. } = drive;
    DriveRow {
        kind: kind(&facts),
        identity: identity(&facts),
        link: facts.link.as_ref().map(|link| link.name.clone()),
        path: facts.path,
        model: facts.model,
        capacity: Some(facts.capacity),
        used_by,
        partitions: partitions.into_iter().map(partition).collect(),
        writes_refused: obstacles.iter().map(refusal).collect(),
        reads_refused: read_refusal,
    }
}

/// Serial number, firmware and block sizes, as far as they are told.
fn identity(facts: &TargetFacts) -> Vec<String> {
    let named = |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name} {text}"));
    let (logical, physical) = (facts.logical_block.0, facts.physical_block.0);
    let blocks = if physical == logical {
        format!("blocks of {logical} bytes")
    } else {
        format!("blocks of {logical} bytes, {physical} physically")
    };
    let words = [named("serial number", &facts.serial), named("firmware", &facts.firmware), Some(blocks)];
    words.into_iter().flatten().collect()
}

fn partition(partition: PartitionListing) -> PartitionRow {
    let content = (!partition.content.is_empty()).then(|| partition.content.join(", "));
    PartitionRow { path: partition.path, size: partition.size, content, used_by: partition.used_by }
}

/// Why an obstacle stands in the way of writes; what holds data could be overwritten on demand.
fn refusal(obstacle: &Obstacle) -> String {
    match obstacle.kind {
        ObstacleKind::Content => format!("{} (--destroy-data would overwrite it)", obstacle.statement),
        _ => obstacle.statement.clone(),
    }
}

fn kind(facts: &TargetFacts) -> String {
    let is_zoned = facts.zoned.as_deref().is_some_and(|model| model != "none");
    if is_zoned { format!("zoned {}", technology(facts)) } else { technology(facts).into() }
}

fn technology(facts: &TargetFacts) -> &'static str {
    let has = |caveat| facts.caveats.contains(&caveat);
    match facts.rotational {
        _ if has(Caveat::LoopOverFile) => "loop",
        _ if has(Caveat::InMemory) => "memory",
        _ if has(Caveat::VirtualDisk) => "virtual disk",
        Some(true) => "hard disk",
        Some(false) => "flash",
        None => "drive",
    }
}
