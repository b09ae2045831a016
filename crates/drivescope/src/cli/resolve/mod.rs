//! From what was typed to what it means, one function for each group of options. Nothing is opened here.

mod choose;
mod files;
mod import;
mod purge;
mod run_plan;
mod sizes;
mod sustain;
mod valleys;
mod verify;

use super::args::{
    AccessArguments, CheckArguments, EngineArgument, EstimateArguments, ExperimentArguments,
    GeometryArguments, GridArguments, MeasuringArguments, SurfaceArguments, SurfaceWayArguments,
    WishArguments, WritingArguments,
};
use crate::error::UserError;
use crate::experiment::access::AccessWish;
use crate::preserve::PreserveChoice;
use crate::target_choice::{Choice, parse_range};
use analysis::plan::{PARTS_MAX, Wish};
pub use choose::choose;
pub use files::files;
pub use import::import;
use io::rig::{EngineKind, EngineOptions};
use io::target::{SCRATCH_SIZE_MIN, WriteConsent};
use model::quantity_text::{parse_duration, parse_share, parse_size};
use model::range::ByteRange;
use model::units::{Bytes, Nanos, Offset};
use model::workload::Caching;
pub use purge::purge;
pub use run_plan::run_plan;
pub use sizes::sizes;
use std::hash::{BuildHasher, Hasher};
pub use sustain::sustain;
pub use valleys::valleys;
pub use verify::{VerifyAsked, verify};

/// What the options of an experiment mean.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The target and how to reach it.
    pub choice: Choice,
    /// About how long to take.
    pub time_limit: Option<Nanos>,
    /// How narrow the intervals shall be, as a share.
    pub precision: Option<f64>,
    /// The command that repeats the run.
    pub command: String,
}

/// How `surface` goes over a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceWay {
    /// Short visits to random places.
    Adaptive,
    /// So many areas, each of that size.
    Areas(u64, Bytes),
    /// Every block once; and again to compare it, if so.
    Full {
        /// Whether what was written is compared.
        verify: bool,
    },
}

/// The size of an area unless another is given: on any disk some whole groups of its surfaces' stripes.
const AREA_SIZE: Bytes = Bytes::from_gib(1);

/// Reads the options of `check`.
///
/// # Errors
/// Names the option that makes no sense, and what would.
pub fn check(arguments: &CheckArguments) -> Result<Resolved, UserError> {
    experiment("check", &[], &arguments.experiment, Some(&arguments.writing))
}

/// Reads the options of `surface`.
///
/// # Errors
/// As [`check`].
pub fn surface(arguments: &SurfaceArguments) -> Result<(Resolved, SurfaceWay), UserError> {
    let SurfaceArguments { experiment: typed, way, writing } = arguments;
    let (way, words) = surface_way(way)?;
    Ok((experiment("surface", &words, typed, Some(writing))?, way))
}

/// Reads the options of `access`.
///
/// # Errors
/// As [`check`].
pub fn access(arguments: &AccessArguments) -> Result<(Resolved, AccessWish), UserError> {
    let AccessArguments { experiment: typed, grid, writing } = arguments;
    let (wish, words) = access_wish(grid)?;
    Ok((experiment("access", &words, typed, Some(writing))?, wish))
}

/// What is varied, and the words that ask for it again.
fn access_wish(grid: &GridArguments) -> Result<(AccessWish, Vec<String>), UserError> {
    let usual = AccessWish::default();
    let blocks = list("--blocks", &grid.blocks, |text| Ok(parse_size(text)?))?;
    let spans = list("--spans", &grid.spans, span)?;
    let only_threads = grid.depths.is_empty() && !grid.threads.is_empty();
    let mut words = Vec::new();
    let mut repeat = |name: &str, typed: Vec<String>| {
        if !typed.is_empty() {
            words.extend([name.to_string(), quoted(&typed.join(","))]);
        }
    };
    repeat("--depths", grid.depths.iter().map(u32::to_string).collect());
    repeat("--threads", grid.threads.iter().map(u32::to_string).collect());
    repeat("--blocks", grid.blocks.clone());
    repeat("--spans", grid.spans.clone());
    let flags = [("--with-replacement", grid.with_replacement), ("--buffered", grid.buffered)];
    words.extend(flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_string()));
    let wish = AccessWish {
        depths: if grid.depths.is_empty() && !only_threads { usual.depths } else { grid.depths.clone() },
        threads: grid.threads.clone(),
        blocks: if blocks.is_empty() { usual.blocks } else { blocks },
        spans: if spans.is_empty() { usual.spans } else { spans },
        with_replacement: grid.with_replacement,
        caching: if grid.buffered { Caching::Buffered } else { Caching::Direct },
    };
    Ok((wish, words))
}

