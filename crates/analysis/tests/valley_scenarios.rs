//! Writing of our own making, of which we know when its rate dips: what must be found of valleys, and where nothing must be.

use analysis::analyse;
use model::finding::{
    Finding, FindingCode, Outcome, RecurringValleys, ValleyPattern, ValleyTrigger, WriteValleys,
    WriteValleysUnknown,
};
use model::histogram::LatencyHistogram;
use model::plan::{Phase, PhaseKind, StopCondition, StopReason};
use model::prng::Prng;
use model::range::ByteRange;
use model::record::{INTERVAL_NS, IntervalRecord};
use model::request::Operation;
use model::run::{Environment, MemorySeries, OperationTotals, PhaseSummary, RunView};
use model::target::TargetFacts;
use model::units::{Bytes, Offset};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};
use std::collections::BTreeSet;

const BLOCK: Bytes = Bytes::from_kib(64);
const RATE: f64 = 100e6;
const PASS: Bytes = Bytes::from_gib(20);

/// When the rate of writing dips.
#[derive(Clone, Copy, Debug)]
enum Dips {
    None,
    /// After so many seconds of writing, which differ by that share at most.
    Time(f64, f64),
    /// After so many bytes, likewise.
    Bytes(f64, f64),
    /// From there on in each pass.
    Places(f64),
    /// So many bytes behind the beginning of each pass, wherever that is.
    Starts(f64),
    /// At random, so many seconds apart on average.
    Random(f64),
    /// After so many seconds, also while reading.
    Always(f64),
}

/// A drive that is written in slices of 40 ms.
struct Writing {
    dips: Dips,
    width_s: f64,
    depth: f64,
    /// Standard deviation of the rate from slice to slice.
    noise: f64,
    prng: Prng,
    now_s: f64,
    written_s: f64,
    written: f64,
    due: f64,
    until_s: f64,
    begun: Vec<f64>,
    /// Where the phase under way begins.
    first: f64,
    phases: Vec<PhaseSummary>,
    series: MemorySeries,
}

impl Writing {
    fn new(dips: Dips, width_s: f64, depth: f64, noise: f64, seed: u64) -> Writing {
        let mut writing = Writing {
            dips,
            width_s,
            depth,
            noise,
            prng: Prng::new(seed, 1),
            now_s: 0.0,
            written_s: 0.0,
            written: 0.0,
            due: 0.0,
            until_s: -1.0,
            begun: Vec::new(),
            first: 0.0,
            phases: Vec::new(),
            series: MemorySeries::default(),
        };
        writing.due = writing.next_due();
        writing
    }

    fn next_due(&mut self) -> f64 {
        let even = 2.0 * self.prng.unit() - 1.0;
        match self.dips {
            Dips::None | Dips::Places(_) | Dips::Starts(_) => f64::INFINITY,
            Dips::Time(mean, jitter) => self.written_s + mean * (1.0 + jitter * even),
            Dips::Bytes(mean, jitter) => self.written + mean * (1.0 + jitter * even),
            Dips::Random(mean) => self.written_s - mean * (1.0 - self.prng.unit()).ln(),
            Dips::Always(mean) => self.now_s + mean * (1.0 + 0.02 * even),
        }
    }

    /// One millisecond at that rate, of writing or not; the bytes.
    fn millisecond(&mut self, rate: f64, writes: bool, passed: f64) -> f64 {
        let clock = match self.dips {
            Dips::Bytes(..) => self.written,
            Dips::Always(_) => self.now_s,
            _ => self.written_s,
        };
        let is_due = clock >= self.due && (writes || matches!(self.dips, Dips::Always(_)));
        let place = match self.dips {
            Dips::Places(at) => at,
            Dips::Starts(behind) => self.first + behind,
            _ => f64::INFINITY,
        };
        let is_place = writes && passed < place && passed + RATE.min(rate) * 1e-3 >= place;
        if (is_due || is_place) && self.now_s >= self.until_s {
            self.until_s = self.now_s + self.width_s;
            self.begun.push(self.now_s);
            self.due = self.next_due();
        }
        let share = if self.now_s < self.until_s { self.depth } else { 1.0 };
        let bytes = RATE.min(rate).min(RATE * share) * 1e-3;
        self.now_s += 1e-3;
        if writes {
            self.written_s += 1e-3;
            self.written += bytes;
        }
        bytes
    }

