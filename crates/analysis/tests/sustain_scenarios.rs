//! Writes that go on, made up: what the levels and the fall are taken to be when pieces scatter, stall, wander and recover.

use analysis::sustained::{Piece, Standing, levels, memory_bytes, standing};
use model::prng::Prng;

/// Pieces that grow as those of `sustain` do, with the rate that `bytes_per_second` gives for what had been written, and so much noise.
fn pieces(total: f64, noise: f64, seed: u64, bytes_per_second: impl Fn(f64, usize) -> f64) -> Vec<Piece> {
    let mut prng = Prng::new(seed, 0);
    let mut pieces = Vec::new();
    let (mut written, mut at_s) = (0.0, 0.0);
    while written < total {
        let bytes = (0.04_f64 * written).max(16e6);
        // In steps, so that a fall lies within a piece.
        let steps = 50;
        let seconds: f64 = (0..steps)
            .map(|step| {
                bytes
                    / f64::from(steps)
                    / bytes_per_second(written + bytes * f64::from(step) / f64::from(steps), pieces.len())
            })
            .sum();
        let seconds = seconds * (noise * prng.normal()).exp();
        pieces.push(Piece { phase: pieces.len() as u32, start_s: at_s, bytes, seconds, flush_s: 0.0 });
        written += bytes;
        at_s += seconds;
    }
    pieces
}

fn fall(pieces: &[Piece]) -> Option<(f64, f64, f64)> {
    match standing(pieces, memory_bytes(false)) {
        Standing::Fell(fall) => Some((fall.bytes.value, fall.rate_before().value, fall.rate_after().value)),
        _ => None,
    }
}

#[test]
fn a_fall_is_found_within_three_percent_although_pieces_scatter() {
    for seed in 0..50 {
        let written = pieces(13e9, 0.015, seed, |written, _| if written < 10e9 { 400e6 } else { 250e6 });
        let (bytes, before, after) =
            fall(&written).unwrap_or_else(|| panic!("seed {seed}: {:?}", levels(&written)));
        assert!((bytes / 10e9 - 1.0).abs() < 0.03, "seed {seed}: {bytes}");
        assert!(
            (before / 400e6 - 1.0).abs() < 0.03 && (after / 250e6 - 1.0).abs() < 0.03,
            "seed {seed}: {before} {after}"
        );
    }
}

#[test]
fn noise_alone_never_falls() {
    for seed in 0..500 {
        let noise = [0.0, 0.005, 0.02, 0.1, 0.3][seed as usize % 5];
        let written = pieces(40e9, noise, seed, |_, _| 200e6);
        assert_eq!(fall(&written), None, "seed {seed}, noise {noise}");
    }
}

#[test]
fn stalls_and_a_time_of_other_load_are_no_fall() {
    let stalls = |written: f64, piece: usize| if piece % 17 == 9 { 20e6 } else { 200e6 + 0.0 * written };
    assert_eq!(fall(&pieces(40e9, 0.01, 1, stalls)), None);
    let load = |_: f64, piece: usize| if (60..75).contains(&piece) { 90e6 } else { 200e6 };
    assert_eq!(fall(&pieces(40e9, 0.01, 2, load)), None);
}

/// Pieces that grow from 16 MB on, of a drive that stands still for `stall_s` after every `every` bytes.
fn with_stalls(total: f64, every: f64, stall_s: f64, bytes_per_second: impl Fn(f64) -> f64) -> Vec<Piece> {
    let mut pieces = pieces(total, 0.0, 0, |written, _| bytes_per_second(written));
    let mut written = 0.0;
    for piece in &mut pieces {
        let stalls = ((written + piece.bytes) / every).floor() - (written / every).floor();
        piece.seconds += stalls * stall_s;
        written += piece.bytes;
    }
    pieces
}

/// A drive that writes its table out now and then: small pieces seldom meet a stall, large ones always do, and yet its rate is the same.
#[test]
fn stalls_that_recur_are_a_part_of_the_rate_and_no_fall() {
    for (every, stall_s) in
        [(279e6, 0.01574), (199e6, 0.002672), (67e6, 0.02), (100e6, 0.005), (500e6, 0.01), (2e9, 0.02)]
    {
        for rate in [400e6, 1.2287e9, 3.0224e9, 6.5e9] {
            let even = with_stalls(80e9, every, stall_s, |_| rate);
            // Also while it is still written.
            for end in (5..=even.len()).step_by(3) {
                let found = fall(&even[..end]);
                assert_eq!(
                    found,
                    None,
                    "{stall_s} s every {every} at {rate}, {end} pieces: {:?}",
                    levels(&even[..end])
                );
            }
            let (bytes, before, after) =
                fall(&with_stalls(
                    80e9,
                    every,
                    stall_s,
                    |written| if written < 50e9 { rate } else { 0.7 * rate },
                ))
                .unwrap_or_else(|| panic!("{stall_s} s every {every} at {rate}"));
            let with = |rate: f64| 1.0 / (1.0 / rate + stall_s / every);
            let errors = [bytes / 50e9, before / with(rate), after / with(0.7 * rate)];
            assert!(
                errors.iter().all(|error| (error - 1.0).abs() < 0.03),
                "{stall_s} s every {every} at {rate}: {errors:?}"
            );
        }
    }
}

#[test]
fn what_fills_the_drives_memory_is_no_fall() {
    let buffered = |written: f64, _: usize| if written < 60e6 { 2e9 } else { 200e6 };
    assert_eq!(fall(&pieces(20e9, 0.01, 3, buffered)), None);
}

#[test]
fn three_levels_are_all_seen() {
    let three = |written: f64, _: usize| match written {
        written if written < 28e9 => 5e9,
        written if written < 130e9 => 2.5e9,
        _ => 0.8e9,
    };
    let written = pieces(200e9, 0.01, 4, three);
    let found = levels(&written);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!((found[2].from_bytes / 130e9 - 1.0).abs() < 0.05, "{found:?}");
    let (bytes, before, after) = fall(&written).expect("it falls");
    assert!(
        (bytes / 28e9 - 1.0).abs() < 0.03
            && (before / 5e9 - 1.0).abs() < 0.03
            && (after / 2.5e9 - 1.0).abs() < 0.03
    );
}

#[test]
fn a_rate_that_comes_back_did_not_fall_for_good() {
    let swings = |_: f64, piece: usize| if piece / 12 % 2 == 1 { 100e6 } else { 300e6 };
    assert_eq!(fall(&pieces(60e9, 0.01, 5, swings)), None);
}
