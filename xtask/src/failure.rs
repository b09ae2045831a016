//! How a chore ends without success.

use std::fmt::Display;

#[derive(Debug)]
pub struct Failure {
    /// What went wrong and what to do. Empty when the command has printed it already.
    pub message: String,
    /// 1: a check failed. 2: the command could not be carried out.
    pub exit_code: u8,
}

impl Failure {
    /// The checks ran and did not pass; the command has printed which.
    pub fn checks_failed() -> Self {
        Self { message: String::new(), exit_code: 1 }
    }

    /// `what` is an operation and its object: "write docs/x.md".
    pub fn to(what: impl Display, error: impl Display) -> Self {
        Self::cannot(format!("Cannot {what}: {error}."))
    }

    /// Of a chore without options: that it was given none.
    pub fn check_no_options(chore: &str, arguments: &[String]) -> Result<(), Self> {
        match arguments.first() {
            None => Ok(()),
            Some(argument) => Err(Self::cannot(format!(
                "'cargo xtask {chore}' takes no options; it was given '{argument}'."
            ))),
        }
    }

    /// The command could not do its work at all.
    pub fn cannot(message: impl Into<String>) -> Self {
        Self { message: message.into(), exit_code: 2 }
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
