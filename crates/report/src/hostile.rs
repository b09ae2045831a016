//! Text from a drive, a file name or a host is hostile: escape sequences can repaint a terminal, direction
//! overrides can turn a path around, and a megabyte of text hides everything else. Here it is made harmless.

use unicode_width::UnicodeWidthChar;

const CUT_MARK: &str = "...";

/// Letters that Unicode counts as printable but that show as nothing: fillers of Hangul and of braille.
const BLANK_LETTERS: [char; 5] = ['\u{115F}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{FFA0}'];

/// `text` with everything that is not plainly visible written as `\u{…}`, and cut to `columns_max` columns.
///
/// Control characters, line breaks, direction overrides, joiners, combining marks and unassigned characters
/// are written out, so that what is shown is one line and every character of it can be seen.
pub fn harmless(text: &str, columns_max: usize) -> String {
    let mut shown = String::new();
    let mut columns = 0;
    let mut cut_at = 0;
    for character in text.trim().chars() {
        let piece = visible(character);
        columns += piece.chars().filter_map(UnicodeWidthChar::width).sum::<usize>();
        if columns > columns_max {
            shown.truncate(cut_at);
            shown.push_str(&CUT_MARK[..CUT_MARK.len().min(columns_max)]);
            return shown;
        }
        shown.push_str(&piece);
        if columns + CUT_MARK.len() <= columns_max {
            cut_at = shown.len();
        }
    }
    shown
}

/// The text as it stands in XML or HTML, between tags or in quotes: nothing of it is markup. What XML 1.0 does not allow at
/// all (production 2, "Char") becomes U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                safe.push('\u{fffd}')
            }
            other => safe.push(other),
        }
    }
    safe
}

fn visible(character: char) -> String {
    let plain = character == ' ' || character.is_ascii_graphic();
    // `escape_debug` knows the tables of the standard library: it leaves alone what is printable and
    // does not attach to the character before it.
    let printable =
        !character.is_ascii() && character.escape_debug().len() == 1 && !BLANK_LETTERS.contains(&character);
    if plain || printable { character.to_string() } else { character.escape_unicode().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<a b=\"c\" d='e'>&\u{1b}"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\u{fffd}"
        );
    }

    /// UAX #9: the characters that set, override, isolate or mark a direction.
    const BIDI_CONTROLS: [char; 12] = [
        '\u{061C}', '\u{200E}', '\u{200F}', '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}',
        '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
    ];

    #[test]
    fn what_could_act_is_shown_instead() {
        assert_eq!(harmless("WDC\u{1b}[2J\u{7}", 80), "WDC\\u{1b}[2J\\u{7}");
        assert_eq!(harmless("a\nb\r\tc", 80), "a\\u{a}b\\u{d}\\u{9}c");
        assert_eq!(harmless("exe\u{202e}gpj", 80), "exe\\u{202e}gpj");
        assert_eq!(harmless("\u{9b}31m", 80), "\\u{9b}31m");
        assert_eq!(harmless("e\u{301}\u{3164}", 80), "e\\u{301}\\u{3164}");
    }

    #[test]
    fn what_is_harmless_stays() {
        assert_eq!(harmless("  ST3000DM001-1CH166   ", 80), "ST3000DM001-1CH166");
        assert_eq!(harmless("/mnt/größe/\"x\" 東芝", 80), "/mnt/größe/\"x\" 東芝");
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        assert_eq!(harmless("abcdefghij", 10), "abcdefghij");
        assert_eq!(harmless("abcdefghijk", 10), "abcdefg...");
        assert_eq!(harmless("東東東東", 6), "東...");
        assert_eq!(harmless("abcdef", 2), "..");
        assert_eq!(harmless("abcdef", 0), "");
    }

    fn assert_harmless(text: &str, columns_max: usize) -> Result<(), TestCaseError> {
        let shown = harmless(text, columns_max);
        let acts = |c: char| {
            c.is_control() || BIDI_CONTROLS.contains(&c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
        };
        prop_assert!(!shown.contains(acts), "{:?}", shown);
        prop_assert!(shown.width() <= columns_max, "{:?}", shown);
        Ok(())
    }

    proptest! {
        #[test]
        fn no_text_can_act(text in any::<String>(), columns_max in 0usize..200) {
            assert_harmless(&text, columns_max)?;
        }

        #[test]
        fn no_text_of_hostile_characters_can_act(
            characters in prop::collection::vec(
                prop_oneof![
                    prop::char::range('\u{0}', '\u{9f}'),
                    prop::sample::select(BIDI_CONTROLS.to_vec()),
                    prop::char::range('\u{2000}', '\u{206f}'),
                    prop::char::range('\u{e0000}', '\u{e007f}'),
                ],
                0..100,
            ),
            columns_max in 0usize..200,
        ) {
            assert_harmless(&characters.into_iter().collect::<String>(), columns_max)?;
        }
    }
}