fn span(text: &str) -> Result<f64, UserError> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(UserError::usage(format!("{text} is no part of a drive; give shares such as 10%,1%"))),
    }
}

/// Reads the values of an option that takes several.
pub(super) fn list<Value>(
    name: &str,
    texts: &[String],
    read: impl Fn(&str) -> Result<Value, UserError>,
) -> Result<Vec<Value>, UserError> {
    texts.iter().map(|text| read(text).map_err(of_option(name))).collect()
}

/// Reads the options of `geometry`.
///
/// # Errors
/// As [`check`].
pub fn geometry(arguments: &GeometryArguments) -> Result<Resolved, UserError> {
    experiment("geometry", &[], &arguments.experiment, None)
}

/// The way, and the words that choose it again.
fn surface_way(way: &SurfaceWayArguments) -> Result<(SurfaceWay, Vec<String>), UserError> {
    if way.full {
        let words = ["--full"].into_iter().chain(way.verify.then_some("--verify"));
        return Ok((SurfaceWay::Full { verify: way.verify }, words.map(String::from).collect()));
    }
    let Some(areas) = way.areas else { return Ok((SurfaceWay::Adaptive, Vec::new())) };
    if areas == 0 {
        return Err(UserError::usage("--areas: no area at all shows nothing; give 1 or more"));
    }
    let size = option("--area-size", way.area_size.as_deref(), |text| Ok(parse_size(text)?))?;
    let mut words = vec!["--areas".into(), areas.to_string()];
    if let Some(typed) = &way.area_size {
        words.extend(["--area-size".into(), quoted(typed)]);
    }
    Ok((SurfaceWay::Areas(areas, size.unwrap_or(AREA_SIZE)), words))
}

/// Reads the options that all experiments have; `own` are the words of those that only this one has. One that only reads has no
/// options for writing.
pub(super) fn experiment(
    name: &str,
    own: &[String],
    typed: &ExperimentArguments,
    writing: Option<&WritingArguments>,
) -> Result<Resolved, UserError> {
    let ExperimentArguments { target, measuring, output: _ } = typed;
    if target.is_empty() {
        return Err(UserError::usage(
            "the target is an empty word. Name a device, a file, a folder or sim:NAME, or leave it out for this folder",
        ));
    }
    let seed = measuring.seed.unwrap_or_else(random_seed);
    let choice = Choice {
        target: target.to_string(),
        write: writing.and_then(consent),
        preserve: writing.filter(|writing| writing.preserve).map(|writing| PreserveChoice {
            folder: writing.journal.clone(),
            anyway: writing.journal_anyway,
        }),
        is_only_planned: measuring.dry_run,
        size_max: size_max(&measuring.max_size).map_err(of_option("--max-size"))?,
        range: option("--range", measuring.range.as_deref(), parse_range)?,
        engine: engine(measuring),
        seed,
    };
    let mut words = vec!["drivescope".to_string(), name.into(), quoted(target)];
    words.extend_from_slice(own);
    Ok(Resolved {
        choice,
        time_limit: option("--time-limit", measuring.time_limit.as_deref(), time_limit)?,
        precision: option("--precision", measuring.precision.as_deref(), precision)?,
        command: command(words, writing, measuring, seed),
    })
}

/// What somebody wants to know the time of.
pub struct EstimateWish {
    /// The names of the runs.
    pub runs: Vec<String>,
    /// Whether to read and to write all of it.
    pub full_pass: bool,
    /// Which part is backed up.
    pub backup: Option<ByteRange>,
    /// Whether a RAID is rebuilt.
    pub rebuild: bool,
    /// Whether the surface is checked.
    pub surface_check: bool,
    /// What 99 of 100 answers may take.
    pub latency_budget: Option<Nanos>,
}

