//! `estimate` and `plan` as a user has them: what they print and answer, what they refuse, and that the real sfdisk
//! takes the script.

use crate::program::*;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};

/// A home with one run of each of these virtual drives, in this order, and the names of the runs.
fn measured(drives: &[&str]) -> (Home, Vec<String>) {
    let home = Home::new();
    let id = |drive: &&str| {
        let run = home.json(&["check", &format!("sim:{drive}"), "--seed", "1", "-q"]);
        run["run"]["id"].as_str().expect("a name").to_owned()
    };
    let ids = drives.iter().map(id).collect();
    (home, ids)
}

fn work<'value>(document: &'value Value, name: &str) -> &'value Value {
    let works = document["works"].as_array().expect("works");
    works.iter().find(|work| work["work"] == name).unwrap_or_else(|| panic!("{name} in {works:?}"))
}

fn seconds(time: &Value) -> [f64; 3] {
    ["low", "value", "high"].map(|end| time["seconds"][end].as_f64().unwrap_or(f64::INFINITY))
}

/// Article C: 17,922.9 s for a full pass. Truth of the preset: 17,941 s.
#[test]
fn a_check_is_enough_for_an_estimate() {
    let (home, _) = measured(&["st3000dm001"]);
    let all = home.json(&["estimate"]);
    assert_eq!(all["schema"], "drivescope.estimate/1");
    assert_eq!(all["drives"][0]["capacity_bytes"], 3_000_592_982_016u64);
    let names: Vec<&str> =
        all["works"].as_array().expect("works").iter().filter_map(|work| work["work"].as_str()).collect();
    assert_eq!(names, ["full-read", "rebuild", "surface-check"]);
    let [low, value, high] = seconds(&work(&all, "full-read")["times"][0]);
    assert!(
        low <= 17_941.0 && 17_941.0 <= high && (value / 17_941.0 - 1.0).abs() < 0.02,
        "{low} {value} {high}"
    );
    let rebuild = &work(&all, "rebuild")["times"][0];
    assert!(rebuild["seconds"]["high"].is_null(), "writes were not measured: {rebuild}");
    assert_eq!(rebuild["writes_not_measured"], true);
    let page = home.print(&["estimate", "last", "--backup", "2TB", "--from", "500GB"]);
    assert!(
        page.contains("Write 2.00 TB from 500 GB on (backup to it)") && page.contains("or more"),
        "{page}"
    );
    assert!(!page.contains("Rebuild") && page.contains("no background load"), "{page}");
}

/// A survey of flash has no zones, and covers all of it by hundreds of short visits. All of this drive's are equally fast, which
/// is nobody else's doing.
#[test]
fn a_survey_of_flash_is_enough_too() {
    let home = Home::new();
    let page = home.print(&["surface", "sim:x25-m", "--seed", "1", "-q"]);
    assert!(!page.contains("Something else used the drive"), "{page}");
    let all = home.json(&["estimate"]);
    // 80 GB at 250 MB/s.
    let [low, value, high] = seconds(&work(&all, "full-read")["times"][0]);
    assert!(low <= value && value <= high && (value / 320.1 - 1.0).abs() < 0.02, "{low} {value} {high}");
}

#[test]
fn an_image_is_a_backup_and_parts_make_the_whole() {
    let (home, _) = measured(&["st3000dm001"]);
    let time = |arguments: &[&str]| {
        let document = home.json(&[&["estimate", "last"], arguments].concat());
        seconds(&work(&document, "backup-read")["times"][0])[1]
    };
    let (first, second) = (time(&["--image", "1TB"]), time(&["--backup", "1TB", "--from", "1TB"]));
    let both = time(&["--backup", "2TB"]);
    assert!((first + second - both).abs() < 1e-6 * both && first < second, "{first} {second} {both}");
}

