//! `commit`: how fast writes become durable, and whether they do. Rounds of cells in random order: methods and logs, numbers of
//! committers, other load beside them. The main cells go on until their 99th percentile is known well enough or time is up.
//! ```text
//! fill a scratch file ─► reads, writes and commits at random offsets: does a flush reach the medium?
//!                    ─► three rounds of all cells ─► rounds of the main cells
//! ```

mod request;

use crate::composition::Prepared;
use crate::error::PlanError;
use crate::preparation::{Filling, measure, phase, random_block};
use crate::rate_limit::DecidingWrites;
use crate::setup::check_room;
use crate::{Experiment, Remaining, Setup};
use analysis::commit::{cells, main_cells};
use model::commit::{Application, Beside, BesideLoad, CommitMethod, Commits, Log};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::run::RunView;
use model::target::{Caveat, TargetFacts};
use model::units::{Bytes, Nanos, Offset, Quantile};
use model::workload::{Caching, OperationMix, Pattern, Workload};
use std::collections::VecDeque;

pub use request::CommitRequest;

const ORDER_STREAM: u64 = u64::MAX;
const SIZE_MIN: Bytes = Bytes::new(512);
const SIZE_MAX: Bytes = Bytes::from_kib(64);
const RANGE_MIN: Bytes = Bytes::from_mib(16);
const TIME: Nanos = Nanos::from_secs(60);
const PRECISION: f64 = 0.05;
const ROUNDS: u64 = 3;
/// Of the time that is left after the preparation, for rounds of all cells.
const ROUNDS_SHARE: f64 = 0.8;
const MAIN_TIME: Nanos = Nanos::from_millis(1000);
const CELL_TIME: Nanos = Nanos::from_millis(400);
const PROBE_TIME: Nanos = Nanos::from_millis(500);
/// For a median; a disk then writes what is left in its cache within a second.
const PROBES: u64 = 100;
/// Logs of databases are segments of 16 MiB (PostgreSQL) and 64 MiB (etcd).
const LOG: Bytes = Bytes::from_mib(64);
const OVERWRITTEN_LOG: Bytes = Bytes::from_mib(16);
const LOG_OF_EACH: Bytes = Bytes::from_mib(2);
const FILLING: Filling = Filling::of(8, 1);

#[derive(Clone, Copy, Debug)]
struct Cell {
    write: Bytes,
    method: CommitMethod,
    log: Log,
    committers: u32,
    beside: Option<BesideLoad>,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// What stands for the drive: one committer, and the first size that was asked for. All others differ from it in one way.
    Main,
    OtherSize,
    Other,
}

pub struct Commit {
    setup: Setup,
    application: Option<Application>,
    prepared: Prepared,
    probes: VecDeque<PhaseKind>,
    cells: Vec<Cell>,
    order: Prng,
    rounds: u64,
    scale: f64,
    queue: VecDeque<Cell>,
    deciding: DecidingWrites,
    is_done: bool,
}

