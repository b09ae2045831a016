//! Every way to reach a disk in use is refused, with the name of what uses it, and without a changed byte.

mod loopdev;

use io::error::IoError;
use io::targets::{Exclusion, NeverWrite, Target, WriteConsent, WritePermit, survey};
use loopdev::{
    Image, LoopDevice, Mounted, Page, SwappedOn, alone_with_loop_devices, attempt, has_program, make_ext4,
    mount_refusal, run,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Consent to everything: only use can refuse.
fn everything(target: &Target) -> WriteConsent {
    WriteConsent { destroy_data: true, confirm: Some(target.confirmation().to_owned()) }
}

/// Why no permit is granted on `path` with full consent. Checks that nothing in `image` changed.
fn refusal(path: &Path, image: &Image) -> String {
    run("sync", &["-f", image.text()]);
    let before = image.checksum();
    let target = Target::open(path).expect("it can be read");
    let consent = everything(&target);
    let error =
        WritePermit::grant(&target, &consent, &NeverWrite::default()).expect_err("a permit was granted");
    assert_eq!(image.checksum(), before, "a refusal must not change a byte");
    match error {
        IoError::WriteRefused { target, why } => {
            assert_eq!(target, path);
            why
        }
        other => panic!("another error: {other}"),
    }
}

#[track_caller]
fn assert_names(why: &str, expected: &[&str]) {
    for text in expected {
        assert!(why.contains(text), "{why:?} does not name {text:?}");
    }
}

const TWO_PARTITIONS: &str = "label: gpt\nsize=10MiB\nsize=10MiB\n";

#[test]
fn a_clean_device_is_granted_and_only_the_permit_can_write() {
    let Some(_alone) = alone_with_loop_devices("a_clean_device_is_granted_and_only_the_permit_can_write")
    else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    assert_eq!(target.confirmation(), device.text(), "a loop device has no serial number");
    assert_eq!(survey(&target), []);
    let consent = WriteConsent { destroy_data: false, confirm: Some(device.text().into()) };
    let permit = WritePermit::grant(&target, &consent, &NeverWrite::default()).unwrap();
    permit.revalidate().unwrap();

    let page = Page([0xa5; 4096]);
    let reader = File::from(target.descriptor().try_clone_to_owned().unwrap());
    let error = reader.write_at(&page.0, 8192).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(9), "EBADF: the target's descriptor cannot write");
    let writer = File::from(permit.descriptor().try_clone_to_owned().unwrap());
    writer.write_all_at(&page.0, 8192).unwrap();
    writer.sync_all().unwrap();
    let mut back = [0; 4096];
    File::open(&image.path).unwrap().read_exact_at(&mut back, 8192).unwrap();
    assert_eq!(back, page.0);
}

#[test]
fn nobody_can_mount_or_swap_to_it_while_a_permit_is_held() {
    let Some(_alone) = alone_with_loop_devices("nobody_can_mount_or_swap_to_it_while_a_permit_is_held")
    else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let target = Target::open(&device.path).unwrap();
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
    let why = mount_refusal(&device).expect("it must not be mounted");
    assert_names(&why, &["already mounted or mount point busy"]);
    assert!(!attempt("mkswap", &[device.text()]).status.success());
    permit.revalidate().unwrap();
    drop(permit);
    let _mounted = Mounted::new(&device.path, "ro");
}

