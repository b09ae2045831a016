//! Which processes have a drive or a file open, as far as we may look: a virtual machine or a `dd` claims nothing,
//! and is only seen this way.

use super::identity::{DeviceNumber, FileNumber, Place};
use super::mounts::processes;
use super::sysfs::SystemRoots;
use super::system_call;
use std::fs;
use std::path::Path;

/// The namespace of processes that the kernel begins with, and that all others are inside of: `PROC_PID_INIT_INO` of the kernel.
const FIRST_PROCESS_NAMESPACE: &str = "pid:[4026531836]";

/// A process that has something open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub process: u32,
    pub command: String,
    pub what: Place,
    pub writes: bool,
    /// Whether it has mapped it into its memory, and may have closed it since.
    pub maps: bool,
}

/// Which other processes have any block device open, or have one of `files` open or mapped; and what the first of
/// those is called into which we may not look.
pub(super) fn openers(roots: &SystemRoots, files: &[FileNumber]) -> (Vec<Opener>, Option<String>) {
    let own = std::process::id();
    let mut openers = Vec::new();
    let mut not_seen = outside_of_us(roots);
    for process in processes(roots) {
        let directory = roots.proc.join(process.to_string());
        if process == own || is_our_child_before_it_runs_a_program(roots, &directory, own) {
            continue;
        }
        let command = || super::sysfs::attribute(&directory.join("comm")).unwrap_or_else(|| "?".into());
        let entries = match fs::read_dir(directory.join("fd")) {
            Ok(entries) => entries,
            // It has ended since we looked.
            Err(_) if !directory.exists() => continue,
            Err(error) => {
                not_seen.get_or_insert_with(|| format!("process {process} ({}): {error}", command()));
                continue;
            }
        };
        for (what, writes) in mapped(&directory, files) {
            openers.push(Opener { process, command: command(), what, writes, maps: true });
        }
        for entry in entries.flatten() {
            let Some(what) = opened(&entry.path(), files) else { continue };
            let writes = fs::read_to_string(directory.join("fdinfo").join(entry.file_name()))
                .ok()
                .is_none_or(|text| may_write(&text));
            openers.push(Opener { process, command: command(), what, writes, maps: false });
        }
    }
    (openers, not_seen)
}

/// In a namespace of processes of its own, as in a container, there are others that `/proc` does not show.
fn outside_of_us(roots: &SystemRoots) -> Option<String> {
    let namespace = fs::read_link(roots.proc.join("self/ns/pid")).ok()?;
    let is_first = namespace.to_str() == Some(FIRST_PROCESS_NAMESPACE);
    (!is_first).then(|| "programs outside this container".to_string())
}

/// Which of `files` a process has mapped, and whether it may write to them. The fifth and the fourth field of a line
/// of maps are the inode and, in hexadecimal, the device of the file system.
fn mapped(directory: &Path, files: &[FileNumber]) -> Vec<(Place, bool)> {
    if files.is_empty() {
        return Vec::new();
    }
    let maps = fs::read(directory.join("maps")).unwrap_or_default();
    let lines = maps.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|&byte| byte == b' ').map(std::str::from_utf8).skip(1);
        let (rights, device) = (fields.next()?.ok()?, fields.nth(1)?.ok()?);
        let (major, minor) = device.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        let file_system = DeviceNumber { major: number(major)?, minor: number(minor)? };
        let file = FileNumber { file_system, inode: fields.next()?.ok()?.parse().ok()? };
        files.contains(&file).then(|| (Place::File(file), rights.contains('w') && rights.contains('s')))
    });
    lines.collect()
}

/// Whether a child of ours has not run its program yet. It shares our descriptors, so what we have closed is still
/// open in it.
pub(super) fn have_child_before_it_runs_a_program(roots: &SystemRoots) -> bool {
    let own = std::process::id();
    processes(roots).into_iter().any(|process| {
        is_our_child_before_it_runs_a_program(roots, &roots.proc.join(process.to_string()), own)
    })
}

/// Between its fork and its exec a child of ours has copies of all our descriptors, the permit's among them.
fn is_our_child_before_it_runs_a_program(roots: &SystemRoots, directory: &Path, own: u32) -> bool {
    let Ok(status) = fs::read_to_string(directory.join("status")) else { return false };
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
    let program = |directory: &Path| fs::read_link(directory.join("exe")).ok();
    parent == Some(own)
        && program(directory).is_some()
        && program(directory) == program(&roots.proc.join(own.to_string()))
}

fn opened(link: &Path, files: &[FileNumber]) -> Option<Place> {
    match system_call::place(link).ok()? {
        Place::File(file) if !files.contains(&file) => None,
        place => Some(place),
    }
}

/// Whether fdinfo, whose second line gives the flags of the open in octal, tells of more than reading.
fn may_write(fdinfo: &str) -> bool {
    let flags =
        fdinfo.lines().find_map(|line| i32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_none_or(|flags| flags & libc::O_PATH == 0 && flags & libc::O_ACCMODE != libc::O_RDONLY)
}

#[cfg(test)]
mod tests {
    use super::may_write;

    #[test]
    fn the_flags_of_an_open_are_octal() {
        assert!(!may_write("pos:\t0\nflags:\t02100000\nmnt_id:\t29\n"));
        assert!(may_write("pos:\t0\nflags:\t02100001\nmnt_id:\t29\n"));
        assert!(may_write("pos:\t0\nflags:\t0100002\n"));
        assert!(may_write("pos:\t0\n"), "what is not told counts as writing");
    }
}
