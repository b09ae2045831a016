//! What is exported is read by the programs that it is for. Those that are not installed are counted as skipped.

use crate::program::{Home, LoopDevice, outcome};
use crate::store_support::{complete, ended, histogram, interval, phase, run, skipped};
use drivescope::export::EXPORTS;
use model::run::Run;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use store::SeriesKind;
use store::Store;
use store::table::Table;

/// What a drive may call itself: a formula, markup, a quote, a line break, a terminal's escape.
const HOSTILE: &str = "=HYPERLINK(\"http://x\",\"<script>alert(1)</script>\")\n\u{1b}[2J";

/// A store with one run of a drive with that name.
fn hostile_home() -> Home {
    let home = Home::new();
    let store = Store::open(&home.store()).expect("a store");
    let mut facts: Run = run("hostile");
    facts.target.model = Some(HOSTILE.into());
    let mut writer = store.begin(&facts).expect("a new run");
    facts.phases.push(phase("only"));
    writer.begin_phase(&facts).expect("begun");
    (0..3).for_each(|number| writer.append_interval(&interval(0, number)).expect("kept"));
    writer.append_histogram(&histogram(0, &[100, 200, 300])).expect("kept");
    facts.phases = vec![ended(phase("only"), 3)];
    writer.end_phase(&facts).expect("ended");
    writer.finish(&complete(facts), &[]).expect("finished");
    home
}

/// Tables, as CSV and Parquet, and metrics, in one folder.
fn exported(home: &Home) -> PathBuf {
    let folder = home.folder.path().join("out");
    for format in ["csv", "parquet", "openmetrics"] {
        home.print(&["export", "hostile", "--format", format, "-o", folder.to_str().expect("a plain path")]);
    }
    folder
}

/// A Python with these packages; none where they cannot be had. They stay beside the other things that were built.
fn python_with(name: &str, packages: &[&str], test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let python = folder.join("bin/python");
    let done = folder.join("complete");
    let succeeds = |command: &mut Command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    let made = done.exists()
        || (succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))
            && succeeds(
                Command::new(&python)
                    .args(["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"])
                    .args(packages),
            )
            && fs::write(&done, "").is_ok());
    if !made {
        skipped(test, &format!("no Python with {}: `pip install` did not work", packages.join(", ")));
    }
    made.then_some(python)
}

#[test]
fn pandas_duckdb_and_prometheus_read_the_tables() {
    let name = "pandas_duckdb_and_prometheus_read_the_tables";
    let packages = ["pandas", "pyarrow", "duckdb", "prometheus-client"];
    let Some(python) = python_with("export-readers", &packages, name) else { return };
    let home = hostile_home();
    let folder = exported(&home);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports/read_tables.py");
    let model = serde_json::to_string(HOSTILE).expect("text is JSON");
    let read = outcome(Command::new(python).arg(script).arg(&folder).arg(model));
    assert_eq!((read.status, read.out.trim()), (Some(0), "read"), "{}", read.err);
}

#[test]
#[ignore = "Spark takes 300 MB to install, Java, and 20 s to start"]
fn spark_reads_the_tables() {
    let packages = ["pyspark<4.1"];
    let Some(python) = python_with("export-spark", &packages, "spark_reads_the_tables") else { return };
    let home = hostile_home();
    let folder = exported(&home);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports/read_spark.py");
    let read = outcome(Command::new(python).arg(script).arg(&folder));
    assert_eq!((read.status, read.out.trim()), (Some(0), "read"), "{}", read.err);
}

#[test]
fn tables_on_standard_output_are_csv() {
    let home = hostile_home();
    let intervals = home.print(&["export", "hostile", "--format", "csv", "--table", "intervals", "-o", "-"]);
    let lines: Vec<&str> = intervals.split("\r\n").collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[1], "hostile,0,read,0,40000000,2,8192,0,0,8192,,,,,");
    assert_eq!(lines[2], "hostile,0,read,40000000,40000000,2,8192,1,8192,16384,91,101.25,101,111,121");
    let runs = home.print(&["export", "hostile", "--format", "csv", "--table", "runs", "-o", "-"]);
    assert!(
        runs.contains(r#","'=HYPERLINK(""http://x"",""<script>alert(1)</script>"")\u{a}\u{1b}[2J","#),
        "{runs}"
    );
}

