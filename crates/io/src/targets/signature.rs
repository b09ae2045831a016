//! Partition tables, file systems, volumes and RAID members, known by their magic numbers.
//!
//! The places and values are those of libblkid's probers and of the formats' own documents. Raw data of a database
//! are not recognised, so a write needs a confirmation without a signature too.

use super::identity::{DeviceNumber, Identity};
use super::obstacle::{Obstacle, ObstacleKind};
use super::sysfs::{BlockDevice, SystemRoots};
use super::system_call::{self, AlignedBuffer};
use super::target::Target;
use model::units::{KIB, MIB};
use std::io;

/// How much of the start is looked at: the VMFS magic at 1 MiB is the furthest in.
const HEAD: u64 = MIB + 64 * KIB;
/// How much of the end is looked at: the last two ZFS labels take 512 KiB, and end on a multiple of 256 KiB.
const TAIL: u64 = MIB;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    pub name: &'static str,
    pub offset: u64,
}

struct Magic {
    name: &'static str,
    offset: u64,
    bytes: &'static [u8],
}

const fn magic(name: &'static str, offset: u64, bytes: &'static [u8]) -> Magic {
    Magic { name, offset, bytes }
}

/// Shared by bcache and bcachefs, which grew out of it: c68573f6-4e1a-45ca-8265-f57f48ba6d81.
const BCACHE: &[u8] =
    &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81];

