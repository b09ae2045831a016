//! `verify --power-cut`: what was reported is there after a kill, and what is missing is counted.

use crate::program::*;
use serde_json::Value;
use sim::profile::preset_text;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

const DATA: &str = "drivescope-power-cut.data";
const RECORD: u64 = 4096;

pub struct Written {
    home: Home,
    folder: PathBuf,
    log: PathBuf,
    records: u64,
}

/// Writes until a hundred records were reported, and dies.
pub fn written() -> Written {
    let home = Home::new();
    let folder = home.folder.path().join("data");
    fs::create_dir(&folder).expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = listener.local_addr().expect("an address").to_string();
    let mut writer: Child = home
        .command(&["verify", "--power-cut", "write", text(&folder), "--to", &to])
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let (stream, _) = listener.accept().expect("a connection");
    let mut lines = String::new();
    let mut reader = BufReader::new(stream);
    while lines.lines().count() < 101 {
        assert!(reader.read_line(&mut lines).expect("a line") > 0, "{lines}");
    }
    writer.kill().expect("it runs");
    writer.wait().expect("it ends");
    // What was reported meanwhile.
    while matches!(reader.read_line(&mut lines), Ok(more) if more > 0) {}
    let records = lines.bytes().filter(|byte| *byte == b'\n').count() as u64 - 1;
    let log = home.folder.path().join("log");
    fs::write(&log, lines).expect("the log");
    Written { home, folder, log, records }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

impl Written {
    pub fn check(&self) -> (Option<i32>, Value) {
        let arguments =
            ["verify", "--power-cut", "check", text(&self.folder), "--to", text(&self.log), "--json", "-"];
        let outcome = self.home.run(&arguments);
        (outcome.status, schema::document(&outcome.out))
    }
}

#[test]
fn what_was_reported_survives_a_kill_and_what_is_damaged_is_counted() {
    let written = written();
    let (status, whole) = written.check();
    assert_eq!((status, whole["schema"].as_str()), (Some(0), Some("drivescope.power-cut/1")), "{whole}");
    let expected = written.records.min(16384);
    assert_eq!([&whole["acknowledged"], &whole["kept"]], [written.records, expected], "{whole}");
    let data = File::options().read(true).write(true).open(written.folder.join(DATA)).expect("the data");
    // A hundred records were reported at least, and none of these in the ring's second lap.
    let first = written.records.saturating_sub(16384);
    assert_eq!(first, 0, "a ring of 64 MiB is not written in the time of a hundred records");
    data.write_all_at(&[0; RECORD as usize], 10 * RECORD).expect("a lost record");
    data.write_all_at(&[0; 512], 20 * RECORD + 1024).expect("a torn record");
    let (status, damaged) = written.check();
    assert_eq!(status, Some(3));
    let counts = ["lost", "torn", "stale", "reordered", "first_missing", "last_missing"];
    assert_eq!(counts.map(|count| damaged[count].as_u64().unwrap()), [1, 1, 0, 2, 10, 20], "{damaged}");
}

#[test]
fn a_virtual_drive_loses_records_only_where_it_ignores_flushes() {
    let home = Home::new();
    let drive = |policy: &str| {
        let path = home.folder.path().join(format!("{policy}.toml"));
        let text = preset_text("consumer-nvme-1tb").expect("a preset");
        let text = text.replace("flush = \"honoured\"", &format!("flush = \"{policy}\""));
        fs::write(&path, text).expect("a profile");
        format!("sim:{}", path.display())
    };
    for (policy, status) in [("honoured", 0), ("protected", 0), ("ignored", 3)] {
        for seed in ["1", "2", "3"] {
            let arguments = ["verify", "--power-cut", "check", &drive(policy), "--seed", seed];
            let outcome = home.run(&arguments);
            assert_eq!(outcome.status, Some(status), "{policy}: {} {}", outcome.out, outcome.err);
        }
    }
}

#[test]
fn what_cannot_be_a_test_is_refused() {
    let home = Home::new();
    let image = Image::blank(1);
    let log = home.folder.path().join("log");
    fs::write(&log, "0\n1\n").expect("a log");
    let path = text(&image.path);
    for (arguments, status, why) in [
        (vec!["write", path, "--to", "/dev/shm/none"], 2, "Add --write, or name a folder"),
        (vec!["write", path, "--write"], 2, "--to HOST:PORT, or --to FILE on another drive"),
        (vec!["write", path, "--write", "--to", text(&log)], 1, "an older one is not overwritten"),
        (vec!["write", path, "--write", "--to", "127.0.0.1:1"], 1, "is there a listener"),
        (vec!["check", path, "--to", text(&log)], 1, "it is no log of `verify --power-cut write`"),
        (vec!["write", "sim:constant"], 2, "checked in one run"),
        (vec!["check", "sim:constant", "--fail-if", "data-integrity > 0"], 2, "has no findings"),
    ] {
        let outcome = home.run(&[&["verify", "--power-cut"], &arguments[..]].concat());
        assert_eq!(outcome.status, Some(status), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(why), "{arguments:?}: {}", outcome.err);
    }
    assert_eq!(image.bytes(), vec![0; 1 << 20], "nothing was written");
}
