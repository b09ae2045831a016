//! A measured value and what it is held against.

use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

#[derive(Clone, Debug)]
pub struct Goal {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    pub bound: Bound,
}

impl Bound {
    /// How much better than the bound a value is: 1 just reaches it.
    pub fn ratio(self, value: f64) -> f64 {
        match self {
            Bound::AtLeast(least) => value / least,
            Bound::AtMost(most) => most / value,
        }
    }

    pub fn shown(self, unit: &str) -> String {
        match self {
            Bound::AtLeast(least) => format!("≥ {}", quantity(least, unit)),
            Bound::AtMost(most) => format!("≤ {}", quantity(most, unit)),
        }
    }
}

impl Goal {
    pub fn is_reached(&self) -> bool {
        self.bound.ratio(self.value) >= 1.0
    }
}

pub fn quantity(value: f64, unit: &str) -> String {
    let decimals = match value.abs() {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

pub fn table(goals: &[Goal]) -> String {
    let mut text = String::from(
        "| what | measured | goal | ratio | reached |\n\
         |---|---:|---:|---:|---|\n",
    );
    for goal in goals {
        let Goal { what, value, unit, bound } = goal;
        let reached = if goal.is_reached() { "yes" } else { "**no**" };
        // Text in memory cannot fail to be written.
        let _ = writeln!(
            text,
            "| {what} | {} | {} | {:.2} | {reached} |",
            quantity(*value, unit),
            bound.shown(unit),
            bound.ratio(*value)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Bound, Goal, table};

    #[test]
    fn a_ratio_of_one_reaches_the_bound_from_either_side() {
        let goal = |value, bound| Goal { what: "it".to_owned(), value, unit: "s", bound };
        let text = table(&[
            goal(2.0, Bound::AtMost(1.0)),
            goal(0.5, Bound::AtMost(1.0)),
            goal(123.4, Bound::AtLeast(100.0)),
            goal(1.0, Bound::AtLeast(1.0)),
        ]);
        for line in [
            "| it | 2.00 s | ≤ 1.00 s | 0.50 | **no** |",
            "| it | 0.50 s | ≤ 1.00 s | 2.00 | yes |",
            "| it | 123 s | ≥ 100 s | 1.23 | yes |",
            "| it | 1.00 s | ≥ 1.00 s | 1.00 | yes |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
