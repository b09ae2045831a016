//! Lines and fields that know where they stand, so that an error can say it.

use crate::error::ImportError;
use model::quantity_text::parse_size;

/// A line of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'text> {
    /// Counted from 1.
    pub number: usize,
    /// Without its end.
    pub text: &'text str,
}

/// A part of a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'text> {
    /// Of the line.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// Without blanks around it.
    pub text: &'text str,
}

/// The lines of a text. A carriage return ends one too: progress that overwrites itself is made of such.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let numbered = text.split('\n').zip(1usize..);
    numbered.flat_map(|(line, number)| line.split('\r').map(move |text| Line { number, text }))
}

impl<'text> Line<'text> {
    /// Its parts between commas.
    pub(crate) fn by_comma(self) -> Vec<Field<'text>> {
        self.by(',')
    }

    /// Its parts between that character.
    pub(crate) fn by(self, separator: char) -> Vec<Field<'text>> {
        let mut column = 1;
        let fields = self.text.split(separator).map(|part| {
            let blank = part.chars().take_while(|c| c.is_whitespace()).count();
            let field = Field { line: self.number, column: column + blank, text: part.trim() };
            column += part.chars().count() + 1;
            field
        });
        fields.collect()
    }

    /// Its parts between blanks.
    pub(crate) fn words(self) -> Vec<Field<'text>> {
        let mut fields = Vec::new();
        let mut began: Option<(usize, usize)> = None;
        let end = [(self.text.len(), ' ')];
        for (column, (at, c)) in (1..).zip(self.text.char_indices().chain(end)) {
            match (began, c.is_whitespace()) {
                (None, false) => began = Some((at, column)),
                (Some((from, first)), true) => {
                    fields.push(Field { line: self.number, column: first, text: &self.text[from..at] });
                    began = None;
                }
                _ => {}
            }
        }
        fields
    }

    /// What comes after `mark`, if the line has it.
    pub(crate) fn after(self, mark: &str) -> Option<Field<'text>> {
        let at = self.text.find(mark)? + mark.len();
        let rest = &self.text[at..];
        let blank = rest.chars().take_while(|c| c.is_whitespace()).count();
        let column = self.text[..at].chars().count() + blank + 1;
        Some(Field { line: self.number, column, text: rest.trim() })
    }

    /// An error about this line as a whole.
    pub(crate) fn error(self, expected: impl Into<String>) -> ImportError {
        ImportError::at(self.number, 0, expected, self.text.trim())
    }
}

impl Field<'_> {
    /// An error about this field.
    pub(crate) fn error(&self, expected: impl Into<String>) -> ImportError {
        ImportError::at(self.line, self.column, expected, self.text)
    }

    /// A number that is not negative. A comma may stand for the point.
    pub(crate) fn number(&self, of_what: &str) -> Result<f64, ImportError> {
        number(self.text).ok_or_else(|| self.error(of_what))
    }

    /// A whole number that is not negative.
    pub(crate) fn whole(&self, of_what: &str) -> Result<u64, ImportError> {
        self.text.parse().map_err(|_| self.error(of_what))
    }

    /// A size such as `64M`.
    pub(crate) fn size(&self, of_what: &str) -> Result<u64, ImportError> {
        parse_size(self.text).map(|size| size.0).map_err(|_| self.error(of_what))
    }

    /// The number that the field begins with, and what follows it without blanks.
    pub(crate) fn number_and_rest(&self, of_what: &str) -> Result<(f64, &str), ImportError> {
        let is_of_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let end = self.text.find(|c| !is_of_number(c)).unwrap_or(self.text.len());
        let value =
            number(self.text[..end].trim_end_matches([',', '.'])).ok_or_else(|| self.error(of_what))?;
        Ok((value, self.text[end..].trim()))
    }
}

/// A plain decimal number: no sign, no exponent, no infinity.
pub(crate) fn number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
        && text.bytes().filter(|byte| matches!(byte, b'.' | b',')).count() <= 1;
    let value: f64 = is_plain.then(|| text.replace(',', ".").parse().ok()).flatten()?;
    value.is_finite().then_some(value)
}

/// A whole number out of one that was computed, or none when it does not fit.
pub(crate) fn rounded(value: f64) -> Option<u64> {
    (0.0..9e18).contains(&value).then(|| value.round() as u64)
}

/// Bytes in one of a unit as programs print it: `KB` and `K` are what `thousand` says, `KiB` is always 1024.
pub(crate) fn unit_bytes(unit: &str, thousand: f64) -> Option<f64> {
    let lower = unit.trim().trim_end_matches("/s").trim_end_matches("/sec").to_ascii_lowercase();
    let (power, base) = match lower.as_str() {
        "b" | "byte" | "bytes" => (0, thousand),
        "k" | "kb" => (1, thousand),
        "m" | "mb" => (2, thousand),
        "g" | "gb" => (3, thousand),
        "t" | "tb" => (4, thousand),
        "kib" => (1, 1024.0),
        "mib" => (2, 1024.0),
        "gib" => (3, 1024.0),
        "tib" => (4, 1024.0),
        _ => return None,
    };
    Some(f64::powi(base, power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_know_their_columns() {
        let line = Line { number: 7, text: "  ab  12,5 x" };
        let columns: Vec<(usize, &str)> = line.words().iter().map(|f| (f.column, f.text)).collect();
        assert_eq!(columns, [(3, "ab"), (7, "12,5"), (12, "x")]);
        let cells: Vec<(usize, &str)> =
            Line { number: 1, text: "ä, b,,c" }.by_comma().iter().map(|f| (f.column, f.text)).collect();
        assert_eq!(cells, [(1, "ä"), (4, "b"), (6, ""), (7, "c")]);
        assert_eq!(
            line.words()[0].number("a rate").unwrap_err().to_string(),
            "line 7, column 3: expected a rate, found `ab`"
        );
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!(number("12,5"), Some(12.5));
        for odd in ["", "-1", "1e9", "inf", "1.2.3", "+++++"] {
            assert_eq!(number(odd), None, "{odd}");
        }
        assert_eq!(unit_bytes("MB/s", 1000.0), Some(1e6));
        assert_eq!(unit_bytes("KiB", 1000.0), Some(1024.0));
        assert_eq!(unit_bytes("furlongs", 1000.0), None);
    }

    #[test]
    fn progress_that_overwrites_itself_is_lines() {
        let all: Vec<(usize, &str)> = lines("a\rb\nc").map(|l| (l.number, l.text)).collect();
        assert_eq!(all, [(1, "a"), (1, "b"), (2, "c")]);
    }
}
