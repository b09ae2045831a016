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

use crate::flash::layout::Layout;
use crate::flaw::{Flaw, InSection};
use crate::profile::schema::{all_by_default, section, within, words};
use model::units::{Bytes, KIB};

section! {
    FlashProfile at "[flash]" = "Flash and its controller." {
        channels: u32, in 1..=256 => "Buses between the controller and the flash; each carries a single transfer.";
        dies_per_channel: u32, in 1..=256 => "Dies on each channel; each does a single read, program or erase.";
        planes: u32 = 1, in 1..=64 => "Planes of a die, which read and program one page each together.";
        page_kib: u32, in 1..=1024 => "Size of a page: a power of two.";
        pages_per_block: u32, in 1..=65_536 => "Pages of a block, which is what can be erased. The blocks of the same number in all planes of all dies are one superblock: they are filled, collected and erased together.";
        over_provisioning: f64, in 0.001..=20 => "Spare space as a share of the capacity: (physical − shown) / shown.";
        mapping_kib: u32 = 4, in 1..=4096 => "Mapping unit of the translation: a power of two. A smaller write costs as much.";
        initial: Initial = Initial::Fresh => "What the drive holds at the start.";
        read_us: f64, in 0.01..=1e6 => "To read a page into the die's register (tR).";
        program_us: f64, in 0.01..=1e6 => "To program a page in every plane of a die (tPROG, as a mean of its kinds of pages).";
        erase_us: f64, in 0..=1e7 => "To erase a block in every plane of a die (tBERS).";
        suspend_us: Option<f64> = None, in 0..=1e6 => "How long a read waits at most until the die suspends a program or erase. Absent: the read waits until that is over.";
        channel_mb_per_s: f64, in 0.1..=100_000 => "Throughput of a channel.";
        read_overhead_us: f64 = 20.0, in 0..=1e6 => "What the controller adds to every read's latency; many at once.";
        write_overhead_us: f64 = 4.0, in 0..=1e6 => "What the controller adds to every write's latency; many at once.";
        command_us: f64 = 0.5, in 0..=1e6 => "Command overhead of the controller: 1 µs is a limit of a million IOPS.";
        read_ahead_kib: u32 = 256, in 0..=1_048_576 => "How far it reads ahead of a sequential reader; 0 is off.";
        garbage_collection: GarbageCollectionProfile = GarbageCollectionProfile::default() => "When space is won back.";
        #[serde(skip_serializing_if = "Option::is_none")]
        slc: Option<SlcProfile> = None => "The SLC cache.";
        #[serde(skip_serializing_if = "Option::is_none")]
        buffer: Option<BufferProfile> = None => "The write buffer.";
        #[serde(skip_serializing_if = "Option::is_none")]
        housekeeping: Option<HousekeepingProfile> = None => "Recurring housekeeping that depends on how the drive was written.";
        #[serde(skip_serializing_if = "Option::is_none")]
        map_flush: Option<MapFlushProfile> = None => "Flushes of the translation table.";
        #[serde(skip_serializing_if = "Option::is_none")]
        thermal: Option<ThermalProfile> = None => "Heat and throttling.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        power_states: Vec<PowerStateProfile> = Vec::new() => "Power states, the lightest sleep first; 32 at most, as NVMe allows.";
    }
}

words! {
    Initial = "What is on the drive at the start." {
        Fresh = "fresh" => "Nothing: as sold, or after a sanitize. The default.";
        Filled = "filled" => "Everything, written sequentially once.";
    }
}

section! {
    GarbageCollectionProfile at "[flash.garbage_collection]" = "When space is won back. By default as little as greedy collection needs, and none of it in idle time." {
        free_superblocks: u32 = 1, in 1..=1e6 => "Superblocks that are kept free at all times. They are no help against write amplification.";
        idle_free_share: f64 = 0.0, in 0..=0.5 => "The share of all superblocks that are made free in idle time; 0 is off.";
        idle_s: f64 = 5.0, in 0..=1e7 => "Idle time after which that begins.";
    }
}

