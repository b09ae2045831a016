//! Partition plans as JSON, schema `drivescope.plan/1`: bytes, bytes per second, and the script for sfdisk.

use super::estimate::NumberDocument;
use crate::partition_script::script;
use crate::terminal::PartitionPage;
use serde::Serialize;

#[derive(Serialize)]
struct PlanDocument<'page> {
    schema: &'static str,
    drive: &'page str,
    run: &'page str,
    capacity_bytes: u64,
    logical_block_bytes: u64,
    wish: &'page str,
    basis: &'page [String],
    warnings: &'page [String],
    partitions: Vec<PartitionDocument<'page>>,
    cuts: Vec<CutDocument>,
    /// Null where there is nothing to do.
    sfdisk: Option<String>,
}

#[derive(Serialize)]
struct PartitionDocument<'page> {
    name: &'page str,
    first_byte: u64,
    bytes: u64,
    bytes_per_second: NumberDocument,
    fastest_bytes_per_second: NumberDocument,
    slowest_bytes_per_second: NumberDocument,
}

#[derive(Serialize)]
struct CutDocument {
    at_byte: u64,
    asked_byte: u64,
    zone_border: bool,
}

/// The document, with a line end.
pub fn partition_document(page: &PartitionPage) -> String {
    let partitions = page.partitions.iter().map(|partition| PartitionDocument {
        name: &partition.name,
        first_byte: partition.range.first().0,
        bytes: partition.range.bytes().0,
        bytes_per_second: NumberDocument::of(&partition.mean),
        fastest_bytes_per_second: NumberDocument::of(&partition.fastest),
        slowest_bytes_per_second: NumberDocument::of(&partition.slowest),
    });
    let cuts = page.cuts.iter().map(|cut| CutDocument {
        at_byte: cut.at.0,
        asked_byte: cut.asked.0,
        zone_border: cut.is_zone_border,
    });
    let document = PlanDocument {
        schema: "drivescope.plan/1",
        drive: &page.drive,
        run: &page.run,
        capacity_bytes: page.capacity.0,
        logical_block_bytes: page.logical_block.0,
        wish: &page.wish,
        basis: &page.basis,
        warnings: &page.warnings,
        partitions: partitions.collect(),
        cuts: cuts.collect(),
        sfdisk: page.has_script.then(|| script(page)),
    };
    serde_json::to_string_pretty(&document).expect("numbers, words and lists have a form in JSON") + "\n"
}