#[test]
fn a_mounted_device_is_refused_by_every_name_it_has() {
    let Some(_alone) = alone_with_loop_devices("a_mounted_device_is_refused_by_every_name_it_has") else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "ro");
    let user = format!("{} is mounted at {} (ext4)", device.text(), mounted.place().display());

    let names = tempfile::tempdir().unwrap();
    let link = names.path().join("ata-ST3000DM001-1CH166_W1F00000");
    std::os::unix::fs::symlink(&device.path, &link).unwrap();
    let link_to_link = names.path().join("again");
    std::os::unix::fs::symlink(&link, &link_to_link).unwrap();
    let dotted = Path::new("/dev/../dev/./").join(device.path.file_name().unwrap());
    // A folder elsewhere, on a file system that allows devices.
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let node = elsewhere.path().join("node");
    let number = device.number();
    let (major, minor) = number.split_once(':').unwrap();
    run("mknod", &[node.to_str().unwrap(), "b", major, minor]);
    for path in [&device.path, &link, &link_to_link, &dotted, &node] {
        assert_names(&refusal(path, &image), &[&user]);
    }
}

#[test]
fn a_mounted_partition_protects_its_disk_and_its_siblings() {
    let Some(_alone) = alone_with_loop_devices("a_mounted_partition_protects_its_disk_and_its_siblings")
    else {
        return;
    };
    let image = Image::new(24);
    let mut device = LoopDevice::over(&image.path);
    device.partition(TWO_PARTITIONS);
    make_ext4(&device.partition_path(1));
    let mounted = Mounted::new(&device.partition_path(1), "ro");
    let user = format!("{}p1 is mounted at {} (ext4)", device.text(), mounted.place().display());
    for path in [device.path.clone(), device.partition_path(1), device.partition_path(2)] {
        assert_names(&refusal(&path, &image), &[&user]);
    }
    drop(mounted);
    let target = Target::open(&device.partition_path(2)).unwrap();
    WritePermit::grant(&target, &everything(&target), &NeverWrite::default())
        .expect("nothing is mounted any more");
}

#[test]
fn swap_on_a_partition_protects_the_disk() {
    let Some(_alone) = alone_with_loop_devices("swap_on_a_partition_protects_the_disk") else { return };
    let mut image = Image::new(24);
    let mut device = LoopDevice::over(&image.path);
    device.partition(TWO_PARTITIONS);
    let swap = SwappedOn::new(&device.partition_path(2));
    // The second partition, but for its first page, which tells that it is swap.
    image.expect_swapping_to((11 << 20) + 4096..21 << 20);
    for path in [device.path.clone(), device.partition_path(1), device.partition_path(2)] {
        assert_names(&refusal(&path, &image), &[&format!("{}p2 is used as swap", device.text())]);
    }
    drop(swap);
}

#[test]
fn a_loop_device_on_top_protects_what_is_below() {
    let Some(_alone) = alone_with_loop_devices("a_loop_device_on_top_protects_what_is_below") else { return };
    let image = Image::new(24);
    let mut below = LoopDevice::over(&image.path);
    below.partition(TWO_PARTITIONS);
    let above = LoopDevice::over(&below.partition_path(1));
    let user = format!("{}p1 is used by {}", below.text(), above.text());
    for path in [below.path.clone(), below.partition_path(1), below.partition_path(2)] {
        assert_names(&refusal(&path, &image), &[&user]);
    }
    // The upper one is free, and may be written to by itself.
    let target = Target::open(&above.path).unwrap();
    WritePermit::grant(&target, &everything(&target), &NeverWrite::default())
        .expect("nobody uses the upper one");
    // What is mounted from it is named from below, and what is mounted below is named from it.
    make_ext4(&above.path);
    let mounted = Mounted::new(&above.path, "ro");
    let place = format!("{} is mounted at {}", above.text(), mounted.place().display());
    assert_names(&refusal(&below.path, &image), &[&user, &place]);
    drop(mounted);
    make_ext4(&below.partition_path(2));
    let mounted = Mounted::new(&below.partition_path(2), "ro");
    let place = format!("{}p2 is mounted at {}", below.text(), mounted.place().display());
    assert_names(&refusal(&above.path, &image), &[&place]);
}

