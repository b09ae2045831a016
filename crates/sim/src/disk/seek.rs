//! How long the arm takes to get from one cylinder to another and settle there.

use crate::disk::profile::SeekProfile;
use crate::flaw::Flaw;

#[derive(Clone, Debug, PartialEq)]
pub enum SeekCurve {
    /// `a + b·√d` while the arm only accelerates and brakes; `c + e·d` from `border` on (Ruemmler and Wilkes 1994).
    RootThenLinear {
        a: f64,
        b: f64,
        c: f64,
        e: f64,
        border: f64,
    },
    /// Lee's formula, `min + root·√(d−1) + linear·(d−1)`.
    Lee {
        min: f64,
        root: f64,
        linear: f64,
    },
    Table(SeekTable),
}

/// Measured points, looked up by the first bits of a distance.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekTable {
    /// Distance in cylinders and seconds; distances grow.
    points: Vec<(f64, f64)>,
    /// For each range of distances with the same first bits the point from which to look.
    starts: Vec<u32>,
}

/// Bits of a distance's fraction that choose where to look: 32 ranges to a power of two.
const FRACTION_BITS: u32 = 5;

/// The range of a distance: its power of two and the first bits of its fraction.
fn range_of(distance: f64) -> usize {
    const ONE: u64 = 1023 << FRACTION_BITS;
    ((distance.max(1.0).to_bits() >> (52 - FRACTION_BITS)) - ONE) as usize
}

impl SeekTable {
    pub fn new(points: Vec<(f64, f64)>) -> Result<SeekTable, Flaw> {
        let grows = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if points.len() < 2 || points.len() > 1 << 20 || !grows || points[0].0 < 0.0 {
            return Err(Flaw::new("", "a seek table has at least two points with growing distances"));
        }
        let mut starts = vec![0; range_of((1u64 << 40) as f64) + 1];
        let mut point = 0;
        for (range, start) in starts.iter_mut().enumerate() {
            let first = f64::from_bits((range as u64 + (1023 << FRACTION_BITS)) << (52 - FRACTION_BITS));
            while point + 2 < points.len() && points[point + 1].0 <= first {
                point += 1;
            }
            *start = point as u32;
        }
        Ok(SeekTable { points, starts })
    }

    fn seconds(&self, distance: f64) -> f64 {
        let range = range_of(distance).min(self.starts.len() - 1);
        let mut index = self.starts[range] as usize;
        while index + 2 < self.points.len() && self.points[index + 1].0 <= distance {
            index += 1;
        }
        let ((d0, t0), (d1, t1)) = (self.points[index], self.points[index + 1]);
        t0 + (t1 - t0) * ((distance - d0) / (d1 - d0)).min(1.0)
    }
}

impl SeekCurve {
    pub fn of_profile(profile: &SeekProfile, cylinders: u64) -> Result<SeekCurve, Flaw> {
        match profile {
            SeekProfile::RootThenLinear {
                constant_ms,
                root_ms,
                long_constant_ms,
                linear_ms,
                border_cylinders,
            } => Ok(SeekCurve::RootThenLinear {
                a: constant_ms / 1e3,
                b: root_ms / 1e3,
                c: long_constant_ms / 1e3,
                e: linear_ms / 1e3,
                border: *border_cylinders,
            }),
            SeekProfile::Table { points } => {
                let seconds = points.iter().map(|&(distance, ms)| (distance, ms / 1e3)).collect();
                Ok(SeekCurve::Table(SeekTable::new(seconds)?))
            }
            &SeekProfile::DataSheet {
                track_to_track_ms: track,
                average_ms: average,
                full_stroke_ms: full,
            } => {
                if !(track > 0.0 && average >= track && full >= average) {
                    let reason = format!(
                        "a seek takes more than nothing to the next track, no less on average, and no less than \
                         that from edge to edge; not {track:?}, {average:?} and {full:?} ms"
                    );
                    return Err(Flaw::new("", reason));
                }
                Ok(SeekCurve::from_data_sheet(track / 1e3, average / 1e3, full / 1e3, cylinders))
            }
        }
    }

