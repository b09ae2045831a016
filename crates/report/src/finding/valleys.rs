//! Words for the findings of periodic stalls.

use super::numbers::{between, long_time, memory, number, rate, short_time, size};
use super::{Group, NO_TIME, Reason, Subject, Wording};
use crate::quantity::rough_share;
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{
    Cure, CureArea, FindingCode, Known, LastingFall, NoValleys, NoValleysKind, OffsetValleys,
    RecurringValleys, ValleyCure, ValleyPass, ValleyPattern, ValleyTrigger, WriteValleys,
    WriteValleysUnknown,
};

impl Wording for WriteValleys {
    const PLACE: (Group, &'static str) = (Group::Writes, "Write valleys");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("valley", "valleys"));

    fn statement(known: &Known<WriteValleys>, _: FindingCode, subject: &Subject<'_>) -> String {
        let valleys = &known.conclusion;
        match &valleys.pattern {
            ValleyPattern::None(none) => no_valleys(none, valleys, subject),
            ValleyPattern::AtOffsets(at) => at_offsets(at, valleys),
            ValleyPattern::Recurring(recurring) => {
                let first = match valleys.conditions {
                    0 | 1 => "",
                    _ => " Shown is the first preparation with valleys.",
                };
                recurring_sentences(recurring, valleys) + first
            }
        }
    }

    fn advice(known: &Known<WriteValleys>, _: FindingCode, subject: &Subject<'_>) -> Option<String> {
        match known.conclusion.pattern {
            ValleyPattern::None(_) => None,
            ValleyPattern::AtOffsets(_) => {
                let full_scan = subject.command(&ExperimentName::Surface, "--full");
                Some(format!("{full_scan} shows whether reads are slow there, too."))
            }
            ValleyPattern::Recurring(_) => Some(
                "Repeat short sequential-write tests, or average over a minute or more: a short test that hits a valley understates throughput."
                    .into(),
            ),
        }
    }

    fn parts(known: &Known<WriteValleys>) -> Vec<(&'static str, Estimate, &'static str)> {
        let ValleyPattern::Recurring(found) = &known.conclusion.pattern else { return Vec::new() };
        let mut parts = Vec::new();
        if found.by != ValleyTrigger::Bytes {
            let interval = between(found.interval_s, found.interval_s_low, found.interval_s_high);
            parts.push(("Valley interval, time", interval, "s"));
        }
        if found.by != ValleyTrigger::Time {
            let interval = between(found.interval_bytes, found.interval_bytes_low, found.interval_bytes_high);
            parts.push(("Valley interval, data", interval, "bytes written"));
        }
        parts.push(("Valley duration", between(found.width_s, found.width_s_low, found.width_s_high), "s"));
        parts
    }

    fn extents(known: &Known<WriteValleys>) -> Vec<(f64, f64)> {
        let passes = known.conclusion.passes.iter();
        passes.map(|pass| (pass.first_byte as f64, (pass.first_byte + pass.bytes) as f64)).collect()
    }
}

impl Reason for WriteValleysUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NoTime => NO_TIME.into(),
            Self::NothingWritten => "Not measured: nothing was written sequentially.".into(),
            Self::Uneven { share } => format!(
                "Inconclusive: throughput was too uneven for {:.0} % of the time to see short drops. Repeat it without other I/O.",
                100.0 * share
            ),
            Self::TooFew { count } => format!(
                "Inconclusive: {} seen while writing, but five consecutive ones are needed to show a period. Use more --passes, or \
                 --way everything.",
                drops(*count)
            ),
            Self::AlsoWhenReading { reading, writing } => format!(
                "Inconclusive: throughput drops {} times a minute while writing and {} while only reading, which other I/O explains. \
                 Repeat it without other I/O.",
                number(*writing),
                number(*reading)
            ),
            Self::Irregular { count } => format!(
                "Inconclusive: {} seen in write throughput, at irregular intervals. Write valleys are periodic stalls; other I/O or foreground garbage collection may have caused these drops.",
                drops(*count)
            ),
            Self::NotCompared => {
                "Inconclusive: short drops recur, but reads were too few or too uneven to rule out other I/O. Give a larger \
                 --time-limit."
                    .into()
            }
            Self::Shallow { depth_ratio } => format!(
                "Inconclusive: drops to {:.0} % of full speed recur, but the rate-limited pass has none and is too slow to show drops that \
                 shallow. Other I/O is not ruled out: repeat it on an idle system.",
                100.0 * depth_ratio
            ),
            Self::AtStart { count } => format!(
                "Inconclusive: {} seen, all at the start of a pass: a slow region, or the return to it. A --range that starts \
                 elsewhere decides.",
                drops(*count)
            ),
        }
    }
}

