//! `drivescope purge`: empties a drive, by the most thorough method that it knows, and keeps that in its ledger.

use super::args::{OutputArguments, PurgeArguments};
use super::measure::{self, Begun};
use super::{output, resolve};
use crate::error::{UserError, exit};
use crate::experiment::purge::{NAME, ZeroFill};
use crate::interrupt;
use crate::preserve;
use crate::stamp;
use crate::state;
use crate::store::RunWriter;
use crate::target_choice;
use io::error::IoError;
use io::rig::Rig;
use io::target::purge::{FaultKind, PurgeEnd, PurgeError, PurgeMethod, PurgeOption, notice, options};
use io::target::{Target, survey};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::run::{PhaseSummary, Run, RunStatus};
use report::hostile::harmless;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs the command; the exit status.
///
/// # Errors
/// When nothing may be written, or no method is left.
pub fn run(arguments: &PurgeArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let (resolved, wanted) = resolve::purge(arguments)?;
    output::check(&arguments.output, &[Path::new(&arguments.target)])?;
    let target = Target::open(Path::new(&arguments.target))?;
    let offered = options(&target);
    if arguments.dry_run || resolved.choice.write.is_none() {
        output::print(&plan_page(&target, &offered, wanted))?;
        return Ok(if arguments.dry_run { exit::SUCCESS } else { exit::USAGE });
    }
    let methods = usable(&offered, wanted)?;
    // A file must be open nowhere else when its permit is granted.
    drop(target);
    let chosen = target_choice::open(&resolved.choice)?;
    preserve::look_for_unfinished(store, chosen.rig.target(), true)?;
    let (writer, run) = measure::begin_in(NAME, &resolved, &chosen, store)?;
    let zeroes = ZeroFill::new(&measure::question(&resolved, &chosen));
    let purge = Purge { rig: chosen.rig, writer, run, interrupt: interrupt::flag()? };
    purge.by_the_first_of(&methods, zeroes, &arguments.output)
}

/// Those that can be used, in their order; the one that was asked for alone.
fn usable(offered: &[PurgeOption], wanted: Option<PurgeMethod>) -> Result<Vec<PurgeMethod>, UserError> {
    let mut methods = Vec::new();
    for option in offered.iter().filter(|option| wanted.is_none_or(|wanted| wanted == option.method)) {
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
                output::say(&format!("not by {}: {why}", option.method.name()))
            }
            Some(_) => {}
        }
    }
    Ok(methods)
}

/// A purge that has begun in the store.
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
                let run = measure::carry_out(begun, &mut zeroes, shown)?;
                return Ok(measure::status(Some(&run)));
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
                    output::say(&format!("not by {}: {failure}", method.name()));
                }
                Err(error) => return self.fail(error),
            }
        }
        self.finish(RunStatus::Failed)?;
        Err(failure)
    }

    /// Ctrl-C came while a method was tried that the drive then refused.
    fn stop_before(mut self, method: PurgeMethod) -> Result<u8, UserError> {
        let sentence = format!("The run was stopped before it began to purge it by {}.", method.name());
        output::say(&sentence);
        self.run.state_after.push(sentence);
        self.finish(RunStatus::Interrupted)?;
        Ok(measure::status(Some(&self.run)))
    }

    /// Ends the run by an error after which nothing else may be tried. What the drive is left with is told even if the store
    /// cannot keep it.
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
        let notice = self.rig.target().and_then(|target| notice(target, method));
        if let Some(sentence) = &notice {
            output::say(sentence);
        }
        let sentences_before = self.run.state_after.len();
        self.run.state_after.extend(notice);
        let ended = self.by_phase(method);
        // It has ended, and what it left is told by its end.
        self.run.state_after.truncate(sentences_before);
        ended
    }

    fn by_phase(&mut self, method: PurgeMethod) -> Result<PurgeEnd, PurgeError> {
        let phase = Phase {
            name: method.name().into(),
            experiment: NAME.into(),
            kind: PhaseKind::Purge,
            workload: None,
            stop: StopCondition::one_pass(),
        };
        let began = self.rig.now();
        let summary = PhaseSummary {
            phase,
            start_ns: began.0,
            duration_ns: 0,
            stopped: None,
            totals: Vec::new(),
            files: None,
            page_cache: None,
        };
        self.run.phases.push(summary);
        // A purge that is not in the ledger is worse than none: it is noted before it begins.
        self.writer.begin_phase(&self.run).map_err(|error| self.cannot_keep(error.to_string()))?;
        let ended = self.carry_out(method);
        let duration_ns = self.rig.now().since(began).0;
        let summary = self.run.phases.last_mut().expect("the phase was just added");
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

    /// What stands in the way before a method begins.
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
        Ok(self.writer.finish(&self.run)?)
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
            output::print(&format!(
                "{path} {end} by {}. What it went through: drivescope state {path}\n",
                method.name()
            ))?;
        }
        Ok(measure::status(Some(&self.run)))
    }
}

fn reads_as_before(places: usize, looked_at: usize) -> String {
    format!(
        "The drive took the command, but {places} of {looked_at} places still read as before: whether it has forgotten its \
         data cannot be told. To be sure: --method zero-fill."
    )
}

/// What a purge would do, and why not otherwise.
fn plan_page(target: &Target, offered: &[PurgeOption], wanted: Option<PurgeMethod>) -> String {
    let path = harmless(&target.path().display().to_string(), usize::MAX);
    let first = offered
        .iter()
        .find(|option| option.refusal.is_none() && wanted.is_none_or(|wanted| wanted == option.method))
        .map(|option| option.method);
    let mut page = format!("How {path} could be purged. Everything on it would be lost\n");
    for option in offered {
        let answer = match &option.refusal {
            Some(why) => format!("no: {}", harmless(why, usize::MAX)),
            None if first == Some(option.method) => "yes, this one would be used".into(),
            None => "yes".into(),
        };
        page += &format!("  {:18}{answer}\n", option.method.name());
    }
    if let Some(sentence) = first.and_then(|method| notice(target, method)) {
        page += &format!("  {}\n", harmless(&sentence, usize::MAX));
    }
    for obstacle in survey(target) {
        page += &format!("  In the way: {}\n", harmless(&obstacle.statement, usize::MAX));
    }
    let confirm = harmless(target.confirmation(), usize::MAX);
    page + &format!("To do it: drivescope purge {path} --write --confirm {confirm}\n")
}
