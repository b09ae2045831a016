//! What is known of a target before it is measured. Strings come from the drive and are hostile wherever shown.

use crate::units::Bytes;

/// Facts about a target; what the system does not tell is none.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFacts {
    /// What kind of thing it is.
    pub kind: TargetKind,
    /// As it was typed, or found.
    pub path: String,
    /// How much it holds.
    pub capacity: Bytes,
    /// The smallest direct request, and the grid that offsets lie on.
    pub logical_block: Bytes,
    /// What the drive handles at once.
    pub physical_block: Bytes,
    /// The drive's model.
    pub model: Option<String>,
    /// The drive's serial number.
    pub serial: Option<String>,
    /// The drive's firmware revision.
    pub firmware: Option<String>,
    /// Whether it says that it turns.
    pub rotational: Option<bool>,
    /// How it is connected.
    pub link: Option<Link>,
    /// The kernel's request scheduler in force.
    pub scheduler: Option<String>,
    /// The kernel's read-ahead for buffered reads.
    pub read_ahead: Option<Bytes>,
    /// Whether the drive's volatile write cache is on.
    pub write_cache: Option<bool>,
    /// The largest range one discard may cover; none or zero where it does not discard.
    pub discard_max: Option<Bytes>,
    /// The zoned model: `none`, `host-aware`, `host-managed`.
    pub zoned: Option<String>,
    /// What lies under it, from the target down to the drives: "file in ext4 on vda".
    pub stack: Vec<String>,
    /// What is known to make its answers come from somewhere else than a drive.
    pub caveats: Vec<Caveat>,
}

impl TargetFacts {
    /// A target of which nothing is known but this; its blocks are of 512 bytes, the smallest that there are.
    pub fn unidentified(kind: TargetKind, path: String, capacity: Bytes) -> TargetFacts {
        TargetFacts {
            kind,
            path,
            capacity,
            logical_block: Bytes(512),
            physical_block: Bytes(512),
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
            caveats: Vec::new(),
        }
    }
}

/// What kind of thing a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// A block device: drive, partition, volume, loop.
    Device,
    /// A regular file.
    File,
    /// Folders, of which the file systems are measured; the capacity is that of these.
    Folder,
    /// A virtual drive.
    Sim,
}

impl TargetKind {
    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Device => "device",
            TargetKind::File => "file",
            TargetKind::Folder => "folder",
            TargetKind::Sim => "sim",
        }
    }

    /// The kind with that name.
    pub fn from_name(name: &str) -> Option<TargetKind> {
        let all = [TargetKind::Device, TargetKind::File, TargetKind::Folder, TargetKind::Sim];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// How a drive is connected, and how fast that can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// For people: "SATA 3.0 Gbit/s", "USB 480 Mbit/s", "PCIe 4.0 × 4", "virtio".
    pub name: String,
    /// What it can carry after line coding, in bytes per second; none where that is not known.
    pub bytes_per_second_max: Option<f64>,
}

/// A reason why what is measured may not be a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Caveat {
    /// Direct I/O could not be had: the page cache may answer.
    NotDirect,
    /// Some of the data was in the page cache when the run began.
    InPageCache,
    /// The file has holes: reading them touches no drive.
    Sparse,
    /// Space that was reserved but never written: reading it touches no drive.
    Unwritten,
    /// The data is compressible, and something below may compress it.
    Compressible,
    /// The target is so small that a cache in the drive or its host may hold all of it.
    FitsInDriveCache,
    /// It lies in memory: tmpfs, ramfs, zram, brd.
    InMemory,
    /// A loop device over a file, and its own page cache may answer.
    LoopOverFile,
    /// A disk that a host lends to this virtual machine: the host's cache may answer.
    VirtualDisk,
    /// On a network file system: the network is measured too.
    Network,
    /// On a file system that stacks, compresses or copies on write: offsets in the file say nothing of the drive.
    Remapped,
    /// On a file system that a program serves: where it puts a place of the file, nothing tells.
    PlacesUntold,
    /// Flash that was trimmed or never written answers without reading a cell.
    Unmapped,
}

impl Caveat {
    /// All of them.
    pub const ALL: [Caveat; 13] = [
        Caveat::NotDirect,
        Caveat::InPageCache,
        Caveat::Sparse,
        Caveat::Unwritten,
        Caveat::Compressible,
        Caveat::FitsInDriveCache,
        Caveat::InMemory,
        Caveat::LoopOverFile,
        Caveat::VirtualDisk,
        Caveat::Network,
        Caveat::Remapped,
        Caveat::PlacesUntold,
        Caveat::Unmapped,
    ];

    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Caveat::NotDirect => "not-direct",
            Caveat::InPageCache => "in-page-cache",
            Caveat::Sparse => "sparse",
            Caveat::Unwritten => "unwritten",
            Caveat::Compressible => "compressible",
            Caveat::FitsInDriveCache => "fits-in-drive-cache",
            Caveat::InMemory => "in-memory",
            Caveat::LoopOverFile => "loop-over-file",
            Caveat::VirtualDisk => "virtual-disk",
            Caveat::Network => "network",
            Caveat::Remapped => "remapped",
            Caveat::PlacesUntold => "places-untold",
            Caveat::Unmapped => "unmapped",
        }
    }

    /// The caveat with that word.
    pub fn from_name(name: &str) -> Option<Caveat> {
        Caveat::ALL.into_iter().find(|caveat| caveat.name() == name)
    }

    /// What it means, as a sentence for a person.
    pub fn statement(self) -> &'static str {
        match self {
            Caveat::NotDirect => "Direct I/O is not to be had here, so the page cache may have answered.",
            Caveat::InPageCache => "Part of the data was in the page cache when the run began.",
            Caveat::Sparse => "The file has holes, and reading a hole touches no drive.",
            Caveat::Unwritten => {
                "Part of the file was reserved but never written, and reading that touches no drive."
            }
            Caveat::Compressible => {
                "The data can be compressed, so a file system or drive that compresses looks faster than it is."
            }
            Caveat::FitsInDriveCache => {
                "It is small enough to fit into a cache of the drive or its host, which may have answered."
            }
            Caveat::InMemory => "It lies in memory, so this says nothing about a drive.",
            Caveat::LoopOverFile => {
                "It is a loop device: the file under it, and the cache over that file, were measured."
            }
            Caveat::VirtualDisk => "It is a virtual disk, so the cache of its host may have answered.",
            Caveat::Network => "It lies on a network file system, so the network was measured too.",
            Caveat::Remapped => {
                "The file system moves or transforms data, so a place in the file is no place on the drive."
            }
            Caveat::PlacesUntold => {
                "A program serves its file system (FUSE), and nothing tells whether a place in the file is a place on a drive."
            }
            Caveat::Unmapped => {
                "Flash that holds no data answers without reading a cell, faster than real data."
            }
        }
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
