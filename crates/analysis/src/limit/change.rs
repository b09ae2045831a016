//! A limit that changes while it is met.

use super::asked::{ALIKE_SHARE, Asked, Side, Unit};
use super::bucket::Bucket;
use super::course::Course;
use super::fits::{candidates, fit};

pub(super) struct Change {
    pub before: Bucket,
    pub after_per_second: f64,
    pub from_step: usize,
    pub windows: usize,
}

/// A bucket that holds up to the last window at its rate, and after that another rate that is as constant, of workloads that it limited.
pub(super) fn fit_changed(course: &Course, unit: Unit, side: Side) -> Option<Change> {
    let asked = Asked::of(course, unit, side);
    let windows = asked.windows();
    for members in candidates(&windows) {
        let from_step = windows[*members.last()?].to;
        let (mut after, mut of_limited) = (windows.clone(), Vec::new());
        after.retain(|window| window.from >= from_step);
        if candidates(&after).is_empty() {
            continue;
        }
        let before = fit(&course.until(from_step), unit, side);
        let Some(before) = before.filter(|before| before.is_even && before.is_certain) else { continue };
        for window in &after {
            let steps = &asked.steps()[window.from..window.to];
            if steps.iter().all(|step| asked.shape(step).is_some_and(|shape| before.shapes.contains(shape))) {
                of_limited.push(*window);
            }
        }
        let Some(alike) = candidates(&of_limited).into_iter().next() else { continue };
        // Without the first, in which it may have changed.
        let (first, last) = (alike[1], alike[alike.len() - 1]);
        let (from, to) = (of_limited[first].to - 1, of_limited[last].to - 1);
        let Some(stretch) = asked.stretch(from, to, of_limited[first].cost) else { continue };
        let after_per_second = stretch.per_second;
        let changed = (after_per_second - before.per_second).abs();
        if changed <= before.per_second_error + stretch.error + ALIKE_SHARE * before.per_second {
            continue;
        }
        let windows = before.windows + after.iter().filter(|window| window.is_at(after_per_second)).count();
        return Some(Change { before, after_per_second, from_step, windows });
    }
    None
}
