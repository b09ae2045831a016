//! Partition plans as JSON, schema `drivescope.plan/1`: bytes, bytes per second, and the script for sfdisk.

use crate::terminal::{PartitionPage, partition_script};
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.plan/1")]
pub struct PlanDocument<'page> {
    #[serde(flatten)]
    page: &'page PartitionPage,
    sfdisk: Option<String>,
}

pub fn partition_document(page: &PartitionPage) -> PlanDocument<'_> {
    let sfdisk = if page.has_script { Some(partition_script(page)) } else { None };
    PlanDocument { page, sfdisk }
}
