//! What sysfs tells of a drive: who made it, how it is connected, how the kernel treats it.

use super::sysfs::{BlockDevice, attribute, unpadded};
use model::target::Link;
use model::units::{Bytes, KIB};
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveFacts {
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    pub rotational: Option<bool>,
    pub link: Option<Link>,
    pub scheduler: Option<String>,
    pub read_ahead: Option<Bytes>,
    pub write_cache: Option<bool>,
    pub discard_max: Option<Bytes>,
    pub zoned: Option<String>,
    pub pci_address: Option<String>,
    pub is_virtual: bool,
}

pub fn drive_facts(disk: &BlockDevice) -> DriveFacts {
    let identify = identify(disk);
    let model = identify.model.or_else(|| model(disk));
    let link = link(disk);
    DriveFacts {
        is_virtual: is_virtual(model.as_deref(), link.as_ref()),
        model,
        serial: identify.serial.or_else(|| serial(disk)),
        firmware: identify.firmware.or_else(|| disk.first_attribute(&FIRMWARE)),
        rotational: disk.number_attribute("queue/rotational").map(|value| value != 0),
        link,
        scheduler: scheduler(disk),
        read_ahead: read_ahead(disk),
        write_cache: disk.attribute("queue/write_cache").map(|text| text == "write back"),
        discard_max: disk.number_attribute("queue/discard_max_bytes").map(Bytes::new),
        zoned: disk.attribute("queue/zoned"),
        pci_address: pci_directory(&disk.directory).map(file_name),
    }
}

const FIRMWARE: [&str; 3] = ["device/firmware_rev", "device/rev", "device/fwrev"];

fn identify(disk: &BlockDevice) -> Identify {
    let page = fs::read(disk.directory.join("device/vpd_pg89")).unwrap_or_default();
    decode_identify(&page).unwrap_or_default()
}

fn read_ahead(disk: &BlockDevice) -> Option<Bytes> {
    Bytes::new(KIB).checked_mul(disk.number_attribute("queue/read_ahead_kb")?)
}

fn scheduler(disk: &BlockDevice) -> Option<String> {
    scheduler_in_force(&disk.attribute("queue/scheduler")?)
}

pub fn scheduler_in_force(text: &str) -> Option<String> {
    match text.split_once('[') {
        Some((_, rest)) => unpadded(rest.split(']').next()?),
        None => unpadded(text),
    }
}

fn model(disk: &BlockDevice) -> Option<String> {
    let model = disk.first_attribute(&["device/model", "device/name"])?;
    match disk.attribute("device/vendor") {
        // ATA drives behind SCSI all say ATA; a vendor of virtio is a number.
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => Some(format!("{vendor} {model}")),
        _ => Some(model),
    }
}

fn serial(disk: &BlockDevice) -> Option<String> {
    if let Some(serial) = disk.first_attribute(&["device/serial", "serial"]) {
        return Some(serial);
    }
    let page = fs::read(disk.directory.join("device/vpd_pg80")).unwrap_or_default();
    if let Some(serial) = decode_unit_serial_number(&page) {
        return Some(serial);
    }
    usb_attribute(disk, "serial").or_else(|| disk.first_attribute(&["device/wwid", "wwid"]))
}

