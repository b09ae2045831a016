//! The virtual drives that come with the program, by name.

use crate::Drive;
use crate::constant::ConstantDrive;
use crate::disk::drive::DiskDrive;
use crate::disk::published::{DISK_4TB_CAPACITY, disk_4tb};
use crate::fault::{Fault, FaultyDrive};
use crate::zoned::{ZonedDrive, ZonedProfile};
use model::range::ByteRange;
use model::target::{TargetFacts, TargetKind};
use model::units::{Bytes, Nanos, Offset};
use std::fmt;

/// What `constant` and `faulty` take for each request.
pub(crate) const CONSTANT_LATENCY: Nanos = Nanos(100_000);
/// How many requests they serve at a time.
pub(crate) const CONSTANT_SERVERS: usize = 8;
const TERABYTE: Bytes = Bytes(1_000_000_000_000);
/// Where `faulty` cannot be read.
const UNREADABLE_FIRST: Offset = Offset(300_000_000_000);
const UNREADABLE_BYTES: Bytes = Bytes::from_mib(16);

/// A drive that comes with the program.
struct BuiltIn {
    name: &'static str,
    description: &'static str,
    build: fn(TargetFacts, u64) -> Box<dyn Drive + Send>,
}

const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "null",
        description: "answers at once: nothing can be learnt from it, and nothing must be found",
        build: |facts, _| Box::new(ConstantDrive::new(facts, Nanos::ZERO, 1)),
    },
    BuiltIn {
        name: "constant",
        description: "answers every request after 100 µs, 8 at a time",
        build: |facts, _| Box::new(ConstantDrive::new(facts, CONSTANT_LATENCY, CONSTANT_SERVERS)),
    },
    BuiltIn {
        name: "zoned",
        description: "a plain 500 GB disk: 150 MB/s outside, 72 MB/s inside, 13 ms to a random place",
        build: |facts, seed| Box::new(ZonedDrive::new(facts, ZonedProfile::plain(), seed)),
    },
    BuiltIn {
        name: "disk-4tb",
        description: "a 4 TB disk like its maker's own model of it: tracks, turning platter, arm, caches, queue",
        build: |facts, seed| Box::new(DiskDrive::new(facts, &disk_4tb(), seed)),
    },
    BuiltIn {
        name: "faulty",
        description: "like constant, but 16 MiB at 300 GB cannot be read",
        build: |facts, _| {
            let sound = Box::new(ConstantDrive::new(facts, CONSTANT_LATENCY, CONSTANT_SERVERS));
            let bad = ByteRange::new(UNREADABLE_FIRST, UNREADABLE_BYTES).expect("300 GB fit into 64 bits");
            Box::new(FaultyDrive::new(sound, vec![Fault::Unreadable(bad)]))
        },
    },
];

/// The drives that come with the program: name and what it is, in a line.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILT_IN.iter().map(|built_in| (built_in.name, built_in.description))
}

/// Opens the virtual drive of that name, without the `sim:` before it. `seed` draws all that is random in it.
///
/// # Errors
/// When there is none of that name; says which there are.
pub fn open(name: &str, seed: u64) -> Result<Box<dyn Drive + Send>, ProfileError> {
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == name);
    let built_in = built_in.ok_or_else(|| ProfileError { name: name.to_string() })?;
    let mut facts = plain_facts(&format!("sim:{name}"), TERABYTE);
    let disk_capacity = match name {
        "zoned" => Some(ZonedProfile::plain().capacity),
        "disk-4tb" => Some(DISK_4TB_CAPACITY),
        _ => None,
    };
    if let Some(capacity) = disk_capacity {
        facts.capacity = capacity;
        facts.rotational = Some(true);
    }
    Ok((built_in.build)(facts, seed))
}

/// Opens a disk of the given make.
pub fn open_zoned(profile: ZonedProfile, seed: u64) -> ZonedDrive {
    let mut facts = plain_facts("sim:zoned", profile.capacity);
    facts.rotational = Some(true);
    ZonedDrive::new(facts, profile, seed)
}

/// What a virtual drive without particulars says of itself.
pub(crate) fn plain_facts(path: &str, capacity: Bytes) -> TargetFacts {
    TargetFacts {
        kind: TargetKind::Sim,
        path: path.to_string(),
        capacity,
        logical_block: Bytes(512),
        physical_block: Bytes(4096),
        model: Some(format!("drivescope {path}")),
        serial: None,
        firmware: None,
        rotational: Some(false),
        link: None,
        scheduler: None,
        read_ahead: None,
        write_cache: None,
        discard_max: None,
        zoned: None,
        stack: Vec::new(),
        caveats: Vec::new(),
    }
}

/// Why a virtual drive could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// What was asked for.
    pub name: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = names().map(|(name, _)| name).collect();
        write!(formatter, "there is no virtual drive `{}`; there are {}", self.name, known.join(", "))
    }
}

impl std::error::Error for ProfileError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_opens_and_keeps_its_name() {
        for (name, description) in names() {
            let drive = open(name, 1).unwrap();
            assert_eq!(drive.facts().path, format!("sim:{name}"));
            assert!(!description.contains('\n'));
        }
    }

    #[test]
    fn an_unknown_name_says_which_there_are() {
        let error = open("zone", 1).err().unwrap();
        assert_eq!(
            error.to_string(),
            "there is no virtual drive `zone`; there are null, constant, zoned, disk-4tb, faulty"
        );
    }
}