const FROM_START: &[Magic] = &[
    magic("XFS file system", 0, b"XFSB"),
    magic("btrfs file system", 65_600, b"_BHRfS_M"),
    magic("F2FS file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    magic("NTFS file system", 3, b"NTFS    "),
    magic("exFAT file system", 3, b"EXFAT   "),
    // The copies of boot sectors, which stay when the first sectors are wiped.
    magic("exFAT file system", 12 * 512 + 3, b"EXFAT   "),
    magic("BitLocker volume", 3, b"-FVE-FS-"),
    magic("FAT file system", 54, b"FAT12   "),
    magic("FAT file system", 54, b"FAT16   "),
    magic("FAT file system", 82, b"FAT32   "),
    magic("FAT file system", 6 * 512 + 82, b"FAT32   "),
    magic("LUKS volume", 0, b"LUKS\xba\xbe"),
    // The second header follows the first, of one of nine sizes (`LUKS2 On-Disk Format`, 2.2): seven are sought.
    magic("LUKS volume (second header)", 0x4000, b"SKUL\xba\xbe"),
    magic("LUKS volume (second header)", 0x8000, b"SKUL\xba\xbe"),
    magic("LUKS volume (second header)", 0x1_0000, b"SKUL\xba\xbe"),
    magic("LUKS volume (second header)", 0x2_0000, b"SKUL\xba\xbe"),
    magic("LUKS volume (second header)", 0x4_0000, b"SKUL\xba\xbe"),
    magic("LUKS volume (second header)", 0x8_0000, b"SKUL\xba\xbe"),
    magic("LUKS volume (second header)", 0x10_0000, b"SKUL\xba\xbe"),
    magic("LVM volume", 0, b"LABELONE"),
    magic("LVM volume", 512, b"LABELONE"),
    magic("LVM volume", 1024, b"LABELONE"),
    magic("LVM volume", 1536, b"LABELONE"),
    magic("md RAID member", 0, &[0xfc, 0x4e, 0x2b, 0xa9]),
    magic("md RAID member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    magic("bcache or bcachefs member", 4120, BCACHE),
    magic("ReiserFS file system", 65_588, b"ReIsEr"),
    magic("ReiserFS file system", 8244, b"ReIsEr"),
    magic("Reiser4 file system", 65_536, b"ReIsEr4"),
    magic("ISO 9660 file system", 32_769, b"CD001"),
    magic("UDF file system", 32_769, b"BEA01"),
    magic("SquashFS file system", 0, b"hsqs"),
    magic("EROFS file system", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    magic("APFS container", 32, b"NXSB"),
    magic("HFS+ file system", 1024, b"H+\x00\x04"),
    magic("HFS+ file system", 1024, b"HX\x00\x05"),
    magic("HFS file system", 1024, b"BD"),
    magic("JFS file system", 32_768, b"JFS1"),
    magic("NILFS2 file system", 1030, b"\x34\x34"),
    magic("GFS2 file system", 65_536, &[0x01, 0x16, 0x19, 0x70]),
    magic("OCFS2 file system", 4096 * 2, b"OCFSV2"),
    magic("OCFS2 file system", 1024, b"OCFSV2"),
    magic("VMFS volume", MIB, &[0x0d, 0xd0, 0x01, 0xc0]),
    magic("zonefs file system", 0, b"SFOZ"),
    magic("Stratis pool member", 516, b"!Stra0tis\x86\xff\x02^\x41rh"),
    magic("Ceph BlueStore device", 0, b"bluestore block device"),
    magic("VDO volume", 0, b"dmvdo001"),
    magic("GPT partition table", 512, b"EFI PART"),
    magic("GPT partition table", 4096, b"EFI PART"),
    magic("Apple partition map", 512, b"PM\x00\x00"),
    magic("SGI partition table", 0, &[0x0b, 0xe5, 0xa9, 0x41]),
    magic("Sun partition table", 508, &[0xda, 0xbe]),
    magic("BSD partition table", 64, &[0x57, 0x45, 0x56, 0x82]),
    magic("BSD partition table", 512, &[0x57, 0x45, 0x56, 0x82]),
    magic("AIX volume", 0, &[0xc9, 0xc2, 0xd4, 0xc1]),
    magic("Minix file system", 1040, &[0x7f, 0x13]),
    magic("Minix file system", 1040, &[0x8f, 0x13]),
    magic("Minix file system", 1040, &[0x68, 0x24]),
    magic("Minix file system", 1040, &[0x78, 0x24]),
    magic("Minix file system", 1048, &[0x5a, 0x4d]),
    magic("SCO BFS file system", 0, &[0xce, 0xfa, 0xad, 0x1b]),
    magic("cramfs file system", 0, &[0x45, 0x3d, 0xcd, 0x28]),
    magic("cramfs file system", 512, &[0x45, 0x3d, 0xcd, 0x28]),
    magic("cramfs file system", 0, &[0x28, 0xcd, 0x3d, 0x45]),
    magic("romfs file system", 0, b"-rom1fs-"),
    magic("SquashFS file system", 0, b"sqsh"),
    magic("ReFS file system", 3, b"ReFS\x00"),
    magic("VxFS file system", 1024, &[0xf5, 0xfc, 0x01, 0xa5]),
    magic("VxFS file system", 8192, &[0xa5, 0x01, 0xfc, 0xf5]),
    magic("HPFS file system", 8192, &[0x49, 0xe8, 0x95, 0xf9]),
    magic("BeFS file system", 32, b"BFS1"),
    magic("BeFS file system", 32, b"1SFB"),
    magic("BeFS file system", 544, b"BFS1"),
    magic("BeFS file system", 544, b"1SFB"),
    magic("XFS journal", 0, &[0xfe, 0xed, 0xba, 0xbe]),
    magic("XFS journal", 512, &[0xfe, 0xed, 0xba, 0xbe]),
    magic("EXFS file system", 0, b"EXFS"),
    magic("UBI volume", 0, b"UBI#"),
    magic("UBIFS file system", 0, &[0x31, 0x18, 0x10, 0x06]),
    magic("Oracle ASM disk", 32, b"ORCLDISK"),
    magic("LVM 1 volume", 0, b"HM\x01\x00"),
    magic("LVM 1 volume", 0, b"HM\x02\x00"),
    magic("snapshot store", 0, b"SnAp"),
    magic("dm-verity hashes", 0, b"verity\x00\x00"),
    magic("dm-integrity device", 0, b"integrt\x00"),
    magic("thin pool metadata", 32, &THIN_POOL),
    magic("HighPoint RAID member", 4640, &[0xf0, 0x16, 0x78, 0x5a]),
    magic("HighPoint RAID member", 4640, &[0xfd, 0x16, 0x78, 0x5a]),
];

const THIN_POOL: [u8; 8] = 27_022_010_u64.to_le_bytes();

/// The last ten bytes of the first page, whose size depends on the machine.
const SWAP_PAGE_SIZES: [u64; 5] = [4096, 8192, 16_384, 32_768, 65_536];

struct Ends<'data> {
    head: &'data [u8],
    tail: &'data [u8],
    size: u64,
}

impl Ends<'_> {
    fn at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        if let Some(bytes) = cut(self.head, offset, length) {
            return Some(bytes);
        }
        let tail_start = self.size - self.tail.len() as u64;
        cut(self.tail, offset.checked_sub(tail_start)?, length)
    }

    fn holds(&self, offset: u64, bytes: &[u8]) -> bool {
        self.at(offset, bytes.len()) == Some(bytes)
    }

    fn holds_any(&self, offset: u64, magics: &[&[u8]]) -> bool {
        magics.iter().any(|magic| self.holds(offset, magic))
    }

    fn first_of(
        &self,
        name: &'static str,
        offsets: impl IntoIterator<Item = u64>,
        magics: &[&[u8]],
    ) -> Option<Signature> {
        for offset in offsets {
            if self.holds_any(offset, magics) {
                return Some(Signature { name, offset });
            }
        }
        None
    }
}

