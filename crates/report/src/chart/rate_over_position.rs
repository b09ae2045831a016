//! The chart of rates over positions: from runs to numbers.

use super::companions::{self, Visits};
use super::data::{Record, extent, finding, number, records};
use super::naming::{size_of, source};
use super::{Axis, Band, Chart, Layer, Mark, Place, Series, Stretch};
use crate::hostile::harmless;
use crate::terminal::readable_moment;
use model::finding::{Finding, FindingCode, Outcome};
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, Run, Series as RunSeries};
use model::target::TargetKind;
use model::workload::Pattern;

/// A run to be drawn.
#[derive(Clone, Copy)]
pub struct ChartedRun<'run> {
    /// Its facts and findings.
    pub run: &'run Run,
    /// What was seen in the course of it; without it a long phase is one stroke.
    pub series: Option<&'run dyn RunSeries>,
    /// What it is called on the page around the chart, such as "A"; it stands before its name.
    pub letter: Option<&'run str>,
}

/// Fewer places than this are no curve; a table says it better.
const PLACES_MIN: usize = 3;
/// A phase over more than this share of the target is drawn from its slices.
const LONG_SHARE_MIN: f64 = 0.005;
/// Requests in a stretch of a long phase: a slice of time cuts up to one of them off at either end, 1 %.
const STRETCH_OPERATIONS_MIN: u64 = 100;
/// What another program stated stands for its place as a whole; what went byte by byte or was written back is no rate of a place.
pub(super) const STATED: &str = "import";
/// Columns of a drive's name.
const NAME_COLUMNS_MAX: usize = 60;

/// The conclusions that can be seen in this chart.
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

