//! Every kind of chart, of runs with random data: it is there when its data is, nothing in it overlaps, and what it must not lose is in
//! it. `CHARTS_DIR=folder` keeps the pictures.

#[allow(dead_code, reason = "each test uses some of the runs")]
mod runs;
#[allow(dead_code, reason = "each test uses some of it")]
mod seen;

#[path = "runs/write_findings.rs"]
mod write_findings;

use model::commit::{Application, Beside, BesideLoad, CommitMethod, Commits, Log};
use model::estimate::Estimate;
use model::file_work::{DiskShare, FileLayout, FileTask, FileWork};
use model::finding::{
    CommitRate, Finding, FindingCode, Outcome, RatePoint, SeekAverage, SeekFullStroke, SeekPoint,
    SeekTrackToTrack, SizePoint, SpanEffect, SpanPoint,
};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::record::{IntervalRecord, IoRecord, TelemetryRecord};
use model::request::{Operation, Status};
use model::run::{MemorySeries, OperationTotals, PhaseSummary, Run};
use model::units::{Bytes, Offset};
use model::untold::Untold;
use model::workload::{OperationMix, Pattern, Workload};
use proptest::prelude::*;
use report::chart::{CHART_KINDS, Chart, ChartedRun, Layer, Place, chart_named, charts_of, svg, terminal};
use report::style::{Style, columns_of};
use seen::{check_picture, keep};

const SLICE_NS: u64 = 40_000_000;

/// A run that measured everything, with random figures.
struct Everything {
    run: Run,
    series: MemorySeries,
}

/// The points of a profile of sizes in order, from 512 bytes to 32 MiB.
fn sizes(operation: Operation, scale: f64, about: &mut dyn FnMut(f64) -> f64) -> Vec<SizePoint> {
    let mut points = Vec::new();
    for power in 0..17_u32 {
        let rate = about(scale * f64::from(1 << power.min(6)));
        points.push(write_findings::size_point(512 << power, operation, rate));
    }
    points
}

fn findings(prng: &mut Prng, scale: f64) -> Vec<Finding> {
    let mut about = |value: f64| value * scale * (0.5 + prng.unit());
    let at_once = [1.0f64, 2.0, 4.0, 16.0, 64.0, 1000.0];
    let points = at_once.map(|depth| {
        let iops = about(100.0 * depth.sqrt());
        (depth as u64, iops, iops * 0.9, iops * 1.2)
    });
    let mut profile = sizes(Operation::Read, 4e6, &mut about);
    profile.extend(sizes(Operation::Write, 1e6, &mut about));
    let spoilt: Vec<SizePoint> = profile.iter().skip(5).step_by(9).copied().collect();
    let cliff = about(2e9);
    let levels = [(0.0, about(200e6)), (cliff, about(20e6))];
    vec![
        runs::findings::concurrency_gain(Estimate::exact(3.0), &points),
        runs::findings::concurrency_knee(Estimate::exact(16.0)),
        span_effect(&mut about),
        seek_average(about(8e-3)),
        seek_track_to_track(about(1e-3)),
        seek_full_stroke(&mut about),
        write_findings::size_profile(profile),
        write_findings::suspect_points(&spoilt),
        write_findings::write_cliff(cliff, &levels),
        write_findings::write_steady_state(about(15e6)),
        write_findings::no_write_valleys(),
    ]
    .into_iter()
    .chain(rest_and_clipping(&mut about))
    .chain([commit_rate(&mut about)])
    .collect()
}

fn commit_rate(about: &mut dyn FnMut(f64) -> f64) -> Finding {
    let mut points = Vec::new();
    for separate_files in [false, true] {
        for committers in [1u32, 4, 16, 64] {
            let per_second = about(120.0 * f64::from(committers).sqrt());
            points.push(RatePoint { committers, separate_files, per_second, p99_s: None });
        }
    }
    let best = Estimate::exact(about(1000.0));
    let rate =
        CommitRate { best, best_committers: 64, best_separate_files: true, one_per_second: 120.0, points };
    Finding::CommitRate(Outcome::known(rate, Vec::new()))
}

