//! How many requests a second a virtual drive answers on one core, driven as the engine drives it: submit, ask for the
//! next moment, take what is ready. `cargo xtask bench sim` runs it as a process of its own and reads the line it prints.
//!
//! `drive_rate DRIVE WORKLOAD SECONDS`, with DRIVE one of disk, flash (without a link) and the names of virtual drives, and
//! WORKLOAD one of sequential, random, pass, sequential-write, random-write. `pass` ends with the drive, whatever SECONDS
//! says. Time is processor time, which others on the machine do not change.

use model::prng::Prng;
use model::request::{Operation, Request, Tag};
use model::units::{Instant, MIB};
use sim::Drive;
use sim::profile::{Profile, open_profile};
use std::error::Error;

/// A 3 TB disk after Wong 2019 (DT01ACA300).
const DISK: &str = r#"version = 1
name = "bench-disk"
description = "what the bench measures"
sources = ["the bench itself"]
[identity]
model = "bench"
serial = "BENCH"
firmware = "1"
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
model = "bench"
serial = "BENCH"
firmware = "1"
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
const RANDOM_BYTES: u32 = 4096;
const SEQUENTIAL_BYTES: u32 = MIB as u32;

struct Workload {
    operation: Operation,
    length_bytes: u32,
    depth: u32,
    is_random: bool,
    /// Whether it ends with the drive, not with the time.
    is_pass: bool,
    before: u64,
}

impl Workload {
    fn named(name: &str) -> Option<Workload> {
        let of = |operation, length_bytes, depth, is_random| Workload {
            operation,
            length_bytes,
            depth,
            is_random,
            is_pass: name == "pass",
            before: 0,
        };
        match name {
            "sequential" | "pass" => Some(of(Operation::Read, SEQUENTIAL_BYTES, 4, false)),
            "random" => Some(of(Operation::Read, RANDOM_BYTES, 32, true)),
            "sequential-write" => Some(of(Operation::Write, SEQUENTIAL_BYTES, 4, false)),
            "random-write" => Some(of(Operation::Write, RANDOM_BYTES, 32, true)),
            _ => None,
        }
    }
}

struct Rate {
    requests: u64,
    seconds: f64,
    virtual_seconds: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [drive_name, workload, seconds] = arguments.as_slice() else {
        return Err(
            "usage: drive_rate DRIVE sequential|random|pass|sequential-write|random-write SECONDS".into()
        );
    };
    let mut workload = Workload::named(workload).ok_or("there is no such workload")?;
    if drive_name == "flash" && workload.is_random {
        workload.before = FLASH_WRITES_BEFORE;
    }
    let mut drive = open(drive_name)?;
    let Rate { requests, seconds, virtual_seconds } = run(&mut *drive, &workload, seconds.parse()?)?;
    println!(
        "{{\"requests\": {requests}, \"seconds\": {seconds:.6}, \"virtual_seconds\": {virtual_seconds:.3}, \
         \"requests_per_second\": {:.0}}}",
        requests as f64 / seconds
    );
    Ok(())
}

fn open(name: &str) -> Result<Box<dyn Drive>, Box<dyn Error>> {
    let text = match name {
        "disk" => DISK,
        "flash" => FLASH,
        _ => return Ok(sim::open(name, 1)?),
    };
    let profile = Profile::parse(text, "the bench")?;
    Ok(open_profile(&profile, "sim:bench", 1)?)
}

fn run(drive: &mut dyn Drive, workload: &Workload, seconds: f64) -> Result<Rate, Box<dyn Error>> {
    const STRIDE: u64 = 16_384;
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
    let (mut started_s, mut begun) = (processor_s()?, now);
    let mut look_at = workload.before.max(STRIDE);
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
            if look_at == workload.before {
                (started_s, begun) = (processor_s()?, now);
            } else if !workload.is_pass && processor_s()? - started_s >= seconds {
                break;
            }
            look_at = answered + STRIDE;
        }
        if workload.is_pass && answered >= blocks {
            break;
        }
    }
    Ok(Rate {
        requests: answered - workload.before,
        seconds: processor_s()? - started_s,
        virtual_seconds: now.since(begun).seconds(),
    })
}

/// Processor time of this process so far: the first number of `/proc/PID/schedstat`, in ns.
fn processor_s() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds = text.split_whitespace().next().ok_or("schedstat is empty")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}
