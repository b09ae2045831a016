//! Drawn flash drives: what is built together is drawn together, by make.

use crate::flash::profile::{
    BufferProfile, FlashProfile, GarbageCollectionProfile, HousekeepingProfile, Initial, MapFlushProfile,
    PowerStateProfile, SlcProfile, ThermalProfile, WhenFull,
};
use crate::flush::FlushPolicy;
use crate::generator::draws::{Draws, Range, rounded};
use crate::generator::family::{Family, frame, size};
use crate::link::{LinkKind, LinkProfile};
use crate::profile::Profile;

#[derive(Clone, Copy)]
struct Make {
    link: LinkKind,
    pcie_generation: Option<u32>,
    sizes_gb: &'static [u64],
    channels: &'static [u32],
    channel_mb_per_s: Range,
    bits: &'static [(u64, u32)],
    page_kib: &'static [u32],
    pages_per_block: &'static [u32],
}

/// X25-M: 10 channels, pages of 4 KiB, blocks of 512 KiB. ONFI 1 and 2 carry 50 to 200 MB/s.
const EARLY: Make = Make {
    link: LinkKind::Sata300,
    pcie_generation: None,
    sizes_gb: &[64, 80, 120, 128, 160, 240, 256],
    channels: &[4, 8, 10],
    channel_mb_per_s: (40.0, 200.0),
    bits: &[(100, 2)],
    page_kib: &[4, 8],
    pages_per_block: &[128, 256],
};
/// 870 EVO, 870 QVO, MX500; MQSim: 333 MB/s.
const SATA: Make = Make {
    link: LinkKind::Sata600,
    channels: &[4, 8],
    sizes_gb: &[64, 120, 128, 240, 250, 256, 480, 500, 512, 960, 1000, 1024, 2000, 4000],
    channel_mb_per_s: (200.0, 533.0),
    bits: &[(25, 2), (50, 3), (25, 4)],
    page_kib: &[8, 16],
    pages_per_block: &[256, 384, 512, 768, 1024, 1536],
    ..EARLY
};
/// 970 PRO (8 channels of 800 MB/s, NVMeVirt), 660p (4 channels), ZN540 (450 MB/s).
const PCIE_3: Make = Make {
    link: LinkKind::Nvme,
    pcie_generation: Some(3),
    sizes_gb: &[128, 250, 256, 500, 512, 1000, 1024, 2000],
    channel_mb_per_s: (450.0, 800.0),
    bits: &[(20, 2), (55, 3), (25, 4)],
    page_kib: &[16],
    ..SATA
};
/// 980 PRO (8 channels), NM790 (4): 1200 and 2400 MB/s are those of ONFI 4.1 and 5 (recalled).
const PCIE_4: Make = Make {
    pcie_generation: Some(4),
    sizes_gb: &[500, 512, 1000, 1024, 2000, 2048, 4000],
    channel_mb_per_s: (1000.0, 2400.0),
    bits: &[(80, 3), (20, 4)],
    ..PCIE_3
};
const MAKES: [(u64, Make); 4] = [(15, EARLY), (35, SATA), (25, PCIE_3), (25, PCIE_4)];

/// Times of cells in µs, and what a die holds in GB, by bits of a cell. Read: 29.8 (970 PRO) to 75 (MQSim), 40 to 65
/// (SimpleSSD), more for four bits (recalled). Program: 185 (970 PRO) to 750 (MQSim) and 1300 (SimpleSSD), 561 and 1914
/// (ZN540), as means of all kinds of pages; 4500 and 6500 make the 100 and 160 MB/s of the 660p and the 870 QVO.
struct Cells {
    read_us: Range,
    program_us: Range,
    die_gb: &'static [u64],
}
const TWO_BITS: Cells = Cells { read_us: (30.0, 75.0), program_us: (185.0, 1300.0), die_gb: &[8, 16, 32] };
const THREE_BITS: Cells =
    Cells { read_us: (45.0, 80.0), program_us: (350.0, 1300.0), die_gb: &[32, 64, 128] };
