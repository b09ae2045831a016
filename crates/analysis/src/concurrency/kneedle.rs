//! Where a curve that rises ever more slowly bends most, seen as it is drawn: both axes stretched to the same length, the point
//! farthest above the straight line from the first point to the last (Satopää, Albrecht, Irwin and Raghavan, "Finding a
//! 'Kneedle' in a haystack", ICDCS Workshops 2011, sensitivity 1).

/// The number at the sharpest bend of (number at a time, throughput) over the logarithm of the number; none where the curve
/// is a straight line or bends the other way, and with fewer than three points.
pub(crate) fn sharpest_bend(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let least = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    if points.len() < 3 || most <= least {
        return None;
    }
    let across = |number: f64| (number.ln() - first.0.ln()) / (last.0.ln() - first.0.ln());
    let above: Vec<f64> = points
        .iter()
        .map(|&(number, throughput)| (throughput - least) / (most - least) - across(number))
        .collect();
    // The threshold of the method: a maximum counts if the curve then comes back towards the line by a mean step.
    let mean_step = 1.0 / (points.len() - 1) as f64;
    let top = (0..points.len()).max_by(|&a, &b| above[a].total_cmp(&above[b]))?;
    let comes_back = above[top..].iter().any(|&later| later < above[top] - mean_step);
    (above[top] > 0.0 && comes_back).then_some(points[top].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corner_of_a_curve_that_stops_rising() {
        let points = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
        let limited = points.map(|number: f64| (number, number.ln().min(8f64.ln())));
        assert_eq!(sharpest_bend(&limited), Some(8.0));
    }

    #[test]
    fn a_line_and_what_is_flat_have_none() {
        let points = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(sharpest_bend(&points.map(|number: f64| (number, number.ln()))), None);
        assert_eq!(sharpest_bend(&points.map(|number| (number, 100.0))), None);
        assert_eq!(sharpest_bend(&points.map(|number| (number, number))), None);
        assert_eq!(sharpest_bend(&[(1.0, 1.0), (2.0, 5.0)]), None);
    }
}
