//! The chart of rates over positions: from runs to numbers.

use crate::chart::companions::{self, Samples};
use crate::chart::naming::{Names, highest_of};
use crate::chart::phase::measured;
use crate::chart::{Across, Axis, Band, Chart, ChartedRun, Layer, Mark, Place, Series, Stretch};
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, ZoneTable, known, of_code};
use model::request::Operation;
use model::run::{PhaseSummary, Run, Series as RunSeries};
use model::target::TargetKind;
use model::units::Bytes;
use model::workload::Pattern;

/// Fewer places than this are no curve; a table says it better.
const PLACES_MIN: usize = 3;
/// A phase over more than this share of the target is drawn from its slices.
const LONG_SHARE_MIN: f64 = 0.005;
/// Requests in a stretch of a long phase: a slice of time cuts up to one of them off at either end, 1 %.
const STRETCH_OPERATIONS_MIN: u64 = 100;
/// What another program stated stands for its place as a whole; what went byte by byte or was written back is no rate of a place.
pub(super) const STATED: ExperimentName = ExperimentName::Import;

const FINDINGS: [FindingCode; 13] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::WriteRateOuter,
    FindingCode::WriteRateInner,
    FindingCode::WriteRateMean,
    FindingCode::ZoneRatio,
    FindingCode::ZoneCount,
    FindingCode::ZoneTable,
    FindingCode::FullPassTime,
    FindingCode::InterfaceLimit,
    FindingCode::SlowRegions,
    FindingCode::BadBlocks,
];

/// The rates of these operations over the position, in one chart; none when no run has three places of one of them, or the rates mean nothing.
pub fn rate_over_position(runs: &[ChartedRun<'_>], operations: &[Operation]) -> Option<Chart> {
    let mut found = Vec::new();
    for (index, charted) in runs.iter().enumerate() {
        for &operation in operations {
            let stretches = stretches(charted, operation);
            if !is_unknown(charted.run, operation) && distinct_places(&stretches) >= PLACES_MIN {
                found.push((index, operation, stretches));
            }
        }
    }
    let &(first, operation, _) = found.first()?;
    let of_one_run = found.iter().all(|(run, ..)| *run == first);
    let of_one_operation = found.iter().all(|&(_, other, _)| other == operation);
    let names = Names::of(runs);
    let (mut marks, mut series, mut drawn, mut sampled) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut before = None;
    for (index, operation, stretches) in &found {
        let run = runs[*index].run;
        if before.replace(index) != Some(index) {
            for mark in marks_of(run) {
                marks.push(if of_one_run { mark } else { names.marked(*index, series.len(), mark) });
            }
            drawn.push(run);
            sampled.push((*index, &runs[*index], samples(run)));
        }
        let name = match (of_one_run, of_one_operation) {
            (true, _) => word(*operation).to_string(),
            (false, true) => names.series(*index, ""),
            (false, false) => names.series(*index, word(*operation)),
        };
        series.push(Series::new(name, layers(run, *operation, stretches)).of_run(*index));
    }
    let title = match of_one_operation {
        true => format!("{} throughput by LBA", sentence_case(word(operation))),
        false => "Read and write throughput by LBA".into(),
    };
    let (x, y) = (position_axis(&drawn), rate_axis(&series, &marks));
    let strips = companions::scattered(&x, sampled);
    let chart = names.chart("rate-over-position", &title, (x, y), series)?;
    Some(Chart {
        across: Across::Position { is_random: false },
        description: description(&chart.series, &chart.x, &chart.y),
        marks,
        findings: FINDINGS.to_vec(),
        level_name: "zone mean",
        strips,
        ..chart
    })
}

fn samples(run: &Run) -> Samples {
    let capacity = run.target.capacity.as_f64();
    let mut samples = Samples::default();
    for summary in &run.phases {
        let read = stretch(summary, Operation::Read, capacity);
        if let Some(place) = read.or(stretch(summary, Operation::Write, capacity)) {
            samples.add(summary, (place.first, place.end));
        }
    }
    samples
}

pub(super) fn word(operation: Operation) -> &'static str {
    if operation == Operation::Write { "write" } else { "read" }
}