    /// A curve from what a data sheet says: track to track, average over all seeks, and full stroke (Lee's formula):
    /// `t = a·√(d−1) + b·(d−1) + min` with a = (−10 min + 15 avg − 5 max)/(3√N), b = (7 min − 15 avg + 8 max)/(3N).
    pub fn from_data_sheet(
        track_to_track_s: f64,
        average_s: f64,
        full_stroke_s: f64,
        cylinders: u64,
    ) -> SeekCurve {
        let (min, avg, max, n) = (track_to_track_s, average_s, full_stroke_s, cylinders as f64);
        SeekCurve::Lee {
            min,
            root: (-10.0 * min + 15.0 * avg - 5.0 * max) / (3.0 * n.sqrt()),
            linear: (7.0 * min - 15.0 * avg + 8.0 * max) / (3.0 * n),
        }
    }

    /// Seconds over that many cylinders; none over none.
    #[inline]
    pub fn seconds(&self, distance: u64) -> f64 {
        if distance == 0 {
            return 0.0;
        }
        let d = distance as f64;
        match self {
            SeekCurve::RootThenLinear { a, b, border, .. } if d < *border => a + b * d.sqrt(),
            SeekCurve::RootThenLinear { c, e, .. } => c + e * d,
            SeekCurve::Lee { min, root, linear } => min + root * (d - 1.0).sqrt() + linear * (d - 1.0),
            SeekCurve::Table(table) => table.seconds(d),
        }
    }

    /// The mean over all pairs of different cylinders, as drive makers define it.
    pub fn mean_seconds(&self, cylinders: u64) -> f64 {
        if cylinders < 2 {
            return 0.0;
        }
        // (N − d)·2 of N·(N − 1) ordered pairs are d apart. The sum over a million distances is taken in steps.
        let n = cylinders as f64;
        let steps = 20_000.min(cylinders - 1);
        let (mut sum, mut weights) = (0.0, 0.0);
        for step in 0..steps {
            let d = 1.0 + (n - 2.0) * (step as f64 + 0.5) / steps as f64;
            let weight = n - d;
            sum += weight * self.seconds(d.round() as u64);
            weights += weight;
        }
        sum / weights
    }

    /// Distances that show where a curve falls or leaves its bounds, growing: its parts have at most one extreme each.
    fn sampled(&self, cylinders: u64) -> Vec<u64> {
        const STEPS: i32 = 100;
        let last = cylinders.saturating_sub(1) as f64;
        let mut distances = Vec::new();
        for step in 0..=STEPS {
            distances.push(last.powf(f64::from(step) / f64::from(STEPS)).round() as u64);
        }
        match self {
            SeekCurve::RootThenLinear { border, .. } => {
                distances.extend([*border as u64, border.ceil() as u64])
            }
            SeekCurve::Table(table) => {
                distances.extend(table.points.iter().map(|point| point.0.ceil() as u64))
            }
            SeekCurve::Lee { .. } => {}
        }
        distances.retain(|distance| (1..cylinders).contains(distance));
        distances.sort_unstable();
        distances.dedup();
        distances
    }

