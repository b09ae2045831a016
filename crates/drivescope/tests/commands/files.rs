//! `files` on real file systems on loop devices, and on those that cannot be measured or say less than others.

use crate::program::{Home, LoopDevice, Tmpfs, names_in, signal, skip};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A file system on a loop device over a file in memory.
pub(crate) struct Mounted {
    folder: PathBuf,
    _device: LoopDevice,
    _inside: TempDir,
}

impl Mounted {
    /// None, and the test is reported as skipped, where it cannot be had.
    pub(crate) fn new(kind: &str, mib: u64, test: &str) -> Option<Mounted> {
        let inside =
            TempDir::with_prefix_in("drivescope-files-test-", "/dev/shm").expect("a folder in memory");
        let image = inside.path().join("image");
        File::create(&image).and_then(|file| file.set_len(mib << 20)).expect("an image");
        let device = LoopDevice::over(&image, test)?;
        let force = if kind.starts_with("ext") { "-F" } else { "-f" };
        let made = Command::new(format!("mkfs.{kind}")).args(["-q", force, &device.path]).output();
        if !made.is_ok_and(|output| output.status.success()) {
            skip(test, &format!("mkfs.{kind} is not there, or makes no {kind} of {mib} MiB"));
            return None;
        }
        let folder = inside.path().join("mounted");
        fs::create_dir(&folder).expect("a folder");
        let mounted = Command::new("mount").arg(&device.path).arg(&folder).output().expect("mount is there");
        if !mounted.status.success() {
            skip(test, &format!("the kernel mounts no {kind}"));
            return None;
        }
        Some(Mounted { folder, _device: device, _inside: inside })
    }

    pub(crate) fn text(&self) -> &str {
        self.folder.to_str().expect("a plain path")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.folder).status();
    }
}

/// What ends in seconds.
const SMALL: [&str; 9] =
    ["--size", "16MiB", "--files", "200", "--rounds", "3", "--time-limit", "6s", "--plain"];

fn measure(home: &Home, folder: &str, more: &[&str]) -> Value {
    home.json(&[&["files", folder], &SMALL[..], &["--seed", "1", "-q"], more].concat())
}

fn finding<'run>(run: &'run Value, code: &str) -> &'run Value {
    let findings = run["findings"].as_array().expect("findings");
    findings
        .iter()
        .find(|finding| finding["code"] == code)
        .unwrap_or_else(|| panic!("{code} in {findings:?}"))
}

fn measured_on(kind: &str, mib: u64) {
    let test = format!("files_are_measured_on_{kind}");
    let Some(mounted) = Mounted::new(kind, mib, &test) else { return };
    let home = Home::new();
    let before = names_in(&mounted.folder);
    let run = measure(&home, mounted.text(), &[]);
    assert_eq!(run["run"]["status"], "complete");
    let codes = [
        "write-rate",
        "rewrite-rate",
        "read-rate",
        "per-byte-write-rate",
        "per-byte-read-rate",
        "seeks",
        "create-rate",
        "stat-rate",
        "open-rate",
        "delete-rate",
        "random-create-rate",
        "random-stat-rate",
        "random-open-rate",
        "random-delete-rate",
    ];
    for code in codes {
        let found = finding(&run, &format!("file-{code}"));
        let value = found["value"].as_f64();
        // A busy machine may leave an interval too wide for a value.
        let is_too_wide = found["unknown"].to_string().contains("confidence interval spans");
        assert!(value.is_some_and(|value| value > 0.0) || is_too_wide, "{kind}: {code}: {found}");
    }
    let layout = finding(&run, "file-layout").to_string();
    let is_placed = layout.contains(" on loop");
    assert_eq!(is_placed, kind != "btrfs", "{layout}");
    let reads = run["phases"]
        .as_array()
        .expect("phases")
        .iter()
        .filter(|phase| phase["files"]["task"] == "block-read");
    let shares: Vec<f64> = reads.filter_map(|phase| phase["files"]["cached_share"].as_f64()).collect();
    assert!(
        shares.len() == 3 && shares.iter().all(|share| *share < 0.01),
        "out of memory before: {shares:?}"
    );
    assert_eq!(names_in(&mounted.folder), before, "nothing is left behind");
}

#[test]
fn files_are_measured_on_ext4() {
    measured_on("ext4", 200);
}

#[test]
fn files_are_measured_on_xfs() {
    measured_on("xfs", 400);
}

#[test]
fn files_are_measured_on_btrfs() {
    measured_on("btrfs", 256);
}

#[test]
fn a_file_system_in_memory_is_said_to_be_one() {
    let Some(tmpfs) = Tmpfs::new("size=200m", "a_file_system_in_memory_is_said_to_be_one") else { return };
    let home = Home::new();
    let run = measure(&home, tmpfs.text(), &["--tasks", "blocks"]);
    let warnings = run["environment"]["warnings"].to_string();
    assert!(warnings.contains("results are those of memory"), "{warnings}");
    assert!(!warnings.contains("say nothing about a drive"), "once is enough: {warnings}");
    assert!(finding(&run, "file-layout").to_string().contains("does not report file extents"));
    assert_eq!(run["target"]["kind"], "folder");
    let page = home.print(&["show"]);
    assert!(page.contains("folder, on a 210 MB file system"), "{page}");
    assert!(!page.contains("on a target of"), "nobody asked about the size of the file system: {page}");
}

