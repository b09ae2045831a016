//! Who uses a device or a file. What cannot be read counts as use.

use super::identity::{DeviceNumber, FileNumber, Identity, Place};
use super::loop_device::{self, Loop};
use super::mounts::{self, Mount};
use super::obstacle::{Obstacle, ObstacleKind};
use super::openers::{self, Opener};
use super::sysfs::{BlockDevice, SystemRoots};
use super::target::Target;
use super::{signature, system_call};
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Two disks with the same worldwide name are one drive.
const WORLDWIDE_NAME: [&str; 2] = ["wwid", "device/wwid"];

pub fn survey(target: &Target) -> Vec<Obstacle> {
    let mut obstacles = use_of(&SystemRoots::live(), target.identity(), Some(target));
    obstacles.extend(signature::content_obstacles(target));
    obstacles
}

pub(super) fn use_of(roots: &SystemRoots, identity: Identity, target: Option<&Target>) -> Vec<Obstacle> {
    match identity {
        Identity::Device { number, .. } => {
            let usage = Usage::read(roots, None);
            let mut obstacles = usage.of_device(roots, number);
            obstacles.extend(usage.not_seen_obstacle());
            obstacles
        }
        Identity::File(file) => {
            let mut obstacles = Usage::read(roots, Some(file)).of_file(file, "it");
            if let Some(target) = target {
                obstacles.extend(file_refuses_writes(target));
            }
            obstacles
        }
    }
}

pub(super) struct Usage {
    mounts: Vec<Mount>,
    swaps: Vec<Place>,
    loops: Vec<Loop>,
    openers: Vec<Opener>,
    not_seen: Option<String>,
    unknown: Vec<String>,
}

impl Usage {
    /// Looks around. Processes that have a file open are only sought for `file` and for those under loop devices.
    pub fn read(roots: &SystemRoots, file: Option<FileNumber>) -> Usage {
        let mut unknown = Vec::new();
        let mounts = known(mounts::mounts(roots), &mut unknown);
        let swaps = known(mounts::swaps(roots), &mut unknown);
        let (loops, not_read) = match loop_device::loops(roots) {
            Ok(found) => found,
            Err(error) => (Vec::new(), vec![format!("the list of all disks cannot be read: {error}")]),
        };
        unknown.extend(not_read);
        let mut files: Vec<FileNumber> = file.into_iter().collect();
        for each in &loops {
            if let Place::File(file) = each.backing {
                files.push(file);
            }
        }
        let (openers, not_seen) = openers::openers(roots, &files);
        Usage { mounts, swaps, loops, openers, not_seen, unknown }
    }

    /// Who uses the device, its whole disk, the partitions of that, or anything on top of these.
    pub fn of_device(&self, roots: &SystemRoots, number: DeviceNumber) -> Vec<Obstacle> {
        let mut obstacles = self.unknown_obstacles();
        if let Err(error) = self.look_at_all_ways(roots, number, &mut obstacles) {
            obstacles.push(Obstacle::new(
                ObstacleKind::Unknown,
                format!("cannot read the sysfs entries of block device {number}: {error}"),
            ));
        }
        without_repeats(obstacles)
    }

    fn look_at_all_ways(
        &self,
        roots: &SystemRoots,
        number: DeviceNumber,
        obstacles: &mut Vec<Obstacle>,
    ) -> io::Result<()> {
        let others = other_ways_to(roots, number)?;
        self.look_at_disk(roots, number, None, obstacles)?;
        for other in others {
            let known = obstacles.len();
            self.look_at_disk(roots, other.number, None, obstacles)?;
            for obstacle in &mut obstacles[known..] {
                obstacle.statement += &format!(" ({} is another path to this drive)", shown(&other));
            }
        }
        Ok(())
    }

