//! The entries `[[faults]]` of a profile.

use crate::fault::kind::{Fault, Wrap};
use crate::flaw::Flaw;
use crate::profile::schema::{is_zero, words};
use model::range::ByteRange;
use model::units::{Bytes, Instant, Nanos, Offset};
use serde::{Deserialize, Serialize};

/// The most blocks that a drive remembers: 1 GiB.
const REMEMBERED_MAX: u64 = 1 << 18;

/// Something that goes wrong; `kind` says what: `unreadable`, `slow`, `times-out`, `hangs-past-depth`, `short-reads`, `stall`,
/// `gone-after-requests`, `gone-at`, `lying-capacity`, `loses-past-end`, `silent-corruption`, `other-load`, `host-delay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FaultProfile {
    /// Reading or writing there is a medium error; what is before it is moved.
    Unreadable {
        first_byte: u64,
        bytes: u64,
        /// How long the drive tries before it gives up, in milliseconds, and does nothing else. Default: 0.
        #[serde(default)]
        milliseconds: f64,
    },
    /// Every request to that stretch takes the drive longer, as sectors that it reads only after retries do.
    Slow {
        /// Where the stretch begins. Default: 0.
        #[serde(default)]
        first_byte: u64,
        /// How long it is. Default: to the end.
        bytes: Option<u64>,
        /// How much longer each request to it takes, in milliseconds. The drive does nothing else meanwhile.
        milliseconds: f64,
        /// From when on, in seconds from the start. Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        at_s: f64,
        /// For how long, for requests that come meanwhile. Default: for ever.
        seconds: Option<f64>,
    },
    /// Requests to that stretch are never answered, and the system gives up.
    TimesOut {
        first_byte: u64,
        bytes: u64,
        /// When the system gives up. Default: 30, as Linux does for SCSI and ATA.
        #[serde(default = "system_seconds")]
        seconds: f64,
    },
    /// The drive loses requests that it gets while others are in flight, and the system gives up.
    HangsPastDepth {
        /// So many in flight it can hold. Default: 1.
        #[serde(default = "one")]
        queue_depth: u32,
        /// When the system gives up. Default: 30, as Linux does for SCSI and ATA.
        #[serde(default = "system_seconds")]
        seconds: f64,
    },
    /// Some reads move half of their bytes.
    ShortReads {
        /// Of how many reads one is short; 1 is all of them.
        every_reads: u64,
    },
    /// For a while no answer comes; what was due then comes at its end. The drive itself works on.
    Stall {
        /// When it begins, in seconds from the start.
        at_s: f64,
        seconds: f64,
        /// It comes again each so many seconds. Default: it does not.
        every_s: Option<f64>,
    },
    /// After so many requests the drive is gone.
    GoneAfterRequests { requests: u64 },
    /// From a moment on the drive is gone.
    GoneAt {
        /// That moment, in seconds from the start.
        at_s: f64,
    },
    /// The drive holds less than it says: addresses past what it holds wrap to earlier ones.
    LyingCapacity {
        /// What it holds. A multiple of 4096.
        real_bytes: u64,
        /// Addresses wrap to behind so much of its start. A multiple of 4096.
        #[serde(default)]
        spared_bytes: u64,
    },
    /// The drive holds less than it says: what is written past what it holds is lost, but for the newest.
    LosesPastEnd {
        /// What it holds. A multiple of 4096.
        real_bytes: u64,
        /// So many of the blocks of 4096 bytes that were written last, wherever, are still told as they were written.
        #[serde(default)]
        remembers_blocks: u64,
    },
    /// Some blocks do not hold what was written to them, and nothing says so.
    SilentCorruption {
        /// What happens to them: `bit-flip`, `zero`, `lost-write`, `stale`, `misplaced-write`.
        corruption: Corruption,
        /// Of each so many blocks of 4096 bytes one is wrong, at a place that the seed draws; 1 is all of them.
        every_blocks: u64,
        /// Where the stretch of the drive begins in which that is so: a multiple of 4096. Default: 0.
        #[serde(default)]
        first_byte: u64,
        /// How long the stretch is. Default: to the end.
        bytes: Option<u64>,
    },
    /// Somebody else reads at random from all over the drive, through the same link and queue.
    OtherLoad {
        /// When it begins, in seconds from the start. Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        at_s: f64,
        /// How long it lasts. Default: for ever.
        seconds: Option<f64>,
        /// With `seconds`: it comes again each so many seconds. Default: it does not.
        every_s: Option<f64>,
        /// The size of each request, in KiB: 4 to 16384. Default: 4, 8, 16, 32 or 64, as the seed draws.
        request_kib: Option<u64>,
        /// So many requests a second on average, at random, at most 64 of them at once. Either this or `queue_depth`.
        per_second: Option<f64>,
        /// So many requests at once, 1 to 64: the next comes 10 µs after the answer to one. Either this or `per_second`.
        queue_depth: Option<u32>,
    },
    /// The host sees completions late; the drive works on.
    HostDelay {
        /// The mean delay in microseconds, exponentially distributed.
        mean_us: f64,
        /// The share of completions that are `late_ms` later still. Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        late_share: f64,
        /// How much later those are, in milliseconds. Default: 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        late_ms: f64,
    },
}