pub(super) fn sentence_case(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn is_unknown(run: &Run, operation: Operation) -> bool {
    let code = match operation {
        Operation::Write => FindingCode::WriteRateMean,
        _ => FindingCode::ReadRateMean,
    };
    matches!(of_code(&run.findings, code), Some(finding) if !finding.is_known())
}

fn distinct_places(stretches: &[Stretch]) -> usize {
    let mut places: Vec<f64> = stretches.iter().map(|stretch| stretch.first).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places.len()
}

fn stretches(charted: &ChartedRun<'_>, operation: Operation) -> Vec<Stretch> {
    let capacity = charted.run.target.capacity.as_f64();
    let mut stretches = Vec::new();
    for (index, summary) in (0u32..).zip(&charted.run.phases) {
        let Some(whole) = stretch(summary, operation, capacity) else { continue };
        let is_long = whole.end - whole.first > LONG_SHARE_MIN * capacity;
        let mut sliced = Vec::new();
        if let Some(series) = charted.series
            && is_long
            && summary.phase.experiment != STATED
        {
            sliced = slices(series, index, operation);
        }
        if sliced.is_empty() {
            sliced.push(whole);
        }
        stretches.append(&mut sliced);
    }
    stretches
}

fn stretch(summary: &PhaseSummary, operation: Operation, capacity: f64) -> Option<Stretch> {
    let workload = measured(summary)?;
    let totals = summary.totals_of(operation)?;
    let is_sequential = workload.pattern == Pattern::Sequential;
    if !is_sequential || totals.bytes == 0 || summary.duration_ns == 0 || capacity == 0.0 {
        return None;
    }
    let range = workload.range;
    let is_stated = summary.phase.experiment == STATED;
    let is_of_place = workload.block_sizes.largest().get() > 1 && workload.mix.operations().len() == 1;
    if is_stated && (range.is_empty() || !is_of_place) {
        return None;
    }
    let first = range.first().as_f64();
    let covered = if is_stated { range.bytes().get() } else { totals.bytes.min(range.bytes().get()) } as f64;
    let value = match totals.seconds_per_byte() {
        Some(without_seek) if operation == Operation::Read => 1.0 / without_seek,
        // What is written is only there after the flush, which comes after the last completion.
        _ => totals.bytes as f64 / (summary.lasting_ns() as f64 / 1e9),
    };
    Some(Stretch { first: first.min(capacity), end: (first + covered).min(capacity), value })
}

/// A long phase, cut where enough requests were completed. Slices without a completion count as time, so that a stall is seen.
fn slices(series: &dyn RunSeries, phase: u32, operation: Operation) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let (mut first, mut nanos, mut bytes, mut operations) = (None, 0, 0, 0);
    for slice in series.intervals(phase) {
        if slice.operation != operation {
            continue;
        }
        nanos += slice.duration_ns;
        if slice.operations == 0 {
            continue;
        }
        bytes += slice.bytes;
        operations += slice.operations;
        let begin = *first.get_or_insert(slice.offset_first as f64);
        if operations >= STRETCH_OPERATIONS_MIN && nanos > 0 {
            let value = bytes as f64 / (nanos as f64 / 1e9);
            stretches.push(Stretch { first: begin, end: slice.offset_end as f64, value });
            (first, nanos, bytes, operations) = (None, 0, 0, 0);
        }
    }
    stretches
}

fn layers(run: &Run, operation: Operation, stretches: &[Stretch]) -> Vec<Layer> {
    let layers = vec![Layer::Measured(stretches.to_vec())];
    let zones = match known::<ZoneTable>(&run.findings) {
        Some(table) if operation == Operation::Read => table.conclusion.zones.as_slice(),
        _ => return layers,
    };
    let mut levels = Vec::new();
    for zone in zones {
        let (first, end) = (zone.first_byte as f64, (zone.first_byte + zone.bytes) as f64);
        levels.push((Stretch { first, end, value: zone.bytes_per_second }, zone.low, zone.high));
    }
    with_levels(layers, levels)
}

/// Levels lie on what they were found in, and the intervals from low to high below it.
pub(super) fn with_levels(mut layers: Vec<Layer>, found: Vec<(Stretch, f64, f64)>) -> Vec<Layer> {
    let (mut bands, mut levels) = (Vec::new(), Vec::new());
    for (level, low, high) in found {
        levels.push(level);
        if low.is_finite() && high.is_finite() {
            bands.push(Band { first: level.first, end: level.end, low, high });
        }
    }
    if !bands.is_empty() {
        layers.insert(0, Layer::Bands(bands));
    }
    if !levels.is_empty() {
        layers.push(Layer::Levels(levels));
    }
    layers
}

fn marks_of(run: &Run) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (code, what) in [(FindingCode::SlowRegions, "slow region"), (FindingCode::BadBlocks, "unreadable")] {
        for place in of_code(&run.findings, code).map_or(Vec::new(), Finding::places) {
            let (first, end) = (place.first().as_f64(), place.end().as_f64());
            marks.push(Mark::of(code, what, Place::Over { first, end }));
        }
    }
    if let Some(limit) = of_code(&run.findings, FindingCode::InterfaceLimit).and_then(Finding::estimate) {
        marks.push(Mark::of(FindingCode::InterfaceLimit, "link limit", Place::Value(limit.value)));
    }
    marks
}

pub(super) fn position_axis(runs: &[&Run]) -> Axis {
    let (mut capacity, mut are_files) = (Bytes::ZERO, true);
    for run in runs {
        capacity = capacity.max(run.target.capacity);
        are_files &= run.target.kind == TargetKind::File;
    }
    Axis::of_positions(capacity.as_f64(), are_files)
}

fn rate_axis(series: &[Series], marks: &[Mark]) -> Axis {
    let mut values: Vec<f64> = marks.iter().filter_map(Mark::value).collect();
    for series in series {
        values.extend(series.measured().chain(series.levels()).map(|stretch| stretch.value));
    }
    Axis::of_rates("Throughput", highest_of(values))
}

fn description(series: &[Series], x: &Axis, y: &Axis) -> String {
    let mut sentences = Vec::new();
    for series in series {
        let mut places: Vec<&Stretch> = series.measured().collect();
        places.sort_by(|a, b| a.first.total_cmp(&b.first));
        let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
        let (first, last) = (amount_at(first, x, y), amount_at(last, x, y));
        places.sort_by(|a, b| a.value.total_cmp(&b.value));
        sentences.push(format!(
            "{}: {first} at the first and {last} at the last sample; minimum {}, maximum {}.",
            sentence_case(&series.name),
            amount_at(places[0], x, y),
            amount_at(places[places.len() - 1], x, y),
        ));
    }
    sentences.join(" ")
}

fn amount_at(stretch: &Stretch, x: &Axis, y: &Axis) -> String {
    format!("{} at {}", y.amount(stretch.value), x.amount(stretch.first))
}
