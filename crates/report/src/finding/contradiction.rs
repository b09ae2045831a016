//! Words for contradictions between findings of one run.

use super::{Group, Subject, Wording, label, shown};
use crate::style::Tone;
use model::finding::{
    Contradicting, Contradiction, ContradictionKind, Contradictions, FindingCode, Known, Value,
};

impl Wording for Contradictions {
    const PLACE: (Group, &'static str) = (Group::Sound, "Contradictions");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("contradiction", "contradictions"));

    fn statement(known: &Known<Contradictions>, _: FindingCode, _: &Subject<'_>) -> String {
        let sentences: Vec<String> = known.conclusion.contradictions.iter().map(sentence).collect();
        sentences.join(" ")
    }

    fn advice(_: &Known<Contradictions>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        Some("Use neither value. Repeat the run while nothing else uses the drive.".into())
    }

    fn alarm(_: &Known<Contradictions>, _: FindingCode) -> Option<Tone> {
        Some(Tone::Warning)
    }
}

/// "Drive type flash contradicts Rotation period 8.333 ms: flash does not rotate or seek."
fn sentence(contradiction: &Contradiction) -> String {
    let [one, other] = &contradiction.between;
    format!("{} contradicts {}: {}.", said(one), said(other), rule(contradiction.kind))
}

pub(crate) fn said(Contradicting { code, value }: &Contradicting) -> String {
    let value = match value {
        Value::Word(word) => word.to_string(),
        Value::Number(estimate) => shown(*code, estimate, code.unit().unwrap_or_default()).line(),
    };
    format!("{} {value}", label(*code))
}

fn rule(kind: ContradictionKind) -> &'static str {
    match kind {
        ContradictionKind::FlashMoves => "flash does not rotate or seek",
        ContradictionKind::FasterThanRotation => "a random read waits half a revolution on average",
        ContradictionKind::SeekOrder => "a longer seek takes longer",
        ContradictionKind::StripeOnOneDisk => "LBAs of a stripe do not follow the tracks of one disk",
        ContradictionKind::OverLink => "no read exceeds the throughput of the link",
        ContradictionKind::OverLimit => "no sustained rate exceeds the rate limit",
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::estimate::Estimate;

    #[test]
    fn both_values_and_the_reason_are_told() {
        let between = [
            Contradicting { code: FindingCode::RecordingKind, value: Value::Word("flash".into()) },
            Contradicting {
                code: FindingCode::RotationPeriod,
                value: Value::Number(Estimate { low: 8.332e-3, high: 8.334e-3, ..Estimate::exact(8.333e-3) }),
            },
        ];
        let contradictions = vec![Contradiction { kind: ContradictionKind::FlashMoves, between }];
        assert_eq!(
            statement(&known(Contradictions { contradictions }), FindingCode::Contradictions),
            "Drive type flash contradicts Rotation period 8.3330 ms (±0.01 %): flash does not rotate or seek."
        );
    }
}
