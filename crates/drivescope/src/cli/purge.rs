//! `drivescope purge`: empties a drive, by the most thorough method that it knows, and keeps that in its ledger.

use super::args::{MethodArgument, OutputArguments, PurgeArguments};
use super::begun_run::{self, Begun};
use super::{command_line, output};
use crate::error::{UserError, exit};
use crate::interrupt;
use crate::preserve;
use crate::stamp;
use crate::state;
use crate::store::RunWriter;
use crate::target_choice::{self, VIRTUAL_PREFIX};
use experiment::purge::{NAME, ZeroFill};
use experiment::request::DriveOptions;
use io::error::IoError;
use io::rig::Rig;
use io::targets::purge::{FaultKind, PurgeEnd, PurgeError, PurgeMethod, PurgeOption, notice, options};
use io::targets::{Target, survey};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::run::{PhaseSummary, Run, RunStatus};
use model::units::Bytes;
use report::hostile::harmless;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub fn run(arguments: &PurgeArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let drive = drive_of(arguments)?;
    let wanted = arguments.method.map(MethodArgument::method);
    output::check(&arguments.output, &[Path::new(&arguments.target)])?;
    let target = Target::open(Path::new(&arguments.target))?;
    let offered = options(&target);
    if arguments.dry_run || !arguments.writing.write {
        give_plan(&target, &offered, wanted, &arguments.output)?;
        return Ok(if arguments.dry_run { exit::SUCCESS } else { exit::USAGE });
    }
    let methods = usable(&offered, wanted)?;
    // A file must be open nowhere else when its permit is granted.
    drop(target);
    let chosen = target_choice::open(&drive, Bytes::ZERO)?;
    preserve::look_for_unfinished(store, chosen.rig.target(), true)?;
    let (writer, run) =
        begun_run::begin_in(NAME, command_line::of_options("purge", arguments), &drive, &chosen, store)?;
    let zeroes = ZeroFill::new(&begun_run::setup(&drive, &chosen));
    let purge = Purge { rig: chosen.rig, writer, run, interrupt: interrupt::flag()? };
    purge.by_the_first_of(&methods, zeroes, &arguments.output)
}

fn drive_of(arguments: &PurgeArguments) -> Result<DriveOptions, UserError> {
    let PurgeArguments { target, writing, .. } = arguments;
    if target.starts_with(VIRTUAL_PREFIX) {
        return Err(UserError::usage(
            "a virtual drive begins anew with each run, so a purge would be lost. Within a run it is a step of a plan: \
             kind = \"purge\", do = \"discard\" (docs/reference/plans.md)",
        ));
    }
    if !arguments.output.fail_if.is_empty() || arguments.output.line.is_some() {
        return Err(UserError::usage("a purge has no findings. Leave --fail-if and --format out"));
    }
    if writing.preserve {
        return Err(UserError::usage("a purge is there to lose what is on the drive. Leave --preserve out"));
    }
    if Path::new(target).is_dir() {
        return Err(UserError::usage(format!(
            "{target} is a folder. Name a drive to purge; `drivescope list` shows them"
        )));
    }
    let seed = Some(begun_run::random_seed());
    Ok(DriveOptions { target: target.clone(), writing: writing.clone(), seed, ..DriveOptions::default() })
}

fn usable(offered: &[PurgeOption], wanted: Option<PurgeMethod>) -> Result<Vec<PurgeMethod>, UserError> {
    let mut methods = Vec::new();
    for option in offered {
        if wanted.is_some() && wanted != Some(option.method) {
            continue;
        }
        match &option.refusal {
            None => methods.push(option.method),
            Some(why) if wanted.is_some() => {
                return Err(UserError::failure(format!(
                    "cannot purge it by {}: {why}",
                    option.method.name()
                )));
            }
            // A later method is less thorough. Nobody gets it without being told why.
            Some(why) if methods.is_empty() => {
                output::say(&format!("{} is not possible: {why}", option.method.name()))
            }
            Some(_) => {}
        }
    }
    Ok(methods)
}

struct Purge<'flag> {
    rig: Rig,
    writer: RunWriter,
    run: Run,
    interrupt: &'flag AtomicBool,
}

