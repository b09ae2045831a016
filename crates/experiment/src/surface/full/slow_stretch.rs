//! What was slow in a pass: stretches whose rate is far below that of their neighbourhood, or in which a request took
//! far longer than usual. Two more measurements say whether it is the drive.

use model::range::ByteRange;
use model::record::IntervalRecord;
use model::units::{Bytes, MIB};
use std::collections::VecDeque;

/// Below this share of the neighbourhood's median a rate is slow. Surfaces of a disk differ by 10 % at most.
const SLOW_SHARE: f64 = 0.7;
/// From this many times the neighbourhood's usual longest latency on a latency is long.
const LONG_LATENCY_FACTOR: f64 = 10.0;
/// Slices are put together until they hold so much: fewer requests vary too much among themselves.
const WINDOW_BYTES: u64 = 16 * MIB;
/// Windows of a neighbourhood: 16 GiB, so that a slow minute is less than half of it; and how many there must be.
const NEIGHBOURS: usize = 1025;
const NEIGHBOURS_MIN: usize = 9;
/// What is usual changes slowly, so it is looked at anew once for so many windows.
const USUAL_FOR: u32 = 32;
/// Candidates that are kept while looking; of more, those that cost the most time.
const KEPT_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStretch {
    pub range: ByteRange,
    /// How much longer it took than its neighbourhood would have.
    pub lost_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    first: u64,
    end: u64,
    nanos: u64,
    bytes: u64,
    latency_max: u64,
}

impl Window {
    fn nanos_per_byte(&self) -> f64 {
        self.nanos as f64 / self.bytes as f64
    }

    fn latency_max(&self) -> f64 {
        self.latency_max as f64
    }
}

/// Looks for slow stretches in slices that come in the order of places.
#[derive(Debug, Default)]
pub struct SlowSearch {
    window: Option<Window>,
    near: VecDeque<Window>,
    judged: usize,
    usual: Option<Usual>,
    found: Vec<SlowStretch>,
}

#[derive(Clone, Copy, Debug)]
struct Usual {
    nanos_per_byte: f64,
    latency_max: f64,
    used: u32,
}

impl SlowSearch {
    pub fn add(&mut self, slice: &IntervalRecord) {
        let mut window = self.window.take().unwrap_or_default();
        window.nanos += slice.duration_ns;
        if slice.operations > 0 {
            let is_empty = window.bytes == 0;
            window.first = if is_empty { slice.offset_first } else { window.first.min(slice.offset_first) };
            window.end = window.end.max(slice.offset_end);
            window.bytes += slice.bytes;
            if let Some(latency) = slice.latency {
                window.latency_max = window.latency_max.max(latency.max_ns);
            }
        }
        if window.bytes >= WINDOW_BYTES { self.take(window) } else { self.window = Some(window) }
    }

    /// A phase has ended. What does not fill a window is too short to be judged by its rate.
    pub fn end_phase(&mut self) {
        self.window = None;
    }

    fn take(&mut self, window: Window) {
        self.near.push_back(window);
        if self.near.len() < NEIGHBOURS {
            return;
        }
        let middle = NEIGHBOURS / 2;
        // The first ones have no neighbours before them.
        for index in self.judged..=middle {
            self.judge(index);
        }
        self.near.pop_front();
        self.judged = middle;
    }

    fn judge(&mut self, index: usize) {
        let window = self.near[index];
        let usual = self.usual();
        let expected_ns = usual.nanos_per_byte * window.bytes as f64;
        let is_slow = expected_ns < SLOW_SHARE * window.nanos as f64;
        let is_late = window.latency_max as f64 >= (usual.latency_max * LONG_LATENCY_FACTOR).max(1.0);
        if is_slow || is_late {
            let lost_ns = (window.nanos as f64 - expected_ns).max(0.0) as u64;
            self.found(window, lost_ns);
        }
    }

    fn usual(&mut self) -> Usual {
        let mut usual = match self.usual {
            Some(usual) if usual.used < USUAL_FOR => usual,
            _ => Usual {
                nanos_per_byte: median(self.near.iter().map(Window::nanos_per_byte)),
                latency_max: median(self.near.iter().map(Window::latency_max)),
                used: 0,
            },
        };
        usual.used += 1;
        self.usual = Some(usual);
        usual
    }