/// What rests give back, and what using a part gains.
fn rest_and_clipping(about: &mut dyn FnMut(f64) -> f64) -> [Finding; 2] {
    let rate = about(20e6);
    let rests = [1.0, 5.0, 25.0, 50.0].map(|idle_s| (idle_s, about(20e6 * (idle_s - 2.0f64).max(0.0))));
    let parts = [0.33, 0.66, 1.0].map(|span| {
        let rate = about(60e6 - 50e6 * span);
        (span, rate, rate * 0.95, rate * 1.05)
    });
    [write_findings::idle_recovery(rate, &rests), write_findings::clipping_effect(&parts)]
}

fn phase(kind: PhaseKind, workload: Option<Workload>, start_ns: u64, duration_ns: u64) -> PhaseSummary {
    PhaseSummary {
        duration_ns,
        stopped: Some(StopReason::Passes),
        ..PhaseSummary::begun(
            Phase {
                name: "phase".into(),
                experiment: "test".into(),
                kind,
                workload,
                stop: StopCondition::one_pass(),
            },
            start_ns,
        )
    }
}

/// Random reads whose every request was kept, three passes of writes with a pause after each, and telemetry.
fn everything(seed: u64, scale: f64) -> Everything {
    let mut prng = Prng::new(seed, 0);
    let mut run = runs::hard_disk();
    run.seed = seed;
    run.id = format!("20261121-201507-{seed:04x}");
    run.findings = findings(&mut prng, scale);
    let capacity = run.target.capacity;
    let mut series = MemorySeries::default();
    let (mut now_ns, mut phases) = (0, run.phases.clone());
    let mut histogram = LatencyHistogram::small();
    let reads = Workload::new(
        ByteRange::whole(capacity),
        Pattern::RandomWithReplacement,
        OperationMix::Read,
        Bytes::new(4096),
        1,
    );
    for _ in 0..2000 {
        let slow = if prng.unit() < 0.002 { 20.0 } else { 1.0 };
        let latency_ns = (scale * slow * (2e6 + 12e6 * prng.unit())) as u64;
        histogram.record(latency_ns);
        series.ios.push(IoRecord {
            intended_ns: now_ns,
            submitted_ns: now_ns,
            completed_ns: now_ns + latency_ns,
            offset_bytes: (prng.unit() * (capacity.get() - 4096) as f64) as u64,
            length_bytes: 4096,
            phase: phases.len() as u32,
            status: Status::Done,
            operation: Operation::Read,
        });
        now_ns += latency_ns;
    }
    let mut single = phase(PhaseKind::Measure, Some(reads), 0, now_ns);
    single.totals = vec![totals(Operation::Read, 2000, 2000 * 4096, histogram)];
    phases.push(single);
    commits(&mut prng, scale, &mut now_ns, &mut phases);
    for pass in 0..3 {
        writes(&mut prng, pass, scale, &mut now_ns, &mut phases, &mut series);
        phases.push(phase(PhaseKind::Idle, None, now_ns, 20_000_000_000));
        now_ns += 20_000_000_000;
    }
    run.phases = phases;
    add_compared_folders(&mut run, scale);
    let end_ns = run.phases.last().map_or(0, PhaseSummary::end_ns);
    for second in 0..end_ns / 1_000_000_000 {
        series.telemetry.push(TelemetryRecord {
            at_ns: second * 1_000_000_000,
            temperature_celsius: Some(30.0 + (second / 20) as f64),
            cpu_busy_share: Some(prng.unit()),
            own_cpu_share: Some(0.1),
            device_read_bytes: Some((50e6 * prng.unit()) as u64),
            device_write_bytes: Some(1000),
            ..TelemetryRecord::default()
        });
    }
    Everything { run, series }
}

