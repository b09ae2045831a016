//! Scores the detectors on drives that nobody made them for: stripes of surfaces, rates that wander, other load that comes
//! and goes, heavy tails, few zones, rates that rise.
//!
//! Left out, since no run of a minute could tell: bursts and stalls so rare that a visit or a whole run may see none.

mod bench;

use bench::Bench;
use model::finding::{Finding, FindingCode};
use model::prng::Prng;
use model::request::{Completion, Request, Status};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, MIB};
use sim::Drive;

/// How the time that everything takes varies over the run: the factor at each hundredth of a second.
struct Load(Vec<f64>);
const LOAD_STEPS: usize = 12_000;
const LOAD_STEP_NS: u64 = 10_000_000;

impl Load {
    fn none() -> Load {
        Load(vec![1.0])
    }
    /// An Ornstein-Uhlenbeck process around 1.
    fn wandering(prng: &mut Prng, sd: f64, tau_s: f64) -> Load {
        let rho = (-0.01 / tau_s).exp();
        let mut x = prng.normal();
        Load(
            (0..LOAD_STEPS)
                .map(|_| {
                    x = rho * x + (1.0 - rho * rho).sqrt() * prng.normal();
                    1.0 + sd * x
                })
                .collect(),
        )
    }
    fn drift(share: f64, seconds: f64) -> Load {
        Load((0..LOAD_STEPS).map(|i| 1.0 + share * (i as f64 * 0.01 / seconds)).collect())
    }
    fn at(&self, now_ns: u64) -> f64 {
        self.0[((now_ns / LOAD_STEP_NS) as usize).min(self.0.len() - 1)]
    }
}

/// Seconds of a random access by the share of the capacity moved over.
type Access = Box<dyn Fn(&mut Prng, f64) -> f64>;

/// One arm or several dies, a rate by place, an access time, a load.
struct Odd {
    facts: TargetFacts,
    prng: Prng,
    rate: Box<dyn Fn(u64) -> f64>,
    access: Access,
    load: Load,
    servers: Vec<u64>,
    gain_exponent: f64,
    jitter: f64,
    head: u64,
    waiting: std::collections::VecDeque<(Request, u64)>,
    under_way: Vec<Completion>,
}

impl Odd {
    fn start_waiting(&mut self) {
        while let Some(&(request, since)) = self.waiting.front() {
            let (index, &free) = self.servers.iter().enumerate().min_by_key(|(_, f)| **f).unwrap();
            // Work that can only start when a server is free is started when the completion is due.
            if !self.under_way.is_empty() && self.under_way.len() >= self.servers.len() {
                return;
            }
            self.waiting.pop_front();
            let begin = free.max(since);
            let small = request.length_bytes <= 4096;
            let queued = (self.waiting.len() + self.under_way.len() + 1) as f64;
            let transfer = f64::from(request.length_bytes) / (self.rate)(request.offset_bytes);
            let noise = 1.0 + self.jitter * self.prng.normal().clamp(-3.0, 3.0);
            let mut s = transfer * noise;
            if request.offset_bytes != self.head {
                let far = request.offset_bytes.abs_diff(self.head) as f64 / self.facts.capacity.as_f64();
                let access = (self.access)(&mut self.prng, far);
                s += access * if small { queued.powf(-self.gain_exponent) } else { 1.0 };
            }
            self.head = request.offset_bytes + u64::from(request.length_bytes);
            let done = begin + (s * self.load.at(begin) * 1e9) as u64;
            if small || self.servers.len() == 1 {
                self.servers[index] = done;
            } else {
                self.servers.fill(done);
            }
            self.under_way.push(Completion {
                tag: request.tag,
                status: Status::Done,
                transferred_bytes: request.length_bytes,
                completed_ns: done,
            });
        }
    }
}

impl Drive for Odd {
    fn submit(&mut self, request: Request, now: Instant) {
        self.waiting.push_back((request, now.get()));
        self.start_waiting();
    }
    fn next_completion_at(&mut self) -> Option<Instant> {
        self.under_way.iter().map(|c| c.completed_ns).min().map(Instant::new)
    }
    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        let (index, first) = self.under_way.iter().enumerate().min_by_key(|(_, c)| c.completed_ns)?;
        if first.completed_ns > now.get() {
            return None;
        }
        let done = self.under_way.swap_remove(index);
        self.start_waiting();
        Some(done)
    }
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

const TB: f64 = 1e12;

