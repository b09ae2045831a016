//! The phases of a pass over an area, and of reading it to compare.

use super::conditioning::time_max;
use super::request::Way;
use crate::preparation::measure;
use model::experiment_name::ExperimentName;
use model::plan::{Phase, StopCondition};
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use model::workload::{Arrival, OperationMix, Pattern, Spacing, Workload};

/// A pass that crosses an area has so many stretches …
const STRETCHES: u64 = 16;
/// … and touches no more than this share of each, as HD Tune does.
const TOUCHED_SHARE_MAX: f64 = 0.3;
/// What a pass writes at most, unless everything is asked for: some minutes of writing on drives that are known to have valleys.
pub(super) const PASS_BYTES_MAX: Bytes = Bytes::from_gib(64);
/// Stretches begin at multiples of this: the largest regions that are known to count by themselves.
const GRID: Bytes = Bytes::from_mib(16);
/// Reading to compare is done in blocks of this size: small enough that slices show what it does.
const READ_BLOCK: Bytes = Bytes::from_kib(256);

pub(super) fn stretches(area: ByteRange, block: Bytes, way: Option<Way>) -> Vec<ByteRange> {
    let is_small = area.bytes() <= PASS_BYTES_MAX || area.bytes() < GRID * STRETCHES * 8;
    let way = way.unwrap_or(if is_small { Way::Everything } else { Way::Crossing });
    let all = area.align_inward(block);
    if way == Way::Everything {
        return vec![all];
    }
    let share = TOUCHED_SHARE_MAX.min(PASS_BYTES_MAX.as_f64() / area.bytes().as_f64());
    let mut stretches = Vec::new();
    for index in 0..STRETCHES {
        let part = area.part(index, STRETCHES);
        let first = Bytes::new(part.first().get()).round_up_to(GRID.max(block));
        let bytes = Bytes::new((part.bytes().as_f64() * share) as u64).round_down_to(block).max(block);
        if let Some(range) = ByteRange::new(Offset::START + first, bytes)
            && all.contains(&range)
        {
            stretches.push(range);
        }
    }
    if stretches.is_empty() { vec![all] } else { stretches }
}

/// The phases of a pass; at that many bytes a second if it is to be slower than the drive can.
pub(super) fn pass(stretches: &[ByteRange], block: Bytes, name: &str, slowed_to: Option<f64>) -> Vec<Phase> {
    let arrival = match slowed_to {
        None => Arrival::ClosedLoop,
        Some(rate) => Arrival::OpenLoop { per_second: rate / block.as_f64(), spacing: Spacing::Even },
    };
    let count = stretches.len();
    let mut phases = Vec::new();
    for (index, range) in stretches.iter().enumerate() {
        let writes = Workload::new(*range, Pattern::Sequential, OperationMix::Write, block, 1);
        let stop = StopCondition { time: Some(time_max(range.bytes())), ..StopCondition::one_pass() };
        let name = match count {
            1 => name.to_string(),
            _ => format!("{name}, part {} of {count}", index + 1),
        };
        phases.push(measure(ExperimentName::Valleys, name, Workload { arrival, ..writes }, stop));
    }
    phases
}

fn bytes_of(phase: &Phase) -> Bytes {
    match &phase.workload {
        Some(workload) => workload.range.bytes(),
        None => Bytes::ZERO,
    }
}

pub(super) fn begin_further_in(phases: &mut Vec<Phase>, bytes: Bytes) {
    let all: Bytes = phases.iter().map(bytes_of).sum();
    let mut left = bytes.min(all / 2);
    while let Some(first) = phases.first()
        && bytes_of(first) <= left
    {
        left -= bytes_of(first);
        phases.remove(0);
    }
    let Some(Phase { workload: Some(workload), .. }) = phases.first_mut() else { return };
    let (range, block) = (workload.range, workload.block_sizes.largest());
    let cut = left.round_down_to(block);
    if let Some(rest) = ByteRange::new(range.first() + cut, range.bytes() - cut) {
        workload.range = rest;
    }
}

/// Of a pass at that rate only as much as takes about that long, if all of it takes more than three times as long.
pub(super) fn shorten(phases: &mut Vec<Phase>, rate: f64, wanted_s: f64) {
    let all: Bytes = phases.iter().map(bytes_of).sum();
    if all.as_f64() / rate <= 3.0 * wanted_s {
        return;
    }
    let (mut left_s, mut needed) = (wanted_s, 0);
    for phase in phases.iter() {
        if left_s > 0.0 {
            left_s -= bytes_of(phase).as_f64() / rate;
            needed += 1;
        }
    }
    let needed = needed.max(1);
    phases.truncate(needed);
    if let (Some(last), Some(cut)) = (phases.last_mut(), Nanos::from_secs_f64(wanted_s))
        && needed == 1
    {
        last.stop.time = last.stop.time.map(|time| time.min(cut));
    }
}

pub(super) fn reading(area: ByteRange, logical_block: Bytes, time: Nanos) -> Phase {
    let block = READ_BLOCK.max(logical_block);
    let workload = Workload::new(area.align_inward(block), Pattern::Sequential, OperationMix::Read, block, 1);
    measure(ExperimentName::Valleys, "read to compare".into(), workload, StopCondition::after(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_begins_further_in() {
        let block = Bytes::from_kib(64);
        let stretch = |at: u64| ByteRange::new(Offset::new(at << 30), Bytes::from_gib(1)).unwrap();
        let ranges = |bytes: Bytes| -> Vec<(u64, u64)> {
            let mut phases = pass(&[stretch(0), stretch(5), stretch(9)], block, "pass", Some(1e6));
            begin_further_in(&mut phases, bytes);
            let ranges = phases.iter().map(|phase| phase.workload.as_ref().unwrap().range);
            ranges.map(|range| (range.first().get() >> 20, range.bytes().get() >> 20)).collect()
        };
        assert_eq!(ranges(Bytes::new(100_050_000)), [(95, 928), (5120, 1024), (9216, 1024)]);
        assert_eq!(ranges(Bytes::from_mib(1024 + 256)), [(5376, 768), (9216, 1024)]);
        assert_eq!(ranges(Bytes::from_gib(100)), [(5632, 512), (9216, 1024)], "half of it at most");
    }

    #[test]
    fn a_pass_crosses_a_large_area_and_writes_all_of_a_small_one() {
        let block = Bytes::from_kib(64);
        let drive = ByteRange::whole(Bytes::new(80_026_361_856));
        let crossing = stretches(drive, block, None);
        let touched: u64 = crossing.iter().map(|range| range.bytes().get()).sum();
        assert_eq!(crossing.len(), 16);
        assert!((touched as f64 / 80.026e9 - 0.3).abs() < 0.001, "{touched}");
        assert!(crossing.windows(2).all(|pair| pair[0].end() < pair[1].first()));
        assert_eq!(stretches(drive, block, Some(Way::Everything)), [drive.align_inward(block)]);
        let small = ByteRange::whole(Bytes::from_gib(4));
        assert_eq!(stretches(small, block, None), [small]);
        let large = stretches(ByteRange::whole(Bytes::new(4_000_787_030_016)), block, None);
        let touched: u64 = large.iter().map(|range| range.bytes().get()).sum();
        assert!(touched <= PASS_BYTES_MAX.get());
    }
}
