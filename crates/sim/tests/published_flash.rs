//! The flash drives that come with the program against what was published of them: in virtual time, as a host sees
//! them through their link, and by the truth that is computed from their profiles. Every expected number is a literal from
//! a measurement or a data sheet, as the profile's `sources` name it.

use model::finding::FindingCode;
use model::prng::Prng;
use model::request::{Operation, Request, Status, Tag};
use model::units::{Bytes, Instant, KIB, MIB, Nanos};
use sim::Drive;
use sim::flash::profile::Initial;
use sim::profile::{Profile, open_profile, preset};
use sim::truth::{Truth, TruthData, TruthValue, truth_of};

const GB: u64 = 1_000_000_000;
const PRESETS: [&str; 7] = ["x25-m", "sata-tlc-500gb", "870-qvo", "660p", "970-pro", "980-pro", "nm790"];

/// Who has requests answered by a drive, always so many under way.
struct Host {
    drive: Box<dyn Drive + Send>,
    now: Instant,
}

impl Host {
    fn of(name: &str) -> Host {
        Host { drive: sim::open(name, 1).unwrap(), now: Instant::START }
    }

    fn of_profile(profile: &Profile) -> Host {
        Host { drive: open_profile(profile, "sim:changed", 1).unwrap(), now: Instant::START }
    }

    /// Has requests answered as long as there are any; `done` is told the time and the length of each, in seconds and
    /// bytes. What it took, in seconds.
    fn run(
        &mut self,
        depth: u32,
        mut requests: impl Iterator<Item = Request>,
        mut done: impl FnMut(f64, u64),
    ) -> f64 {
        let start = self.now;
        let (mut tag, mut under_way) = (0, 0);
        loop {
            while under_way < depth {
                let Some(request) = requests.next() else { break };
                self.drive.submit(Request { tag: Tag(tag), ..request }, self.now);
                (tag, under_way) = (tag.wrapping_add(1), under_way + 1);
            }
            let Some(next) = self.drive.next_completion_at() else { break };
            self.now = next;
            while let Some(completion) = self.drive.take_completion(self.now) {
                assert_eq!(completion.status, Status::Done);
                under_way -= 1;
                done(self.now.since(start).seconds(), u64::from(completion.transferred_bytes));
            }
        }
        self.now.since(start).seconds()
    }

    /// Bytes per second over all of them.
    fn rate(&mut self, depth: u32, requests: impl Iterator<Item = Request>) -> f64 {
        let mut bytes = 0;
        let seconds = self.run(depth, requests, |_, length| bytes += length);
        bytes as f64 / seconds
    }

    fn rest(&mut self, seconds: u64) {
        self.now = self.now.saturating_add(Nanos::from_secs(seconds));
    }
}

/// One after the other, from a first byte on.
fn in_order(operation: Operation, first: u64, bytes: u64, block: u64) -> impl Iterator<Item = Request> {
    (0..bytes / block).map(move |index| request(operation, first + index * block, block))
}

/// Anywhere within so many bytes.
fn at_random(operation: Operation, within: u64, bytes: u64, block: u64) -> impl Iterator<Item = Request> {
    let mut prng = Prng::new(11, 11);
    (0..bytes / block).map(move |_| request(operation, prng.below(within / block) * block, block))
}

fn request(operation: Operation, offset_bytes: u64, bytes: u64) -> Request {
    Request { tag: Tag(0), operation, offset_bytes, length_bytes: bytes as u32 }
}

/// Within so many percent of what was published.
#[track_caller]
fn assert_near(what: &str, value: f64, published: f64, percent: f64) {
    let off = (value / published - 1.0) * 100.0;
    println!("| {what} | {published} | {value:.4} | {off:+.2} % |");
    assert!(off.abs() <= percent, "{what}: {value}, published {published}, {off:+.2} %");
}

fn truth_about(profile: &Profile, code: FindingCode) -> Option<Truth> {
    truth_of(profile).unwrap().into_iter().find(|truth| truth.code == code)
}

/// The levels of a fill by the truth: where each begins and how fast it is, in GB and MB/s.
fn levels_by_truth(profile: &Profile) -> Vec<(f64, f64)> {
    let cliff = truth_about(profile, FindingCode::WriteCliff).unwrap();
    let TruthData::Levels { levels, .. } = &cliff.data else { panic!("a cliff has levels: {cliff:?}") };
    let levels: Vec<(f64, f64)> =
        levels.iter().map(|level| (level.from_bytes / 1e9, level.bytes_per_second / 1e6)).collect();
    assert_eq!(cliff.value().unwrap() / 1e9, levels[1].0);
    levels
}

