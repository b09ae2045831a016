//! A rate that falls from the start to the end of a range, when only its ends and its mean are known.
//!
//! The best guess is r(x) = inner + (outer − inner)·(1 − xᵖ) with the p that gives the mean: p = 1 is a straight line,
//! larger p stay fast for longer, as real disks do. The interval does not rest on that shape. It holds whatever falls from
//! outer to inner and has that mean: the time of a stretch is longest if all before it is as fast as the start and all
//! the rest equally fast, and shortest if all behind it is as slow as the end and all the rest equally fast.

use model::estimate::Estimate;

/// Cells of the table of the curve: a step is then far finer than any zone.
const CELLS: usize = 1024;
/// Halvings of the search for p, whose logarithm lies between −7 and 7.
const HALVINGS: usize = 60;

/// A rate over a place between 0 and 1, as seconds per byte.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Falling {
    outer: Estimate,
    inner: Estimate,
    mean: Estimate,
    /// The time from the start up to each cell's beginning, in seconds per byte of the whole.
    up_to: Vec<f64>,
}

impl Falling {
    /// `None` unless the start is faster than the mean, and that than the end.
    pub(super) fn new(outer: Estimate, inner: Estimate, mean: Estimate) -> Option<Falling> {
        if !(0.0 < outer.value && outer.value < mean.value && mean.value < inner.value) {
            return None;
        }
        let (mut low, mut high) = (-7.0_f64, 7.0_f64);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            let total = cumulative(outer.value, inner.value, middle.exp())[CELLS];
            // A larger p stays fast for longer.
            if total > mean.value { low = middle } else { high = middle }
        }
        let mut up_to = cumulative(outer.value, inner.value, low.exp());
        let scale = mean.value / up_to[CELLS];
        for seconds in &mut up_to {
            *seconds *= scale;
        }
        Some(Falling { outer, inner, mean, up_to })
    }

    /// The time from place `a` to place `b`, in seconds per byte of the whole.
    pub(super) fn time(&self, a: f64, b: f64) -> Estimate {
        let value = self.until(b) - self.until(a);
        let (fast, slow) = self.bounds(a, b);
        self.around(value, fast * (b - a), slow * (b - a))
    }

    pub(super) fn at(&self, place: f64) -> Estimate {
        let cell = ((place * CELLS as f64) as usize).min(CELLS - 1);
        let value = (self.up_to[cell + 1] - self.up_to[cell]) * CELLS as f64;
        let (fast, slow) = self.bounds(place, place);
        self.around(value, fast, slow)
    }

    fn until(&self, place: f64) -> f64 {
        let cell = ((place * CELLS as f64) as usize).min(CELLS - 1);
        let into = place * CELLS as f64 - cell as f64;
        self.up_to[cell] + into * (self.up_to[cell + 1] - self.up_to[cell])
    }

    /// The least and the most seconds per byte that a stretch can take on average.
    fn bounds(&self, a: f64, b: f64) -> (f64, f64) {
        let fastest = self.outer.low.max(0.0);
        let least = if b > 0.0 { (self.mean.low - self.inner.high * (1.0 - b)) / b } else { fastest };
        let most = if a < 1.0 { (self.mean.high - fastest * a) / (1.0 - a) } else { self.inner.high };
        (least.max(fastest), most.min(self.inner.high))
    }

    fn around(&self, value: f64, low: f64, high: f64) -> Estimate {
        let (outer, inner, mean) = (&self.outer, &self.inner, &self.mean);
        Estimate {
            value,
            low: low.min(value),
            high: high.max(value),
            confidence: outer.confidence.min(inner.confidence).min(mean.confidence).min(1.0),
            effective_count: outer.effective_count.min(inner.effective_count).min(mean.effective_count),
        }
    }
}

/// Sums of the time per byte up to the beginning of each cell, by the rate in the middle of the cells.
fn cumulative(outer_s: f64, inner_s: f64, power: f64) -> Vec<f64> {
    let (outer, inner) = (1.0 / outer_s, 1.0 / inner_s);
    let mut sums = Vec::with_capacity(CELLS + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for cell in 0..CELLS {
        let place = (cell as f64 + 0.5) / CELLS as f64;
        let rate = inner + (outer - inner) * (1.0 - place.powf(power));
        sum += 1.0 / rate / CELLS as f64;
        sums.push(sum);
    }
    sums
}
