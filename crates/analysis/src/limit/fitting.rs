//! One candidate of a bucket: windows at one rate, and what the deficits of that refill make of the course.

use super::asked::{ALIKE_SHARE, Asked, ENDS_COSTS, Unit, Waiting, Window};
use super::bucket::{Bucket, RUN_MIN, WINDOWS_MIN};
use super::course::{Shape, Step};
use model::units::Bytes;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Requests by which the deficit may miss the credit: one at the gate, a few in the drive, one at the end of a slice.
const COSTS_OFF: f64 = 6.0;
/// So many complete at once through FUSE, which keeps 12 in the background by default (Linux, `max_background`).
const TOGETHER_MAX: f64 = 12.0;
/// Credit is told from what requests in flight explain when it is worth so many of them.
const COSTS_MIN: f64 = 50.0;
/// A shape is limited when it was so much faster while credit was left.
const FASTER_MIN: f64 = 1.2;
/// And a sequential one so many windows before: the last of them holds the border.
const BORDER_WINDOWS: usize = 3;
/// With credit left, nothing is that much slower than at its fastest: a disk reads 2.2 times as fast at its outer diameter as at its inner.
const SLOW_SHARE: f64 = 0.4;
/// Below this share of the credit a bucket may have been full.
const FULL_SHARE: f64 = 0.02;
/// Windows at the sustained rate with credit left, as a share of those that wait for tokens: alternating workloads make some by chance.
const AS_SLOW_SHARE: f64 = 0.1;
/// What comes at the sustained rate so near to the credit waits for tokens: on mounted volumes 1 to 5 % of what was counted had been merged.
const NEAR_SHARE: f64 = 0.05;
/// A drop of the deficit between two times at the credit that is no slip: then the refill is seen by itself. A write
/// cache wins space back at a rate of its own, so that where only writes are limited, it is to be larger.
const REFILL_TOLERANCES: f64 = 20.0;
const REFILL_TOLERANCES_WRITES: f64 = 60.0;

pub(super) struct Fitting<'run> {
    pub(super) asked: &'run Asked<'run>,
    pub(super) windows: &'run [Window],
    pub(super) members: Vec<usize>,
    pub(super) stretch: Waiting,
    tolerance: f64,
    /// Requests, up to each step, that the kernel may have merged; empty where it merged none.
    merged_until: Vec<f64>,
    limited_shapes: OnceCell<Vec<&'run Shape>>,
}

