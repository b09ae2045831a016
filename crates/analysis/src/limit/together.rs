//! Two limits at once, of requests and of bytes: each slows windows that the other alone does not explain.

use super::asked::Unit;
use super::bucket::WINDOWS_MIN;
use super::fits::{CONTRADICTING_SHARE, Fit};

/// A limit of bytes and one of requests or of parts of them.
#[derive(Clone, Copy)]
pub(super) struct Pair<'fits> {
    pub of_bytes: &'fits Fit,
    pub of_requests: &'fits Fit,
}

/// The two at which requests wait in most windows, in the simplest units of those with as many, and there the most exact ones.
pub(super) fn pair(fits: &[Fit]) -> Option<Pair<'_>> {
    let mut best: Option<Pair<'_>> = None;
    for of_bytes in fits {
        for of_requests in fits {
            let pair = Pair { of_bytes, of_requests };
            let is_of_both = of_bytes.unit == Unit::Bytes && of_requests.unit != Unit::Bytes;
            if !is_of_both || !pair.holds(fits) {
                continue;
            }
            let is_better = match best {
                Some(best) => pair.is_better(best),
                None => true,
            };
            if is_better {
                best = Some(pair);
            }
        }
    }
    best
}

impl Pair<'_> {
    fn holds(self, fits: &[Fit]) -> bool {
        let Pair { of_bytes, of_requests } = self;
        (of_bytes.bucket.is_even || of_requests.bucket.is_even)
            && holds_beside(of_bytes, of_requests)
            && holds_beside(of_requests, of_bytes)
            && is_of_its_unit(of_bytes, fits)
            && is_of_its_unit(of_requests, fits)
    }

    fn is_better(self, other: Pair<'_>) -> bool {
        let explains =
            |pair: Pair<'_>| (pair.of_bytes.bucket.windows + pair.of_requests.bucket.windows) as f64;
        if explains(self) < (1.0 - CONTRADICTING_SHARE) * explains(other) {
            return false;
        }
        if explains(other) < (1.0 - CONTRADICTING_SHARE) * explains(self) {
            return true;
        }
        let has_parts = self.of_requests.unit.part().is_some();
        if has_parts != other.of_requests.unit.part().is_some() {
            return !has_parts;
        }
        self.requests_off() < other.requests_off()
    }

    fn requests_off(self) -> f64 {
        self.of_bytes.bucket.requests_off + self.of_requests.bucket.requests_off
    }
}

fn holds_beside(fit: &Fit, other: &Fit) -> bool {
    let is_of_a_limit = fit.bucket.is_even || fit.sizes() > 1;
    is_of_a_limit
        && fit.bucket.is_certain
        && waits_apart(fit, other) >= WINDOWS_MIN
        && !fit.is_contradicted(Some(other))
}

/// Windows in which something waits for the one and not for the other.
fn waits_apart(one: &Fit, other: &Fit) -> usize {
    let mut apart = 0;
    for (&waits, &waits_for_other) in one.waits.iter().zip(&other.waits) {
        apart += usize::from(waits && !waits_for_other);
    }
    apart
}

/// Whether no bucket of the other unit explains its windows as well: requests of one size are as many bytes.
fn is_of_its_unit(fit: &Fit, fits: &[Fit]) -> bool {
    let others_max = CONTRADICTING_SHARE * fit.bucket.windows as f64;
    for other in fits {
        let is_other_unit = matches!(
            (fit.unit, other.unit),
            (Unit::Bytes, Unit::Requests) | (Unit::Requests | Unit::Parts(_), Unit::Bytes)
        );
        let explains_as_many = waits_apart(fit, other) as f64 <= others_max;
        if is_other_unit && explains_as_many && other.sizes() >= fit.sizes() {
            return false;
        }
    }
    true
}
