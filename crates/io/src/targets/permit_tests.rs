//! What cannot be tried from outside: somebody who comes between the claim and the checks, and a system that does
//! not tell who uses a drive.

use super::loopdev::{Image, LoopDevice, alone_with_loop_devices, make_ext4, mount_refusal};
use super::permit::grant_between;
use super::sysfs::SystemRoots;
use super::{Exclusion, NeverWrite, Target, WriteConsent};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn everything(target: &Target) -> WriteConsent {
    WriteConsent { destroy_data: true, confirm: Some(target.confirmation().to_owned()) }
}

#[test]
fn a_mount_between_claim_and_check_is_kept_away_by_the_kernel() {
    let name = "a_mount_between_claim_and_check_is_kept_away_by_the_kernel";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let target = Target::open(&device.path).unwrap();
    let before = image.checksum();
    let mut refused = None;
    let granted =
        grant_between(&SystemRoots::live(), &target, &everything(&target), &NeverWrite::default(), || {
            refused = mount_refusal(&device);
        });
    assert!(refused.is_some_and(|why| why.contains("busy")));
    granted.expect("nobody uses it");
    assert_eq!(image.checksum(), before);
}

#[test]
fn a_loop_device_between_claim_and_check_is_seen_by_the_check() {
    let name = "a_loop_device_between_claim_and_check_is_seen_by_the_check";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let before = image.checksum();
    let mut above = None;
    let refused =
        grant_between(&SystemRoots::live(), &target, &everything(&target), &NeverWrite::default(), || {
            above = Some(LoopDevice::over(&device.path));
        });
    let why = refused.unwrap_err().to_string();
    assert!(why.contains(&format!("is used by {}", above.unwrap().text())), "{why}");
    assert_eq!(image.checksum(), before);
}

/// The folders of a system that tells of one loop device, all in order; each test takes something away.
struct Told {
    directory: TempDir,
    roots: SystemRoots,
}

impl Told {
    fn of(device: &LoopDevice) -> Told {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_owned();
        let name = device.path.file_name().unwrap().to_str().unwrap();
        let folder = root.join("sys/devices/virtual/block").join(name);
        for path in [
            folder.join("holders"),
            folder.join("slaves"),
            root.join("sys/block"),
            root.join("sys/dev/block"),
        ] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(folder.join("dev"), device.number()).unwrap();
        fs::write(folder.join("ro"), "0\n").unwrap();
        symlink(format!("../devices/virtual/block/{name}"), root.join("sys/block").join(name)).unwrap();
        symlink(
            format!("../../devices/virtual/block/{name}"),
            root.join("sys/dev/block").join(device.number()),
        )
        .unwrap();
        for process in ["self", "1"] {
            fs::create_dir_all(root.join("proc").join(process).join("fd")).unwrap();
            let line = "22 27 0:21 / /proc rw,relatime - proc proc rw\n";
            fs::write(root.join("proc").join(process).join("mountinfo"), line).unwrap();
        }
        fs::write(root.join("proc/swaps"), "Filename\tType\tSize\tUsed\tPriority\n").unwrap();
        let roots = SystemRoots { sysfs: root.join("sys"), proc: root.join("proc"), dev: "/dev".into() };
        Told { directory, roots }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }
}

/// Takes something away from what the system tells; answers why no permit is granted then.
fn refusal_after(name: &str, change: impl FnOnce(&Told, &Path)) -> Option<String> {
    let _alone = alone_with_loop_devices(name)?;
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let told = Told::of(&device);
    grant_between(&told.roots, &target, &everything(&target), &NeverWrite::default(), || {})
        .expect("all is told, and nobody uses it");
    let before = image.checksum();
    let folder = told.roots.sysfs.join("devices/virtual/block").join(device.path.file_name().unwrap());
    change(&told, &folder);
    let refused = grant_between(&told.roots, &target, &everything(&target), &NeverWrite::default(), || {});
    assert_eq!(image.checksum(), before);
    Some(refused.expect_err("a permit was granted").to_string())
}

fn assert_says(why: Option<String>, expected: &str) {
    if let Some(why) = why {
        assert!(why.contains(expected), "{why:?} does not say {expected:?}");
    }
}

/// A zone of these drives takes a write only where the last one ended; the drive would answer all others with errors.
#[test]
fn a_host_managed_zoned_drive_is_not_written_to() {
    let why = refusal_after("a_host_managed_zoned_drive_is_not_written_to", |_, folder| {
        fs::create_dir(folder.join("queue")).unwrap();
        fs::write(folder.join("queue/zoned"), "host-managed\n").unwrap();
    });
    assert_says(why, "is a host-managed zoned device");
}

#[test]
fn without_our_mounts_nothing_is_granted() {
    let why = refusal_after("without_our_mounts_nothing_is_granted", |told, _| {
        fs::remove_file(told.at("proc/self/mountinfo")).unwrap();
    });
    assert_says(why, "proc/self/mountinfo cannot be read");
}

