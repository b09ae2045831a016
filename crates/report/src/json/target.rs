//! Keys `target` and `environment`: what was measured, and where.

use super::{DocumentError, finite, known};
use model::run::Environment;
use model::target::{Caveat, Link, TargetFacts, TargetKind};
use model::units::Bytes;
use serde::{Deserialize, Serialize};

/// Key `target`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetDocument {
    /// `device`, `file` or `sim`.
    pub kind: String,
    /// As it was typed, or found.
    pub path: String,
    /// How much it holds.
    pub capacity_bytes: u64,
    /// The grid of direct requests.
    pub logical_block_bytes: u64,
    /// What the drive handles at once.
    pub physical_block_bytes: u64,
    /// The drive's model.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// Its firmware revision.
    pub firmware: Option<String>,
    /// Whether it says that it turns.
    pub rotational: Option<bool>,
    /// How it is connected, for people.
    pub interface: Option<String>,
    /// What the connection can carry after line coding.
    #[serde(default)]
    pub interface_bytes_per_second_max: Option<f64>,
    /// The kernel's request scheduler.
    #[serde(default)]
    pub scheduler: Option<String>,
    /// The kernel's read-ahead.
    #[serde(default)]
    pub read_ahead_bytes: Option<u64>,
    /// Whether the volatile write cache is on.
    #[serde(default)]
    pub write_cache: Option<bool>,
    /// The largest range of one discard.
    #[serde(default)]
    pub discard_bytes_max: Option<u64>,
    /// The zoned model: `none`, `host-aware`, `host-managed`.
    #[serde(default)]
    pub zoned: Option<String>,
    /// What lies under it, down to the drives.
    #[serde(default)]
    pub stack: Vec<String>,
    /// Why something else than a drive may have answered.
    #[serde(default)]
    pub caveats: Vec<CaveatDocument>,
}

/// One reason why something else than a drive may have answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaveatDocument {
    /// The word for programs.
    pub name: String,
    /// The sentence for people; not read back.
    #[serde(default)]
    pub statement: String,
}

/// Key `environment`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentDocument {
    /// The machine's name.
    pub host: String,
    /// The kernel's release.
    pub kernel: String,
    /// What served the requests.
    pub engine: String,
    /// What of it was in use, and what was not and why.
    #[serde(default)]
    pub engine_features: Vec<String>,
    /// Whether requests went past the page cache.
    pub direct: bool,
    /// The request scheduler in force.
    pub scheduler: Option<String>,
    /// What this tool costs for each I/O.
    pub own_cost_ns_per_io: Option<f64>,
    /// The longest time that a busy loop was kept from running.
    #[serde(default)]
    pub scheduling_gap_ns_max: Option<u64>,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

impl TargetDocument {
    pub(super) fn of(target: &TargetFacts) -> TargetDocument {
        let caveat = |caveat: &Caveat| CaveatDocument {
            name: caveat.name().into(),
            statement: caveat.statement().into(),
        };
        TargetDocument {
            kind: target.kind.name().into(),
            path: target.path.clone(),
            capacity_bytes: target.capacity.0,
            logical_block_bytes: target.logical_block.0,
            physical_block_bytes: target.physical_block.0,
            model: target.model.clone(),
            serial: target.serial.clone(),
            firmware: target.firmware.clone(),
            rotational: target.rotational,
            interface: target.link.as_ref().map(|link| link.name.clone()),
            interface_bytes_per_second_max: target
                .link
                .as_ref()
                .and_then(|link| link.bytes_per_second_max)
                .and_then(finite),
            scheduler: target.scheduler.clone(),
            read_ahead_bytes: target.read_ahead.map(|bytes| bytes.0),
            write_cache: target.write_cache,
            discard_bytes_max: target.discard_max.map(|bytes| bytes.0),
            zoned: target.zoned.clone(),
            stack: target.stack.clone(),
            caveats: target.caveats.iter().map(caveat).collect(),
        }
    }

    pub(super) fn into_model(self) -> Result<TargetFacts, DocumentError> {
        let rate = self.interface_bytes_per_second_max;
        let caveats = self.caveats.iter().enumerate();
        Ok(TargetFacts {
            kind: known("target.kind", &self.kind, TargetKind::from_name)?,
            path: self.path,
            capacity: Bytes(self.capacity_bytes),
            logical_block: Bytes(self.logical_block_bytes),
            physical_block: Bytes(self.physical_block_bytes),
            model: self.model,
            serial: self.serial,
            firmware: self.firmware,
            rotational: self.rotational,
            link: self.interface.map(|name| Link { name, bytes_per_second_max: rate }),
            scheduler: self.scheduler,
            read_ahead: self.read_ahead_bytes.map(Bytes),
            write_cache: self.write_cache,
            discard_max: self.discard_bytes_max.map(Bytes),
            zoned: self.zoned,
            stack: self.stack,
            caveats: caveats
                .map(|(index, caveat)| {
                    known(&format!("target.caveats[{index}].name"), &caveat.name, Caveat::from_name)
                })
                .collect::<Result<_, _>>()?,
        })
    }
}

impl EnvironmentDocument {
    pub(super) fn of(environment: &Environment) -> EnvironmentDocument {
        EnvironmentDocument {
            host: environment.host.clone(),
            kernel: environment.kernel.clone(),
            engine: environment.engine.clone(),
            engine_features: environment.engine_features.clone(),
            direct: environment.direct,
            scheduler: environment.scheduler.clone(),
            own_cost_ns_per_io: environment.own_cost_ns_per_io.and_then(finite),
            scheduling_gap_ns_max: environment.scheduling_gap_ns_max,
            warnings: environment.warnings.clone(),
        }
    }

    pub(super) fn into_model(self) -> Environment {
        Environment {
            host: self.host,
            kernel: self.kernel,
            engine: self.engine,
            engine_features: self.engine_features,
            direct: self.direct,
            scheduler: self.scheduler,
            own_cost_ns_per_io: self.own_cost_ns_per_io,
            scheduling_gap_ns_max: self.scheduling_gap_ns_max,
            warnings: self.warnings,
        }
    }
}
