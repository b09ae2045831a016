//! Why a virtual drive could not be opened.

use crate::flaw::Flaw;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    #[error("there is no virtual drive `{name}`{} See them all: drivescope sim list", hint(*nearest))]
    NoSuchDrive { name: String, nearest: Option<&'static str> },
    #[error("{file}{}: {flaw}", place(*line))]
    Unsound {
        /// Where the text came from, as the user knows it.
        file: String,
        /// Counted from 1; none where the whole is meant.
        line: Option<usize>,
        flaw: Flaw,
    },
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => ".".into(),
    }
}

fn place(line: Option<usize>) -> String {
    match line {
        Some(line) => format!(", line {line}"),
        None => String::new(),
    }
}
