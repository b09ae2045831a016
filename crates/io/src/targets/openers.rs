//! Which processes have a drive or a file open, as far as we may look: a `dd` claims nothing.

use super::identity::{DeviceNumber, FileNumber, Place};
use super::mounts::processes;
use super::sysfs::{SystemRoots, attribute};
use super::system_call;
use std::fs;
use std::path::Path;

/// The namespace of processes that the kernel begins with, and that all others are inside of: `PROC_PID_INIT_INO` of the kernel.
const FIRST_PROCESS_NAMESPACE: &str = "pid:[4026531836]";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    pub process: u32,
    pub command: String,
    pub what: Place,
    pub writes: bool,
    pub maps: bool,
}

/// Which other processes have any block device open, or one of `files` open or mapped; and one that hides it.
pub(super) fn openers(roots: &SystemRoots, files: &[FileNumber]) -> (Vec<Opener>, Option<String>) {
    let own = std::process::id();
    let mut openers = Vec::new();
    let mut not_seen = outside_of_us(roots);
    for process in processes(roots) {
        let directory = roots.proc.join(process.to_string());
        if process == own || is_our_child_before_it_runs_a_program(roots, &directory, own) {
            continue;
        }
        let entries = match fs::read_dir(directory.join("fd")) {
            Ok(entries) => entries,
            // It has ended since we looked.
            Err(_) if !directory.exists() => continue,
            Err(error) => {
                if not_seen.is_none() {
                    not_seen = Some(format!("process {process} ({}): {error}", command(&directory)));
                }
                continue;
            }
        };
        for (what, writes) in mapped(&directory, files) {
            openers.push(Opener { process, command: command(&directory), what, writes, maps: true });
        }
        for entry in entries.flatten() {
            let Some(what) = opened(&entry.path(), files) else { continue };
            // What is not told counts as writing.
            let flags = fs::read_to_string(directory.join("fdinfo").join(entry.file_name()));
            let writes = may_write(&flags.unwrap_or_default());
            openers.push(Opener { process, command: command(&directory), what, writes, maps: false });
        }
    }
    (openers, not_seen)
}

fn command(directory: &Path) -> String {
    attribute(&directory.join("comm")).unwrap_or("?".into())
}

/// In a namespace of processes of its own, as in a container, there are others that `/proc` does not show.
fn outside_of_us(roots: &SystemRoots) -> Option<String> {
    let namespace = fs::read_link(roots.proc.join("self/ns/pid")).ok()?;
    if namespace.to_str() == Some(FIRST_PROCESS_NAMESPACE) {
        return None;
    }
    Some("programs outside this container".into())
}

fn mapped(directory: &Path, files: &[FileNumber]) -> Vec<(Place, bool)> {
    let mut found = Vec::new();
    if files.is_empty() {
        return found;
    }
    let maps = fs::read(directory.join("maps")).unwrap_or_default();
    for line in maps.split(|&byte| byte == b'\n') {
        if let Some((file, writes)) = mapping(line)
            && files.contains(&file)
        {
            found.push((Place::File(file), writes));
        }
    }
    found
}

/// The second, fourth and fifth field of a line of maps: rights, the file system's device in hexadecimal, inode.
fn mapping(line: &[u8]) -> Option<(FileNumber, bool)> {
    let mut fields = line.split(|&byte| byte == b' ').map(std::str::from_utf8).skip(1);
    let (rights, device) = (fields.next()?.ok()?, fields.nth(1)?.ok()?);
    let (major, minor) = device.split_once(':')?;
    let file_system = DeviceNumber {
        major: u32::from_str_radix(major, 16).ok()?,
        minor: u32::from_str_radix(minor, 16).ok()?,
    };
    let inode = fields.next()?.ok()?.parse().ok()?;
    Some((FileNumber { file_system, inode }, rights.contains('w') && rights.contains('s')))
}

/// Whether a child of ours has not run its program yet: it still has open what we have closed.
pub(super) fn have_child_before_it_runs_a_program(roots: &SystemRoots) -> bool {
    let own = std::process::id();
    for process in processes(roots) {
        if is_our_child_before_it_runs_a_program(roots, &roots.proc.join(process.to_string()), own) {
            return true;
        }
    }
    false
}

/// Between its fork and its exec a child of ours has copies of all our descriptors, the permit's among them.
fn is_our_child_before_it_runs_a_program(roots: &SystemRoots, directory: &Path, own: u32) -> bool {
    let Ok(status) = fs::read_to_string(directory.join("status")) else { return false };
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
    if parent != Some(own) {
        return false;
    }
    let own_program = fs::read_link(roots.proc.join(own.to_string()).join("exe"));
    match (fs::read_link(directory.join("exe")), own_program) {
        (Ok(program), Ok(own_program)) => program == own_program,
        _ => false,
    }
}

fn opened(link: &Path, files: &[FileNumber]) -> Option<Place> {
    match system_call::place(link).ok()? {
        Place::File(file) if !files.contains(&file) => None,
        place => Some(place),
    }
}

/// Whether fdinfo, whose second line gives the flags of the open in octal, tells of more than reading.
fn may_write(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default();
    match i32::from_str_radix(flags.trim(), 8) {
        Ok(flags) => flags & libc::O_PATH == 0 && flags & libc::O_ACCMODE != libc::O_RDONLY,
        Err(_) => true,
    }
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