fn cut(part: &[u8], from: u64, length: usize) -> Option<&[u8]> {
    let from = usize::try_from(from).ok()?;
    part.get(from..from.checked_add(length)?)
}

/// What the first part `head` and the last part `tail` of a device of `size` bytes tell. They may overlap.
pub fn recognise(head: &[u8], tail: &[u8], size: u64) -> Vec<Signature> {
    assert!(tail.len() as u64 <= size && head.len() as u64 <= size, "the parts lie within the device");
    let ends = Ends { head, tail, size };
    let mut found = Vec::new();
    for &Magic { name, offset, bytes } in FROM_START {
        if ends.holds(offset, bytes) {
            found.push(Signature { name, offset });
        }
    }
    found.extend(swap(&ends));
    found.extend(extended(&ends));
    found.extend(master_boot_record(&ends));
    found.extend(zfs(&ends));
    found.extend(unix(&ends));
    found.extend(amiga(&ends));
    found.extend(from_end(&ends));
    found
}

fn swap(ends: &Ends<'_>) -> Option<Signature> {
    const MAGICS: [&[u8]; 5] = [b"SWAPSPACE2", b"SWAP-SPACE", b"S1SUSPEND\0", b"S2SUSPEND\0", b"ULSUSPEND\0"];
    ends.first_of("swap area", SWAP_PAGE_SIZES.map(|page| page - 10), &MAGICS)
}

/// ext2, ext3 and ext4 share a magic number; the features in `struct ext4_super_block` tell them apart.
fn extended(ends: &Ends<'_>) -> Option<Signature> {
    const SUPERBLOCK: u64 = 1024;
    const COMPATIBLE_HAS_JOURNAL: u32 = 0x4;
    const INCOMPATIBLE_EXTENTS_64BIT_FLEX: u32 = 0x40 | 0x80 | 0x200;
    if !ends.holds(SUPERBLOCK + 56, &[0x53, 0xef]) {
        return None;
    }
    let compatible = ends.at(SUPERBLOCK + 92, 4)?.first_chunk()?;
    let incompatible = ends.at(SUPERBLOCK + 96, 4)?.first_chunk()?;
    let name = if u32::from_le_bytes(*incompatible) & INCOMPATIBLE_EXTENTS_64BIT_FLEX != 0 {
        "ext4 file system"
    } else if u32::from_le_bytes(*compatible) & COMPATIBLE_HAS_JOURNAL != 0 {
        "ext3 file system"
    } else {
        "ext2 file system"
    };
    Some(Signature { name, offset: SUPERBLOCK + 56 })
}

/// The boot sector of a FAT or NTFS file system ends like a partition table, but code or text is where a table has
/// its entries; an entry has a type, a length, and a first byte of 0x00 or 0x80.
fn master_boot_record(ends: &Ends<'_>) -> Option<Signature> {
    if !ends.holds(510, &[0x55, 0xaa]) {
        return None;
    }
    let mut is_used = false;
    for entry in ends.at(446, 64)?.chunks_exact(16) {
        if entry[0] & 0x7f != 0 {
            return None;
        }
        is_used |= entry[4] != 0 && entry[12..16] != [0; 4];
    }
    if is_used { Some(Signature { name: "MBR partition table", offset: 510 }) } else { None }
}