/// Reads the options of `estimate`. Without any, all that needs no size is asked for.
///
/// # Errors
/// Names the option that makes no sense, and what would.
pub fn estimate(arguments: &EstimateArguments) -> Result<EstimateWish, UserError> {
    let EstimateArguments { runs, full_pass, backup, from, rebuild, latency_budget, surface_check, page: _ } =
        arguments;
    let size = option("--backup", backup.as_deref(), |text| Ok(parse_size(text)?))?;
    let from = option("--from", from.as_deref(), |text| Ok(parse_size(text)?))?.unwrap_or(Bytes::ZERO);
    if size == Some(Bytes::ZERO) {
        return Err(UserError::usage("--backup: a backup of nothing takes no time. Give a size such as 2TB"));
    }
    let range = |size| {
        let past_the_end = || UserError::usage("--from: the backup would end past 64 bits");
        ByteRange::new(Offset(from.0), size).ok_or_else(past_the_end)
    };
    let latency_budget = latency_budget_of(latency_budget.as_deref())?;
    let is_all = !full_pass && size.is_none() && !rebuild && !surface_check && latency_budget.is_none();
    Ok(EstimateWish {
        runs: runs.clone(),
        full_pass: *full_pass || is_all,
        backup: size.map(range).transpose()?,
        rebuild: *rebuild || is_all,
        surface_check: *surface_check || is_all,
        latency_budget,
    })
}

/// Reads `--latency-budget`.
///
/// # Errors
/// When it is no time, or none at all.
pub fn latency_budget_of(text: Option<&str>) -> Result<Option<Nanos>, UserError> {
    option("--latency-budget", text, |text| match parse_duration(text)? {
        Nanos::ZERO => Err(UserError::usage("no drive answers in no time; give a time such as 20ms")),
        budget => Ok(budget),
    })
}

/// Reads how to cut a drive into partitions, if that was said.
///
/// # Errors
/// Names the option that makes no sense, and what would.
pub fn wish(arguments: &WishArguments) -> Result<Option<Wish>, UserError> {
    let fast = option("--fast", arguments.fast.as_deref(), fast_share)?;
    let at_least = option("--at-least", arguments.at_least.as_deref(), rate)?;
    let parts = option("--parts", arguments.parts.as_deref(), parts)?;
    Ok(at_least.or(parts).or(fast))
}

fn fast_share(text: &str) -> Result<Wish, UserError> {
    match parse_share(text)? {
        share if share > 0.0 && share < 1.0 => Ok(Wish::Fastest(share)),
        _ => Err(UserError::usage(format!("{text} leaves nothing to divide; give a share such as 10%"))),
    }
}

fn rate(text: &str) -> Result<Wish, UserError> {
    let size = text.strip_suffix("/s").map(str::trim_end).and_then(|size| parse_size(size).ok());
    match size {
        Some(Bytes(rate)) if rate > 0 => Ok(Wish::AtLeast(rate as f64)),
        _ => Err(UserError::usage(format!("`{text}` is not a rate such as 150MB/s"))),
    }
}

fn parts(text: &str) -> Result<Wish, UserError> {
    match text.parse() {
        Ok(count @ 1..=PARTS_MAX) => Ok(Wish::Parts(count)),
        _ => Err(UserError::usage(format!("`{text}` is not a number of partitions from 1 to {PARTS_MAX}"))),
    }
}

/// Reads the value of an option, if it was given.
pub(super) fn option<Value>(
    name: &str,
    text: Option<&str>,
    read: impl Fn(&str) -> Result<Value, UserError>,
) -> Result<Option<Value>, UserError> {
    text.map(read).transpose().map_err(of_option(name))
}

/// An error that says which option it is about.
pub(super) fn of_option(name: &str) -> impl Fn(UserError) -> UserError {
    move |error| UserError { text: format!("{name}: {}", error.text), ..error }
}

fn size_max(text: &str) -> Result<Bytes, UserError> {
    let size = parse_size(text)?;
    if size < SCRATCH_SIZE_MIN {
        return Err(UserError::usage(format!(
            "a scratch file of {text} is too small to measure anything; give {SCRATCH_SIZE_MIN} or more"
        )));
    }
    Ok(size)
}

fn consent(writing: &WritingArguments) -> Option<WriteConsent> {
    writing
        .write
        // What is preserved is not destroyed; that nobody uses the drive is asked all the same.
        .then(|| WriteConsent {
            destroy_data: writing.destroy_data || writing.preserve,
            confirm: writing.confirm.clone(),
        })
}

fn engine(measuring: &MeasuringArguments) -> EngineOptions {
    let kind = match measuring.engine {
        EngineArgument::Auto => EngineKind::Auto,
        EngineArgument::Uring => EngineKind::Uring,
        EngineArgument::Psync => EngineKind::Psync,
    };
    EngineOptions { kind, polled: measuring.polled }
}

fn time_limit(text: &str) -> Result<Nanos, UserError> {
    let limit = parse_duration(text)?;
    if limit < Nanos::from_secs(5) {
        return Err(UserError::usage(format!(
            "a time limit of {text} is too short to measure anything; give 5s or more"
        )));
    }
    Ok(limit)
}

