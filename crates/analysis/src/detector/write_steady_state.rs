//! The rate of writes that go on for ever.
//!
//! # What it finds
//! The rate to which writes settle, once it is steady by SNIA's two criteria.
//! # Why it matters
//! What a new drive does in its first minutes says little of what it does under a load that does not end: random writes to flash end
//! at a tenth of it, and to an SMR disk at a thirtieth.
//! # How
//! The last half of all that was written is cut into five rounds of as many bytes. It is steady when the rates of the rounds lie within
//! 20 % of their mean and the line of least squares through them rises or falls by no more than 10 % of it over the window. That the
//! rounds are half of all makes the time to settle show: nothing counts as steady that had not lasted while as much again was written.
//! # Cannot tell when
//! The criteria are not met; or a flash drive was written over less than twice, before which free space hides what winning it back
//! costs; or a fall came so late that less than half was written after it. Where writes ended with the search for a fall, nothing is
//! said of it.
//! # Known problems
//! The slope is that over the window, as SNIA has it. fio's `iops_slope` is that for each sample: 10 % of it over five samples are
//! 40 % over the window, so that results by the one are not steady by the other.
//! # References
//! SNIA, "Solid State Storage (SSS) Performance Test Specification", version 2.0.2, 2020: steady state, preconditioning.

use super::trust::Subject;
use super::wording::{number, rate, size};
use super::{Detector, Need};
use crate::measured::{NO_TIME, evidence_of_phases, turns};
use crate::stats::CONFIDENCE;
use crate::sustained::{History, Rounds, Standing, WRITTEN_OVER_MIN, memory_bytes, rounds, standing};
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;
use model::workload::Pattern;

/// See the head of this file.
pub(super) struct WriteSteadyState;

impl Detector for WriteSteadyState {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::WriteSteadyState]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked("sustain")]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(history) =
            History::of(run).filter(|history| history.workload.pattern != Pattern::Sequential)
        else {
            return Vec::new();
        };
        match found(run, &history) {
            Ok(finding) => vec![finding],
            Err(why) if was_asked(run, &history) => {
                vec![Finding::unknown(FindingCode::WriteSteadyState, why)]
            }
            Err(_) => Vec::new(),
        }
    }
}

/// Whether writes went on for the lasting rate: after a fall that had been seen, or for longer than the search for a fall takes.
/// Otherwise nobody asked for it.
fn was_asked(run: &RunView<'_>, history: &History<'_>) -> bool {
    let pieces = history.first();
    let written: f64 = pieces.iter().map(|piece| piece.bytes).sum();
    let before_last = &pieces[..pieces.len().saturating_sub(1)];
    written >= WRITTEN_OVER_MIN * history.span as f64
        || matches!(standing(before_last, memory_bytes(turns(run) == Some(true))), Standing::Fell(_))
}

fn found<'run>(run: &RunView<'run>, history: &History<'run>) -> Result<Finding, String> {
    let pieces = history.first();
    let phases = history.first_phases();
    if history.is_in_no_time(run) {
        return Err(NO_TIME.into());
    }
    let written: f64 = pieces.iter().map(|piece| piece.bytes).sum();
    let rounds = rounds(pieces).ok_or("Too little was written to tell: it takes ten pieces.")?;
    let steady = |why: String| format!("{why} Go on with --until steady.");
    let turns = turns(run);
    if turns != Some(true) && written < WRITTEN_OVER_MIN * history.span as f64 {
        return Err(steady(format!(
            "The range was written over {} times. Only after twice does free space no longer hide what winning it back costs.",
            number(written / history.span as f64)
        )));
    }
    if let Standing::Falling = standing(pieces, memory_bytes(turns == Some(true))) {
        return Err(steady("The rate was falling when the writes ended.".into()));
    }
    if !rounds.are_steady() {
        return Err(steady(format!(
            "Over the last half of what was written the rate was not steady: its rounds differ by {} % of their mean, of 20 allowed, \
             and it went up or down by {} %, of 10.",
            number(100.0 * rounds.range_ratio),
            number(100.0 * rounds.slope_ratio)
        )));
    }
    Ok(finding(run, history, &rounds, &phases, written))
}

fn finding(
    run: &RunView<'_>,
    history: &History<'_>,
    rounds: &Rounds,
    phases: &[u32],
    written: f64,
) -> Finding {
    let estimate = rounds.mean.interval(CONFIDENCE);
    let statement = format!(
        "Random writes go on at {}: that is steady over the last half of the {} that were written, {} times the range.",
        rate(estimate.value),
        size(written as u64),
        number(written / history.span as f64)
    );
    let list = rounds.bytes_per_second.iter().map(|&rate| Datum::Number(rate)).collect();
    let finding = Finding::number(
        FindingCode::WriteSteadyState,
        estimate,
        "B/s",
        statement,
        evidence_of_phases(run, phases),
    )
    .with_data("rounds", Datum::List(list))
    .with_data("range_ratio", Datum::Number(rounds.range_ratio))
    .with_data("slope_ratio", Datum::Number(rounds.slope_ratio))
    .with_data("written_bytes", Datum::Number(written));
    Subject::of(run).qualify(finding)
}
