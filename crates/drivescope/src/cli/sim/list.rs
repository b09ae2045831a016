//! `drivescope sim list`.

use crate::cli::args::PageArguments;
use crate::cli::output;
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use report::style::{Style, paragraph};
use report::terminal::{VirtualDriveRow, virtual_drives_table};
use serde::Serialize;
use sim::generator::{Family, random_name};
use sim::profile::{Medium, Profile, preset_names};
use sim::volume::VolumeKind;

/// Schema `drivescope.sim-list/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.sim-list/1")]
pub(in crate::cli) struct SimListDocument<'list> {
    drives: &'list [VirtualDriveRow],
}

pub fn run(arguments: &PageArguments) -> Result<u8, UserError> {
    let rows: Vec<VirtualDriveRow> = preset_names().map(row).collect::<Result<_, UserError>>()?;
    let document = SimListDocument { drives: &rows };
    output::give_page(|style| page(&rows, style), &document, arguments)?;
    Ok(exit::SUCCESS)
}

fn page(rows: &[VirtualDriveRow], style: Style) -> String {
    let drawn = Family::ALL.map(|family| random_name(family, 17)).join(", ");
    let hint = format!("Random drives, one for each number: {drawn}.");
    let hint = paragraph("", &hint, style.columns()).join("\n");
    format!("{}{hint}\n", virtual_drives_table(rows, style))
}

fn row(name: &str) -> Result<VirtualDriveRow, UserError> {
    let drive = find(name)?;
    let facts = drive.open(0)?.facts().clone();
    Ok(VirtualDriveRow {
        name: name.to_string(),
        kind: kind(&drive.profile),
        capacity: facts.capacity,
        link: facts.link.map(|link| link.name),
        description: drive.profile.description,
    })
}

pub(super) fn kind(profile: &Profile) -> String {
    match profile.medium() {
        Ok(Medium::Disk(_)) => "hard disk".into(),
        Ok(Medium::Shingled(..)) => "SMR disk".into(),
        Ok(Medium::Flash(_)) => "flash".into(),
        Ok(Medium::Constant(_)) if profile.limit.is_some() => "cloud volume".into(),
        Ok(Medium::Constant(_)) => "constant".into(),
        Ok(Medium::Zoned(_)) => "rates only".into(),
        Ok(Medium::Volume(volume)) => {
            let count: u32 = volume.members.iter().map(|member| member.count).sum();
            match volume.kind {
                VolumeKind::Stripe => format!("stripe × {count}"),
                VolumeKind::Mirror => format!("mirror × {count}"),
                VolumeKind::Concatenation => format!("joined × {count}"),
            }
        }
        Err(flaw) => flaw.to_string(),
    }
}
