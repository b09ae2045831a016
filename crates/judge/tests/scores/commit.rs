//! Commits on drives whose truth is known: what flushes do, and the interval of the 99th percentile.

use crate::home::{Home, measured};
use judge::commits::drives::{Tail, of_policy};
use judge::document::covers;
use judge::failure::Failure;
use judge::threads::on_two_threads;
use model::finding::FindingCode;
use sim::truth::{TruthValue, of_code, truth_of};

/// As many as the figures in the documentation, where somebody asks for them; few in each run of the tests.
fn count(few: usize) -> usize {
    match std::env::var("DRIVESCOPE_COMMIT_TARGETS") {
        Ok(text) => text.parse().expect("a number of targets"),
        Err(_) => few,
    }
}

#[test]
fn what_a_flush_does_is_found() {
    let targets = count(9);
    let outcomes = on_two_threads(targets, |seed| {
        let home = Home::new();
        let drive = of_policy(&home.folder, 5000 + seed as u64)?;
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

#[test]
fn the_99th_percentile_is_within_its_interval() {
    let targets = count(20);
    let covered = on_two_threads(targets, |seed| {
        let home = Home::new();
        let tail = Tail::drawn(seed as u64);
        let drive = tail.drive(&home.folder, &format!("tail-{seed}"))?;
        let options =
            ["--write", "--time-limit", "30s", "--sizes", "8KiB", "--seed", &(7 * seed + 1).to_string()];
        let run = measured("commit", &drive.target, &options);
        let said = run.said(FindingCode::CommitLatency);
        assert!(run.value(FindingCode::CommitRate).is_some(), "{}", run.said(FindingCode::CommitRate));
        Ok::<_, Failure>(covers(said, tail.p99_s()))
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

/// All that ship with a volatile cache that honours flushes, the fastest page of which takes 131 µs.
#[test]
fn flushes_of_flash_that_ships_are_honoured() {
    let drives =
        ["660p", "870-qvo", "970-pro", "980-pro", "nm790", "sata-tlc-500gb", "x25-m", "consumer-nvme-1tb"];
    for name in drives {
        let run =
            measured("commit", &format!("sim:{name}"), &["--write", "--seed", "3", "--time-limit", "10s"]);
        assert_eq!(run.said(FindingCode::FlushHonoured)["value"], "honoured", "{name}");
    }
}

/// 8 servers that write in 2 ms: 500 commits/s of one committer, less the flush, and 4,000 of 64. A flush takes 5 µs.
#[test]
fn commits_per_second_are_those_of_the_servers() {
    let text = "version = 1\nname = \"servers\"\ndescription = \"8 servers\"\n[identity]\ncapacity_bytes = 1000000000\n\
                [constant]\nlatency_us = 5\nwrite_latency_us = 2000\nservers = 8\n";
    let home = Home::new();
    let drive = home.drive("servers", text);
    for seed in ["1", "2", "3", "4"] {
        let options = ["--write", "--time-limit", "20s", "--seed", seed];
        let run = measured("commit", &drive.target, &options);
        let rate = run.value(FindingCode::CommitRate).expect("a rate");
        assert!((rate / 4000.0 - 1.0).abs() < 0.02, "{rate}");
        let one = run.said(FindingCode::CommitRate)["data"]["one_per_second"].as_f64().expect("a rate");
        assert!((one / 500.0 - 1.0).abs() < 0.01, "{one}");
        // Whatever size comes first in the random order, the first that was asked for stands for the drive.
        assert_eq!(run.said(FindingCode::CommitLatency)["data"]["points"][0]["write_bytes"], 2048);
        // A virtual drive makes no difference between its two methods.
        let method = run.said(FindingCode::CommitMethod);
        assert_eq!(method["value"], "alike", "{method}");
        assert_eq!(method["data"]["alike"].as_array().expect("methods").len(), 2, "{method}");
    }
}

/// Two drives that ship: 0.9 ms and 20 µs a commit.
#[test]
fn drives_are_held_against_limits() {
    let consumer =
        measured("commit", "sim:consumer-nvme-1tb", &["--write", "--for", "etcd", "--time-limit", "10s"]);
    assert_eq!(consumer.said(FindingCode::CommitVerdict)["value"], "yes");
    let p99 = consumer.value(FindingCode::CommitLatency).expect("a percentile");
    assert!((p99 / 888e-6 - 1.0).abs() < 0.02, "{p99}");
    assert!(consumer.value(FindingCode::CommitInterference).expect("a ratio") > 1.1);
    let disk = measured("commit", "sim:dt01aca300", &["--write", "--for", "etcd", "--time-limit", "20s"]);
    assert_eq!(disk.said(FindingCode::CommitVerdict)["value"], "no");
    let no_limit =
        measured("commit", "sim:dc-nvme-1tb", &["--write", "--for", "postgresql", "--time-limit", "5s"]);
    assert!(
        no_limit.why(FindingCode::CommitVerdict).starts_with("No verdict: PostgreSQL publishes no limit")
    );
}
