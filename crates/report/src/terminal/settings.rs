//! Options that are set ahead, and drives that are never written: the page of `drivescope config`.

use super::section::page;
use super::tables::Table;
use crate::style::{Style, Tone, paragraph};
use serde::Serialize;

#[derive(Clone, Debug, PartialEq)]
pub struct SettingsPage {
    pub files: Vec<(String, bool)>,
    pub rows: Vec<SettingRow>,
    pub never_write: Vec<ExclusionRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SettingRow {
    pub option: String,
    /// None where the default depends on the drive or on other options.
    pub value: Option<String>,
    pub from: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ExclusionDocument"))]
pub struct ExclusionRow {
    pub drives: String,
    pub origin: String,
}

pub fn settings_page(settings: &SettingsPage, style: Style) -> String {
    let mut files = vec![style.paint(Tone::Heading, "Files, the strongest last")];
    for (path, exists) in &settings.files {
        let absent = if *exists { "" } else { " (absent)" };
        files.push(format!("  {}{absent}", style.name(path)));
    }
    let mut table = Table::new(&["option", "value", "from"], 3, style);
    for row in &settings.rows {
        let value = row.value.as_deref().unwrap_or("-");
        table.row(vec![style.name(&row.option), style.name(value), style.name(&row.from)], Vec::new());
    }
    let mut never = vec![style.paint(Tone::Heading, "Drives that are never written")];
    for row in &settings.never_write {
        let text = format!("{}, by {}", style.name(&row.drives), style.name(&row.origin));
        never.extend(paragraph("  ", &text, style.columns()));
    }
    if settings.never_write.is_empty() {
        never.push("  none".into());
    }
    page([files, table.lines(), never])
}
