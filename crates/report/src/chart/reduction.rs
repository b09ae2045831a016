//! A million measurements on a thousand columns keep their lowest and highest values, so that no peak or valley is lost.

use super::{Axis, Stretch};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Column {
    pub index: usize,
    pub low: f64,
    pub high: f64,
}

/// The columns that have measurements, from left to right. A measurement belongs to every column that it touches.
pub(super) fn columns<'stretch>(
    stretches: impl Iterator<Item = &'stretch Stretch>,
    x: &Axis,
    count: usize,
) -> Vec<Column> {
    let mut columns: Vec<Option<Column>> = vec![None; count];
    for stretch in stretches {
        if !stretch.value.is_finite() {
            continue;
        }
        let first = ((x.share(stretch.first) * count as f64) as usize).min(count.saturating_sub(1));
        // The end is not part of it, so a stretch that ends where a column begins is not in that.
        let last =
            ((x.share(stretch.end) * count as f64).ceil() as usize).clamp(first + 1, count.max(first + 1));
        for (offset, column) in columns[first.min(count)..last.min(count)].iter_mut().enumerate() {
            let all = column.get_or_insert(Column {
                index: first + offset,
                low: stretch.value,
                high: stretch.value,
            });
            all.low = all.low.min(stretch.value);
            all.high = all.high.max(stretch.value);
        }
    }
    columns.into_iter().flatten().collect()
}

pub(crate) struct Extremes {
    columns: Vec<Option<(Numbered, Numbered)>>,
    added: usize,
}

/// A measurement and how many were added before it: of two at one place the first stays the first.
type Numbered = (Stretch, usize);

impl Extremes {
    pub(crate) fn new(count: usize) -> Extremes {
        assert!(count > 0, "measurements need a column");
        Extremes { columns: vec![None; count], added: 0 }
    }

    pub(super) fn count(&self) -> usize {
        self.columns.len()
    }

    /// `share` is where on all of the width the measurement begins.
    pub(crate) fn add(&mut self, share: f64, stretch: Stretch) {
        let index = ((share * self.columns.len() as f64) as usize).min(self.columns.len() - 1);
        let one = (stretch, self.added);
        self.added += 1;
        let (low, high) = self.columns[index].get_or_insert((one, one));
        if stretch.value < low.0.value {
            *low = one;
        }
        if stretch.value > high.0.value {
            *high = one;
        }
    }

    pub(crate) fn kept(self) -> Vec<Stretch> {
        let mut kept = Vec::new();
        for (low, high) in self.columns.into_iter().flatten() {
            let is_low_first = low.0.first.total_cmp(&high.0.first).then(low.1.cmp(&high.1)).is_le();
            let (first, second) = if is_low_first { (low, high) } else { (high, low) };
            kept.push(first.0);
            if second != first {
                kept.push(second.0);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis() -> Axis {
        Axis::of_positions(100.0, false)
    }

    #[test]
    fn a_column_keeps_its_lowest_and_highest() {
        let at = |first: f64, end: f64, value: f64| Stretch { first, end, value };
        let stretches = [
            at(0.0, 1.0, 5.0),
            at(2.0, 3.0, 1.0),
            at(4.0, 5.0, 9.0),
            at(60.0, 80.0, 2.0),
            at(100.0, 100.0, 7.0),
        ];
        assert_eq!(
            columns(stretches.iter(), &axis(), 10),
            [
                Column { index: 0, low: 1.0, high: 9.0 },
                Column { index: 6, low: 2.0, high: 2.0 },
                Column { index: 7, low: 2.0, high: 2.0 },
                Column { index: 9, low: 7.0, high: 7.0 },
            ]
        );
    }

    proptest! {
        #[test]
        fn no_peak_and_no_valley_is_lost(values in prop::collection::vec((0.0f64..100.0, 0.0f64..3.0, 0.0f64..1e9), 1..300), count in 1usize..200) {
            let stretches: Vec<Stretch> =
                values.iter().map(|&(first, bytes, value)| Stretch { first, end: first + bytes, value }).collect();
            let columns = columns(stretches.iter(), &axis(), count);
            for stretch in &stretches {
                let index = ((stretch.first / 100.0 * count as f64) as usize).min(count - 1);
                let column = columns.iter().find(|column| column.index == index).unwrap();
                prop_assert!(column.low <= stretch.value && stretch.value <= column.high);
            }
            for column in &columns {
                prop_assert!(stretches.iter().any(|stretch| stretch.value == column.low));
                prop_assert!(stretches.iter().any(|stretch| stretch.value == column.high));
            }
        }
    }
}
