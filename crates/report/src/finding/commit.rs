//! Words for findings of commits.

use super::numbers::{block, listed, number, short_time, with_interval};
use super::{Group, RATE_LIMITED, Reason, Subject, Wording};
use crate::quantity::measured;
use crate::style::Tone;
use model::commit::{Application, BesideLoad, CommitMethod, Log};
use model::finding::{
    CommitInterference, CommitLatency, CommitPoint, CommitRate, CommitUnknown, CommitVerdict, CrowdRates,
    FastestCommit, FindingCode, Fitness, FlushEffect, FlushEvidence, FlushHonoured, FlushUnknown, GainBy,
    Known, Percentile, VerdictUnknown,
};

/// What helps where no method and no other load does.
const PROTECTED_DRIVE: &str =
    "Put the log on an SSD with power-loss protection: its commits need not wait for the medium.";

fn method(method: CommitMethod) -> &'static str {
    match method {
        CommitMethod::Fdatasync => "fdatasync",
        CommitMethod::Fsync => "fsync",
        CommitMethod::OpenDsync => "O_DSYNC",
        CommitMethod::WriteDsync => "RWF_DSYNC",
        CommitMethod::Linked => "io_uring (linked fdatasync)",
    }
}

fn log(log: Log) -> &'static str {
    match log {
        Log::Extend => "a growing file",
        Log::Preallocated => "a preallocated file",
        Log::Overwrite => "an existing file",
        Log::OverwriteEach => "a file for each thread",
        Log::Target => "blocks overwritten in place",
    }
}

fn load(load: BesideLoad) -> &'static str {
    match load {
        BesideLoad::RandomReads => "random reads",
        BesideLoad::SequentialWrites => "sequential writes",
    }
}

fn program(application: Application) -> &'static str {
    match application {
        Application::Etcd => "etcd",
        Application::Postgresql => "PostgreSQL",
        Application::Mysql => "MySQL",
        Application::Kafka => "Kafka",
        Application::Zookeeper => "ZooKeeper",
        Application::Consul => "Consul",
        Application::Sqlite => "SQLite",
    }
}

/// Ends of an interval that differ by more leave one digit of the value.
const WIDE_RATIO: f64 = 1.5;

fn percentile(value: Option<Percentile>, name: &str) -> String {
    match value {
        // Rounded to what so wide an interval supports, it would read as less than the percentiles below it.
        Some(Percentile { seconds, low, high }) if high > WIDE_RATIO * low => {
            let [seconds, low, high] = [seconds, low, high].map(short_time);
            format!("{name} {seconds} ({low} to {high})")
        }
        Some(Percentile { seconds, low, high }) => {
            format!("{name} {}", with_interval(seconds, low, high, "s"))
        }
        None => format!("{name} not measured (too few commits)"),
    }
}

impl Reason for CommitUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::TooFew { have: 0 } => {
                "Inconclusive: the run ended before these commits were measured. Raise --time-limit.".into()
            }
            Self::TooFew { have } => format!(
                "Inconclusive: too few commits completed ({have}; a 99th percentile needs 368). Raise --time-limit."
            ),
            Self::Failed { why } => format!("Commits failed: {why}. Nothing was retried."),
            Self::NothingToCompare => {
                "Inconclusive: no second method was measured before the run ended. Raise --time-limit.".into()
            }
            Self::RateLimited => RATE_LIMITED.into(),
            Self::NothingDurable => {
                "Inconclusive: no method is durable here. The target is in memory, or commits complete before the medium can have the data.".into()
            }
        }
    }
}

