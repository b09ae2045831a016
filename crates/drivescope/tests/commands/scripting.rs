//! The program in scripts: limits that a drive must meet, single values, exit statuses.

use crate::program::*;

#[test]
fn a_drive_is_accepted_or_refused_by_its_findings() {
    let home = Home::new();
    home.print(&["surface", "sim:st3000dm001", "--seed", "1", "--quiet"]);
    let cases: [(&[&str], i32, &str); 6] = [
        (&["read-rate-mean < 150MB/s"], 0, ""),
        (&["read-rate-mean < 200MB/s"], 3, "failed --fail-if 'read-rate-mean < 200MB/s': "),
        (&["read-rate-mean.high > 160MB/s"], 3, "failed --fail-if 'read-rate-mean.high > 160MB/s': "),
        (&["write-cliff < 20GB"], 1, "cannot decide --fail-if 'write-cliff < 20GB': "),
        (&["write-cliff < 20GB", "zone-ratio > 1.5"], 3, "failed --fail-if 'zone-ratio > 1.5': "),
        (&["read-rate-mean < 20GB"], 2, "is compared with a throughput such as 150MB/s, not with `20GB`"),
    ];
    for (conditions, status, says) in cases {
        let mut arguments = vec!["show"];
        for condition in conditions {
            arguments.extend(["--fail-if", condition]);
        }
        let outcome = home.run(&arguments);
        assert_eq!(outcome.status, Some(status), "{conditions:?}: {}", outcome.err);
        assert!(outcome.err.contains(says), "{conditions:?}: {}", outcome.err);
    }
}

#[test]
fn a_run_that_is_just_measured_is_judged_too() {
    let home = Home::new();
    let outcome = home.run(&["ping", "sim:constant", "--seed", "1", "--fail-if", "read-latency > 50us"]);
    assert_eq!(outcome.status, Some(3), "{}", outcome.err);
    assert!(outcome.err.contains("failed --fail-if 'read-latency > 50us'"), "{}", outcome.err);
    assert_eq!(home.runs().len(), 1, "the run is kept");
}

#[test]
fn a_line_is_all_that_is_printed() {
    let home = Home::new();
    let line = home.print(&[
        "ping",
        "sim:constant",
        "--seed",
        "1",
        "--format",
        "p99 {read-latency} {read-latency.unit}",
    ]);
    let value = line.strip_prefix("p99 ").and_then(|rest| rest.strip_suffix(" s\n")).expect("a value");
    let seconds: f64 = value.parse().expect("a number");
    let document = home.json(&["show"]);
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["code"] == "read-latency").expect("a latency");
    assert_eq!(found["value"], seconds);
    assert_eq!(home.print(&["show", "--format", "{write-cliff}"]), "unknown\n");
    let outcome = home.run(&["show", "--format", "{nothing}"]);
    assert_eq!(outcome.status, Some(2), "{}", outcome.err);
    assert!(outcome.err.contains("no finding is called `nothing`"), "{}", outcome.err);
}

#[test]
fn the_environment_names_the_store_and_the_option_overrides_it() {
    let home = Home::new();
    let place = |name: &str| home.folder.path().join(name).to_str().expect("a plain path").to_owned();
    let (of_environment, of_option) = (place("environment"), place("option"));
    for (option, expected) in [(&[][..], &of_environment), (&["--store", &of_option][..], &of_option)] {
        let mut command = home.command(&[&["show"], option].concat());
        let outcome = outcome(command.env("DRIVESCOPE_STORE", &of_environment));
        assert!(outcome.err.contains(&format!("no runs in {expected} yet")), "{}", outcome.err);
    }
}

#[test]
fn the_page_names_every_code() {
    let page = include_str!("../../../../docs/reference/scripting.md");
    for code in model::finding::FindingCode::ALL {
        assert!(page.contains(&format!("`{}`", code.name())), "{}", code.name());
    }
}