#[test]
fn two_loop_devices_on_one_file_protect_each_other() {
    let Some(_alone) = alone_with_loop_devices("two_loop_devices_on_one_file_protect_each_other") else {
        return;
    };
    let image = Image::new(24);
    let other_name = image.directory.path().join("hard link");
    std::fs::hard_link(&image.path, &other_name).unwrap();
    let first = LoopDevice::over(&image.path);
    let second = LoopDevice::over(&other_name);
    assert_names(&refusal(&first.path, &image), &[image.text(), "is also used by", second.text()]);
    assert_names(&refusal(&second.path, &image), &["hard link", "is also used by", first.text()]);
}

#[test]
fn a_mount_in_another_mount_namespace_is_seen() {
    let Some(_alone) = alone_with_loop_devices("a_mount_in_another_mount_namespace_is_seen") else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let point = tempfile::tempdir().unwrap();
    let script = format!("mount -o ro {} {} && echo mounted && cat", device.text(), point.path().display());
    let mut elsewhere = std::process::Command::new("unshare")
        .args(["-m", "--propagation", "private", "sh", "-c", &script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = elsewhere.stdout.as_mut().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    assert_eq!(line, "mounted\n");
    let why = refusal(&device.path, &image);
    drop(elsewhere.stdin.take());
    elsewhere.wait().unwrap();
    assert_names(&why, &["is mounted at", "in the mount namespace of process"]);
}

#[test]
fn a_lazily_unmounted_file_system_is_still_seen() {
    let Some(_alone) = alone_with_loop_devices("a_lazily_unmounted_file_system_is_still_seen") else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "ro");
    let kept = File::open(mounted.place()).unwrap();
    run("umount", &["-l", mounted.place().to_str().unwrap()]);
    let why = refusal(&device.path, &image);
    drop(kept);
    assert_names(&why, &["belongs to a mounted ext4 file system"]);
}

#[test]
fn a_program_that_writes_without_a_claim_is_named() {
    let Some(_alone) = alone_with_loop_devices("a_program_that_writes_without_a_claim_is_named") else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let mut writer = std::process::Command::new("sh")
        .args(["-c", &format!("exec 3<>{}; echo open; read wait", device.text())])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(writer.stdout.as_mut().unwrap()), &mut line)
        .unwrap();
    let why = refusal(&device.path, &image);
    drop(writer.stdin.take());
    writer.wait().unwrap();
    assert_names(&why, &["is open for writing in process", "(sh)"]);
}

#[test]
fn a_second_permit_is_refused() {
    let Some(_alone) = alone_with_loop_devices("a_second_permit_is_refused") else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let _permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
    assert_names(&refusal(&device.path, &image), &["it is in use"]);
}

#[test]
fn what_begins_to_use_it_later_is_seen_before_the_next_phase() {
    let Some(_alone) = alone_with_loop_devices("what_begins_to_use_it_later_is_seen_before_the_next_phase")
    else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
    permit.revalidate().unwrap();
    // A claim does not keep loop devices away.
    let above = LoopDevice::over(&device.path);
    let why = permit.revalidate().unwrap_err().to_string();
    assert_names(&why, &["will not write to", &format!("is used by {}", above.text())]);
}

#[test]
fn a_read_only_device_is_refused() {
    let Some(_alone) = alone_with_loop_devices("a_read_only_device_is_refused") else { return };
    let image = Image::new(24);
    let device = LoopDevice::with_options(&image.path, &["--read-only"]);
    assert_names(&refusal(&device.path, &image), &["is read-only"]);
}

