//! Who uses a device or a file. What cannot be read counts as use.

use super::identity::{DeviceNumber, FileNumber, Identity, Place};
use super::loop_device::{self, Loop};
use super::mounts::{self, Mount, Swap};
use super::openers::{self, Opener};
use super::sysfs::{BlockDevice, SystemRoots};
use super::{Target, signature, system_call};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

/// What an obstacle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObstacleKind {
    /// Somebody uses it.
    InUse,
    /// It could not be seen whether somebody uses it, which counts as use.
    Unknown,
    /// It refuses writes.
    ReadOnly,
    /// It takes writes only in the order of its zones, which nothing here keeps.
    Zoned,
    /// It holds something that a write would destroy; consent lifts this one, and only this one.
    Content,
}

/// A reason not to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Obstacle {
    /// What it is.
    pub kind: ObstacleKind,
    /// Who or what, as a clause: "/dev/sda1 is mounted at /data (ext4)".
    pub statement: String,
}

impl Obstacle {
    pub(super) fn new(kind: ObstacleKind, statement: impl Into<String>) -> Obstacle {
        Obstacle { kind, statement: statement.into() }
    }
}

/// All reasons not to write to the target: who uses it, and what it holds.
pub fn survey(target: &Target) -> Vec<Obstacle> {
    let mut obstacles = use_of(&SystemRoots::live(), target.identity(), Some(target));
    obstacles.extend(signature::content_obstacles(target));
    obstacles
}

/// Who uses the device or file.
pub(super) fn use_of(roots: &SystemRoots, identity: Identity, target: Option<&Target>) -> Vec<Obstacle> {
    let usage = match identity {
        Identity::Device { .. } => Usage::read(roots, None),
        Identity::File(file) => Usage::read(roots, Some(file)),
    };
    match identity {
        Identity::Device { number, .. } => {
            let mut obstacles = usage.of_device(roots, number);
            obstacles.extend(usage.not_seen_obstacle());
            obstacles
        }
        Identity::File(file) => {
            let mut obstacles = usage.of_file(file, "it");
            obstacles.extend(target.and_then(file_refuses_writes));
            obstacles
        }
    }
}

/// Everything that uses drives and files on this machine, at one moment.
pub(super) struct Usage {
    mounts: Vec<Mount>,
    swaps: Vec<Swap>,
    loops: Vec<Loop>,
    openers: Vec<Opener>,
    /// The process into which we may not look.
    not_seen: Option<String>,
    /// What could not be read.
    unknown: Vec<String>,
}

impl Usage {
    /// Looks around. Processes that have a file open are only sought for `file` and for those under loop devices.
    pub fn read(roots: &SystemRoots, file: Option<FileNumber>) -> Usage {
        let mut unknown = Vec::new();
        let mounts = mounts::mounts(roots).unwrap_or_else(|why| {
            unknown.push(why);
            Vec::new()
        });
        let swaps = mounts::swaps(roots).unwrap_or_else(|why| {
            unknown.push(why);
            Vec::new()
        });
        let (loops, not_read) = loop_device::loops(roots).unwrap_or_else(|error| {
            (Vec::new(), vec![format!("the list of all disks cannot be read: {error}")])
        });
        unknown.extend(not_read);
        let mut files: Vec<FileNumber> = loops.iter().filter_map(|each| file_of(each.backing)).collect();
        files.extend(file);
        let (openers, not_seen) = openers::openers(roots, &files);
        Usage { mounts, swaps, loops, openers, not_seen, unknown }
    }

    /// Who uses the device, its whole disk, the partitions of that, or anything on top of these.
    pub fn of_device(&self, roots: &SystemRoots, number: DeviceNumber) -> Vec<Obstacle> {
        let mut obstacles = self.unknown_obstacles();
        let looked = other_ways_to(roots, number).and_then(|others| {
            self.look_at_disk(roots, number, None, &mut obstacles)?;
            others.into_iter().try_for_each(|other| {
                let known = obstacles.len();
                self.look_at_disk(roots, other.number, None, &mut obstacles)?;
                for obstacle in &mut obstacles[known..] {
                    obstacle
                        .statement
                        .push_str(&format!(" ({} is another way to this drive)", shown(&other)));
                }
                Ok(())
            })
        });
        if let Err(error) = looked {
            obstacles.push(Obstacle::new(
                ObstacleKind::Unknown,
                format!("what sysfs says of the block device {number} cannot be read: {error}"),
            ));
        }
        without_repeats(obstacles)
    }

    /// Who uses this very device, what lies on top of it included, and its disk and siblings not.
    pub fn of_member(&self, roots: &SystemRoots, member: &BlockDevice) -> Vec<Obstacle> {
        let mut obstacles = Vec::new();
        self.look_at_member(roots, member, &mut obstacles);
        for holder in member.holders().unwrap_or_default() {
            obstacles.push(in_use(format!("{} is used by {}", shown(member), described(&holder))));
        }
        for above in self.loops.iter().filter(|each| each.backing == Place::Device(member.number)) {
            obstacles.push(in_use(format!("{} is used by {}", shown(member), shown(&above.device))));
        }
        obstacles
    }

    /// Who uses the file. `name` is what a sentence calls it.
    fn of_file(&self, file: FileNumber, name: &str) -> Vec<Obstacle> {
        let mut obstacles = self.unknown_obstacles();
        for each in self.loops.iter().filter(|each| each.backing == Place::File(file)) {
            obstacles.push(in_use(format!("{name} is used by {}", each.device.path().display())));
        }
        self.look_at_users_of_file(file, name, &mut obstacles);
        for opener in self.openers.iter().filter(|opener| opener.what == Place::File(file) && !opener.writes)
        {
            obstacles.push(opened(name, opener));
        }
        without_repeats(obstacles)
    }

