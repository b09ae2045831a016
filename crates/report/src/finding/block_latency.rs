//! Words for the finding of block latency.

use super::{Group, Subject, Wording};
use crate::quantity::count;
use crate::style::Tone;
use model::finding::{BlockLatency, FindingCode, Known};
use model::latency_map::LatencyClass;
use std::convert::Infallible;

impl Wording for BlockLatency {
    fn place(_: FindingCode) -> (Group, &'static str) {
        (Group::Sound, "Slow blocks")
    }

    fn statement(known: &Known<BlockLatency>, _: FindingCode, _: &Subject<'_>) -> String {
        let latency = &known.conclusion;
        let total: u64 = latency.classes.iter().map(|class| class.count).sum();
        format!(
            "Full scan of {} requests: {} took 500 ms or longer, {} failed.",
            count(total),
            count(latency.count(LatencyClass::Slower)),
            count(latency.count(LatencyClass::Failed))
        )
    }

    fn counted() -> Option<(&'static str, &'static str)> {
        Some(("request", "requests"))
    }

    fn why(reason: &Infallible, _: FindingCode, _: &Subject<'_>) -> String {
        match *reason {}
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
            "Full scan of 10,000 requests: 8 took 500 ms or longer, 2 failed."
        );
    }
}
