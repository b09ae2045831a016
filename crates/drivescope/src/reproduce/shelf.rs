//! The virtual drives of re-enactments: presets, or changed ones in tests.

use super::article::SEED;
use crate::error::UserError;
use crate::virtual_run::VirtualRun;
use sim::Drive;
use sim::profile::{Profile, open_profile, preset};

#[derive(Clone, Copy)]
pub struct Shelf {
    /// Applied to each profile: nothing, or what makes a model wrong in a test.
    change: fn(&mut Profile),
}

fn unchanged(_: &mut Profile) {}

impl Shelf {
    pub fn as_sold() -> Shelf {
        Shelf { change: unchanged }
    }

    #[cfg(test)]
    pub fn changed(change: fn(&mut Profile)) -> Shelf {
        Shelf { change }
    }

    /// Fails when there is no such drive, which is an error of the program.
    pub fn drive(&self, name: &str) -> Result<Box<dyn Drive>, UserError> {
        self.drive_with(name, unchanged)
    }

    pub fn drive_with(&self, name: &str, change: impl Fn(&mut Profile)) -> Result<Box<dyn Drive>, UserError> {
        let mut profile = preset(name)?;
        (self.change)(&mut profile);
        change(&mut profile);
        Ok(open_profile(&profile, &format!("sim:{name}"), SEED)?)
    }

    pub fn run(&self, name: &str) -> Result<VirtualRun, UserError> {
        Ok(VirtualRun::on(self.drive(name)?, SEED))
    }
}
