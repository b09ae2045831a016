//! Erasing an ATA drive: ACS-4 (2016), 4.18 and 7.41 to 7.46, the Security feature set. The drive takes the erase only with a
//! password, so one is set first. It goes with the erase; when anything fails, it is taken back. The drive has the last word
//! on whether it is gone: who leaves a password behind unseen locks somebody out of his drive.

use super::super::passthrough::{ATA_BLOCK, AtaCommand, AtaData, ata, is_refusal};
use super::error::{Fault, FaultKind, PurgeRefusal};
use std::io;
use std::os::fd::BorrowedFd;

const IDENTIFY: u8 = 0xec;
const SET_PASSWORD: u8 = 0xf1;
const ERASE_PREPARE: u8 = 0xf3;
const ERASE_UNIT: u8 = 0xf4;
const DISABLE_PASSWORD: u8 = 0xf6;
/// Known, so that a drive that loses power half way can be unlocked by hand.
pub(super) const PASSWORD: &str = "drivescope";
/// Where a drive does not say how long it takes.
const ERASE_MINUTES: u32 = 24 * 60;

pub(super) trait AtaPort {
    fn send(&mut self, command: AtaCommand, data: AtaData<'_>, timeout_ms: Option<u32>) -> io::Result<()>;
}

pub(super) struct Port<'drive>(pub BorrowedFd<'drive>);

impl AtaPort for Port<'_> {
    fn send(&mut self, command: AtaCommand, data: AtaData<'_>, timeout_ms: Option<u32>) -> io::Result<()> {
        ata(self.0, command, data, timeout_ms)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Security {
    status: u16,
    /// Word 89: how long an erase takes.
    erase_time: u16,
}

pub(super) fn security(port: &mut dyn AtaPort) -> io::Result<Security> {
    let mut page = [0u8; ATA_BLOCK];
    let command = AtaCommand { command: IDENTIFY, count: 1, ..AtaCommand::default() };
    port.send(command, AtaData::In(&mut page), None)?;
    let (words, _) = page.as_chunks::<2>();
    Ok(Security { status: u16::from_le_bytes(words[128]), erase_time: u16::from_le_bytes(words[89]) })
}

impl Security {
    fn is(self, bit: u16) -> bool {
        self.status & 1 << bit != 0
    }

    pub(super) fn may_erase(self, device: &str) -> Result<(), PurgeRefusal> {
        let advice = format!("If drivescope set it, it is the word `{PASSWORD}`: {}", taking_away(device));
        if !self.is(0) {
            Err(PurgeRefusal::NoSecurityErase)
        } else if self.is(3) {
            Err(PurgeRefusal::Frozen)
        } else if self.is(2) {
            Err(PurgeRefusal::Locked(advice))
        } else if self.is(1) {
            Err(PurgeRefusal::PasswordSet(advice))
        } else if self.is(4) {
            Err(PurgeRefusal::TooManyPasswords)
        } else {
            Ok(())
        }
    }

    /// That no password is set, as far as the drive can be believed.
    fn is_without_password(self) -> bool {
        self.is(0) && !self.is(1)
    }

    /// As long as the drive says twice over, in ms: bit 15 tells how many bits the number has, which counts 2 minutes.
    fn timeout_ms(self) -> u32 {
        let (steps, longest) = match self.erase_time & 0x8000 {
            0 => (self.erase_time & 0xff, 0xff),
            _ => (self.erase_time & 0x7fff, 0x7fff),
        };
        let told = steps != 0 && steps != longest;
        let minutes = if told { u32::from(steps) * 2 } else { ERASE_MINUTES };
        (minutes * 2 + 10) * 60_000
    }
}

/// Word 0 is 0: the user's password, the normal erase; the password follows.
fn password_page() -> [u8; ATA_BLOCK] {
    let mut page = [0u8; ATA_BLOCK];
    page[2..2 + PASSWORD.len()].copy_from_slice(PASSWORD.as_bytes());
    page
}

pub(super) fn taking_away(device: &str) -> String {
    format!(
        "`hdparm --user-master u --security-unlock {PASSWORD} {device}`, then \
         `hdparm --user-master u --security-disable {PASSWORD} {device}`"
    )
}

/// Erases `device`. If anything fails after its password may have been set, it is taken back, and that is checked.
pub(super) fn erase(port: &mut dyn AtaPort, device: &str) -> Result<(), Fault> {
    let security = security(port).map_err(Fault::broken)?;
    security.may_erase(device).map_err(Fault::refused)?;
    let erased = erase_with_password(port, security.timeout_ms());
    if erased.is_ok()
        && let Ok(true) = has_no_password(port)
    {
        return Ok(());
    }
    // That the drive does not take this is told by what it says of itself then.
    let taken_back = send_password(port, DISABLE_PASSWORD, None);
    let error = match erased {
        Err(error) => error,
        Ok(()) => io::Error::other("the drive reported the erase complete, but kept its password"),
    };
    match has_no_password(port) {
        Ok(true) => {
            let kind = if is_refusal(&error) { FaultKind::Refused } else { FaultKind::Broken };
            Err(Fault { kind, error: with(&error, "Its password is cleared") })
        }
        Ok(false) => {
            let why = match taken_back {
                Err(error) => error.to_string(),
                Ok(()) => "the drive says so".into(),
            };
            let error = with(&error, &format!("Its password could not be cleared ({why})"));
            Err(Fault { kind: FaultKind::PasswordLeft, error })
        }
        Err(unread) => {
            let error = with(&error, &format!("Cannot read whether its password is still set ({unread})"));
            Err(Fault { kind: FaultKind::PasswordLeft, error })
        }
    }
}

fn erase_with_password(port: &mut dyn AtaPort, timeout_ms: u32) -> io::Result<()> {
    send_password(port, SET_PASSWORD, None)?;
    let prepare = AtaCommand { command: ERASE_PREPARE, ..AtaCommand::default() };
    port.send(prepare, AtaData::None, None)?;
    send_password(port, ERASE_UNIT, Some(timeout_ms))
}

fn send_password(port: &mut dyn AtaPort, command: u8, timeout_ms: Option<u32>) -> io::Result<()> {
    let command = AtaCommand { command, count: 1, ..AtaCommand::default() };
    port.send(command, AtaData::Out(&password_page()), timeout_ms)
}

fn has_no_password(port: &mut dyn AtaPort) -> io::Result<bool> {
    Ok(security(port)?.is_without_password())
}

fn with(error: &io::Error, sentence: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{error}. {sentence}"))
}
