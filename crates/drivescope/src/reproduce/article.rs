//! The articles, and what came of repeating one.

use super::figure::{Figure, Table};
use model::words;
use report::chart::Chart;
use serde::Serialize;

/// Of all randomness, so that the page is the same each time.
pub const SEED: u64 = 1;

words! {
    pub enum Article {
        /// Outer against inner tracks of a hard disk (2011).
        A = "A",
        /// Speed of random reads against the number of threads (2008).
        B = "B",
        /// Basic performance of a hard disk before the system goes on (2012).
        C = "C",
        /// Are hard disks with shingled tracks and SSDs alike? (2021).
        D = "D",
        /// Valleys in the sequential writes of an Intel X25-M (2009).
        E = "E",
    }
}

/// Schema `drivescope.reproduction/1`. Keys may be added; none is renamed or changes its meaning or unit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.reproduction/1")]
pub struct Reproduction {
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub article: Article,
    pub(super) title: &'static str,
    pub(super) setting: String,
    pub(super) tables: Vec<Table>,
    #[serde(skip)]
    pub(super) pictures: Vec<Chart>,
    pub(super) conclusion: String,
}

impl Reproduction {
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.tables.iter().flat_map(|table| &table.figures)
    }
}
