//! Files that results go to. Never a drive: `--json /dev/sdb`, typed by somebody who took `--json` for a flag, must not cost
//! what is on it.

use crate::error::UserError;
use crate::target_choice::VIRTUAL_PREFIX;
use report::hostile::harmless;
use rustix::fs::{Access, access, major, minor};
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Refuses a place for a result before hours are measured for it: a drive, a folder, what is measured or read for it, and what cannot
/// be written. `-` is standard output.
///
/// # Errors
/// A sentence for a person.
pub fn must_take_result(path: &Path, sources: &[&Path]) -> Result<(), UserError> {
    if path == Path::new("-") {
        return Ok(());
    }
    must_be_no_drive(path)?;
    sources.iter().try_for_each(|source| must_not_be(path, source))?;
    let shown = harmless(&path.to_string_lossy(), usize::MAX);
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_dir() => Err(UserError::usage(format!(
            "{shown} is a folder. Name a file in it for the result, or - for standard output"
        ))),
        Ok(_) => {
            access(path, Access::WRITE_OK).map_err(|error| cannot_write(path, "the result", &error.into()))
        }
        Err(_) => {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new("."));
            access(folder, Access::WRITE_OK | Access::EXEC_OK)
                .map_err(|error| cannot_write(path, "the result", &error.into()))
        }
    }
}

/// Refuses a drive before anything is measured for it.
///
/// # Errors
/// When the path leads to a block device.
pub fn must_be_no_drive(path: &Path) -> Result<(), UserError> {
    match std::fs::metadata(path) {
        Ok(facts) => refuse_drive(path, &facts),
        // That there is no such file yet is as it should be; what else is wrong is said when it is written.
        Err(_) => Ok(()),
    }
}

/// Writes a file anew. `what` is for people: "the run as JSON".
///
/// # Errors
/// When it cannot be written, or the path leads to a block device, which is opened but neither read nor written.
pub fn write(path: &Path, what: &str, content: &[u8]) -> Result<(), UserError> {
    let cannot = |error: io::Error| cannot_write(path, what, &error);
    must_be_no_drive(path)?;
    // Without O_TRUNC, so that nothing has happened until it is known what was opened.
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(cannot)?;
    let facts = file.metadata().map_err(cannot)?;
    refuse_drive(path, &facts)?;
    empty(&file, &facts).and_then(|()| file.write_all(content)).map_err(cannot)
}

/// A file that is written piece by piece and takes the place of an older one in one step, when it is complete: whoever reads
/// it meanwhile finds the old one, and a failure leaves that as it was. A pipe is written as it is.
pub struct OutputFile {
    out: BufWriter<File>,
    path: PathBuf,
    what: &'static str,
    /// Under which name it is written; none once it has its own, and for a pipe.
    temporary: Option<PathBuf>,
}

impl OutputFile {
    /// Begins it. `what` is for people: "the table".
    ///
    /// # Errors
    /// When it cannot be written, or the path leads to a block device.
    pub fn begin(path: &Path, what: &'static str) -> Result<OutputFile, UserError> {
        must_be_no_drive(path)?;
        let cannot = |error| cannot_write(path, what, &error);
        match std::fs::metadata(path) {
            Ok(facts) if facts.is_dir() => {
                Err(cannot(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")))
            }
            Ok(facts) if !facts.is_file() => {
                // Opened as it is: a pipe or a terminal is not replaced by a file.
                let file = OpenOptions::new().write(true).open(path).map_err(cannot)?;
                refuse_drive(path, &file.metadata().map_err(cannot)?)?;
                Ok(OutputFile { out: BufWriter::new(file), path: path.to_owned(), what, temporary: None })
            }
            _ => OutputFile::beside(path, what).map_err(cannot),
        }
    }

    fn beside(path: &Path, what: &'static str) -> io::Result<OutputFile> {
        // The file that a link leads to is replaced, and not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let temporary = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        Ok(OutputFile { out: BufWriter::new(file), path, what, temporary: Some(temporary) })
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When what is left cannot be written.
    pub fn finish(mut self) -> Result<(), UserError> {
        let ended = self.out.flush().and_then(|()| match &self.temporary {
            Some(temporary) => std::fs::rename(temporary, &self.path),
            None => Ok(()),
        });
        ended.map_err(|error| cannot_write(&self.path, self.what, &error))?;
        self.temporary = None;
        Ok(())
    }

    /// The error of a failed write, for a person.
    pub fn cannot(path: &Path, what: &str, error: &io::Error) -> UserError {
        cannot_write(path, what, error)
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
            // It was not finished; there is nobody to be told that it could not be removed.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

fn cannot_write(path: &Path, what: &str, error: &io::Error) -> UserError {
    let path = harmless(&path.to_string_lossy(), usize::MAX);
    UserError::failure(format!("cannot write {what} to {path}: {error}"))
}

/// A pipe or a terminal has nothing to be cut.
fn empty(file: &File, facts: &Metadata) -> io::Result<()> {
    if facts.file_type().is_file() { file.set_len(0) } else { Ok(()) }
}

/// Refuses a result in the file that is measured or read for it, by whatever name: of a virtual drive its profile, of a loop device
/// the file under it.
///
/// # Errors
/// When it is the same file.
pub fn must_not_be(path: &Path, source: &Path) -> Result<(), UserError> {
    let profile = source.to_str().and_then(|typed| typed.strip_prefix(VIRTUAL_PREFIX)).map(PathBuf::from);
    let under = file_under(source);
    let sources = [Some(source.to_owned()), profile, under];
    let same = |source: &PathBuf| {
        let facts = std::fs::metadata(path).ok().zip(std::fs::metadata(source).ok());
        facts.is_some_and(|(result, source)| (result.dev(), result.ino()) == (source.dev(), source.ino()))
    };
    if !sources.iter().flatten().any(same) {
        return Ok(());
    }
    let path = harmless(&path.to_string_lossy(), usize::MAX);
    Err(UserError::usage(format!(
        "the result would be written over what it is made from: {path}. Name another file, or - for standard output"
    )))
}

/// The file that a loop device, or the one that a partition lies on, shows as a drive.
fn file_under(device: &Path) -> Option<PathBuf> {
    let number = std::fs::metadata(device).ok().filter(|facts| facts.file_type().is_block_device())?.rdev();
    let here = PathBuf::from(format!("/sys/dev/block/{}:{}", major(number), minor(number)));
    let files = [here.join("loop/backing_file"), here.join("../loop/backing_file")];
    let path = files.iter().find_map(|file| std::fs::read(file).ok())?;
    Some(PathBuf::from(OsStr::from_bytes(path.trim_ascii_end())))
}

fn refuse_drive(path: &Path, facts: &Metadata) -> Result<(), UserError> {
    if !facts.file_type().is_block_device() && !is_of_unknown_kind(facts) {
        return Ok(());
    }
    Err(UserError::usage(format!(
        "{} is a drive: no result is written over it. Name a file, or - for standard output. What is to be measured stands by itself: \
         drivescope check {}",
        harmless(&path.to_string_lossy(), usize::MAX),
        harmless(&path.to_string_lossy(), usize::MAX)
    )))
}

/// Character devices other than those that take any text: null, zero and full (1:3, 1:5, 1:7), terminals (4, 5, 136 to 143) by the kernel's
/// list of devices. Flash memory, raw memory and the passage to SCSI drives are among the rest.
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
