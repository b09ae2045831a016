//! What a flash drive is made of: the section `[flash]` of a profile, with its parts.
//!
//! | part | what it describes | absent |
//! |---|---|---|
//! | `[flash]` | dies, channels, blocks, pages, their times, and the controller's own time | — |
//! | `[flash.garbage_collection]` | when space is won back | the defaults |
//! | `[flash.slc]` | the part that is written with one bit per cell first | there is none |
//! | `[flash.buffer]` | the memory that takes writes before the flash does | there is none |
//! | `[flash.housekeeping]` | what makes the valleys of an X25-M | there is none |
//! | `[flash.map_flush]` | the translation table, written out now and then | costs nothing |
//! | `[flash.thermal]` | how writing heats the drive, and what it does then | stays cool |
//! | `[[flash.power_states]]` | how long it takes to wake up | awake at once |
//!
//! ```toml
//! [flash]
//! channels = 8
//! dies_per_channel = 4
//! page_kib = 16
//! pages_per_block = 256
//! over_provisioning = 0.07
//! read_us = 50
//! program_us = 600
//! erase_us = 3500
//! channel_mb_per_s = 800
//! ```

use crate::flash::layout::Layout;
use crate::flaw::Flaw;
use model::units::{Bytes, KIB, MIB};
use serde::{Deserialize, Serialize};

/// Flash, its controller and what it does by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashProfile {
    /// Buses between the controller and the flash; each carries one transfer at a time.
    pub channels: u32,
    /// Dies on each channel; each does one read, program or erase at a time.
    pub dies_per_channel: u32,
    /// Planes of a die, which read and program one page each together.
    #[serde(default = "one")]
    pub planes: u32,
    /// What a page holds, in KiB.
    pub page_kib: u32,
    /// Pages of a block, which is what can be erased. The blocks of the same number in all planes of all dies are
    /// one superblock: they are filled, collected and erased together.
    pub pages_per_block: u32,
    /// Spare space as a share of what the drive shows: (physical − shown) / shown.
    pub over_provisioning: f64,
    /// What the translation maps one by one, in KiB. A smaller write costs as much.
    #[serde(default = "four")]
    pub mapping_kib: u32,
    /// What the drive holds when it is new to whoever measures it.
    #[serde(default)]
    pub initial: Initial,
    /// To read a page into the die's register (tR), in µs.
    pub read_us: f64,
    /// To program a page in every plane of a die (tPROG, as a mean of its kinds of pages), in µs.
    pub program_us: f64,
    /// To erase a block in every plane of a die (tBERS), in µs.
    pub erase_us: f64,
    /// How long a read waits at most until the die suspends what it programs or erases, in µs. Absent: the read waits
    /// until that is over.
    #[serde(default)]
    pub suspend_us: Option<f64>,
    /// What a channel carries, in MB/s.
    pub channel_mb_per_s: f64,
    /// What the controller adds to every read's time, in µs; it does so to many at once.
    #[serde(default = "twenty_us")]
    pub read_overhead_us: f64,
    /// What the controller adds to every write's time, in µs; it does so to many at once.
    #[serde(default = "four_us")]
    pub write_overhead_us: f64,
    /// What the controller needs for every command by itself, in µs: 1 µs is a limit of a million commands a second.
    #[serde(default = "half_us")]
    pub command_us: f64,
    /// How far it reads on ahead of a sequential reader, in KiB; 0 does not.
    #[serde(default = "read_ahead")]
    pub read_ahead_kib: u32,
    /// When space is won back.
    #[serde(default)]
    pub garbage_collection: GarbageCollectionProfile,
    /// The SLC cache, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcProfile>,
    /// The write buffer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferProfile>,
    /// Recurring housekeeping that depends on how the drive was written, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub housekeeping: Option<HousekeepingProfile>,
    /// The translation table, written out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_flush: Option<MapFlushProfile>,
    /// Heat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalProfile>,
    /// Sleep, the lightest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power_states: Vec<PowerStateProfile>,
}

