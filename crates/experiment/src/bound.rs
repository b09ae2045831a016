//! That no more is written than was asked for or announced, whichever part writes it.

use crate::Step;
use model::plan::{Phase, PhaseKind};
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;

/// What phases wrote, but for so many in the beginning.
pub(crate) fn written_since(so_far: &RunView<'_>, prepared: usize) -> Bytes {
    let mut written = Bytes::ZERO;
    for summary in so_far.phases.iter().skip(prepared) {
        if let Some(totals) = summary.totals_of(Operation::Write) {
            written += Bytes::new(totals.bytes);
        }
    }
    written
}

/// The phase, so that it writes no more than is left; none when that is less than a block, or too little for what comes after it.
pub(crate) fn within(mut phase: Phase, left: Option<Bytes>, block: Bytes) -> Option<Phase> {
    let Some(left) = left else { return Some(phase) };
    if left < block {
        return None;
    }
    let Some(workload) = &phase.workload else { return Some(phase) };
    if !workload.mix.operations().contains(&Operation::Write) {
        return Some(phase);
    }
    if let Some(most) = phase.stop.bytes_max(workload)
        && most <= left
    {
        return Some(phase);
    }
    let most = left.round_down_to(workload.block_sizes.largest());
    // What is filled by half only shows nothing of what it was filled for.
    if most == Bytes::ZERO || phase.kind == PhaseKind::Precondition {
        return None;
    }
    phase.stop = phase.stop.or_bytes(most);
    Some(phase)
}

pub(crate) fn capped(mut steps: Vec<Step>, left: Option<Bytes>) -> Vec<Step> {
    let Some(mut left) = left else { return steps };
    for step in &mut steps {
        let writes = step.writes.unwrap_or(left).min(left);
        left -= writes;
        step.writes = Some(writes);
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::StopCondition;
    use model::range::ByteRange;
    use model::units::Nanos;
    use model::workload::{OperationMix, Pattern, Workload};

    const BLOCK: Bytes = Bytes::from_kib(128);

    fn writing(kind: PhaseKind, stop: StopCondition) -> Phase {
        let range = ByteRange::whole(Bytes::from_gib(1));
        let workload = Workload::new(range, Pattern::RandomWithReplacement, OperationMix::Write, BLOCK, 32);
        Phase { name: String::new(), experiment: "sustain".into(), kind, workload: Some(workload), stop }
    }

    #[test]
    fn a_phase_writes_no_more_than_is_left() {
        let an_hour = StopCondition::after(Nanos::from_secs(3600));
        let bytes_of = |stop, left| {
            within(writing(PhaseKind::Measure, stop), Some(left), BLOCK).map(|phase| phase.stop.bytes)
        };
        assert_eq!(bytes_of(an_hour, Bytes::from_mib(1)), Some(Some(Bytes::from_mib(1))));
        assert_eq!(bytes_of(an_hour, Bytes::from_kib(300)), Some(Some(Bytes::from_kib(256))));
        let small = an_hour.or_bytes(Bytes::from_kib(256));
        assert_eq!(bytes_of(small, Bytes::from_mib(1)), Some(Some(Bytes::from_kib(256))));
        assert_eq!(bytes_of(small, Bytes::from_kib(100)), None);
        let fill = writing(PhaseKind::Precondition, StopCondition::one_pass());
        assert_eq!(within(fill.clone(), Some(Bytes::from_mib(1)), BLOCK), None);
        assert_eq!(within(fill.clone(), None, BLOCK), Some(fill));
    }

    #[test]
    fn steps_together_write_no_more_than_is_left() {
        let step = |writes| Step {
            what: String::new(),
            phases: 1,
            time: Nanos::ZERO,
            likely: Nanos::ZERO,
            slow: Nanos::ZERO,
            reads: Some(Bytes::ZERO),
            writes,
        };
        let steps = vec![step(Some(Bytes::new(70))), step(None), step(Some(Bytes::new(20)))];
        let writes = |left| -> Vec<Option<Bytes>> {
            capped(steps.clone(), left).into_iter().map(|step| step.writes).collect()
        };
        assert_eq!(
            writes(Some(Bytes::new(100))),
            [Some(Bytes::new(70)), Some(Bytes::new(30)), Some(Bytes::ZERO)]
        );
        assert_eq!(writes(None), [Some(Bytes::new(70)), None, Some(Bytes::new(20))]);
    }
}
