//! What can be written before the write rate falls for good.
//!
//! # What it finds
//! The bytes after which writes that go on became slower and stayed so, the rates before and after, and all levels of rate; or that
//! nothing of the kind came within what was written.
//! # Why it matters
//! An SMR disk writes at random into a media cache, a flash drive into cells with one bit each. Both are fast until that is full and
//! several times slower after it, and no data sheet says where that is. Whoever stays within it or leaves pauses never meets it.
//! # How
//! Writes go on in pieces that are a small share of what was written before, each with its flush, so that the drive's own memory
//! counts for nothing. The logarithms of what a byte took in each piece are cut into levels (`stats::change_point`), with a penalty
//! from their own noise and stalls left out; levels less than 6 % apart are one. The fall is the first step down of 6 % and more
//! after which the rate never comes back to halfway, until it has lasted for a tenth of what was written before or half of the time.
//! Its place lies within the pieces at the border: where both rates explain the time that these took. A disk answers from its memory
//! what waits for a full media cache, and what was there before may take long to clear away; its place is where answers became fewer,
//! within a piece. A level behind the first fall counts when the rate does not drift to it and it does not come back, or has lasted
//! for as long as the first has to; where it comes back more than once it is no level but a swing.
//! # Cannot tell when
//! Less was written than a cache can hold; the fall did not last until the end of what was allowed; the rate wanders by more than it
//! falls. Where writes in order or a time of few writes made a flash drive fast again, it was no cache that was full: space had to be
//! won back, which depends on what was written before, or the drive was too warm. On a virtual disk, a loop device, a network or
//! through a page cache, what lies between may have done that.
//! # Known problems
//! A cache that the host cannot fill faster than the drive empties it is not seen: few requests at a time hide it. Steps of less than
//! 6 % are not told from drift. Behind the first fall there may be more: to look for them takes writing all of a flash drive, several
//! times the cache, so that it is only done when asked for; the finding says how far it looked.
//! # References
//! Aghayev, Shafaei, Desnoyers, "Skylight", FAST 2015 (media caches of 20 and 25 GB); Killick, Fearnhead, Eckley, "Optimal detection of
//! changepoints with a linear computational cost", 2012; TechPowerUp's tests of 2020 to 2024 (falls after 22 to 700 GB).

use super::trust::{Subject, between};
use super::wording::{number, plural, rate, size};
use super::{Detector, Need};
use crate::measured::{NO_TIME, evidence_of_phases, turns};
use crate::recording::{Probes, Writing};
use crate::sustained::{
    Cause, Fall, Further, History, Level, Stage, Standing, below, cause, dip, levels, memory_bytes, regained,
    seen_bytes, standing,
};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::request::Operation;
use model::run::RunView;
use model::workload::Pattern;

/// See the head of this file.
pub(super) struct WriteCliff;

/// Who asks.
const EXPERIMENT: &str = "sustain";
/// The largest media cache that was measured holds 25 GB (Skylight); on a smaller span twice that, it need not fill, since what is
/// written again takes no room.
const MEDIA_CACHE_SPAN: u64 = 50_000_000_000;

impl Detector for WriteCliff {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::WriteCliff]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(EXPERIMENT)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(history) = History::of(run) else {
            return vec![Finding::unknown(FindingCode::WriteCliff, "Nothing could be written.")];
        };
        let finding =
            found(run, &history).unwrap_or_else(|why| Finding::unknown(FindingCode::WriteCliff, why));
        vec![finding]
    }
}

fn found<'run>(run: &RunView<'run>, history: &History<'run>) -> Result<Finding, String> {
    let pieces = history.first();
    let phases = history.first_phases();
    if history.is_in_no_time(run) {
        return Err(NO_TIME.into());
    }
    let written: f64 = pieces.iter().map(|piece| piece.bytes).sum();
    match standing(pieces, memory_bytes(turns(run).unwrap_or(false))) {
        Standing::Even => {
            came_back(run, history, written, &phases).ok_or_else(|| no_fall(run, history, written))
        }
        Standing::Falling => Err(format!(
            "{} became slower towards the end of the {} that were written. Whether that lasts takes more: give a larger --bytes or \
             --time-limit.",
            writes(history),
            size(written as u64)
        )),
        Standing::Fell(fall) => match (between(run.target), cause(run, history, &fall)) {
            (_, Cause::Cache) => Ok(finding(run, history, &fall, &phases)),
            (Some(why), _) => Err(format!("{}. {why}", fell(history, &fall))),
            (None, other) => Err(not_a_cache(history, &fall, other)),
        },
    }
}

