//! Screens drawn into memory: exact ones at several sizes, and any size with any strings.

use super::view::{Command, Playing, View};
use super::{draw, state::ScreenState};
use crate::console::Look;
use crate::event::{Event, EventSink};
use experiment::{Remaining, Step};
use model::finding::{Finding, Outcome, ProbeTimes, Recording, RecordingKind, RecordingReason};
use model::histogram::LatencyHistogram;
use model::latency_map::LatencyMap;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::range::ByteRange;
use model::record::{
    ErrorRecord, HistogramRecord, INTERVAL_NS, IntervalLatency, IntervalRecord, IoRecord, TelemetryRecord,
};
use model::request::{Operation, Status};
use model::run::{Environment, Run, RunStatus};
use model::target::TargetKind;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};
use proptest::prelude::*;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use report::progress::Progress;

const PLAIN: Look = Look { colour: false, unicode: true };
const ASCII: Look = Look { colour: false, unicode: false };
const CAPACITY: u64 = 1_000_000_000_000;

/// A screen as lines, without what is blank at their ends.
fn screen(state: &ScreenState, view: &View, look: Look, columns: u16, rows: u16) -> Vec<String> {
    let area = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(area);
    draw(state, view, look, area, &mut buffer);
    let line = |row: u16| (0..columns).map(|column| buffer[(column, row)].symbol()).collect::<String>();
    (0..rows).map(|row| line(row).trim_end().to_string()).collect()
}

fn run(model: &str, warning: &str) -> Run {
    let mut target = sim::open("null", 1).unwrap().facts().clone();
    (target.model, target.capacity, target.kind) =
        (Some(model.into()), Bytes::new(CAPACITY), TargetKind::Device);
    Run {
        id: "r1".into(),
        started: "2026-01-01T00:00:00Z".into(),
        finished: None,
        status: RunStatus::Complete,
        version: "0.1.0".into(),
        command: "drivescope check /dev/sdx".into(),
        asked: None,
        seed: 1,
        target,
        environment: Environment {
            warnings: Vec::from_iter((!warning.is_empty()).then(|| warning.to_string())),
            ..Environment::default()
        },
        state_before: Vec::new(),
        state_after: Vec::new(),
        phases: Vec::new(),
        findings: Vec::new(),
    }
}

fn phase(name: &str, pattern: Pattern) -> Phase {
    let range = ByteRange::whole(Bytes::new(CAPACITY));
    Phase {
        name: name.into(),
        experiment: "check".into(),
        kind: PhaseKind::Measure,
        workload: Some(Workload::new(range, pattern, OperationMix::Read, Bytes::from_mib(1), 4)),
        stop: StopCondition::after(Nanos::from_secs(60)),
    }
}

fn ahead(orders: u32, randoms: u32) -> Remaining {
    let step = |what: &str, phases: u32| Step {
        what: what.into(),
        phases,
        time: Nanos::from_secs(u64::from(phases) * 10),
        likely: Nanos::from_secs(u64::from(phases) * 10),
        slow: Nanos::from_secs(u64::from(phases) * 10),
        reads: None,
        writes: None,
    };
    let steps =
        [step("read 1 MiB blocks in order", orders), step("read 4 KiB blocks at random places", randoms)];
    Remaining { steps: steps.into_iter().filter(|step| step.phases > 0).collect() }
}

/// A disk from 200 to 100 MB/s: the slice that lies at that share of it.
fn slice(share: f64) -> IntervalRecord {
    let rate = 200e6 - 100e6 * share;
    let first = (share * CAPACITY as f64 * 0.99) as u64;
    let bytes = (rate * 0.04) as u64;
    IntervalRecord {
        phase: 0,
        operation: Operation::Read,
        start_ns: (share * 50e9) as u64,
        duration_ns: INTERVAL_NS,
        operations: 8,
        bytes,
        errors: 0,
        offset_first: first,
        offset_end: first + bytes,
        latency: Some(IntervalLatency {
            min_ns: 1,
            mean_ns: 5e6,
            p50_ns: 5_000_000,
            p99_ns: 1,
            max_ns: 20_000_000,
        }),
    }
}

