//! What sysfs tells of a drive: who made it, how it is connected, how the kernel treats it.

use super::sysfs::{BlockDevice, attribute};
use model::target::Link;
use model::units::{Bytes, KIB};
use std::fs;
use std::path::Path;

/// What is known of one drive or volume; none for what is not told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveFacts {
    /// The model, with the vendor before it where that is told apart.
    pub model: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// The firmware revision.
    pub firmware: Option<String>,
    /// Whether it says that it turns.
    pub rotational: Option<bool>,
    /// How it is connected.
    pub link: Option<Link>,
    /// The request scheduler in force.
    pub scheduler: Option<String>,
    /// The kernel's read-ahead.
    pub read_ahead: Option<Bytes>,
    /// Whether its volatile write cache is on.
    pub write_cache: Option<bool>,
    /// The largest discard.
    pub discard_max: Option<Bytes>,
    /// The zoned model.
    pub zoned: Option<String>,
    /// The address of its controller on the PCI bus.
    pub pci_address: Option<String>,
    /// Whether a host lends it to this virtual machine.
    pub is_virtual: bool,
}

/// What the folder of a whole disk or volume tells.
pub fn drive_facts(disk: &BlockDevice) -> DriveFacts {
    let identify =
        fs::read(disk.directory.join("device/vpd_pg89")).ok().and_then(|page| decode_identify(&page));
    let identify = identify.unwrap_or_default();
    let model = identify.model.or_else(|| model(disk));
    let link = link(disk);
    DriveFacts {
        is_virtual: is_virtual(model.as_deref(), link.as_ref()),
        model,
        serial: identify.serial.or_else(|| serial(disk)),
        firmware: identify.firmware.or_else(|| {
            ["firmware_rev", "rev", "fwrev"].iter().find_map(|file| disk.attribute(&format!("device/{file}")))
        }),
        rotational: disk.number_attribute("queue/rotational").map(|value| value != 0),
        link,
        scheduler: disk.attribute("queue/scheduler").and_then(|text| scheduler_in_force(&text)),
        read_ahead: disk.number_attribute("queue/read_ahead_kb").and_then(|kib| Bytes(KIB).checked_mul(kib)),
        write_cache: disk.attribute("queue/write_cache").map(|text| text == "write back"),
        discard_max: disk.number_attribute("queue/discard_max_bytes").map(Bytes),
        zoned: disk.attribute("queue/zoned"),
        pci_address: pci_directory(disk)
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
    }
}