    pub fn check(&self, cylinders: u64) -> Result<(), Flaw> {
        let mut before = 0.0;
        for distance in self.sampled(cylinders) {
            let seconds = self.seconds(distance);
            if !seconds.is_finite() || seconds <= 0.0 || seconds > 0.2 {
                let reason =
                    format!("a seek over {distance} cylinders takes {seconds} s; it takes 0 to 0.2 s");
                return Err(Flaw::new("", reason));
            }
            if distance >= 2 && seconds < before * 0.9 {
                let reason = format!("a seek over {distance} cylinders is quicker than a shorter one");
                return Err(Flaw::new("", reason));
            }
            before = seconds;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WD's own 4 TB model: 1.496 ms + 0.01918 ms·√d below 69,648 cylinders and 4.510 ms + 3.14·10⁻⁵ ms·d above, up to
    /// 353,181; its mean seek is 7.93 ms.
    #[test]
    fn a_published_curve_has_its_published_mean() {
        let curve = SeekCurve::RootThenLinear {
            a: 1.496e-3,
            b: 0.01918e-3,
            c: 4.510e-3,
            e: 3.14e-8,
            border: 69_648.0,
        };
        let mean_ms = curve.mean_seconds(353_181) * 1e3;
        assert!((mean_ms - 7.93).abs() < 0.05, "{mean_ms}");
        assert_eq!(curve.check(353_181), Ok(()));
    }

    /// The table that the fit was made from has points such as 7215: 3.3 ms and 254604: 12.5 ms.
    #[test]
    fn a_table_is_joined_by_lines() {
        let points = vec![(1.0, 1.8e-3), (94.0, 2.0e-3), (7215.0, 3.3e-3), (353_181.0, 15.7e-3)];
        let table = SeekCurve::Table(SeekTable::new(points).unwrap());
        assert!((table.seconds(7215) - 3.3e-3).abs() < 1e-12);
        assert!((table.seconds(47) - 1.9e-3).abs() < 1e-5);
        assert!((table.seconds(400_000) - 15.7e-3).abs() < 1e-12, "flat past the last point");
        assert_eq!(table.seconds(0), 0.0);
    }

    #[test]
    fn a_data_sheet_gives_its_own_numbers_back() {
        let curve = SeekCurve::from_data_sheet(0.8e-3, 8.0e-3, 16.0e-3, 100_000);
        assert!((curve.seconds(1) - 0.8e-3).abs() < 1e-9);
        assert!((curve.seconds(100_000) - 16.0e-3).abs() < 1e-6);
        // Lee's formula meets the average over all seeks to within its own approximation.
        assert!((curve.mean_seconds(100_000) - 8.0e-3).abs() < 0.1e-3, "{}", curve.mean_seconds(100_000));
    }

    #[test]
    fn a_data_sheet_whose_average_is_no_average_is_refused() {
        let curve = |track_to_track_ms, average_ms, full_stroke_ms| {
            let sheet = SeekProfile::DataSheet { track_to_track_ms, average_ms, full_stroke_ms };
            SeekCurve::of_profile(&sheet, 100_000)
        };
        assert!(curve(0.8, 8.5, 17.0).is_ok());
        for (track_to_track_ms, average_ms, full_stroke_ms) in
            [(0.8, 18.5, 17.0), (9.0, 8.5, 17.0), (0.0, 8.5, 17.0), (0.8, f64::NAN, 17.0)]
        {
            let refused = curve(track_to_track_ms, average_ms, full_stroke_ms).unwrap_err().to_string();
            assert!(refused.starts_with("a seek takes more than nothing to the next track"), "{refused}");
        }
        assert!(curve(9.0, 8.5, 17.0).unwrap_err().to_string().ends_with("not 9.0, 8.5 and 17.0 ms"));
    }

    #[test]
    fn what_cannot_be_is_named() {
        assert!(SeekTable::new(vec![(1.0, 1e-3)]).is_err());
        assert!(SeekTable::new(vec![(5.0, 1e-3), (1.0, 2e-3)]).is_err());
        let falling = SeekCurve::RootThenLinear { a: 1e-3, b: 1e-3, c: 1e-3, e: 1e-9, border: 50.0 };
        assert!(falling.check(10_000).unwrap_err().to_string().contains("quicker"));
        let slow = SeekCurve::RootThenLinear { a: 1e-3, b: 1e-6, c: 1.0, e: 1e-9, border: 50.0 };
        assert!(slow.check(10_000).unwrap_err().to_string().contains("0.2 s"));
    }
}
