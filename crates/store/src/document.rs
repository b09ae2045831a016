//! The stable JSON document of one run, schema `drivescope.run/1`, and the way back.
//!
//! What stands under a key is said where the type is declared, in `model`; golden documents hold the bytes. Values are in base units: bytes,
//! seconds, bytes per second; a key that ends in `_ns` is in nanoseconds. A number that is not finite is `null`.
//!
//! Rules of the schema: keys may be added, and readers pass over unknown ones. A key is never renamed and never
//! changes its meaning or unit: that is schema 2. The store keeps histograms as a series.

use model::finding::FindingDocument;
use model::run::{Asked, Environment, PhaseSummary, Run, RunStatus};
use model::target::TargetFacts;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The schema that is written, and the only one that is read.
pub const SCHEMA: &str = "drivescope.run/1";

#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Its histograms are empty, and so are its findings, which follow from the records: whoever needs them analyses it.
    pub run: Run,
    pub findings: Vec<FindingDocument>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Document<'run> {
    schema: Cow<'run, str>,
    run: Head<'run>,
    target: Cow<'run, TargetFacts>,
    environment: Cow<'run, Environment>,
    state: DriveState<'run>,
    phases: Cow<'run, [PhaseSummary]>,
    findings: Cow<'run, [FindingDocument]>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Head<'run> {
    id: Cow<'run, str>,
    started: Cow<'run, str>,
    finished: Cow<'run, Option<String>>,
    status: RunStatus,
    version: Cow<'run, str>,
    command: Cow<'run, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Cow<'run, Asked>>,
    seed: u64,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DriveState<'run> {
    before: Cow<'run, [String]>,
    after: Cow<'run, [String]>,
}

/// Those of a run, and of several as `export` writes them.
#[cfg(feature = "schema")]
pub fn schemas() -> Vec<schemars::Schema> {
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "it is written as text, run by run")]
    struct Several<'run> {
        schema: String,
        runs: Vec<Document<'run>>,
    }
    vec![model::schema::of::<Document>(SCHEMA), model::schema::of::<Several>("drivescope.runs/1")]
}

/// Of what a later version wrote, which is sound.
pub(crate) const READ_WITH_LATER: &str =
    "Read it with the version of drivescope that wrote it, or a later one";

#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("it is no document of schema {SCHEMA}: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("its schema is {found:?}, and this version of drivescope reads {SCHEMA}")]
    Schema { found: String },
    /// A key is missing, or holds something that this version does not know or that cannot be.
    #[error("its key {key} cannot be read: {source}")]
    Key { key: String, source: serde_json::Error },
}

impl DocumentError {
    /// What gives the file back, as the beginning of a sentence.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            DocumentError::Schema { .. } => READ_WITH_LATER,
            _ => "Restore the file from a copy, or delete its folder",
        }
    }
}

pub fn to_json(run: &Run, findings: &[FindingDocument]) -> String {
    let document = Document {
        schema: SCHEMA.into(),
        run: Head {
            id: (&run.id).into(),
            started: (&run.started).into(),
            finished: Cow::Borrowed(&run.finished),
            status: run.status,
            version: (&run.version).into(),
            command: (&run.command).into(),
            asked: run.asked.as_ref().map(Cow::Borrowed),
            seed: run.seed,
        },
        target: Cow::Borrowed(&run.target),
        environment: Cow::Borrowed(&run.environment),
        state: DriveState { before: (&run.state_before).into(), after: (&run.state_after).into() },
        phases: (&run.phases).into(),
        findings: findings.into(),
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("structs with string keys are always valid JSON") + "\n"
}

/// Reads a document. Fails when the text is no JSON, of another schema, lacks a key, or holds something that cannot be; names the key.
pub fn from_json(text: &str) -> Result<Facts, DocumentError> {
    #[derive(Deserialize)]
    struct Header {
        schema: String,
    }
    // First the schema: another one would only be reported as a missing key.
    let header: Header = serde_json::from_str(text)?;
    if header.schema != SCHEMA {
        return Err(DocumentError::Schema { found: header.schema });
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, Document<'_>>(&mut reader) {
        Ok(document) => Ok(document.into_facts()),
        Err(error) if error.path().iter().next().is_none() => Err(error.into_inner().into()),
        Err(error) => {
            let key = error.path().to_string();
            Err(DocumentError::Key { key, source: error.into_inner() })
        }
    }
}

impl Document<'_> {
    fn into_facts(self) -> Facts {
        let run = Run {
            id: self.run.id.into_owned(),
            started: self.run.started.into_owned(),
            finished: self.run.finished.into_owned(),
            status: self.run.status,
            version: self.run.version.into_owned(),
            command: self.run.command.into_owned(),
            asked: self.run.asked.map(Cow::into_owned),
            seed: self.run.seed,
            target: self.target.into_owned(),
            environment: self.environment.into_owned(),
            state_before: self.state.before.into_owned(),
            state_after: self.state.after.into_owned(),
            phases: self.phases.into_owned(),
            findings: Vec::new(),
        };
        Facts { run, findings: self.findings.into_owned() }
    }
}