fn progress(name: &str) -> Progress {
    Progress {
        phase_name: name.into(),
        phase_index: 0,
        phase_count: Some(4),
        share_done: 0.5,
        bytes_per_second: 100e6,
        iops: 100.0,
        elapsed: Nanos::from_secs(50),
        remaining: Some(Nanos::from_secs(50)),
        phase_left: Some(Nanos::from_secs(10)),
    }
}

fn histogram() -> HistogramRecord {
    let mut histogram = LatencyHistogram::default();
    (1..=100).for_each(|millis| histogram.record(millis * 1_000_000));
    HistogramRecord {
        phase: 0,
        operation: Operation::Read,
        start_ns: 0,
        duration_ns: 1_000_000_000,
        histogram,
    }
}

fn knee() -> Finding {
    let kind = RecordingKind {
        recording: Recording::Cmr,
        reasons: vec![RecordingReason::WritesInPlace],
        times: ProbeTimes::default(),
        cost_after_cliff: None,
    };
    Finding::RecordingKind(Outcome::known(kind, Vec::new()))
}

fn half_way(model: &str, name: &str, warning: &str) -> ScreenState {
    let mut state = ScreenState::default();
    state.event(&Event::RunBegan(&run(model, warning), &ahead(2, 2)));
    state.event(&Event::PhaseBegan(0, &phase(name, Pattern::Sequential), &ahead(1, 2)));
    (0..1000)
        .map(|index| slice(f64::from(index) / 1000.0))
        .for_each(|slice| state.event(&Event::Interval(&slice)));
    state.event(&Event::Histogram(&histogram()));
    state.event(&Event::Telemetry(&TelemetryRecord {
        at_ns: 1_000_000_000,
        temperature_celsius: Some(41.0),
        cpu_busy_share: Some(0.25),
        device_read_bytes: Some(100_000_000),
        device_write_bytes: Some(5_000_000),
        own_read_bytes: 100_000_000,
        ..TelemetryRecord::default()
    }));
    state.event(&Event::Findings(&[knee()]));
    state.event(&Event::Progress(&progress(name)));
    state
}

fn live() -> View {
    View { can: (true, true), ..View::default() }
}

#[test]
fn eighty_columns_hold_all_that_matters() {
    let state = half_way("ST1000", "area 1 of 2", "");
    let lines = screen(&state, &live(), PLAIN, 80, 24);
    assert_eq!(lines, EIGHTY);
}

#[rustfmt::skip]
const EIGHTY: [&str; 24] = [
    "drivescope check  ST1000  1.00 TB",
    " 50 % [#############-------------]   100 MB/s  50 s, 50 s left  1/4: area 1 of 2",
    "",
    "Sequential throughput by LBA, MB/s",
    "    │⠉⠉⠓⠒⠒⠒⠦⠤⠤⠤⢤⣀⣀⣀⣀",
    "    │              ⠈⠉⠉⠉⠉⠓⠒⠒⠒⠦⠤⠤⠤⢤⣀⣀⣀⣀",
    "160 ┤                               ⠈⠉⠉⠉⠉⠓⠒⠒⠒⠦⠤⠤⠤⢤⣀⣀⣀⣀",
    "    │                                                ⠈⠉⠉⠉⠉⠓⠒⠒⠒⠦⠤⠤⠤⢄⣀⣀⣀⣀",
    "    │                                                                 ⠈⠉⠉⠉⠉⠒⠒⠒⠒⠂",
    " 80 ┤",
    "    │",
    "    │",
    "    │",
    "  0 ┼───────────────┬──────────────┬──────────────┬──────────────┬─────────────┬",
    "     0             0.2            0.4            0.6            0.8         1 TB",
    "Phases                                      Latency      now this phase      run",
    "▶ read 1 MiB blocks in order        1 of 2  median   49.9 ms    49.9 ms  49.9 ms",
    "· read 4 KiB blocks at rand...  up to 20 s  99 %     98.8 ms    98.8 ms  98.8 ms",
    "                                            max       100 ms     100 ms   100 ms",
    "Background load 5.00 MB/s   Temperature 41 °C   CPU 25 % busy",
    "Findings so far",
    "  Drive type  CMR",
    "",
    "p pause   s skip   q stop   c chart   ? help",
];

