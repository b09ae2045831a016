//! What a person is told when something cannot be done, and with which exit status.

use std::fmt;

/// The exit statuses.
pub mod exit {
    /// Done.
    pub const SUCCESS: u8 = 0;
    /// Could not be done.
    pub const FAILURE: u8 = 1;
    /// Asked for in a way that makes no sense.
    pub const USAGE: u8 = 2;
    /// Stopped by Ctrl-C: 128 + SIGINT, as shells count.
    pub const INTERRUPTED: u8 = 130;
}

/// An error for a person: what went wrong on what and why, and what to do. One text, since the parts come from
/// where they are known.
#[derive(Debug)]
pub struct UserError {
    /// Operation, object, likely cause, next step.
    pub text: String,
    /// The exit status.
    pub status: u8,
}

impl UserError {
    /// It makes no sense as it was asked for.
    pub fn usage(text: impl Into<String>) -> UserError {
        UserError { text: text.into(), status: exit::USAGE }
    }

    /// It could not be done.
    pub fn failure(text: impl Into<String>) -> UserError {
        UserError { text: text.into(), status: exit::FAILURE }
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for UserError {}

impl From<io::error::IoError> for UserError {
    fn from(error: io::error::IoError) -> UserError {
        match &error {
            io::error::IoError::Workload(_) => UserError::usage(error.to_string()),
            _ => UserError::failure(error.to_string()),
        }
    }
}

impl From<crate::store::StoreError> for UserError {
    fn from(error: crate::store::StoreError) -> UserError {
        UserError::failure(error.to_string())
    }
}

impl From<model::quantity_text::QuantityError> for UserError {
    fn from(error: model::quantity_text::QuantityError) -> UserError {
        UserError::usage(error.to_string())
    }
}
