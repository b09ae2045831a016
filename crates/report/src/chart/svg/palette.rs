//! The colours of a picture, on light and on dark ground, from `colours.json`. The page's style sheet is built from the same file.
//!
//! The series have the hues of Okabe and Ito ("Color Universal Design", 2008), which people with any kind of colour blindness can
//! tell apart; their lightness is changed so that each has a contrast of 3 to 1 or more with its ground (WCAG 2.2, 1.4.11). No
//! meaning rests on colour: each series also has a symbol.

use super::super::drawing::Ink;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

type Colours = BTreeMap<String, String>;

static COLOURS: LazyLock<BTreeMap<String, Colours>> =
    LazyLock::new(|| serde_json::from_str(include_str!("colours.json")).expect("colours.json is valid"));

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    Light,
    Dark,
    /// As the page around it: its style sheet gives the colours.
    Page,
}

impl Theme {
    pub(super) fn colour(self, ink: Ink) -> Cow<'static, str> {
        let theme = match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Page => return Cow::Owned(format!("var(--{})", ink.name())),
        };
        Cow::Borrowed(&COLOURS[theme][&*ink.name()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let share = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn everything_is_seen_on_its_ground() {
        for theme in [Theme::Light, Theme::Dark] {
            let ground = theme.colour(Ink::Ground);
            let series = (0..8).map(Ink::Series);
            let required =
                [(Ink::Text, 4.5), (Ink::Faint, 4.5), (Ink::Mark, 4.5), (Ink::Axis, 3.0), (Ink::Region, 3.0)];
            for (ink, least) in required.into_iter().chain(series.map(|ink| (ink, 3.0))) {
                let found = contrast(&theme.colour(ink), &ground);
                assert!(found >= least, "{ink:?} {found}");
            }
        }
    }
}