/// "1 short drop was", "7 short drops were".
fn drops(count: u64) -> String {
    match count {
        1 => "1 short drop was".into(),
        _ => format!("{count} short drops were"),
    }
}

fn no_valleys(none: &NoValleys, valleys: &WriteValleys, subject: &Subject<'_>) -> String {
    let what = match none.kind {
        NoValleysKind::Even => "Sequential writes show no short drops".to_string(),
        NoValleysKind::OnlyAtStart => {
            "Sequential writes show short drops only at the start of a pass, wherever that is".into()
        }
        NoValleysKind::Ripple { per_second } => format!(
            "Sequential writes show no valleys, but a steady ripple of {} drops a second",
            number(per_second)
        ),
    };
    let passes = if none.passes == 1 { "1 pass".into() } else { format!("{} passes", none.passes) };
    let long = match valleys.long_falls {
        0 => String::new(),
        1 => " One longer drop: heat, a full cache, or garbage collection.".into(),
        long => format!(" {long} longer drops: heat, a full cache, or garbage collection."),
    };
    format!(
        "{what} in {passes} ({}). Drops rarer than one in {} would not have been seen.{long}{}",
        size(none.bytes),
        long_time(none.seconds),
        valleys.lasting_fall.map_or(String::new(), |fall| lasting_fall(&fall, subject))
    )
}

fn lasting_fall(fall: &LastingFall, subject: &Subject<'_>) -> String {
    format!(
        " Throughput fell from pass to pass: the first averaged {}, the last {}. {} finds after how many bytes.",
        rate(fall.first_pass_bytes_per_second),
        rate(fall.last_pass_bytes_per_second),
        subject.writing(&ExperimentName::Sustain, "")
    )
}

/// "64 KiB writes drop from 70.0 MB/s to 14.7 MB/s (-79 %)": the rate beside valleys is that of a pass without the time they cost.
fn drop_words(valleys: &WriteValleys, depth_ratio: f64) -> String {
    match last_pass(valleys) {
        Some(pass) => {
            let normal = pass.bytes as f64 / (pass.seconds - pass.lost_s);
            format!(
                "{} writes drop from {} to {} ({:.0} %)",
                pass.block_bytes,
                rate(normal),
                rate(normal * depth_ratio),
                100.0 * (depth_ratio - 1.0)
            )
        }
        None => format!("writes drop to {:.0} % of normal throughput", 100.0 * depth_ratio),
    }
}

fn last_pass(valleys: &WriteValleys) -> Option<&ValleyPass> {
    valleys.passes.iter().rev().find(|pass| !pass.slowed && pass.valleys > 0)
}

/// The passes over the same preparation as this one, the first first.
fn at_full_speed<'run>(
    valleys: &'run WriteValleys,
    like: &'run ValleyPass,
) -> impl Iterator<Item = &'run ValleyPass> {
    valleys.passes.iter().filter(|pass| pass.group == like.group && !pass.slowed)
}

fn at_offsets(at: &OffsetValleys, valleys: &WriteValleys) -> String {
    let count = valleys.count;
    let offsets = if count == 1 { "1 offset".into() } else { format!("{count} offsets") };
    let test = match at.by {
        ValleyTrigger::Place => "A pass that started elsewhere met them there as well.",
        _ => "A pass that starts elsewhere would tell offset from bytes written.",
    };
    format!(
        "Sequential {} for {} at {offsets}, the same in each pass. {test}",
        drop_words(valleys, at.depth_ratio),
        short_time(at.width_s)
    )
}

/// ", which cost 0.1 % of its time": whether anybody has to care.
fn cost(pass: &ValleyPass) -> String {
    format!(", which cost {} of its time", rough_share(pass.lost_s / pass.seconds))
}

