//! Words for the findings of writes that go on.

use super::numbers::{long_time, number, rate, short_time, size};
use super::{Group, NO_TIME, Reason, Subject, Wording};
use model::finding::{
    ClippingEffect, ClippingEffectUnknown, FindingCode, IdleRecovery, IdleRecoveryUnknown, Known,
    WriteSteadyState, WriteSteadyStateUnknown,
};
use model::units::Bytes;

/// Steady within a tenth to either side: a smaller ratio than that of these ends is no gain.
const GAIN_MIN: f64 = 1.1 / 0.9;

impl Wording for WriteSteadyState {
    const PLACE: (Group, &'static str) = (Group::Writes, "Steady-state writes");

    fn statement(known: &Known<WriteSteadyState>, _: FindingCode, _: &Subject<'_>) -> String {
        let steady = &known.conclusion;
        format!(
            "Random writes settle at {}, steady over the last half of {} ({} × the range).",
            rate(steady.rate.value),
            size(steady.written_bytes as u64),
            number(steady.times_written)
        )
    }
}

impl Reason for WriteSteadyStateUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NoTime => NO_TIME.into(),
            Self::TooShort => {
                "Not measured: too little was written, fewer than ten phases. Use --until steady.".into()
            }
            Self::TooLittleWritten { times } => format!(
                "Inconclusive: the range was written {} times. Below 2, free space hides the cost of garbage collection. \
                 Use --until steady.",
                number(*times)
            ),
            Self::CacheToFill => {
                "Inconclusive: steady, but an SMR media cache may not be full yet. Use --until steady.".into()
            }
            Self::StillFalling { limit } => format!(
                "Inconclusive: throughput was still dropping when the writes ended. {}",
                writing_longer(*limit)
            ),
            Self::Unsteady { range_ratio, slope_ratio, limit } => format!(
                "Inconclusive: not steady over the last half. Rounds differ by {} % of their mean (limit 20), with a slope of \
                 {} % (limit 10). {}",
                number(100.0 * range_ratio),
                number(100.0 * slope_ratio),
                writing_longer(*limit)
            ),
        }
    }
}

fn writing_longer(limit: Option<Bytes>) -> String {
    match limit {
        Some(limit) => format!("Write more than {} with --bytes.", size(limit.get())),
        None => "Use --until steady.".into(),
    }
}

impl Wording for IdleRecovery {
    const PLACE: (Group, &'static str) = (Group::Writes, "Idle recovery");

    fn statement(known: &Known<IdleRecovery>, _: FindingCode, _: &Subject<'_>) -> String {
        let recovery = &known.conclusion;
        let delay = match recovery.delay_s {
            delay_s if delay_s > 0.0 => format!(" after a delay of {}", short_time(delay_s)),
            _ => String::new(),
        };
        format!(
            "Each second of idle time recovers {} of cache{delay}; all {} take {}.",
            size(recovery.rate.value as u64),
            size(recovery.cache_bytes as u64),
            long_time(idle_s(recovery, recovery.cache_bytes))
        )
    }

    fn advice(known: &Known<IdleRecovery>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let recovery = &known.conclusion;
        Some(format!(
            "Leave {} idle after each 1 GB to keep writing at {}.",
            long_time(idle_s(recovery, 1e9)),
            rate(recovery.cached_rate)
        ))
    }
}

impl Reason for IdleRecoveryUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NotTheDrive => {
                "Inconclusive: the layers between host and drive could explain the drop, so idle time says nothing of a drive's \
                 cache."
                    .into()
            }
            Self::NotACache => "Inconclusive: throughput dropped, but no cache was full.".into(),
            Self::NothingRecovered { longest_s } => {
                format!("Inconclusive: no idle time recovered any cache, up to {}. Give longer ones.", short_time(*longest_s))
            }
            Self::AllOrNothing { nothing_s: None, all_s } => format!(
                "Inconclusive: {} of idle time already recovers the whole cache. Give shorter ones with --idle.",
                short_time(*all_s)
            ),
            Self::AllOrNothing { nothing_s: Some(nothing_s), all_s } => format!(
                "Inconclusive: {} of idle time recovers the whole cache, and {} none of it. Give times in between with --idle.",
                short_time(*all_s),
                short_time(*nothing_s)
            ),
            Self::OnePoint { longest_s } => format!(
                "Inconclusive: only one idle time recovered a part of the cache, which leaves the delay open. The longest was {}.",
                short_time(*longest_s)
            ),
        }
    }
}

fn idle_s(recovery: &IdleRecovery, bytes: f64) -> f64 {
    recovery.delay_s + bytes / recovery.rate.value
}

