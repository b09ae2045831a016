//! Valleys: short falls of the rate of sequential writing that recur.
//!
//! # What it finds
//! How many short falls the last pass had; how far apart they are, how wide and how deep, after how many passes they stay the same,
//! and whether they recur after so much time or after so many bytes.
//! # Why it matters
//! A mean over minutes hides them and a test of two seconds may hit one: whoever compares drives by short sequential writes compares
//! what was written to them before.
//! # How
//! A fall is a run of slices below three quarters of what is usual around it, of 50 ms to 3 s. What it took is the time that its bytes
//! would not have needed, which is exact however slices lie, and its width is that over the depth of falls with an inside. They recur if falls at
//! random would hardly ever come as evenly. A pass at three fifths of the rate tells time from bytes: the gaps of what counts stay
//! as they are (test of Pitman and Morgan on the logarithms). It begins further in than the others, which tells bytes from places: falls
//! that are where they were are bound to a place, and those that are as far behind its beginning come of going back. Reading for some gaps is the comparison: what else uses the drive, and work of the
//! host, hold up reads as well. A drive that is too warm slows down for longer.
//! # Cannot tell when
//! There are fewer than five falls one after the other; they come at random; the same comes while reading; it was not read to compare;
//! the rate is too uneven.
//! # Known problems
//! Somebody else who writes only while this tool writes looks like the drive. A large write buffer swallows short falls of the slowed
//! pass; then it stays open whether time or bytes count. Falls of less than 25 ms each are not seen.
//! # References
//! 8thway.blogspot.com, "X25-M no sequential write no tani", 2009-06. Pitman, "A note on normal correlation", Biometrika 31, 1939; Morgan,
//! Biometrika 31, 1939. Moran, "The random division of an interval", JRSS Supplement 9, 1947 (gaps of a Poisson process).

use super::trust::Subject;
use super::wording::{long_time, number, short_time, size};
use super::{Detector, Need};
use crate::measured::{NO_TIME, evidence_of_phases, is_measurement, phases_in_no_time};
use crate::stats::CONFIDENCE;
use crate::valley::{Bound, EXPERIMENT, Group, Pass, Places, Rhythm, Story, Verdict, stable_from};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct WriteValleys;

/// Rows of the table of passes; a run has some dozen.
const ROWS_MAX: usize = 500;

impl Detector for WriteValleys {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::WriteValleys]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let unknown = |why: String| vec![Finding::unknown(FindingCode::WriteValleys, why)];
        if phases_in_no_time(run, run.phases.iter().filter(|summary| is_measurement(summary))) {
            return unknown(NO_TIME.into());
        }
        let story = Story::of(run);
        match story.verdict() {
            Verdict::NothingWritten => unknown("Nothing was written in order.".into()),
            Verdict::Uneven(share) => unknown(format!(
                "The rate was so uneven for {:.0} % of the time that short falls cannot be told from the rest: something else used the \
                 drive, or it writes no more evenly.",
                100.0 * share
            )),
            Verdict::None => vec![none(run, &story, "It wrote without short falls of the rate")],
            Verdict::AtPlaces(places) => vec![at_places(run, &story, &places)],
            Verdict::AtStarts(count, is_told) => vec![at_starts(run, &story, count, is_told)],
            Verdict::Grain(per_second) => {
                let what = format!(
                    "The rate falls {} times a second all along, which is how evenly it writes and no valley: nothing that comes now and then was seen",
                    number(per_second)
                );
                vec![none(run, &story, &what)]
            }
            Verdict::TooFew(count) => unknown(format!(
                "{} of the rate came while writing; whether they recur takes five in a row. Write more with --passes, or \
                 more in each with --way everything.",
                if count == 1 { "One short fall".into() } else { format!("{count} short falls") }
            )),
            Verdict::AlsoWhenReading(reading, writing) => unknown(format!(
                "The rate fell {} times a minute while writing and {} times a minute while only reading: something else used the drive \
                 or the machine. Measure again while nothing does.",
                number(writing),
                number(reading)
            )),
            Verdict::Irregular(count) => unknown(format!(
                "{count} short falls of the rate came while writing, as irregularly as by chance: something else used the drive, or it \
                 collects garbage as it needs to."
            )),
            Verdict::NotCompared => unknown(
                "Short falls of the rate recur, but it was not read for long or evenly enough to see whether they come then too, as those do that \
                 something else causes. Give more time with --time-limit."
                    .into(),
            ),
            Verdict::Recurring(rhythm) => vec![recurring(run, &story, &rhythm)],
        }
    }
}