    /// Who uses this very device, what lies on top of it included, and its disk and siblings not.
    pub fn of_member(&self, roots: &SystemRoots, member: &BlockDevice) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        self.look_at_member(roots, member, &mut obstacles);
        for holder in member.holders().unwrap_or_default() {
            obstacles.push(in_use(format!("{} is used by {}", shown(member), described(&holder))));
        }
        for above in self.loops_on(Place::Device(member.number)) {
            obstacles.push(in_use(format!("{} is used by {}", shown(member), shown(&above.device))));
        }
        obstacles
    }

    fn of_file(&self, file: FileNumber, name: &str) -> Vec<Obstacle> {
        let mut obstacles = self.unknown_obstacles();
        for each in self.loops_on(Place::File(file)) {
            obstacles.push(in_use(format!("{name} is used by {}", shown(&each.device))));
        }
        self.look_at_users_of_file(file, name, &mut obstacles);
        for opener in &self.openers {
            if opener.what == Place::File(file) && !opener.writes {
                obstacles.push(opened(name, opener));
            }
        }
        without_repeats(obstacles)
    }

    fn unknown_obstacles(&self) -> Vec<Obstacle> {
        self.unknown.iter().map(|why| Obstacle::new(ObstacleKind::Unknown, why)).collect()
    }

    fn loops_on(&self, place: Place) -> impl Iterator<Item = &Loop> {
        self.loops.iter().filter(move |each| each.backing == place)
    }

    /// A claim does not tell of programs without one, which we may not see. Of files a lease tells who has them open.
    fn not_seen_obstacle(&self) -> Option<Obstacle> {
        let process = self.not_seen.as_ref()?;
        let statement = format!(
            "cannot see which files other programs have open ({process}). Run as root, outside of any container"
        );
        Some(Obstacle::new(ObstacleKind::Unknown, statement))
    }

    fn look_at_users_of_file(&self, file: FileNumber, name: &str, obstacles: &mut Vec<Obstacle>) {
        if self.swaps.contains(&Place::File(file)) {
            obstacles.push(in_use(format!("{name} is used as swap")));
        }
        for opener in &self.openers {
            if opener.what == Place::File(file) && opener.writes {
                obstacles.push(opened(name, opener));
            }
        }
    }

    /// `through` is the loop device by which we came here from above: that one may use this disk.
    fn look_at_disk(
        &self,
        roots: &SystemRoots,
        number: DeviceNumber,
        through: Option<&BlockDevice>,
        obstacles: &mut Vec<Obstacle>,
    ) -> io::Result<()> {
        let device = BlockDevice::by_number(roots, number)?;
        let disk = device.disk()?;
        let mut to_visit = disk.partitions()?;
        to_visit.insert(0, disk.clone());
        let mut visited = HashSet::new();
        while let Some(member) = to_visit.pop() {
            if !visited.insert(member.number) {
                continue;
            }
            self.look_at_member(roots, &member, obstacles);
            for holder in member.holders()? {
                obstacles.push(in_use(format!("{} is used by {}", shown(&member), described(&holder))));
                to_visit.extend(holder.partitions()?);
                to_visit.push(holder);
            }
            for above in self.loops_on(Place::Device(member.number)) {
                if through == Some(&above.device) {
                    continue;
                }
                obstacles.push(in_use(format!("{} is used by {}", shown(&member), shown(&above.device))));
                to_visit.extend(above.device.partitions()?);
                to_visit.push(above.device.clone());
            }
        }
        if is_read_only(&disk)? || is_read_only(&device)? {
            obstacles.push(Obstacle::new(ObstacleKind::ReadOnly, format!("{} is read-only", shown(&device))));
        }
        if disk.attribute("queue/zoned").as_deref() == Some("host-managed") {
            obstacles.push(Obstacle::new(
                ObstacleKind::Zoned,
                format!(
                    "{} is a host-managed zoned device: it takes only sequential writes in each zone, which drivescope does not do",
                    shown(&disk)
                ),
            ));
        }
        self.look_under_loop(roots, &disk, obstacles)
    }

    fn look_under_loop(
        &self,
        roots: &SystemRoots,
        disk: &BlockDevice,
        obstacles: &mut Vec<Obstacle>,
    ) -> io::Result<()> {
        let Some(attached) = self.loops.iter().find(|each| each.device.number == disk.number) else {
            return Ok(());
        };
        match attached.backing {
            Place::Device(below) => self.look_at_disk(roots, below, Some(disk), obstacles)?,
            Place::File(file) => {
                let name = format!("{}, the file under {},", attached.backing_path.display(), shown(disk));
                for other in &self.loops {
                    if other.backing == attached.backing && other.device != attached.device {
                        obstacles.push(in_use(format!("{name} is also used by {}", shown(&other.device))));
                    }
                }
                self.look_at_users_of_file(file, &name, obstacles);
            }
        }
        Ok(())
    }

    fn look_at_member(&self, roots: &SystemRoots, member: &BlockDevice, obstacles: &mut Vec<Obstacle>) {
        let known = obstacles.len();
        for mount in &self.mounts {
            if mount.number == member.number || mounts::source_device(mount) == Some(member.number) {
                obstacles.push(in_use(mounted(member, mount)));
            }
        }
        let is_mounted_here = obstacles.len() > known;
        for file_system in file_systems_on(roots, member) {
            if !is_mounted_here {
                obstacles.push(in_use(format!(
                    "{} belongs to a mounted {file_system} file system",
                    shown(member)
                )));
            }
        }
        if self.swaps.contains(&Place::Device(member.number)) {
            obstacles.push(in_use(format!("{} is used as swap", shown(member))));
        }
        if member.directory.join("bcache").exists() {
            obstacles.push(in_use(format!("{} is used by bcache", shown(member))));
        }
        for opener in &self.openers {
            if opener.what == Place::Device(member.number) && opener.writes {
                obstacles.push(opened(&shown(member), opener));
            }
        }
    }
}

