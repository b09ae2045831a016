//! How long cleaning takes a disk that cleans the band of its oldest entry first.
//!
//! Each cleaning takes all entries of a band away, wherever they are in the log. Let u writes lie behind the oldest entry that is left and
//! h be all writes until now. A band of which a share q of the writes is has not been cleaned before with the chance e^(−u·q), so that
//! e^(−u·q) cleanings come for each entry that the end of the log moves on, and each of them takes that entry away and what its band got
//! since: 1 + (h − u)·q. That is more than a round wins. But the log is a ring, and h − u cannot be more than it holds: from there on as
//! much is written as its end moves on.
//!
//! That holds until all that was written before the cliff is gone. In the long run a band is cleaned A writes after the first one to it,
//! so that a cleaning takes 1 + A/N away, with N bands. Where the ring is short A is what it holds. Where entries are, x = A/N makes the
//! share x/(1 + x) of the bands dirty with 1 + x/2 entries on average, so that L entries for each band make x = L − 1 + √(1 + L²).

use crate::smr::most_dirty::SizeClass;

/// Steps of the sum over what was written before the cliff.
const STEPS: u32 = 4000;

#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub entries: f64,
    pub log: f64,
}

pub fn cleaning_s(classes: &[SizeClass], room: Room, writes: f64) -> f64 {
    let slots: f64 = classes.iter().map(|class| class.bands * class.slots).sum();
    let bands: f64 = classes.iter().map(|class| class.bands).sum();
    let full = room.entries.min(room.log);
    // What falls on a place that is listed already takes no entry.
    let new_share = 1.0 - full / slots;
    let step = full / f64::from(STEPS);
    let (mut written, mut seconds, mut listed) = (0.0, 0.0, full);
    for number in 0..STEPS {
        let oldest = (f64::from(number) + 0.5) * step;
        let (mut taken_away, mut step_s) = (0.0, 0.0);
        for class in classes {
            let share = class.slots / slots;
            let cleaned = class.bands * share * (-oldest * share).exp() * step;
            taken_away += cleaned * (1.0 + (full + written - oldest) * share);
            step_s += cleaned * class.clean_s;
        }
        let in_ring = room.log + oldest + 0.5 * step - full - written;
        let next = ((room.entries - listed + taken_away) / new_share).min(in_ring);
        if written + next >= writes {
            return seconds + step_s * (writes - written) / next;
        }
        listed += next * new_share - taken_away;
        (written, seconds) = (written + next, seconds + step_s);
    }
    let each = room.entries / bands;
    let until_cleaned = (each - 1.0 + (1.0 + each * each).sqrt()).min(room.log / bands);
    let mean_s = classes.iter().map(|class| class.bands * class.clean_s).sum::<f64>() / bands;
    seconds + (writes - written) * new_share / (1.0 + until_cleaned) * mean_s
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10,000 bands with two entries each on average: the oldest entry's band has two others, so that a cleaning wins room for three.
    #[test]
    fn the_first_bands_win_more_than_the_mean_band() {
        let classes = [SizeClass { bands: 10_000.0, slots: 200.0, clean_s: 1.0 }];
        let seconds = cleaning_s(&classes, Room { entries: 20_000.0, log: 1e6 }, 300.0);
        assert!((seconds - 99.0).abs() < 1.0, "{seconds} s for 300 writes");
    }

    /// Half of a band has an entry in the long run with L = 0.75: x/(1 + x)·(1 + x/2) = 0.75 for x = 1.
    #[test]
    fn in_the_long_run_a_band_waits_for_its_first_entry() {
        let classes = [SizeClass { bands: 10_000.0, slots: 20_000.0, clean_s: 1.0 }];
        let room = Room { entries: 7_500.0, log: 1e6 };
        let long = cleaning_s(&classes, room, 2e6) - cleaning_s(&classes, room, 1e6);
        assert!((long / 500_000.0 - 1.0).abs() < 1e-3, "{long} s for a million writes");
    }

    /// A ring moves on by one write for each cleaning until bands come that were cleaned before: then half of a band for each, when as
    /// much was written as there are bands, times ln 2.
    #[test]
    fn a_ring_wins_what_its_end_moves_on() {
        let classes = [SizeClass { bands: 10_000.0, slots: 20_000.0, clean_s: 1.0 }];
        let room = Room { entries: 1e6, log: 20_000.0 };
        let first = cleaning_s(&classes, room, 100.0);
        assert!((first - 100.0).abs() < 1.0, "{first} s for 100 writes");
        let half = cleaning_s(&classes, room, 6931.0);
        assert!((half / 5000.0 - 1.0).abs() < 0.01, "{half} s for 6931 writes");
    }
}
