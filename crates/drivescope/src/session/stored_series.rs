//! The series of a run in progress as they are stored so far, opened only when the experiment reads them.

use crate::store::{RunWriter, StoredSeries};
use model::record::{ErrorRecord, IntervalRecord, IoRecord, TelemetryRecord};
use model::run::Series;
use std::cell::OnceCell;

pub struct LazySeries<'run> {
    writer: &'run RunWriter,
    opened: OnceCell<Option<StoredSeries>>,
}

type Records<'series, Record> = Box<dyn Iterator<Item = Record> + 'series>;

impl LazySeries<'_> {
    pub fn new(writer: &RunWriter) -> LazySeries<'_> {
        LazySeries { writer, opened: OnceCell::new() }
    }

    /// None when the store cannot be read back; the next write then fails and reports why.
    fn get(&self) -> Option<&StoredSeries> {
        self.opened.get_or_init(|| self.writer.series().ok()).as_ref()
    }
}

impl Series for LazySeries<'_> {
    fn intervals(&self, phase: u32) -> Records<'_, IntervalRecord> {
        match self.get() {
            Some(series) => Box::new(series.intervals(phase)),
            None => Box::new(std::iter::empty()),
        }
    }

    fn errors(&self, phase: u32) -> Records<'_, ErrorRecord> {
        match self.get() {
            Some(series) => Box::new(series.errors(phase)),
            None => Box::new(std::iter::empty()),
        }
    }

    fn ios(&self, phase: u32) -> Records<'_, IoRecord> {
        match self.get() {
            Some(series) => Box::new(series.ios(phase)),
            None => Box::new(std::iter::empty()),
        }
    }

    fn telemetry(&self) -> Records<'_, TelemetryRecord> {
        match self.get() {
            Some(series) => Box::new(series.telemetry()),
            None => Box::new(std::iter::empty()),
        }
    }
}
