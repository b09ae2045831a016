//! `drivescope sim truth`.

use crate::cli::args::SimTruthArguments;
use crate::error::UserError;

/// Runs the command; the exit status.
///
/// # Errors
/// Always, for it is being built.
pub fn run(_arguments: &SimTruthArguments) -> Result<u8, UserError> {
    Err(UserError::usage("`sim truth` is being built"))
}
