//! Mistakes and bad days: what the program says, with which exit status, and that nothing is lost or written.
//!
//! Each message is held to what helps: what was tried on what, why it did not work, what to type next. Usage mistakes
//! exit with 2, failures with 1.

use crate::program::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command that fails, and the words that its message must hold.
struct Mistake<'case> {
    arguments: &'case [&'case str],
    status: i32,
    says: &'case [&'case str],
}

fn mistake<'case>(arguments: &'case [&'case str], status: i32, says: &'case [&'case str]) -> Mistake<'case> {
    Mistake { arguments, status, says }
}

/// Makes each mistake; no run may be kept of it, and nothing printed where results go.
fn make(home: &Home, mistakes: &[Mistake<'_>]) {
    for Mistake { arguments, status, says } in mistakes {
        let outcome = home.run(arguments);
        assert_eq!(outcome.status, Some(*status), "{arguments:?}: {}", outcome.err);
        for words in *says {
            assert!(outcome.err.contains(words), "{arguments:?} does not say `{words}`: {}", outcome.err);
        }
        assert!(!outcome.err.contains("panicked"), "{arguments:?}: {}", outcome.err);
        assert_eq!(outcome.out, "", "{arguments:?}");
        assert_eq!(home.runs(), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let check = |rest: &'static [&'static str]| [&["check", "sim:zoned"], rest].concat();
    let cases: [(Vec<&str>, &[&str]); 44] = [
        (vec!["geometry", "sim:wd20ears", "--write"], &["geometry only reads", "--write"]),
        (check(&["--time-limit", "1s"]), &["--time-limit", "too short", "5s"]),
        (check(&["--time-limit", "10"]), &["--time-limit: `10` is not a duration such as 30s"]),
        (check(&["--time-limit", "soon"]), &["--time-limit: `soon` is not a duration"]),
        (check(&["--time-limit", "-5s"]), &["--time-limit: `-5s` is not a duration"]),
        (check(&["--time-limit", "NaNs"]), &["--time-limit: `NaNs` is not a duration"]),
        (check(&["--time-limit", "1e30h"]), &["--time-limit: `1e30h` is not a duration"]),
        (check(&["--time-limit", ""]), &["--time-limit"]),
        (check(&["--precision", "0%"]), &["--precision", "cannot be reached", "0.01%"]),
        (check(&["--precision", "200%"]), &["--precision: `200%` is not a share such as 1%"]),
        (check(&["--precision", "-1%"]), &["--precision: `-1%` is not a share"]),
        (check(&["--precision", "1"]), &["--precision: `1` is not a share"]),
        (check(&["--seed", "-1"]), &["--seed", "-1"]),
        (check(&["--seed", "1e3"]), &["--seed", "1e3", "it is not a whole number"]),
        (check(&["--seed", "99999999999999999999"]), &["--seed", "too large"]),
        (check(&["--max-size", "much"]), &["--max-size: `much` is not a size such as 512"]),
        (check(&["--max-size", "-1GiB"]), &["--max-size: `-1GiB` is not a size"]),
        (check(&["--max-size", "99999999999TB"]), &["--max-size: `99999999999TB` is not a size"]),
        (check(&["--max-size", "0"]), &["--max-size", "too small", "16 MiB"]),
        (check(&["--max-size", "1KiB"]), &["--max-size", "too small", "16 MiB"]),
        (check(&["--range", "10%"]), &["--range: `10%` is not a range such as 10%..20%"]),
        (check(&["--range", "20%..10%"]), &["--range", "end past its start"]),
        (check(&["--range", "5..5"]), &["--range", "end past its start"]),
        (check(&["--range", "1%..2GiB"]), &["--range"]),
        (check(&["--range", "-5..5"]), &["--range"]),
        (
            check(&["--range", "0..501GB"]),
            &["sim:zoned", "500000000000 bytes", "--range inside 0..500000000000"],
        ),
        (check(&["--range", "1..500"]), &["no whole block of 512 bytes", "larger --range"]),
        (check(&["--range", "512..1024"]), &["at least 64 KiB", "larger --range"]),
        (check(&["--engine", "aio"]), &["aio", "auto, uring, psync"]),
        (check(&["--destroy-data"]), &["--write"]),
        (check(&["--confirm", "S1"]), &["--write"]),
        (check(&["another"]), &["another"]),
        (check(&["--frobnicate"]), &["--frobnicate"]),
        (vec!["chekc"], &["chekc", "check"]),
        (vec!["/dev/null"], &["unknown command `/dev/null`", "drivescope check /dev/null"]),
        (vec!["sim:zoned"], &["drivescope check sim:zoned", "drivescope --help"]),
        (vec!["check", "zoned"], &["virtual drive of this name: sim:zoned"]),
        (
            vec!["access", "sim:zoned", "--range", "0..4MiB", "--blocks", "1GiB"],
            &["1 GiB is too large", "4 MiB"],
        ),
        (vec!["import", "/dev"], &["cannot import /dev", "a folder"]),
        (vec!["import", "/dev/zero"], &["cannot import /dev/zero", "neither a file nor a pipe"]),
        (vec!["check", "sim:zone"], &["`zone`", "did you mean `zoned`?", "drivescope sim list"]),
        (vec!["check", "sim:"], &["there is no virtual drive ``", "drivescope sim list"]),
        (vec!["check", ""], &["empty word", "sim:NAME"]),
        (vec!["check", ".", "--write"], &["folder", "Omit --write"]),
    ];
    let cases: Vec<_> = cases.iter().map(|(arguments, says)| mistake(arguments, 2, says)).collect();
    make(&Home::new(), &cases);
}

#[test]
fn what_cannot_be_measured_is_named_with_what_can() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| place.path().join(name).to_str().expect("a plain path").to_owned();
    fs::write(at("empty"), "").expect("a file");
    fs::write(at("small"), noise(1024)).expect("a file");
    let made = Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo is there");
    assert!(made.success());
    let _socket = UnixListener::bind(at("socket")).expect("a socket");
    std::os::unix::fs::symlink(at("circle"), at("circle")).expect("a link");
    let list = "`drivescope list` shows the drives";
    make(
        &Home::new(),
        &[
            mistake(&["check", &at("none")], 1, &["cannot open", "/none", "No such file or device", list]),
            mistake(&["check", &at("no/such/folder")], 1, &["cannot open", "No such file or device"]),
            mistake(&["check", &at("circle")], 1, &["links lead in a circle"]),
            mistake(&["check", "/dev/null"], 1, &["/dev/null", "character device", list]),
            mistake(&["check", &at("pipe")], 1, &["it is a pipe", list]),
            mistake(&["check", &at("socket")], 1, &["it is a socket", list]),
            mistake(&["check", &at("empty")], 1, &["it is empty", "folder for a scratch file"]),
            mistake(&["check", &at("small")], 1, &["1024 bytes", "64 KiB", "larger file"]),
        ],
    );
    assert_eq!(names_in(place.path()), ["circle", "empty", "pipe", "small", "socket"]);
}

#[test]
fn a_folder_without_room_or_right_is_named_with_what_to_do() {
    let test = "a_folder_without_room_or_right_is_named_with_what_to_do";
    let Some(tiny) = Tmpfs::new("size=8m", test) else { return };
    let home = Home::new();
    make(&home, &[mistake(&["check", tiny.text()], 1, &["no room", "8 MiB", "choose another directory"])]);
    tiny.remount("size=64m,ro");
    make(&home, &[mistake(&["check", tiny.text()], 1, &["read-only", "choose another directory"])]);
    tiny.remount("size=64m,rw");
    let no_place = ["without its drive", "drivescope geometry /dev/sdX"];
    make(&home, &[mistake(&["geometry", tiny.text()], 2, &no_place)]);
    assert_eq!(names_in(tiny.path()), Vec::<String>::new());
}

#[test]
fn a_file_of_odd_size_is_rounded_down_and_says_so() {
    let home = Home::new();
    let file = home.folder.path().join("odd");
    fs::write(&file, noise(1_000_001)).expect("a file");
    let page = home.print(&["check", file.to_str().expect("a plain path"), "--time-limit", "5s", "-q"]);
    assert!(page.contains("are left out"), "{page}");
    assert!(fs::read(&file).expect("the file") == noise(1_000_001));
}

#[test]
fn nothing_is_written_without_confirmation() {
    let test = "nothing_is_written_without_confirmation";
    let image = Image::new(64);
    let before = image.bytes();
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    let confirm = format!("add: --confirm {}", device.path);
    make(
        &Home::new(),
        &[
            mistake(
                &["check", &device.path, "--write"],
                1,
                &["will not write to", "not confirmed", &confirm],
            ),
            mistake(
                &["check", &device.path, "--write", "--confirm", "/dev/other"],
                1,
                &["--confirm /dev/other does not name it", &confirm],
            ),
            mistake(&["check", &device.path, "--write", "--confirm", ""], 1, &[&confirm]),
            mistake(&["check", &device.path, "--write", "--dry-run"], 1, &["not confirmed"]),
        ],
    );
    drop(device);
    assert!(image.bytes() == before, "something was written");
}

#[test]
fn a_file_system_is_in_the_way_of_writes() {
    let test = "a_file_system_is_in_the_way_of_writes";
    let image = Image::blank(64);
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image.path).status();
    if !made.is_ok_and(|status| status.success()) {
        return skip(test, "mkfs.ext4 is not installed");
    }
    let before = image.bytes();
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    make(
        &Home::new(),
        &[mistake(
            &["check", &device.path, "--write", "--confirm", &device.path],
            1,
            &["will not write", "ext4", "--destroy-data"],
        )],
    );
    drop(device);
    assert!(image.bytes() == before, "something was written");
}

/// Whoever takes `--json` for a flag names a drive as the file for the result.
#[test]
fn no_result_is_written_over_a_drive() {
    let test = "no_result_is_written_over_a_drive";
    let image = Image::new(8);
    let before = image.bytes();
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    let home = Home::new();
    let says: &[&str] = &["is a drive", "Name a file"];
    make(&home, &[mistake(&["check", "--json", &device.path, "sim:null", "-q"], 2, says)]);
    let kept = home.run(&["check", "sim:constant", "--time-limit", "5s", "-q"]);
    assert_eq!(kept.status, Some(0), "{}", kept.err);
    let shown = home.run(&["show", "last", "--json", &device.path]);
    assert!(shown.status == Some(2) && says.iter().all(|word| shown.err.contains(word)), "{}", shown.err);
    drop(device);
    assert!(image.bytes() == before, "something was written");
}

/// Nor over what it is made from: the file, the file under a loop device, a virtual drive's profile, a plan, what is imported.
#[test]
fn no_result_is_written_over_what_it_is_made_from() {
    let test = "no_result_is_written_over_what_it_is_made_from";
    let home = Home::new();
    let says: &[&str] = &["would be written over what it is made from"];
    let image = Image::new(8);
    let file = image.path.to_str().expect("a plain path");
    let before = image.bytes();
    let (profile, plan) = (home.folder.path().join("my.toml"), home.folder.path().join("plan.toml"));
    let (profile, plan) = (profile.to_str().expect("plain"), plan.to_str().expect("plain"));
    home.print(&["sim", "new", profile, "--from", "zoned"]);
    fs::write(
        plan,
        "version = 1\n[[step]]\ndo = \"read\"\npattern = \"random\"\nblocks = \"4KiB\"\ntime = \"1s\"\n",
    )
    .expect("a plan");
    let drive = format!("sim:{profile}");
    make(
        &home,
        &[
            mistake(&["check", file, "--json", file], 2, says),
            mistake(&["purge", file, "--write", "--confirm", file, "--json", file], 2, says),
            mistake(&["surface", &drive, "--json", profile], 2, says),
            mistake(&["run", plan, "sim:zoned", "--json", plan], 2, says),
            mistake(&["import", profile, "--json", profile], 2, says),
        ],
    );
    if let Some(device) = LoopDevice::over(&image.path, test) {
        make(&home, &[mistake(&["check", &device.path, "--json", file], 2, says)]);
    }
    home.print(&["surface", &drive, "--time-limit", "5s", "-q"]);
    let resumed = home.run(&["surface", "--resume", "last", "--json", profile]);
    assert!(resumed.status == Some(2) && resumed.err.contains(says[0]), "{}", resumed.err);
    assert!(image.bytes() == before, "something was written");
}

/// The disk under the file system that is mounted at `/`, by its device number.
fn system_disk() -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let root =
        mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()).rfind(|words| words[4] == "/")?;
    let device = fs::canonicalize(format!("/sys/dev/block/{}", root[2])).ok()?;
    let disk = if device.join("partition").exists() { device.parent()? } else { &device };
    Some(format!("/dev/{}", disk.file_name()?.to_str()?))
}