#[test]
fn a_wide_terminal_has_everything_side_by_side() {
    let state = half_way("ST1000", "area 1 of 2", "The drive is warm");
    let lines = screen(&state, &live(), PLAIN, 120, 30);
    assert_eq!(lines, WIDE);
}

#[rustfmt::skip]
const WIDE: [&str; 30] = [
    "drivescope check  ST1000  1.00 TB",
    " 50 % [###############---------------]   100 MB/s  50 s, 50 s left  1/4: area 1 of 2",
    "",
    "Phases                                          Sequential throughput by LBA, MB/s",
    "▶ read 1 MiB blocks in order            1 of 2  200 ┤⠙⠒⠲⠤⣄⣀⡀",
    "· read 4 KiB blocks at random p...  up to 20 s      │      ⠉⠉⠒⠲⠤⢄⣀⡀",
    "                                                    │             ⠉⠉⠒⠲⠤⢤⣀⡀",
    "Latency      now this phase      run                │                    ⠉⠉⠓⠲⠤⢤⣀⡀",
    "median   49.9 ms    49.9 ms  49.9 ms            160 ┤                           ⠉⠉⠓⠲⠤⢤⣀⡀",
    "99 %     98.8 ms    98.8 ms  98.8 ms                │                                  ⠈⠉⠓⠒⠤⢤⣀⣀",
    "max       100 ms     100 ms   100 ms                │                                         ⠈⠉⠓⠒⠦⢤⣀⣀",
    "                                                    │                                                ⠈⠉⠓⠒⠦⢤⣀⣀",
    "Drive and host                                  120 ┤                                                       ⠈⠉⠓⠒⠦⠤⣄⣀",
    "Temperature      41 °C                              │                                                              ⠈⠉⠙⠒⠂",
    "Background load  5.00 MB/s                          │",
    "CPU              25 % busy                       80 ┤",
    "                                                    │",
    "Warnings                                            │",
    "! The drive is warm                                 │",
    "                                                 40 ┤",
    "                                                    │",
    "                                                    │",
    "                                                    │",
    "                                                  0 ┼─────────────┬────────────┬─────────────┬────────────┬────────────┬",
    "                                                     0           0.2          0.4           0.6          0.8        1 TB",
    "",
    "                                                Findings so far",
    "                                                  Drive type  CMR",
    "",
    "p pause   s skip   q stop   c chart   ? help",
];

#[test]
fn a_small_terminal_has_the_chart_and_a_tiny_one_the_progress() {
    let state = half_way("ST1000", "area 1 of 2", "");
    let small = screen(&state, &live(), ASCII, 40, 10);
    assert_eq!(small, SMALL);
    let tiny = screen(&state, &live(), PLAIN, 39, 10);
    assert_eq!(tiny[0], " 50 %   100 MB/s  50 s left");
    assert!(tiny[1..].iter().all(String::is_empty));
    assert_eq!(screen(&state, &live(), PLAIN, 4, 1), ["50 %"]);
    assert_eq!(screen(&state, &live(), PLAIN, 0, 0), [""; 0]);
}

#[rustfmt::skip]
const SMALL: [&str; 10] = [
    "drivescope check  ST1000  1.00 TB",
    " 50 %   100 MB/s  50 s left  area 1 of 2",
    "",
    "Sequential throughput by LBA, MB/s",
    "200 +***********************************",
    "    |",
    "  0 +-------+------+------+------+-----+",
    "     0     0.2    0.4    0.6    0.8 1 TB",
    "",
    "p pause   s skip   q stop   c chart",
];

