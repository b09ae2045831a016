//! What a rate limit makes true, and what it leaves without a closed form.

use crate::limit::{Counted, LimitProfile};
use crate::truth::data::TruthData;
use crate::truth::value::Truth;
use model::finding::FindingCode;

/// What is true of all of the drive, or of writes that go on: it depends on how soon the credit is used up.
const OF_BOTH_STATES: [FindingCode; 8] = [
    FindingCode::ReadRateMean,
    FindingCode::WriteRateMean,
    FindingCode::FullPassTime,
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
