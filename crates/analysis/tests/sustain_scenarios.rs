//! Writes that go on, made up: what the levels and the drop are taken to be when batches scatter, stall, wander and recover.

use analysis::analyse;
use analysis::sustained::{Batch, History, Stage, Standing, below, dip, levels, regained, standing};
use model::finding::{
    CliffCause, Finding, NoCliff, NoCliffCourse, Outcome, WriteCache, WriteCliff, WriteCliffUnknown, known,
};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::record::IntervalRecord;
use model::request::Operation;
use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// Batches that grow as those of `sustain` do, with the rate that `bytes_per_second` gives for what had been written, and so much noise.
fn batches(total: f64, noise: f64, seed: u64, bytes_per_second: impl Fn(f64, usize) -> f64) -> Vec<Batch> {
    batches_up_to(f64::INFINITY, total, noise, seed, bytes_per_second)
}

/// The same, none of them larger than `largest`.
fn batches_up_to(
    largest: f64,
    total: f64,
    noise: f64,
    seed: u64,
    bytes_per_second: impl Fn(f64, usize) -> f64,
) -> Vec<Batch> {
    let mut prng = Prng::new(seed, 0);
    let mut batches = Vec::new();
    let (mut written, mut at_s) = (0.0, 0.0);
    while written < total {
        let bytes = (0.04_f64 * written).max(16e6).min(largest);
        // In steps, so that a drop lies within a batch.
        let steps = 50;
        let seconds: f64 = (0..steps)
            .map(|step| {
                bytes
                    / f64::from(steps)
                    / bytes_per_second(written + bytes * f64::from(step) / f64::from(steps), batches.len())
            })
            .sum();
        let seconds = seconds * (noise * prng.normal()).exp();
        batches.push(Batch { phase: batches.len() as u32, start_s: at_s, bytes, seconds, flush_s: 0.0 });
        written += bytes;
        at_s += seconds;
    }
    batches
}

fn drop(batches: &[Batch]) -> Option<(f64, f64, f64)> {
    match standing(batches) {
        Standing::Fell(drop) => Some((drop.bytes.value, drop.before.rate().value, drop.after.rate().value)),
        _ => None,
    }
}

#[test]
fn a_drop_is_found_within_three_percent_although_batches_scatter() {
    for seed in 0..50 {
        let written = batches(13e9, 0.015, seed, |written, _| if written < 10e9 { 400e6 } else { 250e6 });
        let (bytes, before, after) =
            drop(&written).unwrap_or_else(|| panic!("seed {seed}: {:?}", levels(&written)));
        assert!((bytes / 10e9 - 1.0).abs() < 0.03, "seed {seed}: {bytes}");
        assert!(
            (before / 400e6 - 1.0).abs() < 0.03 && (after / 250e6 - 1.0).abs() < 0.03,
            "seed {seed}: {before} {after}"
        );
    }
}

/// A shingled disk whose media cache is full after 0.9 GB: three batches on the way down were no lasting drop, and what followed was not
/// looked at.
#[test]
fn a_few_batches_on_the_way_down_hide_no_drop() {
    let written: Vec<Batch> = (0..100)
        .map(|phase| {
            let even = [0.99, 1.0, 1.01][phase as usize % 3];
            let rate = even
                * match phase {
                    0..5 => 55e6,
                    5 => 49e6,
                    6 => 39e6,
                    7 => 30e6,
                    _ => 4.8e6,
                };
            Batch { phase, start_s: 0.0, bytes: 134e6, seconds: 134e6 / rate, flush_s: 0.0 }
        })
        .collect();
    let (bytes, before, after) = drop(&written).unwrap_or_else(|| panic!("{:?}", levels(&written)));
    assert!((0.67e9..1.1e9).contains(&bytes), "{bytes}");
    assert!((before / 55e6 - 1.0).abs() < 0.03 && (after / 4.8e6 - 1.0).abs() < 0.03, "{before} {after}");
    // From level to level all along it only declines.
    let declining: Vec<Batch> = (0..100)
        .map(|phase| {
            let rate = 1.4e9 * 0.93_f64.powi((phase - 40).max(0) / 3);
            Batch { phase: phase as u32, start_s: 0.0, bytes: 1e9, seconds: 1e9 / rate, flush_s: 0.0 }
        })
        .collect();
    assert!(drop(&declining).is_none_or(|(_, before, after)| before > 2.0 * after), "{:?}", drop(&declining));
}

