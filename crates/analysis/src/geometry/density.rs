//! Where cylinders lie over the bytes of a disk: a track of few sectors is as wide as one of many.

use super::TrackCount;

/// Parts of the range that each have a mean density.
const PARTS: usize = 24;

#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    first: u64,
    bytes: u64,
    /// At the borders of the parts, from 0 to 1.
    shares: Vec<f64>,
    turns_per_sector: Vec<f64>,
}

impl Density {
    /// Of a range in which every place holds the same: until more is known.
    pub fn even(first: u64, bytes: u64) -> Density {
        Density::of(first, bytes, &[])
    }

    /// Of a range, by what probes found. Surfaces differ by some percent, so neighbouring probes are averaged; parts without a
    /// probe take the mean of their neighbours.
    pub fn of(first: u64, bytes: u64, counts: &[TrackCount]) -> Density {
        let mut sums = vec![(0.0, 0.0); PARTS];
        for count in counts {
            let share = (count.offset.saturating_sub(first)) as f64 / bytes.max(1) as f64;
            let part = ((share * PARTS as f64) as usize).min(PARTS - 1);
            sums[part].0 += 1.0 / count.sectors;
            sums[part].1 += 1.0;
        }
        let mut known = Vec::with_capacity(PARTS);
        for (sum, count) in sums {
            known.push(if count > 0.0 { Some(sum / count) } else { None });
        }
        let turns_per_sector: Vec<f64> = (0..PARTS).map(|part| filled(&known, part)).collect();
        let total: f64 = turns_per_sector.iter().sum();
        let mut shares = vec![0.0];
        for turns in &turns_per_sector {
            shares.push(shares[shares.len() - 1] + turns / total);
        }
        Density { first, bytes, shares, turns_per_sector }
    }

    pub fn share(&self, offset: u64) -> f64 {
        let (part, within) = self.part_of(offset);
        self.shares[part] + (self.shares[part + 1] - self.shares[part]) * within
    }

    /// The turns that a sector near a byte takes to pass; none where nothing is known of tracks.
    pub fn turns_per_sector(&self, offset: u64) -> Option<f64> {
        let turns = self.turns_per_sector[self.part_of(offset).0];
        (turns < 1.0).then_some(turns)
    }

    fn part_of(&self, offset: u64) -> (usize, f64) {
        let at = offset.saturating_sub(self.first) as f64 / self.bytes.max(1) as f64 * PARTS as f64;
        let part = (at as usize).min(PARTS - 1);
        (part, (at - part as f64).clamp(0.0, 1.0))
    }
}

/// What is known of a part, or of its nearest neighbours on both sides; 1 where nothing is known at all.
fn filled(known: &[Option<f64>], part: usize) -> f64 {
    let before = known[..=part].iter().rev().find_map(|value| *value);
    let after = known[part..].iter().find_map(|value| *value);
    match (before, after) {
        (Some(before), Some(after)) => (before + after) / 2.0,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(offset: u64, sectors: f64) -> TrackCount {
        TrackCount { offset, last_offset: offset, sectors, range: (sectors, sectors), borders: Vec::new() }
    }

    #[test]
    fn half_as_dense_is_twice_as_wide() {
        let counts: Vec<TrackCount> =
            (0..240).map(|index| count(index * 10, if index < 120 { 400.0 } else { 200.0 })).collect();
        let density = Density::of(0, 2400, &counts);
        assert!((density.share(1200) - 1.0 / 3.0).abs() < 1e-12);
        assert!((density.share(600) - 1.0 / 6.0).abs() < 1e-12);
        assert!((density.share(2400) - 1.0).abs() < 1e-12);
        assert!(density.turns_per_sector(0).is_some_and(|turns| (turns - 1.0 / 400.0).abs() < 1e-12));
        assert!((Density::even(0, 100).share(25) - 0.25).abs() < 1e-12);
        assert_eq!(Density::even(0, 100).turns_per_sector(25), None);
    }
}
