//! One line that says how far a run is: redrawn in a terminal, appended to a log.

use crate::hostile::harmless;
use crate::quantity::{count, rough_rate, rough_time};
use crate::style::{columns_of, pad_start};
use model::units::Nanos;

#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// For people: "area 3 of 24".
    pub phase_name: String,
    pub phase_index: u32,
    pub phase_count: Option<u32>,
    /// Share of the whole run that is done, in [0, 1].
    pub share_done: f64,
    pub bytes_per_second: f64,
    pub iops: f64,
    pub elapsed: Nanos,
    pub remaining: Option<Nanos>,
    pub phase_left: Option<Nanos>,
}

/// The line for a terminal, in plain ASCII and never wider than `width`: what does not fit is left out, the least useful first.
///
/// `area 3 of 24   12 % [###-----------]  211 MB/s  1 min 3 s, 4 min 10 s left`
pub fn progress_line(progress: &Progress, width: usize) -> String {
    let percent = pad_start(&percent(progress), 5);
    let rate = pad_start(&rough_rate(progress.bytes_per_second.max(0.0)), 9);
    let left = remaining(progress);
    let elapsed = whole_seconds(progress.elapsed);
    let name = harmless(&progress.phase_name, NAME_COLUMNS_MAX);
    let number = phase_number(progress);
    let choices = [
        format!("{percent} BAR  {rate}  {elapsed}, {left}  {number} {name}"),
        format!("{percent} BAR  {rate}  {left}  {number} {name}"),
        format!("{percent} BAR  {rate}  {left}  {name}"),
        format!("{percent}  {rate}  {left}  {name}"),
        format!("{percent}  {rate}  {left}"),
        format!("{percent}  {left}"),
        percent.clone(),
    ];
    let line = choices.iter().find_map(|line| fitted(line, progress.share_done, width));
    line.unwrap_or_else(|| percent.trim().chars().take(width).collect())
}

const NAME_COLUMNS_MAX: usize = 32;
const BAR_COLUMNS: std::ops::RangeInclusive<usize> = 8..=30;

/// The line with a bar as long as fits; none when even the shortest does not.
fn fitted(line: &str, share_done: f64, width: usize) -> Option<String> {
    let Some((before, after)) = line.split_once("BAR") else {
        return if columns_of(line) <= width { Some(line.to_string()) } else { None };
    };
    let room = width.checked_sub(columns_of(before) + columns_of(after) + "[]".len())?;
    let columns = room.min(*BAR_COLUMNS.end());
    if !BAR_COLUMNS.contains(&columns) {
        return None;
    }
    let filled = (share(share_done) * columns as f64) as usize;
    Some(format!("{before}[{}{}]{after}", "#".repeat(filled), "-".repeat(columns - filled)))
}

/// The line for a pipe or a log: complete, and the same words each time, so that it can be searched.
///
/// `12 % done, 211 MB/s, 1,234 requests/s, after 1 min 3 s, 4 min 10 s left, phase 3 of 26: area 3 of 24`
pub fn plain_progress(progress: &Progress) -> String {
    format!(
        "{} done, {}, {} requests/s, after {}, {}, phase {}: {}",
        percent(progress),
        rough_rate(progress.bytes_per_second.max(0.0)),
        count(progress.iops.max(0.0).round() as u64),
        whole_seconds(progress.elapsed),
        remaining(progress),
        match progress.phase_count {
            Some(of) => format!("{} of {of}", u64::from(progress.phase_index) + 1),
            None => format!("{}", u64::from(progress.phase_index) + 1),
        },
        harmless(&progress.phase_name, 120),
    )
}

fn share(share_done: f64) -> f64 {
    if share_done.is_nan() { 0.0 } else { share_done.clamp(0.0, 1.0) }
}

fn percent(progress: &Progress) -> String {
    format!("{} %", (share(progress.share_done) * 100.0).floor())
}

fn phase_number(progress: &Progress) -> String {
    let number = u64::from(progress.phase_index) + 1;
    progress.phase_count.map_or(format!("{number}:"), |of| format!("{number}/{of}:"))
}

fn remaining(progress: &Progress) -> String {
    progress.remaining.map_or("ETA unknown".into(), |time| format!("{} left", whole_seconds(time)))
}

/// Less than a second flickers; it counts as none.
fn whole_seconds(time: Nanos) -> String {
    let second = Nanos::from_secs(1).get();
    rough_time(Nanos::new(time.get() / second * second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn progress() -> Progress {
        Progress {
            phase_name: "area 3 of 24".into(),
            phase_index: 3,
            phase_count: Some(26),
            share_done: 0.129,
            bytes_per_second: 211.4e6,
            iops: 1234.4,
            elapsed: Nanos::from_secs(63),
            remaining: Some(Nanos::from_millis(250_700)),
            phase_left: None,
        }
    }

    #[test]
    fn the_least_useful_goes_first() {
        let line = |width| progress_line(&progress(), width);
        assert_eq!(
            line(100),
            " 12 % [###---------------------------]   211 MB/s  63 s, 4 min 10 s left  4/26: area 3 of 24"
        );
        assert_eq!(
            line(80),
            " 12 % [##----------------]   211 MB/s  63 s, 4 min 10 s left  4/26: area 3 of 24"
        );
        assert_eq!(line(60), " 12 % [#---------]   211 MB/s  4 min 10 s left  area 3 of 24");
        assert_eq!(line(30), " 12 %  4 min 10 s left");
        assert_eq!(line(4), "12 %");
        assert_eq!(line(0), "");
    }

    #[test]
    fn a_log_gets_everything() {
        assert_eq!(
            plain_progress(&progress()),
            "12 % done, 211 MB/s, 1,234 requests/s, after 63 s, 4 min 10 s left, phase 4 of 26: area 3 of 24"
        );
        let unknown = Progress { remaining: None, phase_count: None, share_done: f64::NAN, ..progress() };
        assert_eq!(
            plain_progress(&unknown),
            "0 % done, 211 MB/s, 1,234 requests/s, after 63 s, ETA unknown, phase 4: area 3 of 24"
        );
    }

    proptest! {
        #[test]
        fn never_wider_than_asked(
            width in 0usize..200, phase_name in any::<String>(), share_done in any::<f64>(),
            bytes_per_second in any::<f64>(), elapsed in any::<u64>(), remaining in any::<Option<u64>>(),
            phase_index in any::<u32>(), phase_count in any::<Option<u32>>(), iops in any::<f64>(),
        ) {
            let progress = Progress {
                phase_name, phase_index, phase_count, share_done, bytes_per_second, iops,
                elapsed: Nanos::new(elapsed), remaining: remaining.map(Nanos::new), phase_left: None,
            };
            let line = progress_line(&progress, width);
            prop_assert!(columns_of(&line) <= width && !line.contains(char::is_control), "{:?}", line);
            prop_assert!(!plain_progress(&progress).contains(char::is_control));
        }
    }
}
