//! `import` as a user has it: the results of articles A and C give their conclusions, what is not known is said, and a text that cannot be read is
//! refused with its place.

use crate::program::*;
use serde_json::Value;

/// A sample of what a program prints.
fn sample(name: &str) -> String {
    format!("{}/../import/tests/samples/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn imported(home: &Home, samples: &[&str], rest: &[&str]) -> Value {
    let files: Vec<String> = samples.iter().map(|name| sample(name)).collect();
    let mut words = vec!["import"];
    words.extend(files.iter().map(String::as_str));
    words.extend(rest);
    home.json(&words)
}

fn finding<'value>(document: &'value Value, code: &str) -> &'value Value {
    let findings = document["findings"].as_array().expect("findings");
    findings
        .iter()
        .find(|finding| finding["code"] == code)
        .unwrap_or_else(|| panic!("no {code} in {findings:?}"))
}

fn has(document: &Value, code: &str) -> bool {
    document["findings"].as_array().expect("findings").iter().any(|finding| finding["code"] == code)
}

fn value(document: &Value, code: &str) -> f64 {
    finding(document, code)["value"].as_f64().unwrap_or_else(|| panic!("{code}: {}", finding(document, code)))
}

const QUARTERS: [&str; 4] = [
    "bonnie-1.03-outer-1.txt",
    "bonnie-1.03-outer-2.txt",
    "bonnie-1.03-inner-3.txt",
    "bonnie-1.03-inner-4.txt",
];

#[test]
fn the_four_results_of_article_a_give_its_conclusions() {
    let home = Home::new();
    let run = imported(&home, &QUARTERS, &["--partitions", "--capacity", "2TB", "--kind", "disk"]);
    // 145385 over 96856 KiB a second.
    assert!((value(&run, "zone-ratio") - 1.501_043).abs() < 1e-5);
    let ratio = finding(&run, "zone-ratio");
    assert_eq!((&ratio["low"], &ratio["data"]["single_figure"]), (&Value::Null, &Value::Bool(true)));
    let text = ratio["statement"].as_str().unwrap();
    assert!(text.starts_with(
        "Reads are 1.50 × as fast in the first 25 % of the drive as in the last 25 % (a single figure)."
    ));
    assert!(text.contains("reads byte by byte 1.16 × (processor busy 81 %)"), "{text}");
    assert!(text.contains("writes 1.55 ×"), "{text}");
    assert!(
        text.contains("211 IOPS at the start, 206 at the end, no more apart than those between"),
        "{text}"
    );
    assert!((value(&run, "read-rate-outer") / 1e6 - 148.874).abs() < 0.001);
    assert!((value(&run, "write-rate-inner") / 1e6 - 77.978).abs() < 0.001);
    assert!(!has(&run, "interface-limit"));
    assert!(finding(&run, "access-time")["value"].is_null());
}

#[test]
fn by_usb_2_the_interface_is_the_limit() {
    let home = Home::new();
    let files = ["bonnie-1.03-usb-outer.txt", "bonnie-1.03-usb-inner.txt"];
    let places = ["--position", "0%..25%", "--position", "75%..100%", "--capacity", "2TB"];
    let disk = imported(&home, &files, &[&places[..], &["--kind", "disk"]].concat());
    let limit = finding(&disk, "interface-limit");
    assert_eq!(limit["data"]["link"], "USB 480 Mbit/s");
    assert!((limit["value"].as_f64().unwrap() / 1e6 - 34.18).abs() < 0.01);
    assert!(
        finding(&disk, "zone-ratio")["statement"]
            .as_str()
            .unwrap()
            .starts_with("Reads are as fast in the last 25 %")
    );
    // Flash is as fast everywhere without anything in its way.
    let unknown = imported(&home, &files, &places);
    assert!(finding(&unknown, "interface-limit")["value"].is_null());
    assert!(!has(&imported(&home, &files, &[&places[..], &["--kind", "flash"]].concat()), "interface-limit"));
}

#[test]
fn the_full_pass_of_article_c_is_as_long_as_it_was() {
    let home = Home::new();
    let run = imported(&home, &["dd-full-pass.txt"], &["--model", "ST3000DM001"]);
    assert!((value(&run, "full-pass-time") - 17_922.9).abs() < 0.001);
    assert!((value(&run, "read-rate-mean") / 1e6 - 167.417).abs() < 0.001);
    assert!((value(&run, "zone-ratio") - 2.0242).abs() < 0.001);
    assert_eq!(run["target"]["capacity_bytes"], 3_000_592_982_016u64);
    let areas = imported(&home, &["dd-areas.txt"], &["--capacity", "3000592982016"]);
    assert!((value(&areas, "read-rate-outer") / 1e6 - 203.63).abs() < 0.01);
    assert!((value(&areas, "write-rate-inner") / 1e6 - 100.00).abs() < 0.01);
    // Eight areas out of 55 are no curve.
    let why = finding(&areas, "read-rate-mean")["unknown"].as_str().unwrap().to_owned();
    assert!(why.contains("7 % of the drive and lie too far apart"), "{why}");
}