/// "Random writes of 128 KiB".
fn writes(history: &History<'_>) -> String {
    let workload = history.workload;
    let order = match &workload.pattern {
        Pattern::Sequential => "Writes in order".to_string(),
        Pattern::Mixed { random_share } => format!("Writes of which {} % jump", number(100.0 * random_share)),
        _ => format!("Random {}", plural(Operation::Write).to_lowercase()),
    };
    format!("{order} of {}", workload.block_sizes.largest())
}

fn no_fall(run: &RunView<'_>, history: &History<'_>, written: f64) -> String {
    let seconds: f64 = history.first().iter().map(|piece| piece.seconds).sum();
    let (all, writes) = (size(written as u64), lower(&writes(history)));
    let mean = rate(written / seconds.max(1e-9));
    let ran = format!("within the {all} that were written: {writes} ran at {mean}");
    let sentence = course(&levels(history.first()), &ran);
    let turns = turns(run);
    if Probes::of(run, EXPERIMENT).is_some_and(|probes| probes.writing() == Writing::InPlace) {
        return format!(
            "{sentence} Small writes go to their places, so that there is no media cache to fill."
        );
    }
    if turns != Some(false) && history.span < MEDIA_CACHE_SPAN {
        return format!(
            "{sentence} Within the {} that were used, the media cache of an SMR disk need not fill: what is written again takes no \
             room in it.",
            size(history.span)
        );
    }
    if turns == Some(false) && written < history.span as f64 {
        return format!("{sentence} A flash cache can hold more: all of it has to be written once to know.");
    }
    sentence
}

/// How the rate went where it did not fall for good.
fn course(levels: &[Level], ran: &str) -> String {
    let first = levels.first();
    let slower = levels.iter().filter(|level| first.is_some_and(|first| level.cost.value > first.cost.value));
    let slowest = slower.max_by(|one, other| one.cost.value.total_cmp(&other.cost.value));
    let (Some(first), Some(slowest), Some(last)) = (first, slowest, levels.last()) else {
        return format!("No fall {ran} from beginning to end.");
    };
    let (quick, slow) = (rate(first.bytes_per_second()), rate(slowest.bytes_per_second()));
    // Nearer to what it was at first, as logarithms.
    if last.cost.value < f64::midpoint(first.cost.value, slowest.cost.value) {
        return format!(
            "No fall that lasts {ran} on the whole, but behind the first {} at {slow} for {}, and then came back to {}.",
            size(slowest.from_bytes as u64),
            size(slowest.bytes as u64),
            rate(last.bytes_per_second())
        );
    }
    let behind = size(first.bytes as u64);
    let is_up_and_down = levels.windows(2).skip(1).any(|pair| pair[1].cost.value < pair[0].cost.value);
    match is_up_and_down {
        true => format!(
            "No fall to a rate that stays {ran} on the whole, {quick} for the first {behind}, and then up and down, at {slow} when it was slowest."
        ),
        false => format!(
            "No fall {ran} on the whole, and only the first {behind} at {quick}: as little as that may be what the drive's own memory takes."
        ),
    }
}

fn lower(sentence: &str) -> String {
    sentence[..1].to_lowercase() + &sentence[1..]
}

/// "Random writes of 128 KiB fell from 400 MB/s to 60 MB/s after 20 GB".
fn fell(history: &History<'_>, fall: &Fall) -> String {
    format!(
        "{} fell from {} to {} after {}",
        writes(history),
        rate(fall.rate_before().value),
        rate(fall.rate_after().value),
        size(fall.bytes.value as u64)
    )
}

fn not_a_cache(history: &History<'_>, fall: &Fall, cause: Cause) -> String {
    let fell = fell(history, fall);
    match cause {
        Cause::Heat => format!(
            "{fell}, but came back while little was written, without a pause: the drive had become warm, or held back for a time. \
             What a cache takes is hidden behind that."
        ),
        _ => format!(
            "{fell}, but not because a cache was full: the drive was out of free space and had to win it back. After how much that \
             begins depends on what was written to it before."
        ),
    }
}

