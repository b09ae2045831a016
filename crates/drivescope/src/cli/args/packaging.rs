//! Options of `completions` and `man`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// Shell that the script is for
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManArguments {
    /// Folder for drivescope.1 and a page for each command; created if missing
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}
