//! Why a virtual drive could not be mounted, in words for a person.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum MountError {
    #[error("cannot mount at {}: the folder is not empty. Name an empty folder, or one that does not exist", .0.display())]
    NotEmpty(PathBuf),
    #[error("cannot mount at {}: it is not a folder. Name an empty folder, or one that does not exist", .0.display())]
    NotAFolder(PathBuf),
    #[error("cannot mount at {}: something is mounted there already. See what: findmnt {}", .0.display(), quoted(.0))]
    MountPoint(PathBuf),
    #[error("cannot mount at {}: a mount is left there whose program has ended. Clear it: {} {}", .0.display(), unmount_command(), quoted(.0))]
    Stale(PathBuf),
    /// The name cannot be that of a file.
    #[error("cannot name a file `{0}`: the name of the virtual drive must not be empty or hold a slash")]
    Name(String),
    #[error("cannot {operation} {object}: {source}. {hint}")]
    System { operation: &'static str, object: String, source: io::Error, hint: String },
}

impl MountError {
    pub(super) fn system(
        operation: &'static str,
        path: &Path,
        source: io::Error,
        hint: impl Into<String>,
    ) -> MountError {
        MountError::System { operation, object: path.display().to_string(), source, hint: hint.into() }
    }

    pub(super) fn mounting(path: &Path, source: io::Error) -> MountError {
        let hint = if !Path::new("/dev/fuse").exists() {
            "There is no /dev/fuse: load the kernel's driver with `modprobe fuse`"
        } else if source.kind() == io::ErrorKind::NotFound {
            "Only root may mount without the program fusermount3: install the package fuse3, or use sudo"
        } else {
            "Mounting needs root, or the program fusermount3 (package fuse3) and write access to the folder; in a \
             container, the capability SYS_ADMIN and the device /dev/fuse"
        };
        MountError::system("mount a virtual drive at", path, source, hint)
    }
}

/// The command that clears a dead mount, for whoever runs us.
fn unmount_command() -> &'static str {
    if super::system_call::user_and_group().0 == 0 { "umount --lazy" } else { "fusermount3 -uz" }
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_blanks_can_be_pasted() {
        assert_eq!(quoted(Path::new("/mnt/a-b")), "/mnt/a-b");
        assert_eq!(quoted(Path::new("/mnt/my drive")), "'/mnt/my drive'");
        assert_eq!(quoted(Path::new("/mnt/it's")), r"'/mnt/it'\''s'");
    }

    #[test]
    fn an_error_says_what_to_do_next() {
        let text = MountError::NotEmpty("/mnt/x".into()).to_string();
        assert!(
            text.starts_with("cannot mount at /mnt/x: ") && text.contains("Name an empty folder"),
            "{text}"
        );
    }
}
