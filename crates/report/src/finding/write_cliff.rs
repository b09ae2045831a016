//! Words for the findings of the write cliff.

use super::numbers::{number, rate, size, with_interval};
use super::{Group, NO_TIME, Reason, Subject, Wording};
use crate::style::lower;
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{
    CliffCause, FindingCode, Known, NoCliff, NoCliffCourse, NoCliffLimit, WriteCliff, WriteCliffUnknown,
    WriteDrop, WriteKind, WriteLevel, WriteOrder,
};

/// What a run that met a cliff leaves open, and the command that measures it.
pub(crate) fn not_measured(cliff: &WriteCliff, subject: &Subject<'_>) -> Vec<String> {
    let command = |options| subject.writing(&ExperimentName::Sustain, options);
    let mut lines = Vec::new();
    if !cliff.has_rests && cliff.cause != CliffCause::RateLimit {
        lines.push(format!("Idle recovery: not measured; {} measures it.", command("--idle")));
    }
    if !cliff.went_on {
        lines.push(format!("Steady state: not measured; {} measures it.", command("--until steady")));
    }
    lines
}

impl Wording for WriteCliff {
    const PLACE: (Group, &'static str) = (Group::Writes, "Write cliff");

    fn statement(known: &Known<WriteCliff>, _: FindingCode, _: &Subject<'_>) -> String {
        let cliff = &known.conclusion;
        let before = with_interval(cliff.before, cliff.before_low, cliff.before_high, "B/s");
        let after = with_interval(cliff.after, cliff.after_low, cliff.after_high, "B/s");
        let bytes = size(cliff.bytes.value as u64);
        let writes = writes(&cliff.writes);
        if cliff.comes_back {
            let back = match cliff.further.first() {
                Some(back) => {
                    format!(
                        " It returns to {} after {}.",
                        rate(back.bytes_per_second),
                        size(back.bytes as u64)
                    )
                }
                None => String::new(),
            };
            return format!("{writes} drop from {before} to {after} after {bytes}.{back}");
        }
        let drop = format!("from {before} to {after}, a factor of {}", number(cliff.before / cliff.after));
        let full = |cache| format!("The {cache} is full after {bytes}: {} drop {drop}.", lower(&writes));
        let mut sentences = match cliff.cause {
            CliffCause::MediaCache => vec![full("media cache")],
            CliffCause::CellCache => vec![full("SLC cache")],
            CliffCause::RateLimit => {
                vec![format!("Burst credit is used up after {bytes}: {} drop {drop}.", lower(&writes))]
            }
            CliffCause::Buffer | CliffCause::Unknown => {
                vec![format!("After {bytes}, {} drop {drop}.", lower(&writes))]
            }
        };
        match cliff.cause {
            CliffCause::MediaCache | CliffCause::CellCache | CliffCause::RateLimit => {}
            CliffCause::Buffer => {
                sentences
                    .push("A buffer that keeps its data over a flush could explain so few bytes.".into());
            }
            CliffCause::Unknown => {
                sentences.push("Nothing shows whether a full cache or a rate limit caused it.".into());
            }
        }
        let is_before = |level: &WriteLevel| level.bytes_per_second == cliff.before;
        let before = cliff.levels.iter().position(is_before).unwrap_or(0);
        if before > 0 {
            let bytes = size(cliff.levels[before].from_bytes as u64);
            let fast = rate(cliff.levels[before - 1].bytes_per_second);
            sentences.push(format!("The first {bytes} run at {fast}, into a buffer."));
        }
        for level in cliff.levels.iter().skip(before + 2) {
            let (from, after) = (size(level.from_bytes as u64), rate(level.bytes_per_second));
            sentences.push(format!("From {from} on they run at {after}."));
        }
        match &cliff.below {
            Some(below) => sentences.push(format!(
                "Between {} and {}, written with idle times, they dropped further, to at most {}.",
                size(below.from_bytes as u64),
                size(below.to_bytes as u64),
                rate(below.bytes_per_second)
            )),
            None if !cliff.is_whole => {
                sentences.push(format!(
                    "The run ended after {}, before steady state.",
                    size(cliff.looked_until_bytes as u64)
                ));
            }
            None => {}
        }
        sentences.join(" ")
    }

    fn advice(known: &Known<WriteCliff>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let cliff = &known.conclusion;
        if cliff.comes_back {
            return Some(
                "Discard the whole drive and repeat the run: a drop at the same place is the drive's, and not heat or other I/O."
                    .into(),
            );
        }
        // The rate limit says what to do about it.
        if cliff.cause == CliffCause::RateLimit {
            return None;
        }
        let mut advice = format!(
            "To stay at {}, write at most {} (10 % below the cliff's lower bound), then let the drive idle.",
            rate(cliff.before),
            size((0.9 * cliff.bytes.low) as u64)
        );
        if cliff.cause == CliffCause::CellCache {
            advice += " The cache may be smaller on a fuller drive.";
        }
        if !cliff.has_rests {
            advice += " The idle time needed was not measured.";
        }
        Some(advice)
    }

    fn parts(known: &Known<WriteCliff>) -> Vec<(&'static str, Estimate, &'static str)> {
        let cliff = &known.conclusion;
        let rate = |value, low, high| Estimate { value, low, high, ..cliff.bytes };
        vec![
            ("Rate before the cliff", rate(cliff.before, cliff.before_low, cliff.before_high), "B/s"),
            ("Rate past the cliff", rate(cliff.after, cliff.after_low, cliff.after_high), "B/s"),
        ]
    }
}

/// What was written, to begin a sentence: "Random 128 KiB writes".
pub(super) fn writes(kind: &WriteKind) -> String {
    match kind.order {
        WriteOrder::Sequential => format!("Sequential {} writes", kind.block),
        WriteOrder::Mixed { random_share } => {
            format!("{} writes ({} % random)", kind.block, number(100.0 * random_share))
        }
        WriteOrder::Random => format!("Random {} writes", kind.block),
    }
}

impl Reason for WriteCliffUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NothingWritten => "Not measured: nothing could be written.".into(),
            Self::NoTime => NO_TIME.into(),
            Self::None(none) => no_cliff(none),
            Self::StillFalling { writes: kind, written_bytes } => format!(
                "Inconclusive: {} became slower towards the end of {}. A larger --bytes or --time-limit decides.",
                lower(&writes(kind)),
                size(*written_bytes as u64)
            ),
            Self::OfPlace(drop) => format!(
                "Inconclusive: {}, which slower LBAs could explain. The start of the range was not written again: repeat it with a \
                 larger --bytes.",
                dropped(drop)
            ),
            Self::NotTheDrive(drop) => format!(
                "Inconclusive: {}, which the layers between host and drive could explain, such as a cache or other guests.",
                dropped(drop)
            ),
            Self::Heat(drop) => format!(
                "Inconclusive: {}, but recovered while little was written and without idle time: thermal throttling. \
                 It hides what a cache holds.",
                dropped(drop)
            ),
            Self::GarbageCollection(drop) => format!(
                "Inconclusive: {}, but by garbage collection, and no full cache. When that starts depends on earlier writes.",
                dropped(drop)
            ),
        }
    }

    fn is_answer(&self) -> bool {
        matches!(self, Self::None(_))
    }
}

