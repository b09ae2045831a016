//! `drivescope config`: which options are set ahead, and where.

use super::args::PageArguments;
use super::output;
use super::settings::{self, Preset, Source};
use crate::configuration::{self, ConfigurationFile};
use crate::error::{UserError, exit};
use io::targets::Exclusion;
use report::terminal::{ExclusionRow, SettingRow, SettingsPage, settings_page};
use serde::Serialize;
use std::path::Path;

/// Schema `drivescope.config/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.config/1")]
pub(super) struct ConfigDocument<'all> {
    files: Vec<FileDocument<'all>>,
    settings: Vec<SettingDocument<'all>>,
    never_write: &'all [ExclusionRow],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FileDocument<'all> {
    path: &'all Path,
    exists: bool,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SettingDocument<'all> {
    command: Option<&'all str>,
    option: &'all str,
    variable: &'all str,
    value: Option<&'all str>,
    /// Where it was set: `environment`, `file` or `default`.
    source: &'static str,
    file: Option<&'all Path>,
    line: Option<usize>,
}

impl<'all> SettingDocument<'all> {
    fn of(preset: &'all Preset) -> SettingDocument<'all> {
        let (source, setting) = match &preset.source {
            Source::Environment => ("environment", None),
            Source::File(setting) => ("file", Some(setting)),
            Source::Default => ("default", None),
        };
        SettingDocument {
            command: preset.command.as_deref(),
            option: &preset.key,
            variable: &preset.variable,
            value: preset.value.as_deref(),
            source,
            file: setting.map(|setting| setting.file.as_path()),
            line: setting.map(|setting| setting.line),
        }
    }
}

/// # Errors
/// When a file of configuration is damaged.
pub fn run(arguments: &PageArguments) -> Result<u8, UserError> {
    let files = configuration::read()?;
    let mut presets = settings::presets(&files);
    for preset in &mut presets {
        if preset.key == "store" && preset.source == Source::Default {
            preset.value = store::default_folder().ok().map(|folder| folder.display().to_string());
        }
    }
    let page = page(&files, &presets);
    let document = ConfigDocument {
        files: files.iter().map(|file| FileDocument { path: &file.path, exists: file.exists }).collect(),
        settings: presets.iter().map(SettingDocument::of).collect(),
        never_write: &page.never_write,
    };
    output::give_page(|style| settings_page(&page, style), &document, arguments)?;
    Ok(exit::SUCCESS)
}

/// One row for each option; more where it differs between commands because a file says so.
fn page(files: &[ConfigurationFile], presets: &[Preset]) -> SettingsPage {
    let mut rows: Vec<SettingRow> = Vec::new();
    for preset in presets {
        let own = match &preset.source {
            Source::File(setting) => setting.command.clone(),
            _ => None,
        };
        let from = match &preset.source {
            Source::Environment => preset.variable.clone(),
            Source::File(setting) => format!("{}:{}", setting.file.display(), setting.line),
            Source::Default => "default".into(),
        };
        let option = match own {
            Some(command) => format!("[{command}] {}", preset.key),
            None => preset.key.clone(),
        };
        let value = preset.value.clone();
        match rows.iter_mut().find(|row| row.option == option) {
            Some(row) if row.value != value => row.value = Some("by command".into()),
            Some(_) => {}
            None => rows.push(SettingRow { option, value, from }),
        }
    }
    rows.sort_by(|a, b| a.option.cmp(&b.option));
    let mut page = SettingsPage { rows, files: Vec::new(), never_write: Vec::new() };
    for file in files {
        page.files.push((file.path.display().to_string(), file.exists));
        for Exclusion { drives, origin } in &file.never_write {
            page.never_write.push(ExclusionRow { drives: drives.to_string(), origin: origin.clone() });
        }
    }
    page
}
