//! Why the tool cannot go on. A device's answer to a request is a [`model::request::Completion`] instead.

use std::path::{Path, PathBuf};

pub(crate) fn as_sentence(hint: &Option<String>) -> String {
    match hint {
        Some(hint) => format!(". {hint}"),
        None => String::new(),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum IoError {
    #[error("cannot {operation} {object}: {source}{}", as_sentence(hint))]
    System { operation: &'static str, object: String, source: std::io::Error, hint: Option<String> },
    /// The target cannot be measured, whatever the system says.
    #[error("cannot measure {}: {why}", target.display())]
    Unsuitable { target: PathBuf, why: String },
    #[error("will not write to {}: {why}", target.display())]
    WriteRefused {
        target: PathBuf,
        /// Who uses it, or what is missing; and what to do.
        why: String,
    },
    #[error("cannot run this workload: {0}")]
    Workload(#[from] model::workload::WorkloadError),
}

impl IoError {
    pub fn last_system(operation: &'static str, object: impl Into<String>) -> IoError {
        IoError::system(operation, object, std::io::Error::last_os_error())
    }

    pub fn system(operation: &'static str, object: impl Into<String>, source: std::io::Error) -> IoError {
        IoError::System { operation, object: object.into(), source, hint: None }
    }

    pub fn at<Given>(
        operation: &'static str,
        path: &Path,
        result: std::io::Result<Given>,
    ) -> Result<Given, IoError> {
        match result {
            Ok(given) => Ok(given),
            Err(source) => Err(IoError::system(operation, path.display().to_string(), source)),
        }
    }

    /// The same, with what to do by the number of the error.
    pub(crate) fn explained<Given>(
        operation: &'static str,
        path: &Path,
        result: std::io::Result<Given>,
        hint_of: fn(i32) -> Option<&'static str>,
    ) -> Result<Given, IoError> {
        let source = match result {
            Ok(given) => return Ok(given),
            Err(source) => source,
        };
        let hint = hint_of(source.raw_os_error().unwrap_or_default());
        let error = IoError::system(operation, path.display().to_string(), source);
        Err(if let Some(hint) = hint { error.with_hint(hint) } else { error })
    }

    pub fn with_hint(mut self, text: impl Into<String>) -> IoError {
        if let IoError::System { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }
}
