//! How a rate went on, from the slices of phases: pieces with requests enough, and what of a million of them a chart can show.

use super::{Axis, Layer, Point};
use model::request::Operation;
use model::run::{PhaseSummary, Series as RunSeries};

/// A slice with fewer requests than this is put together with the next: one more or less would look like another rate.
const REQUESTS_MIN: u64 = 8;
/// But no more slices than make a second: when nothing is completed that is what is to be seen.
const JOINED_NS_MAX: u64 = 1_000_000_000;
/// What a phase wrote into a memory is there after its flush. Where that takes more of its time than this, its slices show how fast
/// the memory was filled, and only the phase with its flush how fast the drive wrote.
const FLUSH_SHARE_MAX: f64 = 0.02;
/// Columns that a course is reduced to. A wide screen has twice as many as a chart in a page.
const COLUMNS: usize = 2000;

/// A piece of a phase's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Piece {
    /// When it began, in seconds of the run's clock.
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: f64,
    /// The lowest byte touched in it.
    pub first_byte: f64,
}

impl Piece {
    pub(super) fn rate(&self) -> f64 {
        self.bytes / self.seconds
    }
}

/// Gives the pieces of a phase to `take`, in the order of time: the phase as a whole if nothing was kept of its course.
pub(super) fn each_piece(
    series: Option<&dyn RunSeries>,
    phase: u32,
    summary: &PhaseSummary,
    operation: Operation,
    mut take: impl FnMut(Piece),
) {
    let ended_ns = summary.end_ns();
    let flush_ns = if operation == Operation::Write { summary.flush_ns() } else { 0 };
    let hides_flush = flush_ns as f64 > FLUSH_SHARE_MAX * summary.duration_ns as f64;
    let series = series.filter(|_| !hides_flush);
    let mut taken = false;
    let mut open = Open::default();
    let slices = series.into_iter().flat_map(|series| series.intervals(phase));
    for slice in slices.filter(|slice| slice.operation == operation) {
        // The last slice is recorded with its full length; the phase ended within it.
        let end_ns = if summary.stopped.is_some() { slice.end_ns().min(ended_ns) } else { slice.end_ns() };
        let nanos = end_ns.saturating_sub(slice.start_ns);
        open.add(slice.start_ns, nanos, slice.bytes, slice.operations, slice.offset_first);
        if open.is_full() {
            take(std::mem::take(&mut open).piece());
            taken = true;
        }
    }
    if !taken && summary.duration_ns > 0 {
        let bytes = summary.totals_of(operation).map_or(0, |totals| totals.bytes);
        let first = summary.phase.workload.as_ref().map_or(0, |workload| workload.range.first().0);
        let mut whole = Open::default();
        whole.add(summary.start_ns, summary.duration_ns.saturating_add(flush_ns), bytes, 1, first);
        take(whole.piece());
    }
}

/// A piece that is being put together.
#[derive(Default)]
struct Open {
    start_ns: Option<u64>,
    nanos: u64,
    bytes: u64,
    requests: u64,
    first_byte: u64,
}

impl Open {
    fn add(&mut self, start_ns: u64, nanos: u64, bytes: u64, requests: u64, first_byte: u64) {
        self.start_ns.get_or_insert(start_ns);
        if self.requests == 0 {
            self.first_byte = first_byte;
        }
        self.nanos += nanos;
        self.bytes += bytes;
        self.requests += requests;
    }

    fn is_full(&self) -> bool {
        self.nanos > 0 && (self.requests >= REQUESTS_MIN || self.nanos >= JOINED_NS_MAX)
    }

    fn piece(&self) -> Piece {
        Piece {
            start_s: self.start_ns.unwrap_or(0) as f64 / 1e9,
            seconds: self.nanos as f64 / 1e9,
            bytes: self.bytes as f64,
            first_byte: self.first_byte as f64,
        }
    }
}

/// A point and how many were added before it: of two at the same place the first stays the first.
type Numbered = (Point, usize);

/// A line through any number of points, reduced to what so many columns can show of it.
pub fn reduced_line(points: impl IntoIterator<Item = (f64, f64)>, end: f64, count: usize) -> Vec<Layer> {
    let mut columns = Columns::of_count(Axis::even("", "", 1.0, end), count);
    points.into_iter().for_each(|(at, value)| columns.add(at, value));
    columns.lines()
}

/// A line of any number of points on an axis that is known before: of each column its lowest and its highest point are kept, so that no
/// peak and no valley is lost.
pub(super) struct Columns {
    x: Axis,
    columns: Vec<Option<(Numbered, Numbered)>>,
    added: usize,
    breaks: Vec<f64>,
}

impl Columns {
    pub(super) fn until(end: f64) -> Columns {
        Columns::of_count(Axis::even("", "", 1.0, end), COLUMNS)
    }

    /// Columns that are equally wide on that axis.
    pub(super) fn along(x: &Axis) -> Columns {
        Columns::of_count(x.clone(), COLUMNS)
    }

    fn of_count(x: Axis, count: usize) -> Columns {
        Columns { x, columns: vec![None; count], added: 0, breaks: Vec::new() }
    }

    pub(super) fn add(&mut self, at: f64, value: f64) {
        if !(at.is_finite() && value.is_finite() && self.x.end > self.x.start) {
            return;
        }
        let last = self.columns.len() - 1;
        let index = ((self.x.share(at) * self.columns.len() as f64) as usize).min(last);
        let point = (Point { at, value, interval: None }, self.added);
        self.added += 1;
        let (low, high) = self.columns[index].get_or_insert((point, point));
        if value < low.0.value {
            *low = point;
        }
        if value > high.0.value {
            *high = point;
        }
    }

    /// A piece that is as long as several columns has a point at each end.
    pub(super) fn add_stretch(&mut self, first: f64, end: f64, value: f64) {
        self.add(first, value);
        if self.x.share(end) - self.x.share(first) > 2.0 / self.columns.len() as f64 {
            self.add(end.min(self.x.end), value);
        }
    }

    /// The line is interrupted here.
    pub(super) fn interrupt(&mut self, at: f64) {
        self.breaks.push(at);
    }

    /// The line, in as many parts as it was interrupted.
    pub(super) fn lines(mut self) -> Vec<Layer> {
        self.breaks.sort_by(f64::total_cmp);
        let mut breaks = self.breaks.into_iter().peekable();
        let (mut lines, mut line): (Vec<Layer>, Vec<Point>) = (Vec::new(), Vec::new());
        for (low, high) in self.columns.into_iter().flatten() {
            let mut both = vec![low, high];
            both.sort_by(|a, b| a.0.at.total_cmp(&b.0.at).then(a.1.cmp(&b.1)));
            both.dedup();
            for (point, _) in both {
                let mut is_cut = false;
                while breaks.next_if(|at| *at <= point.at).is_some() {
                    is_cut = true;
                }
                if is_cut && !line.is_empty() {
                    lines.push(Layer::Line(std::mem::take(&mut line)));
                }
                line.push(point);
            }
        }
        if !line.is_empty() {
            lines.push(Layer::Line(line));
        }
        lines
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
        let lengths: Vec<usize> = columns
            .lines()
            .iter()
            .map(|layer| match layer {
                Layer::Line(points) => points.len(),
                _ => 0,
            })
            .collect();
        assert_eq!(lengths, [2, 2]);
    }
}