impl Purge<'_> {
    /// Tries one method after the other. A method that the drive refuses is no end, as long as another is left; after any
    /// other error nobody knows what the drive is doing, and nothing more is sent to it.
    fn by_the_first_of(
        mut self,
        methods: &[PurgeMethod],
        mut zeroes: ZeroFill,
        shown: &OutputArguments,
    ) -> Result<u8, UserError> {
        let mut failure = UserError::failure("no method is left to purge it by");
        for &method in methods {
            if self.interrupt.load(Ordering::Relaxed) {
                return self.stop_before(method);
            }
            if method == PurgeMethod::ZeroFill {
                let Purge { rig, writer, run, interrupt: _ } = self;
                let begun = Begun { rig, writer, run, trace: false, owed: None, preserving: None };
                let run = begun_run::carry_out(begun, &mut zeroes, shown)?;
                return Ok(begun_run::status(Some(&run)));
            }
            output::say(&format!("purging by {}; this may take long", method.name()));
            match self.by(method) {
                Ok(PurgeEnd::Done) => return self.conclude(RunStatus::Complete, method, shown),
                Ok(PurgeEnd::ReadsAsBefore { places, looked_at }) => {
                    let sentence = reads_as_before(places, looked_at);
                    output::say(&sentence);
                    self.run.state_after.push(sentence);
                    return self.conclude(RunStatus::Complete, method, shown);
                }
                Ok(PurgeEnd::Stopped(_)) => return self.conclude(RunStatus::Interrupted, method, shown),
                Err(error) if error.kind == FaultKind::Refused => {
                    failure = UserError::failure(error.to_string());
                    output::say(&format!("{} failed: {failure}", method.name()));
                }
                Err(error) => return self.fail(error),
            }
        }
        self.finish(RunStatus::Failed)?;
        Err(failure)
    }

    fn stop_before(mut self, method: PurgeMethod) -> Result<u8, UserError> {
        let sentence = format!("The run was stopped before it began to purge it by {}.", method.name());
        output::say(&sentence);
        self.run.state_after.push(sentence);
        self.finish(RunStatus::Interrupted)?;
        Ok(begun_run::status(Some(&self.run)))
    }

    /// Ends the run by an error after which nothing else may be tried. What the drive is left with is told even if it cannot be stored.
    fn fail(mut self, error: PurgeError) -> Result<u8, UserError> {
        let failure = UserError::failure(error.to_string());
        self.run.state_after.extend(error.left);
        match self.finish(RunStatus::Failed) {
            Ok(()) => Err(failure),
            Err(of_store) => {
                output::say(&failure.text);
                Err(of_store)
            }
        }
    }

    /// One method, kept as a phase. What is to be known if it is broken off is told and kept before it begins.
    fn by(&mut self, method: PurgeMethod) -> Result<PurgeEnd, PurgeError> {
        let sentences_before = self.run.state_after.len();
        if let Some(target) = self.rig.target()
            && let Some(sentence) = notice(target, method)
        {
            output::say(&sentence);
            self.run.state_after.push(sentence);
        }
        let ended = self.by_phase(method);
        // It has ended, and what it left is told by its end.
        self.run.state_after.truncate(sentences_before);
        ended
    }

    fn by_phase(&mut self, method: PurgeMethod) -> Result<PurgeEnd, PurgeError> {
        let phase = Phase {
            name: method.name().into(),
            experiment: NAME,
            kind: PhaseKind::Purge,
            workload: None,
            stop: StopCondition::one_pass(),
        };
        let began = self.rig.now();
        let summary = PhaseSummary::begun(phase, began.get());
        let number = self.run.phases.len();
        self.run.phases.push(summary);
        // A purge that is not in the ledger is worse than none: it is noted before it begins.
        if let Err(error) = self.writer.begin_phase(&self.run) {
            return Err(self.cannot_keep(error.to_string()));
        }
        let ended = self.carry_out(method);
        let duration_ns = self.rig.now().since(began).get();
        let summary = &mut self.run.phases[number];
        summary.duration_ns = duration_ns;
        summary.stopped = Some(match &ended {
            Ok(PurgeEnd::Done | PurgeEnd::ReadsAsBefore { .. }) => StopReason::Passes,
            Ok(PurgeEnd::Stopped(_)) => StopReason::Interrupted,
            Err(_) => StopReason::Errors,
        });
        ended
    }

    /// Nothing that a person types breaks off an erase by a password: the drive would be left with it.
    fn carry_out(&mut self, method: PurgeMethod) -> Result<PurgeEnd, PurgeError> {
        let interrupt = self.interrupt;
        let rig = &mut self.rig;
        let mut purge = || rig.purge(method, &mut |_done| !interrupt.load(Ordering::Relaxed));
        if method != PurgeMethod::AtaSecureErase {
            return purge();
        }
        interrupt::unbroken(purge).unwrap_or_else(|error| Err(self.cannot_keep(error.text)))
    }

    fn cannot_keep(&self, why: String) -> PurgeError {
        let source = std::io::Error::other(why);
        PurgeError::broken(IoError::system("begin the purge of", self.run.target.path.clone(), source))
    }

    fn finish(&mut self, status: RunStatus) -> Result<(), UserError> {
        self.run.status = status;
        if let Some((target, note)) = self.rig.target().zip(self.writer.note()) {
            let mut note = note.clone();
            self.run.state_after.extend(state::after(&mut note, target, &self.run));
            self.writer.keep_note(note)?;
        }
        self.run.finished = Some(stamp::finished(&self.run, self.rig.now()));
        Ok(self.writer.finish(&self.run, &report::finding::documents(&self.run))?)
    }

    fn conclude(
        mut self,
        status: RunStatus,
        method: PurgeMethod,
        shown: &OutputArguments,
    ) -> Result<u8, UserError> {
        let sentence = match status {
            RunStatus::Complete => format!("The run purged it by {}.", method.name()),
            _ => format!("The run began to purge it by {}, and was stopped.", method.name()),
        };
        self.run.state_after.push(sentence);
        self.finish(status)?;
        if shown.json.is_some() {
            output::give(&self.run, shown)?;
        } else {
            let path = harmless(&self.run.target.path, usize::MAX);
            let end = if status == RunStatus::Complete { "was purged" } else { "was purged in part" };
            output::print(&format!("{path} {end} by {}. History: drivescope state {path}\n", method.name()))?;
        }
        Ok(begun_run::status(Some(&self.run)))
    }
}