impl Wording for CommitLatency {
    const PLACE: (Group, &'static str) = (Group::Commits, "Commit latency, p99");

    fn headline(known: &Known<CommitLatency>, _: FindingCode, _: &Subject<'_>) -> String {
        known.conclusion.points.first().map(percentiles).unwrap_or_default()
    }

    fn statement(known: &Known<CommitLatency>, _: FindingCode, _: &Subject<'_>) -> String {
        let latency = &known.conclusion;
        let sentences: Vec<String> = latency.points.iter().map(percentiles).collect();
        format!("{} One thread, {}, {}.", sentences.join(" "), method(latency.method), log(latency.log))
    }
}

fn percentiles(point: &CommitPoint) -> String {
    format!(
        "Commit latency of {} writes: {}, {}, {}.",
        block(point.write_bytes),
        percentile(point.p50, "p50"),
        percentile(point.p99, "p99"),
        percentile(point.p999, "p99.9"),
    )
}

impl Wording for CommitRate {
    const PLACE: (Group, &'static str) = (Group::Commits, "Peak commit rate");

    fn statement(known: &Known<CommitRate>, _: FindingCode, _: &Subject<'_>) -> String {
        let CommitRate { best, best_committers, best_separate_files, one_per_second, points } =
            &known.conclusion;
        let (one, best_rate) = (number(*one_per_second), measured(best, "").value);
        if points.len() <= 1 {
            return format!("One thread reaches {one} commits/s.");
        }
        if *best_committers == 1 {
            return format!("One thread reaches {one} commits/s; more threads add none.");
        }
        let times = |rate: f64| rate / one_per_second;
        let gain = with_interval(times(best.value), times(best.low), times(best.high), "ratio");
        let log = if *best_separate_files { ", each with its own log," } else { " on one log" };
        format!(
            "{best_committers} threads{log} reach {best_rate} commits/s, {gain} the rate of one thread ({one})."
        )
    }
}

impl Wording for FastestCommit {
    const PLACE: (Group, &'static str) = (Group::Commits, "Fastest commit method");

    fn statement(known: &Known<FastestCommit>, _: FindingCode, _: &Subject<'_>) -> String {
        let FastestCommit { alike, log: to, gain, points, not_durable } = &known.conclusion;
        let names: Vec<String> = alike.iter().map(|alike| method(*alike).to_string()).collect();
        let verb = if names.len() == 1 { "is fastest" } else { "are equally fast" };
        let on = to.map_or(String::new(), |to| format!(" on {}", log(to)));
        let mut text = format!("{} {verb}{on}", listed(&names));
        if let (Some(best), Some(last)) = (points.first(), points.last()) {
            let median = with_interval(best.p50_s, best.p50_low_s, best.p50_high_s, "s");
            text += &format!(": median {median}.");
            if *gain > 1.0 {
                text += &format!(" That is {} × faster than the default method.", number(*gain));
            }
            if points.len() > alike.len() {
                text +=
                    &format!(" The slowest of {} methods takes {}.", points.len(), short_time(last.p50_s));
            }
        }
        if !not_durable.is_empty() {
            let lost: Vec<&str> = not_durable.iter().map(|lost| method(*lost)).collect();
            text += &format!(" Not durable here: {}.", lost.join(", "));
        }
        text
    }
}

impl Wording for CommitInterference {
    const PLACE: (Group, &'static str) = (Group::Commits, "Commit p99, loaded/idle");

    fn statement(known: &Known<CommitInterference>, _: FindingCode, _: &Subject<'_>) -> String {
        let CommitInterference { alone_p99_s, points, .. } = &known.conclusion;
        let loaded = points.iter().map(|point| {
            format!(
                "{} with concurrent {} ({} ×)",
                short_time(point.p99_s),
                load(point.load),
                number(point.ratio)
            )
        });
        let loaded: Vec<String> = loaded.collect();
        format!("Commit latency, p99: {} idle, {}.", short_time(*alone_p99_s), loaded.join(", "))
    }
}

fn seen(evidence: &FlushEvidence) -> String {
    let cache = match evidence.reports_volatile_cache {
        Some(true) => "the drive reports a volatile write cache",
        Some(false) => "the drive reports no volatile write cache",
        None => "the drive reports nothing of a write cache",
    };
    format!(
        "Medians of random 4 KiB I/O: reads {}, writes without a flush {}, commits {}; {cache}.",
        short_time(evidence.read_s),
        short_time(evidence.write_s),
        short_time(evidence.commit_s),
    )
}

impl Wording for FlushHonoured {
    const PLACE: (Group, &'static str) = (Group::Sound, "Flush");

    fn headline(known: &Known<FlushHonoured>, _: FindingCode, _: &Subject<'_>) -> String {
        let headline = match known.conclusion.effect {
            FlushEffect::Honoured => {
                "Commits take long enough for the data to have reached the medium, so flushes appear to be honoured."
            }
            FlushEffect::Ignored => {
                "Flushes appear to be ignored: commits complete before the medium can have them, from a cache that is volatile."
            }
            FlushEffect::Protected => {
                "Commits complete in a cache that is reported as non-volatile (power-loss protection)."
            }
        };
        headline.into()
    }

    fn statement(known: &Known<FlushHonoured>, code: FindingCode, subject: &Subject<'_>) -> String {
        let what = Self::headline(known, code, subject);
        let below = if subject.target.caveats.contains(&model::target::Caveat::VirtualDisk) {
            " What the hypervisor does below is not seen."
        } else {
            ""
        };
        format!("{what} {}{below}", seen(&known.conclusion.seen))
    }

    fn advice(known: &Known<FlushHonoured>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        match known.conclusion.effect {
            FlushEffect::Ignored => {
                Some("Keep no database on it, unless its data sheet promises power-loss protection.".into())
            }
            FlushEffect::Honoured | FlushEffect::Protected => None,
        }
    }

    fn alarm(known: &Known<FlushHonoured>, _: FindingCode) -> Option<Tone> {
        match known.conclusion.effect {
            FlushEffect::Ignored => Some(Tone::Bad),
            FlushEffect::Honoured | FlushEffect::Protected => None,
        }
    }
}

impl Reason for FlushUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::InMemory => "The target is in memory: nothing written here is durable.".into(),
            Self::Network => {
                "Inconclusive: on a network file system the server decides what is durable.".into()
            }
            Self::Failed { commits } => format!(
                "{commits} commits failed: data that were acknowledged before may be lost. Nothing was retried. Check the drive and `dmesg`."
            ),
            Self::TooFew { reads, writes, commits } => format!(
                "Inconclusive: 20 random reads, writes and commits each have to complete; missing are {}. Raise --time-limit.",
                missing(&[(*reads, "reads"), (*writes, "writes"), (*commits, "commits")])
            ),
            Self::Hypervisor(evidence) => format!(
                "Inconclusive: commits are faster than a medium, and a hypervisor lends this disk. {} Ask for its cache mode.",
                seen(evidence)
            ),
            Self::Unreported(evidence) => format!(
                "Inconclusive: commits are faster than a medium: flushes are ignored, or the cache is protected. {}",
                seen(evidence)
            ),
            Self::DurableByItself(evidence) => format!(
                "Inconclusive: a flush adds no time, and writes are slow enough to be durable by themselves. {}",
                seen(evidence)
            ),
            Self::Unclear(evidence) => format!(
                "Inconclusive: commits are neither as slow as a medium nor as fast as a cache. {}",
                seen(evidence)
            ),
        }
    }
}

fn missing(completed: &[(u64, &str)]) -> String {
    let mut missing = Vec::new();
    for (have, name) in completed {
        match 20u64.saturating_sub(*have) {
            0 => {}
            20 => missing.push(format!("all {name}")),
            left => missing.push(format!("{left} {name}")),
        }
    }
    missing.join(", ")
}

fn crowd(rates: &CrowdRates) -> String {
    let CrowdRates { one_per_second, crowd, crowd_per_second } = rates;
    let one = format!("One thread reaches {} commits/s", number(*one_per_second));
    if *crowd == 1 {
        format!("{one}.")
    } else {
        format!("{one}, {crowd} threads on one log about {}.", number(two_digits(*crowd_per_second)))
    }
}

/// Rates of many threads have wider intervals than a third digit.
fn two_digits(rate: f64) -> f64 {
    let unit = 10f64.powf(rate.max(1.0).log10().floor() - 1.0);
    (rate / unit).round() * unit
}

impl Wording for CommitVerdict {
    const PLACE: (Group, &'static str) = (Group::Commits, "Fast enough");

    fn narrower_label(known: &Known<CommitVerdict>) -> Option<&'static str> {
        Some(match known.conclusion.application {
            Application::Etcd => "Fast enough for etcd",
            Application::Postgresql => "Fast enough for PostgreSQL",
            Application::Mysql => "Fast enough for MySQL",
            Application::Kafka => "Fast enough for Kafka",
            Application::Zookeeper => "Fast enough for ZooKeeper",
            Application::Consul => "Fast enough for Consul",
            Application::Sqlite => "Fast enough for SQLite",
        })
    }

