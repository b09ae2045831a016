//! Words for the finding of latency over time.

use super::numbers::{block, host_remark, short_time};
use super::{Group, Reason, Subject, Wording};
use crate::quantity::count;
use model::finding::{FindingCode, Known, ReadLatency, ReadLatencyUnknown};

impl Wording for ReadLatency {
    const PLACE: (Group, &'static str) = (Group::Access, "Latency, p99");

    fn statement(known: &Known<ReadLatency>, _: FindingCode, _: &Subject<'_>) -> String {
        let ReadLatency { p99, block_bytes, reads, median_s, longest_s, longest_at_s, host_s } =
            &known.conclusion;
        format!(
            "Latency of {} random {} reads at QD 1: median {}, 99th percentile {}, maximum {} ({} s into the run).{}",
            count(*reads),
            block(*block_bytes),
            short_time(*median_s),
            short_time(p99.value),
            short_time(*longest_s),
            longest_at_s.round(),
            host_remark(*host_s, p99.value)
        )
    }
}

impl Reason for ReadLatencyUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::TooFewReads { have } => format!(
                "Inconclusive: {have} reads completed; a 99th percentile with a 95 % interval takes about 400. Run longer, or raise --rate."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::estimate::Estimate;
    use model::units::Bytes;

    #[test]
    fn the_percentile_comes_first_and_the_longest_with_its_time() {
        let latency = ReadLatency {
            p99: Estimate { value: 0.0231, low: 0.021, high: 0.03, confidence: 0.95, effective_count: 600.0 },
            block_bytes: Bytes::from_kib(4),
            reads: 600,
            median_s: 0.0129,
            longest_s: 0.512,
            longest_at_s: 31.96,
            host_s: 0.0,
        };
        let late = ReadLatency { host_s: 0.0011, ..latency.clone() };
        assert!(statement(&known(late), FindingCode::ReadLatency).ends_with(
            "(32 s into the run). Up to 1.10 ms of it may be the host's: waits for a CPU, and the engine."
        ));
        assert_eq!(
            statement(&known(latency), FindingCode::ReadLatency),
            "Latency of 600 random 4 KiB reads at QD 1: median 12.9 ms, 99th percentile 23.1 ms, maximum 512 ms (32 s into the \
             run)."
        );
    }
}
