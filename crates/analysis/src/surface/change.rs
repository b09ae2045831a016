//! Two rates of which one came after the other, wherever it was read: a limit that changed, heat, or other load that went on to the end.

use super::visit::Visit;
use model::finding::SurveyUnknown;

/// The fast group is so much faster, as a logarithm: a fifth.
const GAP_MIN: f64 = 0.18;
/// Each group holds this share of the samples, so that some stalls are no group.
const SHARE_MIN: f64 = 0.05;
pub(crate) const GROUP_VISITS_MIN: usize = 8;
/// The gap is so many times as wide as the middle half of either group.
const GAP_TIMES: f64 = 4.0;
/// Two groups are apart in time, or in place, with no more strangers than that part of the smaller one. Of 16 visits in random order eight
/// are apart from the other eight one time in 6,000.
const STRANGERS_PART: usize = 10;

/// Fails where two groups of visits are apart in time and not in place: places are visited in random order.
pub(super) fn check(visits: &[Visit]) -> Result<(), SurveyUnknown> {
    let Some(limit) = limit_between(visits) else { return Ok(()) };
    let mut in_time: Vec<&Visit> = visits.iter().collect();
    in_time.sort_by_key(|visit| visit.start_ns);
    if !are_apart(visits, limit) && are_apart(in_time.iter().copied(), limit) {
        let (slow, fast): (Vec<&Visit>, Vec<&Visit>) =
            visits.iter().partition(|visit| visit.seconds_per_byte >= limit);
        let rates = [mean_rate(&fast), mean_rate(&slow)];
        let began_fast = in_time[0].seconds_per_byte < limit;
        let [before, after] = if began_fast { rates } else { [rates[1], rates[0]] };
        return Err(SurveyUnknown::Changed { before, after });
    }
    Ok(())
}

/// Whether all but a few of the visits before some cut are of one group, and all but a few behind it of the other.
fn are_apart<'visit>(visits: impl IntoIterator<Item = &'visit Visit>, limit: f64) -> bool {
    let is_slow: Vec<bool> = visits.into_iter().map(|visit| visit.seconds_per_byte >= limit).collect();
    let slow = is_slow.iter().filter(|is_slow| **is_slow).count();
    let fast = is_slow.len() - slow;
    let (mut slow_before, mut fast_before, mut strangers) = (0, 0, slow.min(fast));
    for is_slow in is_slow {
        if is_slow {
            slow_before += 1
        } else {
            fast_before += 1
        }
        let fast_first = slow_before + fast - fast_before;
        let slow_first = fast_before + slow - slow_before;
        strangers = strangers.min(fast_first).min(slow_first);
    }
    STRANGERS_PART * strangers <= slow.min(fast)
}

/// The time per byte between two groups of visits with a wide gap between them, if there are two.
pub(crate) fn limit_between(visits: &[Visit]) -> Option<f64> {
    let mut values: Vec<f64> = visits.iter().map(|visit| visit.seconds_per_byte.ln()).collect();
    values.sort_by(f64::total_cmp);
    let least = GROUP_VISITS_MIN.max((values.len() as f64 * SHARE_MIN) as usize);
    let last = values.len().checked_sub(least).filter(|last| *last > least)?;
    let cut = (least..=last).max_by(|&left, &right| {
        (values[left] - values[left - 1]).total_cmp(&(values[right] - values[right - 1]))
    })?;
    let gap = values[cut] - values[cut - 1];
    let widest = middle_half(&values[..cut]).max(middle_half(&values[cut..]));
    if gap < GAP_MIN || gap < GAP_TIMES * widest {
        return None;
    }
    Some(((values[cut] + values[cut - 1]) / 2.0).exp())
}

fn middle_half(group: &[f64]) -> f64 {
    group[group.len() * 3 / 4] - group[group.len() / 4]
}

pub(crate) fn mean_rate(visits: &[&Visit]) -> f64 {
    visits.len() as f64 / visits.iter().map(|visit| visit.seconds_per_byte).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 60 visits in an order that is none of places, by what is slow of them.
    fn checked(is_slow: fn(place: u64, moment: u64) -> bool) -> Result<(), SurveyUnknown> {
        let visit = |place: u64| {
            let moment = place * 37 % 60;
            let rate = if is_slow(place, moment) { 4e6 } else { 16e6 };
            let wobble = 1.0 + 0.01 * (place % 3) as f64;
            Visit {
                phase: 0,
                first_byte: place * 1_000_000_000,
                bytes: 8 << 20,
                seconds_per_byte: wobble / rate,
                start_ns: moment * 1_000_000_000,
                longest_ns: 0,
            }
        };
        check(&(0..60).map(visit).collect::<Vec<_>>())
    }

    /// A volume whose limit fell to a quarter after two thirds of the run: "62 % reads at 15.6 MB/s: it was never written, or discarded".
    #[test]
    fn a_limit_that_changes_is_no_place() {
        let Err(SurveyUnknown::Changed { before, after }) = checked(|_, moment| moment >= 40) else {
            panic!("it changed")
        };
        assert!((before / 16e6 - 1.0).abs() < 0.02 && (after / 4e6 - 1.0).abs() < 0.02, "{before} {after}");
        assert!(matches!(
            checked(|_, moment| moment < 40),
            Err(SurveyUnknown::Changed { before, after }) if before < after
        ));
        assert_eq!(checked(|place, _| place >= 40), Ok(()), "a part that holds nothing");
        assert_eq!(checked(|place, _| place % 2 == 0), Ok(()), "parts");
        assert_eq!(checked(|_, moment| moment % 20 < 7), Ok(()), "it came and went");
        assert_eq!(checked(|_, _| false), Ok(()));
    }

    /// A pass in order, over a drive of which a part holds nothing: time is place there.
    #[test]
    fn a_pass_in_order_shows_no_change() {
        let visit = |place: u64| Visit {
            phase: 0,
            first_byte: place * 1_000_000_000,
            bytes: 8 << 20,
            seconds_per_byte: if place < 20 { 1e-9 } else { 2e-9 },
            start_ns: place * 1_000_000_000,
            longest_ns: 0,
        };
        assert_eq!(check(&(0..60).map(visit).collect::<Vec<_>>()), Ok(()));
    }
}
