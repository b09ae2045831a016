//! Reads by hand, and many of them by counting balls in bins.

use super::*;

fn profile(channels: u32, dies_per_channel: u32) -> FlashProfile {
    toml::from_str(&format!(
        "channels = {channels}\ndies_per_channel = {dies_per_channel}\nplanes = 2\npage_kib = 16\n\
         pages_per_block = 64\nover_provisioning = 0.1\nread_us = 40\nprogram_us = 400\nerase_us = 3000\n\
         channel_mb_per_s = 800\nread_ahead_kib = 0\n"
    ))
    .unwrap()
}

#[test]
fn one_page_takes_its_read_and_its_transfer() {
    let mut dies = Dies::new(&profile(4, 2), 1);
    let read = dies.read(0, 4096, 1.0, 0.0);
    // 40 µs and 4096 B at 800 MB/s: 5.12 µs.
    assert!((read.end_s - 1.0 - 45.12e-6).abs() < 1e-12);
    assert!((dies.undisturbed_s(4096) - 45.12e-6).abs() < 1e-15);
    let again = dies.read(0, 4096, 1.0, 0.0);
    assert!((again.end_s - 1.0 - 90.24e-6).abs() < 1e-12, "the die reads one at a time");
}

#[test]
fn a_large_read_uses_all_dies_and_channels() {
    let mut dies = Dies::new(&profile(4, 2), 1);
    // 256 KiB: a page of 32 KiB from each of 8 dies; two transfers of 40.96 µs on each channel.
    let read = dies.read(0, 256 * KIB, 0.0, 0.0);
    assert!((read.end_s - 121.92e-6).abs() < 1e-9, "{}", read.end_s);
    let mut dies = Dies::new(&profile(4, 2), 1);
    let read = dies.read(0, 16 << 20, 0.0, 0.0);
    // 16 MiB over 3.2 GB/s: 5.24 ms, and 40 µs to begin.
    assert!((read.end_s - 5.283e-3).abs() < 1e-5, "{}", read.end_s);
}

#[test]
fn a_read_waits_for_what_its_die_writes() {
    let mean = |profile: &FlashProfile| {
        let mut dies = Dies::new(profile, 1);
        let waits = (0..20_000).map(|_| dies.wait_for_writing(1.0));
        waits.sum::<f64>() / 20_000.0
    };
    let plain = profile(4, 2);
    // Erasing takes 3000 of 64 · 400 + 3000 µs: 0.105 · 1500 + 0.895 · 200 = 336 µs.
    assert!((mean(&plain) - 336e-6).abs() < 10e-6, "{}", mean(&plain));
    let suspending = FlashProfile { suspend_us: Some(100.0), ..plain };
    // U(0, 400) cut at 100: 87.5; U(0, 3000) cut at 100: 98.3.
    assert!((mean(&suspending) - 88.6e-6).abs() < 1e-6, "{}", mean(&suspending));
}

#[test]
fn reading_ahead_keeps_a_single_reader_at_full_rate() {
    let rate = |read_ahead_kib: u32| {
        let mut dies = Dies::new(&FlashProfile { read_ahead_kib, ..profile(4, 2) }, 1);
        let mut at_s = 0.0;
        (0..1000).for_each(|index| at_s = dies.read(index * 128 * KIB, 128 * KIB, at_s + 10e-6, 0.0).end_s);
        1000.0 * 128.0 * 1024.0 / at_s
    };
    // All channels carry 3.2 GB/s.
    assert!((rate(256) / 3.2e9 - 1.0).abs() < 0.02, "{}", rate(256));
    assert!(rate(0) < 1.6e9, "{}", rate(0));
}

/// Four reads of 1 MiB at once where nothing was read before: 1 MiB of read-ahead cannot have come earlier, so that 64 of them come no
/// faster than all channels carry them.
#[test]
fn nothing_is_read_ahead_before_a_stream_begins() {
    let mut dies = Dies::new(&FlashProfile { read_ahead_kib: 1024, ..profile(4, 2) }, 1);
    let mut ends_s = Vec::new();
    for index in 0..64u64 {
        let at_s = if index < 4 { 1.0 } else { ends_s[index as usize - 4] };
        ends_s.push(dies.read(index << 20, 1 << 20, at_s, 0.0).end_s);
    }
    let rate = 63.0 * f64::from(1 << 20) / (ends_s[63] - ends_s[0]);
    assert!((rate / 3.2e9 - 1.0).abs() < 1e-9, "{rate}");
}
