//! The colours of a picture, on light and on dark ground.
//!
//! The series have the hues of Okabe and Ito ("Color Universal Design", 2008), which people with any kind of colour blindness can tell apart; their
//! lightness is changed so that each has a contrast of 3 to 1 or more with its ground (WCAG 2.2, 1.4.11). No meaning rests on
//! colour: each series also has a sign of its own.

/// Light or dark ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on black.
    Dark,
    /// As the page around it: its style sheet gives the colours.
    Page,
}

/// The colours of a theme, as in CSS.
#[derive(Debug)]
pub struct Palette {
    /// The ground.
    pub ground: &'static str,
    /// Titles and names.
    pub text: &'static str,
    /// Numbers on axes and small print.
    pub faint_text: &'static str,
    /// Axes.
    pub axis: &'static str,
    /// Lines of the grid.
    pub grid: &'static str,
    /// Borders and limits.
    pub mark: &'static str,
    /// Regions that are worth pointing at.
    pub region: &'static str,
    /// Series, in order.
    pub series: [&'static str; 8],
}

const LIGHT: Palette = Palette {
    ground: "#ffffff",
    text: "#1a1a1a",
    faint_text: "#555555",
    axis: "#777777",
    grid: "#e4e4e4",
    mark: "#444444",
    region: "#b3261e",
    series: ["#0072b2", "#d55e00", "#007f5f", "#b04a86", "#8a6d00", "#2b2b2b", "#3a86c8", "#8c3b00"],
};

const DARK: Palette = Palette {
    ground: "#16181c",
    text: "#f0f0f0",
    faint_text: "#b0b4ba",
    axis: "#8a8f98",
    grid: "#2f333a",
    mark: "#c8ccd2",
    region: "#ff8a80",
    series: ["#56b4e9", "#f28e2b", "#2ec4a0", "#e08fbf", "#f0e442", "#e6e6e6", "#8ab4f8", "#ffb38a"],
};

/// The same names stand in the style sheet of the report.
const PAGE: Palette = Palette {
    ground: "var(--ground)",
    text: "var(--text)",
    faint_text: "var(--faint)",
    axis: "var(--axis)",
    grid: "var(--grid)",
    mark: "var(--mark)",
    region: "var(--region)",
    series: [
        "var(--series-0)",
        "var(--series-1)",
        "var(--series-2)",
        "var(--series-3)",
        "var(--series-4)",
        "var(--series-5)",
        "var(--series-6)",
        "var(--series-7)",
    ],
};

impl Palette {
    /// The colour of a mark: that of the series that it is of, else the one given.
    pub(super) fn of_mark(&self, series: Option<usize>, colour: &'static str) -> &'static str {
        series.map_or(colour, |series| self.series[series % self.series.len()])
    }
}

impl Theme {
    /// Its colours.
    pub fn palette(self) -> &'static Palette {
        match self {
            Theme::Light => &LIGHT,
            Theme::Dark => &DARK,
            Theme::Page => &PAGE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2.2, "relative luminance".
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
        for palette in [&LIGHT, &DARK] {
            for text in [palette.text, palette.faint_text, palette.mark] {
                assert!(contrast(text, palette.ground) >= 4.5, "{text}");
            }
            for drawn in palette.series.iter().chain([&palette.axis, &palette.region]) {
                assert!(
                    contrast(drawn, palette.ground) >= 3.0,
                    "{drawn} {}",
                    contrast(drawn, palette.ground)
                );
            }
        }
    }
}
