//! The part of the flash that is written with one bit per cell: how much of a write it takes, and how fast.
//! ```text
//!            room in the cache      none, free space left     none, no free space
//! direct     SLC rate               dense rate                dense rate and folding
//! fold       SLC rate               SLC rate and folding      SLC rate and more folding
//! ```
//!
//! What lies in the dynamic part takes `bits` times its size of the space that dense data would take, so the space that
//! is free is: capacity − what is mapped + what lies in the static part − (bits − 1) × what lies in the dynamic part.
//! That gives the dynamic part its size d = (free − reserve) / bits, makes it shrink as the drive fills, and makes a third
//! level where the free space ends: then 1 / (bits − 1) bytes must be folded for each new one.

use crate::flash::profile::{SlcProfile, WhenFull};

/// Bytes per second at which the flash can be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteRates {
    pub dense: f64,
    pub slc: f64,
    pub fold: f64,
}

/// Room smaller than this is none, in bytes: it is the rounding of sums of billions.
const NOTHING: f64 = 1.0;

#[derive(Clone, Debug)]
pub(crate) struct SlcCache {
    profile: SlcProfile,
    rates: WriteRates,
    capacity: f64,
    in_static: f64,
    in_dynamic: f64,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    bytes: f64,
    seconds_per_byte: f64,
    /// What each of them adds to the static and the dynamic part.
    to_static: f64,
    to_dynamic: f64,
}

impl SlcCache {
    pub(crate) fn new(profile: SlcProfile, rates: WriteRates, capacity: f64) -> SlcCache {
        SlcCache { profile, rates, capacity, in_static: 0.0, in_dynamic: 0.0 }
    }

    /// The seconds to write `bytes`, the share `new_share` of them not mapped before, to a drive that maps `mapped`.
    pub(crate) fn write(&mut self, bytes: f64, new_share: f64, mapped: f64) -> f64 {
        let (mut left, mut mapped, mut seconds) = (bytes, mapped, 0.0);
        while left > 0.0 {
            let stretch = self.stretch(new_share, mapped);
            let now = left.min(stretch.bytes);
            seconds += now * stretch.seconds_per_byte;
            self.in_static = (self.in_static + now * stretch.to_static).max(0.0);
            self.in_dynamic = (self.in_dynamic + now * stretch.to_dynamic).max(0.0);
            mapped += now * new_share;
            left -= now;
        }
        seconds
    }

    pub(crate) fn fold_idle(&mut self, seconds: f64) {
        let bytes = seconds * self.profile.idle_fold_mb_per_s * 1e6;
        let from_dynamic = bytes.min(self.in_dynamic);
        self.in_dynamic -= from_dynamic;
        self.in_static = (self.in_static - (bytes - from_dynamic)).max(0.0);
    }

    pub(crate) fn trim(&mut self, bytes: f64, mapped_before: f64) {
        let left = if mapped_before > bytes { 1.0 - bytes / mapped_before } else { 0.0 };
        self.in_static *= left;
        self.in_dynamic *= left;
    }

    fn stretch(&self, new_share: f64, mapped: f64) -> Stretch {
        let grows = (self.profile.bits - 1) as f64;
        let net = (1.0 - self.profile.drain_while_writing_mb_per_s * 1e6 / self.rates.slc).max(0.0);
        let slc =
            Stretch { bytes: 0.0, seconds_per_byte: 1.0 / self.rates.slc, to_static: 0.0, to_dynamic: 0.0 };
        let static_room = self.profile.static_bytes as f64 - self.in_static;
        if static_room > NOTHING {
            return Stretch { bytes: static_room / net, to_static: net, ..slc };
        }
        let free = self.capacity - mapped + self.in_static
            - grows * self.in_dynamic
            - self.profile.reserve_bytes as f64;
        let dynamic_room = self.profile.dynamic_bytes_max as f64 - self.in_dynamic;
        if dynamic_room > NOTHING && free > NOTHING {
            let bytes = (dynamic_room / net).min(free / (new_share + grows * net));
            return Stretch { bytes, to_dynamic: net, ..slc };
        }
        self.stretch_when_full(new_share, free, new_share / grows)
    }

