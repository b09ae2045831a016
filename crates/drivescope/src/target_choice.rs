//! From what was typed as a target to a rig that can measure it: a device, a file, a folder, a virtual drive.

use crate::configuration;
use crate::error::UserError;
use crate::virtual_drive;
use experiment::request::{DriveOptions, EngineChoice};
use io::engine::choice::{EngineKind, EngineOptions};
use io::rig::Rig;
use io::targets::{ScratchFile, ScratchSize, Target, WriteConsent, WritePermit, probe_content};
use model::range::ByteRange;
use model::range_choice::RangeChoice;
use model::target::{Caveat, TargetFacts};
use model::units::{Bytes, MIB, Offset};
use sim::contents::CAPACITY_MAX as CONTENTS_CAPACITY_MAX;
use std::io::ErrorKind;
use std::path::Path;

/// Drives have caches of up to this size: 512 MiB on the largest disks sold. What is smaller may never leave one.
const DRIVE_CACHE_BYTES_MAX: u64 = 512 * MIB;
pub const VIRTUAL_PREFIX: &str = "sim:";

pub struct Chosen {
    pub rig: Rig,
    pub facts: TargetFacts,
    pub range: ByteRange,
    pub may_write: bool,
    pub empty: bool,
    pub profile: Option<String>,
}

/// `beside_scratch` is left free for other files when a scratch file is made.
pub fn open(drive: &DriveOptions, beside_scratch: Bytes) -> Result<Chosen, UserError> {
    let is_ours = drive.target.starts_with(VIRTUAL_PREFIX) || Path::new(&drive.target).is_dir();
    if drive.writing.preserve && is_ours {
        return Err(UserError::usage(format!("{} has no data to preserve. Omit --preserve", drive.target)));
    }
    if let Some(name) = drive.target.strip_prefix(VIRTUAL_PREFIX) {
        return open_virtual(drive, name);
    }
    let path = Path::new(&drive.target);
    if path.is_dir() {
        return open_scratch(drive, path, beside_scratch);
    }
    let is_missing = matches!(path.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound);
    if is_missing && virtual_drive::find(&drive.target).is_ok() {
        return Err(UserError::usage(format!(
            "there is no file or drive {0}, but a virtual drive of this name: sim:{0}",
            drive.target
        )));
    }
    let target = Target::open(path)?;
    let probe = probe_content(&target)?;
    let mut facts = target.facts().clone();
    facts.caveats.extend(probe.caveats);
    let engine = engine(drive);
    let rig = match consent(drive) {
        Some(consent) => {
            let permit = WritePermit::grant(&target, &consent, &configuration::never_write()?)?;
            Rig::for_writing(target, permit, engine)?
        }
        None => Rig::for_reading(target, engine)?,
    };
    finish(drive, rig, facts, drive.writing.write, false)
}

/// The consent to write. What is preserved is not destroyed; that nobody uses the drive is asked all the same.
fn consent(drive: &DriveOptions) -> Option<WriteConsent> {
    let writing = &drive.writing;
    if !writing.write {
        return None;
    }
    let destroy_data = writing.destroy_data || writing.preserve;
    Some(WriteConsent { destroy_data, confirm: writing.confirm.clone() })
}

fn engine(drive: &DriveOptions) -> EngineOptions {
    let kind = match drive.engine {
        EngineChoice::Auto => EngineKind::Auto,
        EngineChoice::Uring => EngineKind::Uring,
        EngineChoice::Psync => EngineKind::Psync,
    };
    EngineOptions { kind, polled: drive.polled }
}

fn open_virtual(drive: &DriveOptions, name: &str) -> Result<Chosen, UserError> {
    let virtual_drive = virtual_drive::find(name)?;
    let seed = drive.seed.unwrap_or_default();
    let opened = virtual_drive.open(seed)?;
    let facts = opened.facts().clone();
    let range = range_on(drive.range, &facts)?;
    let may_write = drive.writing.write;
    let mut rig = Rig::on_virtual_drive(opened);
    if facts.capacity <= CONTENTS_CAPACITY_MAX {
        rig = rig.with_contents(virtual_drive.contents(seed)?);
    }
    let profile = Some(virtual_drive.text);
    Ok(Chosen { rig, facts, range, may_write, empty: false, profile })
}

fn open_scratch(drive: &DriveOptions, folder: &Path, beside: Bytes) -> Result<Chosen, UserError> {
    if drive.writing.write {
        return Err(UserError::usage(format!(
            "{} is a folder: its scratch file is written without --write. Omit --write, or name a device",
            folder.display()
        )));
    }
    let size = ScratchSize { max: drive.max_size, beside };
    if drive.dry_run {
        let target = ScratchFile::planned(folder, size)?;
        let facts = target.facts().clone();
        return finish(drive, Rig::for_reading(target, engine(drive))?, facts, true, true);
    }
    let scratch = ScratchFile::create(folder, size)?;
    let facts = scratch.target().facts().clone();
    let rig = Rig::on_scratch(scratch, engine(drive))?;
    finish(drive, rig, facts, true, true)
}

fn finish(
    drive: &DriveOptions,
    rig: Rig,
    mut facts: TargetFacts,
    may_write: bool,
    empty: bool,
) -> Result<Chosen, UserError> {
    let range = range_on(drive.range, &facts)?;
    if range.bytes().get() <= DRIVE_CACHE_BYTES_MAX {
        facts.caveats.push(Caveat::FitsInDriveCache);
    }
    facts.caveats.sort_unstable();
    facts.caveats.dedup();
    Ok(Chosen { rig, facts, range, may_write, empty, profile: None })
}

pub fn range_on(choice: Option<RangeChoice>, facts: &TargetFacts) -> Result<ByteRange, UserError> {
    let capacity = facts.capacity;
    let (from, to) = match choice {
        None => (Bytes::ZERO, capacity),
        Some(choice) => choice.bounds(ByteRange::whole(capacity), facts.logical_block),
    };
    if to > capacity {
        return Err(UserError::usage(format!(
            "cannot measure up to byte {} of {}: it has {} bytes. Give a --range inside 0..{}",
            to.get(),
            facts.path,
            capacity.get(),
            capacity.get()
        )));
    }
    let range = to
        .checked_sub(from)
        .and_then(|bytes| ByteRange::new(Offset::START + from, bytes))
        .map(|range| range.align_inward(facts.logical_block))
        .filter(|range| !range.is_empty());
    range.ok_or_else(|| {
        UserError::usage(format!(
            "cannot measure bytes {} to {} of {}: there is no whole block of {} in between. Give a larger --range",
            from.get(), to.get(), facts.path, facts.logical_block
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_range_past_the_end_is_a_usage_error_that_says_where_the_end_is() {
        let drive = sim::open("zoned", 1).expect("a drive that ships");
        let past = Some(RangeChoice::Bytes(Bytes::ZERO, Bytes::new(u64::MAX)));
        let error = range_on(past, drive.facts()).unwrap_err();
        assert!(error.text.contains("0..500000000000"), "{error}");
        let tiny = Some(RangeChoice::Bytes(Bytes::new(1), Bytes::new(500)));
        assert!(range_on(tiny, drive.facts()).unwrap_err().text.contains("no whole block"));
    }

    proptest! {
        #[test]
        fn no_range_panics(from in any::<u64>(), to in any::<u64>()) {
            let drive = sim::open("zoned", 1).expect("a drive that ships");
            let _ = range_on(Some(RangeChoice::Bytes(Bytes::new(from), Bytes::new(to))), drive.facts());
        }
    }
}