fn disk(seed: u64, capacity: f64, outer: f64, inner: f64, zones: usize, stripe: (f64, f64)) -> Odd {
    let mut facts = sim::open("zoned", 1).unwrap().facts().clone();
    facts.capacity = Bytes::new(capacity as u64 / MIB * MIB);
    let capacity = facts.capacity.as_f64();
    let (share, period) = stripe;
    let rate = move |at: u64| {
        let zone = (at as f64 / capacity * zones as f64).floor();
        let f = if zones > 1 { zone / (zones as f64 - 1.0) } else { 0.0 };
        let r = (outer * outer - f * (outer * outer - inner * inner)).sqrt();
        let sign = if period > 0.0 && (at as f64 / period) as u64 % 2 == 1 { -1.0 } else { 1.0 };
        r / (1.0 + sign * share)
    };
    Odd {
        facts,
        prng: Prng::new(seed, 77),
        rate: Box::new(rate),
        access: Box::new(|p, far| 1.5e-3 + 14e-3 * far.sqrt() + p.unit() / 120.0),
        load: Load::none(),
        servers: vec![0],
        gain_exponent: 0.22,
        jitter: 0.01,
        head: 0,
        waiting: Default::default(),
        under_way: Vec::new(),
    }
}

const DISK_ACCESS_S: f64 = 1.5e-3 + 14e-3 * 8.0 / 15.0 + 1.0 / 240.0;

fn flash(seed: u64, rate: f64, latency: fn(&mut Prng) -> f64) -> Odd {
    let mut facts = sim::open("constant", 1).unwrap().facts().clone();
    facts.rotational = Some(false);
    facts.capacity = Bytes::new(1_000_204_886_016 / MIB * MIB);
    Odd {
        facts,
        rate: Box::new(move |_| rate),
        access: Box::new(move |p, _| latency(p)),
        servers: vec![0; 16],
        gain_exponent: 0.0,
        ..disk(seed, 1e12, 1.0, 1.0, 1, (0.0, 0.0))
    }
}

fn lognormal(p: &mut Prng, sigma: f64) -> f64 {
    (sigma * p.normal() - sigma * sigma / 2.0).exp()
}

struct Truth {
    outer: f64,
    inner: f64,
    pass_s_per_byte: f64,
    access: f64,
    gain: f64,
}

fn truth_of(odd: &Odd, access: f64, gain: f64, has_edges: bool) -> Truth {
    let capacity = odd.facts.capacity.as_f64();
    let mean = |a: f64, b: f64| {
        let n = 10_000;
        (0..n)
            .map(|i| {
                1.0 / (odd.rate)((capacity * (a + (b - a) * (f64::from(i) + 0.5) / f64::from(n))) as u64)
            })
            .sum::<f64>()
            / f64::from(n)
    };
    let pass = mean(0.0, 1.0);
    Truth {
        outer: if has_edges { 1.0 / mean(0.0, 0.01) } else { 1.0 / pass },
        inner: if has_edges { 1.0 / mean(0.99, 1.0) } else { 1.0 / pass },
        pass_s_per_byte: pass,
        access: access + 4096.0 * pass,
        gain,
    }
}

fn scaled(t: Truth, f: f64) -> Truth {
    Truth {
        outer: t.outer / f,
        inner: t.inner / f,
        pass_s_per_byte: t.pass_s_per_byte * f,
        access: t.access * f,
        gain: t.gain,
    }
}

