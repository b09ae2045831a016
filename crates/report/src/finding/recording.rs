//! Words for the findings of how a medium is recorded.

use super::numbers::{memory, short_time};
use super::{Group, Reason, Subject, Wording};
use crate::quantity::count;
use model::experiment_name::ExperimentName;
use model::finding::{
    BandSize, BandSizeUnknown, FindingCode, Known, ProbeTimes, Recording, RecordingKind, RecordingReason,
    RecordingUnknown,
};

impl Wording for RecordingKind {
    const PLACE: (Group, &'static str) = (Group::Writes, "Drive type");

    fn headline(known: &Known<RecordingKind>, _: FindingCode, _: &Subject<'_>) -> String {
        let headline = match known.conclusion.recording {
            Recording::Cmr => "The disk is CMR (not shingled).",
            Recording::Smr => "The disk is drive-managed SMR (shingled) with a media cache.",
            Recording::Flash => "The medium is flash.",
        };
        headline.into()
    }

    fn statement(known: &Known<RecordingKind>, code: FindingCode, subject: &Subject<'_>) -> String {
        let kind = &known.conclusion;
        let mut sentences = vec![Self::headline(known, code, subject)];
        for reason in &kind.reasons {
            sentences.push(because(*reason, kind));
        }
        sentences.join(" ")
    }

    fn advice(known: &Known<RecordingKind>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        match known.conclusion.recording {
            Recording::Smr => Some(
                "Use the drive for archives and backups, not for RAID, databases or virtual machines.".into(),
            ),
            Recording::Cmr | Recording::Flash => None,
        }
    }
}

impl Reason for RecordingUnknown {
    fn why(&self, _: FindingCode, subject: &Subject<'_>) -> String {
        match self {
            Self::RangeTooSmall => {
                "Not measured: the range is too small to tell writes in place from others. Give a larger --range.".into()
            }
            Self::NothingMoves(probes) => format!(
                "Inconclusive: no rotation and no seek was seen, so nothing shows how it records. Rereads ({}) follow no \
                 revolution, and latency does not grow with distance.",
                time(probes.single_read_s)
            ),
            Self::NoRereads => format!(
                "Not measured: no offset was read twice, which shows rotation. Repeat {}.",
                subject.writing(&ExperimentName::Sustain, "")
            ),
            Self::InPlaceYetShingled { times: probes, reasons } if reasons.is_empty() => format!(
                "Inconclusive: small writes go in place as with CMR ({}), but throughput dropped for good.",
                times(probes)
            ),
            Self::InPlaceYetShingled { times: probes, .. } => format!(
                "Inconclusive: small writes go in place as with CMR ({}), but what is known of the drive speaks for SMR.",
                times(probes)
            ),
            Self::LogWithoutCliff(probes) => format!(
                "Inconclusive: small random writes go to a log ({}), but no write cliff followed, as with a CMR disk that has a \
                 media cache. {} with a larger --bytes decides.",
                times(probes),
                subject.writing(&ExperimentName::Sustain, "")
            ),
            Self::LogWithoutCost(probes) => format!(
                "Inconclusive: small random writes go to a log ({}), but after the cliff they are no slower than in place. \
                 A larger --range decides.",
                times(probes)
            ),
            Self::SlowFromStart(probes) => format!(
                "Inconclusive: each small write costs many seeks ({}), as on an SMR disk with a full cache or a failing disk. \
                 Leave it idle for hours, or use --drain, and repeat.",
                times(probes)
            ),
            Self::Unclear(probes) => format!(
                "Inconclusive: small random writes are neither as slow as seeks (CMR) nor as fast as a log (SMR): {}.",
                times(probes)
            ),
            Self::AnsweredByMemory => "Inconclusive: memory answers, not a drive.".into(),
            Self::EqualTimes => {
                "Inconclusive: reads and writes take the same time, as with neither an actuator nor flash cells.".into()
            }
            Self::CacheOfDisk => {
                "Inconclusive: random reads are too fast for an actuator, but the drive reports rotation. A cache answers, or a bridge reports it of flash.".into()
            }
            Self::NothingTold => {
                "Inconclusive: random reads are too fast for an actuator, but flash, memory and a cache look the same.".into()
            }
        }
    }
}

fn because(reason: RecordingReason, kind: &RecordingKind) -> String {
    match reason {
        RecordingReason::RewritesAfterCliff => "Past the cliff each random write rewrites a band.".into(),
        RecordingReason::WritesToLog => {
            format!(
                "Small random writes complete too quickly to have been written in place, so they must go to the media cache first ({}).",
                times(&kind.times)
            )
        }
        RecordingReason::CleansBands => {
            "Written blocks read slower than their neighbours until the idle drive cleans them, band by band."
                .into()
        }
        RecordingReason::WritesInPlace => {
            format!(
                "Small random writes take as long as seeks, so they go in place ({}).",
                times(&kind.times)
            )
        }
        RecordingReason::TooFastForArm => {
            format!("Random reads take {}, too fast for a mechanical seek.", time(kind.times.single_read_s))
        }
        RecordingReason::SaysZoned => "The drive reports write zones.".into(),
        RecordingReason::SaysTrim => "The drive rotates and supports TRIM, as SMR disks do.".into(),
        RecordingReason::SaysNotRotational => "The drive reports itself as non-rotating.".into(),
        RecordingReason::DataSheet => "Published data agree.".into(),
        RecordingReason::Rotates => {
            "Rereads of a sector complete whole revolutions apart, which confirms a rotating disk.".into()
        }
        RecordingReason::Seeks => "Latency grows with seek distance.".into(),
        RecordingReason::BuffersWrites => {
            "Writes complete in half the time of reads or less: a buffer takes them.".into()
        }
        RecordingReason::ProgramsCells => {
            "Writes take several times as long as reads: cells are programmed.".into()
        }
        RecordingReason::SensesCells => {
            "Written LBAs take longer to read than unwritten LBAs: only written LBAs are read from flash."
                .into()
        }
        RecordingReason::ReclaimsSpace => "Garbage collection slowed random writes.".into(),
    }
}

/// "write 4.10 ms, read in order 5.00 ms, random read 12.0 ms".
fn times(probes: &ProbeTimes) -> String {
    format!(
        "4 KiB writes average {} including the flush, reads of the same range {} in LBA order and {} in random order",
        time(probes.write_s),
        time(probes.sweep_read_s),
        time(probes.single_read_s)
    )
}

fn time(seconds: Option<f64>) -> String {
    match seconds {
        Some(seconds) => short_time(seconds),
        None => "unknown".into(),
    }
}

impl Wording for BandSize {
    const PLACE: (Group, &'static str) = (Group::Writes, "SMR band size");

    fn statement(known: &Known<BandSize>, _: FindingCode, _: &Subject<'_>) -> String {
        let BandSize { size, first_byte, borders } = &known.conclusion;
        format!(
            "Cleaning rewrites bands of {}: {borders} band boundaries found, the lowest at byte {}.",
            memory(size.value),
            count(*first_byte)
        )
    }

    fn advice(known: &Known<BandSize>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let size = memory(known.conclusion.size.value);
        Some(format!(
            "Write in long sequential runs, each spanning many bands of {size}: such writes bypass the media cache."
        ))
    }
}

impl Reason for BandSizeUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NotCleaned => {
                "Inconclusive: small writes go out of place and were not moved back while idle. An SMR disk that did not clean or a copy-on-write layer looks so."
                    .into()
            }
            Self::Interference => {
                "Inconclusive: repeated reads of one block contradict each other. Repeat it without other I/O.".into()
            }
            Self::UnevenBorders { borders } => format!(
                "Inconclusive: small writes go to a media cache, but its cleaning shows too few even distances ({borders} borders)."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement, why};
    use super::*;
    use model::estimate::Estimate;

