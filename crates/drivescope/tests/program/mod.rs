//! The program as a user has it: started as a process of its own with a store of its own; and loop devices and
//! mounts that clean up after themselves, also when a test fails.
#![allow(dead_code, reason = "each test program uses its own part of it")]

pub mod schema;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program that was built with the tests.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_drivescope");

/// A place for runs, and the commands that use it.
pub struct Home {
    pub folder: TempDir,
}

#[derive(Debug)]
pub struct Outcome {
    /// The exit status; none when a signal ended it.
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Home {
    pub fn new() -> Home {
        Home { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn store(&self) -> PathBuf {
        self.folder.path().join("drivescope")
    }

    /// The program, with nothing of the environment that changes what it prints.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).env("XDG_DATA_HOME", self.folder.path()).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        ["DRIVESCOPE_STORE", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"].into_iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(&mut self.command(arguments))
    }

    /// Runs what must succeed, and answers what it printed.
    pub fn print(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.status, Some(0), "{arguments:?}: {}", outcome.err);
        outcome.out
    }

    /// Runs what must succeed with `--json -`, and answers the document, which must be as its schema says.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        schema::document(&self.print(&[arguments, &["--json", "-"]].concat()))
    }

    /// The names of all runs that are kept.
    pub fn runs(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.store().join("runs")) else { return Vec::new() };
        let names =
            entries.map(|entry| entry.expect("a folder").file_name().into_string().expect("a plain name"));
        names.filter(|name| !name.starts_with('.')).collect()
    }
}

pub fn outcome(command: &mut Command) -> Outcome {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    Outcome { status: status.code(), out: text(stdout), err: text(stderr) }
}

/// Sends a signal to a process that we started.
pub fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status().expect("kill is there");
    assert!(sent.success(), "a signal to {process}");
}

/// Files of a folder, by name.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    names
}

/// Random bytes that are the same in every test.
pub fn noise(bytes: usize) -> Vec<u8> {
    let mut prng = model::prng::Prng::new(0x00d1_5c5c_09e5, 1);
    let mut noise = Vec::with_capacity(bytes + 8);
    while noise.len() < bytes {
        noise.extend(prng.below(u64::MAX).to_le_bytes());
    }
    noise.truncate(bytes);
    noise
}

/// A file full of noise, in memory so that it is quick.
pub struct Image {
    pub folder: TempDir,
    pub path: PathBuf,
}

impl Image {
    pub fn new(mib: usize) -> Image {
        Image::holding(&noise(mib << 20))
    }

    /// A file of zeroes, on which no content stands in the way of writes.
    pub fn blank(mib: usize) -> Image {
        Image::holding(&vec![0; mib << 20])
    }

    fn holding(bytes: &[u8]) -> Image {
        let folder = TempDir::with_prefix_in("drivescope-program-", "/dev/shm").expect("a folder in memory");
        let path = folder.path().join("image");
        fs::write(&path, bytes).expect("an image");
        Image { folder, path }
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).expect("the image")
    }
}

/// An attached loop device, the only one that a test has: `losetup` opens others while it looks for a free one, and a permit is then
/// rightly refused.
pub struct LoopDevice {
    pub path: String,
    _alone: Option<File>,
}

/// Locked by whoever makes loop devices, in whichever program of tests. The tests of `io` lock the same file.
const LOOP_DEVICES: &str = "/tmp/drivescope-tests-loop-devices.lock";

/// Held as long as the file is open. None for whoever may not open it, and so cannot make loop devices either.
fn alone_with_loop_devices() -> Option<File> {
    let lock = File::options().create(true).append(true).open(LOOP_DEVICES).ok()?;
    lock.lock().expect("a lock");
    Some(lock)
}

impl LoopDevice {
    /// Between losetup's search for a free device and the attaching another program may take that device, so it is
    /// tried anew as long as the device is busy. None, and the test is reported as skipped, where there are none.
    pub fn over(file: &Path, test: &str) -> Option<LoopDevice> {
        let alone = alone_with_loop_devices();
        for _ in 0..50 {
            let Ok(output) = Command::new("losetup").args(["--find", "--show"]).arg(file).output() else {
                break;
            };
            if output.status.success() {
                let path = String::from_utf8(output.stdout).expect("a path").trim().to_owned();
                return Some(LoopDevice { path, _alone: alone });
            }
            if !String::from_utf8_lossy(&output.stderr).contains("busy") {
                break;
            }
        }
        skip(test, "loop devices need root and the loop driver");
        None
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.path]).status();
    }
}

/// A small file system in memory.
pub struct Tmpfs {
    pub point: TempDir,
}

impl Tmpfs {
    /// None, and the test is reported as skipped, where nothing may be mounted.
    pub fn new(options: &str, test: &str) -> Option<Tmpfs> {
        let point = tempfile::tempdir().expect("a temporary folder");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(point.path()).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Tmpfs { point });
        }
        skip(test, "mounting a tmpfs needs root");
        None
    }

    pub fn path(&self) -> &Path {
        self.point.path()
    }

    pub fn text(&self) -> &str {
        self.path().to_str().expect("a plain path")
    }

    pub fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let status =
            Command::new("mount").args(["-o", &options]).arg(self.path()).status().expect("mount is there");
        assert!(status.success(), "mount -o {options}");
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.point.path()).status();
    }
}

/// Says that a test did not run, where whoever runs the tests can see it.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("DRIVESCOPE_SKIP_LOG") {
        let mut log = File::options().append(true).create(true).open(path).expect("the skip log");
        writeln!(log, "{line}").expect("the skip log");
    }
}
