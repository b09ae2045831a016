//! What sysfs tells, decoded from trees laid out as on real machines: paths and contents are those of a SATA disk,
//! a USB disk, NVMe, virtio, a volume over two disks, and RAID.

use io::targets::facts::{
    decode_identify, decode_unit_serial_number, drive_facts, pcie_link, sata_link, scheduler_in_force,
    usb_link,
};
use io::targets::identity::DeviceNumber;
use io::targets::stack::{Stack, file_system_caveat};
use io::targets::sysfs::{BlockDevice, SystemRoots};
use model::target::{Caveat, StatedLayout};
use model::units::Bytes;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// A sysfs of a test's own.
struct Tree {
    directory: TempDir,
}

impl Tree {
    fn new() -> Tree {
        let directory = tempfile::tempdir().unwrap();
        for folder in ["sys/block", "sys/dev/block", "proc/self"] {
            fs::create_dir_all(directory.path().join(folder)).unwrap();
        }
        fs::write(directory.path().join("proc/self/mountinfo"), "").unwrap();
        Tree { directory }
    }

    fn roots(&self) -> SystemRoots {
        let root = self.directory.path();
        SystemRoots { sysfs: root.join("sys"), proc: root.join("proc"), dev: root.join("dev") }
    }

    /// Files below `/sys/devices/`, each with its content.
    fn files(&self, folder: &str, files: &[(&str, &str)]) {
        for (file, content) in files {
            self.bytes(&format!("{folder}/{file}"), content.as_bytes());
        }
    }

