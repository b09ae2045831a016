//! Findings in scripts: what a result must not be (`write-cliff < 20GB`), and lines with values in them (`{read-rate-mean.low}`).

use crate::estimate::Estimate;
use crate::finding::{
    CommitLatency, Finding, FindingCode, Outcome, ReadLatency, Value, WriteCliff, WriteCliffUnknown, of_code,
};
use crate::quantity_text::{parse_duration, parse_share, parse_size};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub code: FindingCode,
    /// Of the latencies, instead of the value.
    percentile: Option<Rank>,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    P50,
    P99,
    P999,
}

const PERCENTILES: [(&str, Rank); 3] = [("p50", Rank::P50), ("p99", Rank::P99), ("p99.9", Rank::P999)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Value,
    Low,
    High,
    Unit,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub text: String,
    pub field: Field,
    comparison: Comparison,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    NotEqual,
}

/// Longer ones first: `<=` begins with `<`.
const COMPARISONS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
];

#[derive(Clone, Debug, PartialEq)]
enum Limit {
    Number(f64),
    Word(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Passed,
    Failed,
    /// The finding is unknown, inconclusive or was not looked for.
    Undecided,
}

/// A line with fields in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// What cannot be read, and what would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionError(String);

impl fmt::Display for CriterionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CriterionError {}

impl FromStr for Field {
    type Err = CriterionError;

    fn from_str(text: &str) -> Result<Field, CriterionError> {
        let (name, rest) = text.split_once('.').unwrap_or((text, "value"));
        let Some(code) = FindingCode::from_name(name) else {
            return Err(CriterionError(format!(
                "no finding is called `{name}`. All codes: docs/reference/scripting.md"
            )));
        };
        if let Some(part) = part_of(rest) {
            return Ok(Field { code, percentile: None, part });
        }
        for (name, percentile) in PERCENTILES {
            let part = match rest.strip_prefix(name) {
                Some("") => Some(Part::Value),
                Some(part) => part.strip_prefix('.').and_then(part_of),
                None => None,
            };
            if let Some(part) = part
                && has_percentile(code, percentile)
            {
                return Ok(Field { code, percentile: Some(percentile), part });
            }
        }
        let names: Vec<&str> = PERCENTILES
            .iter()
            .filter(|(_, percentile)| has_percentile(code, *percentile))
            .map(|(name, _)| *name)
            .collect();
        let percentiles = if names.is_empty() { String::new() } else { format!(", {}", names.join(", ")) };
        Err(CriterionError(format!("{name} has value, low, high, unit{percentiles}, not `{rest}`")))
    }
}

fn part_of(text: &str) -> Option<Part> {
    match text {
        "value" => Some(Part::Value),
        "low" => Some(Part::Low),
        "high" => Some(Part::High),
        "unit" => Some(Part::Unit),
        _ => None,
    }
}

/// Which latencies keep more of their distribution than the value.
fn has_percentile(code: FindingCode, percentile: Rank) -> bool {
    match code {
        FindingCode::CommitLatency => true,
        FindingCode::ReadLatency => percentile == Rank::P99,
        _ => false,
    }
}

impl FromStr for Criterion {
    type Err = CriterionError;

    fn from_str(text: &str) -> Result<Criterion, CriterionError> {
        let operator = text.find(['<', '>', '=', '!']).unwrap_or(text.len());
        let (name, rest) = text.split_at(operator);
        let found =
            COMPARISONS.iter().find_map(|(sign, comparison)| Some((*comparison, rest.strip_prefix(sign)?)));
        let Some((comparison, limit)) = found else {
            return Err(CriterionError("it is not a condition such as 'write-cliff < 20GB'".into()));
        };
        let field: Field = name.trim().parse()?;
        let limit = limit_of(field, comparison, limit.trim())?;
        Ok(Criterion { text: text.trim().to_owned(), field, comparison, limit })
    }
}

fn limit_of(field: Field, comparison: Comparison, text: &str) -> Result<Limit, CriterionError> {
    let code = field.code.name();
    if field.part == Part::Unit {
        return Err(CriterionError("units are not compared; leave .unit out".into()));
    }
    let (number, example) = match field.code.unit() {
        None => {
            let is_equation = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            return match is_equation && field.part == Part::Value && !text.is_empty() {
                true => Ok(Limit::Word(text.to_owned())),
                false => Err(CriterionError(format!("{code} is a word; compare it with = or !="))),
            };
        }
        Some("s") => (parse_duration(text).ok().map(super::units::Nanos::seconds), "a duration such as 10ms"),
        Some("bytes") => (parse_size(text).ok().map(super::units::Bytes::as_f64), "a size such as 20GB"),
        Some("B/s") => (bytes_per_second(text), "a throughput such as 150MB/s"),
        Some("ratio") => (text.parse().ok().or(parse_share(text).ok()), "a ratio such as 1.5 or 90%"),
        Some("1/s") => {
            (text.trim_end_matches("IOPS").trim_end_matches("/s").trim().parse().ok(), "a number such as 500")
        }
        Some(_) => (text.parse().ok(), "a number such as 0"),
    };
    match number.filter(|number: &f64| number.is_finite()) {
        Some(number) => Ok(Limit::Number(number)),
        None => Err(CriterionError(format!("{code} is compared with {example}, not with `{text}`"))),
    }
}

fn bytes_per_second(text: &str) -> Option<f64> {
    Some(parse_size(text.strip_suffix("/s")?.trim_end()).ok()?.as_f64())
}

impl Criterion {
    /// What the findings of a run say of it. A finding that is not known never passes: a delivered drive is accepted by what was
    /// measured alone. One exception: bytes written without a write cliff are a lower bound of it.
    pub fn judge(&self, findings: &[Finding]) -> Judgement {
        let Some(finding) = of_code(findings, self.field.code) else { return Judgement::Undecided };
        let is_met = match (finding.value(), &self.limit) {
            (Some(Value::Number(estimate)), Limit::Number(limit))
                if finding.unit().as_deref() == self.field.code.unit() =>
            {
                match self.field.estimate(finding, estimate) {
                    Some(estimate) => self.comparison.holds(self.field.number(&estimate), *limit),
                    None => return Judgement::Undecided,
                }
            }
            (Some(Value::Word(word)), Limit::Word(limit)) => {
                (self.comparison == Comparison::Equal) == (word == limit.as_str())
            }
            (None, Limit::Number(limit)) if self.is_past(finding, *limit) => false,
            _ => return Judgement::Undecided,
        };
        if is_met { Judgement::Failed } else { Judgement::Passed }
    }

