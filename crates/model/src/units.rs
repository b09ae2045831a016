//! Quantities as types: a size is not a position, a duration is not a moment, a rate is not a count.
//!
//! Arithmetic is checked. The operators panic on overflow in every build, since a wrapped offset
//! could send a write to the wrong place; the `checked_` forms answer `None` for input from outside.

use std::fmt;
use std::ops::{Add, Sub};

/// One kibibyte, in bytes.
pub const KIB: u64 = 1 << 10;
/// One mebibyte, in bytes.
pub const MIB: u64 = 1 << 20;
/// One gibibyte, in bytes.
pub const GIB: u64 = 1 << 30;
/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A position on a target: bytes from its start.
///
/// Two positions cannot be added:
/// ```compile_fail
/// let _ = model::units::Offset(1) + model::units::Offset(2);
/// ```
/// ```
/// use model::units::{Bytes, Offset};
/// assert_eq!(Offset(4096) + Bytes(512), Offset(4608));
/// assert_eq!(Offset(4096) - Offset(512), Bytes(3584));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A moment: nanoseconds since the run's clock began. It never comes from the wall clock.
///
/// A moment and a length of time are different things:
/// ```compile_fail
/// let _ = model::units::Instant(1) + model::units::Instant(2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

/// A data rate in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// A quantile in [0, 1]: 0.5 is the median.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Quantile(f64);

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// `kib` × 1024 bytes. Panics on overflow.
    pub const fn from_kib(kib: u64) -> Bytes {
        Bytes(kib.checked_mul(KIB).expect("a size in KiB fits into 64 bits"))
    }

    /// `mib` × 1024² bytes. Panics on overflow.
    pub const fn from_mib(mib: u64) -> Bytes {
        Bytes(mib.checked_mul(MIB).expect("a size in MiB fits into 64 bits"))
    }

    /// `gib` × 1024³ bytes. Panics on overflow.
    pub const fn from_gib(gib: u64) -> Bytes {
        Bytes(gib.checked_mul(GIB).expect("a size in GiB fits into 64 bits"))
    }

    /// The sum, or `None` when it exceeds 64 bits.
    pub fn checked_add(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_add(other.0).map(Bytes)
    }

    /// The difference, or `None` when `other` is larger.
    pub fn checked_sub(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_sub(other.0).map(Bytes)
    }

    /// The size `count` times, or `None` when it exceeds 64 bits.
    pub fn checked_mul(self, count: u64) -> Option<Bytes> {
        self.0.checked_mul(count).map(Bytes)
    }

    /// The largest multiple of `unit` that is not larger. Panics when `unit` is zero.
    pub fn round_down_to(self, unit: Bytes) -> Bytes {
        Bytes(self.0 - self.0 % unit.0)
    }

    /// Whether it is a whole number of `unit`s. A zero `unit` divides nothing.
    pub fn is_multiple_of(self, unit: Bytes) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// This many bytes in that time, or `None` when the time is zero.
    pub fn per(self, time: Nanos) -> Option<BytesPerSecond> {
        (time.0 > 0).then(|| BytesPerSecond(self.0 as f64 / time.seconds()))
    }
}

impl Offset {
    /// The start of the target.
    pub const START: Offset = Offset(0);

    /// The position `size` further on, or `None` past 64 bits.
    pub fn checked_add(self, size: Bytes) -> Option<Offset> {
        self.0.checked_add(size.0).map(Offset)
    }
}

impl Nanos {
    /// No time.
    pub const ZERO: Nanos = Nanos(0);

    /// `millis` thousandths of a second. Panics on overflow.
    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(millis.checked_mul(1_000_000).expect("a time in milliseconds fits into 64 bits"))
    }

    /// `seconds` whole seconds. Panics on overflow.
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds.checked_mul(NANOS_PER_SECOND).expect("a time in seconds fits into 64 bits"))
    }

    /// The nearest whole number of nanoseconds; `None` when negative, not finite or past 64 bits.
    pub fn from_secs_f64(seconds: f64) -> Option<Nanos> {
        let nanos = (seconds * NANOS_PER_SECOND as f64).round();
        (nanos.is_finite() && nanos >= 0.0 && nanos < u64::MAX as f64).then_some(Nanos(nanos as u64))
    }

    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The time left when `other` is taken off; none when `other` is longer.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Instant {
    /// When the run's clock began.
    pub const START: Instant = Instant(0);
    /// A moment that does not come: whoever waits until then waits for something else.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// The time from `earlier` to here; none when `earlier` is later.
    pub fn since(self, earlier: Instant) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment `time` later, or the last moment there is.
    pub fn saturating_add(self, time: Nanos) -> Instant {
        Instant(self.0.saturating_add(time.0))
    }
}

