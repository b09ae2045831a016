//! Purging: bringing a whole drive into an empty state, as after it was made. The most dangerous thing this program can
//! do, so that everything here fails closed:
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
use super::permit::WritePermit;
use super::sysfs::{BlockDevice, SystemRoots};
use super::target::Target;
use super::{passthrough, system_call};
use crate::error::IoError;
use error::{Fault, PurgeRefusal};
pub use error::{FaultKind, PurgeError};
use model::units::GIB;
use std::io;

/// Discarded at once: what an interruption waits for.
const DISCARD_STEP_BYTES: u64 = 4 * GIB;

/// Looked at before and after a discard: as many as take a disk a second.
const PLACES: u64 = 64;
const PLACE_BYTES: usize = 4096;

model::words! {
    pub enum PurgeMethod {
        /// Format NVM with user data erase.
        NvmeFormat = "nvme-format",
        NvmeSanitize = "nvme-sanitize",
        AtaSecureErase = "ata-secure-erase",
        Discard = "discard",
        ZeroFill = "zero-fill",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeOption {
    pub method: PurgeMethod,
    pub refusal: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeEnd {
    Done,
    /// The drive took the command, but places with data read as before: forgotten but not shown, or ignored.
    ReadsAsBefore {
        places: usize,
        /// Of those that were looked at and held something.
        looked_at: usize,
    },
    /// Somebody stopped it after so many bytes.
    Stopped(u64),
}

/// Which methods there are for a target, in their order. Asks the drive, and changes nothing.
pub fn options(target: &Target) -> Vec<PurgeOption> {
    let mut options = Vec::new();
    for method in PurgeMethod::ALL {
        let refusal = check_method(target, method).err().map(|why| why.to_string());
        options.push(PurgeOption { method, refusal });
    }
    options
}

/// What is to be told before a method begins, in whole sentences: what else it does, and leaves when broken off.
pub fn notice(target: &Target, method: PurgeMethod) -> Option<String> {
    let disk = whole_disk(target).ok()?;
    match method {
        PurgeMethod::AtaSecureErase => Some(format!(
            "Security erase needs a password: `{}` is set just before and cleared by the erase. If it is interrupted, clear the password: {}.",
            ata::PASSWORD,
            ata::taking_away(&disk.path().display().to_string())
        )),
        PurgeMethod::NvmeSanitize => Some(
            "A sanitize cannot be stopped: the drive resumes it after a power loss, and refuses reads and writes until its end."
                .into(),
        ),
        PurgeMethod::NvmeFormat => {
            let facts = nvme::facts(&mut nvme::Port { descriptor: target.descriptor(), disk }).ok()?;
            let sentence = "The command erases all namespaces together; the drive has only this one.";
            if facts.formats_all() { Some(sentence.into()) } else { None }
        }
        PurgeMethod::Discard | PurgeMethod::ZeroFill => None,
    }
}

/// Empties all of a target by that method. `go_on` is asked now and then, with how much is done. An error of the kind
/// [`FaultKind::Refused`] changed nothing. Others mean that no other method may be tried: [`IoError::WriteRefused`], or how far it came.
pub fn purge(
    target: &Target,
    permit: &WritePermit,
    method: PurgeMethod,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<PurgeEnd, PurgeError> {
    if permit.identity() != target.identity() {
        return Err(PurgeError::broken(refused(target, &PurgeRefusal::OtherPermit)));
    }
    permit.revalidate().map_err(PurgeError::broken)?;
    if let Err(why) = check_method(target, method) {
        return Err(PurgeError::refused(refused(target, &why)));
    }
    match method {
        PurgeMethod::Discard => discard(target, permit, go_on),
        PurgeMethod::ZeroFill => Err(PurgeError::refused(refused(target, &PurgeRefusal::NoCommand))),
        PurgeMethod::NvmeFormat | PurgeMethod::NvmeSanitize | PurgeMethod::AtaSecureErase => {
            let disk = match whole_disk(target) {
                Ok(disk) => disk,
                Err(why) => return Err(PurgeError::refused(refused(target, &why))),
            };
            let Err(fault) = by_the_drive(permit, &disk, method) else { return Ok(PurgeEnd::Done) };
            let object = format!("{} by {}", target.path().display(), method.name());
            let left = left_behind(fault.kind, target.confirmation(), &disk);
            Err(PurgeError { kind: fault.kind, error: IoError::system("purge", object, fault.error), left })
        }
    }
}

fn refused(target: &Target, why: &PurgeRefusal) -> IoError {
    IoError::WriteRefused { target: target.path().into(), why: why.to_string() }
}

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
            "The erase password `{}` may still be set. While it is, the drive locks at every power loss. Clear it: {}.",
            ata::PASSWORD,
            ata::taking_away(&device)
        )),
        FaultKind::SanitizeBegun => Some(format!(
            "The sanitize may still be running. If it failed, the drive refuses all I/O until a sanitize succeeds: \
             run `drivescope purge {device} --write --confirm {confirmation} --method nvme-sanitize` again."
        )),
    }
}

