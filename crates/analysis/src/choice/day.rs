//! How long a day's writes take on a drive of which a few rates are known, and what would keep them from falling.
//!
//! The drive is a tank: random writes fill a fast area of so many bytes at one rate; when it is full they go at another;
//! and pauses empty it. Where writes in order pass it by, as on a shingled disk, only random ones count.

use super::drive::DriveWrites;
use super::unknown::WritesUnknown;
use model::estimate::Estimate;
use model::units::Bytes;

pub const DAY_S: f64 = 86_400.0;
/// Days of these writes before the one that is told of: what the pauses do not give back adds up.
pub const DAYS_BEFORE: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DayOfWrites {
    pub daily: Bytes,
    pub burst: Bytes,
    pub random_share: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DayTime {
    pub busy_s: Estimate,
    pub burst_s: Estimate,
    pub falls: bool,
    /// The pause between bursts after which they would not fall, s; none where no pause helps or none is needed.
    pub pause_needed_s: Option<Estimate>,
}

impl DayOfWrites {
    pub fn bursts(&self) -> u64 {
        if self.burst.get() == 0 { 1 } else { self.daily.get().div_ceil(self.burst.get()).max(1) }
    }

    pub fn burst_bytes(&self) -> f64 {
        self.daily.as_f64() / self.bursts() as f64
    }

    pub fn on(&self, drive: &DriveWrites) -> Result<DayTime, WritesUnknown> {
        let middle = self.with(drive, |estimate| estimate.value)?;
        let quick = self.with(drive, |estimate| estimate.high)?;
        let slow = self.with(drive, |estimate| estimate.low)?;
        let confidence = drive.confidence();
        let range = |value, low, high| Estimate { value, low, high, confidence, ..Estimate::exact(0.0) };
        let has_pause = middle.falls && middle.pause_s.is_finite();
        Ok(DayTime {
            busy_s: range(middle.busy_s, quick.busy_s, slow.busy_s),
            burst_s: range(middle.burst_s, quick.burst_s, slow.burst_s),
            falls: middle.falls,
            pause_needed_s: has_pause.then_some(range(middle.pause_s, quick.pause_s, slow.pause_s)),
        })
    }

    fn with(&self, drive: &DriveWrites, pick: fn(&Estimate) -> f64) -> Result<Passed, WritesUnknown> {
        let random_bytes = self.burst_bytes() * self.random_share;
        let in_order_s = match self.burst_bytes() - random_bytes {
            bytes if bytes < 1.0 => 0.0,
            bytes => bytes / pick(&drive.in_order?),
        };
        if random_bytes < 1.0 {
            return Ok(Passed::even(in_order_s, self.bursts()));
        }
        let random = drive.at_random.as_ref().map_err(|unknown| *unknown)?;
        let before = pick(&random.before);
        let Some(fall) = &random.fall else {
            return Ok(Passed::even(in_order_s + random_bytes / before, self.bursts()));
        };
        let (room, after) = (pick(&fall.bytes), pick(&fall.after));
        let regained = random.regained.as_ref().map_or(0.0, pick);
        let mut passed = Passed { pause_s: pause_s(random_bytes, room, regained), ..Passed::default() };
        let mut free = room;
        let spacing_s = DAY_S / self.bursts() as f64;
        for number in 0..self.bursts() * (DAYS_BEFORE + 1) {
            if number == self.bursts() * DAYS_BEFORE {
                passed = Passed { pause_s: passed.pause_s, ..Passed::default() };
            }
            let fast = random_bytes.min(free);
            let slow = random_bytes - fast;
            let burst_s = in_order_s + fast / before + slow / after;
            passed.falls |= slow > 0.0;
            passed.busy_s += burst_s;
            passed.burst_s = passed.burst_s.max(burst_s);
            free = (free - fast + regained * (spacing_s - burst_s).max(0.0)).min(room);
        }
        Ok(passed)
    }
}

/// The pause that regains a burst's random bytes; endless where one exceeds the room, or nothing is regained.
fn pause_s(random_bytes: f64, room: f64, regained: f64) -> f64 {
    if random_bytes > room || regained <= 0.0 { f64::INFINITY } else { random_bytes / regained }
}

#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    busy_s: f64,
    burst_s: f64,
    falls: bool,
    pause_s: f64,
}

impl Passed {
    fn even(burst_s: f64, bursts: u64) -> Passed {
        Passed { busy_s: burst_s * bursts as f64, burst_s, falls: false, pause_s: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::drive::{AtRandom, Fall};
    use super::*;

    fn shingled() -> DriveWrites {
        DriveWrites {
            kind: Some("smr".into()),
            in_order: Ok(Estimate::exact(150e6)),
            at_random: Ok(AtRandom {
                before: Estimate::exact(15e6),
                fall: Some(Fall { bytes: Estimate::exact(23e9), after: Estimate::exact(0.6e6) }),
                regained: Some(Estimate::exact(0.4e6)),
            }),
        }
    }

    fn day(daily_gb: u64, burst_gb: u64, random_share: f64) -> DayOfWrites {
        DayOfWrites {
            daily: Bytes::new(daily_gb * 1_000_000_000),
            burst: Bytes::new(burst_gb * 1_000_000_000),
            random_share,
        }
    }

    #[test]
    fn within_the_cache_a_burst_is_fast() {
        // 10 GB in order at 150 MB/s, 10 GB at random at 15 MB/s.
        let time = day(20, 20, 0.5).on(&shingled()).unwrap();
        assert!((time.busy_s.value - (66.67 + 666.67)).abs() < 0.1, "{time:?}");
        assert!(!time.falls && time.pause_needed_s.is_none());
    }

    #[test]
    fn past_the_cache_it_crawls() {
        // 23 GB at 15 MB/s, and 7 GB at 0.6 MB/s; what is left of the day gives all of the cache back.
        let time = day(30, 30, 1.0).on(&shingled()).unwrap();
        assert!((time.busy_s.value - (1533.3 + 11_666.7)).abs() < 1.0, "{time:?}");
        assert!(time.falls && time.pause_needed_s.is_none(), "one burst is more than its cache");
    }

    #[test]
    fn a_pause_is_named_where_one_helps() {
        // Four bursts of 10 GB; in six hours but 667 s, 8.37 GB of the cache are regained, so that the free room shrinks by
        // 1.6 GB each time: a cache of 23 GB bears that for two days, and falls on the third.
        assert!(!day(30, 10, 1.0).on(&shingled()).unwrap().falls, "10 GB in eight hours are regained");
        assert!(day(40, 10, 1.0).on(&shingled()).unwrap().falls);
        // Eight bursts of 10 GB: 4.1 GB are regained between them.
        let time = day(80, 10, 1.0).on(&shingled()).unwrap();
        assert!(time.falls);
        assert!((time.pause_needed_s.unwrap().value - 25_000.0).abs() < 1.0, "10 GB at 0.4 MB/s");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut drive = shingled();
        drive.in_order = Err(WritesUnknown::InOrder);
        assert_eq!(day(20, 20, 0.5).on(&drive), Err(WritesUnknown::InOrder));
        assert!(day(20, 20, 1.0).on(&drive).is_ok(), "none are in order");
    }

    #[test]
    fn a_burst_larger_than_the_day_is_the_day() {
        assert_eq!(day(10, 40, 1.0).bursts(), 1);
        assert_eq!(day(60, 40, 0.2).bursts(), 2);
        assert_eq!(day(60, 40, 0.2).burst_bytes(), 30e9);
    }
}
