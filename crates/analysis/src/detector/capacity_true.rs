//! Whether a drive holds as much as it says.
//!
//! # What it finds
//! How much a drive really holds, in bytes.
//! # Why it matters
//! Sticks and cards are sold that say more than they hold: what is written past the end overwrites what came first, or is lost,
//! and no error is reported until somebody wants to read it.
//! # How
//! Blocks that carry their place are written. Where addresses wrap, a place to which nothing was written shows the block of
//! another; how far that one is away is the size, exactly. Where writes are lost, the places that hold what was written to them
//! end at some byte, which is closed in on until the last that holds and the first that does not are neighbours.
//! # Cannot tell when
//! Nothing was compared; only a part of the drive was looked at; too few of the last places were wrong to tell an end from
//! damage; or no place held anything.
//! # Known problems
//! The quick test looks at some hundred places. It takes a drive to end once: one that loses a stretch in its midst is found by
//! `--full`. A cache that keeps more writes than the test makes in between hides the end.
//! # References
//! Machado, "F3: an alternative to h2testw" (f3probe), 2010 to 2023: kinds of fake drives, and how they are told.

use super::wording::size;
use super::{Detector, Need};
use crate::integrity::{Extent, Probes, compared, extent};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct CapacityTrue;

const CODE: FindingCode = FindingCode::CapacityTrue;
/// What to do with a drive that lies.
const ADVICE: &str = "Keep nothing on it, and give it back: it was made to deceive. If you must use it, make one partition that ends \
                      before the place where it ends.";

impl Detector for CapacityTrue {
    fn codes(&self) -> &'static [FindingCode] {
        &[CODE]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Phase]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let asks = compared(run).any(|(_, summary, _)| summary.phase.experiment == "verify");
        if !asks {
            return Vec::new();
        }
        let said = run.target.capacity.0;
        let Some(extent) = extent(run) else {
            return vec![Finding::unknown(CODE, "Nothing was written and read again.")];
        };
        vec![match extent {
            Extent::Wraps { real_bytes } if real_bytes < said => wraps(run, real_bytes),
            Extent::Ends { held_to, lost_from } => ends(run, held_to, lost_from),
            Extent::Holds { to } if to >= said / BLOCK * BLOCK => holds(run),
            Extent::Holds { to } | Extent::Wraps { real_bytes: to } => {
                let why = format!("It holds data up to {}; what is past that was not looked at.", size(to));
                Finding::unknown(CODE, why)
            }
            Extent::Unclear { wrong, held_to } => {
                let why = format!(
                    "The last {wrong} places that were looked at, past byte {held_to}, did not hold what was written. \
                     That is too few to tell an end from damage. To be sure: verify --full."
                );
                Finding::unknown(CODE, why)
            }
            Extent::Nothing => {
                Finding::unknown(CODE, "No place held what was written, so there is no end to be found.")
            }
        }]
    }
}

/// The last block of a drive may be cut.
const BLOCK: u64 = crate::integrity::BLOCK_BYTES;

fn wraps(run: &RunView<'_>, real_bytes: u64) -> Finding {
    let statement = format!(
        "It holds {} of the {} that it claims: what is written past there overwrites what is at its start.",
        size(real_bytes),
        size(run.target.capacity.0)
    );
    found(run, Estimate::exact(real_bytes as f64), statement, "wraps").with_advice(ADVICE)
}

fn ends(run: &RunView<'_>, held_to: u64, lost_from: u64) -> Finding {
    let about = if held_to == lost_from { "" } else { "about " };
    let statement = format!(
        "It holds {about}{} of the {} that it claims: what is written past there is lost.",
        size(held_to),
        size(run.target.capacity.0)
    );
    let estimate = Estimate { high: lost_from as f64, ..Estimate::exact(held_to as f64) };
    found(run, estimate, statement, "lost").with_advice(ADVICE)
}

fn holds(run: &RunView<'_>) -> Finding {
    let said = run.target.capacity.0;
    let is_full = compared(run)
        .filter(|(_, _, mark)| mark.generation > 0)
        .map(|(_, summary, _)| summary.bytes())
        .sum::<u64>()
        >= said;
    let statement = if is_full {
        format!("It holds all of the {} that it claims.", size(said))
    } else {
        format!(
            "It holds the {} that it claims, as far as {} places up to its very end tell.",
            size(said),
            Probes::of(run).count()
        )
    };
    found(run, Estimate::exact(said as f64), statement, "all")
}

fn found(run: &RunView<'_>, estimate: Estimate, statement: String, past_the_end: &'static str) -> Finding {
    let evidence = compared(run).map(|(phase, summary, _)| summary.evidence(phase));
    Finding::number(CODE, estimate, "bytes", statement, evidence.take(3).collect())
        .with_data("claimed_bytes", Datum::Integer(run.target.capacity.0))
        .with_data("past_the_end", Datum::Text(past_the_end.into()))
}
