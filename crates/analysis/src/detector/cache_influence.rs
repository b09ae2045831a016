//! Whether a cache or memory, rather than a drive, served the requests.
//! # What it finds
//! The signs: what is known of the target (no direct I/O, holes, memory, …) and implausibly fast completions.
//! # Why it matters
//! A cache makes any drive look fast.
//! # How
//! The target's caveats; the median of random reads at queue depth 1 against the times that flash and disks take, with the
//! sources beside the constants; the mean sequential throughput against the link's.
//! # Cannot tell when
//! A cache serves part of the requests, or no faster than a drive. Completions in no time are no evidence.
//! # Known problems
//! A drive on a link whose speed the system does not tell cannot be found to be faster than its link.
//! # References
//! Cheong et al., "A flash memory controller for 15 µs ultra-low-latency SSD … with 3 µs read time", ISSCC 2018.

use super::detect::{Detector, Need};
use super::trust::signs;
use crate::examined::Examined;
use model::finding::{CacheInfluence, Finding, FindingCode, Outcome};

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::CacheInfluence], needs: &[Need::Measurement], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let (mut reasons, mut evidence) = (Vec::new(), Vec::new());
    for (sign, of_sign) in signs(run) {
        reasons.push(sign);
        evidence.extend(of_sign);
    }
    if reasons.is_empty() {
        return Vec::new();
    }
    vec![Finding::CacheInfluence(Outcome::known(CacheInfluence { reasons }, evidence))]
}
