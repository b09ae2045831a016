//! `drivescope sim mount`.

use crate::cli::args::SimMountArguments;
use crate::error::UserError;

/// Runs the command; the exit status.
///
/// # Errors
/// Always, for it is being built.
pub fn run(_arguments: &SimMountArguments) -> Result<u8, UserError> {
    Err(UserError::usage("`sim mount` is being built"))
}
