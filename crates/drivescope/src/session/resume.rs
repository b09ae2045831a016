//! Brings an experiment to where an interrupted run of it ended: it is asked again, phase for phase, with what was known
//! then, and has to ask for what was done. What it would ask for next is what the run goes on with.

use crate::error::UserError;
use crate::experiment::Experiment;
use crate::store::LOST_PHASE;
use model::plan::{Phase, PhaseKind, StopReason};
use model::run::{PhaseSummary, Run, RunView, Series};
use model::target::TargetFacts;
use model::units::Instant;
use report::hostile::harmless;

/// Shows an experiment the phases of its run. Answers the phase that the run has to begin with, if it is one that was
/// cut short and that the experiment does not go on with by itself.
///
/// # Errors
/// When the experiment asks for something else than was done: it is another one, or that of another version.
pub fn catch_up(
    experiment: &mut dyn Experiment,
    run: &Run,
    series: &dyn Series,
) -> Result<Option<Phase>, UserError> {
    let mut owed: Option<Phase> = None;
    for (number, done) in run.phases.iter().enumerate().filter(|(_, done)| !is_lost(done)) {
        let known = RunView {
            target: &run.target,
            environment: &run.environment,
            phases: &run.phases[..number],
            series,
        };
        let asked = owed.take().or_else(|| experiment.next(&known));
        match asked {
            Some(asked) if asked == done.phase => {
                let is_cut = done
                    .stopped
                    .is_none_or(|why| matches!(why, StopReason::Interrupted | StopReason::DeviceGone));
                owed = (is_cut && !experiment.completes_cut_phases()).then_some(asked);
            }
            _ => return Err(differs(run, number, &done.phase)),
        }
    }
    Ok(owed)
}

/// Whether nothing but the records of a phase were kept.
fn is_lost(done: &PhaseSummary) -> bool {
    done.phase.kind == PhaseKind::WarmUp && done.phase.workload.is_none() && done.phase.name == LOST_PHASE
}

fn differs(run: &Run, number: usize, phase: &Phase) -> UserError {
    UserError::failure(format!(
        "cannot resume run {}: this version ({}) would not have asked for its phase {number} (`{}`), made by version {}. \
         What was measured is kept; begin a new run: {}",
        run.id,
        env!("CARGO_PKG_VERSION"),
        phase.name,
        run.version,
        run.command
    ))
}

/// A run that is said to have lasted longer, in a file that somebody altered, must leave room for what comes.
const END_MAX: Instant = Instant(u64::MAX / 2);

/// When everything that was kept of a run is over: its clock goes on from here.
pub fn end_of(phases: &[PhaseSummary], series: &dyn Series) -> Instant {
    let phases = phases.iter().map(|phase| phase.end_ns().saturating_add(phase.flush_ns()));
    let telemetry = series.telemetry().map(|record| record.at_ns);
    Instant(phases.chain(telemetry).max().unwrap_or(0)).min(END_MAX)
}

/// Whether the target is still the one that the run measured.
///
/// # Errors
/// Names what differs.
pub fn check_same_target(run: &Run, now: &TargetFacts) -> Result<(), UserError> {
    let then = &run.target;
    let unknown = || "unknown".to_string();
    let shown = |text: &Option<String>| text.as_deref().map_or_else(unknown, |text| harmless(text, 80));
    let differences = [
        ("the path", harmless(&then.path, 200), harmless(&now.path, 200)),
        ("the kind", then.kind.name().into(), now.kind.name().into()),
        ("the capacity in bytes", then.capacity.0.to_string(), now.capacity.0.to_string()),
        ("the block in bytes", then.logical_block.0.to_string(), now.logical_block.0.to_string()),
        ("the model", shown(&then.model), shown(&now.model)),
        ("the serial number", shown(&then.serial), shown(&now.serial)),
    ];
    match differences.into_iter().find(|(_, then, now)| then != now) {
        None => Ok(()),
        Some((what, then, now)) => Err(UserError::failure(format!(
            "cannot resume run {}: it measured another target ({what} was {then} and is {now}). Attach the drive that it \
             measured, or begin a new run",
            run.id
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::histogram::LatencyHistogram;
    use model::plan::StopCondition;
    use model::request::Operation;
    use model::run::{MemorySeries, OperationTotals};

    fn phase(start_ns: u64, duration_ns: u64, flush_ns: u64) -> PhaseSummary {
        let mut histogram = LatencyHistogram::default();
        histogram.record(flush_ns);
        let flush = OperationTotals { operations: 1, histogram, ..OperationTotals::none(Operation::Flush) };
        PhaseSummary {
            phase: Phase {
                name: "write".into(),
                experiment: "check".into(),
                kind: PhaseKind::Measure,
                workload: None,
                stop: StopCondition::default(),
            },
            start_ns,
            duration_ns,
            stopped: Some(StopReason::Time),
            totals: vec![flush],
            files: None,
            page_cache: None,
        }
    }

    #[test]
    fn a_clock_goes_on_behind_the_last_flush() {
        let series = MemorySeries::default();
        assert_eq!(end_of(&[phase(0, 10, 4), phase(20, 10, 7)], &series), Instant(37));
        assert_eq!(end_of(&[], &series), Instant(0));
    }

    #[test]
    fn what_an_altered_file_says_of_time_leaves_room_for_more() {
        let series = MemorySeries::default();
        assert_eq!(end_of(&[phase(u64::MAX - 5, 3, 1 << 40)], &series), END_MAX);
        assert_eq!(end_of(&[phase(1, u64::MAX, 1)], &series), END_MAX);
    }
}
