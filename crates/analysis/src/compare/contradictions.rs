//! Runs of one drive under the same conditions that exclude each other: then one of them is wrong, or the drive has changed.

use super::caveats;
use super::changes::is_one_drive;
use super::compared_run::ComparedRun;
use super::figures::LEFT_OUT;
use model::comparison::{ComparedFigure, RunContradiction};
use model::finding::{Contradicting, FindingCode, Value, of_code};

/// What may be another in each run without any of them being wrong: what broke, or what a drive was at when the run began.
const OF_A_MOMENT: [FindingCode; 8] = [
    FindingCode::BadBlocks,
    FindingCode::BlockLatency,
    FindingCode::Contradictions,
    FindingCode::DataIntegrity,
    FindingCode::SlowRegions,
    FindingCode::SuspectPoints,
    FindingCode::UnmappedRanges,
    FindingCode::WakeUp,
];

pub(super) fn of(runs: &[ComparedRun<'_>], figures: &[ComparedFigure]) -> Vec<RunContradiction> {
    let mut contradictions = Vec::new();
    for second in 1..runs.len() {
        for first in 0..second {
            let (one, other) = (&runs[first], &runs[second]);
            let is_alike =
                is_one_drive(&one.run.target, &other.run.target) && caveats::together(one, other).is_empty();
            for &code in FindingCode::ALL.iter().filter(|_| is_alike) {
                if let Some(between) = excluding(one, other, code)
                    && !is_chance(figures, code, first, second)
                {
                    contradictions.push(RunContradiction { first, second, between });
                }
            }
        }
    }
    contradictions
}

/// What both say of a code, if it cannot both be true.
fn excluding(
    one: &ComparedRun<'_>,
    other: &ComparedRun<'_>,
    code: FindingCode,
) -> Option<[Contradicting; 2]> {
    if LEFT_OUT.contains(&code) || OF_A_MOMENT.contains(&code) {
        return None;
    }
    let value = |compared: &ComparedRun<'_>| of_code(&compared.run.findings, code)?.value();
    let (first, second) = (value(one)?, value(other)?);
    let exclude = match (&first, &second) {
        (Value::Word(first), Value::Word(second)) => first != second,
        (Value::Number(first), Value::Number(second)) => first.low > second.high || second.low > first.high,
        _ => true,
    };
    exclude.then_some([Contradicting { code, value: first }, Contradicting { code, value: second }])
}

/// Of many intervals some exclude each other by chance: only a difference that stands among all counts. What is exact has none.
fn is_chance(figures: &[ComparedFigure], code: FindingCode, first: usize, second: usize) -> bool {
    let figure = figures.iter().find(|figure| figure.code == code);
    let mut differences = figure.into_iter().flat_map(|figure| &figure.differences);
    differences.any(|difference| {
        (difference.first, difference.second) == (first, second) && !difference.is_significant
    })
}
