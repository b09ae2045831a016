//! One drive or several? From reads at random places, first one at a time and then many at once.
//!
//! | question | how | file |
//! |---|---|---|
//! | how many arms answer | answers within the same moment come from different arms | `arms` |
//! | which places are on one drive | reads on one drive wait for one another | `rivalry` |
//! | which layouts there can be | members and chunk | `layout` |
//! | where members begin that follow one another | borders part all reads that different arms answered | `concatenation` |
//!
//! Both the experiment that asks for more reads and the detector that concludes read the same [`Verdict`].

mod arms;
mod concatenation;
mod crowd;
mod layout;
mod rivalry;

pub use concatenation::Concatenation;
pub use crowd::Crowd;
#[cfg(test)]
pub(crate) use crowd::tests::read;
pub use layout::Layout;

use crate::moving_parts::are_of_arm;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::quantile::at_share;
use arms::{Access, Coincidence, Moment, close_pairs, coincidence};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::StripeLayoutUnknown;
use model::plan::StopReason;
use model::range::ByteRange;
use model::record::IoRecord;
use model::request::{Operation, Status};
use model::run::{PhaseSummary, RunView};
use model::workload::{Arrival, Pattern, Workload};
use rivalry::{gains, log_sum_exp};

/// Other experiments read listed places at a higher QD for other reasons.
const ASKED_BY: [ExperimentName; 2] = [ExperimentName::Access, ExperimentName::Geometry];
const CROWD_DEPTH_MIN: u64 = 8;
/// Answers in less time come from memory: see `trust`.
const MEMORY_NS: u64 = 10_000;
const SINGLES_MIN: usize = 32;
/// Arms are counted up to so many; beyond, 1 − 1/n changes too little.
const ARMS_MAX: u32 = 8;
/// The odds for a number of arms against any other, as a logarithm: one error in a thousand.
const ARMS_LOG_ODDS_MIN: f64 = 6.9;
/// What one arm has in a run, at most: 0.06 of 180 random disks, alone, on late hosts and beside other I/O, all within a standard error.
const ONE_ARM_SHARE_SEEN: f64 = 0.06;
/// In standard errors: one run of one arm in forty is further from none, and asks for more reads.
const ONE_ARM_DEVIATION_MAX: f64 = 1.96;
/// In standard errors: what is further from every number than one measurement in a thousand is none of them.
const ARMS_DEVIATION_MAX: f64 = 3.3;
const COPIES_MAX: u32 = 4;
/// The odds for a layout against all others and none, as a logarithm: one error in ten thousand.
const LOG_ODDS_MIN: f64 = 9.2;
/// Below these odds, as a logarithm, no layout has gained by who waits for whom: 20 to 1.
const NO_LAYOUT_LOG_ODDS_MAX: f64 = 3.0;
/// That no layout has gained does not exclude any: on disks that sort their queues who waits shows little. A layout is excluded by pairs
/// of answers within a moment that it puts on one drive, with these odds, as a logarithm: one error in a thousand.
const EXCLUDED_LOG_ODDS_MIN: f64 = 6.9;
/// 1 − 1/n is 0 for one arm and a half for two: the middle parts them.
const ONE_ARM_SHARE_MAX: f64 = 0.25;
/// Two arms or more that each take as long for a read of many as for a single one bring so many times as much at least; sorting brings
/// more. Of 64 single reads the mean is off by a tenth at most in 95 of 100 runs.
const UNSORTED_PARALLELISM_MAX: f64 = 2.2;
/// Half way from one arm to two: what is answered as if by several arms, and brings less, was let through by a clock or a rate limit.
const SEVERAL_PARALLELISM_MIN: f64 = 1.5;
/// Reads within a tenth of the range lie on the same drive of a few that follow each other.
const NEAR_PART: u64 = 10;
/// A die of flash reads at most four planes of 16 KiB at a time (ONFI 4), so what takes turns in larger chunks is no die.
const DIE_CHUNK_MAX: u64 = 64 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Reads {
    pub phases: Vec<u32>,
    pub single_ns: Vec<u64>,
    pub single_bytes: u64,
    pub crowds: Vec<Crowd>,
    pub narrow: Vec<Crowd>,
    pub depth: u64,
    pub range_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    One,
    Mirror {
        members: u32,
    },
    Stripe {
        layout: Layout,
        /// By how much more it explains than any other layout or none does, as a logarithm of odds.
        log_odds: f64,
    },
    Concatenation(Concatenation),
    /// No arm moves: how many drives there are does not show.
    Still {
        /// Reads a second of many at once, as a multiple of those of one at a time. Where the many are larger it is at least that
        /// many that the drive does at once, since a single one of them would take longer.
        parallelism: f64,
        layout: Option<Layout>,
    },
    Open {
        why: StripeLayoutUnknown,
        more_helps: bool,
    },
}

