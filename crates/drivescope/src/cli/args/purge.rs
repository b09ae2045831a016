//! Options of `purge`.

use clap::{Args, ValueEnum};
use experiment::request::{OutputOptions, WritingOptions};
use io::targets::purge::PurgeMethod;
use serde::Serialize;

#[derive(Debug, Args, Serialize)]
pub struct PurgeArguments {
    /// Drive, partition, volume or file; drive commands need a whole drive
    pub target: String,

    /// Method [default: the first that is supported]
    #[arg(long, value_enum)]
    pub method: Option<MethodArgument>,

    /// Print which method would be used, and why not others
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,

    /// Whether to write, and to which.
    #[command(flatten)]
    #[serde(flatten)]
    pub writing: WritingOptions,

    #[command(flatten)]
    #[serde(skip)]
    pub output: OutputOptions,
}

/// Methods to choose from, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodArgument {
    /// NVMe Format with secure erase of the namespace
    NvmeFormat,
    /// NVMe Sanitize, block erase of all namespaces
    NvmeSanitize,
    /// ATA Secure Erase of a whole SATA drive
    AtaSecureErase,
    /// Discard (TRIM) of the whole range
    Discard,
    /// Write zeroes to the whole range, in order
    ZeroFill,
}

impl MethodArgument {
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