#[test]
fn of_several_drives_the_slowest_decides() {
    let (home, ids) = measured(&["st3000dm001", "wd20ears"]);
    let arguments = ["estimate", &ids[0], &ids[1], "--rebuild"];
    let document = home.json(&arguments);
    let times = work(&document, "rebuild")["times"].as_array().expect("times");
    assert_eq!(times.len(), 3);
    assert_eq!((&times[2]["all_at_once"], &times[2]["drive"]), (&true.into(), &1.into()));
    assert_eq!(times[2]["bytes"], 2_000_398_934_016u64);
    let page = home.print(&arguments);
    assert!(page.contains("in parallel, limited by WDC WD20EARS-00MVWB0"), "{page}");
    // One of two is too small for that much: the other still answers.
    let page = home.print(&["estimate", &ids[0], &ids[1], "--backup", "2.5TB"]);
    assert!(page.contains("It holds 2000398934016 bytes") && page.contains(" h "), "{page}");
}

#[test]
fn what_cannot_be_estimated_or_planned_is_refused_with_why() {
    let (home, ids) = measured(&["null", "st3000dm001"]);
    let cases: [(&[&str], i32, &[&str]); 16] = [
        (&["estimate", "nosuch"], 1, &["nosuch"]),
        (&["plan", "nosuch"], 1, &["nosuch"]),
        (
            &["estimate", "last", "--backup", "4TB"],
            2,
            &["--backup", "do not fit", "3,000,592,982,016 bytes", "smaller"],
        ),
        (&["estimate", "last", "--backup", "1TB", "--from", "2.5TB"], 2, &["from byte 2500000000000 on"]),
        (&["estimate", "last", "--backup", "much"], 2, &["--backup: `much` is not a size such as"]),
        (&["estimate", "last", "--backup", "-1"], 2, &["--backup: `-1` is not a size"]),
        (&["estimate", "last", "--backup", "0"], 2, &["--backup", "2TB"]),
        (&["estimate", "last", "--backup", "1k", "--from", "18446744073709551615"], 2, &["--from"]),
        (&["estimate", "last", "--from", "1TB"], 2, &["--backup"]),
        (&["plan", "last", "--parts", "0"], 2, &["--parts: `0` is not a number of partitions from 1 to 128"]),
        (&["plan", "last", "--parts", "-3"], 2, &["--parts: `-3`"]),
        (&["plan", "last", "--fast", "100%"], 2, &["--fast: 100% leaves nothing to divide"]),
        (&["plan", "last", "--fast", "0%"], 2, &["--fast"]),
        (&["plan", "last", "--at-least", "150"], 2, &["--at-least: `150` is not a rate such as 150MB/s"]),
        (&["plan", "last", "--at-least", "900MB/s"], 1, &["No region reaches 900.0 MB/s"]),
        (&["plan", "last", "--parts", "2", "--fast", "10%"], 2, &["--parts", "--fast"]),
    ];
    for (arguments, status, says) in cases {
        let outcome = home.run(arguments);
        assert_eq!(outcome.status, Some(status), "{arguments:?}: {}", outcome.err);
        assert!(says.iter().all(|words| outcome.err.contains(words)), "{arguments:?}: {}", outcome.err);
        assert_eq!(outcome.out, "", "{arguments:?}");
    }
    let unknown = home.run(&["estimate", &ids[0]]);
    assert_eq!(unknown.status, Some(1), "{unknown:?}");
    assert!(unknown.out.contains("The throughput of reads is unknown"), "{unknown:?}");
    let no_plan = home.run(&["plan", &ids[0]]);
    assert!(no_plan.status == Some(1) && no_plan.err.contains("its throughput is unknown"), "{no_plan:?}");
    let nothing = Home::new().run(&["estimate"]);
    assert!(nothing.status == Some(1) && nothing.err.contains("no runs in"), "{nothing:?}");
}

#[test]
fn flash_is_not_cut_for_speed() {
    let (home, _) = measured(&["970-pro"]);
    let page = home.print(&["plan"]);
    assert!(page.contains("All regions are equally fast") && !page.contains("label: gpt"), "{page}");
}