words! {
    Corruption = "Kind of silent corruption." {
        BitFlip = "bit-flip" => "One bit is flipped.";
        Zero = "zero" => "The block reads as zeroes.";
        LostWrite = "lost-write" => "Writes to the block are lost.";
        Stale = "stale" => "The block holds the version before the last write.";
        MisplacedWrite = "misplaced-write" => "Writes land on the preceding block (of the first block: on the next).";
    }
}

/// The longest that anything can last, in seconds: about three years.
const SECONDS_MAX: f64 = 1e8;

const PER_SECOND_MAX: f64 = 1e6;

fn one() -> u32 {
    1
}

fn system_seconds() -> f64 {
    30.0
}

impl FaultProfile {
    /// Whether this can go wrong on a drive that says it holds `capacity`.
    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        match *self {
            FaultProfile::Unreadable { first_byte, bytes, milliseconds } => {
                check_stretch(first_byte, bytes, capacity)?;
                check_seconds("milliseconds", milliseconds / 1e3, 0.0)
            }
            FaultProfile::Slow { first_byte, bytes, milliseconds, at_s, seconds } => {
                check_stretch(first_byte, bytes.unwrap_or(1), capacity)?;
                check_seconds("milliseconds", milliseconds / 1e3, 0.0)?;
                check_times(at_s, seconds, None)
            }
            FaultProfile::TimesOut { first_byte, bytes, seconds } => {
                check_stretch(first_byte, bytes, capacity)?;
                check_seconds("seconds", seconds, 0.0)
            }
            FaultProfile::HangsPastDepth { queue_depth, seconds } => {
                Flaw::when(queue_depth == 0, "queue_depth", "it is at least 1")?;
                check_seconds("seconds", seconds, 0.0)
            }
            FaultProfile::ShortReads { every_reads } => {
                Flaw::when(every_reads == 0, "every_reads", "it is at least 1")
            }
            FaultProfile::Stall { at_s, seconds, every_s } => check_times(at_s, Some(seconds), every_s),
            FaultProfile::GoneAfterRequests { .. } => Ok(()),
            FaultProfile::GoneAt { at_s } => check_seconds("at_s", at_s, 0.0),
            FaultProfile::LyingCapacity { real_bytes, spared_bytes } => {
                check_real(real_bytes, capacity)?;
                let is_whole = spared_bytes < real_bytes && spared_bytes.is_multiple_of(4096);
                Flaw::when(!is_whole, "spared_bytes", "it is no multiple of 4096 below real_bytes")
            }
            FaultProfile::LosesPastEnd { real_bytes, remembers_blocks: 0..=REMEMBERED_MAX } => {
                check_real(real_bytes, capacity)
            }
            FaultProfile::LosesPastEnd { .. } => {
                Err(Flaw::new("remembers_blocks", format!("it is more than {REMEMBERED_MAX}")))
            }
            FaultProfile::SilentCorruption { every_blocks, first_byte, bytes, .. } => {
                Flaw::when(every_blocks == 0, "every_blocks", "it is at least 1")?;
                Flaw::when(!first_byte.is_multiple_of(4096), "first_byte", "it is no multiple of 4096")?;
                check_stretch(first_byte, bytes.unwrap_or(1), capacity)
            }
            FaultProfile::OtherLoad { at_s, seconds, every_s, request_kib, per_second, queue_depth } => {
                check_times(at_s, seconds, every_s)?;
                check_arrival(per_second, queue_depth)?;
                match request_kib {
                    Some(kib) if !(4..=16_384).contains(&kib) || kib << 10 > capacity.get() => Err(
                        Flaw::new("request_kib", "it is less than 4, more than 16384 or more than the drive"),
                    ),
                    _ => Ok(()),
                }
            }
            FaultProfile::HostDelay { mean_us, late_share, late_ms } => {
                check_seconds("mean_us", mean_us / 1e6, 0.0)?;
                check_seconds("late_ms", late_ms / 1e3, 0.0)?;
                Flaw::when(!(0.0..=1.0).contains(&late_share), "late_share", "it is not between 0 and 1")
            }
        }
    }

    pub fn faults(&self) -> Vec<Fault> {
        match *self {
            FaultProfile::Unreadable { first_byte, bytes, milliseconds } => {
                let Some(range) = stretch(first_byte, bytes) else { return Vec::new() };
                let mut faults = vec![Fault::Unreadable(range)];
                if milliseconds > 0.0 {
                    faults.push(Fault::Slow { range, longer: nanos(milliseconds / 1e3) });
                }
                faults
            }
            FaultProfile::Slow { first_byte, bytes, milliseconds, at_s, seconds } => {
                let Some(range) = stretch(first_byte, bytes.unwrap_or(i64::MAX as u64)) else {
                    return Vec::new();
                };
                let (longer, at) = (nanos(milliseconds / 1e3), Instant::new(nanos(at_s).get()));
                vec![match seconds {
                    Some(seconds) => Fault::SlowFor { range, longer, at, duration: nanos(seconds) },
                    None if at_s > 0.0 => {
                        Fault::SlowFor { range, longer, at, duration: Nanos::new(u64::MAX) }
                    }
                    None => Fault::Slow { range, longer },
                }]
            }
            FaultProfile::TimesOut { first_byte, bytes, seconds } => stretch(first_byte, bytes)
                .map(|range| Fault::TimesOut { range, after: nanos(seconds) })
                .into_iter()
                .collect(),
            FaultProfile::HangsPastDepth { queue_depth, seconds } => {
                vec![Fault::HangsPastDepth { depth: queue_depth as usize, after: nanos(seconds) }]
            }
            FaultProfile::ShortReads { every_reads } => vec![Fault::ShortReads { every: every_reads }],
            FaultProfile::Stall { at_s, seconds, every_s } => {
                let (at, duration) = (Instant::new(nanos(at_s).get()), nanos(seconds));
                vec![match every_s {
                    Some(every_s) => Fault::Stalls { at, duration, every: nanos(every_s) },
                    None => Fault::Stall { at, duration },
                }]
            }
            FaultProfile::GoneAfterRequests { requests } => vec![Fault::GoneAfter(requests)],
            FaultProfile::GoneAt { at_s } => vec![Fault::GoneAt(Instant::new(nanos(at_s).get()))],
            FaultProfile::LyingCapacity { real_bytes, spared_bytes } => {
                vec![Fault::Wraps(Wrap { real_bytes, spared_bytes })]
            }
            FaultProfile::LosesPastEnd { .. }
            | FaultProfile::SilentCorruption { .. }
            | FaultProfile::OtherLoad { .. }
            | FaultProfile::HostDelay { .. } => Vec::new(),
        }
    }
}

