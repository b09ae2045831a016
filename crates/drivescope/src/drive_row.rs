//! A drive of the machine as a row of `drivescope list`.

use io::targets::listing::{DriveListing, PartitionListing};
use io::targets::{Obstacle, ObstacleKind};
use model::target::{Caveat, TargetFacts};
use report::terminal::{DriveRow, PartitionRow};

pub fn of(drive: &DriveListing) -> DriveRow {
    let used_by = drive.used_by().map(String::from).collect();
    let DriveListing { facts, partitions, read_refusal, obstacles, excluded, .. } = drive;
    let mut writes_refused = Vec::from_iter(excluded.as_ref().map(ToString::to_string));
    writes_refused.extend(obstacles.iter().map(refusal));
    DriveRow {
        kind: kind(facts),
        identity: identity(facts),
        link: facts.link.as_ref().map(|link| link.name.clone()),
        path: facts.path.clone(),
        model: facts.model.clone(),
        capacity: Some(facts.capacity),
        used_by,
        partitions: partitions.iter().map(partition).collect(),
        writes_refused,
        is_never_written: excluded.is_some(),
        reads_refused: read_refusal.clone(),
    }
}

fn identity(facts: &TargetFacts) -> Vec<String> {
    let mut words = Vec::new();
    for (name, text) in [("serial number", &facts.serial), ("firmware", &facts.firmware)] {
        if let Some(text) = text {
            words.push(format!("{name} {text}"));
        }
    }
    let (logical, physical) = (facts.logical_block.get(), facts.physical_block.get());
    words.push(match physical == logical {
        true => format!("blocks of {logical} bytes"),
        false => format!("blocks of {logical} bytes, {physical} physically"),
    });
    words
}

fn partition(partition: &PartitionListing) -> PartitionRow {
    let content = if partition.content.is_empty() { None } else { Some(partition.content.join(", ")) };
    let PartitionListing { path, size, used_by, .. } = partition.clone();
    PartitionRow { path, size, content, used_by }
}

fn refusal(obstacle: &Obstacle) -> String {
    match obstacle.kind {
        ObstacleKind::Content => format!("{} (--destroy-data would overwrite it)", obstacle.statement),
        _ => obstacle.statement.clone(),
    }
}

fn kind(facts: &TargetFacts) -> String {
    match facts.zoned.as_deref() {
        None | Some("none") => technology(facts).into(),
        Some(_) => format!("zoned {}", technology(facts)),
    }
}

fn technology(facts: &TargetFacts) -> &'static str {
    let names =
        [(Caveat::LoopOverFile, "loop"), (Caveat::InMemory, "memory"), (Caveat::VirtualDisk, "virtual disk")];
    if let Some((_, name)) = names.into_iter().find(|(caveat, _)| facts.caveats.contains(caveat)) {
        return name;
    }
    match facts.rotational {
        Some(true) => "hard disk",
        Some(false) => "flash",
        None => "drive",
    }
}
