//! Rate limits: found where there is one, with what is true of it, and nowhere else.

mod bench;

use analysis::analyse;
use bench::Bench;
use model::finding::{Finding, FindingCode, LimitedBy, LimitedOperations, Outcome, RateLimit};
use model::plan::{PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::{Completion, Request};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use sim::Drive;
use sim::profile::{Profile, open_profile, preset, preset_text};
use std::collections::VecDeque;

/// Fewer in a debug build, where they take a second each.
const CLOUD_VOLUMES: u64 = if cfg!(debug_assertions) { 12 } else { 500 };
const OTHERS: u64 = if cfg!(debug_assertions) { 12 } else { 3000 };

fn on(profile: &Profile, seed: u64) -> Bench {
    Bench::new(open_profile(profile, "sim:test", seed).unwrap(), seed)
}

fn read(bench: &mut Bench, block_kib: u64, depth: u32, seconds: u64) {
    let pattern = if block_kib > 64 { Pattern::Sequential } else { Pattern::RandomWithReplacement };
    let workload =
        Workload::new(bench.whole(), pattern, OperationMix::Read, Bytes::from_kib(block_kib), depth);
    bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_secs(seconds)));
}

fn limits(findings: &[Finding]) -> Vec<&Outcome<RateLimit>> {
    let mut limits = Vec::new();
    for finding in findings {
        if let Finding::RateLimit(outcome) = finding {
            limits.push(outcome);
        }
    }
    limits
}

fn the_limit(findings: &[Finding]) -> &RateLimit {
    let limits = limits(findings);
    match limits.as_slice() {
        [Outcome::Known(known)] => &known.conclusion,
        other => panic!("{other:?}"),
    }
}

fn code(findings: &[Finding], code: FindingCode) -> &Finding {
    findings.iter().find(|finding| finding.code() == code).unwrap_or_else(|| panic!("no {code:?}"))
}

#[test]
fn requests_are_counted_at_any_depth_and_size() {
    let mut bench = on(&preset("cloud-volume").unwrap(), 1);
    // The bench ends a phase after 6,000 requests.
    for _ in 0..7 {
        read(&mut bench, 4, 16, 3);
    }
    for (block_kib, depth, seconds) in [(4, 1, 2), (64, 8, 3), (4, 64, 2), (4, 2, 3)] {
        read(&mut bench, block_kib, depth, seconds);
    }
    let findings = analyse(&bench.view());
    let limit = the_limit(&findings);
    assert_eq!((limit.by, limit.operations), (LimitedBy::Requests, LimitedOperations::Reads));
    assert!(limit.sustained.covers(300.0) && limit.sustained.relative_half_width() < 0.01, "{limit:?}");
    assert!((limit.credit_low..=limit.credit_high).contains(&40_000.0), "{limit:?}");
    assert!(
        (limit.credit / 40_000.0 - 1.0).abs() < 0.005 && (limit.refill_s - 133.3).abs() < 1.0,
        "{limit:?}"
    );
}

#[test]
fn bytes_are_counted_and_come_back_while_nothing_is_asked() {
    let mut bench = on(&preset("cloud-volume-bytes").unwrap(), 1);
    for (block_kib, depth, seconds) in [(1024, 4, 20), (128, 16, 5), (4, 1, 20), (1024, 4, 10)] {
        read(&mut bench, block_kib, depth, seconds);
    }
    let findings = analyse(&bench.view());
    let limit = the_limit(&findings);
    assert_eq!((limit.by, limit.operations), (LimitedBy::Bytes, LimitedOperations::Reads));
    assert!((limit.sustained.value / 40e6 - 1.0).abs() < 0.005, "{limit:?}");
    assert_eq!(code(&findings, FindingCode::RateLimit).unit().as_deref(), Some("B/s"));
    assert!((limit.credit / 3e9 - 1.0).abs() < 0.01 && (limit.burst / 250e6 - 1.0).abs() < 0.02, "{limit:?}");
}

