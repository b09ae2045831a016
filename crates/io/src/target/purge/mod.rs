//! Purging: bringing a whole drive into an empty state, as after it was made. The most dangerous thing this program can
//! do, so that everything here fails closed:
//!
//! ```text
//! options(target)              asks only: which methods there are for it, and why not those before
//! purge(target, permit, …)     needs the permit of the very target; asks everything again; then, in one go:
//!     NVMe format, NVMe sanitize, ATA secure erase    a whole drive, reached directly, that holds nothing else
//!     discard                                         all of the target, and nothing outside it
//! ```
//! Zero fill, the last resort, is a workload like others and no matter of this module. Order of methods: SNIA Solid State
//! Storage Performance Test Specification 2.0.2 (2020), 3.3, which asks for an erase by the drive before anything else.

mod ata;
mod nvme;

#[cfg(test)]
mod tests;

use super::identity::Identity;
use super::sysfs::{BlockDevice, SystemRoots};
use super::{Target, WritePermit, system_call};
use crate::error::IoError;
use model::units::GIB;
use std::io;

/// Discarded at once: what an interruption waits for.
const DISCARD_STEP_BYTES: u64 = 4 * GIB;

/// Looked at before and after a discard: as many as take a disk a second.
const PLACES: u64 = 64;
/// How much of each.
const PLACE_BYTES: usize = 4096;

/// How a drive is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeMethod {
    /// Format NVM with user data erase.
    NvmeFormat,
    /// Sanitize with block erase.
    NvmeSanitize,
    /// SECURITY ERASE UNIT.
    AtaSecureErase,
    /// Every block is discarded.
    Discard,
    /// Every block is written with zeroes.
    ZeroFill,
}

impl PurgeMethod {
    /// All of them, the most thorough first.
    pub const ALL: [PurgeMethod; 5] = [
        PurgeMethod::NvmeFormat,
        PurgeMethod::NvmeSanitize,
        PurgeMethod::AtaSecureErase,
        PurgeMethod::Discard,
        PurgeMethod::ZeroFill,
    ];

    /// The word on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            PurgeMethod::NvmeFormat => "nvme-format",
            PurgeMethod::NvmeSanitize => "nvme-sanitize",
            PurgeMethod::AtaSecureErase => "ata-secure-erase",
            PurgeMethod::Discard => "discard",
            PurgeMethod::ZeroFill => "zero-fill",
        }
    }

    /// The method with that name.
    pub fn from_name(name: &str) -> Option<PurgeMethod> {
        PurgeMethod::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// A method, and why it cannot be used on a target, if it cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeOption {
    /// Which.
    pub method: PurgeMethod,
    /// Why not, and what to do, as a clause.
    pub refusal: Option<String>,
}

/// How a purge ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeEnd {
    /// All of it is empty, as far as that can be seen.
    Done,
    /// The drive took the command, but places with data read as before. It may have forgotten them and not show it, or it
    /// may have ignored the command.
    ReadsAsBefore {
        /// So many.
        places: usize,
        /// Of those that were looked at and held something.
        looked_at: usize,
    },
    /// Somebody stopped it after so many bytes.
    Stopped(u64),
}

/// Which methods there are for a target, in their order. Asks the drive, and changes nothing.
pub fn options(target: &Target) -> Vec<PurgeOption> {
    let option = |method| PurgeOption { method, refusal: refusal(target, method).err() };
    PurgeMethod::ALL.map(option).into()
}