/// Levels as published (from GB, MB/s) against the truth and against a run, which must be one write after the other.
fn assert_levels(
    profile: &Profile,
    published: &[(f64, f64)],
    depth: u32,
    requests: impl Iterator<Item = Request>,
) {
    let name = &profile.name;
    let computed = levels_by_truth(profile);
    for ((from_gb, rate), (published_gb, published_rate)) in computed.iter().zip(published) {
        if *published_gb > 0.0 {
            assert_near(&format!("{name}: falls at, truth, GB"), *from_gb, *published_gb, 2.0);
        }
        assert_near(&format!("{name}: rate, truth, MB/s"), *rate, *published_rate, 3.0);
    }
    assert!(computed.len() >= published.len(), "{computed:?}");
    assert_levels_of_run(profile, published, depth, requests);
}

/// The same against a run alone.
fn assert_levels_of_run(
    profile: &Profile,
    published: &[(f64, f64)],
    depth: u32,
    requests: impl Iterator<Item = Request>,
) {
    let name = &profile.name;
    // When how much had been written, each 1/500 of the first cliff.
    let step = (published[1].0 * 1e9 / 500.0) as u64;
    let (mut written, mut seen) = (0, vec![(0.0, 0.0)]);
    Host::of_profile(profile).run(depth, requests, |at_s, bytes| {
        written += bytes;
        if written >= step * seen.len() as u64 {
            seen.push((at_s, written as f64));
        }
    });
    let seconds_to =
        |bytes: f64| seen[seen.partition_point(|(_, written)| *written < bytes).min(seen.len() - 1)];
    let mut from = 0.0;
    for (index, level) in published.iter().enumerate() {
        let until = match published.get(index + 1) {
            Some(next) => {
                let halfway = (level.1 * next.1).sqrt() * 1e6;
                let slower =
                    |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0) < halfway;
                let after = seen.partition_point(|(_, written)| *written <= from);
                let fall = after + seen[after..].windows(2).position(slower).expect("it falls");
                assert_near(&format!("{name}: falls at, run, GB"), seen[fall].1 / 1e9, next.0, 2.0);
                seen[fall].1
            }
            None => written as f64,
        };
        // What is in the buffer at first, and what lies around a cliff, is left out.
        let (begin, end) =
            (seconds_to(from + 0.02 * (until - from)), seconds_to(until - 0.02 * (until - from)));
        let rate = (end.1 - begin.1) / (end.0 - begin.0) / 1e6;
        assert_near(&format!("{name}: rate, run, MB/s"), rate, level.1, 3.0);
        from = until + 0.02 * (until - from);
    }
}

/// Article D: 380 MB/s for 7 GB, then 230, in random writes of 128 KiB, one at a time.
#[test]
fn the_ssd_of_article_d_falls_as_measured() {
    let profile = preset("sata-tlc-500gb").unwrap();
    let writes = at_random(Operation::Write, 500 * GB, 20 * GB, 128 * KIB);
    assert_levels(&profile, &[(0.0, 380.0), (7.0, 230.0)], 1, writes);
    // The article does not say what the drive held: up to 20 GB that makes no difference.
    let mut filled = profile;
    filled.flash.as_mut().unwrap().initial = Initial::Filled;
    let writes = at_random(Operation::Write, 500 * GB, 20 * GB, 128 * KIB);
    assert_levels(&filled, &[(0.0, 380.0), (7.0, 230.0)], 1, writes);
}

/// Fills in 1 MiB of drives that had been erased, as reviews do them.
#[test]
fn caches_of_two_levels_end_where_measured() {
    for (name, gigabytes, levels) in [
        ("870-qvo", 120, [(0.0, 530.0), (78.0, 160.0)]),
        ("660p", 200, [(0.0, 1800.0), (140.0, 100.0)]),
        ("980-pro", 250, [(0.0, 4000.0), (113.0, 1500.0)]),
    ] {
        let fill = in_order(Operation::Write, 0, gigabytes * GB, MIB);
        assert_levels(&preset(name).unwrap(), &levels, 4, fill);
    }
}