    fn unknown_obstacles(&self) -> Vec<Obstacle> {
        self.unknown.iter().map(|why| Obstacle::new(ObstacleKind::Unknown, why.clone())).collect()
    }

    /// A claim does not tell of programs that have the drive open without one, and they may be among those that we may
    /// not look into. Who has a file open, the kernel tells by a lease.
    fn not_seen_obstacle(&self) -> Option<Obstacle> {
        let process = self.not_seen.as_ref()?;
        let statement = format!(
            "what other programs have open cannot be seen ({process}). Run as root, and outside of any container"
        );
        Some(Obstacle::new(ObstacleKind::Unknown, statement))
    }

    /// Swap and writers, which matter for a file as a target and for one under a loop device.
    fn look_at_users_of_file(&self, file: FileNumber, name: &str, obstacles: &mut Vec<Obstacle>) {
        if self.swaps.iter().any(|swap| swap.place == Place::File(file)) {
            obstacles.push(in_use(format!("{name} is used as swap")));
        }
        for opener in self.openers.iter().filter(|opener| opener.what == Place::File(file) && opener.writes) {
            obstacles.push(opened(name, opener));
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
            for above in self.loops.iter().filter(|each| each.backing == Place::Device(member.number)) {
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
                    "{} is zoned and host-managed: it takes writes only from the start of each zone onwards, and \
                     drivescope writes in other orders",
                    shown(&disk)
                ),
            ));
        }
        self.look_under_loop(roots, &disk, obstacles)
    }

    /// What uses the thing that a loop device lies on, apart from the loop device.
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

    /// What uses this very device, holders and loop devices apart.
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
        if self.swaps.iter().any(|swap| swap.place == Place::Device(member.number)) {
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

/// The other disks with the same worldwide name: a drive on two cables or paths is two disks to the kernel, and a
/// claim on one does not hold on the other.
fn other_ways_to(roots: &SystemRoots, number: DeviceNumber) -> io::Result<Vec<BlockDevice>> {
    let name = |disk: &BlockDevice| disk.attribute("wwid").or_else(|| disk.attribute("device/wwid"));
    let disk = BlockDevice::by_number(roots, number)?.disk()?;
    let Some(own_name) = name(&disk) else { return Ok(Vec::new()) };
    let mut disks = BlockDevice::disks(roots)?;
    disks.retain(|other| other.number != disk.number && name(other).as_ref() == Some(&own_name));
    Ok(disks)
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

fn without_repeats(obstacles: Vec<Obstacle>) -> Vec<Obstacle> {
    let mut seen = HashSet::new();
    obstacles.into_iter().filter(|obstacle| seen.insert(obstacle.clone())).collect()
}

fn file_of(place: Place) -> Option<FileNumber> {
    match place {
        Place::File(file) => Some(file),
        Place::Device(_) => None,
    }
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

/// Which mounted file systems the device belongs to, as their drivers tell: in every mount namespace, also after a
/// lazy unmount, and for each member of one that spans several devices.
fn file_systems_on(roots: &SystemRoots, member: &BlockDevice) -> Vec<String> {
    let children = |folder: &Path| -> Vec<_> {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let mut found = Vec::new();
    for driver in children(&roots.sysfs.join("fs")) {
        let name = driver.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if ["cgroup", "bpf", "fuse", "pstore", "selinux", "resctrl"].contains(&name.as_str()) {
            continue;
        }
        let is_member = driver.join(&member.name).is_dir()
            || children(&driver).iter().any(|file_system| {
                // btrfs: UUID/devices/sda1; bcachefs: UUID/dev-0/block, a link to the folder of the device.
                file_system.join("devices").join(&member.name).exists()
                    || children(file_system).iter().any(|part| {
                        part.join("block").canonicalize().is_ok_and(|path| path == member.directory)
                    })
            });
        if is_member {
            found.push(name);
        }
    }
    found
}

fn is_read_only(device: &BlockDevice) -> io::Result<bool> {
    Ok(fs::read_to_string(device.directory.join("ro"))?.trim() != "0")
}

/// A file that the file system would not let us write to, or only in part.
fn file_refuses_writes(target: &Target) -> Option<Obstacle> {
    let unknown = |error: io::Error| {
        Some(Obstacle::new(
            ObstacleKind::Unknown,
            format!("whether it may be written cannot be read: {error}"),
        ))
    };
    let room = match system_call::file_system_room(target.descriptor()) {
        Ok(room) => room,
        Err(error) => return unknown(error),
    };
    let flags = match system_call::extended_status(target.descriptor(), libc::STATX_BASIC_STATS) {
        Ok(status) => status.stx_attributes,
        Err(error) => return unknown(error),
    };
    let fixed = libc::STATX_ATTR_IMMUTABLE | libc::STATX_ATTR_APPEND | libc::STATX_ATTR_VERITY;
    let why = if room.is_read_only {
        "the file system it lies on is mounted read-only"
    } else if flags & fixed as u64 != 0 {
        "it is marked immutable, append-only or sealed (`lsattr` shows this)"
    } else {
        return None;
    };
    Some(Obstacle::new(ObstacleKind::ReadOnly, why))
}
