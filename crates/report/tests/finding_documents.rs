//! Typed findings as they stand in the golden document of a run.

use model::estimate::Estimate;
use model::finding::{
    AccessMeasured, AccessParts, AccessTime, ConcurrencyUnknown, DeviceLost, Evidence, Finding, FindingCode,
    Outcome, ProbeTimes, Recording, RecordingKind,
};
use model::run::{Environment, Run, RunStatus};
use model::target::{TargetFacts, TargetKind};
use model::units::Bytes;
use serde_json::Value;

const GOLDEN: &str = include_str!("../../store/tests/golden/run-v1.json");

fn findings() -> Vec<Finding> {
    let estimate =
        Estimate { value: 0.0125, low: 0.012, high: 0.013, confidence: 0.95, effective_count: 40.0 };
    let evidence = vec![Evidence { phase: 0, start_s: 0.5, seconds: 2.0 }];
    let kind = RecordingKind {
        recording: Recording::Smr,
        reasons: vec![],
        times: ProbeTimes::default(),
        cost_after_cliff: None,
    };
    let kind = Finding::RecordingKind(Outcome::known(kind, vec![]));
    let access = AccessTime {
        mean: estimate,
        block: Bytes::new(4096),
        median_s: Some(0.0124),
        range: None,
        parts: Some(AccessParts { seek_s: 0.008, rotation_s: 0.0042, overhead_s: 0.0003 }),
        measured: Some(AccessMeasured {
            span_bytes: Bytes::new(u64::MAX),
            reads: 40,
            held_up_share: f64::NAN,
            host_s: 0.0,
        }),
        imported: None,
    };
    vec![
        Finding::AccessTime(Outcome::known(access, evidence)),
        Finding::DeviceLost(Outcome::known(DeviceLost { at_s: 2.5, failed: None }, vec![])),
        kind,
        Finding::ConcurrencyKnee(Outcome::Unknown(ConcurrencyUnknown::TooFewRounds)),
    ]
}

fn run(findings: Vec<Finding>) -> Run {
    let target = TargetFacts::unidentified(
        TargetKind::Device,
        "/dev/disk/by-id/ata-EXAMPLE".into(),
        Bytes::new(4_000_787_030_016),
    );
    Run {
        id: "golden".into(),
        started: "2026-01-02T03:04:05Z".into(),
        finished: None,
        status: RunStatus::Complete,
        version: "0.1.0".into(),
        command: String::new(),
        asked: None,
        seed: 1,
        target: TargetFacts { rotational: Some(true), ..target },
        environment: Environment::default(),
        state_before: vec![],
        state_after: vec![],
        phases: vec![],
        findings,
    }
}

/// One rule for every finding: a number whose interval spans zero or a factor of more than three is in no sentence, no advice, and no
/// document.
#[test]
fn what_may_as_well_be_another_number_is_not_stated() {
    for (low, high) in [(0.0, 3.0517e9), (250.0, 777.7), (-5.0, 5.0), (777.7, f64::INFINITY)] {
        let estimate = Estimate { value: 777.7, low, high, confidence: 0.95, effective_count: 3.0 };
        let all = FindingCode::ALL.iter().map(|code| Finding::inconclusive(*code, estimate));
        for document in report::finding::documents(&run(all.collect())) {
            let why = document.unknown.as_deref().unwrap_or_default();
            assert!(why.starts_with("Inconclusive: the "), "{document:?}");
            assert!(high == 777.7 || !why.contains("777.7"), "{document:?}");
            assert_eq!((document.value, document.statement, document.advice), (None, None, None), "{why}");
        }
    }
}

#[test]
fn the_findings_of_the_golden_document_are_written() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let documents = report::finding::documents(&run(findings()));
    let written = serde_json::to_string_pretty(&documents).unwrap();
    assert_eq!(written, serde_json::to_string_pretty(&golden["findings"]).unwrap());
}
