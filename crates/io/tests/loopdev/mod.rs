//! Loop devices, mounts and images for tests, which clean up after themselves, also when a test fails.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Held by a test while no other one of its program may start programs: a child has copies of all descriptors until
/// it runs its program, and so keeps open what a test has closed.
pub fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that makes loop devices. Where that cannot be done, the test `name` is reported as skipped.
pub fn alone_with_loop_devices(name: &str) -> Option<(MutexGuard<'static, ()>, Option<File>)> {
    let alone = (alone(), locked());
    let works = Command::new("losetup").arg("--find").output().is_ok_and(|output| output.status.success());
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if works && is_root {
        return Some(alone);
    }
    skip(name, "loop devices need root and the loop driver");
    None
}

/// Locked by whoever makes loop devices, in whichever program of tests: `losetup` opens others while it looks for a free one, and a
/// permit is then rightly refused. The tests of `drivescope` lock the same file.
const LOOP_DEVICES: &str = "/tmp/drivescope-tests-loop-devices.lock";

/// None for whoever may not open it, and so cannot make loop devices either.
fn locked() -> Option<File> {
    let lock = File::options().create(true).append(true).open(LOOP_DEVICES).ok()?;
    lock.lock().expect("a lock");
    Some(lock)
}

/// Says aloud that a test did not run.
pub fn skip(name: &str, why: &str) {
    let line = format!("SKIPPED {name}: {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("DRIVESCOPE_SKIP_LOG") {
        let mut file =
            File::options().create(true).append(true).open(path).expect("the skip log can be written");
        writeln!(file, "{line}").expect("the skip log can be written");
    }
}

/// Whether a program is there; the test is reported as skipped when not.
pub fn has_program(test: &str, program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skip(test, &format!("{program} is not installed"));
    }
    found
}

/// Runs a command that must succeed; answers what it printed.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = attempt(program, arguments);
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text").trim().to_owned()
}

