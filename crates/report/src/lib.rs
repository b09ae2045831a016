//! Pages from a run: for the terminal and for machines. Formats only; it computes nothing beyond scaling for display,
//! so that a number on a page is a number of the run.
#![forbid(unsafe_code)]

pub mod chart;
pub mod finding;
pub mod glossary;
pub mod hostile;
pub mod html;
pub mod json;
mod not_tested;
pub mod progress;
pub mod quantity;
pub mod shell_words;
pub mod style;
pub mod terminal;
pub mod units;
mod verdict;