    fn is_past(&self, finding: &Finding, limit: f64) -> bool {
        let Some(Outcome::Unknown(WriteCliffUnknown::None(none))) = finding.as_outcome::<WriteCliff>() else {
            return false;
        };
        matches!(self.comparison, Comparison::Less | Comparison::AtMost) && none.written_bytes > limit
    }
}

impl Comparison {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Less => value < limit,
            Comparison::AtMost => value <= limit,
            Comparison::More => value > limit,
            Comparison::AtLeast => value >= limit,
            Comparison::Equal => value == limit,
            Comparison::NotEqual => value != limit,
        }
    }
}

impl Field {
    /// The value, or the percentile that was asked for; none where there were too few requests for it.
    fn estimate(self, finding: &Finding, value: Estimate) -> Option<Estimate> {
        let Some(percentile) = self.percentile else { return Some(value) };
        if let Some(latency) = finding.as_known::<ReadLatency>() {
            return (percentile == Rank::P99).then_some(latency.conclusion.p99);
        }
        let point = finding.as_known::<CommitLatency>()?.conclusion.points.first()?;
        let found = match percentile {
            Rank::P50 => point.p50,
            Rank::P99 => point.p99,
            Rank::P999 => point.p999,
        }?;
        Some(Estimate { value: found.seconds, low: found.low, high: found.high, ..value })
    }

    fn number(self, estimate: &Estimate) -> f64 {
        match self.part {
            Part::Low => estimate.low,
            Part::High => estimate.high,
            Part::Value | Part::Unit => estimate.value,
        }
    }

    /// In base units, as in JSON; `unknown` where nothing is known.
    fn text(self, findings: &[Finding]) -> String {
        let text = of_code(findings, self.code).and_then(|finding| match (finding.value()?, self.part) {
            (_, Part::Unit) => finding.unit().map(String::from),
            (Value::Word(word), Part::Value) => Some(word.into_owned()),
            (Value::Word(_), _) => None,
            (Value::Number(estimate), _) => Some(self.number(&self.estimate(finding, estimate)?).to_string()),
        });
        text.unwrap_or_else(|| "unknown".into())
    }
}

impl FromStr for Template {
    type Err = CriterionError;

    fn from_str(text: &str) -> Result<Template, CriterionError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((field, after)) = after.split_once('}') else {
                return Err(CriterionError("`{` without `}`. A field is such as {read-rate-mean}".into()));
            };
            pieces.push(Piece::Text(before.into()));
            pieces.push(Piece::Field(field.parse()?));
            rest = after;
        }
        pieces.push(Piece::Text(rest.into()));
        Ok(Template(pieces))
    }
}

