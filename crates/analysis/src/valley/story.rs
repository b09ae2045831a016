//! What a run tells of valleys: conditioning, passes, and reads to compare with, in order; an experiment can follow its own run.

use super::EXPERIMENT;
use super::cell::each_cell;
use super::dip::{DROP_SHARE, Dip, DipFinder, PhaseDips};
use super::pass::{Pass, PassShape};
use super::rhythm::{Gap, Rhythm, rhythm};
use crate::measured::is_measurement;
use crate::stats::sample::middle;
use model::plan::PhaseKind;
use model::request::Operation;
use model::run::{PhaseSummary, RunView};
use model::units::Bytes;
use model::workload::{Arrival, Pattern, Workload};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Between phases that follow on each other so closely it is being written all the time.
const PAUSE_S_MAX: f64 = 1.0;
/// A dip at the end of a phase and one at the start of the next are one if no more than a flush and a start lie between.
const JOINED_S: f64 = 0.3;
/// The probability at most that chance is taken for a rhythm or a place: one in a thousand runs with enough dips.
const CHANCE_MAX: f64 = 1e-3;
/// Reading is a comparison if it went on for so many gaps.
const COMPARED_GAPS_MIN: f64 = 2.0;
/// While reading, a third of the dips is as many: what is the drive's own work of writing does not come at all.
const SAME_SHARE: f64 = 1.0 / 3.0;
/// Two dips are at one place if they begin within so many seconds of writing of each other.
const SAME_PLACE_S: f64 = 0.1;
/// Beyond this share of time in which the rate was uneven nothing is said.
const UNEVEN_SHARE_MAX: f64 = 0.2;
/// Dips that take less than this share of others are something else.
const ALIKE_SHARE: f64 = 0.1;
const GAPS_MAX: usize = 100_000;
/// What comes more often is ripple, such as a disk that changes surfaces: the rate over a second or two hides it.
const GAP_S_MIN: f64 = 2.0;

/// Passes over one area with one size of requests, and what was done to the drive before them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The phases that conditioned the drive since the group before, by their numbers.
    pub conditioning: Vec<u32>,
    pub passes: Vec<Pass>,
}

impl Group {
    pub fn full_rate(&self) -> Vec<&Pass> {
        self.passes.iter().filter(|pass| !pass.shape.slowed).collect()
    }
}

/// A quarter of an interval of 40 ms: then an interval in which no read completes means something.
const COMPARED_REQUEST_S_MAX: f64 = 0.010;

#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    seconds: f64,
    request_s: f64,
    dips: Vec<Dip>,
    long: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Story {
    pub groups: Vec<Group>,
    comparisons: Vec<Comparison>,
    seen: usize,
    conditioning: Vec<u32>,
    begins_group: bool,
    /// Bytes written in all passes, for the distances between dips.
    written: f64,
    /// When the last writing phase ended, as long as nothing else came since.
    ended_s: Option<f64>,
    /// What is written without a pause has one number.
    chain: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    NothingWritten,
    /// The rate was too uneven for dips to be told from the rest, for that share of the time.
    Uneven(f64),
    None,
    /// So many, and too few to say whether they recur.
    TooFew(u64),
    /// As many come while it is being read: so many a minute, and so many while written.
    AlsoWhenReading(f64, f64),
    AtPlaces(Places),
    /// At the start of each pass: how many, and whether a pass that began elsewhere had them at its own start.
    AtStarts(u64, bool),
    Grain(f64),
    Irregular(u64),
    /// They recur, but it was not looked whether they do so while reading.
    NotCompared,
    /// They recur, leave that share of the rate, and a slowed pass, which could not show that, has none.
    Shallow(f64),
    Recurring(Rhythm),
}

/// Dips that are where they were in a pass before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Places {
    /// Dips that were looked at, and those of them that were there before.
    pub dips: u64,
    pub again: u64,
    pub by_chance: f64,
    /// Whether a pass that began further in met them there.
    pub is_told: bool,
}

