//! What can be a target and what cannot, and what is known of it.

mod loopdev;

use io::targets::identity::Identity;
use io::targets::{Target, cached_stretches, drop_page_cache, probe_content};
use loopdev::{Image, LoopDevice, Mounted, alone, alone_with_loop_devices, make_ext4, run, skip};
use model::range::ByteRange;
use model::target::{Caveat, TargetKind};
use model::units::{Bytes, Offset};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

#[track_caller]
fn refused(path: &Path, expected: &str) {
    let error = Target::open(path).expect_err("it was opened").to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    assert!(error.contains(path.to_str().unwrap()), "{error:?} does not name the path");
}

#[test]
fn what_is_no_target_is_refused_with_the_reason() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    refused(&at("none"), "No such file or device");
    refused(directory.path(), "it is a directory");
    refused(Path::new("/dev/zero"), "it is a character device");
    run("mkfifo", &[at("pipe").to_str().unwrap()]);
    refused(&at("pipe"), "it is a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    refused(&at("socket"), "it is a socket");
    std::os::unix::fs::symlink(at("b"), at("a")).unwrap();
    std::os::unix::fs::symlink(at("a"), at("b")).unwrap();
    refused(&at("a"), "lead in a circle");
    File::create(at("empty")).unwrap();
    refused(&at("empty"), "it is empty");
    std::fs::write(at("small"), vec![1; 65_535]).unwrap();
    refused(&at("small"), "it holds 65535 bytes");
}

#[test]
fn the_odd_end_of_a_file_is_left_out_and_said() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("odd");
    std::fs::write(&path, vec![1; 100_001]).unwrap();
    let target = Target::open(&path).unwrap();
    let facts = target.facts();
    assert_eq!(facts.kind, TargetKind::File);
    assert!(facts.capacity.is_multiple_of(facts.logical_block) && facts.capacity.get() > 95_000);
    let left = format!("its last {} bytes", 100_001 - facts.capacity.get());
    assert!(facts.stack.iter().any(|layer| layer.contains(&left)), "{:?}", facts.stack);
}

#[test]
fn a_loop_device_tells_what_is_under_it() {
    let Some(_alone) = alone_with_loop_devices("a_loop_device_tells_what_is_under_it") else { return };
    let image = Image::new(64);
    let below = LoopDevice::with_options(&image.path, &["--sector-size", "4096"]);
    let above = LoopDevice::with_options(&below.path, &["--sector-size", "4096"]);
    let target = Target::open(&above.path).unwrap();
    let facts = target.facts();
    assert_eq!(
        (facts.kind, facts.capacity, facts.logical_block),
        (TargetKind::Device, Bytes::from_mib(64), Bytes::new(4096))
    );
    assert_eq!(facts.link.as_ref().unwrap().name, "loop");
    assert_eq!(facts.serial, None);
    assert!(facts.caveats.contains(&Caveat::LoopOverFile) && facts.caveats.contains(&Caveat::InMemory));
    assert_eq!(
        facts.stack,
        [
            format!("loop device {}", above.path.file_name().unwrap().to_str().unwrap()),
            format!("loop device {}", below.path.file_name().unwrap().to_str().unwrap()),
            format!("file {} on tmpfs, mounted at /dev/shm", image.text()),
        ]
    );
    assert!(target.is_direct() && target.memory_alignment() <= 4096);
    let number = above.number();
    assert!(
        matches!(target.identity(), Identity::Device { number: found, .. } if found.to_string() == number)
    );
}

#[test]
fn a_file_tells_of_the_file_system_and_all_below() {
    let Some(_alone) = alone_with_loop_devices("a_file_tells_of_the_file_system_and_all_below") else {
        return;
    };
    let image = Image::new(64);
    let mut device = LoopDevice::over(&image.path);
    device.partition("label: dos\nsize=40MiB\n");
    make_ext4(&device.partition_path(1));
    let mounted = Mounted::new(&device.partition_path(1), "rw");
    let path = mounted.place().join("file");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let target = Target::open(&path).unwrap();
    let name = device.path.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        target.facts().stack,
        [
            format!("file on ext4, mounted at {}", mounted.place().display()),
            format!("partition {name}p1"),
            format!("loop device {name}"),
            format!("file {} on tmpfs, mounted at /dev/shm", image.text()),
        ]
    );
    assert!(target.facts().caveats.contains(&Caveat::InMemory));
    assert_eq!(target.facts().model, None, "the drive under a loop device is not the target's own");
}

#[test]
fn a_file_in_memory_is_no_drive() {
    let _alone = alone();
    let image = Image::new(1);
    let target = Target::open(&image.path).unwrap();
    assert_eq!(target.facts().caveats.iter().filter(|&&caveat| caveat == Caveat::InMemory).count(), 1);
    assert!(target.disks().is_empty());
}

/// Data that no compressor makes smaller.
fn random_bytes(count: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut bytes = Vec::with_capacity(count);
    while bytes.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.push(state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]);
    }
    bytes
}

