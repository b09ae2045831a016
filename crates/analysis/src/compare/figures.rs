//! The figures of the runs: every finding that is a number, and which of them differ.
//!
//! A figure comes with an interval and with the number of observations it rests on, from which its standard error follows. Two
//! figures are compared by the logarithm of their ratio (Welch's t with Satterthwaite's degrees of freedom): rates and times are
//! positive, and "10 % less" means the same for all. Figures of one drive that share what they rest on, such as the same places,
//! differ by less than this allows for, so that it errs towards finding nothing.

use super::compared_run::ComparedRun;
use super::multiplicity::threshold;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::ratio::difference;
use crate::stats::student::{f_tail, t_two_sided};
use model::comparison::{ComparedFigure, Difference};
use model::estimate::Estimate;
use model::finding::{FindingCode, Name, of_code};

/// The share of differences reported that may be none; and the probability that any is reported when there is none.
const FALSE_SHARE: f64 = 0.05;
/// What is about a run, or about what others say, and not about the drive; and the zone table, whose number is the zone count.
pub(super) const LEFT_OUT: [FindingCode; 5] = [
    FindingCode::Contradictions,
    FindingCode::CacheInfluence,
    FindingCode::DeviceLost,
    FindingCode::DatasheetClaims,
    FindingCode::ZoneTable,
];

pub(super) fn of(runs: &[ComparedRun<'_>]) -> Vec<ComparedFigure> {
    let codes = FindingCode::ALL.iter().filter(|code| !LEFT_OUT.contains(code));
    let mut figures: Vec<ComparedFigure> = codes.filter_map(|&code| figure(runs, code)).collect();
    let mut probabilities = Vec::new();
    for figure in &figures {
        probabilities.extend(figure.differences.iter().map(|difference| difference.probability));
    }
    let stands = threshold(&probabilities, FALSE_SHARE);
    for difference in figures.iter_mut().flat_map(|figure| &mut figure.differences) {
        difference.is_significant = difference.probability <= stands;
    }
    figures
}

fn figure(runs: &[ComparedRun<'_>], code: FindingCode) -> Option<ComparedFigure> {
    let found: Vec<Option<(Estimate, Name)>> = runs.iter().map(|run| number(run, code)).collect();
    let unit = found.iter().flatten().next()?.1.clone();
    let values: Vec<Option<Estimate>> = found.into_iter().map(|found| Some(found?.0)).collect();
    let mut differences = Vec::new();
    for second in 1..values.len() {
        for first in 0..second {
            if let (Some(a), Some(b)) = (values[first], values[second]) {
                differences.extend(compare_two(&a, &b, first, second));
            }
        }
    }
    Some(ComparedFigure { code, unit, values, differences })
}

fn number(run: &ComparedRun<'_>, code: FindingCode) -> Option<(Estimate, Name)> {
    let finding = of_code(&run.run.findings, code)?;
    let estimate = finding.estimate()?;
    if !estimate.value.is_finite() {
        return None;
    }
    Some((estimate, finding.unit()?))
}

/// Welch's t of the logarithms. None where one is not positive or has no finite interval, or both are exact.
fn compare_two(a: &Estimate, b: &Estimate, first: usize, second: usize) -> Option<Difference> {
    let log = difference(&logarithm(b)?, &logarithm(a)?);
    if log.variance == 0.0 {
        return None;
    }
    let probability = f_tail(log.value * log.value / log.variance, 1.0, log.degrees_of_freedom.min(DOF_MAX));
    let ratio = log.interval(CONFIDENCE).map_monotonic(f64::exp);
    Some(Difference { first, second, ratio, probability, is_significant: false })
}

/// From here on Student's t is the normal distribution to four digits.
const DOF_MAX: f64 = 1e6;

fn logarithm(estimate: &Estimate) -> Option<Mean> {
    let Estimate { value, low, high, confidence, effective_count } = *estimate;
    if !(value > 0.0 && low.is_finite() && high.is_finite()) {
        return None;
    }
    let half_width = if low > 0.0 { (high / low).ln() / 2.0 } else { (high - low) / 2.0 / value };
    let degrees_of_freedom = (effective_count - 1.0).clamp(1.0, DOF_MAX);
    let error =
        if half_width == 0.0 { 0.0 } else { half_width / t_two_sided(confidence, degrees_of_freedom) };
    Some(Mean { value: value.ln(), variance: error * error, degrees_of_freedom })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, half_width: f64, effective_count: f64) -> Estimate {
        Estimate {
            value,
            low: value - half_width,
            high: value + half_width,
            confidence: 0.95,
            effective_count,
        }
    }

    /// Two means of ten values, standard errors of 1 %: t = 0.0953/0.01414 = 6.74 with 18 degrees of freedom.
    #[test]
    fn two_figures_that_differ() {
        let half = 2.262 * 0.01;
        let found =
            compare_two(&estimate(100.0, 100.0 * half, 10.0), &estimate(110.0, 110.0 * half, 10.0), 0, 1)
                .unwrap();
        assert!((found.ratio.value - 1.1).abs() < 1e-9, "{found:?}");
        // 2.101 standard errors of √2 %, on the logarithm.
        assert!((found.ratio.low - 1.1 * (-0.02972f64).exp()).abs() < 1e-4, "{found:?}");
        assert!((1e-6..1e-5).contains(&found.probability), "{found:?}");
    }

    #[test]
    fn exact_and_unknown_figures_are_not_tested() {
        let exact = Estimate::exact(5.0);
        assert_eq!(compare_two(&exact, &exact, 0, 1), None);
        assert_eq!(compare_two(&estimate(-1.0, 0.5, 5.0), &exact, 0, 1), None);
        assert_eq!(compare_two(&estimate(1.0, f64::INFINITY, 5.0), &exact, 0, 1), None);
        assert!(compare_two(&estimate(1.0, 0.5, 5.0), &exact, 0, 1).is_some());
    }
}
