//! From findings to the rate over position.
//!
//! Best from the table of zones; else from the rates at both ends and the mean, with an interval that holds for every
//! curve between them; else from the mean alone, which then serves for a whole pass only.

use super::curve::{EDGE_SHARE, Piece, RateCurve, Shape};
use super::falling::Falling;
use model::estimate::Estimate;
use model::finding::{Datum, Evidence, Finding, FindingCode, Name, Outcome};
use model::range::ByteRange;
use model::request::Operation;
use model::run::{PhaseSummary, Run};
use model::units::{Bytes, Offset};

impl RateCurve {
    /// The curve of reads or writes.
    ///
    /// # Errors
    /// Why it is not known: a sentence.
    pub fn of(run: &Run, operation: Operation) -> Result<RateCurve, String> {
        let rates = Rates::of(run, operation);
        if rates.mean.is_none() && rates.outer.is_none() && rates.zones(run).is_none() {
            return Err(rates.why_unknown(run));
        }
        if let Some(curve) = rates.curve_of_zones(run) {
            return Ok(curve);
        }
        let Some(mean) = rates.mean else { return Err(rates.why_unknown(run)) };
        let covered =
            rates.covered(run).ok_or("The run does not tell which part of the drive it measured.")?;
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
        let findings: Vec<&Finding> =
            run.findings.iter().filter(|finding| codes.contains(&finding.code)).collect();
        let seconds = |code: FindingCode| {
            let rate = findings.iter().find(|finding| finding.code == code)?.estimate()?;
            let is_rate = rate.low > 0.0 && rate.value.is_finite();
            is_rate.then(|| rate.map_monotonic(|rate| 1.0 / rate))
        };
        Rates {
            operation,
            outer: seconds(codes[0]),
            inner: seconds(codes[1]),
            mean: seconds(codes[2]),
            findings,
        }
    }

    fn why_unknown(&self, run: &Run) -> String {
        let mut whys = self.findings.iter().filter_map(|finding| match &finding.outcome {
            Outcome::Unknown { why } => Some(why.clone()),
            Outcome::Known(_) => None,
        });
        let what = if self.operation == Operation::Write { "writes" } else { "reads" };
        let last = whys.next_back();
        let has_rates = self.findings.iter().any(|finding| finding.estimate().is_some());
        last.unwrap_or_else(|| match has_rates {
            // So it is with the figures of other programs.
            true => format!("The rates of {what} of the run {} have no interval to estimate by.", run.id),
            false => format!("The run {} holds no {what} in order over the drive.", run.id),
        })
    }

    /// The table of zones, if these were found by this operation: by reads, where there are any.
    fn zones(&self, run: &Run) -> Option<Vec<Piece>> {
        let has_reads = Rates::has_mean(run, Operation::Read);
        let found_by = if has_reads || !Rates::has_mean(run, Operation::Write) {
            Operation::Read
        } else {
            Operation::Write
        };
        (found_by == self.operation).then(|| zone_pieces(run)).flatten()
    }

    fn has_mean(run: &Run, operation: Operation) -> bool {
        let code = codes_of(operation)[2];
        run.findings.iter().any(|finding| finding.code == code && finding.estimate().is_some())
    }

    fn curve_of_zones(&self, run: &Run) -> Option<RateCurve> {
        if let Some(pieces) = self.zones(run) {
            return RateCurve::of_pieces(pieces, self.mean);
        }
        // Writes follow the tracks as reads do: their zones are those of reads, slower by as much as the mean is.
        let written = self.mean.filter(|_| self.operation == Operation::Write)?;
        let read = Rates::of(run, Operation::Read);
        let (pieces, read) = (read.zones(run)?, read.mean?);
        let scaled = |piece: &Piece| Piece {
            seconds_per_byte: scaled(piece.seconds_per_byte, written, read),
            range: piece.range,
        };
        RateCurve::of_pieces(pieces.iter().map(scaled).collect(), Some(written))
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
        let falling = Falling::new(outer, inner, mean);
        falling.map_or_else(
            || Shape::Between {
                mean,
                fastest: outer.low.min(inner.low).min(mean.low),
                slowest: outer.high.max(inner.high).max(mean.high),
            },
            Shape::Falling,
        )
    }

