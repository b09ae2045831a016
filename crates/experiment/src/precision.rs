//! Whether a figure is known as precisely as was asked for. What must be, and what else ends an experiment, is its own.

use analysis::analyse;
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode};
use model::run::RunView;

/// What is known so far, measured by the precision that was asked for: half of an interval, as a share of its value.
pub struct Known {
    findings: Vec<Finding>,
    precision: f64,
}

impl Known {
    pub fn of(so_far: &RunView<'_>, precision: f64) -> Known {
        Known { findings: analyse(so_far), precision }
    }

    pub fn is_wide(&self, code: FindingCode) -> bool {
        self.findings.iter().any(|finding| finding.code() == code && self.is_wide_of(finding))
    }

    fn is_wide_of(&self, finding: &Finding) -> bool {
        match finding.estimate() {
            Some(estimate) => estimate.relative_half_width() > self.precision,
            None => false,
        }
    }
}

pub fn is_narrow(estimate: Option<Estimate>, precision: f64) -> bool {
    match estimate {
        Some(estimate) => estimate.relative_half_width() <= precision,
        None => false,
    }
}
