//! The section `[link]` of a profile: a link by name, or by its numbers.
//!
//! Rates after line coding are those of the standards: 8b/10b for SATA, SAS, USB 5 Gbit/s and PCIe 1 and 2, 128b/132b
//! for USB 10 Gbit/s, 128b/130b for PCIe 3 to 5. What of them is data, and what a command costs, follows from the
//! frames where that can be computed and from measurements where it cannot; each kind below says which.

use crate::flaw::Flaw;
use crate::profile::schema::{section, words};
use model::request::Operation;
use model::target::Link;
use model::units::KIB;

section! {
    #[derive(Default)]
    LinkProfile at "[link]" = "The link to the host. `kind` sets all values; each can be overridden. Without `kind`, `rate_mb_per_s` is required and the link has no other cost." {
        kind: Option<LinkKind> = None => "Kind of link; sets all other values.";
        pcie_generation: Option<u32> = None, in 1..=5 => "For `nvme`: PCIe generation. Default: 3.";
        pcie_lanes: Option<u32> = None => "For `nvme`: 1, 2, 4, 8 or 16 lanes. Default: 4.";
        native_command_queueing: Option<bool> = None => "For SATA: NCQ. Default: true.";
        name: Option<String> = None => "Reported name of the link.";
        line_rate_mb_per_s: Option<f64> = None, in 0.1..=1e6 => "Reported link rate: after line coding, including frames. Default: `rate_mb_per_s`.";
        rate_mb_per_s: Option<f64> = None, in 0.1..=1e6 => "Data throughput without command overhead.";
        write_rate_mb_per_s: Option<f64> = None, in 0.1..=1e6 => "The same for writes. Default: `rate_mb_per_s`.";
        command_overhead_us: Option<f64> = None, in 0..=1e6 => "Time that a command occupies the link, besides its data.";
        command_latency_us: Option<f64> = None, in 0..=1e6 => "Additional latency of a command that does not occupy the link.";
        queue_depth_max: Option<u32> = None, in 1..=65_535 => "Maximum commands in flight; more requests wait at the host in order.";
        duplex: Option<Duplex> = None => "Duplex mode. Default: `half`.";
        transfer_kib_max: Option<u32> = None, in 4..=4_194_303 => "Maximum transfer per command; larger requests are split.";
    }
}

words! {
    LinkKind = "Kinds of links with known values." {
        Usb2BulkOnly = "usb-2-bot" => "USB 2.0 at 480 Mbit/s, bulk-only transport: QD 1, 240 sectors per command (Linux, usb-storage). 10 of at most 13 bulk packets of 512 bytes per microframe of 125 µs give 40.96 MB/s. 0.594 ms per command reproduces the 33386 KiB/s that bonnie++ read from a disk behind USB 2.0. Its 20599 KiB/s of writes give 24 MB/s across the bridge.";
        Usb3BulkOnly = "usb-3-bot" => "USB at 5 Gbit/s, bulk-only transport: QD 1, 1 MiB per command. 88 % of 500 MB/s are data. Assumed overhead: 60 µs per command.";
        Usb3AttachedScsi = "usb-3-uas" => "USB at 5 Gbit/s, attached SCSI: QD 31. Assumed overhead per command: 10 µs on the link, 15 µs latency.";
        Usb32AttachedScsi = "usb-3.2-uas" => "USB at 10 Gbit/s (128b/132b), attached SCSI, otherwise as at 5 Gbit/s.";
        Sata150 = "sata-1.5" => "SATA at 1.5 Gbit/s. 93.5 % of the line rate are data (frames of 8192 bytes and handshakes), from the 560 MB/s of 6 Gbit/s data sheets. Overhead per command: 2.7 µs, from their 100,000 IOPS at 4 KiB.";
        Sata300 = "sata-3" => "SATA at 3 Gbit/s.";
        Sata600 = "sata-6" => "SATA at 6 Gbit/s.";
        Sas12 = "sas-12" => "SAS at 12 Gbit/s: frames of 1024 bytes of data and 40 of overhead. Assumed overhead: 2 µs per command.";
        Nvme = "nvme" => "NVMe over PCIe: packets of 256 bytes of data and 24 of overhead. A command takes 0.1 µs of the link (64 + 16 bytes, two doorbells). Assumed latency of fetch and interrupt: 4 µs.";
    }
}

