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
mod error;
mod nvme;

#[cfg(test)]
mod tests;

use super::identity::Identity;
use super::sysfs::{BlockDevice, SystemRoots};
use super::{Target, WritePermit, passthrough, system_call};
use crate::error::IoError;
use error::Fault;
pub use error::{FaultKind, PurgeError};
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

/// What is to be told before a method begins, in whole sentences: what it does besides, and what it leaves when it is broken
/// off.
pub fn notice(target: &Target, method: PurgeMethod) -> Option<String> {
    let disk = whole_disk(target).ok()?;
    match method {
        PurgeMethod::AtaSecureErase => Some(format!(
            "The drive takes an erase only with a password: `{}` is set right before, and goes with the erase. If anything \
             breaks it off in between, take the password away: {}.",
            ata::PASSWORD,
            ata::taking_away(&disk.path().display().to_string())
        )),
        PurgeMethod::NvmeSanitize => Some(
            "A sanitize cannot be stopped once it has begun: the drive goes on by itself, also after its power was out, and \
             refuses reads and writes until the end."
                .into(),
        ),
        PurgeMethod::NvmeFormat => {
            let facts = nvme::facts(&mut nvme::Port { descriptor: target.descriptor(), disk }).ok()?;
            let sentence = "The drive formats or erases all its namespaces together; this is its only one.";
            facts.formats_all().then(|| sentence.into())
        }
        PurgeMethod::Discard | PurgeMethod::ZeroFill => None,
    }
}

/// Empties all of a target by that method. `go_on` is asked now and then, with how much is done.
///
/// # Errors
/// Of the kind [`FaultKind::Refused`] when the method cannot be used or the drive refused it; nothing was changed then.
/// Others mean that no other method may be tried: with [`IoError::WriteRefused`] the permit is one for something else or
/// does not hold any more; the rest tell how far it came.
pub fn purge(
    target: &Target,
    permit: &WritePermit,
    method: PurgeMethod,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<PurgeEnd, PurgeError> {
    let refused = |why: String| IoError::WriteRefused { target: target.path().into(), why };
    if permit.identity() != target.identity() {
        return Err(PurgeError::broken(refused("the permit to write is one for another target".into())));
    }
    permit.revalidate().map_err(PurgeError::broken)?;
    refusal(target, method).map_err(|why| PurgeError::refused(refused(why)))?;
    match method {
        PurgeMethod::Discard => discard(target, permit, go_on),
        PurgeMethod::ZeroFill => {
            Err(PurgeError::refused(refused("zero fill is a workload, not a command".into())))
        }
        PurgeMethod::NvmeFormat | PurgeMethod::NvmeSanitize | PurgeMethod::AtaSecureErase => {
            let disk = whole_disk(target).map_err(|why| PurgeError::refused(refused(why)))?;
            by_the_drive(permit, &disk, method).map_err(|fault| {
                let object = format!("{} by {}", target.path().display(), method.name());
                let left = left_behind(fault.kind, target.confirmation(), &disk);
                PurgeError { kind: fault.kind, error: IoError::system("purge", object, fault.error), left }
            })?;
            Ok(PurgeEnd::Done)
        }
    }
}

/// By the drive's own command for a whole drive.
fn by_the_drive(permit: &WritePermit, disk: &BlockDevice, method: PurgeMethod) -> Result<(), Fault> {
    let descriptor = permit.descriptor();
    let mut port = nvme::Port { descriptor, disk: disk.clone() };
    match method {
        PurgeMethod::NvmeFormat => nvme::format(&mut port),
        PurgeMethod::NvmeSanitize => nvme::sanitize(&mut port),
        PurgeMethod::AtaSecureErase => {
            ata::erase(&mut ata::Port(descriptor), &disk.path().display().to_string())
        }
        PurgeMethod::Discard | PurgeMethod::ZeroFill => {
            unreachable!("these are no commands for a whole drive")
        }
    }
}

/// What a method that was broken off leaves, and what to do.
fn left_behind(kind: FaultKind, confirmation: &str, disk: &BlockDevice) -> Option<String> {
    let device = disk.path().display().to_string();
    match kind {
        FaultKind::Refused | FaultKind::Broken => None,
        FaultKind::PasswordLeft => Some(format!(
            "The password `{}` was set for the erase and was not seen to go: while it is set, the drive locks itself \
             whenever its power goes. Take it away: {}.",
            ata::PASSWORD,
            ata::taking_away(&device)
        )),
        FaultKind::SanitizeBegun => Some(format!(
            "The sanitize may still go on in the drive. If it failed, the drive refuses all I/O until a sanitize succeeds: \
             run `drivescope purge {device} --write --confirm {confirmation} --method nvme-sanitize` again."
        )),
    }
}

/// Why a method cannot be used on a target.
fn refusal(target: &Target, method: PurgeMethod) -> Result<(), String> {
    let descriptor = target.descriptor();
    match method {
        PurgeMethod::ZeroFill => Ok(()),
        PurgeMethod::Discard => {
            device_of(target)
                .map_err(|why| format!("{why}: it would get holes, which are read without one"))?;
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
            let facts = nvme::facts(&mut nvme::Port { descriptor, disk }).map_err(cannot_ask)?;
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
            let security = ata::security(&mut ata::Port(descriptor)).map_err(cannot_ask)?;
            security.may_erase(&disk.path().display().to_string())
        }
    }
}

fn cannot_ask(error: io::Error) -> String {
    format!("asking it failed: {error}. Run as root")
}

/// The block device that a target is.
fn device_of(target: &Target) -> Result<BlockDevice, String> {
    let Identity::Device { number, .. } = target.identity() else {
        return Err("it is a file, and no drive".into());
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
) -> Result<PurgeEnd, PurgeError> {
    let capacity = target.facts().capacity.0;
    let before = held(target);
    let mut done = 0;
    while done < capacity {
        if !go_on(done) {
            return Ok(PurgeEnd::Stopped(done));
        }
        permit.revalidate().map_err(PurgeError::broken)?;
        let length = DISCARD_STEP_BYTES.min(capacity - done);
        system_call::discard(permit.descriptor(), done, length).map_err(|source| {
            let kind = if is_discard_refusal(&source, done) { FaultKind::Refused } else { FaultKind::Broken };
            let object = format!("{} from byte {done} on", target.path().display());
            let error = IoError::system("discard", object, source)
                .with_hint("Before that place it is empty. Another way: --method zero-fill");
            PurgeError { kind, error, left: None }
        })?;
        done += length;
    }
    let places = held(target).iter().filter(|place| before.contains(place)).count();
    Ok(if places == 0 { PurgeEnd::Done } else { PurgeEnd::ReadsAsBefore { places, looked_at: before.len() } })
}

/// Whether nothing was discarded, since the system or the drive does not do it: EREMOTEIO stands for a drive that calls the
/// request illegal.
fn is_discard_refusal(error: &io::Error, done: u64) -> bool {
    done == 0 && (passthrough::is_refusal(error) || error.raw_os_error() == Some(libc::EREMOTEIO))
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