const FOUR_BITS: Cells = Cells { read_us: (70.0, 140.0), program_us: (1900.0, 6500.0), die_gb: &[64, 128] };

/// 2 ms (FEMU, X25-M) to 3.8 ms (MQSim); 10 ms for four bits (recalled).
const ERASE_US: Range = (1500.0, 10_000.0);
/// 5 to 30 %: 7 % (970 PRO, MQSim, X25-M) to 25 % (SimpleSSD).
const OVER_PROVISIONING: Range = (0.05, 0.30);
/// MQSim suspends a program after 100 µs and an erase after 700 µs. One in four does not (660p).
const SUSPEND_US: Range = (50.0, 700.0);
/// 21.5 µs of firmware for a read and 4.0 µs for a write (970 PRO, NVMeVirt); 20 µs (ZN540).
const READ_OVERHEAD_US: Range = (10.0, 40.0);
const WRITE_OVERHEAD_US: Range = (2.0, 10.0);
/// A million operations a second, and a fifth of that on small controllers.
const COMMAND_US: Range = (0.5, 5.0);
const READ_AHEAD_KIB: [u32; 4] = [128, 256, 512, 1024];
/// MQSim collects below 5 % free, and in emergency at 0.5 %; idle times of 1 to 30 s.
const FREE_SUPERBLOCKS: (u32, u32) = (1, 4);
const IDLE_FREE_SHARE: Range = (0.005, 0.05);
const IDLE_S: Range = (0.2, 30.0);

/// Static parts: 6 of 4000 (870 QVO), 12 of 1000 (660p), 7 of 500, 12 of 250 GB (870 EVO, recalled).
const STATIC_SHARE: Range = (0.0015, 0.05);
/// Dynamic parts: 72 of 4000 (870 QVO), 107 of 1000 (980 PRO), 280 of 2000 (NM790), 341 of 1000 GB (SN580).
const DYNAMIC_SHARE: Range = (0.018, 0.34);
/// Free space that is left alone: a quarter (660p), 9 % (NM790); none on others.
const RESERVE_SHARE: Range = (0.05, 0.25);
/// The rate into the cache against the one past it: 1.2 (870 EVO), 2.7 (980 PRO), 5 (980), 9 (SN580), 18 (660p).
const SLC_TO_DENSE: Range = (1.2, 18.0);
/// One bit is programmed in 75 µs at best (recalled).
const SLC_PROGRAM_US_MIN: f64 = 75.0;
/// Folding is no faster than dense cells: a third level of 0.3 to 0.5 of the second (NM800 Pro, NM790, Atom 50).
const FOLD_SHARE: Range = (0.25, 1.0);
const DRAIN_SHARE: Range = (0.05, 0.3);

/// 1 MiB (970 PRO, NVMeVirt) to 16 MiB of memory (X25-M), and half and four times that. One in ten has none.
const BUFFER_KIB: Range = (512.0, 65_536.0);

/// Around what is seen of an X25-M: a burst below a second about once a minute (8thway 2009).
const INTERVAL_S: Range = (25.0, 120.0);
const BURST_S: Range = (0.4, 2.0);
const BURST_RATE: Range = (0.05, 0.4);

/// Thermal: throttling from 70 to 85 °C (recalled), all else assumed.
const THROTTLE_CELSIUS: Range = (70.0, 85.0);

const SOURCES: [&str; 3] = [
    "Ranges of times and structures: NVMeVirt (FAST 2023), MQSim (FAST 2018), FEMU (FAST 2018), SimpleSSD, and the drives that these were calibrated against",
    "Ranges of SLC caches: TechPowerUp, AnandTech and KitGuru on fourteen drives of 0.5 to 4 TB; of valleys: 8thway.blogspot.com, 2009-06, on the X25-M",
    "Heat, sleep, the flushing of the map and idle work are assumed",
];

pub(super) fn draw(seed: u64) -> Profile {
    draw_as(Family::Flash, seed)
}

