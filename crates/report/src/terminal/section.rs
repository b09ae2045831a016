//! Sections of a page.

use crate::style::{Style, Tone, paragraph};

/// Sections with an empty line between them; empty ones are left out.
pub(super) fn page(sections: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut page = String::new();
    for lines in sections {
        if !lines.is_empty() {
            if !page.is_empty() {
                page.push('\n');
            }
            page += &(lines.join("\n") + "\n");
        }
    }
    page
}

pub(super) fn toned(tone: Tone, first: &str, text: &str, style: Style) -> Vec<String> {
    let mut lines = paragraph(first, text, style.columns());
    for line in &mut lines {
        *line = style.paint(tone, line);
    }
    lines
}

/// Sentences that may quote a drive, each a paragraph in one tone.
pub(super) fn notes<S: AsRef<str>>(tone: Tone, first: &str, sentences: &[S], style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for sentence in sentences {
        lines.extend(toned(tone, first, &style.sentence(sentence.as_ref()), style));
    }
    lines
}
