//! `--dry-run`: what a run would take, on the page and as a document.

use crate::program::*;
use serde_json::Value;
use std::fs;

fn planned(home: &Home, words: &[&str]) -> Value {
    home.json(&[words, &["--seed", "1", "--dry-run"]].concat())
}

#[test]
fn the_plan_is_a_document() {
    let home = Home::new();
    let ping = planned(&home, &["ping", "sim:constant", "--time-limit", "20s"]);
    assert_eq!(ping["schema"], "drivescope.dry-run/1");
    assert_eq!((&ping["experiment"], &ping["target"]["path"]), (&"ping".into(), &"sim:constant".into()));
    assert_eq!((&ping["writes"], &ping["phases"]), (&false.into(), &2.into()));
    assert_eq!(
        (&ping["likely_ns"], &ping["longest_ns"]),
        (&20_000_000_000_u64.into(), &20_000_000_000_u64.into())
    );
    assert_eq!((&ping["bytes_read_max"], &ping["bytes_written_max"]), (&Value::Null, &0.into()));
    let read = planned(&home, &["surface", "sim:wd20ears", "--full"]);
    assert_eq!(read["bytes_read_max"].as_u64(), Some(2_000_398_934_016));
    let unbounded = planned(&home, &["sustain", "sim:smr-2tb", "--write"]);
    assert_eq!((&unbounded["writes"], &unbounded["longest_ns"]), (&true.into(), &Value::Null));
    assert!(!home.store().exists(), "a dry run makes no store");
}

#[test]
fn a_file_gets_the_document_beside_the_page() {
    let home = Home::new();
    let file = home.folder.path().join("plan.json");
    let path = file.to_str().expect("a plain path");
    let page = home.print(&["ping", "sim:constant", "--dry-run", "--json", path]);
    assert!(page.contains("\nCost\n"), "{page}");
    let plan = schema::document(&fs::read_to_string(&file).expect("it is written"));
    assert_eq!(plan["experiment"], "ping");
}

/// The phase under way ends by itself; nothing is begun after the limit.
#[test]
fn a_time_limit_bounds_the_plan_of_every_experiment() {
    let home = Home::new();
    for words in [
        &["check"][..],
        &["check", "--deep"],
        &["surface"],
        &["surface", "--full"],
        &["access"],
        &["geometry"],
        &["sizes"],
        &["ping"],
        &["sustain", "--write"],
        &["sustain", "--write", "--idle"],
        &["valleys", "--write"],
        &["valleys", "--write", "--condition", "mixed:10min"],
        &["verify", "--write", "--full"],
        &["commit", "--write"],
    ] {
        for target in ["sim:st3000dm001", "sim:consumer-nvme-1tb"] {
            let words = [&[words[0], target], &words[1..], &["--time-limit", "30s"]].concat();
            let plan = planned(&home, &words);
            let (likely, longest) = (plan["likely_ns"].as_u64(), plan["longest_ns"].as_u64());
            assert!(likely > Some(0) && likely <= longest, "{words:?}: {likely:?} {longest:?}");
            assert!(longest <= Some(30_000_000_000), "{words:?}: {longest:?}");
        }
    }
    for command in ["sizes", "valleys"] {
        let page = home.print(&[command, "sim:lying-stick", "--write", "--time-limit", "30s", "--dry-run"]);
        assert!(page.contains("takes   about 30 s\n"), "{page}");
    }
}