fn reads_as_before(places: usize, looked_at: usize) -> String {
    format!(
        "The drive took the command, but {places} of {looked_at} samples still read as before, so old data may remain. To be sure: --method zero-fill."
    )
}

/// Schema `drivescope.purge-plan/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.purge-plan/1")]
pub(super) struct PurgePlanDocument<'plan> {
    path: &'plan Path,
    /// What `--confirm` has to be given.
    confirm: &'plan str,
    /// The method that would be used.
    method: Option<&'static str>,
    methods: Vec<MethodDocument<'plan>>,
    /// What stands in the way of writes.
    writes_refused: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct MethodDocument<'plan> {
    name: &'static str,
    refused: Option<&'plan str>,
}

fn give_plan(
    target: &Target,
    offered: &[PurgeOption],
    wanted: Option<PurgeMethod>,
    shown: &OutputArguments,
) -> Result<(), UserError> {
    let mut first = None;
    let mut methods = Vec::new();
    for option in offered {
        if first.is_none() && option.refusal.is_none() && (wanted.is_none() || wanted == Some(option.method))
        {
            first = Some(option.method);
        }
        methods.push(MethodDocument { name: option.method.name(), refused: option.refusal.as_deref() });
    }
    let document = PurgePlanDocument {
        path: target.path(),
        confirm: target.confirmation(),
        method: first.map(PurgeMethod::name),
        methods,
        writes_refused: survey(target).into_iter().map(|obstacle| obstacle.statement).collect(),
    };
    let page = plan_page(target, offered, first, &document.writes_refused);
    output::give_text(&page, &document, shown.json.as_deref())
}

fn plan_page(
    target: &Target,
    offered: &[PurgeOption],
    first: Option<PurgeMethod>,
    writes_refused: &[String],
) -> String {
    let path = harmless(&target.path().display().to_string(), usize::MAX);
    let mut page = format!("Methods to purge {path}. All data on it would be lost\n");
    for option in offered {
        let answer = match &option.refusal {
            Some(why) => format!("no: {}", harmless(why, usize::MAX)),
            None if first == Some(option.method) => "yes, this one would be used".into(),
            None => "yes".into(),
        };
        page += &format!("  {:18}{answer}\n", option.method.name());
    }
    if let Some(method) = first
        && let Some(sentence) = notice(target, method)
    {
        page += &format!("  {}\n", harmless(&sentence, usize::MAX));
    }
    for why in writes_refused {
        page += &format!("  Blocked: {}\n", harmless(why, usize::MAX));
    }
    let confirm = harmless(target.confirmation(), usize::MAX);
    page + &format!("To do it: drivescope purge {path} --write --confirm {confirm}\n")
}