pub(super) fn draw_as(family: Family, seed: u64) -> Profile {
    let topic = |name| Draws::new(family, seed, name);
    let mut draws = topic(b"make____");
    let make = draws.weighted(&MAKES);
    let gb = draws.one_of(make.sizes_gb);
    let bits = draws.weighted(make.bits);
    let lanes = draws.weighted(&[(20, 2), (80, 4)]);
    let bytes = capacity_bytes(gb);
    let mut flash = draw_cells(&mut topic(b"cells___"), &make, bits, gb);
    let mut extras = topic(b"extras__");
    flash.slc = draw_slc(&mut topic(b"slccache"), &flash, bits, bytes);
    let link = LinkProfile {
        pcie_generation: make.pcie_generation,
        pcie_lanes: make.pcie_generation.map(|_| lanes),
        ..LinkProfile::of(make.link)
    };
    flash.housekeeping = draw_housekeeping(&mut topic(b"valleys_"), &flash, &link);
    flash.map_flush = draw_map_flush(&mut extras);
    flash.thermal = draw_thermal(&mut topic(b"thermal_"), make.link == LinkKind::Nvme);
    flash.power_states = draw_power_states(&mut topic(b"sleep___"), make.link == LinkKind::Nvme);
    let mut profile = frame(family, seed, describe(&flash, bits, bytes), &SOURCES);
    profile.identity.capacity_bytes = Some(bytes);
    profile.identity.physical_block_bytes = extras.one_of(&[512, 4096]);
    profile.identity.rotational = Some(false);
    profile.identity.trim = Some(make.link != LinkKind::Sata300 || extras.percent(60));
    profile.link = Some(link);
    profile.flash = Some(flash);
    profile
}

fn describe(flash: &FlashProfile, bits: u32, bytes: u64) -> String {
    let cache = match &flash.slc {
        None => "no SLC cache".to_string(),
        Some(slc) if slc.dynamic_bytes_max == 0 => format!("{} of SLC cache", size(slc.static_bytes)),
        Some(slc) => format!("up to {} of SLC cache", size(slc.static_bytes + slc.dynamic_bytes_max)),
    };
    let dies = flash.dies();
    format!("A random flash drive: {}, {bits} bits a cell, {dies} dies, {cache}", size(bytes))
}

/// What a drive of that size holds by the makers' agreement (IDEMA LBA1-03, SFF-8447).
fn capacity_bytes(gb: u64) -> u64 {
    (97_696_368 + 1_953_504 * (gb - 50)) * 512
}

fn draw_cells(draws: &mut Draws, make: &Make, bits: u32, gb: u64) -> FlashProfile {
    let cells = match bits {
        2 => TWO_BITS,
        3 => THREE_BITS,
        _ => FOUR_BITS,
    };
    let channels = draws.one_of(make.channels);
    // 16 dies on a channel are as many as its drivers can load (recalled).
    let dies_per_channel = gb.div_ceil(draws.one_of(cells.die_gb) * u64::from(channels)).min(16) as u32;
    let over_provisioning = draws.even(OVER_PROVISIONING);
    let free_superblocks = draws.count_u32(FREE_SUPERBLOCKS);
    let mut flash = FlashProfile {
        channels,
        dies_per_channel,
        planes: draws.one_of(&[2, 4]),
        page_kib: draws.one_of(make.page_kib),
        pages_per_block: 0,
        over_provisioning,
        mapping_kib: 4,
        initial: draws.weighted(&[(60, Initial::Fresh), (40, Initial::Filled)]),
        read_us: draws.even(cells.read_us),
        program_us: draws.by_ratio(cells.program_us),
        erase_us: draws.by_ratio(ERASE_US),
        suspend_us: Some(draws.by_ratio(SUSPEND_US)).filter(|_| draws.percent(75)),
        channel_mb_per_s: draws.by_ratio(make.channel_mb_per_s),
        read_overhead_us: draws.even(READ_OVERHEAD_US),
        write_overhead_us: draws.even(WRITE_OVERHEAD_US),
        command_us: draws.by_ratio(COMMAND_US),
        read_ahead_kib: draws.one_of(&READ_AHEAD_KIB),
        garbage_collection: GarbageCollectionProfile {
            free_superblocks,
            idle_free_share: if draws.percent(50) { draws.even(IDLE_FREE_SHARE) } else { 0.0 },
            idle_s: draws.by_ratio(IDLE_S),
        },
        slc: None,
        buffer: draw_buffer(draws),
        housekeeping: None,
        map_flush: None,
        thermal: None,
        power_states: Vec::new(),
        discarded: Vec::new(),
    };
    flash.pages_per_block = draw_pages_per_block(draws, make, &flash, gb);
    flash
}

