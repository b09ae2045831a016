//! What the options of `import` mean.

use super::super::args::{DriveKindArgument, ImportArguments, OperationArgument};
use super::{list, option, size};
use crate::error::UserError;
use crate::imported_run::Telling;
use import::Format;
use model::range_choice::RangeChoice;
use model::request::Operation;
use model::units::Bytes;
use report::shell_words::quoted;

pub struct ImportWish {
    pub format: Option<Format>,
    pub operation: Option<Operation>,
    pub telling: Telling,
    pub command: String,
}

pub fn import(arguments: &ImportArguments) -> Result<ImportWish, UserError> {
    let typed = &arguments.telling;
    let mut capacity = option("--capacity", typed.capacity.as_deref(), size)?;
    if capacity == Some(Bytes::ZERO) {
        capacity = None;
    }
    let telling = Telling {
        model: typed.model.clone(),
        capacity,
        positions: list("--position", &typed.position, position)?,
        partitions: typed.partitions,
        turns: typed.kind.map(|kind| kind == DriveKindArgument::Disk),
    };
    let operation = match typed.operation {
        Some(OperationArgument::Read) => Some(Operation::Read),
        Some(OperationArgument::Write) => Some(Operation::Write),
        None => None,
    };
    let format = option("--as", typed.format.as_deref(), format)?;
    Ok(ImportWish { format, operation, telling, command: command(arguments) })
}

fn position(text: &str) -> Result<RangeChoice, UserError> {
    Ok(text.parse()?)
}

fn format(name: &str) -> Result<Format, UserError> {
    match Format::from_name(name) {
        Some(format) => Ok(format),
        None => {
            let known = Format::ALL.map(Format::name).join(", ");
            Err(UserError::usage(format!("`{name}` is none of {known}")))
        }
    }
}

fn command(arguments: &ImportArguments) -> String {
    let typed = &arguments.telling;
    let mut words = vec!["drivescope".to_string(), "import".into()];
    for file in &arguments.files {
        words.push(quoted(&file.to_string_lossy()));
    }
    let kind = match typed.kind {
        Some(DriveKindArgument::Disk) => Some("disk"),
        Some(DriveKindArgument::Flash) => Some("flash"),
        None => None,
    };
    let operation = match typed.operation {
        Some(OperationArgument::Read) => Some("read"),
        Some(OperationArgument::Write) => Some("write"),
        None => None,
    };
    let mut options = vec![
        ("--as", typed.format.as_deref()),
        ("--model", typed.model.as_deref()),
        ("--capacity", typed.capacity.as_deref()),
        ("--kind", kind),
        ("--operation", operation),
    ];
    for position in &typed.position {
        options.push(("--position", Some(position)));
    }
    for (name, value) in options {
        if let Some(value) = value {
            words.extend([name.to_string(), quoted(value)]);
        }
    }
    if typed.partitions {
        words.push("--partitions".into());
    }
    words.join(" ")
}