section! {
    SlcProfile at "[flash.slc]" = "A part of the flash that is written with one bit per cell, fast, and folded into denser cells later." {
        bits: u32, in 2..=8 => "Bits per cell of the rest: 2 MLC, 3 TLC, 4 QLC. What lies in the dynamic part takes so much room.";
        static_bytes: u64 = 0 => "Room that is always there, beside the capacity.";
        dynamic_bytes_max: u64 = 0 => "The most that is taken from free space besides: as much as fits into (free − reserve) / bits.";
        reserve_bytes: u64 = 0 => "Free space that the dynamic part and what is written past it leave alone.";
        program_us: f64, in 0.01..=1e6 => "To program a page in every plane of a die with one bit per cell.";
        when_full: WhenFull = WhenFull::Direct => "What becomes of a write when the cache is full.";
        fold_mb_per_s: f64, in 0.1..=1e6 => "How fast the cache is folded while the host waits for room.";
        drain_while_writing_mb_per_s: f64 = 0.0, in 0..=1e6 => "How fast it is folded beside the host's writes at no cost to them.";
        idle_fold_mb_per_s: f64 = 0.0, in 0..=1e6 => "How fast it is folded in idle time; 0 keeps what is in it until the room is needed.";
        idle_s: f64 = 1.0, in 0..=1e7 => "Idle time after which that begins.";
    }
}

words! {
    WhenFull = "What becomes of a write when the SLC cache is full." {
        Direct = "direct" => "It goes past the cache, at the rate of the dense cells. When space runs out, as much is folded as is needed. The default.";
        Fold = "fold" => "It waits until the same amount has been folded, and goes into the cache.";
    }
}

section! {
    BufferProfile at "[flash.buffer]" = "Memory that takes writes before the flash does." {
        capacity_kib: u64, in 4..=4_194_304 => "Its size.";
        // 0.46 µs for 4 KiB, as NVMeVirt has it for a 970 PRO.
        copy_mb_per_s: f64 = 8900.0, in 0.1..=1e6 => "How fast a write is copied into it.";
        power_loss_protected: bool = false => "Whether what is in it survives a power cut, so that a flush need not wait for the flash.";
    }
}

section! {
    HousekeepingProfile at "[flash.housekeeping]" = "Bursts of the drive's own work that recur while it is written, longer the more fragmented what is written lay. This is phenomenological: it says what is seen of an Intel X25-M with firmware 8820, not what its firmware does, and stands in place of what garbage collection would cost sequential writes." {
        interval_s: f64 = 60.0, in 0.1..=1e6 => "Seconds of writing from one burst to the next when nothing is fragmented.";
        interval_jitter: f64 = 0.05, in 0..=0.9 => "How much an interval differs at most from that, as a share of it.";
        crowding: f64 = 0.0, in 0..=100 => "How much closer bursts follow on each other: the interval is divided by 1 + crowding · fragmentation.";
        width_s: f64 = 0.9, in 0..=1e4 => "How long a burst lasts where all is fragmented; else that times the root of the fragmentation.";
        width_s_min: f64 = 0.05, in 0..=1e4 => "Shorter ones do not happen.";
        rate_factor: f64 = 0.1, in 0.001..=1 => "What is left of the write rate within a burst.";
        region_kib: u32 = 8192, in 64..=4_194_304 => "A region of this size has one fragmentation.";
        sequential_kib: u32 = 512, in 1..=4_194_304 => "Contiguous writes of at least so much are sequential; less is random.";
        random_weight: f64 = 4.0, in 0..=1e4 => "By how much a random write fragments: its share of the region times that, of what is not fragmented yet.";
        healing: f64 = 0.55, in 0..=1 => "The share of its fragmentation that a region loses when it is overwritten sequentially by writes smaller than itself. Larger ones take it all.";
        small_write_fragmentation: f64 = 0.007, in 0..=1 => "The fragmentation that sequential writes leave, if they are tiny; it falls to none at the size of a region.";
        elsewhere_share: f64 = 0.05, in 0..=1 => "How much the mean of the whole drive counts beside that of what is being written.";
        joined_mb_per_s: f64 = 140.0, in 0.1..=1e6 => "Requests that continue one another and arrive faster than that are pieces of one write. It lies between what the drive writes and what the link carries, since the pieces into which a system splits a write arrive as fast as the link carries them, and requests that follow completions as fast as the drive writes.";
        initial_fragmentation: f64 = 0.0, in 0..=1 => "The fragmentation of the whole drive at the start.";
    }
}

section! {
    MapFlushProfile at "[flash.map_flush]" = "The translation table, written out after so many bytes." {
        every_mib: u64, in 1..=1e9 => "After how much the host has written.";
        stall_ms: f64, in 0..=10_000 => "How long writes stall then.";
    }
}

section! {
    ThermalProfile at "[flash.thermal]" = "How writing heats the drive. The temperature falls towards the surroundings' exponentially." {
        ambient_celsius: f64, in -60..=120 => "Temperature of the surroundings, and of the drive at the start.";
        celsius_per_gb: f64, in 0..=1000 => "By how much a GB (10⁹ bytes) written warms it.";
        cooling_s: f64, in 0.1..=1e6 => "In which time the excess falls to 1/e.";
        throttle_celsius: f64, in -50..=300 => "From here on it is throttled.";
        resume_celsius: f64, in -60..=300 => "Down to here.";
        rate_factor: f64, in 0.001..=1 => "What is left of the write rate then.";
    }
}