/// As Amazon EBS counts, with 256 KiB, and as a volume of another's emulator did, with 16: nothing was said of it, and "level off at QD 8".
#[test]
fn large_requests_that_count_as_several_are_told() {
    for (part_kib, iops, credit) in [(16, 1157.5, 30_000.0), (256, 400.0, 5_400.0)] {
        let limit = format!("iops = {iops:?}\ncredit_requests = {credit}\nrequest_kib = {part_kib}");
        let text = preset_text("cloud-volume").unwrap();
        let text = text.replace("iops = 300\ncredit_requests = 40000", &limit);
        let mut bench = on(&Profile::parse(&text, "test.toml").unwrap(), 1);
        for (block_kib, depth, seconds) in
            [(4, 1, 2), (1024, 4, 20), (4, 16, 5), (4, 2, 4), (4, 32, 5), (1024, 4, 4)]
        {
            read(&mut bench, block_kib, depth, seconds);
        }
        let findings = analyse(&bench.view());
        let limit = the_limit(&findings);
        assert_eq!((limit.by, limit.counted_bytes), (LimitedBy::Requests, Some(Bytes::from_kib(part_kib))));
        assert!((limit.sustained.value / iops - 1.0).abs() < 0.005, "{limit:?}");
        assert!((limit.credit_low..=limit.credit_high).contains(&credit), "{limit:?}");
    }
}

/// Volumes are sold with both. Each makes windows slow that contradict the other alone, and neither was told.
#[test]
fn limits_of_requests_and_of_bytes_at_once_are_told() {
    for (limit, iops, credit) in [
        ("iops = 591\ncredit_requests = 15158", 591.0, 15_158.0),
        ("iops = 260\nrequest_kib = 256\ncredit_requests = 30000", 260.0, 30_000.0),
    ] {
        let limit = format!("{limit}\nrate_mb_per_s = 96\ncredit_mb = 1400");
        let text =
            preset_text("cloud-volume").unwrap().replace("iops = 300\ncredit_requests = 40000", &limit);
        let mut bench = on(&Profile::parse(&text, "test.toml").unwrap(), 1);
        read(&mut bench, 1024, 4, 20);
        read(&mut bench, 128, 16, 5);
        for _ in 0..7 {
            read(&mut bench, 4, 16, 3);
        }
        for (block_kib, depth, seconds) in [(4, 1, 2), (16, 8, 3), (1024, 2, 4), (4, 2, 3)] {
            read(&mut bench, block_kib, depth, seconds);
        }
        let findings = analyse(&bench.view());
        let [Outcome::Known(of_bytes), Outcome::Known(of_requests)] = limits(&findings)[..] else {
            panic!("{:?}", limits(&findings))
        };
        let (of_bytes, of_requests) = (&of_bytes.conclusion, &of_requests.conclusion);
        assert_eq!((of_bytes.by, of_requests.by), (LimitedBy::Bytes, LimitedBy::Requests));
        assert!((of_bytes.sustained.value / 96e6 - 1.0).abs() < 0.003, "{of_bytes:?}");
        assert!((of_bytes.credit / 1.4e9 - 1.0).abs() < 0.01, "{of_bytes:?}");
        assert!((of_requests.sustained.value / iops - 1.0).abs() < 0.005, "{of_requests:?}");
        assert!((of_requests.credit / credit - 1.0).abs() < 0.01, "{of_requests:?}");
    }
}

/// A rest brings back more than there was at the start, which contradicted a bucket full by then.
#[test]
fn a_volume_whose_credit_was_used_before_holds_more() {
    let limit = "iops = 300\ncredit_requests = 40000\nshare_at_start = 0.05";
    let text = preset_text("cloud-volume").unwrap().replace("iops = 300\ncredit_requests = 40000", limit);
    let mut bench = on(&Profile::parse(&text, "test.toml").unwrap(), 1);
    for _ in 0..2 {
        for (block_kib, depth, seconds) in [(4, 1, 1), (4, 16, 5), (4, 16, 5), (64, 8, 3), (4, 4, 3)] {
            read(&mut bench, block_kib, depth, seconds);
        }
        bench.pause(Nanos::from_secs(20));
    }
    let findings = analyse(&bench.view());
    let limit = the_limit(&findings);
    assert!(!limit.may_have_been_full && (limit.sustained.value / 300.0 - 1.0).abs() < 0.005, "{limit:?}");
    // 20 s bring back 6,000.
    assert!((5_900.0..6_050.0).contains(&limit.credit), "{limit:?}");
}

