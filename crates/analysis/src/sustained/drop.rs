//! Whether and where the rate fell for good.

use super::batch::{Batch, bytes_of, seconds_of};
use super::level::{Level, STEP_MIN, levels, recurring_stall_s};
use crate::stats::sample::Sample;
use crate::stats::{CONFIDENCE, bounded};
use model::estimate::Estimate;

/// Fewer standard errors may be chance: 5.5 come one time in 4·10⁷, and some hundred batches each have some hundred borders.
const ERRORS_MIN: f64 = 5.5;
/// After a drop so many batches are seen at least.
pub const PIECES_AFTER_MIN: usize = 5;
/// A drop lasts when so much was written after it as a share of what was before, or when it went on for this share of the time.
const BYTES_AFTER_SHARE: f64 = 0.1;
const TIME_AFTER_SHARE: f64 = 0.5;
/// And when it cost so much time against the level before: a host that is kept from running loses time as well. Half a second was lost
/// by one that was busy, and 0.3 s by a virtual machine that is moved (QEMU's default limit of downtime): this is twice the longest.
const LOST_S_MIN: f64 = 1.0;
/// And no sooner: a CPU quota takes processors away for up to 100 ms (the period of `cpu.max` in cgroup v2). Four such periods;
/// longer would be more than half of the cache of quick drives with small ones.
const SECONDS_AFTER_MIN: f64 = 0.4;
/// Of what scatters evenly the quickest of some dozens is two standard deviations off: a drop of three is none that came nearer than this share of it.
const NEAR_SHARE: f64 = 1.0 / 3.0;
/// Then the rate after it is known well enough, as a share of it to either side; or this much was written, and it is not worth more.
const PRECISION: f64 = 0.02;
/// So many batches are enough as well: a rate that drifts is not known better by more of them.
const PIECES_AFTER_ENOUGH: usize = 20;
/// A later step is a level if it is this share of the first, as logarithms; smaller ones count where nothing drifts. Published
/// second steps are 0.24 of the first (870 QVO: 530, 160 and 120 MB/s) and more.
const OWN_LEVEL_SHARE: f64 = 0.15;
/// Halves of a drifting line that is cut in two differ by half of the step, those of a level by nothing: nearer to nothing.
const TREND_SHARE_MAX: f64 = 0.25;
/// At a step the batches next to it differ as much as the levels do; at a cut through a drift by at most half.
const BORDER_SHARE_MIN: f64 = 0.5;
/// It is more than that by so many standard errors, since there are some dozens of borders in a run: chance makes it so one time in 700.
const BORDER_ERRORS: f64 = 3.0;
const BYTES_AFTER_SHARE_MAX: f64 = 0.3;
/// Drives and their controllers hold so much in memory at most (Exos X18, data sheet), and some keep it over a flush.
pub const MEMORY_BYTES_MAX: f64 = (512 << 20) as f64;

/// No place is known to less than this share of the batch that it lies in: rates within a batch are not quite even.
pub(super) const PLACE_SHARE_MIN: f64 = 0.05;

#[derive(Clone, Debug, PartialEq)]
pub struct RateDrop {
    pub bytes: Estimate,
    pub before: Level,
    pub after: Level,
    /// Levels behind it that last as well, in the order of time.
    pub further: Vec<Further>,
    /// All levels of their own from the one before on, also one to which the rate only went and came back, in the order of time.
    pub course: Vec<Stage>,
    /// What was in the drive's own memory whenever the writes of a batch ended, in bytes.
    pub in_memory_bytes: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Further {
    pub bytes: Estimate,
    pub after: Level,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub from_bytes: Estimate,
    pub level: Level,
    pub comes_back: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    Even,
    /// The last batches were slower; whether that lasts is not known yet.
    Falling,
    Fell(Box<RateDrop>),
}

impl RateDrop {
    /// Whether a memory that keeps its data over a flush may have filled up, and not cells: an SLC cache may follow.
    pub fn may_be_of_buffer(&self) -> bool {
        self.bytes.value <= MEMORY_BYTES_MAX
    }

    /// By how much a byte takes longer behind it, as a logarithm.
    pub fn fall(&self) -> f64 {
        self.after.cost.value - self.before.cost.value
    }

    pub fn last(&self) -> &Level {
        match self.further.last() {
            Some(further) => &further.after,
            None => &self.after,
        }
    }