#[test]
fn two_folders_are_set_side_by_side() {
    let Some(tmpfs) = Tmpfs::new("size=300m", "two_folders_are_set_side_by_side") else { return };
    let (one, two) = (tmpfs.path().join("one"), tmpfs.path().join("two"));
    [&one, &two].into_iter().for_each(|folder| fs::create_dir(folder).expect("a folder"));
    let text = |path: &Path| path.to_str().expect("a plain path").to_string();
    let home = Home::new();
    let page = home.print(
        &[
            &["files", "--compare", &text(&one), &text(&two)],
            &SMALL[..],
            &["--tasks", "blocks", "--seed", "1", "-q"],
        ]
        .concat(),
    );
    // A row, or with the inconclusive ones, whose lines are wrapped: a busy machine decides. There is a table where rows are known.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_told = words.contains("The folders side by side") || words.contains("interval is too wide");
    assert!(is_told && words.contains("Fastest/slowest folder"), "{page}");
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let Some(tmpfs) = Tmpfs::new("size=200m", "what_a_killed_run_left_is_removed_by_the_next") else {
        return;
    };
    fs::write(tmpfs.path().join("letter"), "somebody's").expect("a file");
    let home = Home::new();
    let mut killed = home
        .command(&["files", tmpfs.text(), "--tasks", "blocks", "--size", "32MiB", "--rounds", "100", "-q"])
        .spawn()
        .expect("it starts");
    // It has begun once its folder is there; how long that takes is the machine's affair.
    while names_in(tmpfs.path()).len() < 2 {
        assert!(killed.try_wait().expect("it can be waited for").is_none(), "it ended before");
        std::thread::yield_now();
    }
    killed.kill().expect("it is ours");
    killed.wait().expect("it is ours");
    assert_eq!(names_in(tmpfs.path()).len(), 2, "a kill leaves its folder behind");
    let outcome = home.run(&[&["files", tmpfs.text()], &SMALL[..], &["--tasks", "blocks"]].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("which a killed run left; it is removed"), "{}", outcome.err);
    assert_eq!(names_in(tmpfs.path()), ["letter"]);
}

#[test]
fn a_run_that_is_stopped_leaves_nothing_and_keeps_what_it_measured() {
    let test = "a_run_that_is_stopped_leaves_nothing_and_keeps_what_it_measured";
    let Some(tmpfs) = Tmpfs::new("size=400m", test) else { return };
    let home = Home::new();
    let mut stopped = home
        .command(&["files", tmpfs.text(), "--tasks", "blocks", "--size", "128MiB", "--rounds", "100", "-q"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    while names_in(tmpfs.path()).is_empty() {
        assert!(stopped.try_wait().expect("it can be waited for").is_none(), "it ended before");
        std::thread::yield_now();
    }
    signal("INT", stopped.id());
    assert_eq!(stopped.wait().expect("it is ours").code(), Some(130));
    assert!(names_in(tmpfs.path()).is_empty());
    let kept = home.json(&["show", "last"]);
    assert_eq!(kept["run"]["status"], "interrupted");
}

#[test]
fn folders_that_cannot_be_measured_are_told() {
    let home = Home::new();
    let nowhere = home.run(&["files", "/nowhere"]);
    assert!(nowhere.status == Some(1) && nowhere.err.contains("There is no such folder"), "{}", nowhere.err);
    let file = home.run(&["files", "/proc/version"]);
    assert!(file.status == Some(1) && file.err.contains("measures in folders"), "{}", file.err);
    let Some(tmpfs) = Tmpfs::new("size=8m", "folders_that_cannot_be_measured_are_told") else { return };
    let full = home.run(&["files", tmpfs.text()]);
    assert!(full.status == Some(1) && full.err.contains("has no room"), "{}", full.err);
    tmpfs.remount("size=200m");
    let plan = home.print(&["files", tmpfs.text(), "--dry-run"]);
    assert!(plan.contains("Plan") && plan.contains("takes"), "{plan}");
    tmpfs.remount("size=200m,ro");
    let read_only = home.run(&["files", tmpfs.text()]);
    assert!(read_only.status == Some(1) && read_only.err.contains("mounted read-only"), "{}", read_only.err);
    assert!(home.runs().is_empty(), "nothing was begun");
}

/// Something else takes the room while a run goes on: what was measured is kept, and the word is clear.
#[test]
fn a_file_system_that_fills_up_meanwhile_ends_the_run_in_order() {
    let test = "a_file_system_that_fills_up_meanwhile_ends_the_run_in_order";
    let Some(tmpfs) = Tmpfs::new("size=200m", test) else { return };
    let home = Home::new();
    let running = home
        .command(&[
            "files",
            tmpfs.text(),
            "--tasks",
            "blocks",
            "--size",
            "64MiB",
            "--rounds",
            "100",
            "--plain",
        ])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    while names_in(tmpfs.path()).is_empty() {
        std::thread::yield_now();
    }
    fs::write(tmpfs.path().join("other"), vec![0; 150 << 20]).err();
    let output = running.wait_with_output().expect("it is ours");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a tenth of the file system") || said.contains("is full"), "{said}");
    assert_eq!(names_in(tmpfs.path()), ["other"]);
}