#[test]
fn holes_unwritten_room_zeroes_and_repetition_are_seen() {
    let Some(_alone) = alone_with_loop_devices("holes_unwritten_room_zeroes_and_repetition_are_seen") else {
        return;
    };
    let image = Image::new(128);
    let device = LoopDevice::over(&image.path);
    make_ext4(&device.path);
    let mounted = Mounted::new(&device.path, "rw");
    let at = |name: &str| mounted.place().join(name);
    const SIZE: usize = 8 << 20;

    let mut half_hole = File::create(at("holes")).unwrap();
    half_hole.seek(SeekFrom::Start(SIZE as u64 / 2)).unwrap();
    half_hole.write_all(&random_bytes(SIZE / 2)).unwrap();
    half_hole.sync_all().unwrap();
    drop(half_hole);
    let probe = probe_content(&Target::open(&at("holes")).unwrap()).unwrap();
    assert_eq!(probe.holes, Some(0.5));
    assert!((probe.zero_blocks.unwrap() - 0.5).abs() <= 1.0 / 64.0, "{probe:?}");
    assert!(probe.caveats.contains(&Caveat::Sparse) && probe.caveats.contains(&Caveat::Compressible));

    run("fallocate", &["-l", "8MiB", at("reserved").to_str().unwrap()]);
    let probe = probe_content(&Target::open(&at("reserved")).unwrap()).unwrap();
    assert_eq!((probe.unwritten, probe.zero_blocks), (Some(1.0), Some(1.0)));
    assert!(probe.caveats.contains(&Caveat::Unwritten));

    std::fs::write(at("random"), random_bytes(SIZE)).unwrap();
    let target = Target::open(&at("random")).unwrap();
    let probe = probe_content(&target).unwrap();
    assert_eq!(probe.in_page_cache, Some(1.0), "it was just written");
    assert_eq!(probe.caveats, [Caveat::InPageCache]);
    assert_eq!(drop_page_cache(&target).unwrap(), Some(0.0));
    let probe = probe_content(&target).unwrap();
    assert_eq!((probe.in_page_cache, probe.holes, probe.unwritten), (Some(0.0), Some(0.0), Some(0.0)));
    assert!(probe.compressed_ratio.unwrap() > 0.99, "{probe:?}");
    assert_eq!(probe.caveats, []);

    std::fs::write(at("text"), random_bytes(4096).repeat(SIZE / 4096)).unwrap();
    let probe = probe_content(&Target::open(&at("text")).unwrap()).unwrap();
    assert!(probe.compressed_ratio.unwrap() < 0.05, "the same page over and over: {probe:?}");
}

/// Pages that were read are what is found, from the start of a stretch without a gap and in all. Single reads at places apart bring
/// nothing along.
#[test]
fn what_of_a_stretch_is_cached_is_told_to_the_page() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pages");
    std::fs::write(&path, random_bytes(1 << 20)).unwrap();
    let target = Target::open(&path).unwrap();
    if drop_page_cache(&target).unwrap() != Some(0.0) {
        return skip(
            "what_of_a_stretch_is_cached_is_told_to_the_page",
            "the page cache of this folder cannot be emptied",
        );
    }
    let file = File::open(&path).unwrap();
    for (page, pages) in [(16u64, 3), (24, 1)] {
        file.read_exact_at(&mut vec![0; pages * 4096], page * 4096).unwrap();
    }
    let stretch =
        |page: u64, pages: u64| ByteRange::new(Offset::new(page * 4096), Bytes::new(pages * 4096)).unwrap();
    let looked =
        cached_stretches(&target, &[stretch(16, 16), stretch(0, 16), stretch(24, 1), stretch(0, 256)]);
    let found: Vec<_> =
        looked.unwrap().iter().map(|found| (found.from_start.get() / 4096, found.all.get() / 4096)).collect();
    assert_eq!(found, [(3, 4), (0, 0), (1, 1), (0, 4)]);
}

#[test]
fn a_device_is_probed_by_reading_only() {
    let Some(_alone) = alone_with_loop_devices("a_device_is_probed_by_reading_only") else { return };
    let image = Image::new(64);
    std::fs::write(&image.path, random_bytes(8 << 20)).unwrap();
    let device = LoopDevice::with_options(&image.path, &["--direct-io=on"]);
    let before = image.checksum();
    let target = Target::open(&device.path).unwrap();
    let probe = probe_content(&target).unwrap();
    assert_eq!((probe.blocks_read, probe.zero_blocks, probe.holes), (64, Some(0.0), None));
    assert_eq!(image.checksum(), before);
}

#[test]
fn requests_on_a_target_wait_and_cannot_write() {
    let _alone = alone();
    let image = Image::new(1);
    let target = Target::open(&image.path).unwrap();
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&target.descriptor());
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim();
    let flags = u32::from_str_radix(flags, 8).unwrap();
    assert_eq!(flags & 0o3, 0, "read only");
    assert_eq!(flags & 0o4000, 0, "no O_NONBLOCK");
    assert_eq!(flags & 0o40000 != 0, target.is_direct(), "O_DIRECT");
    assert_ne!(flags & 0o2000000, 0, "O_CLOEXEC");
}

#[test]
fn where_direct_io_cannot_be_had_it_is_said() {
    let name = "where_direct_io_cannot_be_had_it_is_said";
    let Some(_alone) = alone_with_loop_devices(name) else { return };
    let point = tempfile::tempdir().unwrap();
    let place = point.path().to_str().unwrap();
    run("mount", &["-t", "ramfs", "none", place]);
    let path = point.path().join("file");
    std::fs::write(&path, vec![3; 1 << 20]).unwrap();
    let opened = Target::open(&path).map(|target| (target.is_direct(), target.facts().caveats.clone()));
    run("umount", &[place]);
    assert_eq!(opened.unwrap(), (false, vec![Caveat::InMemory, Caveat::NotDirect]));
}
