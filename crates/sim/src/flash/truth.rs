//! What is true of a flash drive, computed from its profile in closed form.
//!
//! Rates are those of the medium. Where the link or the host is slower, the functions that need to know take what they
//! allow as a limit.

use crate::flash::layout::Layout;
use crate::flash::profile::{FlashProfile, Initial, SlcProfile, WhenFull};
use crate::flash::slc_cache::WriteRates;
use crate::flash::write_amplification::{effective_over_provisioning, greedy};
use model::units::Bytes;

/// A stretch of a write of the whole drive, with one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteLevel {
    /// What had been written when it began.
    pub from_bytes: f64,
    /// Its rate.
    pub bytes_per_second: f64,
}

impl FlashProfile {
    /// A single read of that many bytes of one page, from a drive that does nothing else, in seconds.
    pub fn access_s(&self, bytes: u64) -> f64 {
        let carried_s = bytes as f64 / (self.channel_mb_per_s * 1e6);
        (self.command_us + self.read_overhead_us + self.read_us) * 1e-6 + carried_s
    }

    /// Random reads per second of that many bytes of one page, `depth` at a time.
    ///
    /// The reads at the dies fall on them at random. Were they thrown anew each time, D·(1 − (1 − 1/D)^Q) dies would
    /// have one; since those behind another one stay where they are, fewer have. With L reads per die, of which it
    /// does one in each of its steps, the share u of dies that are busy solves L = u + u²/(2·(1 − u)) (a queue of
    /// random arrivals and constant service), for depths large against one; for few reads it is as if thrown anew. The
    /// smaller one of both is right within a few %.
    pub fn random_read_iops(&self, depth: u32, bytes: u64) -> f64 {
        let dies = f64::from(self.dies());
        let service_s = self.read_us * 1e-6 + bytes as f64 / (self.channel_mb_per_s * 1e6);
        let elsewhere_s = (self.command_us + self.read_overhead_us) * 1e-6;
        let busy = |reads: f64| {
            // One of the reads is the one that arrives: it finds the others.
            let load = (reads - 1.0).max(0.0) / dies;
            let thrown = dies * (1.0 - (1.0 - 1.0 / dies).powf(reads));
            let queued =
                dies * ((1.0 + load) - ((1.0 + load).powi(2) - 2.0 * load).sqrt()) + 1.0 - load.min(1.0);
            thrown.min(queued).min(dies)
        };
        // The reads that are not at the dies are with the controller: rate · (time there + time at the dies) = depth.
        let (mut low, mut high) = (0.0, f64::from(depth));
        for _ in 0..60 {
            let at_dies = f64::midpoint(low, high);
            let with_controller = busy(at_dies) / service_s * elsewhere_s;
            if at_dies + with_controller > f64::from(depth) { high = at_dies } else { low = at_dies }
        }
        let commands = if self.command_us > 0.0 { 1e6 / self.command_us } else { f64::INFINITY };
        (busy(low) / service_s).min(commands).min(self.channels_rate() / bytes as f64)
    }

    /// The write amplification that uniform random writes come to over the share `used` of the capacity, the rest being
    /// trimmed.
    pub fn write_amplification(&self, capacity: Bytes, used: f64) -> f64 {
        let Ok(layout) = Layout::of(self, capacity) else { return f64::NAN };
        // Two superblocks are half filled on average, and some are kept free.
        let usable = f64::from(layout.superblocks - layout.kept_free - 1) * f64::from(layout.slots);
        greedy(f64::from(layout.slots), f64::from(layout.units) * used / usable)
    }

    /// What that is by the spare space alone, in superblocks without end.
    pub fn write_amplification_limit(&self, used: f64) -> f64 {
        crate::flash::write_amplification::lambert(effective_over_provisioning(self.over_provisioning, used))
    }

    /// The rate that uniform random writes come to in the end over the share `used` of the capacity, in bytes per second
    /// of whole mapped pages.
    pub fn steady_random_write_rate(&self, capacity: Bytes, used: f64) -> f64 {
        let rates = self.write_rates();
        let moved = self.write_amplification(capacity, used) - 1.0;
        let own_s = match &self.slc {
            Some(slc) if slc.when_full == WhenFull::Fold && self.has_cache_when_full(slc, capacity, used) => {
                1.0 / rates.slc + 1.0 / rates.fold
            }
            _ => 1.0 / rates.dense,
        };
        1.0 / (own_s + moved / rates.dense)
    }

    fn has_cache_when_full(&self, slc: &SlcProfile, capacity: Bytes, used: f64) -> bool {
        let free = capacity.0 as f64 * (1.0 - used) - slc.reserve_bytes as f64;
        slc.static_bytes > 0 || (slc.dynamic_bytes_max > 0 && free > 0.0)
    }

    /// How many times faster random writes are in the end over the share `used` of the capacity than over all of it.
    pub fn clipping_effect(&self, capacity: Bytes, used: f64) -> f64 {
        self.steady_random_write_rate(capacity, used) / self.steady_random_write_rate(capacity, 1.0)
    }

