//! A choice as JSON, schema `drivescope.choice/1`: seconds.

use crate::terminal::{AnsweredQuestion, ChoicePage, Told, WeighedDrive};
use model::estimate::Estimate;
use serde::Serialize;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.choice/1")]
pub struct ChoiceDocument<'page> {
    asked: &'page [AnsweredQuestion],
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<AnsweredQuestion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<KindDocument<'page>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<&'page str>,
    drives: Vec<DriveDocument<'page>>,
    notes: &'page [&'static str],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct KindDocument<'page> {
    kind: &'static str,
    use_it: &'page str,
    reason: &'page str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DriveDocument<'page> {
    name: &'page str,
    kind: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown: Option<&'page str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    day_s: Option<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_burst_s: Option<Estimate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    falls: Option<bool>,
    advice: &'page [String],
}

pub fn choice_document(page: &ChoicePage) -> ChoiceDocument<'_> {
    ChoiceDocument {
        asked: &page.asked,
        open: page.open,
        choice: page.choice.as_ref().map(|(kind, _, way, reason)| KindDocument { kind, use_it: way, reason }),
        writes: page.day.as_deref(),
        drives: page.drives.iter().map(drive).collect(),
        notes: &page.notes,
    }
}

fn drive(drive: &WeighedDrive) -> DriveDocument<'_> {
    let (mut unknown, mut day_s, mut longest_burst_s, mut falls) = (None, None, None, None);
    match &drive.outcome {
        Told::Unknown(why) => unknown = Some(why.as_str()),
        Told::Known((day, burst, has_fallen)) => {
            (day_s, longest_burst_s) = (Some(*day), Some(*burst));
            falls = Some(*has_fallen);
        }
    }
    let (name, kind) = (drive.name.as_str(), drive.kind.as_deref());
    DriveDocument { name, kind, unknown, day_s, longest_burst_s, falls, advice: &drive.advice }
}
