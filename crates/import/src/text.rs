//! Lines and fields that know where they stand, so that an error can say it.

use crate::error::ImportError;
use model::quantity_text::parse_size;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'text> {
    /// Lines of the file, counted from 1.
    pub number: usize,
    pub text: &'text str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'text> {
    pub line: usize,
    pub column: usize,
    pub text: &'text str,
}

/// The lines of a text. A carriage return ends one too: progress that overwrites itself is made of such.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let numbered = text.split('\n').zip(1usize..);
    numbered.flat_map(|(line, number)| line.split('\r').map(move |text| Line { number, text }))
}

/// Whether `look` finds something in a line of the text.
pub(crate) fn any_line<'text, Found>(text: &'text str, look: impl Fn(Line<'text>) -> Option<Found>) -> bool {
    lines(text).any(|line| look(line).is_some())
}

/// Where the first of the words is that is one of these.
pub(crate) fn position_of(words: &[Field<'_>], texts: &[&str]) -> Option<usize> {
    words.iter().position(|word| texts.contains(&word.text))
}

fn blanks(text: &str) -> usize {
    text[..text.len() - text.trim_start().len()].chars().count()
}

impl<'text> Line<'text> {
    pub(crate) fn by(self, separator: char) -> Vec<Field<'text>> {
        let mut column = 1;
        let mut fields = Vec::new();
        for part in self.text.split(separator) {
            fields.push(Field { line: self.number, column: column + blanks(part), text: part.trim() });
            column += part.chars().count() + 1;
        }
        fields
    }

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

    pub(crate) fn after(self, mark: &str) -> Option<Field<'text>> {
        let at = self.text.find(mark)? + mark.len();
        let rest = &self.text[at..];
        let column = self.text[..at].chars().count() + blanks(rest) + 1;
        Some(Field { line: self.number, column, text: rest.trim() })
    }

    pub(crate) fn needs<Value>(self, value: Option<Value>, expected: &str) -> Result<Value, ImportError> {
        match value {
            Some(value) => Ok(value),
            None => Err(self.error(expected)),
        }
    }

    pub(crate) fn error(self, expected: impl Into<String>) -> ImportError {
        ImportError::at(self.number, 0, expected, self.text.trim())
    }
}

impl Field<'_> {
    pub(crate) fn error(&self, expected: impl Into<String>) -> ImportError {
        ImportError::at(self.line, self.column, expected, self.text)
    }

    pub(crate) fn needs<Value>(&self, value: Option<Value>, expected: &str) -> Result<Value, ImportError> {
        match value {
            Some(value) => Ok(value),
            None => Err(self.error(expected)),
        }
    }

    /// A number that is not negative. A comma may stand for the point.
    pub(crate) fn number(&self, of_what: &str) -> Result<f64, ImportError> {
        self.needs(number(self.text), of_what)
    }

    pub(crate) fn whole(&self, of_what: &str) -> Result<u64, ImportError> {
        self.needs(self.text.parse().ok(), of_what)
    }

    /// Bytes of a size such as `64M`, which is binary here.
    pub(crate) fn size(&self, of_what: &str) -> Result<u64, ImportError> {
        Ok(self.needs(parse_size(self.text).ok(), of_what)?.get())
    }

    pub(crate) fn number_and_rest(&self, of_what: &str) -> Result<(f64, &str), ImportError> {
        let rest = self.text.trim_start_matches(is_of_number);
        let digits = &self.text[..self.text.len() - rest.len()];
        let value = self.needs(number(digits.trim_end_matches([',', '.'])), of_what)?;
        Ok((value, rest.trim()))
    }
}

fn is_of_number(letter: char) -> bool {
    letter.is_ascii_digit() || is_point(letter)
}

fn is_point(letter: char) -> bool {
    matches!(letter, '.' | ',')
}

/// A plain decimal number: no sign, no exponent, no infinity.
pub(crate) fn number(text: &str) -> Option<f64> {
    let begins_with_digit = text.bytes().next()?.is_ascii_digit();
    if !begins_with_digit || !text.chars().all(is_of_number) || text.matches(is_point).count() > 1 {
        return None;
    }
    let value: f64 = text.replace(',', ".").parse().ok()?;
    if value.is_finite() { Some(value) } else { None }
}

pub(crate) fn rounded(value: f64) -> Option<u64> {
    if (0.0..9e18).contains(&value) { Some(value.round() as u64) } else { None }
}

pub(crate) fn above_zero(value: f64) -> Option<u64> {
    match rounded(value) {
        Some(0) => None,
        rounded => rounded,
    }
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
            Line { number: 1, text: "ä, b,,c" }.by(',').iter().map(|f| (f.column, f.text)).collect();
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
