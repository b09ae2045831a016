//! The JSON document: a golden file, the way back, and hostile strings.

use model::experiment_name::ExperimentName;
use model::finding::FindingDocument;
use model::histogram::LatencyHistogram;
use model::page_cache::{CachedRow, CachedRows};
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{
    Asked, CompletionStretch, Consent, Environment, OperationTotals, PhaseSummary, Run, RunStatus,
};
use model::target::{Caveat, Link, TargetFacts, TargetKind};
use model::units::{Bytes, Nanos, Offset};
use model::untold::Untold;
use model::workload::{
    Arrival, BlockSizes, Caching, DataPattern, OperationMix, Pattern, Spacing, Workload, ZoneShare,
};
use proptest::prelude::*;
use serde_json::Value;
use store::document::{DocumentError, Facts, from_json, to_json};

const GOLDEN: &str = include_str!("golden/run-v1.json");

fn histogram(latencies: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::default();
    latencies.iter().for_each(|&latency| histogram.record(latency));
    histogram
}

fn target() -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Device,
        path: "/dev/disk/by-id/ata-EXAMPLE".into(),
        capacity: Bytes::new(4_000_787_030_016),
        logical_block: Bytes::new(512),
        physical_block: Bytes::new(4096),
        model: Some("EXAMPLE 4000".into()),
        serial: Some("X\"<script>\u{1b}[31m".into()),
        firmware: None,
        rotational: Some(true),
        link: Some(Link { name: "SATA 6.0 Gbit/s".into(), bytes_per_second_max: Some(6e8) }),
        scheduler: Some("mq-deadline".into()),
        read_ahead: Some(Bytes::new(131_072)),
        write_cache: Some(true),
        discard_max: None,
        zoned: Some("none".into()),
        stack: vec!["sda".into()],
        stated_layout: None,
        caveats: vec![Caveat::VirtualDisk],
    }
}

fn mixed_workload() -> Workload {
    let range = ByteRange::new(Offset::new(1 << 20), Bytes::new(1 << 30)).unwrap();
    let mix = OperationMix::ReadWrite { read_share: 0.7 };
    Workload {
        block_sizes: BlockSizes::mix(vec![(Bytes::new(4096), 67.0), (Bytes::new(8192), 33.0)]).unwrap(),
        data: DataPattern::Given { bytes: vec![0, 171, 255] },
        threads: 2,
        arrival: Arrival::OpenLoop { per_second: 250.5, spacing: Spacing::Poisson },
        ..Workload::new(range, Pattern::RandomWithReplacement, mix, Bytes::new(4096), 8)
    }
}

fn phases() -> Vec<PhaseSummary> {
    let totals = |operation, operations, bytes, errors, latencies: &[u64]| OperationTotals {
        operation,
        operations,
        bytes,
        errors,
        histogram: histogram(latencies),
        stretch: None,
    };
    vec![
        PhaseSummary {
            duration_ns: 2_000_000_000,
            stopped: Some(StopReason::Time),
            totals: vec![
                totals(Operation::Read, 3, 12_288, 1, &[100, 200, 300]),
                totals(Operation::Write, 1, 8192, 0, &[50]),
            ],
            ..PhaseSummary::begun(
                Phase {
                    name: "read and write".into(),
                    experiment: "access".into(),
                    kind: PhaseKind::Measure,
                    workload: Some(mixed_workload()),
                    stop: StopCondition {
                        precision: Some(0.01),
                        ..StopCondition::after(Nanos::new(2_000_000_000))
                    },
                },
                500_000_001,
            )
        },
        PhaseSummary::begun(
            Phase {
                name: "rest".into(),
                experiment: "access".into(),
                kind: PhaseKind::Idle,
                workload: None,
                stop: StopCondition::after(Nanos::new(1)),
            },
            2_500_000_001,
        ),
    ]
}

fn findings() -> Vec<FindingDocument> {
    let mut golden: Value = serde_json::from_str(GOLDEN).unwrap();
    serde_json::from_value(golden["findings"].take()).unwrap()
}

fn run() -> Run {
    Run {
        id: "20260102T030405Z-access-1a2b".into(),
        started: "2026-01-02T03:04:05Z".into(),
        finished: Some("2026-01-02T03:04:09Z".into()),
        status: RunStatus::Complete,
        version: "0.1.0".into(),
        command: "drivescope access /dev/disk/by-id/ata-EXAMPLE --seed 18446744073709551615".into(),
        asked: Some(Asked { experiment: ExperimentName::Access, consent: Consent::Overwrite }),
        seed: u64::MAX,
        target: target(),
        environment: Environment {
            host: "bench".into(),
            kernel: "6.12.0".into(),
            engine: "uring".into(),
            engine_features: vec!["registered buffers".into()],
            direct: true,
            scheduler: Some("none".into()),
            own_cost_ns_per_io: Some(f64::NAN),
            scheduling_gap_ns_max: Some(75_000),
            warnings: vec!["line one\nline two".into()],
        },
        state_before: vec!["unknown".into()],
        state_after: vec![],
        phases: phases(),
        findings: vec![],
    }
}

