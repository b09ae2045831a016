//! What the console can show: width, colours, Unicode.

use clap::ValueEnum;
use report::style::Style;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// Of a page that goes into a pipe or file.
const WIDTH: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub colour: bool,
    pub unicode: bool,
}

impl Look {
    pub fn of_console() -> Look {
        Look { colour: allows_colour(), unicode: speaks_unicode() }
    }

    pub fn own(self, text: &str) -> String {
        Style { width: 0, colour: false, unicode: self.unicode, draws: true }.own(text)
    }
}

/// When pages and the live screen have colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

/// Of the whole program, as the variables of the environment are.
static COLOUR: OnceLock<Colour> = OnceLock::new();

/// The first choice stays: a program has one console.
pub fn choose(colour: Colour) {
    COLOUR.get_or_init(|| colour);
}

fn colour() -> Colour {
    COLOUR.get().copied().unwrap_or_default()
}

pub fn page_style(plain: bool) -> Style {
    let shows = colour() == Colour::Always || std::io::stdout().is_terminal();
    let colour = shows && !plain && allows_colour();
    Style { width: width(), colour, unicode: speaks_unicode(), draws: !plain }
}

pub fn width() -> usize {
    match terminal_size::terminal_size() {
        Some((columns, _)) => usize::from(columns.0).max(20),
        None => WIDTH,
    }
}

/// NO_COLOR counts when it is set and not empty, as <https://no-color.org> has it.
pub fn allows_colour() -> bool {
    match colour() {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => variable("NO_COLOR").is_none(),
    }
}

/// By the locale's character set, as POSIX ranks the variables.
fn speaks_unicode() -> bool {
    let locale = variable("LC_ALL").or(variable("LC_CTYPE")).or(variable("LANG")).unwrap_or_default();
    // A container without a locale still has a terminal that shows UTF-8.
    locale.is_empty() || locale.to_ascii_uppercase().contains("UTF")
}

/// An empty variable counts as none.
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    if value.is_empty() { None } else { Some(value) }
}
