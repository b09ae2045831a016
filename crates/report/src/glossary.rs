//! The terms of docs/glossary.md, for help and for tooltips.

use serde::Serialize;
use std::sync::LazyLock;

const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// Schema `drivescope.term/1`. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.term/1")]
pub struct Term {
    // As it is headed there, such as "queue depth (QD)".
    pub name: &'static str,
    pub text: &'static str,
}

impl Term {
    /// By its name, or by one of its names: "QD", "queue depth".
    pub fn is_named(&self, topic: &str) -> bool {
        let mut names = self.name.split(['(', ')', ',']).map(str::trim);
        self.name.eq_ignore_ascii_case(topic)
            || names.any(|name| !name.is_empty() && name.eq_ignore_ascii_case(topic))
    }
}

/// In the order of the document. A page asks for each of its labels, so that it is read once.
pub fn terms() -> &'static [Term] {
    static TERMS: LazyLock<Vec<Term>> = LazyLock::new(read);
    &TERMS
}

/// A term begins with `## ` and its name; its text goes on to the next.
fn read() -> Vec<Term> {
    let mut terms = Vec::new();
    for part in GLOSSARY.split("\n## ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        terms.push(Term { name: name.trim(), text: text.trim() });
    }
    terms
}

pub(crate) fn meaning(label: &str) -> Option<&'static str> {
    let term = terms().iter().find(|term| term.is_named(label))?;
    Some(term.text.split("\nMeasured by:").next().unwrap_or(term.text))
}

#[cfg(test)]
mod tests {
    use super::{meaning, terms};

    #[test]
    fn a_term_is_found_by_each_of_its_names() {
        let terms = terms();
        assert!(terms.len() >= 60);
        for name in ["QD", "queue depth", "Queue Depth (QD)", "SMR", "write cliff"] {
            assert!(terms.iter().any(|term| term.is_named(name)), "{name}");
        }
        for term in terms {
            assert!(!term.text.is_empty() && term.text.split_whitespace().count() <= 60, "{}", term.name);
        }
        assert!(meaning("Write cliff").is_some() && meaning("Zone table of nobody").is_none());
    }
}
