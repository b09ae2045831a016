//! Scratch files: room, reservation, and that nothing is left behind.

mod loopdev;

use io::error::IoError;
use io::targets::ScratchFile;
use loopdev::{Image, LoopDevice, Mounted, Page, alone, alone_with_loop_devices, make_ext4, run};
use model::target::Caveat;
use model::units::Bytes;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

fn write_and_read_back(scratch: &ScratchFile) {
    let file = |descriptor: BorrowedFd<'_>| File::from(descriptor.try_clone_to_owned().unwrap());
    let page = Page([0x3c; 4096]);
    file(scratch.permit().descriptor()).write_all_at(&page.0, 4096).unwrap();
    let mut back = Page([0; 4096]);
    file(scratch.target().descriptor()).read_exact_at(&mut back.0, 4096).unwrap();
    assert_eq!(back.0, page.0);
    let refused = file(scratch.target().descriptor()).write_at(&page.0, 0).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(9), "EBADF");
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lost+found")
        .collect()
}

#[test]
fn a_scratch_file_is_reserved_has_no_name_and_needs_no_consent() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let scratch = ScratchFile::create(directory.path(), Bytes::new(16_777_216 + 5)).unwrap();
    assert_eq!(scratch.target().facts().capacity, Bytes::from_mib(16));
    let descriptor = scratch.target().descriptor().as_raw_fd();
    let status = std::fs::metadata(format!("/proc/self/fd/{descriptor}")).unwrap();
    assert!(status.blocks() * 512 >= 16 << 20, "all of it is reserved");
    assert_eq!(status.mode() & 0o777, 0o600);
    assert!(names_in(directory.path()).is_empty(), "a killed run leaves nothing behind");
    scratch.permit().revalidate().unwrap();
    write_and_read_back(&scratch);
}

#[test]
fn a_tenth_of_the_file_system_stays_free() {
    let Some(_alone) = alone_with_loop_devices("a_tenth_of_the_file_system_stays_free") else { return };
    let image = Image::new(64);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "rw");
    let free_and_all = || -> (u64, u64) {
        let text = run("stat", &["-f", "-c", "%a %b", mounted.place().to_str().unwrap()]);
        let (free, all) = text.split_once(' ').unwrap();
        (free.parse().unwrap(), all.parse().unwrap())
    };
    {
        let scratch = ScratchFile::create(mounted.place(), Bytes::from_gib(100)).unwrap();
        let (free, all) = free_and_all();
        assert!(free * 10 >= all, "{free} of {all} blocks are free");
        assert!(scratch.target().facts().capacity >= Bytes::from_mib(30));
        assert!(scratch.target().facts().stack.iter().any(|layer| layer.contains("ext4")));
        write_and_read_back(&scratch);
        let why = ScratchFile::create(mounted.place(), Bytes::from_gib(1)).unwrap_err().to_string();
        assert!(why.contains("no room") && why.contains("MiB are free"), "{why}");
    }
    let (free, all) = free_and_all();
    assert!(free * 2 > all, "the room is given back");
}

#[test]
fn a_file_system_without_nameless_files_gets_a_name_that_is_removed() {
    let name = "a_file_system_without_nameless_files_gets_a_name_that_is_removed";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(64);
    let device = LoopDevice::over(&image.path);
    run("mkfs.vfat", &[device.text()]);
    let point = tempfile::tempdir().unwrap();
    let place = point.path().to_str().unwrap();
    let mounted = loopdev::attempt("mount", &["-t", "vfat", device.text(), place]);
    if !mounted.status.success() {
        loopdev::skip(name, "the kernel has no vfat");
        return;
    }
    let made = ScratchFile::create(point.path(), Bytes::from_mib(16));
    let seen = names_in(point.path());
    let works = made.as_ref().map(write_and_read_back).is_ok();
    drop(made);
    let left = names_in(point.path());
    run("umount", &[place]);
    assert!(works && seen.len() == 1 && seen[0].starts_with(".drivescope-scratch-"), "{seen:?}");
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn memory_is_not_taken_for_a_drive() {
    let _alone = alone();
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let scratch = ScratchFile::create(directory.path(), Bytes::from_mib(16)).unwrap();
    assert!(scratch.target().facts().caveats.contains(&Caveat::InMemory));
    assert!(scratch.target().disks().is_empty());
    write_and_read_back(&scratch);
}

#[test]
fn what_stands_in_the_way_is_said() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let create = |path: &Path| ScratchFile::create(path, Bytes::from_mib(16)).unwrap_err();
    assert!(create(&directory.path().join("none")).to_string().contains("Make the directory first"));
    let file = directory.path().join("file");
    std::fs::write(&file, "text").unwrap();
    assert!(create(&file).to_string().contains("Name a directory"));
    let error = ScratchFile::create(directory.path(), Bytes::from_mib(1)).unwrap_err();
    assert!(
        matches!(error, IoError::Unsuitable { .. }) && error.to_string().contains("needs 16 MiB"),
        "{error}"
    );
    assert!(create(Path::new("/sys/kernel")).to_string().contains("/sys/kernel"));
}

#[test]
fn a_read_only_file_system_gets_no_scratch_file() {
    let Some(_alone) = alone_with_loop_devices("a_read_only_file_system_gets_no_scratch_file") else {
        return;
    };
    let image = Image::new(64);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "ro");
    let before = image.checksum();
    let error = ScratchFile::create(mounted.place(), Bytes::from_mib(16)).unwrap_err().to_string();
    assert!(error.contains("mounted read-only"), "{error}");
    assert_eq!(image.checksum(), before);
}

#[test]
fn where_room_cannot_be_reserved_it_is_said() {
    let Some(_alone) = alone_with_loop_devices("where_room_cannot_be_reserved_it_is_said") else { return };
    let image = Image::new(64);
    let device = LoopDevice::over(&image.path);
    run("mkfs.ext4", &["-q", "-F", "-O", "^extent,^64bit", device.text()]);
    let mounted = Mounted::new(&device.path, "rw");
    let scratch = ScratchFile::create(mounted.place(), Bytes::from_mib(16)).unwrap();
    let facts = scratch.target().facts();
    assert_eq!(facts.capacity, Bytes::from_mib(16));
    assert!(facts.stack[0].contains("not preallocated"), "{:?}", facts.stack);
    assert!(facts.caveats.contains(&Caveat::Sparse));
    write_and_read_back(&scratch);
}