fn check_method(target: &Target, method: PurgeMethod) -> Result<(), PurgeRefusal> {
    let descriptor = target.descriptor();
    match method {
        PurgeMethod::ZeroFill => Ok(()),
        PurgeMethod::Discard => {
            if let Err(why) = device_of(target) {
                return Err(PurgeRefusal::DiscardHere(Box::new(why)));
            }
            match target.facts().discard_max {
                Some(bytes) if bytes.get() > 0 => Ok(()),
                _ => Err(PurgeRefusal::NoDiscard),
            }
        }
        PurgeMethod::NvmeFormat | PurgeMethod::NvmeSanitize => {
            let disk = whole_disk(target)?;
            if !disk.name.starts_with("nvme") {
                return Err(PurgeRefusal::NotNvme);
            }
            let facts =
                nvme::facts(&mut nvme::Port { descriptor, disk }).map_err(PurgeRefusal::AskingFailed)?;
            if method == PurgeMethod::NvmeFormat { facts.may_format() } else { facts.may_sanitize() }
        }
        PurgeMethod::AtaSecureErase => {
            let disk = whole_disk(target)?;
            if !disk.directory.join("device/vpd_pg89").exists() {
                return Err(PurgeRefusal::NotAta);
            }
            if disk.directory.iter().any(|part| part.to_string_lossy().starts_with("usb")) {
                return Err(PurgeRefusal::BehindUsb);
            }
            let security = ata::security(&mut ata::Port(descriptor)).map_err(PurgeRefusal::AskingFailed)?;
            security.may_erase(&disk.path().display().to_string())
        }
    }
}

fn device_of(target: &Target) -> Result<BlockDevice, PurgeRefusal> {
    let Identity::Device { number, .. } = target.identity() else { return Err(PurgeRefusal::IsFile) };
    BlockDevice::by_number(&SystemRoots::live(), number).map_err(PurgeRefusal::SysfsUnread)
}

/// The same where it is a drive as a whole that is reached directly: an erase by the drive knows no partitions.
fn whole_disk(target: &Target) -> Result<BlockDevice, PurgeRefusal> {
    let device = device_of(target)?;
    if device.is_partition() {
        return Err(PurgeRefusal::IsPartition);
    }
    let below = device.slaves().map_err(PurgeRefusal::BelowUnread)?;
    if !below.is_empty() || device.directory.join("loop").exists() {
        return Err(PurgeRefusal::LiesOnDrive);
    }
    match target.disks() {
        [disk] if *disk == device.folder_of_disk() => Ok(device),
        _ => Err(PurgeRefusal::LiesOnDrive),
    }
}

fn discard(
    target: &Target,
    permit: &WritePermit,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<PurgeEnd, PurgeError> {
    let capacity = target.facts().capacity.get();
    let before = held(target);
    let mut done = 0;
    while done < capacity {
        if !go_on(done) {
            return Ok(PurgeEnd::Stopped(done));
        }
        permit.revalidate().map_err(PurgeError::broken)?;
        let length = DISCARD_STEP_BYTES.min(capacity - done);
        assert!(length > 0 && done + length <= capacity, "nothing outside the target is discarded");
        if let Err(source) = system_call::discard(permit.descriptor(), done, length) {
            let kind = if is_discard_refusal(&source, done) { FaultKind::Refused } else { FaultKind::Broken };
            let object = format!("{} from byte {done} on", target.path().display());
            let error = IoError::system("discard", object, source)
                .with_hint("All data before that offset are discarded. Alternative: --method zero-fill");
            return Err(PurgeError { kind, error, left: None });
        }
        done += length;
    }
    let places = held(target).iter().filter(|place| before.contains(place)).count();
    Ok(if places == 0 { PurgeEnd::Done } else { PurgeEnd::ReadsAsBefore { places, looked_at: before.len() } })
}

/// Whether nothing was discarded, since the system or the drive does not do it: EREMOTEIO is a drive's illegal request.
fn is_discard_refusal(error: &io::Error, done: u64) -> bool {
    done == 0 && (passthrough::is_refusal(error) || error.raw_os_error() == Some(libc::EREMOTEIO))
}

/// What some places hold that hold anything but zeroes, with where they are. A place that cannot be read tells nothing.
fn held(target: &Target) -> Vec<(u64, Vec<u8>)> {
    let grid = target.facts().logical_block.get().max(PLACE_BYTES as u64);
    let capacity = target.facts().capacity.get();
    let mut buffer = system_call::AlignedBuffer::new(PLACE_BYTES);
    let mut held = Vec::new();
    for index in 0..PLACES {
        let offset = capacity / PLACES * index / grid * grid;
        if let Ok(PLACE_BYTES) = system_call::read_at(target.descriptor(), &mut buffer, offset)
            && buffer.iter().any(|byte| *byte != 0)
        {
            held.push((offset, buffer.to_vec()));
        }
    }
    held
}