    fn statement(known: &Known<CommitVerdict>, _: FindingCode, _: &Subject<'_>) -> String {
        let verdict = &known.conclusion;
        let name = program(verdict.application);
        let answer = match verdict.fitness {
            Fitness::Yes => format!("Fast enough for {name}"),
            Fitness::No => format!("Too slow for {name}"),
            Fitness::Edge => format!("At the edge for {name}"),
        };
        let shown = format!("p{} commit latency", (verdict.percentile.get() * 1e4).round() / 1e2);
        let within = match verdict.probability {
            0.999.. => "more than 99.9".to_string(),
            0.001.. => number(100.0 * verdict.probability),
            _ => "less than 0.1".into(),
        };
        format!(
            "{answer}: {}, limit {}. Probability that it is within the limit: {within} %. {}",
            percentile(verdict.latency, &shown),
            short_time(verdict.limit_s),
            crowd(&verdict.rates)
        )
    }

    fn advice(known: &Known<CommitVerdict>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let Some(gain) = known.conclusion.gains.first() else {
            return match known.conclusion.fitness {
                Fitness::No => Some(PROTECTED_DRIVE.into()),
                Fitness::Edge | Fitness::Yes => None,
            };
        };
        let ratio = number(gain.ratio);
        Some(match gain.what {
            GainBy::Way(how, to) => {
                format!("Commit by {} to {}: the 99th percentile is {ratio} × lower.", method(how), log(to))
            }
            // A load within the limit costs nothing that matters.
            GainBy::OwnDisk(_)
                if known.conclusion.latency?.seconds * gain.ratio <= known.conclusion.limit_s =>
            {
                return None;
            }
            GainBy::OwnDisk(other) => format!(
                "Give the log a dedicated disk: with concurrent {}, p99 is {ratio} × higher and over the limit.",
                load(other)
            ),
        })
    }

