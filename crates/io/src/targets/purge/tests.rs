//! Every refusal, the bytes of each command, and what is left when a step of an erase fails. No drive is touched but loop
//! devices over files in memory.

use super::super::identity::DeviceNumber;
use super::super::loopdev::{Image, LoopDevice, alone_with_loop_devices};
use super::super::passthrough::{AtaCommand, AtaData, Refused};
use super::super::sysfs::BlockDevice;
use super::super::{NeverWrite, Target, WriteConsent, WritePermit};
use super::ata::{AtaPort, PASSWORD, erase};
use super::error::Fault;
use super::nvme::{NvmeFacts, NvmePort};
use super::{FaultKind, PurgeEnd, PurgeMethod, is_discard_refusal, left_behind, nvme, options, purge};
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
    refuses: Vec<u8>,
    /// Commands that it carries out, whose answer is lost.
    loses: Vec<u8>,
    /// It has gone, and answers nothing any more, after this many commands.
    is_gone_after: Option<usize>,
    keeps_password: bool,
    sent: Vec<u8>,
}

impl Disk {
    fn new(refuses: &[u8], loses: &[u8]) -> Disk {
        Disk { status: SUPPORTED, refuses: refuses.into(), loses: loses.into(), ..Disk::default() }
    }

    fn carry_out(&mut self, command: u8, data: AtaData<'_>) {
        let given = match &data {
            AtaData::Out(page) => Some(page[2..34].to_vec()),
            _ => None,
        };
        let was_prepared = std::mem::take(&mut self.is_prepared);
        match (command, data) {
            (0xec, AtaData::In(page)) => {
                let status = self.status | u16::from(self.password.is_some()) << 1;
                page[256..258].copy_from_slice(&status.to_le_bytes());
            }
            (0xf1, AtaData::Out(_)) => self.password = given,
            (0xf3, AtaData::None) => self.is_prepared = true,
            (0xf4, AtaData::Out(page)) => {
                assert!(was_prepared, "an erase needs its preparation right before it");
                assert_eq!((page[0], page[1]), (0, 0), "the user's password, the normal erase");
                assert_eq!(given, self.password);
                self.password = self.password.take().filter(|_| self.keeps_password);
                self.erasures += 1;
            }
            (0xf6, AtaData::Out(_)) => {
                assert!(self.password.is_none() || given == self.password);
                self.password = None;
            }
            (other, _) => panic!("no command of an erase: {other:#x}"),
        }
    }
}

