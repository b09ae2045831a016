//! A drive as estimates see it: how fast its places are read and written, and what to be careful about.

use super::curve::RateCurve;
use super::unknown::RateUnknown;
use crate::datasheet::{self, Recording};
use model::estimate::Estimate;
use model::finding::{Finding, FindingCode, RecordingKind, known};
use model::range::ByteRange;
use model::request::Operation;
use model::run::Run;
use model::units::Bytes;

#[derive(Clone, Debug, PartialEq)]
pub struct DriveRates {
    pub capacity: Bytes,
    pub read: Result<RateCurve, RateUnknown>,
    pub write: Result<RateCurve, RateUnknown>,
    pub cautions: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteTime {
    /// In seconds. Without an upper end when only reads were measured.
    pub seconds: Estimate,
    pub is_of_reads: bool,
}

impl DriveRates {
    pub fn of(run: &Run) -> DriveRates {
        DriveRates {
            capacity: run.target.capacity,
            read: RateCurve::of(run, Operation::Read),
            write: RateCurve::of(run, Operation::Write),
            cautions: cautions(run),
        }
    }

    /// How long it takes to read the stretch, in seconds.
    pub fn read_time(&self, range: ByteRange) -> Result<Estimate, RateUnknown> {
        self.read.as_ref().map_err(Clone::clone)?.time_of(range)
    }

    /// How long it takes to write the stretch. Where writes were not measured it is what reads take, or more.
    pub fn write_time(&self, range: ByteRange) -> Result<WriteTime, RateUnknown> {
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
    let is_doubtful =
        run.findings.iter().any(|finding| rates.contains(&finding.code()) && !finding.caveats().is_empty());
    if is_doubtful {
        cautions.push("A cache may have served requests in that run; longer transfers may be slower.".into());
    }
    let is_link =
        |finding: &Finding| finding.code() == FindingCode::InterfaceLimit && finding.estimate().is_some();
    if run.findings.iter().any(is_link) {
        cautions
            .push("Its link limits throughput here: on a faster link it is faster, but not evenly.".into());
    }
    if is_shingled(run) {
        cautions.push(
            "It is an SMR disk: random writes, and writes after its media cache is full, may be many times slower."
                .into(),
        );
    } else if run.target.rotational == Some(false) {
        cautions.push(
            "It does not rotate: if it is flash, writes may drop to a fraction once its write cache is full."
                .into(),
        );
    }
    cautions
}

fn is_shingled(run: &Run) -> bool {
    match known::<RecordingKind>(&run.findings) {
        Some(known) => known.conclusion.recording == model::finding::Recording::Smr,
        None => {
            let sheet = run.target.model.as_deref().and_then(datasheet::find);
            matches!(sheet, Some(sheet) if sheet.recording == Recording::Shingled)
        }
    }
}
