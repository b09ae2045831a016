//! From a wish to cuts: where they are asked for, and the nearest border between zones.

use super::{ALIGNMENT, Cut, PARTS_MAX};
use crate::estimate::RateCurve;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

/// A cut is moved to a zone's border by this share of the drive at most. Disks have 15 to 60 zones, so that as a rule one
/// begins within half of a fifteenth, 3.3 %, of any place; moving further would no longer be what was asked for.
const MOVE_SHARE_MAX: f64 = 0.025;
/// And by this share of the smaller of both partitions beside it.
const MOVE_PART_SHARE_MAX: f64 = 0.25;
/// The end of a drive is taken for its fast part only if it saves more than this share of the time: the start is where
/// every disk is fast.
const END_GAIN_MIN: f64 = 0.02;

/// Cuts, and which of the partitions between them is the fast one.
pub(super) struct CutWish {
    pub cuts: Vec<Cut>,
    pub fast: Option<usize>,
}

/// So many parts.
pub(super) fn parts(curve: &RateCurve, usable: ByteRange, count: u32) -> Result<CutWish, String> {
    if count == 0 || count > PARTS_MAX {
        return Err(format!("A drive is cut into 1 to {PARTS_MAX} parts."));
    }
    let part = Bytes(usable.bytes().0 / u64::from(count));
    if part < ALIGNMENT {
        return Err(format!("{count} parts of it would each be smaller than {ALIGNMENT}."));
    }
    let asked = (1..count).map(|index| usable.part(u64::from(index), u64::from(count)).first());
    let cuts = asked.map(|asked| snapped(curve, usable, asked, part)).collect();
    Ok(CutWish { cuts, fast: None })
}

/// The fastest share of it at its start, or at its end where that is the faster one.
pub(super) fn fastest(curve: &RateCurve, usable: ByteRange, share: f64) -> Result<CutWish, String> {
    let wanted = Bytes((usable.bytes().0 as f64 * share) as u64).round_down_to(ALIGNMENT);
    let rest = usable.bytes() - wanted.min(usable.bytes());
    if wanted < ALIGNMENT || rest < ALIGNMENT {
        return Err(format!(
            "{} % of it leaves no room for two partitions of {ALIGNMENT} or more.",
            share * 100.0
        ));
    }
    let at_start = ByteRange::new(usable.first(), wanted);
    let at_end = ByteRange::new(usable.first() + rest, wanted);
    let (Some(at_start), Some(at_end)) = (at_start, at_end) else {
        return Err("A partition ends past 64 bits.".into());
    };
    let smaller = wanted.min(rest);
    let start_s = curve.time_of(at_start)?.value;
    if curve.time_of(at_end)?.value < start_s * (1.0 - END_GAIN_MIN) {
        let cut = snapped(curve, usable, at_end.first(), smaller);
        return Ok(CutWish { cuts: vec![cut], fast: Some(1) });
    }
    Ok(CutWish { cuts: vec![snapped(curve, usable, at_start.end(), smaller)], fast: Some(0) })
}

/// The longest stretch that runs at least at that rate, and what lies before and behind it.
pub(super) fn at_least(curve: &RateCurve, usable: ByteRange, rate: f64) -> Result<CutWish, String> {
    let runs = curve.at_least(rate);
    let longest = runs.iter().max_by_key(|run| (run.bytes(), std::cmp::Reverse(run.first())));
    let Some(longest) = longest else {
        let (fastest, _) = curve.rates_in(usable)?;
        return Err(format!(
            "No place of it runs at {:.1} MB/s; its fastest runs at {:.1} MB/s.",
            rate / 1e6,
            fastest.value / 1e6
        ));
    };
    let borders = curve.borders();
    let cut = |at: Offset, aligned: u64| {
        let inside = aligned > usable.first().0 && aligned < usable.end().0;
        let is_zone_border = borders.contains(&at);
        inside.then_some(Cut { at: Offset(aligned), asked: at, is_zone_border })
    };
    // Inward, so that no slower place gets in.
    let begin = cut(longest.first(), longest.first().0.next_multiple_of(ALIGNMENT.0));
    let end = cut(longest.end(), Bytes(longest.end().0).round_down_to(ALIGNMENT).0);
    let fast = usize::from(begin.is_some());
    let cuts: Vec<Cut> = begin.into_iter().chain(end).collect();
    let is_too_small = matches!(cuts.as_slice(), [begin, end] if begin.at >= end.at);
    if is_too_small {
        return Err(format!("The stretch that runs at that rate is smaller than {ALIGNMENT}."));
    }
    Ok(CutWish { cuts, fast: Some(fast) })
}

/// The cut at the border nearest to `asked`, if one is near enough for parts of which the smaller has `part` bytes; else on
/// the whole MiB nearest to it.
fn snapped(curve: &RateCurve, usable: ByteRange, asked: Offset, part: Bytes) -> Cut {
    let whole = curve.covered().bytes().0 as f64;
    let reach = (MOVE_SHARE_MAX * whole).min(MOVE_PART_SHARE_MAX * part.0 as f64);
    let distance = |border: &Offset| border.0.abs_diff(asked.0);
    let nearest =
        curve.borders().into_iter().filter(|border| distance(border) as f64 <= reach).min_by_key(distance);
    let is_zone_border = nearest.is_some();
    Cut { at: aligned(usable, nearest.unwrap_or(asked)), asked, is_zone_border }
}

/// The nearest whole MiB inside, with room for a partition on both sides.
fn aligned(usable: ByteRange, at: Offset) -> Offset {
    let nearest = at.0.saturating_add(ALIGNMENT.0 / 2) / ALIGNMENT.0 * ALIGNMENT.0;
    Offset(nearest.clamp(usable.first().0 + ALIGNMENT.0, usable.end().0 - ALIGNMENT.0))
}