/// The phases of the question: listed single reads, and after them many at once at listed places of the same range.
pub fn reads(run: &RunView<'_>) -> Option<Reads> {
    let asked: Vec<Option<&Workload>> = run.phases.iter().map(listed_reads).collect();
    let pair = asked.windows(2).position(is_single_then_crowd)?;
    let first_crowd = pair + 1;
    let crowd = asked[first_crowd]?;
    let mut reads = Reads::over(crowd.range);
    reads.add_singles(first_crowd as u32 - 1, run.series.ios(first_crowd as u32 - 1));
    for (phase, workload) in asked.iter().enumerate().skip(first_crowd) {
        match workload {
            Some(other)
                if other.in_flight_max() == crowd.in_flight_max() && crowd.range.contains(&other.range) =>
            {
                if !matches!(run.phases[phase].stopped, None | Some(StopReason::Interrupted)) {
                    reads.add_crowd(phase as u32, other, run.series.ios(phase as u32));
                }
            }
            _ => break,
        }
    }
    Some(reads)
}

fn is_single_then_crowd(pair: &[Option<&Workload>]) -> bool {
    let &[Some(single), Some(crowd)] = pair else { return false };
    single.in_flight_max() == 1 && crowd.in_flight_max() >= CROWD_DEPTH_MIN && single.range == crowd.range
}

/// Whether several actuators answered reads at a higher QD.
pub fn has_several_arms(run: &RunView<'_>) -> bool {
    reads(run).is_some_and(|reads| reads.has_several_arms())
}

/// Whose arms answer, as far as the answers to many at once show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arms {
    One,
    Stripe(Layout),
    /// Several disks, and which of them answers a read is not known.
    Shared,
}

impl Arms {
    pub fn of(run: &RunView<'_>) -> Arms {
        match reads(run) {
            Some(reads) => Arms::told(&reads, &reads.verdict()),
            None => Arms::One,
        }
    }

    fn told(reads: &Reads, verdict: &Verdict) -> Arms {
        match verdict {
            _ if !reads.has_several_arms() => Arms::One,
            Verdict::Stripe { layout, .. } => Arms::Stripe(*layout),
            _ => Arms::Shared,
        }
    }

    pub fn stripe(self) -> Option<Layout> {
        match self {
            Arms::Stripe(layout) => Some(layout),
            Arms::One | Arms::Shared => None,
        }
    }
}

pub(crate) struct Answered {
    pub reads: Reads,
    pub verdict: Verdict,
    pub arms: Arms,
}

impl Answered {
    pub fn of(run: &RunView<'_>) -> Option<Answered> {
        let reads = reads(run)?;
        let verdict = reads.verdict();
        Some(Answered { arms: Arms::told(&reads, &verdict), reads, verdict })
    }
}

