//! The program: arguments in, exit status out.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(drivescope::cli::run(std::env::args_os()))
}
