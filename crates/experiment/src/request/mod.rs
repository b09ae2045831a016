//! What is asked of a drive. Each option is declared once, in the request of its experiment: clap reads it from the command line, serde
//! keeps it with the run, and resume and the command that repeats a run start from it.

mod drive_request;
mod options;
mod registry;

pub(crate) use drive_request::has_drive_options;
pub use drive_request::{DriveRequest, Supplies};
pub use options::{DriveOptions, EngineChoice, OutputOptions, WritingOptions};
pub(crate) use options::{check_precision, check_time_limit};
pub use registry::Request;