/// Reads of which none was complete when their phase of 80 ms ended came to nothing, and the refill to 0.3 % too little.
#[test]
fn requests_that_outlast_their_phase_count() {
    let text = preset_text("cloud-volume-bytes").unwrap();
    let text = text
        .replace("rate_mb_per_s = 40", "rate_mb_per_s = 11")
        .replace("credit_mb = 3000", "credit_mb = 300");
    let mut bench = on(&Profile::parse(&text, "test.toml").unwrap(), 1);
    read(&mut bench, 1024, 4, 10);
    read(&mut bench, 64, 32, 30);
    for _ in 0..10 {
        let pattern = Pattern::RandomWithReplacement;
        let workload = Workload::new(bench.whole(), pattern, OperationMix::Read, Bytes::from_mib(1), 1);
        bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_millis(80)));
        read(&mut bench, 128, 16, 3);
    }
    let limit = the_limit(&analyse(&bench.view())).clone();
    assert!((limit.sustained.value / 11e6 - 1.0).abs() < 0.003, "{limit:?}");
}

/// A shingled disk that writes evenly beside reads that came as fast by chance, 157 of them.
#[test]
fn even_writes_are_no_limit_of_reads() {
    let mut bench = on(&preset("random-shingled-9789").unwrap(), 2789);
    bench.check(true);
    let findings = analyse(&bench.view());
    assert!(limits(&findings).is_empty(), "{:?}", limits(&findings));
}

/// The same in phases of 0.08 s, as `check` makes them, of which none shows the rate of its size: 8 of 8 such volumes had no limit.
#[test]
fn parts_of_requests_are_told_from_short_phases() {
    let limit = "iops = 1157.5\ncredit_requests = 30000\nrequest_kib = 16";
    let text = preset_text("cloud-volume").unwrap().replace("iops = 300\ncredit_requests = 40000", limit);
    let mut bench = on(&Profile::parse(&text, "test.toml").unwrap(), 1);
    read(&mut bench, 1024, 4, 2);
    for round in 0..60 {
        for (block_kib, depth) in [(4, 1), (64, 1), (4, 16), (1024, 1), (16, 1), (4, 2), (256, 1), (4, 8)] {
            let block = Bytes::from_kib(block_kib);
            let pattern = Pattern::RandomWithReplacement;
            let workload = Workload::new(bench.whole(), pattern, OperationMix::Read, block, depth);
            bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_millis(80)));
        }
        bench.pause(Nanos::from_millis(round % 3));
    }
    let findings = analyse(&bench.view());
    let limit = the_limit(&findings);
    assert_eq!((limit.by, limit.counted_bytes), (LimitedBy::Requests, Some(Bytes::from_kib(16))));
    assert!((limit.sustained.value / 1157.5 - 1.0).abs() < 0.01, "{limit:?}");
    assert!((limit.credit / 30_000.0 - 1.0).abs() < 0.03, "{limit:?}");
}

#[test]
fn one_workload_at_the_limit_does_not_decide() {
    let mut bench = on(&preset("cloud-volume-bytes").unwrap(), 1);
    read(&mut bench, 1024, 4, 60);
    let findings = analyse(&bench.view());
    assert!(matches!(limits(&findings).as_slice(), [Outcome::Unknown(_)]), "{findings:?}");
}

/// Row 3 of the issue: "best parallelism 1 (1 to 999), parallel gain 1.0 (0.6 to 1.6), 2.99 ms".
#[test]
fn burst_and_sustained_state_are_not_mixed() {
    for name in ["cloud-volume", "cloud-volume-bytes"] {
        let mut bench = on(&preset(name).unwrap(), 3);
        bench.check(false);
        let findings = analyse(&bench.view());
        if let Some(access) = code(&findings, FindingCode::AccessTime).estimate() {
            assert!((access.value / 0.55e-3 - 1.0).abs() < 0.05, "{name}: {access:?}");
        }
        if let Some(gain) = code(&findings, FindingCode::ConcurrencyGain).estimate() {
            assert!((14.0..18.0).contains(&gain.value), "{name}: {gain:?}");
        }
    }
}

