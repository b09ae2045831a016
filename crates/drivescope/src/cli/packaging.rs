//! `drivescope completions` and `drivescope man`: what a package brings beside the program, made of its declarations.

use super::args::{CompletionsArguments, ManArguments};
use super::{help, output};
use crate::error::{Cannot, UserError, exit};

pub fn completions(arguments: &CompletionsArguments) -> Result<u8, UserError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut help::command(), "drivescope", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::SUCCESS)
}

pub fn man(arguments: &ManArguments) -> Result<u8, UserError> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).or_cannot(&format!("make the folder {}", folder.display()))?;
    let written = clap_mangen::generate_to(help::command(), folder);
    written.or_cannot(&format!("write man pages to {}", folder.display()))?;
    Ok(exit::SUCCESS)
}
