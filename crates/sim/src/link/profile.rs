//! The section `[link]` of a profile: a link by name, or by its numbers.
//!
//! Rates after line coding are those of the standards: 8b/10b for SATA, SAS, USB 5 Gbit/s and PCIe 1 and 2, 128b/132b
//! for USB 10 Gbit/s, 128b/130b for PCIe 3 to 5. What of them is data, and what a command costs, follows from the
//! frames where that can be computed and from measurements where it cannot; each kind below says which.

use crate::flaw::Flaw;
use model::request::Operation;
use model::target::Link;
use model::units::KIB;
use serde::{Deserialize, Serialize};

/// A link as a profile describes it: `kind` gives all numbers, and each can be given instead. Without `kind` the rate
/// is needed, and the rest is a link that costs nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkProfile {
    /// A link whose numbers are known: `usb-2-bot`, `usb-3-bot`, `usb-3-uas`, `usb-3.2-uas`, `sata-1.5`, `sata-3`,
    /// `sata-6`, `sas-12`, `nvme`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<LinkKind>,
    /// For `nvme`: the generation of PCIe, 1 to 5. Default: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie_generation: Option<u32>,
    /// For `nvme`: how many lanes it has: 1, 2, 4, 8 or 16. Default: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie_lanes: Option<u32>,
    /// For SATA: whether several commands may be under way (NCQ). Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_command_queueing: Option<bool>,
    /// What the drive says how it is connected, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the lines carry after their coding, frames and all, in 10⁶ bytes per second: what the drive says of its
    /// link. Default: `rate_mb_per_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_rate_mb_per_s: Option<f64>,
    /// How fast data crosses, in 10⁶ bytes per second, the command's own cost left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_mb_per_s: Option<f64>,
    /// The same for writes. Default: `rate_mb_per_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_rate_mb_per_s: Option<f64>,
    /// How long each command occupies the link beside its data, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_overhead_us: Option<f64>,
    /// What each command takes longer besides, while the link is free for others, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_latency_us: Option<f64>,
    /// How many commands may be under way; further requests wait at the host, in their order. 1 to 65535.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth_max: Option<u32>,
    /// Whether data can cross both ways at once: `half` or `full`. Default: `half`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Duplex>,
    /// What one command can move, in KiB; a larger request becomes several commands. 4 to 4194303.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_kib_max: Option<u32>,
}

/// Links whose numbers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// USB 2.0 at 480 Mbit/s, bulk-only transport: one command at a time, 240 sectors each (Linux, usb-storage).
    /// 10 of at most 13 bulk packets of 512 bytes in each microframe of 125 µs are 40.96 MB/s. With 0.594 ms for each
    /// command and its status that is the 33386 KiB/s that bonnie++ read from a disk by USB 2.0. Its 20599 KiB/s of
    /// writing are 24 MB/s across the bridge.
    #[serde(rename = "usb-2-bot")]
    Usb2BulkOnly,
    /// USB at 5 Gbit/s, bulk-only transport: one command at a time, 1 MiB each. 88 % of 500 MB/s are data. What a
    /// command costs is assumed: 60 µs.
    #[serde(rename = "usb-3-bot")]
    Usb3BulkOnly,
    /// USB at 5 Gbit/s, attached SCSI: 31 commands. What a command costs is assumed: 10 µs of the link, 15 µs besides.
    #[serde(rename = "usb-3-uas")]
    Usb3AttachedScsi,
    /// USB at 10 Gbit/s (128b/132b), attached SCSI, else as at 5 Gbit/s.
    #[serde(rename = "usb-3.2-uas")]
    Usb32AttachedScsi,
    /// SATA at 1.5 Gbit/s. 93.5 % of a rate are data: frames of 8192 bytes and their handshakes, as the 560 MB/s that
    /// drives at 6 Gbit/s are sold with. A command costs 2.7 µs: with 4 KiB that is the 100,000 IOPS they are sold with.
    #[serde(rename = "sata-1.5")]
    Sata150,
    /// SATA at 3 Gbit/s.
    #[serde(rename = "sata-3")]
    Sata300,
    /// SATA at 6 Gbit/s.
    #[serde(rename = "sata-6")]
    Sata600,
    /// SAS at 12 Gbit/s: frames of 1024 bytes of data and 40 others. What a command costs is assumed: 2 µs.
    #[serde(rename = "sas-12")]
    Sas12,
    /// NVMe over PCIe: packets of 256 bytes of data and 24 others. A command moves 64 + 16 bytes and rings two bells,
    /// 0.1 µs of the link; fetching it and interrupting the host are assumed to take 4 µs.
    #[serde(rename = "nvme")]
    Nvme,
}

