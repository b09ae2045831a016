//! How the medium is recorded.
//!
//! # What it finds
//! Whether the drive is a disk with tracks side by side (`cmr`), a disk with overlapping tracks (`smr`), or flash.
//! # Why it matters
//! A shingled disk takes random writes fast until its media cache is full, and then a few a second: it does for archives and
//! backups, and not for RAID rebuilds, databases or virtual machines. Makers have sold such disks without saying so.
//! # How
//! Small writes at random places, made lasting by a flush, against reads at as many places in order: what takes less
//! than a tenth of that did not go to each place but to a log. When, further on, each write costs several times what it
//! takes to get to a place and write there, whole bands are rewritten: that is shingled. Writes that went to their places from
//! the first are not. What the drive says of itself (TRIM on a drive that turns, zones) and its data sheet are further reasons.
//! # Cannot tell when
//! Writes go to a log but no fall was seen behind it: a disk with tracks side by side may have such a log as well. Rounds
//! contradict each other. Nothing turns and the drive says nothing of itself either, or memory answers.
//! # Known problems
//! A shingled disk whose cache was full before the run writes slowly from the first; that alone is not told from a disk in
//! trouble. A disk that keeps writes in memory and does not write them when told to looks as if it had a log.
//! # References
//! Aghayev, Shafaei, Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015.

use super::trust::{Subject, is_lent};
use super::wording::short_time;
use super::{Detector, Need};
use crate::datasheet::{self, Kind, Recording};
use crate::measured::evidence_of_phases;
use crate::recording::{Probes, Writing};
use model::finding::{Conclusion, Datum, Finding, FindingCode, Outcome, Value};
use model::run::RunView;
use model::target::TargetFacts;

/// See the head of this file.
pub(super) struct RecordingKind;

/// The experiment that puts the question.
const ASKED_BY: &str = "sustain";
/// Single reads below this are answered by memory: see the head of `trust.rs`.
const MEMORY_READ_S: f64 = 10e-6;
/// Cells take another time to be read than to be written; what takes the same time to within a tenth for both, one at a time and many,
/// has none, unless a cache before them became full.
const SAME_TIMES: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// What the reasons add up to.
enum Judged {
    Kind(&'static str, Vec<String>),
    Unknown(String),
}

impl Detector for RecordingKind {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::RecordingKind]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(ASKED_BY)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(probes) = Probes::of(run, ASKED_BY) else {
            let why = "the range has too few places to tell writes that go to them from writes that do not. Give a larger --range";
            return vec![Finding::unknown(FindingCode::RecordingKind, why)];
        };
        let finding = match judge(run, &probes) {
            Judged::Kind(kind, reasons) => known(run, &probes, kind, reasons),
            Judged::Unknown(why) => Finding::unknown(FindingCode::RecordingKind, why),
        };
        vec![Subject::of(run).qualify(finding)]
    }
}

fn known(run: &RunView<'_>, probes: &Probes, kind: &'static str, reasons: Vec<String>) -> Finding {
    let (is, advice) = match kind {
        "cmr" => ("The tracks lie side by side (CMR).", None),
        "smr" => (
            "The tracks overlap (SMR), which the drive hides behind a cache.",
            Some(
                "Use it for what is written once or in long streams. Do not put it into a RAID, under a database or under \
                 virtual machines",
            ),
        ),
        _ => ("It is flash.", None),
    };
    let statement = format!("{is} {}", reasons.join(" "));
    let reasons = reasons.into_iter().map(Datum::Text).collect();
    let finding = Finding {
        code: FindingCode::RecordingKind,
        outcome: Outcome::Known(Box::new(Conclusion {
            value: Value::text(kind),
            statement,
            evidence: evidence_of_phases(run, &probes.phases),
            advice: None,
            data: vec![("reasons".into(), Datum::List(reasons))],
        })),
    };
    match advice {
        Some(advice) => finding.with_advice(format!("{advice}.")),
        None => finding,
    }
}

fn judge(run: &RunView<'_>, probes: &Probes) -> Judged {
    match probes.writing() {
        Writing::NoArm => without_arm(run, probes),
        _ if probes.rewrites_behind_fall(run) => rewritten(run, probes),
        writing => with_arm(run, probes, writing),
    }
}

/// Behind the fall whole bands are rewritten.
fn rewritten(run: &RunView<'_>, probes: &Probes) -> Judged {
    let cost = probes.cost_behind_fall(run).unwrap_or(0.0);
    let mut reasons = vec![format!(
        "Behind the fall each write takes {cost:.0} times what getting to its place and writing there takes: more than its own \
         place is rewritten."
    )];
    if probes.writing() == Writing::Appended {
        reasons.push(format!("Before it, small writes at random places go to a log: {}.", times(probes)));
    }
    reasons.extend(words_of_shingles(run.target));
    Judged::Kind("smr", reasons)
}