/// What comes back of a run: all but histograms and what is not finite.
fn as_kept(mut run: Run) -> Run {
    for totals in run.phases.iter_mut().flat_map(|phase| &mut phase.totals) {
        totals.histogram.clear();
    }
    run.environment.own_cost_ns_per_io = run.environment.own_cost_ns_per_io.filter(|cost| cost.is_finite());
    run
}

fn through_json(run: &Run) -> Run {
    from_json(&to_json(run, &[])).unwrap().run
}

#[test]
fn the_golden_document_is_written() {
    assert_eq!(to_json(&run(), &findings()), GOLDEN);
}

#[test]
fn the_golden_document_is_read() {
    assert_eq!(from_json(GOLDEN).unwrap(), Facts { run: as_kept(run()), findings: findings() });
}

#[test]
fn what_lay_in_the_page_cache_comes_back() {
    let row = CachedRow {
        first: Offset::new(1 << 30),
        reads: 2,
        asked: Bytes::new(8192),
        looked_at: Bytes::new(1 << 26),
        cached_before: Bytes::new(4096),
        cached: Bytes::new(20_480),
    };
    for page_cache in [Ok(CachedRows { rows: vec![row] }), Err(Untold::new("the kernel does not tell"))] {
        let mut run = run();
        run.phases[1].page_cache = Some(page_cache);
        assert_eq!(through_json(&run), as_kept(run));
    }
}

#[test]
fn an_unknown_key_is_passed_over() {
    let text = GOLDEN.replacen("\"phases\":", "\"later\": {\"a\": [1, null]}, \"phases\":", 1);
    let text = text.replacen("\"host\":", "\"later\": 1, \"host\":", 1);
    assert_eq!(from_json(&text).unwrap().run, as_kept(run()));
}

#[test]
fn what_is_not_known_names_its_key() {
    let refusal = |from: &str, to: &str| {
        assert!(GOLDEN.contains(from), "{from}");
        from_json(&GOLDEN.replacen(from, to, 1)).unwrap_err().to_string()
    };
    for (from, to, key, problem) in [
        ("\"status\": \"complete\"", "\"status\": \"done\"", "run.status", "unknown variant `done`"),
        ("\"kind\": \"device\"", "\"kind\": \"tape\"", "target.kind", "unknown variant `tape`"),
        ("\"virtual-disk\"", "\"haunted\"", "target.caveats[0].name", "unknown variant `haunted`"),
        ("\"kind\": \"idle\"", "\"kind\": \"nap\"", "phases[1].kind", "unknown variant `nap`"),
        ("\"stopped\": \"time\"", "\"stopped\": \"bored\"", "phases[0].stopped", "unknown variant `bored`"),
        (
            "\"operation\": \"write\"",
            "\"operation\": \"erase\"",
            "phases[0].by_operation[1].operation",
            "unknown variant `erase`",
        ),
        (
            "\"random-with-replacement\"",
            "\"spiral\"",
            "phases[0].workload.pattern.kind",
            "unknown variant `spiral`",
        ),
        (
            "\"random-with-replacement\"",
            "\"strided\"",
            "phases[0].workload.pattern",
            "missing field `stride_bytes`",
        ),
        ("\"00abff\"", "\"00abf\"", "phases[0].workload.data", "\"00abf\", expected two hexadecimal digits"),
        (
            "\"00abff\"",
            "\"00ab+f\"",
            "phases[0].workload.data",
            "\"00ab+f\", expected two hexadecimal digits",
        ),
        ("\"poisson\"", "\"bursts\"", "phases[0].workload.arrival", "unknown variant `bursts`"),
        (
            "\"first_byte\": 1048576",
            "\"first_byte\": 18446744073709551615",
            "phases[0].workload.range",
            "ends past 64 bits",
        ),
    ] {
        let message = refusal(from, to);
        assert!(
            message.contains(&format!("its key {key} ")) && message.contains(problem),
            "{key}: {message}"
        );
    }
    assert!(refusal("\"started\"", "\"begun\"").contains("missing field `started`"));
}

#[test]
fn another_schema_is_named() {
    let error = from_json("{\"schema\": \"drivescope.run/2\"}").unwrap_err();
    assert!(matches!(&error, DocumentError::Schema { found } if found == "drivescope.run/2"));
    assert_eq!(
        error.to_string(),
        "its schema is \"drivescope.run/2\", and this version of drivescope reads drivescope.run/1"
    );
}