    /// A phase that ends after so many bytes, or so many seconds.
    fn run(&mut self, operation: Operation, rate: Option<f64>, bytes_max: f64, seconds_max: f64) {
        self.run_from(0.0, operation, rate, bytes_max, seconds_max);
    }

    /// The same, from there on in the area.
    fn run_from(
        &mut self,
        first: f64,
        operation: Operation,
        rate: Option<f64>,
        bytes_max: f64,
        seconds_max: f64,
    ) {
        let phase = self.phases.len() as u32;
        let start_s = self.now_s;
        self.first = first;
        let (mut moved, mut carried) = (first, 0.0);
        while moved < bytes_max && self.now_s - start_s < seconds_max {
            let slice_s = self.now_s;
            let mut slice = 0.0;
            for _ in 0..40 {
                slice += self.millisecond(
                    rate.unwrap_or(f64::INFINITY),
                    operation == Operation::Write,
                    moved + slice,
                );
            }
            // Requests are whole; what is not goes into the next slice. Noise of hosts comes in the number of requests.
            let shaken = slice
                * (1.0 + self.noise * (self.prng.unit() + self.prng.unit() + self.prng.unit() - 1.5) * 2.0);
            let requests = ((shaken + carried) / BLOCK.as_f64()).floor().max(0.0);
            carried += shaken - requests * BLOCK.as_f64();
            self.series.intervals.push(IntervalRecord {
                phase,
                operation,
                start_ns: (slice_s * 1e9) as u64,
                duration_ns: INTERVAL_NS,
                operations: requests as u64,
                bytes: requests as u64 * BLOCK.get(),
                errors: 0,
                offset_first: moved as u64,
                offset_end: (moved + slice) as u64,
                latency: None,
            });
            moved += slice;
        }
        self.end(operation, rate, first, moved - first, start_s);
    }

    fn end(&mut self, operation: Operation, rate: Option<f64>, first: f64, moved: f64, start_s: f64) {
        let mix = if operation == Operation::Write { OperationMix::Write } else { OperationMix::Read };
        let arrival = rate.map_or(Arrival::ClosedLoop, |rate| Arrival::OpenLoop {
            per_second: rate / BLOCK.as_f64(),
            spacing: Spacing::Even,
        });
        let range = ByteRange::new(Offset::new(first as u64), Bytes::new(PASS.get() - first as u64))
            .expect("a part of it");
        let workload = Workload { arrival, ..Workload::new(range, Pattern::Sequential, mix, BLOCK, 1) };
        let mut histogram = LatencyHistogram::default();
        let operations = (moved / BLOCK.as_f64()) as u64;
        (0..operations).for_each(|_| histogram.record(650_000));
        let totals = OperationTotals {
            operation,
            operations,
            bytes: moved as u64,
            errors: 0,
            histogram,
            stretch: None,
        };
        self.phases.push(PhaseSummary {
            duration_ns: ((self.now_s - start_s) * 1e9) as u64,
            stopped: Some(StopReason::Passes),
            totals: vec![totals],
            ..PhaseSummary::begun(
                Phase {
                    name: String::new(),
                    experiment: "valleys".into(),
                    kind: PhaseKind::Measure,
                    workload: Some(workload),
                    stop: StopCondition::one_pass(),
                },
                (start_s * 1e9) as u64,
            )
        });
    }

    /// Three passes, a slowed one, and reading for eight minutes.
    fn passes(&mut self) -> usize {
        for rate in [None, Some(0.6 * RATE), None] {
            self.run(Operation::Write, rate, PASS.as_f64(), f64::INFINITY);
        }
        let before = self.begun.len();
        self.run(Operation::Write, None, PASS.as_f64(), f64::INFINITY);
        let in_last = self.begun.len() - before;
        self.run(Operation::Read, None, f64::INFINITY, 480.0);
        in_last
    }

    fn finding(&self) -> Finding {
        let target =
            TargetFacts { rotational: Some(false), ..sim::open("constant", 1).unwrap().facts().clone() };
        let environment = Environment::default();
        let view = RunView {
            target: &target,
            environment: &environment,
            phases: &self.phases,
            series: &self.series,
        };
        let findings = analyse(&view);
        findings
            .into_iter()
            .find(|finding| finding.code() == FindingCode::WriteValleys)
            .expect("it was asked")
    }
}