impl Story {
    pub fn of(run: &RunView<'_>) -> Story {
        let mut story = Story::default();
        story.follow(run);
        story
    }

    pub fn follow(&mut self, run: &RunView<'_>) {
        for index in self.seen..run.phases.len() {
            self.add(run, index as u32, &run.phases[index]);
        }
        self.seen = run.phases.len();
    }

    fn add(&mut self, run: &RunView<'_>, index: u32, summary: &PhaseSummary) {
        if summary.phase.experiment != EXPERIMENT {
            return;
        }
        match (&summary.phase.workload, summary.phase.kind) {
            (Some(workload), PhaseKind::Measure) if is_measurement(summary) => {
                match workload.mix.operations() {
                    [Operation::Write] if workload.pattern == Pattern::Sequential => {
                        self.add_pass(run, index, summary, workload);
                    }
                    [Operation::Read] => self.add_reading(run, index, summary),
                    _ => self.ended_s = None,
                }
            }
            (Some(_), PhaseKind::Precondition | PhaseKind::Purge) => {
                self.conditioning.push(index);
                (self.begins_group, self.ended_s) = (true, None);
            }
            (None, _) => self.begins_group = true,
            _ => {}
        }
    }

    fn add_reading(&mut self, run: &RunView<'_>, index: u32, summary: &PhaseSummary) {
        self.ended_s = None;
        let dips = dips_of(run, index, summary, Operation::Read);
        let request_s = match summary.totals_of(Operation::Read) {
            Some(reads) => reads.histogram.mean_ns().unwrap_or(f64::INFINITY) / 1e9,
            None => f64::INFINITY,
        };
        self.comparisons.push(Comparison {
            // Where it was read too unevenly no dips could be seen.
            seconds: dips.seconds - dips.uneven_s,
            request_s,
            dips: dips.dips,
            long: dips.long,
        });
    }

    fn add_pass(&mut self, run: &RunView<'_>, index: u32, summary: &PhaseSummary, workload: &Workload) {
        let found = dips_of(run, index, summary, Operation::Write);
        let shape = PassShape {
            block: workload.block_sizes.largest(),
            slowed: workload.arrival != Arrival::ClosedLoop,
        };
        let begin_s = summary.start_ns as f64 / 1e9;
        let goes_on = matches!(self.ended_s, Some(ended_s) if begin_s - ended_s <= PAUSE_S_MAX);
        let before = self.last_pass();
        if !goes_on || !matches!(before, Some(pass) if pass.shape == shape) {
            self.chain += 1;
        }
        let bytes = summary.bytes_of(Operation::Write);
        let range = workload.range;
        let pass = self.pass_for(shape, range.first().get());
        pass.phases.push(index);
        pass.first_byte = pass.first_byte.min(range.first().get());
        pass.end_byte = pass.end_byte.max(range.end().get());
        pass.bytes += bytes;
        pass.seconds += summary.duration_ns as f64 / 1e9;
        pass.long += found.long;
        pass.uneven_s += found.uneven_s;
        pass.not_kept += found.count - found.dips.len() as u64;
        self.add_dips(&found);
        self.written += bytes as f64;
        let flush_s = summary.flush_ns() as f64 / 1e9;
        self.ended_s = Some(begin_s + summary.duration_ns as f64 / 1e9 + flush_s);
    }

    fn last_pass(&self) -> Option<&Pass> {
        self.groups.last()?.passes.last()
    }

    /// The dips of a phase, the first joined with the last before it if they are one.
    fn add_dips(&mut self, found: &PhaseDips) {
        let (chain, written) = (self.chain, self.written);
        let in_run = found.dips.iter().map(|dip| Dip { chain, at_bytes: written + dip.at_bytes, ..*dip });
        let mut dips = in_run.peekable();
        let mut passes: Vec<&mut Pass> = self.groups.iter_mut().flat_map(|group| &mut group.passes).collect();
        if let (Some(last), Some(first)) =
            (passes.iter_mut().rev().find_map(|pass| pass.dips.last_mut()), dips.peek())
            && last.chain == chain
            && first.start_s - last.end_s < JOINED_S
        {
            (last.lost_s, last.end_s) = (last.lost_s + first.lost_s, first.end_s);
            dips.next();
        }
        if let Some(pass) = passes.last_mut() {
            pass.dips.extend(dips);
        }
    }