/// Empties all of a target by that method. `go_on` is asked now and then, with how much is done.
///
/// # Errors
/// [`IoError::WriteRefused`] when the permit is one for something else or does not hold any more, or the method cannot be used;
/// nothing was changed then. Other errors tell how far it came.
pub fn purge(
    target: &Target,
    permit: &WritePermit,
    method: PurgeMethod,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<PurgeEnd, IoError> {
    let refused = |why: String| IoError::WriteRefused { target: target.path().into(), why };
    if permit.identity() != target.identity() {
        return Err(refused("the permit to write is one for another target".into()));
    }
    permit.revalidate()?;
    refusal(target, method).map_err(refused)?;
    let failed = |source: io::Error| {
        IoError::system("purge", format!("{} by {}", target.path().display(), method.name()), source)
    };
    match method {
        PurgeMethod::NvmeFormat => nvme::format(permit.descriptor()).map_err(failed)?,
        PurgeMethod::NvmeSanitize => nvme::sanitize(permit.descriptor()).map_err(failed)?,
        PurgeMethod::AtaSecureErase => ata::erase(&mut ata::Port(permit.descriptor())).map_err(failed)?,
        PurgeMethod::Discard => return discard(target, permit, go_on),
        PurgeMethod::ZeroFill => return Err(refused("zero fill is a workload, not a command".into())),
    }
    Ok(PurgeEnd::Done)
}

/// Why a method cannot be used on a target.
fn refusal(target: &Target, method: PurgeMethod) -> Result<(), String> {
    let descriptor = target.descriptor();
    match method {
        PurgeMethod::ZeroFill => Ok(()),
        PurgeMethod::Discard => {
            device_of(target)?;
            match target.facts().discard_max {
                Some(bytes) if bytes.0 > 0 => Ok(()),
                _ => Err("the system says that it does not discard".into()),
            }
        }
        PurgeMethod::NvmeFormat | PurgeMethod::NvmeSanitize => {
            let disk = whole_disk(target)?;
            if !disk.name.starts_with("nvme") {
                return Err("it is no NVMe drive".into());
            }
            let facts = nvme::facts(descriptor).map_err(cannot_ask)?;
            if method == PurgeMethod::NvmeFormat { facts.may_format() } else { facts.may_sanitize() }
        }
        PurgeMethod::AtaSecureErase => {
            let disk = whole_disk(target)?;
            if !disk.directory.join("device/vpd_pg89").exists() {
                return Err("it is no ATA drive that the system knows as one".into());
            }
            if disk.directory.iter().any(|part| part.to_string_lossy().starts_with("usb")) {
                return Err(
                    "it is behind USB, where adapters lose such commands half way; attach it to SATA".into(),
                );
            }
            ata::security(&mut ata::Port(descriptor)).map_err(cannot_ask)?.may_erase()
        }
    }
}

fn cannot_ask(error: io::Error) -> String {
    format!("asking it failed: {error}. Run as root")
}

/// The block device that a target is.
fn device_of(target: &Target) -> Result<BlockDevice, String> {
    let Identity::Device { number, .. } = target.identity() else {
        return Err("it is a file: a hole in it would be read without a drive".into());
    };
    BlockDevice::by_number(&SystemRoots::live(), number)
        .map_err(|error| format!("what sysfs says of it cannot be read: {error}"))
}

/// The same where it is a drive as a whole that is reached directly: an erase by the drive knows no partitions.
fn whole_disk(target: &Target) -> Result<BlockDevice, String> {
    let device = device_of(target)?;
    if device.is_partition() {
        return Err("it is a partition, and the drive would erase all others too".into());
    }
    let below = device.slaves().map_err(|error| format!("what lies under it cannot be read: {error}"))?;
    if !below.is_empty() || device.directory.join("loop").exists() {
        return Err("it is no drive itself but lies on one".into());
    }
    match target.disks() {
        [disk] if disk.file_name().is_some_and(|name| name == device.name.as_str()) => Ok(device),
        _ => Err("it is no drive itself but lies on one".into()),
    }
}

/// Discards all of it, step by step.
fn discard(
    target: &Target,
    permit: &WritePermit,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<PurgeEnd, IoError> {
    let capacity = target.facts().capacity.0;
    let before = held(target);
    let mut done = 0;
    while done < capacity {
        if !go_on(done) {
            return Ok(PurgeEnd::Stopped(done));
        }
        permit.revalidate()?;
        let length = DISCARD_STEP_BYTES.min(capacity - done);
        system_call::discard(permit.descriptor(), done, length).map_err(|source| {
            IoError::system("discard", format!("{} from byte {done} on", target.path().display()), source)
                .with_hint("Before that place it is empty. Another way: --method zero-fill")
        })?;
        done += length;
    }
    let places = held(target).iter().filter(|place| before.contains(place)).count();
    Ok(if places == 0 { PurgeEnd::Done } else { PurgeEnd::ReadsAsBefore { places, looked_at: before.len() } })
}

/// What some places hold that hold anything but zeroes, with where they are. A place that cannot be read tells nothing.
fn held(target: &Target) -> Vec<(u64, Vec<u8>)> {
    let grid = target.facts().logical_block.0.max(PLACE_BYTES as u64);
    let capacity = target.facts().capacity.0;
    let mut buffer = system_call::AlignedBuffer::new(PLACE_BYTES);
    let mut held = Vec::new();
    for index in 0..PLACES {
        let offset = capacity / PLACES * index / grid * grid;
        let read = system_call::read_at(target.descriptor(), &mut buffer, offset);
        if read.is_ok_and(|read| read == PLACE_BYTES) && buffer.iter().any(|byte| *byte != 0) {
            held.push((offset, buffer.to_vec()));
        }
    }
    held
}