#[test]
fn without_the_mounts_of_the_first_process_nothing_is_granted() {
    let why = refusal_after("without_the_mounts_of_the_first_process_nothing_is_granted", |told, _| {
        fs::remove_file(told.at("proc/1/mountinfo")).unwrap();
    });
    assert_says(why, "proc/1/mountinfo cannot be read");
}

#[test]
fn a_mount_that_cannot_be_understood_counts_as_use() {
    let why = refusal_after("a_mount_that_cannot_be_understood_counts_as_use", |told, _| {
        fs::write(told.at("proc/self/mountinfo"), "22 27 7:x / /data rw - ext4 /dev/loop rw\n").unwrap();
    });
    assert_says(why, "a line of mountinfo cannot be understood");
}

#[test]
fn without_the_list_of_swap_nothing_is_granted() {
    let why = refusal_after("without_the_list_of_swap_nothing_is_granted", |told, _| {
        fs::remove_file(told.at("proc/swaps")).unwrap();
    });
    assert_says(why, "proc/swaps cannot be read");
}

#[test]
fn a_swap_area_that_cannot_be_looked_at_counts_as_use() {
    let why = refusal_after("a_swap_area_that_cannot_be_looked_at_counts_as_use", |told, _| {
        fs::write(told.at("proc/swaps"), "Filename\n/nowhere/swap file\t8 0 -2\n").unwrap();
    });
    assert_says(why, "cannot stat the swap area /nowhere/swap");
}

#[test]
fn without_sysfs_nothing_is_granted() {
    let why = refusal_after("without_sysfs_nothing_is_granted", |told, _| {
        fs::remove_dir_all(told.at("sys")).unwrap();
    });
    assert_says(why, "the list of all disks cannot be read");
}

#[test]
fn without_the_holders_nothing_is_granted() {
    let why = refusal_after("without_the_holders_nothing_is_granted", |_, folder| {
        fs::remove_dir(folder.join("holders")).unwrap();
    });
    assert_says(why, "cannot read the sysfs entries of block device");
}

#[test]
fn without_the_read_only_flag_nothing_is_granted() {
    let why = refusal_after("without_the_read_only_flag_nothing_is_granted", |_, folder| {
        fs::remove_file(folder.join("ro")).unwrap();
    });
    assert_says(why, "cannot read the sysfs entries of block device");
}

#[test]
fn a_loop_device_that_does_not_tell_what_it_lies_on_counts_as_use() {
    let name = "a_loop_device_that_does_not_tell_what_it_lies_on_counts_as_use";
    let why = refusal_after(name, |told, _| {
        let other = told.at("sys/block/loop999");
        fs::create_dir_all(other.join("loop")).unwrap();
        fs::write(other.join("dev"), "7:999\n").unwrap();
        fs::write(other.join("loop/backing_file"), "/nowhere/image\n").unwrap();
    });
    assert_says(why, "cannot read the layer below /dev/loop999");
}

/// As it is for an instant while another program detaches it: the kernel has taken the path away and not the folder.
#[test]
fn a_loop_device_that_is_being_detached_is_no_use() {
    let Some(_alone) = alone_with_loop_devices("a_loop_device_that_is_being_detached_is_no_use") else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let told = Told::of(&device);
    let tell_without_path = |other: &Path, number: &str| {
        let folder = told.at("sys/block").join(other.file_name().unwrap());
        fs::create_dir_all(folder.join("loop")).unwrap();
        fs::write(folder.join("dev"), number).unwrap();
    };

    let free = PathBuf::from(super::loopdev::run("losetup", &["--find"]));
    let minor = free.to_str().unwrap().trim_start_matches("/dev/loop");
    tell_without_path(&free, &format!("7:{minor}\n"));
    grant_between(&told.roots, &target, &everything(&target), &NeverWrite::default(), || {})
        .expect("nothing is attached to it");

    let other_image = Image::new(24);
    let other = LoopDevice::over(&other_image.path);
    tell_without_path(&other.path, &other.number());
    let refused = grant_between(&told.roots, &target, &everything(&target), &NeverWrite::default(), || {});
    let why = refused.expect_err("a permit was granted").to_string();
    assert_says(Some(why), &format!("cannot read the layer below {}", other.path.display()));
}

#[test]
fn a_process_that_does_not_tell_what_it_has_open_counts_as_use() {
    let name = "a_process_that_does_not_tell_what_it_has_open_counts_as_use";
    let why = refusal_after(name, |told, _| {
        fs::create_dir_all(told.at("proc/1234567")).unwrap();
        fs::write(told.at("proc/1234567/fd"), "not to be listed").unwrap();
    });
    assert_says(why, "cannot see which files other programs have open (process 1234567");
}

