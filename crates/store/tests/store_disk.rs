//! A store on a disk that is full or may only be read. Needs root, for a small file system of its own.

mod store_support;

use model::run::{RunStatus, Series};
use std::fs;
use std::path::Path;
use std::process::Command;
use store::{Store, StoreError};
use store_support::*;

/// A file system in memory, unmounted at the end of the test, however it ends.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(test: &str, options: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "drivescope-test"])
            .arg(folder.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(SmallDisk(folder)),
            Ok(output) => {
                skipped(
                    test,
                    &format!("cannot mount a tmpfs: {}", String::from_utf8_lossy(&output.stderr).trim()),
                );
                None
            }
            Err(error) => {
                skipped(test, &format!("cannot run mount: {error}"));
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn make_read_only(&self) {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(self.path()).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_appended() {
    let Some(disk) = SmallDisk::mount("a_full_disk_loses_nothing_that_was_appended", "size=1m") else {
        return;
    };
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0; 600_000]).unwrap();
    let store = Store::open(disk.path()).unwrap();
    let mut facts = run("full");
    facts.phases.push(phase("only"));
    let mut writer = store.begin(&facts).unwrap();
    let mut kept = 0;
    let error = loop {
        match writer.append_interval(&interval(0, kept)) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
    };
    let message = error.to_string();
    assert!(
        message.starts_with("cannot write ") && message.contains("intervals-000001.journal"),
        "{message}"
    );
    assert!(
        message.contains("All records written before are kept.") && message.contains("--store DIR"),
        "{message}"
    );
    assert!(kept > 1000, "{kept}");
    let check = || {
        let stored = store.read("full").unwrap();
        let found = stored.series.intervals(0).count() as u64;
        assert!(stored.series.intervals(0).eq((0..found).map(|number| interval(0, number))));
        assert!(stored.damage.is_empty(), "{:?}", stored.damage);
        (stored, found)
    };
    let (_, written) = check();
    assert!(written > 0 && written <= kept, "{written} of {kept}");
    let error = writer.end_phase(&facts).unwrap_err();
    assert!(matches!(&error, StoreError::System { .. }), "{error}");
    assert_eq!(check().1, written, "what did not fit is in memory");
    fs::remove_file(&ballast).unwrap();
    // The record that met the full disk waits with the others of its block.
    writer.append_interval(&interval(0, kept + 1)).unwrap();
    writer.append_telemetry(&telemetry(1)).unwrap();
    writer.write_out(&facts).unwrap();
    assert_eq!(check().1, kept + 2);
    writer.finish(&complete(facts), &[]).unwrap();
    let (stored, found) = check();
    assert_eq!(found, kept + 2);
    assert_eq!(stored.run.status, RunStatus::Complete);
    assert_eq!(stored.series.telemetry().count(), 1);
    let journals = fs::read_dir(writer.folder()).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .path()
            .extension()
            .is_some_and(|ending| ending == "journal" || ending == "partial")
    });
    assert_eq!(journals.count(), 0);
}

#[test]
fn a_store_that_may_only_be_read_is_read() {
    let Some(disk) = SmallDisk::mount("a_store_that_may_only_be_read_is_read", "size=4m") else { return };
    let store = Store::open(disk.path()).unwrap();
    keep_small_run(&store, "one");
    let mut facts = run("killed");
    facts.phases.push(phase("only"));
    let mut writer = store.begin(&facts).unwrap();
    writer.append_interval(&interval(0, 0)).unwrap();
    drop(writer);
    disk.make_read_only();
    let store = Store::open(disk.path()).unwrap();
    let listed: Vec<_> =
        store.runs().unwrap().into_iter().map(|run| (run.id, run.under_way, run.damage)).collect();
    assert_eq!(listed, [("one".into(), false, None), ("killed".into(), false, None)]);
    assert_eq!(store.read("last").unwrap().series.intervals(0).count(), 3);
    assert_eq!(store.read("killed").unwrap().series.intervals(0).count(), 1);
    for error in [store.begin(&run("two")).map(drop).unwrap_err(), store.recover("killed").unwrap_err()] {
        let message = error.to_string();
        assert!(message.contains("Read-only file system") && message.contains("--store DIR"), "{message}");
        assert!(message.contains(&disk.path().display().to_string()), "{message}");
    }
}