/// A flash drive that was written once in order and became slower and quick again by itself: all its levels. On a disk the rate goes by
/// the place; and of a part that was written nobody knows what comes behind it.
fn came_back(run: &RunView<'_>, history: &History<'_>, written: f64, phases: &[u32]) -> Option<Finding> {
    let is_once = history.workload.pattern == Pattern::Sequential && is_all(run, history, written);
    if turns(run) != Some(false) || !is_once || between(run.target).is_some() {
        return None;
    }
    let fall = dip(history.first(), memory_bytes(false))?;
    let back = fall.further.first()?;
    let statement = format!(
        "{} run at {} until {} are written, then at {}, and once {} are written at {} again.",
        writes(history),
        rate(fall.rate_before().value),
        size(fall.bytes.value as u64),
        rate(fall.rate_after().value),
        size(back.bytes.value as u64),
        rate(back.rate_after().value)
    );
    let advice = "It came back while the writing went on. A flash drive that first writes one bit into each cell does so while it writes \
                  these again; other load, heat or a slow place for a time look the same in one run. Empty the drive and run this again: \
                  what comes at the same place again is the drive's own.";
    let finding = with_levels(
        Finding::number(
            FindingCode::WriteCliff,
            fall.bytes,
            "bytes",
            statement,
            evidence_of_phases(run, phases),
        )
        .with_advice(advice)
        .with_data("comes_back", Datum::Flag(true)),
        &fall,
        written,
    );
    Some(Subject::of(run).qualify(finding))
}

fn finding(run: &RunView<'_>, history: &History<'_>, fall: &Fall, phases: &[u32]) -> Finding {
    let (before, after) = (fall.rate_before(), fall.rate_after());
    let seen = place(run, history, fall);
    let bytes = Estimate { high: seen.high + earlier_bytes(run, history), ..seen };
    let looked: f64 = history.first().iter().map(|piece| piece.bytes).sum();
    let statement = format!(
        "{} run at {} until {} are written, then at {}, {} times slower.{}",
        writes(history),
        rate(before.value),
        size(bytes.value as u64),
        rate(after.value),
        number(before.value / after.value),
        later(run, history, fall, looked)
    );
    let finding =
        Finding::number(FindingCode::WriteCliff, bytes, "bytes", statement, evidence_of_phases(run, phases))
            .with_advice(advice(run, history, fall));
    Subject::of(run).qualify(with_levels(finding, fall, looked))
}

/// The same with the rates, and all levels as far as was looked.
fn with_levels(finding: Finding, fall: &Fall, looked: f64) -> Finding {
    let (before, after) = (fall.rate_before(), fall.rate_after());
    finding
        .with_data("before", Datum::Number(before.value))
        .with_data("before_low", Datum::Number(before.low))
        .with_data("before_high", Datum::Number(before.high))
        .with_data("after", Datum::Number(after.value))
        .with_data("after_low", Datum::Number(after.low))
        .with_data("after_high", Datum::Number(after.high))
        .with_data("ratio", Datum::Number(after.value / before.value))
        .with_data("levels", Datum::List(fall.course.iter().map(stage).collect()))
        .with_data("further", Datum::List(fall.further.iter().map(further).collect()))
        .with_data("after_from_bytes", Datum::Number(fall.after.judged_from_bytes))
        .with_data("after_over_bytes", Datum::Number(fall.after.judged_bytes))
        .with_data("in_memory_bytes", Datum::Number(fall.in_memory_bytes))
        .with_data("looked_until_bytes", Datum::Number(looked))
}

fn stage(stage: &Stage) -> Datum {
    let rate = stage.level.rate();
    Datum::record([
        ("from_bytes", Datum::Number(stage.from_bytes.value)),
        ("from_bytes_low", Datum::Number(stage.from_bytes.low)),
        ("from_bytes_high", Datum::Number(stage.from_bytes.high)),
        ("bytes_per_second", Datum::Number(rate.value)),
        ("low", Datum::Number(rate.low)),
        ("high", Datum::Number(rate.high)),
        ("comes_back", Datum::Flag(stage.comes_back)),
    ])
}

