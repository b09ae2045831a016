//! How many requests a second a virtual drive answers on one core, driven as the engine drives it: submit, ask for the
//! next moment, take what is ready. Time is processor time, which others on the machine do not change.

use crate::failure::{Doing, Failure};
use model::prng::Prng;
use model::request::{Operation, Request, Tag};
use model::units::{Instant, MIB};
use sim::profile::{Profile, open_profile, preset};
use std::fs;

/// A 3 TB disk after Wong 2019 (DT01ACA300).
const DISK: &str = r#"version = 1
name = "bench-disk"
description = "what the bench measures"
sources = ["the bench itself"]
[identity]
capacity_bytes = 3000592982016
logical_block_bytes = 512
physical_block_bytes = 4096
rotational = true
trim = false
[disk]
turns_per_minute = 7219.1
[disk.geometry]
sector_bytes = 4096
surfaces = 6
layout = "FF"
serpentine_tracks = 140
track_skew_turns = 0.1034
surface_skew_turns = 0.6034
[disk.geometry.generated_zones]
zone_count = 24
sectors_per_track_outer = 473
sectors_per_track_inner = 211
surface_spread = 0.03
[disk.seek.data_sheet]
track_to_track_ms = 1.0
average_ms = 9.0
full_stroke_ms = 20.9
"#;
/// A SATA drive of 240 GB that is full.
const FLASH: &str = r#"version = 1
name = "bench-flash"
description = "what the bench measures"
sources = ["the bench itself"]
[identity]
capacity_bytes = 240057409536
logical_block_bytes = 512
physical_block_bytes = 4096
rotational = false
trim = true
[flash]
channels = 8
dies_per_channel = 4
page_kib = 16
pages_per_block = 256
over_provisioning = 0.07
initial = "filled"
read_us = 50
program_us = 600
erase_us = 3500
channel_mb_per_s = 800
"#;
/// Random writes after which such a drive has used up its spare space and collects garbage: a tenth of its blocks.
const FLASH_WRITES_BEFORE: u64 = 240_057_409_536 / 4096 / 10;

#[derive(Clone, Copy, PartialEq)]
pub struct Workload {
    operation: Operation,
    length_bytes: u32,
    depth: u32,
    is_random: bool,
    /// Whether it ends with the drive, not with the time.
    pub is_pass: bool,
}

pub const SEQUENTIAL: Workload = Workload {
    operation: Operation::Read,
    length_bytes: MIB as u32,
    depth: 4,
    is_random: false,
    is_pass: false,
};
pub const PASS: Workload = Workload { is_pass: true, ..SEQUENTIAL };
pub const RANDOM: Workload = Workload { length_bytes: 4096, depth: 32, is_random: true, ..SEQUENTIAL };
pub const SEQUENTIAL_WRITE: Workload = Workload { operation: Operation::Write, ..SEQUENTIAL };
pub const RANDOM_WRITE: Workload = Workload { operation: Operation::Write, ..RANDOM };

/// Requests, and the seconds that they took, on `disk`, `flash` (both without a link) or the virtual drive of that name.
pub fn answered(drive: &'static str, workload: Workload, seconds: f64) -> Result<(u64, f64), Failure> {
    const STRIDE: u64 = 16_384;
    let before = if drive == "flash" && workload.is_random { FLASH_WRITES_BEFORE } else { 0 };
    let profile = match drive {
        "disk" => Profile::parse(DISK, "the bench"),
        "flash" => Profile::parse(FLASH, "the bench"),
        name => preset(name),
    };
    let profile = profile.doing("read the drive of the bench")?;
    let mut drive = open_profile(&profile, "sim:bench", 1).doing("open the drive of the bench")?;
    let blocks = drive.facts().capacity.get() / u64::from(workload.length_bytes);
    let mut prng = Prng::new(2, 0);
    let mut issued = 0;
    let mut next = |tag| {
        let block = if workload.is_random { prng.below(blocks) } else { issued % blocks };
        issued += 1;
        let (operation, length_bytes) = (workload.operation, workload.length_bytes);
        Request { tag, operation, offset_bytes: block * u64::from(length_bytes), length_bytes }
    };
    let (mut now, mut answered) = (Instant::START, 0u64);
    let mut started_s = processor_s()?;
    let mut look_at = before.max(STRIDE);
    for tag in 0..workload.depth {
        drive.submit(next(Tag(tag)), now);
    }
    while let Some(moment) = drive.next_completion_at() {
        now = moment.max(now);
        while let Some(done) = drive.take_completion(now) {
            answered += 1;
            drive.submit(next(done.tag), now);
        }
        if answered >= look_at {
            if look_at == before {
                started_s = processor_s()?;
            } else if !workload.is_pass && processor_s()? - started_s >= seconds {
                break;
            }
            look_at = answered + STRIDE;
        }
        if workload.is_pass && answered >= blocks {
            break;
        }
    }
    Ok((answered - before, processor_s()? - started_s))
}

/// Processor time of this thread so far: the first number of `/proc/thread-self/schedstat`, in ns.
fn processor_s() -> Result<f64, Failure> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").doing("read the processor time")?;
    let nanoseconds = text.split_whitespace().next().unwrap_or_default();
    Ok(nanoseconds.parse::<f64>().doing("read the processor time")? / 1e9)
}