/// What is on the drive at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Initial {
    /// Nothing: as sold, or after a purge.
    #[default]
    Fresh,
    /// Everything, written sequentially once.
    Filled,
}

/// When space is won back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GarbageCollectionProfile {
    /// Superblocks that are kept free at all times. What they hold is no help against write amplification.
    pub free_superblocks: u32,
    /// The share of all superblocks that are made free in idle time; 0 leaves it.
    pub idle_free_share: f64,
    /// After how many idle seconds that begins.
    pub idle_s: f64,
}

/// A part of the flash that is written with one bit per cell, fast, and folded into denser cells later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcProfile {
    /// Bits per cell of the rest: 2 MLC, 3 TLC, 4 QLC. What lies in the dynamic part takes so much room.
    pub bits: u32,
    /// Room that is always there, beside the capacity.
    #[serde(default)]
    pub static_bytes: u64,
    /// The most that is taken from free space besides: as much as fits into (free − reserve) / bits.
    #[serde(default)]
    pub dynamic_bytes_max: u64,
    /// Free space that the dynamic part and what is written past it leave alone.
    #[serde(default)]
    pub reserve_bytes: u64,
    /// To program a page in every plane of a die with one bit per cell, in µs.
    pub program_us: f64,
    /// What becomes of a write when the cache is full.
    #[serde(default)]
    pub when_full: WhenFull,
    /// How fast the cache is folded while the host waits for room, in MB/s.
    pub fold_mb_per_s: f64,
    /// How fast it is folded beside the host's writes at no cost to them, in MB/s.
    #[serde(default)]
    pub drain_while_writing_mb_per_s: f64,
    /// How fast it is folded in idle time, in MB/s; 0 keeps what is in it until the room is needed.
    #[serde(default)]
    pub idle_fold_mb_per_s: f64,
    /// After how many idle seconds that begins.
    #[serde(default = "one_s")]
    pub idle_s: f64,
}

/// What becomes of a write when the SLC cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// It goes past the cache, at the rate of the dense cells. When space runs out, as much is folded as is needed.
    #[default]
    Direct,
    /// It waits until the same amount has been folded, and goes into the cache.
    Fold,
}

/// Memory that takes writes before the flash does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferProfile {
    /// What it holds, in KiB.
    pub capacity_kib: u64,
    /// How fast a write is copied into it, in MB/s.
    #[serde(default = "copy_rate")]
    pub copy_mb_per_s: f64,
    /// Whether what is in it survives a power cut, so that a flush need not wait for the flash.
    #[serde(default)]
    pub power_loss_protected: bool,
}

/// Bursts of the drive's own work that recur while it is written, longer the more fragmented what is written lay.
///
/// This is phenomenological: it says what is seen of an Intel X25-M, not what its firmware does, and stands in place of
/// what garbage collection would cost sequential writes. See [`crate::flash::housekeeping`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HousekeepingProfile {
    /// Seconds of writing from one burst to the next when nothing is fragmented.
    pub interval_s: f64,
    /// How much an interval differs at most from that, as a share of it.
    pub interval_jitter: f64,
    /// How much closer bursts follow on each other: the interval is divided by 1 + crowding · fragmentation.
    pub crowding: f64,
    /// How long a burst lasts where all is fragmented, in seconds; else that times the root of the fragmentation.
    pub width_s: f64,
    /// Shorter ones do not happen, in seconds.
    pub width_s_min: f64,
    /// What is left of the write rate within a burst.
    pub rate_factor: f64,
    /// A region has one fragmentation, in KiB.
    pub region_kib: u32,
    /// Contiguous writing of at least so much is sequential, in KiB; less is random.
    pub sequential_kib: u32,
    /// By how much a random write fragments: its share of the region times that, of what is not fragmented yet.
    pub random_weight: f64,
    /// The share of its fragmentation that a region loses when it is overwritten sequentially by writes smaller than
    /// itself. Larger ones take it all.
    pub healing: f64,
    /// The fragmentation that writing sequentially leaves, if the writes are tiny; it falls to none at the size of a
    /// region.
    pub small_write_fragmentation: f64,
    /// How much the mean of the whole drive counts beside that of what is being written.
    pub elsewhere_share: f64,
    /// Requests that continue one another and arrive faster than that, in MB/s, are pieces of one write. It lies
    /// between what the drive writes and what the link carries, since the pieces into which a system splits a write
    /// arrive as fast as the link carries them, and requests that follow answers as fast as the drive writes.
    pub joined_mb_per_s: f64,
    /// The fragmentation of the whole drive at the start.
    pub initial_fragmentation: f64,
}

