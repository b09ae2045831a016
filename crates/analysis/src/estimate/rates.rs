//! A drive as estimates see it: how fast its places are read and written, and what to be careful about.

use super::curve::RateCurve;
use crate::datasheet::{self, Recording};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode, Outcome, Value};
use model::range::ByteRange;
use model::request::Operation;
use model::run::Run;
use model::units::Bytes;

/// What one run tells of a drive's rates.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRates {
    /// How much it holds.
    pub capacity: Bytes,
    /// The rate of reads over position, or why it is not known.
    pub read: Result<RateCurve, String>,
    /// The rate of writes over position, or why it is not known.
    pub write: Result<RateCurve, String>,
    /// What to be careful about, as sentences.
    pub cautions: Vec<String>,
}

/// How long writes take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteTime {
    /// In seconds. Without an upper end when only reads were measured.
    pub seconds: Estimate,
    /// Whether it is the time of reads, for writes were not measured.
    pub is_of_reads: bool,
}

impl DriveRates {
    /// Of a run with its findings.
    pub fn of(run: &Run) -> DriveRates {
        DriveRates {
            capacity: run.target.capacity,
            read: RateCurve::of(run, Operation::Read),
            write: RateCurve::of(run, Operation::Write),
            cautions: cautions(run),
        }
    }

    /// How long it takes to read the stretch, in seconds.
    ///
    /// # Errors
    /// Why it is not known: a sentence.
    pub fn read_time(&self, range: ByteRange) -> Result<Estimate, String> {
        self.read.as_ref().map_err(Clone::clone)?.time_of(range)
    }

    /// How long it takes to write the stretch. Where writes were not measured it is what reads take, or more: hardly any
    /// drive writes a long stretch in less time than it reads it.
    ///
    /// # Errors
    /// Why not even that is known: a sentence.
    pub fn write_time(&self, range: ByteRange) -> Result<WriteTime, String> {
        if let Ok(curve) = &self.write {
            return Ok(WriteTime { seconds: curve.time_of(range)?, is_of_reads: false });
        }
        let read = self.read_time(range)?;
        Ok(WriteTime { seconds: Estimate { high: f64::INFINITY, ..read }, is_of_reads: true })
    }
}

fn cautions(run: &Run) -> Vec<String> {
    let mut cautions = Vec::new();
    let rates = [FindingCode::ReadRateMean, FindingCode::ReadRateOuter, FindingCode::WriteRateMean];
    let is_doubtful = run.findings.iter().any(|finding| match &finding.outcome {
        Outcome::Known(conclusion) => {
            let names_reasons = |datum: &Datum| matches!(datum, Datum::List(reasons) if !reasons.is_empty());
            rates.contains(&finding.code)
                && conclusion.data.iter().any(|(name, datum)| name == "caveats" && names_reasons(datum))
        }
        Outcome::Unknown { .. } => false,
    });
    if is_doubtful {
        cautions.push("A cache or memory may have answered in that run, and would not for long.".into());
    }
    let is_link =
        |finding: &Finding| finding.code == FindingCode::InterfaceLimit && finding.estimate().is_some();
    if run.findings.iter().any(is_link) {
        cautions.push(
            "Its link, and not the medium, sets rates here: on a faster link it is faster, and not evenly."
                .into(),
        );
    }
    if is_shingled(run) {
        cautions.push(
            "It is a shingled disk (SMR): writes out of order, and those after its media cache is full, may be many \
             times slower than this."
                .into(),
        );
    } else if run.target.rotational == Some(false) {
        cautions
            .push("It does not turn: if it is flash, writes may fall to a fraction of this once its write cache is full.".into());
    }
    cautions
}

fn is_shingled(run: &Run) -> bool {
    let found = run.findings.iter().find(|finding| finding.code == FindingCode::RecordingKind);
    let word = found.and_then(|finding| match &finding.outcome {
        Outcome::Known(conclusion) => Some(&conclusion.value),
        Outcome::Unknown { .. } => None,
    });
    match word {
        Some(Value::Text(kind)) => kind == "smr",
        _ => {
            let sheet = run.target.model.as_deref().and_then(datasheet::find);
            sheet.is_some_and(|sheet| sheet.recording == Recording::Shingled)
        }
    }
}