/// With `--dry-run`, and neither `--confirm` nor `--destroy-data`: this test must be harmless also when it fails.
#[test]
fn the_system_disk_is_never_written_to() {
    let Some(disk) = system_disk().filter(|disk| Path::new(disk).exists()) else {
        return skip(
            "the_system_disk_is_never_written_to",
            "the root file system lies on no device of this machine",
        );
    };
    let outcome = Home::new().run(&["check", &disk, "--write", "--dry-run"]);
    assert_eq!(outcome.status, Some(1), "{}", outcome.err);
    let refused = outcome.err.contains("mounted at /") || outcome.err.contains("cannot open");
    assert!(refused && outcome.err.contains(&disk), "{}", outcome.err);
}

/// A drive whose far half cannot be read any more, as when a disk drops sectors in the middle of a run.
#[test]
fn a_drive_that_fails_in_the_middle_leaves_a_run_and_a_finding() {
    let test = "a_drive_that_fails_in_the_middle_leaves_a_run_and_a_finding";
    let image = Image::new(64);
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    let home = Home::new();
    let mut child = home
        .command(&["check", &device.path, "--time-limit", "5s", "-q"])
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    while home.runs().is_empty() {
        assert!(child.try_wait().expect("our child").is_none(), "it ended before it kept a run");
        std::thread::yield_now();
    }
    fs::File::options()
        .write(true)
        .open(&image.path)
        .and_then(|file| file.set_len(1 << 20))
        .expect("it shrinks");
    // What can be measured was measured, so the run is complete: that the drive is bad is a finding, not a failure.
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let document = home.json(&["show"]);
    assert_eq!(document["run"]["status"], "complete");
    let findings = document["findings"].as_array().expect("findings");
    let bad: Vec<_> = findings.iter().filter(|finding| finding["code"] == "bad-blocks").collect();
    assert_eq!(bad.len(), 1);
    assert!(bad[0]["value"].as_f64().is_some_and(|places| places >= 1.0), "{}", bad[0]);
    // The first request that fails may begin before what was lost, by less than its own length of at most 1 MiB.
    let first = bad[0]["data"]["regions"][0]["first_byte"].as_u64();
    assert!(first.is_some_and(|first| (1..=1 << 20).contains(&first)), "{}", bad[0]);
    let warnings = document["environment"]["warnings"].to_string();
    assert!(!warnings.contains("Other programs"), "our own failed requests are nobody else's: {warnings}");
}

