//! Virtual drives by what is typed: the name of a preset, or a file that ends in `.toml`.

use crate::error::UserError;
use report::hostile::harmless;
use sim::Drive;
use sim::contents::Contents;
use sim::profile::{Profile, contents, open_profile, preset, preset_text};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::string::FromUtf8Error;
use thiserror::Error;

/// A profile is a page or two; a longer file is something else, such as a disk.
const FILE_BYTES_MAX: u64 = 4 << 20;

pub struct VirtualDrive {
    pub profile: Profile,
    pub text: String,
    pub path: String,
}

pub fn find(typed: &str) -> Result<VirtualDrive, UserError> {
    let name = typed.strip_prefix("sim:").unwrap_or(typed);
    let path = format!("sim:{name}");
    if Path::new(name).extension() == Some(OsStr::new("toml")) {
        let shown = harmless(name, usize::MAX);
        return match read(name) {
            Ok(text) => Ok(VirtualDrive { profile: Profile::parse(&text, &shown)?, text, path }),
            Err(why) => Err(UserError::usage(format!("cannot read the profile {shown}: {why}"))),
        };
    }
    let profile = preset(name)?;
    Ok(VirtualDrive { profile, text: preset_text(name).unwrap_or_default().to_string(), path })
}

#[derive(Debug, Error)]
enum ProfileFileError {
    #[error("there is no such file. Make one: drivescope sim new {0}")]
    NotFound(String),
    #[error("permission denied. See its owner: ls -l")]
    PermissionDenied,
    #[error("{0}")]
    Io(std::io::Error),
    #[error("it is not a regular file. Name the file of the profile")]
    NotAFile,
    #[error("it is larger than 4 MiB, so it is not a profile. Name the file of the profile")]
    TooLarge,
    #[error("it is not UTF-8, so it is not a profile")]
    NotText(#[from] FromUtf8Error),
}

impl ProfileFileError {
    fn of(error: std::io::Error, name: &str) -> ProfileFileError {
        match error.kind() {
            ErrorKind::NotFound => ProfileFileError::NotFound(harmless(name, usize::MAX)),
            ErrorKind::PermissionDenied => ProfileFileError::PermissionDenied,
            _ => ProfileFileError::Io(error),
        }
    }
}

fn read(name: &str) -> Result<String, ProfileFileError> {
    // Reading a pipe would wait, and a device never ends.
    match fs::metadata(name) {
        Ok(facts) if facts.is_file() => {}
        Ok(_) => return Err(ProfileFileError::NotAFile),
        Err(error) => return Err(ProfileFileError::of(error, name)),
    }
    let mut bytes = Vec::new();
    let opened = File::open(name);
    let read = opened.and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(ProfileFileError::of(error, name));
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ProfileFileError::TooLarge);
    }
    Ok(String::from_utf8(bytes)?)
}

impl VirtualDrive {
    /// `seed` draws everything random in it.
    pub fn open(&self, seed: u64) -> Result<Box<dyn Drive + Send>, UserError> {
        Ok(open_profile(&self.profile, &self.path, seed)?)
    }

    pub fn contents(&self, seed: u64) -> Result<Contents, UserError> {
        contents(&self.profile, seed).map_err(|flaw| UserError::usage(format!("{}: {flaw}", self.path)))
    }
}
