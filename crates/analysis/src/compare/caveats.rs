//! What speaks against comparing runs: everything besides the drive that differs between them.

use super::changes::is_one_drive;
use super::compared_run::ComparedRun;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::target::TargetKind;
use model::workload::{Pattern, Workload};
use std::collections::BTreeSet;

/// Capacities that differ by less are alike: one drive has a few more spare sectors than another.
const CAPACITY_SHARE: f64 = 0.001;

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

fn alone(compared: &ComparedRun<'_>) -> Vec<String> {
    let (name, run) = (compared.name, compared.run);
    let mut caveats = Vec::new();
    match run.status {
        RunStatus::Complete => {}
        RunStatus::Interrupted => {
            caveats.push(format!("{name} was interrupted, so it has fewer measurements."))
        }
        RunStatus::Failed => caveats.push(format!("{name} could not go on, so it has fewer measurements.")),
    }
    for warning in &run.environment.warnings {
        caveats.push(format!("{name}: {warning}"));
    }
    caveats
}

pub(super) fn together(first: &ComparedRun<'_>, other: &ComparedRun<'_>) -> Vec<String> {
    let (a, b) = (first.run, other.run);
    let names = format!("{} and {}", first.name, other.name);
    let mut caveats = Vec::new();
    if a.target.kind != b.target.kind {
        let (one, other) = (kind(a), kind(b));
        caveats.push(format!("{names} are of different kinds: one is a {one}, the other a {other}."));
    }
    if is_one_drive(&a.target, &b.target) && a.target.stack != b.target.stack {
        let (one, other) = (layers(a), layers(b));
        caveats.push(format!("{names} reached the drive through different layers: {one} and {other}."));
    }
    if differs_in_size(a, b) {
        caveats.push(format!("{names} differ in size, so equal offsets are different parts of each."));
    }
    if operations(a) != operations(b) {
        let (one, other) = (verbs(a), verbs(b));
        caveats.push(format!("{names} did different things: one {one}, the other {other}."));
    }
    if shape(a).is_some() && shape(b).is_some() && shape(a) != shape(b) {
        caveats.push(format!("{names} used different block sizes or queue depths for sequential reads."));
    }
    if is_partly(a, b) {
        caveats.push(format!("{names} measured different parts of their targets."));
    }
    let (one, other) = (&a.environment, &b.environment);
    if one.engine != other.engine {
        caveats.push(format!("{names} used different engines: {} and {}.", one.engine, other.engine));
    }
    if one.direct != other.direct {
        caveats.push(format!("Of {names}, only one bypassed the page cache."));
    }
    let (one, other) = (link(a), link(b));
    if one != other {
        const UNKNOWN: &str = "an unknown link";
        let (one, other) = (one.unwrap_or(UNKNOWN), other.unwrap_or(UNKNOWN));
        caveats.push(format!("{names} are connected differently: {one} and {other}."));
    }
    if a.target.caveats != b.target.caveats {
        caveats.push(format!("{names} differ in how likely a cache served requests: see each run."));
    }
    if a.state_before != b.state_before {
        let (one, other) = (state_unlike(a, b), state_unlike(b, a));
        caveats.push(format!("{names} began in different states: \"{one}\" and \"{other}\""));
    }
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

fn link(run: &Run) -> Option<&str> {
    Some(&run.target.link.as_ref()?.name)
}

fn layers(run: &Run) -> String {
    if run.target.stack.is_empty() { "none known".into() } else { run.target.stack.join(", ") }
}

fn state_unlike(run: &Run, other: &Run) -> String {
    let own = run.state_before.iter().filter(|sentence| !other.state_before.contains(sentence));
    own.map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn differs_in_size(a: &Run, b: &Run) -> bool {
    let (a, b) = (a.target.capacity.as_f64(), b.target.capacity.as_f64());
    // What another program measured may not tell how large it was.
    a.min(b) > 0.0 && (a - b).abs() > CAPACITY_SHARE * a.max(b)
}

fn operations(run: &Run) -> BTreeSet<&'static str> {
    let mut operations = BTreeSet::new();
    for totals in measured(run).flat_map(|phase| &phase.totals) {
        match totals.operation {
            Operation::Read => operations.insert("read"),
            Operation::Write => operations.insert("wrote"),
            _ => false,
        };
    }
    operations
}

fn measured(run: &Run) -> impl Iterator<Item = &PhaseSummary> {
    run.phases.iter().filter(|phase| phase.phase.kind == PhaseKind::Measure)
}

fn verbs(run: &Run) -> String {
    let verbs: Vec<&str> = operations(run).into_iter().collect();
    if verbs.is_empty() { "did nothing".into() } else { verbs.join(" and ") }
}

fn shape(run: &Run) -> Option<(u64, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for workload in sequential(run) {
        let shape = (workload.block_sizes.largest().get(), workload.in_flight_max());
        *counts.entry(shape).or_insert(0usize) += 1;
    }
    let most = counts.into_iter().max_by_key(|&(shape, count)| (count, shape));
    Some(most?.0)
}

fn sequential(run: &Run) -> impl Iterator<Item = &Workload> {
    let workloads = measured(run).filter_map(|phase| phase.phase.workload.as_ref());
    workloads.filter(|workload| workload.pattern == Pattern::Sequential)
}

fn span(run: &Run) -> Option<(f64, f64)> {
    let capacity = run.target.capacity.get().max(1) as f64;
    let first = sequential(run).map(|workload| workload.range.first()).min()?;
    let end = sequential(run).map(|workload| workload.range.end()).max()?;
    Some((first.as_f64() / capacity, end.as_f64() / capacity))
}

/// Whether what one measured is by more than a twentieth of the target another part than what the other did.
fn is_partly(a: &Run, b: &Run) -> bool {
    let (Some(a), Some(b)) = (span(a), span(b)) else { return false };
    (a.0 - b.0).abs() > 0.05 || (a.1 - b.1).abs() > 0.05
}
