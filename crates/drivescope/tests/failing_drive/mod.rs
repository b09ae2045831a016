//! A virtual drive that can be made to fail, mounted so that the kernel says what a failing drive makes it say. What a write that fails
//! carried is stored all the same: of a real drive nobody knows either.

use super::program::{noise, skip};
use io::mount::{Mount, MountOptions};
use model::request::{Completion, Operation, Request, Status, Tag};
use model::target::TargetFacts;
use model::units::{Bytes, Instant};
use sim::Drive;
use sim::contents::Contents;
use sim::profile::Profile;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// Which requests fail, by their number, and which flush does.
pub struct Failing {
    flushes_before: AtomicU64,
    seen: AtomicU64,
    from: AtomicU64,
    until: AtomicU64,
    status: Mutex<Status>,
}

impl Failing {
    /// From the request after so many more on, so many of them.
    pub fn begin(&self, after: u64, count: u64, status: Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        let from = self.seen() + after;
        self.until.store(from.saturating_add(count), Ordering::SeqCst);
        self.from.store(from, Ordering::SeqCst);
    }

    /// One flush, after so many more.
    pub fn begin_with_flush(&self, after: u64) {
        self.flushes_before.store(after, Ordering::SeqCst);
    }

    pub fn end(&self) {
        self.from.store(u64::MAX, Ordering::SeqCst);
    }

    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::SeqCst)
    }

    fn fails(&self, operation: Operation) -> bool {
        // Below 0 it wraps to a number of flushes that never comes.
        if operation == Operation::Flush && self.flushes_before.fetch_sub(1, Ordering::SeqCst) == 0 {
            return true;
        }
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        (self.from.load(Ordering::SeqCst)..self.until.load(Ordering::SeqCst)).contains(&number)
    }
}

struct FailingDrive {
    inner: Box<dyn Drive + Send>,
    failing: Arc<Failing>,
    failed: BTreeSet<Tag>,
}

impl Drive for FailingDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        if self.failing.fails(request.operation) {
            self.failed.insert(request.tag);
        }
        self.inner.submit(request, now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        self.inner.next_completion_at()
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        let mut completion = self.inner.take_completion(now)?;
        if self.failed.remove(&completion.tag) {
            completion.status = *self.failing.status.lock().unwrap_or_else(PoisonError::into_inner);
            completion.transferred_bytes = 0;
        }
        Some(completion)
    }

    fn facts(&self) -> &TargetFacts {
        self.inner.facts()
    }
}

/// A mounted drive full of noise.
pub struct MountedDrive {
    pub failing: Arc<Failing>,
    pub file: PathBuf,
    mount: Option<Mount>,
    _folder: TempDir,
}

impl MountedDrive {
    /// None, and the test is reported as skipped, where nothing can be mounted.
    pub fn new(mib: usize, test: &str) -> Option<MountedDrive> {
        let may = OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
        let folder = TempDir::with_prefix("drivescope-failing-").expect("a temporary folder");
        let options = MountOptions {
            folder: folder.path().join("made"),
            file_name: "drive".into(),
            loop_device: false,
            turn: None,
        };
        let text = format!(
            "version = 1\nname = \"failing\"\ndescription = \"a test\"\nsources = [\"made up\"]\n\n[identity]\n\
             capacity_bytes = {}\n\n[constant]\nlatency_us = 0.0\nservers = 8\n",
            mib << 20
        );
        let profile = Profile::parse(&text, "failing.toml").expect("a profile");
        let inner = sim::profile::open_profile(&profile, "sim:failing", 1).expect("a drive");
        let failing = Arc::new(Failing {
            flushes_before: AtomicU64::new(u64::MAX),
            seen: AtomicU64::new(0),
            from: AtomicU64::new(u64::MAX),
            until: AtomicU64::new(u64::MAX),
            status: Mutex::new(Status::MediumError),
        });
        let drive = FailingDrive { inner, failing: Arc::clone(&failing), failed: BTreeSet::new() };
        let mut contents = Contents::new(Bytes::new((mib << 20) as u64), &[], 1);
        contents.write(0, &noise(mib << 20)).expect("room for the noise");
        match Mount::start(Box::new(drive), contents, &options, || {}) {
            Ok(mount) => {
                let file = mount.file().to_owned();
                Some(MountedDrive { failing, file, mount: Some(mount), _folder: folder })
            }
            Err(error) => {
                assert!(!may, "it does not mount: {error}");
                skip(test, "mounting needs root and /dev/fuse");
                None
            }
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.file).expect("the drive")
    }
}

impl Drop for MountedDrive {
    fn drop(&mut self) {
        if let Some(mount) = self.mount.take() {
            mount.stop();
        }
    }
}