impl Quantile {
    /// The median.
    pub const MEDIAN: Quantile = Quantile(0.5);
    /// The 90th percentile.
    pub const P90: Quantile = Quantile(0.9);
    /// The 99th percentile.
    pub const P99: Quantile = Quantile(0.99);
    /// The 99.9th percentile.
    pub const P999: Quantile = Quantile(0.999);

    /// `None` unless 0 ≤ `value` ≤ 1.
    pub fn new(value: f64) -> Option<Quantile> {
        (0.0..=1.0).contains(&value).then_some(Quantile(value))
    }

    /// In [0, 1].
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        self.checked_add(other).expect("a sum of sizes fits into 64 bits")
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        self.checked_sub(other).expect("the smaller size is taken from the larger")
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

impl Add<Bytes> for Offset {
    type Output = Offset;
    fn add(self, size: Bytes) -> Offset {
        self.checked_add(size).expect("a position fits into 64 bits")
    }
}

impl Sub<Offset> for Offset {
    type Output = Bytes;
    fn sub(self, earlier: Offset) -> Bytes {
        Bytes(self.0.checked_sub(earlier.0).expect("the earlier position is taken from the later"))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.checked_add(other.0).expect("a sum of times fits into 64 bits"))
    }
}

impl Add<Nanos> for Instant {
    type Output = Instant;
    fn add(self, time: Nanos) -> Instant {
        Instant(self.0.checked_add(time.0).expect("a moment fits into 64 bits"))
    }
}

impl fmt::Display for Bytes {
    /// In the largest IEC unit that divides it: `4 KiB`, `1 MiB`, `1000 bytes`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1 << 40, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")] {
            if self.0 >= unit && self.0.is_multiple_of(unit) {
                return write!(formatter, "{} {name}", self.0 / unit);
            }
        }
        write!(formatter, "{} {}", self.0, if self.0 == 1 { "byte" } else { "bytes" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_exact() {
        assert_eq!(Bytes::from_kib(4), Bytes(4096));
        assert_eq!(Bytes::from_gib(50), Bytes(53_687_091_200));
        assert_eq!(Bytes(5000).round_down_to(Bytes(4096)), Bytes(4096));
        assert_eq!(Bytes(4096).to_string(), "4 KiB");
        assert_eq!(Bytes(1000).to_string(), "1000 bytes");
        assert_eq!([Bytes(0), Bytes(1)].map(|size| size.to_string()), ["0 bytes", "1 byte"]);
    }

    #[test]
    fn a_full_pass_of_article_c_gives_its_rate() {
        let rate = Bytes(3_000_592_982_016).per(Nanos::from_secs_f64(17_922.9).unwrap()).unwrap();
        assert!((rate.0 / 1e6 - 167.4).abs() < 0.05, "{rate:?}");
    }

    #[test]
    #[should_panic(expected = "a position fits")]
    fn a_position_does_not_wrap() {
        let _ = Offset(u64::MAX) + Bytes(1);
    }

    #[test]
    #[should_panic(expected = "taken from the larger")]
    fn a_size_is_never_negative() {
        let _ = Bytes(1) - Bytes(2);
    }

    #[test]
    fn no_time_gives_no_rate() {
        assert_eq!(Bytes(1).per(Nanos::ZERO), None);
        assert_eq!(Nanos::from_secs_f64(-1.0), None);
        assert_eq!(Nanos::from_secs_f64(f64::NAN), None);
        assert_eq!(Nanos::from_secs_f64(1e12), None);
        assert_eq!(Quantile::new(1.01), None);
    }

    proptest! {
        #[test]
        fn checked_and_plain_addition_agree(a in any::<u64>(), b in any::<u64>()) {
            match a.checked_add(b) {
                Some(sum) => prop_assert_eq!(Bytes(a).checked_add(Bytes(b)), Some(Bytes(sum))),
                None => prop_assert_eq!(Offset(a).checked_add(Bytes(b)), None),
            }
        }

        #[test]
        fn rounding_down_keeps_whole_units(size in any::<u64>(), unit in 1u64..1 << 40) {
            let rounded = Bytes(size).round_down_to(Bytes(unit));
            prop_assert!(rounded.is_multiple_of(Bytes(unit)) && size - rounded.0 < unit);
        }
    }
}
