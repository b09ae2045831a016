//! How many requests a second a drive answers while 99 of 100 answers come within a time that somebody allows.

use crate::stats::CONFIDENCE;
use model::estimate::Estimate;
use model::finding::{Datum, FindingCode, Name, Outcome};
use model::run::Run;

/// The most that was measured within a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct WithinBudget {
    /// Requests at a time.
    pub at_once: u64,
    /// Requests per second.
    pub iops: Estimate,
    /// 99 of 100 answers took no longer, in seconds.
    pub p99_s: f64,
}

/// The number of random requests at a time that brings the most per second with a 99th percentile of the latency of at most
/// `budget_s` seconds, of all that the run measured.
///
/// # Errors
/// Why there is none: a sentence.
pub fn within_budget(run: &Run, budget_s: f64) -> Result<WithinBudget, String> {
    let finding = run.findings.iter().find(|finding| finding.code == FindingCode::ConcurrencyGain);
    let conclusion = match finding.map(|finding| &finding.outcome) {
        Some(Outcome::Known(conclusion)) => conclusion,
        Some(Outcome::Unknown { why }) => return Err(why.clone()),
        None => {
            return Err(format!(
                "The run {} holds no random requests by their number at a time: drivescope access measures them.",
                run.id
            ));
        }
    };
    let points = conclusion.data.iter().find(|(name, _)| name == "points");
    let points: Vec<WithinBudget> = match points {
        Some((_, Datum::List(points))) => points.iter().filter_map(point).collect(),
        _ => Vec::new(),
    };
    let quickest = points.iter().map(|point| point.p99_s).fold(f64::INFINITY, f64::min);
    let within = points.into_iter().filter(|point| point.p99_s <= budget_s);
    let most = within.max_by(|a, b| a.iops.value.total_cmp(&b.iops.value));
    most.ok_or_else(|| match quickest.is_finite() {
        true => format!(
            "At best 1 of 100 answers takes longer than {:.3} ms, and that is more than was allowed.",
            quickest * 1e3
        ),
        false => "Too few requests were measured to tell how long 99 of 100 take at most.".to_string(),
    })
}

fn point(entry: &Datum) -> Option<WithinBudget> {
    let Datum::Record(parts) = entry else { return None };
    let part =
        |wanted: &str| parts.iter().find(|(name, _)| Name::as_ref(name) == wanted).map(|(_, part)| part);
    let number = |name: &str| match part(name)? {
        Datum::Number(value) => Some(*value),
        Datum::Integer(value) => Some(*value as f64),
        _ => None,
    };
    let at_once = number("depth").or_else(|| number("threads"))?;
    let iops = Estimate {
        value: number("iops")?,
        low: number("low")?,
        high: number("high")?,
        confidence: CONFIDENCE,
        effective_count: f64::INFINITY,
    };
    Some(WithinBudget { at_once: at_once as u64, iops, p99_s: number("p99_s")? })
}
