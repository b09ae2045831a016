//! One figure of an article, published beside reproduced, and what to think of the difference.

use serde::{Serialize, Serializer};

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TableDocument"))]
pub struct Table {
    pub title: String,
    pub method: String,
    #[cfg_attr(feature = "schema", schemars(with = "Vec<FigureDocument>"))]
    pub figures: Vec<Figure>,
}

#[derive(Clone, Debug)]
pub struct Figure {
    pub name: String,
    pub unit: Unit,
    pub published: Published,
    pub reproduced: Option<f64>,
    /// The largest deviation that still agrees, as a share of the published value.
    pub tolerance: f64,
    pub reason: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FigureDocument<'all> {
    name: &'all str,
    unit: Unit,
    published: Option<f64>,
    /// Whether the article gives the published value itself or a limit.
    published_is: Option<PublishedWord>,
    reproduced: Option<f64>,
    /// The largest deviation that still agrees, as a share of the published value.
    tolerance: f64,
    verdict: Verdict,
    reason: Option<&'all str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum PublishedWord {
    Value,
    AtMost,
    AtLeast,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    Value(f64),
    AtMost(f64),
    AtLeast(f64),
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "UnitWord"))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    #[serde(rename = "B/s")]
    Rate,
    #[serde(rename = "1/s")]
    PerSecond,
    #[serde(rename = "s")]
    Seconds,
    Bytes,
    Ratio,
    #[serde(rename = "ratio")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Share,
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Agrees,
    Differs,
    /// Not within it for no known reason: the drive or its model is wrong.
    Fails,
    #[serde(rename = "not-modelled")]
    OutOfReach,
    #[serde(rename = "not-published")]
    Shown,
}

impl Table {
    pub fn new(title: impl Into<String>, method: impl Into<String>) -> Table {
        Table { title: title.into(), method: method.into(), figures: Vec::new() }
    }

    pub fn compare(
        &mut self,
        name: impl Into<String>,
        unit: Unit,
        (published, reproduced): (f64, f64),
        tolerance: f64,
    ) -> &mut Figure {
        let figure = self.add(name, unit, Published::Value(published), Some(reproduced));
        figure.tolerance = tolerance;
        figure
    }

    pub fn bound(
        &mut self,
        name: impl Into<String>,
        unit: Unit,
        bound: Published,
        reproduced: f64,
    ) -> &mut Figure {
        self.add(name, unit, bound, Some(reproduced))
    }

    pub fn show(&mut self, name: impl Into<String>, unit: Unit, reproduced: f64) -> &mut Figure {
        self.add(name, unit, Published::Nothing, Some(reproduced))
    }

    pub fn out_of_reach(&mut self, name: &str, unit: Unit, published: f64) -> &mut Figure {
        self.add(name, unit, Published::Value(published), None)
    }

    fn add(
        &mut self,
        name: impl Into<String>,
        unit: Unit,
        published: Published,
        reproduced: Option<f64>,
    ) -> &mut Figure {
        let name = name.into();
        self.figures.push(Figure { name, unit, published, reproduced, tolerance: 0.0, reason: None });
        self.figures.last_mut().expect("it was just added")
    }
}

pub fn highest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, f64::max)
}

pub fn spread(values: &[f64]) -> f64 {
    highest(values.iter().copied()) / values.iter().copied().fold(f64::INFINITY, f64::min)
}

impl Figure {
    pub fn because(&mut self, reason: impl Into<String>) {
        self.reason = Some(reason.into());
    }

    /// # Panics
    /// When the article gives no value.
    pub fn published_value(&self) -> f64 {
        match self.published {
            Published::Value(value) => value,
            _ => panic!("{}: the article gives no value", self.name),
        }
    }

    /// # Panics
    /// When a virtual drive cannot do it.
    pub fn reproduced_value(&self) -> f64 {
        self.reproduced.expect("the figure is reproduced")
    }

    pub fn reproduced_text(&self) -> String {
        self.reproduced.map(|value| self.unit.text(value)).unwrap_or_default()
    }

    pub fn deviation(&self) -> Option<f64> {
        match (self.published, self.reproduced) {
            (Published::Value(published), Some(reproduced)) if published != 0.0 => {
                Some(reproduced / published - 1.0)
            }
            _ => None,
        }
    }

