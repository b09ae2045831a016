//! `surface`: how fast is each part of a drive, and is any part slow or bad? Three ways of going over it, each an
//! experiment.

pub mod adaptive;
pub mod areas;
pub mod full;
mod visit;

/// The word on the command line, and in every phase.
const NAME: &str = "surface";
