//! The stable JSON document of one run, schema `drivescope.run/1`, and the way back.
//!
//! The structs here are the contract with every reader outside; they belong to no other module, so that a change of
//! an inner type cannot change a file. Values are in base units: bytes, seconds, bytes per second; a key that ends
//! in `_ns` is in nanoseconds. A number that is not finite is `null`.
//!
//! Rules of the schema: keys may be added, and a reader passes over keys that it does not know. A key is never
//! renamed and never changes its meaning or unit; that would be schema 2. A histogram is not in the document, only
//! its quantiles: the store keeps the histograms as a series.

mod choice;
mod comparison;
mod estimate;
mod files;
mod finding;
mod page_cache;
mod partitions;
mod phase;
mod state;
mod target;
mod truth;
mod workload;

pub use choice::choice_document;
pub use comparison::comparison_document;
pub use estimate::estimate_document;
pub use files::{DiskShareDocument, FileWorkDocument, LayoutDocument};
pub use finding::{DetailsDocument, EvidenceDocument, FindingDocument, ValueDocument};
pub use partitions::partition_document;
pub use phase::{LatencyDocument, OperationDocument, PhaseDocument, StopDocument};
pub use state::state_document;
pub use target::{CaveatDocument, EnvironmentDocument, TargetDocument};
pub use truth::{TruthEntry, truth_document};
pub use workload::{
    ArrivalDocument, BlockSizeDocument, DataDocument, MixDocument, PatternDocument, RangeDocument,
    WorkloadDocument, ZoneDocument,
};

use model::run::{Run, RunStatus};
use serde::{Deserialize, Deserializer, Serialize};

/// The schema that is written, and the only one that is read.
pub const SCHEMA: &str = "drivescope.run/1";

/// One run as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// The run itself.
    pub run: RunDocument,
    /// What was measured.
    pub target: TargetDocument,
    /// Where it was measured.
    pub environment: EnvironmentDocument,
    /// What the drive went through.
    pub state: StateDocument,
    /// What was done, in order.
    pub phases: Vec<PhaseDocument>,
    /// What was concluded.
    pub findings: Vec<FindingDocument>,
}

/// Key `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunDocument {
    /// Its name in the store.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// When it ended; null while it is under way or when the program was killed in it.
    pub finished: Option<String>,
    /// `complete`, `interrupted` or `failed`.
    pub status: String,
    /// The version of drivescope that made it.
    pub version: String,
    /// The command that repeats it.
    pub command: String,
    /// The seed of all its randomness.
    pub seed: u64,
}

/// Key `state`: sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateDocument {
    /// What the drive went through before.
    pub before: Vec<String>,
    /// What the run did to it.
    pub after: Vec<String>,
}

/// Why a text is no document of this schema.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is no JSON, or a key is missing or holds another kind of value.
    #[error("it is no document of schema {SCHEMA}: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another schema.
    #[error("its schema is {found:?}, and this version of drivescope reads {SCHEMA}")]
    Schema {
        /// What it says it is.
        found: String,
    },
    /// A key holds something that this version does not know or that cannot be.
    #[error("its key {key} holds {value}, {problem}")]
    Value {
        /// The path of the key: `phases[2].kind`.
        key: String,
        /// What it holds.
        value: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// The document of a run.
pub fn document(run: &Run) -> Document {
    Document {
        schema: SCHEMA.into(),
        run: RunDocument {
            id: run.id.clone(),
            started: run.started.clone(),
            finished: run.finished.clone(),
            status: run.status.name().into(),
            version: run.version.clone(),
            command: run.command.clone(),
            seed: run.seed,
        },
        target: TargetDocument::of(&run.target),
        environment: EnvironmentDocument::of(&run.environment),
        state: StateDocument { before: run.state_before.clone(), after: run.state_after.clone() },
        phases: run.phases.iter().map(PhaseDocument::of).collect(),
        findings: run.findings.iter().map(FindingDocument::of).collect(),
    }
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// When the text is no JSON, of another schema, or lacks a key.
    pub fn from_json(text: &str) -> Result<Document, DocumentError> {
        #[derive(Deserialize)]
        struct Header {
            schema: String,
        }
        // First the schema: another one would only be reported as a missing key.
        let header: Header = serde_json::from_str(text)?;
        if header.schema != SCHEMA {
            return Err(DocumentError::Schema { found: header.schema });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The text, indented, with a newline at its end.
    pub fn to_json_pretty(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("structs with string keys are always valid JSON");
        text.push('\n');
        text
    }

    /// The run that it describes, with empty histograms.
    ///
    /// # Errors
    /// Names the key whose value this version does not know or that cannot be.
    pub fn into_run(self) -> Result<Run, DocumentError> {
        let status = known("run.status", &self.run.status, RunStatus::from_name)?;
        let phases = self.phases.into_iter().enumerate();
        let findings = self.findings.into_iter().enumerate();
        Ok(Run {
            id: self.run.id,
            started: self.run.started,
            finished: self.run.finished,
            status,
            version: self.run.version,
            command: self.run.command,
            seed: self.run.seed,
            target: self.target.into_model()?,
            environment: self.environment.into_model(),
            state_before: self.state.before,
            state_after: self.state.after,
            phases: phases
                .map(|(index, phase)| phase.into_model(&format!("phases[{index}]")))
                .collect::<Result<_, _>>()?,
            findings: findings
                .map(|(index, finding)| finding.into_model(&format!("findings[{index}]")))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// A float as JSON can hold it.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Reads back what is written for a number that is not finite.
fn null_as_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// The value with that name, or an error that names the key.
fn known<T>(key: &str, name: &str, from_name: impl Fn(&str) -> Option<T>) -> Result<T, DocumentError> {
    from_name(name).ok_or_else(|| DocumentError::Value {
        key: key.into(),
        value: format!("{name:?}"),
        problem: "which this version of drivescope does not know",
    })
}

/// The value of a key that its kind needs, or an error that names the key.
fn needed<T>(value: Option<T>, key: String) -> Result<T, DocumentError> {
    value.ok_or(DocumentError::Value { key, value: "nothing".into(), problem: "and its kind needs a value" })
}
