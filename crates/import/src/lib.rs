//! Results of other programs: from their text to figures, with what each program does not tell.
//!
//! | module | what |
//! |---|---|
//! | `figure` | what all formats become |
//! | `format` | the formats, and which one a text is in |
//! | `text` | lines and fields that know where they stand |
//! | `error` | where a text cannot be read on, what was expected and what stands there |
//! | the others | one file for each program that measures |
//!
//! Nothing here reads a file or a clock. A text is read once; what it becomes is never larger than some times the text.
#![forbid(unsafe_code)]

mod as_ssd;
mod atto;
mod blackmagic;
mod bonnie;
mod dd;
mod diskmark;
mod error;
mod figure;
mod fio;
mod fio_json;
mod fio_log;
mod fio_terse;
mod fio_text;
mod format;
mod hdparm;
mod hdtune;
mod iometer;
mod ioping;
mod pg_test_fsync;
mod text;
mod winsat;
mod yabs;
mod zcav;

pub use error::ImportError;
pub use figure::{Commits, Figure, Imported, Order, Place, Request, Set, Slice, Transfer, Work};
pub use format::{Format, Hints, TEXT_BYTES_MAX, read, read_all, recognised};