    /// What the phases behind the findings read or wrote, up to the ends of the drive if they come near.
    fn covered(&self, run: &Run) -> Option<ByteRange> {
        let conclusions = self.findings.iter().filter_map(|finding| match &finding.outcome {
            Outcome::Known(conclusion) => Some(conclusion),
            Outcome::Unknown { .. } => None,
        });
        let evidence: Vec<&Evidence> = conclusions.flat_map(|conclusion| &conclusion.evidence).collect();
        // A survey's visits are one piece of evidence: a stretch of time, in which they began.
        let is_behind = |summary: &PhaseSummary| {
            let start_s = summary.start_ns as f64 / 1e9;
            evidence.iter().any(|one| (one.start_s..=one.start_s + one.seconds).contains(&start_s))
        };
        let workloads = run.phases.iter().filter(|summary| is_behind(summary));
        let workloads = workloads.filter_map(|summary| summary.phase.workload.as_ref());
        let ranges: Vec<ByteRange> = workloads
            .filter(|workload| workload.mix.operations().contains(&self.operation))
            .map(|workload| workload.range)
            .collect();
        let first = ranges.iter().map(ByteRange::first).min()?;
        let end = ranges.iter().map(ByteRange::end).max()?;
        Some(up_to_the_ends(ByteRange::new(first, end - first)?, run.target.capacity))
    }
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
    let margin = capacity.0 / EDGE_SHARE;
    let first = if range.first().0 <= margin { 0 } else { range.first().0 };
    let end = if range.end().0 >= capacity.0 - margin { capacity.0.max(first) } else { range.end().0 };
    ByteRange::new(Offset(first), Bytes(end.saturating_sub(first))).unwrap_or(range)
}

/// A zone's time per byte for writes: that for reads times the ratio of the means, whose errors are independent.
fn scaled(zone: Estimate, written: Estimate, read: Estimate) -> Estimate {
    let ratio = written.value / read.value;
    let share = |end: f64, of: &Estimate| ((end - of.value) / of.value).powi(2);
    let below = (share(zone.low, &zone) + share(written.low, &written) + share(read.high, &read)).sqrt();
    let above = (share(zone.high, &zone) + share(written.high, &written) + share(read.low, &read)).sqrt();
    let value = zone.value * ratio;
    Estimate {
        value,
        low: value * (1.0 - below).max(0.0),
        high: value * (1.0 + above),
        confidence: zone.confidence.min(written.confidence).min(read.confidence),
        effective_count: zone.effective_count.min(written.effective_count).min(read.effective_count),
    }
}

/// The zones of the table in order, each up to where the next begins. None when there is no table, or it holds what
/// cannot be.
fn zone_pieces(run: &Run) -> Option<Vec<Piece>> {
    let table = run.findings.iter().find(|finding| finding.code == FindingCode::ZoneTable)?;
    let Outcome::Known(conclusion) = &table.outcome else { return None };
    let zones = conclusion.data.iter().find(|(name, _)| name == "zones")?;
    let Datum::List(zones) = &zones.1 else { return None };
    let mut zones: Vec<(u64, u64, Estimate)> = zones.iter().map(zone).collect::<Option<_>>()?;
    zones.sort_by_key(|(first, _, _)| *first);
    let (first, end) =
        (zones.first()?.0, zones.last().map(|(first, bytes, _)| first.saturating_add(*bytes))?);
    let all =
        up_to_the_ends(ByteRange::new(Offset(first), Bytes(end.checked_sub(first)?))?, run.target.capacity);
    let begins = |index: usize| match index {
        0 => all.first().0,
        index => zones.get(index).map_or(all.end().0, |(first, _, _)| *first),
    };
    let piece = |(index, (_, _, seconds_per_byte)): (usize, &(u64, u64, Estimate))| {
        let bytes = begins(index + 1).checked_sub(begins(index))?;
        let range = ByteRange::new(Offset(begins(index)), Bytes(bytes))?;
        Some(Piece { range, seconds_per_byte: *seconds_per_byte })
    };
    zones.iter().enumerate().map(piece).collect()
}

/// First byte, size and seconds per byte of an entry of the table. Its interval is in `low` and `high`; without them it
/// is taken to be exact, and the interval of the mean alone counts.
fn zone(entry: &Datum) -> Option<(u64, u64, Estimate)> {
    let Datum::Record(parts) = entry else { return None };
    let part =
        |wanted: &str| parts.iter().find(|(name, _)| Name::as_ref(name) == wanted).map(|(_, part)| part);
    let whole = |name: &str| match part(name)? {
        Datum::Integer(value) => Some(*value),
        Datum::Number(value) if *value >= 0.0 && value.fract() == 0.0 => Some(*value as u64),
        _ => None,
    };
    let number = |name: &str| match part(name)? {
        Datum::Number(value) => Some(*value),
        Datum::Integer(value) => Some(*value as f64),
        _ => None,
    };
    let rate = number("bytes_per_second").filter(|rate| rate.is_finite() && *rate > 0.0)?;
    let usable = |rate: &f64| rate.is_finite() && *rate > 0.0;
    let (low, high) = (number("low").filter(usable), number("high").filter(usable));
    let estimate = match (low, high) {
        (Some(low), Some(high)) => Estimate {
            value: rate,
            low: low.min(rate),
            high: high.max(rate),
            confidence: crate::stats::CONFIDENCE,
            effective_count: f64::INFINITY,
        },
        _ => Estimate::exact(rate),
    };
    Some((whole("first_byte")?, whole("bytes")?, estimate.map_monotonic(|rate| 1.0 / rate)))
}
