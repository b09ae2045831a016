//! Runs in the forms that other programs read. An export is one file here and one row of [`EXPORTS`]: the command line, its
//! help and the check of `docs/reference/exports.md` follow from that row.

mod bonnie;
mod csv;
mod fio;
mod hgrm;
mod influx;
mod job;
mod json;
mod markdown;
mod openmetrics;
mod tables;

pub use job::{Export, ExportFile, ExportJob, Goal};
pub use json::document;

use std::path::Path;

pub const EXPORTS: &[Export] = &[
    json::JSON,
    tables::CSV,
    tables::PARQUET,
    bonnie::BONNIE_1_03,
    bonnie::BONNIE_1_98,
    fio::FIO,
    hgrm::HGRM,
    openmetrics::OPENMETRICS,
    influx::INFLUX,
    markdown::MARKDOWN,
];

impl Export {
    pub fn of_name(name: &str) -> Option<&'static Export> {
        EXPORTS.iter().find(|export| export.name == name)
    }

    pub fn of_path(path: &Path) -> Option<&'static Export> {
        let ending = path.extension()?.to_string_lossy().to_ascii_lowercase();
        EXPORTS.iter().find(|export| export.ending == Some(ending.as_str()))
    }
}
