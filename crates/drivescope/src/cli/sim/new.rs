//! `drivescope sim new`.

use crate::cli::args::SimNewArguments;
use crate::error::UserError;

/// Runs the command; the exit status.
///
/// # Errors
/// Always, for it is being built.
pub fn run(_arguments: &SimNewArguments) -> Result<u8, UserError> {
    Err(UserError::usage("`sim new` is being built"))
}