    fn alarm(known: &Known<CommitVerdict>, _: FindingCode) -> Option<Tone> {
        match known.conclusion.fitness {
            Fitness::No => Some(Tone::Bad),
            Fitness::Edge => Some(Tone::Warning),
            Fitness::Yes => None,
        }
    }
}

impl Reason for VerdictUnknown {
    fn why(&self, code: FindingCode, subject: &Subject<'_>) -> String {
        match self {
            Self::NoLimit { application, rates, .. } => {
                format!("No verdict: {} publishes no limit for commit latency. {}", program(*application), crowd(rates))
            }
            Self::TooFew { have } => CommitUnknown::TooFew { have: *have }.why(code, subject),
            Self::InMemory => {
                "Not measured: the target is in memory, so nothing written here is durable. Give a folder on a drive.".into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement, why};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::{CommitGain, MethodPoint, Percentile, RatePoint};
    use model::units::Quantile;

    fn verdict() -> CommitVerdict {
        CommitVerdict {
            fitness: Fitness::Edge,
            application: Application::Etcd,
            percentile: Quantile::P99,
            limit_s: 0.01,
            latency: Some(Percentile { seconds: 0.0098, low: 0.0091, high: 0.0112 }),
            probability: 0.62,
            rates: CrowdRates { one_per_second: 118.0, crowd: 64, crowd_per_second: 2310.0 },
            gains: vec![CommitGain {
                what: GainBy::Way(CommitMethod::Fdatasync, Log::Overwrite),
                ratio: 1.9,
            }],
            source: "etcd",
        }
    }

    #[test]
    fn a_rate_says_whether_threads_share_a_log() {
        let point =
            |committers, per_second| RatePoint { committers, separate_files: false, per_second, p99_s: None };
        let mut rate = CommitRate {
            best: Estimate {
                value: 1200.0,
                low: 1100.0,
                high: 1300.0,
                confidence: 0.95,
                effective_count: 6.0,
            },
            best_committers: 64,
            best_separate_files: false,
            one_per_second: 120.0,
            points: vec![point(1, 120.0), point(64, 1200.0)],
        };
        let said = |rate: &CommitRate| statement(&known(rate.clone()), FindingCode::CommitRate);
        assert_eq!(
            said(&rate),
            "64 threads on one log reach 1,200 commits/s, 10.0 × (9.2 to 10.8) the rate of one thread (120)."
        );
        rate.best_separate_files = true;
        assert!(said(&rate).starts_with("64 threads, each with its own log, reach 1,200"), "{}", said(&rate));
    }

    #[test]
    fn a_verdict_says_how_sure_it_is_and_what_would_help() {
        assert_eq!(
            statement(&known(verdict()), FindingCode::CommitVerdict),
            "At the edge for etcd: p99 commit latency 9.8 ms (9.1 to 11.2), limit 10.0 ms. Probability that it is within the limit: 62.0 %. One \
             thread reaches 118 commits/s, 64 threads on one log about 2,300."
        );
        assert_eq!(
            advice(&known(verdict()), FindingCode::CommitVerdict).as_deref(),
            Some("Commit by fdatasync to an existing file: the 99th percentile is 1.90 × lower.")
        );
    }

    #[test]
    fn where_nothing_else_helps_another_drive_does() {
        let slow = CommitVerdict { fitness: Fitness::No, gains: Vec::new(), ..verdict() };
        assert_eq!(
            advice(&known(slow), FindingCode::CommitVerdict).as_deref(),
            Some(
                "Put the log on an SSD with power-loss protection: its commits need not wait for the medium."
            )
        );
    }

    fn point(method: CommitMethod, log: Log, p50_s: f64) -> MethodPoint {
        let (p50_low_s, p50_high_s) = (0.9 * p50_s, 1.1 * p50_s);
        MethodPoint { method, log, p50_s, p50_low_s, p50_high_s, p99_s: None }
    }

    #[test]
    fn methods_that_nothing_tells_apart_are_alike() {
        let mut found = FastestCommit {
            alike: vec![CommitMethod::Fdatasync, CommitMethod::OpenDsync],
            log: None,
            gain: 1.0,
            points: vec![
                point(CommitMethod::Fdatasync, Log::Overwrite, 1e-3),
                point(CommitMethod::OpenDsync, Log::Extend, 1.05e-3),
            ],
            not_durable: vec![CommitMethod::WriteDsync],
        };
        assert_eq!(
            statement(&known(found.clone()), FindingCode::CommitMethod),
            "fdatasync and O_DSYNC are equally fast: median 1.00 ms (0.90 to 1.10). Not durable here: RWF_DSYNC."
        );
        (found.alike, found.log, found.gain) = (vec![CommitMethod::Fdatasync], Some(Log::Overwrite), 2.0);
        assert!(
            statement(&known(found), FindingCode::CommitMethod)
                .starts_with("fdatasync is fastest on an existing file: median 1.00 ms")
        );
    }

    #[test]
    fn what_was_missing_is_said() {
        let too_few = FlushUnknown::TooFew { reads: 20, writes: 17, commits: 0 };
        assert_eq!(
            why::<FlushHonoured>(&too_few, FindingCode::FlushHonoured),
            "Inconclusive: 20 random reads, writes and commits each have to complete; missing are 3 writes, all commits. \
             Raise --time-limit."
        );
        let none = CommitUnknown::TooFew { have: 0 };
        assert!(why::<CommitRate>(&none, FindingCode::CommitRate).contains("ended before"));
    }

    #[test]
    fn a_failed_flush_is_called_data_loss() {
        let failed = FlushUnknown::Failed { commits: 1 };
        assert!(why::<FlushHonoured>(&failed, FindingCode::FlushHonoured).contains("may be lost"));
        let memory = why::<FlushHonoured>(&FlushUnknown::InMemory, FindingCode::FlushHonoured);
        assert_eq!(memory, "The target is in memory: nothing written here is durable.");
    }
}
