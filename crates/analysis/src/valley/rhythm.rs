//! Whether dips recur at a rhythm, and whether it is time or bytes that it counts.

use crate::stats::CONFIDENCE;
use crate::stats::mean::{Mean, squares_about};
use crate::stats::sample::middle;
use crate::stats::student::t_two_sided;
use model::estimate::Estimate;
use model::finding::ValleyTrigger;
use statrs::function::gamma::ln_gamma;

/// Fewer gaps than this say nothing of a rhythm.
pub(super) const GAPS_MIN: usize = 4;
/// Longer gaps, against half of all, hold a dip that was too narrow to be seen; shorter ones end with one that something else made.
const MISSED_TIMES: f64 = 1.5;
const MISSED_SHARE_MAX: f64 = 0.25;
/// The confidence that time or bytes is the steadier of the two, two-sided.
const BOUND_CONFIDENCE: f64 = 0.99;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    pub seconds: f64,
    pub bytes: f64,
    /// Whether it was being written more slowly than the drive can.
    pub slowed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rhythm {
    /// The mean gap in seconds. Where it is bytes that count, that of writing as fast as the drive can.
    pub seconds: Estimate,
    pub bytes: Estimate,
    /// Standard deviation over mean, of the gaps in time and in bytes, slowed ones and others together.
    pub variation_s: f64,
    pub variation_bytes: f64,
    /// The probability that dips at random moments or places come as evenly as these, at most.
    pub by_chance: f64,
    pub by: ValleyTrigger,
    /// The statistic of the test that says so: Student's t with two degrees of freedom less than there are gaps.
    pub t: f64,
    pub gaps: usize,
}

pub fn rhythm(gaps: &[Gap]) -> Option<Rhythm> {
    let kept = without_missed(gaps);
    if kept.len() < GAPS_MIN {
        return None;
    }
    let missed = gaps.len() - kept.len();
    let (variation_s, variation_bytes) = (variation(&seconds_of(&kept)), variation(&bytes_of(&kept)));
    // Two tests, and as many as there are ways to leave so many gaps out.
    let tests = 2.0 * ln_choose(gaps.len(), missed).exp();
    let count = kept.len();
    let evenly = evenness_by_chance(count, variation_s).min(evenness_by_chance(count, variation_bytes));
    let whole = without_extra(kept);
    let (by, t) = steadier(&whole);
    let (mut full, full_and_slowed) = (whole.clone(), whole);
    full.retain(|gap| !gap.slowed);
    let seconds = mean_gap(&full, &full_and_slowed, by == ValleyTrigger::Time, seconds_of)?;
    let bytes = mean_gap(&full, &full_and_slowed, by == ValleyTrigger::Bytes, bytes_of)?;
    let by_chance = (evenly * tests).min(1.0);
    Some(Rhythm { seconds, bytes, variation_s, variation_bytes, by_chance, by, t, gaps: count })
}

fn seconds_of(gaps: &[Gap]) -> Vec<f64> {
    gaps.iter().map(|gap| gap.seconds).collect()
}

fn bytes_of(gaps: &[Gap]) -> Vec<f64> {
    gaps.iter().map(|gap| gap.bytes).collect()
}

/// The mean of gaps at the full rate, or of all where these count too or are too few.
fn mean_gap(full: &[Gap], all: &[Gap], of_all: bool, values: fn(&[Gap]) -> Vec<f64>) -> Option<Estimate> {
    match mean(&values(full)) {
        Some(mean) if !of_all => Some(mean),
        _ => mean(&values(all)),
    }
}

/// The middle gap in seconds, of those at full rate and of slowed ones.
fn medians_s(gaps: &[Gap]) -> [f64; 2] {
    let (mut full, mut slowed) = (Vec::new(), Vec::new());
    for gap in gaps {
        if gap.slowed { slowed.push(gap.seconds) } else { full.push(gap.seconds) }
    }
    [middle(&mut full), middle(&mut slowed)]
}

