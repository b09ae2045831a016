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
//! | `[[flash.discarded]]` | what of a filled drive holds nothing | all of it holds data |

use crate::flash::layout::Layout;
use crate::flaw::{Flaw, InSection};
use crate::flush::FlushPolicy;
use crate::profile::schema::{all_by_default, is_zero, section, within, words};
use model::units::{Bytes, KIB};

section! {
    FlashProfile at "[flash]" = "Flash and its controller." {
        channels: u32, in 1..=256 => "Channels between controller and flash; one transfer each.";
        dies_per_channel: u32, in 1..=256 => "Dies per channel; one read, program or erase each.";
        planes: u32 = 1, in 1..=64 => "Planes per die. All planes of a die read or program one page together.";
        page_kib: u32, in 1..=1024 => "Page size: a power of two.";
        pages_per_block: u32, in 1..=65_536 => "Pages per erase block. The blocks of one number in all planes and dies form a superblock, which is filled, collected and erased as a unit.";
        over_provisioning: f64, in 0.001..=20 => "Over-provisioning: (physical − reported capacity) / reported capacity.";
        mapping_kib: u32 = 4, in 1..=4096 => "Mapping unit of the FTL: a power of two. A smaller write costs a whole unit.";
        initial: Initial = Initial::Fresh => "Contents at the start.";
        read_us: f64, in 0.01..=1e6 => "Page read time, cell to register (tR).";
        program_us: f64, in 0.01..=1e6 => "Program time for one page in every plane of a die (tPROG, mean over page types).";
        erase_us: f64, in 0..=1e7 => "Erase time for one block in every plane of a die (tBERS).";
        suspend_us: Option<f64> = None, in 0..=1e6 => "Maximum wait of a read until the die suspends a program or erase. Without it, reads wait until the operation ends.";
        channel_mb_per_s: f64, in 0.1..=100_000 => "Throughput of a channel.";
        read_overhead_us: f64 = 20.0, in 0..=1e6 => "Controller latency added to each read; reads overlap.";
        write_overhead_us: f64 = 4.0, in 0..=1e6 => "Controller latency added to each write; writes overlap.";
        command_us: f64 = 0.5, in 0..=1e6 => "Controller time per command, serial: 1 µs limits the drive to 1,000,000 IOPS.";
        read_ahead_kib: u32 = 256, in 0..=1_048_576 => "Prefetch distance for sequential reads; 0 turns it off.";
        garbage_collection: GarbageCollectionProfile = GarbageCollectionProfile::default() => "When space is reclaimed.";
        slc: Option<SlcProfile> = None => "The SLC cache.";
        buffer: Option<BufferProfile> = None => "The write buffer.";
        housekeeping: Option<HousekeepingProfile> = None => "Periodic housekeeping that depends on the write history.";
        map_flush: Option<MapFlushProfile> = None => "Flushes of the mapping table.";
        thermal: Option<ThermalProfile> = None => "Temperature and throttling.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        power_states: Vec<PowerStateProfile> = Vec::new() => "Power states, shallowest first; at most 32, as in NVMe.";
        #[serde(skip_serializing_if = "Vec::is_empty")]
        discarded: Vec<DiscardedRange> = Vec::new() => "Ranges of a filled drive that hold nothing at the start, in their order.";
    }
}

words! {
    Initial = "Contents at the start." {
        Fresh = "fresh" => "Empty, as new or after a sanitize. The default.";
        Filled = "filled" => "Full, written sequentially once.";
    }
}

section! {
    GarbageCollectionProfile at "[flash.garbage_collection]" = "When space is reclaimed. By default as late as greedy collection allows, and never in idle time." {
        free_superblocks: u32 = 1, in 1..=1e6 => "Superblocks always kept free. They do not reduce write amplification.";
        idle_free_share: f64 = 0.0, in 0..=0.5 => "Share of superblocks freed in idle time; 0 turns it off.";
        idle_s: f64 = 5.0, in 0..=1e7 => "Idle time before it starts.";
    }
}

