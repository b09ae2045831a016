//! What a target says of itself that speaks for shingled tracks.

use crate::datasheet::{self, Datasheet, Recording};
use model::finding::RecordingReason;
use model::target::TargetFacts;

pub fn signs_of_shingles(target: &TargetFacts) -> Vec<RecordingReason> {
    let mut signs = Vec::new();
    if target.is_lent() {
        return signs;
    }
    if let Some(zoned) = target.zoned.as_deref()
        && zoned != "none"
    {
        signs.push(RecordingReason::SaysZoned);
    }
    if target.rotational == Some(true) && matches!(target.discard_max, Some(most) if !most.is_zero()) {
        signs.push(RecordingReason::SaysTrim);
    }
    if let Some(sheet) = sheet(target)
        && sheet.recording == Recording::Shingled
    {
        signs.push(RecordingReason::DataSheet);
    }
    signs
}

pub(crate) fn sheet(target: &TargetFacts) -> Option<&'static Datasheet> {
    datasheet::find(target.model.as_deref()?)
}
