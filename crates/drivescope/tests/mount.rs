//! `drivescope sim mount` as a user has it: what it prints, what other tools can do with the drive, how it ends.

mod program;

use program::{Home, Outcome, PROGRAM, noise, signal, skip};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

const UNREADABLE: u64 = 300_000_000_000;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Held by a test while no other may start programs: a child has copies of all descriptors until it runs its program,
/// and so keeps busy what a test wants to unmount.
fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A drive that the program serves. It is ended and unmounted also when the test fails.
struct Served {
    process: Child,
    out: BufReader<ChildStdout>,
    /// What it said when it was ready.
    instructions: String,
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Served {
    /// None, and the test is reported as skipped, where nothing can be mounted.
    fn new(drive: &str, options: &[&str], test: &str) -> Option<Served> {
        if !can_mount(test) {
            return None;
        }
        let alone = alone();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut process = Command::new(PROGRAM)
            .args(["sim", "mount", drive, "--at"])
            .arg(folder.path().join("made"))
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut out = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut instructions = String::new();
        // The last line of what it prints when the drive can be used, as a page or as a document.
        while !instructions.contains("  stop ") && !instructions.ends_with("}\n") {
            if out.read_line(&mut instructions).expect("it prints text") == 0 {
                let mut reason = String::new();
                let _ = process.stderr.take().expect("it is piped").read_to_string(&mut reason);
                panic!("it does not mount: {reason}");
            }
        }
        Some(Served { process, out, instructions, folder, _alone: alone })
    }

    fn place(&self) -> PathBuf {
        self.folder.path().join("made")
    }

    fn file(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.place()).expect("it is mounted");
        entries.next().expect("the drive is in it").expect("it can be read").path()
    }

    fn loop_device(&self) -> String {
        let first = self.instructions.lines().next().expect("a line");
        first.split_whitespace().last().expect("a word").to_owned()
    }

    fn end(mut self, with: &str) -> Outcome {
        signal(with, self.process.id());
        self.outcome()
    }

    /// What it leaves behind when it has ended by itself.
    fn outcome(&mut self) -> Outcome {
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).expect("it prints text");
        let said = self.process.stderr.as_mut().expect("it is piped");
        said.read_to_string(&mut err).expect("it prints text");
        let status = self.process.wait().expect("it ends").code();
        Outcome { status, out, err }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if is_mounted(&self.place()) {
            let _ = Command::new("umount").arg("--lazy").arg(self.place()).status();
        }
    }
}

fn can_mount(test: &str) -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    let can = is_root && OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    if !can {
        skip(test, "mounting needs root and /dev/fuse");
    }
    can
}

fn has_program(test: &str, program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skip(test, &format!("{program} is not installed"));
    }
    found
}

fn is_mounted(place: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("procfs is there");
    mounts.lines().any(|line| line.split(' ').nth(4) == place.to_str())
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn a_script_learns_where_the_drive_is() {
    let test = "a_script_learns_where_the_drive_is";
    let Some(served) = Served::new("constant", &["--json", "-"], test) else { return };
    let document = program::schema::document(&served.instructions);
    assert_eq!(document["file"], served.file().to_str().expect("a plain path"));
    assert_eq!(
        (&document["loop_device"], &document["process"]),
        (&serde_json::Value::Null, &served.process.id().into())
    );
    assert_eq!(served.end("TERM").status, Some(0));
}

#[test]
fn every_signal_that_ends_programs_unmounts() {
    for with in ["TERM", "INT", "HUP", "QUIT", "ALRM", "USR2", "XCPU"] {
        let Some(served) = Served::new("null", &[], "every_signal_that_ends_programs_unmounts") else {
            return;
        };
        let (place, file) = (served.place(), served.file());
        assert!(is_mounted(&place));
        assert_eq!(file, place.join("null"));
        assert!(served.instructions.starts_with(&format!("Serving {}\n", file.display())));
        assert!(served.instructions.contains(&format!("dd if={} ", file.display())));
        let outcome = served.end(with);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "SIG{with}");
        assert_eq!((is_mounted(&place), place.exists()), (false, false), "SIG{with}");
    }
}

#[test]
fn an_umount_ends_it() {
    let Some(mut served) = Served::new("null", &["--report"], "an_umount_ends_it") else { return };
    run("umount", &[served.place().to_str().unwrap()]);
    let outcome = served.outcome();
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.out.starts_with("0 completions"), "{}", outcome.out);
    assert!(!served.place().exists());
}

