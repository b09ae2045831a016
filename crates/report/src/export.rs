//! Runs in the forms that other programs read: tables (CSV, Parquet), bonnie++'s lines, fio's JSON, metrics.
//!
//! `docs/exports.md` says what each column, key and metric means; a test holds that it names all of them.

pub mod bonnie;
pub mod csv;
pub mod fio;
pub mod openmetrics;
pub mod table;
