//! Reads that are slower the first time: blocks that come from elsewhere when they are touched, as of a volume restored from a snapshot, or that a
//! cache keeps from then on. What was never read before is then no slow region among what was.

use super::sorting::{SLOW_EXCESS, was_visited_before};
use super::visit::{Visit, longest_bytes};
use crate::stats::sample::Sample;

/// First visits on either side that tell what one took there.
const NEAR: usize = 10;
/// Of so many second visits half are slower by chance in one case of 128, if they are alike.
const AGAIN_MIN: usize = 8;

/// How many times as quick visits are where one was before, if that is more than places differ by. Visits are sorted by place and then by time.
pub(super) fn quicker_again(visits: &[Visit]) -> Option<f64> {
    let longest = longest_bytes(visits);
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for visit in visits {
        let kind = if was_visited_before(visits, visit, longest) { &mut again } else { &mut first };
        kind.push(visit);
    }
    if again.len() < AGAIN_MIN || first.len() < AGAIN_MIN {
        return None;
    }
    let mut times = Vec::new();
    for visit in again {
        let place = first.partition_point(|other| other.first_byte < visit.first_byte);
        let near = &first[place.saturating_sub(NEAR)..(place + NEAR).min(first.len())];
        let usual = Sample::median_or_zero(near.iter().map(|other| other.seconds_per_byte).collect());
        times.push(usual / visit.seconds_per_byte);
    }
    let times = Sample::median_or_zero(times);
    (times > 1.0 + SLOW_EXCESS).then_some(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::SurfaceMap;
    use model::range::ByteRange;
    use model::units::{Bytes, Offset};

    /// A volume of 20 GB behind a proxy that keeps what it read: "one region is slow: 21.0 GB, 5.29 × slower than around it". And a disk whose
    /// slow region was visited again.
    #[test]
    fn what_was_read_before_is_quicker_only_where_it_is_kept() {
        let range = ByteRange::new(Offset::START, Bytes::new(20_000_000_000)).expect("a range");
        let visits = |seconds_per_byte: fn(u64, bool) -> f64| {
            let mut visits = Vec::new();
            for number in 0..200 {
                for is_again in [false, true] {
                    if !is_again || number % 3 == 0 {
                        visits.push(Visit {
                            phase: 0,
                            first_byte: number * 99_000_000,
                            bytes: 8 << 20,
                            seconds_per_byte: seconds_per_byte(number, is_again)
                                * (1.0 + 0.001 * (number % 5) as f64),
                            start_ns: (u64::from(is_again) * 1000 + number * 7 % 200) * 50_000_000,
                            longest_ns: 0,
                        });
                    }
                }
            }
            visits
        };
        let kept = visits(|_, is_again| if is_again { 1e-9 } else { 5e-9 });
        let times = quicker_again(&kept).expect("it is quicker");
        assert!((times / 5.0 - 1.0).abs() < 0.01, "{times}");
        let weak = visits(|number, _| if (60..80).contains(&number) { 5e-9 } else { 1e-9 });
        assert_eq!(quicker_again(&weak), None);
        assert_eq!(SurfaceMap::of_visits(range, weak).slow_places.len(), 1);
    }
}
