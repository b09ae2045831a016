//! Words for the findings of rates by transfer size.

use super::numbers::{block, listed, memory, rate, short_time, with_interval};
use super::{Group, NO_TIME, RATE_LIMITED, Reason, Subject, Wording};
use crate::style::lower;
use model::experiment_name::ExperimentName;
use model::finding::{
    FindingCode, Known, NEARLY, SizePattern, SizePoint, SizeProfile, SizeSaturation, SizesUnknown,
    SuspectPoint, SuspectPoints,
};
use model::request::Operation;
use model::units::Bytes;

const SMALLEST_BYTES: f64 = 512.0;
const NAMED_MAX: usize = 3;
/// Gaps of blocks of different sizes that differ by more have no common cause.
const EQUAL_GAP_RATIO_MAX: f64 = 1.25;

impl Wording for SizeProfile {
    const PLACE: (Group, &'static str) = (Group::Speed, "Block sizes measured");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("size", "sizes"));

    fn statement(known: &Known<SizeProfile>, _: FindingCode, subject: &Subject<'_>) -> String {
        let profile = &known.conclusion;
        let mut sentences = Vec::new();
        let mut depths: Vec<String> = Vec::new();
        for (index, saturation) in profile.saturation.iter().enumerate() {
            depths.push(format!("QD {}", saturation.depth));
            let here = saturation_words(saturation, profile);
            let next = profile.saturation.get(index + 1).map(|next| saturation_words(next, profile));
            if next.as_ref() != Some(&here) {
                let (what, reached) = here;
                sentences.push(format!("{what} at {} {reached}.", listed(&depths)));
                depths.clear();
                sentences.extend(gap(saturation, profile));
            }
        }
        if profile.is_single {
            sentences.push("Each size was measured once, so its throughput has no interval.".into());
        }
        sentences.extend(random_writes(&profile.points));
        let logical_block = subject.target.logical_block.as_f64();
        if logical_block > SMALLEST_BYTES && !profile.is_single {
            sentences
                .push(format!("Requests under {} (the logical block) were left out.", memory(logical_block)));
        }
        sentences.join(" ")
    }
}

/// What is done, and from which size on it is fast; the same of depths that do not differ.
fn saturation_words(saturation: &SizeSaturation, profile: &SizeProfile) -> (String, String) {
    let (order, direction) = words(saturation.pattern, saturation.operation);
    let what = format!("{order} {direction}");
    let best = peak(saturation, profile);
    let Some(from) = saturation.from else {
        return (what, format!("stay below {:.0} % of the peak, {best}", 100.0 * NEARLY));
    };
    let sizes: Vec<Bytes> =
        points_of(saturation, profile, saturation.depth).map(|point| point.bytes).collect();
    let first_dip = sizes.iter().position(|size| saturation.dips.contains(size));
    let dips: Vec<String> = saturation.dips.iter().map(Bytes::to_string).collect();
    let which = match first_dip {
        // All larger ones are slower.
        Some(first) if first > 0 && sizes.len() - first == dips.len() => {
            format!("of {from} to {}", sizes[first - 1])
        }
        _ if dips.is_empty() => format!("of {from} and larger"),
        _ if dips.len() <= NAMED_MAX => format!("of {from} and larger, except {},", listed(&dips)),
        _ => format!("of {from} and larger, except {} sizes,", dips.len()),
    };
    let nearly = 100.0 * NEARLY;
    (what, format!("peak at {best}; blocks {which} reach at least {nearly:.0} % of that"))
}

fn peak(saturation: &SizeSaturation, profile: &SizeProfile) -> String {
    match peak_interval(saturation, profile) {
        Some((low, high)) => with_interval(saturation.best, low, high, "B/s"),
        None => rate(saturation.best),
    }
}

/// The interval of the size that has the peak, if it was measured more than once and did not come out the same.
pub(crate) fn peak_interval(saturation: &SizeSaturation, profile: &SizeProfile) -> Option<(f64, f64)> {
    let mut points = points_of(saturation, profile, saturation.depth);
    let best = points.find(|point| point.bytes_per_second == saturation.best)?;
    best.low.zip(best.high).filter(|(low, high)| low < high)
}

fn points_of<'profile>(
    saturation: &SizeSaturation,
    profile: &'profile SizeProfile,
    depth: u64,
) -> impl Iterator<Item = &'profile SizePoint> {
    let wanted = (saturation.pattern, saturation.operation, depth);
    profile.points.iter().filter(move |point| (point.pattern, point.operation, point.depth) == wanted)
}