/// Adds a large file in each of two folders to a run: `/mnt/outer` at 5 % of the disk of 4 TB with 160 MB/s, `/mnt/inner` at 95 % with
/// 80 MB/s, for `scale` = 1.
fn add_compared_folders(run: &mut Run, scale: f64) {
    for (folder, middle, rate) in [("/mnt/outer", 0.2e12, 160e6), ("/mnt/inner", 3.8e12, 80e6)] {
        let disk = DiskShare {
            disk: "sda".into(),
            disk_bytes: 4_000_000_000_000,
            bytes: 1 << 30,
            first: middle as u64 - (1 << 29),
            end: middle as u64 + (1 << 29),
            middle,
        };
        let work = FileWork {
            folder: folder.into(),
            file_system: "ext4".into(),
            task: FileTask::BlockWrite,
            round: 0,
            block: Bytes::from_kib(1024),
            file_bytes: Some(Bytes::new(1 << 30)),
            files: 1,
            folders: 1,
            threads: 1,
            processor: None,
            cached_share: None,
            layout: Some(Ok(FileLayout { extents: 1, fragments: 1, disks: vec![disk], unplaced: None })),
        };
        let end_ns = run.phases.last().map_or(0, PhaseSummary::end_ns);
        run.phases.push(PhaseSummary {
            duration_ns: 5_000_000_000,
            stopped: Some(StopReason::Passes),
            files: Some(Box::new(work)),
            ..PhaseSummary::begun(
                Phase {
                    name: format!("write in {folder}"),
                    experiment: "files".into(),
                    kind: PhaseKind::Measure,
                    workload: None,
                    stop: StopCondition::one_pass(),
                },
                end_ns,
            )
        });
        let rate = rate * scale;
        let write = write_findings::file_rate(folder, FileTask::BlockWrite, rate);
        let read = write_findings::file_rate(folder, FileTask::BlockRead, rate);
        run.findings.extend([Finding::FileWriteRate(write), Finding::FileReadRate(read)]);
    }
}

fn totals(operation: Operation, operations: u64, bytes: u64, histogram: LatencyHistogram) -> OperationTotals {
    OperationTotals { operation, operations, bytes, errors: 0, histogram, stretch: None }
}

/// Commits as etcd's, of which one in a hundred takes ten times as long, alone and beside random reads.
fn commits(prng: &mut Prng, scale: f64, now_ns: &mut u64, phases: &mut Vec<PhaseSummary>) {
    let range = ByteRange::new(Offset::START, Bytes::from_mib(64)).unwrap();
    for load in [None, Some(BesideLoad::RandomReads)] {
        let commits = Commits {
            method: CommitMethod::Fdatasync,
            log: Log::Preallocated,
            is_main: load.is_none(),
            beside: load.map(|load| Beside { load, range }),
            application: if load.is_none() { Some(Application::Etcd) } else { None },
        };
        let mix = OperationMix::Commit(commits);
        let workload = Workload::new(range, Pattern::Sequential, mix, Bytes::from_kib(2), 1);
        let mut histogram = LatencyHistogram::small();
        for _ in 0..5000 {
            let slow = if prng.unit() < 0.01 { 10.0 } else { 1.0 };
            histogram.record((scale * slow * (1e6 + 1e5 * prng.unit())) as u64);
        }
        let mut summary = phase(PhaseKind::Measure, Some(workload), *now_ns, 5_000_000_000);
        *now_ns += 5_000_000_000;
        summary.totals = vec![totals(Operation::Commit, 5000, 5000 << 11, histogram)];
        phases.push(summary);
    }
}