impl Wording for ClippingEffect {
    const PLACE: (Group, &'static str) = (Group::Writes, "Over-provisioning gain");

    fn statement(known: &Known<ClippingEffect>, _: FindingCode, _: &Subject<'_>) -> String {
        let effect = &known.conclusion;
        let (part, whole) = effect.rates;
        let no_trim = match effect.takes_trim {
            true => "",
            false => " It takes no TRIM, so unused space may still hold old data.",
        };
        format!(
            "Random writes settle at {} over {} % of the range, at {} over the whole range.{no_trim}",
            rate(part),
            number(100.0 * effect.share),
            rate(whole)
        )
    }

    fn advice(known: &Known<ClippingEffect>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let effect = &known.conclusion;
        if effect.gain.low <= GAIN_MIN {
            return None;
        }
        let unused = number(100.0 * (1.0 - effect.share));
        Some(format!(
            "For sustained random writes, discard the drive and leave {unused} % of it unpartitioned."
        ))
    }
}

impl Reason for ClippingEffectUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NotSteady { share, times_written } => format!(
                "Inconclusive: over {} % of the range writes were not steady after {times_written:.1} × its size. Give a larger \
                 --time-limit, or none.",
                number(100.0 * share)
            ),
            Self::NoWhole => "Not measured: the whole range was not among the parts.".into(),
            Self::NoPart => "Not measured: no part smaller than the range was used.".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement, target};
    use super::super::{Text, text};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::{Finding, Outcome};

    #[test]
    fn steady_state_says_after_how_much() {
        let steady = WriteSteadyState {
            rate: Estimate::exact(15e6),
            rounds: vec![15e6; 5],
            range_ratio: 0.1,
            slope_ratio: 0.01,
            written_bytes: 40e9,
            times_written: 2.5,
        };
        assert_eq!(
            statement(&known(steady), FindingCode::WriteSteadyState),
            "Random writes settle at 15.0 MB/s, steady over the last half of 40.0 GB (2.50 × the range)."
        );
    }

    #[test]
    fn idle_time_is_advised_only_where_it_is_known() {
        let rate = Estimate { low: 18e6, high: 22e6, ..Estimate::exact(20e6) };
        let recovery =
            IdleRecovery { rate, points: Vec::new(), delay_s: 2.0, cache_bytes: 5e8, cached_rate: 4e8 };
        let finding = known(recovery.clone());
        assert_eq!(
            statement(&finding, FindingCode::IdleRecovery),
            "Each second of idle time recovers 20.0 MB of cache after a delay of 2.00 s; all 500 MB take 27.0 s."
        );
        assert_eq!(
            advice(&finding, FindingCode::IdleRecovery).as_deref(),
            Some("Leave 52.0 s idle after each 1 GB to keep writing at 400 MB/s.")
        );
        let rate = Estimate { value: 0.8e6, low: -5e6, high: 3052e6, confidence: 0.95, ..rate };
        let unsure = Finding::IdleRecovery(Outcome::known(IdleRecovery { rate, ..recovery }, Vec::new()));
        let Text::TooWide { why, .. } = text(&unsure, &target()) else { panic!("{unsure:?}") };
        assert_eq!(
            why,
            "Inconclusive: the 95 % confidence interval spans 0.0 to 3,052.0 MB/s. Measure longer, or on \
             an idle system."
        );
    }

    #[test]
    fn over_provisioning_is_advised_where_it_gains() {
        let effect = |gain: Estimate| {
            known(ClippingEffect {
                gain,
                points: Vec::new(),
                share: 0.5,
                takes_trim: true,
                rates: (30e6, 10e6),
            })
        };
        let finding = effect(Estimate::exact(3.0));
        assert_eq!(
            statement(&finding, FindingCode::ClippingEffect),
            "Random writes settle at 30.0 MB/s over 50.0 % of the range, at 10.0 MB/s over the whole range."
        );
        assert_eq!(
            advice(&finding, FindingCode::ClippingEffect).as_deref(),
            Some("For sustained random writes, discard the drive and leave 50.0 % of it unpartitioned.")
        );
        assert_eq!(advice(&effect(Estimate::exact(1.1)), FindingCode::ClippingEffect), None);
    }

    #[test]
    fn what_was_written_as_far_as_the_option_goes_needs_more_bytes() {
        let why = |limit| {
            let reason = WriteSteadyStateUnknown::StillFalling { limit };
            reason.why(FindingCode::WriteSteadyState, &Subject::new(&target(), &[]))
        };
        assert!(why(None).ends_with("Use --until steady."));
        assert!(why(Some(Bytes::new(5_000_000_000_000))).ends_with("Write more than 5.00 TB with --bytes."));
    }
}
