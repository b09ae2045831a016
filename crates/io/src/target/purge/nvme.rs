//! Erasing an NVMe drive: NVM Express Base 2.0 (2021), 5.14 Format NVM, 5.17 Identify, 5.24 Sanitize, and the Command Set
//! Specification 4.1.5. Only a drive with one namespace is erased: both commands may touch the others.

use super::super::passthrough::{nvme_ask, nvme_command, nvme_namespace};
use std::io;
use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::Duration;

const IDENTIFY: u8 = 0x06;
const IDENTIFY_NAMESPACE: u32 = 0;
const IDENTIFY_CONTROLLER: u32 = 1;
const IDENTIFY_ACTIVE_NAMESPACES: u32 = 2;
const IDENTIFY_BYTES: usize = 4096;
const FORMAT: u8 = 0x80;
const SANITIZE: u8 = 0x84;
const SANITIZE_BLOCK_ERASE: u32 = 2;
const GET_LOG_PAGE: u8 = 0x02;
const SANITIZE_LOG: u32 = 0x81;
/// Of Format NVM: user data erase.
const ERASE_USER_DATA: u32 = 1 << 9;
/// Formats take seconds to minutes; a disk behind NVMe may take a day.
const FORMAT_MS: u32 = 24 * 3_600_000;
const ADMIN_MS: u32 = 120_000;
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A drive whose status cannot be read so often in a row is taken to be gone.
const FAILED_LOOKS_MAX: u32 = 20;

/// What a drive says of how it can be erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NvmeFacts {
    /// The namespace that the block device stands for.
    namespace: u32,
    /// All that hold data.
    active: Vec<u32>,
    /// Optional admin commands.
    commands: u16,
    /// Kinds of sanitizing.
    sanitizing: u32,
    /// How the namespace is laid out: format and protection, as dword 10 of Format NVM wants them.
    layout: u32,
}

/// Asks the drive.
pub(super) fn facts(descriptor: BorrowedFd<'_>) -> io::Result<NvmeFacts> {
    let namespace = nvme_namespace(descriptor)?;
    let identify = |what: u32, of: u32| {
        let mut page = vec![0u8; IDENTIFY_BYTES];
        nvme_ask(descriptor, IDENTIFY, of, [what, 0, 0, 0, 0, 0], &mut page).map(|()| page)
    };
    let controller = identify(IDENTIFY_CONTROLLER, 0)?;
    let active = identify(IDENTIFY_ACTIVE_NAMESPACES, 0)?;
    let own = identify(IDENTIFY_NAMESPACE, namespace)?;
    read(namespace, &controller, &active, &own).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// From the pages of Identify: controller (bytes 256 OACS, 328 SANICAP), list of namespaces, namespace (bytes 26 FLBAS,
/// 29 DPS).
pub(super) fn read(namespace: u32, controller: &[u8], active: &[u8], own: &[u8]) -> Option<NvmeFacts> {
    let commands = u16::from_le_bytes(controller.get(256..258)?.try_into().ok()?);
    let sanitizing = u32::from_le_bytes(controller.get(328..332)?.try_into().ok()?);
    let numbers = active.chunks_exact(4).filter_map(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
    let active = numbers.take_while(|number| *number != 0).collect();
    let (format, protection) = (u32::from(*own.get(26)?), u32::from(*own.get(29)?));
    // The format's number has its upper bits at 5 and 6; whether metadata is extended is bit 4 in both.
    let upper = (format >> 5 & 0b11) << 12;
    let layout = (format & 0x1f) | (protection & 0b111) << 5 | (protection >> 3 & 1) << 8 | upper;
    Some(NvmeFacts { namespace, active, commands, sanitizing, layout })
}

impl NvmeFacts {
    pub(super) fn may_format(&self) -> Result<(), String> {
        self.holds_nothing_else()?;
        if self.commands & 0b10 == 0 {
            return Err("the drive does not know Format NVM".into());
        }
        Ok(())
    }

    pub(super) fn may_sanitize(&self) -> Result<(), String> {
        self.holds_nothing_else()?;
        if self.sanitizing & 0b10 == 0 {
            return Err("the drive does not know Sanitize with block erase".into());
        }
        Ok(())
    }

    fn holds_nothing_else(&self) -> Result<(), String> {
        match self.active.as_slice() {
            [only] if *only == self.namespace => Ok(()),
            [] => Err("the drive does not tell which namespaces it has".into()),
            others => {
                Err(format!("the drive has {} namespaces, and others could be erased too", others.len()))
            }
        }
    }

    /// Dword 10 of Format NVM: the layout stays, the user's data goes.
    pub(super) fn format_word(&self) -> u32 {
        self.layout | ERASE_USER_DATA
    }
}

pub(super) fn format(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let facts = facts(descriptor)?;
    facts.may_format().map_err(io::Error::other)?;
    nvme_command(descriptor, FORMAT, facts.namespace, [facts.format_word(), 0, 0, 0, 0, 0], FORMAT_MS)
}

/// Begins, and waits for the end: the drive goes on by itself even when nobody waits.
pub(super) fn sanitize(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    let facts = facts(descriptor)?;
    facts.may_sanitize().map_err(io::Error::other)?;
    nvme_command(descriptor, SANITIZE, 0, [SANITIZE_BLOCK_ERASE, 0, 0, 0, 0, 0], ADMIN_MS)?;
    let mut failed = 0;
    loop {
        sleep(LOOK_EVERY);
        let mut log = [0u8; 512];
        let words = [(log.len() as u32 / 4 - 1) << 16 | SANITIZE_LOG, 0, 0, 0, 0, 0];
        match nvme_ask(descriptor, GET_LOG_PAGE, u32::MAX, words, &mut log) {
            Ok(()) => match log[2] & 0b111 {
                2 => failed = 0,
                1 | 4 => return Ok(()),
                _ => return Err(io::Error::other("the drive says that its sanitizing failed")),
            },
            Err(error) if failed >= FAILED_LOOKS_MAX => return Err(error),
            Err(_) => failed += 1,
        }
    }
}