/// The scheduler in brackets: `[none] mq-deadline`. A single one has none.
pub fn scheduler_in_force(text: &str) -> Option<String> {
    let name = match text.split_once('[') {
        Some((_, rest)) => rest.split(']').next()?,
        None => text,
    };
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn model(disk: &BlockDevice) -> Option<String> {
    let model = disk.attribute("device/model").or_else(|| disk.attribute("device/name"))?;
    match disk.attribute("device/vendor") {
        // ATA drives behind SCSI all say ATA; a vendor of virtio is a number.
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => Some(format!("{vendor} {model}")),
        _ => Some(model),
    }
}

fn serial(disk: &BlockDevice) -> Option<String> {
    disk.attribute("device/serial")
        .or_else(|| disk.attribute("serial"))
        .or_else(|| decode_unit_serial_number(&fs::read(disk.directory.join("device/vpd_pg80")).ok()?))
        .or_else(|| attribute(&usb_directory(disk)?.join("serial")))
        .or_else(|| disk.attribute("device/wwid"))
        .or_else(|| disk.attribute("wwid"))
}

/// The unit serial number page of SCSI: SPC-4, 7.8.15. Two bytes of length at 2, the number from 4.
pub fn decode_unit_serial_number(page: &[u8]) -> Option<String> {
    if page.get(1) != Some(&0x80) {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let rest = page.get(4..)?;
    padded_text(&rest[..length.min(rest.len())])
}

/// What an ATA drive says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identify {
    /// Words 27 to 46.
    pub model: Option<String>,
    /// Words 10 to 19.
    pub serial: Option<String>,
    /// Words 23 to 26.
    pub firmware: Option<String>,
}

/// The IDENTIFY DEVICE data within the ATA information page of SCSI: SAT-4, 12.4.2, from byte 60. The model that
/// SCSI shows elsewhere is cut off after 16 letters.
pub fn decode_identify(page: &[u8]) -> Option<Identify> {
    if page.get(1) != Some(&0x89) {
        return None;
    }
    let words = page.get(60..60 + 512)?;
    let text = |first_word: usize, last_word: usize| {
        let bytes = &words[first_word * 2..(last_word + 1) * 2];
        // Each word holds two letters, the first of them in its upper half.
        let letters: Vec<u8> = bytes.chunks_exact(2).flat_map(|word| [word[1], word[0]]).collect();
        padded_text(&letters)
    };
    Some(Identify { model: text(27, 46), serial: text(10, 19), firmware: text(23, 26) })
}

fn padded_text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// How the drive is connected, by the folders it lies in: they follow the bus.
pub fn link(disk: &BlockDevice) -> Option<Link> {
    let plain = |name: &str| Some(Link { name: name.to_owned(), bytes_per_second_max: None });
    if disk.name.starts_with("nvme") {
        return nvme_link(disk).or_else(|| plain("NVMe"));
    }
    if let Some(directory) = usb_directory(disk) {
        return attribute(&directory.join("speed"))
            .and_then(|speed| usb_link(&speed))
            .or_else(|| plain("USB"));
    }
    let names: Vec<String> = disk.directory.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let within = |prefix: &str| names.iter().any(|name| has_number_after(name, prefix));
    let is_called = |prefix: &str| has_number_after(&disk.name, prefix);
    if within("ata") {
        return sata_speed(disk).and_then(|speed| sata_link(&speed)).or_else(|| plain("ATA"));
    }
    match () {
        () if within("virtio") && within("host") => plain("virtio SCSI"),
        () if within("virtio") => plain("virtio"),
        () if names.iter().any(|name| name.starts_with("end_device-")) => plain("SAS"),
        () if within("mmc") => plain("MMC or SD"),
        () if disk.name.starts_with("xvd") => plain("Xen"),
        () if within("host") => plain("SCSI"),
        () if is_called("loop") => plain("loop"),
        () if is_called("zram") => plain("zram"),
        () if is_called("ram") => plain("memory"),
        () => None,
    }
}

fn has_number_after(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn sata_speed(disk: &BlockDevice) -> Option<String> {
    let port = disk
        .directory
        .ancestors()
        .find(|path| path.file_name().is_some_and(|name| has_number_after(&name.to_string_lossy(), "ata")))?;
    let number = port.file_name()?.to_string_lossy().strip_prefix("ata")?.to_owned();
    attribute(&port.join(format!("link{number}/ata_link/link{number}/sata_spd")))
}

/// From `6.0 Gbps`. Eight bits travel as ten: Serial ATA 3.5, 9.2.
pub fn sata_link(speed: &str) -> Option<Link> {
    let gigabits: f64 = speed.strip_suffix(" Gbps")?.trim().parse().ok()?;
    Some(Link {
        name: format!("SATA {gigabits:.1} Gbit/s"),
        bytes_per_second_max: Some(gigabits * 1e9 * 0.8 / 8.0),
    })
}

/// From the file `speed` of a USB device, in Mbit/s. What is left of the raw rate: USB 1.1 at most 19 packets of
/// 64 bytes a frame, USB 2.0 at most 13 packets of 512 bytes a microframe (USB 2.0, tables 5-9 and 5-10);
/// USB 3.0 carries eight bits as ten, 3.1 and later 128 as 132.
pub fn usb_link(speed: &str) -> Option<Link> {
    let megabits: f64 = speed.parse().ok()?;
    let raw = megabits * 1e6 / 8.0;
    let bytes_per_second_max = match megabits {
        12.0 => Some(19.0 * 64.0 * 1000.0),
        480.0 => Some(13.0 * 512.0 * 8000.0),
        5000.0 => Some(raw * 0.8),
        megabits if megabits >= 10_000.0 => Some(raw * 128.0 / 132.0),
        _ => None,
    };
    let name = if megabits >= 1000.0 {
        format!("USB {} Gbit/s", megabits / 1000.0)
    } else {
        format!("USB {megabits} Mbit/s")
    };
    Some(Link { name, bytes_per_second_max })
}

fn usb_directory(disk: &BlockDevice) -> Option<&Path> {
    disk.directory.ancestors().find(|path| path.join("speed").exists() && path.join("idVendor").exists())
}

fn nvme_link(disk: &BlockDevice) -> Option<Link> {
    // The folder may be the virtual one of a multipath head: then the controller leads to the bus.
    let controller = disk.directory.join("device").canonicalize().ok()?;
    let directory = pci_directory_of(&controller).or_else(|| pci_directory(disk))?;
    let speed = attribute(&directory.join("current_link_speed"))?;
    let lanes = attribute(&directory.join("current_link_width"))?;
    pcie_link(&speed, &lanes)
}

/// From `16.0 GT/s PCIe` and `4`. Generations 1 and 2 carry eight bits as ten, 3 to 5 carry 128 as 130, 6 sends
/// 242 bytes of each 256 (PCI Express 6.0, 4.2).
pub fn pcie_link(speed: &str, lanes: &str) -> Option<Link> {
    let gigatransfers: f64 = speed.split(' ').next()?.parse().ok()?;
    let lanes: u32 = lanes.parse().ok().filter(|&lanes| lanes > 0)?;
    let (generation, share) = match gigatransfers {
        2.5 => ("1.0", 0.8),
        5.0 => ("2.0", 0.8),
        8.0 => ("3.0", 128.0 / 130.0),
        16.0 => ("4.0", 128.0 / 130.0),
        32.0 => ("5.0", 128.0 / 130.0),
        64.0 => ("6.0", 242.0 / 256.0),
        _ => return None,
    };
    Some(Link {
        name: format!("PCIe {generation} × {lanes}"),
        bytes_per_second_max: Some(gigatransfers * 1e9 / 8.0 * share * f64::from(lanes)),
    })
}

fn pci_directory(disk: &BlockDevice) -> Option<&Path> {
    pci_directory_of(&disk.directory)
}

/// The innermost folder on the way that is named like a PCI function: `0000:00:1f.2`.
fn pci_directory_of(directory: &Path) -> Option<&Path> {
    directory
        .ancestors()
        .find(|path| path.file_name().is_some_and(|name| is_pci_address(&name.to_string_lossy())))
}

fn is_pci_address(name: &str) -> bool {
    let is_hexadecimal =
        |text: &str, length: usize| text.len() >= length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut parts = name.split(':');
    let (Some(domain), Some(bus), Some(rest), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Some((device, function)) = rest.split_once('.') else { return false };
    is_hexadecimal(domain, 4)
        && is_hexadecimal(bus, 2)
        && is_hexadecimal(device, 2)
        && is_hexadecimal(function, 1)
}

/// By the names that the makers of virtual machines give their disks.
fn is_virtual(model: Option<&str>, link: Option<&Link>) -> bool {
    const MODELS: [&str; 9] = [
        "QEMU",
        "VBOX",
        "VMware",
        "Virtual Disk",
        "Virtual HD",
        "Virtual disk",
        "Google",
        "Amazon Elastic",
        "XENSRC",
    ];
    let by_model = model.is_some_and(|model| MODELS.iter().any(|name| model.contains(name)));
    by_model || link.is_some_and(|link| link.name.starts_with("virtio") || link.name == "Xen")
}
