//! Scores what a survey of the surface finds against the truth of hard disks that a seed drew: how often the 95 % intervals hold it,
//! how far off the values are, which zones are found, and that nothing is found where nothing is.
//!
//! The tests that run always take few drives. The figures for 500:
//! `cargo test -p judge --release --test scores surface_map -- --ignored --nocapture`.

use crate::bench::Bench;
use analysis::analyse;
use analysis::surface::{SurfaceMap, Visit};
use model::finding::{Finding, FindingCode};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::Operation;
use model::units::Bytes;
use model::workload::OperationMix;
use sim::truth::Truth;

/// Those with a truth and an interval.
const SCORED: [FindingCode; 5] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::ZoneRatio,
    FindingCode::FullPassTime,
];
/// A zone step that is to be found, a border's precision as a share of the capacity, and a rate's.
const STEP: f64 = 0.02;
const BORDER: f64 = 0.005;
const RATE: f64 = 0.01;

/// How visits are made: all over the drive, at each edge, and rounds that refine.
#[derive(Clone, Copy)]
struct Effort {
    spread: u64,
    edge: u64,
    rounds: usize,
}

/// About a minute of a disk's time, and about five.
const MINUTE: Effort = Effort { spread: 800, edge: 60, rounds: 0 };
const FIVE_MINUTES: Effort = Effort { spread: 3000, edge: 100, rounds: 5 };

#[derive(Default)]
struct Scores {
    values: [(u32, Vec<f64>); SCORED.len()],
    steps: u32,
    steps_found: u32,
    levels: u32,
    levels_off: u32,
    alarms: u32,
    /// Disks of which it is said that somebody else used them.
    loaded: Vec<u64>,
}

/// First byte and rate of the zones.
fn zones(truths: &[Truth]) -> Option<Vec<(u64, f64)>> {
    let table = truths.iter().find(|truth| truth.code == FindingCode::ZoneTable)?;
    Some(table.data.zones().iter().map(|zone| (zone.first_byte, zone.bytes_per_second)).collect())
}

impl Scores {
    fn of(seeds: std::ops::Range<u64>, effort: Effort) -> Scores {
        let mut scores = Scores::default();
        for seed in seeds {
            let name = format!("random-hard-disk-{seed}");
            let truths = sim::truth::truth(&name).unwrap();
            // Of disks that lose turns between commands no rate is told.
            let told =
                SCORED.map(|code| truths.iter().find(|truth| truth.code == code).and_then(Truth::value));
            let (Some(zones), true) = (zones(&truths), told.iter().all(Option::is_some)) else { continue };
            let mut bench = Bench::new(sim::open(&name, seed + 1).unwrap(), seed + 2);
            bench.surface(bench.whole(), OperationMix::Read, effort.spread, effort.edge, effort.rounds);
            scores.add_values(&analyse(&bench.view()), told.map(|told| told.unwrap_or_default()), seed);
            let map = SurfaceMap::of(&bench.view(), Operation::Read).unwrap();
            scores.loaded.extend(map.other_load().map(|_| seed));
            scores.add_zones(&map, &zones);
        }
        scores
    }

    fn add_values(&mut self, findings: &[Finding], told: [f64; SCORED.len()], seed: u64) {
        for (index, code) in SCORED.into_iter().enumerate() {
            let estimate = findings.iter().find(|finding| finding.code() == code).and_then(Finding::estimate);
            let estimate = estimate.unwrap_or_else(|| panic!("{} of {seed} is not known", code.name()));
            self.values[index].0 += u32::from(estimate.covers(told[index]));
            self.values[index].1.push((estimate.value / told[index] - 1.0).abs());
        }
        let is_value = |code: FindingCode| {
            let finding = findings.iter().find(|finding| finding.code() == code);
            finding.and_then(Finding::estimate).is_some_and(|estimate| estimate.value != 0.0)
        };
        self.alarms += u32::from(is_value(FindingCode::SlowRegions));
    }

    fn add_zones(&mut self, map: &SurfaceMap, zones: &[(u64, f64)]) {
        let near = map.range.bytes().as_f64() * BORDER;
        for pair in zones.windows(2) {
            if (pair[0].1 / pair[1].1 - 1.0).abs() <= STEP {
                continue;
            }
            self.steps += 1;
            let found =
                map.levels[1..].iter().any(|level| level.first_byte.abs_diff(pair[1].0) as f64 <= near);
            self.steps_found += u32::from(found);
        }
        for level in &map.levels {
            let middle = level.first_byte + level.bytes / 2;
            let zone = zones.iter().rev().find(|zone| zone.0 <= middle).unwrap();
            self.levels += 1;
            self.levels_off += u32::from((level.seconds_per_byte.value * zone.1 - 1.0).abs() > RATE);
        }
    }

