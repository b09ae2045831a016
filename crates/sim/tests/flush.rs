//! What a flush does on virtual drives, by the word in their profile; and commits of the drives that ship against
//! what was published.

use model::request::{Operation, Request, Tag};
use model::units::{Instant, MIB, Nanos};
use sim::Drive;
use sim::profile::{Profile, open_profile, preset_text};

fn drive(name: &str, changes: &[(&str, &str)]) -> Box<dyn Drive + Send> {
    let mut text = preset_text(name).unwrap().to_string();
    for (before, after) in changes {
        assert!(text.contains(before), "{name} has {before}");
        text = text.replace(before, after);
    }
    let profile = Profile::parse(&text, name).unwrap();
    open_profile(&profile, &format!("sim:{name}"), 1).unwrap()
}

/// When a request that is submitted at `now` is complete.
fn done(drive: &mut dyn Drive, operation: Operation, offset_bytes: u64, bytes: u64, now: Instant) -> Instant {
    drive.submit(Request { tag: Tag(0), operation, offset_bytes, length_bytes: bytes as u32 }, now);
    let mut at = now;
    loop {
        at = at.max(drive.next_completion_at().expect("a request is in flight"));
        if let Some(completion) = drive.take_completion(at) {
            return Instant::new(completion.completed_ns);
        }
    }
}

/// The mean time of a write and its flush, over a hundred of them one behind the other.
fn commit_us(drive: &mut dyn Drive, bytes: u64) -> f64 {
    let mut now = Instant::START + Nanos::from_secs(1);
    let begin = now;
    for number in 0..100 {
        now = done(drive, Operation::Write, number * bytes, bytes, now);
        now = done(drive, Operation::Flush, 0, 0, now);
    }
    now.since(begin).seconds() * 1e6 / 100.0
}

/// The time of a flush after 8 MiB of writes at random.
fn flush_ms(drive: &mut dyn Drive) -> f64 {
    let mut now = Instant::START + Nanos::from_secs(1);
    for number in 0..128 {
        now = done(drive, Operation::Write, (number * 7_919 % 1000) * 100 * MIB, 65_536, now);
    }
    done(drive, Operation::Flush, 0, 0, now).since(now).seconds() * 1e3
}

const BUFFER: &str = "[flash.buffer]\n";

#[test]
fn only_an_honoured_flush_waits_for_the_medium() {
    let disk = |word: &str| {
        flush_ms(&mut *drive(
            "dt01aca300",
            &[("[disk.write_cache]", &format!("[disk.write_cache]\nflush = \"{word}\""))],
        ))
    };
    // 128 writes of 64 KiB, sorted: no less than half a revolution of 8.3 ms each, and no more than an unsorted seek.
    let honoured = disk("honoured");
    assert!((128.0 * 4.0..128.0 * 16.0).contains(&honoured), "{honoured}");
    assert!(disk("ignored") < 1.0 && disk("protected") < 1.0);
    let flash = |word: &str| {
        flush_ms(&mut *drive(
            "970-pro",
            &[(BUFFER, &format!("{BUFFER}flush = \"{word}\"\nflush_us = 500\n"))],
        ))
    };
    assert!(flash("honoured") > 0.685, "a page takes 0.185 ms, and the mapping table 0.5 ms");
    assert!(flash("ignored") < 0.05 && flash("protected") < 0.05);
}

/// However little was written: its page is programmed before the flush completes, in the SLC cache where there is one.
#[test]
fn a_flush_of_flash_waits_for_the_page() {
    let pages_us = [
        ("660p", 250.0),
        ("870-qvo", 1978.5),
        ("970-pro", 185.0),
        ("980-pro", 131.07),
        ("nm790", 209.72),
        ("sata-tlc-500gb", 689.85),
        ("x25-m", 1154.7),
    ];
    for (name, page_us) in pages_us {
        let us = commit_us(&mut *drive(name, &[]), 4096);
        assert!((page_us..1.3 * page_us + 100.0).contains(&us), "{name}: {us}");
    }
    let us = commit_us(&mut *drive("970-pro", &[(BUFFER, &format!("{BUFFER}flush = \"ignored\"\n"))]), 4096);
    assert!(us < 50.0, "{us}");
}

#[test]
fn a_protected_cache_is_not_reported_as_volatile() {
    let reported = |word: &str| {
        drive("970-pro", &[(BUFFER, &format!("{BUFFER}flush = \"{word}\"\n"))]).facts().write_cache
    };
    assert_eq!(["honoured", "ignored", "protected"].map(reported), [Some(true), Some(true), Some(false)]);
}

/// A write after a flush comes too late for its sector and waits for most of a revolution, 8.33 ms at 7200 rpm.
#[test]
fn a_commit_to_a_disk_is_a_revolution() {
    let us = commit_us(&mut *drive("dt01aca300", &[]), 4096);
    assert!((8_300.0..8_400.0).contains(&us), "{us}");
}

/// Small Datum, 2026: 891 µs on a Samsung 990 Pro; 12 to 58 µs on drives with power-loss protection.
#[test]
fn commits_are_as_published() {
    let consumer = commit_us(&mut *drive("consumer-nvme-1tb", &[]), 16_384);
    assert!((consumer / 891.0 - 1.0).abs() < 0.05, "{consumer}");
    let protected = commit_us(&mut *drive("dc-nvme-1tb", &[]), 16_384);
    assert!((12.0..58.0).contains(&protected), "{protected}");
}