#[test]
fn the_cache_of_three_levels_ends_where_measured() {
    let profile = preset("nm790").unwrap();
    let levels = [(0.0, 5000.0), (280.0, 2500.0), (1300.0, 800.0)];
    assert_levels_of_run(&profile, &levels, 4, in_order(Operation::Write, 0, 1500 * GB, 4 * MIB));
    // The truth is about writes at random places. These leave room: as much as one fill of the drive takes 63 % of it, and the
    // third level begins at 65 %.
    let by_truth = levels_by_truth(&profile);
    assert_eq!(by_truth.len(), 2, "{by_truth:?}");
    for ((from_gb, rate), (published_gb, published_rate)) in by_truth.iter().zip(levels) {
        assert_near("nm790: from, truth, GB", 1.0 + from_gb, 1.0 + published_gb, 2.0);
        assert_near("nm790: rate, truth, MB/s", *rate, published_rate, 3.0);
    }
}

/// The canary: a cache 4 % larger than the measured one is found out.
#[test]
#[should_panic(expected = "falls at, run")]
fn a_wrong_cache_is_found_out() {
    let mut profile = preset("sata-tlc-500gb").unwrap();
    let measured = levels_by_truth(&profile);
    profile.flash.as_mut().unwrap().slc.as_mut().unwrap().static_bytes += 280_000_000;
    let writes = at_random(Operation::Write, 500 * GB, 20 * GB, 128 * KIB);
    assert_levels_of_run(&profile, &measured, 1, writes);
}

/// 12 GB when three quarters or more are full, and what is in the cache stays there.
#[test]
fn the_660p_keeps_12_gb_and_what_is_in_them() {
    let mut profile = preset("660p").unwrap();
    profile.flash.as_mut().unwrap().initial = Initial::Filled;
    let levels = [(0.0, 1800.0), (12.0, 100.0)];
    assert_levels(&profile, &levels, 4, in_order(Operation::Write, 0, 20 * GB, MIB));
    let recovery = truth_about(&profile, FindingCode::IdleRecovery).unwrap();
    assert_eq!(recovery.value, TruthValue::Absent);
    let mut host = Host::of_profile(&profile);
    host.rate(4, in_order(Operation::Write, 0, 15 * GB, MIB));
    host.rest(8 * 3600);
    let rate = host.rate(4, in_order(Operation::Write, 20 * GB, 2 * GB, MIB));
    assert_near("660p: after a night's rest, MB/s", rate / 1e6, 100.0, 3.0);
}

/// A pause of a second gives the 980 PRO a part of its cache back, and no more than a part.
#[test]
fn the_980_pro_recovers_a_part_in_a_second() {
    let mut host = Host::of("980-pro");
    host.rate(4, in_order(Operation::Write, 0, 130 * GB, MIB));
    host.rest(1);
    let mut fast = 0;
    let mut last_s = 0.0;
    let writes = in_order(Operation::Write, 130 * GB, 20 * GB, 64 * MIB);
    host.run(2, writes, |at_s, bytes| {
        fast += if bytes as f64 / (at_s - last_s) > 2.5e9 { bytes } else { 0 };
        last_s = at_s;
    });
    assert!((GB / 10..10 * GB).contains(&fast), "{fast} bytes were written fast");
}

/// What each is sold with, or what its model has: 1 MiB at a time, four under way, from what was written before.
#[test]
fn sequential_reading_is_as_published() {
    for (name, published) in [
        ("x25-m", 250.0),
        // 540 to 560 are sold; the article has none.
        ("sata-tlc-500gb", 560.0),
        ("870-qvo", 560.0),
        ("660p", 1800.0),
        ("980-pro", 7000.0),
        ("970-pro", 3360.0),
    ] {
        let mut host = Host::of(name);
        host.rate(4, in_order(Operation::Write, 0, 4 * GB, MIB));
        host.rest(60);
        let rate = host.rate(4, in_order(Operation::Read, 0, 4 * GB, MIB));
        assert_near(&format!("{name}: reading, run, MB/s"), rate / 1e6, published, 3.0);
        let profile = preset(name).unwrap();
        // Of a drive that holds nothing the truth says nothing about reading.
        if let Some(truth) = truth_about(&profile, FindingCode::ReadRateOuter) {
            assert_eq!(profile.flash.as_ref().unwrap().initial, Initial::Filled);
            assert_near(&format!("{name}: reading, truth"), truth.value().unwrap() / 1e6, published, 3.0);
        }
    }
}

