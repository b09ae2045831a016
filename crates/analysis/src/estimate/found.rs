//! From findings to the rate over position.
//!
//! Best from the table of zones; else from the rates at both ends and the mean, with an interval that holds for every
//! curve between them; else from the mean alone, which then serves for a whole pass only.

use super::curve::{EDGE_SHARE, Piece, RateCurve, Shape, inverse};
use super::falling::Falling;
use super::unknown::RateUnknown;
use model::estimate::Estimate;
use model::finding::{Evidence, Finding, FindingCode, Zone, ZoneTable, known};
use model::range::ByteRange;
use model::request::Operation;
use model::run::Run;
use model::units::{Bytes, Offset};

impl RateCurve {
    pub fn of(run: &Run, operation: Operation) -> Result<RateCurve, RateUnknown> {
        let rates = Rates::of(run, operation);
        if rates.mean.is_none() && rates.outer.is_none() && rates.zones(run).is_none() {
            return Err(rates.why_unknown(run));
        }
        if let Some(curve) = rates.curve_of_zones(run) {
            return Ok(curve);
        }
        let Some(mean) = rates.mean else { return Err(rates.why_unknown(run)) };
        let covered = rates.covered(run).ok_or(RateUnknown::UnknownRange)?;
        Ok(RateCurve { covered, shape: rates.shape(run, mean) })
    }
}

/// What the findings say of one operation, in seconds per byte.
struct Rates<'run> {
    operation: Operation,
    outer: Option<Estimate>,
    inner: Option<Estimate>,
    mean: Option<Estimate>,
    findings: Vec<&'run Finding>,
}

