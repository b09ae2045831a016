//! `drivescope sim show`.

use super::list::kind;
use crate::cli::args::SimShowArguments;
use crate::cli::output;
use crate::error::{Cannot, UserError, exit};
use crate::virtual_drive::{VirtualDrive, find};
use model::units::Bytes;
use report::hostile::harmless;
use report::quantity::{capacity, size};
use serde::Serialize;
use std::fmt::Write;

pub fn run(arguments: &SimShowArguments) -> Result<u8, UserError> {
    let drive = find(&arguments.name)?;
    let document = document(&drive)?;
    output::give_text(&page(&drive)?, &document, arguments.json.as_deref())?;
    Ok(exit::SUCCESS)
}

/// Schema `drivescope.profile/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.profile/1")]
pub(in crate::cli) struct ProfileDocument {
    path: String,
    kind: String,
    capacity_bytes: Bytes,
    interface: Option<String>,
    /// As it is in its file, with the keys of docs/reference/profiles.md.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    profile: toml::Table,
}

fn document(drive: &VirtualDrive) -> Result<ProfileDocument, UserError> {
    let facts = drive.open(0)?.facts().clone();
    Ok(ProfileDocument {
        path: drive.path.clone(),
        kind: kind(&drive.profile),
        capacity_bytes: facts.capacity,
        interface: facts.link.map(|link| link.name),
        profile: drive.text.parse().or_cannot(&format!("read the profile {}", drive.path))?,
    })
}

/// Comments of a profile may contain control characters past ASCII, which some terminals obey.
fn visible(letter: char) -> char {
    if letter.is_control() && !letter.is_ascii() { char::REPLACEMENT_CHARACTER } else { letter }
}

/// Facts as comments, then the profile: the page is itself a valid profile.
fn page(drive: &VirtualDrive) -> Result<String, UserError> {
    let facts = drive.open(0)?.facts().clone();
    let link = facts.link.map_or("no link modelled".into(), |link| link.name);
    let mut page = String::new();
    let name = &drive.profile.name;
    let path = harmless(&drive.path, usize::MAX);
    let typed = path.trim_start_matches("sim:");
    let _ = writeln!(
        page,
        "# {name}: {}, {} ({})",
        kind(&drive.profile),
        capacity(facts.capacity),
        size(facts.capacity)
    );
    let _ = writeln!(page, "# connected by:  {link}");
    let _ = writeln!(page, "# measure it:    drivescope check {path}");
    let _ = writeln!(page, "# its truth:     drivescope sim truth {typed}");
    let _ = writeln!(page, "# change a copy: drivescope sim new mine.toml --from {typed}\n");
    page.extend(drive.text.chars().map(visible));
    Ok(page)
}
