//! What `commit` is asked for.

use super::{Commit, LOG, LOG_OF_EACH};
use crate::error::PlanError;
use crate::request::{DriveOptions, DriveRequest, Supplies, has_drive_options};
use crate::{Experiment, Setup};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use model::commit::Application;
use model::experiment_name::ExperimentName;
use model::units::Bytes;
use serde::{Deserialize, Serialize};

const COMMITTERS: [u32; 3] = [4, 16, 64];
/// A program's pool of connections: `max_connections` of PostgreSQL is 100 unless it is set.
const CONNECTIONS: [u32; 3] = [4, 16, 100];
/// What etcd and PostgreSQL write with each commit.
const SIZES: [Bytes; 2] = [Bytes::from_kib(2), Bytes::from_kib(8)];

/// What is committed, and for which program.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Commits")]
#[serde(default)]
pub struct CommitRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub drive: DriveOptions,

    /// Commit as this program does, and hold the result against its published limit
    #[arg(long = "for", value_name = "PROGRAM", value_parser = application())]
    pub application: Option<Application>,

    /// Sizes of a commit, 512B to 64KiB [default: 2KiB,8KiB; with --for that of the program]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Bytes>,

    /// Numbers of threads that commit concurrently [default: 4,16,64; with --for 4,16,100]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=100))]
    pub committers: Vec<u32>,
}

fn application() -> impl TypedValueParser<Value = Application> {
    PossibleValuesParser::new(Application::ALL.map(Application::name))
        .map(|word| Application::from_name(&word).expect("one of the possible values"))
}

impl CommitRequest {
    pub(super) fn sizes(&self) -> Vec<Bytes> {
        match (self.sizes.as_slice(), self.application) {
            ([], Some(application)) => vec![application.need().write],
            ([], None) => SIZES.to_vec(),
            (sizes, _) => sizes.to_vec(),
        }
    }

    pub(super) fn committers(&self) -> &[u32] {
        match (self.committers.as_slice(), self.application) {
            ([], None) => &COMMITTERS,
            ([], Some(_)) => &CONNECTIONS,
            (committers, _) => committers,
        }
    }
}

impl DriveRequest for CommitRequest {
    has_drive_options!(ExperimentName::Commit);

    fn bytes_beside_scratch(&self) -> Bytes {
        let most = self.committers().iter().max().copied().unwrap_or_default();
        LOG.max(LOG_OF_EACH * u64::from(most))
    }

    fn plan(&self, setup: Setup, _supplies: &Supplies) -> Result<Box<dyn Experiment>, PlanError> {
        if self.drive.writing.preserve {
            return Err(PlanError::NotPreserved);
        }
        Ok(Box::new(Commit::new(setup, self)?))
    }
}
