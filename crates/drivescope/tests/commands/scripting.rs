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

/// All commands of a document of `--help-json`, from the program down.
fn all_commands(command: &serde_json::Value) -> Vec<&serde_json::Value> {
    let below = command["commands"].as_array().expect("commands");
    let mut all = vec![command];
    all.extend(below.iter().flat_map(all_commands));
    all
}

#[test]
fn the_declarations_are_a_document() {
    let home = Home::new();
    let read = |words: &[&str]| -> serde_json::Value { schema::document(&home.print(words)) };
    let document = read(&["--help-json"]);
    assert_eq!(document["schema"], "drivescope.help/1");
    let names: Vec<&str> = all_commands(&document).iter().filter_map(|each| each["name"].as_str()).collect();
    for name in ["drivescope", "drivescope surface", "drivescope sim truth", "drivescope config"] {
        assert!(names.contains(&name), "{names:?}");
    }
    // Although a plan is required.
    let run = read(&["run", "--help-json"]);
    assert_eq!(run["name"], "drivescope run");
    assert_eq!(run["arguments"][0]["name"], "PLAN");
    let option = |name: &str| {
        let options = run["options"].as_array().expect("options");
        options.iter().find(|option| option["name"] == name).expect(name).clone()
    };
    assert_eq!(option("--engine")["default"][0], "auto");
    assert_eq!(option("--engine")["variable"], "DRIVESCOPE_ENGINE");
    let values: Vec<_> = option("--engine")["values"].as_array().expect("values").clone();
    assert_eq!(values[2]["name"], "psync");
    assert_eq!(option("--write")["value"], serde_json::Value::Null);
    assert_eq!(option("--write")["variable"], serde_json::Value::Null);
    assert_eq!(option("--fail-if")["repeatable"], true);
}

/// What has no JSON of its own, and why.
const WITHOUT_JSON: [(&str, &str); 2] = [
    ("drivescope completions", "what it prints is a program for a shell"),
    ("drivescope sim", "only leads to commands"),
];

#[test]
fn every_command_has_json_or_a_reason() {
    let home = Home::new();
    let document: serde_json::Value = schema::document(&home.print(&["--help-json"]));
    for command in all_commands(&document).into_iter().skip(1) {
        let name = command["name"].as_str().expect("a name");
        let options = command["options"].as_array().expect("options");
        let has_json = options.iter().any(|option| option["name"] == "--json");
        let excused = WITHOUT_JSON.iter().any(|(excused, _)| *excused == name);
        assert!(has_json != excused, "{name}: --json {has_json}, excused {excused}");
    }
    let page = include_str!("../../../../docs/reference/scripting.md");
    for (name, why) in WITHOUT_JSON {
        assert!(page.contains(&format!("| `{name}` | {why} |")), "{name}");
    }
    for (words, schema) in [
        (&["help", "queue", "depth"][..], "drivescope.term/1"),
        (&["help", "sim", "truth"], "drivescope.help/1"),
        (&["sim", "show", "smr-2tb"], "drivescope.profile/1"),
        (&["sim", "list"], "drivescope.sim-list/1"),
        (&["restore"], "drivescope.journals/1"),
        (&["config"], "drivescope.config/1"),
        (&["runs"], "drivescope.run-list/1"),
        (&["list"], "drivescope.list/1"),
    ] {
        assert_eq!(home.json(words)["schema"], schema, "{words:?}");
    }
    assert_eq!(home.json(&["sim", "show", "smr-2tb"])["profile"]["name"], "smr-2tb");
}

#[test]
fn what_is_written_is_a_document() {
    let home = Home::new();
    home.print(&["surface", "sim:wd20ears", "--seed", "1", "--time-limit", "20s", "-q"]);
    let id = home.runs().pop().expect("a run");
    let place = |name: &str| home.folder.path().join(name).to_str().expect("a plain path").to_owned();
    let bytes = |path: &str| std::fs::metadata(path).expect("it is written").len();
    let (page, chart, table, profile) =
        (place("page.html"), place("chart.svg"), place("findings.csv"), place("mine.toml"));
    for (command, file, format) in [
        ("report", &page, "html"),
        ("report", &chart, "svg"),
        ("report", &table, "csv"),
        ("export", &table, "csv"),
    ] {
        let written = home.json(&[command, "last", "-o", file]);
        assert_eq!(written["schema"], "drivescope.written/1");
        assert_eq!(written["runs"], serde_json::json!([id]), "{file}");
        let one = &written["files"][0];
        assert_eq!((&one["path"], &one["format"]), (&file.as_str().into(), &format.into()));
        assert_eq!(one["bytes"], bytes(file), "{file}");
    }
    let rows = home.json(&["export", "last", "-o", &table])["files"][0]["rows"].as_u64();
    let lines = std::fs::read_to_string(&table).expect("a table").lines().count() as u64;
    assert_eq!(rows, Some(lines - 1), "a line of names comes first");
    let made = home.json(&["sim", "new", &profile]);
    assert_eq!((&made["runs"], &made["files"][0]["format"]), (&serde_json::json!([]), &"toml".into()));
    assert_eq!(made["files"][0]["bytes"], bytes(&profile));
    for (words, says) in [
        (&["export", "last", "--format", "csv", "-o", "-", "--json", "-"][..], "both go to standard output"),
        (&["export", "last", "-o", &table, "--json", &table], "name the same file"),
        (&["report", "--chart", "rate-over-position", "--json", "-"], "says which file was written"),
    ] {
        let outcome = home.run(words);
        assert!(outcome.status == Some(2) && outcome.err.contains(says), "{words:?}: {}", outcome.err);
    }
}

#[test]
fn a_replay_ends_with_the_document_of_its_run() {
    let home = Home::new();
    let measured = home.print(&["ping", "sim:constant", "--seed", "1", "-q", "--json", "-"]);
    assert_eq!(home.print(&["replay", "last", "--json", "-"]), measured);
}
