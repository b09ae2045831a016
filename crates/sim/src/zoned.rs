//! A plain disk: zones of constant rate, a seek that grows with distance, rotational latency, one arm with a queue.
//!
//! A request that continues where the last one ended costs its bytes at the zone's rate. Any other one costs
//! overhead + seek(distance) + a uniform rotational latency besides. The arm takes the nearest request of its queue
//! first, by distance alone, so that a deeper queue gains by shorter seeks and may keep a far request waiting.
//!
//! Distance is a share of the capacity and takes `single + root·√x + linear·x` (Lee's form): over two uniform
//! offsets `single + 8/15·root + 1/3·linear` on average, since |x − y| has the density 2(1 − x).

use crate::flaw::{Flaw, InSection};
use crate::profile::schema::section;
use crate::{Drive, answer_within, first_at};
use model::prng::Prng;
use model::request::{Completion, Operation, Request};
use model::target::TargetFacts;
use model::units::Instant;
use std::collections::VecDeque;

section! {
    #[derive(Copy)]
    Zone at "[[zoned.zones]]" = "A region of constant sequential throughput." {
        first_byte: u64 => "Start offset; it ends where the next one starts.";
        bytes_per_second: f64, in 1e3..=1e11 => "Sequential throughput.";
    }
}

section! {
    ZonedProfile at "[zoned]" = "A disk described by throughput only." {
        capacity_bytes: u64, in 1..=1_125_899_906_842_624.0 => "Capacity.";
        zones: Vec<Zone> => "Zones by offset, the first at 0.";
        overhead_s: f64, in 0..=10 => "Fixed cost of a seek.";
        seek_single_s: f64, in 0..=10 => "Shortest seek time.";
        seek_root_s: f64, in 0..=10 => "Part proportional to the square root of the distance, at full stroke.";
        seek_linear_s: f64, in 0..=10 => "Part proportional to the distance, at full stroke.";
        rotation_s: f64, in 0..=10 => "Rotation period.";
        // Cut at 4 standard deviations, a transfer still takes time.
        transfer_jitter: f64 = 0.0, in 0..=0.2 => "Standard deviation of a transfer time, as a share of it.";
    }
}

const ZONES_MAX: usize = 10_000;

impl ZonedProfile {
    /// A disk that `seed` draws within what was sold: 80 GB to 4 TB, 15 to 60 zones, 60 to 280 MB/s outside.
    pub fn random(seed: u64) -> ZonedProfile {
        let mut prng = Prng::new(seed, 0x7a6f_6e65);
        let mut between = |low: f64, high: f64| low + (high - low) * prng.unit();
        let capacity_bytes = (80e9 * between(0.0, 50f64.ln()).exp()) as u64 / 1_048_576 * 1_048_576;
        let outer = between(60e6, 280e6);
        let inner = outer / between(1.7, 2.25);
        let zone_count = between(15.0, 61.0) as usize;
        let turns_per_minute = [5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0][between(0.0, 5.0) as usize];
        let stroke_s = between(8e-3, 22e-3);
        let root_share = between(0.3, 0.8);
        let (overhead_s, seek_single_s) = (between(0.1e-3, 0.3e-3), between(0.4e-3, 1.2e-3));
        let transfer_jitter = between(0.0, 0.03);
        let mut cuts = vec![0.0; zone_count];
        for cut in &mut cuts[1..] {
            *cut = between(0.2, 0.8);
        }
        ZonedProfile {
            capacity_bytes,
            overhead_s,
            seek_single_s,
            seek_root_s: stroke_s * root_share,
            seek_linear_s: stroke_s * (1.0 - root_share),
            rotation_s: 60.0 / turns_per_minute,
            transfer_jitter,
            zones: zones_between(capacity_bytes, outer, inner, &cuts),
        }
    }

