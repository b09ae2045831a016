//! Volatile write cache.
//! # What it finds
//! The bytes that a drive acknowledges before they are stored, both throughputs, and how long a flush takes.
//! # Why it matters
//! A short test sees the cache: 1 GB/s of a disk that stores 25 MB/s. What is in the cache is lost with the power.
//! # How
//! Before a write cliff, a phase that ends at the drain rate filled the cache: its size is what was acknowledged until then, without what drained meanwhile. The size
//! is the median of such phases, its interval from their scatter and the bytes in flight. Throughput with flushes is the bytes of a phase over
//! its time to the end of its flush; see `sustained::caching`. Where a drive without moving parts has become slower than what reaches it, its
//! cache is full at the end of each phase, and what the flush takes beyond one behind few writes is its size, off by up to a request. Where no
//! phase filled the cache and most of what was written was left to flushes, the size is a lower bound, and so it is where only bursts show one.
//! # Cannot tell when
//! Nothing was written: then it says what the drive reports. No flush had more to store than the requests in flight (queue depth ×
//! block size), which a drive without a cache has to store as well: a smaller cache, or one that is protected and ignores flushes.
//! # Known problems
//! A flush that costs time for something else looks like a cache that never fills: inconclusive.
//! # References
//! NVMe Base Specification 2.0, volatile write cache (VWC) and Flush; SBC-4, caching mode page (WCE) and SYNCHRONIZE CACHE.

use super::detect::{Detector, Need};
use super::trust::doubts;
use super::write_cliff::writes;
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::sustained::{Held, History, caching};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{Finding, FindingCode, Outcome, WriteCache, WriteCacheUnknown};
use model::request::Operation;
use model::run::RunView;

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::WriteCache],
    needs: &[Need::Asked(ExperimentName::Sustain), Need::Survey(Operation::Read)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let has_written = run.phases.iter().any(|summary| summary.totals_of(Operation::Write).is_some());
    let outcome = match (History::of(run), run.target.write_cache) {
        (Some(history), _) if Need::Asked(ExperimentName::Sustain).is_met(run) => {
            Outcome::of(cache(run, &history), evidence_of_phases(run, &history.first_phases()))
        }
        (_, Some(is_on)) if !has_written => Outcome::Unknown(WriteCacheUnknown::NotTested { is_on }),
        _ => return Vec::new(),
    };
    vec![Finding::WriteCache(outcome).with_caveats(&doubts(run))]
}

fn cache<'run>(run: &RunView<'run>, history: &History<'run>) -> Result<WriteCache, WriteCacheUnknown> {
    if history.is_in_no_time(run) {
        return Err(WriteCacheUnknown::NoTime);
    }
    let caching = caching(run, history).ok_or(WriteCacheUnknown::TooFewPhases)?;
    let (flush_s, flush_behind_bytes) = (caching.shown.flush_s, caching.shown.bytes);
    let bytes = match caching.held {
        Held::Full(bytes) => bytes,
        Held::AtLeast(bytes) => Estimate { high: f64::INFINITY, ..Estimate::exact(bytes) },
        Held::Nothing => return Err(WriteCacheUnknown::None { flush_s, flush_behind_bytes }),
        Held::Unclear(bytes_max) => {
            return Err(WriteCacheUnknown::Unclear { bytes_max, flush_s, flush_behind_bytes });
        }
    };
    Ok(WriteCache {
        bytes,
        writes: writes(history),
        acknowledged: caching.acknowledged,
        drained: caching.drained.value,
        drained_low: caching.drained.low,
        drained_high: caching.drained.high,
        flush_s,
        flush_behind_bytes,
        is_full: bytes.high.is_finite(),
    })
}
