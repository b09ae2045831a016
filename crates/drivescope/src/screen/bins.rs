//! The data of the charts of a screen: bins of intervals and requests, of bounded number.

use model::record::{INTERVAL_NS, IntervalRecord, IoRecord};
use model::request::Operation;
use model::units::Nanos;

pub const LANES: [Operation; 2] = [Operation::Read, Operation::Write];

/// Regions of a drive: finer than any terminal shows.
const PLACES: usize = 2048;
/// Bins of time: above this number neighbours are merged. At first each is four intervals long.
const MOMENTS_MAX: usize = 1024;
const MOMENT_NS: u64 = 4 * INTERVAL_NS;
/// Throughput over less time is that of one or two requests: the last interval of a phase is cut where the phase ends.
const RATED_NS_MIN: u64 = INTERVAL_NS / 4;

pub fn lane_of(operation: Operation) -> Option<usize> {
    LANES.iter().position(|lane| *lane == operation)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    bytes: f64,
    nanos: f64,
    operations: u64,
    latency_sum_ns: f64,
    latency_max_ns: u64,
}

impl Bin {
    pub fn rate(&self) -> Option<f64> {
        if self.nanos >= RATED_NS_MIN as f64 { self.rate_of_part() } else { None }
    }

    /// The same of a region of the drive, which may have only a part of an interval.
    fn rate_of_part(&self) -> Option<f64> {
        if self.nanos > 0.0 { Some(self.bytes / self.nanos * 1e9) } else { None }
    }

    fn is_touched(&self) -> bool {
        self.nanos > 0.0
    }

    pub fn latency_ns(&self) -> Option<(f64, f64)> {
        if self.operations == 0 {
            return None;
        }
        Some((self.latency_sum_ns / self.operations as f64, self.latency_max_ns as f64))
    }

    fn of(interval: &IntervalRecord) -> Bin {
        let (mean_ns, latency_max_ns) = match interval.latency {
            Some(latency) => (latency.mean_ns, latency.max_ns),
            None => (0.0, 0),
        };
        Bin {
            bytes: interval.bytes as f64,
            nanos: interval.duration_ns as f64,
            operations: interval.operations,
            latency_sum_ns: mean_ns * interval.operations as f64,
            latency_max_ns,
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

#[derive(Clone, Debug, Default)]
pub struct PlaceBins {
    capacity: u64,
    lanes: [Vec<Bin>; 2],
}

impl PlaceBins {
    pub fn new(capacity: u64) -> PlaceBins {
        PlaceBins { capacity, ..PlaceBins::default() }
    }

    pub fn add(&mut self, interval: &IntervalRecord) {
        if interval.offset_end > interval.offset_first && interval.duration_ns >= RATED_NS_MIN {
            self.put(interval.operation, interval.offset_first, interval.offset_end, Bin::of(interval));
        }
    }

    pub fn add_phase(&mut self, operation: Operation, first: u64, bytes: u64, time: Nanos) {
        let bin = Bin { bytes: bytes as f64, nanos: time.as_f64(), ..Bin::default() };
        self.put(operation, first, first.saturating_add(bytes), bin);
    }

    fn put(&mut self, operation: Operation, first: u64, end: u64, mut whole: Bin) {
        let (from, to) = (self.bin_at(first), self.bin_at(end.saturating_sub(1).max(first)));
        let Some(lane) = lane_of(operation) else { return };
        let lane = &mut self.lanes[lane];
        lane.resize(PLACES, Bin::default());
        let count = (to - from + 1) as f64;
        whole.bytes /= count;
        whole.nanos /= count;
        for bin in &mut lane[from..=to] {
            bin.join(&whole);
        }
    }

    fn bin_at(&self, byte: u64) -> usize {
        let at = u128::from(byte) * PLACES as u128 / u128::from(self.capacity.max(1));
        at.min(PLACES as u128 - 1) as usize
    }

    pub fn extent(&self) -> Option<(f64, f64)> {
        let (mut first, mut end) = (PLACES, 0);
        for lane in &self.lanes {
            if let Some(position) = lane.iter().position(Bin::is_touched) {
                first = first.min(position);
            }
            if let Some(position) = lane.iter().rposition(Bin::is_touched) {
                end = end.max(position + 1);
            }
        }
        let width = self.capacity.max(1) as f64 / PLACES as f64;
        if first < end { Some((first as f64 * width, end as f64 * width)) } else { None }
    }

    pub fn points(&self, lane: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let width = self.capacity.max(1) as f64 / PLACES as f64;
        let points = self.lanes[lane].iter().enumerate();
        points.filter_map(move |(index, bin)| Some(((index as f64 + 0.5) * width, bin.rate_of_part()?)))
    }
}

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
    pub fn add(&mut self, interval: &IntervalRecord) {
        self.put(interval.operation, interval.start_ns, Bin::of(interval));
    }

    pub fn add_phase(&mut self, operation: Operation, start_ns: u64, time: Nanos, bytes: u64) {
        let parts = (time.get() / self.width_ns).clamp(1, MOMENTS_MAX as u64 / 4);
        let part = time.get() / parts;
        let bin =
            Bin { bytes: bytes as f64 / parts as f64, nanos: time.as_f64() / parts as f64, ..Bin::default() };
        for index in 0..parts {
            self.put(operation, start_ns.saturating_add(index * part), bin);
        }
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
            let mut joined = Vec::with_capacity(lane.len().div_ceil(2));
            for pair in lane.chunks(2) {
                let mut both = pair[0];
                if let Some(second) = pair.get(1) {
                    both.join(second);
                }
                joined.push(both);
            }
            *lane = joined;
        }
    }

    pub fn end_s(&self) -> f64 {
        let bins = self.lanes.iter().map(Vec::len).max().unwrap_or(0);
        if bins == 0 { 0.0 } else { (bins as f64 - 0.5) * Nanos::new(self.width_ns).seconds() }
    }

    pub fn points(&self, lane: usize) -> impl Iterator<Item = (f64, &Bin)> + '_ {
        let width_s = Nanos::new(self.width_ns).seconds();
        self.lanes[lane].iter().enumerate().map(move |(index, bin)| ((index as f64 + 0.5) * width_s, bin))
    }
}

