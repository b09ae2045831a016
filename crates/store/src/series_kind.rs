//! The series of a run: their names, their limits, their columns and the names of their files.

use crate::column::{Column, Tabular};
use model::record::{ErrorRecord, HistogramRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::words;

/// The version of journals and segments that is written, and the newest that is read.
pub(crate) const FORMAT_VERSION: u8 = 1;

words! {
    /// In the order of their numbers in journals; the word is that in file names.
    pub enum SeriesKind {
        Intervals = "intervals",
        Histograms = "histograms",
        Errors = "errors",
        Telemetry = "telemetry",
        Trace = "trace",
    }
}

impl SeriesKind {
    /// Records after which a journal becomes a segment, at two syncs each; a fast trace has 500,000 a second.
    pub(crate) fn segment_records_max(self) -> u64 {
        match self {
            SeriesKind::Trace => 1 << 20,
            SeriesKind::Histograms => 1 << 12,
            SeriesKind::Intervals | SeriesKind::Errors | SeriesKind::Telemetry => 1 << 16,
        }
    }

    /// Rows of a row group: what a reader decodes to get at any of them. A pass asks for its phases in the order of their places, not of time,
    /// so groups of intervals are small: 0.5 MB, as many histograms 15 MB, single I/Os 4 MB.
    pub(crate) fn group_rows_max(self) -> usize {
        match self {
            SeriesKind::Histograms => 1 << 8,
            SeriesKind::Intervals | SeriesKind::Errors | SeriesKind::Telemetry => 1 << 12,
            SeriesKind::Trace => 1 << 16,
        }
    }

    pub fn columns(self) -> &'static [Column] {
        match self {
            SeriesKind::Intervals => IntervalRecord::COLUMNS,
            SeriesKind::Histograms => HistogramRecord::COLUMNS,
            SeriesKind::Errors => ErrorRecord::COLUMNS,
            SeriesKind::Telemetry => TelemetryRecord::COLUMNS,
            SeriesKind::Trace => IoRecord::COLUMNS,
        }
    }

    /// The name of a finished part, such as `intervals-000001.parquet`.
    pub(crate) fn segment_name(self, number: u32) -> String {
        format!("{}-{number:06}.parquet", self.name())
    }

    /// The name of a part being written, such as `intervals-000001.journal`.
    pub(crate) fn journal_name(self, number: u32) -> String {
        format!("{}-{number:06}.journal", self.name())
    }

    pub(crate) fn of_file_name(name: &str) -> Option<(SeriesKind, u32, FileForm)> {
        let (stem, ending) = name.split_once('.')?;
        let form = match ending {
            "parquet" => FileForm::Segment,
            "journal" => FileForm::Journal,
            _ => return None,
        };
        let (word, digits) = stem.split_once('-')?;
        if digits.len() < 6 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        Some((SeriesKind::from_name(word)?, digits.parse().ok()?, form))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileForm {
    Segment,
    Journal,
}
