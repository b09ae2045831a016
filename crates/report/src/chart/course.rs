//! How a rate went on, from the slices of phases: intervals with requests enough, and what of a million of them a chart can show.

use super::phase::{seconds, start_s};
use super::reduction::Extremes;
use super::{Axis, Layer, Point, Stretch};
use model::record::IntervalRecord;
use model::request::Operation;
use model::run::{PhaseSummary, Series as RunSeries};
use std::iter::Fuse;

/// A slice with fewer requests is joined with the next: one request more or less would look like another rate.
const REQUESTS_MIN: u64 = 8;
/// But slices of a second at most, so that a stall is seen.
const JOINED_NS_MAX: u64 = 1_000_000_000;
/// Where the flush takes more of a phase, its slices show how fast a write cache was filled, and only phase and flush the drive.
const FLUSH_SHARE_MAX: f64 = 0.02;
/// Columns that a line is reduced to. A wide screen has twice as many as a chart in a page.
const COLUMNS: usize = 2000;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Interval {
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: f64,
    pub first_byte: f64,
}

impl Interval {
    pub(crate) fn rate(&self) -> f64 {
        self.bytes / self.seconds
    }
}

/// The intervals of a phase in the order of time: the phase as a whole if nothing was kept of its course.
pub(crate) struct Intervals<'run> {
    slices: Fuse<Box<dyn Iterator<Item = IntervalRecord> + 'run>>,
    operation: Operation,
    /// The last slice is recorded with its full length; the phase ended within it.
    ended_ns: u64,
    whole: Option<Interval>,
}

impl<'run> Intervals<'run> {
    pub(crate) fn of(
        series: Option<&'run dyn RunSeries>,
        phase: u32,
        summary: &PhaseSummary,
        operation: Operation,
    ) -> Intervals<'run> {
        let flush_ns = if operation == Operation::Write { summary.flush_ns() } else { 0 };
        let hides_flush = flush_ns as f64 > FLUSH_SHARE_MAX * summary.duration_ns as f64;
        let slices = match series {
            Some(series) if !hides_flush => series.intervals(phase),
            _ => Box::new(std::iter::empty()),
        };
        let whole = Interval {
            start_s: start_s(summary),
            seconds: summary.duration_ns.saturating_add(flush_ns) as f64 / 1e9,
            bytes: summary.bytes_of(operation) as f64,
            first_byte: summary
                .phase
                .workload
                .as_ref()
                .map_or(0.0, |workload| workload.range.first().as_f64()),
        };
        Intervals {
            slices: slices.fuse(),
            operation,
            ended_ns: summary.ended_ns().unwrap_or(u64::MAX),
            whole: if seconds(summary) > 0.0 { Some(whole) } else { None },
        }
    }
}

impl Iterator for Intervals<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        let mut open = Open::default();
        for slice in self.slices.by_ref() {
            if slice.operation != self.operation {
                continue;
            }
            open.add(&slice, slice.end_ns().min(self.ended_ns));
            if open.is_full() {
                self.whole = None;
                return Some(open.interval());
            }
        }
        self.whole.take()
    }
}

#[derive(Default)]
struct Open {
    start_ns: Option<u64>,
    nanos: u64,
    bytes: u64,
    requests: u64,
    first_byte: u64,
}

impl Open {
    fn add(&mut self, slice: &IntervalRecord, end_ns: u64) {
        self.start_ns.get_or_insert(slice.start_ns);
        if self.requests == 0 {
            self.first_byte = slice.offset_first;
        }
        self.nanos += end_ns.saturating_sub(slice.start_ns);
        self.bytes += slice.bytes;
        self.requests += slice.operations;
    }

    fn is_full(&self) -> bool {
        self.nanos > 0 && (self.requests >= REQUESTS_MIN || self.nanos >= JOINED_NS_MAX)
    }

    fn interval(&self) -> Interval {
        Interval {
            start_s: self.start_ns.unwrap_or(0) as f64 / 1e9,
            seconds: self.nanos as f64 / 1e9,
            bytes: self.bytes as f64,
            first_byte: self.first_byte as f64,
        }
    }
}

