//! `drivescope sim reproduce`.

use crate::cli::args::SimReproduceArguments;
use crate::error::UserError;

/// Runs the command; the exit status.
///
/// # Errors
/// Always, for it is being built.
pub fn run(_arguments: &SimReproduceArguments) -> Result<u8, UserError> {
    Err(UserError::usage("`sim reproduce` is being built"))
}