#[test]
fn what_is_on_it_is_not_destroyed_without_consent() {
    let Some(_alone) = alone_with_loop_devices("what_is_on_it_is_not_destroyed_without_consent") else {
        return;
    };
    let image = Image::new(24);
    let mut device = LoopDevice::over(&image.path);
    device.partition(TWO_PARTITIONS);
    make_ext4(&device.partition_path(1));
    let before = image.checksum();
    let target = Target::open(&device.path).unwrap();
    let consent = WriteConsent { destroy_data: false, ..everything(&target) };
    let why = WritePermit::grant(&target, &consent, &NeverWrite::default()).unwrap_err().to_string();
    assert_names(
        &why,
        &[
            "holds a GPT partition table",
            &format!("{}p1 holds an ext4 file system", device.text()),
            "--destroy-data",
        ],
    );
    let part = Target::open(&device.partition_path(1)).unwrap();
    let consent = WriteConsent { destroy_data: false, ..everything(&part) };
    let why = WritePermit::grant(&part, &consent, &NeverWrite::default()).unwrap_err().to_string();
    assert_names(&why, &["holds an ext4 file system"]);
    assert_eq!(image.checksum(), before);
    WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).expect("all was agreed to");
}

#[test]
fn the_name_must_be_typed_back() {
    let Some(_alone) = alone_with_loop_devices("the_name_must_be_typed_back") else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let other = LoopDevice::over(&Image::new(1).path);
    let before = image.checksum();
    let names = tempfile::tempdir().unwrap();
    let link = names.path().join("by-id");
    std::os::unix::fs::symlink(&device.path, &link).unwrap();
    let target = Target::open(&link).unwrap();
    let with = |confirm: Option<&str>| {
        let consent = WriteConsent { destroy_data: true, confirm: confirm.map(str::to_owned) };
        WritePermit::grant(&target, &consent, &NeverWrite::default())
    };
    let advice = format!("--confirm {}", device.text());
    assert_names(&with(None).unwrap_err().to_string(), &["it was not confirmed", &advice]);
    let wrong = with(Some(other.text())).unwrap_err().to_string();
    assert_names(&wrong, &[&format!("--confirm {} does not name it", other.text()), &advice]);
    assert_names(&with(Some("")).unwrap_err().to_string(), &[&advice]);
    assert_names(&with(Some(link.to_str().unwrap())).unwrap_err().to_string(), &[&advice]);
    assert_eq!(image.checksum(), before);
    with(Some(device.text())).expect("the right name");
}

#[test]
fn another_file_behind_the_same_loop_device_is_another_drive() {
    let Some(_alone) = alone_with_loop_devices("another_file_behind_the_same_loop_device_is_another_drive")
    else {
        return;
    };
    let (first, second) = (Image::new(24), Image::new(24));
    let device = LoopDevice::with_options(&first.path, &["--read-only"]);
    let target = Target::open(&device.path).unwrap();
    // LOOP_CHANGE_FD exchanges the file under a read-only loop device while it is open.
    run(
        "python3",
        &[
            "-c",
            "import fcntl,os,sys; fcntl.ioctl(os.open(sys.argv[1],0), 0x4C06, os.open(sys.argv[2],0))",
            device.text(),
            second.text(),
        ],
    );
    let why =
        WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap_err().to_string();
    assert_names(&why, &["it was replaced meanwhile"]);
}

#[test]
fn each_member_of_a_mounted_btrfs_is_refused() {
    let name = "each_member_of_a_mounted_btrfs_is_refused";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    if !has_program(name, "mkfs.btrfs") {
        return;
    }
    let images = [Image::new(128), Image::new(128)];
    let devices = [LoopDevice::over(&images[0].path), LoopDevice::over(&images[1].path)];
    run("mkfs.btrfs", &["-q", "-d", "raid1", "-m", "raid1", devices[0].text(), devices[1].text()]);
    run("btrfs", &["device", "scan", devices[0].text()]);
    run("btrfs", &["device", "scan", devices[1].text()]);
    let mounted = Mounted::new(&devices[0].path, "ro");
    // The number of such a mount is that of no device, and its source names one member at most.
    let refusals: Vec<String> =
        devices.iter().zip(&images).map(|(device, image)| refusal(&device.path, image)).collect();
    drop(mounted);
    for device in &devices {
        run("btrfs", &["device", "scan", "--forget", device.text()]);
    }
    for (why, device) in refusals.iter().zip(&devices) {
        assert!(
            why.contains(&format!("{} is mounted at", device.text()))
                || why.contains(&format!("{} belongs to a mounted btrfs file system", device.text())),
            "{why}"
        );
    }
}