/// The rates of these operations over the position, in one chart; none when no run has three places of one of them, or
/// the rates mean nothing.
pub fn rate_over_position(runs: &[ChartedRun<'_>], operations: &[Operation]) -> Option<Chart> {
    let names = chart_names(&runs.iter().map(|charted| charted.run).collect::<Vec<_>>());
    let lettered = |(charted, name): (&ChartedRun<'_>, &String)| match charted.letter {
        Some(letter) => format!("{letter}  {name}"),
        None => name.clone(),
    };
    let lettered: Vec<String> = runs.iter().zip(&names).map(lettered).collect();
    let mut found = Vec::new();
    for (charted, name) in runs.iter().zip(&lettered) {
        for &operation in operations.iter().filter(|&&operation| !is_unknown(charted.run, operation)) {
            let stretches = stretches(charted, operation);
            if distinct_places(&stretches) >= PLACES_MIN {
                found.push((charted.run, name, operation, stretches));
            }
        }
    }
    let (first, .., operation, _) = found.first()?;
    let (first, operation) = (*first, *operation);
    let of_one_run = found.iter().all(|(run, ..)| std::ptr::eq(*run, first));
    let of_one_operation = found.iter().all(|&(_, _, other, _)| other == operation);
    let mut marks = Vec::new();
    let mut series: Vec<Series> = Vec::new();
    for (run, run_name, operation, stretches) in &found {
        let name = match (of_one_run, of_one_operation) {
            (true, _) => word(*operation).to_string(),
            (false, true) => run_name.to_string(),
            (false, false) => format!("{run_name}, {}", word(*operation)),
        };
        if series.is_empty() || found[series.len() - 1].1 != found[series.len()].1 {
            marks.extend(marks_of(run, (!of_one_run).then_some((series.len(), run_name))));
        }
        series.push(Series::new(name, layers(run, *operation, stretches)).of_run(index_of(runs, run)));
    }
    let drawn: Vec<&Run> = found.iter().map(|(run, ..)| *run).collect();
    let title = match of_one_operation {
        true => format!("{} rate by position", sentence_case(word(operation))),
        false => "Read and write rate by position".into(),
    };
    let (x, y) = (position_axis(&drawn), rate_axis(&series, &marks));
    let subject = match of_one_run {
        true => format!("{}, {}", names[index_of(runs, first)], size_of(first)),
        false => format!("{} runs", distinct(&drawn)),
    };
    let description = description(&series, &x, &y);
    let in_it = runs.iter().enumerate().filter(|(index, _)| series.iter().any(|series| series.run == *index));
    let strips =
        companions::scattered(&x, in_it.map(|(index, charted)| (index, charted, visits(charted.run))));
    Some(Chart {
        name: "rate-over-position",
        title,
        subject,
        description,
        source: source(&drawn),
        x,
        y,
        series,
        marks,
        level_name: "level of each zone",
        findings: FINDINGS.to_vec(),
        beside: None,
        strips,
        meanwhile: Vec::new(),
    })
}

/// When which places were visited.
fn visits(run: &Run) -> Visits {
    let capacity = run.target.capacity.0 as f64;
    Visits::of(run, |_, summary| {
        let place = [Operation::Read, Operation::Write]
            .into_iter()
            .find_map(|operation| stretch(summary, operation, capacity))?;
        Some((place.first, place.end))
    })
}

fn index_of(runs: &[ChartedRun<'_>], run: &Run) -> usize {
    runs.iter().position(|charted| std::ptr::eq(charted.run, run)).unwrap_or(0)
}

fn distinct(runs: &[&Run]) -> usize {
    let mut addresses: Vec<*const Run> = runs.iter().map(|run| std::ptr::from_ref(*run)).collect();
    addresses.dedup();
    addresses.len()
}

/// A name for each run that tells it from the others: the model, else the path; where that is not enough the serial number or
/// path too, then the time, then the name of the run.
pub fn chart_names(runs: &[&Run]) -> Vec<String> {
    type Part = fn(&Run) -> Option<String>;
    let parts: [Part; 4] = [
        |run| {
            run.target.serial.clone().or_else(|| run.target.model.as_ref().map(|_| run.target.path.clone()))
        },
        |run| (run.target.kind != TargetKind::Sim).then(|| readable_moment(&run.started)),
        |run| Some(format!("seed {}", run.seed)),
        |run| Some(run.id.clone()),
    ];
    let plain = |run: &&Run| run.target.model.clone().unwrap_or_else(|| run.target.path.clone());
    let mut names: Vec<String> = runs.iter().map(plain).collect();
    for part in parts {
        let known: Vec<Option<String>> = runs.iter().map(|run| part(run)).collect();
        let helps = |index: usize| {
            (0..names.len()).any(|other| names[other] == names[index] && known[other] != known[index])
        };
        let helped: Vec<bool> = (0..names.len()).map(helps).collect();
        for (index, more) in known.iter().enumerate().filter(|(index, _)| helped[*index]) {
            if let Some(more) = more {
                names[index] = format!("{}, {more}", names[index]);
            }
        }
    }
    names.iter().map(|name| harmless(name, NAME_COLUMNS_MAX)).collect()
}

pub(super) fn word(operation: Operation) -> &'static str {
    if operation == Operation::Write { "write" } else { "read" }
}

pub(super) fn sentence_case(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Whether the detectors looked at the rates and could not tell.
fn is_unknown(run: &Run, operation: Operation) -> bool {
    let code = match operation {
        Operation::Write => FindingCode::WriteRateMean,
        _ => FindingCode::ReadRateMean,
    };
    finding(run, code).is_some_and(|finding| matches!(finding.outcome, Outcome::Unknown { .. }))
}

fn distinct_places(stretches: &[Stretch]) -> usize {
    let mut places: Vec<f64> = stretches.iter().map(|stretch| stretch.first).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places.len()
}

/// What the sequential measurements of a run covered, and how fast it went there.
fn stretches(charted: &ChartedRun<'_>, operation: Operation) -> Vec<Stretch> {
    let capacity = charted.run.target.capacity.0 as f64;
    let mut stretches = Vec::new();
    for (index, summary) in charted.run.phases.iter().enumerate() {
        let Some(whole) = stretch(summary, operation, capacity) else { continue };
        let is_long = whole.end - whole.first > LONG_SHARE_MIN * capacity;
        let sliced = charted
            .series
            .filter(|_| is_long && summary.phase.experiment != STATED)
            .map_or(Vec::new(), |series| slices(series, index as u32, operation));
        if sliced.is_empty() { stretches.push(whole) } else { stretches.extend(sliced) }
    }
    stretches
}

/// What a sequential measurement covered; none when the phase is no such thing.
fn stretch(summary: &PhaseSummary, operation: Operation, capacity: f64) -> Option<Stretch> {
    let workload = summary.phase.workload.as_ref()?;
    let totals = summary.totals_of(operation)?;
    let is_sequential = workload.pattern == Pattern::Sequential && summary.phase.kind == PhaseKind::Measure;
    if !is_sequential || totals.bytes == 0 || summary.duration_ns == 0 || capacity == 0.0 {
        return None;
    }
    let range = workload.range;
    let is_stated = summary.phase.experiment == STATED;
    let is_of_place = workload.block_sizes.largest().0 > 1 && workload.mix.operations().len() == 1;
    if is_stated && (range.is_empty() || !is_of_place) {
        return None;
    }
    let first = range.first().0 as f64;
    let covered = if is_stated { range.bytes().0 } else { totals.bytes.min(range.bytes().0) } as f64;
    // What is written is only there after the flush, which comes after the last completion.
    let without_seek = totals.seconds_per_byte().filter(|_| operation == Operation::Read);
    let value = without_seek.map_or_else(
        || totals.bytes as f64 / (summary.lasting_ns() as f64 / 1e9),
        |seconds_per_byte| 1.0 / seconds_per_byte,
    );
    Some(Stretch { first: first.min(capacity), end: (first + covered).min(capacity), value })
}

/// A long phase, cut where enough requests were completed. Slices without a completion count as time, so that a stall is
/// seen.
fn slices(series: &dyn RunSeries, phase: u32, operation: Operation) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let (mut first, mut nanos, mut bytes, mut operations) = (None, 0, 0, 0);
    for slice in series.intervals(phase).filter(|slice| slice.operation == operation) {
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
    let mut layers = vec![Layer::Measured(stretches.to_vec())];
    let zones = finding(run, FindingCode::ZoneTable).filter(|_| operation == Operation::Read);
    let zones = zones.map_or(Vec::new(), |finding| records(finding, "zones"));
    let levels: Vec<Stretch> = zones.iter().filter_map(|zone| level(zone)).collect();
    let bands: Vec<Band> = zones.iter().filter_map(|zone| band(zone)).collect();
    if !bands.is_empty() {
        layers.insert(0, Layer::Bands(bands));
    }
    if !levels.is_empty() {
        layers.push(Layer::Levels(levels));
    }
    layers
}

fn level(zone: Record<'_>) -> Option<Stretch> {
    let (first, end) = extent(zone)?;
    Some(Stretch { first, end, value: number(zone, "bytes_per_second")? })
}

fn band(zone: Record<'_>) -> Option<Band> {
    let (first, end) = extent(zone)?;
    Some(Band { first, end, low: number(zone, "low")?, high: number(zone, "high")? })
}

/// What the findings point at: regions and limits. Where there are several runs, of which series and of which run.
fn marks_of(run: &Run, of: Option<(usize, &String)>) -> Vec<Mark> {
    let mut marks = Vec::new();
    let series = of.map(|(series, _)| series);
    let name = |what: &str| of.map_or(what.into(), |(_, run)| format!("{run}: {what}"));
    for (code, what) in
        [(FindingCode::SlowRegions, "slow region"), (FindingCode::BadBlocks, "could not be read")]
    {
        let regions = finding(run, code).map_or(Vec::new(), |finding| records(finding, "regions"));
        let places = regions.iter().filter_map(|region| extent(region));
        marks.extend(places.map(|(first, end)| Mark {
            name: name(what),
            series,
            place: Place::Over { first, end },
            finding: Some(code),
        }));
    }
    if let Some(limit) = finding(run, FindingCode::InterfaceLimit).and_then(Finding::estimate) {
        marks.push(Mark {
            name: name("limit of the link"),
            series,
            place: Place::Value(limit.value),
            finding: Some(FindingCode::InterfaceLimit),
        });
    }
    marks
}

pub(super) fn position_axis(runs: &[&Run]) -> Axis {
    let capacity = runs.iter().map(|run| run.target.capacity.0).max().unwrap_or(0);
    let are_files = runs.iter().all(|run| run.target.kind == TargetKind::File);
    Axis::of_positions(capacity as f64, are_files)
}

fn rate_axis(series: &[Series], marks: &[Mark]) -> Axis {
    let measured = series.iter().flat_map(Series::measured).map(|stretch| stretch.value);
    let levels = series.iter().flat_map(Series::levels).map(|stretch| stretch.value);
    let limits = marks.iter().filter_map(|mark| match mark.place {
        Place::Value(value) => Some(value),
        _ => None,
    });
    Axis::of_rates("Rate", measured.chain(levels).chain(limits).fold(0.0, f64::max))
}

/// Where each series begins and ends, and between what its values lie.
fn description(series: &[Series], x: &Axis, y: &Axis) -> String {
    let sentences = series.iter().map(|series| {
        let by_place = |a: &&Stretch, b: &&Stretch| a.first.total_cmp(&b.first);
        let by_value = |a: &&Stretch, b: &&Stretch| a.value.total_cmp(&b.value);
        let text = |stretch: Option<&Stretch>| {
            stretch.map_or(String::new(), |stretch| {
                format!("{} at {}", y.amount(stretch.value), x.amount(stretch.first))
            })
        };
        format!(
            "{}: {} and {}, the first and the last place measured; lowest {}; highest {}.",
            sentence_case(&series.name),
            text(series.measured().min_by(by_place)),
            text(series.measured().max_by(by_place)),
            text(series.measured().min_by(by_value)),
            text(series.measured().max_by(by_value)),
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}
