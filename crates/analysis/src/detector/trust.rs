//! Whether it was the drive that answered, and how to speak of what was measured if not.

use super::wording::{rate, short_time};
use crate::measured::{Visit, in_no_time, merged_latencies, random_groups, sequential_visits};
use model::finding::{Datum, Evidence, Finding};
use model::range::ByteRange;
use model::request::Operation;
use model::run::RunView;
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Quantile;

/// The median of single random reads of 4 KiB below which it was memory that answered, in seconds. Sensing a page of
/// flash takes 40 to 100 µs, and 3 µs in the fastest kind made, to which controller, link and kernel add
/// (Z-NAND: Cheong et al., ISSCC 2018; the quickest drive of the drives we know of answers in 57 µs). SATA adds 20 µs and more by
/// itself. Only Optane on PCIe 4, stated at 6 µs, comes near when it is polled.
const MEMORY_MEDIAN_S: f64 = 10e-6;

/// The same for a disk that turns: at 15,000 turns a minute half of all random reads wait at least 2 ms; this is a
/// quarter of that.
pub(super) const DISK_MEDIAN_S: f64 = 0.5e-3;

/// By how much a rate may exceed what the link carries before it is no rounding: 2 %.
const LINK_TOLERANCE: f64 = 1.02;

/// A reason to think that something else than a drive answered.
pub(super) struct Reason {
    /// The word in data.
    pub name: &'static str,
    /// A sentence.
    pub statement: String,
    /// What shows it; nothing when it was known beforehand.
    pub evidence: Vec<Evidence>,
}

/// All reasons, first those known beforehand, then those that the data show.
pub(super) fn reasons(run: &RunView<'_>) -> Vec<Reason> {
    let known = run.target.caveats.iter().map(|caveat| Reason {
        name: caveat.name(),
        statement: caveat.statement().to_string(),
        evidence: Vec::new(),
    });
    known.chain(memory_speed(run)).chain(faster_than_link(run)).collect()
}

fn memory_speed(run: &RunView<'_>) -> Option<Reason> {
    let single = random_groups(run, Operation::Read).remove(&1)?;
    let small = single.first()?.workload.block_sizes.largest().0 <= 4096;
    let histogram = merged_latencies(&single, Operation::Read);
    let median_s = histogram.quantile(Quantile::MEDIAN)?.seconds();
    if !small || in_no_time(run, &single) {
        return None;
    }
    // A virtual disk says that it turns unless its host was told otherwise.
    let is_virtual = run.target.caveats.contains(&Caveat::VirtualDisk);
    let says_it_turns = run.target.rotational == Some(true) && !is_virtual;
    let (name, limit_s, than) = if says_it_turns {
        ("faster-than-a-disk", DISK_MEDIAN_S, "no disk turns that fast")
    } else {
        ("faster-than-flash", MEMORY_MEDIAN_S, "flash takes longer, memory does not")
    };
    (median_s < limit_s).then(|| Reason {
        name,
        statement: format!(
            "Half of all single random reads took less than {}: {than}.",
            short_time(median_s)
        ),
        evidence: single.iter().map(Visit::evidence).collect(),
    })
}

fn faster_than_link(run: &RunView<'_>) -> Option<Reason> {
    let most = run.target.link.as_ref()?.bytes_per_second_max?;
    let visits = sequential_visits(run, Operation::Read);
    if in_no_time(run, &visits) {
        return None;
    }
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for visit in visits.iter().filter(|visit| visit.error_share() == 0.0) {
        bytes += visit.summary.bytes() as f64;
        seconds += visit.summary.duration_ns as f64 / 1e9;
    }
    let measured = bytes / seconds;
    (seconds > 0.0 && measured > most * LINK_TOLERANCE).then(|| Reason {
        name: "faster-than-the-link",
        statement: format!(
            "Reads ran at {}, but the link to the drive carries {} at most.",
            rate(measured),
            rate(most)
        ),
        evidence: visits.iter().map(Visit::evidence).collect(),
    })
}

/// Whether what the target says of itself is not the drive's word.
pub(super) fn is_lent(target: &TargetFacts) -> bool {
    let lent = [Caveat::InMemory, Caveat::LoopOverFile, Caveat::VirtualDisk, Caveat::Network];
    target.caveats.iter().any(|caveat| lent.contains(caveat))
}

/// Why a change of the rate has no mechanism, where a host's cache, a page cache or other guests may have made it.
pub(super) fn between(target: &TargetFacts) -> Option<&'static str> {
    (is_lent(target) || target.caveats.contains(&Caveat::NotDirect)).then_some(
        "What lies between here and a drive, such as a cache of the host or the load of others, may have done that, so that it says \
         nothing of a drive.",
    )
}

/// Whether the start is the outer edge of a disk. A volume of several has no link of its own, and neither has what nobody knows.
pub(super) fn is_one_disk(target: &TargetFacts) -> bool {
    target.rotational == Some(true) && target.link.is_some()
}

/// How to speak of what was measured.
pub(super) struct Subject {
    /// "drive", "file", or "target" when something else may have answered.
    pub noun: &'static str,
    turns: bool,
    reasons: Vec<&'static str>,
}

impl Subject {
    /// Of this run.
    pub(super) fn of(run: &RunView<'_>) -> Subject {
        let reasons: Vec<&'static str> = reasons(run).iter().map(|reason| reason.name).collect();
        let noun = match run.target.kind {
            TargetKind::File | TargetKind::Folder => "file",
            TargetKind::Device | TargetKind::Sim if reasons.is_empty() => "drive",
            TargetKind::Device | TargetKind::Sim => "target",
        };
        let remapped = run.target.caveats.contains(&Caveat::Remapped);
        let turns = noun == "drive" && is_one_disk(run.target) && !remapped;
        Subject { noun, turns, reasons }
    }

    /// "at the start of the file", "at the outer edge of the drive (its start)", "at the start of the measured range".
    pub(super) fn place(&self, start: bool, whole: bool) -> String {
        let place = if start { "start" } else { "end" };
        match (whole, self.turns) {
            (false, _) => format!("at the {place} of the measured range"),
            (true, true) if start => format!("at the outer edge of the {} (its start)", self.noun),
            (true, true) => format!("at the inner edge of the {} (its end)", self.noun),
            (true, false) => format!("at the {place} of the {}", self.noun),
        }
    }

    /// "all of the drive", or which part of it.
    pub(super) fn extent(&self, run: &RunView<'_>, range: ByteRange) -> String {
        if covers(run, range) {
            return format!("all of the {}", self.noun);
        }
        format!(
            "{} of the {}, from byte {} on",
            super::wording::size(range.bytes().0),
            self.noun,
            range.first().0
        )
    }

    /// The finding with the reasons to doubt it in its data. Its statement does not speak of a drive then, and one
    /// finding for all, cache-influence, says why.
    pub(super) fn qualify(&self, finding: Finding) -> Finding {
        if self.reasons.is_empty() {
            return finding;
        }
        let reasons = self.reasons.iter().map(|reason| Datum::Text((*reason).to_string())).collect();
        finding.with_data("caveats", Datum::List(reasons))
    }
}

/// Whether that range is the whole target, but for a hundredth: blocks that do not fit are left out at its end.
pub(super) fn covers(run: &RunView<'_>, range: ByteRange) -> bool {
    let capacity = run.target.capacity.0;
    range.first().0 <= capacity / 100 && range.end().0 >= capacity - capacity / 100
}