#[test]
fn bonnies_tools_read_its_lines() {
    let home = Home::new();
    home.print(&["check", "sim:zoned", "--write", "--seed", "1", "--quiet"]);
    let modern = home.print(&["export", "last", "--format", "bonnie-1.98", "-o", "-"]);
    assert_eq!(modern.matches(',').count(), 49);
    let old = home.print(&["export", "last", "--format", "bonnie-1.03", "-o", "-"]);
    assert_eq!(old.matches(',').count(), 26);
    // A full pass runs at 107 MB/s: both zones' rates over the position, 150 MB/s to 72 MB/s.
    let fields: Vec<&str> = modern.trim_end().split(',').collect();
    let kib_per_second: f64 = fields[17].parse().expect("a rate");
    assert!((95_000.0..115_000.0).contains(&kib_per_second), "{modern}");
    assert_eq!(fields[17], old.split(',').nth(10).expect("a rate"));
    let hostile = hostile_home().print(&["export", "last", "--format", "bonnie-1.98", "-o", "-"]);
    assert!(!hostile.contains(['<', '=', '"', '\'', '\u{1b}']), "{hostile}");

    let file = home.folder.path().join("bonnie.csv");
    fs::write(&file, modern.clone() + &hostile).expect("written");
    let tool = |name: &str| {
        let input = fs::File::open(&file).expect("it was written");
        Command::new(name).stdin(input).output().ok()
    };
    let (Some(text), Some(page)) = (tool("bon_csv2txt"), tool("bon_csv2html")) else {
        return skipped("bonnies_tools_read_its_lines", "bon_csv2txt is not installed (package bonnie++)");
    };
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("Random") && text.lines().count() >= 5, "{text}");
    let page_text = String::from_utf8(page.stdout).expect("text");
    assert!(page_text.contains("</html>") && !page_text.contains("<script>"), "{page_text}");
    assert_eq!(String::from_utf8(page.stderr).expect("text"), "", "every line was taken");
}

#[test]
fn fio_has_the_keys_that_its_readers_want() {
    let home = Home::new();
    let run = home.json(&["access", "sim:zoned", "--seed", "1", "--time-limit", "30s", "--quiet"]);
    let folder = home.folder.path().join("fio");
    home.print(&["export", "last", "--format", "fio", "-o", folder.to_str().expect("a plain path")]);
    let run_folder = folder.join(run["run"]["id"].as_str().expect("a name"));
    let one =
        fs::read_to_string(run_folder.join("4k/randread-1-1.json")).expect("one at a time was measured");
    let one: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    let job = &one["jobs"][0];
    let options = &job["job options"];
    assert_eq!(
        [&options["rw"], &options["bs"], &options["iodepth"], &options["numjobs"]],
        ["randread", "4k", "1", "1"]
    );
    let read = &job["read"];
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let iops = 1000.0 * number(&read["total_ios"]) / number(&read["runtime"]);
    assert!((number(&read["iops"]) / iops - 1.0).abs() < 0.001, "{read}");
    // The drive answers a random read after 13 ms.
    assert!((number(&read["lat_ns"]["mean"]) / 13e6 - 1.0).abs() < 0.1, "{read}");
    assert!(
        number(&read["clat_ns"]["percentile"]["99.000000"])
            >= number(&read["clat_ns"]["percentile"]["50.000000"])
    );
    let bins: f64 = ["latency_ns", "latency_us", "latency_ms"]
        .iter()
        .flat_map(|unit| job[unit].as_object().expect("bins").values())
        .map(number)
        .sum();
    assert!((bins - 100.0).abs() < 1e-6, "{bins}");

    let document = home.print(&["export", "last", "--format", "fio", "-o", "-"]);
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert!(document["jobs"].as_array().expect("jobs").len() > 5);
}

#[test]
fn no_export_goes_over_a_drive() {
    let home = hostile_home();
    let image = crate::program::Image::new(1);
    let Some(device) = LoopDevice::over(&image.path, "no_export_goes_over_a_drive") else { return };
    let device = device.path.as_str();
    for format in EXPORTS.iter().map(|export| export.name) {
        let outcome = home.run(&["export", "hostile", "--format", format, "-o", device]);
        assert_eq!(outcome.status, Some(2), "{format}: {}", outcome.err);
        assert!(
            outcome.err.contains("is a drive, and a result would overwrite it"),
            "{format}: {}",
            outcome.err
        );
    }
    assert_eq!(image.bytes(), crate::program::noise(1 << 20));
}

