//! What speaks against comparing runs: everything besides the drive that differs between them.

use super::ComparedRun;
use super::changes::is_one_drive;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{Run, RunStatus};
use model::target::TargetKind;
use model::workload::Pattern;
use std::collections::BTreeSet;

/// Capacities that differ by less are alike: one drive has a few more spare sectors than another.
const CAPACITY_SHARE: f64 = 0.001;

/// The caveats, as sentences.
pub(super) fn of(runs: &[ComparedRun<'_>]) -> Vec<String> {
    let mut caveats = Vec::new();
    for compared in runs {
        caveats.extend(alone(compared));
    }
    if let Some((first, others)) = runs.split_first() {
        for other in others {
            caveats.extend(together(first, other));
        }
    }
    caveats
}

/// What is wrong with a run whatever it is compared with.
fn alone(compared: &ComparedRun<'_>) -> Vec<String> {
    let (name, run) = (compared.name, compared.run);
    let status = match run.status {
        RunStatus::Complete => None,
        RunStatus::Interrupted => Some(format!("{name} was interrupted, so it has fewer measurements.")),
        RunStatus::Failed => Some(format!("{name} could not go on, so it has fewer measurements.")),
    };
    let warnings = run.environment.warnings.iter().map(|warning| format!("{name}: {warning}"));
    status.into_iter().chain(warnings).collect()
}

/// What differs between two runs.
fn together(first: &ComparedRun<'_>, other: &ComparedRun<'_>) -> Vec<String> {
    let (a, b) = (first.run, other.run);
    let names = format!("{} and {}", first.name, other.name);
    let mut caveats = Vec::new();
    let mut say = |differs: bool, what: &dyn Fn() -> String| {
        if differs {
            caveats.push(what());
        }
    };
    say(a.target.kind != b.target.kind, &|| {
        format!("{names} are of different kinds: one is a {}, the other a {}.", kind(a), kind(b))
    });
    say(is_one_drive(&a.target, &b.target) && a.target.stack != b.target.stack, &|| {
        format!("{names} reached the drive through different layers: {} and {}.", layers(a), layers(b))
    });
    say(differs_in_size(a, b), &|| {
        format!("{names} differ in size, so that the same position is another part of each.")
    });
    say(operations(a) != operations(b), &|| {
        format!("{names} did different things: one {}, the other {}.", verbs(a), verbs(b))
    });
    say(shape(a).is_some() && shape(b).is_some() && shape(a) != shape(b), &|| {
        format!(
            "{names} used blocks of different sizes or another number of them at once for what they read in order."
        )
    });
    say(is_partly(a, b), &|| format!("{names} measured different parts of their targets."));
    say(a.environment.engine != b.environment.engine, &|| {
        format!("{names} used different engines: {} and {}.", a.environment.engine, b.environment.engine)
    });
    say(a.environment.direct != b.environment.direct, &|| {
        format!("Of {names}, only one went past the page cache.")
    });
    let link = |run: &Run| run.target.link.as_ref().map(|link| link.name.clone());
    say(link(a) != link(b), &|| {
        let text = |run: &Run| link(run).unwrap_or_else(|| "an unknown link".into());
        format!("{names} are connected differently: {} and {}.", text(a), text(b))
    });
    say(a.target.caveats != b.target.caveats, &|| {
        format!("{names} are not equally sure to show a drive and not a cache: see each run.")
    });
    say(a.state_before != b.state_before, &|| {
        format!(
            "{names} began in different states: \"{}\" and \"{}\"",
            state_unlike(a, b),
            state_unlike(b, a)
        )
    });
    caveats
}

fn kind(run: &Run) -> &'static str {
    match run.target.kind {
        TargetKind::Device => "device",
        TargetKind::File => "file",
        TargetKind::Folder => "folder",
        TargetKind::Sim => "virtual drive",
    }
}

fn layers(run: &Run) -> String {
    if run.target.stack.is_empty() { "none known".into() } else { run.target.stack.join(", ") }
}

/// What is said of the state of one and not of that of the other.
fn state_unlike(run: &Run, other: &Run) -> String {
    let own = run.state_before.iter().filter(|sentence| !other.state_before.contains(sentence));
    own.map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn differs_in_size(a: &Run, b: &Run) -> bool {
    let (a, b) = (a.target.capacity.0 as f64, b.target.capacity.0 as f64);
    // What another program measured may not tell how large it was.
    a.min(b) > 0.0 && (a - b).abs() > CAPACITY_SHARE * a.max(b)
}

/// What was measured in order: reads, writes.
fn operations(run: &Run) -> BTreeSet<&'static str> {
    let measured = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure);
    let totals = measured.flat_map(|phase| &phase.totals);
    totals
        .filter_map(|totals| match totals.operation {
            Operation::Read => Some("read"),
            Operation::Write => Some("wrote"),
            _ => None,
        })
        .collect()
}

fn verbs(run: &Run) -> String {
    let verbs: Vec<&str> = operations(run).into_iter().collect();
    if verbs.is_empty() { "did nothing".into() } else { verbs.join(" and ") }
}

/// Block size and requests at once of most of the sequential measurements.
fn shape(run: &Run) -> Option<(u64, u64)> {
    let shapes = sequential(run).map(|workload| (workload.block_sizes.largest().0, workload.in_flight_max()));
    let mut counts = std::collections::BTreeMap::new();
    shapes.for_each(|shape| *counts.entry(shape).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|&(shape, count)| (count, shape)).map(|(shape, _)| shape)
}

fn sequential(run: &Run) -> impl Iterator<Item = &model::workload::Workload> {
    let measured = run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure);
    let workloads = measured.filter_map(|phase| phase.phase.workload.as_ref());
    workloads.filter(|workload| workload.pattern == Pattern::Sequential)
}

/// Whether what one measured is by more than a twentieth of the target another part than what the other did.
fn is_partly(a: &Run, b: &Run) -> bool {
    let span = |run: &Run| {
        let capacity = run.target.capacity.0.max(1) as f64;
        let first = sequential(run).map(|workload| workload.range.first().0).min()?;
        let end = sequential(run).map(|workload| workload.range.end().0).max()?;
        Some((first as f64 / capacity, end as f64 / capacity))
    };
    match (span(a), span(b)) {
        (Some(a), Some(b)) => (a.0 - b.0).abs() > 0.05 || (a.1 - b.1).abs() > 0.05,
        _ => false,
    }
}