/// NVMeVirt's 970 PRO: 57 µs for 4 KiB; 16 dies that program 32 KiB in 185 µs, for as long as one likes; a write of 4 KiB is
/// taken in 4.46 µs and what the link needs for it, 1.2 µs.
#[test]
fn the_970_pro_is_its_emulator() {
    let profile = preset("970-pro").unwrap();
    let mut host = Host::of("970-pro");
    let seconds = host.run(1, at_random(Operation::Read, 512 * GB, 4096 * 5000, 4096), |_, _| {});
    assert_near("970-pro: reading 4 KiB, run, µs", seconds / 5000.0 * 1e6, 57.0, 3.0);
    let access_s = truth_about(&profile, FindingCode::AccessTime).unwrap().value().unwrap();
    assert_near("970-pro: reading 4 KiB, truth, µs", access_s * 1e6, 57.0, 3.0);
    let taken_s = host.run(1, std::iter::once(request(Operation::Write, 0, 4096)), |_, _| {});
    assert_near("970-pro: taking 4 KiB, run, µs", taken_s * 1e6, 5.7, 3.0);
    assert_eq!(truth_about(&profile, FindingCode::WriteCliff).unwrap().value, TruthValue::Absent);
    let truth = truth_about(&profile, FindingCode::WriteRateMean).unwrap().value().unwrap();
    assert_near("970-pro: writing, truth, MB/s", truth / 1e6, 2834.0, 3.0);
    for part in 0..20 {
        let rate = host.rate(4, in_order(Operation::Write, part * 20 * GB, 20 * GB, 4 * MIB));
        assert_near("970-pro: writing, run, MB/s", rate / 1e6, 2834.0, 3.0);
    }
}

/// The valleys of a stretch that was written one request after the other: when each began, and how long it lasted. Within
/// them a request takes far longer than usual.
fn valleys(request_s: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = request_s.to_vec();
    sorted.sort_by(f64::total_cmp);
    let usual_s = sorted[sorted.len() / 2];
    let (mut valleys, mut at_s, mut inside): (Vec<(f64, f64)>, _, _) = (Vec::new(), 0.0, false);
    for &seconds in request_s {
        let is_slow = seconds > 3.0 * usual_s;
        match valleys.last_mut() {
            Some((_, width_s)) if inside && is_slow => *width_s += seconds,
            _ if is_slow => valleys.push((at_s, seconds)),
            _ => {}
        }
        (inside, at_s) = (is_slow, at_s + seconds);
    }
    valleys
}

fn median_width_s(valleys: &[(f64, f64)]) -> f64 {
    let mut widths: Vec<f64> = valleys.iter().map(|(_, width_s)| *width_s).collect();
    widths.sort_by(f64::total_cmp);
    widths[widths.len() / 2]
}

/// How long each request of a pass over a stretch took.
fn pass(host: &mut Host, first: u64, bytes: u64, block: u64) -> Vec<f64> {
    let (mut request_s, mut last_s) = (Vec::new(), 0.0);
    host.run(1, in_order(Operation::Write, first, bytes, block), |at_s, _| {
        request_s.push(at_s - last_s);
        last_s = at_s;
    });
    request_s
}

/// Half of the bytes at random, half in order, in 16 KiB, as much as there is room.
fn mixed(bytes: u64) -> impl Iterator<Item = Request> {
    let mut prng = Prng::new(13, 13);
    let (block, mut next) = (16 * KIB, 0);
    (0..bytes / block).map(move |_| {
        let at_random = prng.below(2) == 0;
        let index = if at_random { prng.below(bytes / block) } else { next };
        next += u64::from(!at_random);
        request(Operation::Write, index * block, block)
    })
}

const HALF: u64 = 40 * GB / (8 * MIB) * (8 * MIB);

/// Intel's 70 MB/s, and article E: valleys once in a minute and below a second after mixed writes; narrower with each
/// pass (calculated: 0.80, 0.54, 0.36, 0.24, 0.16, 0.11, 0.07 s), where it went; none after a fill with 8 MiB.
#[test]
fn the_x25_m_writes_as_measured_with_valleys() {
    let profile = preset("x25-m").unwrap();
    let truth = truth_about(&profile, FindingCode::WriteRateMean).unwrap().value().unwrap();
    assert_near("x25-m: writing, truth, MB/s", truth / 1e6, 70.0, 3.0);
    let mut host = Host::of("x25-m");
    let rate = host.rate(4, in_order(Operation::Write, 0, HALF, MIB));
    assert_near("x25-m: writing as it comes, run, MB/s", rate / 1e6, 70.0, 3.0);

    host.rate(1, mixed(HALF));
    let mut starts = Vec::new();
    let mut before_s = 0.0;
    for (number, published_s) in [0.80, 0.54, 0.36, 0.24, 0.16, 0.11].into_iter().enumerate() {
        let request_s = pass(&mut host, 0, HALF, 64 * KIB);
        let seconds: f64 = request_s.iter().sum();
        let rate = HALF as f64 / seconds / 1e6;
        assert_near(&format!("x25-m: pass {}, run, MB/s", number + 1), rate, 70.0, 3.0);
        let valleys = valleys(&request_s);
        assert!(valleys.iter().all(|(_, width_s)| *width_s < 1.0), "{valleys:?}");
        assert_near(
            &format!("x25-m: width in pass {}, s", number + 1),
            median_width_s(&valleys),
            published_s,
            15.0,
        );
        starts.extend(valleys.iter().map(|(start_s, _)| before_s + start_s));
        before_s += seconds;
    }
    let intervals: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = intervals.iter().sum::<f64>() / intervals.len() as f64;
    let spread = intervals.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / intervals.len() as f64;
    assert_near("x25-m: interval, s", mean, 60.0, 3.0);
    assert!(spread.sqrt() / mean < 0.1, "the intervals vary by {}", spread.sqrt() / mean);

    pass(&mut host, 0, HALF, 8 * MIB);
    host.rest(10);
    assert_eq!(valleys(&pass(&mut host, 0, HALF, 8 * MIB)), []);
}