fn recurring_sentences(found: &RecurringValleys, valleys: &WriteValleys) -> String {
    let (time, bytes) = (short_time(found.interval_s), size(found.interval_bytes as u64));
    let every = match found.by {
        ValleyTrigger::Time => format!("every {time}"),
        ValleyTrigger::Bytes => format!("every {bytes}"),
        _ => format!("every {time} ({bytes})"),
    };
    let last_of_passes = match last_pass(valleys) {
        Some(last) => {
            let passes = at_full_speed(valleys, last).count();
            let slowed = valleys.passes.iter().any(|pass| pass.slowed && pass.group == last.group);
            let speed = if slowed { " at full speed" } else { "" };
            format!("The last of {passes} passes{speed} ({} each)", size(last.bytes))
        }
        None => "The last pass".into(),
    };
    let last = match valleys.count {
        0 if found.is_pass_short => "The last pass, shorter than that, had none.".into(),
        0 => "The last pass had none.".into(),
        count => {
            let valleys_met = if count == 1 { "1 valley" } else { &format!("{count} valleys") };
            format!("{last_of_passes} had {valleys_met}{}.", last_pass(valleys).map_or(String::new(), cost))
        }
    };
    let first_of_alike = last_pass(valleys).and_then(|last| at_full_speed(valleys, last).next());
    let first = match first_of_alike {
        Some(pass) if pass.valleys == 0 && valleys.count > 0 => " The first pass had none.",
        _ => "",
    };
    let stable = match found.passes_to_stable {
        Some(pass) if valleys.count > 0 => format!(" The pattern is stable from pass {pass} on."),
        _ => String::new(),
    };
    let slowed = match found.by {
        _ if valleys.count == 0 || !valleys.passes.iter().any(|pass| pass.slowed) => "",
        ValleyTrigger::Time => {
            " A rate-limited pass shows that the valleys recur after a fixed time, not after a fixed number of bytes."
        }
        ValleyTrigger::Bytes => {
            " A rate-limited pass shows that the valleys recur after a fixed number of bytes, not after a fixed time."
        }
        _ => "",
    };
    format!(
        "Sequential {} {every} for {} (write valleys). {last}{first}{stable}{slowed}",
        drop_words(valleys, found.depth_ratio),
        short_time(found.width_s)
    )
}