fn none(run: &RunView<'_>, story: &Story, what: &str) -> Finding {
    let count = story.passes().filter(|pass| !pass.shape.slowed).count();
    let (bytes, seconds) = story.written();
    let long = match story.long() {
        0 => String::new(),
        1 => " The rate fell once for longer: heat, a cache that was full, or garbage collection.".into(),
        long => format!(
            " The rate fell {long} times for longer: heat, a cache that was full, or garbage collection."
        ),
    };
    let passes = if count == 1 { "one pass".to_string() } else { format!("{count} passes") };
    let statement = format!(
        "{what}, in {passes} of {} in all. What comes less often than every {} would not have been seen.{long}",
        size(bytes),
        long_time(seconds)
    );
    let finding = Finding::number(
        FindingCode::WriteValleys,
        Estimate::exact(0.0),
        "count",
        statement,
        evidence(run, story),
    )
    .with_data("long_falls", Datum::Integer(story.long()))
    .with_data("passes", table(story, story.depth_ratio()));
    Subject::of(run).qualify(finding)
}

/// What took the valleys of the drive away of which most is published (Intel X25-M); where a run has looked for what does, it has an
/// answer of its own.
fn advice(story: &Story) -> &'static str {
    if story.groups.len() > 1 {
        return "Repeat what looks slow before you compare sequential writes; the mean over a minute hardly changes.";
    }
    "Repeat what looks slow before you compare sequential writes; the mean over a minute hardly changes. On the drive of which most is \
     published, writing all of it in order in blocks of 8 MiB took valleys away: `valleys --conditions seq:8MiB` shows whether it does here."
}

/// Falls behind the beginning of each pass: no valleys, if that is sure.
fn at_starts(run: &RunView<'_>, story: &Story, count: u64, is_told: bool) -> Finding {
    if is_told {
        return none(
            run,
            story,
            "It wrote without short falls of the rate but right behind the beginning of a pass, wherever that is",
        );
    }
    let why = format!(
        "{count} short falls of the rate came right behind the beginning of each pass: that place may be slow, or the drive has to go back to it. \
         Give a --range that begins elsewhere."
    );
    Finding::unknown(FindingCode::WriteValleys, why)
}

/// The first series of passes that has falls, its last pass at full rate, and how wide they are there.
struct Shown<'story> {
    group: Option<&'story Group>,
    last: Option<&'story Pass>,
    count: u64,
    width: Estimate,
}

impl Shown<'_> {
    fn of(story: &Story, depth: f64) -> Shown<'_> {
        let group = story.groups.iter().find(|group| group.passes.iter().any(|pass| pass.count() > 0));
        let full_rate = group.map(Group::full_rate).unwrap_or_default();
        let last = full_rate.last().copied();
        let widest = full_rate.iter().copied().max_by(|one, two| one.lost_s().total_cmp(&two.lost_s()));
        let shown = last.filter(|pass| pass.count() > 0).or(widest);
        let width = shown.map_or(Estimate::exact(0.0), |pass| width(pass, depth));
        Shown { group, last, count: last.map_or(0, Pass::count), width }
    }
}

