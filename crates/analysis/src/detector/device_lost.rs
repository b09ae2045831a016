//! The device went away.
//!
//! # What it finds
//! That requests were answered with "no such device", and when that began.
//! # Why it matters
//! A drive that drops off its bus loses data under any file system. The cause is as often a cable or a power supply.
//! # How
//! The first request with that answer, or else the end of the phase that was ended for it.
//! # Cannot tell when
//! The device came back before the next request, or the system turned the answer into a plain I/O error.
//! # Known problems
//! A drive that stops answering without going away holds a phase up until the kernel gives up on it, which can take minutes.
//! # References
//! ENODEV, ENXIO, ENOTCONN, ESHUTDOWN in errno(3).

use super::{Detector, Need};
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode};
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
        let lost = run.phases.iter().enumerate().find_map(|(index, summary)| {
            let gone = summary.stopped == Some(StopReason::DeviceGone);
            if !gone && summary.errors() == 0 {
                return None;
            }
            let phase = index as u32;
            let first = run.series.errors(phase).find(|error| error.status == Status::DeviceGone);
            let ended = || gone.then_some(summary.start_ns + summary.duration_ns);
            let at_s = first.map(|error| error.at_ns).or_else(ended)? as f64 / 1e9;
            Some((at_s, summary.evidence(phase)))
        });
        let finding = lost.map(|(at_s, evidence)| {
            let statement =
                format!("The device went away {at_s:.1} s after the start; nothing was measured after that.");
            Finding::number(FindingCode::DeviceLost, Estimate::exact(at_s), "s", statement, vec![evidence])
                .with_advice(
                    "Check cable, power supply and enclosure, and the kernel's log (`dmesg`), before you blame \
                     the drive. Keep no data on it until it has run without this.",
                )
        });
        finding.into_iter().collect()
    }
}