#[test]
fn what_was_pressed_is_answered() {
    let mut state = half_way("ST1000", "area 1 of 2", "");
    let last_two = |state: &ScreenState, view: &View| screen(state, view, PLAIN, 80, 24)[22..].to_vec();
    let asked = View { asked: Some(Command::Stop), ..live() };
    assert!(last_two(&state, &asked)[0].starts_with("Stop the run? What was measured is kept."));
    let pausing = View { pausing: true, ..live() };
    assert_eq!(
        last_two(&state, &pausing)[0],
        "The run pauses after this phase, in 10 s at most: a pause within would change..."
    );
    state.event(&Event::Paused(true));
    assert!(screen(&state, &pausing, PLAIN, 80, 24)[0].ends_with(" paused"));
    let playing = Playing { speed: 10.0, is_paused: false, total: Nanos::new(1) };
    let replay = View { replay: Some(playing), ..View::default() };
    assert!(screen(&state, &replay, PLAIN, 80, 24)[0].ends_with(" replay x10"));
    assert_eq!(last_two(&state, &replay)[1], "space pause   ←→ jump   q leave   +- speed   c chart   ? help");
    let help = View { help: true, ..live() };
    let lines = screen(&state, &help, PLAIN, 80, 24);
    assert!(
        lines.contains(&"s            end this phase early; it counts as skipped".to_string()),
        "{lines:?}"
    );
}

#[test]
fn trouble_is_seen_at_once() {
    let mut state = half_way("ST1000", "area 1 of 2", "");
    let failed = IntervalRecord { errors: 3, ..slice(0.5) };
    state.event(&Event::Interval(&failed));
    state.event(&Event::Error(&ErrorRecord {
        phase: 0,
        at_ns: 1,
        operation: Operation::Read,
        offset_bytes: 500_000_000_000,
        length_bytes: 4096,
        status: Status::MediumError,
    }));
    state.event(&Event::Telemetry(&TelemetryRecord {
        at_ns: 2_000_000_000,
        cpu_steal_share: Some(0.05),
        ..TelemetryRecord::default()
    }));
    let text = screen(&state, &live(), PLAIN, 120, 30).join("\n");
    assert!(text.contains("Failed requests  3, last read at 500 GB"), "{text}");
    assert!(text.contains("Steal time       up to 5.0 %, now 5.0 %"), "{text}");
    let text = screen(&state, &live(), PLAIN, 80, 24).join("\n");
    assert!(text.contains("Failed requests 3"), "{text}");
}

#[test]
fn each_chart_can_be_chosen_and_the_fitting_one_follows_the_phase() {
    let mut state = half_way("ST1000", "area 1 of 2", "");
    let first =
        |state: &ScreenState, chart| screen(state, &View { chart, ..live() }, PLAIN, 80, 24)[3].clone();
    let titles = super::charts::ChartKind::ALL.map(|kind| first(&state, Some(kind)));
    assert_eq!(
        titles,
        [
            "Sequential throughput by LBA, MB/s",
            "Throughput over time, MB/s",
            "Latency over time   ● mean   ○ max",
            "Access time by LBA",
            // Only a full pass has a map.
            "Sequential throughput by LBA, MB/s"
        ]
    );
    assert_eq!(first(&state, None), "Sequential throughput by LBA, MB/s");
    state.event(&Event::PhaseBegan(1, &phase("random", Pattern::RandomOnce), &ahead(0, 1)));
    assert_eq!(first(&state, None), "Latency over time   ● mean   ○ max");
    state.event(&Event::Ios(&[IoRecord {
        intended_ns: 0,
        submitted_ns: 0,
        completed_ns: 9_000_000,
        offset_bytes: 5,
        length_bytes: 4096,
        phase: 1,
        status: Status::Done,
        operation: Operation::Read,
    }]));
    assert_eq!(first(&state, None), "Access time by LBA");
    state.event(&Event::Map(&LatencyMap::new(ByteRange::whole(Bytes::new(CAPACITY)), Bytes::new(512))));
    assert_eq!(first(&state, None), "Max latency by region");
}