/// Runs a command that may fail.
pub fn attempt(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// A file in memory to make a loop device over.
pub struct Image {
    pub directory: TempDir,
    pub path: PathBuf,
    /// Bytes that the kernel may write at any moment.
    swap_pages: Range<u64>,
}

impl Image {
    pub fn new(mib: u64) -> Image {
        let directory = TempDir::with_prefix_in("drivescope-test-", "/dev/shm").expect("a folder in memory");
        let path = directory.path().join("image");
        File::create(&path).and_then(|file| file.set_len(mib << 20)).expect("an image");
        Image { directory, path, swap_pages: 0..0 }
    }

    /// From now on the checksum leaves them out: where memory gets short, the kernel swaps pages out to them.
    pub fn expect_swapping_to(&mut self, pages: Range<u64>) {
        self.swap_pages = pages;
    }

    /// A number that changes with any byte, but those of swap pages.
    pub fn checksum(&self) -> String {
        let Range { start, end } = self.swap_pages;
        let rest = format!("{{ head -c {start} \"$0\"; tail -c +{} \"$0\"; }} | sha256sum", end + 1);
        run("sh", &["-c", &rest, self.text()])
    }

    pub fn text(&self) -> &str {
        self.path.to_str().expect("a plain path")
    }
}

pub fn checksum(path: &Path) -> String {
    run("sha256sum", &[path.to_str().expect("a plain path")])
}

pub struct LoopDevice {
    pub path: PathBuf,
    partitions: u32,
}

impl LoopDevice {
    pub fn over(file: &Path) -> LoopDevice {
        LoopDevice::with_options(file, &[])
    }

    /// With options of `losetup`. Between its search for a free device and the attaching another program may take
    /// that device, so it is tried anew as long as the device is busy.
    pub fn with_options(file: &Path, options: &[&str]) -> LoopDevice {
        let file = file.to_str().expect("a plain path");
        for _ in 0..50 {
            let output = attempt("losetup", &[&["--find", "--show"], options, &[file]].concat());
            if output.status.success() {
                let path = String::from_utf8(output.stdout).expect("a path").trim().to_owned();
                return LoopDevice { path: path.into(), partitions: 0 };
            }
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(message.contains("busy"), "losetup: {message}");
        }
        panic!("every loop device was taken by others");
    }

    /// Partitions it by an sfdisk script, and makes the kernel see them.
    pub fn partition(&mut self, script: &str) {
        let mut sfdisk = Command::new("sfdisk")
            .args(["--quiet", "--no-reread", "--no-tell-kernel", self.text()])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("sfdisk is installed");
        sfdisk.stdin.take().expect("piped").write_all(script.as_bytes()).expect("sfdisk reads");
        assert!(sfdisk.wait().expect("sfdisk ends").success());
        run("partx", &["-a", self.text()]);
        self.partitions =
            script.lines().filter(|line| line.starts_with("size=") || line.starts_with(',')).count() as u32;
    }

    pub fn partition_path(&self, number: u32) -> PathBuf {
        PathBuf::from(format!("{}p{number}", self.text()))
    }

    pub fn text(&self) -> &str {
        self.path.to_str().expect("a plain path")
    }

    pub fn number(&self) -> String {
        let name = self.path.file_name().expect("a name").to_str().expect("plain");
        fs::read_to_string(format!("/sys/block/{name}/dev")).expect("it is in sysfs").trim().to_owned()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if self.partitions > 0 {
            attempt("partx", &["-d", self.text()]);
        }
        attempt("losetup", &["-d", self.text()]);
    }
}

pub struct Mounted {
    pub point: TempDir,
}

impl Mounted {
    pub fn new(device: &Path, options: &str) -> Mounted {
        let point = TempDir::with_prefix_in("drivescope-mount-", "/dev/shm").expect("a folder in memory");
        run(
            "mount",
            &["-o", options, device.to_str().expect("plain"), point.path().to_str().expect("plain")],
        );
        Mounted { point }
    }

    pub fn place(&self) -> &Path {
        self.point.path()
    }

    /// Nothing is written below it as long as what comes back lives: its journal would be, at some moment.
    pub fn frozen(&self) -> Frozen<'_> {
        run("fsfreeze", &["--freeze", self.place().to_str().expect("plain")]);
        Frozen { place: self.place() }
    }
}

pub struct Frozen<'mounted> {
    place: &'mounted Path,
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        attempt("fsfreeze", &["--unfreeze", self.place.to_str().expect("plain")]);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        attempt("umount", &[self.point.path().to_str().expect("plain")]);
    }
}

/// What `mount` says when it refuses the device; none when it mounted it, which is undone at once.
pub fn mount_refusal(device: &LoopDevice) -> Option<String> {
    let point = TempDir::with_prefix_in("drivescope-mount-", "/dev/shm").expect("a folder in memory");
    let place = point.path().to_str().expect("plain");
    let output = attempt("mount", &["-o", "ro", device.text(), place]);
    if output.status.success() {
        run("umount", &[place]);
        return None;
    }
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// An ext4 file system whose background work is done at once, so that it changes nothing later.
pub fn make_ext4(device: &Path) {
    run(
        "mkfs.ext4",
        &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device.to_str().expect("plain")],
    );
}

/// Swap that is turned off again.
pub struct SwappedOn(pub PathBuf);

impl SwappedOn {
    pub fn new(path: &Path) -> SwappedOn {
        run("mkswap", &["-q", path.to_str().expect("plain")]);
        // Otherwise its label is written back some seconds later when another program had the device open as well, and looks like a write
        // of ours.
        run("sync", &[path.to_str().expect("plain")]);
        run("swapon", &[path.to_str().expect("plain")]);
        SwappedOn(path.into())
    }
}

impl Drop for SwappedOn {
    fn drop(&mut self) {
        attempt("swapoff", &[self.0.to_str().expect("plain")]);
    }
}

/// A page of data at an address that direct I/O accepts.
#[repr(align(4096))]
pub struct Page(pub [u8; 4096]);