fn listed_reads(summary: &PhaseSummary) -> Option<&Workload> {
    let workload = summary.phase.workload.as_ref()?;
    let fits = ASKED_BY.contains(&summary.phase.experiment)
        && matches!(workload.pattern, Pattern::Listed { .. })
        && workload.arrival == Arrival::ClosedLoop
        && workload.mix.operations() == [Operation::Read];
    fits.then_some(workload)
}

impl Reads {
    pub fn over(range: ByteRange) -> Reads {
        Reads { range_bytes: range.bytes().get(), ..Reads::default() }
    }

    pub fn add_singles(&mut self, phase: u32, ios: impl Iterator<Item = IoRecord>) {
        self.phases.push(phase);
        for io in ios {
            if io.status != Status::Done {
                continue;
            }
            self.single_ns.push(io.service_ns());
            self.single_bytes = self.single_bytes.max(u64::from(io.length_bytes));
        }
        self.single_ns.sort_unstable();
    }

    pub fn crowd_bytes(&self) -> u64 {
        let lengths = self.crowds.iter().flat_map(Crowd::reads).map(|read| u64::from(read.length_bytes));
        lengths.max().unwrap_or_default()
    }

    pub fn add_crowd(&mut self, phase: u32, workload: &Workload, ios: impl Iterator<Item = IoRecord>) {
        self.phases.push(phase);
        self.depth = workload.in_flight_max();
        let is_narrow = workload.range.bytes().get() < self.range_bytes;
        let crowds = if is_narrow { &mut self.narrow } else { &mut self.crowds };
        crowds.push(Crowd::new(ios));
    }

    /// Whether which actuator answers a read may depend on where it lies, and reads of a small part would tell whether it does.
    pub fn needs_narrow(&self, verdict: &Verdict) -> bool {
        let is_open = matches!(verdict, Verdict::Open { why: StripeLayoutUnknown::Concatenated, .. });
        is_open && self.narrow.is_empty()
    }

    /// Whether single reads take as long, and as differently long, as those of an arm over a platter.
    pub fn has_arm(&self) -> bool {
        are_of_arm(&self.single_ns)
    }

    pub fn verdict(&self) -> Verdict {
        if self.single_ns.len() < SINGLES_MIN {
            return open(StripeLayoutUnknown::TooFewSingleReads, false);
        }
        if self.single_quantile(0.5) < MEMORY_NS {
            return open(StripeLayoutUnknown::Memory, false);
        }
        if self.has_arm() { self.verdict_of_arms() } else { self.verdict_without_arm() }
    }

    /// How many arms: the share 1 − 1/n with its interval.
    pub fn arms_share(&self) -> Option<Estimate> {
        Some(self.coincidence()?.all.interval(CONFIDENCE))
    }

    /// How many arms answer for each member of a stripe, where they are surely more than one.
    pub fn copies(&self, members: u32) -> Option<u32> {
        let share = self.coincidence()?.all;
        if !self.has_arm() || deviation(&share, members) <= ARMS_DEVIATION_MAX {
            return None;
        }
        (2..=COPIES_MAX).find(|copies| deviation(&share, members * copies).abs() <= ARMS_DEVIATION_MAX)
    }

    pub fn has_several_arms(&self) -> bool {
        self.has_arm() && matches!(self.coincidence(), Some(found) if self.is_of_several_arms(&found.all))
    }

    /// Whether several arms serve a stream together, in less time than the verdict takes: members one after the other stream alone.
    pub fn share_streams(&self) -> Option<bool> {
        if !self.has_arm() {
            return None;
        }
        let found = self.coincidence()?;
        if self.is_of_several_arms(&found.all) {
            return Some(!are_apart(&found));
        }
        let is_one = self.single_ns.len() >= SINGLES_MIN && is_of_one_arm(&found.all);
        is_one.then_some(false)
    }

    fn is_of_several_arms(&self, share: &Mean) -> bool {
        let is_parallel = matches!(self.parallelism(), Some(times) if times >= SEVERAL_PARALLELISM_MIN);
        is_parallel && is_above_one_arm(share)
    }

