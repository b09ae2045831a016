//! Commands past the block layer: NVMe admin, and ATA within SCSI. Only `purge`, behind a permit, erases.
#![allow(unsafe_code, reason = "ioctl with structs of the kernel has no safe form")]

use super::system_call::ioctl;
use std::io;
use std::os::fd::BorrowedFd;

/// `linux/nvme_ioctl.h`: the namespace that a block device stands for.
const NVME_IOCTL_ID: libc::c_ulong = 0x4e40;
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xc048_4e41;
const SG_IO: libc::c_ulong = 0x2285;
/// `scsi/sg.h`: nothing moves, to the drive, from the drive.
const SG_DXFER_NONE: libc::c_int = -1;
const SG_DXFER_TO_DEV: libc::c_int = -2;
const SG_DXFER_FROM_DEV: libc::c_int = -3;
/// Of SCSI: sense data came with the answer.
const CHECK_CONDITION: u8 = 2;
/// Room for sense data: a header and what an ATA drive answered take 22.
const SENSE_BYTES: usize = 32;
const ATA_PASS_THROUGH_16: u8 = 0x85;
/// Of ATA PASS-THROUGH: no data, data in and data out by PIO.
const PROTOCOL_NO_DATA: u8 = 3;
const PROTOCOL_PIO_IN: u8 = 4;
const PROTOCOL_PIO_OUT: u8 = 5;
pub(super) const ATA_BLOCK: usize = 512;
/// An answer that takes longer than this is none: a disk that sleeps takes up to 30 s to turn.
const ASKING_MS: u32 = 40_000;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    word_2: u32,
    word_3: u32,
    metadata: u64,
    address: u64,
    metadata_length: u32,
    data_length: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<NvmeCommand>() == 72);

#[repr(C)]
struct ScsiHeader {
    interface: libc::c_int,
    direction: libc::c_int,
    command_length: u8,
    sense_length_max: u8,
    scatter_count: u16,
    data_length: u32,
    data: *mut libc::c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack: libc::c_int,
    user: *mut libc::c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_length: u8,
    host_status: u16,
    driver_status: u16,
    residual: libc::c_int,
    duration_ms: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ScsiHeader>() == 88);

/// A command that the drive, or the system before it, refused: it was not begun.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(pub String);

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> io::Error {
        io::Error::other(refused)
    }
}

/// Whether a command failed by being refused. After any other error nobody knows how far it came.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    let by_the_system = [libc::EPERM, libc::EACCES, libc::ENOTTY, libc::EOPNOTSUPP];
    matches!(error.get_ref(), Some(inner) if inner.is::<Refused>())
        || matches!(error.raw_os_error(), Some(number) if by_the_system.contains(&number))
}

pub(super) fn nvme_namespace(descriptor: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: the request takes no argument.
    match unsafe { ioctl(descriptor, NVME_IOCTL_ID, std::ptr::null_mut::<()>()) }? {
        0 => Err(io::ErrorKind::InvalidData.into()),
        number => Ok(number),
    }
}

/// An NVMe admin command that brings data: NVM Express Base 2.0, 5. `words` are the command's dwords 10 to 15.
pub(super) fn nvme_ask(
    descriptor: BorrowedFd<'_>,
    opcode: u8,
    namespace: u32,
    words: [u32; 6],
    answer: &mut [u8],
) -> io::Result<()> {
    let command = NvmeCommand {
        opcode,
        namespace,
        address: answer.as_mut_ptr() as u64,
        data_length: answer.len() as u32,
        words_10_to_15: words,
        timeout_ms: ASKING_MS,
        ..NvmeCommand::default()
    };
    // SAFETY: the kernel writes at most `data_length` bytes to `answer`, which outlives the call.
    unsafe { nvme_admin(descriptor, command) }
}

pub(super) fn nvme_command(
    descriptor: BorrowedFd<'_>,
    opcode: u8,
    namespace: u32,
    words: [u32; 6],
    timeout_ms: u32,
) -> io::Result<()> {
    let command =
        NvmeCommand { opcode, namespace, words_10_to_15: words, timeout_ms, ..NvmeCommand::default() };
    // SAFETY: no address is given, so nothing in our memory is touched but the command itself.
    unsafe { nvme_admin(descriptor, command) }
}

/// # Safety
/// `command.address` is zero, or that of `data_length` bytes that the caller has for itself until the end of the call.
unsafe fn nvme_admin(descriptor: BorrowedFd<'_>, mut command: NvmeCommand) -> io::Result<()> {
    // SAFETY: the struct has the layout of the kernel's; its address is the caller's promise.
    match unsafe { ioctl(descriptor, NVME_IOCTL_ADMIN_CMD, &raw mut command) }? {
        0 => Ok(()),
        status if is_nvme_refusal(status) => {
            Err(Refused(format!("the drive refused it with NVMe status {status:#x}")).into())
        }
        status => Err(io::Error::other(format!("it failed with NVMe status {status:#x}"))),
    }
}

