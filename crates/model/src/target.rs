//! What is known of a target before it is measured. Strings come from the drive and are hostile wherever shown.

use crate::units::Bytes;
use crate::words;
use serde::{Deserialize, Serialize};

/// Facts about a target; what the system does not tell is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetFacts {
    pub kind: TargetKind,
    /// As it was typed, or found.
    pub path: String,
    #[serde(rename = "capacity_bytes")]
    pub capacity: Bytes,
    /// The smallest direct request, and the grid that offsets lie on.
    #[serde(rename = "logical_block_bytes")]
    pub logical_block: Bytes,
    /// What the drive handles at once.
    #[serde(rename = "physical_block_bytes")]
    pub physical_block: Bytes,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub firmware: Option<String>,
    /// Whether it says that it turns.
    pub rotational: Option<bool>,
    #[serde(flatten, with = "link_keys")]
    #[cfg_attr(feature = "schema", schemars(with = "link_keys::Keys"))]
    pub link: Option<Link>,
    pub scheduler: Option<String>,
    /// The kernel's read-ahead for buffered reads.
    #[serde(rename = "read_ahead_bytes")]
    pub read_ahead: Option<Bytes>,
    /// Whether the drive's volatile write cache is on.
    pub write_cache: Option<bool>,
    /// The largest range one discard may cover; none or zero where it does not discard.
    #[serde(rename = "discard_bytes_max")]
    pub discard_max: Option<Bytes>,
    /// The zoned model: `none`, `host-aware`, `host-managed`.
    pub zoned: Option<String>,
    /// What lies under it, from the target down to the drives: "file in ext4 on vda".
    #[serde(default)]
    pub stack: Vec<String>,
    /// How the kernel says that the layers below spread data over drives; none where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_layout: Option<StatedLayout>,
    /// What is known to make its answers come from somewhere else than a drive.
    #[serde(default, with = "caveat_keys")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<caveat_keys::Keys>"))]
    pub caveats: Vec<Caveat>,
}

impl TargetFacts {
    /// Whether what the target says of itself is not the drive's word.
    pub fn is_lent(&self) -> bool {
        let lent = [Caveat::InMemory, Caveat::LoopOverFile, Caveat::VirtualDisk, Caveat::Network];
        self.caveats.iter().any(|caveat| lent.contains(caveat))
    }

    /// A target of which nothing is known but this; its blocks are of 512 bytes, the smallest that there are.
    pub fn unidentified(kind: TargetKind, path: String, capacity: Bytes) -> TargetFacts {
        TargetFacts {
            kind,
            path,
            capacity,
            logical_block: Bytes::new(512),
            physical_block: Bytes::new(512),
            model: None,
            serial: None,
            firmware: None,
            rotational: None,
            link: None,
            scheduler: None,
            read_ahead: None,
            write_cache: None,
            discard_max: None,
            zoned: None,
            stack: Vec::new(),
            stated_layout: None,
            caveats: Vec::new(),
        }
    }
}

words! {
    pub enum TargetKind {
        /// A block device: drive, partition, volume, loop.
        Device = "device",
        File = "file",
        /// Folders, of which the file systems are measured; the capacity is that of these.
        Folder = "folder",
        Sim = "sim",
    }
}

words! {
    /// What the kernel states of an array, or of a single drive.
    pub enum StatedLayout {
        OneDrive = "one-drive",
        Stripe = "stripe",
        Mirror = "mirror",
        StripeOverMirrors = "stripe-over-mirrors",
        Concatenation = "concatenation",
    }
}

/// How a drive is connected, and how fast that can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// For people: "SATA 3.0 Gbit/s", "USB 480 Mbit/s", "PCIe 4.0 x4", "virtio".
    pub name: String,
    /// What it can carry after line coding, in bytes per second; none where that is not known.
    pub bytes_per_second_max: Option<f64>,
}

impl Link {
    pub fn is_sata(&self) -> bool {
        self.name.starts_with("SATA")
    }
}

