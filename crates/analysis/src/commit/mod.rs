//! Commits of a run, put together by what was asked for.

use crate::stats::CONFIDENCE;
use crate::stats::quantile::{Dispersion, of_rounds};
use model::commit::{Beside, BesideLoad, CommitMethod, Commits, Log};
use model::estimate::Estimate;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{OperationTotals, PhaseSummary, RunView};
use model::units::{Bytes, Nanos, Quantile};

/// What is measured again in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellKey {
    pub method: CommitMethod,
    pub log: Log,
    pub write: Bytes,
    pub committers: u32,
    pub beside: Option<BesideLoad>,
}

#[derive(Clone, Debug)]
pub struct Cell<'run> {
    pub key: CellKey,
    pub commits: Commits,
    /// Of what other programs state there may be no latencies.
    pub histogram: LatencyHistogram,
    rounds: Vec<&'run LatencyHistogram>,
    pub count: u64,
    pub seconds: f64,
    pub phases: Vec<u32>,
}

impl CellKey {
    /// That of a phase, if it measures commits one behind the other. Those at random offsets look for the medium.
    pub fn of(summary: &PhaseSummary) -> Option<(CellKey, Commits)> {
        let workload = summary.phase.workload.as_ref()?;
        let commits = workload.mix.commits()?;
        if summary.phase.kind != PhaseKind::Measure {
            return None;
        }
        let key = CellKey {
            method: commits.method,
            log: commits.log,
            write: workload.block_sizes.single()?,
            committers: workload.threads,
            beside: commits.beside.map(|Beside { load, .. }| load),
        };
        Some((key, commits))
    }

    pub fn is_alone(&self) -> bool {
        self.committers == 1 && self.beside.is_none()
    }
}

impl Cell<'_> {
    pub fn quantile(&self, quantile: Quantile) -> Option<Estimate> {
        let latency = of_rounds(&self.histogram, &self.rounds, quantile, CONFIDENCE)?;
        Some(latency.map_monotonic(|nanos| nanos / 1e9))
    }

    /// How many commits count as one where rounds differ in how many take as long.
    pub fn dispersion(&self, bound: Nanos) -> f64 {
        Dispersion::of(&self.rounds, bound).map_or(1.0, |dispersion| dispersion.factor)
    }

    pub fn per_second(&self) -> Option<f64> {
        if self.seconds > 0.0 { Some(self.count as f64 / self.seconds) } else { None }
    }
}

/// The commits of a phase and the seconds that they took; none where nothing was committed.
pub fn committed(summary: &PhaseSummary) -> Option<(&OperationTotals, f64)> {
    let totals = summary.totals_of(Operation::Commit)?;
    if totals.operations == 0 {
        return None;
    }
    // A log may be full before the time is up, while the load beside it goes on: what counts ends with the last commit.
    let ended_ns = if let Some(stretch) = totals.stretch { stretch.last_ns } else { summary.end_ns() };
    Some((totals, ended_ns.saturating_sub(summary.start_ns) as f64 / 1e9))
}

pub fn cells<'run>(run: &RunView<'run>) -> Vec<Cell<'run>> {
    let mut cells: Vec<Cell<'run>> = Vec::new();
    for (number, summary) in (0..).zip(run.phases) {
        let Some((key, commits)) = CellKey::of(summary) else { continue };
        let Some((totals, seconds)) = committed(summary) else { continue };
        match cells.iter_mut().find(|cell| cell.key == key) {
            Some(cell) => {
                cell.histogram.merge(&totals.histogram);
                cell.rounds.push(&totals.histogram);
                cell.count += totals.operations;
                cell.seconds += seconds;
                cell.phases.push(number);
            }
            None => {
                let mut histogram = LatencyHistogram::small();
                histogram.merge(&totals.histogram);
                let (count, rounds, phases) = (totals.operations, vec![&totals.histogram], vec![number]);
                cells.push(Cell { key, commits, histogram, rounds, count, seconds, phases });
            }
        }
    }
    cells
}

/// The cell that stands for the drive, and after it the same of other sizes.
pub fn main_cells<'cells, 'run>(cells: &'cells [Cell<'run>]) -> Vec<&'cells Cell<'run>> {
    let Some(first) = cells.iter().find(|cell| cell.key.is_alone() && cell.commits.is_main) else {
        return Vec::new();
    };
    let mut main = vec![first];
    for cell in cells {
        if cell.key != first.key && (CellKey { write: first.key.write, ..cell.key }) == first.key {
            main.push(cell);
        }
    }
    main
}
