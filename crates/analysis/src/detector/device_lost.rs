//! The device went away.
//!
//! # What it finds
//! That requests were answered with "no such device", or that from some moment on none succeeded wherever it went, and when that began.
//! # Why it matters
//! A drive that drops off its bus loses data under any file system. The cause is as often a cable or a power supply.
//! # How
//! The first request with that answer, or else the end of the phase that was ended for it. A system may turn the answer into the error
//! of a bad block: then the first of the requests behind the last success, if they went to a quarter of all parts of the target, or the
//! run was ended because reads spread over all of it failed too.
//! # Cannot tell when
//! The device came back before the next request, or what failed last all went to the same part of it.
//! # Known problems
//! A drive that stops answering without going away holds a phase up until the kernel gives up on it, which can take minutes.
//! # References
//! ENODEV, ENXIO, ENOTCONN, ESHUTDOWN in errno(3).

use super::{Detector, Need};
use crate::silence::Silence;
use model::estimate::Estimate;
use model::finding::{Evidence, Finding, FindingCode};
use model::plan::StopReason;
use model::request::Status;
use model::run::RunView;

/// See the head of this file.
pub(super) struct DeviceLost;

impl Detector for DeviceLost {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::DeviceLost]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Phase]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let gone = || {
            gone(run).map(|(at_s, evidence)| {
                let statement = format!(
                    "The device went away {at_s:.1} s after the start; nothing was measured after that."
                );
                finding(at_s, statement, evidence)
            })
        };
        // A silence is of errors that do not say that it is gone, and knows when the first of them was.
        silent(run).or_else(gone).into_iter().collect()
    }
}

/// Whether there was a drive until the end.
pub(super) fn is_lost(run: &RunView<'_>) -> bool {
    gone(run).is_some() || Silence::of(run).is_some()
}

/// When the system said that the device is not there any more, in seconds after the start, and in which phase.
fn gone(run: &RunView<'_>) -> Option<(f64, Evidence)> {
    run.phases.iter().enumerate().find_map(|(index, summary)| {
        let gone = summary.stopped == Some(StopReason::DeviceGone);
        if !gone && summary.errors() == 0 {
            return None;
        }
        let phase = index as u32;
        let first = run.series.errors(phase).find(|error| error.status == Status::DeviceGone);
        let ended = || gone.then(|| summary.end_ns());
        let at_s = first.map(|error| error.at_ns).or_else(ended)? as f64 / 1e9;
        Some((at_s, summary.evidence(phase)))
    })
}

fn silent(run: &RunView<'_>) -> Option<Finding> {
    let silence = Silence::of(run)?;
    let at_s = silence.from_ns as f64 / 1e9;
    let statement = format!(
        "From {at_s:.1} s after the start on no request succeeded, wherever it went: {} failed. The drive, or what leads to it, has \
         stopped working.",
        silence.failed
    );
    let summary = run.phases.get(silence.phase as usize)?;
    Some(finding(at_s, statement, summary.evidence(silence.phase)))
}

fn finding(at_s: f64, statement: String, evidence: Evidence) -> Finding {
    Finding::number(FindingCode::DeviceLost, Estimate::exact(at_s), "s", statement, vec![evidence]).with_advice(
        "Check cable, power supply and enclosure, and the kernel's log (`dmesg`), before you blame the drive. Keep no data on it \
         until it has run without this.",
    )
}