#[test]
fn who_may_not_is_told_what_to_do() {
    let test = "who_may_not_is_told_what_to_do";
    let may_change_user =
        Command::new("setpriv").args(["--reuid", "65534", "--clear-groups", "true"]).status();
    if !may_change_user.is_ok_and(|status| status.success()) {
        return skip(test, "becoming another user needs root and setpriv");
    }
    let place = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| place.path().join(name).to_str().expect("a plain path").to_owned();
    let set_mode =
        |path: &str, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    set_mode(&at(""), 0o755);
    // Folders above the program may be closed to others. A copy made here would be open for writing in whatever another test forks
    // meanwhile, and could not be run: "Text file busy".
    let copied = Command::new("cp").args([PROGRAM, &at("drivescope")]).status().expect("cp runs");
    assert!(copied.success(), "a copy");
    fs::write(at("secret"), noise(1 << 20)).expect("a file");
    set_mode(&at("secret"), 0o600);
    fs::create_dir(at("readable")).expect("a folder");
    let nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(at("drivescope"));
        outcome(command.args(arguments).stdin(Stdio::null()))
    };
    let own_store = tempfile::tempdir().expect("a temporary folder");
    set_mode(own_store.path().to_str().expect("a plain path"), 0o777);
    let store = own_store.path().join("store");
    let store = store.to_str().expect("a plain path");
    let refused = [
        (vec!["--store", store, "check", "TARGET"], at("secret"), "Run as root"),
        (
            vec!["--store", store, "check", "TARGET"],
            at("readable"),
            "Choose a directory in which you may make files",
        ),
        (vec!["check", "sim:zoned", "--store", "TARGET"], at("readable"), "`--store DIR`"),
    ];
    for (arguments, target, advice) in refused {
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "TARGET" { target.as_str() } else { word }).collect();
        let outcome = nobody(&arguments);
        assert_eq!(outcome.status, Some(1), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains("ermission denied") && outcome.err.contains(advice), "{}", outcome.err);
        assert!(outcome.err.contains(&target), "{}", outcome.err);
    }
    assert_eq!(names_in(Path::new(&at("readable"))), Vec::<String>::new());
    let outcome = nobody(&["--store", store, "check", "sim:zoned", "-q"]);
    assert_eq!(outcome.status, Some(0), "a virtual drive needs no rights: {}", outcome.err);
}

