//! Every refusal, the bytes of each command, and what is left when a step of an erase fails. No drive is touched but loop
//! devices over files in memory.

use super::super::loopdev::{Image, LoopDevice, alone_with_loop_devices};
use super::super::passthrough::{AtaCommand, AtaData};
use super::super::{Target, WriteConsent, WritePermit};
use super::ata::{AtaPort, PASSWORD, erase};
use super::{PurgeEnd, PurgeMethod, nvme, options, purge};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

/// An ATA drive that keeps to the Security feature set and fails where it is told to.
#[derive(Default)]
struct Disk {
    status: u16,
    password: Option<Vec<u8>>,
    is_prepared: bool,
    erasures: u32,
    fails_at: Vec<u8>,
}

impl AtaPort for Disk {
    fn send(&mut self, command: AtaCommand, data: AtaData<'_>, _timeout_ms: Option<u32>) -> io::Result<()> {
        if self.fails_at.contains(&command.command) {
            return Err(io::Error::other(format!("aborted {:#x}", command.command)));
        }
        let given = match &data {
            AtaData::Out(page) => Some(page[2..34].to_vec()),
            _ => None,
        };
        let was_prepared = std::mem::take(&mut self.is_prepared);
        match (command.command, data) {
            (0xec, AtaData::In(page)) => page[256..258].copy_from_slice(&self.status.to_le_bytes()),
            (0xf1, AtaData::Out(_)) => self.password = given,
            (0xf3, AtaData::None) => self.is_prepared = true,
            (0xf4, AtaData::Out(page)) => {
                assert!(was_prepared, "an erase needs its preparation right before it");
                assert_eq!((page[0], page[1]), (0, 0), "the user's password, the normal erase");
                assert_eq!(given, self.password);
                self.password = None;
                self.erasures += 1;
            }
            (0xf6, AtaData::Out(_)) => {
                assert_eq!(given, self.password);
                self.password = None;
            }
            (other, _) => panic!("no command of an erase: {other:#x}"),
        }
        Ok(())
    }
}

const SUPPORTED: u16 = 1;

#[test]
fn an_ata_erase_sets_its_password_prepares_and_erases() {
    let mut disk = Disk { status: SUPPORTED, ..Disk::default() };
    erase(&mut disk).unwrap();
    assert_eq!((disk.erasures, disk.password), (1, None));
}

#[test]
fn a_drive_that_has_no_security_or_is_frozen_locked_or_protected_is_not_touched() {
    for (status, words) in [
        (0, "no security erase"),
        (SUPPORTED | 1 << 3, "frozen"),
        (SUPPORTED | 1 << 2 | 1 << 1, "locked"),
        (SUPPORTED | 1 << 1, "password is set"),
        (SUPPORTED | 1 << 4, "too many wrong passwords"),
    ] {
        let mut disk = Disk { status, ..Disk::default() };
        let error = erase(&mut disk).unwrap_err().to_string();
        assert!(error.contains(words), "{status:#x}: {error}");
        assert_eq!((disk.erasures, disk.password), (0, None));
    }
}

#[test]
fn a_password_is_taken_back_when_the_erase_fails_and_told_when_it_cannot_be() {
    for step in [0xf3, 0xf4] {
        let mut disk = Disk { status: SUPPORTED, fails_at: vec![step], ..Disk::default() };
        let error = erase(&mut disk).unwrap_err().to_string();
        assert!(error.contains("was taken back"), "{error}");
        assert_eq!((disk.erasures, disk.password), (0, None));
    }
    let mut disk = Disk { status: SUPPORTED, fails_at: vec![0xf4, 0xf6], ..Disk::default() };
    let error = erase(&mut disk).unwrap_err().to_string();
    assert!(error.contains("--security-unlock drivescope"), "{error}");
    assert!(disk.password.unwrap().starts_with(PASSWORD));
    let mut disk = Disk { status: SUPPORTED, fails_at: vec![0xf1], ..Disk::default() };
    erase(&mut disk).unwrap_err();
    assert_eq!(disk.password, None);
}

/// Identify pages: what a drive can do, its namespaces, its layout.
fn pages(commands: u16, sanitizing: u32, active: &[u32], format: u8, protection: u8) -> [Vec<u8>; 3] {
    let mut pages = [vec![0u8; 4096], vec![0u8; 4096], vec![0u8; 4096]];
    pages[0][256..258].copy_from_slice(&commands.to_le_bytes());
    pages[0][328..332].copy_from_slice(&sanitizing.to_le_bytes());
    for (index, number) in active.iter().enumerate() {
        pages[1][4 * index..4 * index + 4].copy_from_slice(&number.to_le_bytes());
    }
    (pages[2][26], pages[2][29]) = (format, protection);
    pages
}

#[test]
fn an_nvme_drive_is_erased_only_alone_and_only_by_what_it_knows() {
    let facts = |commands, sanitizing, active: &[u32]| {
        let [controller, list, own] = pages(commands, sanitizing, active, 0, 0);
        nvme::read(1, &controller, &list, &own).unwrap()
    };
    assert_eq!(facts(0b10, 0, &[1]).may_format(), Ok(()));
    assert!(facts(0, 0b10, &[1]).may_format().unwrap_err().contains("does not know Format"));
    assert_eq!(facts(0, 0b10, &[1]).may_sanitize(), Ok(()));
    assert!(facts(0b10, 0b101, &[1]).may_sanitize().unwrap_err().contains("block erase"));
    assert!(facts(0b10, 0b10, &[1, 2]).may_format().unwrap_err().contains("2 namespaces"));
    assert!(facts(0b10, 0b10, &[1, 2]).may_sanitize().unwrap_err().contains("2 namespaces"));
    assert!(facts(0b10, 0b10, &[2]).may_format().is_err(), "the only one is another");
    assert!(facts(0b10, 0b10, &[]).may_format().is_err());
    assert_eq!(nvme::read(1, &[], &[], &[]), None);
}

