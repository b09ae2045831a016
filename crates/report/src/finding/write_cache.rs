//! Words for the finding of a volatile write cache.

use super::numbers::{memory, rate, short_time, size};
use super::write_cliff::writes;
use super::{Group, NO_TIME, Reason, Subject, Wording};
use crate::quantity::measured;
use model::experiment_name::ExperimentName;
use model::finding::{FindingCode, Known, WriteCache, WriteCacheUnknown};

impl Wording for WriteCache {
    const PLACE: (Group, &'static str) = (Group::Writes, "Volatile write cache");

    fn statement(known: &Known<WriteCache>, _: FindingCode, _: &Subject<'_>) -> String {
        let cache = &known.conclusion;
        let drained = rate(cache.drained);
        let (bytes, flush) = match cache.is_full {
            true => (measured(&cache.bytes, "bytes").value, "Flushing a full cache takes".to_string()),
            false => (
                format!("at least {}", memory(cache.bytes.value)),
                format!("After {} of writes a flush takes", size(cache.flush_behind_bytes as u64)),
            ),
        };
        let rates = match cache.acknowledged {
            Some(acknowledged) => {
                format!(
                    "run at {} until this cache is full, and average {drained} including flushes",
                    rate(acknowledged)
                )
            }
            None => format!("average {drained} including flushes"),
        };
        format!(
            "The drive acknowledges {bytes} of writes before they reach the medium. {} {rates}. {flush} {}.",
            writes(&cache.writes),
            short_time(cache.flush_s)
        )
    }

    fn advice(known: &Known<WriteCache>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let cache = &known.conclusion;
        let bytes = cache.bytes.low;
        let drained = rate(cache.drained);
        let rates = match cache.acknowledged {
            Some(acknowledged) => format!(
                "Keep bursts under {} (the lower bound of the cache's size) to write at {}; they take up to {} to drain. \
                 Longer ones average {drained} including flushes.",
                memory(bytes),
                rate(acknowledged),
                short_time(bytes / cache.drained)
            ),
            None => format!("When comparing drives, use the rate including flushes, {drained}."),
        };
        Some(format!("{rates} A power failure loses data that was not flushed."))
    }
}

impl Reason for WriteCacheUnknown {
    fn why(&self, _: FindingCode, subject: &Subject<'_>) -> String {
        match *self {
            Self::NotTested { is_on } => format!(
                "Not measured: the drive reports that its volatile write cache is {}. {} measures it, but destroys the data on the drive.",
                if is_on { "enabled" } else { "disabled or absent" },
                subject.writing(&ExperimentName::Sustain, "")
            ),
            Self::TooFewPhases => {
                "Inconclusive: too few writes ended with a flush. A larger --bytes or --time-limit decides."
                    .into()
            }
            Self::NoTime => NO_TIME.into(),
            Self::None { flush_s, flush_behind_bytes } => format!(
                "None detected: writes reach the medium as fast as they are acknowledged, and a flush after {} of writes takes {}. This does not prove that a power cut loses nothing.",
                size(flush_behind_bytes as u64),
                short_time(flush_s)
            ),
            Self::Unclear { bytes_max, flush_s, flush_behind_bytes } => format!(
                "Inconclusive: a flush after {} of writes takes {}, and throughput before it shows no full cache. It holds at most {}.",
                size(flush_behind_bytes as u64),
                short_time(flush_s),
                size(bytes_max as u64)
            ),
        }
    }

    fn is_answer(&self) -> bool {
        matches!(self, Self::None { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement, why};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::{WriteKind, WriteOrder};
    use model::units::Bytes;

    fn cache() -> WriteCache {
        WriteCache {
            bytes: Estimate { low: 530e6, high: 544e6, confidence: 0.95, ..Estimate::exact(537e6) },
            writes: WriteKind { order: WriteOrder::Random, block: Bytes::from_kib(128) },
            acknowledged: Some(1.03e9),
            drained: 25.1e6,
            drained_low: 25.0e6,
            drained_high: 25.2e6,
            flush_s: 21.4,
            flush_behind_bytes: 1.07e9,
            is_full: true,
        }
    }

    #[test]
    fn rates_with_and_without_flushes_stand_side_by_side() {
        let code = FindingCode::WriteCache;
        assert_eq!(
            statement(&known(cache()), code),
            "The drive acknowledges 512 MiB of writes before they reach the medium. Random 128 KiB writes run at 1.03 \
             GB/s until this cache is full, and average 25.1 MB/s including flushes. Flushing a full cache takes 21.4 s."
        );
        assert_eq!(
            advice(&known(cache()), code).unwrap(),
            "Keep bursts under 505 MiB (the lower bound of the cache's size) to write at 1.03 GB/s; they take up to 21.1 s to drain. Longer ones \
             average 25.1 MB/s including flushes. A power failure loses data that was not flushed."
        );
        let bytes = Estimate { high: f64::INFINITY, ..Estimate::exact(134e6) };
        let unfilled = WriteCache { bytes, is_full: false, acknowledged: None, ..cache() };
        assert_eq!(
            statement(&known(unfilled), code),
            "The drive acknowledges at least 128 MiB of writes before they reach the medium. Random 128 KiB writes \
             average 25.1 MB/s including flushes. After 1.07 GB of writes a flush takes 21.4 s."
        );
    }

    #[test]
    fn reads_say_what_the_drive_reports() {
        let reason = WriteCacheUnknown::NotTested { is_on: true };
        assert_eq!(
            why::<WriteCache>(&reason, FindingCode::WriteCache),
            "Not measured: the drive reports that its volatile write cache is enabled. `drivescope sustain /dev/sdx \
             --write` measures it, but destroys the data on the drive."
        );
    }
}