#[test]
fn a_store_that_cannot_be_used_is_named_with_the_option_that_chooses_another() {
    let home = Home::new();
    let file = home.folder.path().join("file");
    fs::write(&file, "not a folder").expect("a file");
    let file = file.to_str().expect("a plain path");
    let another = "choose another";
    make(
        &home,
        &[
            mistake(
                &["check", "sim:zoned", "-q", "--store", file],
                1,
                &[file, "A file is where a folder", another],
            ),
            mistake(&["runs", "--store", file], 1, &[file, "A file is where a folder", another]),
            mistake(
                &["check", "sim:zoned", "-q", "--store", "/proc/none"],
                1,
                &["/proc/none", "--store DIR"],
            ),
            mistake(&["show"], 1, &["no runs in", "drivescope check ."]),
            mistake(&["show", "last"], 1, &["no runs in", "drivescope check ."]),
        ],
    );
    assert_eq!(fs::read_to_string(file).expect("the file"), "not a folder");
    assert!(!home.store().exists(), "looking makes no store");
    let mut homeless = home.command(&["runs"]);
    homeless.env_remove("XDG_DATA_HOME").env_remove("HOME");
    let outcome = outcome(&mut homeless);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("HOME") && outcome.err.contains("--store DIR"), "{}", outcome.err);
}

