//! Runs an experiment: phase → rig → store → next? It only sequences; it knows no terminal and computes nothing.

mod batch_means;
pub mod files;
mod load_watch;
mod observer;
mod page_cache;
mod pause;
mod record;
pub mod resume;
mod run;

pub use run::Session;