    fn coincidence(&self) -> Option<Coincidence> {
        coincidence(&self.crowds, self.access(), Moment::OfAnyArm, self.range_bytes / NEAR_PART)
    }

    /// Where several arms surely answer but not how many, and they do not sort their queues: the count within a longer moment, in which
    /// more pairs fall. None where it is another count than that within the short one.
    fn recounted(&self, arms: Option<u32>, found: &Coincidence) -> Option<Coincidence> {
        if arms.is_some() || self.parallelism()? > UNSORTED_PARALLELISM_MAX {
            return None;
        }
        let longer = Moment::OfArmsThatDoNotSort;
        let recounted = coincidence(&self.crowds, self.access(), longer, self.range_bytes / NEAR_PART)?;
        let arms = count_of_arms(&recounted.all)?;
        (deviation(&found.all, arms).abs() <= ARMS_DEVIATION_MAX).then_some(recounted)
    }

    /// Reads a second of many at once, as a multiple of those of one at a time.
    fn parallelism(&self) -> Option<f64> {
        let mean_s = self.single_ns.iter().sum::<u64>() as f64 / 1e9 / self.single_ns.len() as f64;
        let rates: Vec<f64> = self.crowds.iter().filter_map(Crowd::per_second).collect();
        if rates.is_empty() {
            return None;
        }
        Some(rates.iter().sum::<f64>() / rates.len() as f64 * mean_s)
    }

    fn single_quantile(&self, quantile: f64) -> u64 {
        at_share(&self.single_ns, quantile).unwrap_or(0)
    }

    /// To reads over the whole range at a higher QD.
    pub fn answers(&self) -> usize {
        self.crowds.iter().map(|crowd| crowd.reads().len()).sum()
    }

    fn verdict_of_arms(&self) -> Verdict {
        let Some(found) = self.coincidence() else {
            return open(StripeLayoutUnknown::TooFewReadsInFlight, true);
        };
        if is_of_one_arm(&found.all) {
            return Verdict::One;
        }
        if is_above_one_arm(&found.all) && !self.is_of_several_arms(&found.all) {
            return open(StripeLayoutUnknown::NotParallel { depth: self.depth }, false);
        }
        let arms = count_of_arms(&found.all);
        if !is_above_one_arm(&found.all) && matches!(arms, None | Some(1)) {
            return open(StripeLayoutUnknown::UncertainActuators, true);
        }
        match self.layout() {
            Found::Layout { layout, .. } if !has_arms_for(&found.all, layout) => {
                open(StripeLayoutUnknown::UnknownLayout, false)
            }
            Found::Layout { layout, log_odds } => Verdict::Stripe { layout, log_odds },
            Found::None if self.excludes_layouts(&found.all) => {
                let found = self.recounted(arms, &found).unwrap_or(found);
                if is_among_near(&found) || self.shares_narrow() == Some(true) {
                    mirror(&found)
                } else {
                    self.concatenation(&found)
                }
            }
            Found::None => open(StripeLayoutUnknown::LayoutOpen, true),
            Found::Open(why) => open(why, true),
        }
    }

    fn verdict_without_arm(&self) -> Verdict {
        let Some(parallelism) = self.parallelism() else {
            return open(StripeLayoutUnknown::TooFewReadsInFlight, true);
        };
        match self.layout() {
            Found::Layout { layout, log_odds } if layout.chunk_bytes > DIE_CHUNK_MAX => {
                Verdict::Stripe { layout, log_odds }
            }
            Found::Layout { layout, .. } => Verdict::Still { parallelism, layout: Some(layout) },
            Found::None | Found::Open(_) => Verdict::Still { parallelism, layout: None },
        }
    }