/// Others begin to use a shingled disk, and its media cache is full 20 GB later.
#[test]
fn a_drift_before_a_drop_many_times_as_large_is_none() {
    let written = batches(33e9, 0.01, 7, |written, _| match written {
        ..4.7e9 => 10.0e6,
        ..25e9 => 9.3e6,
        _ => 1.3e6,
    });
    let (bytes, before, after) = drop(&written).expect("a drop");
    assert!((bytes / 25e9 - 1.0).abs() < 0.03, "{bytes}");
    assert!((before / 9.3e6 - 1.0).abs() < 0.03 && (after / 1.3e6 - 1.0).abs() < 0.03, "{before} {after}");
}

#[test]
fn noise_alone_never_drops() {
    for seed in 0..500 {
        let noise = [0.0, 0.005, 0.02, 0.1, 0.3][seed as usize % 5];
        let written = batches(40e9, noise, seed, |_, _| 200e6);
        assert_eq!(drop(&written), None, "seed {seed}, noise {noise}");
    }
}

/// A card that writes at 906 MB/s, give or take a twentieth from one 64 MiB to the next: "the SLC cache is full after 848 MB: 970 MB/s (820 to
/// 1,150) to 906 MB/s, a factor of 1.07", since some of them happened to be quick. 236 of 600 such streams dropped.
#[test]
fn a_rate_that_wanders_from_block_to_block_hardly_ever_drops() {
    let mut told = Vec::new();
    for seed in 0..600 {
        let mut prng = Prng::new(seed, 7);
        let blocks: Vec<f64> = (0..250).map(|_| (0.05 * prng.normal()).exp()).collect();
        let rate = |written: f64, _| 906e6 * blocks[(written / 67_108_864.0) as usize];
        if drop(&batches(15e9, 0.001, seed, rate)).is_some() {
            told.push(seed);
        }
    }
    assert!(told.len() <= 18, "{told:?}");
}

#[test]
fn stalls_and_a_time_of_other_load_are_no_drop() {
    let stalls = |written: f64, batch: usize| if batch % 17 == 9 { 20e6 } else { 200e6 + 0.0 * written };
    assert_eq!(drop(&batches(40e9, 0.01, 1, stalls)), None);
    let load = |_: f64, batch: usize| if (60..75).contains(&batch) { 90e6 } else { 200e6 };
    assert_eq!(drop(&batches(40e9, 0.01, 2, load)), None);
}

/// Batches that grow from 16 MB on, of a drive that stands still for `stall_s` after every `every` bytes.
fn with_stalls(total: f64, every: f64, stall_s: f64, bytes_per_second: impl Fn(f64) -> f64) -> Vec<Batch> {
    let mut batches = batches(total, 0.0, 0, |written, _| bytes_per_second(written));
    let mut written = 0.0;
    for batch in &mut batches {
        let stalls = ((written + batch.bytes) / every).floor() - (written / every).floor();
        batch.seconds += stalls * stall_s;
        written += batch.bytes;
    }
    batches
}

/// A drive that writes its table out now and then: small batches seldom meet a stall, large ones always do, and yet its rate is the same.
#[test]
fn stalls_that_recur_are_a_part_of_the_rate_and_no_drop() {
    for (every, stall_s) in
        [(279e6, 0.01574), (199e6, 0.002672), (67e6, 0.02), (100e6, 0.005), (500e6, 0.01), (2e9, 0.02)]
    {
        for rate in [400e6, 1.2287e9, 3.0224e9, 6.5e9] {
            let even = with_stalls(80e9, every, stall_s, |_| rate);
            // Also while it is still written.
            for end in (5..=even.len()).step_by(3) {
                let found = drop(&even[..end]);
                assert_eq!(
                    found,
                    None,
                    "{stall_s} s every {every} at {rate}, {end} batches: {:?}",
                    levels(&even[..end])
                );
            }
            let (bytes, before, after) =
                drop(&with_stalls(
                    80e9,
                    every,
                    stall_s,
                    |written| if written < 50e9 { rate } else { 0.7 * rate },
                ))
                .unwrap_or_else(|| panic!("{stall_s} s every {every} at {rate}"));
            let with = |rate: f64| 1.0 / (1.0 / rate + stall_s / every);
            let errors = [bytes / 50e9, before / with(rate), after / with(0.7 * rate)];
            assert!(
                errors.iter().all(|error| (error - 1.0).abs() < 0.03),
                "{stall_s} s every {every} at {rate}: {errors:?}"
            );
        }
    }
}

