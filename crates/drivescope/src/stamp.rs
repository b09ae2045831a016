//! The header of a run: its name, when it began and ended, where, and the command that repeats it. Only here the wall clock is read.

use io::engine::choice::EngineFacts;
use io::load::overhead::Overhead;
use jiff::{SignedDuration, Timestamp};
use model::run::{Asked, Environment, PhaseSummary, Run, RunStatus};
use model::target::{TargetFacts, TargetKind};
use model::units::Instant;

/// The date of virtual runs: the same profile, plan and seed give a byte-identical run.
const VIRTUAL_START: Timestamp = Timestamp::UNIX_EPOCH;

pub struct Occasion<'run> {
    pub asked: Asked,
    pub command: String,
    pub seed: u64,
    pub facts: TargetFacts,
    /// Of a virtual drive: two profiles of one name give two runs.
    pub profile: Option<&'run str>,
    pub engine: &'run EngineFacts,
    pub direct: bool,
    pub overhead: Option<Overhead>,
    pub warnings: Vec<String>,
    pub state_before: Vec<String>,
}

pub fn begin(occasion: Occasion<'_>) -> Run {
    let Occasion { asked, command, seed, facts, profile, engine, direct, overhead, warnings, state_before } =
        occasion;
    let started = if facts.kind == TargetKind::Sim { VIRTUAL_START } else { Timestamp::now() };
    let is_virtual = facts.kind == TargetKind::Sim;
    let environment = Environment {
        host: if is_virtual { "virtual".into() } else { kernel_fact("hostname") },
        kernel: if is_virtual { "none".into() } else { kernel_fact("osrelease") },
        engine: engine.name.clone(),
        engine_features: engine.features.clone(),
        direct,
        scheduler: facts.scheduler.clone(),
        own_cost_ns_per_io: overhead.map(|overhead| overhead.own_cost_ns_per_io),
        scheduling_gap_ns_max: overhead.map(|overhead| overhead.scheduling_gap.get()),
        warnings,
    };
    Run {
        id: name(asked.experiment.name(), &command, seed, &facts, profile, started),
        started: started.to_string(),
        finished: None,
        status: RunStatus::Interrupted,
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        asked: Some(asked),
        seed,
        target: facts,
        environment,
        state_before,
        state_after: Vec::new(),
        phases: Vec::new(),
        findings: Vec::new(),
    }
}

/// A run of another program: named by the time of its import, dated by its measurement if that is known.
pub fn imported(
    command: String,
    measured_unix_s: Option<u64>,
    target: TargetFacts,
    environment: Environment,
) -> Run {
    let now = Timestamp::now();
    let started = measured_unix_s.and_then(date_of).unwrap_or(now);
    // Imports of different files within a second get different names.
    let digest = u64::from(crc32fast::hash(format!("{command}{environment:?}").as_bytes()));
    Run {
        id: name("import", &command, digest, &target, None, now),
        started: started.to_string(),
        finished: None,
        status: RunStatus::Complete,
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        asked: None,
        seed: 0,
        target,
        environment,
        state_before: Vec::new(),
        state_after: Vec::new(),
        phases: Vec::new(),
        findings: Vec::new(),
    }
}

fn date_of(unix_s: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(unix_s).ok()?).ok()
}

pub fn finish_imported(run: &mut Run) {
    let end_ns = run.phases.iter().map(PhaseSummary::end_ns).max().unwrap_or(0);
    run.finished = after_start(run, end_ns).map(|finished| finished.to_string());
}

fn after_start(run: &Run, nanos: u64) -> Option<Timestamp> {
    let started: Timestamp = run.started.parse().ok()?;
    let time = SignedDuration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX));
    Some(started.checked_add(time).unwrap_or(Timestamp::MAX))
}

pub fn now() -> String {
    Timestamp::now().to_string()
}

/// By the wall clock, but not before what was measured could be: a clock that was set back meanwhile is not believed.
pub fn finished(run: &Run, now: Instant) -> String {
    let measured = after_start(run, now.get()).unwrap_or(VIRTUAL_START);
    match run.target.kind {
        TargetKind::Sim => measured.to_string(),
        _ => Timestamp::now().max(measured).to_string(),
    }
}

/// Sorts by time: `20261121-210501-check-vda-3f2a`. Of a virtual run, a checksum of all that determines it: `sim-zoned-check-1f7c90ab`.
fn name(
    experiment: &str,
    command: &str,
    seed: u64,
    facts: &TargetFacts,
    profile: Option<&str>,
    started: Timestamp,
) -> String {
    if facts.kind == TargetKind::Sim {
        let decided = format!("{}\n{command}\n{seed}\n{facts:?}\n{profile:?}", env!("CARGO_PKG_VERSION"));
        let digest = crc32fast::hash(decided.as_bytes());
        return format!("{}-{experiment}-{digest:08x}", plain(&facts.path.replace(':', "-")));
    }
    let last = facts.path.rsplit('/').map(plain).find(|part| !part.is_empty());
    let time = started.strftime("%Y%m%d-%H%M%S");
    format!("{time}-{experiment}-{}-{:04x}", last.as_deref().unwrap_or("here"), seed & 0xffff)
}

/// A part of a file's name: up to 40 letters, digits and dashes.
fn plain(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let plain = short.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    plain.trim_matches('-').to_string()
}

fn kernel_fact(name: &str) -> String {
    match std::fs::read_to_string(format!("/proc/sys/kernel/{name}")) {
        Ok(text) => text.trim().to_string(),
        Err(_) => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_file_names_that_sort_by_time() {
        let drive = sim::open("zoned", 1).expect("a drive that ships");
        let mut facts = drive.facts().clone();
        let moment: Timestamp = "2026-11-21T21:05:01Z".parse().unwrap();
        let virtual_name =
            |seed| name("check", "drivescope check sim:zoned", seed, &facts, Some("a"), VIRTUAL_START);
        assert_eq!(virtual_name(1), virtual_name(1));
        assert_ne!(virtual_name(1), virtual_name(2));
        assert!(virtual_name(1).starts_with("sim-zoned-check-"));
        let command = "drivescope check sim:zoned";
        assert_ne!(virtual_name(1), name("check", command, 1, &facts, Some("b"), VIRTUAL_START));
        facts.kind = TargetKind::Device;
        facts.path = "/dev/disk/by-id/../evil name\n".into();
        assert_eq!(name("check", "", 0x1_beef, &facts, None, moment), "20261121-210501-check-evil-name-beef");
        facts.path = ".".into();
        assert_eq!(name("check", "", 0, &facts, None, moment), "20261121-210501-check-here-0000");
    }

    #[test]
    fn a_clock_that_is_set_back_ends_no_run_before_it_began() {
        let mut facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
        facts.kind = TargetKind::Device;
        let year_2100_s = 4_102_444_800;
        let run = imported("drivescope check".into(), Some(year_2100_s), facts, Environment::default());
        assert_eq!(finished(&run, Instant::new(60_000_000_000)), "2100-01-01T00:01:00Z");
    }
}
