//! Why a bench ended without success.

use std::fmt::Display;

#[derive(Debug)]
pub enum Failure {
    /// It ran, and a bound was missed; it has printed which.
    Missed,
    /// It could not do its work: what went wrong and what to do.
    Cannot(String),
}

impl Failure {
    pub fn cannot(why: impl Into<String>) -> Failure {
        Failure::Cannot(why.into())
    }

    /// `what` is an operation and its object: "write docs/x.md".
    pub fn to(what: impl Display, error: impl Display) -> Failure {
        Failure::Cannot(format!("Cannot {what}: {error}."))
    }
}

pub trait Doing<T> {
    fn doing(self, what: impl Display) -> Result<T, Failure>;
}

impl<T, E: Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::to(what, error))
    }
}
