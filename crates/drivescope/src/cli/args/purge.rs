//! Options of `purge`.

use super::{OutputArguments, WritingArguments};
use clap::{Args, ValueEnum};
use io::target::purge::PurgeMethod;

/// Options of `purge`.
#[derive(Debug, Args)]
pub struct PurgeArguments {
    /// A drive as a whole; a partition, volume or file can be emptied too, but not by commands to its drive
    pub target: String,

    /// How [default: the first that is possible]
    #[arg(long, value_enum)]
    pub method: Option<MethodArgument>,

    /// Only say what would be done, and why not in other ways
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,

    /// Whether to write, and to which.
    #[command(flatten)]
    pub writing: WritingArguments,

    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArguments,
}

/// Methods to choose from, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodArgument {
    /// The drive formats itself with an erase
    NvmeFormat,
    /// The drive sanitizes itself by erasing its blocks
    NvmeSanitize,
    /// The drive erases itself, by the security feature set
    AtaSecureErase,
    /// The drive is told that all of it holds nothing
    Discard,
    /// Zeroes are written to all of it
    ZeroFill,
}

impl MethodArgument {
    /// What it stands for.
    pub fn method(self) -> PurgeMethod {
        match self {
            MethodArgument::NvmeFormat => PurgeMethod::NvmeFormat,
            MethodArgument::NvmeSanitize => PurgeMethod::NvmeSanitize,
            MethodArgument::AtaSecureErase => PurgeMethod::AtaSecureErase,
            MethodArgument::Discard => PurgeMethod::Discard,
            MethodArgument::ZeroFill => PurgeMethod::ZeroFill,
        }
    }
}