impl<'run> Fitting<'run> {
    /// First by a run of windows at one rate; then from the first to the last of all that are at the rate and the credit which that run shows.
    pub(super) fn of(
        asked: &'run Asked<'run>,
        windows: &'run [Window],
        (first, last): (usize, usize),
    ) -> Option<Fitting<'run>> {
        let cost = asked.cost_max;
        let run = asked.stretch(windows[first].to - 1, windows[last].to - 1, cost)?;
        let is_at = |window: &&Window| {
            let step = window.to - 1;
            let away_s = asked.seconds_between(run.from, step).max(asked.seconds_between(step, run.to));
            let off = (run.deficits[step] - run.credit).abs();
            window.is_at(run.per_second) && off <= COSTS_OFF * cost + run.error * away_s
        };
        let is_known_across = |from: usize, to: usize| {
            asked.lowest(&run, from, to) > FULL_SHARE * run.credit && asked.is_surely_apart(from..to)
        };
        let before =
            (0..first).rev().take_while(|&index| is_known_across(windows[index].to, windows[index + 1].to));
        let before = before.map(|index| &windows[index]);
        let after = (last + 1..windows.len())
            .take_while(|&index| is_known_across(windows[index - 1].to, windows[index].to));
        let after = after.map(|index| &windows[index]);
        let from = before.filter(is_at).last().map_or(run.from, |window| window.to - 1);
        let to = after.filter(is_at).last().map_or(run.to, |window| window.to - 1);
        let is_whole = (from, to) == (run.from, run.to);
        let whole = if is_whole { run } else { asked.stretch(from, to, cost)? };
        let tolerance = COSTS_OFF * cost;
        let merged_until = merged_until(asked, whole.from..whole.to + 1);
        let mut fitting = Fitting {
            asked,
            windows,
            members: Vec::new(),
            stretch: whole,
            tolerance,
            merged_until,
            limited_shapes: OnceCell::new(),
        };
        fitting.members = fitting.at_the_rate();
        Some(fitting)
    }

    /// Windows at the rate, and those at the credit of which several in a row are.
    fn at_the_rate(&self) -> Vec<usize> {
        let rate = self.stretch.per_second;
        let mut members = BTreeSet::new();
        for (index, window) in self.windows.iter().enumerate() {
            if window.is_at(rate) {
                members.insert(index);
            }
        }
        for row in self.rows_at_credit(TOGETHER_MAX) {
            if row.windows.len() >= RUN_MIN && row.missing(rate).abs() <= row.ends_off(rate) {
                members.extend(row.windows);
            }
        }
        members.into_iter().collect()
    }

    /// Windows of one workload in a row that are at the credit all the time, of which only several together tell their rate.
    fn rows_at_credit(&self, costs_off: f64) -> Vec<Row<'run>> {
        let mut rows: Vec<Row<'run>> = Vec::new();
        for (index, window) in self.windows.iter().enumerate() {
            let off_max = self.tolerance.max(costs_off * window.cost);
            let is_at_credit = (window.from..window.to).all(|step| self.off_credit(step) <= off_max);
            let (true, Some(shape)) = (is_at_credit, self.asked.only_shape(window)) else { continue };
            match rows.last_mut() {
                Some(row) if row.windows.end == index && row.shape == shape => row.add(window),
                _ => rows.push(Row {
                    shape,
                    windows: index..index + 1,
                    used: window.used,
                    seconds: window.seconds,
                    cost: window.cost,
                }),
            }
        }
        rows
    }

    /// How far the deficit is above the credit, or below it if negative, beyond what may have been merged between the stretch and that step.
    fn above_credit(&self, step: usize) -> f64 {
        let above = self.stretch.deficits[step] - self.stretch.credit;
        if self.merged_until.is_empty() {
            return above;
        }
        let merged = (self.merged_until[step] - self.merged_until[self.stretch.to]).max(0.0);
        let merged_before = (self.merged_until[self.stretch.from] - self.merged_until[step]).max(0.0);
        above - above.clamp(-merged_before, merged)
    }

    fn off_credit(&self, step: usize) -> f64 {
        self.above_credit(step).abs()
    }

    pub(super) fn is_at_credit(&self, step: usize) -> bool {
        self.off_credit(step) <= self.tolerance
    }

    fn is_near_credit(&self, step: usize) -> bool {
        self.off_credit(step) <= self.tolerance.max(NEAR_SHARE * self.stretch.credit)
    }

    fn keeps_credit(&self, window: &Window) -> bool {
        for step in window.from..window.to {
            if self.is_at_credit(step) {
                return false;
            }
        }
        true
    }

    /// Whether nothing was ever used beyond the credit, and enough waited for tokens.
    fn holds(&self) -> bool {
        let is_exceeded =
            (0..self.stretch.deficits.len()).any(|step| self.above_credit(step) > self.tolerance);
        let credit = self.most_credit(&self.stretch.deficits, self.stretch.credit);
        let differs_from_full =
            self.asked.lowest_deficit == 0.0 || credit > self.stretch.credit + self.tolerance;
        differs_from_full
            && !is_exceeded
            && credit >= COSTS_MIN * self.asked.cost_max
            && self.waiting().count() >= WINDOWS_MIN
    }

    /// What the bucket held until credit was used up for the last time: a full one may lose what came back after that.
    fn most_credit(&self, deficits: &[f64], credit: f64) -> f64 {
        let last = (0..deficits.len()).rfind(|&step| self.is_at_credit(step)).unwrap_or(0);
        credit - deficits[..last].iter().copied().fold(0.0, f64::min)
    }

    /// The most with which requests larger than `met` may have counted as one for each part of any power of two; none where that exceeds the credit.
    fn credit_if_several(&self, met: Bytes, credit: f64) -> Option<f64> {
        if self.asked.unit != Unit::Requests {
            return None;
        }
        let mut largest = met;
        for shape in self.asked.course.shapes.iter().flatten() {
            largest = largest.max(shape.block);
        }
        let (mut part, mut most) = (met, None);
        while part < largest {
            if let Some(by_parts) = self.credit_by_parts(part) {
                most = Some(by_parts.max(most.unwrap_or(credit)));
            }
            part = part * 2;
        }
        most
    }

    fn credit_by_parts(&self, part: Bytes) -> Option<f64> {
        let mut parts = Asked::of(self.asked.course, Unit::Parts(part), self.asked.side);
        parts.lowest_deficit = self.asked.lowest_deficit;
        let deficits = parts.deficits(self.stretch.per_second);
        let credit = (deficits[self.stretch.from] + deficits[self.stretch.to]) / 2.0;
        let tolerance = COSTS_OFF * parts.cost_max;
        let is_exceeded = deficits.iter().any(|deficit| *deficit > credit + tolerance);
        if is_exceeded { None } else { Some(self.most_credit(&deficits, credit)) }
    }

    pub(super) fn waits(&self) -> Vec<bool> {
        let mut waits = Vec::new();
        for window in self.windows {
            waits.push(!self.keeps_credit(window));
        }
        waits
    }

    pub(super) fn contradicting(&self) -> Vec<usize> {
        let mut contradicting = self.slow_with_credit();
        let limited = self.limited_shapes();
        for &member in &self.members {
            // Several workloads together have any rate by chance, and so has one that is never limited.
            let window = &self.windows[member];
            let is_limited = self.asked.only_shape(window).is_some_and(|shape| limited.contains(&shape));
            if is_limited && !self.is_at_credit(window.to - 1) {
                contradicting.push(member);
            }
        }
        contradicting.extend(self.slow_at_credit());
        contradicting
    }

    pub(super) fn is_as_slow_with_credit(&self) -> bool {
        let mut with_credit = 0;
        for &member in &self.members {
            let mut steps = self.windows[member].from..self.windows[member].to;
            with_credit +=
                usize::from(steps.all(|step| self.is_of_limited(step) && !self.is_near_credit(step)));
        }
        with_credit as f64 > (AS_SLOW_SHARE * self.waiting().count() as f64).max(1.0)
    }

    fn waiting(&self) -> impl Iterator<Item = &Window> {
        let members = self.members.iter().map(|&member| &self.windows[member]);
        members.filter(|window| self.is_at_credit(window.to - 1))
    }

    fn mean_requests_off(&self) -> f64 {
        let (mut squares, mut count) = (0.0, 0.0);
        for window in self.waiting() {
            squares += (self.off_credit(window.to - 1) / window.cost).powi(2);
            count += 1.0;
        }
        (squares / count).sqrt()
    }

    /// Windows at the credit all the time in which tokens came, and the same workload that waits for them in others did not take them.
    fn slow_at_credit(&self) -> Vec<usize> {
        let (limited, rate) = (self.limited_shapes(), self.stretch.per_second);
        let mut slow = Vec::new();
        for row in self.rows_at_credit(COSTS_OFF) {
            if !limited.contains(&row.shape) || row.missing(rate) <= row.ends_off(rate) {
                continue;
            }
            for index in row.windows {
                let window = &self.windows[index];
                if window.rate() < rate && !window.is_at(rate) {
                    slow.push(index);
                }
            }
        }
        slow
    }

    fn slow_with_credit(&self) -> Vec<usize> {
        let mut free: Vec<(&Shape, usize)> = Vec::new();
        for (index, window) in self.windows.iter().enumerate() {
            if let Some(shape) = self.asked.only_shape(window)
                && shape.is_closed
                && self.keeps_credit(window)
                && window.used > 0.0
            {
                free.push((shape, index));
            }
        }
        let mut fastest: BTreeMap<&Shape, f64> = BTreeMap::new();
        for &(shape, index) in &free {
            let rate = self.windows[index].rate();
            let most = fastest.entry(shape).or_insert(rate);
            *most = most.max(rate);
        }
        free.retain(|(shape, index)| self.windows[*index].rate() < SLOW_SHARE * fastest[shape]);
        free.into_iter().map(|(_, index)| index).collect()
    }

    pub(super) fn bucket(&self) -> Option<Bucket> {
        if !self.holds() {
            return None;
        }
        let shapes = self.limited_shapes();
        let (burst, burst_of_limited) = self.burst_of(shapes)?;
        let (mut has_reads, mut has_writes, mut blocks) = (false, false, Vec::new());
        for &shape in shapes {
            has_reads |= !shape.writes;
            // Where reads go on beside commits, either may be what waits.
            has_writes |= shape.writes && !shape.reads_beside();
            blocks.push(shape.block);
        }
        let refill = if has_reads { REFILL_TOLERANCES } else { REFILL_TOLERANCES_WRITES };
        let is_refilled = self.is_refilled(refill * self.tolerance);
        blocks.sort();
        blocks.dedup();
        let credit = self.most_credit(&self.stretch.deficits, self.stretch.credit);
        let credit_error = self.tolerance + self.stretch.error * credit / self.stretch.per_second;
        let credit_if_several = match blocks.last().copied() {
            Some(met) => self.credit_if_several(met, credit),
            None => None,
        };
        let credit_merged = self.merged_until.get(self.stretch.from).copied().unwrap_or(0.0);
        Some(Bucket {
            per_second: self.stretch.per_second,
            per_second_error: self.stretch.error,
            credit,
            may_have_been_full: self.asked.lowest_deficit == 0.0,
            credit_error,
            credit_merged,
            credit_if_several,
            burst,
            burst_of_limited,
            limited_s: self.limited_s(),
            has_reads,
            has_writes,
            blocks,
            windows: self.waiting().count(),
            requests_off: self.mean_requests_off(),
            is_even: self.is_even(),
            is_certain: is_refilled || has_reads && shapes.len() > 1,
            shapes: shapes.iter().copied().cloned().collect(),
        })
    }

    fn limited_s(&self) -> Vec<f64> {
        let mut is_limited: Vec<bool> =
            (0..self.asked.steps().len()).map(|step| self.is_at_credit(step)).collect();
        for &member in &self.members {
            let steps = self.windows[member].from..self.windows[member].to;
            if steps.clone().all(|step| self.is_near_credit(step) && self.is_of_limited(step)) {
                is_limited[steps].fill(true);
            }
        }
        let mut seconds = vec![0.0; self.asked.course.shapes.len()];
        for (step, is_limited) in self.asked.steps().iter().zip(is_limited) {
            if is_limited && self.asked.used(step) > 0.0 {
                seconds[step.phase as usize] += step.end_ns.saturating_sub(step.start_ns) as f64 / 1e9;
            }
        }
        seconds
    }

    fn is_of_limited(&self, step: usize) -> bool {
        matches!(self.asked.shape(&self.asked.steps()[step]), Some(shape) if self.limited_shapes().contains(&shape))
    }

    pub(super) fn limited_shapes(&self) -> &[&'run Shape] {
        self.limited_shapes.get_or_init(|| self.find_limited_shapes())
    }

    fn find_limited_shapes(&self) -> Vec<&'run Shape> {
        let mut used: BTreeMap<&Shape, f64> = BTreeMap::new();
        for window in self.waiting() {
            for step in &self.asked.steps()[window.from..window.to] {
                let Some(shape) = self.asked.shape(step) else { continue };
                *used.entry(shape).or_default() += self.asked.used(step) / self.asked.cost(step);
            }
        }
        let mut limited = Vec::new();
        for (shape, requests) in used {
            if requests > 2.0 * COSTS_OFF {
                limited.push(shape);
            }
        }
        limited
    }

    /// The highest rate over a window while credit was left, and that of these shapes alone. None unless one was clearly faster then.
    fn burst_of(&self, limited: &[&Shape]) -> Option<(f64, f64)> {
        let (mut burst, mut of_limited) = (0.0f64, 0.0f64);
        for (index, window) in self.windows.iter().enumerate() {
            if !self.keeps_credit(window) {
                continue;
            }
            burst = burst.max(window.rate());
            let is_faster = window.rate() >= FASTER_MIN * self.stretch.per_second;
            let Some(shape) = self.asked.only_shape(window) else { continue };
            if is_faster
                && limited.contains(&shape)
                && (!shape.is_sequential || self.is_before_the_limit(index))
            {
                of_limited = of_limited.max(window.rate());
            }
        }
        let of_limited = of_limited.max(self.burst_of_phases(limited).unwrap_or(0.0));
        (of_limited > 0.0).then_some((burst.max(of_limited), of_limited))
    }

    /// The highest rate of reads of these shapes that were clearly faster in a phase, up to where it met the limit: credit may last less than a
    /// window, and hosts take their time between phases. Sequential ones just before the limit only. A short phase of writes meets a cache.
    fn burst_of_phases(&self, limited: &[&Shape]) -> Option<f64> {
        let steps = self.asked.steps();
        let phases: Vec<&[Step]> = steps.chunk_by(|one, next| one.phase == next.phase).collect();
        let met =
            (0..steps.len()).find(|&step| self.is_at_credit(step) && self.asked.used(&steps[step]) > 0.0);
        let met_in = met.and_then(|met| phases.iter().position(|phase| phase[0].phase == steps[met].phase));
        let (mut burst, mut end) = (None, 0);
        for (number, phase) in phases.iter().enumerate() {
            let first = end;
            end += phase.len();
            let with_credit = (first..end).take_while(|&step| !self.is_at_credit(step)).count();
            let Some(last) = phase[..with_credit].last() else { continue };
            let seconds = last.end_ns.saturating_sub(phase[0].start_ns) as f64 / 1e9;
            let used: f64 = phase[..with_credit].iter().map(|step| self.asked.used(step)).sum();
            let sure = used - COSTS_OFF * self.asked.cost(&phase[0]);
            let is_faster = seconds > 0.0 && sure >= FASTER_MIN * self.stretch.per_second * seconds;
            let is_before = met_in.is_some_and(|met_in| (number..=number + BORDER_WINDOWS).contains(&met_in));
            let is_read = |shape: &&Shape| {
                !shape.writes && (!shape.is_sequential || is_before) && limited.contains(shape)
            };
            if is_faster && self.asked.shape(&phase[0]).as_ref().is_some_and(is_read) {
                burst = Some((used / seconds).max(burst.unwrap_or(0.0)));
            }
        }
        burst
    }

    /// Whether the limit is met in one of the next windows. Of a pass over a disk only zones far before the last one are much faster.
    fn is_before_the_limit(&self, window: usize) -> bool {
        let next = window + 1..=window + BORDER_WINDOWS;
        for member in &self.members {
            if next.contains(member) && self.is_at_credit(self.windows[*member].to - 1) {
                return true;
            }
        }
        false
    }

    fn is_refilled(&self, refill: f64) -> bool {
        let (mut was_used_up, mut lowest) = (false, f64::INFINITY);
        for (index, &deficit) in self.stretch.deficits.iter().enumerate() {
            lowest = lowest.min(deficit);
            if self.is_at_credit(index) {
                if was_used_up && self.stretch.credit - lowest >= refill {
                    return true;
                }
                (was_used_up, lowest) = (true, f64::INFINITY);
            }
        }
        false
    }
}

