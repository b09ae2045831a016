//! Words for the finding of block latency.

use super::{Group, Subject, Wording};
use crate::quantity::count;
use crate::style::Tone;
use model::finding::{BlockLatency, FindingCode, Known};
use model::latency_map::LatencyClass;

impl Wording for BlockLatency {
    const PLACE: (Group, &'static str) = (Group::Sound, "Slow or failed blocks");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("request", "requests"));

    fn statement(known: &Known<BlockLatency>, _: FindingCode, _: &Subject<'_>) -> String {
        let latency = &known.conclusion;
        let total: u64 = latency.classes.iter().map(|class| class.count).sum();
        let (slow, failed) = (latency.count(LatencyClass::Slower), latency.count(LatencyClass::Failed));
        let found = match (slow, failed) {
            (0, 0) => "none took 500 ms or longer".into(),
            (0, failed) => format!("{} failed, none of the others took 500 ms or longer", count(failed)),
            (slow, failed) => format!("{} took 500 ms or longer, {} failed", count(slow), count(failed)),
        };
        format!("Full scan with rereads ({} requests, warm-up excluded): {found}.", count(total))
    }

    fn alarm(known: &Known<BlockLatency>, _: FindingCode) -> Option<Tone> {
        let latency = &known.conclusion;
        let late = latency.count(LatencyClass::Slower) + latency.count(LatencyClass::Failed);
        if late > 0 { Some(Tone::Warning) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::finding::ClassCount;

    #[test]
    fn late_and_failed_requests_are_counted() {
        let classes = vec![
            ClassCount { class: LatencyClass::Under10Ms, count: 9_990 },
            ClassCount { class: LatencyClass::Slower, count: 8 },
            ClassCount { class: LatencyClass::Failed, count: 2 },
        ];
        assert_eq!(
            statement(&known(BlockLatency { classes, maps: Vec::new() }), FindingCode::BlockLatency),
            "Full scan with rereads (10,000 requests, warm-up excluded): 8 took 500 ms or longer, 2 failed."
        );
    }
}
