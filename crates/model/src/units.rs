//! Quantities as types: a size is not a position, a duration is not a moment, a rate is not a count.
//!
//! Arithmetic is checked. The operators panic on overflow in every build, since a wrapped offset
//! could send a write to the wrong place; the `checked_` forms answer `None` for input from outside.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Bytes(u64);

/// A position on a target: bytes from its start.
///
/// Two positions cannot be added:
/// ```compile_fail
/// let _ = model::units::Offset::new(1) + model::units::Offset::new(2);
/// ```
/// ```
/// use model::units::{Bytes, Offset};
/// assert_eq!(Offset::new(4096) + Bytes::new(512), Offset::new(4608));
/// assert_eq!(Offset::new(4096) - Offset::new(512), Bytes::new(3584));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Offset(u64);

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(u64);

/// A moment: nanoseconds since the run's clock began. It never comes from the wall clock.
///
/// A moment and a length of time are different things:
/// ```compile_fail
/// let _ = model::units::Instant::new(1) + model::units::Instant::new(2);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Instant(u64);

#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSecond(f64);

/// A quantile in [0, 1]: 0.5 is the median.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Quantile(f64);

impl Bytes {
    pub const ZERO: Bytes = Bytes(0);

    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// Panics on overflow, as the other units do.
    pub const fn from_kib(kib: u64) -> Bytes {
        Bytes(product(kib, KIB))
    }

    pub const fn from_mib(mib: u64) -> Bytes {
        Bytes(product(mib, MIB))
    }

    pub const fn from_gib(gib: u64) -> Bytes {
        Bytes(product(gib, GIB))
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    /// As a float, which is exact up to 2^53.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub fn checked_add(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_add(other.0).map(Bytes)
    }

    pub fn checked_sub(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_sub(other.0).map(Bytes)
    }

    pub fn checked_mul(self, count: u64) -> Option<Bytes> {
        self.0.checked_mul(count).map(Bytes)
    }

    pub fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }

    pub fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// How many blocks of `unit` hold it. Panics when `unit` is zero.
    pub fn div_ceil(self, unit: Bytes) -> u64 {
        self.0.div_ceil(unit.0)
    }

    /// The largest multiple of `unit` that is not larger. Panics when `unit` is zero.
    pub fn round_down_to(self, unit: Bytes) -> Bytes {
        Bytes(self.0 - self.0 % unit.0)
    }

    /// The smallest multiple of `unit` that is not smaller. Panics when `unit` is zero, and on overflow.
    pub fn round_up_to(self, unit: Bytes) -> Bytes {
        Bytes(self.0.checked_next_multiple_of(unit.0).expect("a rounded size fits into 64 bits"))
    }

    /// Whether it is a whole number of `unit`s. A zero `unit` divides nothing.
    pub fn is_multiple_of(self, unit: Bytes) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// Throughput over that time; `None` when the time is zero.
    pub fn per(self, time: Nanos) -> Option<BytesPerSecond> {
        if time.0 == 0 { None } else { Some(BytesPerSecond(self.0 as f64 / time.seconds())) }
    }
}

impl Offset {
    pub const START: Offset = Offset(0);

    pub const fn new(offset_bytes: u64) -> Offset {
        Offset(offset_bytes)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    pub fn checked_add(self, size: Bytes) -> Option<Offset> {
        self.0.checked_add(size.0).map(Offset)
    }

    /// `None` before the start of the target.
    pub fn checked_sub(self, size: Bytes) -> Option<Offset> {
        self.0.checked_sub(size.0).map(Offset)
    }

    pub const fn from_start(self) -> Bytes {
        Bytes(self.0)
    }

    /// How far apart two offsets are, whichever comes first.
    pub fn distance(self, other: Offset) -> Bytes {
        Bytes(self.0.abs_diff(other.0))
    }

    /// The largest multiple of `unit` that is not past it. Panics when `unit` is zero.
    pub fn round_down_to(self, unit: Bytes) -> Offset {
        Offset(self.0 - self.0 % unit.0)
    }

    /// Whether it is aligned to `unit`. Nothing is aligned to zero.
    pub fn is_multiple_of(self, unit: Bytes) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }
}

impl Nanos {
    pub const ZERO: Nanos = Nanos(0);
    pub const MAX: Nanos = Nanos(u64::MAX);

    pub const fn new(nanos: u64) -> Nanos {
        Nanos(nanos)
    }

    /// Panics on overflow, as the other units do.
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(product(micros, 1_000))
    }

    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(product(millis, 1_000_000))
    }

    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(product(seconds, NANOS_PER_SECOND))
    }

    /// The nearest whole number of nanoseconds; `None` when negative, not finite or past 64 bits.
    pub fn from_secs_f64(seconds: f64) -> Option<Nanos> {
        let nanos = (seconds * NANOS_PER_SECOND as f64).round();
        if nanos >= 0.0 && nanos < u64::MAX as f64 { Some(Nanos(nanos as u64)) } else { None }
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub fn checked_add(self, other: Nanos) -> Option<Nanos> {
        self.0.checked_add(other.0).map(Nanos)
    }

    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }

    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    pub fn saturating_mul(self, count: u64) -> Nanos {
        Nanos(self.0.saturating_mul(count))
    }
}

impl Instant {
    pub const START: Instant = Instant(0);
    /// A moment that does not come: whoever waits until then waits for something else.
    pub const NEVER: Instant = Instant(u64::MAX);

    pub const fn new(nanos: u64) -> Instant {
        Instant(nanos)
    }

    pub const fn get(self) -> u64 {
        self.0
    }

    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The time from `earlier` to here; none when `earlier` is later.
    pub fn since(self, earlier: Instant) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    pub fn checked_add(self, time: Nanos) -> Option<Instant> {
        self.0.checked_add(time.0).map(Instant)
    }