/// The spare space must hold superblocks kept free, being written, and some for garbage: else blocks are smaller.
fn draw_pages_per_block(draws: &mut Draws, make: &Make, flash: &FlashProfile, gb: u64) -> u32 {
    let spare_bytes = flash.over_provisioning * capacity_bytes(gb) as f64;
    let superblocks = f64::from(flash.garbage_collection.free_superblocks + 12);
    let fits = |pages: &u32| {
        let page_bytes = u64::from(flash.dies()) * flash.die_page_bytes();
        (page_bytes * u64::from(*pages)) as f64 * superblocks <= spare_bytes
    };
    let fitting: Vec<u32> = make.pages_per_block.iter().copied().filter(fits).collect();
    if fitting.is_empty() { make.pages_per_block[0] } else { draws.one_of(&fitting) }
}

fn draw_buffer(draws: &mut Draws) -> Option<BufferProfile> {
    let capacity_kib = draws.by_ratio(BUFFER_KIB) as u64;
    // 0.46 µs for 4 KiB are 8900 MB/s (970 PRO, NVMeVirt). Consumer drives have no capacitors.
    let (copy_mb_per_s, is_protected) = (draws.by_ratio((2000.0, 9000.0)), draws.percent(15));
    let flush = if is_protected { FlushPolicy::Protected } else { FlushPolicy::Honoured };
    draws.percent(90).then_some(BufferProfile { capacity_kib, copy_mb_per_s, flush, flush_us: 0.0 })
}

fn draw_slc(draws: &mut Draws, flash: &FlashProfile, bits: u32, bytes: u64) -> Option<SlcProfile> {
    let (has_static, has_dynamic) =
        draws.weighted(&[(25, (false, false)), (20, (true, false)), (20, (false, true)), (35, (true, true))]);
    let share = |share: f64| (bytes as f64 * share / 1e6) as u64 * 1_000_000;
    let static_bytes = share(draws.by_ratio(STATIC_SHARE));
    // No more than all cells hold with one bit each.
    let dynamic_bytes = share(draws.by_ratio(DYNAMIC_SHARE).min(1.0 / f64::from(bits)));
    let reserve_bytes = share(draws.even(RESERVE_SHARE));
    let has_reserve = draws.percent(40);
    let dense_mb_per_s = flash.dense_write_rate() / 1e6;
    let ratio = draws.by_ratio(SLC_TO_DENSE);
    let slc = SlcProfile {
        bits,
        static_bytes: if has_static { static_bytes } else { 0 },
        dynamic_bytes_max: if has_dynamic { dynamic_bytes } else { 0 },
        reserve_bytes: if has_dynamic && has_reserve { reserve_bytes } else { 0 },
        program_us: rounded((flash.program_us / ratio).max(SLC_PROGRAM_US_MIN)),
        when_full: draws.weighted(&[(70, WhenFull::Direct), (30, WhenFull::Fold)]),
        fold_mb_per_s: rounded(dense_mb_per_s * draws.even(FOLD_SHARE)),
        drain_while_writing_mb_per_s: match (draws.percent(25), draws.even(DRAIN_SHARE)) {
            (true, share) => rounded(dense_mb_per_s * share),
            (false, _) => 0.0,
        },
        // One in five keeps what is in it (660p).
        idle_fold_mb_per_s: match (draws.percent(80), draws.even(FOLD_SHARE)) {
            (true, share) => rounded(dense_mb_per_s * share),
            (false, _) => 0.0,
        },
        idle_s: draws.by_ratio(IDLE_S),
    };
    (has_static || has_dynamic).then_some(slc)
}