impl Commit {
    pub fn new(mut setup: Setup, request: &CommitRequest) -> Result<Commit, PlanError> {
        setup.check_writable(ExperimentName::Commit)?;
        let block = random_block(&setup.facts);
        setup.range = setup.range.align_inward(block);
        check_room(ExperimentName::Commit, setup.range.bytes(), RANGE_MIN)?;
        let mut sizes = Vec::new();
        for size in request.sizes() {
            if !(SIZE_MIN..=SIZE_MAX).contains(&size) {
                return Err(PlanError::CommitSize { size });
            }
            let size = size.round_up_to(setup.facts.logical_block);
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        let cells = all_cells(&setup, request, &sizes);
        let prepared = Prepared::new(ExperimentName::Commit, &setup, FILLING).and_warm_up(setup.range, block);
        let limit = setup.time_limit.unwrap_or(TIME);
        let before = Remaining { steps: prepared.steps() }.time().seconds() + 4.0;
        let usual: f64 = cells.iter().map(|cell| cell.time().seconds()).sum::<f64>() * ROUNDS as f64;
        let room = (limit.seconds() - before).max(0.2 * limit.seconds()) * ROUNDS_SHARE;
        Ok(Commit {
            order: Prng::new(setup.seed, ORDER_STREAM),
            probes: (0..ROUNDS)
                .flat_map(|_| [PhaseKind::WarmUp, PhaseKind::Precondition, PhaseKind::Verify])
                .collect(),
            application: request.application,
            scale: (room / usual).min(1.0),
            setup,
            prepared,
            cells,
            rounds: 0,
            queue: VecDeque::new(),
            deciding: DecidingWrites::default(),
            is_done: false,
        })
    }

    /// Random reads, random writes and random commits of a page, in turns: a flush that reaches the medium takes its time.
    fn probe(&self, kind: PhaseKind, range: ByteRange) -> Phase {
        let block = random_block(&self.setup.facts);
        let (name, mix) = match kind {
            PhaseKind::WarmUp => ("random reads, for comparison", OperationMix::Read),
            PhaseKind::Precondition => ("random writes, for comparison", OperationMix::Write),
            _ => {
                let cell = Cell::probe(block);
                ("random commits", OperationMix::Commit(cell.commits(None, None)))
            }
        };
        let workload = Workload::new(range, Pattern::RandomWithReplacement, mix, block, 1);
        let stop = StopCondition::after(PROBE_TIME).or_operations(PROBES);
        phase(ExperimentName::Commit, name.into(), kind, workload, stop)
    }

    fn phase(&self, cell: &Cell, range: ByteRange) -> Phase {
        let (log, other) = places(cell.log, range);
        let beside = cell.beside.map(|load| Beside { load, range: other });
        let mix = OperationMix::Commit(cell.commits(beside, self.application));
        let mut workload = Workload::new(log, Pattern::Sequential, mix, cell.write, 1);
        workload.threads = cell.committers;
        if cell.log != Log::Target {
            workload.caching = Caching::Buffered;
        }
        let time = Nanos::new((cell.time().as_f64() * self.scale) as u64);
        let mut stop = StopCondition::after(time);
        if matches!(cell.log, Log::Extend | Log::Preallocated) {
            stop.passes = Some(1);
        }
        measure(ExperimentName::Commit, cell.name(), workload, stop)
    }

    fn plan(&mut self, so_far: &RunView<'_>) {
        let mut next: Vec<Cell> = self.cells.clone();
        if self.rounds >= ROUNDS {
            let precision = self.setup.precision.unwrap_or(PRECISION);
            let known = cells(so_far);
            let main = main_cells(&known);
            let wide = main.iter().filter(|cell| match cell.quantile(Quantile::P99) {
                // Where commits are quick, one in a thousand is known soon as well.
                Some(p99) => p99.relative_half_width() > precision || cell.quantile(Quantile::P999).is_none(),
                None => true,
            });
            let sizes: Vec<Bytes> = wide.map(|cell| cell.key.write).collect();
            next.retain(|cell| cell.role != Role::Other && sizes.contains(&cell.write));
        }
        self.order.shuffle(&mut next);
        // To make logs takes as long as the file system wants: 64 of them, on a slow one, all of the time that there is.
        if self.rounds == 0 && self.setup.empty {
            next.sort_by_key(|cell| cell.role);
        }
        self.rounds += 1;
        self.queue.extend(next);
    }

    /// Whether it is a rate limit that commits wait for; files are no drive.
    fn decide(&mut self, so_far: &RunView<'_>, range: ByteRange) -> Option<Phase> {
        if self.setup.is_out_of_time(so_far) {
            return None;
        }
        let main = self.cells.first().filter(|cell| cell.log == Log::Target)?;
        let commits = self.phase(main, range).workload?;
        self.deciding.next(so_far, range, ExperimentName::Commit, &commits)
    }

    fn limit(&self) -> Nanos {
        self.setup.time_limit.unwrap_or(TIME)
    }
}

/// The part of a range that commits go to, and another for the load beside them. Logs of their own begin at 0.
fn places(log: Log, range: ByteRange) -> (ByteRange, ByteRange) {
    let half = Bytes::new(range.bytes().get() / 2).round_down_to(Bytes::from_mib(1));
    let of = |first: Offset, bytes| ByteRange::new(first, bytes).expect("a part of a range is one");
    match log {
        Log::Target => (of(range.first(), LOG.min(half)), of(range.first() + half, half)),
        Log::Extend | Log::Preallocated => (of(Offset::START, LOG.min(half)), range),
        Log::Overwrite => (of(Offset::START, OVERWRITTEN_LOG.min(half)), range),
        Log::OverwriteEach => (of(Offset::START, LOG_OF_EACH), range),
    }
}

fn all_cells(setup: &Setup, request: &CommitRequest, sizes: &[Bytes]) -> Vec<Cell> {
    // Only in a folder there are files of our own.
    let has_logs = setup.empty;
    let need = request.application.map(Application::need);
    let (method, log) = match need {
        _ if !has_logs => (CommitMethod::Fdatasync, Log::Target),
        Some(need) => (need.method, log_that_can_be(need.log, &setup.facts)),
        None => (CommitMethod::Fdatasync, log_that_can_be(Log::Preallocated, &setup.facts)),
    };
    let mut cells = Vec::new();
    let main = Cell { write: sizes[0], method, log, committers: 1, beside: None, role: Role::Main };
    cells.push(main);
    for size in &sizes[1..] {
        cells.push(Cell { write: *size, role: Role::OtherSize, ..main });
    }
    let plain = Cell { role: Role::Other, ..main };
    let (methods, logs) = match has_logs {
        true => (CommitMethod::ALL.to_vec(), vec![Log::Extend, Log::Preallocated, Log::Overwrite]),
        false => (vec![CommitMethod::Fdatasync, CommitMethod::WriteDsync], vec![Log::Target]),
    };
    for method in methods {
        for log in &logs {
            let can_be = *log == log_that_can_be(*log, &setup.facts);
            if can_be && (method, *log) != (plain.method, plain.log) {
                cells.push(Cell { method, log: *log, ..plain });
            }
        }
    }
    for committers in request.committers() {
        if *committers > 1 {
            cells.push(Cell { committers: *committers, ..plain });
            if has_logs {
                cells.push(Cell { committers: *committers, log: Log::OverwriteEach, ..plain });
            }
        }
    }
    for load in BesideLoad::ALL {
        cells.push(Cell { beside: Some(load), ..plain });
    }
    cells
}

/// Where nothing can be reserved (NFS before 4.2, 9p, ext3), what preallocates elsewhere extends its log: etcd falls back to that.
fn log_that_can_be(log: Log, facts: &TargetFacts) -> Log {
    match log {
        Log::Preallocated if facts.caveats.contains(&Caveat::Sparse) => Log::Extend,
        log => log,
    }
}

impl Cell {
    fn probe(write: Bytes) -> Cell {
        let (method, log) = (CommitMethod::Fdatasync, Log::Target);
        Cell { write, method, log, committers: 1, beside: None, role: Role::Other }
    }

