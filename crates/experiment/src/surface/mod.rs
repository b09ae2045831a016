//! `surface`: how fast is each part of a drive, and is any part slow or bad? Three ways, each an experiment.

pub mod adaptive;
pub mod areas;
pub mod full;
mod request;
mod visit;

pub use request::SurfaceRequest;