    fn bytes(&self, path: &str, content: &[u8]) {
        let path = self.directory.path().join("sys/devices").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A block device whose folder is `folder` below `/sys/devices/`.
    fn device(&self, folder: &str, number: &str, files: &[(&str, &str)]) -> BlockDevice {
        self.files(folder, &[("dev", &format!("{number}\n"))]);
        self.files(folder, files);
        let sys = self.directory.path().join("sys");
        let full = sys.join("devices").join(folder);
        for part in ["holders", "slaves"] {
            fs::create_dir_all(full.join(part)).unwrap();
        }
        symlink(&full, sys.join("dev/block").join(number)).unwrap();
        if !full.join("partition").exists() {
            symlink(&full, sys.join("block").join(full.file_name().unwrap())).unwrap();
        }
        BlockDevice::by_number(&self.roots(), DeviceNumber::parse(number).unwrap()).unwrap()
    }

    fn link(&self, from: &str, to: &str) {
        let devices = self.directory.path().join("sys/devices");
        symlink(devices.join(to), devices.join(from)).unwrap();
    }
}

const SATA: &str = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";

/// The disk of article C: an ATA drive behind SCSI, whose model is cut off there.
fn sata_disk(tree: &Tree) -> BlockDevice {
    tree.files(
        "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0",
        &[("model", "ST3000DM001-1CH1\n"), ("vendor", "ATA     \n"), ("rev", "CC27\n")],
    );
    tree.files("pci0000:00/0000:00:1f.2/ata1/link1/ata_link/link1", &[("sata_spd", "6.0 Gbps\n")]);
    let disk = tree.device(
        SATA,
        "8:0",
        &[
            ("size", "5860533168\n"),
            ("queue/rotational", "1\n"),
            ("queue/scheduler", "none [mq-deadline] kyber bfq \n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/discard_max_bytes", "0\n"),
            ("queue/zoned", "none\n"),
        ],
    );
    tree.link(&format!("{SATA}/device"), "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0");
    disk
}

#[test]
fn a_sata_disk_tells_all() {
    let tree = Tree::new();
    let disk = sata_disk(&tree);
    let device = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
    tree.bytes(&format!("{device}/vpd_pg80"), b"\x00\x80\x00\x14            W1F0ABCD");
    let facts = drive_facts(&disk);
    assert_eq!(facts.model.as_deref(), Some("ST3000DM001-1CH1"));
    assert_eq!(facts.serial.as_deref(), Some("W1F0ABCD"));
    assert_eq!(facts.firmware.as_deref(), Some("CC27"));
    assert_eq!(facts.rotational, Some(true));
    assert_eq!(facts.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(facts.read_ahead, Some(Bytes::new(131_072)));
    assert_eq!(facts.write_cache, Some(true));
    assert_eq!(facts.discard_max, Some(Bytes::ZERO));
    assert_eq!(facts.zoned.as_deref(), Some("none"));
    assert_eq!(facts.pci_address.as_deref(), Some("0000:00:1f.2"));
    assert!(!facts.is_virtual);
    let link = facts.link.unwrap();
    assert_eq!((link.name.as_str(), link.bytes_per_second_max), ("SATA 6.0 Gbit/s", Some(600e6)));
}

#[test]
fn identify_data_has_the_whole_model() {
    let tree = Tree::new();
    let disk = sata_disk(&tree);
    let mut page = vec![0u8; 572];
    page[1] = 0x89;
    let mut put = |word: usize, words: usize, text: &str| {
        let padded = format!("{text:<width$}", width = words * 2);
        for (index, letters) in padded.as_bytes().chunks(2).enumerate() {
            page[60 + (word + index) * 2] = letters[1];
            page[60 + (word + index) * 2 + 1] = letters[0];
        }
    };
    put(10, 10, "            W1F0ABCD");
    put(23, 4, "CC27");
    put(27, 20, "ST3000DM001-1CH166");
    let identify = decode_identify(&page).unwrap();
    assert_eq!(identify.model.as_deref(), Some("ST3000DM001-1CH166"));
    assert_eq!(identify.serial.as_deref(), Some("W1F0ABCD"));
    assert_eq!(identify.firmware.as_deref(), Some("CC27"));
    assert_eq!(decode_identify(&page[..571]), None);
    tree.bytes("pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/vpd_pg89", &page);
    assert_eq!(drive_facts(&disk).model.as_deref(), Some("ST3000DM001-1CH166"));
}

#[test]
fn a_usb_disk_has_the_speed_of_its_bus() {
    let tree = Tree::new();
    let bus = "pci0000:00/0000:00:14.0/usb2/2-1";
    tree.files(bus, &[("speed", "5000\n"), ("idVendor", "0bc2\n"), ("serial", "NA7ABCDE\n")]);
    let scsi = format!("{bus}/2-1:1.0/host4/target4:0:0/4:0:0:0");
    tree.files(&scsi, &[("model", "Expansion Desk  \n"), ("vendor", "Seagate \n"), ("rev", "0739\n")]);
    let disk = tree.device(&format!("{scsi}/block/sdb"), "8:16", &[]);
    tree.link(&format!("{scsi}/block/sdb/device"), &scsi);
    let facts = drive_facts(&disk);
    assert_eq!(facts.model.as_deref(), Some("Seagate Expansion Desk"));
    assert_eq!(facts.serial.as_deref(), Some("NA7ABCDE"));
    let link = facts.link.unwrap();
    assert_eq!((link.name.as_str(), link.bytes_per_second_max), ("USB 5 Gbit/s", Some(500e6)));
}

#[test]
fn an_nvme_drive_has_the_link_of_its_controller() {
    let tree = Tree::new();
    let function = "pci0000:00/0000:00:01.1/0000:01:00.0";
    tree.files(function, &[("current_link_speed", "16.0 GT/s PCIe\n"), ("current_link_width", "4\n")]);
    let controller = format!("{function}/nvme/nvme0");
    tree.files(
        &controller,
        &[
            ("model", "Samsung SSD 990 PRO 2TB                 \n"),
            ("serial", "S6Z2NJ0T\n"),
            ("firmware_rev", "0B2QJXD7\n"),
        ],
    );
    let disk = tree.device(&format!("{controller}/nvme0n1"), "259:0", &[("queue/rotational", "0\n")]);
    tree.link(&format!("{controller}/nvme0n1/device"), &controller);
    let facts = drive_facts(&disk);
    assert_eq!(facts.model.as_deref(), Some("Samsung SSD 990 PRO 2TB"));
    assert_eq!(facts.serial.as_deref(), Some("S6Z2NJ0T"));
    assert_eq!(facts.firmware.as_deref(), Some("0B2QJXD7"));
    assert_eq!(facts.rotational, Some(false));
    let link = facts.link.unwrap();
    assert_eq!(link.name, "PCIe 4.0 x4");
    assert_eq!(link.bytes_per_second_max.unwrap().round(), 7_876_923_077.0);
}

/// As QEMU's `virtio-scsi-pci` shows itself under Linux 6.1.
#[test]
fn a_scsi_disk_behind_virtio_is_a_virtual_disk() {
    let tree = Tree::new();
    let device = "pci0000:00/0000:00:06.0/virtio1/host0/target0:0:0/0:0:0:0";
    tree.files(device, &[("model", "SPINNER         \n"), ("vendor", "ACME    \n"), ("rev", "2.5+\n")]);
    tree.bytes(&format!("{device}/vpd_pg80"), b"\x00\x80\x00\x05SCSI0");
    let disk = tree.device(&format!("{device}/block/sda"), "8:0", &[("queue/rotational", "1\n")]);
    tree.link(&format!("{device}/block/sda/device"), device);
    let facts = drive_facts(&disk);
    assert_eq!(facts.model.as_deref(), Some("ACME SPINNER"));
    assert_eq!(facts.serial.as_deref(), Some("SCSI0"));
    assert_eq!(facts.rotational, Some(true));
    assert_eq!(facts.link.unwrap().name, "virtio SCSI");
    assert!(facts.is_virtual);
}

/// As QEMU's zoned NVMe namespace shows itself under Linux 6.1: names padded to their fields, no rotation, zones.
#[test]
fn a_zoned_namespace_says_so() {
    let tree = Tree::new();
    let controller = "pci0000:00/0000:00:05.0/nvme/nvme2";
    tree.files(
        "pci0000:00/0000:00:05.0",
        &[("current_link_speed", "2.5 GT/s PCIe\n"), ("current_link_width", "1\n")],
    );
    tree.files(
        controller,
        &[
            ("model", "QEMU NVMe Ctrl                          \n"),
            ("serial", "ZNS0                \n"),
            ("firmware_rev", "7.2.22  \n"),
        ],
    );
    let files = [("queue/rotational", "0\n"), ("queue/zoned", "host-managed\n")];
    let disk = tree.device(&format!("{controller}/nvme2n1"), "259:2", &files);
    tree.link(&format!("{controller}/nvme2n1/device"), controller);
    let facts = drive_facts(&disk);
    assert_eq!(facts.model.as_deref(), Some("QEMU NVMe Ctrl"));
    assert_eq!(facts.serial.as_deref(), Some("ZNS0"));
    assert_eq!(facts.firmware.as_deref(), Some("7.2.22"));
    assert_eq!(facts.zoned.as_deref(), Some("host-managed"));
    assert_eq!(facts.link.unwrap().name, "PCIe 1.0 x1");
}

#[test]
fn a_virtio_disk_is_a_virtual_disk() {
    let tree = Tree::new();
    let parent = "pci0000:00/0000:00:02.0/virtio1";
    tree.files(parent, &[("vendor", "0x1af4\n"), ("device", "0x0002\n")]);
    let disk = tree.device(&format!("{parent}/block/vda"), "254:0", &[("serial", "root-disk\n")]);
    tree.link(&format!("{parent}/block/vda/device"), parent);
    let facts = drive_facts(&disk);
    assert_eq!((facts.serial.as_deref(), facts.model), (Some("root-disk"), None));
    assert_eq!(facts.link.unwrap().name, "virtio");
    let stack = Stack::of_device(&tree.roots(), &disk);
    assert_eq!(stack.caveats, [Caveat::VirtualDisk]);
    assert_eq!(stack.layers, ["disk vda (virtio, PCI 0000:00:02.0)"]);
}

#[test]
fn a_partition_leads_to_its_disk_and_its_file_to_both() {
    let tree = Tree::new();
    let disk = sata_disk(&tree);
    let partition = tree.device(&format!("{SATA}/sda1"), "8:1", &[("partition", "1\n"), ("start", "2048\n")]);
    assert!(partition.is_partition() && !disk.is_partition());
    assert_eq!(partition.disk().unwrap(), disk);
    assert_eq!(disk.partitions().unwrap(), std::slice::from_ref(&partition));
    let stack = Stack::of_device(&tree.roots(), &partition);
    assert_eq!(
        stack.layers,
        ["partition sda1", "disk sda (ST3000DM001-1CH1, SATA 6.0 Gbit/s, PCI 0000:00:1f.2)"]
    );
    assert_eq!(stack.drives, [disk]);
    assert_eq!(stack.only_drive().unwrap().firmware.as_deref(), Some("CC27"));
}

/// A volume or RAID over two disks.
fn over_two_disks(tree: &Tree, folder: &str, number: &str, files: &[(&str, &str)]) -> BlockDevice {
    let disks =
        ["pci0000:00/0000:00:1f.2/ata1/host0/block/sda", "pci0000:00/0000:00:1f.2/ata2/host1/block/sdb"];
    tree.device(disks[0], "8:0", &[]);
    tree.device(disks[1], "8:16", &[]);
    let upper = tree.device(folder, number, files);
    for (disk, name) in disks.iter().zip(["sda", "sdb"]) {
        tree.link(&format!("{folder}/slaves/{name}"), disk);
        let upper_name = Path::new(folder).file_name().unwrap().to_str().unwrap();
        tree.link(&format!("{disk}/holders/{upper_name}"), folder);
    }
    upper
}

#[test]
fn a_volume_over_two_disks_leads_to_both_and_is_none_of_them() {
    let tree = Tree::new();
    let files = [("dm/name", "vg-data\n"), ("dm/uuid", "LVM-abcdef\n")];
    let volume = over_two_disks(&tree, "virtual/block/dm-0", "253:0", &files);
    let stack = Stack::of_device(&tree.roots(), &volume);
    assert_eq!(stack.layers[0], "volume dm-0 (vg-data, LVM)");
    let names: Vec<&str> = stack.drives.iter().map(|drive| drive.name.as_str()).collect();
    assert_eq!(names, ["sda", "sdb"]);
    assert_eq!(stack.only_drive(), None, "no serial number of one of them must stand for both");
    assert_eq!(stack.stated_layout(), None, "the kernel names no layout of a mapping");
    let disk = Stack::of_device(&tree.roots(), &stack.drives[0]);
    assert_eq!(disk.stated_layout(), Some(StatedLayout::OneDrive));
    let holders = stack.drives[0].holders().unwrap();
    assert_eq!(holders, [volume]);
}

#[test]
fn raid_tells_its_level() {
    for (level, layout) in [
        ("raid1", Some(StatedLayout::Mirror)),
        ("raid5", Some(StatedLayout::Stripe)),
        ("raid10", Some(StatedLayout::StripeOverMirrors)),
        ("linear", Some(StatedLayout::Concatenation)),
        ("container", None),
    ] {
        let tree = Tree::new();
        let raid = over_two_disks(&tree, "virtual/block/md0", "9:0", &[("md/level", &format!("{level}\n"))]);
        let stack = Stack::of_device(&tree.roots(), &raid);
        assert_eq!(stack.layers[0], format!("RAID md0 ({level})"));
        assert_eq!((stack.drives.len(), stack.stated_layout()), (2, layout));
    }
}

#[test]
fn zram_lies_in_memory() {
    let tree = Tree::new();
    let disk = tree.device("virtual/block/zram0", "252:0", &[]);
    assert_eq!(Stack::of_device(&tree.roots(), &disk).caveats, [Caveat::InMemory]);
    assert_eq!(drive_facts(&disk).link.unwrap().name, "zram");
}

#[test]
fn a_name_with_a_slash_is_found_in_dev() {
    let tree = Tree::new();
    let disk = tree.device("pci0000:00/0000:00:05.0/block/cciss!c0d0", "104:0", &[]);
    assert_eq!(disk.path(), Path::new("/dev/cciss/c0d0"));
}

#[test]
fn links_carry_what_their_coding_leaves() {
    let rate = |link: Option<model::target::Link>| link.unwrap().bytes_per_second_max.map(f64::round);
    assert_eq!(rate(sata_link("1.5 Gbps")), Some(150e6));
    assert_eq!(rate(sata_link("3.0 Gbps")), Some(300e6));
    assert_eq!(sata_link("<unknown>"), None);
    assert_eq!(rate(usb_link("480")), Some(53_248_000.0));
    assert_eq!(rate(usb_link("10000")), Some(1_212_121_212.0));
    assert_eq!(usb_link("480").unwrap().name, "USB 480 Mbit/s");
    assert_eq!(rate(usb_link("1.5")), None);
    assert_eq!(rate(pcie_link("2.5 GT/s PCIe", "1")), Some(250e6));
    assert_eq!(rate(pcie_link("8.0 GT/s PCIe", "4")), Some(3_938_461_538.0));
    assert_eq!(pcie_link("Unknown", "4"), None);
    assert_eq!(pcie_link("8.0 GT/s PCIe", "0"), None);
}

#[test]
fn small_texts_are_taken_apart() {
    assert_eq!(scheduler_in_force("[none] mq-deadline\n").as_deref(), Some("none"));
    assert_eq!(scheduler_in_force("none\n").as_deref(), Some("none"));
    assert_eq!(decode_unit_serial_number(b"\x00\x80\x00\x04 AB "), Some("AB".into()));
    assert_eq!(decode_unit_serial_number(b"\x00\x80\x00\xffAB"), Some("AB".into()), "a length that lies");
    assert_eq!(decode_unit_serial_number(b"\x00\x83\x00\x04ABCD"), None);
    assert_eq!(decode_unit_serial_number(b"\x00\x80"), None);
}

#[test]
fn file_systems_are_sorted_by_what_they_mean() {
    let cases = [
        ("tmpfs", Some(Caveat::InMemory)),
        ("nfs4", Some(Caveat::Network)),
        ("fuse.sshfs", Some(Caveat::Network)),
        ("fuse", Some(Caveat::PlacesUntold)),
        ("fuseblk", Some(Caveat::PlacesUntold)),
        ("btrfs", Some(Caveat::Remapped)),
        ("overlay", Some(Caveat::Remapped)),
        ("ext4", None),
        ("xfs", None),
        ("vfat", None),
    ];
    for (kind, caveat) in cases {
        assert_eq!(file_system_caveat(kind), caveat, "{kind}");
    }
}