#[test]
fn a_mounted_xfs_is_refused() {
    let name = "a_mounted_xfs_is_refused";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    if !has_program(name, "mkfs.xfs") {
        return;
    }
    let image = Image::new(320);
    let device = LoopDevice::over(&image.path);
    run("mkfs.xfs", &["-q", device.text()]);
    let mounted = Mounted::new(&device.path, "ro");
    let user = format!("{} is mounted at {} (xfs)", device.text(), mounted.place().display());
    assert_names(&refusal(&device.path, &image), &[&user]);
}

#[test]
fn a_file_on_the_drive_that_backs_a_loop_device_is_named_from_below() {
    let name = "a_file_on_the_drive_that_backs_a_loop_device_is_named_from_below";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "rw");
    let inner = mounted.place().join("inner");
    File::create(&inner).unwrap().set_len(4 << 20).unwrap();
    let inner_device = LoopDevice::over(&inner);
    // The inner loop device is free; the outer one is mounted, and only that makes it refused.
    let user = format!("{} is mounted at {} (ext4)", device.text(), mounted.place().display());
    let frozen = mounted.frozen();
    assert_names(&refusal(&device.path, &image), &[&user]);
    drop(frozen);
    let target = Target::open(&inner_device.path).unwrap();
    WritePermit::grant(&target, &everything(&target), &NeverWrite::default())
        .expect("nobody uses the inner one");
}

fn never(pattern: &str) -> NeverWrite {
    let drives = pattern.parse().expect("a pattern");
    NeverWrite(vec![Exclusion { drives, origin: "list:3".into() }])
}

/// Every name that leads to the drive, a part of it or what it lies on excludes it; those of others do not.
#[test]
fn an_excluded_drive_is_never_written_whatever_is_consented_to() {
    let name = "an_excluded_drive_is_never_written_whatever_is_consented_to";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let (image, other) = (Image::new(24), Image::new(24));
    let mut device = LoopDevice::over(&image.path);
    device.partition(TWO_PARTITIONS);
    let other_device = LoopDevice::over(&other.path);
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("by-id-link");
    std::os::unix::fs::symlink(&device.path, &link).unwrap();
    let links = folder.path().join("by-*");
    let first_partition = device.partition_path(1);
    let (disk, part) = (device.text().to_owned(), first_partition.to_str().unwrap().to_owned());
    let before = image.checksum();
    let excluded = |path: &Path, pattern: &str| {
        let target = Target::open(path).unwrap();
        let why = WritePermit::grant(&target, &everything(&target), &never(pattern)).unwrap_err().to_string();
        assert_names(&why, &[&format!("list:3 excludes {pattern} from writes")]);
        why
    };
    for pattern in [&disk, &part, image.text(), link.to_str().unwrap(), links.to_str().unwrap()] {
        excluded(&device.path, pattern);
    }
    excluded(&first_partition, &disk);
    let above = LoopDevice::over(&device.path);
    excluded(&above.path, &disk);
    drop(above);
    let why = excluded(&device.path, "/no/such/folder/by-id*");
    assert_names(&why, &["cannot compare this drive with it", "No such file"]);
    assert_eq!(image.checksum(), before);
    for pattern in [other_device.text(), &format!("{disk}-other"), "/dev/disk-of-nobody*"] {
        let target = Target::open(&device.path).unwrap();
        WritePermit::grant(&target, &everything(&target), &never(pattern)).expect(pattern);
    }
    let second = Target::open(&device.partition_path(2)).unwrap();
    WritePermit::grant(&second, &everything(&second), &never(&part)).expect("its sibling alone is excluded");
}