/// Reads that use up a credit: sequential, then at depths in turn, then of other sizes, and again after a pause.
fn use_up(bench: &mut Bench) {
    bench.check(false);
    for _ in 0..2 {
        for (block_kib, depth) in [(4, 64), (64, 32), (1024, 4), (4, 1)] {
            for _ in 0..4 {
                read(bench, block_kib, depth, 2);
            }
        }
    }
}

/// A host pauses between phases of 80 ms, in which tokens come, and what was in flight at the end of each is in no record. Guessed from the
/// depth, it was a request off at each border, and on a mounted volume no limit was told.
#[test]
fn a_limit_is_told_across_the_pauses_of_a_host() {
    let mut profile = preset("random-cloud-1120000").unwrap();
    profile.limit.as_mut().unwrap().credit_requests = Some(3000.0);
    let mut bench = on(&profile, 3);
    let mut prng = Prng::new(3, 1);
    for _ in 0..6 {
        for depth in [1, 1, 1, 5, 1, 1, 1, 1, 2, 1, 25, 1, 1, 10, 1, 1, 1] {
            let pattern = Pattern::RandomWithReplacement;
            let (whole, block) = (bench.whole(), Bytes::new(4096 << (4 * prng.below(2))));
            let workload = Workload::new(whole, pattern, OperationMix::Read, block, depth);
            bench.run(PhaseKind::Measure, workload, StopCondition::after(Nanos::from_millis(80)));
            bench.pause(Nanos::from_micros(2_000 + prng.below(3_000)));
        }
    }
    read(&mut bench, 64, 32, 7);
    let limit = the_limit(&analyse(&bench.view())).clone();
    assert_eq!(limit.by, LimitedBy::Requests);
    assert!(limit.sustained.covers(275.0) && limit.sustained.high < 277.0, "{:?}", limit.sustained);
    assert!((limit.credit_low..=limit.credit_high).contains(&3000.0), "{limit:?}");
}

/// Visits of 32 MiB take 0.22 s at the limit, less than a window, with a pause behind each: no window showed the limit, and "other load" hid what
/// the volume does.
#[test]
fn a_limit_shows_in_visits_shorter_than_a_window() {
    let mut bench = on(&preset("random-cloud-1123000").unwrap(), 3);
    let mut prng = Prng::new(3, 1);
    for (block_kib, visits) in [(1024, 100), (256, 20)] {
        for _ in 0..visits {
            let start = Offset::new(prng.below(30_000) << 25);
            let visit = ByteRange::new(start, Bytes::from_mib(32)).unwrap();
            let block = Bytes::from_kib(block_kib);
            let workload = Workload::new(visit, Pattern::Sequential, OperationMix::Read, block, 4);
            bench.run(PhaseKind::Measure, workload, StopCondition::one_pass());
            bench.pause(Nanos::from_micros(5_000 + prng.below(10_000)));
        }
    }
    let limit = the_limit(&analyse(&bench.view())).clone();
    assert_eq!(limit.by, LimitedBy::Bytes);
    assert!((limit.sustained.value / 147.94262e6 - 1.0).abs() < 0.003, "{:?}", limit.sustained);
    assert!((limit.credit / 924.5e6 - 1.0).abs() < 0.02, "{limit:?}");
}

/// A volume of which completions come twelve at a time, as through the FUSE export of QEMU 7.2.
struct InTwelves {
    volume: Box<dyn Drive>,
    outstanding: usize,
    held: Vec<Completion>,
    ready: VecDeque<Completion>,
}

impl Drive for InTwelves {
    fn submit(&mut self, request: Request, now: Instant) {
        self.outstanding += 1;
        self.volume.submit(request, now);
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        match self.ready.front() {
            Some(ready) => Some(Instant::new(ready.completed_ns)),
            None => self.volume.next_completion_at(),
        }
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        while let Some(completion) = self.volume.take_completion(now) {
            self.held.push(completion);
            if self.held.len() == self.outstanding.min(12) {
                self.outstanding -= self.held.len();
                for held in self.held.drain(..) {
                    self.ready.push_back(Completion { completed_ns: completion.completed_ns, ..held });
                }
            }
        }
        self.ready.pop_front()
    }

    fn facts(&self) -> &TargetFacts {
        self.volume.facts()
    }
}

