//! How far the system reads on by itself: blocks are read through the page cache, alone and in rows of several lengths, and after that it
//! is looked how much of what lies behind them is in memory. The session looks; here is only asked.

use crate::Setup;
use crate::preparation::{measure, random_block};
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::prng::Prng;
use model::units::Nanos;
use model::workload::{Caching, OperationMix, Pattern, Workload};

const PLACES_STREAM: u64 = u64::from_le_bytes(*b"pagecach");
/// Blocks that stand alone, and pairs: systems do the same each time, so that a few show it even if other reads come between.
const SINGLES: usize = 8;
const PAIRS: usize = 8;
/// Longer rows: read-ahead swings between one window and two, and of eight moments the largest is within a ninth on average.
const LONG: usize = 16;
/// Their lengths, in blocks. Linux begins with a window of four to eight pages and makes it two to four times as long, time and again: the
/// usual 128 KiB are reached after some 60 pages, and 8 MiB after some 4000.
const LONG_MIN: u64 = 64;
const LONG_MAX: u64 = 4096;
/// A row takes no more of its part than that, so that the rest shows what is read behind it.
const ROW_PARTS: u64 = 4;
const TIME_MAX: Nanos = Nanos::from_secs(20);

pub(super) fn buffered_reads(setup: &Setup) -> Option<Phase> {
    let (range, block) = (setup.range, random_block(&setup.facts));
    let count = (SINGLES + PAIRS + LONG) as u64;
    let part_blocks = range.bytes().get() / count / block.get();
    if part_blocks < ROW_PARTS * LONG_MIN {
        return None;
    }
    let mut prng = Prng::new(setup.seed, PLACES_STREAM);
    let long_max = LONG_MAX.min(part_blocks / ROW_PARTS);
    let mut parts: Vec<u64> = (0..count).collect();
    prng.shuffle(&mut parts);
    // The longest reading on comes first: it is over when the single blocks have been read.
    let mut lengths: Vec<u64> = (0..LONG).map(|_| long(long_max, &mut prng)).collect();
    lengths.extend([2; PAIRS]);
    lengths.extend([1; SINGLES]);
    let mut offsets = Vec::new();
    for (part, length) in parts.into_iter().zip(lengths) {
        // Not at the start of a part, and so never of a file, where systems read on at once.
        let first = part * part_blocks + 1 + prng.below(part_blocks / ROW_PARTS - 1);
        for number in first..first + length {
            offsets.push(range.first() + block * number);
        }
    }
    let operations = offsets.len() as u64;
    let listed = Pattern::Listed { offsets };
    let reads =
        Workload { caching: Caching::Buffered, ..Workload::new(range, listed, OperationMix::Read, block, 1) };
    let stop = StopCondition { operations: Some(operations), ..StopCondition::after(TIME_MAX) };
    Some(measure(ExperimentName::Access, "single and sequential reads, buffered".into(), reads, stop))
}

/// A length whose logarithm is drawn evenly: as many rows are short as long.
fn long(longest: u64, prng: &mut Prng) -> u64 {
    let ratio = longest as f64 / LONG_MIN as f64;
    ((LONG_MIN as f64 * ratio.powf(prng.unit())) as u64).clamp(LONG_MIN, longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::page_cache::CachedRow;
    use model::range::ByteRange;
    use model::target::{TargetFacts, TargetKind};
    use model::units::Bytes;

    fn setup(bytes: Bytes) -> Setup {
        let facts = TargetFacts::unidentified(TargetKind::File, "a file".into(), bytes);
        let range = ByteRange::whole(bytes);
        let (time_limit, precision) = (None, None);
        Setup { facts, range, may_write: false, empty: false, seed: 1, time_limit, precision }
    }

    #[test]
    fn rows_have_room_behind_them_and_none_is_at_the_start() {
        for mib in [32, 100, 2048, 4_000_000] {
            let bytes = Bytes::from_mib(mib);
            let workload = buffered_reads(&setup(bytes)).unwrap().workload.unwrap();
            let rows = CachedRow::all(&workload);
            let of = |reads: u64| rows.iter().filter(|row| row.reads == reads).count();
            assert_eq!((rows.len(), of(1), of(2)), (32, 8, 8), "{mib} MiB");
            let longest = (bytes.get() / 32 / 4096 / 4).min(4096);
            for row in rows {
                assert!(row.first.get() > 0 && row.reads <= longest, "{row:?}");
                assert!(
                    row.looked_at.get() - row.asked.get() >= bytes.get() / 64
                        || row.looked_at == Bytes::from_mib(64),
                    "{row:?}"
                );
            }
        }
        assert!(buffered_reads(&setup(Bytes::new(Bytes::from_mib(32).get() - 4096))).is_none());
    }
}
