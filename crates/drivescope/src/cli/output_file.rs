//! Files that results are written to. Never a drive: `--json /dev/sdb`, typed for `--json` as a flag, must not destroy data.

use crate::error::{Cannot, UserError};
use crate::target_choice::VIRTUAL_PREFIX;
use report::hostile::harmless;
use rustix::fs::{Access, access, major, minor};
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Refuses a drive, a folder, what the result is made from, and what cannot be written, before hours are measured; `-` is printed.
pub fn must_take_result(path: &Path, sources: &[&Path]) -> Result<(), UserError> {
    if path == Path::new("-") {
        return Ok(());
    }
    must_be_no_drive(path)?;
    for source in sources {
        must_not_be(path, source)?;
    }
    let shown = harmless(&path.to_string_lossy(), usize::MAX);
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_dir() => Err(UserError::usage(format!(
            "{shown} is a folder. Name a file in it for the result, or - for standard output"
        ))),
        Ok(_) => must_be_accessible(path, path, Access::WRITE_OK),
        Err(_) => {
            let folder = match path.parent() {
                Some(folder) if folder != Path::new("") => folder,
                _ => Path::new("."),
            };
            must_be_accessible(path, folder, Access::WRITE_OK | Access::EXEC_OK)
        }
    }
}

fn must_be_accessible(path: &Path, of: &Path, how: Access) -> Result<(), UserError> {
    access(of, how).or_cannot(&writing(path, "the result"))
}

pub fn must_be_no_drive(path: &Path) -> Result<(), UserError> {
    match std::fs::metadata(path) {
        Ok(facts) => refuse_drive(path, &facts),
        // Any other fault shows when the file is written.
        Err(_) => Ok(()),
    }
}

/// Writes a file anew. `what` is for people: "the run as JSON".
/// Fails when it cannot be written, or the path leads to a drive, which is opened but neither read nor written.
pub fn write(path: &Path, what: &str, content: &[u8]) -> Result<(), UserError> {
    must_be_no_drive(path)?;
    let writing = writing(path, what);
    let (mut file, facts) = open_to_write(path).or_cannot(&writing)?;
    refuse_drive(path, &facts)?;
    empty(&file, &facts).or_cannot(&writing)?;
    file.write_all(content).or_cannot(&writing)
}

/// Without O_TRUNC: nothing has changed until it is known what was opened.
fn open_to_write(path: &Path) -> io::Result<(File, Metadata)> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    let facts = file.metadata()?;
    Ok((file, facts))
}

/// A file written in parts, which replaces an older one atomically when it is complete. A pipe is written directly.
pub struct OutputFile {
    out: BufWriter<File>,
    path: PathBuf,
    what: &'static str,
    /// Its name until it is complete; none for a pipe.
    temporary: Option<PathBuf>,
}

impl OutputFile {
    /// `what` is for people: "the table".
    pub fn begin(path: &Path, what: &'static str) -> Result<OutputFile, UserError> {
        must_be_no_drive(path)?;
        let writing = writing(path, what);
        match std::fs::metadata(path) {
            Ok(facts) if facts.is_dir() => Err("it is a folder").or_cannot(&writing),
            Ok(facts) if !facts.is_file() => {
                // A pipe or a terminal is not replaced by a file.
                let file = OpenOptions::new().write(true).open(path).or_cannot(&writing)?;
                refuse_drive(path, &file.metadata().or_cannot(&writing)?)?;
                Ok(OutputFile { out: BufWriter::new(file), path: path.to_owned(), what, temporary: None })
            }
            _ => OutputFile::beside(path, what).or_cannot(&writing),
        }
    }

    fn beside(path: &Path, what: &'static str) -> io::Result<OutputFile> {
        // The file that a link leads to is replaced, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let temporary = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        Ok(OutputFile { out: BufWriter::new(file), path, what, temporary: Some(temporary) })
    }

    pub fn finish(mut self) -> Result<(), UserError> {
        self.publish().or_cannot(&writing(&self.path, self.what))
    }

