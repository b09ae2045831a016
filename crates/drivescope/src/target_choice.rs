//! From what was typed as a target to a rig that can measure it: a device, a file, a folder, a virtual drive.

use crate::error::UserError;
use crate::preserve::PreserveChoice;
use crate::virtual_drive;
use io::rig::{EngineOptions, Rig};
use io::target::{ScratchFile, Target, WriteConsent, WritePermit, probe_content};
use model::quantity_text::{parse_share, parse_size};
use model::range::ByteRange;
use model::target::{Caveat, TargetFacts};
use model::units::{Bytes, MIB, Offset};
use sim::contents::CAPACITY_MAX as CONTENTS_CAPACITY_MAX;
use std::io::ErrorKind;
use std::path::Path;

/// Drives have caches of up to this size: 512 MiB on the largest disks sold. What is smaller may never leave one.
const DRIVE_CACHE_BYTES_MAX: u64 = 512 * MIB;
/// Before the name of a virtual drive.
pub const VIRTUAL_PREFIX: &str = "sim:";

/// What was asked for, read and checked, but not yet looked at.
#[derive(Clone, Debug)]
pub struct Choice {
    /// As it was typed.
    pub target: String,
    /// The consent to write, if it was given.
    pub write: Option<WriteConsent>,
    /// Whether and where what is overwritten is kept, to be given back.
    pub preserve: Option<PreserveChoice>,
    /// Whether nothing is measured, so that nothing is reserved either.
    pub is_only_planned: bool,
    /// The largest scratch file.
    pub size_max: Bytes,
    /// The part to measure.
    pub range: Option<RangeChoice>,
    /// How the engine is chosen.
    pub engine: EngineOptions,
    /// Of all randomness, the virtual drive's too.
    pub seed: u64,
}

/// A part of a target: in bytes, or in shares of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeChoice {
    /// From one byte to another.
    Bytes(Bytes, Bytes),
    /// From one share to another, in [0, 1].
    Shares(f64, f64),
}

/// A target that is ready to be measured.
pub struct Chosen {
    /// What measures it.
    pub rig: Rig,
    /// What is known of it, with what the probes found.
    pub facts: TargetFacts,
    /// The part to measure.
    pub range: ByteRange,
    /// Whether phases may write.
    pub may_write: bool,
    /// Whether it is a scratch file that holds nothing yet.
    pub empty: bool,
    /// What it is made of, if it is virtual.
    pub profile: Option<String>,
}

/// Opens what was chosen.
///
/// # Errors
/// When it cannot be measured or may not be written to, or the range does not lie on it.
pub fn open(choice: &Choice) -> Result<Chosen, UserError> {
    let is_ours = choice.target.starts_with(VIRTUAL_PREFIX) || Path::new(&choice.target).is_dir();
    if choice.preserve.is_some() && is_ours {
        return Err(UserError::usage(format!(
            "{} holds nothing to preserve. Leave --preserve out",
            choice.target
        )));
    }
    if let Some(name) = choice.target.strip_prefix(VIRTUAL_PREFIX) {
        return open_virtual(choice, name);
    }
    let path = Path::new(&choice.target);
    if path.is_dir() {
        return open_scratch(choice, path);
    }
    let is_missing = path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if is_missing && virtual_drive::find(&choice.target).is_ok() {
        return Err(UserError::usage(format!(
            "there is no file or drive {0}, but a virtual drive of this name: sim:{0}",
            choice.target
        )));
    }
    let target = Target::open(path)?;
    let probe = probe_content(&target)?;
    let mut facts = target.facts().clone();
    facts.caveats.extend(probe.caveats);
    let rig = match &choice.write {
        Some(consent) => {
            let permit = WritePermit::grant(&target, consent)?;
            Rig::for_writing(target, permit, choice.engine)?
        }
        None => Rig::for_reading(target, choice.engine)?,
    };
    finish(choice, rig, facts, choice.write.is_some(), false)
}

fn open_virtual(choice: &Choice, name: &str) -> Result<Chosen, UserError> {
    let virtual_drive = virtual_drive::find(name)?;
    let drive = virtual_drive.open(choice.seed)?;
    let facts = drive.facts().clone();
    let range = range_on(choice.range, &facts)?;
    let may_write = choice.write.is_some();
    let mut rig = Rig::on_virtual_drive(drive);
    if facts.capacity <= CONTENTS_CAPACITY_MAX {
        rig = rig.with_contents(virtual_drive.contents(choice.seed)?);
    }
    let profile = Some(virtual_drive.text);
    Ok(Chosen { rig, facts, range, may_write, empty: false, profile })
}

