//! What a profile's flash can carry when nothing disturbs it.

use crate::flash::profile::FlashProfile;
use crate::flash::slc_cache::WriteRates;

impl FlashProfile {
    pub fn channels_rate(&self) -> f64 {
        f64::from(self.channels) * self.channel_mb_per_s * 1e6
    }

    /// Reading in sequence, in bytes per second: every die a page at a time, or what the channels carry.
    pub fn sequential_read_rate(&self) -> f64 {
        let dies = f64::from(self.dies()) * self.die_page_bytes() as f64 / (self.read_us * 1e-6);
        dies.min(self.channels_rate())
    }

    /// Programming whole superblocks past the SLC cache, in bytes per second, erasing included.
    pub fn dense_write_rate(&self) -> f64 {
        let superblock_s = (f64::from(self.pages_per_block) * self.program_us + self.erase_us) * 1e-6;
        (self.superblock_bytes() as f64 / superblock_s).min(self.channels_rate())
    }

    /// Into the SLC cache, in bytes per second; its blocks have been erased beforehand. None without a cache.
    pub fn slc_write_rate(&self) -> Option<f64> {
        let slc = self.slc.as_ref()?;
        let dies = f64::from(self.dies()) * self.die_page_bytes() as f64 / (slc.program_us * 1e-6);
        Some(dies.min(self.channels_rate()))
    }

    pub fn write_rates(&self) -> WriteRates {
        let dense = self.dense_write_rate();
        WriteRates {
            dense,
            slc: self.slc_write_rate().unwrap_or(dense),
            fold: self.slc.as_ref().map_or(dense, |slc| slc.fold_mb_per_s * 1e6),
        }
    }
}