words! {
    Duplex = "Duplex mode." {
        Half = "half" => "One direction only at any time.";
        Full = "full" => "Both directions concurrently.";
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinkNumbers {
    /// What the drive reports, with the rate after line coding.
    pub link: Link,
    pub read_bytes_per_second: f64,
    pub write_bytes_per_second: f64,
    /// How long each command occupies the link beside its data.
    pub command_overhead_s: f64,
    pub command_latency_s: f64,
    pub queue_depth_max: u32,
    pub duplex: Duplex,
    pub transfer_bytes_max: u32,
}

/// What SATA carries as data of what its lines carry: see [`LinkKind::Sata150`].
const SATA_DATA_SHARE: f64 = 0.935;
/// The same for USB 3: packets of 1024 bytes with header, link commands and turnarounds; about 440 of 500 MB/s.
const USB_3_DATA_SHARE: f64 = 0.88;
const SAS_DATA_SHARE: f64 = 1024.0 / 1064.0;
/// The same for PCIe with the usual payload of 256 bytes: 4 of framing, 16 of header and 4 of checksum besides.
const PCIE_DATA_SHARE: f64 = 256.0 / 280.0;
/// 13 bulk packets of 512 bytes in a microframe of 125 µs (USB 2.0 specification, table 5-10), in bytes a second.
const USB_2_BULK_MAX: f64 = 13.0 * 512.0 * 8000.0;

impl LinkKind {
    fn numbers(self, profile: &LinkProfile) -> LinkNumbers {
        match self {
            LinkKind::Usb2BulkOnly => LinkNumbers {
                write_bytes_per_second: 24e6,
                command_overhead_s: 594e-6,
                ..of_lines("USB 480 Mbit/s".into(), USB_2_BULK_MAX, 40.96e6 / USB_2_BULK_MAX, 1, 120)
            },
            LinkKind::Usb3BulkOnly => LinkNumbers {
                command_overhead_s: 60e-6,
                command_latency_s: 0.0,
                queue_depth_max: 1,
                ..usb_3(5.0, 500e6)
            },
            LinkKind::Usb3AttachedScsi => usb_3(5.0, 500e6),
            LinkKind::Usb32AttachedScsi => usb_3(10.0, 10e9 * 128.0 / 132.0 / 8.0),
            LinkKind::Sata150 => sata(1.5, profile),
            LinkKind::Sata300 => sata(3.0, profile),
            LinkKind::Sata600 => sata(6.0, profile),
            LinkKind::Sas12 => LinkNumbers {
                command_overhead_s: 2e-6,
                command_latency_s: 5e-6,
                duplex: Duplex::Full,
                ..of_lines("SAS 12.0 Gbit/s".into(), 1200e6, SAS_DATA_SHARE, 254, 32 * KIB as u32)
            },
            LinkKind::Nvme => nvme(profile),
        }
    }

    fn is_sata(self) -> bool {
        matches!(self, LinkKind::Sata150 | LinkKind::Sata300 | LinkKind::Sata600)
    }
}

fn usb_3(gigabits: f64, coded: f64) -> LinkNumbers {
    LinkNumbers {
        command_overhead_s: 10e-6,
        command_latency_s: 15e-6,
        duplex: Duplex::Full,
        ..of_lines(format!("USB {gigabits} Gbit/s"), coded, USB_3_DATA_SHARE, 31, 1024)
    }
}

fn of_lines(name: String, coded: f64, data_share: f64, depth: u32, transfer_kib: u32) -> LinkNumbers {
    LinkNumbers {
        link: Link { name, bytes_per_second_max: Some(coded) },
        read_bytes_per_second: coded * data_share,
        write_bytes_per_second: coded * data_share,
        command_overhead_s: 0.0,
        command_latency_s: 0.0,
        queue_depth_max: depth,
        duplex: Duplex::Half,
        transfer_bytes_max: transfer_kib * KIB as u32,
    }
}

/// A command can move 65,536 sectors (ATA, 48-bit commands). Fetching and interrupting take 5 µs (assumed).
fn sata(gigabits: f64, profile: &LinkProfile) -> LinkNumbers {
    let depth = if profile.native_command_queueing == Some(false) { 1 } else { 32 };
    LinkNumbers {
        command_overhead_s: 2.7e-6,
        command_latency_s: 5e-6,
        ..of_lines(
            format!("SATA {gigabits:.1} Gbit/s"),
            gigabits * 1e8,
            SATA_DATA_SHARE,
            depth,
            32 * KIB as u32,
        )
    }
}

fn nvme(profile: &LinkProfile) -> LinkNumbers {
    let generation = profile.pcie_generation.unwrap_or(3);
    let lanes = profile.pcie_lanes.unwrap_or(4);
    let (gigatransfers, coding) = match generation {
        1 => (2.5, 0.8),
        2 => (5.0, 0.8),
        3 => (8.0, 128.0 / 130.0),
        4 => (16.0, 128.0 / 130.0),
        _ => (32.0, 128.0 / 130.0),
    };
    let coded = gigatransfers * 1e9 / 8.0 * coding * f64::from(lanes);
    LinkNumbers {
        command_overhead_s: 0.1e-6,
        command_latency_s: 4e-6,
        duplex: Duplex::Full,
        ..of_lines(format!("PCIe {generation}.0 x{lanes}"), coded, PCIE_DATA_SHARE, 65_535, 2048)
    }
}

impl LinkProfile {
    pub fn of(kind: LinkKind) -> LinkProfile {
        LinkProfile { kind: Some(kind), ..LinkProfile::default() }
    }

    pub fn numbers(&self) -> Result<LinkNumbers, Flaw> {
        self.check_bounds()?;
        self.check_kind()?;
        let mut numbers = match (self.kind, self.rate_mb_per_s) {
            (Some(kind), _) => kind.numbers(self),
            (None, Some(rate)) => of_lines("link".into(), rate * 1e6, 1.0, 65_535, u32::MAX / KIB as u32),
            (None, None) => return Err(Flaw::new("rate_mb_per_s", "it is needed where no `kind` is given")),
        };
        self.replace_given(&mut numbers);
        Ok(numbers)
    }

    fn replace_given(&self, numbers: &mut LinkNumbers) {
        if let Some(name) = &self.name {
            numbers.link.name.clone_from(name);
        }
        if let Some(rate) = self.rate_mb_per_s {
            (numbers.read_bytes_per_second, numbers.write_bytes_per_second) = (rate * 1e6, rate * 1e6);
        }
        if let Some(rate) = self.write_rate_mb_per_s {
            numbers.write_bytes_per_second = rate * 1e6;
        }
        if let Some(overhead_us) = self.command_overhead_us {
            numbers.command_overhead_s = overhead_us * 1e-6;
        }
        if let Some(latency_us) = self.command_latency_us {
            numbers.command_latency_s = latency_us * 1e-6;
        }
        if let Some(rate) = self.line_rate_mb_per_s {
            numbers.link.bytes_per_second_max = Some(rate * 1e6);
        }
        numbers.queue_depth_max = self.queue_depth_max.unwrap_or(numbers.queue_depth_max);
        numbers.duplex = self.duplex.unwrap_or(numbers.duplex);
        if let Some(kib) = self.transfer_kib_max {
            numbers.transfer_bytes_max = kib * KIB as u32;
        }
    }

    fn check_kind(&self) -> Result<(), Flaw> {
        if self.kind != Some(LinkKind::Nvme) {
            Flaw::when(self.pcie_generation.is_some(), "pcie_generation", "only `kind = \"nvme\"` has one")?;
            Flaw::when(self.pcie_lanes.is_some(), "pcie_lanes", "only `kind = \"nvme\"` has some")?;
        }
        if self.native_command_queueing.is_some() && !self.kind.is_some_and(LinkKind::is_sata) {
            let reason = "only SATA has it; elsewhere give `queue_depth_max`";
            return Err(Flaw::new("native_command_queueing", reason));
        }
        if let Some(lanes) = self.pcie_lanes
            && ![1, 2, 4, 8, 16].contains(&lanes)
        {
            return Err(Flaw::new("pcie_lanes", "there are 1, 2, 4, 8 or 16"));
        }
        Ok(())
    }
}

impl LinkNumbers {
    /// How long the link is busy with one request of `length_bytes`, in seconds.
    pub fn occupied_s(&self, operation: Operation, length_bytes: u32) -> f64 {
        let rate = match operation {
            Operation::Read => self.read_bytes_per_second,
            Operation::Write | Operation::Commit => self.write_bytes_per_second,
            Operation::Flush | Operation::Discard => return self.command_overhead_s,
        };
        self.commands(length_bytes) * self.command_overhead_s + f64::from(length_bytes) / rate
    }

    /// How many bytes per second requests of `length_bytes` can move with `depth` under way, by the link alone.
    pub fn bytes_per_second(&self, operation: Operation, length_bytes: u32, depth: u32) -> f64 {
        let commands = self.commands(length_bytes);
        let at_once = (f64::from(depth) * commands).min(f64::from(self.queue_depth_max));
        let alone_s = self.occupied_s(operation, length_bytes) + commands * self.command_latency_s;
        let mut occupied_s = self.occupied_s(operation, length_bytes);
        if operation == Operation::Read && self.duplex == Duplex::Full {
            let overhead_s = commands * self.command_overhead_s;
            occupied_s = overhead_s.max(occupied_s - overhead_s);
        }
        f64::from(length_bytes) / occupied_s.max(alone_s / at_once)
    }

    fn commands(&self, length_bytes: u32) -> f64 {
        f64::from(length_bytes.div_ceil(self.transfer_bytes_max).max(1))
    }
}