impl Template {
    pub fn fill(&self, findings: &[Finding]) -> String {
        let texts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Field(field) => field.text(findings),
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{CommitMethod, Log};
    use crate::finding::{
        CommitPoint, NoCliff, NoCliffCourse, Percentile, SurveyUnknown, WriteKind, WriteOrder, ZoneRatio,
    };
    use crate::units::Bytes;

    fn criterion(text: &str) -> Criterion {
        text.parse().expect(text)
    }

    fn ratio() -> Finding {
        let ratio = Estimate { low: 1.5, high: 2.5, confidence: 0.95, ..Estimate::exact(2.0) };
        Finding::ZoneRatio(Outcome::known(
            ZoneRatio { ratio, places: Vec::new(), imported: None },
            Vec::new(),
        ))
    }

    #[test]
    fn a_value_is_held_against_the_limit() {
        for (text, expected) in [
            ("zone-ratio > 1.9", Judgement::Failed),
            ("zone-ratio>2", Judgement::Passed),
            ("zone-ratio >= 2", Judgement::Failed),
            ("zone-ratio != 2", Judgement::Passed),
            ("zone-ratio.low < 1.6", Judgement::Failed),
            ("zone-ratio.high < 2.4", Judgement::Passed),
            ("read-rate-mean < 1MB/s", Judgement::Undecided),
        ] {
            assert_eq!(criterion(text).judge(&[ratio()]), expected, "{text}");
        }
        let unknown = Finding::ZoneRatio(Outcome::Unknown(SurveyUnknown::NoTime));
        assert_eq!(criterion("zone-ratio > 9").judge(&[unknown]), Judgement::Undecided);
    }

    #[test]
    fn percentiles_of_latencies_are_held_against_the_limit() {
        let percentile = |seconds, low, high| Percentile { seconds, low, high };
        let point = CommitPoint {
            write_bytes: Bytes::new(8192),
            commits: 1000,
            p50: Some(percentile(0.001, 0.0009, 0.0012)),
            p99: Some(percentile(0.009, 0.0081, 0.0108)),
            p999: None,
        };
        let latency = CommitLatency {
            p99: Estimate { low: 0.0081, high: 0.0108, confidence: 0.95, ..Estimate::exact(0.009) },
            method: CommitMethod::Fdatasync,
            log: Log::Extend,
            points: vec![point],
            application: None,
        };
        let finding = [Finding::CommitLatency(Outcome::known(latency, Vec::new()))];
        for (text, expected) in [
            ("commit-latency.p99 > 10ms", Judgement::Passed),
            ("commit-latency.p99.high > 10ms", Judgement::Failed),
            ("commit-latency.p50 > 950us", Judgement::Failed),
            ("commit-latency.p50.low > 950us", Judgement::Passed),
            ("commit-latency.p99.9 > 1s", Judgement::Undecided),
            ("commit-latency > 8ms", Judgement::Failed),
            ("read-latency.p99 > 1ms", Judgement::Undecided),
        ] {
            assert_eq!(criterion(text).judge(&finding), expected, "{text}");
        }
        let filled =
            "{commit-latency.p50} {commit-latency.p99.high} {commit-latency.p99.9} {commit-latency.p50.unit}";
        let line = filled.parse::<Template>().expect(filled).fill(&finding);
        assert_eq!(line, "0.001 0.0108 unknown s");
        for (wrong, why) in [
            ("commit-latency.p98 > 1s", "has value, low, high, unit, p50, p99, p99.9, not `p98`"),
            ("commit-latency.p99.middle > 1s", "not `p99.middle`"),
            ("read-latency.p50 > 1s", "has value, low, high, unit, p99, not `p50`"),
            ("zone-ratio.p99 > 1", "zone-ratio has value, low, high, unit, not `p99`"),
        ] {
            let error = wrong.parse::<Criterion>().expect_err(wrong).to_string();
            assert!(error.ends_with(why), "{error}");
        }
    }

    #[test]
    fn no_cliff_within_what_was_written_passes_up_to_there() {
        let none = NoCliff {
            writes: WriteKind { order: WriteOrder::Random, block: Bytes::new(4096) },
            written_bytes: 30e9,
            mean: 1e8,
            acknowledged: 1e8,
            course: NoCliffCourse::Even,
            limit: None,
        };
        let finding = [Finding::WriteCliff(Outcome::Unknown(WriteCliffUnknown::None(none)))];
        assert_eq!(criterion("write-cliff < 20GB").judge(&finding), Judgement::Passed);
        assert_eq!(criterion("write-cliff < 40GB").judge(&finding), Judgement::Undecided);
        assert_eq!(criterion("write-cliff > 20GB").judge(&finding), Judgement::Undecided);
    }

    #[test]
    fn a_limit_has_the_unit_of_its_finding() {
        assert_eq!(criterion("write-cliff < 20GB").limit, Limit::Number(20e9));
        assert_eq!(criterion("read-rate-mean < 150MB/s").limit, Limit::Number(150e6));
        assert_eq!(criterion("access-time > 10ms").limit, Limit::Number(0.01));
        assert_eq!(criterion("recording-kind = smr").limit, Limit::Word("smr".into()));
        for wrong in [
            "write-cliff < 20MB/s",
            "read-rate-mean < 150MB",
            "access-time > 10",
            "slow-regions > many",
            "recording-kind < smr",
            "nonsense > 1",
            "slow-regions.middle > 1",
            "slow-regions",
            "slow-regions ! 1",
            "",
        ] {
            assert!(wrong.parse::<Criterion>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_template_is_filled_in_base_units() {
        let filled = |text: &str| text.parse::<Template>().expect(text).fill(&[ratio()]);
        assert_eq!(filled("{zone-ratio}"), "2");
        assert_eq!(filled("a {zone-ratio.low}-{zone-ratio.high} {zone-ratio.unit}!"), "a 1.5-2.5 ratio!");
        assert_eq!(filled("{read-rate-mean}"), "unknown");
        assert!("{zone-ratio".parse::<Template>().is_err() && "{none}".parse::<Template>().is_err());
    }
}