impl<'run> Rates<'run> {
    fn of(run: &'run Run, operation: Operation) -> Rates<'run> {
        let codes = codes_of(operation);
        let mut findings = Vec::new();
        let mut rates: [Option<Estimate>; 3] = [None; 3];
        for finding in &run.findings {
            let Some(number) = codes.iter().position(|code| *code == finding.code()) else { continue };
            findings.push(finding);
            if rates[number].is_none() {
                rates[number] = finding.estimate();
            }
        }
        let [outer, inner, mean] = rates.map(seconds);
        Rates { operation, outer, inner, mean, findings }
    }

    fn why_unknown(&self, run: &Run) -> RateUnknown {
        let (operation, run) = (self.operation, run.id.clone());
        if self.findings.is_empty() {
            RateUnknown::NotMeasured { operation, run }
        } else if self.findings.iter().copied().all(Finding::is_known) {
            RateUnknown::NoInterval { operation, run }
        } else {
            RateUnknown::NotConcluded { operation, run }
        }
    }

    /// The table of zones, if these were found by this operation: by reads, where there are any.
    fn zones(&self, run: &Run) -> Option<Vec<Piece>> {
        let has_reads = Rates::has_mean(run, Operation::Read);
        let found_by = if has_reads || !Rates::has_mean(run, Operation::Write) {
            Operation::Read
        } else {
            Operation::Write
        };
        if found_by == self.operation { zone_pieces(run) } else { None }
    }

    fn has_mean(run: &Run, operation: Operation) -> bool {
        let code = codes_of(operation)[2];
        run.findings.iter().any(|finding| finding.code() == code && finding.estimate().is_some())
    }

    fn curve_of_zones(&self, run: &Run) -> Option<RateCurve> {
        if let Some(pieces) = self.zones(run) {
            return RateCurve::of_pieces(pieces, self.mean);
        }
        // Writes follow the tracks as reads do: their zones are those of reads, slower by as much as the mean is.
        if self.operation != Operation::Write {
            return None;
        }
        let written = self.mean?;
        let read = Rates::of(run, Operation::Read);
        let (mut pieces, read) = (read.zones(run)?, read.mean?);
        for piece in &mut pieces {
            piece.seconds_per_byte = scaled(piece.seconds_per_byte, written, read);
        }
        RateCurve::of_pieces(pieces, Some(written))
    }

    fn shape(&self, run: &Run, mean: Estimate) -> Shape {
        let (Some(outer), Some(inner)) = (self.outer, self.inner) else {
            return match run.target.rotational {
                Some(false) => Shape::Even(mean),
                _ => Shape::MeanOnly(mean),
            };
        };
        let is_same = outer.low <= inner.high && inner.low <= outer.high;
        if is_same {
            return Shape::Even(mean);
        }
        match Falling::new(outer, inner, mean) {
            Some(falling) => Shape::Falling(falling),
            None => Shape::Between {
                mean,
                fastest: outer.low.min(inner.low).min(mean.low),
                slowest: outer.high.max(inner.high).max(mean.high),
            },
        }
    }

    /// What the phases behind the findings read or wrote, up to the ends of the drive if they come near.
    fn covered(&self, run: &Run) -> Option<ByteRange> {
        let evidence: Vec<&Evidence> = self.findings.iter().flat_map(|finding| finding.evidence()).collect();
        // A survey's visits are one piece of evidence: a stretch of time, in which they began.
        let mut ranges: Vec<ByteRange> = Vec::new();
        for summary in &run.phases {
            let start_s = summary.start_ns as f64 / 1e9;
            let Some(workload) = &summary.phase.workload else { continue };
            if workload.mix.operations().contains(&self.operation)
                && evidence.iter().any(|one| (one.start_s..=one.start_s + one.seconds).contains(&start_s))
            {
                ranges.push(workload.range);
            }
        }
        let first = ranges.iter().map(ByteRange::first).min()?;
        let end = ranges.iter().map(ByteRange::end).max()?;
        Some(up_to_the_ends(ByteRange::new(first, end - first)?, run.target.capacity))
    }
}

fn seconds(rate: Option<Estimate>) -> Option<Estimate> {
    let rate = rate?;
    if rate.low > 0.0 && rate.value.is_finite() { Some(inverse(rate)) } else { None }
}

fn codes_of(operation: Operation) -> [FindingCode; 3] {
    match operation {
        Operation::Write => {
            [FindingCode::WriteRateOuter, FindingCode::WriteRateInner, FindingCode::WriteRateMean]
        }
        _ => [FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean],
    }
}

/// The range with the rest up to an end of the drive, where that is at most a hundredth of it.
fn up_to_the_ends(range: ByteRange, capacity: Bytes) -> ByteRange {
    let margin = capacity.get() / EDGE_SHARE;
    let first = if range.first().get() <= margin { 0 } else { range.first().get() };
    let end = if range.end().get() >= capacity.get() - margin {
        capacity.get().max(first)
    } else {
        range.end().get()
    };
    ByteRange::new(Offset::new(first), Bytes::new(end.saturating_sub(first))).unwrap_or(range)
}

/// A zone's time per byte for writes: that for reads times the ratio of the means, whose errors are independent.
fn scaled(zone: Estimate, written: Estimate, read: Estimate) -> Estimate {
    let ratio = written.value / read.value;
    let below = (off(zone.low, &zone) + off(written.low, &written) + off(read.high, &read)).sqrt();
    let above = (off(zone.high, &zone) + off(written.high, &written) + off(read.low, &read)).sqrt();
    let value = zone.value * ratio;
    Estimate {
        value,
        low: value * (1.0 - below).max(0.0),
        high: value * (1.0 + above),
        confidence: zone.confidence.min(written.confidence).min(read.confidence),
        effective_count: zone.effective_count.min(written.effective_count).min(read.effective_count),
    }
}

/// The square of the share by which an end is off the value.
fn off(end: f64, estimate: &Estimate) -> f64 {
    ((end - estimate.value) / estimate.value).powi(2)
}

/// The zones of the table in order, each up to where the next begins. None when there is no sound table.
fn zone_pieces(run: &Run) -> Option<Vec<Piece>> {
    let mut zones = known::<ZoneTable>(&run.findings)?.conclusion.zones.clone();
    zones.sort_by_key(|zone| zone.first_byte);
    let (first, last) = (zones.first()?, zones.last()?);
    let all = ByteRange::from_bytes(
        first.first_byte,
        last.first_byte.saturating_add(last.bytes).checked_sub(first.first_byte)?,
    )?;
    let all = up_to_the_ends(all, run.target.capacity);
    let mut pieces = Vec::new();
    for (index, zone) in zones.iter().enumerate() {
        let from = if index == 0 { all.first().get() } else { zone.first_byte };
        let to = match zones.get(index + 1) {
            Some(next) => next.first_byte,
            None => all.end().get(),
        };
        let range = ByteRange::from_bytes(from, to.checked_sub(from)?)?;
        pieces.push(Piece { range, seconds_per_byte: seconds_per_byte(zone)? });
    }
    Some(pieces)
}

/// Without a finite interval the rate is taken to be exact, and the interval of the mean alone counts.
fn seconds_per_byte(zone: &Zone) -> Option<Estimate> {
    let rate = zone.bytes_per_second;
    if !is_rate(rate) {
        return None;
    }
    let mut estimate = Estimate::exact(rate);
    if is_rate(zone.low) && is_rate(zone.high) {
        estimate.low = zone.low.min(rate);
        estimate.high = zone.high.max(rate);
        estimate.confidence = crate::stats::CONFIDENCE;
    }
    Some(inverse(estimate))
}

fn is_rate(rate: f64) -> bool {
    rate.is_finite() && rate > 0.0
}