#[test]
fn single_requests_have_an_interval_and_places_that_nobody_knows_are_said_once() {
    let home = Home::new();
    let run = imported(&home, &["ioping.txt"], &[]);
    let access = finding(&run, "access-time");
    assert!(access["low"].as_f64().unwrap() > 0.008 && access["high"].as_f64().unwrap() < 0.013);
    let run = imported(&home, &["crystaldiskmark-8.txt"], &[]);
    assert!(finding(&run, "read-rate-outer")["unknown"].as_str().unwrap().contains("--position"));
    assert!(!has(&run, "read-rate-inner") && !has(&run, "zone-ratio") && !has(&run, "full-pass-time"));
    assert!((value(&run, "concurrency-gain") - 9.494).abs() < 0.001);
    let run = imported(&home, &["atto-2.txt"], &[]);
    assert_eq!(value(&run, "size-profile"), 5.0);
}

/// 99th percentiles as fio prints them; commits in a second as 10,029 in 17.338 s and in 56.140 s, and as pg_test_fsync prints them.
#[test]
fn commits_of_other_programs_stand_beside_ours() {
    let home = Home::new();
    for (name, p99_s, per_second) in
        [("fio-etcd.txt", 11.994e-3, 578.44), ("fio-etcd.json", 15.925_248e-3, 178.64)]
    {
        let run = imported(&home, &[name], &[]);
        let p99 = value(&run, "commit-latency");
        assert!((p99 / p99_s - 1.0).abs() < 0.005, "{name}: {p99}");
        assert!((value(&run, "commit-rate") / per_second - 1.0).abs() < 1e-4, "{name}");
        assert!(!has(&run, "commit-method") && !has(&run, "flush-honoured"), "{name}");
    }
    let run = imported(&home, &["pg-test-fsync.txt"], &[]);
    assert!((value(&run, "commit-rate") / 5079.662 - 1.0).abs() < 1e-3);
    assert!(!has(&run, "commit-latency"), "it states means only");
    let ours = home.json(&["commit", "sim:970-pro", "--write", "--seed", "1", "--time-limit", "5s"]);
    let ids = [&run, &ours].map(|run| run["run"]["id"].as_str().expect("an id").to_owned());
    let page = home.print(&["compare", &ids[0], &ids[1], "--plain"]);
    assert!(page.contains("Peak commit rate"), "{page}");
}

#[test]
fn an_imported_run_is_a_run() {
    let home = Home::new();
    let run = imported(&home, &QUARTERS, &["--partitions", "--capacity", "2TB", "--kind", "disk"]);
    let id = run["run"]["id"].as_str().unwrap();
    let again = home.json(&["show", id]);
    assert_eq!(again["findings"], run["findings"]);
    assert_eq!(again["environment"]["engine"], "bonnie++ 1.03e");
    let page = home.print(&["show", id, "--plain"]);
    assert!(page.contains("Stated figures") && page.contains("block read"), "{page}");
    assert!(home.print(&["runs", "--plain"]).contains("import"));
    let usb =
        imported(&home, &["bonnie-1.03-usb-outer.txt"], &["--position", "0%..25%", "--capacity", "2TB"]);
    // Single figures have no interval, so that no difference of theirs is one that stands.
    home.print(&["compare", id, usb["run"]["id"].as_str().unwrap(), "--plain"]);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place_and_leaves_nothing_behind() {
    let home = Home::new();
    let broken = home.folder.path().join("broken.txt");
    std::fs::write(&broken, "#block K/s time\n0 fa\u{1b}[2Jst 1\n").unwrap();
    let outcome = home.run(&["import", broken.to_str().unwrap()]);
    assert_eq!(outcome.status, Some(1));
    assert!(
        outcome.err.contains("line 2, column 3: expected a rate, found `fa\u{fffd}[2Jst`"),
        "{}",
        outcome.err
    );
    assert!(!home.store().join("runs").exists());
    let outcome = home.run(&["import", &sample("job_bw.1.log"), "--as", "bonnie"]);
    assert!(outcome.err.contains("`bonnie` is none of bonnie++, dd"), "{}", outcome.err);
    let few = home.run(&[
        "import",
        &sample(QUARTERS[0]),
        &sample(QUARTERS[1]),
        "--position",
        "0%..10%",
        "--capacity",
        "2TB",
    ]);
    assert!(few.err.contains("2 results lack the range"), "{}", few.err);
    // A device is no file of results: that is asked for in a way that makes no sense.
    let device = home.run(&["import", "/dev/zero"]);
    assert_eq!(device.status, Some(2), "{}", device.err);
}

#[test]
fn a_pasted_etcd_recipe_shows_the_percentiles_of_its_flushes() {
    let home = Home::new();
    let page = home.print(&["import", &sample("../posts/fio-3-etcd-slow.txt"), "--plain"]);
    let row = page.lines().find(|line| line.trim_start().starts_with("flush ")).expect("a row of flushes");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["flush", "2300", "bytes", "1", "-", "58.9", "301", "ms", "2.03", "s"]);
}