    fn commits(&self, beside: Option<Beside>, application: Option<Application>) -> Commits {
        let application = if self.role == Role::Other { None } else { application };
        let is_main = self.role == Role::Main;
        Commits { method: self.method, log: self.log, is_main, beside, application }
    }

    fn time(&self) -> Nanos {
        if self.role != Role::Other || self.beside.is_some() { MAIN_TIME } else { CELL_TIME }
    }

    fn name(&self) -> String {
        let mut name = format!("commits of {}, {}, {}", self.write, self.method.name(), self.log.name());
        if self.committers > 1 {
            name += &format!(", {} committers", self.committers);
        }
        match self.beside {
            Some(load) => format!("{name}, beside {}", load.name().replace('-', " ")),
            None => name,
        }
    }
}

impl Experiment for Commit {
    fn next(&mut self, so_far: &RunView<'_>) -> Option<Phase> {
        if let Some(phase) = self.prepared.next() {
            return Some(phase);
        }
        if self.is_done {
            return None;
        }
        let range = self.prepared.range(self.setup.range, so_far)?;
        if let Some(kind) = self.probes.pop_front() {
            return Some(self.probe(kind, range));
        }
        if self.queue.is_empty() {
            self.plan(so_far);
        }
        // A round is begun only as long as there is time for its phases.
        let is_late = so_far.elapsed() >= self.limit();
        match self.queue.pop_front() {
            Some(cell) if !is_late => Some(self.phase(&cell, range)),
            _ => {
                self.queue.clear();
                let deciding = self.decide(so_far, range);
                self.is_done = deciding.is_none();
                deciding
            }
        }
    }

    fn remaining(&self) -> Remaining {
        if self.is_done {
            return Remaining::default();
        }
        let mut phases: Vec<Phase> =
            self.probes.iter().map(|kind| self.probe(*kind, self.setup.range)).collect();
        phases.extend(self.queue.iter().map(|cell| self.phase(cell, self.setup.range)));
        for _ in self.rounds..ROUNDS {
            phases.extend(self.cells.iter().map(|cell| self.phase(cell, self.setup.range)));
        }
        let mut steps = self.prepared.steps();
        steps.extend(Remaining::of(&phases).steps);
        Remaining { steps }
    }
}

#[cfg(test)]
mod tests;