/// The other disks with the same worldwide name: on two paths a drive is two disks, and a claim holds on one.
pub(super) fn other_ways_to(roots: &SystemRoots, number: DeviceNumber) -> io::Result<Vec<BlockDevice>> {
    let disk = BlockDevice::by_number(roots, number)?.disk()?;
    let Some(own_name) = disk.first_attribute(&WORLDWIDE_NAME) else { return Ok(Vec::new()) };
    let mut others = Vec::new();
    for other in BlockDevice::disks(roots)? {
        if other.number != disk.number && other.first_attribute(&WORLDWIDE_NAME).as_ref() == Some(&own_name) {
            others.push(other);
        }
    }
    Ok(others)
}

fn known<Found, Why: fmt::Display>(found: Result<Vec<Found>, Why>, unknown: &mut Vec<String>) -> Vec<Found> {
    match found {
        Ok(found) => found,
        Err(why) => {
            unknown.push(why.to_string());
            Vec::new()
        }
    }
}

fn in_use(statement: String) -> Obstacle {
    Obstacle::new(ObstacleKind::InUse, statement)
}

fn opened(name: &str, opener: &Opener) -> Obstacle {
    let how = match (opener.maps, opener.writes) {
        (false, false) => "open",
        (false, true) => "open for writing",
        (true, false) => "mapped",
        (true, true) => "mapped for writing",
    };
    in_use(format!("{name} is {how} in process {} ({})", opener.process, opener.command))
}

fn without_repeats(mut obstacles: Vec<Obstacle>) -> Vec<Obstacle> {
    let mut seen = HashSet::new();
    obstacles.retain(|obstacle| seen.insert(obstacle.clone()));
    obstacles
}

fn shown(device: &BlockDevice) -> String {
    device.path().display().to_string()
}

/// A holder with the name people know it by: "/dev/dm-0 (volume vg-data)".
fn described(holder: &BlockDevice) -> String {
    match (holder.attribute("dm/name"), holder.attribute("md/level")) {
        (Some(name), _) => format!("{} (volume {name})", shown(holder)),
        (None, Some(level)) => format!("{} ({level})", shown(holder)),
        (None, None) => shown(holder),
    }
}

fn mounted(member: &BlockDevice, mount: &Mount) -> String {
    let place = format!("{} is mounted at {} ({})", shown(member), mount.point.display(), mount.file_system);
    match mount.seen_by {
        None => place,
        Some(process) => format!("{place} in the mount namespace of process {process}"),
    }
}

/// Which mounted file systems the device belongs to, as drivers tell: in all namespaces, for each member.
fn file_systems_on(roots: &SystemRoots, member: &BlockDevice) -> Vec<String> {
    let mut found = Vec::new();
    for driver in children(&roots.sysfs.join("fs")) {
        let name = driver.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if ["cgroup", "bpf", "fuse", "pstore", "selinux", "resctrl"].contains(&name.as_str()) {
            continue;
        }
        if serves(&driver, member) {
            found.push(name);
        }
    }
    found
}

fn serves(driver: &Path, member: &BlockDevice) -> bool {
    if driver.join(&member.name).is_dir() {
        return true;
    }
    for file_system in children(driver) {
        // btrfs: UUID/devices/sda1; bcachefs: UUID/dev-0/block, a link to the folder of the device.
        if file_system.join("devices").join(&member.name).exists() {
            return true;
        }
        for part in children(&file_system) {
            if let Ok(path) = part.join("block").canonicalize()
                && path == member.directory
            {
                return true;
            }
        }
    }
    false
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn is_read_only(device: &BlockDevice) -> io::Result<bool> {
    Ok(fs::read_to_string(device.directory.join("ro"))?.trim() != "0")
}

fn file_refuses_writes(target: &Target) -> Option<Obstacle> {
    match why_file_refuses_writes(target) {
        Ok(None) => None,
        Ok(Some(why)) => Some(Obstacle::new(ObstacleKind::ReadOnly, why)),
        Err(error) => {
            Some(Obstacle::new(ObstacleKind::Unknown, format!("cannot read whether it is writable: {error}")))
        }
    }
}

fn why_file_refuses_writes(target: &Target) -> io::Result<Option<&'static str>> {
    let room = system_call::file_system_room(target.descriptor())?;
    let status = system_call::extended_status(target.descriptor(), libc::STATX_BASIC_STATS)?;
    let fixed = libc::STATX_ATTR_IMMUTABLE | libc::STATX_ATTR_APPEND | libc::STATX_ATTR_VERITY;
    Ok(if room.is_read_only {
        Some("the file system it lies on is mounted read-only")
    } else if status.stx_attributes & fixed as u64 != 0 {
        Some("it is marked immutable, append-only or sealed (`lsattr` shows this)")
    } else {
        None
    })
}