fn precision(text: &str) -> Result<f64, UserError> {
    let share = parse_share(text)?;
    if share < 1e-4 {
        return Err(UserError::usage(format!("a precision of {text} cannot be reached; give 0.01% or more")));
    }
    Ok(share)
}

/// A seed nobody chose: the keys of the standard library's hasher are drawn from the system's randomness. Kept below
/// 2⁵³, so that every reader of JSON gets it whole.
fn random_seed() -> u64 {
    std::hash::RandomState::new().build_hasher().finish() >> 11
}

/// The command that repeats a run: what was typed, without where its output goes, with the seed.
fn command(
    mut words: Vec<String>,
    writing: Option<&WritingArguments>,
    measuring: &MeasuringArguments,
    seed: u64,
) -> String {
    let mut flag = |name: &str, given: bool| {
        if given {
            words.push(name.into());
        }
    };
    flag("--write", writing.is_some_and(|writing| writing.write));
    flag("--destroy-data", writing.is_some_and(|writing| writing.destroy_data));
    flag("--preserve", writing.is_some_and(|writing| writing.preserve));
    flag("--journal-anyway", writing.is_some_and(|writing| writing.journal_anyway));
    flag("--polled", measuring.polled);
    flag("--trace", measuring.trace);
    let mut option = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            words.extend([name.to_string(), quoted(value)]);
        }
    };
    let journal = writing
        .and_then(|writing| writing.journal.as_deref())
        .map(|path| path.to_string_lossy().into_owned());
    option("--journal", journal.as_deref());
    option("--confirm", writing.and_then(|writing| writing.confirm.as_deref()));
    option("--max-size", Some(measuring.max_size.as_str()).filter(|size| *size != "4GiB"));
    option("--range", measuring.range.as_deref());
    option("--time-limit", measuring.time_limit.as_deref());
    option("--precision", measuring.precision.as_deref());
    option(
        "--engine",
        match measuring.engine {
            EngineArgument::Auto => None,
            EngineArgument::Uring => Some("uring"),
            EngineArgument::Psync => Some("psync"),
        },
    );
    option("--seed", Some(&seed.to_string()));
    words.join(" ")
}

/// A word as a shell reads it back.
pub(super) fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-:%@+=,".contains(c));
    if plain { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Arguments, Command};
    use super::*;
    use clap::Parser;

    fn resolve(words: &str) -> Result<Resolved, UserError> {
        let arguments = Arguments::try_parse_from(words.split(' ')).expect("words that parse");
        match arguments.command {
            Some(Command::Check(arguments)) => check(&arguments),
            _ => panic!("a check"),
        }
    }

    #[test]
    fn the_command_repeats_the_run() {
        let typed =
            "drivescope check sim:zoned --write --range 10%..20% --time-limit 20s --seed 7 --json x.json -q";
        let command = resolve(typed).unwrap().command;
        assert_eq!(command, "drivescope check sim:zoned --write --range 10%..20% --time-limit 20s --seed 7");
        assert_eq!(resolve(&command).unwrap().command, command);
        assert_eq!(quoted("/tmp/it's"), r"'/tmp/it'\''s'");
    }

    #[test]
    fn nobodys_seed_is_kept() {
        let resolved = resolve("drivescope check .").unwrap();
        assert!(resolved.command.ends_with(&format!("--seed {}", resolved.choice.seed)));
        assert!(resolved.choice.write.is_none());
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (words, expected) in [
            ("drivescope check . --time-limit 10", "--time-limit: `10` is not a duration"),
            ("drivescope check . --time-limit -5s", "--time-limit: `-5s` is not a duration"),
            ("drivescope check . --max-size 1MiB", "--max-size: a scratch file of 1MiB is too small"),
            ("drivescope check . --time-limit 1s", "too short"),
            ("drivescope check . --precision 0", "`0` is not a share"),
            ("drivescope check . --precision 0%", "cannot be reached"),
            ("drivescope check . --max-size 4blocks", "`4blocks` is not a size"),
            ("drivescope check . --range 5", "`5` is not a range"),
        ] {
            let Err(error) = resolve(words) else { panic!("{words} was taken") };
            assert!(error.text.contains(expected) && error.status == 2, "{words}: {error}");
        }
    }

    #[test]
    fn data_is_destroyed_only_when_writing_was_asked_for() {
        for words in ["drivescope check /dev/x --destroy-data", "drivescope check /dev/x --confirm S"] {
            assert!(Arguments::try_parse_from(words.split(' ')).is_err(), "{words}");
        }
    }
}