/// Four labels of 256 KiB; each has an array of uberblocks, at least 1 KiB apart, in its second half.
fn zfs(ends: &Ends<'_>) -> Option<Signature> {
    const LABEL: u64 = 256 * KIB;
    const UBERBLOCK: u64 = 0x00ba_b10c;
    const MAGICS: [&[u8]; 2] = [&UBERBLOCK.to_le_bytes(), &UBERBLOCK.to_be_bytes()];
    let whole = ends.size - ends.size % LABEL;
    let labels = [Some(0), Some(LABEL), whole.checked_sub(2 * LABEL), whole.checked_sub(LABEL)];
    for label in labels.into_iter().flatten() {
        let uberblocks = (label + 128 * KIB..label + LABEL).step_by(KIB as usize);
        if let Some(found) = ends.first_of("ZFS pool member", uberblocks, &MAGICS) {
            return Some(found);
        }
    }
    None
}

/// `fs_magic` of `struct fs`, in either byte order, wherever the superblock may begin: FreeBSD's `ufs/ffs/fs.h`.
fn unix(ends: &Ends<'_>) -> Option<Signature> {
    const UFS_1: u32 = 0x0001_1954;
    const UFS_2: u32 = 0x1954_0119;
    const MAGICS: [&[u8]; 4] =
        [&UFS_1.to_le_bytes(), &UFS_1.to_be_bytes(), &UFS_2.to_le_bytes(), &UFS_2.to_be_bytes()];
    ends.first_of("UFS file system", [0, 8, 64, 256].map(|start| start * KIB + 1372), &MAGICS)
}

/// `RDB_LOCATION_LIMIT` of `linux/affs_hardblocks.h`: the table is in one of the first 16 blocks.
fn amiga(ends: &Ends<'_>) -> Option<Signature> {
    ends.first_of("Amiga partition table", (0..16 * 512).step_by(512), &[b"RDSK"])
}

