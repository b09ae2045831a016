//! Erasing an ATA drive: ACS-4 (2016), 4.18 and 7.41 to 7.46, the Security feature set. The drive takes the erase only with a
//! password, so one is set first. It goes with the erase; when anything fails before, it is taken back.

use super::super::passthrough::{ATA_BLOCK, AtaCommand, AtaData, ata};
use std::io;
use std::os::fd::BorrowedFd;

const IDENTIFY: u8 = 0xec;
const SET_PASSWORD: u8 = 0xf1;
const ERASE_PREPARE: u8 = 0xf3;
const ERASE_UNIT: u8 = 0xf4;
const DISABLE_PASSWORD: u8 = 0xf6;
/// Known, so that a drive that loses power half way can be unlocked by hand.
pub(super) const PASSWORD: &[u8] = b"drivescope";
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
    pub(super) fn may_erase(self) -> Result<(), String> {
        let is = |bit: u16| self.status & 1 << bit != 0;
        match () {
            () if !is(0) => Err("the drive has no security erase".into()),
            () if is(3) => Err(
                "the drive is frozen, as firmware leaves drives when a machine starts. Suspend and wake the \
                                machine, or plug the drive's power out and in while it runs, and try again"
                    .into(),
            ),
            () if is(2) => {
                Err("the drive is locked by a password. Unlock it first: hdparm --security-unlock".into())
            }
            () if is(1) => {
                Err("a password is set on the drive already. Remove it first: hdparm --security-disable"
                    .into())
            }
            () if is(4) => Err("too many wrong passwords were tried. Switch the drive off and on".into()),
            () => Ok(()),
        }
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
    page[2..2 + PASSWORD.len()].copy_from_slice(PASSWORD);
    page
}

pub(super) fn erase(port: &mut dyn AtaPort) -> io::Result<()> {
    let security = security(port)?;
    security.may_erase().map_err(io::Error::other)?;
    let page = password_page();
    let with_page = |command| AtaCommand { command, count: 1, ..AtaCommand::default() };
    let alone = |command| AtaCommand { command, ..AtaCommand::default() };
    port.send(with_page(SET_PASSWORD), AtaData::Out(&page), None)?;
    let erased = port
        .send(alone(ERASE_PREPARE), AtaData::None, None)
        .and_then(|()| port.send(with_page(ERASE_UNIT), AtaData::Out(&page), Some(security.timeout_ms())));
    let Err(error) = erased else { return Ok(()) };
    match port.send(with_page(DISABLE_PASSWORD), AtaData::Out(&page), None) {
        Ok(()) => Err(io::Error::new(error.kind(), format!("{error}. Its password was taken back"))),
        Err(again) => Err(io::Error::new(
            error.kind(),
            format!(
                "{error}. Its password could not be taken back ({again}): it is the word {}. After it was switched off and on: \
                 hdparm --security-unlock {0} and --security-disable {0}",
                String::from_utf8_lossy(PASSWORD)
            ),
        )),
    }
}
