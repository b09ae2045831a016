//! The entries `[[faults]]` of a profile.

use crate::fault::drive::Fault;
use crate::flaw::Flaw;
use model::range::ByteRange;
use model::units::{Bytes, Instant, Nanos, Offset};
use serde::{Deserialize, Serialize};

/// Something that goes wrong; `kind` says what: `unreadable`, `slow`, `times-out`, `short-reads`, `stall`,
/// `gone-after-requests`, `gone-at`, `lying-capacity`, `silent-corruption`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FaultProfile {
    /// Reading or writing there is a medium error; what is before it is moved.
    Unreadable {
        /// Where the stretch begins.
        first_byte: u64,
        /// How long it is.
        bytes: u64,
        /// How long the drive tries before it gives up, in milliseconds, and does nothing else. Default: 0.
        #[serde(default)]
        milliseconds: f64,
    },
    /// Every request to that stretch takes the drive longer, as sectors that it reads only after retries do.
    Slow {
        /// Where the stretch begins.
        first_byte: u64,
        /// How long it is.
        bytes: u64,
        /// How much longer each request to it takes, in milliseconds. The drive does nothing else meanwhile.
        milliseconds: f64,
    },
    /// Requests to that stretch are never answered, and the system gives up.
    TimesOut {
        /// Where the stretch begins.
        first_byte: u64,
        /// How long it is.
        bytes: u64,
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
        /// How long it lasts.
        seconds: f64,
        /// It comes again each so many seconds. Default: it does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every_s: Option<f64>,
    },
    /// After so many requests the drive is gone.
    GoneAfterRequests {
        /// How many are answered as usual.
        requests: u64,
    },
    /// From a moment on the drive is gone.
    GoneAt {
        /// That moment, in seconds from the start.
        at_s: f64,
    },
    /// The drive holds less than it says: addresses past what it holds wrap to its start.
    LyingCapacity {
        /// What it holds. A multiple of 4096.
        real_bytes: u64,
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    },
}

/// What happens silently to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Corruption {
    /// One of its bits is other than it was written.
    BitFlip,
    /// It holds zeros.
    Zero,
    /// No write gets there.
    LostWrite,
    /// It holds what was written before what was written last.
    Stale,
    /// What is written to it gets to the block before it (from the first block to the one after).
    MisplacedWrite,
}

/// The longest that anything can last, in seconds: about three years.
const SECONDS_MAX: f64 = 1e8;

fn system_seconds() -> f64 {
    30.0
}

impl FaultProfile {
    /// Whether this can go wrong on a drive that says it holds `capacity`.
    ///
    /// # Errors
    /// When a stretch is not on the drive, or a number is out of its range.
    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        match *self {
            FaultProfile::Unreadable { first_byte, bytes, milliseconds }
            | FaultProfile::Slow { first_byte, bytes, milliseconds } => {
                check_stretch(first_byte, bytes, capacity)?;
                check_seconds("milliseconds", milliseconds / 1e3, 0.0)
            }
            FaultProfile::TimesOut { first_byte, bytes, seconds } => {
                check_stretch(first_byte, bytes, capacity)?;
                check_seconds("seconds", seconds, 0.0)
            }
            FaultProfile::ShortReads { every_reads } => check_count("every_reads", every_reads),
            FaultProfile::Stall { at_s, seconds, every_s } => {
                check_seconds("at_s", at_s, 0.0)?;
                check_seconds("seconds", seconds, 1e-9)?;
                match every_s {
                    Some(every_s) if every_s < seconds + 1e-9 => {
                        Err(Flaw::new("every_s", "it comes again before it is over"))
                    }
                    Some(every_s) => check_seconds("every_s", every_s, 1e-9),
                    None => Ok(()),
                }
            }
            FaultProfile::GoneAfterRequests { .. } => Ok(()),
            FaultProfile::GoneAt { at_s } => check_seconds("at_s", at_s, 0.0),
            FaultProfile::LyingCapacity { real_bytes } => check_real(real_bytes, capacity),
            FaultProfile::SilentCorruption { every_blocks, first_byte, bytes, .. } => {
                check_count("every_blocks", every_blocks)?;
                if !first_byte.is_multiple_of(4096) {
                    return Err(Flaw::new("first_byte", "it is no multiple of 4096"));
                }
                check_stretch(first_byte, bytes.unwrap_or(1), capacity)
            }
        }
    }

    /// What acts around the drive; nothing when only its data are wrong.
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
            FaultProfile::Slow { first_byte, bytes, milliseconds } => stretch(first_byte, bytes)
                .map(|range| Fault::Slow { range, longer: nanos(milliseconds / 1e3) })
                .into_iter()
                .collect(),
            FaultProfile::TimesOut { first_byte, bytes, seconds } => stretch(first_byte, bytes)
                .map(|range| Fault::TimesOut { range, after: nanos(seconds) })
                .into_iter()
                .collect(),
            FaultProfile::ShortReads { every_reads } => vec![Fault::ShortReads { every: every_reads }],
            FaultProfile::Stall { at_s, seconds, every_s } => {
                let (at, duration) = (Instant(nanos(at_s).0), nanos(seconds));
                vec![match every_s {
                    Some(every_s) => Fault::Stalls { at, duration, every: nanos(every_s) },
                    None => Fault::Stall { at, duration },
                }]
            }
            FaultProfile::GoneAfterRequests { requests } => vec![Fault::GoneAfter(requests)],
            FaultProfile::GoneAt { at_s } => vec![Fault::GoneAt(Instant(nanos(at_s).0))],
            FaultProfile::LyingCapacity { real_bytes } => vec![Fault::Wraps(Bytes(real_bytes))],
            FaultProfile::SilentCorruption { .. } => Vec::new(),
        }
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
}

