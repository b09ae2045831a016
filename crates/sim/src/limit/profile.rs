//! The section `[limit]` of a profile: what may be used at once, and what comes back per second.

use crate::flaw::Flaw;
use crate::profile::schema::section;

section! {
    #[derive(Default)]
    LimitProfile at "[limit]" = "Rate limit around drive and link, as of cloud volumes, QEMU and cgroups: a token bucket of requests, one of bytes, or both. Requests wait in order for tokens. Flush and TRIM cost none." {
        iops: Option<f64> = None, in 1..=1e9 => "Sustained IOPS, which refill the credit.";
        credit_requests: Option<f64> = None, in 1..=1e12 => "Burst credit: requests in a full bucket. Default 1.";
        request_kib: Option<f64> = None, in 0.5..=1e6 => "A larger request costs one for each such part of it that it begins, as 256 KiB of Amazon EBS. Default: one at any size.";
        rate_mb_per_s: Option<f64> = None, in 0.001..=1e6 => "Sustained throughput, which refills the credit.";
        credit_mb: Option<f64> = None, in 0.001..=1e9 => "Burst credit: decimal MB in a full bucket. Default 1.";
        share_at_start: Option<f64> = None, in 0..=1 => "How much of the credit there is at the start. Default: all of it.";
        changes_at_s: Option<f64> = None, in 0..=1e8 => "When the limit changes, in seconds from the start. Default: never.";
        changes_by: Option<f64> = None, in 0.01..=100 => "How many times as fast credit comes back from then on.";
        separate: bool = false => "Separate buckets for reads and writes, each with these numbers.";
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Counted {
    Requests,
    /// A request costs one for each part of this many bytes that it begins.
    Parts(f64),
    Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BucketNumbers {
    pub counted: Counted,
    pub per_second: f64,
    pub credit: f64,
    /// What of the credit there is at the start.
    pub first_credit: f64,
    /// From when on it refills `times` as fast.
    pub change_ns: u64,
    pub times: f64,
}

impl LimitProfile {
    pub fn check(&self) -> Result<(), Flaw> {
        self.check_bounds()?;
        if self.credit_requests.is_some() && self.iops.is_none() {
            return Err(Flaw::new("credit_requests", "nothing refills it: `iops` is missing"));
        }
        if self.credit_mb.is_some() && self.rate_mb_per_s.is_none() {
            return Err(Flaw::new("credit_mb", "nothing refills it: `rate_mb_per_s` is missing"));
        }
        if self.request_kib.is_some() && self.iops.is_none() {
            return Err(Flaw::new("request_kib", "no requests are counted: `iops` is missing"));
        }
        if self.changes_by.is_some() != self.changes_at_s.is_some() {
            return Err(Flaw::new("changes_by", "when it changes and by how much go together"));
        }
        if self.iops.is_none() && self.rate_mb_per_s.is_none() {
            return Err(Flaw::new("iops", "a limit is one of requests, of bytes, or both"));
        }
        Ok(())
    }

    pub(crate) fn buckets(&self) -> Vec<BucketNumbers> {
        let mut buckets = Vec::new();
        let change_ns = self.changes_at_s.map_or(u64::MAX, |at_s| (at_s * 1e9) as u64);
        let times = self.changes_by.unwrap_or(1.0);
        let numbers = |counted, per_second, credit: f64| {
            let first_credit = credit * self.share_at_start.unwrap_or(1.0);
            BucketNumbers { counted, per_second, credit, first_credit, change_ns, times }
        };
        if let Some(per_second) = self.iops {
            let credit = self.credit_requests.unwrap_or(1.0);
            let counted = match self.request_kib {
                Some(kib) => Counted::Parts(kib * 1024.0),
                None => Counted::Requests,
            };
            buckets.push(numbers(counted, per_second, credit));
        }
        if let Some(rate) = self.rate_mb_per_s {
            let credit = self.credit_mb.unwrap_or(1.0) * 1e6;
            buckets.push(numbers(Counted::Bytes, rate * 1e6, credit));
        }
        buckets
    }
}
