//! A full pass of reads behind rate limits: first credit is used up, then each byte waits for tokens.

use crate::limit::Limit;
use crate::measured::sequential_visits;
use crate::stats::bounded;
use model::estimate::Estimate;
use model::finding::{Finding, LimitedOperations, Outcome, RateLimit, RateOf};
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;

/// Samples at a limit that were slower than it by more met something else as well: each loses a request or two of tokens at its ends.
const AT_LIMIT_SHARE: f64 = 0.95;

/// What limits make of the time or the mean throughput of a pass. None where a limit is not known well enough, or of another finding.
pub(super) fn held_up(
    mut finding: Finding,
    is_at_limit: bool,
    limits: &[Limit],
    run: &RunView<'_>,
) -> Option<Finding> {
    let block = sequential_visits(run, Operation::Read).first()?.workload.block_sizes.largest();
    let limited = |bytes: Bytes, seen: f64| {
        let rate = longest_time(limits, bytes, block)?.map_monotonic(|time_s| bytes.as_f64() / time_s);
        Some(at_limits(seen, rate, is_at_limit))
    };
    match &mut finding {
        Finding::FullPassTime(Outcome::Known(known)) if known.conclusion.operation == Operation::Read => {
            let pass = &mut known.conclusion;
            let bytes = pass.covers_bytes.as_f64();
            if let Some(rate) = limited(pass.covers_bytes, bytes / pass.time.value)? {
                pass.time = rate.map_monotonic(|rate| bytes / rate);
                (pass.read, pass.write, pass.is_rate_limited) = (Some(pass.time.value), None, true);
            }
        }
        Finding::ReadRateMean(Outcome::Known(known)) => {
            let RateOf::Pass { range, is_rate_limited, .. } = &mut known.conclusion.of else { return None };
            if let Some(rate) = limited(range.bytes(), known.conclusion.rate.value)? {
                (known.conclusion.rate, *is_rate_limited) = (rate, true);
            }
        }
        _ => return None,
    }
    Some(finding)
}

/// What a pass that was seen at that rate is held to, if it is. Samples at the limit themselves come a little more slowly.
fn at_limits(seen: f64, limited: Estimate, is_at_limit: bool) -> Option<Estimate> {
    let is_held = limited.value < seen || is_at_limit && seen > AT_LIMIT_SHARE * limited.value;
    is_held.then_some(Estimate { low: limited.low.min(seen), ..limited })
}

fn longest_time(limits: &[Limit], bytes: Bytes, block: Bytes) -> Option<Estimate> {
    let mut longest = Estimate::exact(0.0);
    for limit in limits {
        let limit = limit.found.as_ref().ok()?;
        if limit.operations != LimitedOperations::Writes {
            if limit.may_count_several {
                return None;
            }
            let time = time_of(limit, bytes, block);
            longest = if time.value > longest.value { time } else { longest };
        }
    }
    Some(longest)
}

fn time_of(limit: &RateLimit, bytes: Bytes, block: Bytes) -> Estimate {
    let needed = bytes.as_f64() / limit.bytes_each(block);
    let time = |credit: f64, per_second: f64| (needed - credit).max(0.0) / per_second;
    let RateLimit { sustained, credit, credit_low, credit_high, .. } = *limit;
    let (low, high) = (time(credit_high, sustained.high), time(credit_low, sustained.low));
    bounded(time(credit, sustained.value), low, high, sustained.effective_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind a limit of 52.4 MB/s all samples were: "51.0 MB/s (50.6 to 51.4)" was said of the pass.
    #[test]
    fn samples_at_a_limit_are_held_to_it() {
        let limited = bounded(52.48e6, 52.43e6, 52.53e6, 9.0);
        let held = at_limits(51.0e6, limited, true).expect("it is at the limit");
        assert_eq!((held.value, held.low, held.high), (52.48e6, 51.0e6, 52.53e6));
        assert_eq!(at_limits(51.0e6, limited, false), None, "its own rate");
        assert_eq!(at_limits(40.0e6, limited, true), None, "slower than the limit");
        assert_eq!(at_limits(90.0e6, limited, false), Some(limited));
    }
}