fn open_scratch(choice: &Choice, folder: &Path) -> Result<Chosen, UserError> {
    if choice.write.is_some() {
        return Err(UserError::usage(format!(
            "{} is a folder: its scratch file is written to without --write. Leave --write out, or name a device",
            folder.display()
        )));
    }
    if choice.is_only_planned {
        let target = ScratchFile::planned(folder, choice.size_max)?;
        let facts = target.facts().clone();
        return finish(choice, Rig::for_reading(target, choice.engine)?, facts, true, true);
    }
    let scratch = ScratchFile::create(folder, choice.size_max)?;
    let facts = scratch.target().facts().clone();
    let rig = Rig::on_scratch(scratch, choice.engine)?;
    finish(choice, rig, facts, true, true)
}

fn finish(
    choice: &Choice,
    rig: Rig,
    mut facts: TargetFacts,
    may_write: bool,
    empty: bool,
) -> Result<Chosen, UserError> {
    let range = range_on(choice.range, &facts)?;
    if range.bytes().0 <= DRIVE_CACHE_BYTES_MAX {
        facts.caveats.push(Caveat::FitsInDriveCache);
    }
    facts.caveats.sort_unstable();
    facts.caveats.dedup();
    Ok(Chosen { rig, facts, range, may_write, empty, profile: None })
}

/// The part of the target that was asked for, on its grid.
fn range_on(choice: Option<RangeChoice>, facts: &TargetFacts) -> Result<ByteRange, UserError> {
    let capacity = facts.capacity;
    let (from, to) = match choice {
        None => (Bytes::ZERO, capacity),
        Some(RangeChoice::Bytes(from, to)) => (from, to),
        Some(RangeChoice::Shares(from, to)) => {
            let at =
                |share: f64| Bytes((capacity.0 as f64 * share) as u64).round_down_to(facts.logical_block);
            (at(from), if to >= 1.0 { capacity } else { at(to) })
        }
    };
    if to > capacity {
        return Err(UserError::usage(format!(
            "cannot measure up to byte {} of {}: it has {} bytes. Give a --range inside 0..{}",
            to.0, facts.path, capacity.0, capacity.0
        )));
    }
    let range = to
        .checked_sub(from)
        .and_then(|bytes| ByteRange::new(Offset(from.0), bytes))
        .map(|range| range.align_inward(facts.logical_block))
        .filter(|range| !range.is_empty());
    range.ok_or_else(|| {
        UserError::usage(format!(
            "cannot measure bytes {} to {} of {}: there is no whole block of {} in between. Give a larger --range",
            from.0, to.0, facts.path, facts.logical_block
        ))
    })
}

/// Reads `10%..20%` or `0..100GiB`.
///
/// # Errors
/// When it is neither, or its end is not past its start.
pub fn parse_range(text: &str) -> Result<RangeChoice, UserError> {
    let wrong = || {
        UserError::usage(format!(
            "`{text}` is not a range such as 10%..20% or 0..100GiB, with its end past its start"
        ))
    };
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let choice = if text.contains('%') {
        let from = if from.trim() == "0" { 0.0 } else { parse_share(from.trim())? };
        RangeChoice::Shares(from, parse_share(to.trim())?)
    } else {
        RangeChoice::Bytes(parse_size(from)?, parse_size(to)?)
    };
    let is_forward = match choice {
        RangeChoice::Bytes(from, to) => from < to,
        RangeChoice::Shares(from, to) => from < to,
    };
    if is_forward { Ok(choice) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_range("10%..20%").unwrap(), RangeChoice::Shares(0.1, 0.2));
        assert_eq!(parse_range("0..100GiB").unwrap(), RangeChoice::Bytes(Bytes(0), Bytes::from_gib(100)));
        for wrong in ["", "5", "20%..10%", "0..", "..5", "1%..2GiB", "5..5", "a..b", "0..200%"] {
            let error = parse_range(wrong).unwrap_err();
            assert_eq!(error.status, crate::error::exit::USAGE, "{wrong}");
        }
    }

    #[test]
    fn a_range_past_the_end_is_a_usage_error_that_says_where_the_end_is() {
        let drive = sim::open("zoned", 1).expect("a drive that ships");
        let past = Some(RangeChoice::Bytes(Bytes(0), Bytes(u64::MAX)));
        let error = range_on(past, drive.facts()).unwrap_err();
        assert!(error.text.contains("0..500000000000"), "{error}");
        let tiny = Some(RangeChoice::Bytes(Bytes(1), Bytes(500)));
        assert!(range_on(tiny, drive.facts()).unwrap_err().text.contains("no whole block"));
    }

    proptest! {
        #[test]
        fn no_range_panics(text in "\\PC*", from in any::<u64>(), to in any::<u64>()) {
            let _ = parse_range(&text);
            let drive = sim::open("zoned", 1).expect("a drive that ships");
            let _ = range_on(Some(RangeChoice::Bytes(Bytes(from), Bytes(to))), drive.facts());
        }
    }
}
