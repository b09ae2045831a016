//! Tables as CSV: RFC 4180, UTF-8, a line of names first, lines end with CR LF.
//!
//! A spreadsheet runs a cell as a formula that begins with `=`, `+`, `-`, `@` or a tab, also when it is quoted, and a
//! drive may call itself what it likes. So text that begins with one of them, or with the mark itself, gets an
//! apostrophe in front: spreadsheets then show it as text, and a program gets the text back by taking one apostrophe
//! from the front of a text cell. Numbers are never marked, for they come from us. What a text holds that cannot be
//! seen (control characters, line breaks) is written out as `\u{…}`, so that a row is always one line. Empty text is
//! written `""`, and a cell without a value as nothing.

use report::hostile::harmless;
use std::fmt::Write;
use store::{Cell, Column};

/// Between fields, around them, and at the end of a line.
const SEPARATOR: char = ',';
const QUOTE: char = '"';
const LINE_END: &str = "\r\n";

/// What makes a spreadsheet take a cell for a formula (OWASP, "CSV Injection"), with the full-width forms that some take
/// for the same, and the mark itself, so that it can be taken off again.
const ACTIVE_FIRST: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠', MARK];
const MARK: char = '\'';

pub fn header(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    names.join(",") + LINE_END
}

pub fn line(row: &[Cell]) -> String {
    let fields: Vec<String> = row.iter().map(field).collect();
    fields.join(",") + LINE_END
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Integer(value) => value.to_string(),
        Cell::Float(value) => number(*value),
        Cell::Flag(value) => value.to_string(),
        Cell::Text(text) => text_field(text),
        Cell::Small(_) | Cell::Operation(_) | Cell::Bytes(_) => {
            unreachable!("no table has such a column: {cell:?}")
        }
    }
}

/// Very large and very small numbers get an exponent: 300 digits help nobody.
fn number(value: f64) -> String {
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}

fn text_field(text: &str) -> String {
    quoted(&unarmed(&harmless(text, usize::MAX)))
}

fn unarmed(text: &str) -> String {
    if text.starts_with(ACTIVE_FIRST) { format!("{MARK}{text}") } else { text.to_owned() }
}

/// A field as RFC 4180 has it: in quotes where it must be, each quote within doubled.
fn quoted(text: &str) -> String {
    let must = text.is_empty()
        || text.starts_with(' ')
        || text.ends_with(' ')
        || text.contains([SEPARATOR, QUOTE, '\r', '\n']);
    if !must {
        return text.to_owned();
    }
    let mut field = String::with_capacity(text.len() + 2);
    let _ = write!(field, "{QUOTE}{}{QUOTE}", text.replace(QUOTE, "\"\""));
    field
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads one line of fields as RFC 4180 describes it; written for the test, apart from the writer.
    fn read_back(line: &str) -> Vec<String> {
        let mut fields = vec![String::new()];
        let mut characters = line.strip_suffix("\r\n").expect("a line ends with CR LF").chars().peekable();
        let mut is_quoted = false;
        while let Some(character) = characters.next() {
            let field = fields.last_mut().expect("there is always a field");
            match (is_quoted, character) {
                (true, '"') if characters.peek() == Some(&'"') => {
                    characters.next();
                    field.push('"');
                }
                (true, '"') => is_quoted = false,
                (false, '"') => is_quoted = true,
                (false, ',') => fields.push(String::new()),
                (_, other) => field.push(other),
            }
        }
        assert!(!is_quoted, "{line:?}");
        fields
    }

    #[test]
    fn cells_become_fields() {
        let row = [
            Cell::Empty,
            Cell::Integer(7),
            Cell::Float(0.1),
            Cell::Float(1e-9),
            Cell::Float(1.5e300),
            Cell::Flag(true),
            Cell::Text(String::new()),
            Cell::Text("a,\"b\"".into()),
        ];
        assert_eq!(line(&row), ",7,0.1,1e-9,1.5e300,true,\"\",\"a,\"\"b\"\"\"\r\n");
    }

    #[test]
    fn no_formula_is_run() {
        let field = |text: &str| text_field(text);
        assert_eq!(field("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
        assert_eq!(field("-1+1"), "'-1+1");
        assert_eq!(field("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(field("＝1"), "'＝1");
        assert_eq!(field("'=1"), "''=1");
        assert_eq!(field("  \t=1"), "'=1", "white space at the ends is not kept");
        assert_eq!(field("ST3000"), "ST3000");
        assert_eq!(field("a\nb\0\u{1b}[2J"), "a\\u{a}b\\u{0}\\u{1b}[2J");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(texts in prop::collection::vec(any::<String>(), 1..6)) {
            let row: Vec<Cell> = texts.iter().cloned().map(Cell::Text).collect();
            let written = line(&row);
            prop_assert_eq!(written.matches('\n').count(), 1);
            let fields = read_back(&written);
            prop_assert_eq!(fields.len(), texts.len());
            for (field, text) in fields.iter().zip(&texts) {
                prop_assert!(!field.starts_with(['=', '+', '-', '@', '\t', '\r']));
                let shown = harmless(text, usize::MAX);
                let marked = shown.starts_with(ACTIVE_FIRST);
                prop_assert_eq!(if marked { &field[1..] } else { field.as_str() }, shown.as_str());
            }
        }

        #[test]
        fn any_text_can_be_quoted(text in "[,\"\r\n a=]{0,12}") {
            let written = quoted(&text) + LINE_END;
            prop_assert_eq!(read_back(&written), vec![text]);
        }

        #[test]
        fn numbers_come_back_to_the_bit(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
            prop_assert_eq!(number(value).parse::<f64>().expect("a number").to_bits(), value.to_bits());
        }
    }
}
