//! Regions that are much slower than those around them.
//!
//! # What it finds
//! Stretches that took at least a third longer than those around them in most of their visits, at least twice and with
//! something sound in between; how far they extend, how much slower they are, and whether single requests took long (weak
//! sectors, which the drive reads again and again) or all of them a little.
//! # Why it matters
//! Weak sectors are the ones that become unreadable next.
//! # How
//! See `surface::place`. What was slow once and not again was not the place: it is counted as disturbed. For what was not visited the
//! finding states the chance with which a region of a size would have been met, from where the visits lie.
//! # Cannot tell when
//! Other load disturbs so many visits that a place may be slow twice by chance.
//! # Known problems
//! A region that is slow only now and then counts as disturbed. The chance holds for a region anywhere with equal probability, which
//! is so slow that a single request shows it in a visit.
//! # References
//! Bairavasundaram et al., "An analysis of latent sector errors in disk drives", SIGMETRICS 2007.

use super::wording::{number, size};
use super::zones::{operation, other_load};
use super::{Detector, Need};
use crate::measured::{sequential_visits, survey_evidence, turns};
use crate::stats::sample::Sample;
use crate::surface::{SlowPlace, SurfaceMap, Visit};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::histogram::LatencyHistogram;
use model::request::Operation;
use model::run::RunView;
use model::units::{GIB, MIB, Quantile};

/// See the head of this file.
pub(super) struct SlowRegions;

/// A request that takes this many times as long as the longest of a usual visit waited for something that was read again and again,
/// and not less than this: several turns of any disk, for each of four in the queue.
const WEAK_TIMES: f64 = 5.0;
const WEAK_NS_MIN: f64 = 100e6;
/// While something else uses the drive, only what is at least so many times as slow is believed: a visit to a disk that waits for
/// one request of somebody else, a seek there and back, takes up to half as long again. Of a drive that does not turn nothing is
/// believed then: its visits are so short that a moment makes them many times as long.
const LOADED_TIMES_MIN: f64 = 2.0;
/// What is usual around a place is not known by fewer visits: as many as the rate of an edge rests on.
const VISITS_MIN: usize = 8;
/// The sizes of regions whose chance to be met is stated.
const REGION_SIZES: [(u64, &str); 3] = [(64 * MIB, "64 MiB"), (GIB, "1 GiB"), (10 * GIB, "10 GiB")];
/// From this chance on a region is certain to be met.
const CERTAIN: f64 = 0.999_999;
/// Regions listed in a finding; all are counted.
const LISTED_MAX: usize = 1000;
/// Upper limits of the classes of latency, in ms: those that surface checkers draw (MHDD, Victoria), of which 500 ms is a
/// sector that is read again and again.
const CLASS_LIMITS_MS: [u64; 4] = [10, 50, 200, 500];

impl Detector for SlowRegions {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::SlowRegions]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Survey(Operation::Read), Need::Survey(Operation::Write)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let mut map = match SurfaceMap::of(run, operation(run)) {
            Ok(map) => map,
            Err(why) => return vec![Finding::unknown(FindingCode::SlowRegions, why)],
        };
        if map.visits.len() < VISITS_MIN {
            let why = format!(
                "{} usable visits are too few to tell a slow place from those around it. Measure longer.",
                map.visits.len()
            );
            return vec![Finding::unknown(FindingCode::SlowRegions, why)];
        }
        if let Some(why) = other_load(&map) {
            let is_disk = turns(run) == Some(true);
            map.slow_places.retain(|place| is_disk && place.times_slower >= LOADED_TIMES_MIN);
            if map.slow_places.is_empty() {
                let why = why.replace("hides its zones", "hides slow regions");
                return vec![Finding::unknown(FindingCode::SlowRegions, why)];
            }
        }
        vec![found(run, &map)]
    }
}

