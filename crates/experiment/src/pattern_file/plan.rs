//! Plan files of our own, version 1: TOML, every key checked, every error with its line. `docs/reference/plans.md` has all keys.

use super::flaw::{Flaw, Reason, at_line, in_key, not_a};
use super::types::{Amount, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::PhaseKind;
use model::quantity_text::{QuantityError, parse_duration, parse_share, parse_size};
use model::units::Bytes;
use model::workload::{BLOCK_BYTES_MAX, DataPattern, QUEUE_DEPTH_MAX, THREADS_MAX, ZoneShare};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Header {
    version: Spanned<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "version")]
    _version: u32,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    step: Vec<Spanned<Step>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Step {
    name: Option<String>,
    kind: Option<String>,
    #[serde(rename = "do")]
    does: Option<String>,
    reads: Option<String>,
    pattern: Option<String>,
    random: Option<String>,
    stride: Option<String>,
    zones: Option<Vec<Zone>>,
    blocks: Option<Blocks>,
    align: Option<String>,
    range: Option<String>,
    data: Option<String>,
    depth: Option<u32>,
    threads: Option<u32>,
    per_second: Option<f64>,
    time: Option<String>,
    bytes: Option<String>,
    operations: Option<u64>,
    passes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Blocks {
    One(String),
    Mix(Vec<Block>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    size: String,
    share: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Zone {
    range: String,
    requests: String,
}

pub(super) fn read(text: &str) -> Result<PatternFile, Flaw> {
    // A later version may have other keys: what is wrong then is the version.
    let Header { version } = parse(text)?;
    if *version.get_ref() != VERSION {
        let reason = Reason::PlanVersion { known: VERSION, found: *version.get_ref() };
        return Err(reason.at(line_of(text, version.span().start)));
    }
    let document: Document = parse(text)?;
    let mut steps = Vec::new();
    for (index, step) in document.step.into_iter().enumerate() {
        let line = line_of(text, step.span().start);
        steps.push(at_line(line, step.into_inner().read(index + 1))?);
    }
    Ok(PatternFile { name: document.name, description: document.description, steps, notes: Vec::new() })
}

fn parse<Parsed: DeserializeOwned>(text: &str) -> Result<Parsed, Flaw> {
    let error = match toml::from_str(text) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let message: Vec<&str> = error.message().lines().collect();
    let reason = Reason::Toml(message.join(" "));
    match error.span() {
        Some(span) => Err(reason.at(line_of(text, span.start))),
        None => Err(reason.into()),
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    let mut line = 1;
    for byte in text.bytes().take(byte) {
        line += usize::from(byte == b'\n');
    }
    line
}

impl Step {
    fn read(self, number: usize) -> Result<PatternStep, Reason> {
        let kind = match self.kind.as_deref() {
            None if self.does.is_none() => PhaseKind::Idle,
            None | Some("measure") => PhaseKind::Measure,
            Some("precondition") => PhaseKind::Precondition,
            Some("warm-up") => PhaseKind::WarmUp,
            Some("idle") => PhaseKind::Idle,
            Some("purge") if self.erases() => PhaseKind::Purge,
            Some("purge") => return Err(Reason::NoPurge),
            Some(other) => {
                return Err(word("kind", "one of measure, precondition, warm-up, idle, purge", other));
            }
        };
        let stop = self.stop()?;
        let load = if kind == PhaseKind::Idle {
            self.check_idle(&stop)?;
            None
        } else {
            Some(self.load()?)
        };
        let name = match self.name {
            Some(name) => name,
            None => format!("step {number}"),
        };
        Ok(PatternStep { name, kind, load, stop })
    }

    fn erases(&self) -> bool {
        match self.does.as_deref() {
            Some("discard") => true,
            Some("write") => self.data.as_deref() == Some("zero"),
            _ => false,
        }
    }

    fn check_idle(&self, stop: &Stop) -> Result<(), Reason> {
        if self.does.is_some() || self.blocks.is_some() || self.pattern.is_some() {
            return Err(Reason::BusyIdle);
        }
        if stop.time.is_none() { Err(Reason::EndlessIdle) } else { Ok(()) }
    }

    fn stop(&self) -> Result<Stop, Reason> {
        let time = in_key("time", self.time.as_deref().map(parse_duration).transpose())?;
        let bytes = in_key("bytes", self.bytes.as_deref().map(amount).transpose())?;
        for (key, value) in [("operations", self.operations), ("passes", self.passes)] {
            if value == Some(0) {
                return in_key(key, Err(Reason::NothingAtAll));
            }
        }
        Ok(Stop { time, bytes, operations: self.operations, passes: self.passes })
    }

    fn reads(&self) -> Result<Option<f64>, Reason> {
        match (self.does.as_deref(), &self.reads) {
            (Some("read"), None) => Ok(Some(1.0)),
            (Some("write"), None) => Ok(Some(0.0)),
            (Some("discard"), None) => Ok(None),
            (Some("mix"), Some(share)) => in_key("reads", parse_share(share)).map(Some),
            (Some("mix"), None) => Err(Reason::MixWithoutReads),
            (Some("read" | "write" | "discard"), Some(_)) => {
                Err(Reason::BelongsTo { key: "reads", owner: "do = \"mix\"".into() })
            }
            (Some(other), _) => Err(word("do", "one of read, write, mix, discard", other)),
            (None, _) => Err(Reason::KeyMissing { key: "do", example: ": read, write, mix or discard" }),
        }
    }

    fn load(&self) -> Result<Load, Reason> {
        let reads = self.reads()?;
        let (from, over) = match &self.range {
            Some(text) => in_key("range", range(text))?,
            None => (Amount::Share(0.0), None),
        };
        if let Some(rate) = self.per_second
            && !(rate.is_finite() && rate > 0.0)
        {
            return in_key("per-second", Err(Reason::NoRate(rate)));
        }
        Ok(Load {
            from,
            over,
            shape: self.shape()?,
            blocks: self.blocks()?,
            alignment: in_key("align", self.align.as_deref().map(block).transpose())?,
            reads,
            data: match self.data.as_deref() {
                None | Some("incompressible") => DataPattern::Incompressible,
                Some("zero") => DataPattern::Zero,
                Some(other) => return Err(word("data", "one of incompressible, zero", other)),
            },
            depth: in_key("depth", within(self.depth, QUEUE_DEPTH_MAX))?,
            threads: in_key("threads", within(self.threads, THREADS_MAX))?,
            per_second: self.per_second,
        })
    }

    fn shape(&self) -> Result<Shape, Reason> {
        let name = self.pattern.as_deref().unwrap_or("sequential");
        for (key, is_given, pattern) in [
            ("random", self.random.is_some(), "mixed"),
            ("stride", self.stride.is_some(), "strided"),
            ("zones", self.zones.is_some(), "zoned"),
        ] {
            if is_given && pattern != name {
                return Err(Reason::BelongsTo { key, owner: format!("pattern = \"{pattern}\"") });
            }
        }
        match name {
            "sequential" => Ok(Shape::Sequential),
            "random" => Ok(Shape::Random),
            "random-once" => Ok(Shape::RandomOnce),
            "mixed" => {
                let needs = Reason::PatternNeeds { pattern: "mixed", key: "random", kind: "share" };
                let share = self.random.as_deref().ok_or(needs)?;
                Ok(Shape::Mixed(in_key("random", parse_share(share))?))
            }
            "strided" => {
                let needs = Reason::PatternNeeds { pattern: "strided", key: "stride", kind: "size" };
                let stride = self.stride.as_deref().ok_or(needs)?;
                Ok(Shape::Strided(in_key("stride", block(stride))?))
            }
            "zoned" => {
                let needs = Reason::PatternNeeds { pattern: "zoned", key: "zones", kind: "list" };
                zones(self.zones.as_deref().ok_or(needs)?)
            }
            other => {
                Err(word("pattern", "one of sequential, random, random-once, mixed, zoned, strided", other))
            }
        }
    }

    fn blocks(&self) -> Result<Vec<(Bytes, f64)>, Reason> {
        let parts = match &self.blocks {
            None => {
                return Err(Reason::KeyMissing { key: "blocks", example: ", such as blocks = \"4KiB\"" });
            }
            Some(Blocks::One(size)) => return Ok(vec![(in_key("blocks", small_block(size))?, 1.0)]),
            Some(Blocks::Mix(parts)) => parts,
        };
        let (mut blocks, mut sum) = (Vec::new(), 0.0);
        for part in parts {
            let size = in_key("blocks", small_block(&part.size))?;
            let share = in_key("share", parse_share(&part.share))?;
            blocks.push((size, share));
            sum += share;
        }
        check_sum("the shares of `blocks`", sum)?;
        Ok(blocks)
    }
}

fn zones(given: &[Zone]) -> Result<Shape, Reason> {
    let (mut zones, mut ranges, mut requests) = (Vec::new(), 0.0, 0.0);
    for zone in given {
        let share_of_range = in_key("range", parse_share(&zone.range))?;
        let share_of_requests = in_key("requests", parse_share(&zone.requests))?;
        zones.push(ZoneShare { share_of_range, share_of_requests });
        ranges += share_of_range;
        requests += share_of_requests;
    }
    check_sum("the ranges of `zones`", ranges)?;
    check_sum("the requests of `zones`", requests)?;
    // To the last bit, so that what is left over by rounding does not count.
    if let Some((last, others)) = zones.split_last_mut() {
        let (mut ranges, mut requests) = (0.0, 0.0);
        for zone in others {
            ranges += zone.share_of_range;
            requests += zone.share_of_requests;
        }
        (last.share_of_range, last.share_of_requests) = (1.0 - ranges, 1.0 - requests);
    }
    Ok(Shape::Zoned(zones))
}

/// Shares are typed in percent with a few digits, which leaves a rest.
fn check_sum(shares: &'static str, sum: f64) -> Result<(), Reason> {
    if (sum - 1.0).abs() < 1e-3 {
        return Ok(());
    }
    Err(Reason::SharesSum { shares: shares.into(), percent: format!("{:.1}", sum * 100.0) })
}

fn word(key: &'static str, expected: &'static str, found: &str) -> Reason {
    Reason::Word { key, wrong: not_a(expected, found) }
}

fn within(value: Option<u32>, most: u32) -> Result<u32, Reason> {
    match value.unwrap_or(1) {
        value if (1..=most).contains(&value) => Ok(value),
        value => Err(Reason::OutOfBounds { value: value.to_string(), most: most.into() }),
    }
}

fn block(text: &str) -> Result<Bytes, Reason> {
    match parse_size(text)? {
        Bytes::ZERO => Err(Reason::NoSize),
        size => Ok(size),
    }
}

fn small_block(text: &str) -> Result<Bytes, Reason> {
    let size = block(text)?;
    if size > BLOCK_BYTES_MAX { Err(Reason::AboveLargest(text.into())) } else { Ok(size) }
}

fn amount(text: &str) -> Result<Amount, QuantityError> {
    if text.contains('%') {
        return Ok(Amount::Share(parse_share(text)?));
    }
    Ok(Amount::Bytes(parse_size(text)?))
}

fn range(text: &str) -> Result<(Amount, Option<Amount>), QuantityError> {
    let wrong = not_a("a range such as 10%..20% or 0..100GiB, with its end past its start", text);
    let Some((from, to)) = text.split_once("..") else { return Err(wrong) };
    let (Ok(from), Ok(to)) = (amount(from.trim()), amount(to.trim())) else { return Err(wrong) };
    match (from, to) {
        (Amount::Bytes(Bytes::ZERO), Amount::Share(to)) if to > 0.0 => {
            Ok((Amount::Share(0.0), Some(Amount::Share(to))))
        }
        (Amount::Share(first), Amount::Share(to)) if first < to => {
            Ok((from, Some(Amount::Share(to - first))))
        }
        (Amount::Bytes(first), Amount::Bytes(to)) if first < to => {
            Ok((from, Some(Amount::Bytes(to - first))))
        }
        _ => Err(wrong),
    }
}
