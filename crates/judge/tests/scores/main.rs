//! What experiments and detectors find on drives whose truth is known. One test program, since linking one takes seconds.

mod access;
mod bad_input;
#[path = "../../../analysis/tests/bench/mod.rs"]
mod bench;
mod commit;
mod coverage;
mod deep;
mod detectors;
mod geometry;
mod home;
mod limit;
mod preset;
mod recording;
mod size;
mod stripe;
mod surface;
mod surface_map;
mod sustain;
mod two_media;
mod valley;
mod write_cache;