/// Falls at the same places in each pass.
fn at_places(run: &RunView<'_>, story: &Story, places: &Places) -> Finding {
    let depth = story.depth_ratio();
    let Shown { last, count, width, .. } = Shown::of(story, depth);
    let (by, how) = match places.is_told {
        true => (
            "place",
            "What counts is where it is written: a pass that began further in met them there as well.",
        ),
        false => (
            "unknown",
            "Whether the place counts, or what is written from one to the next, takes a pass that begins elsewhere.",
        ),
    };
    let at = if count == 1 { "one place".to_string() } else { format!("{count} places") };
    let statement = format!(
        "While it is written in order the rate falls to {:.0} % for {} at {at} of a pass, the same in each. {how}",
        100.0 * depth,
        short_time(width.value)
    );
    let first_bytes = last.into_iter().flat_map(Pass::alike).map(|fall| Datum::Integer(fall.first_byte));
    let test = Datum::record([
        ("falls", Datum::Integer(places.falls)),
        ("there_before", Datum::Integer(places.again)),
        ("by_chance", Datum::Number(places.by_chance)),
    ]);
    let finding = Finding::number(
        FindingCode::WriteValleys,
        Estimate::exact(count as f64),
        "count",
        statement,
        evidence(run, story),
    )
    .with_advice("`surface --full` shows whether blocks are late there to be read as well.")
    .with_data("width_s", Datum::Number(width.value))
    .with_data("width_s_low", Datum::Number(width.low))
    .with_data("width_s_high", Datum::Number(width.high))
    .with_data("depth_ratio", Datum::Number(depth))
    .with_data("by", Datum::Text(by.into()))
    .with_data("places", Datum::List(first_bytes.take(ROWS_MAX).collect()))
    .with_data("test", test)
    .with_data("long_falls", Datum::Integer(story.long()))
    .with_data("passes", table(story, depth));
    Subject::of(run).qualify(finding)
}

fn recurring(run: &RunView<'_>, story: &Story, rhythm: &Rhythm) -> Finding {
    let depth = story.depth_ratio();
    let Shown { group, last, count, width } = Shown::of(story, depth);
    let stable = group.and_then(passes_to_stable);
    let is_short = last.is_some_and(|pass| pass.seconds < rhythm.seconds.value);
    let mut statement = statement(count, is_short, rhythm, &width, depth, stable);
    if story.groups.len() > 1 {
        statement += " That is the first series of passes that has any; the table of passes has them all.";
    }
    let mut finding = Finding::number(
        FindingCode::WriteValleys,
        Estimate::exact(count as f64),
        "count",
        statement,
        evidence(run, story),
    )
    .with_advice(advice(story));
    for (name, estimate) in
        [("interval_s", &rhythm.seconds), ("interval_bytes", &rhythm.bytes), ("width_s", &width)]
    {
        finding = finding
            .with_data(name, Datum::Number(estimate.value))
            .with_data(format!("{name}_low"), Datum::Number(estimate.low))
            .with_data(format!("{name}_high"), Datum::Number(estimate.high));
    }
    finding = finding
        .with_data("depth_ratio", Datum::Number(depth))
        .with_data("by", Datum::Text(rhythm.by.name().into()));
    if let Some(stable) = stable {
        finding = finding.with_data("passes_to_stable", Datum::Integer(stable as u64));
    }
    let finding = finding
        .with_data("test", test(rhythm))
        .with_data("long_falls", Datum::Integer(story.long()))
        .with_data("passes", table(story, depth));
    Subject::of(run).qualify(finding)
}

/// After how many passes they stay the same; none if they did not yet.
fn passes_to_stable(group: &Group) -> Option<usize> {
    let full_rate = group.full_rate();
    let first = full_rate.get(stable_from(&full_rate)?)?;
    // Slowed ones count too: they write the same.
    group.passes.iter().position(|pass| pass.phases == first.phases).map(|index| index + 1)
}