#[test]
fn the_report_comes_at_the_end_and_when_asked_for() {
    let name = "the_report_comes_at_the_end_and_when_asked_for";
    let Some(mut served) = Served::new("constant", &["--report"], name) else { return };
    let file = File::open(served.file()).unwrap();
    file.read_exact_at(&mut [0; 4096], 0).unwrap();
    signal("USR1", served.process.id());
    let mut asked_for = String::new();
    for _ in 0..3 {
        served.out.read_line(&mut asked_for).unwrap();
    }
    assert!(asked_for.starts_with("1 completion; late by: mean "), "{asked_for}");
    assert!(asked_for.contains("real-time scheduling: "), "{asked_for}");
    file.read_exact_at(&mut [0; 4096], 0).unwrap();
    drop(file);
    let outcome = served.end("TERM");
    assert!(outcome.out.starts_with("2 completions; late by: mean "), "{}", outcome.out);
}

#[test]
fn dd_finds_again_what_it_wrote() {
    let Some(served) = Served::new("constant", &[], "dd_finds_again_what_it_wrote") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (source, drive) = (folder.path().join("source"), served.file());
    fs::write(&source, noise(3 << 20)).unwrap();
    let (input, output) = (format!("if={}", source.display()), format!("of={}", drive.display()));
    run("dd", &[&input, &output, "bs=1M", "oflag=direct", "status=none"]);
    run("dd", &[&input, &output, "bs=64k", "seek=1600", "conv=notrunc,fsync", "status=none"]);
    for (skip, flags) in [("skip=0", "iflag=direct"), ("skip=100", "iflag=fullblock")] {
        let back = folder.path().join("back");
        let (input, output) = (format!("if={}", drive.display()), format!("of={}", back.display()));
        run("dd", &[&input, &output, "bs=1M", "count=3", skip, flags, "status=none"]);
        assert!(fs::read(&back).unwrap() == fs::read(&source).unwrap(), "{skip} {flags}");
    }
}

#[test]
fn fio_verifies_what_it_wrote() {
    let name = "fio_verifies_what_it_wrote";
    if !has_program(name, "fio") {
        return;
    }
    let Some(served) = Served::new("constant", &[], name) else { return };
    let file = format!("--filename={}", served.file().display());
    let what = ["--rw=randwrite", "--bs=4k-64k", "--size=32m", "--verify=crc32c", "--verify_state_save=0"];
    let how = ["--name=verify", "--direct=1", "--ioengine=io_uring", "--iodepth=16", "--verify_fatal=1"];
    run("fio", &[&how[..], &what, &[&file]].concat());
}

#[test]
fn a_file_system_lives_on_its_loop_device() {
    let name = "a_file_system_lives_on_its_loop_device";
    if !has_program(name, "mkfs.ext4") || !has_program(name, "losetup") {
        return;
    }
    let Some(served) = Served::new("constant", &["--loop"], name) else { return };
    let device = served.loop_device();
    let expected = format!("Serving {} and {device}\n", served.file().display());
    assert!(served.instructions.starts_with(&expected), "{}", served.instructions);
    run("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", &device, "64M"]);
    let point = tempfile::tempdir().unwrap();
    let text = point.path().to_str().unwrap();
    let data = noise(5 << 20);
    run("mount", &[&device, text]);
    let written = fs::write(point.path().join("data"), &data);
    run("umount", &[text]);
    written.unwrap();
    run("fsck.ext4", &["-f", "-n", &device]);
    run("mount", &["-o", "ro", &device, text]);
    let found = fs::read(point.path().join("data"));
    run("umount", &[text]);
    assert!(found.unwrap() == data);
    let outcome = served.end("TERM");
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let number = device.strip_prefix("/dev/").unwrap();
    let backing = fs::read_to_string(format!("/sys/block/{number}/loop/backing_file")).unwrap_or_default();
    assert!(!backing.contains("/made/"), "{backing}");
}

#[test]
fn what_cannot_be_read_is_an_error_for_others_too() {
    let Some(served) = Served::new("faulty", &[], "what_cannot_be_read_is_an_error_for_others_too") else {
        return;
    };
    let file = File::open(served.file()).unwrap();
    let mut page = [1; 4096];
    assert_eq!(file.read_at(&mut page, UNREADABLE).unwrap_err().raw_os_error(), Some(5));
    assert_eq!(file.read_at(&mut page, UNREADABLE - 4096).unwrap(), 4096);
}

#[test]
fn a_profile_of_ones_own_is_mounted_under_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("any.toml");
    let text = "version = 1\nname = \"mine\"\ndescription = \"small\"\nsources = [\"made up\"]\n\
                [identity]\ncapacity_bytes = 8388608\nlogical_block_bytes = 4096\n\
                [constant]\nlatency_us = 100.0\nservers = 8\n";
    fs::write(&file, text).unwrap();
    let name = "a_profile_of_ones_own_is_mounted_under_its_name";
    let Some(served) = Served::new(file.to_str().unwrap(), &["--loop"], name) else { return };
    assert_eq!(served.file(), served.place().join("mine"));
    assert_eq!(served.file().metadata().unwrap().len(), 8 << 20);
    let block = run("blockdev", &["--getss", &served.loop_device()]);
    assert_eq!(block.trim(), "4096");
    fs::write(&file, format!("{text}colour = 1\n")).unwrap();
    let refused = Home::new().run(&["sim", "mount", file.to_str().unwrap(), "--at", "/nowhere"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("any.toml, line 11"), "{}", refused.err);
}

