//! Where a text cannot be read on, what was expected there, and what stands there instead.

use std::fmt;

/// So much of what was found is shown: enough to find it, and no more than fits on a line.
const SHOWN_CHARACTERS_MAX: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Counted from 1; 0 when it is about the text as a whole.
    pub line: usize,
    /// In characters, counted from 1; 0 when it is about the line as a whole.
    pub column: usize,
    pub expected: String,
    /// What stands there, shortened and without control characters; nothing when something is missing.
    pub found: String,
}

impl ImportError {
    pub(crate) fn at(line: usize, column: usize, expected: impl Into<String>, found: &str) -> ImportError {
        ImportError { line, column, expected: expected.into(), found: shown(found) }
    }

    /// Of a document that begins below that number of lines.
    pub(crate) fn json(error: &serde_json::Error, lines_before: usize) -> ImportError {
        let (line, column) = (error.line() + lines_before, error.column());
        ImportError::at(line, column, "JSON that goes on to its end", &error.to_string())
    }

    pub(crate) fn whole(expected: impl Into<String>) -> ImportError {
        ImportError { line: 0, column: 0, expected: expected.into(), found: String::new() }
    }
}

/// A text in which nothing moves a cursor or colours a terminal, no longer than a part of a line.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_CHARACTERS_MAX).collect();
    let mut short = short.replace(char::is_control, "\u{fffd}");
    if text.chars().nth(SHOWN_CHARACTERS_MAX).is_some() {
        short.push('…');
    }
    short
}

impl fmt::Display for ImportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => {}
            (line, 0) => write!(formatter, "line {line}: ")?,
            (line, column) => write!(formatter, "line {line}, column {column}: ")?,
        }
        write!(formatter, "expected {}", self.expected)?;
        match (self.line, self.found.as_str()) {
            (0, _) => Ok(()),
            (_, "") => formatter.write_str(", found nothing"),
            (_, found) => write!(formatter, ", found `{found}`"),
        }
    }
}

impl std::error::Error for ImportError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_short_and_harmless() {
        let error = ImportError::at(3, 7, "a number", "\u{1b}[2Jabc");
        assert_eq!(error.to_string(), "line 3, column 7: expected a number, found `\u{fffd}[2Jabc`");
        let long = ImportError::at(1, 0, "a result", &"x".repeat(1000));
        assert_eq!(long.found.chars().count(), 41);
        assert_eq!(
            ImportError::at(2, 5, "a number", "").to_string(),
            "line 2, column 5: expected a number, found nothing"
        );
    }
}
