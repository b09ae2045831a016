//! What is true of a flash drive, computed from its profile in closed form.
//!
//! Rates are those of the medium; functions take a slower link or host as a limit where they need to.

use crate::flash::profile::{FlashProfile, Initial, SlcProfile, WhenFull};
use crate::flash::slc_cache::WriteRates;
use crate::flash::write_amplification::greedy;
use model::units::{Bytes, KIB, MIB};

/// A stretch of a write of the whole drive, with one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteLevel {
    pub from_bytes: f64,
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
    /// The reads at the dies fall on them at random: thrown anew each time, D·(1 − (1 − 1/D)^Q) dies would have one,
    /// but those behind another stay. With L reads per die the share u of busy dies solves L = u + u²/(2·(1 − u))
    /// (random arrivals, constant service), for depths large against one. The smaller of both holds.
    #[cfg(test)]
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

    /// The write amplification of uniform random writes over the share `used` of the capacity, the rest trimmed.
    pub fn write_amplification(&self, capacity: Bytes, used: f64) -> f64 {
        let Ok(layout) = self.layout(capacity) else { return f64::NAN };
        // Two superblocks are half filled on average, and some are kept free.
        let usable = f64::from(layout.superblocks - layout.kept_free - 1) * f64::from(layout.slots);
        greedy(f64::from(layout.slots), f64::from(layout.units) * used / usable)
    }

    #[cfg(test)]
    pub fn write_amplification_limit(&self, used: f64) -> f64 {
        let spare =
            crate::flash::write_amplification::effective_over_provisioning(self.over_provisioning, used);
        crate::flash::write_amplification::lambert(spare)
    }

    /// The final rate of uniform random writes over the share `used` of the capacity, in bytes per second.
    pub fn steady_random_write_rate(&self, capacity: Bytes, used: f64) -> f64 {
        let rates = self.write_rates();
        let moved = self.write_amplification(capacity, used) - 1.0;
        let own_s = match &self.slc {
            Some(slc) if slc.when_full == WhenFull::Fold && self.has_cache_when_full(slc, capacity, used) => {
                1.0 / rates.slc + 1.0 / rates.fold
            }
            _ => 1.0 / rates.dense,
        };
        1.0 / self.with_table(own_s + moved / rates.dense, f64::INFINITY)
    }

    /// What a byte takes with the stalls in which the translation table is written out, in seconds, where the host allows `limit` bytes
    /// per second: meanwhile the buffer fills, which empties before the next stall.
    fn with_table(&self, seconds_per_byte: f64, limit: f64) -> f64 {
        let (stall_s, every) = self
            .map_flush
            .as_ref()
            .map_or((0.0, f64::INFINITY), |flush| (flush.stall_ms * 1e-3, (flush.every_mib * MIB) as f64));
        let buffered_s =
            self.buffer.as_ref().map_or(0.0, |buffer| (buffer.capacity_kib * KIB) as f64) / limit;
        let of_host_s = 1.0 / limit + (stall_s - buffered_s).max(0.0) / every;
        (seconds_per_byte + stall_s / every).max(of_host_s)
    }

    fn has_cache_when_full(&self, slc: &SlcProfile, capacity: Bytes, used: f64) -> bool {
        let free = capacity.as_f64() * (1.0 - used) - slc.reserve_bytes as f64;
        slc.static_bytes > 0 || (slc.dynamic_bytes_max > 0 && free > 0.0)
    }

    /// How many times faster random writes are in the end over the share `used` of the capacity than over all of it.
    pub fn clipping_effect(&self, capacity: Bytes, used: f64) -> f64 {
        self.steady_random_write_rate(capacity, used) / self.steady_random_write_rate(capacity, 1.0)
    }

    /// The rates of writing the drive once from end to end, where the host allows `limit` bytes per second: one level
    /// without an SLC cache, two or more with one. Their first bytes are where the cliffs are.
    pub fn write_levels(&self, capacity: Bytes, limit: f64) -> Vec<WriteLevel> {
        self.levels(capacity, limit, levels_of_fresh)
    }

    /// The same of uniform random writes over the whole drive, until as much is written as it holds. What is written again takes no
    /// free space, so a cache that is as large as the free space lasts longer. Levels begin where a host sees them that flushes.
    pub fn random_write_levels(&self, capacity: Bytes, limit: f64) -> Vec<WriteLevel> {
        let mut levels = self.levels(capacity, limit, levels_of_fresh_at_random);
        // A buffer that a flush does not empty hides a slower flash until it is full: it grows by what comes and does not leave.
        let rates: Vec<f64> = levels.iter().map(|level| level.bytes_per_second).collect();
        for (level, before) in levels.iter_mut().skip(1).zip(rates) {
            let host = if before > limit * (1.0 - 1e-9) { limit } else { f64::INFINITY };
            level.from_bytes += self.buffer_full_bytes(host, level.bytes_per_second).unwrap_or(0.0);
        }
        levels
    }

    /// Where the buffer that a flush does not empty is full, in bytes, if the host writes `limit` bytes a second and the flash takes `after`.
    pub fn buffer_full_bytes(&self, limit: f64, after: f64) -> Option<f64> {
        let hidden = self.buffer.as_ref().filter(|buffer| !buffer.flush.stores())?;
        (after < limit).then_some((hidden.capacity_kib * KIB) as f64 / (1.0 - after / limit))
    }

    fn levels(&self, capacity: Bytes, limit: f64, of_fresh: LevelsOfFresh) -> Vec<WriteLevel> {
        let rates = self.write_rates();
        let levels = match &self.slc {
            None => vec![(0.0, 1.0 / rates.dense)],
            Some(slc) if self.initial == Initial::Filled => levels_of_filled(slc, &rates),
            Some(slc) => of_fresh(slc, &rates, capacity.as_f64()),
        };
        // A level that has no room, or begins where the drive ends, is none.
        let mut kept: Vec<WriteLevel> = Vec::new();
        for (from_bytes, seconds_per_byte) in levels {
            let level =
                WriteLevel { from_bytes, bytes_per_second: 1.0 / self.with_table(seconds_per_byte, limit) };
            kept.pop_if(|last| level.from_bytes - last.from_bytes < 1.0);
            match kept.last() {
                Some(last) if last.bytes_per_second == level.bytes_per_second => {}
                _ if level.from_bytes < capacity.as_f64() => kept.push(level),
                _ => {}
            }
        }
        kept
    }

    /// What each idle second gives back of the SLC cache, in bytes, after the first `idle_s`; 0 where nothing does.
    pub fn idle_recovery(&self) -> f64 {
        self.slc.as_ref().map_or(0.0, |slc| slc.idle_fold_mb_per_s * 1e6)
    }
}