#[test]
fn no_cut_or_garbage_panics() {
    let text = GOLDEN;
    for end in 0..text.len() - 3 {
        assert!(!text.is_char_boundary(end) || from_json(&text[..end]).is_err(), "{end}");
    }
    for garbage in ["", "null", "[]", "{}", "{\"schema\": 1}", "\"\\ud800\"", &"[".repeat(10_000)] {
        assert!(from_json(garbage).is_err(), "{garbage}");
    }
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    let share = 0.0f64..=1.0;
    prop_oneof![
        Just(Pattern::Sequential),
        Just(Pattern::RandomOnce),
        Just(Pattern::RandomWithReplacement),
        any::<u64>().prop_map(|stride| Pattern::Strided { stride: Bytes::new(stride) }),
        prop::collection::vec((share.clone(), share.clone()), 0..4).prop_map(|zones| Pattern::Zoned {
            zones: zones
                .into_iter()
                .map(|(share_of_range, share_of_requests)| ZoneShare { share_of_range, share_of_requests })
                .collect(),
        }),
        share.prop_map(|random_share| Pattern::Mixed { random_share }),
        prop::collection::vec(any::<u64>().prop_map(Offset::new), 0..5)
            .prop_map(|offsets| Pattern::Listed { offsets }),
    ]
}

fn any_workload() -> impl Strategy<Value = Workload> {
    let mix = prop_oneof![
        Just(OperationMix::Read),
        Just(OperationMix::Write),
        Just(OperationMix::Discard),
        (0.0f64..=1.0).prop_map(|read_share| OperationMix::ReadWrite { read_share }),
    ];
    let data = prop_oneof![
        Just(DataPattern::Incompressible),
        Just(DataPattern::Zero),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(|bytes| DataPattern::Given { bytes }),
    ];
    let arrival = prop_oneof![
        Just(Arrival::ClosedLoop),
        (1e-9f64..1e9, any::<bool>()).prop_map(|(per_second, even)| Arrival::OpenLoop {
            per_second,
            spacing: if even { Spacing::Even } else { Spacing::Poisson },
        }),
    ];
    let sizes = prop::collection::vec((any::<u64>().prop_map(Bytes::new), 1e-6f64..100.0), 1..5);
    let range = (0..u64::MAX / 2, 0..u64::MAX / 2);
    (range, any_pattern(), sizes, any::<u64>(), mix, data, any::<(u32, u32, bool)>(), arrival).prop_map(
        |((first, bytes), pattern, sizes, alignment, mix, data, (queue_depth, threads, direct), arrival)| {
            Workload {
                range: ByteRange::new(Offset::new(first), Bytes::new(bytes)).unwrap(),
                pattern,
                block_sizes: BlockSizes::mix(sizes).unwrap(),
                alignment: Bytes::new(alignment),
                mix,
                data,
                queue_depth,
                threads,
                arrival,
                caching: if direct { Caching::Direct } else { Caching::Buffered },
            }
        },
    )
}

fn any_detail() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<f64>().prop_filter("JSON holds finite numbers", |n| n.is_finite()).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|parts| Value::Object(parts.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_workload_comes_back(workload in any_workload()) {
        let mut run = run();
        run.phases[0].phase.workload = Some(workload);
        prop_assert_eq!(through_json(&run), as_kept(run));
    }

    #[test]
    fn every_detail_comes_back_in_order(detail in any_detail(), name in any::<String>()) {
        let mut finding = findings().swap_remove(0);
        finding.data.insert(name, detail);
        let text = to_json(&run(), std::slice::from_ref(&finding));
        let read = from_json(&text).unwrap().findings.swap_remove(0);
        prop_assert!(read.data.keys().eq(finding.data.keys()));
        prop_assert_eq!(read, finding);
    }

    #[test]
    fn hostile_strings_survive(strings in prop::collection::vec(any::<String>(), 6)) {
        let mut run = run();
        run.target.model = Some(strings[0].clone());
        run.target.path = strings[1].clone();
        run.environment.warnings = vec![strings[2].clone(), "</script><script>\\u12\"\n\r\t\u{7f}\u{2028}".into()];
        run.state_before = vec![strings[3].clone()];
        run.command = strings[4].clone();
        run.phases[0].phase.name = strings[5].clone();
        let text = to_json(&run, &[]);
        let raw_control = text.contains(['\u{1b}', '\0']);
        prop_assert!(!raw_control);
        prop_assert_eq!(from_json(&text).unwrap().run, as_kept(run));
    }

    #[test]
    fn times_and_counts_come_back(
        start_ns in any::<u64>(), duration_ns in any::<u64>(), operations in any::<u32>(), seed in any::<u64>(),
    ) {
        let mut run = run();
        run.seed = seed;
        let phase = &mut run.phases[1];
        (phase.start_ns, phase.duration_ns) = (start_ns, duration_ns);
        phase.totals = vec![OperationTotals {
            operation: Operation::Discard,
            operations: u64::from(operations),
            bytes: u64::MAX,
            errors: 7,
            histogram: LatencyHistogram::default(),
            stretch: Some(CompletionStretch::of_one(start_ns, u64::from(operations))),
        }];
        prop_assert_eq!(through_json(&run), as_kept(run));
    }
}