fn with_arm(run: &RunView<'_>, probes: &Probes, writing: Writing) -> Judged {
    let words = words_of_shingles(run.target);
    let times = times(probes);
    let fell = probes.cost_behind_fall(run).is_some();
    match writing {
        Writing::InPlace if words.is_empty() && !fell => Judged::Kind(
            "cmr",
            vec![format!("Small writes at random places take about as long as getting there: {times}.")],
        ),
        Writing::InPlace => Judged::Unknown(format!(
            "small writes went to their places, as on a disk with tracks side by side ({times}), and yet: {}",
            if words.is_empty() { "the rate fell for good".to_string() } else { words.join(" ") }
        )),
        Writing::Appended if !words.is_empty() => {
            let mut reasons = vec![format!("Small writes at random places go to a log first: {times}.")];
            reasons.extend(words);
            Judged::Kind("smr", reasons)
        }
        Writing::Appended if fell => Judged::Unknown(format!(
            "small writes at random places go to a log first ({times}), but behind its fall they are no slower than writes in place. \
             Within a small part of a shingled disk that is so as well: give a larger --range"
        )),
        Writing::Appended => Judged::Unknown(format!(
            "small writes at random places go to a log first ({times}), but no fall was seen behind it. Write more: sustain \
             with a larger --bytes"
        )),
        Writing::Rewritten => Judged::Unknown(format!(
            "small writes take many times what getting there takes ({times}). A shingled disk with a full cache does that, and so does a \
             disk in trouble. Leave it idle for some hours, or overwrite it in order (--drain), and try again"
        )),
        Writing::Unclear | Writing::NoArm => Judged::Unknown(format!(
            "small writes at random places are neither as slow as getting there nor as fast as a log ({times})"
        )),
    }
}

/// "4.1 ms for a write, 5.0 ms for a read on the way over the drive, 12 ms for a single read".
fn times(probes: &Probes) -> String {
    let time = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".into(), short_time);
    format!(
        "{} for a write, {} for a read on one way over the drive, {} for a single read",
        time(probes.burst_s()),
        time(probes.sweep_s()),
        time(probes.single_read_s())
    )
}

/// What the drive and its maker say that speaks of overlapping tracks.
fn words_of_shingles(target: &TargetFacts) -> Vec<String> {
    let mut words = Vec::new();
    if is_lent(target) {
        return words;
    }
    if target.zoned.as_deref().is_some_and(|zoned| zoned != "none") {
        words.push("It says that it has write zones.".to_string());
    }
    if target.rotational == Some(true) && target.discard_max.is_some_and(|most| most.0 > 0) {
        words.push("It turns and yet takes TRIM, which only shingled disks need.".to_string());
    }
    if sheet(target).is_some_and(|sheet| sheet.recording == Recording::Shingled) {
        words.push("Its maker says so.".to_string());
    }
    words
}

fn sheet(target: &TargetFacts) -> Option<&'static datasheet::Datasheet> {
    target.model.as_deref().and_then(datasheet::find)
}

fn without_arm(run: &RunView<'_>, probes: &Probes) -> Judged {
    let target = run.target;
    let read_s = probes.single_read_s().unwrap_or(0.0);
    if read_s < MEMORY_READ_S {
        return Judged::Unknown("memory answers, not a drive".into());
    }
    let is_same = |read: Option<f64>, write: Option<f64>| {
        read.zip(write).is_some_and(|(read, write)| SAME_TIMES.contains(&(write / read)))
    };
    let times_equal = is_same(probes.sweep_s(), probes.burst_s())
        && is_same(probes.single_read_s(), probes.lone_write_s())
        && !probes.fell_without_arm(run);
    if times_equal {
        return Judged::Unknown(
            "reads and writes take the same time, so neither arm nor cells show".to_string(),
        );
    }
    let fast = format!("Single reads at random places take {}, too little for an arm.", short_time(read_s));
    let says = if is_lent(target) { None } else { target.rotational };
    let is_sold_as_flash = sheet(target).is_some_and(|sheet| sheet.kind == Kind::SolidState);
    match says {
        Some(false) => Judged::Kind("flash", vec![fast, "It says that it does not turn.".into()]),
        _ if is_sold_as_flash => Judged::Kind("flash", vec![fast, "Its maker says so.".into()]),
        Some(true) => Judged::Unknown(
            "single reads are too fast for an arm, and yet the drive says that it turns: a cache answers".into(),
        ),
        None => Judged::Unknown(
            "single reads are too fast for an arm, but nothing tells whether flash, memory or a cache answers".into(),
        ),
    }
}
