//! What the charts of a screen are drawn from: bins that take in slices and requests, and whose number does not grow.

use model::record::{INTERVAL_NS, IntervalRecord, IoRecord};
use model::request::Operation;
use model::units::Nanos;

/// The operations that have a rate, in the order of their lanes.
pub const LANES: [Operation; 2] = [Operation::Read, Operation::Write];

/// Stretches of a drive: finer than any terminal shows.
const PLACES: usize = 2048;
/// Stretches of time: when there are more, neighbours are joined. At first they are four slices long.
const MOMENTS_MAX: usize = 1024;
const MOMENT_NS: u64 = 4 * INTERVAL_NS;
/// The rate of less than this is one of a request or two: the last slice of a phase is cut where the phase ended.
const RATED_NS_MIN: u64 = INTERVAL_NS / 4;

/// The lane of an operation, if it has one.
pub fn lane_of(operation: Operation) -> Option<usize> {
    LANES.iter().position(|lane| *lane == operation)
}

/// What was moved in a stretch of the drive or of time, and how long that took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    bytes: f64,
    nanos: f64,
    operations: u64,
    latency_sum_ns: f64,
    latency_max_ns: u64,
}

impl Bin {
    /// Bytes a second; none when too little was asked for.
    pub fn rate(&self) -> Option<f64> {
        (self.nanos >= RATED_NS_MIN as f64).then(|| self.bytes / self.nanos * 1e9)
    }

    /// The same of a stretch of the drive, over which slices and visits are spread.
    fn rate_of_part(&self) -> Option<f64> {
        (self.nanos > 0.0).then(|| self.bytes / self.nanos * 1e9)
    }

    /// The mean and the longest latency, in nanoseconds; none when nothing was completed.
    pub fn latency_ns(&self) -> Option<(f64, f64)> {
        (self.operations > 0)
            .then(|| (self.latency_sum_ns / self.operations as f64, self.latency_max_ns as f64))
    }

    fn of(slice: &IntervalRecord) -> Bin {
        let latency = slice.latency;
        Bin {
            bytes: slice.bytes as f64,
            nanos: slice.duration_ns as f64,
            operations: slice.operations,
            latency_sum_ns: latency.map_or(0.0, |latency| latency.mean_ns * slice.operations as f64),
            latency_max_ns: latency.map_or(0, |latency| latency.max_ns),
        }
    }

    fn join(&mut self, other: &Bin) {
        self.bytes += other.bytes;
        self.nanos += other.nanos;
        self.operations = self.operations.saturating_add(other.operations);
        self.latency_sum_ns += other.latency_sum_ns;
        self.latency_max_ns = self.latency_max_ns.max(other.latency_max_ns);
    }
}

/// Rates by the place where they were measured.
#[derive(Clone, Debug)]
pub struct PlaceBins {
    capacity: u64,
    lanes: [Vec<Bin>; 2],
}

impl PlaceBins {
    /// Of a target of that many bytes.
    pub fn new(capacity: u64) -> PlaceBins {
        PlaceBins { capacity: capacity.max(1), lanes: [const { Vec::new() }; 2] }
    }

    /// Takes in a slice of a phase that goes in order. What it moved is spread evenly over what it touched.
    pub fn add(&mut self, slice: &IntervalRecord) {
        if slice.offset_end > slice.offset_first && slice.duration_ns >= RATED_NS_MIN {
            self.put(slice.operation, slice.offset_first, slice.offset_end, Bin::of(slice));
        }
    }

    /// Takes in a whole phase of which no slices are at hand.
    pub fn add_stretch(&mut self, operation: Operation, first: u64, bytes: u64, time: Nanos) {
        let bin = Bin { bytes: bytes as f64, nanos: time.0 as f64, ..Bin::default() };
        self.put(operation, first, first.saturating_add(bytes), bin);
    }

    fn put(&mut self, operation: Operation, first: u64, end: u64, mut whole: Bin) {
        let (from, to) = (self.bin_at(first), self.bin_at(end.saturating_sub(1).max(first)));
        let Some(lane) = lane_of(operation).map(|lane| &mut self.lanes[lane]) else { return };
        lane.resize(PLACES, Bin::default());
        let count = (to - from + 1) as f64;
        whole.bytes /= count;
        whole.nanos /= count;
        lane[from..=to].iter_mut().for_each(|bin| bin.join(&whole));
    }

