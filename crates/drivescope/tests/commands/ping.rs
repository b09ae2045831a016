//! Latency over time of single reads at a fixed rate, on virtual drives whose answers are known.

use crate::program::Home;

fn latency(home: &Home, profile: &str) -> serde_json::Value {
    let path = home.folder.path().join("drive.toml");
    std::fs::write(&path, profile).expect("a file");
    let target = format!("sim:{}", path.display());
    let document = home.json(&["ping", &target, "--seed", "1", "-q"]);
    let findings = document["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["code"] == "read-latency").expect("the finding").clone()
}

const CONSTANT: &str = r#"
version = 1
name = "a"
description = "the same latency always"
sources = ["made up"]
[identity]
model = "a"
capacity_bytes = 1000000000
logical_block_bytes = 512
physical_block_bytes = 4096
rotational = false
trim = false
[constant]
latency_us = 250.0
servers = 1
"#;

#[test]
fn a_drive_that_always_takes_the_same_has_that_as_its_99th_percentile() {
    let found = latency(&Home::new(), CONSTANT);
    assert_eq!(found["data"]["reads"], 600);
    let within = |value: &serde_json::Value| (value.as_f64().expect("a number") / 250e-6 - 1.0).abs() < 0.005;
    assert!(within(&found["value"]) && within(&found["data"]["longest_s"]), "{found}");
}

/// In a stall of a second ten reads are due; each waits for what is left of it: 1.0, 0.9 … 0.1 s. Of 600 reads six are above the 99th
/// percentile, so that it is the wait of one of the middle ones. In a closed loop one read would have waited.
#[test]
fn a_stall_is_charged_to_each_read_that_it_held_up() {
    let stall = "[[faults]]\nkind = \"stall\"\nat_s = 20.0\nseconds = 1.0\n";
    let found = latency(&Home::new(), &format!("{CONSTANT}{stall}"));
    let number = |key: &str| found["data"][key].as_f64().expect("a number");
    assert!((0.9..1.01).contains(&number("longest_s")), "{found}");
    assert!((20.9..21.1).contains(&number("longest_at_s")), "{found}");
    assert!((0.3..0.7).contains(&found["value"].as_f64().expect("a number")), "{found}");
    assert!((number("median_s") / 250e-6 - 1.0).abs() < 0.005, "{found}");
}