type Scenario = (&'static str, fn(u64) -> (Odd, Truth));

fn plain(seed: u64) -> (Odd, Truth) {
    let mut p = Prng::new(seed, 5);
    let outer = 120e6 + 160e6 * p.unit();
    let odd = disk(
        seed,
        TB * (0.5 + 7.5 * p.unit()),
        outer,
        outer / (1.7 + 0.55 * p.unit()),
        20 + p.below(30) as usize,
        (0.0, 0.0),
    );
    let t = truth_of(&odd, DISK_ACCESS_S, 64f64.powf(0.22), true);
    (odd, t)
}

fn with_load(seed: u64, make: impl Fn(&mut Prng) -> (Load, f64)) -> (Odd, Truth) {
    let (mut odd, t) = plain(seed);
    let (load, mean) = make(&mut Prng::new(seed, 6));
    odd.load = load;
    (odd, scaled(t, mean))
}

fn nvme(seed: u64, latency: fn(&mut Prng) -> f64, mean: f64) -> (Odd, Truth) {
    let odd = flash(seed, 3.2e9, latency);
    let t = truth_of(&odd, mean, 16.0, false);
    (odd, t)
}

const SCENARIOS: &[Scenario] = &[
    ("plain disk", plain),
    ("wanders, 1 s", |seed| with_load(seed, |p| (Load::wandering(p, 0.02, 1.0), 1.0))),
    ("wanders, 5 s", |seed| with_load(seed, |p| (Load::wandering(p, 0.02, 5.0), 1.0))),
    ("slows by 5 % in 50 s", |seed| {
        let (odd, truth) = with_load(seed, |_| (Load::drift(0.05, 50.0), 1.0125));
        let access = truth.access / 1.0125 * 1.037;
        (odd, Truth { access, ..truth })
    }),
    ("log-normal accesses", |seed| {
        let (mut odd, _) = plain(seed);
        odd.access = Box::new(|p, _| DISK_ACCESS_S * lognormal(p, 1.0));
        let t = truth_of(&odd, DISK_ACCESS_S, 64f64.powf(0.22), true);
        (odd, t)
    }),
    ("flash", |seed| nvme(seed, |p| 80e-6 * lognormal(p, 0.2), 80e-6)),
    ("three zones", |seed| {
        let odd = disk(seed, 2e12, 200e6, 100e6, 3, (0.0, 0.0));
        let t = truth_of(&odd, DISK_ACCESS_S, 64f64.powf(0.22), true);
        (odd, t)
    }),
    ("30 TB", |seed| {
        let odd = disk(seed, 30e12, 290e6, 140e6, 60, (0.0, 0.0));
        let t = truth_of(&odd, DISK_ACCESS_S, 64f64.powf(0.22), true);
        (odd, t)
    }),
    ("rising", |seed| {
        let odd = disk(seed, 2e12, 100e6, 200e6, 30, (0.0, 0.0));
        let t = truth_of(&odd, DISK_ACCESS_S, 64f64.powf(0.22), true);
        (odd, t)
    }),
    ("a cache answers a tenth", |seed| {
        let (mut odd, _) = plain(seed);
        odd.access =
            Box::new(
                |p, far| if p.unit() < 0.1 { 0.1e-3 } else { 1.5e-3 + 14e-3 * far.sqrt() + p.unit() / 120.0 },
            );
        let t = truth_of(&odd, 0.9 * DISK_ACCESS_S + 0.01e-3, 64f64.powf(0.22), true);
        (odd, t)
    }),
];

const CODES: [FindingCode; 6] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::FullPassTime,
    FindingCode::AccessTime,
    FindingCode::ConcurrencyGain,
];

fn findings(odd: Odd, seed: u64) -> Vec<Finding> {
    let mut bench = Bench::new(Box::new(odd), seed + 2000);
    bench.check(false);
    analysis::analyse(&bench.view())
}

/// A coverage of 95 % shows as less than this once in a thousand times: a binomial of [`SEEDS`].
const COVERED_MIN: f64 = 0.80;
const SEEDS: u64 = 25;

#[test]
fn intervals_hold_on_odd_drives() {
    let mut failures = Vec::new();
    for (name, make) in SCENARIOS {
        let mut covered = [0u64; CODES.len()];
        for seed in 0..SEEDS {
            let (odd, truth) = make(seed);
            let capacity = odd.facts.capacity.as_f64();
            let pass = truth.pass_s_per_byte;
            let truths = [truth.outer, truth.inner, 1.0 / pass, pass * capacity, truth.access, truth.gain];
            let found = findings(odd, seed);
            for ((code, truth), covered) in CODES.iter().zip(truths).zip(&mut covered) {
                let finding = found.iter().find(|finding| finding.code() == *code);
                // Unknown is honest.
                let held = finding.and_then(Finding::estimate).is_none_or(|estimate| estimate.covers(truth));
                *covered += u64::from(held);
            }
        }
        let shares = covered.map(|count| count as f64 / SEEDS as f64);
        println!("{name:24} {shares:.2?}");
        // Four visits are too few for the edges of a rate that wanders so slowly. The bench ends a round of a quick drive after
        // some thousand requests, and its gain is then that of an emptying queue.
        let is_claimed = |index: usize| match *name {
            "wanders, 5 s" => index >= 2,
            "flash" => index != 5,
            _ => true,
        };
        for (index, share) in shares.iter().enumerate().filter(|(index, _)| is_claimed(*index)) {
            if *share < COVERED_MIN {
                failures.push(format!("{name}: {} covered {share}", CODES[index].name()));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
