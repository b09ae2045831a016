//! Erasing an ATA drive: ACS-4 (2016), 4.18 and 7.41 to 7.46, the Security feature set. The drive takes the erase only with a
//! password, so one is set first. It goes with the erase; when anything fails, it is taken back. The drive has the last word
//! on whether it is gone: who leaves a password behind unseen locks somebody out of his drive.

use super::super::passthrough::{ATA_BLOCK, AtaCommand, AtaData, ata, is_refusal};
use super::error::{Fault, FaultKind};
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

/// What ATA commands go to.
pub(super) trait AtaPort {
    fn send(&mut self, command: AtaCommand, data: AtaData<'_>, timeout_ms: Option<u32>) -> io::Result<()>;
}

/// A drive.
pub(super) struct Port<'drive>(pub BorrowedFd<'drive>);

impl AtaPort for Port<'_> {
    fn send(&mut self, command: AtaCommand, data: AtaData<'_>, timeout_ms: Option<u32>) -> io::Result<()> {
        ata(self.0, command, data, timeout_ms)
    }
}

/// What a drive says of its security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Security {
    /// Word 128.
    status: u16,
    /// Word 89: how long an erase takes.
    erase_time: u16,
}

/// Asks the drive.
pub(super) fn security(port: &mut dyn AtaPort) -> io::Result<Security> {
    let mut page = [0u8; ATA_BLOCK];
    let command = AtaCommand { command: IDENTIFY, count: 1, ..AtaCommand::default() };
    port.send(command, AtaData::In(&mut page), None)?;
    let word = |number: usize| u16::from_le_bytes([page[2 * number], page[2 * number + 1]]);
    Ok(Security { status: word(128), erase_time: word(89) })
}

impl Security {
    fn is(self, bit: u16) -> bool {
        self.status & 1 << bit != 0
    }

    /// Whether `device` can be erased now.
    pub(super) fn may_erase(self, device: &str) -> Result<(), String> {
        let is = |bit| self.is(bit);
        let ours = format!("If drivescope set it, it is the word `{PASSWORD}`");
        match () {
            () if !is(0) => Err("the drive has no security erase".into()),
            () if is(3) => Err(
                "the drive is frozen, as firmware leaves drives when a machine starts. Suspend and wake the \
                                machine, or plug the drive's power out and in while it runs, and try again"
                    .into(),
            ),
            () if is(2) => Err(format!("the drive is locked by a password. {ours}: {}", taking_away(device))),
            () if is(1) => {
                Err(format!("a password is set on the drive already. {ours}: {}", taking_away(device)))
            }
            () if is(4) => Err("too many wrong passwords were tried. Switch the drive off and on".into()),
            () => Ok(()),
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

/// The commands by which a person takes our password away.
pub(super) fn taking_away(device: &str) -> String {
    let command = |option| format!("`hdparm --user-master u --security-{option} {PASSWORD} {device}`");
    format!("{}, then {}", command("unlock"), command("disable"))
}

/// Erases `device`. Whatever fails after its password may have been set, the password is taken back, and the drive is asked
/// whether it is gone.
pub(super) fn erase(port: &mut dyn AtaPort, device: &str) -> Result<(), Fault> {
    let security = security(port).map_err(Fault::broken)?;
    security.may_erase(device).map_err(Fault::refused)?;
    let page = password_page();
    let with_page = |command| AtaCommand { command, count: 1, ..AtaCommand::default() };
    let prepare = AtaCommand { command: ERASE_PREPARE, ..AtaCommand::default() };
    let erased = port
        .send(with_page(SET_PASSWORD), AtaData::Out(&page), None)
        .and_then(|()| port.send(prepare, AtaData::None, None))
        .and_then(|()| port.send(with_page(ERASE_UNIT), AtaData::Out(&page), Some(security.timeout_ms())));
    let is_gone = erased.is_ok() && has_no_password(port).unwrap_or(false);
    if is_gone {
        return Ok(());
    }
    // That the drive does not take this is told by what it says of itself then.
    let taken_back = port.send(with_page(DISABLE_PASSWORD), AtaData::Out(&page), None);
    let error = erased.err().unwrap_or_else(|| {
        io::Error::other("the drive said that it had erased itself, but did not drop its password with that")
    });
    match has_no_password(port) {
        Ok(true) => {
            let kind = if is_refusal(&error) { FaultKind::Refused } else { FaultKind::Broken };
            Err(Fault { kind, error: with(&error, "Its password is not set any more") })
        }
        Ok(false) => {
            let why = taken_back.err().map_or("the drive says so".into(), |error| error.to_string());
            let error = with(&error, &format!("Its password could not be taken back ({why})"));
            Err(Fault { kind: FaultKind::PasswordLeft, error })
        }
        Err(unread) => {
            let error = with(&error, &format!("Whether its password is still set cannot be read ({unread})"));
            Err(Fault { kind: FaultKind::PasswordLeft, error })
        }
    }
}

fn has_no_password(port: &mut dyn AtaPort) -> io::Result<bool> {
    Ok(security(port)?.is_without_password())
}

fn with(error: &io::Error, sentence: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{error}. {sentence}"))
}
