//! Figures that other programs stated: each a phase of its own, with how much was done in what time, and mostly without single requests.
//!
//! One figure says nothing of its own uncertainty, so that it gets an interval without ends. Where the same was measured again at the same
//! place, its figures are a sample and the interval is Student's. A phase with an empty range is one of which nobody says where it was.

mod pass;

pub(crate) use pass::Pass;

use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;
use model::finding::SurveyUnknown;
use model::plan::PhaseKind;
use model::range::ByteRange;
use model::record::IoRecord;
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;
use model::workload::Pattern;
use std::collections::BTreeMap;

/// Under this name the figures of other programs are kept.
pub const EXPERIMENT: model::experiment_name::ExperimentName = model::experiment_name::ExperimentName::Import;
pub(crate) use crate::measured::Visit as Stated;

/// What of a figure makes it comparable with another at another place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    pub in_order: bool,
    /// What was done: reads only, writes only, or both.
    pub reads: bool,
    pub writes: bool,
    pub block: Bytes,
    pub at_once: u64,
}

pub(crate) fn stated<'run>(run: &RunView<'run>) -> Vec<Stated<'run>> {
    let mut figures = Vec::new();
    for (phase, summary) in (0u32..).zip(run.phases) {
        let Some(workload) = &summary.phase.workload else { continue };
        let is_figure = summary.phase.experiment == EXPERIMENT && summary.phase.kind == PhaseKind::Measure;
        if is_figure && summary.duration_ns > 0 && summary.bytes() > 0 {
            figures.push(Stated { phase, summary, workload });
        }
    }
    figures
}

/// The figures of one operation in order, in blocks: of several shapes those at most places, then the largest. Bytes say nothing.
pub(crate) fn in_order<'run>(run: &RunView<'run>, operation: Operation) -> Vec<Stated<'run>> {
    let mut shapes: BTreeMap<Shape, Vec<Stated<'run>>> = BTreeMap::new();
    for figure in stated(run) {
        let is_one = figure.workload.mix.operations() == [operation];
        if is_one && figure.shape().in_order && !figure.is_byte_by_byte() {
            shapes.entry(figure.shape()).or_default().push(figure);
        }
    }
    let best = shapes.into_iter().max_by_key(|(shape, figures)| (figures.len(), *shape));
    best.unwrap_or_default().1
}

impl Stated<'_> {
    pub(crate) fn shape(&self) -> Shape {
        let operations = self.workload.mix.operations();
        Shape {
            in_order: self.workload.pattern == Pattern::Sequential,
            reads: operations.contains(&Operation::Read),
            writes: operations.contains(&Operation::Write),
            block: self.workload.block_sizes.largest(),
            at_once: self.workload.in_flight_max(),
        }
    }

    /// Whether it went through a small buffer byte by byte, so that a processor worked for each.
    pub(crate) fn is_byte_by_byte(&self) -> bool {
        self.workload.block_sizes.largest().get() <= 1
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.summary.duration_ns as f64 / 1e9
    }

    /// Seconds for each byte. Of what was read and written back, each byte counts once.
    pub(crate) fn seconds_per_byte(&self) -> f64 {
        let most = self.summary.totals.iter().map(|totals| totals.bytes).max();
        self.seconds() / most.unwrap_or(0).max(1) as f64
    }

    /// Requests per second; of reads that were in part written back, the reads.
    pub(crate) fn per_second(&self) -> f64 {
        let most = self.summary.totals.iter().map(|totals| totals.operations).max();
        most.unwrap_or(0) as f64 / self.seconds()
    }

    pub(crate) fn processor_share(&self, run: &RunView<'_>) -> Option<f64> {
        let time = self.summary.start_ns..self.summary.end_ns();
        run.series.telemetry().find(|record| time.contains(&record.at_ns))?.own_cpu_share
    }

    /// How long each of its requests took in seconds, where they are known one by one.
    pub(crate) fn latencies_s(&self, run: &RunView<'_>) -> Vec<f64> {
        let done = run.series.ios(self.phase).filter(IoRecord::is_done);
        done.map(|io| io.service_ns() as f64 / 1e9).collect()
    }

    pub(crate) fn range(&self) -> Option<ByteRange> {
        if self.workload.range.is_empty() { None } else { Some(self.workload.range) }
    }
}

