//! Erasing an NVMe drive: NVM Express Base 2.0 (2021), 5.14 Format NVM, 5.17 Identify, 5.24 Sanitize, and the Command Set
//! Specification 4.1.5. Only with one namespace and one controller: both commands may touch what is not seen.

use super::super::passthrough::{nvme_ask, nvme_command, nvme_namespace};
use super::super::sysfs::BlockDevice;
use super::error::{Fault, FaultKind, PurgeRefusal};
use std::io;
use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::Duration;

const IDENTIFY: u8 = 0x06;
const IDENTIFY_NAMESPACE: u32 = 0;
const IDENTIFY_CONTROLLER: u32 = 1;
const IDENTIFY_ACTIVE_NAMESPACES: u32 = 2;
const IDENTIFY_ALLOCATED_NAMESPACES: u32 = 0x10;
const IDENTIFY_BYTES: usize = 4096;
const FORMAT: u8 = 0x80;
const SANITIZE: u8 = 0x84;
const SANITIZE_BLOCK_ERASE: u32 = 2;
const GET_LOG_PAGE: u8 = 0x02;
const SANITIZE_LOG: u32 = 0x81;
const ERASE_USER_DATA: u32 = 1 << 9;
/// Formats take seconds to minutes; a disk behind NVMe may take a day.
const FORMAT_MS: u32 = 24 * 3_600_000;
/// Of the optional admin commands: namespaces are made, and may be there without being attached.
const MANAGES_NAMESPACES: u16 = 1 << 3;
/// The way to a drive that no other machine has.
const LOCAL: &str = "pcie";
const ADMIN_MS: u32 = 120_000;
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A drive whose status cannot be read so often in a row is taken to be gone.
const FAILED_LOOKS_MAX: u32 = 20;

pub(super) trait NvmePort {
    fn namespace(&self) -> io::Result<u32>;
    /// Over what the controller is reached, if the system says so of just one.
    fn transport(&self) -> Option<String>;
    fn ask(&mut self, opcode: u8, namespace: u32, words: [u32; 6], answer: &mut [u8]) -> io::Result<()>;
    fn command(&mut self, opcode: u8, namespace: u32, word_10: u32, timeout_ms: u32) -> io::Result<()>;
    fn rest(&self);
}

pub(super) struct Port<'drive> {
    pub descriptor: BorrowedFd<'drive>,
    pub disk: BlockDevice,
}

impl NvmePort for Port<'_> {
    fn namespace(&self) -> io::Result<u32> {
        nvme_namespace(self.descriptor)
    }

    fn transport(&self) -> Option<String> {
        transport(&self.disk)
    }

    fn ask(&mut self, opcode: u8, namespace: u32, words: [u32; 6], answer: &mut [u8]) -> io::Result<()> {
        nvme_ask(self.descriptor, opcode, namespace, words, answer)
    }

    fn command(&mut self, opcode: u8, namespace: u32, word_10: u32, timeout_ms: u32) -> io::Result<()> {
        nvme_command(self.descriptor, opcode, namespace, [word_10, 0, 0, 0, 0, 0], timeout_ms)
    }

    fn rest(&self) {
        sleep(LOOK_EVERY);
    }
}

/// What the controller of a disk is reached over. A disk with several paths lies below no controller and tells none.
pub(super) fn transport(disk: &BlockDevice) -> Option<String> {
    disk.attribute("device/transport")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NvmeFacts {
    namespace: u32,
    active: Vec<u32>,
    /// All that there are, on a drive that tells them apart from those; none told where it could not be read.
    allocated: Option<Vec<u32>>,
    transport: Option<String>,
    /// More than one controller, or one namespace for more than one.
    is_shared: bool,
    /// Whether a format, or the erase with it, is one of all namespaces.
    formats_all: bool,
    commands: u16,
    sanitizing: u32,
    /// How the namespace is laid out: format and protection, as dword 10 of Format NVM wants them.
    layout: u32,
}

pub(super) fn facts(port: &mut dyn NvmePort) -> io::Result<NvmeFacts> {
    let namespace = port.namespace()?;
    let transport = port.transport();
    let controller = identify(port, IDENTIFY_CONTROLLER, 0)?;
    let active = numbers(&identify(port, IDENTIFY_ACTIVE_NAMESPACES, 0)?);
    let own = identify(port, IDENTIFY_NAMESPACE, namespace)?;
    // OACS, CMIC, NMIC, FNA and SANICAP.
    let commands = u16::from_le_bytes([controller[256], controller[257]]);
    let allocated = if commands & MANAGES_NAMESPACES == 0 {
        None
    } else {
        match identify(port, IDENTIFY_ALLOCATED_NAMESPACES, 0) {
            Ok(page) => Some(numbers(&page)),
            Err(_) => Some(Vec::new()),
        }
    };
    Ok(NvmeFacts {
        namespace,
        active,
        allocated,
        transport,
        is_shared: controller[76] & 0b10 != 0 || own[30] & 1 != 0,
        formats_all: controller[524] & 0b11 != 0,
        commands,
        sanitizing: u32::from_le_bytes([controller[328], controller[329], controller[330], controller[331]]),
        layout: layout(own[26], own[29]),
    })
}

fn identify(port: &mut dyn NvmePort, what: u32, of: u32) -> io::Result<[u8; IDENTIFY_BYTES]> {
    let mut page = [0u8; IDENTIFY_BYTES];
    port.ask(IDENTIFY, of, [what, 0, 0, 0, 0, 0], &mut page)?;
    Ok(page)
}

/// A list of namespaces ends with a zero or with the page.
fn numbers(page: &[u8; IDENTIFY_BYTES]) -> Vec<u32> {
    let (numbers, _) = page.as_chunks::<4>();
    numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).take_while(|number| *number != 0).collect()
}