section! {
    SlcProfile at "[flash.slc]" = "The SLC cache: flash written with one bit per cell, folded into denser cells later." {
        bits: u32, in 2..=8 => "Bits per cell of the other flash: 2 MLC, 3 TLC, 4 QLC. Data in the dynamic part take that many times the space.";
        static_bytes: u64 = 0 => "Size of the static part, in addition to the capacity.";
        dynamic_bytes_max: u64 = 0 => "Maximum size of the dynamic part, which uses free space: (free − reserve) / bits.";
        reserve_bytes: u64 = 0 => "Free space that neither the dynamic part nor direct writes use.";
        program_us: f64, in 0.01..=1e6 => "Program time for one SLC page in every plane of a die.";
        when_full: WhenFull = WhenFull::Direct => "Write path when the cache is full.";
        fold_mb_per_s: f64, in 0.1..=1e6 => "Folding throughput while the host waits for space.";
        drain_while_writing_mb_per_s: f64 = 0.0, in 0..=1e6 => "Folding throughput concurrent with host writes, at no cost to them.";
        idle_fold_mb_per_s: f64 = 0.0, in 0..=1e6 => "Folding throughput in idle time; 0 keeps data until the space is needed.";
        idle_s: f64 = 1.0, in 0..=1e7 => "Idle time before it starts.";
    }
}

words! {
    WhenFull = "Write path when the SLC cache is full." {
        Direct = "direct" => "Directly to the dense cells, at their throughput. Folding starts when free space runs out. The default.";
        Fold = "fold" => "To the cache, after folding the same amount.";
    }
}

section! {
    BufferProfile at "[flash.buffer]" = "The write buffer in front of the flash." {
        capacity_kib: u64, in 4..=4_194_304 => "Size.";
        // 0.46 µs for 4 KiB, as NVMeVirt has it for a 970 PRO.
        copy_mb_per_s: f64 = 8900.0, in 0.1..=1e6 => "Copy throughput into the buffer.";
        #[serde(skip_serializing_if = "FlushPolicy::is_default")]
        flush: FlushPolicy = FlushPolicy::Honoured => "What a flush does.";
        #[serde(skip_serializing_if = "is_zero")]
        flush_us: f64 = 0.0, in 0..=1e6 => "Time that an honoured flush adds when anything was written: the mapping table is stored too.";
    }
}

section! {
    HousekeepingProfile at "[flash.housekeeping]" = "Periodic housekeeping bursts during writes, longer on fragmented regions. A phenomenological model: it reproduces an Intel X25-M with firmware 8820, whose real algorithm is unknown. It replaces the cost of garbage collection for sequential writes." {
        interval_s: f64 = 60.0, in 0.1..=1e6 => "Write time between bursts without fragmentation.";
        interval_jitter: f64 = 0.05, in 0..=0.9 => "Maximum deviation of an interval, as a share of it.";
        crowding: f64 = 0.0, in 0..=100 => "Fragmentation shortens the interval: it is divided by 1 + crowding · fragmentation.";
        width_s: f64 = 0.9, in 0..=1e4 => "Burst width at full fragmentation; scales with the square root of fragmentation.";
        width_s_min: f64 = 0.05, in 0..=1e4 => "Minimum burst width.";
        rate_factor: f64 = 0.1, in 0.001..=1 => "Write throughput during a burst, as a share.";
        region_kib: u32 = 8192, in 64..=4_194_304 => "Size of a region for which fragmentation is tracked.";
        sequential_kib: u32 = 512, in 1..=4_194_304 => "Contiguous writes of at least this size count as sequential, smaller ones as random.";
        random_weight: f64 = 4.0, in 0..=1e4 => "Fragmentation added by a random write: its share of the region times this, applied to the unfragmented part.";
        healing: f64 = 0.55, in 0..=1 => "Share of fragmentation removed when a region is overwritten sequentially by writes smaller than the region. Larger writes remove all.";
        small_write_fragmentation: f64 = 0.007, in 0..=1 => "Fragmentation left by tiny sequential writes; falls to 0 at the region size.";
        elsewhere_share: f64 = 0.05, in 0..=1 => "Weight of the drive's mean fragmentation against that of the written region.";
        joined_mb_per_s: f64 = 140.0, in 0.1..=1e6 => "Contiguous requests that arrive faster than this are parts of one write that the kernel split. Choose a value between write throughput and link throughput.";
        initial_fragmentation: f64 = 0.0, in 0..=1 => "Fragmentation of the whole drive at the start.";
    }
}

