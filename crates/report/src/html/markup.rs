//! Text in markup. What comes from a drive, a file or a store is hostile.

use std::fmt::{Display, Write};

use crate::hostile::escaped;

/// A document on its way.
#[derive(Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Adds markup, and a line end.
    pub(super) fn put(&mut self, markup: impl Display) {
        // Text in memory cannot fail to be written.
        let _ = writeln!(self.0, "{markup}");
    }

    /// Adds a paragraph of text.
    pub(super) fn paragraph(&mut self, class: &str, text: &str) {
        self.put(format_args!(r#"<p class="{class}">{}</p>"#, escaped(text)));
    }

    /// All of it.
    pub(super) fn text(self) -> String {
        self.0
    }
}

/// JSON as it may stand in a script element: nothing in it ends the element or a line of script.
pub(super) fn json_in_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Text in memory cannot fail to be written. These occur within strings only.
                let _ = write!(safe, "\\u{:04x}", u32::from(character));
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_in_text_is_text() {
        assert_eq!(escaped("<b a='1'>&\"x"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;x");
        assert_eq!(json_in_script("\"</script>\u{2028}&\""), r#""\u003c/script\u003e\u2028\u0026""#);
    }

    proptest! {
        #[test]
        fn json_in_a_script_means_the_same(text in "[<>&/a-z!\\-\"\u{2028}\u{2029}\\\\]{0,40}") {
            let json = serde_json::to_string(&text).unwrap();
            let safe = json_in_script(&json);
            let is_harmless = !safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(is_harmless);
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }
    }
}