    fn bin_at(&self, byte: u64) -> usize {
        let at = u128::from(byte) * PLACES as u128 / u128::from(self.capacity);
        at.min(PLACES as u128 - 1) as usize
    }

    /// From where to where something was measured, in bytes; none when nothing was.
    pub fn extent(&self) -> Option<(f64, f64)> {
        let is_touched = |bin: &Bin| bin.rate_of_part().is_some();
        let lanes = self.lanes.iter();
        let firsts = lanes.clone().filter_map(|lane| lane.iter().position(is_touched));
        let lasts = lanes.filter_map(|lane| lane.iter().rposition(is_touched));
        let width = self.capacity as f64 / PLACES as f64;
        Some((firsts.min()? as f64 * width, (lasts.max()? + 1) as f64 * width))
    }

    /// The points of a lane: where each lies, in bytes, and its rate.
    pub fn points(&self, lane: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let width = self.capacity as f64 / PLACES as f64;
        let points = self.lanes[lane].iter().enumerate();
        points.filter_map(move |(index, bin)| Some(((index as f64 + 0.5) * width, bin.rate_of_part()?)))
    }
}

/// Rates and latencies by the time at which they were measured.
#[derive(Clone, Debug)]
pub struct TimeBins {
    width_ns: u64,
    lanes: [Vec<Bin>; 2],
}

impl Default for TimeBins {
    fn default() -> TimeBins {
        TimeBins { width_ns: MOMENT_NS, lanes: [const { Vec::new() }; 2] }
    }
}

impl TimeBins {
    /// Takes in a slice.
    pub fn add(&mut self, slice: &IntervalRecord) {
        self.put(slice.operation, slice.start_ns, Bin::of(slice));
    }

    /// Takes in a whole phase of which no slices are at hand.
    pub fn add_stretch(&mut self, operation: Operation, start_ns: u64, time: Nanos, bytes: u64) {
        // No more parts than make a line of dots.
        let parts = (time.0 / self.width_ns).clamp(1, MOMENTS_MAX as u64 / 4);
        let part = time.0 / parts;
        let bin =
            Bin { bytes: bytes as f64 / parts as f64, nanos: time.0 as f64 / parts as f64, ..Bin::default() };
        (0..parts).for_each(|index| self.put(operation, start_ns.saturating_add(index * part), bin));
    }

    fn put(&mut self, operation: Operation, at_ns: u64, bin: Bin) {
        let Some(lane) = lane_of(operation) else { return };
        while at_ns / self.width_ns >= MOMENTS_MAX as u64 {
            self.join_neighbours();
        }
        let index = (at_ns / self.width_ns) as usize;
        let lane = &mut self.lanes[lane];
        if lane.len() <= index {
            lane.resize(index + 1, Bin::default());
        }
        lane[index].join(&bin);
    }

    fn join_neighbours(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        for lane in &mut self.lanes {
            let joined = lane.chunks(2).map(|pair| {
                let mut both = pair[0];
                pair.iter().skip(1).for_each(|second| both.join(second));
                both
            });
            *lane = joined.collect();
        }
    }

    /// The bins of a lane: the middle of each, in seconds.
    pub fn points(&self, lane: usize) -> impl Iterator<Item = (f64, &Bin)> + '_ {
        let width_s = Nanos(self.width_ns).seconds();
        self.lanes[lane].iter().enumerate().map(move |(index, bin)| ((index as f64 + 0.5) * width_s, bin))
    }
}

/// Across: stretches of the drive. Up: sixteen to a power of ten of time.
const GRID_PLACES: usize = 256;
const GRID_DECADES: usize = 6;
const GRID_STEPS: usize = 16;
/// The least time that has a row of its own; the grid ends six powers of ten above it.
pub const GRID_FLOOR_NS: f64 = 1e4;

/// Where single requests went, and how long each took: seen or not, for each stretch and time.
#[derive(Clone, Debug)]
pub struct AccessGrid {
    capacity: u64,
    seen: Vec<bool>,
    count: u64,
}

impl AccessGrid {
    /// Of a target of that many bytes.
    pub fn new(capacity: u64) -> AccessGrid {
        AccessGrid { capacity: capacity.max(1), seen: Vec::new(), count: 0 }
    }