words! {
    /// A reason why what is measured may not be a drive.
    pub enum Caveat {
        /// Direct I/O could not be had: the page cache may answer.
        NotDirect = "not-direct",
        /// Some of the data was in the page cache when the run began.
        InPageCache = "in-page-cache",
        /// The file has holes: reading them touches no drive.
        Sparse = "sparse",
        /// Space that was reserved but never written: reading it touches no drive.
        Unwritten = "unwritten",
        /// The data is compressible, and something below may compress it.
        Compressible = "compressible",
        /// The target is so small that a cache in the drive or its host may hold all of it.
        FitsInDriveCache = "fits-in-drive-cache",
        /// It lies in memory: tmpfs, ramfs, zram, brd.
        InMemory = "in-memory",
        /// A loop device over a file, and its own page cache may answer.
        LoopOverFile = "loop-over-file",
        /// A disk that a host lends to this virtual machine: the host's cache may answer.
        VirtualDisk = "virtual-disk",
        /// On a network file system: the network is measured too.
        Network = "network",
        /// On a file system that stacks, compresses or copies on write: offsets in the file say nothing of the drive.
        Remapped = "remapped",
        /// On a file system that a program serves: where it puts a place of the file, nothing tells.
        PlacesUntold = "places-untold",
        /// Flash that was trimmed or never written answers without reading a cell.
        Unmapped = "unmapped",
    }
}

impl Caveat {
    /// What it means, as a sentence for a person.
    pub fn statement(self) -> &'static str {
        match self {
            Caveat::NotDirect => "Direct I/O is not available, so the page cache may have served requests.",
            Caveat::InPageCache => "Part of the data was in the page cache when the run began.",
            Caveat::Sparse => "The file is sparse: reads of a hole touch no drive.",
            Caveat::Unwritten => {
                "Part of the file was preallocated but never written; reads there touch no drive."
            }
            Caveat::Compressible => {
                "The data are compressible: a compressing file system or drive looks faster than it is."
            }
            Caveat::FitsInDriveCache => {
                "The test range fits into a cache of the drive or host, so results may be those of the cache."
            }
            Caveat::InMemory => "The target is in memory: results say nothing about a drive.",
            Caveat::LoopOverFile => "Loop device: results include its backing file and the page cache.",
            Caveat::VirtualDisk => "Virtual disk: the host's cache may have served requests.",
            Caveat::Network => "Network file system: results include the network.",
            Caveat::Remapped => {
                "The file system moves or transforms data: file offsets are not drive offsets."
            }
            Caveat::PlacesUntold => "FUSE file system: file offsets may not be drive offsets.",
            Caveat::Unmapped => {
                "The blocks read appear never to have been written, or to have been trimmed: an SSD answers such reads without touching flash, so read results are optimistic."
            }
        }
    }
}

/// The keys of a link stand beside those of its target, and are null without one.
mod link_keys {
    use super::Link;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub(super) struct Keys {
        interface: Option<String>,
        interface_bytes_per_second_max: Option<f64>,
    }

    pub(super) fn serialize<S: Serializer>(link: &Option<Link>, serializer: S) -> Result<S::Ok, S::Error> {
        let (interface, interface_bytes_per_second_max) = match link {
            Some(link) => (Some(link.name.clone()), link.bytes_per_second_max),
            None => (None, None),
        };
        Keys { interface, interface_bytes_per_second_max }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Link>, D::Error> {
        let keys = Keys::deserialize(deserializer)?;
        let bytes_per_second_max = keys.interface_bytes_per_second_max;
        Ok(keys.interface.map(|name| Link { name, bytes_per_second_max }))
    }
}

/// Beside the word of a caveat stands what it means, which is not read back.
mod caveat_keys {
    use super::Caveat;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub(super) struct Keys {
        name: Caveat,
        #[serde(skip_deserializing)]
        statement: &'static str,
    }

    pub(super) fn serialize<S: Serializer>(caveats: &[Caveat], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(caveats.iter().map(|name| Keys { name: *name, statement: name.statement() }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Caveat>, D::Error> {
        Ok(Vec::<Keys>::deserialize(deserializer)?.into_iter().map(|keys| keys.name).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_are_unique() {
        for caveat in Caveat::ALL {
            assert_eq!(Caveat::from_name(caveat.name()), Some(caveat));
        }
    }
}