    pub fn saturating_add(self, time: Nanos) -> Instant {
        Instant(self.0.saturating_add(time.0))
    }

    pub fn saturating_sub(self, time: Nanos) -> Instant {
        Instant(self.0.saturating_sub(time.0))
    }
}

impl BytesPerSecond {
    pub const fn new(bytes_per_second: f64) -> BytesPerSecond {
        BytesPerSecond(bytes_per_second)
    }

    pub const fn get(self) -> f64 {
        self.0
    }

    /// How long `bytes` take at this rate, in seconds; infinite at none.
    pub fn seconds_for(self, bytes: Bytes) -> f64 {
        bytes.0 as f64 / self.0
    }
}

impl Quantile {
    pub const P25: Quantile = Quantile(0.25);
    pub const MEDIAN: Quantile = Quantile(0.5);
    pub const P90: Quantile = Quantile(0.9);
    pub const P99: Quantile = Quantile(0.99);
    pub const P999: Quantile = Quantile(0.999);

    pub fn new(value: f64) -> Option<Quantile> {
        if (0.0..=1.0).contains(&value) { Some(Quantile(value)) } else { None }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

const fn product(count: u64, unit: u64) -> u64 {
    count.checked_mul(unit).expect("so many of a unit fit into 64 bits")
}

/// `Left operator Right = Output`, by a checked operation of the numbers that panics with that invariant.
macro_rules! checked_operators {
    ($($left:ident $trait:ident::$operator:ident $right:ident $(.$field:tt)? = $output:ident by $checked:ident, $invariant:literal;)+) => {
        $(impl $trait<$right> for $left {
            type Output = $output;
            fn $operator(self, other: $right) -> $output {
                $output(self.0.$checked(other $(.$field)?).expect($invariant))
            }
        })+
    };
}

checked_operators! {
    Bytes Add::add Bytes.0 = Bytes by checked_add, "a sum of sizes fits into 64 bits";
    Bytes Sub::sub Bytes.0 = Bytes by checked_sub, "the smaller size is taken from the larger";
    Bytes Mul::mul u64 = Bytes by checked_mul, "a product of a size fits into 64 bits";
    Bytes Div::div u64 = Bytes by checked_div, "a size is not divided by zero";
    Bytes Rem::rem Bytes.0 = Bytes by checked_rem, "a size is not divided by zero";
    Offset Add::add Bytes.0 = Offset by checked_add, "a position fits into 64 bits";
    Offset Sub::sub Bytes.0 = Offset by checked_sub, "an offset does not lie before the start";
    Offset Sub::sub Offset.0 = Bytes by checked_sub, "the earlier position is taken from the later";
    Offset Rem::rem Bytes.0 = Bytes by checked_rem, "an offset is not divided by zero";
    Nanos Add::add Nanos.0 = Nanos by checked_add, "a sum of times fits into 64 bits";
    Nanos Sub::sub Nanos.0 = Nanos by checked_sub, "the shorter time is taken from the longer";
    Nanos Mul::mul u64 = Nanos by checked_mul, "a product of a time fits into 64 bits";
    Nanos Div::div u64 = Nanos by checked_div, "a time is not divided by zero";
    Nanos Rem::rem Nanos.0 = Nanos by checked_rem, "a time is not divided by zero";
    Instant Add::add Nanos.0 = Instant by checked_add, "a moment fits into 64 bits";
    Instant Sub::sub Instant.0 = Nanos by checked_sub, "the earlier moment is taken from the later";
}

impl Div<Bytes> for Bytes {
    type Output = u64;
    fn div(self, other: Bytes) -> u64 {
        self.0 / other.0
    }
}

impl Div<Bytes> for Offset {
    type Output = u64;
    fn div(self, other: Bytes) -> u64 {
        self.0 / other.0
    }
}

impl Div<Nanos> for Nanos {
    type Output = u64;
    fn div(self, other: Nanos) -> u64 {
        self.0 / other.0
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}

impl AddAssign<Bytes> for Offset {
    fn add_assign(&mut self, size: Bytes) {
        *self = *self + size;
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl AddAssign<Nanos> for Instant {
    fn add_assign(&mut self, time: Nanos) {
        *self = *self + time;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(times: I) -> Nanos {
        times.fold(Nanos::ZERO, Add::add)
    }
}

impl From<u32> for Bytes {
    /// Requests carry 32 bits of length.
    fn from(bytes: u32) -> Bytes {
        Bytes(u64::from(bytes))
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

    #[test]
    fn units_divide_into_counts_and_multiply_by_them() {
        assert_eq!(Bytes::from_mib(1) / Bytes::from_kib(4), 256);
        assert_eq!(Bytes::from_kib(4) * 256, Bytes::from_mib(1));
        assert_eq!(Bytes::new(5000) % Bytes::new(4096), Bytes::new(904));
        assert_eq!(Bytes::new(5000).round_up_to(Bytes::new(4096)), Bytes::new(8192));
        assert_eq!(Offset::new(8191) / Bytes::new(4096), 1);
        assert_eq!(Offset::new(8191).round_down_to(Bytes::new(4096)), Offset::new(4096));
        assert_eq!(Nanos::from_secs(1) / Nanos::from_micros(10), 100_000);
        assert_eq!(Instant::new(70) - Instant::new(20), Nanos::new(50));
        assert_eq!(Instant::new(1_500_000_000).seconds(), 1.5);
        assert_eq!(BytesPerSecond::new(200e6).seconds_for(Bytes::new(100_000_000)), 0.5);
        assert_eq!([Nanos::new(1), Nanos::new(2)].into_iter().sum::<Nanos>(), Nanos::new(3));
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
