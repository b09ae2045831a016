//! `drivescope sim list`.

use crate::cli::args::SimListArguments;
use crate::error::UserError;

/// Runs the command; the exit status.
///
/// # Errors
/// Always, for it is being built.
pub fn run(_arguments: &SimListArguments) -> Result<u8, UserError> {
    Err(UserError::usage("`sim list` is being built"))
}