    /// The layout that explains best who was answered when, if it stands out in each half of the answers.
    fn layout(&self) -> Found {
        let block_bytes = self.crowd_bytes();
        if block_bytes == 0 {
            return Found::Open(StripeLayoutUnknown::LayoutOpen);
        }
        let layouts = Layout::all(block_bytes);
        let (first, second) = self.halves();
        let halves = [log_odds_of(&first, &layouts), log_odds_of(&second, &layouts)];
        let log_odds: Vec<f64> = halves[0].iter().zip(&halves[1]).map(|(one, other)| one + other).collect();
        let best = best_of(&log_odds);
        let prior = (layouts.len() as f64).ln();
        let mut others = log_odds.clone();
        others.remove(best);
        // All layouts together are as likely beforehand as none.
        others.push(prior);
        let against = log_sum_exp(others.into_iter());
        if log_odds[best] - prior < NO_LAYOUT_LOG_ODDS_MAX {
            return Found::None;
        }
        let stands_out = log_odds[best] - against >= LOG_ODDS_MIN;
        let agree = halves.iter().all(|half| best_of(half) == best);
        match (stands_out, agree) {
            (true, true) => Found::Layout { layout: layouts[best], log_odds: log_odds[best] - against },
            (true, false) => Found::Open(StripeLayoutUnknown::HalvesDiffer),
            (false, _) => Found::Open(StripeLayoutUnknown::SeveralLayouts),
        }
    }

    /// Whether several arms answer within a small part: a mirror each of whose reads goes to the nearest head has no places of its members.
    fn shares_narrow(&self) -> Option<bool> {
        // Between near places seeks are short, and so is the moment in which no arm answers twice.
        let access = Access { quick_ns: 0, ..self.access() };
        let share = coincidence(&self.narrow, access, Moment::OfAnyArm, u64::MAX)?.all;
        let off = share.value - ONE_ARM_SHARE_MAX;
        (off.abs() > ONE_ARM_DEVIATION_MAX * share.variance.sqrt()).then_some(off > 0.0)
    }

    /// Members that do not answer two reads that lie near each other.
    fn concatenation(&self, found: &Coincidence) -> Verdict {
        let offsets = self.crowds.iter().flat_map(Crowd::reads).map(|read| read.offset_bytes);
        match Concatenation::of(&close_pairs(&self.crowds, self.access())) {
            Some(members)
                if (are_apart(found) || self.shares_narrow() == Some(false))
                    && is_near(&found.all, members.parted_share(offsets)) =>
            {
                Verdict::Concatenation(members)
            }
            _ => open(StripeLayoutUnknown::Concatenated, true),
        }
    }

    /// Whether no layout can be that there are arms for: of each, two places on one drive were answered within a moment too often.
    fn excludes_layouts(&self, arms_share: &Mean) -> bool {
        let pairs = close_pairs(&self.crowds, self.access());
        for layout in Layout::all(self.crowd_bytes()) {
            if !has_arms_for(arms_share, layout) {
                continue;
            }
            let mut same = 0;
            for (one, other) in &pairs {
                same += usize::from(layout.member_of(*one) == layout.member_of(*other));
            }
            if odds_of_sharing(pairs.len(), same, layout.members) < EXCLUDED_LOG_ODDS_MIN {
                return false;
            }
        }
        true
    }

    fn access(&self) -> Access {
        Access { median_ns: self.single_quantile(0.5), quick_ns: self.single_quantile(0.05) }
    }

    fn halves(&self) -> (Vec<Crowd>, Vec<Crowd>) {
        let half = self.answers() / 2;
        let (mut first, mut second, mut before) = (Vec::new(), Vec::new(), 0);
        for crowd in &self.crowds {
            let (head, tail) = crowd.cut(half.saturating_sub(before));
            before += crowd.reads().len();
            first.push(head);
            second.push(tail);
        }
        (first, second)
    }
}

enum Found {
    Layout { layout: Layout, log_odds: f64 },
    None,
    Open(StripeLayoutUnknown),
}

fn log_odds_of(crowds: &[Crowd], layouts: &[Layout]) -> Vec<f64> {
    gains(crowds, layouts).iter().map(rivalry::Gain::log_odds).collect()
}

