//! `commit` where nothing becomes durable.

use crate::files::Mounted;
use crate::program::{Home, Tmpfs, names_in};

#[test]
fn in_memory_nothing_is_fast_enough_and_nothing_is_left_behind() {
    let test = "in_memory_nothing_is_fast_enough_and_nothing_is_left_behind";
    let Some(tmpfs) = Tmpfs::new("size=400m", test) else { return };
    let home = Home::new();
    let bounds = ["--max-size", "128MiB", "--time-limit", "5s", "--seed", "1", "-q"];
    let run = home.json(&[&["commit", tmpfs.text(), "--for", "etcd"], &bounds[..]].concat());
    for code in ["commit-verdict", "flush-honoured"] {
        let findings = run["findings"].as_array().expect("findings");
        let found = findings.iter().find(|found| found["code"] == code).expect(code);
        assert!(found["value"].is_null(), "{found}");
        let why = found["unknown"].as_str().expect("a reason");
        assert!(why.contains("nothing written here is durable"), "{why}");
    }
    assert!(names_in(tmpfs.path()).is_empty());
}

#[test]
fn the_scratch_file_leaves_room_for_the_logs_of_64_committers() {
    let Some(tmpfs) = Tmpfs::new("size=320m", "the_scratch_file_leaves_room_for_the_logs_of_64_committers")
    else {
        return;
    };
    let run = Home::new().json(&["commit", tmpfs.text(), "--committers", "64", "--time-limit", "5s", "-q"]);
    let phases = run["phases"].as_array().expect("phases");
    assert!(phases.iter().any(|phase| phase["name"].as_str().expect("a name").contains("64 committers")));
    let capacity = run["target"]["capacity_bytes"].as_u64().expect("a capacity");
    assert!((100 << 20..=160 << 20).contains(&capacity), "a tenth and 128 MiB stay free: {capacity}");
}

/// As NFS before 4.2 and 9p.
#[test]
fn where_nothing_can_be_reserved_logs_grow() {
    let Some(mounted) = Mounted::new("ext3", 400, "where_nothing_can_be_reserved_logs_grow") else { return };
    let run = Home::new().json(&["commit", mounted.text(), "--for", "etcd", "--time-limit", "6s", "-q"]);
    let mut names = Vec::new();
    for phase in run["phases"].as_array().expect("phases") {
        names.push(phase["name"].as_str().expect("a name"));
    }
    assert!(names.contains(&"commits of 2 KiB, fdatasync, extend"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("preallocated")), "{names:?}");
}

#[test]
fn a_file_system_that_is_read_only_is_told() {
    let Some(tmpfs) = Tmpfs::new("size=300m", "a_file_system_that_is_read_only_is_told") else { return };
    tmpfs.remount("ro");
    let outcome = Home::new().run(&["commit", tmpfs.text(), "-q"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("mounted read-only: choose another directory"), "{}", outcome.err);
}

#[test]
fn a_file_system_that_is_full_is_told() {
    let Some(tmpfs) = Tmpfs::new("size=20m", "a_file_system_that_is_full_is_told") else { return };
    std::fs::write(tmpfs.path().join("other"), vec![1; 19 << 20]).expect("room");
    let outcome = Home::new().run(&["commit", tmpfs.text(), "-q"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("1 MiB of 20 MiB are free"), "{}", outcome.err);
    assert_eq!(names_in(tmpfs.path()), ["other"], "nothing is left behind");
}
