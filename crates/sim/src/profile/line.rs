//! Which line of a profile a key stands on.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The line, counted from 1, of a key such as `disk.geometry.zones.3.cylinders`, or of the innermost part there is.
pub(super) fn of_key(text: &str, key: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut found = None;
    let mut here = Some(Node::Table(document.get_ref()));
    for part in key.split('.') {
        let Some((start, next)) = here.and_then(|node| node.child(part)) else { break };
        found = Some(start);
        here = next;
    }
    found.map(|start| of_byte(text, start))
}

pub(super) fn of_byte(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|&&byte| byte == b'\n').count()
}

#[derive(Clone, Copy)]
enum Node<'a> {
    Table(&'a DeTable<'a>),
    Array(&'a [Spanned<DeValue<'a>>]),
}

impl<'a> Node<'a> {
    fn child(self, part: &str) -> Option<(usize, Option<Node<'a>>)> {
        match self {
            Node::Table(table) => {
                let (key, value) = table.iter().find(|(key, _)| key.get_ref().as_ref() == part)?;
                Some((key.span().start, Node::of(value)))
            }
            Node::Array(items) => {
                let item = items.get(part.parse::<usize>().ok()?)?;
                Some((item.span().start, Node::of(item)))
            }
        }
    }

    fn of(value: &'a Spanned<DeValue<'a>>) -> Option<Node<'a>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Node::Table(table)),
            DeValue::Array(items) => Some(Node::Array(items)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "version = 1\n\n[disk.geometry]\nsurfaces = 2\n[[disk.geometry.zones]]\ncylinders = 1\n\
                        [[disk.geometry.zones]]\n# more\ncylinders = 2\n";

    #[test]
    fn keys_are_found_in_tables_and_in_lists_of_tables() {
        assert_eq!(of_key(TEXT, "version"), Some(1));
        assert_eq!(of_key(TEXT, "disk.geometry.surfaces"), Some(4));
        assert_eq!(of_key(TEXT, "disk.geometry.zones.1.cylinders"), Some(9));
        assert_eq!(of_key(TEXT, "disk.geometry.zones.0.cylinders"), Some(6));
    }

    #[test]
    fn what_is_not_there_is_where_it_would_be() {
        assert_eq!(of_key(TEXT, "disk.geometry.track_skew_turns"), Some(3));
        assert_eq!(of_key(TEXT, "flash.channels"), None);
        assert_eq!(of_key("version = = 1", "version"), None);
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(
            [of_byte("a\nb", 0), of_byte("a\nb", 1), of_byte("a\nb", 2), of_byte("a\nb", 99)],
            [1, 1, 2, 2]
        );
    }
}
