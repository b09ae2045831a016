//! The commands for virtual drives, as somebody types them: list, show, truth, new, and a profile of one's own as target.

use crate::program::*;
use serde_json::Value;
use std::fs;

/// A profile of one's own in a folder of its own.
struct Own {
    home: Home,
    path: String,
}

impl Own {
    fn new(text: &str) -> Own {
        let home = Home::new();
        let path = home.folder.path().join("my.toml").to_str().expect("a plain path").to_string();
        fs::write(&path, text).expect("a file");
        Own { home, path }
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let outcome = self.home.run(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments:?}: {}", outcome.err);
        outcome.err
    }
}

const CONSTANT: &str = "version = 1\nname = \"mine\"\ndescription = \"a drive of my own\"\n\
    [identity]\ncapacity_bytes = 1_000_000_000_000\n[constant]\nlatency_us = 200\nservers = 4\n";

#[test]
fn all_drives_are_listed_within_the_page() {
    let page = Home::new().print(&["sim", "list", "--plain"]);
    for name in sim::profile::preset_names() {
        assert!(page.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
}

#[test]
fn what_is_shown_is_a_profile() {
    let home = Home::new();
    let page = home.print(&["sim", "show", "st3000dm001"]);
    assert!(page.starts_with("# st3000dm001: hard disk, 3.00 TB "), "{page}");
    let profile = sim::profile::Profile::parse(&page, "shown").expect("a profile");
    assert_eq!(Ok(profile), sim::profile::preset("st3000dm001"));
    assert_eq!(home.print(&["sim", "show", "sim:st3000dm001"]), page);
}

#[test]
fn the_truth_is_told_as_a_table_and_as_json() {
    let home = Home::new();
    let page = home.print(&["sim", "truth", "constant"]);
    assert!(page.contains("access-time") && page.contains("100 µs"), "{page}");
    let text = home.print(&["sim", "truth", "constant", "--json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], "drivescope.truth/1");
    let entries = document["truths"].as_array().expect("entries");
    let access = entries.iter().find(|entry| entry["code"] == "access-time").expect("an access time");
    assert_eq!(access["value"], 100e-6);
    assert_eq!(access["unit"], "s");
}

#[test]
fn a_new_profile_is_a_copy_and_overwrites_nothing() {
    let home = Home::new();
    let path = home.folder.path().join("new.toml");
    let path = path.to_str().expect("a plain path");
    home.print(&["sim", "new", path, "--from", "zoned"]);
    let text = fs::read_to_string(path).expect("the new file");
    assert_eq!(text, sim::profile::preset_text("zoned").expect("a drive that ships"));
    let again = home.run(&["sim", "new", path, "--from", "constant"]);
    assert_eq!(again.status, Some(1));
    assert!(again.err.contains("it exists, and would be overwritten"), "{}", again.err);
    assert_eq!(fs::read_to_string(path).expect("the new file"), text);
    let other = home.run(&["sim", "new", "profile.txt"]);
    assert!(other.err.contains("does not end in .toml"), "{}", other.err);
}

#[test]
fn a_file_is_a_target_like_any_other() {
    let own = Own::new(CONSTANT);
    let target = format!("sim:{}", own.path);
    let document = own.home.json(&["check", &target, "-q", "--seed", "1", "--time-limit", "10s"]);
    assert_eq!(document["target"]["path"], target);
    let gain = document["findings"].as_array().expect("findings").iter();
    let gain = gain.clone().find(|finding| finding["code"] == "concurrency-gain").expect("a gain");
    assert!((gain["value"].as_f64().expect("a number") - 4.0).abs() < 0.01, "{gain}");
    let page = own.home.print(&["sim", "truth", &own.path]);
    assert!(page.contains("200 µs"), "{page}");
}

#[test]
fn a_file_that_cannot_be_is_named_with_line_and_reason() {
    for (from, to, line, part) in [
        ("latency_us", "latency", 7, "did you mean `latency_us`"),
        ("servers = 4", "servers = 0", 8, "constant.servers"),
        ("version = 1", "version = 9", 1, "this program reads version 1"),
        ("servers = 4", "servers = ", 8, ""),
    ] {
        let own = Own::new(&CONSTANT.replace(from, to));
        for arguments in [
            vec!["check".to_string(), format!("sim:{}", own.path), "-q".into()],
            vec!["sim".into(), "truth".into(), own.path.clone()],
            vec!["sim".into(), "show".into(), own.path.clone()],
        ] {
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let error = own.refused(&words);
            assert!(error.contains(&format!("{}, line {line}", own.path)), "{error}");
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn what_is_not_there_says_what_there_is() {
    let home = Home::new();
    let missing = home.run(&["check", "sim:there-is-none.toml"]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.err.contains("drivescope sim new there-is-none.toml"), "{}", missing.err);
    let unknown = home.run(&["sim", "show", "zond"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains("did you mean `zoned`"), "{}", unknown.err);
}

#[test]
fn what_is_no_profile_is_refused_and_never_waited_for() {
    let home = Home::new();
    let folder = home.folder.path();
    let at = |name: &str| folder.join(name).to_str().expect("a plain path").to_string();
    fs::create_dir(at("folder.toml")).expect("a folder");
    fs::write(at("binary.toml"), [0xff, 0xfe, 0x00, 0x80]).expect("a file");
    fs::write(at("long.toml"), vec![b'#'; (4 << 20) + 1]).expect("a file");
    fs::write(at("empty.toml"), "").expect("a file");
    std::os::unix::fs::symlink(at("loop.toml"), at("loop.toml")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(at("pipe.toml")).status().expect("mkfifo");
    assert!(made.success());
    for (name, why) in [
        ("folder.toml", "it is not a regular file"),
        ("pipe.toml", "it is not a regular file"),
        ("binary.toml", "it is not UTF-8"),
        ("long.toml", "it is larger than 4 MiB"),
        ("empty.toml", "the key `version` is missing"),
        ("loop.toml", "symbolic links"),
    ] {
        let outcome = home.run(&["sim", "show", &at(name)]);
        assert_eq!(outcome.status, Some(2), "{name}");
        assert!(outcome.err.contains(why), "{name}: {}", outcome.err);
        assert!(!outcome.err.contains("sim new"), "it is there already: {}", outcome.err);
    }
}

#[test]
fn how_a_file_ends_its_lines_does_not_matter() {
    for text in [CONSTANT.replace('\n', "\r\n"), format!("\u{feff}{CONSTANT}")] {
        let own = Own::new(&text);
        assert!(own.home.print(&["sim", "truth", &own.path]).contains("200 µs"));
    }
}

#[test]
fn nothing_in_a_file_or_its_name_can_act_on_the_terminal() {
    let acts = |text: &str| text.contains(['\u{1b}', '\u{7}', '\u{9b}']);
    let own = Own::new(&CONSTANT.replace("servers", "\"x\\u001b[31m\""));
    let unknown = own.refused(&["sim", "show", &own.path]);
    assert!(unknown.contains("x\\u{1b}[31m") && !acts(&unknown), "{unknown}");
    let own = Own::new(&CONSTANT.replace("[identity]", "[identity]\nmodel = \"RED\\u001b]0;title\\u0007\""));
    let page =
        own.home.print(&["check", &format!("sim:{}", own.path), "-q", "--seed", "1", "--time-limit", "10s"]);
    assert!(page.contains("RED\\u{1b}") && !acts(&page), "{page}");
    let own = Own::new(&format!("# \u{9b}31m\n{CONSTANT}"));
    assert!(!acts(&own.home.print(&["sim", "show", &own.path])));
    let outcome = own.home.run(&["sim", "show", "\u{1b}[31m\n.toml"]);
    assert!(outcome.err.contains("\\u{1b}[31m\\u{a}.toml") && !acts(&outcome.err), "{}", outcome.err);
}

#[test]
fn what_a_file_of_ones_own_shows_leads_back_to_that_file() {
    let own = Own::new(CONSTANT);
    let page = own.home.print(&["sim", "show", &own.path]);
    assert!(page.contains(&format!("sim new mine.toml --from {}", own.path)), "{page}");
}

#[test]
fn a_truth_is_shown_to_four_digits_and_kept_with_all() {
    let home = Home::new();
    let page = home.print(&["sim", "truth", "st3000dm001"]);
    let rate = page.lines().find(|line| line.starts_with("read-rate-mean")).expect("a rate");
    let shown = rate.split_whitespace().nth(1).expect("a number");
    assert_eq!(shown.len(), 5, "four digits and a point: {rate}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
}
