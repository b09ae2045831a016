//! Partition plans as JSON, schema `drivescope.plan/1`: bytes, bytes per second, and the script for sfdisk.

use super::document::text_of;
use crate::terminal::{PartitionPage, PlannedCut, partition_script};
use model::estimate::Estimate;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.plan/1")]
pub(super) struct PlanDocument<'page> {
    drive: &'page str,
    run: &'page str,
    capacity_bytes: u64,
    logical_block_bytes: u64,
    wish: &'page str,
    basis: &'page [String],
    warnings: &'page [String],
    partitions: Vec<PartitionDocument<'page>>,
    cuts: &'page [PlannedCut],
    sfdisk: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PartitionDocument<'page> {
    name: &'page str,
    first_byte: u64,
    bytes: u64,
    bytes_per_second: Estimate,
    fastest_bytes_per_second: Estimate,
    slowest_bytes_per_second: Estimate,
}

pub fn partition_document(page: &PartitionPage) -> String {
    let mut partitions = Vec::new();
    for partition in &page.partitions {
        partitions.push(PartitionDocument {
            name: &partition.name,
            first_byte: partition.range.first().get(),
            bytes: partition.range.bytes().get(),
            bytes_per_second: partition.mean,
            fastest_bytes_per_second: partition.fastest,
            slowest_bytes_per_second: partition.slowest,
        });
    }
    text_of(&PlanDocument {
        drive: &page.drive,
        run: &page.run,
        capacity_bytes: page.capacity.get(),
        logical_block_bytes: page.logical_block.get(),
        wish: &page.wish,
        basis: &page.basis,
        warnings: &page.warnings,
        partitions,
        cuts: &page.cuts,
        sfdisk: if page.has_script { Some(partition_script(page)) } else { None },
    })
}