fn found(run: &RunView<'_>, map: &SurfaceMap) -> Finding {
    let weak_ns = weak_from_ns(&map.visits);
    let chances = REGION_SIZES.map(|(bytes, name)| (bytes, name, chance_met(map, bytes)));
    let statement = statement(map, weak_ns, &chances);
    let regions = map.slow_places.iter().take(LISTED_MAX).map(|place| row(place, weak_ns));
    let chance = |(bytes, _, chance): (u64, &str, f64)| {
        Datum::record([("bytes", Datum::Integer(bytes)), ("probability", Datum::Number(chance))])
    };
    let count = Estimate::exact(map.slow_places.len() as f64);
    let evidence = survey_evidence(run, operation(run));
    let finding = Finding::number(FindingCode::SlowRegions, count, "count", statement, evidence)
        .with_data("regions", Datum::List(regions.collect()))
        .with_data("would_have_been_met", Datum::List(chances.into_iter().map(chance).collect()))
        .with_data("disturbed_visits", Datum::Integer(map.disturbances.visits as u64))
        .with_data("not_settled", Datum::Integer(map.suspects().len() as u64))
        .with_data("latency_classes", latency_classes(run, operation(run)));
    let is_weak = |place: &SlowPlace| place.longest_ns as f64 >= weak_ns;
    if map.slow_places.iter().any(is_weak) {
        return finding.with_advice(
            "Copy what you need from these regions first. Then look at the drive's SMART counters (`smartctl -a`): pending sectors \
             are the weak ones.",
        );
    }
    finding
}

fn statement(map: &SurfaceMap, weak_ns: f64, chances: &[(u64, &str, f64); 3]) -> String {
    let mut statement = match map.slow_places.as_slice() {
        [] => "No region was slow when it was measured again.".to_string(),
        [place] => format!("One region is slow: {}.", described(place, weak_ns)),
        [first, ..] => {
            format!("{} regions are slow; the first: {}.", map.slow_places.len(), described(first, weak_ns))
        }
    };
    match map.disturbances.visits {
        0 => {}
        1 => statement.push_str(" One visit was slow for a moment, not because of its place."),
        count => statement
            .push_str(&format!(" {count} visits were slow for a moment, not because of their places.")),
    }
    let uncertain = chances.iter().filter(|(.., chance)| *chance < CERTAIN);
    let texts: Vec<String> =
        uncertain.map(|(_, name, chance)| format!("{} % for {name}", percent(*chance))).collect();
    if !texts.is_empty() {
        statement.push_str(&format!(
            " Only a part was visited: the chance to have met a slow region is {}.",
            texts.join(", ")
        ));
    }
    statement
}

/// A chance in percent that is never rounded up to certainty.
fn percent(chance: f64) -> String {
    let percent = chance * 100.0;
    if percent > 99.0 { format!("{:.2}", (percent * 100.0).floor() / 100.0) } else { number(percent) }
}

fn described(place: &SlowPlace, weak_ns: f64) -> String {
    let kind = if place.longest_ns as f64 >= weak_ns {
        "weak sectors, single requests took"
    } else {
        "the longest request took"
    };
    format!(
        "{} at byte {} take {} times as long as what is around them ({kind} {} ms)",
        size(place.bytes),
        place.first_byte,
        number(place.times_slower),
        place.longest_ns / 1_000_000
    )
}

fn row(place: &SlowPlace, weak_ns: f64) -> Datum {
    let kind = if place.longest_ns as f64 >= weak_ns { "weak-sectors" } else { "slow" };
    Datum::record([
        ("first_byte", Datum::Integer(place.first_byte)),
        ("bytes", Datum::Integer(place.bytes)),
        ("within_first_byte", Datum::Integer(place.within_first_byte)),
        ("within_end_byte", Datum::Integer(place.within_end_byte)),
        ("times_slower", Datum::Number(place.times_slower)),
        ("kind", Datum::Text(kind.into())),
        ("longest_s", Datum::Number(place.longest_ns as f64 / 1e9)),
        ("visits", Datum::Integer(place.visits as u64)),
    ])
}

/// How long the longest request of a visit must take to be of a weak sector.
fn weak_from_ns(visits: &[Visit]) -> f64 {
    let longest = visits.iter().map(|visit| visit.longest_ns as f64).collect();
    let usual = Sample::new(longest).map_or(0.0, |sample| sample.median());
    (WEAK_TIMES * usual).max(WEAK_NS_MIN)
}