    /// What uniform random writes over the share `used` of a fresh drive can write before space must be won back: the
    /// physical space, in bytes.
    pub fn bytes_before_collection(&self, capacity: Bytes) -> f64 {
        let Ok(layout) = Layout::of(self, capacity) else { return f64::NAN };
        let superblocks = f64::from(layout.superblocks - layout.kept_free - 1);
        superblocks * f64::from(layout.slots) * layout.unit_bytes() as f64
    }

    /// The rates of writing the drive once from end to end, where the host allows `limit` bytes per second: one level
    /// without an SLC cache, two or more with one. Their first bytes are where the cliffs are.
    pub fn write_levels(&self, capacity: Bytes, limit: f64) -> Vec<WriteLevel> {
        let rates = self.write_rates();
        let levels = match &self.slc {
            None => vec![(0.0, 1.0 / rates.dense)],
            Some(slc) if self.initial == Initial::Filled => levels_of_filled(slc, &rates),
            Some(slc) => levels_of_fresh(slc, &rates, capacity.0 as f64),
        };
        // A level that has no room, or begins where the drive ends, is none.
        let mut kept: Vec<WriteLevel> = Vec::new();
        for (from_bytes, seconds_per_byte) in levels {
            let level = WriteLevel { from_bytes, bytes_per_second: (1.0 / seconds_per_byte).min(limit) };
            if kept.last().is_some_and(|last| level.from_bytes - last.from_bytes < 1.0) {
                kept.pop();
            }
            let same = kept.last().is_some_and(|last| last.bytes_per_second == level.bytes_per_second);
            if level.from_bytes < capacity.0 as f64 && !same {
                kept.push(level);
            }
        }
        kept
    }

    /// What each idle second gives back of the SLC cache, in bytes, after the first `idle_s`; 0 where nothing does.
    pub fn idle_recovery(&self) -> f64 {
        self.slc.as_ref().map_or(0.0, |slc| slc.idle_fold_mb_per_s * 1e6)
    }
}

/// Where each level begins and what a byte costs in it, for a drive that is full: the only space for the dynamic part is
/// what the static part, beside the capacity, takes from the rest.
fn levels_of_filled(slc: &SlcProfile, rates: &WriteRates) -> Vec<(f64, f64)> {
    let (fixed, most) = (slc.static_bytes as f64, slc.dynamic_bytes_max as f64);
    let in_dynamic = ((fixed - slc.reserve_bytes as f64) / f64::from(slc.bits - 1)).clamp(0.0, most);
    let base_s = match slc.when_full {
        WhenFull::Fold if fixed > 0.0 => 1.0 / rates.slc + 1.0 / rates.fold,
        _ => 1.0 / rates.dense,
    };
    vec![(0.0, 1.0 / rates.slc), ((fixed + in_dynamic) / share_that_stays(slc, rates), base_s)]
}

/// Where each level begins and what a byte costs in it, for a drive that holds nothing.
fn levels_of_fresh(slc: &SlcProfile, rates: &WriteRates, capacity: f64) -> Vec<(f64, f64)> {
    let (fixed, most) = (slc.static_bytes as f64, slc.dynamic_bytes_max as f64);
    let (reserve, grows) = (slc.reserve_bytes as f64, f64::from(slc.bits - 1));
    let (past_s, fold_s) = (1.0 / rates.dense, 1.0 / rates.fold);
    let folds_first = slc.when_full == WhenFull::Fold;
    let full_s = if folds_first { 1.0 / rates.slc + fold_s } else { past_s };
    let net = share_that_stays(slc, rates);
    // Full by its size, or by the space: capacity − x + fixed − (bits − 1)·(x·net − fixed) = reserve.
    let by_size = (fixed + most) / net;
    let by_space = (capacity - reserve + fixed * (1.0 + grows)) / (1.0 + grows * net);
    let full = by_size.min(by_space.max(fixed / net));
    let in_dynamic = (full * net - fixed).max(0.0);
    let space_left = (capacity - full + fixed - grows * in_dynamic - reserve).max(0.0);
    let mut levels = vec![(0.0, 1.0 / rates.slc), (full, full_s)];
    if in_dynamic > 1.0 {
        let out_of_space = full + space_left;
        levels.push((out_of_space, full_s + fold_s / grows));
        let empty_s = if folds_first && fixed < 1.0 { past_s } else { full_s };
        levels.push((out_of_space + in_dynamic * grows, empty_s));
    }
    levels
}

/// Of each byte written into the cache so much stays while it drains; hardly anything if it drains as fast.
fn share_that_stays(slc: &SlcProfile, rates: &WriteRates) -> f64 {
    (1.0 - slc.drain_while_writing_mb_per_s * 1e6 / rates.slc).max(1e-12)
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod truth_tests;
