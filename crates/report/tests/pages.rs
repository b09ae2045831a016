//! Pages as a reader sees them: every page of a hand-built run is compared with a file in `pages/`, which is read
//! by people when it changes. `UPDATE_PAGES=1` rewrites the files.

mod runs;

use model::estimate::Estimate;
use model::experiment_name::{EngineName, ExperimentName};
use model::finding::{Finding, LimitedBy, LimitedOperations, Outcome, RateLimit};
use model::phase_row::PhaseRow;
use model::request::Operation;
use model::run::{Asked, Consent, Environment, Run};
use model::target::Link;
use model::units::{Bytes, Nanos};
use model::workload::{Arrival, Spacing};
use proptest::prelude::*;
use report::style::Style;
use report::terminal::{
    DriveRow, PageOptions, PartitionRow, PlanGroup, PlanPage, RunRow, drives_table, plan_page, run_page,
    run_page_with, runs_table,
};
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// Lines that begin so hold a command and are not broken, so that it can be copied.
const COMMAND_LINES: [&str; 4] = ["  again ", "  more ", "  as JSON ", "  resume "];

fn style(width: usize) -> Style {
    Style { width, colour: false, unicode: true, draws: true }
}

fn check_page(name: &str, style: Style, page: &str) {
    for line in page.lines() {
        let fits = line.width() <= style.width || COMMAND_LINES.iter().any(|start| line.starts_with(start));
        assert!(fits, "{name}: a line is wider than {}: {line:?}", style.width);
        assert_eq!(line, line.trim_end(), "{name}: a line ends in spaces");
        assert!(style.unicode || line.is_ascii(), "{name}: a line is not ASCII: {line:?}");
        assert!(!line.contains(char::is_control), "{name}: a line could act on the terminal: {line:?}");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, page).expect("the folder of pages can be written to");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == expected,
        "{} differs from the page, which is now:\n{page}\nIf it is better so: UPDATE_PAGES=1 cargo test -p report",
        path.display()
    );
}

#[test]
fn a_hard_disk() {
    let run = runs::hard_disk();
    for width in [60, 80, 120] {
        check_page(&format!("hard-disk-{width}"), style(width), &run_page(&run, style(width)));
    }
    let ascii = Style { unicode: false, ..style(80) };
    check_page("hard-disk-80-ascii", ascii, &run_page(&run, ascii));
}

#[test]
fn a_hard_disk_in_full() {
    let full = PageOptions { is_full: true, ..PageOptions::default() };
    check_page("hard-disk-80-full", style(80), &run_page_with(&runs::hard_disk(), full, style(80)));
}

#[test]
fn the_first_screen_has_the_recommendations() {
    let page = run_page(&runs::hard_disk(), style(80));
    let line = page.lines().position(|line| line.starts_with("  - Use QD 8")).expect("a recommendation");
    assert!(line < 24, "in line {line} of\n{page}");
}

/// Within the width and in ASCII, as [`check_page`] asserts.
#[test]
fn a_table_of_phases() {
    let exact = |value| Estimate { low: value, high: value, ..Estimate::exact(value) };
    let row = PhaseRow {
        phase: "random reads over the outer half, round 1".into(),
        operation: Operation::Read,
        block: Some(Bytes::from_kib(4)),
        queue_depth: 16,
        errors: 0,
        iops: exact(35_063.0),
        bytes_per_second: Estimate { low: 90e6, high: 110e6, ..exact(100e6) },
        latency_mean: exact(456e-6),
        latency_quantiles: vec![("p50", exact(450e-6)), ("p99", exact(476e-6))],
        latency_max: 0.012,
        cpu_share: Some(0.031),
    };
    let phases = [row.clone(), PhaseRow { phase: "b".into(), block: None, errors: 3, ..row }];
    let options = PageOptions { phases: &phases, ..PageOptions::default() };
    for (name, style) in
        [("phases-80", style(80)), ("phases-80-ascii", Style { unicode: false, ..style(80) })]
    {
        check_page(name, style, &run_page_with(&runs::hard_disk(), options, style));
    }
}

