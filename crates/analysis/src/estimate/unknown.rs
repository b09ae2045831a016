//! Why an estimate cannot be made from a run.

use model::range::ByteRange;
use model::request::Operation;
use model::units::Bytes;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RateUnknown {
    #[error("The throughput of {} is unknown; `drivescope show {run}` says why.", words(*.operation))]
    NotConcluded { operation: Operation, run: String },
    #[error("The run {run} holds no sequential {} over the drive.", words(*.operation))]
    NotMeasured { operation: Operation, run: String },
    #[error("The throughput of {} of the run {run} has no interval to estimate by.", words(*.operation))]
    NoInterval { operation: Operation, run: String },
    #[error("The run does not tell which part of the drive it measured.")]
    UnknownRange,
    #[error(
        "Only bytes {} to {} of the drive were measured. Measure the whole drive: drivescope surface TARGET.",
        .covered.first().get(), .covered.end().get()
    )]
    NotCovered { covered: ByteRange },
    #[error(
        "Only the mean throughput is known, not that of each zone. Measure it: \
         drivescope surface TARGET."
    )]
    MeanOnly,
    #[error("It holds {} bytes, and this would end at byte {end}.", .capacity.get())]
    TooSmall { capacity: Bytes, end: u64 },
    #[error("There is no drive.")]
    NoDrive,
}

fn words(operation: Operation) -> &'static str {
    if operation == Operation::Write { "writes" } else { "reads" }
}