fn statement(
    count: u64,
    is_short: bool,
    rhythm: &Rhythm,
    width: &Estimate,
    depth: f64,
    stable: Option<usize>,
) -> String {
    let every = match rhythm.by {
        Bound::Time => format!("every {} of writing", short_time(rhythm.seconds.value)),
        Bound::Bytes => format!("after every {} written", size(rhythm.bytes.value as u64)),
        Bound::Undecided => format!(
            "every {} or {} (at one rate nobody can tell which)",
            short_time(rhythm.seconds.value),
            size(rhythm.bytes.value as u64)
        ),
    };
    let now = match count {
        0 if is_short => "A pass takes less time than that, and the last had none.".to_string(),
        0 => "The last pass had none any more.".to_string(),
        1 => "The last pass had one.".to_string(),
        count => format!("The last pass had {count}."),
    };
    let stable = match (count, stable) {
        (0, _) | (_, None) => String::new(),
        (_, Some(passes)) => format!(" From pass {passes} on they stay as they are."),
    };
    format!(
        "While it is written in order the rate falls to {:.0} % for {} {every}. {now}{stable}",
        100.0 * depth,
        short_time(width.value)
    )
}

/// How wide the falls of a pass are: what they took, by the depth. Where falls are as short as a few requests the depth is not
/// known, and the width lies between standing still and what the lowest piece shows.
fn width(pass: &Pass, depth: f64) -> Estimate {
    let widths: Vec<f64> = pass.alike().map(|fall| fall.lost_s / (1.0 - depth.min(0.95))).collect();
    let mean = widths.iter().sum::<f64>() / widths.len().max(1) as f64;
    let (low, high) = widths
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), width| (low.min(*width), high.max(*width)));
    let low = if widths.is_empty() { 0.0 } else { low };
    Estimate {
        value: mean,
        low: low.min(mean),
        high: high.max(mean),
        confidence: CONFIDENCE,
        effective_count: widths.len() as f64,
    }
}

/// What a slowed pass loses is made up for afterwards, and says nothing of the width.
fn shown_width_s(pass: &Pass, depth: f64) -> f64 {
    if pass.count() == 0 || pass.shape.slowed { 0.0 } else { width(pass, depth).value }
}

fn test(rhythm: &Rhythm) -> Datum {
    Datum::record([
        ("variation_in_time", Datum::Number(rhythm.variation_s)),
        ("variation_in_bytes", Datum::Number(rhythm.variation_bytes)),
        ("gaps", Datum::Integer(rhythm.gaps as u64)),
        ("t", Datum::Number(rhythm.t)),
        ("as_even_by_chance", Datum::Number(rhythm.by_chance)),
    ])
}

fn evidence(run: &RunView<'_>, story: &Story) -> Vec<model::finding::Evidence> {
    let first_phases: Vec<u32> = story.passes().filter_map(|pass| pass.phases.first().copied()).collect();
    evidence_of_phases(run, &first_phases)
}

/// A row for each pass, in the order in which they were made.
fn table(story: &Story, depth: f64) -> Datum {
    let rows = story
        .groups
        .iter()
        .enumerate()
        .flat_map(|(group, of)| of.passes.iter().map(move |pass| (group, pass)));
    let row = |(group, pass): (usize, &Pass)| {
        Datum::record([
            ("group", Datum::Integer(group as u64 + 1)),
            ("block_bytes", Datum::Integer(pass.shape.block.0)),
            ("slowed", Datum::Flag(pass.shape.slowed)),
            ("first_byte", Datum::Integer(pass.first_byte)),
            ("end_byte", Datum::Integer(pass.end_byte)),
            ("bytes", Datum::Integer(pass.bytes)),
            ("seconds", Datum::Number(pass.seconds)),
            ("bytes_per_second", Datum::Number(pass.rate())),
            ("valleys", Datum::Integer(pass.count())),
            ("width_s", Datum::Number(shown_width_s(pass, depth))),
            ("lost_s", Datum::Number(pass.lost_s() * pass.count() as f64)),
        ])
    };
    Datum::List(rows.take(ROWS_MAX).map(row).collect())
}
