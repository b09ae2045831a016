//! The list of drives: complete, true, and harmless.

mod loopdev;

use io::targets::listing::{DriveListing, drives};
use io::targets::{Exclusion, NeverWrite};
use loopdev::{Image, LoopDevice, Mounted, alone_with_loop_devices, make_ext4};
use model::units::Bytes;

fn listed(device: &LoopDevice) -> Option<DriveListing> {
    listed_beside(device, &NeverWrite::default())
}

fn listed_beside(device: &LoopDevice, never_write: &NeverWrite) -> Option<DriveListing> {
    drives(never_write).unwrap().into_iter().find(|drive| drive.facts.path == device.text())
}

#[test]
fn a_drive_that_a_list_excludes_is_marked_with_its_line() {
    let Some(_alone) = alone_with_loop_devices("a_drive_that_a_list_excludes_is_marked_with_its_line") else {
        return;
    };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    let excluding = |drives: &str| {
        let (drives, origin) = (drives.parse().unwrap(), "/etc/drivescope/config.toml:3".into());
        listed_beside(&device, &NeverWrite(vec![Exclusion { drives, origin }])).expect("it is listed")
    };
    let drive = excluding(device.text());
    let excluded = drive.excluded.as_ref().expect("it is excluded");
    assert_eq!(excluded.origin(), "/etc/drivescope/config.toml:3");
    let said = format!("/etc/drivescope/config.toml:3 excludes {} from writes. ", device.text());
    assert!(excluded.to_string().starts_with(&said), "{excluded}");
    assert!(!drive.may_be_written());
    let drive = excluding("/dev/null");
    assert!(drive.excluded.is_none() && drive.may_be_written(), "{drive:?}");
}

#[test]
fn a_drive_is_listed_with_its_partitions_and_who_uses_them() {
    let Some(_alone) = alone_with_loop_devices("a_drive_is_listed_with_its_partitions_and_who_uses_them")
    else {
        return;
    };
    let image = Image::new(24);
    let mut device = LoopDevice::over(&image.path);
    device.partition("label: gpt\nsize=10MiB\nsize=10MiB\n");
    make_ext4(&device.partition_path(1));
    let mounted = Mounted::new(&device.partition_path(1), "ro");
    let before = image.checksum();
    let drive = listed(&device).expect("it is listed");
    assert_eq!(image.checksum(), before, "listing changes nothing");
    assert_eq!(drive.facts.capacity, Bytes::from_mib(24));
    assert_eq!((drive.read_refusal.as_deref(), drive.confirmation.as_str()), (None, device.text()));
    let user = format!("{}p1 is mounted at {} (ext4)", device.text(), mounted.place().display());
    assert_eq!(drive.used_by().collect::<Vec<_>>(), [user.as_str()]);
    assert!(!drive.may_be_written());
    let [first, second] = drive.partitions.as_slice() else { panic!("{:?}", drive.partitions) };
    assert_eq!((first.start, first.size), (1 << 20, Bytes::from_mib(10)));
    assert_eq!(
        (first.content.as_slice(), first.used_by.as_slice()),
        (["ext4 file system".to_owned()].as_slice(), [user].as_slice())
    );
    assert!(second.content.is_empty() && second.used_by.is_empty());

    drop(mounted);
    let drive = listed(&device).expect("it is listed");
    assert!(drive.may_be_written(), "only what it holds is in the way: {:?}", drive.obstacles);
    assert!(drive.obstacles.iter().any(|obstacle| obstacle.statement.contains("GPT partition table")));
}

#[test]
fn a_loop_device_without_a_file_is_not_listed() {
    let Some(_alone) = alone_with_loop_devices("a_loop_device_without_a_file_is_not_listed") else { return };
    let image = Image::new(24);
    let device = LoopDevice::over(&image.path);
    assert!(listed(&device).is_some());
    assert!(drives(&NeverWrite::default()).unwrap().iter().all(|drive| drive.facts.capacity > Bytes::ZERO));
}

#[test]
fn every_disk_with_a_size_is_listed_even_when_it_cannot_be_opened() {
    let _alone = loopdev::alone();
    let listed: Vec<String> =
        drives(&NeverWrite::default()).unwrap().into_iter().map(|drive| drive.facts.path).collect();
    for entry in std::fs::read_dir("/sys/block").unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let size = std::fs::read_to_string(format!("/sys/block/{name}/size")).unwrap();
        // Loop devices come and go while other programs are tested.
        if size.trim() != "0" && !name.starts_with("loop") {
            assert!(listed.contains(&format!("/dev/{name}")), "{name} is missing in {listed:?}");
        }
    }
}

#[test]
fn the_disk_of_the_root_file_system_is_in_use() {
    let _alone = loopdev::alone();
    let root = loopdev::run("stat", &["-c", "%d", "/"]);
    let number: u64 = root.parse().unwrap();
    let (major, minor) = (number >> 8, number & 0xff);
    let Some(drive) = drives(&NeverWrite::default()).unwrap().into_iter().find(|drive| {
        let name = drive.facts.path.trim_start_matches("/dev/").replace('/', "!");
        let text = std::fs::read_to_string(format!("/sys/block/{name}/dev")).unwrap_or_default();
        text.trim() == format!("{major}:{minor}")
    }) else {
        loopdev::skip("the_disk_of_the_root_file_system_is_in_use", "the root is not on a whole disk here");
        return;
    };
    assert!(drive.used_by().any(|user| user.contains("is mounted at / (")), "{:?}", drive.obstacles);
    assert!(!drive.may_be_written());
}