    /// From which logarithm of a byte's time on a single batch is of a level below that one.
    pub(super) fn own_level_from(&self, level: &Level) -> f64 {
        level.cost.value + own_step(&self.before, &self.after).max(ERRORS_MIN * level.noise)
    }
}

/// By how much a level behind a drop differs from the one before it if it is no drift, as logarithms.
fn own_step(before: &Level, after: &Level) -> f64 {
    (OWN_LEVEL_SHARE * (after.cost.value - before.cost.value)).max(STEP_MIN)
}

pub fn standing(batches: &[Batch]) -> Standing {
    let rest = without_slow_tail(batches);
    match lasting(rest) {
        Standing::Even if rest.len() < batches.len() && ends_slow(batches, &levels(batches)) => {
            Standing::Falling
        }
        standing => standing,
    }
}

/// The batches but for slow ones at the end, too few for a drop: stalls, which would count to those that recur, or one to come.
fn without_slow_tail(batches: &[Batch]) -> &[Batch] {
    let (rest, last) = batches.split_at(batches.len().saturating_sub(PIECES_AFTER_MIN - 1));
    let (Some(level), Some(newest)) = (levels(rest).last().copied(), rest.last()) else { return batches };
    let is_slow = |batch: &Batch| batch.seconds_per_byte().ln() > level.typical_cost + STEP_MIN;
    if is_slow(newest) {
        return batches;
    }
    let tail = last.iter().rev().take_while(|batch| is_slow(batch)).count();
    &batches[..batches.len() - tail]
}

/// The first lasting drop; or a later one, if the first may come from a buffer in front of the cells, or is a small part of it.
fn lasting(batches: &[Batch]) -> Standing {
    let levels = levels(batches);
    let mut indices = (1..levels.len()).filter(|index| drops_for_good(batches, &levels, *index));
    let step = |index: usize| levels[index - 1].step_to(&levels[index]);
    let (mut first, mut skipped) = (None, 0.0);
    for index in indices.by_ref() {
        match lasting_from(batches, &levels, index) {
            Standing::Fell(drop) => {
                first = Some((index, drop));
                break;
            }
            Standing::Falling => return Standing::Falling,
            Standing::Even => skipped = step(index).max(skipped),
        }
    }
    let Some((index, first)) = first else {
        return if ends_slow(batches, &levels) { Standing::Falling } else { Standing::Even };
    };
    // One step of several that are alike: it drifts.
    if skipped >= OWN_LEVEL_SHARE * first.fall() {
        return Standing::Even;
    }
    let (mut index, mut chosen, mut buffer) = (index, first, None);
    for later in indices {
        let Standing::Fell(drop) = lasting_at(batches, &levels, later - 1, later) else { continue };
        // A drift, or other I/O, before a drop many times as large.
        let is_small_part = step(index) < OWN_LEVEL_SHARE * step(later);
        if !is_small_part && chosen.may_be_of_buffer() && !drop.may_be_of_buffer() {
            buffer = Some((chosen.course[0].clone(), chosen.bytes));
        } else if !is_small_part {
            continue;
        }
        (index, chosen) = (later, drop);
    }
    if let Some((stage, until)) = buffer {
        chosen.course[0].from_bytes = until;
        chosen.course.insert(0, stage);
    }
    Standing::Fell(chosen)
}

/// Whether the drop to the level of that number has lasted; to the next where this one is a few batches on the way down to it.
fn lasting_from(batches: &[Batch], levels: &[Level], index: usize) -> Standing {
    let (last, level) = (&levels[index - 1], &levels[index]);
    let is_few = level.batches() < PIECES_AFTER_MIN && level.bytes < last.bytes;
    if let Some(next) = levels.get(index + 1)
        && is_few
        && next.batches() >= PIECES_AFTER_MIN
        && level.step_to(next) >= STEP_MIN
        && let Standing::Fell(drop) = lasting_at(batches, levels, index - 1, index + 1)
    {
        return Standing::Fell(drop);
    }
    lasting_at(batches, levels, index - 1, index)
}

/// Whether the drop from the level of the one number to that of the other has lasted.
fn lasting_at(batches: &[Batch], levels: &[Level], from: usize, index: usize) -> Standing {
    let before = levels[from];
    let least = OWN_LEVEL_SHARE * (levels[index].cost.value - before.cost.value);
    let after = with_drift(batches, &levels[index..], least);
    let lower = Level::of(batches, after.first, batches.len(), after.noise);
    let lost_s = lower.seconds - lower.bytes * before.seconds_per_byte();
    if !has_lasted(batches, &lower) || lost_s < LOST_S_MIN || !is_known(batches, &after) {
        return Standing::Falling;
    }
    let wanders = after.cost.interval(CONFIDENCE).low <= before.cost.value
        || after.cost.value - before.cost.value < 3.0 * STEP_MIN
            && (before.cost.interval(CONFIDENCE).high >= after.cost.value
                || comes_near(&batches[after.first..], &before)
                || was_as_slow(&levels[..from], &before, &after));
    if wanders {
        return if batches.len() - after.first >= PIECES_AFTER_ENOUGH {
            Standing::Even
        } else {
            Standing::Falling
        };
    }
    let least = own_step(&before, &after);
    let own = own_levels(batches, levels, after, least);
    Standing::Fell(Box::new(drop_through(batches, &[&[before], &own[..]].concat(), least)))
}

/// Whether a rate that wanders as much was quick for a while: over as many bytes behind it, it comes most of the way back.
fn comes_near(behind: &[Batch], before: &Level) -> bool {
    let (mut slower, mut from) = (Vec::new(), 0);
    for end in 1..=behind.len() {
        let stretch = &behind[from..end];
        if bytes_of(stretch) >= before.bytes {
            slower.push((seconds_of(stretch) / bytes_of(stretch)).ln() - before.cost.value);
            from = end;
        }
    }
    slower.sort_unstable_by(f64::total_cmp);
    slower.len() >= PIECES_AFTER_MIN && slower[0] < NEAR_SHARE * slower[slower.len() / 2]
}

/// Whether more was written as slowly before the quick level than in it: a cache is quick from the start.
fn was_as_slow(earlier: &[Level], before: &Level, after: &Level) -> bool {
    let halfway = f64::midpoint(before.cost.value, after.cost.value);
    let mut slow_bytes = 0.0;
    for level in earlier {
        if level.cost.value >= halfway {
            slow_bytes += level.bytes;
        }
    }
    slow_bytes > before.bytes
}

/// A stream that was slower in the middle, by a step down and one up again. None where it fell for good, or swings.
pub fn dip(batches: &[Batch]) -> Option<RateDrop> {
    let levels = levels(batches);
    let index = 1 + levels.windows(2).position(|pair| {
        let [last, next] = [&pair[0], &pair[1]];
        last.step_to(next) >= STEP_MIN && is_sharp(batches, last, next) && is_certain(batches, last, next)
    })?;
    let before = levels[index - 1];
    let least = own_step(&before, &levels[index]);
    let after = with_drift(batches, &levels[index..], least);
    let all = [&[before], &own_levels(batches, &levels, after, least)[..]].concat();
    // A rate that went down anywhere else swings.
    let halfway = f64::midpoint(before.cost.value, after.cost.value);
    for level in &levels {
        let is_within = after.first <= level.first && level.end <= after.end;
        if !is_within && level.cost.value >= halfway {
            return None;
        }
    }
    if after.batches() < PIECES_AFTER_MIN || passing(batches, &all, least) != [after.first] {
        return None;
    }
    Some(drop_through(batches, &all, least))
}

/// Whether the rate drops to the level of that number and stays down.
fn drops_for_good(batches: &[Batch], levels: &[Level], index: usize) -> bool {
    let stall_s = recurring_stall_s(&batches[..levels[index].first], levels[index].noise);
    is_lasting(&levels[index - 1], &levels[index..], stall_s)
}

/// The drop from the first of these levels, each another one than that before it, to the second.
fn drop_through(batches: &[Batch], own: &[Level], least: f64) -> RateDrop {
    let (before, after) = (own[0], own[1]);
    // Before the drop batches are larger than any memory.
    let in_memory_bytes = in_memory(&batches[before.first.midpoint(before.end)..before.end]);
    let lasting = without_passing(batches, &own[1..], least);
    let further = lasting
        .windows(2)
        .map(|pair| Further { bytes: place(batches, &pair[0], &pair[1]), after: pair[1] })
        .collect();
    let bytes = place(batches, &before, &after);
    RateDrop { bytes, before, after, further, course: course(batches, own, &lasting, least), in_memory_bytes }
}

/// Where each of these levels begins; of a rate that swings only those that last.
fn course(batches: &[Batch], own: &[Level], lasting: &[Level], least: f64) -> Vec<Stage> {
    let swings = passing(batches, own, least).len() > 1;
    let kept = if swings { [&own[..1], lasting].concat() } else { own.to_vec() };
    let passing = passing(batches, &kept, least);
    let mut stages = Vec::new();
    for (index, level) in kept.iter().enumerate() {
        let from_bytes = match index.checked_sub(1) {
            Some(before) => place(batches, &kept[before], level),
            None => Estimate::exact(level.from_bytes),
        };
        stages.push(Stage { from_bytes, level: *level, comes_back: passing.contains(&level.first) });
    }
    stages
}

/// The level `after` and later levels, also those to which throughput comes back.
fn own_levels(batches: &[Batch], levels: &[Level], after: Level, least: f64) -> Vec<Level> {
    let mut own = vec![after];
    let mut end = after.end;
    while let Some(index) = levels.iter().position(|level| level.first >= end) {
        let next = with_drift(batches, &levels[index..], least);
        end = next.end;
        if next.batches() >= PIECES_AFTER_MIN
            && matches!(own.last(), Some(last) if is_own(batches, last, &next, least))
        {
            own.push(next);
        }
    }
    own
}

/// The first batches of the levels from which the rate comes back to what it was before.
fn passing(batches: &[Batch], own: &[Level], least: f64) -> Vec<usize> {
    let mut passing = Vec::new();
    for three in own.windows(3) {
        if !is_own(batches, &three[0], &three[2], least) {
            passing.push(three[1].first);
        }
    }
    passing
}

/// Whether a level is another one than that before it: by a large step, or by one that is no part of a drift.
fn is_own(batches: &[Batch], last: &Level, next: &Level, least: f64) -> bool {
    let differs = (next.cost.value - last.cost.value).abs() >= least || is_sharp(batches, last, next);
    differs && is_certain(batches, last, next)
}

fn is_certain(batches: &[Batch], last: &Level, next: &Level) -> bool {
    let stall_s = recurring_stall_s(&batches[last.first..next.first], last.noise);
    last.errors_from(next, stall_s) >= ERRORS_MIN
}

/// Whether the rate steps from one level to the next and does not drift there.
fn is_sharp(batches: &[Batch], last: &Level, next: &Level) -> bool {
    let step = last.step_to(next).abs();
    let flat = TREND_SHARE_MAX * step;
    let at_border = last.step_at_border(next, batches, PIECES_AFTER_MIN).abs();
    step >= STEP_MIN
        && next.batches() >= PIECES_AFTER_MIN
        && last.trend(batches).abs() <= flat
        && next.trend(batches).abs() <= flat
        && at_border - BORDER_ERRORS * border_error(last) >= BORDER_SHARE_MIN * step
}

/// What the step between the batches next to a border is known to, as logarithms. A median scatters by 1.25 times as much as a mean.
fn border_error(last: &Level) -> f64 {
    1.25 * last.noise * (2.0 / PIECES_AFTER_MIN as f64).sqrt()
}

/// These levels without passing ones, which may be other I/O or heat: where throughput comes back more than once it swings; where
/// it does once, that level has to last, and what follows has to go on for longer.
fn without_passing(batches: &[Batch], own: &[Level], least: f64) -> Vec<Level> {
    let passing = passing(batches, own, least);
    let mut kept: Vec<Level> = own[..1].to_vec();
    let mut passed_s: f64 = 0.0;
    for level in &own[1..] {
        if let Some(last) = kept.last()
            && !is_own(batches, last, level, least)
        {
            continue;
        }
        let stays = match passing.contains(&level.first) {
            true => passing.len() == 1 && has_lasted(batches, level),
            false => level.seconds > passed_s || has_lasted(batches, level),
        };
        if stays {
            kept.push(*level);
        } else {
            passed_s = passed_s.max(level.seconds);
        }
    }
    kept
}

/// Whether enough was written at a level, or for long enough, that it is no stall.
fn has_lasted(batches: &[Batch], level: &Level) -> bool {
    let seconds_before = seconds_of(&batches[..level.first]);
    level.batches() >= PIECES_AFTER_MIN
        && level.seconds >= SECONDS_AFTER_MIN
        && (level.bytes >= BYTES_AFTER_SHARE * level.from_bytes
            || level.seconds >= TIME_AFTER_SHARE * seconds_before)
}

/// Whether the rate of a level is known well enough, or more would not make it so.
fn is_known(batches: &[Batch], after: &Level) -> bool {
    let interval = after.cost.interval(CONFIDENCE);
    let bytes = bytes_of(&batches[after.first..]);
    (interval.high - interval.low) / 2.0 <= PRECISION
        || batches.len() - after.first >= PIECES_AFTER_ENOUGH
        || bytes >= BYTES_AFTER_SHARE_MAX * after.from_bytes
}

/// The first of these levels, with those behind it that are no levels of their own: that differ by less than `least`, and not by a step.
fn with_drift(batches: &[Batch], levels: &[Level], least: f64) -> Level {
    let mut after = levels[0];
    let (mut least_cost, mut most_cost) = (after.cost.value, after.cost.value);
    for level in &levels[1..] {
        let is_step = is_sharp(batches, &after, level) && is_certain(batches, &after, level);
        if is_step || (level.cost.value - after.cost.value).abs() >= least {
            break;
        }
        (least_cost, most_cost) = (least_cost.min(level.cost.value), most_cost.max(level.cost.value));
        after = after.joined(level, batches, most_cost - least_cost);
    }
    after
}

/// Whether the rate drops from that level to those and never comes back to halfway. Stalls of `stall_s` seconds recur before it.
fn is_lasting(before: &Level, levels: &[Level], stall_s: f64) -> bool {
    let after = &levels[0];
    let halfway = f64::midpoint(before.cost.value, after.cost.value);
    before.step_to(after) >= STEP_MIN
        && before.errors_from(after, stall_s) >= ERRORS_MIN
        && levels.iter().all(|level| level.cost.value > halfway)
}

/// Whether the last two batches were slower than the last level by more than levels may differ.
fn ends_slow(batches: &[Batch], levels: &[Level]) -> bool {
    let Some(level) = levels.last() else { return false };
    let slow = level.cost.value + STEP_MIN;
    batches.iter().rev().take(2).all(|batch| batch.seconds_per_byte().ln() > slow)
        || levels.len() > 1 && level.batches() < PIECES_AFTER_MIN
}

/// What a flush still had to write, by how long it took.
fn in_memory(batches: &[Batch]) -> f64 {
    let bytes = batches.iter().map(|batch| (batch.flush_s / batch.seconds_per_byte()).min(batch.bytes));
    Sample::median_or_zero(bytes.collect())
}

/// Where the rate fell: within the batches at the border, where as much of their time as they took is explained by both rates.
fn place(batches: &[Batch], before: &Level, after: &Level) -> Estimate {
    let border = after.first;
    let (from, to) = (border.saturating_sub(2).max(before.first), (border + 2).min(after.end));
    let fast = before.seconds_per_byte();
    // The rate may drift after a drop: what came right after it counts.
    let near = &batches[to.min(after.end - 1)..(to + 5).min(after.end).max(to.min(after.end - 1) + 1)];
    let slow = seconds_of(near) / bytes_of(near);
    let written = bytes_of(&batches[..from]);
    let (bytes, seconds) = (bytes_of(&batches[from..to]), seconds_of(&batches[from..to]));
    let at_full_rate = ((bytes * slow - seconds) / (slow - fast)).clamp(0.0, bytes);
    let value = written + at_full_rate;
    // What the rates are not known by moves the place by as much of what was written at each.
    let error = |level: &Level, bytes: f64, cost: f64| {
        level.cost.variance.sqrt() * (level.batches() as f64).sqrt() * bytes * cost / (slow - fast)
    };
    let (before_error, after_error) =
        (error(before, at_full_rate, fast), error(after, bytes - at_full_rate, slow));
    let half = 2.0 * (before_error.powi(2) + after_error.powi(2)).sqrt();
    let half = half.max(batches[border.min(batches.len() - 1)].bytes * PLACE_SHARE_MIN);
    let (low, high) = ((value - half).max(written), (value + half).min(written + bytes));
    bounded(value, low, high, (before.batches() + after.batches()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// QEMU's limit of 30 MB/s behind a burst of 200: "after 570 MB writes drop from 225 to 209 MB/s", with the drop to 30 MB/s beside it.
    #[test]
    fn a_small_drop_behind_a_buffer_does_not_hide_a_large_one() {
        let levels = [(3, 13.3e6, 560e6), (31, 17.5e6, 225e6), (35, 49.3e6, 209e6), (6, 58e6, 30.2e6)];
        let mut batches = Vec::new();
        for (count, bytes, rate) in levels {
            for index in 0..count {
                let scatter = 1.0 + 0.01 * f64::from(index % 3 - 1);
                let seconds = bytes / rate * scatter;
                batches.push(Batch { phase: 0, start_s: 0.0, bytes, seconds, flush_s: 0.0 });
            }
        }
        let Standing::Fell(drop) = standing(&batches) else { panic!("it fell") };
        assert!((drop.bytes.value / 2.308e9 - 1.0).abs() < 0.01, "{:?}", drop.bytes);
        assert!((drop.fall() / (209_f64 / 30.2).ln() - 1.0).abs() < 0.01, "{}", drop.fall());
        let froms: Vec<f64> =
            drop.course.iter().map(|stage| (stage.from_bytes.value / 1e7).round()).collect();
        assert_eq!(froms, [0.0, 4.0, 231.0]);
    }
}
