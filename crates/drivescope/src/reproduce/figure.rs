//! One figure of an article, published beside reproduced, and what to think of the difference.

/// A group of figures under one heading.
#[derive(Clone, Debug)]
pub struct Table {
    /// What they have in common: "Read, area by area".
    pub title: String,
    /// How they came about, if the heading does not say it.
    pub method: String,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What was measured: "bytes 0 to 125.6 GB".
    pub name: String,
    /// In what.
    pub unit: Unit,
    /// What the article says.
    pub published: Published,
    /// What the virtual drive did; none when it cannot be done here.
    pub reproduced: Option<f64>,
    /// By how much of the published value it may differ and still agree.
    pub tolerance: f64,
    /// Why it differs or cannot be done, as sentences.
    pub reason: Option<String>,
}

/// What an article says of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// A number.
    Value(f64),
    /// No number above this one.
    AtMost(f64),
    /// No number below this one.
    AtLeast(f64),
    /// Nothing: it is shown because it explains another.
    Nothing,
}

/// What a figure is measured in. The value is in base units: bytes per second, seconds, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second, shown as decimal MB/s.
    Rate,
    /// Accesses per second.
    PerSecond,
    /// Seconds.
    Seconds,
    /// Bytes, shown as decimal GB.
    Bytes,
    /// One number to another.
    Ratio,
    /// A share, shown in percent.
    Share,
    /// How many.
    Count,
}

/// What to think of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is within the tolerance.
    Agrees,
    /// It is not, and the reason is known and shown.
    Differs,
    /// It is not, and nobody knows why: the drive or its model is wrong.
    Fails,
    /// It cannot be done on a virtual drive.
    OutOfReach,
    /// There is nothing to compare it with.
    Shown,
}

impl Figure {
    /// A figure that has to agree within `tolerance`, a share of what was published.
    pub fn new(
        name: impl Into<String>,
        unit: Unit,
        published: f64,
        reproduced: f64,
        tolerance: f64,
    ) -> Figure {
        Figure {
            name: name.into(),
            unit,
            published: Published::Value(published),
            reproduced: Some(reproduced),
            tolerance,
            reason: None,
        }
    }

    /// A figure of which the article gives a bound.
    pub fn bounded(name: impl Into<String>, unit: Unit, bound: Published, reproduced: f64) -> Figure {
        Figure { published: bound, tolerance: 0.0, ..Figure::shown(name, unit, reproduced) }
    }

    /// A figure that the article does not give.
    pub fn shown(name: impl Into<String>, unit: Unit, reproduced: f64) -> Figure {
        Figure {
            name: name.into(),
            unit,
            published: Published::Nothing,
            reproduced: Some(reproduced),
            tolerance: 0.0,
            reason: None,
        }
    }

    /// A figure that a virtual drive cannot give, and why.
    pub fn out_of_reach(name: impl Into<String>, unit: Unit, published: f64, reason: &str) -> Figure {
        Figure {
            name: name.into(),
            unit,
            published: Published::Value(published),
            reproduced: None,
            tolerance: 0.0,
            reason: Some(reason.into()),
        }
    }

    /// With the reason why it may differ.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Figure {
        Figure { reason: Some(reason.into()), ..self }
    }

    /// How far the reproduced value is from the published one, as a share of the latter.
    pub fn deviation(&self) -> Option<f64> {
        match (self.published, self.reproduced) {
            (Published::Value(published), Some(reproduced)) if published != 0.0 => {
                Some(reproduced / published - 1.0)
            }
            _ => None,
        }
    }

    /// What to think of it.
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
    /// The value with its unit, to four digits.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Rate => format!("{} MB/s", digits(value / 1e6)),
            Unit::PerSecond => format!("{}/s", digits(value)),
            Unit::Seconds if value.abs() >= 10_000.0 => format!("{} s", thousands(value.round())),
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

/// A whole number with commas.
fn thousands(value: f64) -> String {
    report::quantity::count(value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_judged_by_its_tolerance_and_its_reason() {
        let figure = |reproduced| Figure::new("rate", Unit::Rate, 100e6, reproduced, 0.02);
        assert_eq!(figure(101.9e6).verdict(), Verdict::Agrees);
        assert_eq!(figure(97.9e6).verdict(), Verdict::Fails);
        assert_eq!(figure(97.9e6).because("It is older.").verdict(), Verdict::Differs);
        assert_eq!(figure(101.9e6).because("It is older.").verdict(), Verdict::Agrees);
        let width = |width| Figure::bounded("width", Unit::Seconds, Published::AtMost(1.0), width);
        assert_eq!(width(0.9).verdict(), Verdict::Agrees);
        assert_eq!(width(1.1).verdict(), Verdict::Fails);
        assert_eq!(Figure::shown("rate", Unit::Rate, 1.0).verdict(), Verdict::Shown);
        let cpu = Figure::out_of_reach("cpu", Unit::Share, 0.9, "There is no processor.");
        assert_eq!(cpu.verdict(), Verdict::OutOfReach);
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