#[test]
fn cuts_are_drawn_where_they_are_planned() {
    let (home, ids) = measured(&["zoned", "wd20ears"]);
    let page = home.print(&["plan", &ids[0], "--parts", "4"]);
    assert!(page.contains("Read throughput by LBA") && page.contains("end of a partition"), "{page}");
    let [plan, report, whole] =
        ["plan.svg", "report.svg", "report.html"].map(|name| home.folder.path().join(name));
    let path = |path: &std::path::Path| path.to_str().expect("a plain path").to_owned();
    home.print(&["plan", &ids[0], "--parts", "4", "-o", &path(&plan)]);
    home.print(&["report", &ids[0], "--parts", "4", "-o", &path(&report)]);
    home.print(&["report", &ids[0], "--parts", "4", "-o", &path(&whole)]);
    let text = |path| fs::read_to_string(path).expect("it is written");
    let picture = text(plan);
    assert_eq!(picture.matches(r#"class="mark" x1"#).count(), 3, "{picture}");
    assert_eq!(text(report), picture);
    assert!(text(whole).contains("end of a partition"));
    let two = home.run(&["report", &ids[0], &ids[1], "--fast", "10%", "-o", "x.svg"]);
    assert!(two.status == Some(2) && two.err.contains("one run with --fast"), "{}", two.err);
    let ending = home.run(&["plan", &ids[0], "-o", "plan.txt"]);
    assert!(ending.status == Some(2) && ending.err.contains(".svg or .png"), "{}", ending.err);
}

/// The script as the page and the document give it, read by the real sfdisk and applied to a file full of nothing.
#[test]
fn sfdisk_takes_the_script() {
    let test = "sfdisk_takes_the_script";
    if Command::new("sfdisk").arg("--version").output().is_err() {
        return skip(test, "sfdisk is not installed");
    }
    let (home, _) = measured(&["wd20ears"]);
    for wish in [&["--parts", "4"][..], &["--fast", "10%"], &["--at-least", "130MB/s"], &["--parts", "128"]] {
        let arguments = [&["plan", "last"], wish].concat();
        let document = home.json(&arguments);
        let script = document["sfdisk"].as_str().expect("a script");
        assert!(home.print(&arguments).contains(script), "{script}");
        assert!(script.contains("EVERYTHING ON THE DRIVE IS LOST"), "{script}");
        let image = home.folder.path().join("image");
        File::create(&image).expect("a file").set_len(2_000_398_934_016).expect("a file of holes");
        let path = image.to_str().expect("a plain path");
        sfdisk(&["--no-act", path], script);
        assert_eq!(fs::metadata(&image).map(|facts| facts.len()).ok(), Some(2_000_398_934_016));
        sfdisk(&["--quiet", path], script);
        let found: Value = serde_json::from_str(&sfdisk(&["--json", path], "")).expect("JSON");
        assert_eq!(found["partitiontable"]["label"], "gpt");
        let found = found["partitiontable"]["partitions"].as_array().expect("partitions").clone();
        let planned = document["partitions"].as_array().expect("partitions");
        assert_eq!(found.len(), planned.len());
        for (found, planned) in found.iter().zip(planned) {
            let bytes = |key: &str| found[key].as_u64().map(|sectors| sectors * 512);
            assert_eq!(bytes("start"), planned["first_byte"].as_u64(), "{found}");
            assert_eq!(
                (bytes("size"), &found["name"]),
                (planned["bytes"].as_u64(), &planned["name"]),
                "{found}"
            );
        }
        fs::remove_file(&image).expect("the image");
    }
}

fn sfdisk(arguments: &[&str], script: &str) -> String {
    let mut child = Command::new("sfdisk")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sfdisk starts");
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}\n{script}");
    String::from_utf8(output.stdout).expect("UTF-8")
}