/// The translation table, written out after so many bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapFlushProfile {
    /// After how much the host has written, in MiB.
    pub every_mib: u64,
    /// How long writes stand still then, in ms.
    pub stall_ms: f64,
}

/// How writing heats the drive. The temperature falls towards the surroundings' exponentially.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalProfile {
    /// What surrounds it, and how warm it is at the start, in °C.
    pub ambient_celsius: f64,
    /// By how much a GB (10⁹ bytes) written warms it, in °C.
    pub celsius_per_gb: f64,
    /// In which time the excess falls to 1/e, in seconds.
    pub cooling_s: f64,
    /// From here on it writes slower, in °C.
    pub throttle_celsius: f64,
    /// Down to here, in °C.
    pub resume_celsius: f64,
    /// What is left of the write rate then.
    pub rate_factor: f64,
}

/// A depth of sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerStateProfile {
    /// After how much idle time it is reached, in ms.
    pub idle_ms: f64,
    /// How long the first request then waits, in µs.
    pub wake_us: f64,
}

fn one() -> u32 {
    1
}
fn four() -> u32 {
    4
}
fn read_ahead() -> u32 {
    256
}
fn twenty_us() -> f64 {
    20.0
}
fn four_us() -> f64 {
    4.0
}
fn half_us() -> f64 {
    0.5
}
fn one_s() -> f64 {
    1.0
}
/// 0.46 µs for 4 KiB, as NVMeVirt has it for a 970 PRO.
fn copy_rate() -> f64 {
    8900.0
}

impl Default for GarbageCollectionProfile {
    /// As little as greedy collection can do with, and none of it in idle time.
    fn default() -> GarbageCollectionProfile {
        GarbageCollectionProfile { free_superblocks: 1, idle_free_share: 0.0, idle_s: 5.0 }
    }
}

impl Default for HousekeepingProfile {
    /// What is seen of an X25-M with firmware 8820.
    fn default() -> HousekeepingProfile {
        HousekeepingProfile {
            interval_s: 60.0,
            interval_jitter: 0.05,
            crowding: 0.0,
            width_s: 0.9,
            width_s_min: 0.05,
            rate_factor: 0.1,
            region_kib: 8192,
            sequential_kib: 512,
            random_weight: 4.0,
            healing: 0.55,
            small_write_fragmentation: 0.007,
            elsewhere_share: 0.05,
            joined_mb_per_s: 140.0,
            initial_fragmentation: 0.0,
        }
    }
}

impl FlashProfile {
    /// All dies.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// What one die programs or reads at once, in bytes.
    pub fn die_page_bytes(&self) -> u64 {
        u64::from(self.planes) * u64::from(self.page_kib) * KIB
    }

    /// What is filled, collected and erased together, in bytes.
    pub fn superblock_bytes(&self) -> u64 {
        u64::from(self.dies()) * self.die_page_bytes() * u64::from(self.pages_per_block)
    }

