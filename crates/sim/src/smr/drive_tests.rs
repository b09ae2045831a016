//! The drive against what was published of such drives, and against physics.

use super::*;
use crate::disk::profile::{
    GeneratedZones, GeometryProfile, QueueProfile, ReadAheadProfile, SeekProfile, TrackLayout,
    WriteCacheProfile,
};
use crate::profile::plain_facts;
use crate::smr::profile::CleaningOrder;
use crate::smr::truth::{RandomWrites, ShingledTruth};
use model::prng::Prng;
use model::request::Tag;
use model::units::MIB;
use proptest::prelude::*;

pub(super) const TERABYTE: u64 = 1_000_000_000_000;
pub(super) const CACHE: u64 = 23_000_002_560;
pub(super) const BAND: u64 = 30_003_200;
const KIB_128: u64 = 131_072;

/// A disk of 7200 turns a minute, 190 MB/s outside and 90 MB/s inside.
pub(super) fn disk() -> DiskProfile {
    DiskProfile {
        turns_per_minute: 7200.0,
        seek_noise: 0.0,
        head_switch_ms: 0.5,
        write_settle_ms: 0.5,
        command_overhead_ms: 0.2,
        geometry: GeometryProfile {
            sector_bytes: 4096,
            surfaces: 2,
            layout: TrackLayout::FF,
            serpentine_tracks: 140,
            track_skew_turns: 0.08,
            surface_skew_turns: None,
            group_skew_turns: None,
            spare_cylinders_per_zone: 0,
            zones: Vec::new(),
            generated_zones: Some(GeneratedZones {
                zone_count: 24,
                sectors_per_track_outer: 417,
                sectors_per_track_inner: 198,
                cylinders: None,
                surface_densities: Vec::new(),
                surface_spread: 0.0,
                surface_seed: 0,
            }),
        },
        seek: SeekProfile::DataSheet { track_to_track_ms: 1.0, average_ms: 8.5, full_stroke_ms: 17.0 },
        read_ahead: ReadAheadProfile { segments: 16, segment_kib: 2048, ahead_kib: None },
        write_cache: WriteCacheProfile { capacity_kib: 16_384 },
        queue: QueueProfile::default(),
        standby: None,
        defects: Vec::new(),
    }
}

/// A profile whose bands take that long to clean on average over the whole drive: the calibration of METHODS 7.2.
pub(super) fn calibrated(capacity: u64, clean_s: f64) -> SmrProfile {
    let mut smr =
        SmrProfile { cleaning_order: CleaningOrder::RoundRobin, ..SmrProfile::plain(CACHE, 250_000, BAND) };
    let by_mechanism_s = ShingledTruth::new(Bytes(capacity), &disk(), &smr).mean_clean_s(capacity);
    let missing_ms = (clean_s - by_mechanism_s) * 1e3;
    if missing_ms < 0.0 {
        // Quicker than by reading, writing aside and writing: without the safe copy.
        smr.clean_passes = 2;
        return calibrated_with(smr, capacity, clean_s);
    }
    smr.clean_overhead_ms = missing_ms;
    smr
}

fn calibrated_with(mut smr: SmrProfile, capacity: u64, clean_s: f64) -> SmrProfile {
    let by_mechanism_s = ShingledTruth::new(Bytes(capacity), &disk(), &smr).mean_clean_s(capacity);
    smr.clean_overhead_ms = (clean_s - by_mechanism_s) * 1e3;
    smr
}

/// A drive in a closed loop, and what it has answered.
struct Bench {
    drive: SmrDrive,
    now: Instant,
    written_bytes: u64,
}

impl Bench {
    fn new(capacity: u64, disk: &DiskProfile, smr: &SmrProfile) -> Bench {
        assert_eq!(smr.check_with(disk, Bytes(capacity)), Ok(()));
        let mut facts = plain_facts("sim:test", Bytes(capacity));
        facts.discard_max = Some(Bytes(1 << 30));
        Bench { drive: SmrDrive::new(facts, disk, smr, 1), now: Instant(0), written_bytes: 0 }
    }

    fn seconds(&self) -> f64 {
        self.now.0 as f64 / 1e9
    }

    /// One request, alone; how long it took in seconds.
    fn alone(&mut self, operation: Operation, offset_bytes: u64, length_bytes: u64) -> f64 {
        let begin = self.now;
        let length_bytes = length_bytes as u32;
        self.drive.submit(Request { tag: Tag(0), operation, offset_bytes, length_bytes }, self.now);
        let answer = loop {
            self.now = self.drive.next_completion_at().expect("a request is under way").max(self.now);
            if let Some(answer) = self.drive.take_completion(self.now) {
                break answer;
            }
        };
        assert_eq!(answer.status, Status::Done);
        self.written_bytes += if operation == Operation::Write { length_bytes as u64 } else { 0 };
        (self.now.0 - begin.0) as f64 / 1e9
    }