#[test]
fn commits_have_their_limit_as_a_line() {
    let all = [everything(1, 1.0), everything(2, 3.0)];
    for count in [1, 2] {
        let chart = chart_named("commit-latency", &charted(&all[..count])).unwrap();
        let [limit] = &chart.marks[..] else { panic!("one limit: {:?}", chart.marks) };
        assert_eq!((limit.place, limit.finding), (Place::Value(0.01), Some(FindingCode::CommitVerdict)));
        assert_eq!(limit.name, "etcd limit for p99");
        assert!(svg::document(&chart, svg::Theme::Light).contains("etcd limit"));
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        if count == 1 {
            assert_eq!(names, ["2 KiB", "2 KiB, with random reads"]);
        }
        let Layer::Line(points) = &chart.series[0].layers[0] else { panic!("a line") };
        let below = points.iter().rfind(|point| point.at < 0.98).unwrap().value;
        let above = points.iter().find(|point| point.at > 0.995).unwrap().value;
        assert!((1e-3..1.2e-3).contains(&below) && (0.9e-2..1.2e-2).contains(&above), "{below} {above}");
    }
}

/// A pass of a minute in four stretches, one slice of which is a valley.
fn writes(
    prng: &mut Prng,
    pass: u64,
    scale: f64,
    now_ns: &mut u64,
    phases: &mut Vec<PhaseSummary>,
    series: &mut MemorySeries,
) {
    for stretch in 0..4 {
        let first = stretch * 700_000_000_000;
        let (start_ns, mut at) = (*now_ns, first);
        for slice in 0..400 {
            let rate = if slice == 100 + pass * 37 { 7e6 } else { 100e6 * (1.0 + 0.02 * prng.normal()) };
            let bytes = (rate * scale * 0.04) as u64;
            series.intervals.push(IntervalRecord {
                phase: phases.len() as u32,
                operation: Operation::Write,
                start_ns: *now_ns,
                duration_ns: SLICE_NS,
                operations: 10,
                bytes,
                errors: 0,
                offset_first: at,
                offset_end: at + bytes,
                latency: None,
            });
            at += bytes;
            *now_ns += SLICE_NS;
        }
        let range = ByteRange::new(Offset::new(first), Bytes::new(20_000_000_000)).unwrap();
        let workload = Workload::new(range, Pattern::Sequential, OperationMix::Write, Bytes::from_kib(64), 1);
        let mut summary = phase(PhaseKind::Measure, Some(workload), start_ns, *now_ns - start_ns);
        summary.totals = vec![totals(Operation::Write, 4000, at - first, LatencyHistogram::small())];
        phases.push(summary);
    }
}

fn charted(all: &[Everything]) -> Vec<ChartedRun<'_>> {
    let letters = ["A", "B", "C"];
    all.iter()
        .enumerate()
        .map(|(index, each)| ChartedRun {
            run: &each.run,
            series: Some(&each.series),
            letter: (all.len() > 1).then(|| letters[index]),
        })
        .collect()
}

fn check_terminal(chart: &Chart) {
    for (width, unicode) in [(40, true), (80, true), (80, false), (160, true)] {
        let lines = terminal::draw(chart, Style { width, colour: false, unicode, draws: true });
        for line in &lines {
            assert!(columns_of(line) <= width, "{}: {line:?}", chart.name);
            assert!(unicode || line.is_ascii(), "{}: {line:?}", chart.name);
        }
        if width == 80 && std::env::var_os("CHARTS_DIR").is_some() {
            println!("{}\n", lines.join("\n"));
        }
    }
}