fn recurring(finding: &Finding) -> &RecurringValleys {
    match finding.as_known::<WriteValleys>().map(|known| &known.conclusion.pattern) {
        Some(ValleyPattern::Recurring(recurring)) => recurring,
        _ => panic!("{finding:?}"),
    }
}

fn value(finding: &Finding) -> Option<f64> {
    finding.estimate().map(|estimate| estimate.value)
}

/// The number is exact unless a dip lies across the border of two passes, the gap right to 5 %, the width to 20 %.
#[test]
fn valleys_are_counted_and_measured() {
    let mut wrong = BTreeSet::new();
    for seed in 0..24 {
        let mut draw = Prng::new(seed, 2);
        let (gap_s, width_s) = (25.0 + 50.0 * draw.unit(), 0.08 + 0.9 * draw.unit());
        let (depth, jitter) = (0.4 * draw.unit(), 0.02 + 0.08 * draw.unit());
        let by_time = seed % 2 == 0;
        let dips = if by_time { Dips::Time(gap_s, jitter) } else { Dips::Bytes(gap_s * RATE, jitter) };
        let mut writing = Writing::new(dips, width_s, depth, 0.01, seed);
        let count = writing.passes();
        let finding = writing.finding();
        let said = format!("seed {seed}: {finding:?}");
        if value(&finding) != Some(count as f64) {
            wrong.insert(format!("{count} in {said}"));
            continue;
        }
        let found = recurring(&finding);
        let (gap, is, by) = if by_time {
            (found.interval_s, gap_s, ValleyTrigger::Time)
        } else {
            (found.interval_bytes, gap_s * RATE, ValleyTrigger::Bytes)
        };
        let is_right =
            (gap / is - 1.0).abs() <= 0.05 && (found.width_s / width_s - 1.0).abs() <= 0.2 && found.by == by;
        if !is_right {
            wrong.insert(format!("{is}, {width_s} s, {by:?} in {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// No value where nothing recurs: nothing at all, dips at random, at places, or of somebody else; 40 runs of each.
#[test]
fn no_valleys_where_there_are_none() {
    for seed in 0..40 {
        let noise = 0.002 * (seed % 20) as f64;
        for dips in [Dips::None, Dips::Random(40.0), Dips::Random(8.0), Dips::Always(20.0)] {
            let mut writing = Writing::new(dips, 0.3, 0.2, noise, seed);
            writing.passes();
            let finding = writing.finding();
            assert!(value(&finding).is_none_or(|count| count == 0.0), "{dips:?}, seed {seed}: {finding:?}");
            if matches!(dips, Dips::None) {
                assert_eq!(value(&finding), Some(0.0), "{dips:?}, seed {seed}: {finding:?}");
            }
        }
    }
}

fn by(finding: &Finding) -> ValleyTrigger {
    match finding.as_known::<WriteValleys>().map(|known| &known.conclusion.pattern) {
        Some(ValleyPattern::Recurring(recurring)) => recurring.by,
        Some(ValleyPattern::AtOffsets(at)) => at.by,
        _ => panic!("{finding:?}"),
    }
}

fn why(finding: &Finding) -> &WriteValleysUnknown {
    match finding {
        Finding::WriteValleys(Outcome::Unknown(why)) => why,
        _ => panic!("{finding:?}"),
    }
}

/// Passes at full rate, the second of four slowed and from 3 GB on, as `valleys` makes them; or all from the start of the area.
fn passes_from(dips: Dips, first: f64, seed: u64) -> Finding {
    let mut writing = Writing::new(dips, 0.3, 0.2, 0.01, seed);
    let whole = PASS.as_f64();
    writing.run(Operation::Write, None, whole, f64::INFINITY);
    writing.run_from(first, Operation::Write, Some(0.6 * RATE), whole, f64::INFINITY);
    for _ in 0..2 {
        writing.run(Operation::Write, None, whole, f64::INFINITY);
    }
    writing.run(Operation::Read, None, f64::INFINITY, 480.0);
    writing.finding()
}

/// One slow place in each pass is one valley, bound to its place: a pass that began elsewhere met it there.
#[test]
fn a_slow_place_is_told_as_one() {
    for seed in 0..8 {
        let told = passes_from(Dips::Places(7e9), 3e9, seed);
        assert_eq!((value(&told), by(&told)), (Some(1.0), ValleyTrigger::Place), "seed {seed}: {told:?}");
        let open = passes_from(Dips::Places(7e9), 0.0, seed);
        assert_eq!((value(&open), by(&open)), (Some(1.0), ValleyTrigger::Unknown), "seed {seed}: {open:?}");
    }
}

/// What comes of going back to the beginning of a pass is no valley, where a pass that begins elsewhere tells that; else it may be a slow place.
#[test]
fn what_comes_of_going_back_is_no_valley() {
    for seed in 0..8 {
        let told = passes_from(Dips::Starts(3e7), 3e9, seed);
        assert_eq!(value(&told), Some(0.0), "seed {seed}: {told:?}");
        let open = passes_from(Dips::Starts(3e7), 0.0, seed);
        assert!(matches!(why(&open), WriteValleysUnknown::AtStart { .. }), "seed {seed}: {open:?}");
    }
}

/// A pass is five times what is written from one stall to the next: they are at the same places, until a pass begins elsewhere.
#[test]
fn stalls_by_bytes_are_no_slow_places() {
    let every = PASS.as_f64() / 5.0;
    for seed in 0..8 {
        let told = passes_from(Dips::Bytes(every, 0.0), 0.382 * every, seed);
        assert_eq!(by(&told), ValleyTrigger::Bytes, "seed {seed}: {told:?}");
        let open = passes_from(Dips::Bytes(every, 0.0), 0.0, seed);
        assert_eq!(by(&open), ValleyTrigger::Unknown, "seed {seed}: {open:?}");
        assert!(value(&open).is_some_and(|count| count >= 4.0), "seed {seed}: {open:?}");
    }
}

/// Somebody else holds up writing and reading, but reading is so uneven that nobody could see it there: that is no comparison.
#[test]
fn reading_that_is_too_uneven_compares_nothing() {
    let mut writing = Writing::new(Dips::Always(20.0), 0.3, 0.2, 0.01, 3);
    for rate in [None, Some(0.6 * RATE), None] {
        writing.run(Operation::Write, rate, PASS.as_f64(), f64::INFINITY);
    }
    writing.noise = 0.6;
    writing.run(Operation::Read, None, f64::INFINITY, 480.0);
    let finding = writing.finding();
    assert_eq!(*why(&finding), WriteValleysUnknown::NotCompared);
}

/// Somebody else takes a quarter of the rate of writing and none of reading, every 8 s: a slowed pass has room for both.
#[test]
fn what_a_slowed_pass_cannot_show_is_not_the_drives() {
    let mut writing = Writing::new(Dips::Always(8.1), 0.44, 0.73, 0.01, 4);
    for rate in [None, Some(0.6 * RATE), None] {
        writing.run(Operation::Write, rate, PASS.as_f64(), f64::INFINITY);
    }
    writing.depth = 1.0;
    writing.run(Operation::Read, None, f64::INFINITY, 480.0);
    let finding = writing.finding();
    let WriteValleysUnknown::Shallow { depth_ratio } = why(&finding) else { panic!("{finding:?}") };
    assert!((depth_ratio - 0.73).abs() < 0.02, "{depth_ratio}");
}

/// A pass of many hours is told as one of minutes is.
#[test]
fn a_million_slices_are_told_in_one_pass() {
    let mut writing = Writing::new(Dips::Time(60.0, 0.05), 0.5, 0.1, 0.01, 1);
    writing.run(Operation::Write, None, f64::INFINITY, 400.0);
    let slices = writing.series.intervals.clone();
    let period_ns = slices.len() as u64 * INTERVAL_NS;
    let repeats = 1_000_000 / slices.len() as u64;
    let all = (0..repeats).flat_map(|round| {
        slices
            .iter()
            .map(move |slice| IntervalRecord { start_ns: slice.start_ns + round * period_ns, ..*slice })
    });
    writing.series.intervals = all.collect();
    writing.phases[0].duration_ns = repeats * period_ns;
    let story = analysis::valley::Story::of(&RunView {
        target: sim::open("constant", 1).unwrap().facts(),
        environment: &Environment::default(),
        phases: &writing.phases,
        series: &writing.series,
    });
    assert!(story.count() > 100, "{}", story.count());
}
