//! What the offset on the drive changes, and what it does not: all that was stated at its start and at its end.

use crate::measured::evidence_of;
use crate::moving_parts::turns;
use crate::stated::{Shape, Spot, Stated, edges, in_order, spots, stated, without_interval};
use model::estimate::Estimate;
use model::finding::{
    FigureKind, FigureRatio, Finding, Imported, ImportedRatio, Outcome, SurveyUnknown, ZoneRatio,
};
use model::request::Operation;
use model::run::RunView;
use std::collections::BTreeMap;

/// Two ends that differ by less than half of what the offsets between them differ by do not differ by their offset.
const SCATTER_SHARE: f64 = 0.5;

pub(in super::super) fn ratio(run: &RunView<'_>) -> Vec<Finding> {
    let reads = in_order(run, Operation::Read);
    let (operation, figures) = if reads.is_empty() {
        (Operation::Write, in_order(run, Operation::Write))
    } else {
        (Operation::Read, reads)
    };
    if figures.is_empty() {
        return Vec::new();
    }
    if turns(run) == Some(false) {
        return vec![Finding::ZoneRatio(Outcome::Unknown(SurveyUnknown::NotRotating))];
    }
    let places = spots(&figures);
    let outcome = match edges(run, &places) {
        // Without an offset there are no ends to ask for.
        Err(_) => return Vec::new(),
        Ok([Some(start), Some(end)]) => Outcome::of(
            zone_ratio(run, operation, start, end),
            evidence_of(start.figures.iter().chain(&end.figures)),
        ),
        Ok(_) => Outcome::Unknown(SurveyUnknown::NoneAtBothEnds),
    };
    vec![Finding::ZoneRatio(outcome)]
}

fn zone_ratio(
    run: &RunView<'_>,
    operation: Operation,
    start: &Spot<'_>,
    end: &Spot<'_>,
) -> Result<ZoneRatio, SurveyUnknown> {
    let top = end.seconds_per_byte().ok_or(SurveyUnknown::NoRate)?;
    let bottom = start.seconds_per_byte().ok_or(SurveyUnknown::NoRate)?;
    let ratio = quotient(&top, &bottom);
    let imported = ImportedRatio {
        operation,
        start: start.range,
        end: end.range,
        by_figure: by_figure(run, start),
        imported: Imported::new(&ratio, run.environment.direct),
    };
    Ok(ZoneRatio { ratio, places: Vec::new(), imported: Some(imported) })
}

fn quotient(top: &Estimate, bottom: &Estimate) -> Estimate {
    let ratio = crate::stats::ratio::quotient(top, bottom);
    if ratio.high.is_finite() { ratio } else { without_interval(ratio.value) }
}

/// Everything that was stated in the same way at both ends; `start` has the figures of the ratio.
fn by_figure(run: &RunView<'_>, start: &Spot<'_>) -> Vec<FigureRatio> {
    let mut shapes: BTreeMap<Shape, Vec<Stated<'_>>> = BTreeMap::new();
    for figure in stated(run) {
        shapes.entry(figure.shape()).or_default().push(figure);
    }
    let mut rows = Vec::new();
    for (shape, figures) in shapes {
        let is_other = start.figures.iter().all(|figure| figure.shape() != shape);
        rows.extend(figure_ratio(run, shape, &figures, is_other));
    }
    rows
}

fn figure_ratio(
    run: &RunView<'_>,
    shape: Shape,
    figures: &[Stated<'_>],
    is_other: bool,
) -> Option<FigureRatio> {
    let places = spots(figures);
    let [Some(first), Some(last)] = edges(run, &places).ok()? else { return None };
    let (start, end) = (value_at(first, shape)?, value_at(last, shape)?);
    let values: Vec<f64> = places.iter().filter_map(|spot| value_at(spot, shape)).collect();
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let is_within_scatter = values.len() > 2 && (start - end).abs() < SCATTER_SHARE * (most - least);
    let kind = FigureKind {
        sequential: shape.in_order,
        reads: shape.reads,
        writes: shape.writes,
        by_byte: shape.block.get() <= 1,
    };
    Some(FigureRatio {
        kind,
        unit: if shape.in_order { "B/s" } else { "1/s" },
        block_bytes: shape.block,
        start,
        end,
        ratio: start / end,
        does_not_differ: is_within_scatter,
        processor_share: first.figures.first().and_then(|figure| figure.processor_share(run)),
        is_other,
    })
}

fn value_at(spot: &Spot<'_>, shape: Shape) -> Option<f64> {
    if shape.in_order { Some(1.0 / spot.seconds_per_byte()?.value) } else { Some(spot.per_second()?.value) }
}