#[test]
fn strings_of_a_drive_cannot_act() {
    let hostile = "A\u{1b}[2J\u{202e}B\u{9b}31m\n\u{7}";
    let state = half_way(hostile, hostile, hostile);
    for (columns, rows) in [(80, 24), (120, 40), (39, 5)] {
        let text = screen(&state, &live(), PLAIN, columns, rows).concat();
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
    }
    let text = screen(&state, &live(), PLAIN, 120, 40).concat();
    assert!(text.contains("A\\u{1b}[2J\\u{202e}B"), "{text}");
}

#[test]
fn memory_does_not_grow_with_the_run() {
    let mut state = half_way("ST1000", "area 1 of 2", "");
    for index in 0..1000u32 {
        let name = format!("phase {index}");
        let next = Remaining { steps: vec![Step { what: name.clone(), ..ahead(1, 0).steps.remove(0) }] };
        state.event(&Event::PhaseBegan(index, &phase(&name, Pattern::Sequential), &next));
        state.event(&Event::Warning(&name));
        state.event(&Event::Interval(&IntervalRecord { start_ns: u64::from(index) << 40, ..slice(0.1) }));
    }
    assert!(state.groups.len() <= 64 && state.warnings.len() <= 8);
    assert!(state.times.points(0).count() <= 1024);
}

/// A damaged record may say anything, and an axis of powers of ten up to infinity fills the memory.
#[test]
fn a_latency_beyond_any_clock_does_not_stretch_the_axis() {
    let mut state = half_way("ST1000", "area 1 of 2", "");
    let latency = IntervalLatency { min_ns: 0, mean_ns: f64::MAX, p50_ns: 0, p99_ns: 0, max_ns: u64::MAX };
    state.event(&Event::Interval(&IntervalRecord { operations: 2, latency: Some(latency), ..slice(0.1) }));
    let chart = Some(super::charts::ChartKind::ALL[2]);
    let lines = screen(&state, &View { chart, ..live() }, PLAIN, 80, 24);
    assert_eq!(lines[3], "Latency over time   ● mean   ○ max");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn nothing_panics_at_any_size(
        columns in 0u16..220, rows in 0u16..70, name in any::<String>(), model in "\\PC{0,40}",
        numbers in prop::collection::vec(any::<u64>(), 12), shares in any::<(f64, f64)>(),
        help in any::<bool>(), chart in 0usize..6, is_unicode in any::<bool>(),
    ) {
        let mut state = half_way(&model, &name, &name);
        state.event(&Event::Interval(&IntervalRecord {
            start_ns: numbers[0], duration_ns: numbers[1], operations: numbers[2], bytes: numbers[3], errors: numbers[4],
            offset_first: numbers[5], offset_end: numbers[6],
            latency: Some(IntervalLatency { min_ns: 0, mean_ns: shares.0, p50_ns: 0, p99_ns: 0, max_ns: numbers[7] }),
            ..slice(0.0)
        }));
        state.event(&Event::Telemetry(&TelemetryRecord {
            at_ns: numbers[8], temperature_celsius: Some(shares.0), cpu_steal_share: Some(shares.1),
            device_read_bytes: Some(numbers[9]), device_write_bytes: Some(numbers[10]),
            own_read_bytes: numbers[11], ..TelemetryRecord::default()
        }));
        state.event(&Event::Progress(&Progress {
            share_done: shares.1, elapsed: Nanos::new(numbers[0]), phase_left: Some(Nanos::new(numbers[1])), ..progress(&name)
        }));
        let chart = super::charts::ChartKind::ALL.get(chart).copied();
        let view = View { help, chart, pausing: true, ..live() };
        let look = Look { colour: true, unicode: is_unicode };
        let lines = screen(&state, &view, look, columns, rows);
        prop_assert!(!lines.concat().contains(char::is_control));
        prop_assert!(is_unicode || columns < 40 || lines.concat().is_ascii(), "{lines:?}");
    }
}