/// What a dip costs a request: the same for blocks of all sizes, it is a gap between requests, such as a missed revolution.
fn gap(saturation: &SizeSaturation, profile: &SizeProfile) -> Option<String> {
    if saturation.depth != 1 || saturation.dips.len() > NAMED_MAX {
        return None;
    }
    let mut gaps = Vec::new();
    for bytes in &saturation.dips {
        let dip = points_of(saturation, profile, 1).find(|point| point.bytes == *bytes)?;
        gaps.push(bytes.as_f64() / dip.bytes_per_second - bytes.as_f64() / saturation.best);
    }
    let low = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    let high = gaps.iter().copied().fold(0.0, f64::max);
    if gaps.is_empty() || high > EQUAL_GAP_RATIO_MAX * low {
        return None;
    }
    let dips: Vec<String> = saturation.dips.iter().map(Bytes::to_string).collect();
    let dips = listed(&dips);
    Some(match gaps.len() {
        1 => format!("Each request of {dips} takes {} longer than at the peak throughput.", short_time(low)),
        _ => format!(
            "Each request of {dips} takes {} to {} longer than at the peak throughput: a nearly fixed cost.",
            short_time(low),
            short_time(high)
        ),
    })
}

/// "Random writes average 100 µs at 4 KiB and 15.0 ms at 1 MiB, not counting …; the slowest took 150 ms."
fn random_writes(points: &[SizePoint]) -> Option<String> {
    let mut random = Vec::new();
    for point in points {
        if let (SizePattern::Random, Some(rounds)) = (point.pattern, point.rounds) {
            random.push((point.bytes, rounds));
        }
    }
    let ((small, first), (large, last)) = (random.first()?, random.last()?);
    let average = short_time(first.latency_s);
    let averages = match small == large {
        true => format!("of {small} average {average}"),
        false => format!("average {average} at {small} and {} at {large}", short_time(last.latency_s)),
    };
    let slowest_s = random.iter().map(|(_, rounds)| rounds.latency_max_s).fold(0.0, f64::max);
    Some(format!(
        "Random writes {averages}, not counting the final flush (throughput includes it); the slowest took {}.",
        short_time(slowest_s)
    ))
}

fn words(pattern: SizePattern, operation: Operation) -> (&'static str, &'static str) {
    let order = match pattern {
        SizePattern::Sequential => "Sequential",
        SizePattern::Random => "Random",
    };
    let direction = match operation {
        Operation::Write => "writes",
        _ => "reads",
    };
    (order, direction)
}

impl Reason for SizesUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match *self {
            Self::RateLimited => RATE_LIMITED.into(),
            Self::NoTime => NO_TIME.into(),
            Self::NothingFinished => "Not measured: no size was measured to its end.".into(),
            Self::TooFewRounds => {
                "Inconclusive: fewer than three rounds of each size do not tell which is the outlier. Use --rounds 3.".into()
            }
        }
    }
}

