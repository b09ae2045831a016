//! From the text of a profile to a drive that can be, or to the line on which it cannot.

use crate::flaw::Flaw;
use crate::profile::document::{Profile, VERSION};
use crate::profile::error::ProfileError;
use crate::profile::line;
use serde::Deserialize;

/// A profile is a page or two; what is longer is something else.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// A key that differs in more letters than this was not mistyped.
const TYPOS_MAX: usize = 3;

#[derive(Deserialize)]
struct Version {
    version: toml::Spanned<u32>,
}

impl Profile {
    /// Reads and checks a profile. `file` is what the user knows the text by; an error names file, line and reason.
    pub fn parse(text: &str, file: &str) -> Result<Profile, ProfileError> {
        read(text).map_err(|(line, flaw)| ProfileError::Unsound { file: file.to_string(), line, flaw })
    }
}

fn read(text: &str) -> Result<Profile, (Option<usize>, Flaw)> {
    if text.len() > TEXT_BYTES_MAX {
        let reason = format!("it is longer than {TEXT_BYTES_MAX} bytes: that is no profile");
        return Err((None, Flaw::new("", reason)));
    }
    // A later version may have other keys: what is wrong then is the version.
    if let Ok(Version { version }) = toml::from_str::<Version>(text)
        && *version.get_ref() != VERSION
    {
        let line = line::of_byte(text, version.span().start);
        let reason = format!("this program reads version {VERSION}, not {}", version.get_ref());
        return Err((Some(line), Flaw::new("", reason)));
    }
    let profile: Profile = match toml::from_str(text) {
        Ok(profile) => profile,
        Err(error) => {
            let line = error.span().map(|span| line::of_byte(text, span.start));
            return Err((line, Flaw::new("", reason(error.message()))));
        }
    };
    match profile.check() {
        Ok(()) => Ok(profile),
        Err(flaw) => Err((line::of_key(text, &flaw.key), flaw)),
    }
}

/// The parser's message as a sentence for people: in one line, and with the key that was meant where a typo explains it.
fn reason(message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((wrong, known)) = quoted.split_first() else { return mismatch(&message).unwrap_or(message) };
    let nearest = nearest(wrong, known.iter().copied());
    if message.starts_with("unknown field") {
        return match nearest {
            Some(nearest) => format!("there is no key `{wrong}` here; did you mean `{nearest}`?"),
            None => format!("there is no key `{wrong}` here; what can stand here: {}", known.join(", ")),
        };
    }
    if message.starts_with("unknown variant") {
        let known = known.join(", ");
        return match nearest {
            Some(nearest) => format!("`{wrong}` is not one of {known}; did you mean `{nearest}`?"),
            None => format!("`{wrong}` is not one of {known}"),
        };
    }
    if message.starts_with("missing field") {
        return format!("the key `{wrong}` is missing");
    }
    mismatch(&message).unwrap_or(message)
}

/// The parser's complaint of a wrong type, without the names that types have in Rust.
fn mismatch(message: &str) -> Option<String> {
    // Of a choice between sections, such as those of a seek curve.
    if message.starts_with("wanted exactly 1 element") {
        let found = if message.contains("more than 1") { "there are several" } else { "there is none" };
        return Some(format!("exactly one of the sections that can stand here is needed, and {found}"));
    }
    let complaint = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "))?;
    let (found, needed) = complaint.rsplit_once(", expected ")?;
    let needed = match needed {
        "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number of at least 0",
        "a boolean" => "true or false",
        "a string" | "string" => "text in quotes",
        "a sequence" => "a list",
        other if other.starts_with("struct ") => "a section",
        other => other,
    };
    let found = match found.split_once(' ').unwrap_or((found, "")) {
        ("string", text) => text.to_string(),
        // Past 64 bits the type follows the number: "`99999999999999999999` as i128".
        ("integer" | "boolean", value) => value.split('`').nth(1).unwrap_or(value).to_string(),
        ("floating", value) => value.trim_start_matches("point ").trim_matches('`').to_string(),
        ("sequence", _) => "a list".to_string(),
        ("map", _) => "a section".to_string(),
        _ => found.to_string(),
    };
    Some(format!("{needed} is needed here, not {found}"))
}

pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut nearest = None;
    let mut fewest = TYPOS_MAX.min(word.chars().count() / 2) + 1;
    for other in known {
        let typos = strsim::damerau_levenshtein(word, other);
        if typos < fewest || (typos == fewest && matches!(nearest, Some(nearest) if other < nearest)) {
            (nearest, fewest) = (Some(other), typos);
        }
    }
    nearest
}
