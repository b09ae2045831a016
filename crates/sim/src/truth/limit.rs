//! What a rate limit makes true, and what it leaves without a closed form.

use crate::limit::{BucketNumbers, Counted, LimitProfile};
use crate::truth::data::TruthData;
use crate::truth::extents::REQUEST_BYTES;
use crate::truth::value::{Truth, TruthValue, of_code};
use model::finding::FindingCode;

/// What is true of all of the drive, or of writes that go on: it depends on how soon the credit is used up.
const OF_BOTH_STATES: [FindingCode; 6] = [
    FindingCode::WriteRateMean,
    FindingCode::WriteCache,
    FindingCode::WriteCliff,
    FindingCode::WriteSteadyState,
    FindingCode::WriteValleys,
    FindingCode::IdleRecovery,
];

pub(super) fn add(limit: Option<&LimitProfile>, truths: &mut Vec<Truth>) {
    let code = FindingCode::RateLimit;
    let Some(limit) = limit else { return truths.push(Truth::absent(code)) };
    truths.retain(|truth| !OF_BOTH_STATES.contains(&truth.code));
    let pass_s = limited_pass_s(limit, truths);
    for truth in truths.iter_mut() {
        match (truth.code, pass_s) {
            (FindingCode::ReadRateMean, Some((bytes, seconds))) => {
                truth.value = TruthValue::Number(bytes / seconds);
            }
            (FindingCode::FullPassTime, Some((_, seconds))) => {
                *truth = Truth::number(FindingCode::FullPassTime, seconds);
            }
            (FindingCode::ReadRateMean | FindingCode::FullPassTime, None) => {
                truth.value = TruthValue::Depends("how many requests make a pass depends on their size");
            }
            _ => {}
        }
    }
    truths.push(match limit.buckets().as_slice() {
        [_] if limit.changes_at_s.is_some() => Truth::depends(code, "the limit changes during the run"),
        [bucket] => {
            let by = match bucket.counted {
                Counted::Bytes => "bytes",
                Counted::Requests | Counted::Parts(_) => "requests",
            };
            let refill_s = bucket.credit / bucket.per_second;
            let data = TruthData::Limit { by, credit: bucket.credit, refill_s };
            Truth::number(code, bucket.per_second).with(data)
        }
        _ => Truth::depends(code, "small requests meet the limit of requests, large ones that of bytes"),
    });
}

/// The bytes of a pass of reads, and its time with a full bucket at the start. None where that depends on the size of requests or on a change.
fn limited_pass_s(limit: &LimitProfile, truths: &[Truth]) -> Option<(f64, f64)> {
    if limit.changes_at_s.is_some() {
        return None;
    }
    let mut seconds = of_code(truths, FindingCode::FullPassTime)?.value()?;
    let bytes = seconds * of_code(truths, FindingCode::ReadRateMean)?.value()?;
    for BucketNumbers { counted, per_second, credit, .. } in limit.buckets() {
        let used = match counted {
            Counted::Requests => return None,
            Counted::Parts(part_bytes) => {
                let request = f64::from(REQUEST_BYTES);
                bytes / request * (request / part_bytes).ceil()
            }
            Counted::Bytes => bytes,
        };
        seconds = seconds.max((used - credit) / per_second);
    }
    Some((bytes, seconds))
}