#[test]
fn holders_are_named() {
    let why = refusal_after("holders_are_named", |told, folder| {
        let volume = told.at("sys/devices/virtual/block/dm-3");
        fs::create_dir_all(volume.join("dm")).unwrap();
        fs::create_dir_all(volume.join("holders")).unwrap();
        fs::write(volume.join("dev"), "253:3\n").unwrap();
        fs::write(volume.join("dm/name"), "vg-data\n").unwrap();
        symlink("../../dm-3", folder.join("holders/dm-3")).unwrap();
        let line = "30 27 253:3 / /srv/my\\040data rw - xfs /dev/mapper/vg-data rw\n";
        fs::write(told.at("proc/self/mountinfo"), line).unwrap();
    });
    assert_says(why.clone(), "is used by /dev/dm-3 (volume vg-data)");
    assert_says(why, "/dev/dm-3 is mounted at /srv/my data (xfs)");
}

#[test]
fn a_member_of_a_btrfs_over_several_devices_is_named() {
    let why = refusal_after("a_member_of_a_btrfs_over_several_devices_is_named", |told, folder| {
        let devices = told.at("sys/fs/btrfs/5e1f/devices");
        fs::create_dir_all(&devices).unwrap();
        symlink(folder, devices.join(folder.file_name().unwrap())).unwrap();
    });
    assert_says(why, "belongs to a mounted btrfs file system");
}

#[test]
fn a_drive_on_two_paths_is_one_drive() {
    let why = refusal_after("a_drive_on_two_paths_is_one_drive", |told, folder| {
        let other = told.at("sys/block/sdz");
        for folder in ["device", "holders", "slaves"] {
            fs::create_dir_all(other.join(folder)).unwrap();
        }
        fs::write(other.join("dev"), "65:144\n").unwrap();
        fs::write(other.join("ro"), "0\n").unwrap();
        symlink("../../block/sdz", told.at("sys/dev/block/65:144")).unwrap();
        fs::write(other.join("device/wwid"), "naa.5000c500a1b2c3d4\n").unwrap();
        fs::create_dir_all(folder.join("device")).unwrap();
        fs::write(folder.join("device/wwid"), "naa.5000c500a1b2c3d4\n").unwrap();
        let line = "30 27 65:144 / /srv rw - xfs /dev/sdz rw\n";
        fs::write(told.at("proc/self/mountinfo"), line).unwrap();
    });
    assert_says(why.clone(), "/dev/sdz is mounted at /srv (xfs)");
    assert_says(why, "/dev/sdz is another path to this drive");
}

/// A volume keeps its name and number when it is laid over another drive while it is written to.
#[test]
fn a_volume_that_lies_on_another_drive_is_another_drive() {
    let name = "a_volume_that_lies_on_another_drive_is_another_drive";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let told = Told::of(&device);
    let folder = told.roots.sysfs.join("devices/virtual/block").join(device.path.file_name().unwrap());
    let lie_on = |disk: &str, number: &str| {
        let other = told.at("sys/block").join(disk);
        for folder in ["holders", "slaves"] {
            fs::create_dir_all(other.join(folder)).unwrap();
        }
        fs::write(other.join("dev"), number).unwrap();
        symlink(&other, folder.join("slaves").join(disk)).unwrap();
    };
    lie_on("sdy", "65:128\n");
    let permit = grant_between(&told.roots, &target, &everything(&target), &NeverWrite::default(), || {})
        .expect("nobody uses it");
    permit.revalidate_by(&told.roots).expect("all is as it was");
    fs::remove_file(folder.join("slaves/sdy")).unwrap();
    lie_on("sdz", "65:144\n");
    let why = permit.revalidate_by(&told.roots).expect_err("it lies on another drive").to_string();
    assert!(why.contains("the layers below it changed meanwhile"), "{why}");
}

/// Its names are those that sysfs tells, in any case; a drive that tells none may be the one that is meant.
#[test]
fn a_drive_is_excluded_by_its_serial_number_and_its_model() {
    let Some(_alone) = alone_with_loop_devices("a_drive_is_excluded_by_its_serial_number_and_its_model")
    else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let told = Told::of(&device);
    let by = |pattern: &str| {
        let list = NeverWrite(vec![Exclusion { drives: pattern.parse().unwrap(), origin: "list:1".into() }]);
        let granted = grant_between(&told.roots, &target, &everything(&target), &list, || {});
        granted.map(drop).map_err(|error| error.to_string())
    };
    by("serial:*").expect("a loop device has no names");
    let folder = told.roots.sysfs.join("devices/virtual/block").join(device.path.file_name().unwrap());
    fs::create_dir(folder.join("device")).unwrap();
    assert_says(by("serial:S4EW*").err(), "the serial number of");
    fs::write(folder.join("device/serial"), "S4EWNX0R\n").unwrap();
    assert_says(by("serial:s4ew*").err(), "list:1 excludes serial:s4ew* from writes");
    by("serial:S5*").expect("another drive is excluded");
    assert_says(by("model:*970*").err(), "the model of");
    fs::write(folder.join("device/model"), "Samsung SSD 970 EVO\n").unwrap();
    assert_says(by("model:*970*").err(), "list:1 excludes");
}
