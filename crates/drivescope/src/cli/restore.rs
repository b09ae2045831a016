//! `drivescope restore`: restores what an interrupted run with `--preserve` had overwritten.
//!
//! Like every write it needs the permit: the drive is not in use, and its name is confirmed. `--destroy-data` is not needed,
//! since the data written are those that were there.

use super::args::{PageArguments, RestoreArguments};
use super::output;
use crate::configuration;
use crate::error::{Cannot, UserError, exit};
use crate::interrupt;
use crate::preserve::{self, Unfinished, missing, restore_command};
use io::targets::preserve::{Journal, Origin, TargetMedium, give_back, written_by_others};
use io::targets::{Target, WriteConsent, WritePermit};
use model::units::Bytes;
use report::hostile::harmless;
use serde::Serialize;
use std::path::Path;

pub fn run(arguments: &RestoreArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let Some(typed) = &arguments.target else { return list(store, &arguments.page) };
    let target = Target::open(Path::new(typed))?;
    let mut left = find(arguments, store, &target)?;
    let Ok(journal) = &mut left.journal else { unreachable!("only a journal that could be opened is found") };
    if journal.parsed().saved.is_empty() && !journal.parsed().is_damaged {
        left.finish()?;
        let page = format!("Nothing of {} was overwritten, so there is nothing to restore.\n", shown(typed));
        return give(&page, &RestoredDocument { path: typed, bytes: 0 }, &arguments.page);
    }
    // The run may have left test data, and its original data are written: nothing is destroyed.
    let consent = WriteConsent { destroy_data: true, confirm: arguments.confirm.clone() };
    let permit = WritePermit::grant(&target, &consent, &configuration::never_write()?)?;
    let mut medium = TargetMedium::new(&target, &permit)?;
    if !arguments.although_changed {
        check_unchanged(journal, &mut medium, typed)?;
    }
    let given = interrupt::unbroken(|| give_back(journal, &mut medium))?.or_fail()?;
    let damaged = journal.parsed().is_damaged;
    if given.is_complete() && !damaged {
        left.finish()?;
        let page = format!(
            "{} restored on {} and verified. The journal was removed.\n",
            Bytes::new(given.bytes),
            shown(typed)
        );
        return give(&page, &RestoredDocument { path: typed, bytes: given.bytes }, &arguments.page);
    }
    let why =
        if given.is_complete() { "a part of the journal itself is damaged".into() } else { missing(&given) };
    Err(UserError::failure(format!(
        "NOT ALL DATA ARE RESTORED: {} are, but {why}. The journal {} is kept; try again: {}",
        Bytes::new(given.bytes),
        left.path.display(),
        restore_command(&journal.parsed().origin)
    )))
}

fn find(
    arguments: &RestoreArguments,
    store: Option<&Path>,
    target: &Target,
) -> Result<Unfinished, UserError> {
    let names = Origin::names_of(target);
    let path = shown(&target.path().display().to_string());
    if let Some(path) = &arguments.journal {
        let journal = Journal::open(path).or_fail()?;
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
                // There may be another besides one in which nothing was saved.
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
    if let Some(Unfinished { journal: Ok(journal), .. }) = &related {
        check_same(&journal.parsed().origin, &names)?;
    }
    Err(UserError::failure(format!(
        "no journal has data of {path}. List the journals: drivescope restore. Name one outside the store: --journal FILE"
    )))
}

fn check_same(origin: &Origin, names: &Origin) -> Result<(), UserError> {
    if origin.is_same(names) {
        return Ok(());
    }
    Err(UserError::failure(format!(
        "will not write: the journal holds data of {}, and this is {}",
        described(origin),
        described(names)
    )))
}

fn described(origin: &Origin) -> String {
    format!("{} ({}, {} bytes)", shown(&origin.path), shown(&origin.confirmation), origin.capacity)
}

fn check_unchanged(
    journal: &mut Journal,
    medium: &mut TargetMedium<'_>,
    typed: &str,
) -> Result<(), UserError> {
    let parsed = journal.parsed().clone();
    let is_tested =
        |first: u64, end: u64| parsed.saved.iter().any(|saved| saved.offset < end && saved.end() > first);
    let elsewhere = parsed.origin.changed(medium, is_tested);
    let inside = written_by_others(journal, medium).or_fail()?;
    if elsewhere == 0 && inside == 0 {
        return Ok(());
    }
    let what = match inside {
        0 => format!("{elsewhere} regions that the run did not touch have changed"),
        _ => format!("{inside} sectors hold neither the original data nor what the run wrote"),
    };
    Err(UserError::failure(format!(
        "will not write: {} was written to since: {what}. To overwrite what is there now with what is kept, add \
         --although-changed",
        shown(typed)
    )))
}

/// Schema `drivescope.restored/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.restored/1")]
pub(super) struct RestoredDocument<'run> {
    path: &'run str,
    /// Of data that were restored and verified.
    bytes: u64,
}

/// Schema `drivescope.journals/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.journals/1")]
pub(super) struct JournalsDocument {
    journals: Vec<JournalDocument>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct JournalDocument {
    file: String,
    path: Option<String>,
    bytes: Option<u64>,
    damaged: bool,
    restore: Option<String>,
}

impl JournalDocument {
    fn of(left: &Unfinished) -> JournalDocument {
        let parsed = left.journal.as_ref().ok().map(Journal::parsed);
        JournalDocument {
            file: left.path.display().to_string(),
            path: parsed.map(|parsed| parsed.origin.path.clone()),
            bytes: parsed.map(|parsed| parsed.saved.iter().map(|saved| saved.length).sum()),
            damaged: parsed.is_none_or(|parsed| parsed.is_damaged),
            restore: parsed.map(|parsed| restore_command(&parsed.origin)),
        }
    }
}

fn give(page: &str, document: &impl Serialize, arguments: &PageArguments) -> Result<u8, UserError> {
    output::give_text(page, document, arguments.json.as_deref())?;
    Ok(exit::SUCCESS)
}

fn list(store: Option<&Path>, arguments: &PageArguments) -> Result<u8, UserError> {
    let left = preserve::unfinished(store)?;
    let journals = left.iter().map(JournalDocument::of).collect();
    let document = JournalsDocument { journals };
    if left.is_empty() {
        let page = "No journals: all data overwritten with --preserve were restored.\n";
        return give(page, &document, arguments);
    }
    let mut page = String::new();
    for left in &left {
        page += &match &left.journal {
            Ok(journal) => {
                let parsed = journal.parsed();
                let bytes = Bytes::new(parsed.saved.iter().map(|saved| saved.length).sum());
                let damaged = if parsed.is_damaged { " (and a damaged part)" } else { "" };
                format!(
                    "{bytes} of {}{damaged}, in {}\n  to restore: {}\n",
                    shown(&parsed.origin.path),
                    shown(&left.path.display().to_string()),
                    restore_command(&parsed.origin)
                )
            }
            Err(error) => format!("{}\n", harmless(&error.to_string(), usize::MAX)),
        };
    }
    give(&page, &document, arguments)
}

fn shown(text: &str) -> String {
    harmless(text, 200)
}
