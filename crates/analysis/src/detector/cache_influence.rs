//! Whether a cache or memory, rather than a drive, may have answered.
//!
//! # What it finds
//! The reasons to think so: what is known of the target (direct I/O not to be had, holes, memory, …) and what the
//! data show (answers faster than flash, than a disk turns, than the link carries).
//! # Why it matters
//! A cache makes any drive look fast, and a rate from memory bought many a wrong drive.
//! # How
//! The target's caveats; the median of single random reads against the times that flash and disks take, with the
//! sources beside the constants; the mean sequential rate against the link's.
//! # Cannot tell when
//! A cache answers part of the requests, or no faster than a drive. A drive that answers in no time, as the null drive
//! does, is taken for no evidence.
//! # Known problems
//! A cache that answers no faster than a drive would is not seen. A drive on a link whose speed the system does not tell cannot be
//! found to be faster than its link.
//! # References
//! Cheong et al., "A flash memory controller for 15 µs ultra-low-latency SSD using high-speed 3D NAND flash with 3 µs
//! read time", ISSCC 2018.

use super::trust::reasons;
use super::{Detector, Need};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct CacheInfluence;

impl Detector for CacheInfluence {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::CacheInfluence]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Measurement]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let reasons = reasons(run);
        if reasons.is_empty() {
            return Vec::new();
        }
        let sentences: Vec<&str> = reasons.iter().map(|reason| reason.statement.as_str()).collect();
        let statement = format!("A cache or memory may have answered. {}", sentences.join(" "));
        let listed = reasons.iter().map(|reason| {
            Datum::record([
                ("name", Datum::Text(reason.name.to_string())),
                ("statement", Datum::Text(reason.statement.clone())),
            ])
        });
        let listed = Datum::List(listed.collect());
        let count = Estimate::exact(reasons.len() as f64);
        let evidence = reasons.into_iter().flat_map(|reason| reason.evidence).collect();
        let finding = Finding::number(FindingCode::CacheInfluence, count, "count", statement, evidence)
            .with_advice(
                "Take the speeds of this run for those of the whole path to the data, not of the drive.",
            )
            .with_data("reasons", listed);
        vec![finding]
    }
}