    /// Whether such a drive of that capacity can be.
    ///
    /// # Errors
    /// The first key that cannot be as it is.
    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        self.check_dies()?;
        self.check_times()?;
        self.garbage_collection.check().map_err(|flaw| flaw.within("garbage_collection"))?;
        if let Some(slc) = &self.slc {
            slc.check(capacity).map_err(|flaw| flaw.within("slc"))?;
        }
        if let Some(buffer) = &self.buffer {
            buffer.check().map_err(|flaw| flaw.within("buffer"))?;
        }
        if let Some(housekeeping) = &self.housekeeping {
            housekeeping.check(capacity).map_err(|flaw| flaw.within("housekeeping"))?;
        }
        if let Some(map_flush) = &self.map_flush {
            let whole = |flaw: Flaw| flaw.within("map_flush");
            within("every_mib", map_flush.every_mib as f64, 1.0, 1e9).map_err(whole)?;
            within("stall_ms", map_flush.stall_ms, 0.0, 10_000.0).map_err(whole)?;
        }
        if let Some(thermal) = &self.thermal {
            thermal.check().map_err(|flaw| flaw.within("thermal"))?;
        }
        self.check_power_states()?;
        Layout::of(self, capacity).map(|_| ())
    }

    fn check_dies(&self) -> Result<(), Flaw> {
        within("channels", f64::from(self.channels), 1.0, 256.0)?;
        within("dies_per_channel", f64::from(self.dies_per_channel), 1.0, 256.0)?;
        within("planes", f64::from(self.planes), 1.0, 64.0)?;
        within("page_kib", f64::from(self.page_kib), 1.0, 1024.0)?;
        within("pages_per_block", f64::from(self.pages_per_block), 1.0, 65_536.0)?;
        within("over_provisioning", self.over_provisioning, 0.001, 20.0)?;
        within("mapping_kib", f64::from(self.mapping_kib), 1.0, 4096.0)?;
        // ONFI: the data bytes of a page are a power of two.
        for (key, kib) in [("page_kib", self.page_kib), ("mapping_kib", self.mapping_kib)] {
            if !kib.is_power_of_two() {
                return Err(Flaw::new(key, "must be a power of two"));
            }
        }
        within("read_ahead_kib", f64::from(self.read_ahead_kib), 0.0, 1024.0 * 1024.0)
    }

    fn check_times(&self) -> Result<(), Flaw> {
        within("read_us", self.read_us, 0.01, 1e6)?;
        within("program_us", self.program_us, 0.01, 1e6)?;
        within("erase_us", self.erase_us, 0.0, 1e7)?;
        within("suspend_us", self.suspend_us.unwrap_or(0.0), 0.0, 1e6)?;
        within("channel_mb_per_s", self.channel_mb_per_s, 0.1, 100_000.0)?;
        within("read_overhead_us", self.read_overhead_us, 0.0, 1e6)?;
        within("write_overhead_us", self.write_overhead_us, 0.0, 1e6)?;
        within("command_us", self.command_us, 0.0, 1e6)
    }

    fn check_power_states(&self) -> Result<(), Flaw> {
        if self.power_states.len() > 32 {
            return Err(Flaw::new("power_states", "has more than 32 entries; NVMe allows 32"));
        }
        for (index, state) in self.power_states.iter().enumerate() {
            let at = |flaw: Flaw| flaw.within(&format!("power_states.{index}"));
            within("idle_ms", state.idle_ms, 0.0, 1e10).map_err(at)?;
            within("wake_us", state.wake_us, 0.0, 1e8).map_err(at)?;
        }
        let rises = self.power_states.windows(2).all(|pair| pair[0].idle_ms < pair[1].idle_ms);
        if rises { Ok(()) } else { Err(Flaw::new("power_states", "must come in the order of their idle_ms")) }
    }
}

impl GarbageCollectionProfile {
    fn check(&self) -> Result<(), Flaw> {
        within("free_superblocks", f64::from(self.free_superblocks), 1.0, 1e6)?;
        within("idle_free_share", self.idle_free_share, 0.0, 0.5)?;
        within("idle_s", self.idle_s, 0.0, 1e7)
    }
}