    pub fn check(&self) -> Result<(), Flaw> {
        self.check_bounds()?;
        if !(1..=ZONES_MAX).contains(&self.zones.len()) {
            return Err(Flaw::new("zones", format!("there are 1 to {ZONES_MAX}")));
        }
        for (index, zone) in self.zones.iter().enumerate() {
            let is_in_order = match index.checked_sub(1) {
                None => zone.first_byte == 0,
                Some(before) => zone.first_byte > self.zones[before].first_byte,
            };
            if !is_in_order || zone.first_byte >= self.capacity_bytes {
                let reason =
                    "the first begins at 0, each other after the one before it and within the capacity";
                return Err(Flaw::new(format!("zones.{index}.first_byte"), reason));
            }
            zone.check_bounds().in_section(&format!("zones.{index}"))?;
        }
        Ok(())
    }

    pub fn seek_s(&self, distance_bytes: u64) -> f64 {
        let share = distance_bytes as f64 / self.capacity_bytes as f64;
        self.seek_single_s + self.seek_root_s * share.sqrt() + self.seek_linear_s * share
    }

    /// Seconds to transfer an extent that may cross zones; past the last zone's start its rate holds.
    pub fn transfer_s(&self, first_byte: u64, bytes: u64) -> f64 {
        let end = first_byte + bytes;
        let mut zone = self.zones.partition_point(|zone| zone.first_byte <= first_byte) - 1;
        let (mut at, mut seconds) = (first_byte, 0.0);
        while at < end {
            let zone_end = self.zones.get(zone + 1).map_or(u64::MAX, |next| next.first_byte);
            seconds += (end.min(zone_end) - at) as f64 / self.zones[zone].bytes_per_second;
            (at, zone) = (end.min(zone_end), zone + 1);
        }
        seconds
    }
}

/// Zones whose rates fall as the radius does when tracks are equally dense:
/// r(f) = √(r0² − f·(r0² − r1²)) at the share f of the capacity, from `outer` in the first to `inner` in the last.
/// Each cut says where between its neighbours' middles the border before a zone lies, in [0, 1].
fn zones_between(capacity_bytes: u64, outer: f64, inner: f64, cuts: &[f64]) -> Vec<Zone> {
    let mut zones = Vec::with_capacity(cuts.len());
    for (index, cut) in cuts.iter().enumerate() {
        let depth = index as f64 / (cuts.len() - 1) as f64;
        let border = (index as f64 - 0.5 + cut) / cuts.len() as f64;
        zones.push(Zone {
            first_byte: if index == 0 { 0 } else { ((capacity_bytes as f64 * border) as u64) / 4096 * 4096 },
            bytes_per_second: (outer * outer - depth * (outer * outer - inner * inner)).sqrt(),
        });
    }
    zones
}

pub struct ZonedDrive {
    facts: TargetFacts,
    profile: ZonedProfile,
    prng: Prng,
    head_byte: u64,
    queue: Vec<Request>,
    in_service: Option<(Request, Instant)>,
    /// The part of a nanosecond by which the service ends later than its whole one says.
    fraction_ns: f64,
    done: VecDeque<Completion>,
}

impl ZonedDrive {
    /// A disk at rest with its head at the start. `seed` draws rotational latencies and the jitter.
    pub fn new(facts: TargetFacts, profile: ZonedProfile, seed: u64) -> ZonedDrive {
        assert!(profile.zones.first().is_some_and(|zone| zone.first_byte == 0), "a first zone at the start");
        assert_eq!(facts.capacity.get(), profile.capacity_bytes, "the disk reports what it holds");
        ZonedDrive {
            facts,
            profile,
            prng: Prng::new(seed, 0x6469_736b),
            head_byte: 0,
            queue: Vec::new(),
            in_service: None,
            fraction_ns: 0.0,
            done: VecDeque::new(),
        }
    }

