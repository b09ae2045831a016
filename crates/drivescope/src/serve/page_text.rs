//! The frame of a page, and text that is made harmless for it.

use report::hostile;

/// A drive may call itself what it likes, at any length.
const SHOWN_COLUMNS_MAX: usize = 300;

/// Text for a page: one line, everything in it visible, nothing of it markup.
pub(super) fn escaped(text: &str) -> String {
    hostile::escaped(&hostile::harmless(text, SHOWN_COLUMNS_MAX))
}

/// A text as a value of a query.
pub(super) fn query_escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let piece = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(piece).collect()
}

/// A page around this content, which is markup. `head` is more for its head, `root` where the list of runs is, for who may see it.
pub(super) fn framed(title: &str, head: &str, root: Option<&str>, content: &str) -> String {
    let brand = root.map_or("<span class=\"brand\">drivescope</span>".to_owned(), |root| {
        format!("<a class=\"brand\" href=\"{root}\">drivescope</a>")
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n{head}</head>\n<body>\n\
         <header>{brand}</header>\n<main>\n{content}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_script_is_shown() {
        assert_eq!(
            escaped("<script>alert('1')&\"</script>"),
            "&lt;script&gt;alert(&#39;1&#39;)&amp;&quot;&lt;/script&gt;"
        );
        assert_eq!(query_escaped("a b&c=<ü"), "a%20b%26c%3D%3C%C3%BC");
    }

    proptest! {
        #[test]
        fn nothing_of_a_text_is_markup(text in any::<String>()) {
            let page = escaped(&text);
            prop_assert!(!page.contains(['<', '>', '"', '\'', '\n', '\0']));
            let without = page.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").replace("&quot;", "").replace("&#39;", "");
            prop_assert!(!without.contains('&'));
        }
    }
}