/// The unit serial number page of SCSI: SPC-4, 7.8.15. Two bytes of length at 2, the number from 4.
pub fn decode_unit_serial_number(page: &[u8]) -> Option<String> {
    let (&[_, 0x80, high, low], rest) = page.split_first_chunk()? else { return None };
    let length = usize::from(u16::from_be_bytes([high, low])).min(rest.len());
    unpadded(&String::from_utf8_lossy(&rest[..length]))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identify {
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
}

/// The IDENTIFY DEVICE data in the ATA information page of SCSI (SAT-4, 12.4.2, byte 60), with the whole model.
pub fn decode_identify(page: &[u8]) -> Option<Identify> {
    if page.get(1) != Some(&0x89) {
        return None;
    }
    let words = page.get(60..60 + 512)?;
    Some(Identify {
        model: text_of_words(words, 27, 46),
        serial: text_of_words(words, 10, 19),
        firmware: text_of_words(words, 23, 26),
    })
}

fn text_of_words(words: &[u8], first: usize, last: usize) -> Option<String> {
    let mut letters = Vec::new();
    for word in words[first * 2..(last + 1) * 2].chunks_exact(2) {
        letters.extend([word[1], word[0]]);
    }
    unpadded(&String::from_utf8_lossy(&letters))
}

pub fn link(disk: &BlockDevice) -> Option<Link> {
    if disk.name.starts_with("nvme") {
        return nvme_link(disk).or(plain("NVMe"));
    }
    if usb_directory(disk).is_some() {
        return usb_link_of(disk).or(plain("USB"));
    }
    let folders: Vec<_> = disk.directory.iter().map(|part| part.to_string_lossy()).collect();
    let lies_in = |prefix: &str| folders.iter().any(|name| number_after(name, prefix).is_some());
    if lies_in("ata") {
        sata_link_of(disk).or(plain("ATA"))
    } else if lies_in("virtio") && lies_in("host") {
        plain("virtio SCSI")
    } else if lies_in("virtio") {
        plain("virtio")
    } else if folders.iter().any(|name| name.starts_with("end_device-")) {
        plain("SAS")
    } else if lies_in("mmc") {
        plain("MMC or SD")
    } else if disk.name.starts_with("xvd") {
        plain("Xen")
    } else if lies_in("host") {
        plain("SCSI")
    } else if number_after(&disk.name, "loop").is_some() {
        plain("loop")
    } else if number_after(&disk.name, "zram").is_some() {
        plain("zram")
    } else if number_after(&disk.name, "ram").is_some() {
        plain("memory")
    } else {
        None
    }
}

fn plain(name: &str) -> Option<Link> {
    Some(Link { name: name.to_owned(), bytes_per_second_max: None })
}

fn number_after<'name>(name: &'name str, prefix: &str) -> Option<&'name str> {
    let number = name.strip_prefix(prefix)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Some(number) } else { None }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sata_link_of(disk: &BlockDevice) -> Option<Link> {
    for port in disk.directory.ancestors() {
        if let Some(number) = number_after(&file_name(port), "ata") {
            let speed = format!("link{number}/ata_link/link{number}/sata_spd");
            return sata_link(&attribute(&port.join(speed))?);
        }
    }
    None
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

fn usb_attribute(disk: &BlockDevice, file: &str) -> Option<String> {
    attribute(&usb_directory(disk)?.join(file))
}

fn usb_link_of(disk: &BlockDevice) -> Option<Link> {
    usb_link(&usb_attribute(disk, "speed")?)
}

fn nvme_link(disk: &BlockDevice) -> Option<Link> {
    // The folder may be the virtual one of a multipath head: then the controller leads to the bus.
    let controller = disk.directory.join("device").canonicalize().ok()?;
    let directory = pci_directory(&controller).or(pci_directory(&disk.directory))?;
    let speed = attribute(&directory.join("current_link_speed"))?;
    let lanes = attribute(&directory.join("current_link_width"))?;
    pcie_link(&speed, &lanes)
}

/// From `16.0 GT/s PCIe` and `4`. PCIe 1 and 2 carry 8 bits as 10, 3 to 5 128 as 130, 6 242 bytes as 256.
pub fn pcie_link(speed: &str, lanes: &str) -> Option<Link> {
    let gigatransfers: f64 = speed.split(' ').next()?.parse().ok()?;
    let lanes: NonZeroU32 = lanes.parse().ok()?;
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
        name: format!("PCIe {generation} x{lanes}"),
        bytes_per_second_max: Some(gigatransfers * 1e9 / 8.0 * share * f64::from(lanes.get())),
    })
}

/// The innermost folder on the way that is named like a PCI function: `0000:00:1f.2`.
fn pci_directory(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|path| is_pci_address(&file_name(path)))
}

fn is_pci_address(name: &str) -> bool {
    let [domain, bus, rest] = name.split(':').collect::<Vec<_>>()[..] else { return false };
    let Some((device, function)) = rest.split_once('.') else { return false };
    for (digits, length) in [(domain, 4), (bus, 2), (device, 2), (function, 1)] {
        if digits.len() < length || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
    }
    true
}

/// By the names that the makers of virtual machines give their disks.
fn is_virtual(model: Option<&str>, link: Option<&Link>) -> bool {
    const MODELS: &str = "QEMU|VBOX|VMware|Virtual Disk|Virtual HD|Virtual disk|Google|Amazon Elastic|XENSRC";
    if let Some(link) = link
        && (link.name.starts_with("virtio") || link.name == "Xen")
    {
        return true;
    }
    let model = model.unwrap_or_default();
    MODELS.split('|').any(|name| model.contains(name))
}
