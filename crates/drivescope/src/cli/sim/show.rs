//! `drivescope sim show`.

use crate::cli::args::SimShowArguments;
use crate::error::UserError;

/// Runs the command; the exit status.
///
/// # Errors
/// Always, for it is being built.
pub fn run(_arguments: &SimShowArguments) -> Result<u8, UserError> {
    Err(UserError::usage("`sim show` is being built"))
}
