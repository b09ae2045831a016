//! Why a virtual drive could not be opened.

use std::fmt;

/// Why a virtual drive could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileError {
    /// No drive of that name comes with the program.
    NoSuchDrive {
        /// What was asked for.
        name: String,
        /// The nearest name there is, if one is near.
        nearest: Option<&'static str>,
    },
    /// The profile cannot be as it is.
    Unsound {
        /// Where the text came from, as the user knows it.
        file: String,
        /// Counted from 1; none where the whole is meant.
        line: Option<usize>,
        /// What cannot be, and why.
        reason: String,
    },
}

impl fmt::Display for ProfileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileError::NoSuchDrive { name, nearest } => {
                write!(formatter, "there is no virtual drive `{name}`")?;
                match nearest {
                    Some(nearest) => write!(formatter, "; did you mean `{nearest}`?")?,
                    None => write!(formatter, ".")?,
                }
                write!(formatter, " See them all: drivescope sim list")
            }
            ProfileError::Unsound { file, line: Some(line), reason } => {
                write!(formatter, "{file}, line {line}: {reason}")
            }
            ProfileError::Unsound { file, line: None, reason } => write!(formatter, "{file}: {reason}"),
        }
    }
}

impl std::error::Error for ProfileError {}