#[test]
fn every_kind_is_drawn_of_one_run_and_of_three() {
    let all = [everything(1, 1.0), everything(2, 3.0), everything(3, 0.2)];
    for count in [1, 3] {
        let charts = charts_of(&charted(&all[..count]));
        let names: Vec<&str> = charts.iter().map(|chart| chart.name).collect();
        let kinds: Vec<&str> = CHART_KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names, kinds);
        for chart in &charts {
            keep(&format!("{}-of-{count}", chart.name), chart);
            check_picture(chart.name, chart);
            check_terminal(chart);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn nothing_overlaps_whatever_was_measured(seed in 10u64..1000, scale in -6.0f64..3.0) {
        let all = [everything(seed, 10f64.powf(scale))];
        for chart in charts_of(&charted(&all)) {
            check_picture(chart.name, &chart);
            check_terminal(&chart);
        }
    }
}

#[test]
fn a_run_that_measured_nothing_of_it_has_no_such_chart() {
    let file = runs::scratch_file();
    let charted = [ChartedRun { run: &file, series: None, letter: None }];
    let names: Vec<&str> = charts_of(&charted).iter().map(|chart| chart.name).collect();
    assert_eq!(names, ["rate-over-position"]);
    assert_eq!(chart_named("seek-curve", &charted), None);
    assert_eq!(chart_named("no-such-chart", &charted), None);
}

/// Article A's experiment: the same file in a folder at the start of the disk and in one at its end.
#[test]
fn folders_are_drawn_where_their_files_lie() {
    let mut run = runs::scratch_file();
    add_compared_folders(&mut run, 1.0);
    let chart = chart_named("file-rate-over-place", &[ChartedRun { run: &run, series: None, letter: None }]);
    let chart = chart.expect("both folders lie on one disk");
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["write", "read"]);
    let Layer::Line(points) = &chart.series[0].layers[0] else { panic!("it is a line") };
    let seen: Vec<(f64, f64)> = points.iter().map(|point| (point.at, point.value)).collect();
    assert_eq!(seen, [(0.2e12, 160e6), (3.8e12, 80e6)]);
    assert_eq!(points[0].interval, Some((152e6, 168e6)));
    let names = "files of /mnt/outer, /mnt/inner, left to right";
    assert_eq!((chart.x.end, chart.marks[0].name.as_str()), (4e12, names));
    assert_eq!(chart.marks[1].place, Place::At(3.8e12));
}

/// A file that lies on nobody knows which disk has no place in a chart of places.
#[test]
fn a_file_whose_place_is_unknown_is_not_drawn() {
    let mut run = runs::scratch_file();
    add_compared_folders(&mut run, 1.0);
    for work in run.phases.iter_mut().filter_map(|phase| phase.files.as_deref_mut()) {
        work.layout = Some(Err(Untold::new("The file system does not tell.")));
    }
    let charted = [ChartedRun { run: &run, series: None, letter: None }];
    assert_eq!(chart_named("file-rate-over-place", &charted), None);
}

/// The valley of each pass, 7 MB/s in one slice of 40 ms, is the lowest point of its row; the pause is marked, and so is the fall.
#[test]
fn no_valley_is_lost() {
    let all = [everything(1, 1.0)];
    let charted = charted(&all);
    let chart = chart_named("valleys-over-time", &charted).unwrap();
    let passes = || chart.strips.iter().filter(|strip| strip.is_equal);
    assert_eq!(passes().count(), 2);
    let rows = std::iter::once(&chart.series).chain(passes().map(|strip| &strip.series));
    for row in rows {
        let points = row.iter().flat_map(|series| &series.layers).flat_map(|layer| match layer {
            Layer::Line(points) => points.clone(),
            _ => Vec::new(),
        });
        let lowest = points.map(|point| point.value).fold(f64::MAX, f64::min);
        assert!((lowest / 7e6 - 1.0).abs() < 1e-3, "{lowest}");
    }
    let chart = chart_named("write-rate-over-time", &charted).unwrap();
    let pauses = chart.marks.iter().filter(|mark| matches!(mark.place, Place::Pause { .. })).count();
    assert_eq!(pauses, 2);
    let fall = chart.marks.iter().find(|mark| mark.finding == Some(FindingCode::WriteCliff));
    assert!(fall.is_some_and(|mark| matches!(mark.place, Place::At(at) if at > 0.0)));
    let names: Vec<&str> = chart.strips.iter().map(|strip| strip.name.as_str()).collect();
    assert_eq!(names, ["Drive temperature", "Background load on the drive", "CPU used by others"]);
}

