//! Resumes an interrupted run: the experiment is asked again, phase by phase, with what was known then, and must ask for
//! what was done. Its next phase is what the run continues with.

use crate::error::UserError;
use crate::store::LOST_PHASE;
use experiment::Experiment;
use model::plan::{Phase, PhaseKind, StopReason};
use model::run::{PhaseSummary, Run, RunView, Series};
use model::target::TargetFacts;
use model::units::Instant;
use report::hostile::harmless;

/// Shows an experiment the phases of its run. Returns the phase that was cut short, unless the experiment asks for its
/// rest itself.
/// Fails when the experiment asks for another phase than was run: it is another one, or of another version.
pub fn catch_up(
    experiment: &mut dyn Experiment,
    run: &Run,
    series: &dyn Series,
) -> Result<Option<Phase>, UserError> {
    let mut owed: Option<Phase> = None;
    for (number, done) in run.phases.iter().enumerate() {
        if is_lost(done) {
            continue;
        }
        let known = RunView {
            target: &run.target,
            environment: &run.environment,
            phases: &run.phases[..number],
            series,
        };
        let asked = match owed.take() {
            Some(owed) => Some(owed),
            None => experiment.next(&known),
        };
        if asked.as_ref() != Some(&done.phase) {
            return Err(differs(run, number, &done.phase));
        }
        let is_cut = matches!(done.stopped, None | Some(StopReason::Interrupted | StopReason::DeviceGone));
        owed = if is_cut && !experiment.conduct().completes_cut_phases { asked } else { None };
    }
    Ok(owed)
}

fn is_lost(done: &PhaseSummary) -> bool {
    done.phase.kind == PhaseKind::WarmUp && done.phase.workload.is_none() && done.phase.name == LOST_PHASE
}

fn differs(run: &Run, number: usize, phase: &Phase) -> UserError {
    UserError::failure(format!(
        "cannot resume run {}: this version ({}) would not have run its phase {number} (`{}`), made by version {}. \
         What was measured is kept; begin a new run: {}",
        run.id,
        env!("CARGO_PKG_VERSION"),
        phase.name,
        run.version,
        run.command
    ))
}

/// The times of an altered file must leave room for what comes.
const END_MAX: Instant = Instant::new(u64::MAX / 2);

pub fn end_of(phases: &[PhaseSummary], series: &dyn Series) -> Instant {
    let mut end_ns = 0;
    for phase in phases {
        end_ns = end_ns.max(phase.end_ns().saturating_add(phase.flush_ns()));
    }
    for record in series.telemetry() {
        end_ns = end_ns.max(record.at_ns);
    }
    Instant::new(end_ns).min(END_MAX)
}

pub fn check_same_target(run: &Run, now: &TargetFacts) -> Result<(), UserError> {
    let then = &run.target;
    let differences = [
        ("the path", harmless(&then.path, 200), harmless(&now.path, 200)),
        ("the kind", then.kind.name().into(), now.kind.name().into()),
        ("the capacity in bytes", then.capacity.get().to_string(), now.capacity.get().to_string()),
        ("the block in bytes", then.logical_block.get().to_string(), now.logical_block.get().to_string()),
        ("the model", or_unknown(&then.model), or_unknown(&now.model)),
        ("the serial number", or_unknown(&then.serial), or_unknown(&now.serial)),
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

fn or_unknown(text: &Option<String>) -> String {
    harmless(text.as_deref().unwrap_or("unknown"), 80)
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
            duration_ns,
            stopped: Some(StopReason::Time),
            totals: vec![flush],
            ..PhaseSummary::begun(
                Phase {
                    name: "write".into(),
                    experiment: "check".into(),
                    kind: PhaseKind::Measure,
                    workload: None,
                    stop: StopCondition::default(),
                },
                start_ns,
            )
        }
    }

    #[test]
    fn a_clock_goes_on_behind_the_last_flush() {
        let series = MemorySeries::default();
        assert_eq!(end_of(&[phase(0, 10, 4), phase(20, 10, 7)], &series), Instant::new(37));
        assert_eq!(end_of(&[], &series), Instant::START);
    }

    #[test]
    fn what_an_altered_file_says_of_time_leaves_room_for_more() {
        let series = MemorySeries::default();
        assert_eq!(end_of(&[phase(u64::MAX - 5, 3, 1 << 40)], &series), END_MAX);
        assert_eq!(end_of(&[phase(1, u64::MAX, 1)], &series), END_MAX);
    }
}