    fn publish(&mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some(temporary) = &self.temporary {
            std::fs::rename(temporary, &self.path)?;
        }
        self.temporary = None;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.out.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // It was not finished; that it cannot be removed is no worse.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

pub fn writing(path: &Path, what: &str) -> String {
    format!("write {what} to {}", harmless(&path.to_string_lossy(), usize::MAX))
}

/// A pipe or a terminal cannot be truncated.
fn empty(file: &File, facts: &Metadata) -> io::Result<()> {
    if facts.file_type().is_file() { file.set_len(0) } else { Ok(()) }
}

/// Fails when the result is the file that it is made from, by any name: the profile of a virtual drive, the file below a loop device.
pub fn must_not_be(path: &Path, source: &Path) -> Result<(), UserError> {
    let mut sources = vec![source.to_owned()];
    sources.extend(file_under(source));
    if let Some(typed) = source.to_str()
        && let Some(profile) = typed.strip_prefix(VIRTUAL_PREFIX)
    {
        sources.push(PathBuf::from(profile));
    }
    if !sources.iter().any(|source| are_same_file(path, source)) {
        return Ok(());
    }
    let path = harmless(&path.to_string_lossy(), usize::MAX);
    Err(UserError::usage(format!(
        "the result would be written over what it is made from: {path}. Name another file, or - for standard output"
    )))
}

fn are_same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// The file below a loop device, or below the one of a partition.
fn file_under(device: &Path) -> Option<PathBuf> {
    let facts = std::fs::metadata(device).ok()?;
    if !facts.file_type().is_block_device() {
        return None;
    }
    let number = facts.rdev();
    let here = PathBuf::from(format!("/sys/dev/block/{}:{}", major(number), minor(number)));
    let files = [here.join("loop/backing_file"), here.join("../loop/backing_file")];
    let path = files.iter().find_map(|file| std::fs::read(file).ok())?;
    Some(PathBuf::from(OsStr::from_bytes(path.trim_ascii_end())))
}

fn refuse_drive(path: &Path, facts: &Metadata) -> Result<(), UserError> {
    if !facts.file_type().is_block_device() && !is_of_unknown_kind(facts) {
        return Ok(());
    }
    let path = harmless(&path.to_string_lossy(), usize::MAX);
    Err(UserError::usage(format!(
        "{path} is a drive, and a result would overwrite it. Name a file, or - for standard output. To measure the drive: \
         drivescope check {path}"
    )))
}

/// Character devices other than null, zero and full (1:3, 1:5, 1:7) and terminals (4, 5, 136 to 143), by the kernel's list of
/// devices: flash memory, raw memory and SCSI pass-through are among them.
fn is_of_unknown_kind(facts: &Metadata) -> bool {
    let (major, minor) = (major(facts.rdev()), minor(facts.rdev()));
    let takes_text = matches!((major, minor), (1, 3 | 5 | 7)) || matches!(major, 4 | 5 | 136..=143);
    facts.file_type().is_char_device() && !takes_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_takes_no_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let (image, link) = (folder.path().join("image"), folder.path().join("link"));
        std::fs::write(&image, "data").expect("written");
        std::os::unix::fs::symlink(&image, &link).expect("a link");
        let hard = folder.path().join("hard");
        std::fs::hard_link(&image, &hard).expect("a link");
        let profile = PathBuf::from(format!("sim:{}", image.display()));
        for result in [&image, &link, &hard] {
            assert!(must_take_result(result, &[&image]).is_err(), "{result:?}");
            assert!(must_take_result(result, &[&profile]).is_err(), "{result:?}");
            assert!(must_take_result(result, &[Path::new("sim:zoned")]).is_ok(), "{result:?}");
        }
        assert!(must_take_result(&folder.path().join("other"), &[&image]).is_ok());
        assert!(must_be_no_drive(Path::new("/dev/mem")).is_err() || !Path::new("/dev/mem").exists());
        assert!(must_be_no_drive(Path::new("/dev/null")).is_ok());
    }

    #[test]
    fn where_no_file_can_be_is_said_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = |path: &Path| must_take_result(path, &[]).expect_err("no file can be there");
        assert_eq!(refused(folder.path()).status, crate::error::exit::USAGE);
        assert!(refused(&folder.path().join("none/x.json")).text.contains("none/x.json"));
        assert!(must_take_result(Path::new("-"), &[]).is_ok());
    }

    #[test]
    fn a_longer_file_is_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        std::fs::write(&path, "0123456789").expect("written");
        write(&path, "it", b"abc").expect("written");
        assert_eq!(std::fs::read(&path).expect("read"), b"abc");
        assert!(must_be_no_drive(&folder.path().join("none")).is_ok());
    }

    #[test]
    fn an_unfinished_file_leaves_the_old_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.csv");
        std::fs::write(&path, "old").expect("written");
        let mut file = OutputFile::begin(&path, "it").expect("begun");
        file.write_all(b"new and longer").expect("written");
        drop(file);
        assert_eq!(std::fs::read(&path).expect("read"), b"old");
        let mut file = OutputFile::begin(&path, "it").expect("begun");
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        let names: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
        assert_eq!(names.len(), 1);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("x.csv"), folder.path().join("link.csv"));
        std::fs::write(&path, "old").expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        let mut file = OutputFile::begin(&link, "it").expect("begun");
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert!(link.symlink_metadata().expect("it is there").is_symlink());
    }
}