/// A line from when the drive begins to clean up to when everything is given back; nothing was measured at its corners.
#[test]
fn a_rest_gives_back_no_more_than_fits() {
    let mut one = everything(1, 1.0);
    let rests = [(1.0, 0.0), (5.0, 62e6), (25.0, 450e6), (50.0, 498e6)];
    one.run.findings =
        vec![write_findings::write_cliff(500e6, &[]), write_findings::idle_recovery(20e6, &rests)];
    let charted_one = [ChartedRun { run: &one.run, series: None, letter: None }];
    let chart = chart_named("idle-recovery", &charted_one).unwrap();
    let [Layer::Trend(line), Layer::Measured(measured)] = chart.series[0].layers.as_slice() else {
        panic!("{:?}", chart.series)
    };
    let corners: Vec<(f64, f64)> = line.iter().map(|point| (point.at, point.value)).collect();
    assert_eq!(corners, [(0.0, 0.0), (2.0, 0.0), (27.0, 500e6), (50.0, 500e6)]);
    let dots: Vec<(f64, f64)> = measured.iter().map(|rest| (rest.first, rest.value)).collect();
    assert_eq!(dots, rests);
    assert_eq!(chart.series[0].name, "each idle period; line: 20.0 MB per second");
    assert_eq!(chart.marks.len(), 1);
    let twice = [charted_one[0], charted_one[0]];
    assert!(chart_named("idle-recovery", &twice).unwrap().marks.is_empty());
}

/// Of several runs each line at a value has the name of its run, its value and its colour.
#[test]
fn a_line_at_a_value_says_whose_it_is() {
    let mut all = [everything(1, 1.0), everything(2, 3.0)];
    for (one, rate) in all.iter_mut().zip([15e6, 25e6]) {
        one.run.findings.retain(|finding| finding.code() != FindingCode::WriteSteadyState);
        one.run.findings.push(write_findings::write_steady_state(rate));
    }
    let style = Style { width: 100, colour: false, unicode: true, draws: true };
    let texts = |count: usize| {
        let chart = chart_named("write-rate-over-bytes", &charted(&all[..count])).unwrap();
        [terminal::draw(&chart, style).join("\n"), svg::document(&chart, svg::Theme::Light)]
    };
    for text in texts(1) {
        assert!(text.contains("steady state, 15.0 MB/s"), "{text}");
    }
    for text in texts(2) {
        for named in ["A  ", ": steady state, 15.0 MB/s", "B  ", ": steady state, 25.0 MB/s"] {
            assert!(text.contains(named), "{named:?} is missing in {text}");
        }
    }
    let [_, picture] = texts(2);
    let document = roxmltree::Document::parse(&picture).unwrap();
    let mut colours: Vec<&str> = document
        .descendants()
        .filter(|node| node.attribute("data-finding") == Some("write-steady-state"))
        .filter_map(|node| node.attribute("stroke"))
        .collect();
    colours.dedup();
    assert_eq!(colours, ["#0072b2", "#d55e00"]);
}

/// Temperature, load and processors stand below each chart over whose axis they can be told, else they are told in words; where nothing was
/// recorded, neither is there.
#[test]
fn what_went_on_meanwhile_is_under_each_chart() {
    let mut all = [everything(1, 1.0)];
    let in_words = [
        "access-time",
        "commit-latency",
        "latency-percentiles",
        "seek-curve",
        "idle-recovery",
        "write-rate-over-share",
    ];
    for chart in charts_of(&charted(&all)) {
        let names: Vec<&str> =
            chart.strips.iter().filter(|strip| !strip.is_equal).map(|strip| strip.name.as_str()).collect();
        if in_words.contains(&chart.name) {
            assert_eq!((names.len(), chart.meanwhile.len()), (0, 1), "{}", chart.name);
            let words = &chart.meanwhile[0];
            for part in
                ["Meanwhile: drive at 30 ", "; background load up to ", "; other processes used up to "]
            {
                assert!(words.contains(part), "{}: {words}", chart.name);
            }
            assert!(chart.description.ends_with(words.as_str()), "{}", chart.description);
            let picture = svg::document(&chart, svg::Theme::Light);
            assert!(picture.contains("Meanwhile: drive at 30"), "{}", chart.name);
        } else if SELDOM_MEASURED.contains(&chart.name) {
            assert_eq!((names.len(), chart.meanwhile.len()), (0, 0), "{}", chart.name);
        } else {
            let expected = ["Drive temperature", "Background load on the drive", "CPU used by others"];
            assert_eq!(names, expected, "{}", chart.name);
        }
    }
    all[0].series.telemetry.clear();
    for chart in charts_of(&charted(&all)) {
        assert!(
            chart.strips.iter().all(|strip| strip.is_equal) && chart.meanwhile.is_empty(),
            "{}",
            chart.name
        );
    }
}

