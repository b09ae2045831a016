//! What the sessions of requests and of files note in a run.

use crate::error::UserError;
use crate::event::{Event, EventSink};
use model::plan::StopReason;
use model::run::{Run, RunStatus};

pub fn status_of(outcome: &Result<Option<StopReason>, UserError>) -> RunStatus {
    match outcome {
        Ok(None) => RunStatus::Complete,
        Ok(Some(StopReason::Interrupted)) => RunStatus::Interrupted,
        Ok(Some(_)) | Err(_) => RunStatus::Failed,
    }
}

pub fn warn(run: &mut Run, events: &mut dyn EventSink, warning: String) {
    events.event(&Event::Warning(&warning));
    run.environment.warnings.push(warning);
}
