//! Errors as people read them, and exit statuses.

use std::fmt;

pub mod exit {
    pub const SUCCESS: u8 = 0;
    pub const FAILURE: u8 = 1;
    pub const USAGE: u8 = 2;
    /// A finding is as `--fail-if` says.
    pub const WORSE: u8 = 3;
    /// Ctrl-C: 128 + SIGINT, as shells count.
    pub const INTERRUPTED: u8 = 130;
}

#[derive(Debug)]
pub struct UserError {
    pub text: String,
    pub status: u8,
}

impl UserError {
    pub fn usage(text: impl Into<String>) -> UserError {
        UserError { text: text.into(), status: exit::USAGE }
    }

    pub fn failure(text: impl Into<String>) -> UserError {
        UserError { text: text.into(), status: exit::FAILURE }
    }
}

pub trait Cannot<Value> {
    /// Where it failed, the error says "cannot WHAT: why".
    fn or_cannot(self, what: &str) -> Result<Value, UserError>;

    fn or_fail(self) -> Result<Value, UserError>;
}

impl<Value, Why: fmt::Display> Cannot<Value> for Result<Value, Why> {
    fn or_cannot(self, what: &str) -> Result<Value, UserError> {
        match self {
            Ok(value) => Ok(value),
            Err(why) => Err(UserError::failure(format!("cannot {what}: {why}"))),
        }
    }

    fn or_fail(self) -> Result<Value, UserError> {
        match self {
            Ok(value) => Ok(value),
            Err(why) => Err(UserError::failure(why.to_string())),
        }
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

macro_rules! from_error {
    ($make:ident: $($error:ty),+) => {
        $(impl From<$error> for UserError {
            fn from(error: $error) -> UserError {
                UserError::$make(error.to_string())
            }
        })+
    };
}

from_error!(failure: store::StoreError, io::mount::MountError, io::targets::preserve::JournalError);
from_error!(usage: model::quantity_text::QuantityError, sim::ProfileError);
impl From<experiment::error::PlanError> for UserError {
    fn from(error: experiment::error::PlanError) -> UserError {
        use experiment::error::PlanError;
        match &error {
            PlanError::NoRoom { .. } | PlanError::MemoryUnknown => UserError::failure(error.to_string()),
            _ => UserError::usage(error.to_string()),
        }
    }
}
