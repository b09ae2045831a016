//! Words for the finding of bad blocks.

use super::numbers::size;
use super::{Group, Reason, Subject, Wording};
use crate::quantity::{self, count, counted};
use crate::style::Tone;
use model::finding::{BadBlocks, BadBlocksUnknown, FindingCode, Known};
use model::request::Operation;
use model::units::Bytes;

impl Wording for BadBlocks {
    const PLACE: (Group, &'static str) = (Group::Sound, "Bad blocks");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("region", "regions"));

    fn statement(known: &Known<BadBlocks>, _: FindingCode, _: &Subject<'_>) -> String {
        let bad = &known.conclusion;
        let Some(first) = bad.regions.first() else { return String::new() };
        let regions = match bad.count() {
            1 => format!("1 region of {},", quantity::size(Bytes::new(first.bytes))),
            regions => format!("{} regions, the first", count(regions)),
        };
        format!(
            "{} failed in {regions} at byte {} ({}): {}.",
            counted(bad.errors, "request", "requests"),
            count(first.first_byte),
            size(first.first_byte),
            bad.status.describe()
        )
    }

    fn advice(_: &Known<BadBlocks>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        Some("Copy your data from the drive now, then replace it.".into())
    }

    fn alarm(_: &Known<BadBlocks>, _: FindingCode) -> Option<Tone> {
        Some(Tone::Bad)
    }
}

impl Reason for BadBlocksUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::Refused { failed, first_byte, status } => format!(
                "Inconclusive: {} failed, the first at byte {first_byte}: {}. That says nothing about the medium.",
                counted(*failed as u64, "request", "requests"),
                status.describe()
            ),
            Self::OnlyInQueue { failed, alone } => format!(
                "Inconclusive: {failed} requests timed out with others in flight, and none of {alone} alone. The queue hangs, in the drive, the \
                 controller or the bridge; that says nothing about single blocks. Write 1 to `/sys/block/NAME/device/queue_depth` and repeat."
            ),
            Self::NotAgain { failed, reread } => format!(
                "Inconclusive: {} failed, and none of {reread} reads of the same blocks did afterwards: a cable, bridge or controller fails \
                 intermittently, or the drive recovers weak blocks on a retry. Check `dmesg` and SMART attributes 197 (pending sectors) and 199 (CRC \
                 errors), replace the cable, then repeat.",
                counted(*failed as u64, "request", "requests")
            ),
            Self::OnlyDurability { operation: Operation::Commit, failed, first_s } => format!(
                "Inconclusive: {} failed, the first after {first_s:.1} s, at its write or at its flush. None was repeated: a later flush that succeeds \
                 does not bring back what a failed one lost.",
                counted(*failed as u64, "commit", "commits")
            ),
            Self::OnlyDurability { failed, first_s, .. } => format!(
                "Inconclusive: {} failed, the first after {first_s:.1} s. Flushes have no offset; data written before may be lost.",
                counted(*failed as u64, "flush", "flushes")
            ),
            Self::Silent { from_s } => format!(
                "Inconclusive: from {from_s:.1} s on every request failed at any offset, and none before. That says nothing about single blocks."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement, why};
    use super::*;
    use model::finding::BadRegion;
    use model::request::Status;

    #[test]
    fn failures_are_counted_with_their_first_offset() {
        let region = BadRegion { first_byte: 299_999_232_000, bytes: 17 << 20, count: 17 };
        let bad =
            BadBlocks { regions: vec![region], errors: 17, regions_left_out: 0, status: Status::MediumError };
        assert_eq!(
            statement(&known(bad), FindingCode::BadBlocks),
            "17 requests failed in 1 region of 17 MiB, at byte 299,999,232,000 (300 GB): medium error."
        );
        let refused = BadBlocksUnknown::Refused { failed: 4, first_byte: 10, status: Status::NoSpace };
        assert_eq!(
            why::<BadBlocks>(&refused, FindingCode::BadBlocks),
            "Inconclusive: 4 requests failed, the first at byte 10: no space left. That says nothing about the medium."
        );
    }
}