/// Where a host sees it. A disk takes into its memory what it cannot write yet, and only then does it fall.
fn place(run: &RunView<'_>, history: &History<'_>, fall: &Fall) -> Estimate {
    if turns(run) != Some(true) {
        return fall.bytes;
    }
    let (bytes, shift) = (fall.bytes, fall.in_memory_bytes);
    let shifted = Estimate { value: bytes.value + shift, high: bytes.high + shift, ..bytes };
    seen_bytes(run, history, fall).unwrap_or(shifted)
}

/// What writes at random places before may have taken of a cache: of one that is full when its map is, each as much as a block.
fn earlier_bytes(run: &RunView<'_>, history: &History<'_>) -> f64 {
    let first = history.first().first().map_or(0, |piece| piece.phase as usize);
    let writes = run.phases.iter().take(first).filter_map(|summary| {
        let is_random = summary.phase.workload.as_ref()?.pattern != Pattern::Sequential;
        summary.totals_of(Operation::Write).filter(|_| is_random).map(|totals| totals.operations)
    });
    writes.sum::<u64>() as f64 * history.workload.block_sizes.largest().0 as f64
}

/// What came behind the fall, and how far it was looked.
fn later(run: &RunView<'_>, history: &History<'_>, fall: &Fall, looked: f64) -> String {
    let mut text: String = fall
        .course
        .iter()
        .skip(2)
        .map(|stage| {
            let (bytes, after) = (size(stage.from_bytes.value as u64), rate(stage.level.rate().value));
            format!(" Once {bytes} are written it is {after}.")
        })
        .collect();
    match below(run, history, fall) {
        Some(below) => {
            let (from, to) = (size(below.from_bytes as u64), size(below.to_bytes as u64));
            let after = rate(below.bytes_per_second);
            text += &format!(
                " Between {from} and {to}, written with rests, it fell further, and came down to {after} or less after each."
            );
        }
        None if !is_all(run, history, looked) => {
            text += &format!(" Whether it falls further behind {} was not looked for.", size(looked as u64));
        }
        None => {}
    }
    text
}

/// Whether as much was written as the range holds. Of writes in order only the drive's own size tells how much more there is; a
/// hundredth at its end shows nothing of its own.
fn is_all(run: &RunView<'_>, history: &History<'_>, looked: f64) -> bool {
    match history.workload.pattern {
        Pattern::Sequential => looked >= 0.99 * run.target.capacity.0 as f64,
        _ => looked >= history.span as f64,
    }
}

fn further(further: &Further) -> Datum {
    let after = further.rate_after();
    Datum::record([
        ("bytes", Datum::Number(further.bytes.value)),
        ("bytes_low", Datum::Number(further.bytes.low)),
        ("bytes_high", Datum::Number(further.bytes.high)),
        ("bytes_per_second", Datum::Number(after.value)),
        ("low", Datum::Number(after.low)),
        ("high", Datum::Number(after.high)),
    ])
}

/// How to stay before the fall, and what this run has not looked for.
fn advice(run: &RunView<'_>, history: &History<'_>, fall: &Fall) -> String {
    let stay = format!(
        "Write less than {} at a time and leave pauses, and the rate stays at {}.",
        size((0.9 * fall.bytes.low) as u64),
        rate(fall.rate_before().value)
    );
    let pieces = history.first();
    let before_last = &pieces[..pieces.len().saturating_sub(1)];
    // Who only looks for a fall stops with the piece that makes it certain.
    let went_on = matches!(standing(before_last, memory_bytes(turns(run) == Some(true))), Standing::Fell(_));
    let mut open: Vec<&str> = Vec::new();
    if regained(run, history, fall).is_empty() {
        open.push("`sustain --idle` says how long a pause has to be");
    }
    if !went_on {
        open.push("`sustain --until levels` whether it falls further");
        open.push("`sustain --until steady` which rate lasts");
    }
    match open.split_last() {
        None => stay,
        Some((last, [])) => format!("{stay} {last}."),
        Some((last, others)) => format!("{stay} {}, {last}.", others.join(", ")),
    }
}
