//! Systems that lack something: an old kernel, a home that may only be read, no FUSE, another version's runs.

use crate::program::*;
use rustix::io::Errno;
use std::fs;
use std::process::Command;

/// Starts a program for which a system call, the first argument, fails with an error, the second: by a seccomp filter.
const FILTERED: &str = r#"
import ctypes, os, struct, sys
call, error = int(sys.argv[1]), int(sys.argv[2])
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(77)
os.execv(sys.argv[3], sys.argv[3:])
"#;

/// `io_uring_setup` of all processors, as on kernels before 5.1.
const NO_IO_URING: (u32, Errno) = (425, Errno::NOSYS);
/// `fallocate`.
const QUOTA_USED_UP: (u32, Errno) = (if cfg!(target_arch = "x86_64") { 285 } else { 47 }, Errno::DQUOT);

/// None, and the test is reported as skipped, where no filter can be set.
fn filtered(home: &Home, (call, error): (u32, Errno), arguments: &[&str], test: &str) -> Option<Outcome> {
    let plain = home.command(arguments);
    let mut command = Command::new("python3");
    command
        .args(["-c", FILTERED, &call.to_string(), &error.raw_os_error().to_string(), PROGRAM])
        .args(arguments);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if Command::new("python3").arg("--version").output().is_err() {
        skip(test, "python3 is not installed");
        return None;
    }
    let outcome = outcome(&mut command);
    if outcome.status == Some(77) {
        skip(test, "seccomp filters are not allowed here");
        return None;
    }
    Some(outcome)
}

#[test]
fn a_kernel_without_io_uring_gets_blocking_calls_and_is_told_so() {
    let test = "a_kernel_without_io_uring_gets_blocking_calls_and_is_told_so";
    let home = Home::new();
    let image = Image::new(32);
    let path = image.path.to_str().expect("a plain path");
    let check = ["check", path, "--time-limit", "5s", "-q"];
    let Some(outcome) = filtered(&home, NO_IO_URING, &check, test) else { return };
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let document = home.json(&["show"]);
    assert_eq!(document["environment"]["engine"], "psync");
    let features = document["environment"]["engine_features"].as_array().expect("features");
    let said =
        features.iter().filter_map(|feature| feature.as_str()).any(|text| text.starts_with("no io_uring: "));
    assert!(said, "{features:?}");
    let page = home.print(&["show", "--verbose"]);
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains("no io_uring: "), "{page}");
    let uring = [&check[..], &["--engine", "uring"]].concat();
    let Some(outcome) = filtered(&home, NO_IO_URING, &uring, test) else { return };
    assert_eq!(outcome.status, Some(1));
    assert!(
        outcome.err.contains("io_uring") && outcome.err.contains("Function not implemented"),
        "{}",
        outcome.err
    );
}

#[test]
fn a_quota_that_is_used_up_is_told_and_nothing_is_left_behind() {
    let test = "a_quota_that_is_used_up_is_told_and_nothing_is_left_behind";
    let home = Home::new();
    let folder = home.folder.path().join("data");
    fs::create_dir(&folder).expect("a folder");
    let commit = ["commit", folder.to_str().expect("a plain path"), "--time-limit", "5s", "-q"];
    let Some(outcome) = filtered(&home, QUOTA_USED_UP, &commit, test) else { return };
    assert_eq!(outcome.status, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("Your quota is too small: choose a smaller --max-size"), "{}", outcome.err);
    assert!(names_in(&folder).is_empty());
}

#[test]
fn a_home_that_may_only_be_read_is_told_where_runs_can_go() {
    let test = "a_home_that_may_only_be_read_is_told_where_runs_can_go";
    let Some(place) = Tmpfs::new("size=1m", test) else { return };
    place.remount("ro");
    let home = Home::new();
    let at_home = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").env("HOME", place.path());
        outcome(&mut command)
    };
    let refused = at_home(&["ping", "sim:constant", "-q"]);
    assert_eq!(refused.status, Some(1), "{}", refused.err);
    assert!(
        refused.err.contains("Read-only file system") && refused.err.contains("--store DIR"),
        "{}",
        refused.err
    );
    assert_eq!(at_home(&["runs"]).status, Some(0), "what only reads works");
    let store = home.store();
    let elsewhere =
        at_home(&["ping", "sim:constant", "-q", "--store", store.to_str().expect("a plain path")]);
    assert_eq!(elsewhere.status, Some(0), "{}", elsewhere.err);
}

/// In a mount namespace of its own, whose /dev is empty.
#[test]
fn a_mount_without_fuse_says_how_to_get_it() {
    let test = "a_mount_without_fuse_says_how_to_get_it";
    let home = Home::new();
    let folder = home.folder.path().join("mounted");
    let mut command = Command::new("unshare");
    // Temporary folders may be in /dev/shm, which is gone then.
    let script =
        "mount -t tmpfs none /dev || exit 77; mkdir -p \"$2\"; exec \"$1\" sim mount zoned --at \"$2\"";
    command.args(["--mount", "sh", "-c", script, "sh", PROGRAM]).arg(&folder);
    command.env("XDG_CONFIG_HOME", home.folder.path().join("config"));
    let outcome = outcome(&mut command);
    if outcome.status == Some(77) || outcome.err.contains("unshare failed") {
        return skip(test, "a separate mount namespace needs root");
    }
    assert_eq!(outcome.status, Some(1), "{}", outcome.err);
    assert!(outcome.err.contains("There is no /dev/fuse: load the kernel's driver with `modprobe fuse`"));
}