    /// The pass that a phase which begins there belongs to: the last one, if it goes on from there.
    fn pass_for(&mut self, shape: PassShape, first_byte: u64) -> &mut Pass {
        let before = self.last_pass();
        let is_other = matches!(before, Some(pass) if pass.shape.block != shape.block);
        if std::mem::take(&mut self.begins_group) || is_other || self.groups.is_empty() {
            let conditioning = std::mem::take(&mut self.conditioning);
            self.groups.push(Group { conditioning, passes: Vec::new() });
        }
        let group = self.groups.last_mut().expect("a group was just made, or there was one");
        let before = group.passes.last();
        if !matches!(before, Some(pass) if pass.shape == shape && first_byte >= pass.end_byte) {
            group.passes.push(Pass { shape, first_byte, end_byte: first_byte, ..Pass::default() });
        }
        group.passes.last_mut().expect("a pass was just made, or there was one")
    }

    pub fn passes(&self) -> impl Iterator<Item = &Pass> {
        self.groups.iter().flat_map(|group| &group.passes)
    }

    pub fn count(&self) -> u64 {
        self.passes().map(Pass::count).sum()
    }

    pub fn long(&self) -> u64 {
        self.passes().map(|pass| pass.long).sum()
    }

    /// From dip to dip within writes without a pause at one speed.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let mut before: Option<Dip> = None;
        for pass in self.passes() {
            for dip in pass.alike() {
                if let Some(last) = before
                    && last.chain == dip.chain
                    && gaps.len() < GAPS_MAX
                {
                    gaps.push(Gap {
                        seconds: dip.start_s - last.start_s,
                        bytes: dip.at_bytes - last.at_bytes,
                        slowed: pass.shape.slowed,
                    });
                }
                before = Some(*dip);
            }
        }
        gaps
    }

    /// The mean time from dip to dip at full throughput; none without two of them, or for ripple.
    pub fn gap_s(&self) -> Option<f64> {
        let (count, seconds, _) = self.full_rate_gaps();
        let mean_s = seconds / count;
        (mean_s >= GAP_S_MIN).then_some(mean_s)
    }

    /// Gaps at full throughput: how many, and how much they add up to in seconds and in bytes.
    fn full_rate_gaps(&self) -> (f64, f64, f64) {
        let (mut count, mut seconds, mut bytes) = (0.0, 0.0, 0.0);
        for gap in self.gaps() {
            if !gap.slowed {
                count += 1.0;
                seconds += gap.seconds;
                bytes += gap.bytes;
            }
        }
        (count, seconds, bytes)
    }

    /// What is left of throughput inside a dip: the median of those long enough to have an inside, else the lowest interval of any.
    pub fn depth_ratio(&self) -> f64 {
        if let Some(inside) = self.inside_ratio() {
            return inside;
        }
        let full_rate = self.passes().filter(|pass| !pass.shape.slowed);
        full_rate.flat_map(Pass::alike).map(|dip| dip.lowest).fold(1.0, f64::min)
    }

    fn inside_ratio(&self) -> Option<f64> {
        let full_rate = self.passes().filter(|pass| !pass.shape.slowed);
        let mut inside: Vec<f64> = full_rate.flat_map(Pass::alike).filter_map(|dip| dip.inside).collect();
        if inside.is_empty() { None } else { Some(middle(&mut inside)) }
    }

    /// What is left inside dips that recur so often, if a slowed pass has none of them and is too slow to show any so shallow.
    fn too_shallow(&self, gap_s: f64) -> Option<f64> {
        let inside = self.inside_ratio()?;
        let (mut slowed, mut full_rate) = (0.0_f64, 0.0_f64);
        for pass in self.passes() {
            if pass.shape.slowed {
                if pass.has_dips() {
                    return None;
                }
                slowed = slowed.max(pass.rate());
            } else {
                full_rate = full_rate.max(pass.rate());
            }
        }
        let could_show = inside < DROP_SHARE * slowed / full_rate;
        (self.slowed_s() >= COMPARED_GAPS_MIN * gap_s && !could_show).then_some(inside)
    }

    pub fn verdict(&self) -> Verdict {
        let (_, seconds) = self.written();
        if seconds <= 0.0 {
            return Verdict::NothingWritten;
        }
        let uneven = self.passes().map(|pass| pass.uneven_s).sum::<f64>() / seconds;
        if uneven > UNEVEN_SHARE_MAX {
            return Verdict::Uneven(uneven);
        }
        let count = self.count();
        if count == 0 {
            return Verdict::None;
        }
        let gap_s = seconds / count as f64;
        if gap_s < GAP_S_MIN {
            return Verdict::Grain(1.0 / gap_s);
        }
        // Slow places are slow to be read as well, and so they come first.
        if let Some(repeated) = self.repeated() {
            return repeated;
        }
        if let Some((reading, writing)) = self.dips_when_reading(gap_s) {
            return Verdict::AlsoWhenReading(reading, writing);
        }
        match rhythm(&self.gaps()) {
            None => Verdict::TooFew(count),
            Some(rhythm) if rhythm.by_chance > CHANCE_MAX => Verdict::Irregular(count),
            Some(rhythm) if !self.is_compared(rhythm.seconds.value) || !self.could_show_dips() => {
                Verdict::NotCompared
            }
            Some(rhythm) => match self.too_shallow(rhythm.seconds.value) {
                Some(inside) => Verdict::Shallow(inside),
                None => Verdict::Recurring(rhythm),
            },
        }
    }

    pub fn written(&self) -> (u64, f64) {
        let (mut bytes, mut seconds) = (0, 0.0);
        for pass in self.passes() {
            bytes += pass.bytes;
            seconds += pass.seconds;
        }
        (bytes, seconds)
    }

    pub fn slowed_s(&self) -> f64 {
        self.passes().filter(|pass| pass.shape.slowed).map(|pass| pass.seconds).sum()
    }

    /// Whether reading went on for long enough to see dips that come so often.
    pub fn is_compared(&self, gap_s: f64) -> bool {
        self.compared_s() >= COMPARED_GAPS_MIN * gap_s
    }

    fn compared_s(&self) -> f64 {
        self.comparisons.iter().map(|reading| reading.seconds).sum()
    }

    /// Whether reads are fast enough to show other I/O: it leaves no gap between slow ones.
    fn could_show_dips(&self) -> bool {
        self.comparisons.iter().all(|reading| reading.request_s <= COMPARED_REQUEST_S_MAX)
    }

    /// Dips a minute while reading and while writing, if there are as many as while writing.
    fn dips_when_reading(&self, gap_s: f64) -> Option<(f64, f64)> {
        let seconds = self.compared_s();
        // A hiccup of the machine is no valley: and others hold up reading less than writing: a tenth counts.
        let with_dips = self.passes().filter(|pass| pass.count() > 0);
        let least_s = with_dips.map(Pass::lost_s).fold(f64::INFINITY, f64::min);
        let mut dips = 0;
        for reading in &self.comparisons {
            dips += reading.long;
            for dip in &reading.dips {
                dips += u64::from(dip.lost_s >= ALIKE_SHARE * least_s);
            }
        }
        let is_same = dips > 0 && dips as f64 >= SAME_SHARE * (seconds / gap_s);
        is_same.then_some((60.0 * dips as f64 / seconds, 60.0 / gap_s))
    }

    /// The mean of what was written from dip to dip as fast as the drive can; none without two of them.
    pub fn gap_bytes(&self) -> Option<f64> {
        let (count, _, bytes) = self.full_rate_gaps();
        (count > 0.0).then_some(bytes / count)
    }

    /// Dips that are where they were in an earlier pass, more often than by chance. Only a pass that began further in shows that
    /// places count: one that is a multiple of the gap in bytes has them at the same places as well.
    fn repeated(&self) -> Option<Verdict> {
        let (mut told, mut open) = (Same::default(), Same::default());
        let (mut there, mut behind_start) = (Same::default(), Same::default());
        let mut is_near_start = true;
        for group in &self.groups {
            let first = if let Some(pass) = group.passes.first() { pass.first_byte } else { 0 };
            let moved = group.passes.iter().position(|pass| pass.first_byte > first);
            for pair in group.passes[..moved.unwrap_or(group.passes.len())].windows(2) {
                open.add(&pair[0], &pair[1], 0);
            }
            if let Some(moved) = moved {
                let before = &group.passes[moved - 1];
                for pass in &group.passes[moved..] {
                    told.add(before, pass, 0);
                }
                let further_in = group.passes[moved].first_byte - before.first_byte;
                there.add(before, &group.passes[moved], 0);
                behind_start.add(before, &group.passes[moved], further_in);
            }
            is_near_start &= group.passes.iter().all(Pass::dips_near_start);
        }
        // A pass that began further in and has no dips, since it was slowed, tells nothing of places.
        let same = if told.dips > 0 { told } else { open };
        let by_chance = same.by_chance()?;
        if behind_start.again > there.again {
            return Some(Verdict::AtStarts(self.count(), true));
        }
        let is_told = there.again > behind_start.again;
        if !is_told && is_near_start {
            return Some(Verdict::AtStarts(self.count(), false));
        }
        Some(Verdict::AtPlaces(Places { dips: same.dips, again: same.again, by_chance, is_told }))
    }
}

