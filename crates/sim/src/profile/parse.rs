//! From the text of a profile to a drive that can be, or to the line on which it cannot.

use crate::profile::document::{Profile, VERSION};
use crate::profile::error::ProfileError;
use crate::profile::line;
use serde::Deserialize;

/// A profile is a page or two; what is longer is something else.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// A key that differs in more letters than this was not a slip of the finger.
const SLIPS_MAX: usize = 3;

/// Only the version, whatever else there is.
#[derive(Deserialize)]
struct Version {
    version: toml::Spanned<u32>,
}

impl Profile {
    /// Reads a profile. `file` is what the user knows the text by.
    ///
    /// # Errors
    /// Names file, line and reason.
    pub fn parse(text: &str, file: &str) -> Result<Profile, ProfileError> {
        let unsound = |line, reason: String| ProfileError::Unsound { file: file.to_string(), line, reason };
        if text.len() > TEXT_BYTES_MAX {
            return Err(unsound(
                None,
                format!("it is longer than {TEXT_BYTES_MAX} bytes: that is no profile"),
            ));
        }
        let explain = |error: toml::de::Error| {
            let line = error.span().map(|span| line::of_byte(text, span.start));
            unsound(line, reason(error.message()))
        };
        // A later version may have other keys: what is wrong then is the version.
        if let Ok(Version { version }) = toml::from_str::<Version>(text)
            && *version.get_ref() != VERSION
        {
            let line = line::of_byte(text, version.span().start);
            let reason = format!("this program reads version {VERSION}, not {}", version.get_ref());
            return Err(unsound(Some(line), reason));
        }
        let profile: Profile = toml::from_str(text).map_err(explain)?;
        profile.check().map_err(|flaw| {
            let reason = if flaw.key.is_empty() { flaw.reason.clone() } else { flaw.to_string() };
            unsound(line::of_key(text, &flaw.key), reason)
        })?;
        Ok(profile)
    }
}

/// The parser's message as a sentence for people: in one line, and with the key that was meant where a slip explains it.
fn reason(message: &str) -> String {
    let message = message.lines().collect::<Vec<_>>().join(" ");
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((wrong, known)) if message.starts_with("unknown field") => {
            let nearest = nearest(wrong, known.iter().copied());
            let hint = nearest.map_or_else(
                || format!("what can stand here: {}", known.join(", ")),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            format!("there is no key `{wrong}` here; {hint}")
        }
        Some((wrong, known)) if message.starts_with("unknown variant") => {
            let nearest = nearest(wrong, known.iter().copied());
            let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
            format!("`{wrong}` is not one of {}{hint}", known.join(", "))
        }
        Some((missing, _)) if message.starts_with("missing field") => {
            format!("the key `{missing}` is missing")
        }
        // The parser's words for a choice between sections, such as those of a seek curve.
        _ if message.starts_with("wanted exactly 1 element") => {
            let found = if message.contains("more than 1") { "there are several" } else { "there is none" };
            format!("exactly one of the sections that can stand here is needed, and {found}")
        }
        _ => mismatch(&message).unwrap_or(message),
    }
}

/// The parser's complaint of a wrong type, without the names that types have in this language.
fn mismatch(message: &str) -> Option<String> {
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

/// The word that differs least, if it differs little.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = |other: &str| strsim::damerau_levenshtein(word, other);
    known
        .map(|other| (slips(other), other))
        .min()
        .filter(|(slips, _)| *slips <= SLIPS_MAX.min(word.chars().count() / 2))
        .map(|(_, other)| other)
}