    pub fn verdict(&self) -> Verdict {
        let Some(reproduced) = self.reproduced else { return Verdict::OutOfReach };
        let agrees = match self.published {
            Published::Nothing => return Verdict::Shown,
            Published::Value(published) => (reproduced - published).abs() <= self.tolerance * published.abs(),
            Published::AtMost(bound) => reproduced <= bound,
            Published::AtLeast(bound) => reproduced >= bound,
        };
        match (agrees, &self.reason) {
            (true, _) => Verdict::Agrees,
            (false, Some(_)) => Verdict::Differs,
            (false, None) => Verdict::Fails,
        }
    }
}

impl Unit {
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Rate => format!("{} MB/s", digits(value / 1e6)),
            Unit::PerSecond => format!("{}/s", digits(value)),
            Unit::Seconds if value.abs() >= 10_000.0 => {
                format!("{} s", report::quantity::count(value.round() as u64))
            }
            Unit::Seconds if value.abs() < 1.0 => format!("{:.0} ms", value * 1e3 + 0.0),
            Unit::Seconds => format!("{} s", digits(value)),
            Unit::Bytes if value < 1e9 => format!("{} MB", digits(value / 1e6)),
            Unit::Bytes => format!("{} GB", digits(value / 1e9)),
            Unit::Ratio => format!("{value:.2} ×"),
            Unit::Share => format!("{:.1} %", value * 100.0),
            // Adding 0 makes the zero of an empty sum positive.
            Unit::Count => digits(value + 0.0),
        }
    }
}

/// Four significant digits at most, three below 10, without zeroes at the end.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (published, published_is) = match self.published {
            Published::Value(value) => (Some(value), Some(PublishedWord::Value)),
            Published::AtMost(value) => (Some(value), Some(PublishedWord::AtMost)),
            Published::AtLeast(value) => (Some(value), Some(PublishedWord::AtLeast)),
            Published::Nothing => (None, None),
        };
        let document = FigureDocument {
            name: &self.name,
            unit: self.unit,
            published,
            published_is,
            reproduced: self.reproduced,
            tolerance: self.tolerance,
            verdict: self.verdict(),
            reason: self.reason.as_deref(),
        };
        document.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_judged_by_its_tolerance_and_its_reason() {
        let verdict = |reproduced, reason: Option<&str>| {
            let mut table = Table::new("", "");
            let figure = table.compare("rate", Unit::Rate, (100e6, reproduced), 0.02);
            figure.reason = reason.map(str::to_owned);
            figure.verdict()
        };
        assert_eq!(verdict(101.9e6, None), Verdict::Agrees);
        assert_eq!(verdict(97.9e6, None), Verdict::Fails);
        assert_eq!(verdict(97.9e6, Some("It is older.")), Verdict::Differs);
        assert_eq!(verdict(101.9e6, Some("It is older.")), Verdict::Agrees);
        let mut table = Table::new("", "");
        let bound = Published::AtMost(1.0);
        assert_eq!(table.bound("width", Unit::Seconds, bound, 0.9).verdict(), Verdict::Agrees);
        assert_eq!(table.bound("width", Unit::Seconds, bound, 1.1).verdict(), Verdict::Fails);
        assert_eq!(table.show("rate", Unit::Rate, 1.0).verdict(), Verdict::Shown);
        assert_eq!(table.out_of_reach("cpu", Unit::Share, 0.9).verdict(), Verdict::OutOfReach);
    }

    #[test]
    fn numbers_are_shown_to_four_digits() {
        assert_eq!(Unit::Rate.text(148_874_240.0), "148.9 MB/s");
        assert_eq!(Unit::Rate.text(600_000.0), "0.6 MB/s");
        assert_eq!(Unit::PerSecond.text(4.577), "4.58/s");
        assert_eq!(Unit::Seconds.text(17_922.9), "17,923 s");
        assert_eq!(Unit::Seconds.text(0.81), "810 ms");
        assert_eq!(Unit::Ratio.text(1.501), "1.50 ×");
        assert_eq!(Unit::Bytes.text(23e9), "23 GB");
        assert_eq!(Unit::Count.text(1000.0), "1000");
    }
}
