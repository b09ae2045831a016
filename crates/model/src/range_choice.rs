//! A part of a target as people type it, before the target is known: `10%..20%` or `0..100GiB`.

use crate::quantity_text::{QuantityError, parse_share, parse_size, share_text, size_text};
use crate::range::ByteRange;
use crate::units::{Bytes, Offset};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const EXPECTED: &str = "a range such as 10%..20% or 0..100GiB, with its end past its start";

/// A part of a target, its end past its start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RangeChoice {
    Bytes(Bytes, Bytes),
    /// From and to which share of the capacity, in [0, 1].
    Shares(f64, f64),
}

impl RangeChoice {
    /// First and last byte of it in `whole`: bytes count from the start of the target, shares are those of `whole`, on multiples of `grid`.
    pub fn bounds(self, whole: ByteRange, grid: Bytes) -> (Bytes, Bytes) {
        let (from, to) = match self {
            RangeChoice::Bytes(from, to) => return (from, to),
            RangeChoice::Shares(from, to) => (from, to),
        };
        let first = whole.first().get();
        let at = |share: f64| {
            let at = first + (whole.bytes().as_f64() * share) as u64;
            Bytes::new(Bytes::new(at).round_down_to(grid).get().max(first))
        };
        (at(from), if to >= 1.0 { whole.end().from_start() } else { at(to) })
    }

    /// The same as a range; none where it does not lie within `whole`.
    pub fn within(self, whole: ByteRange, grid: Bytes) -> Option<ByteRange> {
        let (from, to) = self.bounds(whole, grid);
        let range = ByteRange::new(Offset::START + from, to.checked_sub(from)?)?;
        if whole.contains(&range) { Some(range) } else { None }
    }
}

impl FromStr for RangeChoice {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<RangeChoice, QuantityError> {
        let wrong = || QuantityError { text: text.to_string(), expected: EXPECTED };
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        if !text.contains('%') {
            let (from, to) = (parse_size(from)?, parse_size(to)?);
            return if from < to { Ok(RangeChoice::Bytes(from, to)) } else { Err(wrong()) };
        }
        let from = if from.trim() == "0" { 0.0 } else { parse_share(from.trim())? };
        let to = parse_share(to.trim())?;
        if from < to { Ok(RangeChoice::Shares(from, to)) } else { Err(wrong()) }
    }
}

impl fmt::Display for RangeChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeChoice::Bytes(from, to) => write!(formatter, "{}..{}", size_text(*from), size_text(*to)),
            RangeChoice::Shares(from, to) => write!(formatter, "{}..{}", share_text(*from), share_text(*to)),
        }
    }
}

crate::stored_as_text!(RangeChoice);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!("10%..20%".parse(), Ok(RangeChoice::Shares(0.1, 0.2)));
        assert_eq!("0..100GiB".parse(), Ok(RangeChoice::Bytes(Bytes::ZERO, Bytes::from_gib(100))));
        for wrong in ["", "5", "20%..10%", "0..", "..5", "1%..2GiB", "5..5", "a..b", "0..200%"] {
            assert!(wrong.parse::<RangeChoice>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_lies_within_its_whole() {
        let whole = ByteRange::new(Offset::new(1 << 20), Bytes::from_gib(1)).unwrap();
        let half = RangeChoice::Shares(0.5, 1.0).within(whole, Bytes::from_mib(64)).unwrap();
        assert_eq!((half.first().get(), half.end()), (512 << 20, whole.end()));
        assert_eq!(RangeChoice::Bytes(Bytes::ZERO, Bytes::new(4096)).within(whole, Bytes::new(1)), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = text.parse::<RangeChoice>();
        }

        #[test]
        fn what_is_shown_is_read_back(from in any::<u64>(), to in any::<u64>(), low in 0.0..1.0f64, high in 0.0..1.0f64) {
            for range in [RangeChoice::Bytes(Bytes::new(from), Bytes::new(to)), RangeChoice::Shares(low, high)] {
                if from < to && low < high {
                    prop_assert_eq!(range.to_string().parse(), Ok(range));
                }
            }
        }
    }
}