fn from_end(ends: &Ends<'_>) -> Vec<Signature> {
    let size = ends.size;
    let before_end = |distance: u64| size.checked_sub(distance);
    const MD_LITTLE: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
    const MD_BIG: &[u8] = &[0xa9, 0x2b, 0x4e, 0xfc];
    let md_0 = before_end(64 * KIB + size % (64 * KIB));
    // `super_1_load` of md: 8 KiB before the end, then down to a multiple of 4 KiB.
    let md_1_0 = before_end(8 * KIB + size % (4 * KIB));
    // 60 bytes into the last whole block of 4 KiB.
    let drbd = before_end(4096 + size % 4096).map(|block| block + 60);
    let places: [(&'static str, Option<u64>, &[u8]); 17] = [
        ("md RAID member", md_0, MD_LITTLE),
        ("md RAID member", md_0, MD_BIG),
        ("md RAID member", md_1_0, MD_LITTLE),
        ("GPT partition table (backup)", before_end(512), b"EFI PART"),
        ("GPT partition table (backup)", before_end(4096), b"EFI PART"),
        ("Intel RAID member", before_end(1024), b"Intel Raid ISM Cfg Sig. "),
        ("Intel RAID member", before_end(8192), b"Intel Raid ISM Cfg Sig. "),
        ("DDF RAID member", before_end(512), &[0xde, 0x11, 0xde, 0x11]),
        ("DRBD device", drbd, &[0x83, 0x74, 0x02, 0x67]),
        ("DRBD device", drbd, &[0x83, 0x74, 0x02, 0x6b]),
        ("DRBD device", drbd, &[0x83, 0x74, 0x02, 0x6a]),
        ("DRBD device", drbd, &[0x83, 0x74, 0x02, 0x6e]),
        ("NTFS file system", before_end(512 - 3), b"NTFS    "),
        ("Nvidia RAID member", before_end(1024), b"NVIDIA"),
        ("LSI RAID member", before_end(512), b"$XIDE$"),
        ("JMicron RAID member", before_end(512), b"JM"),
        ("Promise RAID member", before_end(63 * 512), b"Promise Technology, Inc."),
    ];
    let mut found = Vec::new();
    for (name, offset, bytes) in places {
        if let Some(offset) = offset
            && ends.holds(offset, bytes)
        {
            found.push(Signature { name, offset });
        }
    }
    found
}

fn read_and_recognise(target: &Target, start: u64, size: u64) -> io::Result<Vec<Signature>> {
    let size = size - size % target.facts().logical_block.get();
    if size == 0 {
        return Ok(Vec::new());
    }
    let (head_length, tail_length) = (HEAD.min(size), TAIL.min(size));
    let head = read_whole(target, start, head_length)?;
    let tail = read_whole(target, start + size - tail_length, tail_length)?;
    Ok(recognise(&head[..head_length as usize], &tail[..tail_length as usize], size))
}

fn read_whole(target: &Target, offset: u64, length: u64) -> io::Result<AlignedBuffer> {
    let mut buffer = AlignedBuffer::new(length as usize);
    let done = system_call::read_at(target.descriptor(), &mut buffer[..length as usize], offset)?;
    if done as u64 == length { Ok(buffer) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

pub(super) fn content_obstacles(target: &Target) -> Vec<Obstacle> {
    match target.identity() {
        Identity::File(_) => vec![content(format!("it holds data ({})", target.facts().capacity))],
        Identity::Device { number, .. } => device_content(target, number),
    }
}

fn device_content(target: &Target, number: DeviceNumber) -> Vec<Obstacle> {
    let own_name = target.path().display().to_string();
    let mut obstacles = describe(&own_name, read_and_recognise(target, 0, target.facts().capacity.get()));
    let partitions = match kernel_partitions(number) {
        Ok(partitions) => partitions,
        Err(error) => {
            obstacles.push(content(format!("cannot read the partitions of {own_name}: {error}")));
            return obstacles;
        }
    };
    for partition in partitions {
        let name = partition.device.path().display().to_string();
        obstacles.push(content(format!("{own_name} has the partition {name}")));
        obstacles.extend(describe(&name, partition.signatures(target)));
    }
    obstacles
}

pub(super) struct Extent {
    pub device: BlockDevice,
    pub start: u64,
    pub size: u64,
}

impl Extent {
    pub fn signatures(&self, disk: &Target) -> io::Result<Vec<Signature>> {
        read_and_recognise(disk, self.start, self.size)
    }
}

pub(super) fn kernel_partitions(number: DeviceNumber) -> io::Result<Vec<Extent>> {
    let device = BlockDevice::by_number(&SystemRoots::live(), number)?;
    let mut extents = Vec::new();
    for device in device.partitions()? {
        let (Some(start), Some(size)) = (device.number_attribute("start"), device.number_attribute("size"))
        else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its start and size are unknown"));
        };
        // sysfs counts in units of 512 bytes, whatever the block size is.
        extents.push(Extent { device, start: start.saturating_mul(512), size: size.saturating_mul(512) });
    }
    Ok(extents)
}

fn describe(name: &str, found: io::Result<Vec<Signature>>) -> Vec<Obstacle> {
    match found {
        Ok(found) => {
            let mut obstacles: Vec<Obstacle> = Vec::new();
            for signature in found {
                let obstacle =
                    content(format!("{name} holds {} {}", article(signature.name), signature.name));
                if !obstacles.contains(&obstacle) {
                    obstacles.push(obstacle);
                }
            }
            obstacles
        }
        Err(error) => vec![content(format!("cannot read the content of {name}: {error}"))],
    }
}

/// "an ext4 file system", "an MBR partition table", "a swap area": by sound, for the names above.
fn article(name: &str) -> &'static str {
    let first_word = name.split(' ').next().unwrap_or_default();
    let spelt_with_a_vowel =
        ["XFS", "F2FS", "NTFS", "LVM", "md", "MBR", "HFS", "HFS+", "SGI", "SCO", "HPFS", "LSI", "Nvidia"]
            .contains(&first_word);
    if spelt_with_a_vowel || first_word.starts_with(['e', 'E', 'I', 'O', 'A']) { "an" } else { "a" }
}

fn content(statement: String) -> Obstacle {
    Obstacle::new(ObstacleKind::Content, statement)
}