/// The number of the largest value; of several, the last.
fn best_of(values: &[f64]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or_default()
}

/// Whether there may be as many arms as a layout has drives. More are possible, since each of these may be a mirror.
fn has_arms_for(share: &Mean, layout: Layout) -> bool {
    deviation(share, layout.members) >= -ARMS_DEVIATION_MAX
}

/// The logarithm of the odds that all drives answer all places, against a layout: of pairs within a moment, so many that it puts on one
/// drive. Of n drives that have all it is 1/n of them; of a layout none, but for the share of that up to which one arm counts as one.
fn odds_of_sharing(pairs: usize, same: usize, members: u32) -> f64 {
    let shared = 1.0 / f64::from(members);
    let own = ONE_ARM_SHARE_MAX * shared;
    let different = (pairs - same) as f64;
    same as f64 * (shared / own).ln() + different * ((1.0 - shared) / (1.0 - own)).ln()
}

/// How far the share is from that of so many arms, in standard errors.
fn deviation(share: &Mean, arms: u32) -> f64 {
    (share.value - (1.0 - 1.0 / f64::from(arms))) / share.variance.sqrt()
}

fn count_of_arms(share: &Mean) -> Option<u32> {
    let (mut best, mut least, mut others) = (0, f64::INFINITY, f64::INFINITY);
    for arms in 1..=ARMS_MAX {
        let squared = deviation(share, arms).powi(2);
        if best == 0 || squared < least {
            others = others.min(least);
            (best, least) = (arms, squared);
        } else {
            others = others.min(squared);
        }
    }
    let fits = least.sqrt() <= ARMS_DEVIATION_MAX;
    (fits && (others - least) / 2.0 >= ARMS_LOG_ODDS_MIN).then_some(best)
}

/// Whether one arm answers all: the share is none but for chance, and surely below half of what two have, or nearest to none. Of drives one after
/// the other, a small one answers few.
fn is_of_one_arm(share: &Mean) -> bool {
    let is_below_two = share.value + ARMS_DEVIATION_MAX * share.variance.sqrt() < ONE_ARM_SHARE_MAX;
    let is_none_by_chance = share.value <= ONE_ARM_DEVIATION_MAX * share.variance.sqrt();
    is_none_by_chance && (is_below_two || count_of_arms(share) == Some(1))
}

fn is_above_one_arm(share: &Mean) -> bool {
    share.value - ARMS_DEVIATION_MAX * share.variance.sqrt() > ONE_ARM_SHARE_SEEN
}

/// Drives behind each other do not answer two reads that lie near each other, those that have all do.
fn is_among_near(found: &Coincidence) -> bool {
    matches!(&found.near, Some(near) if near.value >= found.all.value / 2.0)
}

fn are_apart(found: &Coincidence) -> bool {
    let middle = found.all.value / 2.0;
    matches!(found.near, Some(near) if near.value + ARMS_DEVIATION_MAX * near.variance.sqrt() < middle)
}

fn is_near(share: &Mean, expected: f64) -> bool {
    (share.value - expected).abs() <= ARMS_DEVIATION_MAX * share.variance.sqrt()
}

/// Several arms, and no place has its own: all of them have all.
fn mirror(found: &Coincidence) -> Verdict {
    let number = |share: f64| 1.0 / (1.0 - share).max(0.05);
    let share = found.all.interval(CONFIDENCE);
    match count_of_arms(&found.all) {
        Some(members) => Verdict::Mirror { members },
        None => Verdict::Open {
            why: StripeLayoutUnknown::UncertainMembers {
                value: number(share.value),
                low: number(share.low),
                high: number(share.high),
            },
            more_helps: true,
        },
    }
}

fn open(why: StripeLayoutUnknown, more_helps: bool) -> Verdict {
    Verdict::Open { why, more_helps }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