section! {
    PowerStateProfile at "[[flash.power_states]]" = "A depth of sleep." {
        idle_ms: f64, in 0..=1e10 => "Idle time after which it is reached.";
        wake_us: f64, in 0..=1e8 => "How long the first request then waits.";
    }
}

all_by_default!(GarbageCollectionProfile, HousekeepingProfile);

impl FlashProfile {
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    pub fn die_page_bytes(&self) -> u64 {
        u64::from(self.planes) * u64::from(self.page_kib) * KIB
    }

    pub fn superblock_bytes(&self) -> u64 {
        u64::from(self.dies()) * self.die_page_bytes() * u64::from(self.pages_per_block)
    }

    /// Checks that such a drive of that capacity can be made.
    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        self.check_bounds()?;
        // ONFI: the data bytes of a page are a power of two.
        for (key, kib) in [("page_kib", self.page_kib), ("mapping_kib", self.mapping_kib)] {
            if !kib.is_power_of_two() {
                return Err(Flaw::new(key, "must be a power of two"));
            }
        }
        self.garbage_collection.check_bounds().in_section("garbage_collection")?;
        if let Some(slc) = &self.slc {
            slc.check(capacity).in_section("slc")?;
        }
        if let Some(buffer) = &self.buffer {
            buffer.check_bounds().in_section("buffer")?;
        }
        if let Some(housekeeping) = &self.housekeeping {
            housekeeping.check(capacity).in_section("housekeeping")?;
        }
        if let Some(map_flush) = &self.map_flush {
            map_flush.check_bounds().in_section("map_flush")?;
        }
        if let Some(thermal) = &self.thermal {
            thermal.check().in_section("thermal")?;
        }
        self.check_power_states()?;
        self.layout(capacity)?;
        Ok(())
    }

    /// The layout of a drive of that capacity.
    ///
    /// # Errors
    /// When it does not add up: too small or large for its blocks, or too little spare space.
    pub fn layout(&self, capacity: Bytes) -> Result<Layout, Flaw> {
        let page = Bytes::from_kib(u64::from(self.mapping_kib));
        let kept_free = self.garbage_collection.free_superblocks;
        Layout::new(capacity, page, self.superblock_bytes(), self.over_provisioning, kept_free)
    }

    fn check_power_states(&self) -> Result<(), Flaw> {
        if self.power_states.len() > 32 {
            return Err(Flaw::new("power_states", "has more than 32 entries; NVMe allows 32"));
        }
        for (index, state) in self.power_states.iter().enumerate() {
            state.check_bounds().in_section(&format!("power_states.{index}"))?;
        }
        if self.power_states.windows(2).any(|pair| pair[0].idle_ms >= pair[1].idle_ms) {
            return Err(Flaw::new("power_states", "must come in the order of their idle_ms"));
        }
        Ok(())
    }
}

impl SlcProfile {
    fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        self.check_bounds()?;
        for (key, bytes) in [
            ("static_bytes", self.static_bytes),
            ("dynamic_bytes_max", self.dynamic_bytes_max),
            ("reserve_bytes", self.reserve_bytes),
        ] {
            if bytes > capacity.get() {
                return Err(Flaw::new(key, format!("is more than the drive's {} bytes", capacity.get())));
            }
        }
        if self.static_bytes == 0 && self.dynamic_bytes_max == 0 {
            let reason = "is none, and so is dynamic_bytes_max: leave the section out";
            return Err(Flaw::new("static_bytes", reason));
        }
        Ok(())
    }
}

impl HousekeepingProfile {
    fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        self.check_bounds()?;
        within("sequential_kib", &self.sequential_kib, 1.0, f64::from(self.region_kib))?;
        let regions = capacity.get().div_ceil(u64::from(self.region_kib) * KIB);
        if regions > 1 << 24 {
            return Err(Flaw::new("region_kib", format!("makes {regions} regions; at most 2^24 are kept")));
        }
        Ok(())
    }
}

impl ThermalProfile {
    fn check(&self) -> Result<(), Flaw> {
        self.check_bounds()?;
        if self.resume_celsius > self.throttle_celsius {
            return Err(Flaw::new("resume_celsius", "is above throttle_celsius"));
        }
        if self.resume_celsius <= self.ambient_celsius {
            let reason = "is not above ambient_celsius: it would never be reached";
            return Err(Flaw::new("resume_celsius", reason));
        }
        Ok(())
    }
}