fn dropped(drop: &WriteDrop) -> String {
    format!(
        "{} dropped from {} to {} after {}",
        lower(&writes(&drop.writes)),
        rate(drop.before),
        rate(drop.after),
        size(drop.bytes as u64)
    )
}

fn no_cliff(none: &NoCliff) -> String {
    let (mean, acknowledged) = (rate(none.mean), rate(none.acknowledged));
    let of_flushes = match mean == acknowledged {
        true => String::new(),
        false => format!(" with flushes ({acknowledged} without)"),
    };
    let ran = format!(
        "No lasting drop within {}: {} average {mean}{of_flushes}",
        size(none.written_bytes as u64),
        lower(&writes(&none.writes)),
    );
    let course = match none.course {
        NoCliffCourse::Even => "throughout".to_string(),
        NoCliffCourse::CameBack { from_bytes, bytes, slow, last } => format!(
            "with {} at {} from {} on, and return to {}",
            size(bytes as u64),
            rate(slow),
            size(from_bytes as u64),
            rate(last)
        ),
        NoCliffCourse::Swings { first_bytes, first, slowest } => format!(
            "with {} for the first {}, and then swing, down to {}",
            rate(first),
            size(first_bytes as u64),
            rate(slowest)
        ),
        NoCliffCourse::FastStart { first_bytes, first } => format!(
            "with {} only for the first {}, which the drive's own memory could explain",
            rate(first),
            size(first_bytes as u64)
        ),
        NoCliffCourse::Declines { quickest, last } => {
            format!("and decline step by step, from {} to {}", rate(quickest), rate(last))
        }
    };
    let limit = match none.limit {
        None => String::new(),
        Some(NoCliffLimit::InPlace) => " Small writes go in place: there is no media cache to fill.".into(),
        Some(NoCliffLimit::SmallRange { bytes }) => format!(
            " A range of {} need not fill the media cache of an SMR disk. Give a larger --range.",
            size(bytes)
        ),
        Some(NoCliffLimit::NotWholeRange) => {
            " A write cache may hold more. Write the whole range once to know.".into()
        }
    };
    format!("{ran} {course}.{limit}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement, why};
    use super::*;
    use model::finding::{LaterLevel, LevelBelow, WriteLevel};
    use model::target::{TargetFacts, TargetKind};
    use model::units::Bytes;

    const WRITES: WriteKind = WriteKind { order: WriteOrder::Random, block: Bytes::from_kib(128) };

    fn level(from_bytes: f64, bytes_per_second: f64) -> WriteLevel {
        WriteLevel {
            from_bytes,
            from_bytes_low: from_bytes,
            from_bytes_high: from_bytes,
            bytes_per_second,
            low: bytes_per_second,
            high: bytes_per_second,
            comes_back: false,
        }
    }

    fn cliff() -> WriteCliff {
        WriteCliff {
            bytes: Estimate::exact(20e9),
            comes_back: false,
            before: 400e6,
            before_low: 400e6,
            before_high: 400e6,
            after: 60e6,
            after_low: 60e6,
            after_high: 60e6,
            ratio: 0.15,
            levels: vec![level(0.0, 400e6), level(20e9, 60e6), level(40e9, 40e6)],
            further: Vec::new(),
            after_from_bytes: 20e9,
            after_over_bytes: 10e9,
            in_memory_bytes: 0.0,
            cause: CliffCause::CellCache,
            looked_until_bytes: 50e9,
            writes: WRITES,
            below: None,
            is_whole: false,
            went_on: false,
            has_rests: false,
        }
    }

    #[test]
    fn a_cliff_names_its_levels_and_how_far_it_looked() {
        assert_eq!(
            statement(&known(cliff()), FindingCode::WriteCliff),
            "The SLC cache is full after 20.0 GB: random 128 KiB writes drop from 400 MB/s to 60 MB/s, a factor of 6.67. From \
             40.0 GB on they run at 40.0 MB/s. The run ended after 50.0 GB, before steady state."
        );
        assert_eq!(
            advice(&known(cliff()), FindingCode::WriteCliff).unwrap(),
            "To stay at 400 MB/s, write at most 18.0 GB (10 % below the cliff's lower bound), then let the drive idle. The cache may be smaller on a fuller drive. \
             The idle time needed was not measured."
        );
        let below = LevelBelow { from_bytes: 50e9, to_bytes: 52e9, bytes_per_second: 30e6 };
        let rested = WriteCliff { below: Some(below), has_rests: true, went_on: true, ..cliff() };
        assert!(statement(&known(rested.clone()), FindingCode::WriteCliff).ends_with(
            "Between 50.0 GB and 52.0 GB, written with idle times, they dropped further, to at most 30.0 MB/s."
        ));
        let target = TargetFacts::unidentified(TargetKind::Device, "/dev/sdx".into(), Bytes::new(1));
        let subject = Subject::new(&target, &[]);
        assert_eq!(
            not_measured(&cliff(), &subject),
            [
                "Idle recovery: not measured; `drivescope sustain /dev/sdx --write --idle` measures it.",
                "Steady state: not measured; `drivescope sustain /dev/sdx --write --until steady` measures it."
            ]
        );
        assert_eq!(not_measured(&rested, &subject), Vec::<String>::new());
    }

    #[test]
    fn a_drop_that_comes_back_says_so() {
        let later = LaterLevel {
            bytes: 80e9,
            bytes_low: 80e9,
            bytes_high: 80e9,
            bytes_per_second: 390e6,
            low: 390e6,
            high: 390e6,
        };
        let cliff = WriteCliff { comes_back: true, further: vec![later], ..cliff() };
        assert_eq!(
            statement(&known(cliff), FindingCode::WriteCliff),
            "Random 128 KiB writes drop from 400 MB/s to 60 MB/s after 20.0 GB. It returns to 390 MB/s after 80.0 GB."
        );
    }

    #[test]
    fn no_cliff_says_what_was_written() {
        let course = NoCliffCourse::CameBack { from_bytes: 1.5e9, bytes: 5e8, slow: 250e6, last: 450e6 };
        let none = NoCliff {
            writes: WRITES,
            written_bytes: 4e9,
            mean: 400e6,
            acknowledged: 400e6,
            course,
            limit: None,
        };
        let none = WriteCliffUnknown::None(none);
        assert_eq!(
            why::<WriteCliff>(&none, FindingCode::WriteCliff),
            "No lasting drop within 4.00 GB: random 128 KiB writes average 400 MB/s with 500 MB at 250 MB/s from 1.50 GB on, \
             and return to 450 MB/s."
        );
    }
}