/// From FLBAS and DPS of a namespace to dword 10 of Format NVM.
fn layout(format: u8, protection: u8) -> u32 {
    let (format, protection) = (u32::from(format), u32::from(protection));
    // The format's number has its upper bits at 5 and 6; whether metadata is extended is bit 4 in both.
    let upper = (format >> 5 & 0b11) << 12;
    (format & 0x1f) | (protection & 0b111) << 5 | (protection >> 3 & 1) << 8 | upper
}

impl NvmeFacts {
    pub(super) fn may_format(&self) -> Result<(), PurgeRefusal> {
        self.holds_nothing_else()?;
        if self.commands & 0b10 == 0 { Err(PurgeRefusal::NoFormat) } else { Ok(()) }
    }

    pub(super) fn may_sanitize(&self) -> Result<(), PurgeRefusal> {
        self.holds_nothing_else()?;
        if self.sanitizing & 0b10 == 0 { Err(PurgeRefusal::NoSanitize) } else { Ok(()) }
    }

    /// Whether a format is one of all namespaces, of which there is one then.
    pub(super) fn formats_all(&self) -> bool {
        self.formats_all
    }

    fn holds_nothing_else(&self) -> Result<(), PurgeRefusal> {
        match self.transport.as_deref() {
            Some(LOCAL) => {}
            Some(other) => return Err(PurgeRefusal::Remote(other.to_owned())),
            None => return Err(PurgeRefusal::TransportUnread),
        }
        if self.is_shared {
            return Err(PurgeRefusal::Shared);
        }
        match self.active.as_slice() {
            [only] if *only == self.namespace => {}
            [] => return Err(PurgeRefusal::NamespacesUntold),
            others => return Err(PurgeRefusal::OtherNamespaces(others.len())),
        }
        match self.allocated.as_deref() {
            None => Ok(()),
            Some([only]) if *only == self.namespace => Ok(()),
            Some(_) => Err(PurgeRefusal::DetachedNamespaces),
        }
    }

    /// Dword 10 of Format NVM: the layout stays, the user's data goes.
    pub(super) fn format_word(&self) -> u32 {
        self.layout | ERASE_USER_DATA
    }
}

pub(super) fn format(port: &mut dyn NvmePort) -> Result<(), Fault> {
    let facts = facts(port).map_err(Fault::broken)?;
    facts.may_format().map_err(Fault::refused)?;
    match port.command(FORMAT, facts.namespace, facts.format_word(), FORMAT_MS) {
        Ok(()) => Ok(()),
        Err(error) => Err(Fault::of_command(error, FaultKind::Broken)),
    }
}

/// Begins, and waits for the end: the drive goes on by itself even when nobody waits.
pub(super) fn sanitize(port: &mut dyn NvmePort) -> Result<(), Fault> {
    let facts = facts(port).map_err(Fault::broken)?;
    facts.may_sanitize().map_err(Fault::refused)?;
    if let Err(error) = port.command(SANITIZE, 0, SANITIZE_BLOCK_ERASE, ADMIN_MS) {
        // The drive may have taken a command whose answer was lost.
        return Err(Fault::of_command(error, FaultKind::SanitizeBegun));
    }
    match sanitized(port) {
        Ok(()) => Ok(()),
        Err(error) => Err(Fault { kind: FaultKind::SanitizeBegun, error }),
    }
}

fn sanitized(port: &mut dyn NvmePort) -> io::Result<()> {
    let mut failed = 0;
    loop {
        port.rest();
        let mut log = [0u8; 512];
        let words = [(log.len() as u32 / 4 - 1) << 16 | SANITIZE_LOG, 0, 0, 0, 0, 0];
        match port.ask(GET_LOG_PAGE, u32::MAX, words, &mut log) {
            Ok(()) => match log[2] & 0b111 {
                2 => failed = 0,
                1 | 4 => return Ok(()),
                _ => return Err(io::Error::other("the drive reports that the sanitize failed")),
            },
            Err(error) if failed >= FAILED_LOOKS_MAX => return Err(error),
            Err(_) => failed += 1,
        }
    }
}