/// The mean of what was stated of one thing: an interval from its scatter, or one without ends when there is one figure only.
pub(crate) fn estimate_of(values: &[f64]) -> Option<Estimate> {
    match values {
        [] => None,
        [value] => Some(without_interval(*value)),
        several => {
            let sample = Sample::new(several.to_vec())?;
            Some(Mean::about(sample.mean(), sample.values()).interval(CONFIDENCE))
        }
    }
}

/// A number of which nobody knows how uncertain it is.
pub(crate) fn without_interval(value: f64) -> Estimate {
    bounded(value, f64::NEG_INFINITY, f64::INFINITY, 1.0)
}

#[derive(Clone, Debug)]
pub(crate) struct Spot<'run> {
    pub range: ByteRange,
    pub figures: Vec<Stated<'run>>,
}

impl Spot<'_> {
    pub(crate) fn seconds_per_byte(&self) -> Option<Estimate> {
        estimate_of(&self.figures.iter().map(Stated::seconds_per_byte).collect::<Vec<_>>())
    }

    pub(crate) fn per_second(&self) -> Option<Estimate> {
        estimate_of(&self.figures.iter().map(Stated::per_second).collect::<Vec<_>>())
    }
}

/// The places of these figures, from the start of the drive on; figures of one place together.
pub(crate) fn spots<'run>(figures: &[Stated<'run>]) -> Vec<Spot<'run>> {
    let mut spots: BTreeMap<(u64, u64), Spot<'run>> = BTreeMap::new();
    for figure in figures {
        if let Some(range) = figure.range() {
            let spot = spots.entry((range.first().get(), range.end().get()));
            spot.or_insert_with(|| Spot { range, figures: Vec::new() }).figures.push(*figure);
        }
    }
    spots.into_values().collect()
}

/// The spots nearest to the start and to the end of the drive: in its first and its last third, so that there is a third between them.
pub(crate) fn edges<'spots, 'run>(
    run: &RunView<'_>,
    spots: &'spots [Spot<'run>],
) -> Result<[Option<&'spots Spot<'run>>; 2], SurveyUnknown> {
    check_places(run, spots)?;
    let capacity = run.target.capacity.get();
    let third = capacity / 3;
    let start = spots.iter().filter(|spot| spot.range.end().get() <= third);
    let end = spots.iter().filter(|spot| spot.range.first().get() >= capacity - third);
    Ok([
        start.min_by_key(|spot| (spot.range.first(), spot.range.end())),
        end.max_by_key(|spot| (spot.range.end(), spot.range.first())),
    ])
}

/// Fails where nobody says where the figures were measured, or how large the drive is.
fn check_places(run: &RunView<'_>, spots: &[Spot<'_>]) -> Result<(), SurveyUnknown> {
    if spots.is_empty() {
        return Err(SurveyUnknown::NoOffsets);
    }
    if run.target.capacity.is_zero() {
        return Err(SurveyUnknown::NoCapacity);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_has_no_interval_and_two_have_one() {
        let one = estimate_of(&[5.0]).unwrap();
        assert_eq!((one.value, one.low, one.high), (5.0, f64::NEG_INFINITY, f64::INFINITY));
        // The standard error of 4 and 6 is 1, and t with one degree of freedom 12.706.
        let two = estimate_of(&[4.0, 6.0]).unwrap();
        assert!((two.low + 7.706).abs() < 0.001 && (two.high - 17.706).abs() < 0.001);
        assert_eq!(estimate_of(&[]), None);
    }
}