/// Windows at the limit are a dozen requests apart then, and all that was said was "throughput changed from 271 MB/s to 51.5 MB/s".
#[test]
fn a_limit_behind_completions_by_the_dozen_is_told() {
    let volume = open_profile(&preset("cloud-volume-bytes").unwrap(), "sim:test", 1).unwrap();
    let in_twelves = InTwelves { volume, outstanding: 0, held: Vec::new(), ready: VecDeque::new() };
    let mut bench = Bench::new(Box::new(in_twelves), 1);
    for (block_kib, depth, seconds) in
        [(64, 4, 1), (16, 16, 2), (1024, 4, 25), (64, 32, 8), (512, 32, 8), (16, 64, 2), (4, 1, 1)]
    {
        read(&mut bench, block_kib, depth, seconds);
    }
    let limit = the_limit(&analyse(&bench.view())).clone();
    assert_eq!((limit.by, limit.counted_bytes), (LimitedBy::Bytes, None));
    assert!((limit.sustained.value / 40e6 - 1.0).abs() < 0.005, "{:?}", limit.sustained);
    assert!((limit.credit / 3e9 - 1.0).abs() < 0.01, "{limit:?}");
}

/// Of cloud volumes with limits that a run meets, credit and refill are within 3 %.
#[test]
fn limits_of_drawn_cloud_volumes_are_true() {
    let (mut found, mut wrong) = (0, Vec::new());
    for seed in 0..CLOUD_VOLUMES {
        let mut profile = preset(&format!("random-cloud-{seed}")).unwrap();
        let limit = profile.limit.as_mut().unwrap();
        // The bench reads for some seconds only.
        limit.credit_requests = limit.credit_requests.map(|credit| credit.min(8000.0));
        limit.credit_mb = limit.credit_mb.map(|credit| credit.min(1500.0));
        let limit = limit.clone();
        let mut bench = on(&profile, seed);
        use_up(&mut bench);
        let findings = analyse(&bench.view());
        let [Outcome::Known(known)] = limits(&findings)[..] else { continue };
        found += 1;
        let said = &known.conclusion;
        let (refill, credit) = match said.by {
            LimitedBy::Requests => (limit.iops, limit.credit_requests),
            LimitedBy::Bytes => {
                (limit.rate_mb_per_s.map(|rate| rate * 1e6), limit.credit_mb.map(|credit| credit * 1e6))
            }
        };
        let off = |said: f64, truth: Option<f64>| (said / truth.unwrap_or(f64::NAN) - 1.0).abs();
        let errors = (off(said.sustained.value, refill), off(said.credit, credit));
        if !(errors.0 <= 0.03 && errors.1 <= 0.03) {
            wrong.push((seed, errors, profile.description.clone()));
        }
    }
    eprintln!("{found} of {CLOUD_VOLUMES} limits were met, {} are wrong", wrong.len());
    assert!(wrong.is_empty() && found * 2 >= CLOUD_VOLUMES, "{found} found, {wrong:#?}");
}

/// Disks, shingled ones, flash and arrays, some beside other load, have no rate limit.
#[test]
fn no_limit_is_invented() {
    let families = ["hard-disk", "shingled", "flash", "volume"];
    let mut invented = Vec::new();
    for seed in 0..OTHERS {
        let family = families[(seed % 4) as usize];
        let mut text = preset_text(&format!("random-{family}-{}", 7000 + seed)).unwrap().into_owned();
        if seed % 3 == 0 {
            let (from_s, rate) = (5 * (seed % 7), 5 + seed % 40);
            text += &format!("\n[[faults]]\nkind = \"other-load\"\nat_s = {from_s}\nper_second = {rate}\n");
        }
        let profile = Profile::parse(&text, "drawn.toml").unwrap();
        let mut bench = on(&profile, seed);
        if seed % 2 == 0 {
            use_up(&mut bench);
        } else {
            bench.check(true);
        }
        let findings = analyse(&bench.view());
        if !limits(&findings).is_empty() {
            invented.push((profile.name.clone(), format!("{:?}", limits(&findings))));
        }
    }
    assert!(invented.is_empty(), "{} of {OTHERS}: {invented:#?}", invented.len());
}
