//! How the medium is recorded.
//! # What it finds
//! Conventional recording (`cmr`), shingled recording (`smr`), or flash.
//! # Why it matters
//! SMR takes random writes fast until its media cache is full, then a few per second: not for RAID rebuilds or databases.
//! # How
//! A mechanism first: rereads whole revolutions apart show a rotation, latency that grows with distance an arm. Then small random writes with a flush,
//! against as many reads in order: under a tenth of their time, writes go to a log. Where writes after the cliff cost several seeks, bands are
//! rewritten: SMR, as where idle time is seen to clean them. Writes in place from the first are CMR. TRIM on a disk, reported zones and the data sheet
//! are further reasons. Flash is told by its data sheet, or where a drive that reports no rotation shows cells: a buffer takes writes before a medium
//! that is read more slowly, writes take several times a read, written offsets are read more slowly than others, or space is reclaimed.
//! # Cannot tell when
//! Nothing moves and nothing shows cells: a card or a network volume. Writes go to a log without a cliff. Memory answers.
//! # Known problems
//! SMR with a full cache writes slowly from the first, as a failing disk does. A disk that ignores flushes looks like a log.
//! A volume behind a network with a write-back cache near the host looks like flash.
//! # References
//! Aghayev, Shafaei, Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::datasheet::Kind;
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::recording::motion::Motion;
use crate::recording::signs::{sheet, signs_of_shingles};
use crate::recording::{Probes, Writing};
use crate::sustained::Cause;
use model::experiment_name::ExperimentName;
use model::finding::{
    Finding, FindingCode, Outcome, Recording, RecordingKind, RecordingReason, RecordingUnknown,
};
use model::run::RunView;

const ASKED_BY: ExperimentName = ExperimentName::Sustain;
/// Single reads below this are answered by memory: see the head of `trust.rs`.
const MEMORY_READ_S: f64 = 10e-6;
/// Flash takes another time to be read than to be written. Within a tenth, one at a time and many, nothing is told.
const SAME_TIMES: std::ops::RangeInclusive<f64> = 0.9..=1.1;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::RecordingKind], needs: &[Need::Asked(ASKED_BY)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let outcome = match Probes::of(run, &ASKED_BY) {
        None => Outcome::Unknown(RecordingUnknown::RangeTooSmall),
        Some(probes) => Outcome::of(judge(run, &probes), evidence_of_phases(run, &probes.phases)),
    };
    vec![Finding::RecordingKind(outcome).with_caveats(&doubts(run))]
}

fn judge(run: &RunView<'_>, probes: &Probes) -> Result<RecordingKind, RecordingUnknown> {
    if !probes.is_slow() {
        return without_arm(run, probes);
    }
    let moves = match probes.motion {
        Ok(Motion::Rotation { .. }) => RecordingReason::Rotates,
        Ok(Motion::Seeks) => RecordingReason::Seeks,
        Err(Some(_)) => return Err(RecordingUnknown::NothingMoves(probes.times())),
        Err(None) => return Err(RecordingUnknown::NoRereads),
    };
    let mut kind = if probes.rewrites_behind_drop(run) {
        rewritten(run, probes)
    } else {
        with_arm(run, probes, probes.writing())?
    };
    kind.reasons.push(moves);
    Ok(kind)
}

fn kind(recording: Recording, reasons: Vec<RecordingReason>, probes: &Probes) -> RecordingKind {
    RecordingKind { recording, reasons, times: probes.times(), cost_after_cliff: None }
}

fn rewritten(run: &RunView<'_>, probes: &Probes) -> RecordingKind {
    let mut reasons = vec![RecordingReason::RewritesAfterCliff];
    match probes.writing() {
        Writing::Appended => reasons.push(RecordingReason::WritesToLog),
        Writing::Cleaned => reasons.push(RecordingReason::CleansBands),
        Writing::NoArm | Writing::InPlace | Writing::Rewritten | Writing::Unclear => {}
    }
    reasons.extend(signs_of_shingles(run.target));
    RecordingKind { cost_after_cliff: probes.cost_behind_drop(run), ..kind(Recording::Smr, reasons, probes) }
}

fn with_arm(run: &RunView<'_>, probes: &Probes, writing: Writing) -> Result<RecordingKind, RecordingUnknown> {
    let (mut signs, times) = (signs_of_shingles(run.target), probes.times());
    let fell = probes.cost_behind_drop(run).is_some();
    match writing {
        Writing::InPlace if signs.is_empty() && !fell => {
            Ok(kind(Recording::Cmr, vec![RecordingReason::WritesInPlace], probes))
        }
        Writing::InPlace => Err(RecordingUnknown::InPlaceYetShingled { times, reasons: signs }),
        Writing::Cleaned => {
            signs.insert(0, RecordingReason::CleansBands);
            Ok(kind(Recording::Smr, signs, probes))
        }
        Writing::Appended if !signs.is_empty() => {
            signs.insert(0, RecordingReason::WritesToLog);
            Ok(kind(Recording::Smr, signs, probes))
        }
        Writing::Appended if fell => Err(RecordingUnknown::LogWithoutCost(times)),
        Writing::Appended => Err(RecordingUnknown::LogWithoutCliff(times)),
        Writing::Rewritten => Err(RecordingUnknown::SlowFromStart(times)),
        Writing::Unclear | Writing::NoArm => Err(RecordingUnknown::Unclear(times)),
    }
}

fn without_arm(run: &RunView<'_>, probes: &Probes) -> Result<RecordingKind, RecordingUnknown> {
    if probes.single_read_s().unwrap_or(0.0) < MEMORY_READ_S {
        return Err(RecordingUnknown::AnsweredByMemory);
    }
    let says = if run.target.is_lent() { None } else { run.target.rotational };
    let mut reasons = vec![RecordingReason::TooFastForArm];
    if let Some(sheet) = sheet(run.target)
        && sheet.kind == Kind::SolidState
    {
        reasons.push(RecordingReason::DataSheet);
        return Ok(kind(Recording::Flash, reasons, probes));
    }
    let fell = probes.fell_without_arm(run);
    match says {
        Some(true) => return Err(RecordingUnknown::CacheOfDisk),
        Some(false) if fell == Some(Cause::Collection) => reasons.push(RecordingReason::ReclaimsSpace),
        Some(false) if probes.buffers_writes() => reasons.push(RecordingReason::BuffersWrites),
        Some(false) if probes.programs_cells() => reasons.push(RecordingReason::ProgramsCells),
        Some(false) if probes.senses_cells() => reasons.push(RecordingReason::SensesCells),
        _ if fell.is_none()
            && is_same(probes.sweep_s(), probes.burst_s())
            && is_same(probes.single_read_s(), probes.lone_write_s()) =>
        {
            return Err(RecordingUnknown::EqualTimes);
        }
        _ => return Err(RecordingUnknown::NothingTold),
    }
    reasons.push(RecordingReason::SaysNotRotational);
    Ok(kind(Recording::Flash, reasons, probes))
}

fn is_same(read_s: Option<f64>, write_s: Option<f64>) -> bool {
    matches!((read_s, write_s), (Some(read_s), Some(write_s)) if SAME_TIMES.contains(&(write_s / read_s)))
}
