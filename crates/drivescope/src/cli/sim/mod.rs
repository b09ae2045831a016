//! `drivescope sim`: virtual drives. One file for each of its commands.

pub(super) mod list;
pub(super) mod mount;
mod new;
mod reproduce;
pub(super) mod show;
pub(super) mod truth;

use super::args::SimCommand;
use crate::error::UserError;

pub fn run(command: &SimCommand) -> Result<u8, UserError> {
    match command {
        SimCommand::List(list) => list::run(list),
        SimCommand::Show(show) => show::run(show),
        SimCommand::Truth(truth) => truth::run(truth),
        SimCommand::New(new) => new::run(new),
        SimCommand::Mount(mount) => mount::run(mount),
        SimCommand::Reproduce(reproduce) => reproduce::run(reproduce),
    }
}
