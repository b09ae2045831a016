//! What all requests to a drive have in common, and what is read for them beforehand.

use super::options::DriveOptions;
use crate::error::PlanError;
use crate::pattern_file::PatternFile;
use crate::verify::Marked;
use crate::{Experiment, Setup};
use model::experiment_name::ExperimentName;
use model::units::Bytes;
use std::collections::BTreeMap;

pub trait DriveRequest {
    fn name(&self) -> ExperimentName;

    fn drive(&self) -> &DriveOptions;

    fn drive_mut(&mut self) -> &mut DriveOptions;

    /// The plans and pattern files that it names; [`Supplies::plans`] has to hold them.
    fn plan_names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// What its own files take beside a scratch file, at most at a time.
    fn bytes_beside_scratch(&self) -> Bytes {
        Bytes::ZERO
    }

    fn plan(&self, setup: Setup, supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError>;
}

/// What a request may need besides the drive, read by the program beforehand.
#[derive(Clone, Debug, Default)]
pub struct Supplies {
    pub plans: BTreeMap<String, PatternFile>,
    pub marked: Option<Vec<Marked>>,
    pub mark_key: u64,
}

/// The name and the options that all drive requests have, in an implementation of [`DriveRequest`].
macro_rules! has_drive_options {
    ($name:expr) => {
        fn name(&self) -> ExperimentName {
            $name
        }

        fn drive(&self) -> &crate::request::DriveOptions {
            &self.drive
        }

        fn drive_mut(&mut self) -> &mut crate::request::DriveOptions {
            &mut self.drive
        }
    };
}
pub(crate) use has_drive_options;

impl Supplies {
    pub(crate) fn plan(&self, name: &str) -> Result<&PatternFile, PlanError> {
        self.plans.get(name).ok_or_else(|| PlanError::PlanMissing(name.to_string()))
    }
}
