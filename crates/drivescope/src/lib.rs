//! The program, in the order of the data: options, experiments, session, store, screens. A library, so that tests
//! reach its parts.
#![forbid(unsafe_code)]

pub mod cli;
pub mod control;
mod drive_row;
pub mod error;
pub mod event;
pub mod experiment;
pub mod export;
mod imported_run;
mod interrupt;
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
pub mod store;
pub mod target_choice;
mod virtual_drive;
mod virtual_run;
