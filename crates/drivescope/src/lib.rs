//! The program. A library, so that tests reach its parts. Modules use those to their right only:
//! ```text
//! cli ─► session, replay, serve, reproduce, simulated_day, imported_run
//!        session ─► preserve, state      replay ─► screen
//!        all of these ─► store, event, stamp, target_choice, virtual_drive, virtual_run
//!        all ─► error, interrupt, control, console, configuration
//! ```
#![forbid(unsafe_code)]

pub mod cli;
mod configuration;
mod console;
pub mod control;
mod drive_row;
pub mod error;
pub mod event;
pub mod export;
mod imported_run;
mod interrupt;
mod lasting;
pub mod pattern_file;
pub mod preserve;
mod recent_rate;
mod replay;
pub mod reproduce;
mod screen;
pub mod serve;
pub mod session;
mod simulated_day;
pub mod stamp;
mod state;
pub mod target_choice;
mod virtual_drive;
mod virtual_run;

pub use store;