/// Intel's figures for the first X25-M, as AnandTech has them.
#[test]
fn the_x25_m_answers_as_sold() {
    let access_s = truth_about(&preset("x25-m").unwrap(), FindingCode::AccessTime).unwrap().value().unwrap();
    assert_near("x25-m: reading 4 KiB, truth, µs", access_s * 1e6, 85.0, 3.0);
    let mut host = Host::of("x25-m");
    let seconds = host.run(1, at_random(Operation::Read, 80 * GB, 4096 * 5000, 4096), |_, _| {});
    assert_near("x25-m: reading 4 KiB, run, µs", seconds / 5000.0 * 1e6, 85.0, 3.0);
    let seconds = host.run(32, at_random(Operation::Read, 80 * GB, 4096 * 50_000, 4096), |_, _| {});
    assert_near("x25-m: reads at depth 32, run, 1/s", 50_000.0 / seconds, 35_000.0, 3.0);
    let seconds = host.run(1, std::iter::once(request(Operation::Write, 0, 4096)), |_, _| {});
    assert_near("x25-m: taking 4 KiB, run, µs", seconds * 1e6, 115.0, 3.0);
}

/// The reference calculation: random writes all over a drive with 7.37 % of spare space are amplified 7.26 times by greedy collection.
#[test]
fn the_x25_m_amplifies_as_its_spare_space_says() {
    let profile = preset("x25-m").unwrap();
    let steady = truth_about(&profile, FindingCode::WriteSteadyState).unwrap().value().unwrap();
    assert_near("x25-m: random writes in the end, truth, MB/s", steady / 1e6, 70.0 / 7.26, 3.0);
}

/// What a drive holds in memory is bounded by its layout: 1 GiB is allowed for 2 TB.
#[test]
fn memory_is_bounded_by_construction() {
    for name in PRESETS {
        let profile = preset(name).unwrap();
        let layout = profile.flash.as_ref().unwrap().layout(profile.capacity().unwrap()).unwrap();
        let most = layout.memory_bytes_max();
        println!("| {name}: memory | {} MiB |", most / MIB);
        assert!(most < 256 * MIB, "{name}: {most}");
    }
    let two_terabytes = preset("nm790").unwrap();
    let layout = two_terabytes.flash.as_ref().unwrap().layout(Bytes::new(2_048_408_248_320)).unwrap();
    assert!(layout.memory_bytes_max() < 110 * MIB, "{}", layout.memory_bytes_max());
}

/// What the makers print: sectors of 512 bytes; and each says where its numbers come from, and what it held when they were
/// measured.
#[test]
fn capacities_and_states_are_as_said() {
    for (name, sectors, initial) in [
        ("x25-m", 156_301_488, Initial::Filled),
        ("sata-tlc-500gb", 976_773_168, Initial::Fresh),
        ("870-qvo", 7_814_037_168, Initial::Fresh),
        ("660p", 2_000_409_264, Initial::Fresh),
        ("970-pro", 1_000_215_216, Initial::Filled),
        ("980-pro", 1_953_525_168, Initial::Fresh),
        ("nm790", 4_000_797_360, Initial::Fresh),
    ] {
        let profile = preset(name).unwrap();
        assert_eq!(profile.capacity().unwrap(), Bytes::new(sectors * 512u64), "{name}");
        assert_eq!(profile.flash.as_ref().unwrap().initial, initial, "{name}");
        assert!(
            profile.sources.len() >= 2 && profile.sources.iter().all(|source| source.len() > 20),
            "{name}"
        );
        assert_eq!(profile.identity.rotational, Some(false), "{name}");
    }
}