/// The gaps without dips that other I/O made in between: halves are joined again, other short gaps left out, which have fewer
/// bytes per second and so would speak for time. All if that does not make them twice as even, or takes too many.
fn without_extra(gaps: Vec<Gap>) -> Vec<Gap> {
    let medians = medians_s(&gaps);
    let is_short = |gap: &Gap| gap.seconds * MISSED_TIMES < medians[usize::from(gap.slowed)];
    let mut whole: Vec<Gap> = Vec::with_capacity(gaps.len());
    for gap in &gaps {
        let usual_s = medians[usize::from(gap.slowed)];
        match whole.last_mut() {
            Some(last)
                if last.slowed == gap.slowed
                    && (is_short(last) || is_short(gap))
                    && away(last.seconds + gap.seconds, usual_s)
                        < away(last.seconds.max(gap.seconds), usual_s) =>
            {
                last.seconds += gap.seconds;
                last.bytes += gap.bytes;
            }
            _ => whole.push(*gap),
        }
    }
    whole.retain(|gap| !is_short(gap));
    let is_few = (gaps.len() - whole.len()) as f64 <= MISSED_SHARE_MAX * gaps.len() as f64;
    let helps = is_few && whole.len() >= GAPS_MIN && 2.0 * unevenness(&whole) <= unevenness(&gaps);
    if helps { whole } else { gaps }
}

fn away(seconds: f64, usual_s: f64) -> f64 {
    (seconds / usual_s).ln().abs()
}

fn unevenness(gaps: &[Gap]) -> f64 {
    variation(&seconds_of(gaps)).min(variation(&bytes_of(gaps)))
}

/// All gaps but those in which a dip seems to be missing; all if these are too many.
fn without_missed(gaps: &[Gap]) -> Vec<Gap> {
    let medians = medians_s(gaps);
    let mut kept = gaps.to_vec();
    kept.retain(|gap| gap.seconds <= MISSED_TIMES * medians[usize::from(gap.slowed)]);
    let missed = gaps.len() - kept.len();
    if missed as f64 <= MISSED_SHARE_MAX * gaps.len() as f64 { kept } else { gaps.to_vec() }
}

/// Whether time or bytes vary less from gap to gap: by the correlation of sum and difference (Pitman 1939, Morgan 1939). At one rate both vary alike.
fn steadier(gaps: &[Gap]) -> (ValleyTrigger, f64) {
    if !gaps.iter().any(|gap| gap.slowed) {
        return (ValleyTrigger::Unknown, 0.0);
    }
    let (mut sums, mut differences) = (Vec::new(), Vec::new());
    for gap in gaps {
        sums.push(gap.bytes.ln() + gap.seconds.ln());
        differences.push(gap.bytes.ln() - gap.seconds.ln());
    }
    let Some(correlation) = correlation(&sums, &differences) else { return (ValleyTrigger::Unknown, 0.0) };
    let free = gaps.len() as f64 - 2.0;
    let t = correlation * (free / (1.0 - correlation * correlation).max(1e-12)).sqrt();
    let limit = t_two_sided(BOUND_CONFIDENCE, free);
    let by = match t {
        t if t > limit && !grows_when_slowed(gaps, |gap| gap.seconds) => ValleyTrigger::Time,
        t if t < -limit && !grows_when_slowed(gaps, |gap| gap.bytes) => ValleyTrigger::Bytes,
        _ => ValleyTrigger::Unknown,
    };
    (by, t)
}

