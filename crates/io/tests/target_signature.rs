//! Signatures: made by the real tools where they are installed, by the formats' documents where not.

mod loopdev;

use io::targets::signature::recognise;
use loopdev::{alone, has_program, run};
use proptest::prelude::*;
use std::fs::File;
use std::path::{Path, PathBuf};

const MIB: usize = 1 << 20;

fn image(directory: &Path, mib: u64) -> PathBuf {
    let path = directory.join("image");
    File::create(&path).unwrap().set_len(mib << 20).unwrap();
    path
}

fn names_in(path: &Path) -> Vec<&'static str> {
    let bytes = std::fs::read(path).unwrap();
    names(&bytes)
}

fn names(device: &[u8]) -> Vec<&'static str> {
    let head = &device[..device.len().min(MIB + (64 << 10))];
    let tail = &device[device.len().saturating_sub(MIB)..];
    let mut names: Vec<_> =
        recognise(head, tail, device.len() as u64).into_iter().map(|signature| signature.name).collect();
    names.dedup();
    names
}

/// What a tool leaves on an image of that size.
fn made_by(test: &str, mib: u64, program: &str, arguments: &[&str]) -> Option<Vec<&'static str>> {
    let _alone = alone();
    if !has_program(test, program) {
        return None;
    }
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = image(directory.path(), mib);
    let arguments = [arguments, &[path.to_str().unwrap()]].concat();
    run(program, &arguments);
    Some(names_in(&path))
}

#[test]
fn what_the_tools_make_is_recognised() {
    type Case = (u64, &'static str, &'static [&'static str], &'static str);
    let cases: [Case; 8] = [
        (16, "mkfs.ext4", &["-q", "-F"], "ext4 file system"),
        (16, "mkfs.ext3", &["-q", "-F"], "ext3 file system"),
        (16, "mkfs.ext2", &["-q", "-F"], "ext2 file system"),
        (320, "mkfs.xfs", &["-q"], "XFS file system"),
        (128, "mkfs.btrfs", &["-q"], "btrfs file system"),
        (16, "mkfs.vfat", &[], "FAT file system"),
        (64, "mkfs.vfat", &["-F", "32"], "FAT file system"),
        (16, "mkswap", &["-q"], "swap area"),
    ];
    for (mib, program, arguments, expected) in cases {
        if let Some(names) = made_by("what_the_tools_make_is_recognised", mib, program, arguments) {
            assert_eq!(names, [expected], "{program} {arguments:?}");
        }
    }
}

#[test]
fn swap_of_machines_with_large_pages_is_recognised() {
    let name = "swap_of_machines_with_large_pages_is_recognised";
    if let Some(names) = made_by(name, 16, "mkswap", &["-q", "-p", "65536"]) {
        assert_eq!(names, ["swap area"]);
    }
}

#[test]
fn partition_tables_are_recognised_also_by_what_is_left_of_them() {
    let name = "partition_tables_are_recognised_also_by_what_is_left_of_them";
    let _alone = alone();
    if !has_program(name, "sfdisk") {
        return;
    }
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let partition = |script: &str| {
        let path = image(directory.path(), 16);
        let file = directory.path().join("script");
        std::fs::write(&file, script).unwrap();
        let command = format!("sfdisk --quiet --wipe always {} < {}", path.display(), file.display());
        run("sh", &["-c", &command]);
        std::fs::read(&path).unwrap()
    };
    let dos = partition("label: dos\nsize=4MiB\n");
    assert_eq!(names(&dos), ["MBR partition table"]);
    let mut gpt = partition("label: gpt\nsize=4MiB\n");
    assert_eq!(names(&gpt), ["GPT partition table", "MBR partition table", "GPT partition table (backup)"]);
    gpt[..4096].fill(0);
    assert_eq!(names(&gpt), ["GPT partition table (backup)"], "the first sectors were wiped");
    assert_eq!(names(&partition("label: dos\n")), [] as [&str; 0], "a table without entries holds nothing");
}

#[test]
fn what_no_tool_here_makes_is_recognised_by_its_magic_number() {
    const SIZE: usize = 4 * MIB;
    let zfs = 0x00ba_b10c_u64.to_le_bytes();
    let zfs_big = 0x00ba_b10c_u64.to_be_bytes();
    let md = 0xa92b_4efc_u32.to_le_bytes();
    let md_big = 0xa92b_4efc_u32.to_be_bytes();
    let cases: &[(usize, &[u8], &str)] = &[
        (0, b"LUKS\xba\xbe\x00\x02", "LUKS volume"),
        (0x4000, b"SKUL\xba\xbe", "LUKS volume (second header)"),
        (512, b"LABELONE", "LVM volume"),
        (4096, &md, "md RAID member"),
        (0, &md, "md RAID member"),
        (SIZE - 8192, &md, "md RAID member"),
        (SIZE - 65_536, &md, "md RAID member"),
        (SIZE - 65_536, &md_big, "md RAID member"),
        (3, b"NTFS    ", "NTFS file system"),
        (3, b"EXFAT   ", "exFAT file system"),
        (1024, &[0x10, 0x20, 0xf5, 0xf2], "F2FS file system"),
        (65_588, b"ReIsEr2Fs", "ReiserFS file system"),
        (32_769, b"CD001", "ISO 9660 file system"),
        (0, b"hsqs", "SquashFS file system"),
        (32, b"NXSB", "APFS container"),
        (1024, b"H+\x00\x04", "HFS+ file system"),
        (SIZE - 4096 + 60, &[0x83, 0x74, 0x02, 0x6b], "DRBD device"),
        (SIZE - 1024, b"Intel Raid ISM Cfg Sig. 1.3", "Intel RAID member"),
        (128 << 10, &zfs, "ZFS pool member"),
        ((256 + 128 + 5) << 10, &zfs, "ZFS pool member"),
        (SIZE - (384 << 10), &zfs_big, "ZFS pool member"),
        (SIZE - (100 << 10), &zfs, "ZFS pool member"),
    ];
    for (offset, bytes, expected) in cases {
        let mut device = vec![0; SIZE];
        device[*offset..offset + bytes.len()].copy_from_slice(bytes);
        assert_eq!(names(&device), [*expected], "{bytes:?} at {offset}");
    }
    let mut bcache = vec![0; SIZE];
    bcache[4120..4136].copy_from_slice(&[
        0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
    ]);
    assert_eq!(names(&bcache), ["bcache or bcachefs member"]);
}

#[test]
fn zeroes_hold_nothing() {
    for size in [65_536, 65_536 + 512, MIB, 2 * MIB + 512, 4 * MIB] {
        assert_eq!(names(&vec![0; size]), [] as [&str; 0], "{size} bytes");
    }
}

proptest! {
    #[test]
    fn no_content_makes_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 512..9000), at in 0usize..600_000, size in 128usize..2100
    ) {
        let mut device = vec![0xff; size * 512];
        let at = at.min(device.len() - 1);
        let length = bytes.len().min(device.len() - at);
        device[at..at + length].copy_from_slice(&bytes[..length]);
        let _ = names(&device);
    }
}
