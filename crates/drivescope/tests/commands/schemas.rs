//! Every document is as its schema in docs/schema/ says. [`Home::json`] holds what it reads against them in all tests.

use crate::power_cut;
use crate::program::*;
use serde_json::json;
use sim::profile::preset_names;
use std::collections::BTreeSet;
use std::fs;

/// What is given back after a kill is tested in `preserve.rs`, what serves in `mount.rs` and `serve.rs`, and
/// a lake by the Python package, which writes it.
const ELSEWHERE: [&str; 4] =
    ["drivescope.fleet/1", "drivescope.mount/1", "drivescope.restored/1", "drivescope.serve/1"];

#[test]
fn every_document_is_as_its_schema_says() {
    let home = Home::new();
    let folder = home.folder.path().join("data");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.to_str().expect("a plain path");
    let mut documents = vec![
        home.json(&["check", folder, "--max-size", "16MiB", "--time-limit", "5s", "--seed", "1", "-q"]),
        home.json(&["surface", "sim:st3000dm001", "--seed", "1", "-q"]),
        home.json(&["surface", "sim:wd20ears", "--seed", "1", "--time-limit", "20s", "-q"]),
        home.json(&["state", folder]),
        home.json(&["choose", "--tolerate-fall", "no", "--daily", "200GB", "--random", "2%", "sim:smr-2tb"]),
        power_cut::written().check().1,
    ];
    let image = home.folder.path().join("image");
    fs::write(&image, noise(1 << 20)).expect("an image");
    let page = home.folder.path().join("page.html");
    for words in [
        &["purge", image.to_str().expect("a plain path"), "--dry-run"][..],
        &["ping", "sim:constant", "--dry-run"],
        &["report", "-o", page.to_str().expect("a plain path")],
        &["sim", "reproduce", "A"],
        &["compare", "sim-st3000dm001-surface", "sim-wd20ears-surface"],
        &["config"],
        &["estimate"],
        &["help", "queue", "depth"],
        &["help"],
        &["list"],
        &["plan", "last", "--fast", "10%"],
        &["restore"],
        &["runs"],
        &["sim", "list"],
        &["sim", "show", "smr-2tb"],
    ] {
        documents.push(home.json(words));
    }
    for drive in preset_names() {
        documents.push(schema::document(&home.print(&["sim", "truth", drive, "--json"])));
    }
    documents.push(schema::document(&home.print(&["export", "--all", "--format", "json", "-o", "-"])));
    for run in home.runs() {
        let kept = home.store().join("runs").join(run);
        for file in ["run.json", "state.json"] {
            if let Ok(text) = fs::read_to_string(kept.join(file)) {
                documents.push(schema::document(&text));
            }
        }
    }
    let seen: BTreeSet<&str> = documents.iter().filter_map(|document| document["schema"].as_str()).collect();
    let unseen: Vec<_> = schema::names().into_iter().filter(|name| !seen.contains(name)).collect();
    assert_eq!(unseen, ELSEWHERE);
}

/// Every kind of experiment, so that each finding meets the schema of its data.
#[test]
fn every_experiment_is_as_its_schema_says() {
    let home = Home::new();
    for words in [
        &["check", "sim:faulty", "--deep"][..],
        &["access", "sim:st3000dm001"],
        &["geometry", "sim:st3000dm001", "--time-limit", "60s"],
        &["sustain", "sim:sata-tlc-500gb", "--write", "--idle"],
        &["valleys", "sim:x25-m", "--write", "--range", "0..24GiB", "--passes", "3"],
        &["sizes", "sim:st3000dm001"],
        &["ping", "sim:constant"],
        &["commit", "sim:consumer-nvme-1tb", "--write", "--for", "etcd"],
        &["verify", "sim:lying-stick", "--write"],
        &["surface", "sim:faulty", "--full", "--range", "299GB..301GB"],
    ] {
        home.json(&[words, &["--seed", "1", "-q"]].concat());
    }
}

#[test]
fn a_schema_refuses_what_is_wrong() {
    let home = Home::new();
    let sound = home.json(&["surface", "sim:wd20ears", "--seed", "1", "--time-limit", "20s", "-q"]);
    let findings = sound["findings"].as_array().expect("findings");
    let known = findings.iter().position(|finding| finding["code"] == "zone-table").expect("zones");
    for (place, wrong) in [
        ("/run/seed".to_owned(), json!("1")),
        ("/run/status".to_owned(), json!("finished")),
        ("/target/capacity_bytes".to_owned(), json!(null)),
        ("/phases/0/workload/pattern/kind".to_owned(), json!("zigzag")),
        (format!("/findings/{known}/evidence"), json!(0)),
        (format!("/findings/{known}/data/zones"), json!({})),
        (format!("/findings/{known}/data"), json!({ "key": "unheard of" })),
    ] {
        let mut document = sound.clone();
        *document.pointer_mut(&place).expect(&place) = wrong;
        assert!(!schema::flaws(&document).is_empty(), "{place} is wrong");
    }
}
