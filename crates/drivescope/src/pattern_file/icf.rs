//! Iometer configuration files (`.icf`, versions 1.1 and 200x): the access specifications, in the order in which the first
//! manager's workers have them assigned, with run time, outstanding I/Os and the size of the disk. Format: Iometer User's
//! Guide (Intel, 2003), and the files that Iometer 2006 and 1.1 write.
//!
//! A file is lines: a heading in quotes says what follows, `'Access specification name,default assignment`, and values
//! stand in the lines after it. What is not about access is passed over.

use super::{Amount, Flaw, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::PhaseKind;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, DataPattern, QUEUE_DEPTH_MAX};

/// A sector in "maximum size" and "starting sector".
const SECTOR_BYTES: u64 = 512;
/// Iometer's own limit of lines in a specification.
const LINES_MAX: usize = 100;
const SPECIFICATIONS_MAX: usize = 500;
const NAME_LETTERS_MAX: usize = 200;

/// A line of a specification.
struct AccessLine {
    number: usize,
    size: u64,
    share: f64,
    reads: f64,
    random: f64,
    alignment: u64,
}

struct Specification {
    name: String,
    number: usize,
    lines: Vec<AccessLine>,
}

/// What a file says beside its specifications.
#[derive(Default)]
struct Settings {
    run_time: Option<Nanos>,
    outstanding: Option<u32>,
    size_sectors: u64,
    first_sector: u64,
    assigned: Vec<(usize, String)>,
    workers: usize,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<PatternFile, Flaw> {
    let (specifications, settings) = scan(text)?;
    if specifications.is_empty() {
        return Err((
            None,
            "it has no access specification: no line `'ACCESS SPECIFICATIONS` with one below".into(),
        ));
    }
    let mut chosen: Vec<&Specification> = Vec::new();
    for (number, name) in &settings.assigned {
        let found = specifications.iter().find(|specification| specification.name == *name);
        let found =
            found.ok_or_else(|| (Some(*number), format!("`{name}` is assigned but not specified")))?;
        if !chosen.iter().any(|known| known.name == found.name) {
            chosen.push(found);
        }
    }
    if chosen.is_empty() {
        chosen = specifications.iter().collect();
    }
    let mut notes = Vec::new();
    if settings.workers > 1 {
        notes.push(format!(
            "Iometer would run {} workers at once. Here one does what any of them has assigned, one after the other.",
            settings.workers
        ));
    }
    let steps = chosen
        .into_iter()
        .map(|specification| step(specification, &settings, &mut notes))
        .collect::<Result<Vec<_>, Flaw>>()?;
    Ok(PatternFile { name: String::new(), description: String::new(), steps, notes })
}

/// Goes through the lines.
fn scan(text: &str) -> Result<(Vec<Specification>, Settings), Flaw> {
    let mut specifications: Vec<Specification> = Vec::new();
    let mut settings = Settings::default();
    let mut heading = String::new();
    let mut is_access = false;
    for (index, raw) in text.lines().enumerate() {
        let (number, line) = (index + 1, raw.trim());
        if let Some(words) = line.strip_prefix('\'') {
            is_access = (is_access || words.starts_with("ACCESS SPECIFICATIONS"))
                && !words.starts_with("END access specifications");
            // Iometer writes the columns of some values as a second heading.
            if !words.starts_with('\t') && !words.starts_with("hours") {
                heading = words.to_ascii_lowercase();
            }
            continue;
        }
        if let Some(version) = line.strip_prefix("Version ") {
            check_version(version).map_err(|reason| (Some(number), reason))?;
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let flaw = |reason: String| (Some(number), reason);
        match heading.as_str() {
            _ if is_access && heading.starts_with("access specification name") => {
                let name = line.rsplit_once(',').map_or(line, |(name, _)| name).trim();
                if specifications.len() >= SPECIFICATIONS_MAX {
                    return Err(flaw(format!("more than {SPECIFICATIONS_MAX} specifications")));
                }
                let name = name.chars().take(NAME_LETTERS_MAX).collect();
                specifications.push(Specification { name, number, lines: Vec::new() });
            }
            _ if is_access && heading.starts_with("size,") => {
                let specification =
                    specifications.last_mut().ok_or_else(|| flaw("values before a name".into()))?;
                if specification.lines.len() >= LINES_MAX {
                    return Err(flaw(format!("more than {LINES_MAX} lines in a specification")));
                }
                specification.lines.push(access_line(number, line).map_err(flaw)?);
            }
            "run time" => settings.run_time = run_time(line).map_err(flaw)?,
            _ if heading.starts_with("number of outstanding ios") && settings.outstanding.is_none() => {
                settings.outstanding = Some(outstanding(line).map_err(flaw)?);
            }
            _ if heading.starts_with("disk maximum size") && settings.size_sectors == 0 => {
                (settings.size_sectors, settings.first_sector) = extent(line).map_err(flaw)?;
            }
            "assigned access specs" => {
                settings.assigned.push((number, line.chars().take(NAME_LETTERS_MAX).collect()))
            }
            "worker" => settings.workers += 1,
            "test type" if line != "NORMAL" => {
                return Err(flaw(format!(
                    "test type {line} goes through several settings, which is not supported; set it to NORMAL"
                )));
            }
            _ => {}
        }
    }
    Ok((specifications, settings))
}

fn check_version(version: &str) -> Result<(), String> {
    let version = version.trim();
    if version.starts_with("1.1") || version.starts_with("200") {
        return Ok(());
    }
    Err(format!("version {version} is none that this program knows: it reads 1.1 and 2003 to 2008"))
}

/// size, % of size, % reads, % random, delay, burst, align, reply
fn access_line(number: usize, line: &str) -> Result<AccessLine, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [size, share, reads, random, delay, burst, alignment, reply] = fields[..] else {
        return Err(format!(
            "{} values, and 8 are needed: size, % of size, % reads, % random, delay, burst, align, reply",
            fields.len()
        ));
    };
    let whole = |name: &str, text: &str| {
        text.parse::<u64>().map_err(|_| format!("{name}: `{text}` is not a whole number of at least 0"))
    };
    let percent = |name: &str, text: &str| match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("{name}: `{text}` is not a number from 0 to 100")),
    };
    let size = whole("size", size)?;
    if size == 0 || size > BLOCK_BYTES_MAX.0 {
        return Err(format!("size: {size} bytes is not in 1 to {}", BLOCK_BYTES_MAX.0));
    }
    if whole("delay", delay)? > 0 {
        return Err(format!(
            "delay: {delay} ms between bursts is not supported; set it to 0, or use a plan file with `per-second`"
        ));
    }
    whole("burst", burst)?;
    if whole("reply", reply)? > 0 {
        return Err("reply: replies over a network are not supported; set it to 0".into());
    }
    Ok(AccessLine {
        number,
        size,
        share: percent("% of size", share)?,
        reads: percent("% reads", reads)?,
        random: percent("% random", random)?,
        alignment: whole("align", alignment)?,
    })
}

