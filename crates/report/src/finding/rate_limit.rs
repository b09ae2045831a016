//! Words for the finding of a rate limit.

use super::numbers::{long_time, number, rate, size};
use super::{Group, Reason, Subject, Wording};
use model::experiment_name::ExperimentName;
use model::finding::{FindingCode, Known, LimitedBy, LimitedOperations, RateLimit, RateLimitUnknown};

impl Wording for RateLimit {
    const PLACE: (Group, &'static str) = (Group::Speed, "Rate limit");

    fn headline(known: &Known<RateLimit>, _: FindingCode, _: &Subject<'_>) -> String {
        let limit = &known.conclusion;
        format!(
            "A rate limit holds {} to {} once the burst credit of {}{} is used up.",
            operations(limit),
            speed(limit.by, limit.sustained.value),
            if limit.may_have_been_full && !limit.may_count_several { "" } else { "at least " },
            credit(limit, limit.credit)
        )
    }

    fn statement(known: &Known<RateLimit>, code: FindingCode, subject: &Subject<'_>) -> String {
        let limit = &known.conclusion;
        let parts = limit.counted_bytes.map_or(String::new(), |part| {
            format!(" A request larger than {part} counts as one for each {part}.")
        });
        let mut restored = match (limit.may_have_been_full, limit.may_count_several) {
            (true, false) => "the full credit.".to_string(),
            (true, true) => "that much.".to_string(),
            (false, _) => "that much. The bucket was not full when the run began.".to_string(),
        };
        if limit.may_count_several {
            let most = credit(limit, limit.credit_high);
            restored += &format!(
                " If requests larger than those that met the limit count as several, the credit is up to {most}."
            );
        }
        format!(
            "{} While credit lasts, {} reach {}; at the refill rate, {} of idle time restores {restored}{parts}",
            Self::headline(known, code, subject),
            operations(limit),
            speed(limit.by, limit.burst),
            long_time(limit.refill_s)
        )
    }

    fn advice(known: &Known<RateLimit>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let limit = &known.conclusion;
        let plan = format!(
            "Plan for {}. Keep bursts under {}, with {} idle after each.",
            speed(limit.by, limit.sustained.value),
            credit(limit, limit.credit),
            long_time(limit.refill_s)
        );
        Some(match (limit.by, limit.counted_bytes) {
            (LimitedBy::Requests, None) if limit.may_count_several => plan,
            (LimitedBy::Requests, None) => {
                format!("{plan} Use larger requests: each costs one credit at any size measured.")
            }
            (LimitedBy::Requests, Some(part)) => {
                format!("{plan} Use requests of {part} or more: smaller ones cost as much.")
            }
            (LimitedBy::Bytes, _) => plan,
        })
    }
}

impl Reason for RateLimitUnknown {
    fn why(&self, _: FindingCode, subject: &Subject<'_>) -> String {
        match self {
            Self::OneShape { per_second, block } => format!(
                "Inconclusive: reads dropped to a constant {} IOPS of {block}, as a rate limit does. Other block sizes or idle time \
                 would decide: run {}.",
                number(*per_second),
                subject.command(&ExperimentName::Check, "")
            ),
            Self::Changed { by, before_per_second, after_per_second, at_s } => format!(
                "Inconclusive: the rate limit changed during the run, from {} to {} after {}. Ask who sets it, and repeat the run.",
                speed(*by, *before_per_second),
                speed(*by, *after_per_second),
                long_time(*at_s)
            ),
        }
    }
}

fn speed(by: LimitedBy, per_second: f64) -> String {
    match by {
        LimitedBy::Requests => format!("{} IOPS", number(per_second)),
        LimitedBy::Bytes => rate(per_second),
    }
}

fn operations(limit: &RateLimit) -> &'static str {
    match limit.operations {
        LimitedOperations::Reads => "reads",
        LimitedOperations::Writes => "writes",
        LimitedOperations::Both => "reads and writes together",
    }
}