    /// Takes in a request.
    pub fn add(&mut self, io: &IoRecord) {
        if !io.status.is_done() || lane_of(io.operation).is_none() {
            return;
        }
        let across = u128::from(io.offset_bytes) * GRID_PLACES as u128 / u128::from(self.capacity);
        let across = across.min(GRID_PLACES as u128 - 1) as usize;
        let decades = (io.service_ns().max(1) as f64 / GRID_FLOOR_NS).log10().max(0.0);
        let up = ((decades * GRID_STEPS as f64) as usize).min(GRID_DECADES * GRID_STEPS - 1);
        self.seen.resize(GRID_PLACES * GRID_DECADES * GRID_STEPS, false);
        self.seen[up * GRID_PLACES + across] = true;
        self.count = self.count.saturating_add(1);
    }

    /// How many requests it took in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Each stretch and time that was seen: the place as a share of the drive, and the time in nanoseconds.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.seen.iter().enumerate().filter(|(_, seen)| **seen).map(|(index, _)| {
            let (up, across) = (index / GRID_PLACES, index % GRID_PLACES);
            let time = GRID_FLOOR_NS * 10f64.powf((up as f64 + 0.5) / GRID_STEPS as f64);
            ((across as f64 + 0.5) / GRID_PLACES as f64, time)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::IntervalLatency;
    use model::request::Status;

    fn slice(start_ns: u64, first: u64, end: u64) -> IntervalRecord {
        let latency =
            IntervalLatency { min_ns: 1, mean_ns: 4e6, p50_ns: 4_000_000, p99_ns: 1, max_ns: 9_000_000 };
        IntervalRecord {
            phase: 0,
            operation: Operation::Read,
            start_ns,
            duration_ns: INTERVAL_NS,
            operations: 10,
            bytes: end - first,
            errors: 0,
            offset_first: first,
            offset_end: end,
            latency: Some(latency),
        }
    }

    #[test]
    fn a_rate_lies_where_it_was_measured() {
        let mut places = PlaceBins::new(2_048_000_000);
        assert_eq!(places.extent(), None);
        places.add(&slice(0, 1_000_000, 5_000_000));
        let points: Vec<_> = places.points(0).collect();
        assert_eq!(points.len(), 4);
        // 4 MB in 40 ms.
        assert!(points.iter().all(|(_, rate)| (rate - 1e8).abs() < 1.0), "{points:?}");
        assert_eq!(points[0].0, 1_500_000.0);
        assert_eq!(places.extent(), Some((1e6, 5e6)));
        assert_eq!(places.points(1).count(), 0);
    }

    #[test]
    fn a_run_of_days_has_as_many_bins_as_one_of_a_minute() {
        let mut times = TimeBins::default();
        let day_ns = 86_400_000_000_000;
        for at in 0..1000 {
            times.add(&slice(at * day_ns / 100, 0, 4_000_000));
        }
        times.add(&slice(u64::MAX - INTERVAL_NS, 0, 4_000_000));
        assert!(times.lanes[0].len() <= MOMENTS_MAX);
        let (rate, latency) = (times.lanes[0][0].rate().unwrap(), times.lanes[0][0].latency_ns().unwrap());
        assert!((rate - 1e8).abs() < 1.0, "{rate}");
        assert_eq!(latency, (4e6, 9e6));
        times.add_stretch(Operation::Write, 0, Nanos::from_secs(1), 1);
        assert_eq!(times.lanes[1].iter().filter(|bin| bin.rate().is_some()).count(), 1);
    }

    #[test]
    fn a_request_is_a_dot_at_its_place_and_time() {
        let mut grid = AccessGrid::new(1000);
        let io = IoRecord {
            intended_ns: 0,
            submitted_ns: 5,
            completed_ns: 10_000_005,
            offset_bytes: 500,
            length_bytes: 1,
            phase: 0,
            status: Status::Done,
            operation: Operation::Read,
        };
        grid.add(&io);
        grid.add(&IoRecord { completed_ns: 0, offset_bytes: u64::MAX, ..io });
        let points: Vec<_> = grid.points().collect();
        assert_eq!((points.len(), grid.count()), (2, 2));
        assert!((points[1].0 - 0.502).abs() < 0.001 && (points[1].1 - 1.07e7).abs() < 1e5, "{points:?}");
        assert!(points[0].0 > 0.99 && points[0].1 < 1.1e4, "{points:?}");
    }
}
