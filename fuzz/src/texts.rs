//! Texts that people and other programs write: results, profiles of drives, plans, quantities.

use crate::memory::{in_memory, keep};
use drivescope::pattern_file;
use import::{Format, Hints, read, read_all};
use model::power_cut::{Acknowledged, Ring};
use model::quantity_text::{parse_duration, parse_share, parse_size};
use model::request::Operation;
use model::units::Offset;
use sim::profile::Profile;
use sim::truth::truth_of;
use std::cell::RefCell;
use tempfile::TempDir;

/// A result of another program, in each format, whatever it looks like.
pub fn import(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for operation in [None, Some(Operation::Read)] {
        let hints = Hints { file_name: "job_bw.1.log".into(), operation };
        let _ = read_all(&text, &hints);
        for format in Format::ALL {
            let _ = read(&text, format, &hints);
        }
    }
}

/// A profile of a virtual drive; where it is sound, what is true of it and the drive itself.
pub fn profile(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(profile) = Profile::parse(&text, "fuzzed.toml") {
        let _ = truth_of(&profile);
        let _ = sim::profile::open_profile(&profile, "fuzzed.toml", 1);
    }
}

/// A log of records that were reported before a power cut.
pub fn power_cut_log(bytes: &[u8]) {
    if let Ok(acknowledged) = Acknowledged::parse(bytes) {
        let _ = acknowledged.expected().map(|record| acknowledged.ring.offset_of(record)).take(100).max();
    }
}

pub fn power_cut_logs() -> Vec<Vec<u8>> {
    let ring = Ring { key: 7, first: Offset::START, slots: 16384 };
    vec![(ring.title() + "0\n1\n2\n3").into_bytes()]
}

/// A plan of patterns as drivescope has them.
pub fn plan_toml(bytes: &[u8]) {
    plan(bytes, "fuzzed.toml");
}

pub fn plan_icf(bytes: &[u8]) {
    plan(bytes, "fuzzed.icf");
}

pub fn plan_fio(bytes: &[u8]) {
    plan(bytes, "fuzzed.fio");
}

pub fn quantity(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = (parse_size(&text), parse_duration(&text), parse_share(&text));
    let _ = text.parse::<model::range_choice::RangeChoice>();
}

/// Plans are told from each other by their names, so that they have to be files.
fn plan(bytes: &[u8], name: &str) {
    thread_local! {
        static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| in_memory().expect("memory has room for a file"));
        let path = folder.path().join(name);
        keep(&path, bytes);
        let _ = pattern_file::find(&path.to_string_lossy());
    });
}

pub fn quantities() -> Vec<Vec<u8>> {
    ["4 KiB", "1.5TB", "10min", "250ms", "33 %", "0%..50%", "10GB-20GB", "1e9", "-0", "18446744073709551616"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}