/// Of these the run has conclusions and no phases.
const SELDOM_MEASURED: [&str; 1] = ["iops-over-span"];

/// Each of two sizes was measured for ten seconds, the second on a warmer drive that others used; what was told between them belongs to none.
#[test]
fn what_went_on_meanwhile_stands_where_it_was_measured() {
    let mut one = everything(1, 1.0);
    let second_ns = 1_000_000_000;
    let of_size = |size: u64, start_s: u64| {
        let range = ByteRange::whole(one.run.target.capacity);
        let workload = Workload::new(range, Pattern::Sequential, OperationMix::Read, Bytes::new(size), 1);
        phase(PhaseKind::Measure, Some(workload), start_s * second_ns, 10 * second_ns)
    };
    let phases = vec![of_size(4096, 0), of_size(1 << 20, 20)];
    let telemetry = (1..30).map(|second| TelemetryRecord {
        at_ns: second * second_ns,
        temperature_celsius: Some(if second <= 10 {
            31.0
        } else if second <= 20 {
            90.0
        } else {
            35.0
        }),
        device_read_bytes: Some(if second <= 20 { 0 } else { 3_000_000 }),
        device_write_bytes: Some(0),
        ..TelemetryRecord::default()
    });
    one.series.telemetry = telemetry.collect();
    one.run.phases = phases;
    let all = [one];
    let chart = chart_named("rate-over-size", &charted(&all)).unwrap();
    let seen = |strip: usize| {
        let layers = chart.strips[strip].series.iter().flat_map(|series| &series.layers);
        let points = layers.flat_map(|layer| match layer {
            Layer::Measured(points) => points.iter().map(|point| (point.first, point.value)).collect(),
            _ => Vec::new(),
        });
        points.collect::<Vec<(f64, f64)>>()
    };
    let (small, large) = (4096.0, 1_048_576.0);
    assert_eq!(seen(0), [(small, 31.0), (large, 35.0)]);
    assert_eq!(seen(1), [(small, 0.0), (large, 3e6)]);
    assert_eq!(chart.strips.len(), 2, "nobody told of processors");
}

/// What another program stated is no course: one figure after the other is not a rate that falls.
#[test]
fn figures_of_another_program_are_no_course_of_writes() {
    let mut one = everything(1, 1.0);
    assert!(chart_named("write-rate-over-time", &charted(std::slice::from_ref(&one))).is_some());
    one.run.phases.iter_mut().for_each(|phase| phase.phase.experiment = "import".into());
    for name in ["write-rate-over-time", "write-rate-over-bytes"] {
        assert_eq!(chart_named(name, &charted(std::slice::from_ref(&one))), None, "{name}");
    }
}

/// An interval that reaches far above all values leaves the picture and has no end there; the values keep half of the height.
#[test]
fn a_wide_interval_does_not_press_the_values_down() {
    let mut one = everything(1, 1.0);
    let points = [(1, 100.0, 90.0, 110.0), (8, 200.0, 10.0, 9000.0)];
    one.run.findings = vec![runs::findings::concurrency_gain(Estimate::exact(2.0), &points)];
    let chart = chart_named("iops-over-depth", &charted(&[one])).unwrap();
    assert_eq!(chart.y.end, 400.0);
    let picture = svg::document(&chart, svg::Theme::Light);
    let document = roxmltree::Document::parse(&picture).unwrap();
    let intervals = document.descendants().find(|node| node.attribute("class") == Some("intervals")).unwrap();
    let ends = intervals.attribute("d").unwrap().matches('h').count();
    assert_eq!(ends, 3, "two ends, and one of the interval that goes on");
}

