//! What a drive, its kernel and its first blocks tell: a drive may be broken, or made to deceive.

use io::targets::facts::{
    decode_identify, decode_unit_serial_number, pcie_link, sata_link, scheduler_in_force, usb_link,
};
use io::targets::identity::DeviceNumber;
use io::targets::mounts::parse_mountinfo;
use io::targets::signature::recognise;

/// Signatures are looked for in this much of the beginning and of the end.
const END_BYTES: usize = 4096;

/// The same bytes as an answer to each question.
pub fn everything_it_tells(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (decode_unit_serial_number(bytes), decode_identify(bytes));
    let _ = (DeviceNumber::parse(&text), scheduler_in_force(&text));
    let (first, second) = text.split_once('\n').unwrap_or((&text, ""));
    let _ = (sata_link(&text), usb_link(&text), pcie_link(first, second));
    let _ = (parse_mountinfo(bytes, None), parse_mountinfo(bytes, Some(1)));
    let tail = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    for beyond in [0, 1 << 40] {
        let _ = recognise(bytes, tail, bytes.len() as u64 + beyond);
    }
}

/// Answers to begin with: a line of mounts, an Identify page, a partition table, the beginning of a file system.
pub fn answers() -> Vec<Vec<u8>> {
    let mount = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n".to_vec();
    let mut identify = vec![0; 512];
    identify[20..40].copy_from_slice(b"    DW-WACZ012345678");
    let mut partitioned = vec![0; END_BYTES];
    partitioned[446..462].copy_from_slice(&[0x80, 1, 1, 0, 0x83, 254, 255, 255, 0, 8, 0, 0, 0, 0, 1, 0]);
    partitioned[510..512].copy_from_slice(&[0x55, 0xaa]);
    partitioned[512..520].copy_from_slice(b"EFI PART");
    let mut formatted = vec![0; END_BYTES];
    formatted[1080..1082].copy_from_slice(&[0x53, 0xef]);
    vec![
        mount,
        identify,
        partitioned,
        formatted,
        b"none [mq-deadline] kyber".to_vec(),
        b"8.0 GT/s PCIe\n4".to_vec(),
    ]
}
