//! The experiments by name, as they stand in phases, documents and on the command line.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
pub enum ExperimentName {
    Check,
    Surface,
    Access,
    Geometry,
    Sustain,
    Valleys,
    Run,
    Sizes,
    Ping,
    Files,
    Commit,
    Verify,
    Purge,
    /// Not measured here: figures of another program.
    Import,
    /// Of a bench, or in a run of another version.
    Other(Cow<'static, str>),
}

impl ExperimentName {
    const KNOWN: [ExperimentName; 14] = [
        ExperimentName::Check,
        ExperimentName::Surface,
        ExperimentName::Access,
        ExperimentName::Geometry,
        ExperimentName::Sustain,
        ExperimentName::Valleys,
        ExperimentName::Run,
        ExperimentName::Sizes,
        ExperimentName::Ping,
        ExperimentName::Files,
        ExperimentName::Commit,
        ExperimentName::Verify,
        ExperimentName::Purge,
        ExperimentName::Import,
    ];

    pub fn name(&self) -> &str {
        match self {
            ExperimentName::Check => "check",
            ExperimentName::Surface => "surface",
            ExperimentName::Access => "access",
            ExperimentName::Geometry => "geometry",
            ExperimentName::Sustain => "sustain",
            ExperimentName::Valleys => "valleys",
            ExperimentName::Run => "run",
            ExperimentName::Sizes => "sizes",
            ExperimentName::Ping => "ping",
            ExperimentName::Files => "files",
            ExperimentName::Commit => "commit",
            ExperimentName::Verify => "verify",
            ExperimentName::Purge => "purge",
            ExperimentName::Import => "import",
            ExperimentName::Other(name) => name,
        }
    }

    fn known(name: &str) -> Option<ExperimentName> {
        ExperimentName::KNOWN.into_iter().find(|known| known.name() == name)
    }
}

impl From<&'static str> for ExperimentName {
    fn from(name: &'static str) -> ExperimentName {
        ExperimentName::known(name).unwrap_or(ExperimentName::Other(name.into()))
    }
}

impl From<String> for ExperimentName {
    fn from(name: String) -> ExperimentName {
        ExperimentName::known(&name).unwrap_or(ExperimentName::Other(name.into()))
    }
}

impl From<ExperimentName> for String {
    fn from(experiment: ExperimentName) -> String {
        experiment.to_string()
    }
}

impl fmt::Display for ExperimentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_unknown_ones_are_kept() {
        for known in ExperimentName::KNOWN {
            assert_eq!(ExperimentName::from(known.to_string()), known);
        }
        assert_eq!(ExperimentName::from("pts").to_string(), "pts");
    }
}
