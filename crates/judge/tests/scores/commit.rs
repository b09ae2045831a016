//! Commits on drives whose truth is known: what flushes do, and the interval of the 99th percentile.

use crate::home::{Home, measured};
use judge::document::covers;
use judge::failure::Failure;
use judge::threads::on_two_threads;
use model::finding::FindingCode;
use sim::profile::preset_text;
use sim::truth::{TruthValue, of_code, truth_of};

/// As many as the figures in the documentation, where somebody asks for them; few in each run of the tests.
fn count(few: usize) -> usize {
    match std::env::var("DRIVESCOPE_COMMIT_TARGETS") {
        Ok(text) => text.parse().expect("a number of targets"),
        Err(_) => few,
    }
}

const POLICIES: [&str; 3] = ["honoured", "ignored", "protected"];
const FAMILIES: [&str; 3] = ["flash", "hard-disk", "shingled"];

/// A drawn drive of which flushes are as `policy` says. Those of flash store the mapping table, in 0.2 to 5 ms.
fn drive_text(seed: usize, policy: &str) -> String {
    let name = format!("random-{}-{}", FAMILIES[seed / 3 % 3], 5000 + seed);
    let text = preset_text(&name).expect("a drawn drive").replace("flush = \"protected\"\n", "");
    let flush_us = 200.0 * 25f64.powf((seed % 17) as f64 / 16.0);
    text.replace("[disk.write_cache]\n", &format!("[disk.write_cache]\nflush = \"{policy}\"\n")).replace(
        "[flash.buffer]\n",
        &format!("[flash.buffer]\nflush = \"{policy}\"\nflush_us = {flush_us:.1}\n"),
    )
}

#[test]
fn what_a_flush_does_is_found() {
    let targets = count(9);
    let outcomes = on_two_threads(targets, |seed| {
        let home = Home::new();
        let drive = home.drive(&format!("flush-{seed}"), &drive_text(seed, POLICIES[seed % 3]));
        let truths = truth_of(&drive.profile).expect("a sound drive");
        let TruthValue::Word(truth) = of_code(&truths, FindingCode::FlushHonoured).expect("a truth").value
        else {
            panic!("a word")
        };
        let run = measured("commit", &drive.target, &["--write", "--time-limit", "10s"]);
        let said = run.said(FindingCode::FlushHonoured).clone();
        let found = said["value"].as_str().map(str::to_owned);
        Ok::<_, Failure>((
            found.as_deref() == Some(truth),
            found.is_none(),
            format!("seed {seed}: {truth}: {said}"),
        ))
    })
    .expect("no failure");
    let unknown = outcomes.iter().filter(|(_, is_unknown, _)| *is_unknown).count();
    let wrong: Vec<&String> =
        outcomes.iter().filter(|(right, unknown, _)| !right && !unknown).map(|(.., line)| line).collect();
    let open: Vec<&String> =
        outcomes.iter().filter(|(_, unknown, _)| *unknown).map(|(.., line)| line).collect();
    eprintln!("{targets} targets: {} wrong, {unknown} unknown: {open:#?}", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(unknown * 10 <= targets, "{open:#?}");
}

/// The latency of a write has a log-normal distribution with a heavy tail; a flush adds a four-hundredth at most.
#[test]
fn the_99th_percentile_is_within_its_interval() {
    let targets = count(20);
    let covered = on_two_threads(targets, |seed| {
        let median_us = 2000.0 * 4f64.powf((seed % 29) as f64 / 28.0);
        let jitter = 0.3 + 1.2 * (seed % 13) as f64 / 12.0;
        let text = format!(
            "version = 1\nname = \"tail-{seed}\"\ndescription = \"heavy tail\"\n[identity]\ncapacity_bytes = 1000000000\n\
             [constant]\nlatency_us = 5\nwrite_latency_us = {median_us:.3}\njitter = {jitter:.4}\nservers = 64\n"
        );
        let home = Home::new();
        let drive = home.drive(&format!("tail-{seed}"), &text);
        let options = ["--write", "--time-limit", "30s", "--sizes", "8KiB", "--seed", &(7 * seed + 1).to_string()];
        let run = measured("commit", &drive.target, &options);
        // The 99th percentile of the normal distribution is 2.3263 deviations above its mean.
        let truth = median_us * 1e-6 * (2.326_348 * jitter).exp();
        let said = run.said(FindingCode::CommitLatency);
        assert!(run.value(FindingCode::CommitRate).is_some(), "{}", run.said(FindingCode::CommitRate));
        Ok::<_, Failure>(covers(said, truth))
    })
    .expect("no failure");
    let known: Vec<bool> = covered.into_iter().flatten().collect();
    let inside = known.iter().filter(|inside| **inside).count();
    eprintln!("{inside} of {} intervals hold the 99th percentile", known.len());
    // 95 % less three deviations of so few.
    let least = 0.95 - 3.0 * (0.95 * 0.05 / known.len() as f64).sqrt();
    assert!(
        known.len() * 10 >= targets * 9 && inside as f64 >= least * known.len() as f64,
        "{inside} of {}",
        known.len()
    );
}

/// Two drives that ship: 0.9 ms and 20 µs a commit.
#[test]
fn drives_are_held_against_limits() {
    let consumer =
        measured("commit", "sim:consumer-nvme-1tb", &["--write", "--for", "etcd", "--time-limit", "10s"]);
    assert_eq!(consumer.said(FindingCode::CommitVerdict)["value"], "yes");
    assert_eq!(consumer.said(FindingCode::CommitMethod)["value"], "fdatasync");
    let p99 = consumer.value(FindingCode::CommitLatency).expect("a percentile");
    assert!((p99 / 888e-6 - 1.0).abs() < 0.02, "{p99}");
    assert!(consumer.value(FindingCode::CommitInterference).expect("a ratio") > 1.1);
    let disk = measured("commit", "sim:dt01aca300", &["--write", "--for", "etcd", "--time-limit", "20s"]);
    assert_eq!(disk.said(FindingCode::CommitVerdict)["value"], "no");
    let no_limit =
        measured("commit", "sim:dc-nvme-1tb", &["--write", "--for", "postgresql", "--time-limit", "5s"]);
    assert!(no_limit.why(FindingCode::CommitVerdict).starts_with("PostgreSQL publishes no limit"));
}
