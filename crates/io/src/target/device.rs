//! Block devices as targets.

use super::file::{Opened, check_size};
use super::identity::{DeviceNumber, Identity};
use super::{Target, system_call};
use crate::error::IoError;
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Bytes;
use std::os::fd::AsFd;
use std::path::Path;

/// The target for an opened block device.
pub(super) fn target(path: &Path, opened: Opened) -> Result<Target, IoError> {
    let fail = |operation| {
        move |source| IoError::system(operation, path.display().to_string(), source)
    };
    let descriptor = opened.descriptor.as_fd();
    let size = system_call::device_size(descriptor).map_err(fail("ask for the size of"))?;
    check_size(path, size)?;
    let logical_block = Bytes(system_call::logical_block(descriptor).map_err(fail("ask for the block size of"))?);
    let physical_block = Bytes(system_call::physical_block(descriptor).map_err(fail("ask for the block size of"))?);
    let identity = Identity::Device {
        number: DeviceNumber::from_raw(opened.status.st_rdev),
        disk_sequence: system_call::disk_sequence(descriptor).ok(),
    };
    let facts = TargetFacts {
        kind: TargetKind::Device,
        path: path.display().to_string(),
        capacity: Bytes(size).round_down_to(logical_block),
        logical_block,
        physical_block,
        model: None,
        serial: None,
        firmware: None,
        rotational: None,
        link: None,
        scheduler: None,
        read_ahead: None,
        write_cache: None,
        discard_max: None,
        zoned: None,
        stack: Vec::new(),
        caveats: if opened.direct { Vec::new() } else { vec![Caveat::NotDirect] },
    };
    Ok(Target {
        confirmation: facts.path.clone(),
        facts,
        path: path.into(),
        descriptor: opened.descriptor,
        identity,
        direct: opened.direct,
        memory_alignment: logical_block.0 as usize,
        disks: Vec::new(),
    })
}
