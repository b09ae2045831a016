//! A full pass of reads behind rate limits: first credit is used up, then each byte waits for tokens.

use crate::limit::Limit;
use crate::measured::sequential_visits;
use crate::stats::bounded;
use model::estimate::Estimate;
use model::finding::{Finding, LimitedOperations, Outcome, RateLimit, RateOf};
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;

/// What limits make of the time or the mean throughput of a pass. None where a limit is not known well enough, or of another finding.
pub(super) fn held_up(mut finding: Finding, limits: &[Limit], run: &RunView<'_>) -> Option<Finding> {
    let block = sequential_visits(run, Operation::Read).first()?.workload.block_sizes.largest();
    let longest = |bytes: Bytes| longest_time(limits, bytes, block);
    match &mut finding {
        Finding::FullPassTime(Outcome::Known(known)) if known.conclusion.operation == Operation::Read => {
            let pass = &mut known.conclusion;
            let time = longest(pass.covers_bytes)?;
            if time.value > pass.time.value {
                (pass.time, pass.read, pass.write) = (time, Some(time.value), None);
                pass.is_rate_limited = true;
            }
        }
        Finding::ReadRateMean(Outcome::Known(known)) => {
            let RateOf::Pass { range, is_rate_limited, .. } = &mut known.conclusion.of else { return None };
            let bytes = range.bytes().as_f64();
            let rate = longest(range.bytes())?.map_monotonic(|time_s| bytes / time_s);
            if rate.value < known.conclusion.rate.value {
                (known.conclusion.rate, *is_rate_limited) = (rate, true);
            }
        }
        _ => return None,
    }
    Some(finding)
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