fn of_experiment(experiment: ExperimentName) -> Run {
    let mut run = runs::hard_disk();
    for summary in &mut run.phases {
        summary.phase.experiment = experiment.clone();
    }
    run
}

/// The page in one line, so that no line break stands in a sentence.
fn text(run: &Run) -> String {
    run_page(run, style(80)).split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn a_page_says_what_its_experiment_does_not_test() {
    let expected = [
        (
            ExperimentName::Check,
            "Slow regions: not measured; `drivescope check /dev/sdb --deep` looks for them.",
        ),
        (
            ExperimentName::Geometry,
            "Throughput and IOPS: not measured; `drivescope check /dev/sdb` measures both.",
        ),
        (ExperimentName::Ping, "`drivescope access /dev/sdb` measures IOPS by queue depth."),
        (ExperimentName::Sizes, "Writes: not measured; `drivescope sizes /dev/sdb --write` measures them,"),
    ];
    for (experiment, sentence) in expected {
        let page = text(&of_experiment(experiment));
        assert!(page.contains(sentence), "{page}");
    }
}

#[test]
fn a_run_with_consent_says_what_it_overwrote() {
    let mut run = of_experiment(ExperimentName::Surface);
    assert!(!text(&run).contains("overwrote"));
    for totals in run.phases.iter_mut().flat_map(|summary| &mut summary.totals) {
        totals.operation = Operation::Write;
    }
    let asked = |consent| Some(Asked { experiment: ExperimentName::Surface, consent });
    run.asked = asked(Consent::Overwrite);
    assert!(
        text(&run).contains("; overwrote data in places across the first 2.88 TB of the drive;"),
        "{}",
        text(&run)
    );
    run.asked = asked(Consent::Preserve);
    assert!(!text(&run).contains("overwrote"), "what was saved is restored");
}

#[test]
fn a_rate_limit_comes_first() {
    let mut run = runs::hard_disk();
    let limit = RateLimit {
        sustained: Estimate::exact(300.0),
        by: LimitedBy::Requests,
        counted_bytes: None,
        operations: LimitedOperations::Reads,
        credit: 40_000.0,
        credit_low: 40_000.0,
        credit_high: 40_000.0,
        may_count_several: false,
        may_have_been_full: true,
        burst: 14_545.0,
        refill_s: 133.3,
        limited_s: 20.0,
    };
    let of_bytes = RateLimit {
        sustained: Estimate::exact(40e6),
        by: LimitedBy::Bytes,
        credit: 3e9,
        burst: 250e6,
        refill_s: 75.0,
        may_have_been_full: false,
        ..limit.clone()
    };
    run.findings.push(Finding::RateLimit(Outcome::known(limit, Vec::new())));
    let page = text(&run);
    let first = "Verdict: A rate limit holds reads to 300 IOPS once the burst credit of 40,000 requests is used up. No I/O errors";
    assert!(page.contains(first), "{page}");
    run.findings.push(Finding::RateLimit(Outcome::known(of_bytes, Vec::new())));
    let page = text(&run);
    let both = "is used up. A rate limit holds reads to 40.0 MB/s once the burst credit of at least 3.00 GB is used up. No I/O errors";
    assert!(page.contains(both), "{page}");
    assert_eq!(page.matches("A rate limit holds").count(), 2, "{page}");
    assert!(page.contains("restores that much. The bucket was not full when the run began."), "{page}");
}

/// The pace of a ping decides its IOPS and throughput.
#[test]
fn a_paced_run_shows_latencies_only() {
    let mut run = of_experiment(ExperimentName::Ping);
    for summary in &mut run.phases {
        let workload = summary.phase.workload.as_mut().expect("each phase reads");
        workload.arrival = Arrival::OpenLoop { per_second: 10.0, spacing: Spacing::Even };
    }
    let exact = |value| Estimate { low: value, high: value, ..Estimate::exact(value) };
    let row = PhaseRow {
        phase: "reads".into(),
        operation: Operation::Read,
        block: Some(Bytes::from_kib(4)),
        queue_depth: 1,
        errors: 0,
        iops: exact(10.0),
        bytes_per_second: exact(40_960.0),
        latency_mean: exact(0.0166),
        latency_quantiles: vec![("p50", exact(0.0167)), ("p99", exact(0.0288))],
        latency_max: 0.0331,
        cpu_share: Some(0.001),
    };
    let options = PageOptions { phases: &[row], ..PageOptions::default() };
    let page = run_page_with(&run, options, style(80));
    let table = "Latency\n  operation  mean             p50      p99      max\n  read       16.6 ms ±<0.1 %  16.7 ms  28.8 ms  33.1 ms\n";
    assert!(page.contains(table), "{page}");
    assert!(!page.contains("CPU"), "{page}");
}

#[test]
fn a_plain_page_draws_nothing() {
    let plain = Style { draws: false, ..style(80) };
    let page = run_page(&runs::hard_disk(), plain);
    assert!(page.contains("Method: ") && !page.contains('┤'), "{page}");
}

#[test]
fn a_scratch_file_with_caveats() {
    for width in [60, 80] {
        check_page(
            &format!("scratch-file-{width}"),
            style(width),
            &run_page(&runs::scratch_file(), style(width)),
        );
    }
}

#[test]
fn a_flush_that_was_cut_off_is_told() {
    use model::plan::StopReason;
    use model::run::OperationTotals;
    let mut run = runs::interrupted();
    let last = run.phases.last_mut().expect("a phase");
    last.stopped = Some(StopReason::Interrupted);
    last.totals = vec![OperationTotals { bytes: 127_000_000, ..OperationTotals::none(Operation::Write) }];
    let is_told = |run: &Run| run_page(run, style(80)).contains("The last flush was not waited for");
    assert!(is_told(&run));
    let engine = std::mem::replace(&mut run.environment.engine, EngineName::Null);
    assert!(!is_told(&run), "no drive was written to");
    run.environment.engine = engine;
    run.phases.last_mut().expect("a phase").totals.push(OperationTotals::none(Operation::Flush));
    assert!(!is_told(&run));
}

#[test]
fn how_much_of_a_run_was_spent_looking_for_completions_is_told() {
    let mut run = runs::hard_disk();
    let full = PageOptions { is_full: true, ..PageOptions::default() };
    let is_told = |run: &Run, text: &str| {
        run_page_with(run, full, style(160)).split_whitespace().collect::<Vec<_>>().join(" ").contains(text)
    };
    assert!(!is_told(&run, "busy-waited"));
    let mut took_ns = 0;
    for summary in run.phases.iter().filter(|summary| summary.phase.workload.is_some()) {
        took_ns += summary.duration_ns;
    }
    run.phases[0].spun_ns = took_ns / 4;
    assert!(is_told(&run, "busy-waited for 25 % of the time"));
    run.phases[0].spun_ns = took_ns / 400;
    assert!(is_told(&run, "busy-waited for less than 1 % of the time"));
}

#[test]
fn an_interrupted_run() {
    check_page("interrupted-80", style(80), &run_page(&runs::interrupted(), style(80)));
}

#[test]
fn a_failing_drive() {
    for width in [60, 80, 120] {
        check_page(&format!("failing-{width}"), style(width), &run_page(&runs::failing(), style(width)));
    }
}

#[test]
fn a_hostile_name() {
    check_page("hostile-80", style(80), &run_page(&runs::hostile(), style(80)));
    let ascii = Style { unicode: false, ..style(60) };
    check_page("hostile-60-ascii", ascii, &run_page(&runs::hostile(), ascii));
}

#[test]
fn every_width_from_60_to_160_fits() {
    for run in [runs::hard_disk(), runs::scratch_file(), runs::failing(), runs::hostile()] {
        for width in 60..=160 {
            for line in run_page(&run, style(width)).lines() {
                let is_command = COMMAND_LINES.iter().any(|start| line.starts_with(start));
                assert!(is_command || line.width() <= width, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn colour_changes_no_text() {
    for run in [runs::hard_disk(), runs::interrupted(), runs::failing()] {
        let coloured = run_page(&run, Style { colour: true, ..style(80) });
        assert!(coloured.contains("\u{1b}[1m"));
        assert_eq!(without_colour(&coloured), run_page(&run, style(80)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_of_a_run_can_act_on_the_terminal(
        text in any::<String>(), width in 0usize..200, unicode in any::<bool>(),
    ) {
        let some = Some(text.clone());
        let mut run = runs::hard_disk();
        let target = &mut run.target;
        (target.model, target.serial, target.firmware) = (some.clone(), some.clone(), some.clone());
        (target.path, target.stack) = (text.clone(), vec![text.clone(); 2]);
        target.link = Some(Link { name: text.clone(), bytes_per_second_max: None });
        run.environment = Environment {
            host: text.clone(),
            kernel: text.clone(),
            engine: text.clone().into(),
            engine_features: vec![text.clone()],
            scheduler: some,
            warnings: vec![text.clone()],
            ..Environment::default()
        };
        (run.id, run.started, run.version, run.command) = (text.clone(), text.clone(), text.clone(), text.clone());
        (run.state_before, run.state_after) = (vec![text.clone()], vec![text.clone()]);
        run.findings = vec![
            runs::findings::interface_limit(40e6, &text),
            runs::findings::access_time(Estimate::exact(1.0)),
        ];
        let page = run_page(&run, Style { width, colour: false, unicode, draws: true });
        let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        prop_assert!(!page.contains(acts), "{:?}", page);
        prop_assert!(unicode || page.is_ascii(), "{:?}", page);
    }

    #[test]
    fn no_number_of_a_run_breaks_the_page(
        capacity in any::<u64>(), duration_ns in any::<u64>(), bytes in any::<u64>(), value in any::<f64>(),
        low in any::<f64>(), high in any::<f64>(), confidence in any::<f64>(), width in 60usize..160,
    ) {
        let mut run = runs::hard_disk();
        run.target.capacity = Bytes::new(capacity);
        for phase in &mut run.phases {
            phase.duration_ns = duration_ns;
            phase.totals[0].bytes = bytes;
        }
        let estimate = Estimate { value, low, high, confidence, effective_count: 1.0 };
        run.findings = vec![
            runs::findings::access_time(estimate),
            runs::findings::concurrency_gain(estimate, &[(1, value, low, high)]),
            runs::findings::concurrency_knee(estimate),
        ];
        run.environment.own_cost_ns_per_io = Some(value);
        let page = run_page(&run, style(width));
        prop_assert!(!page.contains("NaN") && !page.contains(" inf"), "{}", page);
    }
}

/// Takes out the sequences `ESC [ … m`.
fn without_colour(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |plain, piece| plain + piece.split_once('m').expect("a colour ends in m").1)
}

#[test]
fn the_lists() {
    for width in [60, 80, 120] {
        check_page(&format!("runs-{width}"), style(width), &runs_table(&run_rows(), 9980, style(width)));
        check_page(&format!("drives-{width}"), style(width), &drives_table(&drive_rows(), style(width)));
    }
    assert_eq!(runs_table(&[], 0, style(80)), "No runs yet. Try: drivescope check TARGET\n");
}

fn run_rows() -> Vec<RunRow> {
    let row = |id: &str, target: &str, status, experiments: &[&str]| RunRow {
        id: id.into(),
        started: "2026-11-21T20:15:07Z".into(),
        target: target.into(),
        status,
        experiments: experiments.iter().map(|name| name.to_string()).collect(),
    };
    use model::run::RunStatus::{Complete, Interrupted};
    vec![
        row("20261121-201507-a3f1", "ST3000DM001-1CH166", Some(Complete), &["check"]),
        row("20261121-214402-09bc", "/mnt/data\u{1b}[2J", Some(Interrupted), &["surface", "access"]),
        row("20261121-220000-77aa", "sim:smr-8tb", None, &["sustain"]),
    ]
}

fn drive_rows() -> Vec<DriveRow> {
    vec![
        DriveRow {
            path: "/dev/sda".into(),
            model: Some("ST3000DM001-1CH166".into()),
            identity: vec!["serial number W1F0ABCD".into(), "blocks of 512 bytes, 4096 physically".into()],
            capacity: Some(Bytes::new(3_000_592_982_016)),
            kind: "disk".into(),
            link: Some("SATA 6.0 Gbit/s".into()),
            used_by: vec![],
            partitions: vec![],
            reads_refused: None,
            writes_refused: vec![
                "It holds a partition table; add --destroy-data to lose what is on it.".into(),
            ],
            is_never_written: false,
        },
        DriveRow {
            path: "/dev/nvme0n1".into(),
            model: Some("Samsung SSD 990 PRO 2TB".into()),
            identity: vec!["serial number S7DN\u{1b}[2J".into(), "firmware 0B2QJXD7".into()],
            capacity: Some(Bytes::new(2_000_398_934_016)),
            kind: "flash".into(),
            link: Some("PCIe 4.0 x4".into()),
            used_by: vec![],
            partitions: vec![
                PartitionRow {
                    path: "/dev/nvme0n1p1".into(),
                    size: Bytes::new(536_870_912),
                    content: Some("FAT file system".into()),
                    used_by: vec![],
                },
                PartitionRow {
                    path: "/dev/nvme0n1p2".into(),
                    size: Bytes::new(1_999_860_000_000),
                    content: Some("ext4 file system".into()),
                    used_by: vec!["mounted at /".into(), "mounted at /home".into()],
                },
            ],
            reads_refused: None,
            writes_refused: vec![
                "/etc/drivescope/config.toml:2 excludes model:Samsung* from writes. Only who keeps that list can change it".into(),
                "Its partition nvme0n1p2 is mounted at /; nothing in use is ever written to.".into(),
            ],
            is_never_written: true,
        },
        DriveRow {
            path: "/dev/loop3".into(),
            model: None,
            identity: vec![],
            capacity: Some(Bytes::new(1 << 30)),
            kind: "loop".into(),
            link: None,
            used_by: vec![],
            partitions: vec![],
            reads_refused: Some("Only root may open it; run drivescope with sudo.".into()),
            writes_refused: vec!["Only root may open it; run drivescope with sudo.".into()],
            is_never_written: false,
        },
    ]
}

#[test]
fn the_plan_before_a_run() {
    let group = |what: &str, phases, seconds| PlanGroup {
        what: what.into(),
        phases,
        time: Some(Nanos::from_secs(seconds)),
        time_max: Some(Nanos::from_secs(2 * seconds).max(Nanos::from_secs(120))),
    };
    let plan = PlanPage {
        target: runs::hard_disk().target,
        groups: vec![
            group("Wake the drive and read a little.", 1, 3),
            group("Read 24 areas of 64 MiB from the start to the end.", 24, 60),
            group("Read 4 KiB at random offsets, QD 1 to 32.", 6, 90),
        ],
        bytes_read: Some(Bytes::new(1_700_000_000)),
        bytes_written: Some(Bytes::ZERO),
        time: Some(Nanos::from_secs(153)),
        time_slow: None,
        time_max: Some(Nanos::from_secs(420)),
        endurance_share: None,
        warnings: vec![],
    };
    for width in [60, 100] {
        check_page(&format!("plan-{width}"), style(width), &plan_page(&plan, style(width)));
    }
    let write = PlanPage {
        bytes_written: Some(Bytes::new(800_000_000_000)),
        endurance_share: Some(0.0021),
        warnings: vec!["All data on /dev/sdb will be lost.".into()],
        time: None,
        time_max: None,
        ..plan
    };
    check_page("plan-write-80", style(80), &plan_page(&write, style(80)));
}