#[test]
fn a_full_store_loses_nothing_that_was_kept() {
    let Some(tiny) = Tmpfs::new("size=256k", "a_full_store_loses_nothing_that_was_kept") else { return };
    let home = Home::new();
    let outcome = home.run(&["check", "sim:zoned", "--seed", "7", "-q", "--store", tiny.text()]);
    assert_eq!(outcome.status, Some(1), "{}", outcome.err);
    let said = ["No space left on device", "All records written before are kept", "--store DIR"];
    assert!(said.iter().all(|words| outcome.err.contains(words)), "{}", outcome.err);
    assert!(home.print(&["runs", "--store", tiny.text()]).contains("sim-zoned-check-"));
    assert!(home.print(&["show", "--store", tiny.text()]).contains("Seq. read, start"));
}

#[test]
fn a_store_that_may_only_be_read_can_be_read() {
    let Some(store) = Tmpfs::new("size=64m", "a_store_that_may_only_be_read_can_be_read") else { return };
    let home = Home::new();
    let check = ["check", "sim:zoned", "--seed", "7", "-q", "--store", store.text()];
    home.print(&check);
    let shown = home.print(&["show", "--store", store.text()]);
    store.remount("ro");
    assert!(home.print(&["runs", "--store", store.text()]).contains("complete"));
    assert_eq!(home.print(&["show", "--store", store.text()]), shown);
    let outcome = home.run(&check);
    assert_eq!(outcome.status, Some(1));
    assert!(
        outcome.err.contains("Read-only file system") && outcome.err.contains("--store DIR"),
        "{}",
        outcome.err
    );
}

