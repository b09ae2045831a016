//! `drivescope sim list`.

use crate::cli::args::SimListArguments;
use crate::cli::output;
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use report::style::paragraph;
use report::terminal::{VirtualDriveRow, virtual_drives_table};
use sim::generator::{Family, random_name};
use sim::profile::{Medium, Profile, preset_names};
use sim::volume::VolumeKind;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is nowhere to print to.
pub fn run(arguments: &SimListArguments) -> Result<u8, UserError> {
    let rows: Result<Vec<VirtualDriveRow>, UserError> = preset_names().map(row).collect();
    let style = output::page_style(arguments.plain);
    let drawn = Family::ALL.map(|family| random_name(family, 17)).join(", ");
    let hint = format!("Drives drawn at random, one for every number, open in the same way: {drawn}.");
    let hint = paragraph("", &hint, style.columns()).join("\n");
    output::print(&format!("{}{hint}\n", virtual_drives_table(&rows?, style)))?;
    Ok(exit::SUCCESS)
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

/// What kind of drive it is, in a word or two.
pub(super) fn kind(profile: &Profile) -> String {
    match profile.medium() {
        Ok(Medium::Disk(_)) => "hard disk".into(),
        Ok(Medium::Shingled(..)) => "SMR disk".into(),
        Ok(Medium::Flash(_)) => "flash".into(),
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