/// Across: regions of the drive. Up: sixteen rows to a power of ten of time.
const GRID_PLACES: usize = 256;
const GRID_DECADES: usize = 6;
const GRID_STEPS: usize = 16;
/// The lowest row; the grid ends six powers of ten above it.
pub const GRID_FLOOR_NS: f64 = 1e4;

/// Offset and latency of single requests: seen or not, for each region and time.
#[derive(Clone, Debug, Default)]
pub struct AccessGrid {
    capacity: u64,
    seen: Vec<bool>,
    count: u64,
}

impl AccessGrid {
    pub fn new(capacity: u64) -> AccessGrid {
        AccessGrid { capacity, ..AccessGrid::default() }
    }

    pub fn add(&mut self, io: &IoRecord) {
        if !io.status.is_done() || lane_of(io.operation).is_none() {
            return;
        }
        let across = u128::from(io.offset_bytes) * GRID_PLACES as u128 / u128::from(self.capacity.max(1));
        let across = across.min(GRID_PLACES as u128 - 1) as usize;
        let decades = (io.service_ns().max(1) as f64 / GRID_FLOOR_NS).log10().max(0.0);
        let up = ((decades * GRID_STEPS as f64) as usize).min(GRID_DECADES * GRID_STEPS - 1);
        self.seen.resize(GRID_PLACES * GRID_DECADES * GRID_STEPS, false);
        self.seen[up * GRID_PLACES + across] = true;
        self.count = self.count.saturating_add(1);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (0..self.seen.len()).filter(|&index| self.seen[index]).map(point_of)
    }
}

fn point_of(index: usize) -> (f64, f64) {
    let (up, across) = (index / GRID_PLACES, index % GRID_PLACES);
    let time_ns = GRID_FLOOR_NS * 10f64.powf((up as f64 + 0.5) / GRID_STEPS as f64);
    ((across as f64 + 0.5) / GRID_PLACES as f64, time_ns)
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
        times.add_phase(Operation::Write, 0, Nanos::from_secs(1), 1);
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