    fn advance(&mut self, now: Instant) {
        while let Some((request, end)) = self.in_service.take_if(|(_, end)| *end <= now) {
            let (status, transferred_bytes) = answer_within(self.facts.capacity, &request);
            let completed_ns = end.get();
            self.done.push_back(Completion { tag: request.tag, status, transferred_bytes, completed_ns });
            self.start_nearest(end);
        }
    }

    fn start_nearest(&mut self, now: Instant) {
        let (mut nearest, mut least) = (None, u64::MAX);
        for (index, request) in self.queue.iter().enumerate() {
            let distance = request.offset_bytes.abs_diff(self.head_byte);
            if nearest.is_none() || distance < least {
                (nearest, least) = (Some(index), distance);
            }
        }
        let Some(index) = nearest else { return };
        // Not `swap_remove`: of two equally near, the older goes first.
        let request = self.queue.remove(index);
        let exact_ns = self.service_s(&request) * 1e9 + self.fraction_ns;
        debug_assert!(exact_ns >= 0.0, "a service takes time");
        self.fraction_ns = exact_ns.fract();
        self.in_service = Some((request, Instant::new(now.get().saturating_add(exact_ns as u64))));
    }

    fn service_s(&mut self, request: &Request) -> f64 {
        if !matches!(request.operation, Operation::Read | Operation::Write) {
            return self.profile.overhead_s;
        }
        let (_, bytes) = answer_within(self.facts.capacity, request);
        let distance = request.offset_bytes.abs_diff(self.head_byte);
        self.head_byte = request.offset_bytes + u64::from(bytes);
        let transfer_s = self.profile.transfer_s(request.offset_bytes, u64::from(bytes)) * self.jitter();
        if distance == 0 {
            return transfer_s;
        }
        let rotation_s = self.profile.rotation_s * self.prng.unit();
        self.profile.overhead_s + self.profile.seek_s(distance) + rotation_s + transfer_s
    }

    /// 1 on average; cut at 4 standard deviations to either side, which keeps the mean.
    fn jitter(&mut self) -> f64 {
        if self.profile.transfer_jitter == 0.0 {
            return 1.0;
        }
        1.0 + self.profile.transfer_jitter * self.prng.normal().clamp(-4.0, 4.0)
    }
}