impl Wording for SuspectPoints {
    const PLACE: (Group, &'static str) = (Group::Speed, "Outliers");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("point", "points"));

    fn statement(known: &Known<SuspectPoints>, _: FindingCode, _: &Subject<'_>) -> String {
        let SuspectPoints { count, all, points, dips } = &known.conclusion;
        let mut text = match count {
            0 => format!(
                "No outliers among the repeated measurements of {all} combinations of operation, block size and QD."
            ),
            _ => {
                let mut names = Vec::new();
                for point in points.iter().take(NAMED_MAX) {
                    let (with, without) = (rate(point.before), rate(point.after));
                    names.push(format!("{} ({without}, {with} with the outlier)", named(point)));
                }
                let more = match count.saturating_sub(NAMED_MAX) {
                    0 => String::new(),
                    more => format!("; and {more} more"),
                };
                format!(
                    "{count} of {all} points had an outlier round and {}: {}{more}.",
                    if *count == 1 { "was repeated" } else { "were repeated" },
                    names.join("; ")
                )
            }
        };
        if let Some(dip) = dips.first() {
            text += &format!(" Slower than neighbouring sizes in all rounds: {}.", named(dip));
        }
        text
    }

    fn advice(known: &Known<SuspectPoints>, _: FindingCode, subject: &Subject<'_>) -> Option<String> {
        let repeat = "Repeat short benchmarks: a single run may be an outlier.";
        let is_slow =
            |point: &SuspectPoint| point.operation == Operation::Write && point.before < point.after;
        if known.conclusion.count == 0 {
            None
        } else if known.conclusion.points.iter().any(is_slow) {
            Some(format!(
                "{repeat} {} and {} look for the cause of slow writes.",
                subject.writing(&ExperimentName::Valleys, ""),
                subject.writing(&ExperimentName::Sustain, "")
            ))
        } else {
            Some(repeat.into())
        }
    }
}

fn named(point: &SuspectPoint) -> String {
    let (order, direction) = words(point.pattern, point.operation);
    format!("{} {} {direction} at QD {}", lower(order), block(point.bytes), point.depth)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::finding::SuspectReason;
    use model::units::Bytes;

    #[test]
    fn a_profile_says_from_which_size_on_it_saturates() {
        let saturation = SizeSaturation {
            operation: Operation::Read,
            pattern: SizePattern::Sequential,
            depth: 4,
            best: 271e6,
            from: Some(Bytes::from_kib(64)),
            dips: vec![Bytes::from_mib(8)],
        };
        let never = SizeSaturation { depth: 1, from: None, dips: vec![], ..saturation.clone() };
        let profile =
            SizeProfile { sizes: 18, points: vec![], saturation: vec![never, saturation], is_single: true };
        assert_eq!(
            statement(&known(profile), FindingCode::SizeProfile),
            "Sequential reads at QD 1 stay below 90 % of the peak, 271 MB/s. Sequential reads at QD 4 peak at 271 MB/s; blocks of \
             64 KiB and larger, except 8 MiB, reach at least 90 % of that. Each size was measured once, so its throughput has no \
             interval."
        );
    }

    /// 4 MiB and 8 MiB at 203 MB/s, and 8.3 ms a request: a revolution of 7,200 rpm.
    #[test]
    fn a_gap_between_requests_explains_dips() {
        let point = |bytes: Bytes, bytes_per_second| SizePoint {
            bytes,
            operation: Operation::Read,
            pattern: SizePattern::Sequential,
            depth: 1,
            bytes_per_second,
            low: None,
            high: None,
            iops: 1.0,
            rounds: None,
        };
        let (four, eight) = (Bytes::from_mib(4), Bytes::from_mib(8));
        let saturation = SizeSaturation {
            operation: Operation::Read,
            pattern: SizePattern::Sequential,
            depth: 1,
            best: 203e6,
            from: Some(Bytes::from_kib(64)),
            dips: vec![four, eight],
        };
        let points = vec![point(four, 144.8e6), point(eight, 169.0e6)];
        let profile = SizeProfile { sizes: 18, points, saturation: vec![saturation], is_single: false };
        assert_eq!(
            statement(&known(profile.clone()), FindingCode::SizeProfile),
            "Sequential reads at QD 1 peak at 203 MB/s; blocks of 64 KiB and larger, except 4 MiB and 8 MiB, reach at least 90 % of that. \
             Each request of 4 MiB and 8 MiB takes 8.30 ms to 8.31 ms longer than at the peak throughput: a nearly fixed cost."
        );
        let peak = SizePoint { low: Some(201e6), high: Some(205e6), ..point(Bytes::from_mib(1), 203e6) };
        let points = vec![peak, point(four, 144.8e6), point(eight, 169.0e6)];
        let repeated = statement(&known(SizeProfile { points, ..profile.clone() }), FindingCode::SizeProfile);
        assert!(
            repeated.starts_with("Sequential reads at QD 1 peak at 203.0 MB/s (201.0 to 205.0); blocks of 64 KiB to 1 MiB reach"),
            "{repeated}"
        );
        let points = vec![point(four, 144.8e6), point(eight, 101.5e6)];
        let uneven = statement(&known(SizeProfile { points, ..profile }), FindingCode::SizeProfile);
        assert!(!uneven.contains("longer"), "{uneven}");
    }

    #[test]
    fn outliers_are_named() {
        let point = SuspectPoint {
            bytes: Bytes::from_kib(4),
            operation: Operation::Write,
            pattern: SizePattern::Random,
            depth: 1,
            why: SuspectReason::OutlierRounds,
            rounds: 4,
            spoilt_rounds: 1,
            before: 30e6,
            after: 40e6,
        };
        let suspect = SuspectPoints { count: 1, all: 76, points: vec![point], dips: vec![point] };
        assert_eq!(
            statement(&known(suspect), FindingCode::SuspectPoints),
            "1 of 76 points had an outlier round and was repeated: random 4 KiB writes at QD 1 (40.0 MB/s, 30.0 \
             MB/s with the outlier). Slower than neighbouring sizes in all rounds: random 4 KiB writes at QD 1."
        );
        let none = SuspectPoints { count: 0, all: 76, points: vec![], dips: vec![] };
        assert_eq!(
            statement(&known(none), FindingCode::SuspectPoints),
            "No outliers among the repeated measurements of 76 combinations of operation, block size and QD."
        );
    }
}
