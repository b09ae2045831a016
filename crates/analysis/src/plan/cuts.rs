//! From a wish to cuts: where they are asked for, and the nearest border between zones.

use super::cut::{ALIGNMENT, Cut, PARTS_MAX, PlanError};
use crate::estimate::RateCurve;
use model::range::ByteRange;
use model::units::{Bytes, Offset};

/// A cut is moved to a zone's border by this share of the drive at most. Disks have 15 to 60 zones, so that as a rule one
/// begins within half of a fifteenth, 3.3 %, of any place; moving further would no longer be what was asked for.
const MOVE_SHARE_MAX: f64 = 0.025;
/// And by this share of the smaller of both partitions beside it.
const MOVE_PART_SHARE_MAX: f64 = 0.25;
/// The end of a drive is its fast part only if it saves more than this share of the time: usually the start is.
const END_GAIN_MIN: f64 = 0.02;

pub(super) struct CutWish {
    pub cuts: Vec<Cut>,
    pub fast: Option<usize>,
}

pub(super) fn parts(curve: &RateCurve, usable: ByteRange, count: u32) -> Result<CutWish, PlanError> {
    if count == 0 || count > PARTS_MAX {
        return Err(PlanError::PartCount);
    }
    let part = Bytes::new(usable.bytes().get() / u64::from(count));
    if part < ALIGNMENT {
        return Err(PlanError::PartsTooSmall { count });
    }
    let mut cuts = Vec::new();
    for index in 1..count {
        let asked = usable.part(u64::from(index), u64::from(count)).first();
        cuts.push(snapped(curve, usable, asked, part));
    }
    Ok(CutWish { cuts, fast: None })
}

/// The fastest share of it at its start, or at its end where that is the faster one.
pub(super) fn fastest(curve: &RateCurve, usable: ByteRange, share: f64) -> Result<CutWish, PlanError> {
    let wanted = Bytes::new((usable.bytes().as_f64() * share) as u64).round_down_to(ALIGNMENT);
    let rest = usable.bytes().saturating_sub(wanted);
    if wanted < ALIGNMENT || rest < ALIGNMENT {
        return Err(PlanError::ShareTooSmall { share });
    }
    let at_start = ByteRange::new(usable.first(), wanted).ok_or(PlanError::PastAllBytes)?;
    let at_end = ByteRange::new(usable.first() + rest, wanted).ok_or(PlanError::PastAllBytes)?;
    let smaller = wanted.min(rest);
    let start_s = curve.time_of(at_start)?.value;
    if curve.time_of(at_end)?.value < start_s * (1.0 - END_GAIN_MIN) {
        let cut = snapped(curve, usable, at_end.first(), smaller);
        return Ok(CutWish { cuts: vec![cut], fast: Some(1) });
    }
    Ok(CutWish { cuts: vec![snapped(curve, usable, at_start.end(), smaller)], fast: Some(0) })
}

/// The longest stretch that runs at least at that rate, and what lies before and behind it.
pub(super) fn at_least(curve: &RateCurve, usable: ByteRange, rate: f64) -> Result<CutWish, PlanError> {
    let runs = curve.at_least(rate);
    let Some(longest) = runs.iter().max_by_key(|run| (run.bytes(), std::cmp::Reverse(run.first()))) else {
        let (fastest, _) = curve.rates_in(usable)?;
        return Err(PlanError::TooSlow { rate, fastest: fastest.value });
    };
    let begin = Offset::new(longest.first().get().next_multiple_of(ALIGNMENT.get()));
    let end = longest.end().round_down_to(ALIGNMENT);
    let borders = curve.borders();
    let mut cuts = Vec::new();
    for (asked, at) in [(longest.first(), begin), (longest.end(), end)] {
        if at > usable.first() && at < usable.end() {
            cuts.push(Cut { at, asked, is_zone_border: borders.contains(&asked) });
        }
    }
    if matches!(cuts.as_slice(), [begin, end] if begin.at >= end.at) {
        return Err(PlanError::FastPartTooSmall);
    }
    let has_begin = begin > usable.first() && begin < usable.end();
    Ok(CutWish { cuts, fast: Some(usize::from(has_begin)) })
}

/// The cut at the border nearest to `asked`, if near enough for parts of `part` bytes; else on the nearest MiB.
fn snapped(curve: &RateCurve, usable: ByteRange, asked: Offset, part: Bytes) -> Cut {
    let whole = curve.covered().bytes().as_f64();
    let reach = (MOVE_SHARE_MAX * whole).min(MOVE_PART_SHARE_MAX * part.as_f64());
    let nearest = curve.borders().into_iter().min_by_key(|border| border.distance(asked));
    match nearest {
        Some(border) if border.distance(asked).as_f64() <= reach => {
            Cut { at: aligned(usable, border), asked, is_zone_border: true }
        }
        _ => Cut { at: aligned(usable, asked), asked, is_zone_border: false },
    }
}

/// The nearest whole MiB inside, with room for a partition on both sides.
fn aligned(usable: ByteRange, at: Offset) -> Offset {
    let nearest = at.get().saturating_add(ALIGNMENT.get() / 2) / ALIGNMENT.get() * ALIGNMENT.get();
    Offset::new(nearest.clamp(usable.first().get() + ALIGNMENT.get(), usable.end().get() - ALIGNMENT.get()))
}