/// The same drive when it begins to collect garbage: the first slow batches are no stalls like the others, which made a drop of all that was
/// written since each batch met one, 103 GB earlier.
#[test]
fn a_drop_to_come_is_no_stall_that_recurs() {
    for fall_at in [40e9, 60e9, 80e9, 100e9, 120e9] {
        for (every, stall_s) in [(245.4e6, 0.0105), (150e6, 0.006), (245.4e6, 0.006), (500e6, 0.02)] {
            let rates = |written: f64| if written < fall_at { 3.59e9 } else { 0.47e9 };
            let all = with_stalls(3.0 * fall_at, every, stall_s, rates);
            let mut told = Vec::new();
            for end in 5..=all.len() {
                told.extend(drop(&all[..end]));
            }
            assert!(!told.is_empty(), "{stall_s} s every {every}");
            for (bytes, _, _) in told {
                assert!(
                    (bytes / fall_at - 1.0).abs() < 0.03,
                    "{stall_s} s every {every}: {bytes}, {fall_at} is true"
                );
            }
        }
    }
}

/// Each batch ends with a flush: what is lower behind so few bytes is lower, whatever took these.
#[test]
fn a_drop_within_what_a_memory_holds_is_one() {
    let buffered = |written: f64, _: usize| if written < 60e6 { 2e9 } else { 200e6 };
    let (bytes, before, after) = drop(&batches(20e9, 0.01, 3, buffered)).expect("it drops");
    assert!((bytes / 60e6 - 1.0).abs() < 0.03, "{bytes}");
    assert!((before / 2e9 - 1.0).abs() < 0.03 && (after / 200e6 - 1.0).abs() < 0.03, "{before} {after}");
}

/// A volume of 249 MB/s whose host lost a quarter of a second in the second after the first 168 MB.
#[test]
fn time_that_a_host_lost_is_no_drop() {
    let busy = |written: f64, _: usize| if (168e6..674e6).contains(&written) { 220e6 } else { 249e6 };
    for seed in 0..20 {
        let written = batches(5e9, 0.01, seed, busy);
        for end in 5..=written.len() {
            assert_eq!(drop(&written[..end]), None, "seed {seed}, {end} batches");
        }
    }
}

#[test]
fn three_levels_are_all_seen() {
    let three = |written: f64, _: usize| match written {
        written if written < 28e9 => 5e9,
        written if written < 130e9 => 2.5e9,
        _ => 0.8e9,
    };
    let written = batches(200e9, 0.01, 4, three);
    let found = levels(&written);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!((found[2].from_bytes / 130e9 - 1.0).abs() < 0.05, "{found:?}");
    let (bytes, before, after) = drop(&written).expect("it drops");
    assert!(
        (bytes / 28e9 - 1.0).abs() < 0.03
            && (before / 5e9 - 1.0).abs() < 0.03
            && (after / 2.5e9 - 1.0).abs() < 0.03
    );
}

