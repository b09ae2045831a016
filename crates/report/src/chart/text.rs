//! Text in a picture: how wide it is, and what of it fits.

/// Widths of the characters from space to tilde in DejaVu Sans 2.37, in 2048ths of the font size. It is wider than Verdana,
/// Arial and most others, so what fits in it fits in them.
const WIDTHS: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303, 1303, 1303,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048, 1401, 1405, 1430, 1577,
    1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612, 1235, 1612, 1423, 1300, 1251, 1499, 1401,
    2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024, 1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298,
    569, 569, 1186, 569, 1995, 1298, 1253, 1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075,
    1303, 690, 1303, 1716,
];
/// No other character that the font has is wider, and what it does not have is a square at most.
const WIDTH_MAX: u16 = 2748;

/// Fonts that are as wide as ours or narrower, ours first.
pub(crate) const FONT_FAMILY: &str = "DejaVu Sans, Verdana, Geneva, sans-serif";

pub fn width(text: &str, font_size: f64) -> f64 {
    let mut units = 0.0;
    for character in text.chars() {
        let index = (character as usize).wrapping_sub(' ' as usize);
        units += f64::from(*WIDTHS.get(index).unwrap_or(&WIDTH_MAX));
    }
    units / 2048.0 * font_size
}

pub(super) fn fitting(text: &str, font_size: f64, width_max: f64) -> String {
    if width(text, font_size) <= width_max {
        return text.into();
    }
    let room = width_max - width(CUT_MARK, font_size);
    let mut cut = String::new();
    for character in text.chars() {
        cut.push(character);
        if width(&cut, font_size) > room {
            cut.pop();
            break;
        }
    }
    cut.trim_end().to_string() + CUT_MARK
}

const CUT_MARK: &str = "...";

/// The text in lines that are no wider than that, broken between words; a word that is wider is cut.
pub(super) fn wrapped(text: &str, font_size: f64, width_max: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), font_size) <= width_max => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitting(word, font_size, width_max)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_wide_as_the_font_says() {
        // 1303 for each digit, 651 for the point.
        assert_eq!(width("0.5", 2048.0), 3257.0);
        assert_eq!(width("東", 2048.0), 2748.0);
    }

    /// 569 for each i, 651 for the space.
    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("ii i iii", 2048.0, 569.0 * 3.0 + 651.0), ["ii i", "iii"]);
        assert_eq!(wrapped("", 2048.0, 100.0), [""; 0]);
    }

    #[test]
    fn what_does_not_fit_is_cut_and_marked() {
        assert_eq!(fitting("ST3000DM001", 10.0, 1000.0), "ST3000DM001");
        assert_eq!(fitting("iiiiiiiiii", 2048.0, 569.0 * 2.0 + 651.0 * 3.0), "ii...");
    }
}
