//! The table of a volume of the device mapper, asked of the kernel (`linux/dm-ioctl.h`).
#![allow(unsafe_code, reason = "ioctl has no safe form")]

use super::system_call::{AlignedBuffer, ioctl};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

const DM_TABLE_STATUS: libc::c_ulong = 0xc138_fd0c;
/// The table is wanted, and not what became of it.
const DM_STATUS_TABLE_FLAG: u32 = 1 << 4;
const DM_BUFFER_FULL_FLAG: u32 = 1 << 8;
const MAPPER_ANSWER: usize = 256 << 10;
const HEAD: usize = size_of::<MapperHead>();
/// `struct dm_target_spec`: start and length in sectors, status, distance to the next, the kind in 16 bytes.
const SPEC: usize = 40;

#[repr(C)]
struct MapperHead {
    version: [u32; 3],
    data_size: u32,
    data_start: u32,
    target_count: u32,
    open_count: i32,
    flags: u32,
    event_number: u32,
    padding: u32,
    device: u64,
    name: [u8; 128],
    uuid: [u8; 129],
    data: [u8; 7],
}

const _: () = assert!(size_of::<MapperHead>() == 312);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableLine {
    /// Where it begins in the volume, in sectors.
    pub start: u64,
    pub sectors: u64,
    pub kind: String,
    pub parameters: String,
}

pub(super) fn mapped_table(control: &OwnedFd, name: &str) -> io::Result<Vec<TableLine>> {
    let mut buffer = AlignedBuffer::new(MAPPER_ANSWER);
    let mut head = MapperHead {
        version: [4, 0, 0],
        data_size: MAPPER_ANSWER as u32,
        data_start: HEAD as u32,
        target_count: 0,
        open_count: 0,
        flags: DM_STATUS_TABLE_FLAG,
        event_number: 0,
        padding: 0,
        device: 0,
        name: [0; 128],
        uuid: [0; 129],
        data: [0; 7],
    };
    if name.len() >= head.name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    head.name[..name.len()].copy_from_slice(name.as_bytes());
    assert!(
        buffer.len() >= HEAD && head.data_size as usize <= buffer.len(),
        "the kernel stays in the buffer"
    );
    // SAFETY: the buffer is larger than the head and aligned to a page; the kernel reads and writes no more than `data_size`
    // bytes of it, which is its length.
    let head = unsafe {
        let start = buffer.as_mut_ptr().cast::<MapperHead>();
        start.write(head);
        ioctl(control.as_fd(), DM_TABLE_STATUS, start)?;
        start.read()
    };
    if head.flags & DM_BUFFER_FULL_FLAG != 0 {
        return Err(io::Error::other("it has too many parts"));
    }
    let (mut table, mut at) = (Vec::new(), head.data_start as usize);
    for _ in 0..head.target_count {
        let spec = buffer.get(at..at + SPEC).ok_or(io::ErrorKind::InvalidData)?;
        let parameters = buffer.get(at + SPEC..).ok_or(io::ErrorKind::InvalidData)?;
        table.push(TableLine {
            start: number(spec, 0),
            sectors: number(spec, 8),
            kind: text(&spec[24..]),
            parameters: text(parameters),
        });
        let next = u32::from_ne_bytes(spec[20..24].try_into().expect("four bytes"));
        at = head.data_start as usize + next as usize;
    }
    Ok(table)
}

fn number(spec: &[u8], from: usize) -> u64 {
    u64::from_ne_bytes(spec[from..from + 8].try_into().expect("eight bytes"))
}

fn text(bytes: &[u8]) -> String {
    let before_zero = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(before_zero).into_owned()
}