/// The levels behind the first drop: where each begins, and its rate.
fn further(batches: &[Batch]) -> Vec<(f64, f64)> {
    match standing(batches) {
        Standing::Fell(drop) => {
            drop.further.iter().map(|further| (further.bytes.value, further.after.rate().value)).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn assert_levels(found: &[(f64, f64)], are: &[(f64, f64)], what: &str) {
    let is_near = |(one, two): (&(f64, f64), &(f64, f64))| {
        (one.0 / two.0 - 1.0).abs() < 0.03 && (one.1 / two.1 - 1.0).abs() < 0.03
    };
    assert!(found.len() == are.len() && found.iter().zip(are).all(is_near), "{what}: {found:?}");
}

/// Fast, past the cache, folding, and past it again when all is folded, as an NM790 of 2 TB; and a small drive of three levels.
#[test]
fn levels_behind_the_first_drop_are_told() {
    for seed in 0..20 {
        let four = |written: f64, _: usize| match written {
            written if written < 280e9 => 5e9,
            written if written < 1300e9 => 2.5e9,
            written if written < 1860e9 => 0.8e9,
            _ => 2.5e9,
        };
        let found = further(&batches(2600e9, 0.01, seed, four));
        assert_levels(&found, &[(1300e9, 0.8e9), (1860e9, 2.5e9)], &format!("seed {seed}"));
        let three = |written: f64, _: usize| match written {
            written if written < 1.5e9 => 450e6,
            written if written < 6e9 => 250e6,
            _ => 90e6,
        };
        let found = further(&batches(12e9, 0.015, seed, three));
        assert_levels(&found, &[(6e9, 90e6)], &format!("seed {seed}"));
    }
}

/// Levels that are short or differ little: those of an 870 QVO of 4 TB, a 660p and a 980 PRO of 1 TB that are written once in order. All
/// but the last go on until the drive is full.
#[test]
fn short_levels_and_small_steps_are_told() {
    let drives: [(f64, &[(f64, f64)]); 3] = [
        (4000e9, &[(0.0, 530e6), (78e9, 160e6), (3790e9, 120e6)]),
        (1024e9, &[(0.0, 1800e6), (140e9, 100e6), (396e9, 76e6), (780e9, 100e6)]),
        (1000e9, &[(0.0, 4000e6), (113e9, 1500e6), (792e9, 1333e6)]),
    ];
    for (total, levels) in drives {
        for seed in 0..20 {
            let noise = [0.002, 0.01][seed as usize % 2];
            let rate = |written: f64, _: usize| {
                levels.iter().rev().find(|(from, _)| written >= *from).map_or(0.0, |(_, rate)| *rate)
            };
            let found = further(&batches_up_to(0.005 * total, total, noise, seed, rate));
            assert_levels(&found, &levels[2..], &format!("{total} seed {seed}"));
        }
    }
}

/// A drive that swings between two rates behind its drop, as one that is too warm does, and one that something slows for a while.
#[test]
fn what_passes_behind_a_drop_is_no_level() {
    for seed in 0..20 {
        let swinging = |written: f64, _: usize| match written {
            written if written < 50e9 => 3000e6,
            written if ((written - 50e9) / 60e9) as u64 % 2 == 1 => 600e6,
            _ => 1500e6,
        };
        let found = further(&batches_up_to(2.5e9, 500e9, 0.01, seed, swinging));
        assert_eq!(found, [], "seed {seed}");
        let loaded = |written: f64, _: usize| match written {
            written if written < 50e9 => 3000e6,
            written if (300e9..320e9).contains(&written) => 700e6,
            _ => 1500e6,
        };
        let found = further(&batches_up_to(2.5e9, 500e9, 0.01, seed, loaded));
        assert_eq!(found, [], "seed {seed}");
    }
}

/// Rates by what had been written: each from so many bytes on.
fn by_written(levels: &[(f64, f64)]) -> impl Fn(f64, usize) -> f64 {
    |written, _| levels.iter().rev().find(|(from, _)| written >= *from).map_or(0.0, |(_, rate)| *rate)
}

fn stages(course: &[Stage]) -> Vec<(f64, f64)> {
    course.iter().map(|stage| (stage.from_bytes.value, stage.level.rate().value)).collect()
}

/// Levels to which the rate went and from which it came back, once: behind a drop, and where nothing drops for good. All levels are in the
/// course, with the one that passed marked.
#[test]
fn a_level_that_passes_is_in_the_course() {
    let behind_a_drop: [(f64, &[(f64, f64)]); 2] = [
        (235e9, &[(0.0, 1100e6), (8.4e9, 134e6), (218e9, 80e6), (226e9, 134e6)]),
        (1000e9, &[(0.0, 4317e6), (25e9, 2247e6), (800e9, 877e6), (842e9, 2247e6)]),
    ];
    for (total, levels) in behind_a_drop {
        for seed in 0..20 {
            let written = batches_up_to(0.005 * total, total, 0.004, seed, by_written(levels));
            let Standing::Fell(drop) = standing(&written) else { panic!("{total}") };
            assert_levels(&stages(&drop.course)[1..], &levels[1..], &format!("{total} seed {seed}"));
            let passes: Vec<bool> = drop.course.iter().map(|stage| stage.comes_back).collect();
            assert_eq!(passes, [false, false, true, false], "{total} seed {seed}");
            assert_eq!(drop.further, [], "{total} seed {seed}");
        }
    }
    let alone: [(f64, &[(f64, f64)]); 3] = [
        (240e9, &[(0.0, 279e6), (158.4e9, 186e6), (187.9e9, 279e6)]),
        (1024e9, &[(0.0, 3591e6), (820e9, 1540e6), (867e9, 3591e6)]),
        (962e9, &[(0.0, 555e6), (643.6e9, 470e6), (734.5e9, 555e6)]),
    ];
    for (total, levels) in alone {
        for seed in 0..20 {
            let written = batches_up_to(0.005 * total, total, 0.004, seed, by_written(levels));
            assert_eq!(standing(&written), Standing::Even, "{total} seed {seed}");
            let drop = dip(&written).expect("it dips");
            assert_levels(&stages(&drop.course)[1..], &levels[1..], &format!("{total} seed {seed}"));
            assert_eq!(drop.course.iter().filter(|stage| stage.comes_back).count(), 1, "{total} seed {seed}");
        }
    }
}

/// Noise, a stall, a drift that comes back and a rate that swings are no dip.
#[test]
fn no_dip_where_there_is_none() {
    for seed in 0..500 {
        let noise = [0.002, 0.01, 0.03, 0.1][seed as usize % 4];
        let even = |_: f64, batch: usize| if batch % 71 == 5 { 60e6 } else { 400e6 };
        let found = dip(&batches_up_to(1e9, 200e9, noise, seed, even));
        assert!(found.is_none(), "seed {seed}, noise {noise}: {found:?}");
        let drifting =
            |written: f64, _: usize| 400e6 * (1.0 + 0.1 * (written / 200e9 * std::f64::consts::TAU).sin());
        let found = dip(&batches_up_to(1e9, 200e9, noise, seed, drifting));
        assert!(found.is_none(), "seed {seed}, noise {noise}: {found:?}");
        let swinging = |written: f64, _: usize| if (written / 20e9) as u64 % 3 == 2 { 250e6 } else { 400e6 };
        let found = dip(&batches_up_to(1e9, 200e9, noise, seed, swinging));
        assert!(found.is_none(), "seed {seed}, noise {noise}: {found:?}");
    }
}

/// Noise, drift of some per cent and a stall are no levels.
#[test]
fn no_levels_behind_a_drop_where_there_are_none() {
    for seed in 0..100 {
        let noise = [0.002, 0.01, 0.03, 0.1][seed as usize % 4];
        let two = |written: f64, batch: usize| match written {
            written if written < 10e9 => 400e6,
            _ if batch % 23 == 5 => 30e6,
            written => 100e6 * (1.0 + 0.05 * (written / 10e9).ln()),
        };
        let written = batches(100e9, noise, seed, two);
        assert_eq!(further(&written), [], "seed {seed}, noise {noise}");
    }
}

/// What a drive writes at, by what was written to it in all: 450 MB/s into what is free of its cache, 250 MB/s past it, and 90 MB/s when
/// 6 GB were written.
struct Resting {
    written: f64,
    free: f64,
    now_s: f64,
    phases: Vec<PhaseSummary>,
}

impl Resting {
    fn write(&mut self, bytes: f64) -> f64 {
        let (steps, start_s) = (100, self.now_s);
        let mut rate = 0.0;
        for _ in 0..steps {
            rate = match (self.free > 0.0, self.written < 6e9) {
                (true, _) => 450e6,
                (false, true) => 250e6,
                (false, false) => 90e6,
            };
            let step = bytes / f64::from(steps);
            (self.free, self.written, self.now_s) =
                (self.free - step, self.written + step, self.now_s + step / rate);
        }
        let range = ByteRange::whole(Bytes::from_gib(100));
        let workload = Workload::new(
            range,
            Pattern::RandomWithReplacement,
            OperationMix::Write,
            Bytes::from_kib(128),
            32,
        );
        let mut histogram = LatencyHistogram::default();
        (0..1000).for_each(|_| histogram.record(1_000_000));
        let totals = OperationTotals {
            operation: Operation::Write,
            operations: 1000,
            bytes: bytes as u64,
            errors: 0,
            histogram,
            stretch: None,
        };
        self.end(PhaseKind::Measure, Some(workload), vec![totals], start_s);
        rate
    }

    /// Each second of rest gives 20 MB of the cache back.
    fn rest(&mut self, seconds: f64) {
        let start_s = self.now_s;
        self.now_s += seconds;
        self.free = self.free.max(0.0) + 20e6 * seconds;
        self.end(PhaseKind::Idle, None, Vec::new(), start_s);
    }

    fn end(
        &mut self,
        kind: PhaseKind,
        workload: Option<Workload>,
        totals: Vec<OperationTotals>,
        start_s: f64,
    ) {
        let stop = StopCondition::one_pass();
        self.phases.push(PhaseSummary {
            duration_ns: ((self.now_s - start_s) * 1e9) as u64,
            stopped: Some(StopReason::Bytes),
            totals,
            ..PhaseSummary::begun(
                Phase { name: String::new(), experiment: "sustain".into(), kind, workload, stop },
                (start_s * 1e9) as u64,
            )
        });
    }
}

/// Probes lie all over a drive, and what is written in order begins with some megabytes of it.
#[test]
fn probes_are_no_writes_that_go_on() {
    let mut drive = Resting { written: 0.0, free: 1.5e9, now_s: 0.0, phases: Vec::new() };
    drive.write(1e6);
    drive.write(16e6);
    let range =
        |first: u64, bytes: u64| ByteRange::new(Offset::new(first), Bytes::new(bytes)).expect("a range");
    let patterns = [
        (Pattern::Listed { offsets: vec![Offset::new(4096)] }, range(0, 100 << 30)),
        (Pattern::Sequential, range(0, 16 << 20)),
    ];
    for (summary, (pattern, range)) in drive.phases.iter_mut().zip(patterns) {
        let block = Bytes::from_kib(128);
        summary.phase.workload = Some(Workload::new(range, pattern, OperationMix::Write, block, 32));
    }
    let target = sim::open("constant", 1).unwrap().facts().clone();
    let (environment, series) = (Environment::default(), MemorySeries::default());
    let run = RunView { target: &target, environment: &environment, phases: &drive.phases, series: &series };
    let history = History::of(&run).expect("it was written");
    assert_eq!((history.workload.pattern == Pattern::Sequential, history.first().len()), (true, 1));
}

/// A drop at 1.5 GB, and one at 6 GB that comes while rests are tried: it is told, and what rests give back is reckoned with the rate
/// that was there.
#[test]
fn a_drop_that_comes_between_rests_is_told() {
    let mut drive = Resting { written: 0.0, free: 1.5e9, now_s: 0.0, phases: Vec::new() };
    while drive.written < 2.1e9 {
        drive.write((0.04 * drive.written).max(16e6));
    }
    for rest_s in [10.0, 50.0, 25.0, 5.0, 40.0, 20.0, 30.0] {
        drive.rest(rest_s);
        let mut size = 16e6;
        while drive.write(size) > 300e6 {
            size *= 1.5;
        }
        // A batch that is slow from end to end, as the one is that shows it.
        drive.write(size);
    }
    let target = sim::open("constant", 1).unwrap().facts().clone();
    let target = TargetFacts { rotational: Some(false), caveats: Vec::new(), ..target };
    let (environment, series) = (Environment::default(), MemorySeries::default());
    let run = RunView { target: &target, environment: &environment, phases: &drive.phases, series: &series };
    let history = History::of(&run).expect("it was written");
    let Standing::Fell(drop) = standing(history.first()) else { panic!("it fell") };
    let below = below(&run, &history, &drop).expect("it came down to less");
    assert!(below.from_bytes < 6e9 && 6e9 < below.to_bytes, "{below:?}");
    assert!((below.bytes_per_second / 90e6 - 1.0).abs() < 0.01, "{below:?}");
    let gains = regained(&run, &history, &drop);
    assert_eq!(gains.len(), 7);
    // While it fell nobody can tell what was fast.
    assert_eq!(gains.iter().filter(|gain| !gain.is_known()).count(), 1, "{gains:?}");
    for gain in gains.iter().filter(|gain| gain.is_known()) {
        let is = 20e6 * gain.rest_s;
        assert!((gain.bytes / is - 1.0).abs() < 0.1, "{gain:?}");
    }
    let findings = analyse(&run);
    let cliff = &known::<WriteCliff>(&findings).expect("it fell").conclusion;
    assert!(cliff.below.is_some() && cliff.has_rests, "{cliff:?}");
}

/// A disk whose memory of 200 MB goes to a media cache of 10 GB at 15 MB/s. When that is full, nothing is written for half an hour, since
/// what lies in it longest was small, and then 500 kB/s.
#[derive(Default)]
struct BehindMemory {
    held: f64,
    cached: f64,
    full_s: f64,
    now_s: f64,
    phases: Vec<PhaseSummary>,
    series: MemorySeries,
}

impl BehindMemory {
    const MEMORY: f64 = 200e6;
    const CACHE: f64 = 10e9;
    const LINK: f64 = 150e6;
    const STEP_S: f64 = 0.04;

    /// What the arm writes in a step.
    fn drain(&mut self) {
        let rate = match self.cached < Self::CACHE {
            true => 15e6,
            false if self.full_s < 1800.0 => 0.0,
            false => 0.5e6,
        };
        self.full_s += if self.cached < Self::CACHE { 0.0 } else { Self::STEP_S };
        let bytes = (rate * Self::STEP_S).min(self.held);
        (self.held, self.cached, self.now_s) =
            (self.held - bytes, self.cached + bytes, self.now_s + Self::STEP_S);
    }

    /// Writes so much, for no longer than that, and a flush.
    fn write(&mut self, bytes: f64, seconds_max: f64) -> f64 {
        let (phase, start_s) = (self.phases.len() as u32, self.now_s);
        let mut taken = 0.0;
        while taken < bytes && self.now_s - start_s < seconds_max {
            let slice = (Self::LINK * Self::STEP_S).min(Self::MEMORY - self.held).min(bytes - taken).max(0.0);
            self.series.intervals.push(IntervalRecord {
                phase,
                operation: Operation::Write,
                start_ns: (self.now_s * 1e9) as u64,
                duration_ns: (Self::STEP_S * 1e9) as u64,
                operations: u64::from(slice > 0.0),
                bytes: slice as u64,
                errors: 0,
                offset_first: 0,
                offset_end: 0,
                latency: None,
            });
            (taken, self.held) = (taken + slice, self.held + slice);
            self.drain();
        }
        let duration_ns = ((self.now_s - start_s) * 1e9) as u64;
        let flushes_s = self.now_s;
        while self.held > 1.0 {
            self.drain();
        }
        let mut totals = OperationTotals::none(Operation::Write);
        (totals.operations, totals.bytes) = (1000, taken as u64);
        let mut flush = OperationTotals::none(Operation::Flush);
        flush.operations = 1;
        flush.histogram.record(((self.now_s - flushes_s) * 1e9) as u64);
        let workload = Workload::new(
            ByteRange::whole(Bytes::new(4_000_000_000_000)),
            Pattern::RandomWithReplacement,
            OperationMix::Write,
            Bytes::from_kib(128),
            32,
        );
        self.phases.push(PhaseSummary {
            duration_ns,
            stopped: Some(StopReason::Bytes),
            totals: vec![totals, flush],
            ..PhaseSummary::begun(
                Phase {
                    name: String::new(),
                    experiment: "sustain".into(),
                    kind: PhaseKind::Measure,
                    workload: Some(workload),
                    stop: StopCondition::one_pass(),
                },
                (start_s * 1e9) as u64,
            )
        });
        taken
    }
}

/// The host of a disk sees the drop when its media cache and its memory are full, whatever was in the media cache before; and the rate
/// behind it is that which lasts.
#[test]
fn a_disk_drops_where_its_host_sees_it() {
    let mut disk = BehindMemory::default();
    let mut written: f64 = 0.0;
    while written < 10.2e9 {
        written += disk.write((0.04 * written).max(128e6), 500.0);
    }
    for _ in 0..120 {
        disk.write(52e6, 1500.0);
    }
    let target = sim::open("smr-2tb", 1).unwrap().facts().clone();
    let environment = Environment::default();
    let run =
        RunView { target: &target, environment: &environment, phases: &disk.phases, series: &disk.series };
    let findings = analyse(&run);
    let cliff = &known::<WriteCliff>(&findings).expect("it drops").conclusion;
    let is = BehindMemory::CACHE + BehindMemory::MEMORY;
    assert!((cliff.bytes.value / is - 1.0).abs() < 0.003 && cliff.bytes.covers(is), "{cliff:?}");
    assert!((cliff.before / 15e6 - 1.0).abs() < 0.01, "{}", cliff.before);
    assert!((cliff.after / 0.5e6 - 1.0).abs() < 0.01, "{}", cliff.after);
    // Of a memory of 63 MiB 29 (21 to 38) were told, and 9.78 MB/s for 95, since what came behind the drop counted.
    let cache = &known::<WriteCache>(&findings).expect("it is full before the drop").conclusion;
    assert!((cache.drained / 15e6 - 1.0).abs() < 0.01, "{cache:?}");
    assert!((cache.bytes.value / 200e6 - 1.0).abs() < 0.02 && cache.bytes.covers(200e6), "{cache:?}");
}

/// What a disk with a memory of 200 MB is found to have in batches of so many bytes.
fn memory_found(batches: &[f64]) -> Option<WriteCache> {
    let mut disk = BehindMemory::default();
    for bytes in batches {
        disk.write(*bytes, 500.0);
    }
    let target = sim::open("smr-2tb", 1).unwrap().facts().clone();
    let environment = Environment::default();
    let run =
        RunView { target: &target, environment: &environment, phases: &disk.phases, series: &disk.series };
    known::<WriteCache>(&analyse(&run)).map(|known| known.conclusion.clone())
}

/// It drains at 15 MB/s what comes at 150: in all of the time, and while it fills.
#[test]
fn a_write_cache_holds_what_is_acknowledged_before_it_is_stored() {
    let filled = memory_found(&[300e6; 5]).expect("it is full");
    assert!((filled.bytes.value / 200e6 - 1.0).abs() < 0.01 && filled.bytes.covers(200e6), "{filled:?}");
    assert!((filled.drained / 15e6 - 1.0).abs() < 0.01 && filled.is_full, "{filled:?}");
    assert!((filled.acknowledged.unwrap() / 150e6 - 1.0).abs() < 0.01, "{filled:?}");
    assert!((filled.flush_s - 200.0 / 15.0).abs() < 0.1, "{filled:?}");
    let unfilled = memory_found(&[150e6; 5]).expect("most is left to the flush");
    assert!(!unfilled.is_full && unfilled.bytes.high == f64::INFINITY, "{unfilled:?}");
    assert!((100e6..=150e6).contains(&unfilled.bytes.low), "{unfilled:?}");
    // No more than 32 requests of 128 KiB have to be stored after the last is acknowledged.
    assert_eq!(memory_found(&[4e6; 20]), None);
}

/// How a flash drive went that did not drop for good.
fn no_cliff_of(drive: &Resting) -> NoCliff {
    let target = sim::open("sata-tlc-500gb", 1).unwrap().facts().clone();
    let (environment, series) = (Environment::default(), MemorySeries::default());
    let run = RunView { target: &target, environment: &environment, phases: &drive.phases, series: &series };
    for finding in analyse(&run) {
        if let Finding::WriteCliff(Outcome::Unknown(WriteCliffUnknown::None(none))) = finding {
            return none;
        }
    }
    panic!("no drop that lasts")
}

/// It is no drop for good, but neither did it run at one rate from beginning to end.
#[test]
fn a_rate_that_fell_for_a_while_is_not_said_to_be_even() {
    let mut drive = Resting { written: 0.0, free: 1.5e9, now_s: 0.0, phases: Vec::new() };
    for _ in 0..40 {
        drive.write(50e6);
    }
    drive.free = 1e12;
    for _ in 0..40 {
        drive.write(50e6);
    }
    let none = no_cliff_of(&drive);
    let NoCliffCourse::CameBack { from_bytes, bytes, slow, .. } = none.course else { panic!("{none:?}") };
    assert!((from_bytes / 1.5e9 - 1.0).abs() < 0.003 && (bytes / 500e6 - 1.0).abs() < 0.01, "{none:?}");
    assert!((slow / 250e6 - 1.0).abs() < 0.002, "{none:?}");
}

/// What memory takes in tenths of a second says how busy the machine is, and not how the drive writes.
#[test]
fn what_lasts_for_a_tenth_of_a_second_is_no_drop() {
    let rate = |written: f64, _: usize| if written < 1.1e9 { 7e9 } else { 5e9 };
    assert_eq!(drop(&batches(1.5e9, 0.01, 5, rate)), None);
    assert!(drop(&batches(30e9, 0.01, 5, rate)).is_some());
}

/// A drive that takes the first 60 MB at its link's rate, as any may into its memory, and all the rest at one rate: the drop is told, and
/// what may have caused it.
#[test]
fn a_drop_is_told_beside_its_cause() {
    let mut drive = Resting { written: 0.0, free: 60e6, now_s: 0.0, phases: Vec::new() };
    for _ in 0..100 {
        drive.write(16e6);
    }
    let target = sim::open("sata-tlc-500gb", 1).unwrap().facts().clone();
    let (environment, series) = (Environment::default(), MemorySeries::default());
    let run = RunView { target: &target, environment: &environment, phases: &drive.phases, series: &series };
    let findings = analyse(&run);
    let cliff = &known::<WriteCliff>(&findings).expect("it drops").conclusion;
    assert_eq!(cliff.cause, CliffCause::Buffer);
    assert!((cliff.bytes.value / 60e6 - 1.0).abs() < 0.03, "{cliff:?}");
}

#[test]
fn a_rate_that_comes_back_did_not_drop_for_good() {
    let swings = |_: f64, batch: usize| if batch / 12 % 2 == 1 { 100e6 } else { 300e6 };
    assert_eq!(drop(&batches(60e9, 0.01, 5, swings)), None);
}