    const TIMES: ProbeTimes =
        ProbeTimes { write_s: Some(0.0041), sweep_read_s: Some(0.005), single_read_s: Some(0.012) };

    #[test]
    fn a_kind_says_why() {
        let kind = RecordingKind {
            recording: Recording::Smr,
            reasons: vec![RecordingReason::RewritesAfterCliff, RecordingReason::DataSheet],
            times: TIMES,
            cost_after_cliff: Some(14.2),
        };
        assert_eq!(
            statement(&known(kind), FindingCode::RecordingKind),
            "The disk is drive-managed SMR (shingled) with a media cache. Past the cliff each random write rewrites a band. \
             Published data agree."
        );
    }

    #[test]
    fn what_does_not_rotate_is_inconclusive() {
        let times = ProbeTimes { single_read_s: Some(0.0015), ..TIMES };
        let reason = RecordingUnknown::NothingMoves(times);
        assert_eq!(
            why::<RecordingKind>(&reason, FindingCode::RecordingKind),
            "Inconclusive: no rotation and no seek was seen, so nothing shows how it records. Rereads (1.50 ms) follow no \
             revolution, and latency does not grow with distance."
        );
    }

    #[test]
    fn bands_have_a_size() {
        let size = BandSize { size: Estimate::exact(30.0 * 1_048_576.0), first_byte: 4096, borders: 6 };
        assert_eq!(
            statement(&known(size), FindingCode::BandSize),
            "Cleaning rewrites bands of 30.0 MiB: 6 band boundaries found, the lowest at byte 4,096."
        );
    }
}