impl SlcProfile {
    fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        within("bits", f64::from(self.bits), 2.0, 8.0)?;
        for (key, bytes) in
            [("static_bytes", self.static_bytes), ("dynamic_bytes_max", self.dynamic_bytes_max)]
        {
            if bytes > capacity.0 {
                return Err(Flaw::new(key, format!("is more than the drive's {} bytes", capacity.0)));
            }
        }
        if self.reserve_bytes > capacity.0 {
            return Err(Flaw::new("reserve_bytes", "is more than the drive holds"));
        }
        if self.static_bytes == 0 && self.dynamic_bytes_max == 0 {
            return Err(Flaw::new(
                "static_bytes",
                "is none, and so is dynamic_bytes_max: leave the section out",
            ));
        }
        within("program_us", self.program_us, 0.01, 1e6)?;
        within("fold_mb_per_s", self.fold_mb_per_s, 0.1, 1e6)?;
        within("drain_while_writing_mb_per_s", self.drain_while_writing_mb_per_s, 0.0, 1e6)?;
        within("idle_fold_mb_per_s", self.idle_fold_mb_per_s, 0.0, 1e6)?;
        within("idle_s", self.idle_s, 0.0, 1e7)
    }
}

impl BufferProfile {
    fn check(&self) -> Result<(), Flaw> {
        within("capacity_kib", self.capacity_kib as f64, 4.0, (4096 * MIB / KIB) as f64)?;
        within("copy_mb_per_s", self.copy_mb_per_s, 0.1, 1e6)
    }
}

impl HousekeepingProfile {
    fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        within("interval_s", self.interval_s, 0.1, 1e6)?;
        within("interval_jitter", self.interval_jitter, 0.0, 0.9)?;
        within("crowding", self.crowding, 0.0, 100.0)?;
        within("width_s", self.width_s, 0.0, 1e4)?;
        within("width_s_min", self.width_s_min, 0.0, 1e4)?;
        within("rate_factor", self.rate_factor, 0.001, 1.0)?;
        within("region_kib", f64::from(self.region_kib), 64.0, 4.0 * MIB as f64)?;
        within("sequential_kib", f64::from(self.sequential_kib), 1.0, f64::from(self.region_kib))?;
        within("random_weight", self.random_weight, 0.0, 1e4)?;
        within("healing", self.healing, 0.0, 1.0)?;
        within("small_write_fragmentation", self.small_write_fragmentation, 0.0, 1.0)?;
        within("elsewhere_share", self.elsewhere_share, 0.0, 1.0)?;
        within("joined_mb_per_s", self.joined_mb_per_s, 0.1, 1e6)?;
        within("initial_fragmentation", self.initial_fragmentation, 0.0, 1.0)?;
        let regions = capacity.0.div_ceil(u64::from(self.region_kib) * KIB);
        if regions > 1 << 24 {
            return Err(Flaw::new("region_kib", format!("makes {regions} regions; at most 2^24 are kept")));
        }
        Ok(())
    }
}

impl ThermalProfile {
    fn check(&self) -> Result<(), Flaw> {
        within("ambient_celsius", self.ambient_celsius, -60.0, 120.0)?;
        within("celsius_per_gb", self.celsius_per_gb, 0.0, 1000.0)?;
        within("cooling_s", self.cooling_s, 0.1, 1e6)?;
        within("throttle_celsius", self.throttle_celsius, -50.0, 300.0)?;
        within("resume_celsius", self.resume_celsius, -60.0, 300.0)?;
        within("rate_factor", self.rate_factor, 0.001, 1.0)?;
        if self.resume_celsius > self.throttle_celsius {
            return Err(Flaw::new("resume_celsius", "is above throttle_celsius"));
        }
        if self.resume_celsius <= self.ambient_celsius {
            return Err(Flaw::new(
                "resume_celsius",
                "is not above ambient_celsius: it would never be reached",
            ));
        }
        Ok(())
    }
}

/// Whether a number lies in [`low`, `high`]; not a number does not.
fn within(key: &str, value: f64, low: f64, high: f64) -> Result<(), Flaw> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(Flaw::new(key, format!("is {value}; it must lie between {low} and {high}")))
    }
}