/// Not those of workloads of the stretch, whose rate is that of others.
fn merged_until(asked: &Asked<'_>, stretch: Range<usize>) -> Vec<f64> {
    let (steps, shapes) = (asked.steps(), &asked.course.shapes);
    let [first, last] = [stretch.start, stretch.end - 1].map(|step| steps[step].phase as usize);
    let of_stretch: BTreeSet<&Option<Shape>> = shapes[first..=last].iter().collect();
    let mut shares = Vec::new();
    for (phase, shape) in (0u32..).zip(shapes) {
        shares.push(if of_stretch.contains(shape) { 0.0 } else { asked.merged_share(phase) });
    }
    if shares.iter().all(|share| *share == 0.0) {
        return Vec::new();
    }
    let (mut sum, mut until) = (0.0, Vec::with_capacity(steps.len()));
    for step in steps {
        sum += shares[step.phase as usize] * asked.used(step);
        until.push(sum);
    }
    until
}

/// Windows that follow each other, of one workload.
struct Row<'run> {
    shape: &'run Shape,
    windows: Range<usize>,
    used: f64,
    seconds: f64,
    cost: f64,
}

impl Row<'_> {
    fn add(&mut self, window: &Window) {
        self.windows.end += 1;
        self.used += window.used;
        self.seconds += window.seconds;
    }

    fn missing(&self, rate: f64) -> f64 {
        rate * self.seconds - self.used
    }

    /// By how much as many requests as are in flight, completed together, may change it, where that is little.
    fn ends_off(&self, rate: f64) -> f64 {
        let in_flight = self.shape.in_flight as f64 * self.cost;
        let expected = rate * self.seconds;
        in_flight.min(NEAR_SHARE * expected).max(ENDS_COSTS * self.cost) + ALIKE_SHARE * expected
    }
}