/// Where each level begins and what a byte costs in it, for a full drive: only spare space serves the dynamic part.
fn levels_of_filled(slc: &SlcProfile, rates: &WriteRates) -> Vec<(f64, f64)> {
    let (fixed, most) = (slc.static_bytes as f64, slc.dynamic_bytes_max as f64);
    let in_dynamic = ((fixed - slc.reserve_bytes as f64) / f64::from(slc.bits - 1)).clamp(0.0, most);
    let base_s = match slc.when_full {
        WhenFull::Fold if fixed > 0.0 => 1.0 / rates.slc + 1.0 / rates.fold,
        _ => 1.0 / rates.dense,
    };
    vec![(0.0, 1.0 / rates.slc), ((fixed + in_dynamic) / share_that_stays(slc, rates), base_s)]
}

/// Where each level begins and what a byte costs in it, for a drive of that capacity that holds nothing.
type LevelsOfFresh = fn(&SlcProfile, &WriteRates, f64) -> Vec<(f64, f64)>;

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

/// When it is written at random: of the x bytes that were written C·(1 − e^(−x/C)) lie at places of their own.
fn levels_of_fresh_at_random(slc: &SlcProfile, rates: &WriteRates, capacity: f64) -> Vec<(f64, f64)> {
    let (fixed, most) = (slc.static_bytes as f64, slc.dynamic_bytes_max as f64);
    let (reserve, grows) = (slc.reserve_bytes as f64, f64::from(slc.bits - 1));
    let net = share_that_stays(slc, rates);
    let unmapped = |written: f64| capacity * (-written / capacity).exp();
    let by_size = (fixed + most) / net;
    let is_free = |written: f64| unmapped(written) + fixed - grows * (written * net - fixed) - reserve > 0.0;
    let full = by_size.min(last_of(fixed / net, by_size, is_free));
    let in_dynamic = (full * net - fixed).max(0.0);
    let full_s = match slc.when_full {
        WhenFull::Fold => 1.0 / rates.slc + 1.0 / rates.fold,
        WhenFull::Direct => 1.0 / rates.dense,
    };
    let mut levels = vec![(0.0, 1.0 / rates.slc), (full, full_s)];
    if in_dynamic > 1.0 {
        let is_free = |written: f64| unmapped(written) + fixed - grows * in_dynamic - reserve > 0.0;
        let out_of_space = last_of(full, 2.0 * capacity, is_free);
        // For each byte at a place of its own; the more is mapped, the fewer these are.
        let folded = (-out_of_space / capacity).exp() / grows;
        levels.push((out_of_space, full_s + folded / rates.fold));
    }
    levels
}

fn last_of(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Of each byte written into the cache so much stays while it drains; hardly anything if it drains as fast.
fn share_that_stays(slc: &SlcProfile, rates: &WriteRates) -> f64 {
    (1.0 - slc.drain_while_writing_mb_per_s * 1e6 / rates.slc).max(1e-12)
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod truth_tests;
