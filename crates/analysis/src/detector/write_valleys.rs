//! Valleys: short drops of sequential write throughput that recur.
//! # What it finds
//! How many the last pass had, their interval, width and depth, and whether they recur by time, by bytes or by offset.
//! # Why it matters
//! A mean over minutes hides them and a short test may hit one: it then compares what was written before.
//! # How
//! A drop is a series of intervals below three quarters of what is usual around it, for 50 ms to 3 s. What it took is the time
//! that its bytes would not have needed. Drops recur if random ones would hardly come as evenly. A pass at three fifths of the
//! throughput tells time from bytes: the gaps of what counts stay as they are (test of Pitman and Morgan on the logarithms). It
//! starts further in than the others, which tells bytes from offsets. Reads for some gaps are the comparison: other I/O and work
//! of the host hold up reads as well. Heat slows a drive down for longer.
//! # Cannot tell when
//! Fewer than five drops in a row; they come at random or while reading; reads are missing; throughput is too uneven.
//! # Known problems
//! Other I/O that writes only while this tool writes looks like the drive. A large write buffer swallows short drops of the
//! slowed pass, which leaves time or bytes open. Drops of less than 25 ms each are not seen.
//! # References
//! 8thway.blogspot.com, "X25-M no sequential write no tani", 2009-06. Pitman, "A note on normal correlation", Biometrika 31,
//! 1939; Morgan, Biometrika 31, 1939. Moran, "The random division of an interval", JRSS Supplement 9, 1947.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::{evidence_of_phases, measurements, phases_in_no_time};
use crate::stats::bounded;
use crate::valley::{DROP_SHARE, EXPERIMENT, Group, Pass, Places, Rhythm, Story, Verdict, stable_from};
use model::estimate::Estimate;
use model::finding::{
    Finding, FindingCode, LastingFall, NoValleys, NoValleysKind, OffsetTest, OffsetValleys, Outcome,
    RecurringValleys, RhythmTest, ValleyPass, ValleyPattern, ValleyTrigger, WriteValleys,
    WriteValleysUnknown,
};

/// Rows of the table of passes; a run has some dozen.
const ROWS_MAX: usize = 500;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::WriteValleys], needs: &[Need::Asked(EXPERIMENT)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let outcome = if phases_in_no_time(run, measurements(run)) {
        Outcome::Unknown(WriteValleysUnknown::NoTime)
    } else {
        let story = Story::of(run);
        Outcome::of(valleys(&story), evidence_of_phases(run, &first_phases(&story)))
    };
    vec![Finding::WriteValleys(outcome).with_caveats(&doubts(run))]
}

fn first_phases(story: &Story) -> Vec<u32> {
    story.passes().filter_map(|pass| pass.phases.first().copied()).collect()
}

fn valleys(story: &Story) -> Result<WriteValleys, WriteValleysUnknown> {
    let depth = story.depth_ratio();
    let shown = Shown::of(story, depth);
    let (count, pattern) = match story.verdict() {
        Verdict::None => (0, none(story, NoValleysKind::Even)),
        Verdict::AtStarts(_, true) => (0, none(story, NoValleysKind::OnlyAtStart)),
        Verdict::Grain(per_second) => (0, none(story, NoValleysKind::Ripple { per_second })),
        Verdict::AtPlaces(places) => (shown.count, at_offsets(&places, &shown, depth)),
        Verdict::Recurring(rhythm) => (shown.count, recurring(&rhythm, &shown, depth)),
        Verdict::NothingWritten => return Err(WriteValleysUnknown::NothingWritten),
        Verdict::Uneven(share) => return Err(WriteValleysUnknown::Uneven { share }),
        Verdict::AtStarts(count, false) => return Err(WriteValleysUnknown::AtStart { count }),
        Verdict::TooFew(count) => return Err(WriteValleysUnknown::TooFew { count }),
        Verdict::AlsoWhenReading(reading, writing) => {
            return Err(WriteValleysUnknown::AlsoWhenReading { reading, writing });
        }
        Verdict::Irregular(count) => return Err(WriteValleysUnknown::Irregular { count }),
        Verdict::NotCompared => return Err(WriteValleysUnknown::NotCompared),
        Verdict::Shallow(depth_ratio) => return Err(WriteValleysUnknown::Shallow { depth_ratio }),
    };
    Ok(WriteValleys {
        count,
        pattern,
        long_falls: story.long(),
        lasting_fall: lasting_fall(story),
        passes: table(story, depth),
        conditions: story.groups.len(),
    })
}

fn none(story: &Story, kind: NoValleysKind) -> ValleyPattern {
    let passes = story.passes().filter(|pass| !pass.shape.slowed).count();
    let (bytes, seconds) = story.written();
    ValleyPattern::None(NoValleys { kind, passes, bytes, seconds })
}

