//! What the options of `import` mean.

use super::super::args::{DriveKindArgument, ImportArguments, OperationArgument, TellingArguments};
use super::{list, option, quoted};
use crate::error::UserError;
use crate::imported_run::Telling;
use crate::target_choice::parse_range;
use import::Format;
use model::quantity_text::parse_size;
use model::request::Operation;

/// What is imported, and what is said of it.
pub struct ImportWish {
    /// The format, if it was said.
    pub format: Option<Format>,
    /// What was done, if it was said.
    pub operation: Option<Operation>,
    /// What the files do not tell.
    pub telling: Telling,
    /// The command that does it again.
    pub command: String,
}

/// Reads the options of `import`.
///
/// # Errors
/// When one is none of those there are.
pub fn import(arguments: &ImportArguments) -> Result<ImportWish, UserError> {
    let typed = &arguments.telling;
    let capacity = option("--capacity", typed.capacity.as_deref(), |text| Ok(parse_size(text)?))?;
    let telling = Telling {
        model: typed.model.clone(),
        capacity: capacity.filter(|capacity| capacity.0 > 0),
        positions: list("--position", &typed.position, parse_range)?,
        partitions: typed.partitions,
        turns: typed.kind.map(|kind| kind == DriveKindArgument::Disk),
    };
    let operation = typed.operation.map(|operation| match operation {
        OperationArgument::Read => Operation::Read,
        OperationArgument::Write => Operation::Write,
    });
    let format = option("--as", typed.format.as_deref(), format)?;
    Ok(ImportWish { format, operation, telling, command: command(arguments) })
}

fn format(name: &str) -> Result<Format, UserError> {
    let known = || Format::ALL.map(Format::name).join(", ");
    Format::from_name(name).ok_or_else(|| UserError::usage(format!("`{name}` is none of {}", known())))
}

/// The words that do it again.
fn command(arguments: &ImportArguments) -> String {
    let TellingArguments { format, model, capacity, position, partitions, kind, operation } =
        &arguments.telling;
    let mut words = vec!["drivescope".to_string(), "import".into()];
    words.extend(arguments.files.iter().map(|file| quoted(&file.to_string_lossy())));
    let kind = kind.map(|kind| if kind == DriveKindArgument::Disk { "disk" } else { "flash" }.to_string());
    let operation = operation
        .map(|operation| if operation == OperationArgument::Read { "read" } else { "write" }.to_string());
    let single = [
        ("--as", format),
        ("--model", model),
        ("--capacity", capacity),
        ("--kind", &kind),
        ("--operation", &operation),
    ];
    for (name, value) in single {
        words.extend(value.iter().flat_map(|value| [name.to_string(), quoted(value)]));
    }
    words.extend(position.iter().flat_map(|value| ["--position".to_string(), quoted(value)]));
    words.extend(partitions.then(|| "--partitions".to_string()));
    words.join(" ")
}