#[test]
fn our_own_check_runs_on_it() {
    let Some(served) = Served::new("constant", &[], "our_own_check_runs_on_it") else { return };
    let home = Home::new();
    let file = served.file();
    let run = home.json(&["check", file.to_str().unwrap(), "--time-limit", "5s", "--quiet"]);
    assert_eq!(run["run"]["status"], "complete");
    assert_eq!(run["target"]["capacity_bytes"], 1_000_000_000_000u64);
    let phases = run["phases"].as_array().unwrap();
    let sum = |key: &str| phases.iter().map(|phase| phase[key].as_u64().unwrap_or(0)).sum::<u64>();
    assert_eq!(sum("errors"), 0);
    // 8 at a time, 100 µs each: a busy machine reaches less, none reaches more in 5 s and what comes after.
    assert!((100..800_000).contains(&sum("operations")), "{}", sum("operations"));
}

/// A stick that says 16 MiB and holds 4: what is written past them wraps to its start, so that only the last 4 MiB are found again.
#[test]
fn a_stick_that_lies_about_its_size_is_caught_by_comparing() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("stick.toml");
    let sizes = [
        ("capacity_bytes = 128000000000", "capacity_bytes = 16777216"),
        ("real_bytes = 8000000000", "real_bytes = 4194304"),
    ];
    let mut text = sim::profile::preset_text("lying-stick").expect("it ships").into_owned();
    for (old, new) in sizes {
        assert!(text.contains(old), "no {old} in it");
        text = text.replace(old, new);
    }
    fs::write(&profile, text).unwrap();
    let name = "a_stick_that_lies_about_its_size_is_caught_by_comparing";
    let Some(served) = Served::new(profile.to_str().unwrap(), &[], name) else { return };
    let (home, file) = (Home::new(), served.file());
    let file = file.to_str().unwrap();
    let what = ["surface", file, "--full", "--write", "--verify", "--quiet", "--json", "-"];
    let outcome = home.run(&[&what[..], &["--destroy-data", "--confirm", file]].concat());
    let run: serde_json::Value =
        serde_json::from_str(&outcome.out).unwrap_or_else(|error| panic!("{error}: {}", outcome.err));
    let findings = run["findings"].as_array().unwrap();
    let wrong = findings.iter().find(|finding| finding["code"] == "data-integrity").expect("it was compared");
    let region = &wrong["data"]["regions"][0];
    assert_eq!((&region["first_byte"], &region["bytes"]), (&0.into(), &(12 << 20).into()), "{wrong}");
}

#[test]
fn a_mount_whose_program_was_killed_is_named_with_its_cure() {
    let name = "a_mount_whose_program_was_killed_is_named_with_its_cure";
    let Some(mut served) = Served::new("null", &["--loop"], name) else { return };
    let place = served.place();
    let number = served.loop_device().trim_start_matches("/dev/").to_owned();
    signal("KILL", served.process.id());
    served.process.wait().unwrap();
    let home = Home::new();
    let refused = home.run(&["sim", "mount", "null", "--at", place.to_str().unwrap()]);
    assert_eq!(refused.status, Some(1));
    let cure = format!("umount --lazy {}", place.display());
    assert!(refused.err.contains(&cure), "{}", refused.err);
    let (program, arguments) = cure.split_once(' ').unwrap();
    run(program, &arguments.split(' ').collect::<Vec<_>>());
    assert!(!is_mounted(&place));
    // The loop device went with the program.
    let backing = fs::read_to_string(format!("/sys/block/{number}/loop/backing_file")).unwrap_or_default();
    assert!(!backing.contains("/made/"), "{backing}");
}

#[test]
fn what_cannot_be_mounted_is_said_in_words() {
    let _alone = alone();
    let home = Home::new();
    let unknown = home.run(&["sim", "mount", "no-such-drive", "--at", "/nowhere/at/all"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.err.contains("there is no virtual drive `no-such-drive`"), "{}", unknown.err);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "kept").unwrap();
    let full = home.run(&["sim", "mount", "null", "--at", folder.path().to_str().unwrap()]);
    assert_eq!(full.status, Some(1));
    assert!(full.err.contains("is not empty. Name an empty folder"), "{}", full.err);
    let nowhere = home.run(&["sim", "mount", "null", "--at", "/nowhere/at/all"]);
    assert!(nowhere.err.contains("Name a folder whose parent exists"), "{}", nowhere.err);
}