impl Drive for ZonedDrive {
    fn submit(&mut self, request: Request, now: Instant) {
        self.advance(now);
        self.queue.push(request);
        if self.in_service.is_none() {
            self.start_nearest(now);
        }
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        match self.in_service {
            _ if !self.done.is_empty() => first_at(&self.done),
            Some((_, end)) => Some(end),
            None => None,
        }
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        self.advance(now);
        self.done.pop_front()
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{plain_facts, preset};
    use model::request::Tag;
    use model::units::Bytes;
    use proptest::prelude::*;

    fn two_zones() -> ZonedProfile {
        ZonedProfile {
            capacity_bytes: 2_000_000,
            zones: vec![
                Zone { first_byte: 0, bytes_per_second: 100e6 },
                Zone { first_byte: 1_000_000, bytes_per_second: 50e6 },
            ],
            overhead_s: 1e-3,
            seek_single_s: 1e-3,
            seek_root_s: 0.0,
            seek_linear_s: 10e-3,
            rotation_s: 0.0,
            transfer_jitter: 0.0,
        }
    }

    fn disk() -> ZonedDrive {
        ZonedDrive::new(plain_facts("sim:test", Bytes::new(2_000_000)), two_zones(), 1)
    }

    fn read(tag: u32, offset_bytes: u64, length_bytes: u32) -> Request {
        Request { tag: Tag(tag), operation: Operation::Read, offset_bytes, length_bytes }
    }

    fn drain(drive: &mut ZonedDrive) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| {
            let at = drive.next_completion_at()?;
            drive.take_completion(at).map(|completion| (completion.tag.0, completion.completed_ns))
        })
        .collect()
    }

    #[test]
    fn a_sequential_read_costs_its_bytes_in_each_zone() {
        let mut drive = disk();
        (0..2).for_each(|tag| drive.submit(read(tag, u64::from(tag) * 900_000, 900_000), Instant::START));
        // 900 kB at 100 MB/s are 9 ms; then 100 kB at 100 MB/s and 800 kB at 50 MB/s are 17 ms.
        assert_eq!(drain(&mut drive), [(0, 9_000_000), (1, 26_000_000)]);
    }

    #[test]
    fn the_nearest_goes_first_and_pays_overhead_and_seek() {
        let mut drive = disk();
        drive.submit(read(0, 0, 1000), Instant::START);
        drive.submit(read(1, 1_801_000, 1000), Instant::START);
        drive.submit(read(2, 201_000, 1000), Instant::START);
        // 10 µs; a tenth of the capacity away: 1 + 1 + 1 ms + 10 µs; 1,599,000 bytes further: 9.995 ms + 20 µs.
        assert_eq!(drain(&mut drive), [(0, 10_000), (2, 3_020_000), (1, 13_035_000)]);
    }

    #[test]
    fn a_late_look_changes_nothing() {
        let mut drive = disk();
        drive.submit(read(0, 0, 1000), Instant::START);
        assert_eq!(drive.next_completion_at(), Some(Instant::new(10_000)));
        drive.submit(read(1, 1000, 1000), Instant::new(1_000_000));
        let ends: Vec<u64> = std::iter::from_fn(|| drive.take_completion(Instant::new(9_000_000)))
            .map(|completion| completion.completed_ns)
            .collect();
        assert_eq!(ends, [10_000, 1_010_000]);
    }

    #[test]
    fn a_disk_that_cannot_be_is_refused() {
        let flaw = |change: fn(&mut ZonedProfile)| {
            let mut profile = two_zones();
            change(&mut profile);
            profile.check().unwrap_err().key
        };
        assert_eq!(two_zones().check(), Ok(()));
        assert_eq!(flaw(|profile| profile.zones.clear()), "zones");
        assert_eq!(flaw(|profile| profile.zones[0].first_byte = 1), "zones.0.first_byte");
        assert_eq!(flaw(|profile| profile.zones[1].first_byte = 0), "zones.1.first_byte");
        assert_eq!(flaw(|profile| profile.zones[1].first_byte = 2_000_000), "zones.1.first_byte");
        assert_eq!(flaw(|profile| profile.zones[1].bytes_per_second = 0.0), "zones.1.bytes_per_second");
        assert_eq!(flaw(|profile| profile.rotation_s = f64::NAN), "rotation_s");
        assert_eq!(flaw(|profile| profile.transfer_jitter = 0.3), "transfer_jitter");
        assert_eq!(flaw(|profile| profile.capacity_bytes = u64::MAX), "capacity_bytes");
    }

    #[test]
    fn the_section_comes_back_as_it_was_written() {
        let shipped = preset("zoned").unwrap().zoned.unwrap();
        for profile in [two_zones(), shipped, ZonedProfile::random(7)] {
            let text = toml::to_string(&profile).unwrap();
            assert!(text.contains(&format!("capacity_bytes = {}", profile.capacity_bytes)), "{text}");
            assert_eq!(toml::from_str::<ZonedProfile>(&text).unwrap(), profile);
        }
    }

    proptest! {
        #[test]
        fn a_random_disk_is_a_disk(seed in any::<u64>()) {
            let profile = ZonedProfile::random(seed);
            prop_assert_eq!(profile.check(), Ok(()));
            prop_assert!(profile.zones.windows(2).all(|pair| pair[0].first_byte < pair[1].first_byte
                && pair[0].bytes_per_second > pair[1].bytes_per_second));
            prop_assert!(profile.zones.last().unwrap().first_byte < profile.capacity_bytes / 100 * 99);
            prop_assert!(profile.zones[1].first_byte > profile.capacity_bytes / 100);
        }
    }
}