/// What counts is the same at both rates. Slowed gaps that hold unseen dips are longer in either: Student's t of the logarithms.
fn grows_when_slowed(gaps: &[Gap], value: fn(&Gap) -> f64) -> bool {
    let (mut full, mut slowed) = (Vec::new(), Vec::new());
    for gap in gaps {
        if gap.slowed { slowed.push(value(gap).ln()) } else { full.push(value(gap).ln()) }
    }
    if full.is_empty() || slowed.is_empty() {
        return false;
    }
    let (full_count, slowed_count) = (full.len() as f64, slowed.len() as f64);
    let (full_mean, slowed_mean) =
        (full.iter().sum::<f64>() / full_count, slowed.iter().sum::<f64>() / slowed_count);
    let free = full_count + slowed_count - 2.0;
    let variance = (squares_about(full_mean, &full) + squares_about(slowed_mean, &slowed)) / free;
    let error = (variance * (1.0 / full_count + 1.0 / slowed_count)).sqrt();
    slowed_mean - full_mean > t_two_sided(BOUND_CONFIDENCE, free) * error
}

/// None when one of them does not vary.
fn correlation(left: &[f64], right: &[f64]) -> Option<f64> {
    let count = left.len() as f64;
    let (left_mean, right_mean) = (left.iter().sum::<f64>() / count, right.iter().sum::<f64>() / count);
    let (mut product, mut left_square, mut right_square) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        product += (left - left_mean) * (right - right_mean);
        left_square += (left - left_mean).powi(2);
        right_square += (right - right_mean).powi(2);
    }
    let scale = (left_square * right_square).sqrt();
    (scale > 1e-18).then_some(product / scale)
}

/// The probability, at most, that so many gaps between events at random have a coefficient of variation as small as this one.
///
/// Gaps of a Poisson process as shares of their sum lie evenly on a simplex; their variation is the distance from its middle. So it
/// is the volume of a ball over that of the simplex: exact while the ball lies within, too large otherwise.
fn evenness_by_chance(count: usize, variation: f64) -> f64 {
    let n = count as f64;
    let radius = variation * (n - 1.0).sqrt() / n;
    if radius <= 0.0 {
        return 0.0;
    }
    let dimensions = n - 1.0;
    let ball = dimensions / 2.0 * std::f64::consts::PI.ln() - ln_gamma(dimensions / 2.0 + 1.0)
        + dimensions * radius.ln();
    let simplex = n.sqrt().ln() - ln_gamma(n);
    (ball - simplex).exp().min(1.0)
}

fn ln_choose(of: usize, chosen: usize) -> f64 {
    ln_factorial(of) - ln_factorial(chosen) - ln_factorial(of - chosen)
}

fn ln_factorial(count: usize) -> f64 {
    ln_gamma(count as f64 + 1.0)
}

fn variation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = squares_about(mean, values) / (count - 1.0);
    variance.sqrt() / mean
}

