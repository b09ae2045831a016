//! How many intervals of 95 % are to be expected to hold the truth, and which are no matter of chance.

use model::finding::FindingCode;

/// Whether the interval of a code is no matter of chance: whole numbers, what lies between two answers, or the clock's rounding.
pub fn is_bound(code: FindingCode) -> bool {
    matches!(
        code,
        FindingCode::LatencyModes
            | FindingCode::ConcurrencyKnee
            | FindingCode::ReadAhead
            | FindingCode::StripeLayout
            | FindingCode::RotationPeriod
            | FindingCode::DriveCache
    )
}

/// Of so many intervals that each hold the truth with a chance of 95 %, how many hold it in 95 of 100 cases, at least and at most.
pub fn expected_to_hold(count: usize) -> (usize, usize) {
    const HOLDS: f64 = 0.95;
    const TAIL: f64 = 0.025;
    // From all of them downwards, by the ratio of one binomial probability to the one above it.
    let (mut chance, mut above) = (HOLDS.powi(count as i32), 0.0);
    let (mut least, mut most) = (count, count);
    for held in (0..=count).rev() {
        if above + chance <= TAIL {
            most = held.saturating_sub(1);
        }
        if above < 1.0 - TAIL {
            least = held;
        }
        above += chance;
        chance *= held as f64 / (count - held + 1) as f64 * (1.0 - HOLDS) / HOLDS;
    }
    (least, most)
}

#[cfg(test)]
mod tests {
    use super::expected_to_hold;

    /// 0.95^20 = 0.358, so that all of 20 are nothing strange; of 100, 90 to 99 (in R, qbinom(c(0.025, 0.975), 100, 0.95)).
    #[test]
    fn as_many_hold_as_chance_lets() {
        assert_eq!(expected_to_hold(20), (17, 20));
        assert_eq!(expected_to_hold(100), (90, 99));
        assert_eq!(expected_to_hold(1), (0, 1));
        assert_eq!(expected_to_hold(0), (0, 0));
    }
}
