//! The files of configuration: the administrator's, then the user's.
//!
//! A file sets options ahead, which the command line declares, and excludes drives from writes. It cannot consent to a write:
//! no consent is declared as an option that can be set here.

use crate::error::UserError;
use io::targets::{DrivePattern, Exclusion, NeverWrite};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Of the administrator, whom no variable of the environment can send elsewhere.
const OF_ADMINISTRATOR: &str = "/etc/drivescope/config.toml";
pub const NEVER_WRITE: &str = "never-write";
/// Nobody writes more by hand, and a file without an end is refused.
const BYTES_MAX: u64 = 1 << 20;

/// What is set in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigurationFile {
    pub path: PathBuf,
    pub exists: bool,
    pub settings: Vec<Setting>,
    pub never_write: Vec<Exclusion>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The command that it is for alone.
    pub command: Option<String>,
    pub key: String,
    /// As it would be typed behind the option.
    pub value: String,
    pub file: PathBuf,
    pub line: usize,
}

impl Setting {
    /// An error of usage that says where it stands.
    pub fn wrong(&self, why: &str) -> UserError {
        wrong(&self.file, self.line, why)
    }
}

/// All files that count, the strongest last. One that is not there sets nothing.
///
/// # Errors
/// The file, the line and what is allowed there.
pub fn read() -> Result<Vec<ConfigurationFile>, UserError> {
    let mut paths = vec![PathBuf::from(OF_ADMINISTRATOR)];
    paths.extend(of_user(std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME")));
    paths.iter().map(|path| read_file(path)).collect()
}

/// The drives that may never be written. Each file adds to them, and none takes any away.
///
/// # Errors
/// As [`read`].
pub fn never_write() -> Result<NeverWrite, UserError> {
    let files = read()?;
    Ok(NeverWrite(files.into_iter().flat_map(|file| file.never_write).collect()))
}

/// A relative path in a variable counts as none, as the XDG base directory specification asks.
fn of_user(config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute(config_home).or_else(|| Some(absolute(home)?.join(".config")))?;
    Some(folder.join("drivescope/config.toml"))
}

fn read_file(path: &Path) -> Result<ConfigurationFile, UserError> {
    let cannot = |why: &dyn std::fmt::Display| {
        UserError::usage(format!(
            "cannot read the configuration {}: {why}. Correct or remove it",
            path.display()
        ))
    };
    match fs::metadata(path) {
        // A folder on the way that is a file, as a home of /dev/null has it, holds no configuration either.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(ConfigurationFile { path: path.into(), ..ConfigurationFile::default() });
        }
        // The home of somebody else, as after `su` without a dash, is not this user's. What an administrator forbids is never passed over.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && path != Path::new(OF_ADMINISTRATOR) => {
            return Ok(ConfigurationFile { path: path.into(), ..ConfigurationFile::default() });
        }
        Err(error) => return Err(cannot(&error)),
        Ok(facts) if !facts.is_file() => return Err(cannot(&"it is no file")),
        Ok(facts) if facts.len() > BYTES_MAX => return Err(cannot(&"it is larger than 1 MiB")),
        Ok(_) => {}
    }
    match fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(error) => Err(cannot(&error)),
    }
}

/// What a file of this text sets.
///
/// # Errors
/// The first line that cannot be read, and why.
pub fn parse(path: &Path, text: &str) -> Result<ConfigurationFile, UserError> {
    let line = |byte: usize| 1 + text.bytes().take(byte).filter(|&byte| byte == b'\n').count();
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let at = error.span().map_or(1, |span| line(span.start));
            return Err(wrong(path, at, &format!("it is no TOML: {}", error.message())));
        }
    };
    let mut file = ConfigurationFile { path: path.into(), exists: true, ..ConfigurationFile::default() };
    for (key, value) in document.get_ref() {
        let (name, at) = (key.get_ref().as_ref(), line(key.span().start));
        match value.get_ref() {
            DeValue::Array(items) if name == NEVER_WRITE => {
                for item in items {
                    file.never_write.push(exclusion(path, line(item.span().start), item)?);
                }
            }
            _ if name == NEVER_WRITE => {
                return Err(wrong(path, at, "never-write is a list: [\"/dev/sda\", \"serial:S4EW*\"]"));
            }
            DeValue::Table(table) => {
                for (key, value) in table {
                    let at = line(key.span().start);
                    file.settings.push(setting(path, at, Some(name), key.get_ref(), value.get_ref())?);
                }
            }
            value => file.settings.push(setting(path, at, None, name, value)?),
        }
    }
    Ok(file)
}

