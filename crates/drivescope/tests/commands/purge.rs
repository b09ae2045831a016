//! `drivescope purge` on loop devices and files: what is refused changes nothing, what is done is in the ledger.

use crate::program::{Home, Image, LoopDevice};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Of an image of noise, what takes room on its file system.
fn taken(image: &Image) -> u64 {
    fs::metadata(&image.path).unwrap().blocks() * 512
}

#[test]
fn without_write_or_confirmation_it_says_how_and_changes_nothing() {
    let image = Image::new(16);
    let test = "without_write_or_confirmation_it_says_how_and_changes_nothing";
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    let home = Home::new();
    let before = image.bytes();
    let page = home.print(&["purge", &device.path, "--dry-run"]);
    for words in [
        "nvme-format       no: it is a layer above a drive, not a drive",
        "ata-secure-erase  no: it is a layer above a drive, not a drive",
        "discard           yes, this one would be used",
        &format!("drivescope purge {} --write --confirm {}", device.path, device.path),
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let outcome = home.run(&["purge", &device.path]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.out.contains("All data on it would be lost"), "{}", outcome.out);
    let outcome = home.run(&["purge", &device.path, "--write"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("--confirm"), "{}", outcome.err);
    let outcome = home.run(&["purge", &device.path, "--write", "--confirm", "/dev/sda"]);
    assert!(outcome.err.contains("does not name it"), "{}", outcome.err);
    let forced = ["purge", &device.path, "--write", "--confirm", &device.path, "--method", "nvme-format"];
    let outcome = home.run(&forced);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.contains("cannot purge it by nvme-format"), "{}", outcome.err);
    for (target, words) in [("sim:x25-m", "begins anew"), ("/tmp", "is a folder")] {
        let outcome = home.run(&["purge", target, "--write", "--confirm", "x"]);
        assert_eq!(outcome.status, Some(2));
        assert!(outcome.err.contains(words), "{}", outcome.err);
    }
    assert_eq!(image.bytes(), before);
    assert!(home.runs().is_empty(), "nothing was begun");
}

#[test]
fn a_discard_empties_the_device_and_is_in_its_ledger() {
    let image = Image::new(16);
    let test = "a_discard_empties_the_device_and_is_in_its_ledger";
    let Some(device) = LoopDevice::over(&image.path, test) else { return };
    let home = Home::new();
    assert_eq!(taken(&image), 16 << 20);
    let consent = ["--write", "--confirm", &device.path];
    let outcome = home.run(&[&["purge", device.path.as_str()], &consent[..]].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.out.contains("was purged by discard"), "{}", outcome.out);
    assert!(
        outcome.err.contains("nvme-format is not possible: it is a layer above a drive, not a drive"),
        "{}",
        outcome.err
    );
    assert_eq!(taken(&image), 0);
    let state = home.json(&["state", &device.path]);
    assert_eq!(
        (state["purge"].as_str(), state["written_since_purge_bytes"].as_u64()),
        (Some("discard"), Some(0))
    );
    let run = home.json(&["show", "last"]);
    assert_eq!(run["phases"][0]["kind"], "purge");
    assert!(run["state"]["after"][0].as_str().unwrap().contains("purged it by discard"), "{}", run["state"]);
}

#[test]
fn zeroes_reach_the_last_block_of_a_file() {
    let image = Image::new(16);
    let file = fs::OpenOptions::new().append(true).open(&image.path).unwrap();
    std::io::Write::write_all(&mut &file, &crate::program::noise(3 * 4096)).unwrap();
    drop(file);
    let home = Home::new();
    let path = image.path.to_str().unwrap();
    let outcome =
        home.run(&["purge", path, "--write", "--confirm", path, "--destroy-data", "--plain", "--quiet"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let bytes = image.bytes();
    assert_eq!(bytes.len(), (16 << 20) + 3 * 4096);
    assert!(bytes.iter().all(|byte| *byte == 0));
    let state = home.json(&["state", path]);
    assert_eq!(state["purge"], "zero-fill");
}