fn credit(limit: &RateLimit, credit: f64) -> String {
    match limit.by {
        LimitedBy::Requests => format!("{} requests", number(credit)),
        LimitedBy::Bytes => size(credit as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement, why};
    use super::*;
    use model::estimate::Estimate;
    use model::units::Bytes;

    fn limit() -> RateLimit {
        RateLimit {
            sustained: Estimate::exact(300.0),
            by: LimitedBy::Requests,
            counted_bytes: None,
            operations: LimitedOperations::Both,
            credit: 40_003.2,
            credit_low: 39_900.0,
            credit_high: 40_100.0,
            may_count_several: false,
            may_have_been_full: true,
            burst: 14_545.0,
            refill_s: 133.3,
            limited_s: 20.0,
        }
    }

    #[test]
    fn a_limit_of_requests_is_told_in_requests() {
        let code = FindingCode::RateLimit;
        assert_eq!(
            statement(&known(limit()), code),
            "A rate limit holds reads and writes together to 300 IOPS once the burst credit of 40,000 requests is used up. While credit \
             lasts, reads and writes together reach 14,550 IOPS; at the refill rate, 2 min 13 s of idle time restores the full credit."
        );
        assert_eq!(
            advice(&known(limit()), code).unwrap(),
            "Plan for 300 IOPS. Keep bursts under 40,000 requests, with 2 min 13 s idle after each. Use larger requests: each costs \
             one credit at any size measured."
        );
    }

    #[test]
    fn a_credit_that_larger_requests_leave_open_is_a_bound() {
        let open = RateLimit { credit_high: 129_000.0, may_count_several: true, ..limit() };
        let said = statement(&known(open.clone()), FindingCode::RateLimit);
        assert!(said.contains("once the burst credit of at least 40,000 requests is used up."), "{said}");
        assert!(
            said.ends_with(
                "2 min 13 s of idle time restores that much. If requests larger than those that met the limit count as several, the \
                 credit is up to 129,000 requests."
            ),
            "{said}"
        );
        assert!(
            advice(&known(open), FindingCode::RateLimit)
                .unwrap()
                .ends_with("with 2 min 13 s idle after each.")
        );
    }

    #[test]
    fn a_limit_that_counts_parts_says_of_what_size() {
        let of_parts = RateLimit { counted_bytes: Some(Bytes::from_kib(256)), ..limit() };
        let said = statement(&known(of_parts.clone()), FindingCode::RateLimit);
        assert!(said.ends_with("A request larger than 256 KiB counts as one for each 256 KiB."), "{said}");
        let advised = advice(&known(of_parts), FindingCode::RateLimit).unwrap();
        assert!(
            advised.ends_with("Use requests of 256 KiB or more: smaller ones cost as much."),
            "{advised}"
        );
    }

    #[test]
    fn a_limit_of_bytes_is_told_in_bytes() {
        let bytes = RateLimit {
            sustained: Estimate::exact(40e6),
            by: LimitedBy::Bytes,
            operations: LimitedOperations::Reads,
            credit: 3.001e9,
            burst: 250e6,
            refill_s: 75.0,
            ..limit()
        };
        assert_eq!(
            statement(&known(bytes), FindingCode::RateLimit),
            "A rate limit holds reads to 40.0 MB/s once the burst credit of 3.00 GB is used up. While credit lasts, reads reach \
             250 MB/s; at the refill rate, 75.0 s of idle time restores the full credit."
        );
    }

    #[test]
    fn a_limit_that_changes_is_none() {
        let reason = RateLimitUnknown::Changed {
            by: LimitedBy::Requests,
            before_per_second: 300.0,
            after_per_second: 150.0,
            at_s: 35.0,
        };
        assert_eq!(
            why::<RateLimit>(&reason, FindingCode::RateLimit),
            "Inconclusive: the rate limit changed during the run, from 300 IOPS to 150 IOPS after 35.0 s. Ask who sets it, and repeat the run."
        );
    }

    #[test]
    fn one_workload_does_not_decide() {
        let reason = RateLimitUnknown::OneShape { per_second: 38.15, block: Bytes::from_mib(1) };
        assert_eq!(
            why::<RateLimit>(&reason, FindingCode::RateLimit),
            "Inconclusive: reads dropped to a constant 38.1 IOPS of 1 MiB, as a rate limit does. Other block sizes or idle time \
             would decide: run `drivescope check /dev/sdx`."
        );
    }
}