fn mean(values: &[f64]) -> Option<Estimate> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let value = values.iter().sum::<f64>() / count;
    let deviation = variation(values) * value;
    let mean = Mean { value, variance: deviation * deviation / count, degrees_of_freedom: count - 1.0 };
    Some(mean.interval(CONFIDENCE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::prng::Prng;
    use proptest::prelude::*;

    fn gap(seconds: f64, rate: f64, slowed: bool) -> Gap {
        Gap { seconds, bytes: seconds * rate, slowed }
    }

    #[test]
    fn time_and_bytes_are_told_apart_by_two_rates() {
        let by_time: Vec<Gap> = [60.0, 61.0, 58.5, 60.4]
            .map(|s| gap(s, 7e7, false))
            .into_iter()
            .chain([59.0, 61.2, 60.1].map(|s| gap(s, 4.2e7, true)))
            .collect();
        let found = rhythm(&by_time).unwrap();
        assert_eq!(found.by, ValleyTrigger::Time);
        assert!(found.by_chance < 1e-4 && found.seconds.covers(60.0), "{found:?}");
        let by_bytes: Vec<Gap> = [4.0, 4.1, 3.9, 4.05]
            .map(|gb| gap(gb * 1e9 / 7e7, 7e7, false))
            .into_iter()
            .chain([4.02, 3.95, 4.1].map(|gb| gap(gb * 1e9 / 4.2e7, 4.2e7, true)))
            .collect();
        let found = rhythm(&by_bytes).unwrap();
        assert_eq!(found.by, ValleyTrigger::Bytes);
        assert!(found.bytes.covers(4e9), "{found:?}");
    }

    /// At 250 MB/s a drive stands still for 0.12 s after every 700 MB, and four times something else held it up as well; two gaps are of
    /// writing at 143 MB/s.
    #[test]
    fn dips_that_others_make_in_between_change_neither_what_counts_nor_how_much() {
        let bytes = |bytes: f64, rate: f64, slowed| Gap { seconds: bytes / rate + 0.12, bytes, slowed };
        let mut gaps: Vec<Gap> = Vec::new();
        for index in 0..60 {
            let whole = 7e8 * (1.0 + 0.01 * f64::from(index % 3 - 1));
            if index % 15 == 7 {
                let early = whole * [0.1, 0.3, 0.5, 0.8][index as usize / 15];
                gaps.extend([early, whole - early].map(|part| bytes(part, 2.5e8, false)));
            } else {
                gaps.push(bytes(whole, 2.5e8, false));
            }
        }
        gaps.extend([6.98e8, 7.01e8].map(|whole| bytes(whole, 1.43e8, true)));
        let found = rhythm(&gaps).unwrap();
        assert_eq!(found.by, ValleyTrigger::Bytes, "t = {}", found.t);
        assert!(found.bytes.covers(7e8) && found.bytes.high < 7.05e8, "{found:?}");
    }

    /// The drive `x25-m` makes a valley every 60 s. Of the nine of a slowed pass three were seen, and "bytes" was told.
    #[test]
    fn slowed_gaps_that_hold_unseen_dips_leave_it_open() {
        let mut gaps: Vec<Gap> = Vec::new();
        for index in 0..15 {
            gaps.push(gap(60.0 * (1.0 + 0.03 * f64::from(index % 3 - 1)), 7e7, false));
        }
        gaps.extend([122.0, 187.0].map(|s| gap(s, 4.2e7, true)));
        let found = rhythm(&gaps).unwrap();
        assert!(found.t < -3.0 && found.by == ValleyTrigger::Unknown, "{found:?}");
        assert!(found.bytes.covers(4.2e9) && found.seconds.covers(60.0), "{found:?}");
    }

    #[test]
    fn one_rate_leaves_it_open() {
        let gaps: Vec<Gap> = [60.0, 61.0, 58.5, 60.4, 59.9].map(|s| gap(s, 7e7, false)).to_vec();
        assert_eq!(rhythm(&gaps).unwrap().by, ValleyTrigger::Unknown);
        assert_eq!(rhythm(&gaps[..3]), None);
    }

    /// With two gaps the share of the shorter is even: the variation is below c with the probability c / √2.
    #[test]
    fn chance_by_hand() {
        assert!((evenness_by_chance(2, 0.1) - 0.1 / 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn random_dips_have_no_rhythm() {
        let mut prng = Prng::new(1, 1);
        let mut even = 0;
        for _ in 0..2000 {
            let gaps: Vec<Gap> = (0..8).map(|_| gap(-60.0 * (1.0 - prng.unit()).ln(), 7e7, false)).collect();
            even += u32::from(rhythm(&gaps).is_some_and(|found| found.by_chance < 0.01));
        }
        assert!(even <= 20, "{even} of 2000");
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fail(seconds in prop::collection::vec(1e-3f64..1e5, 0..30), rate in 1e5f64..1e9) {
            let gaps: Vec<Gap> = seconds.iter().map(|&seconds| gap(seconds, rate, false)).collect();
            if let Some(found) = rhythm(&gaps) {
                prop_assert!((0.0..=1.0).contains(&found.by_chance) && found.seconds.value > 0.0);
            }
        }
    }
}
