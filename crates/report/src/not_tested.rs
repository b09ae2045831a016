//! What an experiment does not test, and the command that does: a page that is silent about it would be taken for a full examination.

use crate::finding::Subject;
use crate::finding::write_cliff::not_measured;
use crate::terminal::method::hull;
use model::experiment_name::ExperimentName;
use model::finding::{DataIntegrity, FlushHonoured, WriteCliff, known};
use model::request::Operation;
use model::run::Run;
use model::target::TargetKind;

pub(crate) fn not_tested(run: &Run) -> Vec<String> {
    let &[experiment] = run.experiments().as_slice() else { return Vec::new() };
    let subject = Subject::new(&run.target, &[]);
    let command = |options| subject.command(experiment, options);
    match experiment {
        ExperimentName::Check => {
            vec![format!("Slow regions: not measured; {} looks for them.", command("--deep"))]
        }
        ExperimentName::Geometry => {
            let check = subject.command(&ExperimentName::Check, "");
            vec![format!("Throughput and IOPS: not measured; {check} measures both.")]
        }
        ExperimentName::Ping => {
            let access = subject.command(&ExperimentName::Access, "");
            vec![format!(
                "IOPS: not measured, since the reads are paced; {access} measures IOPS by queue depth."
            )]
        }
        ExperimentName::Sizes => sizes(run, &subject),
        ExperimentName::Sustain => match known::<WriteCliff>(&run.findings) {
            Some(cliff) => not_measured(&cliff.conclusion, &subject),
            None => Vec::new(),
        },
        ExperimentName::Commit if known::<FlushHonoured>(&run.findings).is_some() => {
            // A virtual drive loses its power within the command.
            let step = if run.target.kind == TargetKind::Sim { "check" } else { "write" };
            let power_cut = subject.command(&ExperimentName::Verify, &format!("--power-cut {step}"));
            vec![format!("Durability: inferred, not tested. A power-cut test begins with {power_cut}.")]
        }
        ExperimentName::Verify if is_sample(run) => {
            vec![format!(
                "Blocks between the samples: not checked; {} checks all.",
                subject.writing(experiment, "--full")
            )]
        }
        _ => Vec::new(),
    }
}

fn sizes(run: &Run, subject: &Subject<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(range) = hull(run, |summary| !summary.totals.is_empty())
        && matches!(run.target.kind, TargetKind::Device | TargetKind::Sim)
        && range.bytes() < run.target.capacity
    {
        let (extent, surface) = (subject.extent(range), subject.command(&ExperimentName::Surface, ""));
        lines.push(format!(
            "Rest of the drive: not measured (this run read only within {extent}); {surface} measures throughput by LBA."
        ));
    }
    if !run.phases.iter().any(|phase| phase.totals_of(Operation::Write).is_some()) {
        let write = subject.writing(&ExperimentName::Sizes, "");
        lines.push(format!(
            "Writes: not measured; {write} measures them, but destroys the data on the drive."
        ));
    }
    lines
}

fn is_sample(run: &Run) -> bool {
    known::<DataIntegrity>(&run.findings).is_some_and(|known| known.conclusion.share_max.is_some())
}