/// Hours, minutes, seconds; none when all are zero, which is without end.
fn run_time(line: &str) -> Result<Option<Nanos>, String> {
    let wrong = || format!("run time: `{line}` is not hours, minutes and seconds");
    let fields: Vec<u64> =
        line.split_whitespace().map(|field| field.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let [hours, minutes, seconds] = fields[..] else { return Err(wrong()) };
    let minutes = hours.checked_mul(60).and_then(|sum| sum.checked_add(minutes));
    let seconds = minutes.and_then(|sum| sum.checked_mul(60)).and_then(|sum| sum.checked_add(seconds));
    let time = seconds.and_then(|seconds| seconds.checked_mul(1_000_000_000)).ok_or_else(wrong)?;
    Ok((time > 0).then_some(Nanos(time)))
}

fn outstanding(line: &str) -> Result<u32, String> {
    let first = line.split(',').next().unwrap_or_default().trim();
    first.parse::<u32>().ok().filter(|depth| (1..=QUEUE_DEPTH_MAX).contains(depth)).ok_or_else(|| {
        format!("number of outstanding IOs: `{first}` is not a whole number from 1 to {QUEUE_DEPTH_MAX}")
    })
}

fn extent(line: &str) -> Result<(u64, u64), String> {
    let mut fields = line.split(',').map(|field| field.trim().parse::<u64>());
    match (fields.next(), fields.next()) {
        (Some(Ok(size)), Some(Ok(first))) => Ok((size, first)),
        _ => Err(format!("disk maximum size, starting sector: `{line}` are not two whole numbers")),
    }
}

fn step(
    specification: &Specification,
    settings: &Settings,
    notes: &mut Vec<String>,
) -> Result<PatternStep, Flaw> {
    let Specification { name, number, lines } = specification;
    let lines: Vec<&AccessLine> = lines.iter().filter(|line| line.share > 0.0).collect();
    let (Some(first), total) = (lines.first(), lines.iter().map(|line| line.share).sum::<f64>()) else {
        return Err((Some(*number), format!("`{name}` has no line of values")));
    };
    // Iometer asks for a sum of 100; shares of a third are written as 33, 33, 34.
    if (total - 1.0).abs() > 0.005 {
        return Err((
            Some(*number),
            format!("the shares of `{name}` add up to {:.0} %, not to 100 %", total * 100.0),
        ));
    }
    let mean = |value: fn(&AccessLine) -> f64| {
        lines.iter().map(|line| line.share * value(line)).sum::<f64>() / total
    };
    let (reads, random) = (mean(|line| line.reads), mean(|line| line.random));
    if lines.iter().any(|line| line.reads != first.reads || line.random != first.random) {
        notes.push(format!(
            "The lines of `{name}` differ in reads or random places. Here sizes, reads and places are drawn apart from each \
             other, with the same shares over all."
        ));
    }
    if let Some(odd) = lines.iter().find(|line| line.alignment != first.alignment) {
        return Err((Some(odd.number), "lines with different alignments are not supported".into()));
    }
    let bytes = |sectors: u64| Bytes(sectors.saturating_mul(SECTOR_BYTES));
    let shape = match random {
        0.0 => Shape::Sequential,
        random if random >= 1.0 => Shape::Random,
        random => Shape::Mixed(random),
    };
    Ok(PatternStep {
        name: name.clone(),
        kind: PhaseKind::Measure,
        load: Some(Load {
            from: Amount::Bytes(bytes(settings.first_sector)),
            over: (settings.size_sectors > 0).then(|| Amount::Bytes(bytes(settings.size_sectors))),
            shape,
            blocks: lines.iter().map(|line| (Bytes(line.size), line.share)).collect(),
            // Zero stands for the sector.
            alignment: Some(Bytes(first.alignment.max(SECTOR_BYTES))),
            reads: Some(reads),
            data: DataPattern::Incompressible,
            depth: settings.outstanding.unwrap_or(1),
            threads: 1,
            per_second: None,
        }),
        stop: Stop { time: settings.run_time, ..Stop::default() },
    })
}