/// The chance that a region of that length, anywhere in the range with equal probability, holds a byte that was visited: the
/// measure of all places where it may begin and does.
fn chance_met(map: &SurfaceMap, bytes: u64) -> f64 {
    let (first, end) = (map.range.first().0, map.range.end().0);
    let Some(room) = map.range.bytes().0.checked_sub(bytes).filter(|room| *room > 0) else { return 1.0 };
    let last = end - bytes;
    let (mut met, mut until) = (0u64, first);
    for visit in &map.visits {
        let from = visit.first_byte.saturating_sub(bytes).max(until);
        let to = visit.end_byte().min(last);
        if to > from {
            met += to - from;
            until = to;
        }
    }
    met as f64 / room as f64
}

/// Requests by how long they took.
fn latency_classes(run: &RunView<'_>, operation: Operation) -> Datum {
    let mut histogram = LatencyHistogram::default();
    for totals in
        sequential_visits(run, operation).iter().filter_map(|visit| visit.summary.totals_of(operation))
    {
        histogram.merge(&totals.histogram);
    }
    let below: Vec<u64> =
        CLASS_LIMITS_MS.iter().map(|limit| count_below(&histogram, limit * 1_000_000)).collect();
    let counts = [
        below[0],
        below[1] - below[0],
        below[2] - below[1],
        below[3] - below[2],
        histogram.count() - below[3],
    ];
    let names = ["below_10_ms", "10_to_50_ms", "50_to_200_ms", "200_to_500_ms", "500_ms_and_more"];
    Datum::record(names.into_iter().zip(counts.map(Datum::Integer)))
}

/// How many latencies lie below the limit, to within the histogram's relative error: the number of ranks whose value does.
fn count_below(histogram: &LatencyHistogram, limit_ns: u64) -> u64 {
    let count = histogram.count();
    let is_below = |rank: u64| {
        let quantile = Quantile::new((rank as f64 + 0.5) / count as f64);
        quantile.and_then(|quantile| histogram.quantile(quantile)).is_some_and(|value| value.0 < limit_ns)
    };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_below(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::range::ByteRange;
    use model::units::{Bytes, Offset};

    fn visit(first_byte: u64, bytes: u64) -> Visit {
        Visit { phase: 0, first_byte, bytes, seconds_per_byte: 1e-8, start_ns: first_byte, longest_ns: 0 }
    }

    /// Of 0..1000 MiB, 400 to 410 was visited: of the 936 places where 64 MiB may begin, 74 are met.
    #[test]
    fn the_chance_to_meet_a_region_is_that_of_where_it_may_begin() {
        let range = ByteRange::new(Offset(0), Bytes(1000 * MIB)).unwrap();
        let map = SurfaceMap::of_visits(range, vec![visit(400 * MIB, 10 * MIB)]);
        assert!((chance_met(&map, 64 * MIB) - 74.0 / 936.0).abs() < 1e-9);
        let all =
            SurfaceMap::of_visits(range, (0..100).map(|part| visit(part * 10 * MIB, 10 * MIB)).collect());
        assert_eq!(chance_met(&all, 64 * MIB), 1.0);
        assert_eq!(chance_met(&map, 2000 * MIB), 1.0);
    }

    #[test]
    fn latencies_are_counted_by_class() {
        let mut histogram = LatencyHistogram::default();
        for milliseconds in [1, 2, 30, 300, 300, 900] {
            histogram.record(milliseconds * 1_000_000);
        }
        let below = CLASS_LIMITS_MS.map(|limit| count_below(&histogram, limit * 1_000_000));
        assert_eq!(below, [2, 3, 3, 5]);
        assert_eq!(count_below(&LatencyHistogram::default(), 10), 0);
    }

    #[test]
    fn certainty_is_not_rounded_to() {
        assert_eq!(
            (percent(0.9999), percent(0.345), percent(0.99999)),
            ("99.99".into(), "34.5".into(), "99.99".into())
        );
    }
}