/// Valleys, on drives without a cache that the link is faster than: only there they were seen.
fn draw_housekeeping(
    draws: &mut Draws,
    flash: &FlashProfile,
    link: &LinkProfile,
) -> Option<HousekeepingProfile> {
    let link_mb_per_s = match link.kind {
        Some(LinkKind::Sata300) => 280.0,
        Some(LinkKind::Sata600) => 561.0,
        _ => return None,
    };
    let written_mb_per_s = flash.dense_write_rate() / 1e6;
    let can = flash.slc.is_none() && written_mb_per_s < 0.7 * link_mb_per_s;
    let housekeeping = HousekeepingProfile {
        interval_s: draws.by_ratio(INTERVAL_S),
        interval_jitter: draws.even((0.02, 0.1)),
        width_s: draws.by_ratio(BURST_S),
        rate_factor: draws.by_ratio(BURST_RATE),
        region_kib: draws.one_of(&[4096, 8192, 16_384]),
        random_weight: draws.even((2.0, 6.0)),
        healing: draws.even((0.35, 0.75)),
        joined_mb_per_s: rounded((written_mb_per_s * link_mb_per_s).sqrt()),
        initial_fragmentation: match (draws.percent(50), draws.even((0.1, 0.9))) {
            (true, fragmentation) => fragmentation,
            (false, _) => 0.0,
        },
        ..HousekeepingProfile::default()
    };
    (draws.percent(60) && can).then_some(housekeeping)
}

/// The map is written out after so much; how much and how long is assumed.
fn draw_map_flush(draws: &mut Draws) -> Option<MapFlushProfile> {
    let flush = MapFlushProfile {
        every_mib: draws.by_ratio((64.0, 2048.0)) as u64,
        stall_ms: draws.by_ratio((1.0, 20.0)),
    };
    draws.percent(30).then_some(flush)
}

/// Heat slows two NVMe drives in five, if they write for long enough.
fn draw_thermal(draws: &mut Draws, is_nvme: bool) -> Option<ThermalProfile> {
    let throttle_celsius = draws.even(THROTTLE_CELSIUS);
    let thermal = ThermalProfile {
        ambient_celsius: draws.even((25.0, 45.0)),
        celsius_per_gb: draws.by_ratio((0.05, 0.4)),
        cooling_s: draws.by_ratio((60.0, 600.0)),
        throttle_celsius,
        resume_celsius: rounded(throttle_celsius - draws.even((3.0, 12.0))),
        rate_factor: draws.even((0.2, 0.6)),
    };
    (draws.percent(40) && is_nvme).then_some(thermal)
}

/// Sleep: NVMe drives have up to three depths after 0.1 to 3 s, and wake up in 100 ms; SATA in 10 (recalled).
fn draw_power_states(draws: &mut Draws, is_nvme: bool) -> Vec<PowerStateProfile> {
    let light =
        PowerStateProfile { idle_ms: draws.by_ratio((50.0, 200.0)), wake_us: draws.by_ratio((50.0, 5000.0)) };
    let deep = PowerStateProfile {
        idle_ms: draws.by_ratio((500.0, 3000.0)),
        wake_us: draws.by_ratio((5000.0, 50_000.0)),
    };
    let slumber = PowerStateProfile { wake_us: draws.by_ratio((1000.0, 10_000.0)), ..light.clone() };
    match (is_nvme, draws.count((0, 9))) {
        (true, 0..=3) => vec![light, deep],
        (true, 4..=5) => vec![light],
        (false, 0..=1) => vec![slumber],
        _ => Vec::new(),
    }
}