impl Wording for ValleyCure {
    const PLACE: (Group, &'static str) = (Group::Writes, "Valley remedy");

    fn headline(known: &Known<ValleyCure>, _: FindingCode, _: &Subject<'_>) -> String {
        let effect = match known.conclusion.returns_in_pass {
            Some(2) => "prevents valleys only in the first pass after it".into(),
            Some(pass) => format!("prevents valleys only in the first {} passes after it", pass - 1),
            None => "removes the valleys".into(),
        };
        match known.conclusion.cure {
            Cure::Fill { block_bytes } => {
                format!("One sequential fill in blocks of {} {effect}.", memory(block_bytes as f64))
            }
            Cure::Erase {} => format!("An erase {effect}."),
            Cure::Passes { block_bytes, passes } => {
                format!(
                    "{passes} sequential passes in blocks of {} remove the valleys.",
                    memory(block_bytes as f64)
                )
            }
            Cure::None {} if !known.conclusion.is_treated => {
                "Repeating the pass does not remove the valleys.".into()
            }
            Cure::None {} => "Nothing that was tried removes the valleys.".into(),
        }
    }

    fn statement(known: &Known<ValleyCure>, code: FindingCode, subject: &Subject<'_>) -> String {
        let found = &known.conclusion;
        let mut sentences = vec![Self::headline(known, code, subject)];
        if let Some(narrowed) = &found.narrowed {
            let widths: Vec<String> = narrowed.widths_s.iter().copied().map(short_time).collect();
            sentences.push(format!(
                "Passes in blocks of {} narrow them: {}.",
                narrowed.block,
                widths.join(", ")
            ));
        }
        match found.area {
            Some(CureArea::Written) => sentences.push("Only the part that is written improves.".into()),
            Some(CureArea::WholeDrive) => {
                sentences.push("Another part of the drive improves with it.".into())
            }
            None => {}
        }
        sentences.join(" ")
    }

    fn advice(known: &Known<ValleyCure>, _: FindingCode, subject: &Subject<'_>) -> Option<String> {
        match known.conclusion.cure {
            // The cure of the drive of which most is published (Intel X25-M).
            Cure::None {} if !known.conclusion.is_treated => Some(format!(
                "{} shows whether first filling the drive in larger blocks removes the valleys, but destroys the data on it.",
                subject.writing(&ExperimentName::Valleys, "--condition sequential:8MiB")
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::finding::{Narrowed, OffsetTest, RhythmTest};
    use model::units::Bytes;

    fn recurring(by: ValleyTrigger) -> RecurringValleys {
        RecurringValleys {
            interval_s: 66.0,
            interval_s_low: 65.0,
            interval_s_high: 67.0,
            interval_bytes: 4e9,
            interval_bytes_low: 3.9e9,
            interval_bytes_high: 4.1e9,
            width_s: 0.3,
            width_s_low: 0.2,
            width_s_high: 0.4,
            depth_ratio: 0.1,
            by,
            passes_to_stable: Some(2),
            test: RhythmTest {
                variation_in_time: 0.01,
                variation_in_bytes: 0.1,
                gaps: 9,
                t: 8.0,
                as_even_by_chance: 1e-9,
            },
            is_pass_short: false,
        }
    }

    fn told(count: u64, pattern: ValleyPattern) -> String {
        let pass = ValleyPass {
            group: 1,
            block_bytes: Bytes::from_kib(64),
            slowed: false,
            first_byte: 0,
            end_byte: 21_000_000_000,
            bytes: 21_000_000_000,
            seconds: 301.0,
            bytes_per_second: 69.8e6,
            valleys: count,
            width_s: 0.3,
            lost_s: 1.0,
        };
        let passes = vec![pass, ValleyPass { slowed: true, ..pass }, pass];
        let valleys =
            WriteValleys { count, pattern, long_falls: 0, lasting_fall: None, passes, conditions: 1 };
        statement(&known(valleys), FindingCode::WriteValleys)
    }

    #[test]
    fn recurring_valleys_name_their_interval() {
        assert_eq!(
            told(6, ValleyPattern::Recurring(recurring(ValleyTrigger::Time))),
            "Sequential 64 KiB writes drop from 70.0 MB/s to 7.00 MB/s (-90 %) every 66.0 s for 300 ms (write valleys). The last of 2 \
             passes at full speed (21.0 GB each) had 6 valleys, which cost 0.3 % of its time. The pattern is stable from pass 2 on. A \
             rate-limited pass shows that the valleys recur after a fixed time, not after a fixed number of bytes."
        );
        assert_eq!(
            told(0, ValleyPattern::Recurring(recurring(ValleyTrigger::Bytes))),
            "Sequential writes drop to 10 % of normal throughput every 4.00 GB for 300 ms (write valleys). The last pass had none."
        );
    }

    #[test]
    fn valleys_at_offsets_and_none_are_told_apart() {
        let at = OffsetValleys {
            width_s: 0.3,
            width_s_low: 0.3,
            width_s_high: 0.3,
            depth_ratio: 0.2,
            by: ValleyTrigger::Place,
            offsets: vec![7],
            test: OffsetTest { falls: 3, there_before: 3, by_chance: 1e-6 },
        };
        assert_eq!(
            told(1, ValleyPattern::AtOffsets(at)),
            "Sequential 64 KiB writes drop from 70.0 MB/s to 14.0 MB/s (-80 %) for 300 ms at 1 offset, the same in each pass. A pass \
             that started elsewhere met them there as well."
        );
        let none = NoValleys { kind: NoValleysKind::Even, passes: 4, bytes: 40_000_000_000, seconds: 600.0 };
        assert_eq!(
            told(0, ValleyPattern::None(none)),
            "Sequential writes show no short drops in 4 passes (40.0 GB). Drops rarer than one in 10 min 0 s would not have been \
             seen."
        );
    }

    #[test]
    fn a_cure_names_its_blocks() {
        let cure = ValleyCure {
            cure: Cure::Passes { block_bytes: 8 << 20, passes: 3 },
            area: Some(CureArea::Written),
            conditions: Vec::new(),
            is_treated: false,
            returns_in_pass: None,
            narrowed: Some(Narrowed { block: Bytes::from_mib(8), widths_s: vec![0.54, 0.36] }),
        };
        assert_eq!(
            statement(&known(cure), FindingCode::ValleyCure),
            "3 sequential passes in blocks of 8.00 MiB remove the valleys. Passes in blocks of 8 MiB narrow them: 540 ms, 360 ms. \
             Only the part that is written improves."
        );
    }
}