    fn covered(&self, index: usize) -> f64 {
        f64::from(self.values[index].0) / self.values[index].1.len() as f64
    }

    fn print(&self) {
        for (index, code) in SCORED.into_iter().enumerate() {
            let mut errors = self.values[index].1.clone();
            errors.sort_by(f64::total_cmp);
            let at = |share: f64| 100.0 * errors[((errors.len() - 1) as f64 * share) as usize];
            println!(
                "{:16} {} disks  covered {:5.1} %  error: median {:.3} %, 95 % {:.3} %, largest {:.3} %",
                code.name(),
                errors.len(),
                100.0 * self.covered(index),
                at(0.5),
                at(0.95),
                at(1.0)
            );
        }
        println!(
            "steps over 2 %: {} of {} found within 0.5 % of the capacity; {} of {} levels off by more than 1 %; {} with slow regions; \
             other load on {:?}, which had none",
            self.steps_found, self.steps, self.levels_off, self.levels, self.alarms, self.loaded
        );
    }
}

#[test]
fn a_minute_tells_the_rates_and_most_zones_of_disks() {
    let scores = Scores::of(0..12, MINUTE);
    scores.print();
    for (index, code) in SCORED.into_iter().enumerate() {
        println!("{}", code.name());
        assert!(scores.covered(index) >= 0.75 && scores.values[index].1.iter().all(|error| *error < 0.02));
    }
    assert!(f64::from(scores.steps_found) > 0.75 * f64::from(scores.steps));
    assert_eq!(scores.loaded, [0; 0]);
}

#[test]
#[ignore = "some seconds in release, minutes without: see the head of this file"]
fn five_hundred_disks() {
    let minute = Scores::of(9000..9500, MINUTE);
    minute.print();
    for (index, code) in SCORED.into_iter().enumerate() {
        assert!((0.925..=0.99).contains(&minute.covered(index)), "{}", code.name());
    }
    assert_eq!(minute.loaded, [0; 0]);
    let longer = Scores::of(9000..9100, FIVE_MINUTES);
    longer.print();
    assert!(f64::from(longer.steps_found) >= 0.97 * f64::from(longer.steps));
}

/// Visits to a drive that is the same everywhere, with noise of 2 %.
fn noise_alone(seed: u64, visits: u64) -> SurfaceMap {
    let mut prng = Prng::new(seed, 0);
    let range = ByteRange::whole(Bytes::new(4_000_000_000_000));
    let visit = |number: u64, prng: &mut Prng| Visit {
        phase: number as u32,
        first_byte: prng.below(range.bytes().get() - (16 << 20)),
        bytes: 8 << 20,
        seconds_per_byte: 1e-8 * (1.0 + 0.02 * prng.normal()),
        start_ns: number * 60_000_000,
        longest_ns: 0,
    };
    let visits = (0..visits).map(|number| visit(number, &mut prng)).collect();
    SurfaceMap::of_visits(range, visits)
}

fn count_of_noise(seeds: u64) {
    for seed in 0..seeds {
        let map = noise_alone(seed, 1000);
        assert_eq!((map.levels.len(), map.slow_places.len(), map.suspects().len()), (1, 0, 0), "seed {seed}");
        assert!((map.noise / 0.02 - 1.0).abs() < 0.15, "{}", map.noise);
    }
}

#[test]
fn noise_alone_has_no_zones() {
    count_of_noise(40);
}

#[test]
#[ignore = "see the head of this file"]
fn noise_alone_has_no_zones_in_500_runs() {
    count_of_noise(500);
}

fn nothing_where_nothing_is(seeds: u64, effort: Effort) {
    let alarming = [
        FindingCode::ZoneCount,
        FindingCode::ZoneTable,
        FindingCode::InterfaceLimit,
        FindingCode::SlowRegions,
    ];
    for name in ["null", "constant"] {
        for seed in 0..seeds {
            let mut bench = Bench::new(sim::open(name, seed).unwrap(), seed + 1);
            bench.surface(bench.whole(), OperationMix::Read, effort.spread, effort.edge, effort.rounds);
            for finding in analyse(&bench.view()) {
                let value = finding.estimate().map_or(0.0, |estimate| estimate.value);
                assert!(!alarming.contains(&finding.code()) || value == 0.0, "{name} {seed}: {finding:?}");
            }
        }
    }
}

#[test]
fn nothing_is_found_on_drives_with_nothing_to_find() {
    nothing_where_nothing_is(3, Effort { spread: 200, edge: 20, rounds: 1 });
}

#[test]
#[ignore = "see the head of this file"]
fn nothing_is_found_in_500_runs() {
    nothing_where_nothing_is(500, Effort { spread: 400, edge: 30, rounds: 1 });
}
