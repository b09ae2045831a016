//! `drivescope restore`: gives back what a run with `--preserve` had overwritten when it was broken off.
//!
//! It needs the permit, as every write does: nobody may use the drive, and it must be confirmed. `--destroy-data` is not needed,
//! since what it writes is what was there.

use super::args::RestoreArguments;
use super::output;
use crate::error::{UserError, exit};
use crate::interrupt;
use crate::preserve::{self, Unfinished, missing, restore_command};
use io::target::preserve::{Journal, Origin, give_back, written_by_others};
use io::target::{Target, WriteConsent, WritePermit};
use model::units::Bytes;
use report::hostile::harmless;
use std::path::Path;

/// Runs the command; the exit status.
///
/// # Errors
/// When there is nothing to give back, it is not allowed, or not everything got back.
pub fn run(arguments: &RestoreArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let Some(typed) = &arguments.target else { return list(store) };
    let target = Target::open(Path::new(typed))?;
    let mut left = find(arguments, store, &target)?;
    let Ok(journal) = &mut left.journal else { unreachable!("only one that could be opened is found") };
    if journal.parsed().saved.is_empty() && !journal.parsed().is_damaged {
        left.finish()?;
        output::print(&format!(
            "Nothing of {} was overwritten, so there is nothing to give back.\n",
            shown(typed)
        ))?;
        return Ok(exit::SUCCESS);
    }
    // What the run may have left is test data, and what is written is what was there: nothing is destroyed.
    let consent = WriteConsent { destroy_data: true, confirm: arguments.confirm.clone() };
    let permit = WritePermit::grant(&target, &consent)?;
    let mut medium = preserve::medium(&target, &permit)?;
    if !arguments.although_changed {
        check_unchanged(journal, &mut medium, typed)?;
    }
    let given = interrupt::unbroken(|| give_back(journal, &mut medium))?
        .map_err(|error| UserError::failure(error.to_string()))?;
    let damaged = journal.parsed().is_damaged;
    if given.is_complete() && !damaged {
        left.finish()?;
        output::print(&format!(
            "{} are back on {}, and were compared there. The journal is gone.\n",
            Bytes(given.bytes),
            shown(typed)
        ))?;
        return Ok(exit::SUCCESS);
    }
    let why =
        if given.is_complete() { "a part of the journal itself is damaged".into() } else { missing(&given) };
    Err(UserError::failure(format!(
        "NOT ALL DATA ARE BACK: {} are, but {why}. The journal {} is kept; try again: {}",
        Bytes(given.bytes),
        left.path.display(),
        left.journal.as_ref().map(|journal| restore_command(&journal.parsed().origin)).unwrap_or_default()
    )))
}

/// The journal of that target.
fn find(
    arguments: &RestoreArguments,
    store: Option<&Path>,
    target: &Target,
) -> Result<Unfinished, UserError> {
    let names = Origin::names_of(target);
    let path = shown(&target.path().display().to_string());
    if let Some(path) = &arguments.journal {
        let journal = Journal::open(path).map_err(|error| UserError::failure(error.to_string()))?;
        check_same(&journal.parsed().origin, &names)?;
        return Ok(Unfinished {
            path: path.clone(),
            pointer: preserve::pointer_to(store, path)?,
            journal: Ok(journal),
        });
    }
    let (mut related, mut empty) = (None, None);
    for left in preserve::unfinished(store)? {
        match &left.journal {
            Ok(journal) if journal.parsed().origin.is_same(&names) => {
                // One that was left behind before anything was saved says nothing of another.
                if !journal.parsed().saved.is_empty() || journal.parsed().is_damaged {
                    return Ok(left);
                }
                empty = Some(left);
            }
            Ok(journal) if journal.parsed().origin.is_related(&names) => related = Some(left),
            Ok(_) => {}
            Err(error) => output::say(&error.to_string()),
        }
    }
    if let Some(left) = empty {
        return Ok(left);
    }
    if let Some(Ok(journal)) = related.as_ref().map(|left| &left.journal) {
        check_same(&journal.parsed().origin, &names)?;
    }
    Err(UserError::failure(format!(
        "nothing of {path} is kept. What is: drivescope restore; a journal that the store does not know of: --journal FILE"
    )))
}

fn check_same(origin: &Origin, names: &Origin) -> Result<(), UserError> {
    if origin.is_same(names) {
        return Ok(());
    }
    let name = |origin: &Origin| {
        format!("{} ({}, {} bytes)", shown(&origin.path), shown(&origin.confirmation), origin.capacity)
    };
    Err(UserError::failure(format!(
        "will not write: the journal holds data of {}, and this is {}",
        name(origin),
        name(names)
    )))
}

fn check_unchanged(
    journal: &mut Journal,
    medium: &mut io::target::preserve::TargetMedium<'_>,
    typed: &str,
) -> Result<(), UserError> {
    let parsed = journal.parsed().clone();
    let is_tested =
        |first: u64, end: u64| parsed.saved.iter().any(|saved| saved.offset < end && saved.end() > first);
    let elsewhere = parsed.origin.changed(medium, is_tested);
    let inside = written_by_others(journal, medium).map_err(|error| UserError::failure(error.to_string()))?;
    if elsewhere == 0 && inside == 0 {
        return Ok(());
    }
    let what = match inside {
        0 => format!("{elsewhere} places that the run did not touch hold something else than they did"),
        _ => format!("{inside} sectors hold neither what was there nor what the run wrote"),
    };
    Err(UserError::failure(format!(
        "will not write: {} was written to since, for {what}. If what is kept shall take the place of what is there now, say \
         --although-changed",
        shown(typed)
    )))
}

/// What is kept, and how to give it back.
fn list(store: Option<&Path>) -> Result<u8, UserError> {
    let left = preserve::unfinished(store)?;
    if left.is_empty() {
        output::print("Nothing is kept: all that was overwritten with --preserve was given back.\n")?;
        return Ok(exit::SUCCESS);
    }
    let mut page = String::new();
    for left in &left {
        page += &match &left.journal {
            Ok(journal) => {
                let parsed = journal.parsed();
                let bytes = Bytes(parsed.saved.iter().map(|saved| saved.length).sum());
                let damaged = if parsed.is_damaged { " (and a part that is damaged)" } else { "" };
                format!(
                    "{bytes} of {}{damaged}, in {}\n  to give them back: {}\n",
                    shown(&parsed.origin.path),
                    shown(&left.path.display().to_string()),
                    restore_command(&parsed.origin)
                )
            }
            Err(error) => format!("{}\n", harmless(&error.to_string(), usize::MAX)),
        };
    }
    output::print(&page)?;
    Ok(exit::SUCCESS)
}

fn shown(text: &str) -> String {
    harmless(text, 200)
}