/// Whether data can cross both ways at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplex {
    /// One way at a time.
    Half,
    /// Both.
    Full,
}

/// A link in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkNumbers {
    /// How the drive says it is connected, and the rate after line coding.
    pub link: Link,
    /// How fast data comes to the host, in bytes per second.
    pub read_bytes_per_second: f64,
    /// How fast data gets to the drive, in bytes per second.
    pub write_bytes_per_second: f64,
    /// How long each command occupies the link beside its data, in seconds.
    pub command_overhead_s: f64,
    /// What each command takes longer besides, in seconds.
    pub command_latency_s: f64,
    /// How many commands may be under way.
    pub queue_depth_max: u32,
    /// Whether data can cross both ways at once.
    pub duplex: Duplex,
    /// What one command can move, in bytes.
    pub transfer_bytes_max: u32,
}

/// What SATA carries as data of what its lines carry: see [`LinkKind::Sata150`].
const SATA_DATA_SHARE: f64 = 0.935;
/// The same for USB 3: packets of 1024 bytes with header, link commands and turnarounds; about 440 of 500 MB/s.
const USB_3_DATA_SHARE: f64 = 0.88;
/// The same for SAS.
const SAS_DATA_SHARE: f64 = 1024.0 / 1064.0;
/// The same for PCIe with the usual payload of 256 bytes: 4 of framing, 16 of header and 4 of checksum besides.
const PCIE_DATA_SHARE: f64 = 256.0 / 280.0;
/// The rates that a profile can have, in 10⁶ bytes per second: below USB 1.1, and above any link.
const RATE_MIN: f64 = 0.1;
const RATE_MAX: f64 = 1e6;
/// The longest that a command can take on a link: a second.
const COMMAND_US_MAX: f64 = 1e6;

impl LinkKind {
    fn numbers(self, profile: &LinkProfile) -> LinkNumbers {
        let usb_3 = |gigabits: f64, coded: f64| LinkNumbers {
            command_overhead_s: 10e-6,
            command_latency_s: 15e-6,
            duplex: Duplex::Full,
            ..of_lines(format!("USB {gigabits} Gbit/s"), coded, USB_3_DATA_SHARE, 31, 1024)
        };
        match self {
            LinkKind::Usb2BulkOnly => LinkNumbers {
                write_bytes_per_second: 24e6,
                command_overhead_s: 594e-6,
                ..of_lines("USB 480 Mbit/s".into(), 60e6, 40.96 / 60.0, 1, 120)
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
}

/// Half duplex, no cost of commands.
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

/// A command can move 65,536 sectors (ATA, 48-bit commands). Fetching it and interrupting the host are assumed to
/// take 5 µs.
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
        ..of_lines(format!("PCIe {generation}.0 × {lanes}"), coded, PCIE_DATA_SHARE, 65_535, 2048)
    }
}

impl LinkProfile {
    /// A link of that kind, all else as is usual for it.
    pub fn of(kind: LinkKind) -> LinkProfile {
        LinkProfile { kind: Some(kind), ..LinkProfile::default() }
    }

    /// The link in numbers.
    ///
    /// # Errors
    /// When a number is missing, out of its range, or given for a kind of link that has none.
    pub fn numbers(&self) -> Result<LinkNumbers, Flaw> {
        self.check_kind()?;
        self.check_ranges()?;
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
        let replace = |number: &mut f64, given: Option<f64>, factor: f64| {
            *number = given.map_or(*number, |given| given * factor);
        };
        replace(&mut numbers.write_bytes_per_second, self.write_rate_mb_per_s, 1e6);
        replace(&mut numbers.command_overhead_s, self.command_overhead_us, 1e-6);
        replace(&mut numbers.command_latency_s, self.command_latency_us, 1e-6);
        numbers.link.bytes_per_second_max =
            self.line_rate_mb_per_s.map(|rate| rate * 1e6).or(numbers.link.bytes_per_second_max);
        numbers.queue_depth_max = self.queue_depth_max.unwrap_or(numbers.queue_depth_max);
        numbers.duplex = self.duplex.unwrap_or(numbers.duplex);
        numbers.transfer_bytes_max =
            self.transfer_kib_max.map_or(numbers.transfer_bytes_max, |kib| kib * KIB as u32);
    }

