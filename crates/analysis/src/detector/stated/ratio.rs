//! What the place on the drive changes, and what it does not: all that was stated at its start and at its end.

use super::super::wording::{number, plural};
use super::{place_words, remark, remarked};
use crate::measured::turns;
use crate::stated::{Shape, Spot, Stated, edges, in_order, spots, stated, without_interval};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;
use std::collections::BTreeMap;

/// From here on a processor that works and a drive that is waited for in turns take more of the time than the drive does.
const PROCESSOR_SHARE_MIN: f64 = 0.5;
/// Two figures that differ by less are alike: programs state three digits.
const ALIKE: f64 = 0.005;
/// Two ends that differ by less than half of what the places between them differ by do not differ by their place.
const SCATTER_SHARE: f64 = 0.5;

/// What was stated in one way at places from the start to the end.
struct Row<'run> {
    shape: Shape,
    name: String,
    start: f64,
    end: f64,
    /// The largest less the smallest of all places; none when there are no others.
    scatter: Option<f64>,
    processor_share: Option<f64>,
    figures: Vec<Stated<'run>>,
}

/// The rate at the start over that at the end.
pub(in super::super) fn ratio(run: &RunView<'_>) -> Vec<Finding> {
    let code = FindingCode::ZoneRatio;
    let operation = match in_order(run, Operation::Read).is_empty() {
        true => Operation::Write,
        false => Operation::Read,
    };
    let figures = in_order(run, operation);
    if figures.is_empty() {
        return Vec::new();
    }
    if turns(run) == Some(false) {
        return vec![Finding::unknown(code, "The drive does not turn, so it has no zones.")];
    }
    let places = spots(&figures);
    // Without a place there are no ends to ask for.
    if edges(run, &places).is_err() {
        return Vec::new();
    }
    vec![found(run, operation, &places).unwrap_or_else(|why| Finding::unknown(code, why))]
}

fn found(run: &RunView<'_>, operation: Operation, places: &[Spot<'_>]) -> Result<Finding, String> {
    let (start, end) = edges(run, places)?;
    let (Some(start), Some(end)) = (start, end) else {
        return Err("It takes figures of the first and of the last third of the drive.".into());
    };
    let none = || "No rate came of it.".to_string();
    let (top, bottom) =
        (end.seconds_per_byte().ok_or_else(none)?, start.seconds_per_byte().ok_or_else(none)?);
    let estimate = quotient(&top, &bottom);
    let others = rows(run);
    let (first, last) = (place_words(run, start.range), place_words(run, end.range));
    let verbs = plural(operation);
    let mut statement = match (estimate.value - 1.0).abs() < ALIKE {
        true => format!("{verbs} are as fast in {last} of the drive as in {first}"),
        false => format!(
            "{verbs} are {} times as fast in {first} of the drive as in {last}",
            number(estimate.value)
        ),
    };
    statement += &format!("{}.", remark(&estimate));
    let of_the_rest = |row: &&Row<'_>| row.figures.iter().all(|figure| !figure_is_of(start, figure));
    let (in_order, random): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
        others.iter().filter(of_the_rest).partition(|row| row.shape.in_order);
    if !in_order.is_empty() {
        let ratios: Vec<String> = in_order.iter().map(|row| row.ratio_words()).collect();
        statement += &format!(" The other figures, start against end: {}.", ratios.join("; "));
    }
    random.iter().for_each(|row| statement += &row.seek_sentence());
    let evidence = [start, end].iter().flat_map(|spot| &spot.figures).map(Stated::evidence).collect();
    let finding = Finding::number(FindingCode::ZoneRatio, estimate, "ratio", statement, evidence)
        .with_data("by_figure", Datum::List(others.iter().map(Row::datum).collect()));
    Ok(remarked(finding, run, &estimate))
}

fn figure_is_of(spot: &Spot<'_>, figure: &Stated<'_>) -> bool {
    spot.figures.iter().any(|other| other.shape() == figure.shape())
}

