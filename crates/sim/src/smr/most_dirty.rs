//! How long cleaning takes a disk that cleans the most dirty band first, worked out from how many bands have how many dirty slots.
//!
//! Random writes fill bands unevenly: with 2 slots dirty in a band on average, of 10,000 bands the most dirty have 9. So the first
//! cleanings after the cliff make four times as much room as the mean band would, and a disk that cleans this way is far
//! quicker just after its cliff than one that goes round. The numbers of bands with n dirty slots begin as a binomial distribution
//! and then follow from what is cleaned and written: an expectation, no drive is run.

/// Bands of one size. Where several classes have bands that are as dirty, the first is cleaned first.
pub struct SizeClass {
    pub bands: f64,
    pub slots: f64,
    pub clean_s: f64,
}

/// After so many rounds cleaning goes on as in the last.
const ROUNDS_MAX: f64 = 3.0;
/// Bands that are cleaned in one step, as a part of those cleaned before: the distribution hardly changes meanwhile.
const STEP_PART: f64 = 200.0;
/// Numbers of dirty slots that fewer bands than this have are left out.
const BANDS_MIN: f64 = 1e-6;

struct DirtySlots<'class> {
    classes: &'class [SizeClass],
    /// For each class, by the number of dirty slots, how many bands have so many.
    bands: Vec<Vec<f64>>,
}

#[derive(Clone, Copy, Default)]
struct Cleaned {
    slots: f64,
    seconds: f64,
}

/// Seconds of cleaning while so many slots are written after the cliff, of all slots this share being dirty then and later.
pub fn cleaning_s(classes: &[SizeClass], dirty_share: f64, written_slots: f64) -> f64 {
    let bands: f64 = classes.iter().map(|class| class.bands).sum();
    let mut dirty = DirtySlots::at_the_cliff(classes, dirty_share);
    let (mut written, mut seconds, mut cleaned_bands) = (0.0, 0.0, 0.0);
    let mut round = (0.0, 0.0);
    while cleaned_bands < ROUNDS_MAX * bands {
        if cleaned_bands < (ROUNDS_MAX - 1.0) * bands {
            round = (written, seconds);
        }
        let step = f64::max(1.0, (cleaned_bands / STEP_PART).floor());
        let cleaned = dirty.clean(step);
        if cleaned.slots <= 0.0 {
            break;
        }
        // What falls on a slot that is dirty already takes no room.
        let writes = cleaned.slots / (1.0 - dirty_share);
        if written + writes >= written_slots {
            return seconds + cleaned.seconds * (written_slots - written) / writes;
        }
        (written, seconds) = (written + writes, seconds + cleaned.seconds);
        cleaned_bands += step;
        dirty.write(cleaned.slots);
    }
    let (written_before, seconds_before) = round;
    let rate = (seconds - seconds_before) / (written - written_before).max(1.0);
    seconds + rate * (written_slots - written)
}

impl<'class> DirtySlots<'class> {
    fn at_the_cliff(classes: &'class [SizeClass], dirty_share: f64) -> DirtySlots<'class> {
        DirtySlots { classes, bands: classes.iter().map(|class| binomial(class, dirty_share)).collect() }
    }

    fn clean(&mut self, bands: f64) -> Cleaned {
        let most = self.bands.iter().map(Vec::len).max().unwrap_or(0);
        let (mut left, mut cleaned) = (bands, Cleaned::default());
        for slots in (1..most).rev() {
            for (class, bands) in self.classes.iter().zip(&mut self.bands) {
                let Some(here) = bands.get_mut(slots) else { continue };
                let taken = here.min(left);
                *here -= taken;
                bands[0] += taken;
                left -= taken;
                cleaned.slots += taken * slots as f64;
                cleaned.seconds += taken * class.clean_s;
            }
            if left <= 0.0 {
                break;
            }
        }
        cleaned
    }

    fn write(&mut self, slots: f64) {
        let clean: f64 =
            self.classes.iter().zip(&self.bands).map(|(class, bands)| clean_slots(class, bands)).sum();
        let share = (slots / clean).min(1.0);
        for (class, bands) in self.classes.iter().zip(&mut self.bands) {
            if bands.last().is_some_and(|most| *most > BANDS_MIN) && (bands.len() as f64) <= class.slots {
                bands.push(0.0);
            }
            for dirty in (0..bands.len() - 1).rev() {
                let written = bands[dirty] * (share * (class.slots - dirty as f64)).clamp(0.0, 1.0);
                bands[dirty] -= written;
                bands[dirty + 1] += written;
            }
        }
    }
}

fn clean_slots(class: &SizeClass, bands: &[f64]) -> f64 {
    bands.iter().enumerate().map(|(dirty, bands)| bands * (class.slots - dirty as f64).max(0.0)).sum()
}

/// How many bands of a class have 0, 1, 2 … dirty slots when each slot is dirty with that chance.
fn binomial(class: &SizeClass, chance: f64) -> Vec<f64> {
    let mut logarithm = class.slots * (-chance).ln_1p();
    let mut bands = Vec::new();
    for dirty in 0..=class.slots as u32 {
        let here = class.bands * logarithm.exp();
        if f64::from(dirty) > class.slots * chance && here < BANDS_MIN {
            break;
        }
        bands.push(here);
        let clean = class.slots - f64::from(dirty);
        logarithm +=
            (clean / f64::from(dirty + 1)).max(f64::MIN_POSITIVE).ln() + (chance / (1.0 - chance)).ln();
    }
    bands.push(0.0);
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binomial_distribution_has_its_mean() {
        let class = SizeClass { bands: 1000.0, slots: 270.0, clean_s: 1.0 };
        for chance in [0.001, 0.01, 0.3, 0.9] {
            let bands = binomial(&class, chance);
            let all: f64 = bands.iter().sum();
            let dirty: f64 = bands.iter().enumerate().map(|(dirty, bands)| dirty as f64 * bands).sum();
            assert!((all - 1000.0).abs() < 0.01, "{chance}: {all} bands");
            assert!((dirty / 1000.0 - 270.0 * chance).abs() < 0.01, "{chance}: {dirty} dirty slots");
        }
    }

    #[test]
    fn where_each_band_is_as_dirty_as_the_mean_the_order_does_not_matter() {
        // 10,000 slots in a band, half of them dirty: no band differs from the mean by more than some percent.
        let classes = [SizeClass { bands: 100.0, slots: 10_000.0, clean_s: 2.0 }];
        // The first band makes room for 5000 slots, which takes 10,000 writes, as half of them fall on dirty ones.
        let seconds = cleaning_s(&classes, 0.5, 100_000.0);
        assert!((seconds - 20.0).abs() < 1.0, "{seconds} s for ten bands");
    }

    #[test]
    fn few_writes_need_no_more_than_the_most_dirty_bands() {
        // Two dirty slots of 200 on average: of 10,000 bands one has 10 or more with a chance of 4.6e-5 (Poisson), so that
        // the first cleaning makes room for about 10.
        let classes = [SizeClass { bands: 10_000.0, slots: 200.0, clean_s: 1.0 }];
        let seconds = cleaning_s(&classes, 0.01, 9.0);
        assert!((0.8..1.1).contains(&seconds), "{seconds} s for 9 slots");
    }
}