pub(super) fn nanos(seconds: f64) -> Nanos {
    Nanos::new((seconds * 1e9).round() as u64)
}

fn stretch(first_byte: u64, bytes: u64) -> Option<ByteRange> {
    ByteRange::new(Offset::new(first_byte), Bytes::new(bytes))
}

fn check_stretch(first_byte: u64, bytes: u64, capacity: Bytes) -> Result<(), Flaw> {
    Flaw::when(bytes == 0, "bytes", "it is an empty stretch")?;
    match first_byte.checked_add(bytes) {
        Some(end) if end <= capacity.get() => Ok(()),
        _ => Err(Flaw::new("bytes", format!("it ends past the drive's {} bytes", capacity.get()))),
    }
}

fn check_seconds(key: &str, seconds: f64, least: f64) -> Result<(), Flaw> {
    match (least..=SECONDS_MAX).contains(&seconds) {
        true => Ok(()),
        false => {
            Err(Flaw::new(key, format!("it is less than {least} s, more than {SECONDS_MAX} s, or no number")))
        }
    }
}

/// From when on, for how long, and how often.
fn check_times(at_s: f64, seconds: Option<f64>, every_s: Option<f64>) -> Result<(), Flaw> {
    check_seconds("at_s", at_s, 0.0)?;
    if let Some(seconds) = seconds {
        check_seconds("seconds", seconds, 1e-9)?;
    }
    match (every_s, seconds) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(Flaw::new("every_s", "how long it lasts, `seconds`, is missing")),
        (Some(every_s), Some(seconds)) if every_s < seconds + 1e-9 => {
            Err(Flaw::new("every_s", "it comes again before it is over"))
        }
        (Some(every_s), _) => check_seconds("every_s", every_s, 1e-9),
    }
}