#[test]
fn damage_is_named_and_the_rest_is_shown() {
    let home = Home::new();
    home.print(&["check", "sim:zoned", "--seed", "7", "-q"]);
    home.print(&["check", "sim:zoned", "--seed", "8", "-q"]);
    let shown = home.print(&["show"]);
    let sound = home.run(&["runs"]);
    assert_eq!(sound.err, "");

    fs::write(home.store().join("index.sqlite"), noise(4096)).expect("a spoilt index");
    let outcome = home.run(&["runs"]);
    assert_eq!((outcome.status, outcome.out.as_str()), (Some(0), sound.out.as_str()), "{}", outcome.err);
    assert_eq!(home.print(&["show"]), shown);

    fs::create_dir(home.store().join("runs/garbage")).expect("a folder");
    fs::write(home.store().join("runs/garbage/run.json"), "{\"schema\": \"dri").expect("a spoilt run");
    let outcome = home.run(&["runs"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.err.contains("garbage: cannot read") && outcome.out.contains("garbage"), "{outcome:?}");
    assert_eq!(home.print(&["show"]), shown, "the last run that can be read");
    let outcome = home.run(&["show", "garbage"]);
    assert_eq!((outcome.status, outcome.out.as_str()), (Some(1), ""), "{}", outcome.err);
    assert!(
        outcome.err.contains("garbage/run.json") && outcome.err.contains("`drivescope runs`"),
        "{}",
        outcome.err
    );

    let unknown = home.run(&["show", "yesterday"]);
    assert_eq!(unknown.status, Some(1));
    assert!(
        unknown.err.contains("\"yesterday\"") && unknown.err.contains("`drivescope runs`"),
        "{}",
        unknown.err
    );
    let ambiguous = home.run(&["show", "sim-zoned"]);
    assert_eq!(ambiguous.status, Some(1));
    let names: Vec<String> = home.runs().into_iter().filter(|name| name.starts_with("sim")).collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| ambiguous.err.contains(name)), "{}", ambiguous.err);
    assert!(ambiguous.err.contains("give more of the name"), "{}", ambiguous.err);
}

#[test]
fn output_that_cannot_be_written_does_not_cost_the_run() {
    let home = Home::new();
    let check = ["check", "sim:zoned", "--seed", "7", "-q", "--json"];
    for (path, status) in [("/no/such/folder/run.json", 1), ("/dev", 2)] {
        make(&home, &[mistake(&[&check[..], &[path]].concat(), status, &[path])]);
    }
    home.print(&check[..5]);
    for path in ["/no/such/folder/run.json", "/dev"] {
        let outcome = home.run(&["show", "last", "--json", path]);
        assert_eq!(outcome.status, Some(1), "{}", outcome.err);
        let id = home.runs().pop().expect("the run is kept");
        assert!(outcome.err.contains(path), "{}", outcome.err);
        assert!(outcome.err.contains(&format!("`drivescope show {id} --json FILE`")), "{}", outcome.err);
        assert!(outcome.out.contains("Access time"), "the page can be printed: {}", outcome.out);
    }
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = home.command(&["check", "sim:zoned", "--seed", "7", "-q"]);
    let output = command.stdout(full).output().expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("standard output") && said.contains("drivescope show sim-zoned-check-"), "{said}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    home.print(&["check", "sim:zoned", "--seed", "7", "-q"]);
    for arguments in [&["show", "last", "--json", "-"][..], &["show"], &["runs"], &["list"], &["--help"]] {
        let mut child =
            home.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
    // And one that reads no errors keeps neither the errors' status nor the result from the others.
    for (arguments, status) in
        [(&["check", "/no/such/drive"][..], 1), (&["chekc"], 2), (&["check", "sim:zoned", "--seed", "7"], 0)]
    {
        let mut child =
            home.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stderr.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        assert_eq!(output.stdout.is_empty(), status != 0, "{arguments:?}");
    }
}