impl AtaPort for Disk {
    fn send(&mut self, command: AtaCommand, data: AtaData<'_>, _timeout_ms: Option<u32>) -> io::Result<()> {
        if self.is_gone_after.is_some_and(|commands| self.sent.len() >= commands) {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        self.sent.push(command.command);
        if self.refuses.contains(&command.command) {
            return Err(Refused(format!("aborted {:#x}", command.command)).into());
        }
        self.carry_out(command.command, data);
        if self.loses.contains(&command.command) {
            return Err(io::Error::other(format!("no answer to {:#x}", command.command)));
        }
        Ok(())
    }
}

const SUPPORTED: u16 = 1;
const IDENTIFY: u8 = 0xec;
const SET: u8 = 0xf1;
const PREPARE: u8 = 0xf3;
const ERASE: u8 = 0xf4;
const DISABLE: u8 = 0xf6;

fn told(fault: &Fault) -> String {
    fault.error.to_string()
}

#[test]
fn an_ata_erase_sets_its_password_prepares_erases_and_looks_whether_it_is_gone() {
    let mut disk = Disk::new(&[], &[]);
    erase(&mut disk, "/dev/sdx").unwrap();
    assert_eq!((disk.erasures, disk.password), (1, None));
    assert_eq!(disk.sent, [IDENTIFY, SET, PREPARE, ERASE, IDENTIFY]);
}

#[test]
fn a_drive_that_has_no_security_or_is_frozen_locked_or_protected_is_not_touched() {
    for (status, words) in [
        (0, "no security erase"),
        (SUPPORTED | 1 << 3, "frozen"),
        (SUPPORTED | 1 << 2 | 1 << 1, "locked"),
        (SUPPORTED | 1 << 2 | 1 << 1, "hdparm --user-master u --security-unlock drivescope /dev/sdx"),
        (SUPPORTED | 1 << 1, "already has a password"),
        (SUPPORTED | 1 << 1, "hdparm --user-master u --security-disable drivescope /dev/sdx"),
        (SUPPORTED | 1 << 4, "too many wrong passwords"),
    ] {
        let mut disk = Disk { status, ..Disk::default() };
        let fault = erase(&mut disk, "/dev/sdx").unwrap_err();
        assert!(told(&fault).contains(words), "{status:#x}: {}", told(&fault));
        assert_eq!((fault.kind, disk.sent), (FaultKind::Refused, vec![IDENTIFY]));
    }
}

#[test]
fn a_password_is_taken_back_whichever_step_fails_and_only_a_refusal_lets_another_method_follow() {
    for step in [SET, PREPARE, ERASE] {
        for (mut disk, kind) in
            [(Disk::new(&[step], &[]), FaultKind::Refused), (Disk::new(&[], &[step]), FaultKind::Broken)]
        {
            let fault = erase(&mut disk, "/dev/sdx").unwrap_err();
            assert_eq!(fault.kind, kind, "{step:#x}");
            assert!(told(&fault).contains("password is cleared"), "{}", told(&fault));
            assert_eq!(disk.password, None);
            assert!(disk.sent.ends_with(&[DISABLE, IDENTIFY]), "{:x?}", disk.sent);
        }
    }
}

#[test]
fn a_password_that_stays_is_an_error_of_its_own_with_the_commands_to_take_it_away() {
    for mut disk in [Disk::new(&[ERASE, DISABLE], &[]), Disk::new(&[DISABLE], &[SET])] {
        let fault = erase(&mut disk, "/dev/sdx").unwrap_err();
        assert_eq!(fault.kind, FaultKind::PasswordLeft);
        assert!(told(&fault).contains("could not be cleared"), "{}", told(&fault));
        assert!(disk.password.unwrap().starts_with(PASSWORD.as_bytes()));
    }
    let disk = BlockDevice {
        name: "sdx".into(),
        number: DeviceNumber { major: 8, minor: 0 },
        directory: "/".into(),
    };
    let sentence = left_behind(FaultKind::PasswordLeft, "S1", &disk).unwrap();
    for command in ["unlock", "disable"] {
        let whole = format!("`hdparm --user-master u --security-{command} drivescope /dev/sdx`");
        assert!(sentence.contains(&whole), "{sentence}");
    }
    assert_eq!(left_behind(FaultKind::Broken, "S1", &disk), None);
}

#[test]
fn a_drive_that_goes_away_during_its_erase_may_have_its_password() {
    for commands in [2, 3, 4] {
        let mut disk = Disk { is_gone_after: Some(commands), ..Disk::new(&[], &[]) };
        let fault = erase(&mut disk, "/dev/sdx").unwrap_err();
        assert_eq!(fault.kind, FaultKind::PasswordLeft, "after {commands} commands");
        assert!(told(&fault).contains("Cannot read whether its password"), "{}", told(&fault));
    }
}

#[test]
fn an_erase_that_leaves_its_password_is_no_success() {
    let mut disk = Disk { keeps_password: true, ..Disk::new(&[], &[]) };
    let fault = erase(&mut disk, "/dev/sdx").unwrap_err();
    assert_eq!((fault.kind, disk.password), (FaultKind::Broken, None));
    let mut disk = Disk { keeps_password: true, ..Disk::new(&[DISABLE], &[]) };
    assert_eq!(erase(&mut disk, "/dev/sdx").unwrap_err().kind, FaultKind::PasswordLeft);
}

/// An NVMe drive: its pages of Identify, what it does to a command, and what it says of its sanitizing, look by look.
struct Controller {
    transport: Option<&'static str>,
    controller: Vec<u8>,
    active: Vec<u32>,
    allocated: Option<Vec<u32>>,
    own: Vec<u8>,
    answer: Option<fn() -> io::Error>,
    looks: Vec<Option<u8>>,
    sent: Vec<(u8, u32, u32)>,
}

impl Controller {
    fn new(commands: u16, sanitizing: u32) -> Controller {
        let mut controller = vec![0u8; 4096];
        controller[256..258].copy_from_slice(&commands.to_le_bytes());
        controller[328..332].copy_from_slice(&sanitizing.to_le_bytes());
        Controller {
            transport: Some("pcie"),
            controller,
            active: vec![1],
            allocated: None,
            own: vec![0; 4096],
            answer: None,
            looks: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn facts(&mut self) -> NvmeFacts {
        nvme::facts(self).unwrap()
    }
}

impl NvmePort for Controller {
    fn namespace(&self) -> io::Result<u32> {
        Ok(1)
    }

    fn transport(&self) -> Option<String> {
        self.transport.map(str::to_owned)
    }

    fn ask(&mut self, opcode: u8, namespace: u32, words: [u32; 6], answer: &mut [u8]) -> io::Result<()> {
        let mut list = |numbers: &[u32]| {
            for (place, number) in answer.chunks_exact_mut(4).zip(numbers) {
                place.copy_from_slice(&number.to_le_bytes());
            }
        };
        match (opcode, words[0], namespace) {
            (0x06, 1, 0) => answer.copy_from_slice(&self.controller),
            (0x06, 2, 0) => list(&self.active),
            (0x06, 0x10, 0) => list(self.allocated.as_ref().ok_or(io::ErrorKind::Other)?),
            (0x06, 0, 1) => answer.copy_from_slice(&self.own),
            (0x02, 0x007f_0081, u32::MAX) => match self.looks.pop() {
                Some(Some(status)) => answer[2] = status,
                _ => return Err(io::ErrorKind::TimedOut.into()),
            },
            other => panic!("no question of a purge: {other:x?}"),
        }
        Ok(())
    }

    fn command(&mut self, opcode: u8, namespace: u32, word_10: u32, _timeout_ms: u32) -> io::Result<()> {
        self.sent.push((opcode, namespace, word_10));
        self.answer.map_or(Ok(()), |error| Err(error()))
    }

    fn rest(&self) {}
}

#[test]
fn an_nvme_drive_is_erased_only_by_what_it_knows() {
    assert!(Controller::new(0b10, 0).facts().may_format().is_ok());
    assert!(
        Controller::new(0, 0b10)
            .facts()
            .may_format()
            .unwrap_err()
            .to_string()
            .contains("does not support Format")
    );
    assert!(Controller::new(0, 0b10).facts().may_sanitize().is_ok());
    assert!(
        Controller::new(0b10, 0b101).facts().may_sanitize().unwrap_err().to_string().contains("block erase")
    );
}

#[test]
fn an_nvme_drive_is_erased_only_where_nothing_else_can_be_on_it() {
    let refused = |words: &str, change: fn(&mut Controller)| {
        let mut drive = Controller::new(0b10, 0b10);
        change(&mut drive);
        for refusal in [drive.facts().may_format(), drive.facts().may_sanitize()] {
            assert!(
                refusal.as_ref().is_err_and(|why| why.to_string().contains(words)),
                "{words}: {refusal:?}"
            );
        }
        let faults = [nvme::format(&mut drive).unwrap_err(), nvme::sanitize(&mut drive).unwrap_err()];
        assert!(faults.iter().all(|fault| fault.kind == FaultKind::Refused));
        assert_eq!(drive.sent, [], "{words}");
    };
    refused("2 namespaces", |drive| drive.active = vec![1, 2]);
    refused("1 namespaces", |drive| drive.active = vec![2]);
    refused("does not report", |drive| drive.active.clear());
    refused("over tcp", |drive| drive.transport = Some("tcp"));
    refused("cannot read its transport", |drive| drive.transport = None);
    refused("more than one controller", |drive| drive.controller[76] = 0b10);
    refused("more than one controller", |drive| drive.own[30] = 1);
    const MANAGEMENT: u8 = 0b1010;
    refused("not attached", |drive| drive.controller[256] = MANAGEMENT);
    refused("not attached", |drive| (drive.controller[256], drive.allocated) = (MANAGEMENT, Some(vec![])));
    refused("not attached", |drive| {
        (drive.controller[256], drive.allocated) = (MANAGEMENT, Some(vec![1, 2]))
    });
    let mut alone = Controller::new(u16::from(MANAGEMENT), 0b10);
    alone.allocated = Some(vec![1]);
    assert!(alone.facts().may_format().is_ok());
}

#[test]
fn a_format_of_all_namespaces_is_told() {
    for (told, expected) in [(0, false), (0b01, true), (0b10, true), (0b100, false)] {
        let mut drive = Controller::new(0b10, 0);
        drive.controller[524] = told;
        assert_eq!(drive.facts().formats_all(), expected);
        assert!(drive.facts().may_format().is_ok());
    }
}

#[test]
fn the_transport_is_that_of_the_controller_a_disk_lies_below() {
    let system = tempfile::tempdir().unwrap();
    let disk = system.path().join("nvme3/nvme3n1");
    fs::create_dir_all(&disk).unwrap();
    std::os::unix::fs::symlink("../../nvme3", disk.join("device")).unwrap();
    let disk = BlockDevice {
        name: "nvme3n1".into(),
        number: DeviceNumber { major: 259, minor: 0 },
        directory: disk,
    };
    assert_eq!(nvme::transport(&disk), None, "with several paths it lies below a subsystem, which has none");
    fs::write(system.path().join("nvme3/transport"), "pcie\n").unwrap();
    assert_eq!(nvme::transport(&disk).as_deref(), Some("pcie"));
}

#[test]
fn a_format_keeps_the_layout() {
    let word = |format, protection| {
        let mut drive = Controller::new(0b10, 0);
        (drive.own[26], drive.own[29]) = (format, protection);
        nvme::format(&mut drive).unwrap();
        assert_eq!((drive.sent.len(), drive.sent[0].0, drive.sent[0].1), (1, 0x80, 1));
        drive.sent[0].2
    };
    const USER_DATA: u32 = 1 << 9;
    assert_eq!(word(0, 0), USER_DATA);
    assert_eq!(word(3, 0), USER_DATA | 3);
    // Extended metadata, protection type 1 at the start of the metadata, and format 17: 1 with the upper bits 01.
    assert_eq!(word(0b0011_0001, 0b1001), USER_DATA | 1 << 12 | 1 << 8 | 1 << 5 | 1 << 4 | 1);
}

#[test]
fn only_an_nvme_command_that_was_refused_lets_another_method_follow() {
    let refusal = || Refused("no".into()).into();
    let lost = || io::ErrorKind::Interrupted.into();
    let after = |answer| Controller { answer: Some(answer), ..Controller::new(0b10, 0b10) };
    assert_eq!(nvme::format(&mut after(refusal)).unwrap_err().kind, FaultKind::Refused);
    assert_eq!(nvme::format(&mut after(lost)).unwrap_err().kind, FaultKind::Broken);
    assert_eq!(nvme::sanitize(&mut after(refusal)).unwrap_err().kind, FaultKind::Refused);
    assert_eq!(nvme::sanitize(&mut after(lost)).unwrap_err().kind, FaultKind::SanitizeBegun);
}

#[test]
fn a_sanitize_that_began_is_waited_for_and_nothing_follows_when_it_fails() {
    let looking = |looks: &[Option<u8>]| {
        let looks = looks.iter().rev().copied().collect();
        nvme::sanitize(&mut Controller { looks, ..Controller::new(0, 0b10) })
    };
    looking(&[Some(2), None, Some(2), Some(1)]).unwrap();
    looking(&[Some(4)]).unwrap();
    for looks in [&[Some(2), Some(3)][..], &[Some(0)], &[]] {
        assert_eq!(looking(looks).unwrap_err().kind, FaultKind::SanitizeBegun, "{looks:?}");
    }
    let disk = BlockDevice {
        name: "nvme0n1".into(),
        number: DeviceNumber { major: 259, minor: 0 },
        directory: "/".into(),
    };
    let sentence = left_behind(FaultKind::SanitizeBegun, "S1", &disk).unwrap();
    assert!(sentence.contains("refuses all I/O until a sanitize succeeds"), "{sentence}");
    assert!(sentence.contains("drivescope purge /dev/nvme0n1 --write --confirm S1 --method nvme-sanitize"));
}

#[test]
fn a_discard_is_refused_only_where_nothing_was_discarded() {
    let refused = |number, done| is_discard_refusal(&io::Error::from_raw_os_error(number), done);
    assert!(refused(libc::EOPNOTSUPP, 0) && refused(libc::EREMOTEIO, 0));
    assert!(!refused(libc::EOPNOTSUPP, 1) && !refused(libc::EIO, 0) && !refused(libc::ETIMEDOUT, 0));
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
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
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
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
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
    let permit = WritePermit::grant(&target, &everything(&target), &NeverWrite::default()).unwrap();
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
