//! `drivescope list`.

use super::args::PageArguments;
use super::output;
use crate::configuration;
use crate::drive_row;
use crate::error::{UserError, exit};
use io::targets::Excluded;
use io::targets::listing::{DriveListing, PartitionListing, drives};
use model::target::TargetFacts;
use model::units::Bytes;
use serde::Serialize;

/// Schema `drivescope.list/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.list/1")]
pub(super) struct ListDocument<'list> {
    drives: Vec<DriveDocument<'list>>,
}

/// A drive with the keys of the target of a run, and what may be done with it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DriveDocument<'list> {
    #[serde(flatten)]
    facts: &'list TargetFacts,
    reads_refused: Option<&'list str>,
    /// After a confirmation, and with `--destroy-data` where it holds data.
    may_be_written: bool,
    writes_refused: Vec<String>,
    /// File and line of the list that excludes it from writes, whatever is confirmed.
    never_written_by: Option<&'list str>,
    used_by: Vec<&'list str>,
    partitions: Vec<PartitionDocument<'list>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PartitionDocument<'list> {
    path: &'list str,
    first_byte: u64,
    bytes: Bytes,
    content: &'list [String],
    used_by: &'list [String],
}

impl<'list> DriveDocument<'list> {
    fn of(drive: &'list DriveListing) -> DriveDocument<'list> {
        DriveDocument {
            facts: &drive.facts,
            reads_refused: drive.read_refusal.as_deref(),
            may_be_written: drive.may_be_written(),
            writes_refused: writes_refused(drive),
            never_written_by: drive.excluded.as_ref().map(Excluded::origin),
            used_by: drive.used_by().collect(),
            partitions: drive.partitions.iter().map(PartitionDocument::of).collect(),
        }
    }
}

impl<'list> PartitionDocument<'list> {
    fn of(partition: &'list PartitionListing) -> PartitionDocument<'list> {
        PartitionDocument {
            path: &partition.path,
            first_byte: partition.start,
            bytes: partition.size,
            content: &partition.content,
            used_by: &partition.used_by,
        }
    }
}

fn writes_refused(drive: &DriveListing) -> Vec<String> {
    let mut reasons = Vec::from_iter(drive.excluded.as_ref().map(ToString::to_string));
    for obstacle in &drive.obstacles {
        reasons.push(obstacle.statement.clone());
    }
    reasons
}

pub fn run(arguments: &PageArguments) -> Result<u8, UserError> {
    let drives = drives(&configuration::never_write()?)?;
    let document = ListDocument { drives: drives.iter().map(DriveDocument::of).collect() };
    let rows: Vec<_> = drives.iter().map(drive_row::of).collect();
    let page = |style| {
        if rows.is_empty() {
            return "No drives found. A container may hide them; a folder can still be measured: drivescope check .\n"
                .into();
        }
        report::terminal::drives_table(&rows, style)
    };
    output::give_page(page, &document, arguments)?;
    Ok(exit::SUCCESS)
}
