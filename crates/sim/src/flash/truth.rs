//! What is true of a flash drive, computed from its profile in closed form.
//!
//! Rates are those of the medium. Where the link or the host is slower, the functions that need to know take what they
//! allow as a limit.

use crate::flash::layout::Layout;
use crate::flash::profile::{FlashProfile, SlcProfile, WhenFull};
use crate::flash::write_amplification::{effective_over_provisioning, greedy};
use model::units::Bytes;

/// A stretch of a write of the whole drive from fresh, with one rate.
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

    /// The rates of writing a fresh drive once from end to end, where the host allows `limit` bytes per second: one level
    /// without an SLC cache, two or more with one. Their first bytes are where the cliffs are.
    pub fn write_levels(&self, capacity: Bytes, limit: f64) -> Vec<WriteLevel> {
        let rates = self.write_rates();
        let capacity = capacity.0 as f64;
        let Some(slc) = &self.slc else {
            return vec![WriteLevel { from_bytes: 0.0, bytes_per_second: rates.dense.min(limit) }];
        };
        let (fixed, most) = (slc.static_bytes as f64, slc.dynamic_bytes_max as f64);
        let (reserve, grows) = (slc.reserve_bytes as f64, f64::from(slc.bits - 1));
        let fold_s = 1.0 / rates.fold;
        let slc_s = 1.0 / rates.slc;
        let base_s = if slc.when_full == WhenFull::Fold { slc_s + fold_s } else { 1.0 / rates.dense };
        // Of each byte written to the cache so much stays while it drains.
        let net = 1.0 - slc.drain_while_writing_mb_per_s * 1e6 / rates.slc;
        let mut levels = vec![(0.0, slc_s)];
        // Full by its size, or by the space: capacity − x + fixed − (bits − 1)·(x·net − fixed) = reserve.
        let by_size = if net > 0.0 { (fixed + most) / net } else { f64::INFINITY };
        let by_space = (capacity - reserve + fixed * (1.0 + grows)) / (1.0 + grows * net.max(0.0));
        let static_full = if net > 0.0 { fixed / net } else { f64::INFINITY };
        let full = by_size.min(by_space.max(static_full));
        let in_dynamic = (full * net - fixed).max(0.0);
        let space_left = (capacity - full + fixed - grows * in_dynamic - reserve).max(0.0);
        levels.push((full, base_s));
        if in_dynamic > 1.0 {
            let out_of_space = full + space_left;
            levels.push((out_of_space, base_s + fold_s / grows));
            let none_left = slc.when_full == WhenFull::Fold && fixed < 1.0;
            let last_s = if none_left { 1.0 / rates.dense } else { base_s };
            levels.push((out_of_space + in_dynamic * grows, last_s));
        }
        // A level that has no room, or begins where the drive ends, is none.
        let mut kept: Vec<WriteLevel> = Vec::new();
        for (from_bytes, seconds_per_byte) in levels {
            let level = WriteLevel { from_bytes, bytes_per_second: (1.0 / seconds_per_byte).min(limit) };
            if kept.last().is_some_and(|last| level.from_bytes - last.from_bytes < 1.0) {
                kept.pop();
            }
            let same = kept.last().is_some_and(|last| last.bytes_per_second == level.bytes_per_second);
            if level.from_bytes < capacity && !same {
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

#[cfg(test)]
#[path = "truth_tests.rs"]
mod truth_tests;
