//! Whether it was the drive that answered, and how to speak of what was measured if not.

use crate::measured::{evidence_of, in_no_time, merged_latencies, random_groups, sequential_visits};
use model::experiment_name::ExperimentName;
use model::finding::{CacheSign, Evidence};
use model::range::ByteRange;
use model::request::Operation;
use model::run::RunView;
use model::target::{Caveat, TargetFacts};
use model::units::{Bytes, Quantile};

/// The median of single random reads of 4 KiB below which it was memory that answered, in seconds. Sensing a page of flash takes 40 to 100 µs,
/// and 3 µs in the fastest kind made, to which controller, link and kernel add (Z-NAND: Cheong et al., ISSCC 2018; the quickest drive of the
/// drives we know of answers in 57 µs). SATA adds 20 µs and more by itself. Only Optane on PCIe 4, stated at 6 µs, comes near when it is polled.
const MEMORY_MEDIAN_S: f64 = 10e-6;

/// For a disk: at 15,000 rpm half of all random reads wait at least 2 ms, and this is a quarter of that.
pub(super) const DISK_MEDIAN_S: f64 = 0.5e-3;

/// By how much a rate may exceed what the link carries before it is no rounding: 2 %.
const LINK_TOLERANCE: f64 = 1.02;

/// All signs with the evidence that shows them, first those known of the target, then those that the data show.
pub(super) fn signs(run: &RunView<'_>) -> Vec<(CacheSign, Vec<Evidence>)> {
    let mut signs: Vec<(CacheSign, Vec<Evidence>)> = Vec::new();
    for caveat in &run.target.caveats {
        if *caveat != Caveat::Unmapped || !is_about_writes(run) {
            signs.push((CacheSign::Target(*caveat), Vec::new()));
        }
    }
    signs.extend(memory_speed(run));
    signs.extend(faster_than_link(run));
    signs
}

/// Whether all that the run concludes is about writes, which reach the cells of unwritten flash, too.
fn is_about_writes(run: &RunView<'_>) -> bool {
    run.phases.iter().all(|summary| {
        matches!(
            summary.phase.experiment,
            ExperimentName::Sustain | ExperimentName::Valleys | ExperimentName::Commit
        )
    })
}

fn memory_speed(run: &RunView<'_>) -> Option<(CacheSign, Vec<Evidence>)> {
    let single = random_groups(run, Operation::Read).remove(&1)?;
    let is_small = single.first()?.workload.block_sizes.largest() <= Bytes::from_kib(4);
    let median_s = merged_latencies(&single, Operation::Read).quantile(Quantile::MEDIAN)?.seconds();
    if !is_small || in_no_time(run, &single) {
        return None;
    }
    // A virtual disk claims to rotate unless its host was told otherwise.
    let is_virtual = run.target.caveats.contains(&Caveat::VirtualDisk);
    let claims_rotation = run.target.rotational == Some(true) && !is_virtual;
    let (sign, limit_s) = if claims_rotation {
        (CacheSign::FasterThanDisk { median_s }, DISK_MEDIAN_S)
    } else {
        (CacheSign::FasterThanFlash { median_s }, MEMORY_MEDIAN_S)
    };
    if median_s >= limit_s {
        return None;
    }
    Some((sign, evidence_of(&single)))
}

fn faster_than_link(run: &RunView<'_>) -> Option<(CacheSign, Vec<Evidence>)> {
    let link = run.target.link.as_ref()?.bytes_per_second_max?;
    let samples = sequential_visits(run, Operation::Read);
    if in_no_time(run, &samples) {
        return None;
    }
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for sample in &samples {
        if sample.error_share() == 0.0 {
            bytes += sample.summary.bytes() as f64;
            seconds += sample.summary.duration_ns as f64 / 1e9;
        }
    }
    let read = bytes / seconds;
    if seconds == 0.0 || read <= link * LINK_TOLERANCE {
        return None;
    }
    Some((CacheSign::FasterThanLink { read, link }, evidence_of(&samples)))
}

/// Whether layers between host and drive, such as a host's cache or other guests, may have changed a rate.
pub(super) fn is_behind_layers(target: &TargetFacts) -> bool {
    target.is_lent() || target.caveats.contains(&Caveat::NotDirect)
}

/// The names of all signs that something other than a drive answered: the caveats of a finding.
pub(super) fn doubts(run: &RunView<'_>) -> Vec<&'static str> {
    signs(run).iter().map(|(sign, _)| sign.name()).collect()
}

/// Whether that range is the whole target, but for a hundredth: blocks that do not fit are left out at its end.
pub(super) fn covers(run: &RunView<'_>, range: ByteRange) -> bool {
    let capacity = run.target.capacity.get();
    range.first().get() <= capacity / 100 && range.end().get() >= capacity - capacity / 100
}