/// From the first to the last pass at full rate, by as much as makes an interval a drop; of several series, of the first.
fn lasting_fall(story: &Story) -> Option<LastingFall> {
    let full_rate = story.groups.first()?.full_rate();
    let (first, last) = (full_rate.first()?.rate(), full_rate.last()?.rate());
    let is_fall = last < DROP_SHARE * first;
    is_fall.then_some(LastingFall { first_pass_bytes_per_second: first, last_pass_bytes_per_second: last })
}

/// The first series of passes that has drops, its last pass at full rate, and how wide they are there.
struct Shown<'story> {
    group: Option<&'story Group>,
    last: Option<&'story Pass>,
    count: u64,
    width: Estimate,
}

impl Shown<'_> {
    fn of(story: &Story, depth: f64) -> Shown<'_> {
        let group = story.groups.iter().find(|group| group.passes.iter().any(Pass::has_dips));
        let full_rate = group.map(Group::full_rate).unwrap_or_default();
        let last = full_rate.last().copied();
        let widest = full_rate.iter().copied().max_by(|one, two| one.lost_s().total_cmp(&two.lost_s()));
        let shown = last.filter(|pass| pass.has_dips()).or(widest);
        let width = if let Some(pass) = shown { width(pass, depth) } else { Estimate::exact(0.0) };
        Shown { group, last, count: last.map_or(0, Pass::count), width }
    }
}

fn at_offsets(places: &Places, shown: &Shown<'_>, depth_ratio: f64) -> ValleyPattern {
    let dips = shown.last.into_iter().flat_map(Pass::alike);
    ValleyPattern::AtOffsets(OffsetValleys {
        width_s: shown.width.value,
        width_s_low: shown.width.low,
        width_s_high: shown.width.high,
        depth_ratio,
        by: if places.is_told { ValleyTrigger::Place } else { ValleyTrigger::Unknown },
        offsets: dips.map(|dip| dip.first_byte).take(ROWS_MAX).collect(),
        test: OffsetTest { falls: places.dips, there_before: places.again, by_chance: places.by_chance },
    })
}

fn recurring(rhythm: &Rhythm, shown: &Shown<'_>, depth_ratio: f64) -> ValleyPattern {
    let (seconds, bytes, width) = (rhythm.seconds, rhythm.bytes, shown.width);
    ValleyPattern::Recurring(RecurringValleys {
        interval_s: seconds.value,
        interval_s_low: seconds.low,
        interval_s_high: seconds.high,
        interval_bytes: bytes.value,
        interval_bytes_low: bytes.low,
        interval_bytes_high: bytes.high,
        width_s: width.value,
        width_s_low: width.low,
        width_s_high: width.high,
        depth_ratio,
        by: rhythm.by,
        passes_to_stable: shown.group.and_then(passes_to_stable),
        test: RhythmTest {
            variation_in_time: rhythm.variation_s,
            variation_in_bytes: rhythm.variation_bytes,
            gaps: rhythm.gaps,
            t: rhythm.t,
            as_even_by_chance: rhythm.by_chance,
        },
        is_pass_short: matches!(shown.last, Some(pass) if pass.seconds < seconds.value),
    })
}

/// After how many passes they stay the same; none if they did not yet.
fn passes_to_stable(group: &Group) -> Option<usize> {
    let full_rate = group.full_rate();
    let first = full_rate.get(stable_from(&full_rate)?)?;
    // Slowed ones count too: they write the same.
    group.passes.iter().position(|pass| pass.phases == first.phases).map(|index| index + 1)
}

/// What the drops of a pass took, by their depth; of drops as short as requests between a standstill and the lowest interval.
fn width(pass: &Pass, depth: f64) -> Estimate {
    let (mut sum, mut low, mut high, mut count) = (0.0, f64::INFINITY, 0.0_f64, 0.0_f64);
    for dip in pass.alike() {
        let width_s = dip.lost_s / (1.0 - depth.min(0.95));
        (sum, low, high, count) = (sum + width_s, low.min(width_s), high.max(width_s), count + 1.0);
    }
    if count == 0.0 {
        low = 0.0;
    }
    let value = sum / count.max(1.0);
    bounded(value, low.min(value), high.max(value), count)
}

fn table(story: &Story, depth: f64) -> Vec<ValleyPass> {
    let mut rows = Vec::new();
    for (group, of_group) in (1..).zip(&story.groups) {
        for pass in &of_group.passes {
            rows.push(row(group, pass, depth));
        }
    }
    rows.truncate(ROWS_MAX);
    rows
}

fn row(group: usize, pass: &Pass, depth: f64) -> ValleyPass {
    // What a slowed pass loses is made up for afterwards, and says nothing of the width.
    let has_width = pass.has_dips() && !pass.shape.slowed;
    ValleyPass {
        group,
        block_bytes: pass.shape.block,
        slowed: pass.shape.slowed,
        first_byte: pass.first_byte,
        end_byte: pass.end_byte,
        bytes: pass.bytes,
        seconds: pass.seconds,
        bytes_per_second: pass.rate(),
        valleys: pass.count(),
        width_s: if has_width { width(pass, depth).value } else { 0.0 },
        lost_s: pass.lost_s() * pass.count() as f64,
    }
}