    fn idle(&mut self, seconds: f64) {
        self.now = Instant(self.now.0 + (seconds * 1e9) as u64);
    }

    /// Random writes one after the other until `bytes` more were written; bytes per second.
    fn write_random(&mut self, prng: &mut Prng, span: u64, request_bytes: u64, bytes: u64) -> f64 {
        let (begin_s, places) = (self.seconds(), span / request_bytes);
        for _ in 0..bytes / request_bytes {
            self.alone(Operation::Write, prng.below(places) * request_bytes, request_bytes);
        }
        (bytes / request_bytes * request_bytes) as f64 / (self.seconds() - begin_s)
    }

    /// Writes or reads a stretch in requests of 1 MiB; bytes per second.
    fn in_order(&mut self, operation: Operation, first: u64, bytes: u64) -> f64 {
        let begin_s = self.seconds();
        for offset in (first..first + bytes).step_by(MIB as usize) {
            self.alone(operation, offset, MIB.min(first + bytes - offset));
        }
        bytes as f64 / (self.seconds() - begin_s)
    }

    /// Random writes until the rate of 400 requests falls below half of the one before: how much was written by then.
    fn write_until_cliff(&mut self, prng: &mut Prng, span: u64, request_bytes: u64) -> f64 {
        self.write_random(prng, span, request_bytes, self.drive.buffer_bytes() + 400 * request_bytes);
        let before = self.write_random(prng, span, request_bytes, 2000 * request_bytes);
        while self.write_random(prng, span, request_bytes, 400 * request_bytes) > before / 2.0 {}
        self.written_bytes as f64
    }
}

impl SmrDrive {
    fn buffer_bytes(&self) -> u64 {
        16 * MIB
    }
}

fn assert_near(value: f64, expected: f64, share: f64, what: &str) {
    assert!((value / expected - 1.0).abs() < share, "{what}: {value} instead of {expected}");
}

/// Article D: 15 MB/s until 23 GB, then 0.6 MB/s. METHODS 7.2: a 2 TB drive with bands of 30 MB that take 0.93 s to
/// clean, which is a calibration.
#[test]
fn the_cliff_is_where_it_was_measured() {
    let smr = calibrated(2 * TERABYTE, 0.93);
    let mut bench = Bench::new(2 * TERABYTE, &disk(), &smr);
    let mut prng = Prng::new(3, 0);
    let before = bench.write_random(&mut prng, 2 * TERABYTE, KIB_128, 22_000_000_000);
    assert_near(before, 15.0e6, 0.01, "before the cliff");
    while bench.write_random(&mut prng, 2 * TERABYTE, KIB_128, 100 * KIB_128) > before / 2.0 {}
    assert_near(bench.written_bytes as f64, 23.0e9, 0.02, "the cliff");
    let after = bench.write_random(&mut prng, 2 * TERABYTE, KIB_128, 39_500_000_000);
    assert_near(after, 0.6e6, 0.03, "after the cliff");
}

/// The rate over the first round of cleaning, for spans and cleaning times of METHODS 7.2.
fn rate_after_cliff(capacity: u64, span: u64, clean_s: f64, round_bytes: u64) -> (f64, f64) {
    let smr = calibrated(capacity, clean_s);
    let writes = RandomWrites { request_bytes: KIB_128, span_bytes: span };
    let truth = ShingledTruth::new(Bytes(capacity), &disk(), &smr);
    let mut bench = Bench::new(capacity, &disk(), &smr);
    let mut prng = Prng::new(4, 0);
    bench.write_until_cliff(&mut prng, span, KIB_128);
    let rate = bench.write_random(&mut prng, span, KIB_128, round_bytes);
    (rate, truth.rate_after_cliff(writes, round_bytes as f64))
}

#[test]
fn cleaning_time_and_span_decide_the_rate_after_the_cliff() {
    for (clean_s, published) in [(0.55, 0.99e6), (1.1, 0.51e6)] {
        let (rate, truth) = rate_after_cliff(2 * TERABYTE, 2 * TERABYTE, clean_s, 39_500_000_000);
        assert_near(rate, published, 0.04, "2 TB");
        assert_near(truth, rate, 0.02, "the closed form");
    }
    let (rate, truth) = rate_after_cliff(8 * TERABYTE, 8 * TERABYTE, 0.55, 39_500_000_000);
    assert_near(rate, 0.26e6, 0.04, "8 TB");
    assert_near(truth, rate, 0.02, "the closed form for 8 TB");
}
