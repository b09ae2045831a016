//! Drawn cloud volumes: even latency, a throughput, and a token bucket of requests or of bytes.

use crate::constant::ConstantProfile;
use crate::generator::draws::{Draws, Range};
use crate::generator::family::{Family, frame, size};
use crate::limit::LimitProfile;
use crate::link::LinkProfile;
use crate::profile::Profile;

const CAPACITY_GB: (u64, u64) = (20, 2000);
/// Network volumes complete single reads in 0.3 to 3 ms (recalled).
const LATENCY_US: Range = (300.0, 3000.0);
const SERVERS: (u32, u32) = (4, 64);
const RATE_MB: Range = (100.0, 1000.0);
/// Baselines of burstable volumes: 100 to 3000 IOPS, 20 MB/s and more (recalled); less, for runs of a minute.
const IOPS: Range = (100.0, 1500.0);
const CREDIT_REQUESTS: Range = (3000.0, 60_000.0);
/// The sustained throughput as a share of the rate until then.
const RATE_SHARE: Range = (0.1, 0.5);
const CREDIT_MB: Range = (500.0, 5000.0);

/// Amazon EBS counts a request to an SSD volume as one for each 256 KiB of it (recalled).
const EBS_REQUEST_KIB: f64 = 256.0;

const SOURCES: [&str; 1] = ["Baselines, bursts and latencies of burstable cloud volumes: recalled"];

pub(super) fn draw(seed: u64) -> Profile {
    let mut draws = Draws::new(Family::Cloud, seed, b"cloud___");
    let capacity_bytes = draws.count(CAPACITY_GB) * 1_000_000_000;
    let (latency_us, servers) = (draws.by_ratio(LATENCY_US), draws.count_u32(SERVERS));
    let rate = draws.by_ratio(RATE_MB);
    let mut limit = LimitProfile { separate: draws.percent(25), ..LimitProfile::default() };
    let what = if draws.percent(50) {
        let (iops, credit) = (draws.by_ratio(IOPS), draws.by_ratio(CREDIT_REQUESTS).round());
        (limit.iops, limit.credit_requests) = (Some(iops), Some(credit));
        format!("{credit} requests of credit, then {iops} per second")
    } else {
        let (rate, credit) = (rate * draws.even(RATE_SHARE), draws.by_ratio(CREDIT_MB));
        (limit.rate_mb_per_s, limit.credit_mb) = (Some(rate), Some(credit));
        format!("{credit} MB of credit, then {rate:.1} MB/s")
    };
    // Last, so that what was drawn before is what it always was.
    let what = if limit.iops.is_some() && draws.percent(25) {
        limit.request_kib = Some(EBS_REQUEST_KIB);
        format!("{what}, a larger request than {EBS_REQUEST_KIB} KiB counted as several")
    } else {
        what
    };
    let description = format!("A random cloud volume: {}, {what}", size(capacity_bytes));
    let mut profile = frame(Family::Cloud, seed, description, &SOURCES);
    profile.identity.capacity_bytes = Some(capacity_bytes);
    profile.constant = Some(ConstantProfile { latency_us, write_latency_us: None, servers, jitter: 0.0 });
    profile.link = Some(LinkProfile { rate_mb_per_s: Some(rate), ..LinkProfile::default() });
    profile.limit = Some(limit);
    profile
}