    /// Whether such a link can be.
    ///
    /// # Errors
    /// When a number is missing, out of its range, or given for a kind of link that has none.
    pub fn check(&self) -> Result<(), Flaw> {
        self.numbers().map(drop)
    }

    fn check_kind(&self) -> Result<(), Flaw> {
        let is_nvme = self.kind == Some(LinkKind::Nvme);
        let is_sata = matches!(self.kind, Some(LinkKind::Sata150 | LinkKind::Sata300 | LinkKind::Sata600));
        let of_other_kinds = [
            ("pcie_generation", self.pcie_generation.is_some() && !is_nvme, "only `kind = \"nvme\"` has one"),
            ("pcie_lanes", self.pcie_lanes.is_some() && !is_nvme, "only `kind = \"nvme\"` has some"),
            (
                "native_command_queueing",
                self.native_command_queueing.is_some() && !is_sata,
                "only SATA has it; elsewhere give `queue_depth_max`",
            ),
            (
                "pcie_generation",
                self.pcie_generation.is_some_and(|generation| !(1..=5).contains(&generation)),
                "it is not 1 to 5",
            ),
            (
                "pcie_lanes",
                self.pcie_lanes.is_some_and(|lanes| ![1, 2, 4, 8, 16].contains(&lanes)),
                "there are 1, 2, 4, 8 or 16",
            ),
        ];
        match of_other_kinds.into_iter().find(|(_, wrong, _)| *wrong) {
            Some((key, _, reason)) => Err(Flaw::new(key, reason)),
            None => Ok(()),
        }
    }

    fn check_ranges(&self) -> Result<(), Flaw> {
        let rates = [
            ("line_rate_mb_per_s", self.line_rate_mb_per_s),
            ("rate_mb_per_s", self.rate_mb_per_s),
            ("write_rate_mb_per_s", self.write_rate_mb_per_s),
        ];
        for (key, rate) in rates {
            if rate.is_some_and(|rate| !(RATE_MIN..=RATE_MAX).contains(&rate)) {
                return Err(Flaw::new(key, format!("it is not between {RATE_MIN} and {RATE_MAX}")));
            }
        }
        let times = [
            ("command_overhead_us", self.command_overhead_us),
            ("command_latency_us", self.command_latency_us),
        ];
        for (key, time) in times {
            if time.is_some_and(|time| !(0.0..=COMMAND_US_MAX).contains(&time)) {
                return Err(Flaw::new(key, format!("it is not between 0 and {COMMAND_US_MAX}")));
            }
        }
        if self.queue_depth_max.is_some_and(|depth| !(1..=65_535).contains(&depth)) {
            return Err(Flaw::new("queue_depth_max", "it is not between 1 and 65535"));
        }
        if self.transfer_kib_max.is_some_and(|kib| !(4..=4_194_303).contains(&kib)) {
            return Err(Flaw::new("transfer_kib_max", "it is not between 4 and 4194303"));
        }
        Ok(())
    }
}

impl LinkNumbers {
    /// How long the link is busy with one request of `length_bytes`, in seconds.
    pub fn occupied_s(&self, operation: Operation, length_bytes: u32) -> f64 {
        let rate = match operation {
            Operation::Read => self.read_bytes_per_second,
            Operation::Write => self.write_bytes_per_second,
            Operation::Flush | Operation::Discard => return self.command_overhead_s,
        };
        self.commands(length_bytes) * self.command_overhead_s + f64::from(length_bytes) / rate
    }

    /// How many bytes per second requests of `length_bytes` can move when `depth` of them are always under way, by
    /// the link alone: the drive under it answers at once.
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