fn stretch(first_byte: u64, bytes: u64) -> Option<ByteRange> {
    ByteRange::new(Offset(first_byte), Bytes(bytes))
}

fn check_stretch(first_byte: u64, bytes: u64, capacity: Bytes) -> Result<(), Flaw> {
    if bytes == 0 {
        return Err(Flaw::new("bytes", "it is an empty stretch"));
    }
    match first_byte.checked_add(bytes) {
        Some(end) if end <= capacity.0 => Ok(()),
        _ => Err(Flaw::new("bytes", format!("it ends past the drive's {} bytes", capacity.0))),
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

fn check_count(key: &str, count: u64) -> Result<(), Flaw> {
    if count == 0 { Err(Flaw::new(key, "it is at least 1")) } else { Ok(()) }
}

fn check_real(real_bytes: u64, capacity: Bytes) -> Result<(), Flaw> {
    match real_bytes {
        0 => Err(Flaw::new("real_bytes", "it holds nothing")),
        real if real >= capacity.0 => Err(Flaw::new("real_bytes", "it is no less than the drive says")),
        real if !real.is_multiple_of(4096) => Err(Flaw::new("real_bytes", "it is no multiple of 4096")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: Bytes = Bytes(1 << 30);

    fn read(text: &str) -> FaultProfile {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn entries_read_as_documented() {
        let range = ByteRange::new(Offset(4096), Bytes(8192)).unwrap();
        let faults = |text: &str| {
            assert_eq!(read(text).check(CAPACITY), Ok(()), "{text}");
            read(text).faults()
        };
        let at_4096 = "first_byte = 4096\nbytes = 8192\n";
        assert_eq!(faults(&format!("kind = \"unreadable\"\n{at_4096}")), [Fault::Unreadable(range)]);
        assert_eq!(
            faults(&format!("kind = \"unreadable\"\nmilliseconds = 7.5\n{at_4096}")),
            [Fault::Unreadable(range), Fault::Slow { range, longer: Nanos(7_500_000) }]
        );
        assert_eq!(
            faults(&format!("kind = \"times-out\"\n{at_4096}")),
            [Fault::TimesOut { range, after: Nanos(30_000_000_000) }]
        );
        assert_eq!(faults("kind = \"short-reads\"\nevery_reads = 3"), [Fault::ShortReads { every: 3 }]);
        assert_eq!(
            faults("kind = \"stall\"\nat_s = 1.5\nseconds = 0.5\nevery_s = 60.0"),
            [Fault::Stalls {
                at: Instant(1_500_000_000),
                duration: Nanos(500_000_000),
                every: Nanos(60_000_000_000)
            }]
        );
        assert_eq!(faults("kind = \"gone-after-requests\"\nrequests = 9"), [Fault::GoneAfter(9)]);
        assert_eq!(faults("kind = \"gone-at\"\nat_s = 2.0"), [Fault::GoneAt(Instant(2_000_000_000))]);
        assert_eq!(faults("kind = \"lying-capacity\"\nreal_bytes = 8192"), [Fault::Wraps(Bytes(8192))]);
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
        assert_eq!(flaw("kind = \"lying-capacity\"\nreal_bytes = 1073741824"), "real_bytes");
        assert_eq!(flaw("kind = \"short-reads\"\nevery_reads = 0"), "every_reads");
        assert!(toml::from_str::<FaultProfile>("kind = \"gone-at\"\nat_s = 1.0\nat = 2").is_err());
        assert!(toml::from_str::<FaultProfile>("kind = \"gone\"").is_err());
    }

    proptest! {
        /// Whatever passes the check can be built, and says what it said.
        #[test]
        fn what_passes_the_check_can_be_built(
            first_byte: u64, bytes: u64, count: u64, small: bool, time: f64, other: f64, part in 0usize..9,
        ) {
            let scale = if small { 1 << 29 } else { u64::MAX };
            let (first_byte, bytes) = (first_byte % scale, bytes % scale);
            let time = if small { (time.abs() % 100.0) * 1e3 } else { time };
            let fault = [
                FaultProfile::Unreadable { first_byte, bytes, milliseconds: time },
                FaultProfile::Slow { first_byte, bytes, milliseconds: time },
                FaultProfile::TimesOut { first_byte, bytes, seconds: time },
                FaultProfile::ShortReads { every_reads: count },
                FaultProfile::Stall { at_s: other, seconds: time, every_s: small.then_some(other) },
                FaultProfile::GoneAfterRequests { requests: count },
                FaultProfile::GoneAt { at_s: time },
                FaultProfile::LyingCapacity { real_bytes: bytes / 4096 * 4096 },
                FaultProfile::SilentCorruption {
                    corruption: Corruption::Stale,
                    every_blocks: count,
                    first_byte: first_byte / 4096 * 4096,
                    bytes: small.then_some(bytes),
                },
            ][part].clone();
            if fault.check(CAPACITY).is_ok() {
                prop_assert_eq!(fault.faults().is_empty(), part == 8);
                let text = toml::to_string(&fault);
                // TOML's numbers end at 63 bits.
                prop_assert!(count > 1 << 62 || read(&text.unwrap()) == fault);
                crate::contents::wrong_blocks(CAPACITY, &[fault], 1);
            }
        }
    }
}
