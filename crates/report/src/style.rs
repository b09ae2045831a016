//! How a page is laid out: its width, whether it may use colour and more than ASCII, and the text functions that keep to it.

use crate::hostile::harmless;
use unicode_width::UnicodeWidthStr;

/// What the terminal can do. Whether it can, and whether NO_COLOR is set, is for the caller to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns. Pages are laid out for 60 to 160 and use no more than 120, since longer lines read badly.
    pub width: usize,
    pub colour: bool,
    pub unicode: bool,
    /// Whether charts and maps are drawn: a screen reader would read each dot.
    pub draws: bool,
}

/// Narrower than this nothing can be aligned; such a terminal wraps the lines itself.
const PAGE_COLUMNS_MIN: usize = 40;
const PAGE_COLUMNS_MAX: usize = 120;
/// The longest text from a drive or host that a page takes over as a word or name.
const NAME_COLUMNS_MAX: usize = 120;
const SENTENCE_COLUMNS_MAX: usize = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Heading,
    Bad,
    /// The reader should know before believing the rest.
    Warning,
    Faint,
}

impl Style {
    pub fn columns(&self) -> usize {
        self.width.clamp(PAGE_COLUMNS_MIN, PAGE_COLUMNS_MAX)
    }

    pub fn own(&self, text: &str) -> String {
        if self.unicode { text.into() } else { ascii(text) }
    }

    pub(crate) fn name(&self, text: &str) -> String {
        self.own(&harmless(text, NAME_COLUMNS_MAX))
    }

    /// A sentence that may quote a drive, a host or a store.
    pub(crate) fn sentence(&self, text: &str) -> String {
        self.own(&harmless(text, SENTENCE_COLUMNS_MAX))
    }

    /// The text in the colour of its tone, if colour may be used. SGR codes of ECMA-48.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.into();
        }
        let code = match tone {
            Tone::Heading => "1",
            Tone::Bad => "1;31",
            Tone::Warning => "33",
            Tone::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// The text with look-alikes for the signs that we use; what else is not ASCII is written out.
fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if character.is_ascii() => plain.push(character),
            'µ' | 'μ' => plain.push('u'),
            '×' => plain.push('x'),
            '–' | '—' | '−' | '‑' => plain.push('-'),
            '‘' | '’' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '…' => plain.push_str("..."),
            '±' => plain.push_str("+-"),
            '≤' => plain.push_str("<="),
            '≥' => plain.push_str(">="),
            '°' => plain.push_str("deg "),
            other => plain.extend(other.escape_unicode()),
        }
    }
    plain
}

pub fn columns_of(text: &str) -> usize {
    text.width()
}

pub fn pad_end(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(columns_of(text))))
}

pub fn pad_start(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(columns_of(text))))
}

/// Lines of at most `columns`, broken at spaces but not between a number and its unit, nor within a command in backticks that
/// fits into a line. A word longer than a line is cut into several.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut words = unbreakable_words(text);
    for word in &mut words {
        if word.contains('`') && columns_of(word) > columns {
            *word = word.replace(GLUE, " ");
        }
    }
    let words = words.join(" ");
    let options = textwrap::Options::new(columns.max(1))
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&words, options).iter().map(|line| line.replace(GLUE, " ")).collect()
}

/// Stands for a space at which a line is not broken, and is as wide.
const GLUE: char = '\u{a0}';

/// Units that stay with the number before them.
const UNITS: [&str; 29] = [
    "%", "×", "x", "ns", "µs", "us", "ms", "s", "min", "h", "bytes", "kB", "MB", "GB", "TB", "PB", "KiB",
    "MiB", "GiB", "TiB", "PiB", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s", "IOPS", "rpm",
];

fn unbreakable_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches(['.', ',', ';', ':', ')']);
        match words.last_mut() {
            Some(last)
                if is_open_command(last)
                    || (UNITS.contains(&unit) && ends_with_number(last))
                    || goes_on_as_time(word, last)
                    || is_depth(word, last) =>
            {
                last.push(GLUE);
                last.push_str(word);
            }
            _ => words.push(word.into()),
        }
    }
    words
}

fn is_open_command(words: &str) -> bool {
    words.matches('`').count() % 2 == 1
}

fn is_depth(word: &str, words: &str) -> bool {
    ["QD", "seed"].contains(&words.trim_start_matches('(')) && word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a word goes on with a time: "58" after "4 h".
fn goes_on_as_time(word: &str, words: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && matches!(words.rsplit_once(GLUE), Some((_, "h" | "min")))
}

fn ends_with_number(words: &str) -> bool {
    let word = words.rsplit(GLUE).next().unwrap_or(words);
    word.trim_start_matches(['(', '+', '-']).starts_with(|c: char| c.is_ascii_digit()) && word.len() <= 16
}

/// A paragraph: the first line begins with `first`, the others are indented to the same column.
pub fn paragraph(first: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = columns_of(first);
    let mut lines = wrap(text, columns.saturating_sub(indent));
    for (index, line) in lines.iter_mut().enumerate() {
        *line = if index == 0 { format!("{first}{line}") } else { format!("{}{line}", " ".repeat(indent)) };
    }
    lines
}

/// With a small first letter, as within a sentence, but for "IOPS" and the like.
pub(crate) fn lower(text: &str) -> String {
    if text.chars().nth(1).is_some_and(char::is_uppercase) {
        return text.into();
    }
    text[..1].to_lowercase() + &text[1..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(wrap("It reads 211 MB/s, twice.", 13), ["It reads", "211 MB/s,", "twice."]);
        assert_eq!(wrap("in 4 h 58 min or so", 12), ["in", "4 h 58 min", "or so"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("Then use `a b --c`. It", 12), ["Then use", "`a b --c`.", "It"]);
        assert_eq!(wrap("use `long command`", 9), ["use `long", "command`"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn plain_ascii_keeps_the_meaning() {
        let style = Style { width: 80, colour: false, unicode: false, draws: true };
        assert_eq!(style.own("1.50 × in 3 µs – 40 °C 東"), "1.50 x in 3 us - 40 deg C \\u{6771}");
    }

    #[test]
    fn the_text_hangs_under_itself() {
        assert_eq!(paragraph("! ", "one two three", 9), ["! one two", "  three"]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_nothing_is_lost(text in "[a-z0-9 東µ]{0,80}", columns in 2usize..40) {
            let lines = wrap(&text, columns);
            for line in &lines {
                prop_assert!(columns_of(line) <= columns, "{:?}", line);
            }
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