    /// `folds` bytes are folded for each byte of the host when no space is free.
    fn stretch_when_full(&self, new_share: f64, free: f64, folds: f64) -> Stretch {
        let (past, fold_s) = (1.0 / self.rates.dense, 1.0 / self.rates.fold);
        let base_s = match self.profile.when_full {
            WhenFull::Direct => past,
            WhenFull::Fold if self.in_static + self.in_dynamic > NOTHING => 1.0 / self.rates.slc + fold_s,
            WhenFull::Fold => past,
        };
        let steady =
            Stretch { bytes: f64::INFINITY, seconds_per_byte: base_s, to_static: 0.0, to_dynamic: 0.0 };
        if free > NOTHING {
            Stretch { bytes: free / new_share, ..steady }
        } else if self.in_dynamic > NOTHING && folds > 0.0 {
            let bytes = self.in_dynamic / folds;
            Stretch { bytes, seconds_per_byte: base_s + folds * fold_s, to_dynamic: -folds, ..steady }
        } else {
            steady
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GB: f64 = 1e9;

    fn profile() -> SlcProfile {
        SlcProfile {
            bits: 3,
            static_bytes: 0,
            dynamic_bytes_max: 280_000_000_000,
            reserve_bytes: 140_000_000_000,
            program_us: 200.0,
            when_full: WhenFull::Direct,
            fold_mb_per_s: 590.0,
            drain_while_writing_mb_per_s: 0.0,
            idle_fold_mb_per_s: 1000.0,
            idle_s: 1.0,
        }
    }

    const RATES: WriteRates = WriteRates { dense: 2.5e9, slc: 5e9, fold: 590e6 };

    /// The rate over each GB of a fill in GB/s.
    fn fill(cache: &mut SlcCache, gigabytes: u32) -> Vec<f64> {
        (0..gigabytes).map(|written| 1.0 / cache.write(GB, 1.0, f64::from(written) * GB)).collect()
    }

    /// An NM790 of 2 TB as measured: 5 GB/s to 280 GB, 2.5 to 1300 GB, then 0.8. The third level's place follows from
    /// the space: 2000 − 140 − 2 · 280 = 1300 GB.
    #[test]
    fn three_levels_follow_from_the_space() {
        let mut cache = SlcCache::new(profile(), RATES, 2000.0 * GB);
        let rates = fill(&mut cache, 1800);
        assert!((rates[0] - 5.0).abs() < 1e-9 && (rates[279] - 5.0).abs() < 1e-9);
        assert!((rates[280] - 2.5).abs() < 1e-9 && (rates[1299] - 2.5).abs() < 1e-9);
        // 1 / (1/2.5 + 1/(2 · 0.59)) = 0.8017
        assert!(
            (rates[1300] - 0.8017).abs() < 1e-3 && (rates[1799] - 0.8017).abs() < 1e-3,
            "{}",
            rates[1300]
        );
    }

    #[test]
    fn a_static_cache_fills_by_what_is_not_drained() {
        let fixed = SlcProfile {
            static_bytes: 7_000_000_000,
            dynamic_bytes_max: 0,
            drain_while_writing_mb_per_s: 100.0,
            ..profile()
        };
        let rates = WriteRates { dense: 230e6, slc: 400e6, fold: 1e9 };
        let mut cache = SlcCache::new(fixed, rates, 500.0 * GB);
        // 7 GB · 400 / (400 − 100) = 9.33 GB; it takes 23.33 s, and the GB after it 4.35 s.
        assert!((cache.write(9.0 * GB, 1.0, 0.0) - 22.5).abs() < 1e-6);
        let last = cache.write(1.0 / 3.0 * GB, 1.0, 9.0 * GB) + cache.write(GB, 0.0, 10.0 * GB);
        assert!((last - 0.8333 - 4.3478).abs() < 1e-3, "{last}");
        cache.fold_idle(2.0);
        // 2 s at 1000 MB/s made room for 2 GB again.
        assert!((1.0 / cache.write(2.0 * GB, 0.0, 11.0 * GB) - 0.2).abs() < 1e-6);
    }

    #[test]
    fn the_dynamic_part_shrinks_as_the_drive_fills() {
        let mut cache = SlcCache::new(profile(), RATES, 2000.0 * GB);
        // 1400 GB are mapped: (2000 − 1400 − 140) / 3 = 153.3 GB of cache.
        assert!((cache.write(153.3 * GB, 1.0, 1400.0 * GB) - 153.3 / 5.0).abs() < 1e-6);
        let next = cache.write(GB, 1.0, 1553.4 * GB);
        assert!(next > 1.0, "{next}");
    }

    #[test]
    fn folding_before_each_write() {
        let fold = SlcProfile {
            static_bytes: 6_000_000_000,
            dynamic_bytes_max: 0,
            when_full: WhenFull::Fold,
            ..profile()
        };
        let mut cache = SlcCache::new(fold, RATES, 2000.0 * GB);
        assert!((cache.write(6.0 * GB, 0.0, 0.0) - 1.2).abs() < 1e-9);
        assert!((cache.write(GB, 0.0, 0.0) - (0.2 + 1.0 / 0.59)).abs() < 1e-6);
        cache.trim(10.0 * GB, 10.0 * GB);
        assert!((cache.write(6.0 * GB, 0.0, 0.0) - 1.2).abs() < 1e-9);
    }

    proptest! {
        /// It ends, what lies in it is never negative or more than there is room for, and a fast cache never slows.
        #[test]
        fn it_never_overflows(
            bits in 2u32..5,
            fixed in 0u64..100,
            dynamic in 0u64..200,
            reserve in 0u64..200,
            fold in any::<bool>(),
            drain in 0.0f64..6000.0,
            writes in prop::collection::vec((0.0f64..300.0, 0.0f64..=1.0), 1..40),
        ) {
            let profile = SlcProfile {
                bits,
                static_bytes: fixed * 1_000_000_000,
                dynamic_bytes_max: dynamic * 1_000_000_000,
                reserve_bytes: reserve * 1_000_000_000,
                drain_while_writing_mb_per_s: drain,
                when_full: if fold { WhenFull::Fold } else { WhenFull::Direct },
                ..profile()
            };
            let mut cache = SlcCache::new(profile, RATES, 1000.0 * GB);
            let mut mapped = 0.0;
            for (gigabytes, share) in writes {
                let new_share = share.min((1000.0 * GB - mapped) / (gigabytes * GB + 1.0));
                let seconds = cache.write(gigabytes * GB, new_share, mapped);
                mapped += gigabytes * GB * new_share;
                prop_assert!(seconds >= gigabytes / 5.0 - 1e-6 && seconds.is_finite());
                prop_assert!(cache.in_static >= 0.0 && cache.in_static <= fixed as f64 * GB + 2.0);
                prop_assert!(cache.in_dynamic >= 0.0 && cache.in_dynamic <= dynamic as f64 * GB + 2.0);
                let room = (1000.0 - reserve as f64) * GB / f64::from(bits);
                prop_assert!(cache.in_dynamic <= room.max(0.0) + cache.in_static + 2.0);
            }
        }
    }
}