fn quotient(top: &Estimate, bottom: &Estimate) -> Estimate {
    let value = top.value / bottom.value;
    let half = top.relative_half_width().hypot(bottom.relative_half_width());
    if !half.is_finite() {
        return without_interval(value);
    }
    let count = top.effective_count.min(bottom.effective_count);
    Estimate { value, low: value * (-half).exp(), high: value * half.exp(), effective_count: count, ..*top }
}

/// Everything that was stated in the same way at both ends.
fn rows<'run>(run: &RunView<'run>) -> Vec<Row<'run>> {
    let mut shapes: BTreeMap<Shape, Vec<Stated<'run>>> = BTreeMap::new();
    for figure in stated(run) {
        shapes.entry(figure.shape()).or_default().push(figure);
    }
    let row = |(shape, figures): (Shape, Vec<Stated<'run>>)| {
        let places = spots(&figures);
        let (start, end) = edges(run, &places).ok()?;
        let (start, end) = (start?, end?);
        let value = |spot: &Spot<'_>| match shape.in_order {
            true => spot.seconds_per_byte().map(|seconds| 1.0 / seconds.value),
            false => spot.per_second().map(|rate| rate.value),
        };
        let all: Vec<f64> = places.iter().filter_map(value).collect();
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let share = start.figures.first().and_then(|figure| figure.processor_share(run));
        Some(Row {
            shape,
            name: name(shape),
            start: value(start)?,
            end: value(end)?,
            scatter: (all.len() > 2).then_some(most - least),
            processor_share: share,
            figures,
        })
    };
    shapes.into_iter().filter_map(row).collect()
}

/// "writes", "reads byte by byte", "random reads, some written back".
fn name(shape: Shape) -> String {
    let what = match (shape.reads, shape.writes) {
        (true, true) => "reads that are written back",
        (false, true) => "writes",
        _ => "reads",
    };
    match (shape.in_order, shape.block.0) {
        (true, 0..=1) => format!("{what} byte by byte"),
        (true, _) => what.to_string(),
        (false, _) if shape.reads && shape.writes => "random reads with some written back".to_string(),
        (false, _) => format!("random {what}"),
    }
}

impl Row<'_> {
    fn does_not_differ(&self) -> bool {
        let difference = (self.start - self.end).abs();
        self.scatter.is_some_and(|scatter| difference < SCATTER_SHARE * scatter)
    }

    /// "writes 1.55 times", "reads byte by byte 1.16 times (which kept a processor busy for 81 % of the time)".
    fn ratio_words(&self) -> String {
        let busy = self.processor_share.filter(|share| *share >= PROCESSOR_SHARE_MIN);
        let reason = busy.map_or(String::new(), |share| {
            format!(" (which kept a processor busy for {:.0} % of the time)", 100.0 * share)
        });
        format!("{} {} times{reason}", self.name, number(self.start / self.end))
    }

    /// " Random reads do not depend on the place: 211 per second at the start and 206 at the end, …".
    fn seek_sentence(&self) -> String {
        let name = self.name[..1].to_uppercase() + &self.name[1..];
        let (start, end) = (number(self.start), number(self.end));
        if self.does_not_differ() {
            return format!(
                " {name} do not depend on the place: {start} per second at the start and {end} at the end, less apart than the places \
                 between are."
            );
        }
        format!(" {name}: {start} per second at the start and {end} at the end.")
    }

    fn datum(&self) -> Datum {
        let mut parts = vec![
            ("name", Datum::Text(self.name.clone())),
            ("unit", Datum::Text(if self.shape.in_order { "B/s" } else { "1/s" }.into())),
            ("block_bytes", Datum::Integer(self.shape.block.0)),
            ("start", Datum::Number(self.start)),
            ("end", Datum::Number(self.end)),
            ("ratio", Datum::Number(self.start / self.end)),
            ("does_not_differ", Datum::Flag(self.does_not_differ())),
        ];
        if let Some(share) = self.processor_share {
            parts.push(("processor_share", Datum::Number(share)));
        }
        Datum::record(parts)
    }
}
