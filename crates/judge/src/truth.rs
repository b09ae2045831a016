//! What is true of a drive, by finding code.

use crate::failure::Failure;
use model::finding::FindingCode;
use sim::profile::Profile;
use sim::truth::{Truth, of_code, truth_of};

pub struct Truths {
    pub list: Vec<Truth>,
}

impl Truths {
    pub fn of(profile: &Profile) -> Result<Truths, Failure> {
        match truth_of(profile) {
            Ok(list) => Ok(Truths { list }),
            Err(flaw) => Err(Failure::cannot(format!("{} has no truth: {flaw}.", profile.name))),
        }
    }

    pub fn get(&self, code: FindingCode) -> Option<&Truth> {
        of_code(&self.list, code)
    }

    pub fn value(&self, code: FindingCode) -> Option<f64> {
        self.get(code)?.value()
    }
}