#[test]
fn what_cannot_be_exported_is_said() {
    let home = hostile_home();
    let says = |arguments: &[&str], status: i32, words: &str| {
        let outcome = home.run(arguments);
        assert_eq!(outcome.status, Some(status), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(words), "{arguments:?}: {}", outcome.err);
    };
    says(&["export", "-o", "x.ods"], 2, "--format json, csv, parquet");
    says(&["export", "nobody", "-o", "-", "--format", "csv"], 1, "no run");
    says(&["export", "hostile", "-o", "/nowhere/x.csv"], 1, "cannot write the table to /nowhere/x.csv");
    says(&["export", "hostile", "-o", "-", "--format", "fio"], 1, "nothing that fio could have measured");
    let empty = Home::new().run(&["export", "--all", "-o", "x.json"]);
    assert!(empty.err.contains("no runs"), "{}", empty.err);
}

#[test]
fn a_file_is_told_by_its_ending() {
    let home = hostile_home();
    let path = |name: &str| home.folder.path().join(name).to_str().expect("a plain path").to_owned();
    home.print(&["report", "hostile", "-o", &path("x.csv")]);
    assert!(fs::read_to_string(path("x.csv")).expect("written").starts_with("run_id,code,value,"));
    home.print(&["report", "hostile", "-o", &path("x.parquet")]);
    assert!(fs::read(path("x.parquet")).expect("written").starts_with(b"PAR1"));
    home.print(&["report", "hostile", "-o", &path("x.json")]);
    assert!(fs::read_to_string(path("x.json")).expect("written").contains("\"drivescope.run/1\""));
    home.print(&["export", "hostile", "-o", &path("x.prom")]);
    assert!(fs::read_to_string(path("x.prom")).expect("written").ends_with("# EOF\n"));
}

/// The page says of every column what its declaration says, in its order; and it names every export.
#[test]
fn the_page_of_the_formats_says_what_the_declarations_say() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/exports.md");
    let page = fs::read_to_string(page).expect("docs/reference/exports.md");
    let own_series = SeriesKind::ALL.into_iter().filter(|kind| *kind != SeriesKind::Intervals);
    let tables = Table::ALL.into_iter().map(|table| (table.name(), table.columns()));
    for (name, columns) in tables.chain(own_series.map(|kind| (kind.name(), kind.columns().to_vec()))) {
        let rows: Vec<String> =
            columns.iter().map(|column| format!("| `{}` | {} |\n", column.name, column.meaning)).collect();
        let section = page.split(&format!("### `{name}`")).nth(1).expect("a section for each table");
        assert!(
            section.contains(&rows.concat()),
            "docs/reference/exports.md must say of {name}:\n{}",
            rows.concat()
        );
    }
    for export in EXPORTS {
        assert!(page.contains(&format!("| `{}` |", export.name)), "{}", export.name);
    }
}

/// Of ten thousand runs nobody wants ten thousand lines.
#[test]
fn a_long_list_of_runs_ends_with_the_first_screen() {
    let home = hostile_home();
    let runs = home.store().join("runs");
    for number in 10..31 {
        let copy = runs.join(format!("copy-{number}"));
        fs::create_dir(&copy).expect("a folder");
        fs::copy(runs.join("hostile/run.json"), copy.join("run.json")).expect("a copy");
    }
    let page = home.print(&["runs"]);
    assert_eq!(page.matches("complete").count(), 20, "{page}");
    assert!(page.ends_with("Older runs not shown: 2. All: drivescope runs --all\n"), "{page}");
    let all = home.print(&["runs", "--all"]);
    assert!(all.matches("complete").count() == 22 && !all.contains("not shown"), "{all}");
    assert_eq!(home.json(&["runs"])["runs"].as_array().map(Vec::len), Some(22));
}

/// Lists have a schema and the entries that people see.
#[test]
fn lists_are_json_on_demand() {
    let home = hostile_home();
    let runs = home.json(&["runs"]);
    assert_eq!(runs["schema"], "drivescope.run-list/1");
    assert_eq!((&runs["runs"][0]["id"], &runs["runs"][0]["status"]), (&"hostile".into(), &"complete".into()));
    assert_eq!(runs["runs"][0]["model"], HOSTILE);
    let none = Home::new().json(&["runs"]);
    assert_eq!(none["runs"], serde_json::json!([]));
    let drives = home.json(&["sim", "list"]);
    assert_eq!(drives["schema"], "drivescope.sim-list/1");
    let names: Vec<_> =
        drives["drives"].as_array().expect("a list").iter().map(|drive| &drive["name"]).collect();
    assert!(names.contains(&&"wd20ears".into()), "{names:?}");
    let list = home.json(&["list"]);
    assert_eq!(list["schema"], "drivescope.list/1");
    for drive in list["drives"].as_array().expect("a list") {
        assert!(drive["path"].is_string() && drive["may_be_written"].is_boolean(), "{drive}");
    }
}