fn check_arrival(per_second: Option<f64>, queue_depth: Option<u32>) -> Result<(), Flaw> {
    match (per_second, queue_depth) {
        (Some(rate), None) if !(1e-6..=PER_SECOND_MAX).contains(&rate) => Err(Flaw::new(
            "per_second",
            format!("it is less than 0.000001, more than {PER_SECOND_MAX}, or no number"),
        )),
        (None, Some(depth)) if !(1..=64).contains(&depth) => {
            Err(Flaw::new("queue_depth", "it is less than 1 or more than 64"))
        }
        (Some(_), None) | (None, Some(_)) => Ok(()),
        (Some(_), Some(_)) => {
            Err(Flaw::new("queue_depth", "`per_second` is given too: one of them is how it comes"))
        }
        (None, None) => {
            Err(Flaw::new("per_second", "it or `queue_depth` is missing: how many requests come"))
        }
    }
}

fn check_real(real_bytes: u64, capacity: Bytes) -> Result<(), Flaw> {
    match real_bytes {
        0 => Err(Flaw::new("real_bytes", "it holds nothing")),
        real if real >= capacity.get() => Err(Flaw::new("real_bytes", "it is no less than the drive says")),
        real if !real.is_multiple_of(4096) => Err(Flaw::new("real_bytes", "it is no multiple of 4096")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::OtherLoad;
    use proptest::prelude::*;

    const CAPACITY: Bytes = Bytes::new(1 << 30);

    fn read(text: &str) -> FaultProfile {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn entries_read_as_documented() {
        let range = ByteRange::new(Offset::new(4096), Bytes::new(8192)).unwrap();
        let faults = |text: &str| {
            assert_eq!(read(text).check(CAPACITY), Ok(()), "{text}");
            read(text).faults()
        };
        let at_4096 = "first_byte = 4096\nbytes = 8192\n";
        assert_eq!(
            faults("kind = \"hangs-past-depth\"\nseconds = 2"),
            [Fault::HangsPastDepth { depth: 1, after: Nanos::new(2_000_000_000) }]
        );
        assert_eq!(faults(&format!("kind = \"unreadable\"\n{at_4096}")), [Fault::Unreadable(range)]);
        assert_eq!(
            faults(&format!("kind = \"unreadable\"\nmilliseconds = 7.5\n{at_4096}")),
            [Fault::Unreadable(range), Fault::Slow { range, longer: Nanos::new(7_500_000) }]
        );
        assert_eq!(
            faults(&format!("kind = \"times-out\"\n{at_4096}")),
            [Fault::TimesOut { range, after: Nanos::new(30_000_000_000) }]
        );
        let longer = Nanos::new(5_000_000);
        assert_eq!(
            faults(&format!("kind = \"slow\"\nmilliseconds = 5\n{at_4096}")),
            [Fault::Slow { range, longer }]
        );
        let (at, duration) = (Instant::new(30_000_000_000), Nanos::new(60_000_000_000));
        assert_eq!(
            faults(&format!("kind = \"slow\"\nmilliseconds = 5\nat_s = 30\nseconds = 60\n{at_4096}")),
            [Fault::SlowFor { range, longer, at, duration }]
        );
        assert_eq!(faults("kind = \"other-load\"\nper_second = 50"), []);
        assert_eq!(faults("kind = \"short-reads\"\nevery_reads = 3"), [Fault::ShortReads { every: 3 }]);
        assert_eq!(
            faults("kind = \"stall\"\nat_s = 1.5\nseconds = 0.5\nevery_s = 60.0"),
            [Fault::Stalls {
                at: Instant::new(1_500_000_000),
                duration: Nanos::new(500_000_000),
                every: Nanos::new(60_000_000_000)
            }]
        );
        assert_eq!(faults("kind = \"gone-after-requests\"\nrequests = 9"), [Fault::GoneAfter(9)]);
        assert_eq!(faults("kind = \"gone-at\"\nat_s = 2.0"), [Fault::GoneAt(Instant::new(2_000_000_000))]);
        assert_eq!(
            faults("kind = \"lying-capacity\"\nreal_bytes = 8192"),
            [Fault::Wraps(Wrap { real_bytes: 8192, spared_bytes: 0 })]
        );
        assert_eq!(
            faults("kind = \"silent-corruption\"\ncorruption = \"bit-flip\"\nevery_blocks = 1000"),
            []
        );
    }

    #[test]
    fn what_cannot_go_wrong_is_refused() {
        let flaw = |text: &str| read(text).check(CAPACITY).unwrap_err().key;
        assert_eq!(flaw("kind = \"unreadable\"\nfirst_byte = 1073741824\nbytes = 1"), "bytes");
        assert_eq!(flaw("kind = \"unreadable\"\nfirst_byte = 0\nbytes = 0"), "bytes");
        assert_eq!(flaw("kind = \"slow\"\nfirst_byte = 0\nbytes = 1\nmilliseconds = nan"), "milliseconds");
        assert_eq!(flaw("kind = \"stall\"\nat_s = 0.0\nseconds = 2.0\nevery_s = 1.0"), "every_s");
        assert_eq!(flaw("kind = \"other-load\""), "per_second");
        assert_eq!(flaw("kind = \"other-load\"\nper_second = 0"), "per_second");
        assert_eq!(flaw("kind = \"other-load\"\nqueue_depth = 65"), "queue_depth");
        assert_eq!(flaw("kind = \"other-load\"\nqueue_depth = 1\nper_second = 1"), "queue_depth");
        assert_eq!(flaw("kind = \"other-load\"\nqueue_depth = 1\nrequest_kib = 3"), "request_kib");
        assert_eq!(flaw("kind = \"other-load\"\nqueue_depth = 1\nevery_s = 3"), "every_s");
        assert_eq!(flaw("kind = \"lying-capacity\"\nreal_bytes = 1073741824"), "real_bytes");
        let spares_all = "kind = \"lying-capacity\"\nreal_bytes = 8192\nspared_bytes = 8192";
        assert_eq!(flaw(spares_all), "spared_bytes");
        let much = "kind = \"loses-past-end\"\nreal_bytes = 8192\nremembers_blocks = 1000000000";
        assert_eq!(flaw(much), "remembers_blocks");
        assert_eq!(flaw("kind = \"short-reads\"\nevery_reads = 0"), "every_reads");
        assert!(toml::from_str::<FaultProfile>("kind = \"gone-at\"\nat_s = 1.0\nat = 2").is_err());
        assert!(toml::from_str::<FaultProfile>("kind = \"gone\"").is_err());
    }

    proptest! {
        /// Whatever passes the check can be built, and says what it said.
        #[test]
        fn what_passes_the_check_can_be_built(
            first_byte: u64, bytes: u64, count: u64, small: bool, time: f64, other: f64, part in 0usize..12,
        ) {
            let scale = if small { 1 << 29 } else { u64::MAX };
            let (first_byte, bytes) = (first_byte % scale, bytes % scale);
            let time = if small { (time.abs() % 100.0) * 1e3 } else { time };
            let fault = [
                FaultProfile::Unreadable { first_byte, bytes, milliseconds: time },
                FaultProfile::Slow {
                    first_byte,
                    bytes: small.then_some(bytes),
                    milliseconds: time,
                    at_s: other.abs() % 1e9,
                    seconds: small.then_some(other),
                },
                FaultProfile::TimesOut { first_byte, bytes, seconds: time },
                FaultProfile::ShortReads { every_reads: count },
                FaultProfile::Stall { at_s: other, seconds: time, every_s: small.then_some(other) },
                FaultProfile::GoneAfterRequests { requests: count },
                FaultProfile::GoneAt { at_s: time },
                FaultProfile::LyingCapacity { real_bytes: bytes / 4096 * 4096, spared_bytes: count },
                FaultProfile::LosesPastEnd { real_bytes: bytes / 4096 * 4096, remembers_blocks: count },
                FaultProfile::SilentCorruption {
                    corruption: Corruption::Stale,
                    every_blocks: count,
                    first_byte: first_byte / 4096 * 4096,
                    bytes: small.then_some(bytes),
                },
                FaultProfile::OtherLoad {
                    at_s: time,
                    seconds: small.then_some(time),
                    every_s: (small && count % 2 == 0).then_some(other),
                    request_kib: (count % 3 == 0).then_some(count % 100),
                    per_second: (count % 5 != 0).then_some(other),
                    queue_depth: (count % 5 == 0).then_some(count as u32 % 70),
                },
                FaultProfile::HostDelay { mean_us: time, late_share: other, late_ms: other },
            ][part].clone();
            if fault.check(CAPACITY).is_ok() {
                prop_assert_eq!(fault.faults().is_empty(), part >= 8);
                prop_assert_eq!(OtherLoad::of_profile(&fault).is_some(), part == 10);
                let text = toml::to_string(&fault);
                // TOML's numbers end at 63 bits.
                prop_assert!(count > 1 << 62 || read(&text.unwrap()) == fault);
                crate::contents::wrong_blocks(CAPACITY, &[fault], 1);
            }
        }
    }
}
