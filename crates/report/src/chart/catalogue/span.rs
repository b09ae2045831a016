//! The chart of random reads against the part of the drive that they lie in.

use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, places_of, top_of};
use crate::chart::phase::measured;
use crate::chart::{Axis, Chart, ChartedRun, Numbers, Point};
use model::finding::{FindingCode, SpanEffect, SpanPoint, known};
use model::request::Operation;
use model::run::PhaseSummary;

pub fn iops_over_span(runs: &[ChartedRun<'_>]) -> Option<Chart> {
    let names = Names::of(runs);
    let (mut series, mut samples) = (Vec::new(), Vec::new());
    for (index, charted) in runs.iter().enumerate() {
        let Some(effect) = known::<SpanEffect>(&charted.run.findings) else { continue };
        let spans = &effect.conclusion.points;
        let mut points = Vec::new();
        for span in spans {
            points.push(Point { at: span.share, value: span.iops, interval: Some((span.low, span.high)) });
        }
        if points.len() >= 2 {
            let of_run = Samples::of(charted.run, |summary| place_of(summary, spans));
            samples.push((index, charted, of_run));
            series.push(names.line(index, "random reads, QD 1", points));
        }
    }
    let y = Axis::of_counts("IOPS", top_of(&series));
    let x = Axis::of_decades("Span, share of the drive", places_of(&series)?, Numbers::Percents);
    let strips = companions::scattered(&x, samples);
    let chart = names.chart("iops-over-span", "Random read IOPS by span", (x, y), series)?;
    Some(Chart { findings: vec![FindingCode::SpanEffect], strips, ..chart })
}

fn place_of(summary: &PhaseSummary, spans: &[SpanPoint]) -> Option<(f64, f64)> {
    let workload = measured(summary)?;
    if !workload.is_single_random(Operation::Read) {
        return None;
    }
    let span = spans.iter().find(|span| span.span_bytes == workload.range.bytes())?;
    Some((span.share, span.share))
}