    /// Windows that follow each other are one stretch.
    fn found(&mut self, window: Window, lost_ns: u64) {
        if let Some(last) = self.found.last_mut()
            && window.first >= last.range.first().get()
            && window.first <= last.range.end().get().saturating_add(WINDOW_BYTES)
        {
            let end = window.end.max(last.range.end().get());
            let bytes = Bytes::new(end - last.range.first().get());
            last.range = ByteRange::new(last.range.first(), bytes).expect("both lie on the target");
            last.lost_ns = last.lost_ns.saturating_add(lost_ns);
            return;
        }
        if let Some(range) = ByteRange::from_bytes(window.first, window.end.saturating_sub(window.first)) {
            self.found.push(SlowStretch { range, lost_ns });
        }
        if self.found.len() > KEPT_MAX {
            self.found = worst(std::mem::take(&mut self.found), KEPT_MAX / 2);
        }
    }

    pub fn finish(mut self, count: usize) -> Vec<SlowStretch> {
        if self.near.len() >= NEIGHBOURS_MIN {
            for index in self.judged..self.near.len() {
                self.judge(index);
            }
        }
        worst(self.found, count)
    }
}

fn worst(mut stretches: Vec<SlowStretch>, count: usize) -> Vec<SlowStretch> {
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.lost_ns));
    stretches.truncate(count);
    stretches.sort_by_key(|stretch| stretch.range.first());
    stretches
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::record::IntervalLatency;
    use model::request::Operation;

    const SLICE_BYTES: u64 = 6 * MIB;

    /// Slices of 40 ms, each as fast as `factor` says of its place.
    fn search(slices: u64, factor: impl Fn(u64) -> f64, latency: impl Fn(u64) -> u64) -> Vec<SlowStretch> {
        let mut search = SlowSearch::default();
        for number in 0..slices {
            let first = number * SLICE_BYTES;
            let slow = factor(number);
            let latency =
                IntervalLatency { min_ns: 1, mean_ns: 1.0, p50_ns: 1, p99_ns: 1, max_ns: latency(number) };
            search.add(&IntervalRecord {
                phase: 0,
                operation: Operation::Read,
                start_ns: 0,
                duration_ns: (40e6 * slow) as u64,
                operations: 6,
                bytes: SLICE_BYTES,
                errors: 0,
                offset_first: first,
                offset_end: first + SLICE_BYTES,
                latency: Some(latency),
            });
        }
        search.finish(10)
    }

    #[test]
    fn an_even_surface_has_none() {
        // Surfaces that differ by 10 %, and a zone that is 30 % slower.
        let uneven = |n: u64| if n % 20 < 10 { 1.0 } else { 1.1 } * if n < 3000 { 1.0 } else { 1.3 };
        assert_eq!(search(6000, uneven, |_| 30_000_000), []);
        assert_eq!(search(5, |_| 1.0, |_| 30_000_000), []);
    }

    #[test]
    fn a_weak_spot_of_64_mib_is_found() {
        let found = search(1000, |n| if (400..411).contains(&n) { 2.0 } else { 1.0 }, |_| 30_000_000);
        assert_eq!(found.len(), 1);
        let range = found[0].range;
        assert!(
            range.first().get() <= 402 * SLICE_BYTES && range.end().get() >= 409 * SLICE_BYTES,
            "{range:?}"
        );
        assert!(range.bytes().get() <= 18 * SLICE_BYTES, "{range:?}");
    }

    #[test]
    fn a_single_long_latency_is_found_also_at_the_ends() {
        for place in [2, 500, 997] {
            let found = search(1000, |_| 1.0, |n| if n == place { 400_000_000 } else { 30_000_000 });
            assert_eq!(found.len(), 1, "{place}");
            assert!(found[0].range.first().get() <= place * SLICE_BYTES, "{place}: {found:?}");
            assert!(found[0].range.end().get() > place * SLICE_BYTES, "{place}: {found:?}");
        }
    }

    #[test]
    fn of_many_the_worst_are_kept() {
        let spots = |n: u64| if n % 100 == 50 { 2.0 + n as f64 / 500.0 } else { 1.0 };
        let found = search(4000, spots, |_| 30_000_000);
        assert_eq!(found.len(), 10);
        assert!(found[0].range.first().get() >= 29 * 100 * SLICE_BYTES, "{found:?}");
    }
}