#[test]
fn a_format_keeps_the_layout() {
    let word = |format, protection| {
        let [controller, list, own] = pages(0b10, 0, &[1], format, protection);
        nvme::read(1, &controller, &list, &own).unwrap().format_word()
    };
    const ERASE: u32 = 1 << 9;
    assert_eq!(word(0, 0), ERASE);
    assert_eq!(word(3, 0), ERASE | 3);
    // Extended metadata, protection type 1 at the start of the metadata, and format 17: 1 with the upper bits 01.
    assert_eq!(word(0b0011_0001, 0b1001), ERASE | 1 << 12 | 1 << 8 | 1 << 5 | 1 << 4 | 1);
}

fn everything(target: &Target) -> WriteConsent {
    WriteConsent { destroy_data: true, confirm: Some(target.confirmation().to_owned()) }
}

#[test]
fn a_loop_device_is_discarded_and_nothing_that_is_for_drives_is_offered() {
    let Some(_alone) =
        alone_with_loop_devices("a_loop_device_is_discarded_and_nothing_that_is_for_drives_is_offered")
    else {
        return;
    };
    let image = Image::new(24);
    fs::write(&image.path, vec![7u8; 24 << 20]).unwrap();
    let device = LoopDevice::over(&image.path);
    let target = Target::open(&device.path).unwrap();
    let offered: Vec<PurgeMethod> = options(&target)
        .into_iter()
        .filter(|option| option.refusal.is_none())
        .map(|option| option.method)
        .collect();
    assert_eq!(offered, [PurgeMethod::Discard, PurgeMethod::ZeroFill]);
    let permit = WritePermit::grant(&target, &everything(&target)).unwrap();
    for method in [PurgeMethod::NvmeFormat, PurgeMethod::NvmeSanitize, PurgeMethod::AtaSecureErase] {
        let error = purge(&target, &permit, method, &mut |_| true).unwrap_err().to_string();
        assert!(error.contains("will not write to"), "{error}");
    }
    assert_eq!(purge(&target, &permit, PurgeMethod::Discard, &mut |_| false).unwrap(), PurgeEnd::Stopped(0));
    assert_eq!(fs::metadata(&image.path).unwrap().blocks() * 512, 24 << 20, "nothing was changed so far");
    assert_eq!(purge(&target, &permit, PurgeMethod::Discard, &mut |_| true).unwrap(), PurgeEnd::Done);
    assert_eq!(fs::metadata(&image.path).unwrap().blocks(), 0);
}

#[test]
fn a_permit_for_another_target_purges_nothing() {
    let Some(_alone) = alone_with_loop_devices("a_permit_for_another_target_purges_nothing") else { return };
    let (ours, others) = (Image::new(16), Image::new(16));
    fs::write(&others.path, vec![7u8; 16 << 20]).unwrap();
    let (a, b) = (LoopDevice::over(&ours.path), LoopDevice::over(&others.path));
    let (target, other) = (Target::open(&a.path).unwrap(), Target::open(&b.path).unwrap());
    let permit = WritePermit::grant(&target, &everything(&target)).unwrap();
    let error = purge(&other, &permit, PurgeMethod::Discard, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("for another target"), "{error}");
    assert_eq!(fs::metadata(&others.path).unwrap().blocks() * 512, 16 << 20);
}

#[test]
fn a_partition_is_discarded_without_its_neighbours_and_never_erased_by_the_drive() {
    let Some(_alone) = alone_with_loop_devices(
        "a_partition_is_discarded_without_its_neighbours_and_never_erased_by_the_drive",
    ) else {
        return;
    };
    let image = Image::new(24);
    fs::write(&image.path, vec![7u8; 24 << 20]).unwrap();
    let mut device = LoopDevice::over(&image.path);
    device.partition("label: gpt\nsize=8MiB\nsize=8MiB\n");
    let target = Target::open(&device.partition_path(1)).unwrap();
    for option in &options(&target)[..3] {
        assert!(option.refusal.as_ref().unwrap().contains("partition"), "{option:?}");
    }
    let permit = WritePermit::grant(&target, &everything(&target)).unwrap();
    assert_eq!(purge(&target, &permit, PurgeMethod::Discard, &mut |_| true).unwrap(), PurgeEnd::Done);
    let content = fs::read(&image.path).unwrap();
    let first = 1usize << 20;
    assert!(content[first..first + (8 << 20)].iter().all(|byte| *byte == 0));
    assert!(content[first + (8 << 20)..first + (16 << 20)].iter().all(|byte| *byte == 7));
}

#[test]
fn a_file_gets_no_holes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, vec![7u8; 1 << 20]).unwrap();
    let target = Target::open(&path).unwrap();
    for option in options(&target) {
        assert_eq!(option.refusal.is_none(), option.method == PurgeMethod::ZeroFill, "{option:?}");
    }
}

#[test]
fn names_come_back() {
    for method in PurgeMethod::ALL {
        assert_eq!(PurgeMethod::from_name(method.name()), Some(method));
    }
}