/// Whether a status says that the command was not begun, by the codes of NVM Express Base 2.0 (2021). Not among them are
/// those that a command under way ends with, and those that the host gives itself when no answer comes.
fn is_nvme_refusal(status: u32) -> bool {
    const STATUS_BITS: u32 = 0x7ff;
    matches!(
        status & STATUS_BITS,
        // Generic: opcode, field, namespace or format invalid; sequence; denied; write-protected; locked down.
        0x001 | 0x002 | 0x00b | 0x00c | 0x015 | 0x020 | 0x023
        // Of the command: format invalid; firmware waits for a reset; no sanitize beside a memory region.
        | 0x10a | 0x10b | 0x123
    )
}

/// An ATA command: ACS-4. A `count` and a `position` above 8 and 24 bits need one of the extended commands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtaCommand {
    pub command: u8,
    pub features: u16,
    pub count: u16,
    pub position: u64,
    pub is_extended: bool,
}

pub(super) enum AtaData<'data> {
    None,
    In(&'data mut [u8]),
    Out(&'data [u8]),
}

pub(super) fn ata(
    descriptor: BorrowedFd<'_>,
    command: AtaCommand,
    data: AtaData<'_>,
    timeout_ms: Option<u32>,
) -> io::Result<()> {
    let (direction, address, length) = match data {
        AtaData::None => (SG_DXFER_NONE, std::ptr::null_mut(), 0),
        AtaData::In(buffer) => (SG_DXFER_FROM_DEV, buffer.as_mut_ptr(), buffer.len()),
        // The kernel only reads from it in this direction.
        AtaData::Out(buffer) => (SG_DXFER_TO_DEV, buffer.as_ptr().cast_mut(), buffer.len()),
    };
    let block = command_block(command, direction);
    let mut sense = [0u8; SENSE_BYTES];
    let mut header = ScsiHeader {
        interface: libc::c_int::from(b'S'),
        direction,
        command_length: block.len() as u8,
        sense_length_max: sense.len() as u8,
        scatter_count: 0,
        data_length: length as u32,
        data: address.cast(),
        command: block.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: timeout_ms.unwrap_or(ASKING_MS),
        flags: 0,
        pack: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_length: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: all pointers of the header lead to memory of the lengths given, which outlives the call.
    unsafe { ioctl(descriptor, SG_IO, &raw mut header) }?;
    if header.status != 0 || header.host_status != 0 || header.driver_status != 0 {
        let was_answered = header.status == CHECK_CONDITION && header.host_status == 0;
        let is_refused = was_answered && is_ata_refusal(&sense);
        let text = format!(
            "{} ATA command {:#04x} (SCSI status {:#04x}, host {:#06x}, sense {:02x?})",
            if is_refused { "the drive refused" } else { "no good end of" },
            command.command,
            header.status,
            header.host_status,
            &sense[..usize::from(header.sense_length).min(sense.len())]
        );
        return Err(if is_refused { Refused(text).into() } else { io::Error::other(text) });
    }
    Ok(())
}

/// Whether sense data says that the drive aborted an ATA command, or that it was never sent to it: SPC-4, 4.5, and SAT-4,
/// 12.2.2.6 and 12.2.2.7. An abort for a fault of the drive or of its link is none.
fn is_ata_refusal(sense: &[u8; SENSE_BYTES]) -> bool {
    const ILLEGAL_REQUEST: u8 = 5;
    const ATA_STATUS_DESCRIPTOR: u8 = 0x09;
    // Of the drive's status: error; fault; busy. Of its error: abort; a fault of the link.
    const ERROR: u8 = 1;
    const FAULT: u8 = 1 << 5;
    const BUSY: u8 = 1 << 7;
    const ABORT: u8 = 1 << 2;
    const LINK_FAULT: u8 = 1 << 7;
    let (key, answer) = match sense[0] & 0x7f {
        0x72 => (sense[1], (sense[8] == ATA_STATUS_DESCRIPTOR).then_some((sense[11], sense[21]))),
        0x70 => (sense[2], (sense[4] != 0).then_some((sense[3], sense[4]))),
        _ => return false,
    };
    match answer {
        Some((error, status)) => {
            status & (ERROR | FAULT | BUSY) == ERROR && error & (ABORT | LINK_FAULT) == ABORT
        }
        None => key & 0x0f == ILLEGAL_REQUEST,
    }
}

fn command_block(command: AtaCommand, direction: libc::c_int) -> [u8; 16] {
    let protocol = match direction {
        SG_DXFER_FROM_DEV => PROTOCOL_PIO_IN,
        SG_DXFER_TO_DEV => PROTOCOL_PIO_OUT,
        _ => PROTOCOL_NO_DATA,
    };
    // Data in: bit 3. Length in blocks, told by the count field: bit 2 and the value 2.
    let transfer = match direction {
        SG_DXFER_FROM_DEV => 0x0e,
        SG_DXFER_TO_DEV => 0x06,
        _ => 0,
    };
    let [feature_low, feature_high] = command.features.to_le_bytes();
    let [count_low, count_high] = command.count.to_le_bytes();
    let position = command.position.to_le_bytes();
    [
        ATA_PASS_THROUGH_16,
        protocol << 1 | u8::from(command.is_extended),
        transfer,
        feature_high,
        feature_low,
        count_high,
        count_low,
        position[3],
        position[0],
        position[4],
        position[1],
        position[5],
        position[2],
        0,
        command.command,
        0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_as_the_standard_draws_it() {
        let read_log =
            AtaCommand { command: 0x2f, features: 0, count: 1, position: 0x0104, is_extended: true };
        let expected = [0x85, 0x09, 0x0e, 0, 0, 0, 1, 0, 0x04, 0, 0x01, 0, 0, 0, 0x2f, 0];
        assert_eq!(command_block(read_log, SG_DXFER_FROM_DEV), expected);
        let erase = AtaCommand { command: 0xf4, count: 1, ..AtaCommand::default() };
        assert_eq!(
            command_block(erase, SG_DXFER_TO_DEV),
            [0x85, 0x0a, 0x06, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xf4, 0]
        );
        let prepare = AtaCommand { command: 0xf3, ..AtaCommand::default() };
        assert_eq!(command_block(prepare, SG_DXFER_NONE)[1..3], [0x06, 0]);
    }

    #[test]
    fn only_a_command_that_was_not_begun_counts_as_refused() {
        for refused in [0x1, 0x2, 0x4002, 0x6002, 0x10a, 0x15] {
            assert!(is_nvme_refusal(refused), "{refused:#x}");
        }
        // Data transfer, internal error, aborted, sanitize failed and under way, format under way, path, by the host.
        for broken in [u32::MAX, 0, 0x4, 0x6, 0x7, 0x1c, 0x1d, 0x84, 0x300, 0x371, 0x4006] {
            assert!(!is_nvme_refusal(broken), "{broken:#x}");
        }
        assert!(is_refusal(&Refused("no".into()).into()));
        assert!(is_refusal(&io::Error::from_raw_os_error(libc::EACCES)));
        for number in [libc::EINTR, libc::EIO, libc::ETIMEDOUT, libc::ENODEV] {
            assert!(!is_refusal(&io::Error::from_raw_os_error(number)));
        }
        assert!(!is_refusal(&io::Error::other("no")));
    }

    #[test]
    fn an_ata_refusal_is_an_abort_by_a_drive_in_order() {
        let described = |key: u8, error: u8, status: u8| {
            let mut sense = [0u8; SENSE_BYTES];
            (sense[0], sense[1], sense[7], sense[8], sense[9]) = (0x72, key, 14, 9, 12);
            (sense[11], sense[21]) = (error, status);
            is_ata_refusal(&sense)
        };
        assert!(described(0x0b, 0x04, 0x51));
        for (error, status) in [(0x84, 0x51), (0x04, 0x50), (0x04, 0x71), (0x04, 0xd1), (0x40, 0x51), (0, 0)]
        {
            assert!(!described(0x0b, error, status), "{error:#x} {status:#x}");
        }
        let fixed = |key: u8, error: u8, status: u8| {
            let mut sense = [0u8; SENSE_BYTES];
            (sense[0], sense[2], sense[3], sense[4]) = (0x70, key, error, status);
            is_ata_refusal(&sense)
        };
        assert!(fixed(0x0b, 0x04, 0x51) && fixed(5, 0, 0));
        assert!(!fixed(0x0b, 0, 0) && !fixed(0x0b, 0x84, 0x51));
        assert!(!is_ata_refusal(&[0; SENSE_BYTES]));
    }

    #[test]
    fn what_is_no_such_drive_refuses() {
        let file = std::fs::File::open("/dev/null").expect("there is one on every system");
        let file = std::os::fd::AsFd::as_fd(&file);
        assert!(nvme_namespace(file).is_err());
        assert!(nvme_ask(file, 2, 1, [0; 6], &mut [0; 512]).is_err());
        let command = AtaCommand { command: 0xec, count: 1, ..AtaCommand::default() };
        assert!(ata(file, command, AtaData::In(&mut [0; ATA_BLOCK]), None).is_err());
    }
}
