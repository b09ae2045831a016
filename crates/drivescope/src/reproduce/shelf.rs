//! The virtual drives that re-enactments take, by name, as they come with the program or changed.

use super::SEED;
use crate::error::UserError;
use crate::virtual_run::VirtualRun;
use sim::Drive;
use sim::profile::{Profile, open_profile, preset};

/// Where drives are taken from.
#[derive(Clone, Copy)]
pub struct Shelf {
    /// What is done to each profile before its drive is built: nothing, or what makes a model wrong in a test.
    change: fn(&mut Profile),
}

impl Shelf {
    /// The drives as they come with the program.
    pub fn as_sold() -> Shelf {
        Shelf { change: |_| {} }
    }

    /// Drives whose profiles were changed.
    #[cfg(test)]
    pub fn changed(change: fn(&mut Profile)) -> Shelf {
        Shelf { change }
    }

    /// The drive of that name, without the `sim:` before it.
    ///
    /// # Errors
    /// When there is none, which is an error of the program.
    pub fn drive(&self, name: &str) -> Result<Box<dyn Drive>, UserError> {
        self.drive_with(name, |_| {})
    }

    /// The drive of that name with a profile that `change` has been at.
    ///
    /// # Errors
    /// When there is none or such a drive cannot be, which is an error of the program.
    pub fn drive_with(&self, name: &str, change: impl Fn(&mut Profile)) -> Result<Box<dyn Drive>, UserError> {
        let failure = |error: sim::ProfileError| UserError::failure(error.to_string());
        let mut profile = preset(name).map_err(failure)?;
        (self.change)(&mut profile);
        change(&mut profile);
        Ok(open_profile(&profile, &format!("sim:{name}"), SEED).map_err(failure)?)
    }

    /// Phases on the drive of that name.
    ///
    /// # Errors
    /// As [`Shelf::drive`].
    pub fn run(&self, name: &str) -> Result<VirtualRun, UserError> {
        Ok(VirtualRun::on(self.drive(name)?, SEED))
    }
}