/// A line through any number of points, reduced to what so many columns can show of it.
pub fn reduced_line(points: impl IntoIterator<Item = (f64, f64)>, end: f64, count: usize) -> Vec<Layer> {
    let mut columns = Columns::of_count(Axis::linear("", "", 1.0, end), count);
    for (at, value) in points {
        columns.add(at, value);
    }
    columns.lines()
}

/// A line of any number of points on a known axis: the lowest and the highest point of each column are kept, so no peak is lost.
pub(super) struct Columns {
    x: Axis,
    extremes: Extremes,
    breaks: Vec<f64>,
}

impl Columns {
    pub(super) fn until(end: f64) -> Columns {
        Columns::along(&Axis::linear("", "", 1.0, end))
    }

    pub(super) fn along(x: &Axis) -> Columns {
        Columns::of_count(x.clone(), COLUMNS)
    }

    fn of_count(x: Axis, count: usize) -> Columns {
        Columns { x, extremes: Extremes::new(count), breaks: Vec::new() }
    }

    pub(super) fn add(&mut self, at: f64, value: f64) {
        if at.is_finite() && value.is_finite() && self.x.end > self.x.start {
            self.extremes.add(self.x.share(at), Stretch::point(at, value));
        }
    }

    /// A interval that is as long as several columns has a point at each end.
    pub(super) fn add_stretch(&mut self, first: f64, end: f64, value: f64) {
        self.add(first, value);
        if self.x.share(end) - self.x.share(first) > 2.0 / self.extremes.count() as f64 {
            self.add(end.min(self.x.end), value);
        }
    }

    pub(super) fn interrupt(&mut self, at: f64) {
        self.breaks.push(at);
    }

    pub(super) fn lines(mut self) -> Vec<Layer> {
        self.breaks.sort_by(f64::total_cmp);
        let mut breaks = self.breaks.into_iter().peekable();
        let (mut lines, mut line): (Vec<Vec<Point>>, Vec<Point>) = (Vec::new(), Vec::new());
        for Stretch { first: at, value, .. } in self.extremes.kept() {
            let mut is_cut = false;
            while breaks.next_if(|place| *place <= at).is_some() {
                is_cut = true;
            }
            if is_cut && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push(Point { at, value, interval: None });
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines.into_iter().map(Layer::Line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_peak_and_no_valley_is_lost(points in prop::collection::vec((0.0f64..100.0, 0.0f64..1e9), 1..400)) {
            let mut columns = Columns::until(100.0);
            points.iter().for_each(|&(at, value)| columns.add(at, value));
            let kept: Vec<Point> = columns.lines().into_iter().flat_map(|layer| match layer {
                Layer::Line(points) => points,
                _ => Vec::new(),
            }).collect();
            let extreme = |of: fn(f64, f64) -> f64, from: f64| points.iter().map(|point| point.1).fold(from, of);
            for value in [extreme(f64::min, f64::MAX), extreme(f64::max, f64::MIN)] {
                prop_assert!(kept.iter().any(|point| point.value == value));
            }
            prop_assert!(kept.windows(2).all(|pair| pair[0].at <= pair[1].at));
            for point in kept {
                prop_assert!(points.contains(&(point.at, point.value)));
            }
        }
    }

    #[test]
    fn a_step_goes_up_where_it_does() {
        let mut columns = Columns::until(10.0);
        columns.add_stretch(0.0, 5.0, 9.0);
        columns.add_stretch(5.0, 10.0, 1.0);
        let lines = columns.lines();
        let [Layer::Line(points)] = lines.as_slice() else { panic!("{lines:?}") };
        let places: Vec<(f64, f64)> = points.iter().map(|point| (point.at, point.value)).collect();
        assert_eq!(places, [(0.0, 9.0), (5.0, 9.0), (5.0, 1.0), (10.0, 1.0)]);
    }

    #[test]
    fn a_line_is_interrupted_where_it_was() {
        let mut columns = Columns::until(10.0);
        [1.0, 2.0, 7.0, 8.0].into_iter().for_each(|at| columns.add(at, 1.0));
        columns.interrupt(7.0);
        let lines = columns.lines();
        let [Layer::Line(first), Layer::Line(second)] = lines.as_slice() else { panic!("{lines:?}") };
        assert_eq!((first.len(), second.len()), (2, 2));
    }
}
