//! The header of a run: its name, when it began and ended, where, and the command that repeats it. The only place
//! that reads the wall clock.

use io::load::overhead::Overhead;
use io::rig::EngineFacts;
use jiff::{SignedDuration, Timestamp};
use model::run::{Environment, Run, RunStatus};
use model::target::{TargetFacts, TargetKind};
use model::units::Instant;

/// A virtual run takes place at this moment: the same profile, plan and seed give the same run, to the byte.
const VIRTUAL_START: Timestamp = Timestamp::UNIX_EPOCH;

/// What a run is named after.
pub struct Occasion<'run> {
    /// The experiment.
    pub experiment: &'static str,
    /// The command that repeats it, seed and all.
    pub command: String,
    /// Of all its randomness.
    pub seed: u64,
    /// What is known of the target, with what the probes found.
    pub facts: TargetFacts,
    /// What a virtual drive is made of: two profiles of one name give two runs.
    pub profile: Option<&'run str>,
    /// What it is measured with.
    pub engine: &'run EngineFacts,
    /// Whether requests go past the page cache.
    pub direct: bool,
    /// What the tool costs and the machine adds; none in virtual time.
    pub overhead: Option<Overhead>,
    /// What the reader should know, as sentences.
    pub warnings: Vec<String>,
    /// What the drive went through before, as sentences.
    pub state_before: Vec<String>,
}

/// A run that is about to begin.
pub fn begin(occasion: Occasion<'_>) -> Run {
    let Occasion {
        experiment,
        command,
        seed,
        facts,
        profile,
        engine,
        direct,
        overhead,
        warnings,
        state_before,
    } = occasion;
    let started = if facts.kind == TargetKind::Sim { VIRTUAL_START } else { Timestamp::now() };
    let is_virtual = facts.kind == TargetKind::Sim;
    let environment = Environment {
        host: if is_virtual { "virtual".into() } else { kernel_fact("hostname") },
        kernel: if is_virtual { "none".into() } else { kernel_fact("osrelease") },
        engine: engine.name.into(),
        engine_features: engine.features.clone(),
        direct,
        scheduler: facts.scheduler.clone(),
        own_cost_ns_per_io: overhead.map(|overhead| overhead.own_cost_ns_per_io),
        scheduling_gap_ns_max: overhead.map(|overhead| overhead.scheduling_gap.0),
        warnings,
    };
    Run {
        id: name(experiment, &command, seed, &facts, profile, started),
        started: started.to_string(),
        finished: None,
        status: RunStatus::Interrupted,
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        seed,
        target: facts,
        environment,
        state_before,
        state_after: Vec::new(),
        phases: Vec::new(),
        findings: Vec::new(),
    }
}

/// A run that another program made: named after its import, dated after its measurement if that is known.
pub fn imported(
    command: String,
    measured_unix_s: Option<u64>,
    target: TargetFacts,
    environment: Environment,
) -> Run {
    let now = Timestamp::now();
    let measured = measured_unix_s.and_then(|seconds| i64::try_from(seconds).ok());
    let started = measured.and_then(|seconds| Timestamp::from_second(seconds).ok()).unwrap_or(now);
    // Two imports within a second have different names if they are of different files.
    let digest = u64::from(crc32fast::hash(format!("{command}{environment:?}").as_bytes()));
    Run {
        id: name("import", &command, digest, &target, None, now),
        started: started.to_string(),
        finished: None,
        status: RunStatus::Complete,
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        seed: 0,
        target,
        environment,
        state_before: Vec::new(),
        state_after: Vec::new(),
        phases: Vec::new(),
        findings: Vec::new(),
    }
}

/// Ends it when its figures do.
pub fn finish_imported(run: &mut Run) {
    let nanos = run.phases.iter().map(|phase| phase.end_ns()).max();
    let took = SignedDuration::from_nanos(i64::try_from(nanos.unwrap_or(0)).unwrap_or(i64::MAX));
    let started: Option<Timestamp> = run.started.parse().ok();
    run.finished = started.map(|started| started.checked_add(took).unwrap_or(Timestamp::MAX).to_string());
}

/// Now, as RFC 3339 in UTC.
pub fn now() -> String {
    Timestamp::now().to_string()
}

/// When a run ended, whose clock shows `now`.
pub fn finished(run: &Run, now: Instant) -> String {
    if run.target.kind != TargetKind::Sim {
        return Timestamp::now().to_string();
    }
    let elapsed = SignedDuration::from_nanos(i64::try_from(now.0).unwrap_or(i64::MAX));
    VIRTUAL_START.checked_add(elapsed).unwrap_or(Timestamp::MAX).to_string()
}

/// A name that sorts by time: `20261121-210501-check-vda-3f2a`. That of a virtual run is drawn from all that decides
/// it instead: `sim-zoned-check-1f7c90ab`.
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

/// A part of a file's name: letters, digits, dots and dashes, and not too many.
fn plain(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).take(40).collect();
    plain.trim_matches('-').to_string()
}

fn kernel_fact(name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
    text.map_or_else(|_| "unknown".into(), |text| text.trim().to_string())
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
}