/// As a container has it: the sysfs of the host, and a /dev of its own without drives.
#[test]
fn a_container_without_devices_says_how_to_get_one() {
    let test = "a_container_without_devices_says_how_to_get_one";
    let home = Home::new();
    let mut names = names_in(std::path::Path::new("/sys/block"));
    names.retain(|name| !name.contains('!'));
    let Some(name) = names.pop() else { return skip(test, "no drives here") };
    let drive = format!("/dev/{name}");
    let hint = format!("start the container with --device {drive}");
    for (arguments, status, expected) in [
        (&["check", &drive][..], 1, hint.as_str()),
        (&["check", "/dev/none"], 1, "No such file or device; `drivescope list` shows the drives"),
        (&["list"], 0, ""),
        (&["ping", "sim:constant", "-q"], 0, ""),
    ] {
        let mut command = Command::new("unshare");
        let script = "mount -t tmpfs none /dev || exit 77; exec \"$@\"";
        command.args(["--mount", "sh", "-c", script, "sh", PROGRAM]).args(arguments);
        command.env("XDG_CONFIG_HOME", home.folder.path()).env("XDG_DATA_HOME", home.folder.path());
        let outcome = outcome(&mut command);
        if outcome.status == Some(77) || outcome.err.contains("unshare failed") {
            return skip(test, "a separate mount namespace needs root");
        }
        assert_eq!(outcome.status, Some(status), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments:?}: {}", outcome.err);
    }
}

/// In a mount namespace of its own, where nothing is mounted at /proc or at /sys.
#[test]
fn what_needs_proc_or_sys_names_it_where_it_is_not_mounted() {
    let test = "what_needs_proc_or_sys_names_it_where_it_is_not_mounted";
    let home = Home::new();
    let image = Image::new(32);
    let folder = image.folder.path().to_str().expect("a plain path");
    let path = image.path.to_str().expect("a plain path");
    for (root, arguments, expected) in [
        ("/proc", &["check", folder, "--max-size", "16MiB"][..], "cannot make a scratch file in "),
        ("/proc", &["check", path], "through the page cache: "),
        ("/proc", &["files", folder], "cannot look for leftovers in "),
        (
            "/proc",
            &["sustain", path, "--write", "--confirm", path, "--destroy-data"],
            "through the page cache: ",
        ),
        ("/sys", &["list"], "cannot list the disks in /sys/block: "),
    ] {
        let mut command = Command::new("unshare");
        let script = format!("mount -t tmpfs none {root} || exit 77; exec \"$@\"");
        command.args(["--mount", "sh", "-c", &script, "sh", PROGRAM]).args(arguments);
        command.env("XDG_CONFIG_HOME", home.folder.path()).env("XDG_DATA_HOME", home.folder.path());
        let outcome = outcome(&mut command);
        if outcome.status == Some(77) || outcome.err.contains("unshare failed") {
            return skip(test, "a separate mount namespace needs root");
        }
        let kind = if root == "/proc" { "proc" } else { "sysfs" };
        let remedy = format!("nothing is mounted at {root}. Mount it as root: mount -t {kind} {kind} {root}");
        assert_eq!(outcome.status, Some(1), "{arguments:?}: {}", outcome.err);
        assert!(outcome.err.contains(expected) && outcome.err.contains(&remedy), "{}", outcome.err);
    }
}

/// What a later version adds is passed over; a schema that this one does not know is named, and hides nothing else.
#[test]
fn a_later_versions_runs_are_read_or_named() {
    let home = Home::new();
    home.print(&["ping", "sim:constant", "--seed", "1", "-q"]);
    let id = home.runs().pop().expect("a run");
    let shown = home.print(&["show", &id]);
    let path = home.store().join("runs").join(&id).join("run.json");
    let text = fs::read_to_string(&path).expect("its facts");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    document["run"]["version"] = "9.0.0".into();
    document["run"]["added_later"] = 1.into();
    document["findings"].as_array_mut().expect("findings").push(
        serde_json::json!({"code": "found-later", "value": 1, "unit": "count", "statement": "Later.", "evidence": []}),
    );
    fs::write(&path, document.to_string()).expect("its facts");
    // The later version has its own index, too: bytes 60 to 63 are the version of its tables.
    let index = home.store().join("index.sqlite");
    let mut bytes = fs::read(&index).expect("an index");
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(&index, bytes).expect("an index");
    let runs = home.run(&["runs"]);
    assert_eq!((runs.status, runs.err.as_str()), (Some(0), ""));
    assert!(runs.out.contains(&id), "{}", runs.out);
    assert_eq!(home.print(&["show", &id]), shown.replace(env!("CARGO_PKG_VERSION"), "9.0.0"));

    document["schema"] = "drivescope.run/2".into();
    fs::write(&path, document.to_string()).expect("its facts");
    home.print(&["ping", "sim:constant", "--seed", "2", "-q"]);
    let refused = home.run(&["show", &id]);
    assert_eq!(refused.status, Some(1));
    let expected =
        "its schema is \"drivescope.run/2\", and this version of drivescope reads drivescope.run/1";
    let remedy = "Read it with the version of drivescope that wrote it, or a later one";
    assert!(refused.err.contains(expected) && refused.err.contains(remedy), "{}", refused.err);
    let runs = home.run(&["runs"]);
    assert_eq!(runs.status, Some(0));
    assert!(runs.err.contains(expected) && runs.out.contains("complete"), "{runs:?}");
}
