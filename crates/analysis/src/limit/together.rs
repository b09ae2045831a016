//! Two limits at once, one of requests and one of bytes, as cloud volumes are sold: either makes windows slow which
//! contradict the other alone.

use super::asked::Unit;
use super::bucket::{CONTRADICTING_SHARE, Fit, WINDOWS_MIN};

/// The two at which requests wait in most windows, in the simplest units of those with as many, and there the most exact ones.
pub(super) fn pair(fits: &[Fit]) -> Option<[&Fit; 2]> {
    let mut pairs = Vec::new();
    for of_bytes in fits.iter().filter(|fit| fit.unit == Unit::Bytes) {
        for of_requests in fits.iter().filter(|fit| fit.unit != Unit::Bytes) {
            let pair = [of_bytes, of_requests];
            if is_pair(pair) && pair.iter().all(|one| is_of_its_unit(one, fits)) {
                pairs.push(pair);
            }
        }
    }
    let most = pairs.iter().map(explained).max()?;
    pairs.retain(|pair| explained(pair) as f64 >= (1.0 - CONTRADICTING_SHARE) * most as f64);
    let order = |[of_bytes, of_requests]: &[&Fit; 2]| {
        let off = of_bytes.bucket.requests_off + of_requests.bucket.requests_off;
        (of_requests.unit != Unit::Requests, off)
    };
    pairs.into_iter().min_by(|one, other| order(one).partial_cmp(&order(other)).expect("finite"))
}

fn is_pair([one, other]: [&Fit; 2]) -> bool {
    let are_certain = one.bucket.is_certain && other.bucket.is_certain;
    let has_even = one.bucket.is_even || other.bucket.is_even;
    let are_limits = [one, other].iter().all(|fit| fit.bucket.is_even || fit.bucket.blocks.len() > 1);
    are_certain
        && has_even
        && are_limits
        && waits_apart(one, other) >= WINDOWS_MIN
        && waits_apart(other, one) >= WINDOWS_MIN
        && !one.is_contradicted(Some(other))
        && !other.is_contradicted(Some(one))
}

/// Windows in which something waits for the one and not for the other.
fn waits_apart(one: &Fit, other: &Fit) -> usize {
    one.waits.iter().zip(&other.waits).filter(|(waits, other)| **waits && !**other).count()
}

fn explained([one, other]: &[&Fit; 2]) -> usize {
    one.bucket.windows + other.bucket.windows
}

/// Whether no bucket of the other unit explains its windows as well: requests of one size are as many bytes.
fn is_of_its_unit(fit: &Fit, fits: &[Fit]) -> bool {
    let waits = fit.waits.iter().filter(|waits| **waits).count();
    for other in fits {
        let is_other_unit = matches!(
            (fit.unit, other.unit),
            (Unit::Bytes, Unit::Requests) | (Unit::Requests | Unit::Parts(_), Unit::Bytes)
        );
        let explains_as_many = waits_apart(fit, other) as f64 <= CONTRADICTING_SHARE * waits as f64;
        if is_other_unit && explains_as_many && other.bucket.blocks.len() >= fit.bucket.blocks.len() {
            return false;
        }
    }
    true
}
