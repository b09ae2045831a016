//! Plan files of our own, version 1: TOML, every key checked, every error with its line. `docs/patterns.md` has all keys.

use super::{Amount, Flaw, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::PhaseKind;
use model::quantity_text::{parse_duration, parse_share, parse_size};
use model::units::Bytes;
use model::workload::{BLOCK_BYTES_MAX, DataPattern, QUEUE_DEPTH_MAX, THREADS_MAX, ZoneShare};
use serde::Deserialize;
use toml::Spanned;

/// The version that is read.
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

/// Reads a plan.
pub(super) fn read(text: &str) -> Result<PatternFile, Flaw> {
    let line_of = |byte: usize| 1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count();
    let explain = |error: toml::de::Error| {
        let message: Vec<&str> = error.message().lines().collect();
        (error.span().map(|span| line_of(span.start)), message.join(" "))
    };
    // A later version may have other keys: what is wrong then is the version.
    let Header { version } = toml::from_str(text).map_err(explain)?;
    if *version.get_ref() != VERSION {
        let reason = format!("this program reads plans of version {VERSION}, not {}", version.get_ref());
        return Err((Some(line_of(version.span().start)), reason));
    }
    let document: Document = toml::from_str(text).map_err(explain)?;
    let mut steps = Vec::new();
    for (index, step) in document.step.into_iter().enumerate() {
        let line = line_of(step.span().start);
        steps.push(step.into_inner().read(index).map_err(|reason| (Some(line), reason))?);
    }
    Ok(PatternFile { name: document.name, description: document.description, steps, notes: Vec::new() })
}

impl Step {
    fn read(self, index: usize) -> Result<PatternStep, String> {
        let kind = match self.kind.as_deref() {
            None if self.does.is_none() => PhaseKind::Idle,
            None | Some("measure") => PhaseKind::Measure,
            Some("precondition") => PhaseKind::Precondition,
            Some("warm-up") => PhaseKind::WarmUp,
            Some("idle") => PhaseKind::Idle,
            Some("purge") if self.empties() => PhaseKind::Purge,
            Some("purge") => {
                return Err("a purge is do = \"discard\", or do = \"write\" with data = \"zero\"".into());
            }
            Some(other) => {
                return Err(format!(
                    "kind `{other}` is not one of measure, precondition, warm-up, idle, purge"
                ));
            }
        };
        let stop = self.stop()?;
        let load = if kind == PhaseKind::Idle { self.idle(&stop)? } else { Some(self.load()?) };
        let name = self.name.unwrap_or_else(|| format!("step {}", index + 1));
        Ok(PatternStep { name, kind, load, stop })
    }

    fn empties(&self) -> bool {
        match self.does.as_deref() {
            Some("discard") => true,
            Some("write") => self.data.as_deref() == Some("zero"),
            _ => false,
        }
    }

    fn idle(&self, stop: &Stop) -> Result<Option<Load>, String> {
        if self.does.is_some() || self.blocks.is_some() || self.pattern.is_some() {
            return Err("an idle step does nothing: leave out `do`, `blocks` and `pattern`".into());
        }
        if stop.time.is_none() {
            return Err("an idle step needs a `time`, such as time = \"30s\"".into());
        }
        Ok(None)
    }

    fn stop(&self) -> Result<Stop, String> {
        let time = self.time.as_deref().map(parse_duration).transpose().map_err(of("time"))?;
        let bytes =
            self.bytes.as_deref().map(amount).transpose().map_err(|error| format!("bytes: {error}"))?;
        for (key, value) in [("operations", self.operations), ("passes", self.passes)] {
            if value == Some(0) {
                return Err(format!("{key}: nothing at all measures nothing; give 1 or more"));
            }
        }
        Ok(Stop { time, bytes, operations: self.operations, passes: self.passes })
    }

    fn load(&self) -> Result<Load, String> {
        let reads = match (self.does.as_deref(), &self.reads) {
            (Some("read"), None) => Some(1.0),
            (Some("write"), None) => Some(0.0),
            (Some("discard"), None) => None,
            (Some("mix"), Some(share)) => Some(parse_share(share).map_err(of("reads"))?),
            (Some("mix"), None) => return Err("do = \"mix\" needs `reads`, such as reads = \"40%\"".into()),
            (Some("read" | "write" | "discard"), Some(_)) => {
                return Err("`reads` belongs to do = \"mix\"".into());
            }
            (Some(other), _) => return Err(format!("do `{other}` is not one of read, write, mix, discard")),
            (None, _) => return Err("the key `do` is missing: read, write, mix or discard".into()),
        };
        let (from, over) =
            self.range.as_deref().map(range).transpose()?.unwrap_or((Amount::Share(0.0), None));
        let per_second = self.per_second.filter(|rate| !(rate.is_finite() && *rate > 0.0));
        if let Some(rate) = per_second {
            return Err(format!("per-second: {rate} requests per second is not above zero"));
        }
        Ok(Load {
            from,
            over,
            shape: self.shape()?,
            blocks: self.blocks()?,
            alignment: self.align.as_deref().map(|text| block("align", text)).transpose()?,
            reads,
            data: match self.data.as_deref() {
                None | Some("incompressible") => DataPattern::Incompressible,
                Some("zero") => DataPattern::Zero,
                Some(other) => return Err(format!("data `{other}` is not one of incompressible, zero")),
            },
            depth: within("depth", self.depth, QUEUE_DEPTH_MAX)?,
            threads: within("threads", self.threads, THREADS_MAX)?,
            per_second: self.per_second,
        })
    }

    fn shape(&self) -> Result<Shape, String> {
        let name = self.pattern.as_deref().unwrap_or("sequential");
        let stray = [
            ("random", self.random.is_some(), "mixed"),
            ("stride", self.stride.is_some(), "strided"),
            ("zones", self.zones.is_some(), "zoned"),
        ];
        if let Some((key, _, pattern)) =
            stray.into_iter().find(|(_, given, pattern)| *given && *pattern != name)
        {
            return Err(format!("`{key}` belongs to pattern = \"{pattern}\""));
        }
        match name {
            "sequential" => Ok(Shape::Sequential),
            "random" => Ok(Shape::Random),
            "random-once" => Ok(Shape::RandomOnce),
            "mixed" => {
                let share = self.random.as_deref().ok_or("pattern = \"mixed\" needs `random`, a share")?;
                Ok(Shape::Mixed(parse_share(share).map_err(of("random"))?))
            }
            "strided" => {
                let stride = self.stride.as_deref().ok_or("pattern = \"strided\" needs `stride`, a size")?;
                Ok(Shape::Strided(block("stride", stride)?))
            }
            "zoned" => zones(self.zones.as_deref().ok_or("pattern = \"zoned\" needs `zones`, a list")?),
            other => Err(format!(
                "pattern `{other}` is not one of sequential, random, random-once, mixed, zoned, strided"
            )),
        }
    }

    fn blocks(&self) -> Result<Vec<(Bytes, f64)>, String> {
        match self.blocks.as_ref().ok_or("the key `blocks` is missing, such as blocks = \"4KiB\"")? {
            Blocks::One(size) => Ok(vec![(small_block(size)?, 1.0)]),
            Blocks::Mix(parts) => {
                let part = |part: &Block| {
                    Ok((small_block(&part.size)?, parse_share(&part.share).map_err(of("share"))?))
                };
                let parts = parts.iter().map(part).collect::<Result<Vec<_>, String>>()?;
                sums_to_one("the shares of `blocks`", parts.iter().map(|(_, share)| *share))?;
                Ok(parts)
            }
        }
    }
}

fn zones(zones: &[Zone]) -> Result<Shape, String> {
    let zone = |zone: &Zone| {
        Ok(ZoneShare {
            share_of_range: parse_share(&zone.range).map_err(of("range"))?,
            share_of_requests: parse_share(&zone.requests).map_err(of("requests"))?,
        })
    };
    let mut zones = zones.iter().map(zone).collect::<Result<Vec<_>, String>>()?;
    sums_to_one("the ranges of `zones`", zones.iter().map(|zone| zone.share_of_range))?;
    sums_to_one("the requests of `zones`", zones.iter().map(|zone| zone.share_of_requests))?;
    // To the last bit, so that what is left over by rounding does not count.
    if let Some((last, others)) = zones.split_last_mut() {
        last.share_of_range = 1.0 - others.iter().map(|zone| zone.share_of_range).sum::<f64>();
        last.share_of_requests = 1.0 - others.iter().map(|zone| zone.share_of_requests).sum::<f64>();
    }
    Ok(Shape::Zoned(zones))
}

/// Shares are typed in percent with a few digits, which leaves a rest.
fn sums_to_one(what: &str, shares: impl Iterator<Item = f64>) -> Result<(), String> {
    let sum: f64 = shares.sum();
    if (sum - 1.0).abs() < 1e-3 {
        Ok(())
    } else {
        Err(format!("{what} add up to {:.1} %, not to 100 %", sum * 100.0))
    }
}

fn of<E: std::fmt::Display>(key: &'static str) -> impl Fn(E) -> String {
    move |error| format!("{key}: {error}")
}

fn within(key: &str, value: Option<u32>, max: u32) -> Result<u32, String> {
    match value.unwrap_or(1) {
        value if (1..=max).contains(&value) => Ok(value),
        value => Err(format!("{key}: {value} is not in 1 to {max}")),
    }
}

fn block(key: &str, text: &str) -> Result<Bytes, String> {
    match parse_size(text).map_err(|error| format!("{key}: {error}"))? {
        Bytes(0) => Err(format!("{key}: nothing has no size; give 512 or more")),
        size => Ok(size),
    }
}

fn small_block(text: &str) -> Result<Bytes, String> {
    let size = block("blocks", text)?;
    if size > BLOCK_BYTES_MAX {
        Err(format!("blocks: {text} is above the largest, {BLOCK_BYTES_MAX}"))
    } else {
        Ok(size)
    }
}

/// A size, or a share of the range.
fn amount(text: &str) -> Result<Amount, String> {
    if text.contains('%') {
        return parse_share(text).map(Amount::Share).map_err(|error| error.to_string());
    }
    parse_size(text).map(Amount::Bytes).map_err(|error| error.to_string())
}

/// `10%..20%` or `0..100GiB`.
fn range(text: &str) -> Result<(Amount, Option<Amount>), String> {
    let wrong = || {
        format!("range: `{text}` is not a range such as 10%..20% or 0..100GiB, with its end past its start")
    };
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let both = |from: &str, to: &str| Ok::<_, String>((amount(from)?, amount(to)?));
    match both(from.trim(), to.trim()).map_err(|_| wrong())? {
        (Amount::Bytes(Bytes(0)), Amount::Share(to)) if to > 0.0 => {
            Ok((Amount::Share(0.0), Some(Amount::Share(to))))
        }
        (Amount::Share(from), Amount::Share(to)) if from < to => {
            Ok((Amount::Share(from), Some(Amount::Share(to - from))))
        }
        (Amount::Bytes(from), Amount::Bytes(to)) if from < to => {
            Ok((Amount::Bytes(from), Some(Amount::Bytes(Bytes(to.0 - from.0)))))
        }
        _ => Err(wrong()),
    }
}