/// Dips of passes, and those that were there in another one.
#[derive(Clone, Copy, Debug, Default)]
struct Same {
    dips: u64,
    again: u64,
    expected: f64,
}

impl Same {
    /// Those of a pass that are so many bytes behind where they were in the one before.
    fn add(&mut self, before: &Pass, pass: &Pass, behind: u64) {
        let near = SAME_PLACE_S * before.rate().max(pass.rate());
        let chance = (2.0 * near * before.count() as f64 / before.bytes.max(1) as f64).min(1.0);
        let mut count: u32 = 0;
        for dip in pass.alike() {
            let mut distances =
                before.alike().map(|one| (one.first_byte + behind).abs_diff(dip.first_byte) as f64);
            self.again += u64::from(distances.any(|distance| distance <= near));
            count += 1;
        }
        self.dips += u64::from(count);
        self.expected += chance * f64::from(count);
    }

    /// The probability that so many are there by chance; none where it is too large, or most are not there.
    fn by_chance(&self) -> Option<f64> {
        if self.again * 2 < self.dips || self.again < 2 {
            return None;
        }
        let share = (self.expected / self.dips as f64).clamp(0.0, 1.0);
        let by_chance = Binomial::new(share, self.dips).ok()?.sf(self.again - 1);
        (by_chance < CHANCE_MAX).then_some(by_chance)
    }
}

fn dips_of(run: &RunView<'_>, index: u32, summary: &PhaseSummary, operation: Operation) -> PhaseDips {
    let (block, is_paced) = match &summary.phase.workload {
        Some(workload) => (workload.block_sizes.largest(), workload.arrival != Arrival::ClosedLoop),
        None => (Bytes::ZERO, false),
    };
    // Single requests begin and end where they do; slices do not.
    let has_ios = run.series.ios(index).next().is_some();
    let mut finder = DipFinder::new(block.as_f64(), has_ios, is_paced);
    each_cell(run, index, summary, operation, |cell| finder.take(cell));
    finder.finish()
}
