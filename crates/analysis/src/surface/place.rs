//! Places: all visits to the same stretch together.

use super::visit::Visit;
use model::range::ByteRange;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub visits: Range<usize>,
    pub centre: f64,
    /// The logarithm of the time per byte: the lower median of its visits.
    pub value: f64,
}

/// Visits inside the range, by place and then by time.
pub(super) fn sorted(range: ByteRange, mut visits: Vec<Visit>) -> Vec<Visit> {
    visits.retain(|visit| {
        visit.first_byte >= range.first().get()
            && visit.end_byte() <= range.end().get()
            && visit.bytes > 0
            && visit.seconds_per_byte.is_finite()
            && visit.seconds_per_byte > 0.0
    });
    visits.sort_by_key(|visit| (visit.first_byte, visit.start_ns));
    visits
}

/// Visits that begin at the same byte are visits to one place.
pub(super) fn group(visits: &[Visit]) -> Vec<Place> {
    let mut places = Vec::new();
    let mut from = 0;
    for same in visits.chunk_by(|one, next| one.first_byte == next.first_byte) {
        let mut values: Vec<f64> = same.iter().map(|visit| visit.seconds_per_byte.ln()).collect();
        values.sort_by(f64::total_cmp);
        let end = from + same.len();
        places.push(Place {
            visits: from..end,
            centre: same[0].centre(),
            value: values[(same.len() - 1) / 2],
        });
        from = end;
    }
    places
}
