//! The device went away.
//! # What it finds
//! That requests failed with "no such device", or that from some moment on none succeeded at any offset; and that moment.
//! # Why it matters
//! A drive that drops off its bus loses data under any file system. The cause is as often a cable or a power supply.
//! # How
//! The first request with that error, or the end of the phase that was ended for it. Or, as some systems report a medium
//! error: the first failure after the last success, if a quarter of all parts failed or reads all over it.
//! # Cannot tell when
//! The device came back before the next request, or the last failures all hit one part of it.
//! # Known problems
//! A drive that hangs holds a phase up until the kernel gives up on it, which can take minutes.
//! # References
//! ENODEV, ENXIO, ENOTCONN, ESHUTDOWN in errno(3).

use super::detect::{Detector, Need};
use crate::examined::Examined;
use crate::silence::Silence;
use model::finding::{DeviceLost, Evidence, Finding, FindingCode, Outcome};
use model::plan::StopReason;
use model::request::Status;
use model::run::RunView;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::DeviceLost], needs: &[Need::Phase], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    // A silence is of errors that do not say that the device is gone, and knows when the first of them was.
    let lost = match Silence::of(run) {
        Some(silence) => silent(run, silence),
        None => gone(run),
    };
    match lost {
        Some((lost, evidence)) => vec![Finding::DeviceLost(Outcome::known(lost, vec![evidence]))],
        None => Vec::new(),
    }
}

pub(super) fn is_lost(run: &RunView<'_>) -> bool {
    gone(run).is_some() || Silence::of(run).is_some()
}

fn gone(run: &RunView<'_>) -> Option<(DeviceLost, Evidence)> {
    for (phase, summary) in (0..).zip(run.phases) {
        let has_ended = summary.stopped == Some(StopReason::DeviceGone);
        if !has_ended && summary.errors() == 0 {
            continue;
        }
        let at_ns = match run.series.errors(phase).find(|error| error.status == Status::DeviceGone) {
            Some(first) => first.at_ns,
            None if has_ended => summary.end_ns(),
            None => continue,
        };
        return Some((DeviceLost { at_s: at_ns as f64 / 1e9, failed: None }, summary.evidence(phase)));
    }
    None
}

fn silent(run: &RunView<'_>, silence: Silence) -> Option<(DeviceLost, Evidence)> {
    let summary = run.phases.get(silence.phase as usize)?;
    let lost = DeviceLost { at_s: silence.from_ns as f64 / 1e9, failed: Some(silence.failed) };
    Some((lost, summary.evidence(silence.phase)))
}