section! {
    MapFlushProfile at "[flash.map_flush]" = "Periodic flush of the mapping table." {
        every_mib: u64, in 1..=1e9 => "Host writes between flushes.";
        stall_ms: f64, in 0..=10_000 => "Duration of the write stall.";
    }
}

section! {
    ThermalProfile at "[flash.thermal]" = "Heating by writes, exponential cooling to ambient temperature, and throttling." {
        ambient_celsius: f64, in -60..=120 => "Ambient temperature, also the drive's at the start.";
        celsius_per_gb: f64, in 0..=1000 => "Temperature rise per GB (10⁹ bytes) written.";
        cooling_s: f64, in 0.1..=1e6 => "Time constant of cooling.";
        throttle_celsius: f64, in -50..=300 => "Throttling starts at this temperature.";
        resume_celsius: f64, in -60..=300 => "Throttling ends at this temperature.";
        rate_factor: f64, in 0.001..=1 => "Write throughput while throttled, as a share.";
    }
}

section! {
    PowerStateProfile at "[[flash.power_states]]" = "One power state." {
        idle_ms: f64, in 0..=1e10 => "Idle time before the state is entered.";
        wake_us: f64, in 0..=1e8 => "Wake-up latency of the first request.";
    }
}

section! {
    DiscardedRange at "[[flash.discarded]]" = "A range that was discarded (trimmed)." {
        first_byte: u64 => "Where it begins.";
        bytes: u64 => "Size; rounded inward to whole mapping units.";
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

    pub fn check(&self, capacity: Bytes) -> Result<(), Flaw> {
        self.check_bounds()?;
        // ONFI: the data bytes of a page are a power of two.
        for (key, kib) in [("page_kib", self.page_kib), ("mapping_kib", self.mapping_kib)] {
            Flaw::when(!kib.is_power_of_two(), key, "must be a power of two")?;
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
        self.check_discarded(capacity)?;
        self.layout(capacity)?;
        Ok(())
    }

    /// The layout of a drive of that capacity.
    /// Fails when it does not add up: too small or large for its blocks, or too little spare space.
    pub fn layout(&self, capacity: Bytes) -> Result<Layout, Flaw> {
        let page = Bytes::from_kib(u64::from(self.mapping_kib));
        let kept_free = self.garbage_collection.free_superblocks;
        Layout::new(capacity, page, self.superblock_bytes(), self.over_provisioning, kept_free)
    }

    fn check_discarded(&self, capacity: Bytes) -> Result<(), Flaw> {
        let is_filled = self.initial == Initial::Filled;
        Flaw::when(
            !is_filled && !self.discarded.is_empty(),
            "discarded",
            "is of a drive with initial = \"filled\"",
        )?;
        let mut end = 0;
        for (index, range) in self.discarded.iter().enumerate() {
            let section = format!("discarded.{index}");
            Flaw::when(range.bytes == 0, "bytes", "is 0: leave the range out").in_section(&section)?;
            let is_in_order = range.first_byte >= end;
            Flaw::when(!is_in_order, "first_byte", "lies before the end of the range before it")
                .in_section(&section)?;
            end = range.first_byte.saturating_add(range.bytes);
            let is_inside = end <= capacity.get();
            Flaw::when(!is_inside, "bytes", "reaches past the end of the drive").in_section(&section)?;
        }
        Ok(())
    }

    fn check_power_states(&self) -> Result<(), Flaw> {
        Flaw::when(self.power_states.len() > 32, "power_states", "has more than 32 entries; NVMe allows 32")?;
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
