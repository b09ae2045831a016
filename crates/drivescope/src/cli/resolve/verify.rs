//! What the options of `verify` mean.

use super::super::args::VerifyArguments;
use super::{Resolved, experiment, quoted};
use crate::error::UserError;

/// What was asked of `verify`.
#[derive(Clone, Debug)]
pub struct VerifyAsked {
    /// Every block.
    pub full: bool,
    /// How often.
    pub passes: u32,
    /// Only write.
    pub write_only: bool,
    /// Give back what was there.
    pub preserves: bool,
    /// Only read what that run wrote.
    pub read_back: Option<String>,
}

/// Reads the options of `verify`.
///
/// # Errors
/// As [`super::check`].
pub fn verify(arguments: &VerifyArguments) -> Result<(Resolved, VerifyAsked), UserError> {
    let VerifyArguments { experiment: typed, way, writing } = arguments;
    let asked = VerifyAsked {
        full: way.full,
        passes: way.passes.unwrap_or(1),
        write_only: way.write_only,
        preserves: writing.preserve,
        read_back: way.read_back.clone(),
    };
    if way.write_only && writing.preserve {
        return Err(UserError::usage(
            "what is given back at the end of the run cannot be compared later. Leave --write-only or --preserve out",
        ));
    }
    let mut words = Vec::new();
    words.extend(way.full.then(|| "--full".to_string()));
    words.extend(way.passes.into_iter().flat_map(|passes| ["--passes".to_string(), passes.to_string()]));
    words.extend(way.write_only.then(|| "--write-only".to_string()));
    words.extend(way.read_back.iter().flat_map(|run| ["--read-back".to_string(), quoted(run)]));
    Ok((experiment("verify", &words, typed, Some(writing))?, asked))
}