fn exclusion(path: &Path, line: usize, item: &Spanned<DeValue<'_>>) -> Result<Exclusion, UserError> {
    let Some(text) = item.get_ref().as_str() else {
        return Err(wrong(path, line, "each drive in never-write is a text in quotes, such as \"/dev/sda\""));
    };
    match text.parse::<DrivePattern>() {
        Ok(drives) => Ok(Exclusion { drives, origin: format!("{}:{line}", path.display()) }),
        Err(why) => Err(wrong(path, line, &format!("`{text}` in never-write: {why}"))),
    }
}

fn setting(
    path: &Path,
    line: usize,
    command: Option<&str>,
    key: &str,
    value: &DeValue<'_>,
) -> Result<Setting, UserError> {
    let value = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Boolean(is_set) => is_set.to_string(),
        DeValue::Integer(number) => number.as_str().into(),
        DeValue::Float(number) => number.as_str().into(),
        _ => return Err(wrong(path, line, &format!("{key} is a text, a number, true or false"))),
    };
    let command = command.map(str::to_owned);
    Ok(Setting { command, key: key.into(), value, file: path.into(), line })
}

fn wrong(path: &Path, line: usize, why: &str) -> UserError {
    UserError::usage(format!("{}:{line}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfigurationFile, String> {
        parse(Path::new("/c.toml"), text).map_err(|error| error.text)
    }

    #[test]
    fn options_and_exclusions_are_read_with_their_lines() {
        let text = "store = \"/srv\"\nplain = true\n\nnever-write = [\n \"/dev/sda\",\n \"model:X*\"]\n[check]\ntime-limit = \"9s\"\n";
        let file = read(text).expect("it is good");
        let settings: Vec<_> = file
            .settings
            .iter()
            .map(|setting| {
                (setting.command.as_deref(), setting.key.as_str(), setting.value.as_str(), setting.line)
            })
            .collect();
        assert_eq!(
            settings,
            [(Some("check"), "time-limit", "9s", 8), (None, "plain", "true", 2), (None, "store", "/srv", 1)]
        );
        let origins: Vec<&str> = file.never_write.iter().map(|each| each.origin.as_str()).collect();
        assert_eq!(origins, ["/c.toml:5", "/c.toml:6"]);
    }

    #[test]
    fn what_is_wrong_is_named_by_file_and_line() {
        for (text, expected) in [
            ("a = 1\nb = = 2\n", "/c.toml:2: it is no TOML: "),
            ("\nnever-write = \"/dev/sda\"\n", "/c.toml:2: never-write is a list"),
            ("never-write = [\n1]", "/c.toml:2: each drive in never-write is a text in quotes"),
            ("never-write = [\"sda\"]", "/c.toml:1: `sda` in never-write: it is neither a path"),
            ("[check]\nstore = [1]\n", "/c.toml:2: store is a text, a number, true or false"),
            ("[check.more]\nx = 1\n", "/c.toml:1: more is a text"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_users_file_lies_where_xdg_says() {
        let path = |text: &str| Some(OsString::from(text));
        let expected = Some(PathBuf::from("/c/drivescope/config.toml"));
        assert_eq!(of_user(path("/c"), path("/h")), expected);
        let expected = Some(PathBuf::from("/h/.config/drivescope/config.toml"));
        assert_eq!(of_user(path("relative"), path("/h")), expected);
        assert_eq!(of_user(None, None), None);
    }
}
