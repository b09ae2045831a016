//! The plans and pattern files that somebody names: those that come with the program, and files on the disk.

use experiment::pattern_file::{self, PatternError, PatternFile, Reason};
use model::units::Bytes;
use std::io::Read;
use std::path::Path;

/// A file of patterns is a page or two, and some tens of kilobytes from Iometer with all results pages off.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads what was typed: the name of a plan that comes with the program, or a path to a `.toml`, `.icf`, `.fio` or `.job`.
pub fn find(typed: &str) -> Result<PatternFile, PatternError> {
    let reason = if pattern_file::is_file_name(typed) {
        match text_of(Path::new(typed)) {
            Ok(text) => return pattern_file::read(typed, &text),
            Err(reason) => reason,
        }
    } else {
        match pattern_file::named(typed) {
            Some(plan) => return Ok(plan),
            None => Reason::NoSuchPlan {
                shipped: pattern_file::shipped().into_iter().map(|plan| plan.name).collect(),
            },
        }
    };
    Err(PatternError { file: typed.into(), flaw: reason.into() })
}

/// The text of a file, which is not read further than it may be long. Letters of other character sets become signs for
/// what cannot be read: they can only be in names.
fn text_of(path: &Path) -> Result<String, Reason> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(Reason::Unreadable(error.to_string()));
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Reason::TooLong(Bytes::new(FILE_BYTES_MAX)));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_refused_without_being_read_and_an_unknown_name_lists_those_there_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.icf");
        std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let error = find(path.to_str().unwrap()).unwrap_err();
        assert!(error.to_string().contains("longer than 1 MiB"), "{error}");
        assert!(find("nothing").unwrap_err().to_string().contains("mixed-writes"));
        assert!(find("/no/such.toml").unwrap_err().to_string().contains("cannot be read"));
        let path = folder.path().join("empty.toml");
        std::fs::write(&path, "version = 1\n").unwrap();
        assert!(find(path.to_str().unwrap()).unwrap_err().to_string().contains("nothing to do"));
    }
}