/// The legend explains intervals only where one can be seen.
#[test]
fn an_interval_that_cannot_be_seen_is_not_explained() {
    let explained = |share: f64| {
        let mut one = everything(1, 1.0);
        let rate = |span: f64| 60e6 - 50e6 * span;
        let parts = [0.33, 0.66, 1.0]
            .map(|span| (span, rate(span), rate(span) * (1.0 - share), rate(span) * (1.0 + share)));
        one.run.findings = vec![write_findings::clipping_effect(&parts)];
        let chart = chart_named("write-rate-over-share", &charted(&[one])).unwrap();
        let picture = svg::document(&chart, svg::Theme::Light);
        (picture.contains("95 % interval"), picture.contains(r#"class="intervals""#))
    };
    assert_eq!(explained(0.001), (false, false));
    assert_eq!(explained(0.05), (true, true));
}

/// Ten runs with a million slices in all: what is drawn of them is bounded, and takes seconds even unoptimised.
#[test]
fn a_million_slices_become_a_bounded_picture() {
    let mut one = everything(1, 1.0);
    let last = one.run.phases.len() as u32 - 2;
    let sample = *one.series.intervals.last().unwrap();
    let summary = one.run.phases[last as usize].clone();
    one.series.intervals.retain(|slice| slice.phase != last);
    let count = 100_000;
    one.series.intervals.extend((0..count).map(|index| IntervalRecord {
        phase: last,
        start_ns: summary.start_ns + index * SLICE_NS,
        ..sample
    }));
    one.run.phases[last as usize].duration_ns = count * SLICE_NS;
    let runs: Vec<ChartedRun<'_>> =
        (0..10).map(|_| ChartedRun { run: &one.run, series: Some(&one.series), letter: None }).collect();
    let chart = chart_named("write-rate-over-time", &runs).unwrap();
    for series in &chart.series {
        let points: usize = series
            .layers
            .iter()
            .map(|layer| if let Layer::Line(points) = layer { points.len() } else { 0 })
            .sum();
        assert!(points <= 4000, "{points}");
    }
}

fn span_effect(about: &mut impl FnMut(f64) -> f64) -> Finding {
    let gain = Estimate::exact(2.0);
    let points = [0.001, 0.01, 0.1, 1.0].map(|share| {
        let iops = about(90.0 - 20.0 * share);
        SpanPoint { share, span_bytes: Bytes::new((share * 1e12) as u64), iops, low: iops, high: iops, gain }
    });
    Finding::SpanEffect(Outcome::known(SpanEffect { gain, points: points.to_vec() }, vec![]))
}

fn seek_average(seconds: f64) -> Finding {
    let seek = Estimate::exact(seconds);
    let average = SeekAverage { seek, is_bounded: false, hops: 100, noise: 0.01, held_up: 0.0 };
    Finding::SeekAverage(Outcome::known(average, vec![]))
}

fn seek_track_to_track(seconds: f64) -> Finding {
    let seek = SeekTrackToTrack { seek: Estimate::exact(seconds), overhead_s: 1e-4, pairs: 100 };
    Finding::SeekTrackToTrack(Outcome::known(seek, vec![]))
}

fn seek_full_stroke(about: &mut impl FnMut(f64) -> f64) -> Finding {
    let seek = Estimate::exact(about(16e-3));
    let curve = [0.01, 0.1, 0.3, 0.6, 1.0].map(|share_of_cylinders| {
        let seconds = about(16e-3 * f64::sqrt(share_of_cylinders));
        SeekPoint { share_of_cylinders, seconds, low: seconds, high: seconds }
    });
    let full_stroke = SeekFullStroke { seek, is_bounded: false, curve: curve.to_vec() };
    Finding::SeekFullStroke(Outcome::known(full_stroke, vec![]))
}
