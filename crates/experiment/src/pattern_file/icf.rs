//! Iometer configuration files (`.icf`, versions 1.1 and 200x): the access specifications, in the order in which the first
//! manager's workers have them assigned, with run time, outstanding I/Os and the size of the disk. Format: Iometer User's
//! Guide (Intel, 2003), and the files that Iometer 2006 and 1.1 write.
//!
//! A file is lines: a heading in quotes such as `'Access specification name,default assignment`, then its values.

use super::flaw::{Flaw, Reason, at_line, count, in_key, not_a, percent};
use super::types::{Amount, Load, PatternFile, PatternStep, Shape, Stop};
use model::plan::PhaseKind;
use model::quantity_text::QuantityError;
use model::units::{Bytes, Nanos};
use model::workload::{BLOCK_BYTES_MAX, DataPattern, QUEUE_DEPTH_MAX};

/// A sector in "maximum size" and "starting sector".
const SECTOR: Bytes = Bytes::new(512);
/// Iometer's own limit of lines in a specification.
const LINES_MAX: usize = 100;
const SPECIFICATIONS_MAX: usize = 500;
const NAME_LETTERS_MAX: usize = 200;

struct AccessLine {
    number: usize,
    size: Bytes,
    share: f64,
    reads: f64,
    random: f64,
    alignment: Bytes,
}

struct Specification {
    name: String,
    number: usize,
    lines: Vec<AccessLine>,
}

#[derive(Default)]
struct Scan {
    specifications: Vec<Specification>,
    is_access: bool,
    /// In small letters; says what the lines after it hold.
    heading: String,
    run_time: Option<Nanos>,
    outstanding: Option<u32>,
    size: Bytes,
    first: Bytes,
    assigned: Vec<(usize, String)>,
    workers: usize,
}

pub(super) fn read(text: &str) -> Result<PatternFile, Flaw> {
    let mut scan = Scan::default();
    for (index, line) in text.lines().enumerate() {
        at_line(index + 1, scan.take(index + 1, line.trim()))?;
    }
    let mut file = PatternFile::default();
    if scan.workers > 1 {
        file.notes.push(format!(
            "Iometer would run {} workers in parallel. Here one worker runs all assignments in turn.",
            scan.workers
        ));
    }
    for specification in scan.chosen()? {
        file.steps.push(scan.step(specification, &mut file.notes)?);
    }
    Ok(file)
}

impl Scan {
    fn take(&mut self, number: usize, line: &str) -> Result<(), Reason> {
        if let Some(words) = line.strip_prefix('\'') {
            self.is_access = (self.is_access || words.starts_with("ACCESS SPECIFICATIONS"))
                && !words.starts_with("END access specifications");
            // Iometer writes the columns of some values as a second heading.
            if !words.starts_with('\t') && !words.starts_with("hours") {
                self.heading = words.to_ascii_lowercase();
            }
            Ok(())
        } else if let Some(version) = line.strip_prefix("Version ") {
            check_version(version.trim())
        } else if line.is_empty() {
            Ok(())
        } else if self.is_access && self.heading.starts_with("access specification name") {
            self.begin_specification(number, line)
        } else if self.is_access && self.heading.starts_with("size,") {
            let specification = self.specifications.last_mut().ok_or(Reason::ValuesBeforeName)?;
            if specification.lines.len() >= LINES_MAX {
                return Err(Reason::TooMany { most: LINES_MAX, what: "lines in a specification" });
            }
            specification.lines.push(access_line(number, line)?);
            Ok(())
        } else {
            self.take_setting(number, line)
        }
    }

    fn begin_specification(&mut self, number: usize, line: &str) -> Result<(), Reason> {
        if self.specifications.len() >= SPECIFICATIONS_MAX {
            return Err(Reason::TooMany { most: SPECIFICATIONS_MAX, what: "specifications" });
        }
        let (name, _default_assignment) = line.rsplit_once(',').unwrap_or((line, ""));
        let name = name.trim().chars().take(NAME_LETTERS_MAX).collect();
        self.specifications.push(Specification { name, number, lines: Vec::new() });
        Ok(())
    }

    fn take_setting(&mut self, number: usize, line: &str) -> Result<(), Reason> {
        match self.heading.as_str() {
            "run time" => self.run_time = in_key("run time", run_time(line))?,
            "assigned access specs" => {
                self.assigned.push((number, line.chars().take(NAME_LETTERS_MAX).collect()));
            }
            "worker" => self.workers += 1,
            "test type" if line != "NORMAL" => return Err(Reason::TestType(line.into())),
            heading if heading.starts_with("number of outstanding ios") && self.outstanding.is_none() => {
                let (first, _) = line.split_once(',').unwrap_or((line, ""));
                let depth = count(first.trim(), QUEUE_DEPTH_MAX);
                self.outstanding = Some(in_key("number of outstanding IOs", depth)?);
            }
            heading if heading.starts_with("disk maximum size") && self.size.is_zero() => {
                (self.size, self.first) = in_key("disk maximum size, starting sector", extent(line))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What is assigned, each once; all of it if nothing is.
    fn chosen(&self) -> Result<Vec<&Specification>, Flaw> {
        if self.specifications.is_empty() {
            return Err(Reason::NoSpecification.into());
        }
        let mut chosen = Vec::<&Specification>::new();
        for (number, name) in &self.assigned {
            let Some(found) = self.specifications.iter().find(|known| known.name == *name) else {
                return Err(Reason::NotSpecified(name.clone()).at(*number));
            };
            if !chosen.iter().any(|known| known.name == *name) {
                chosen.push(found);
            }
        }
        if chosen.is_empty() {
            chosen = self.specifications.iter().collect();
        }
        Ok(chosen)
    }

    fn step(&self, specification: &Specification, notes: &mut Vec<String>) -> Result<PatternStep, Flaw> {
        let Specification { name, number, lines } = specification;
        let used = lines.iter().filter(|line| line.share > 0.0);
        let Some(first) = used.clone().next() else { return Err(Reason::NoValues(name.clone()).at(*number)) };
        let (mut total, mut reads, mut random, mut is_even) = (0.0, 0.0, 0.0, true);
        for line in used.clone() {
            total += line.share;
            reads += line.share * line.reads;
            random += line.share * line.random;
            is_even &= line.reads == first.reads && line.random == first.random;
        }
        // Iometer asks for a sum of 100; shares of a third are written as 33, 33, 34.
        if (total - 1.0).abs() > 0.005 {
            let (shares, percent) = (format!("the shares of `{name}`"), format!("{:.0}", total * 100.0));
            return Err(Reason::SharesSum { shares, percent }.at(*number));
        }
        if !is_even {
            notes.push(format!(
                "The lines of `{name}` differ in read or random share. Here sizes, reads and offsets are drawn independently, with the same overall shares."
            ));
        }
        if let Some(odd) = used.clone().find(|line| line.alignment != first.alignment) {
            return Err(Reason::Alignments.at(odd.number));
        }
        let shape = match random / total {
            0.0 => Shape::Sequential,
            random if random >= 1.0 => Shape::Random,
            random => Shape::Mixed(random),
        };
        let load = Load {
            from: Amount::Bytes(self.first),
            over: if self.size.is_zero() { None } else { Some(Amount::Bytes(self.size)) },
            shape,
            blocks: used.map(|line| (line.size, line.share)).collect(),
            // Zero stands for the sector.
            alignment: Some(first.alignment.max(SECTOR)),
            reads: Some(reads / total),
            data: DataPattern::Incompressible,
            depth: self.outstanding.unwrap_or(1),
            threads: 1,
            per_second: None,
        };
        let stop = Stop { time: self.run_time, ..Stop::default() };
        Ok(PatternStep { name: name.clone(), kind: PhaseKind::Measure, load: Some(load), stop })
    }
}

fn check_version(version: &str) -> Result<(), Reason> {
    if version.starts_with("1.1") || version.starts_with("200") {
        return Ok(());
    }
    Err(Reason::IometerVersion(version.into()))
}

/// size, % of size, % reads, % random, delay, burst, align, reply
fn access_line(number: usize, line: &str) -> Result<AccessLine, Reason> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [size, share, reads, random, delay, burst, alignment, reply] = fields[..] else {
        return Err(Reason::ValueCount(fields.len()));
    };
    let size = whole("size", size)?;
    if size == 0 || size > BLOCK_BYTES_MAX.get() {
        let reason = Reason::OutOfBounds { value: format!("{size} bytes"), most: BLOCK_BYTES_MAX.get() };
        return in_key("size", Err(reason));
    }
    let delay = whole("delay", delay)?;
    if delay > 0 {
        return Err(Reason::Delay(delay));
    }
    whole("burst", burst)?;
    if whole("reply", reply)? > 0 {
        return Err(Reason::Replies);
    }
    Ok(AccessLine {
        number,
        size: Bytes::new(size),
        share: in_key("% of size", percent(share))?,
        reads: in_key("% reads", percent(reads))?,
        random: in_key("% random", percent(random))?,
        alignment: Bytes::new(whole("align", alignment)?),
    })
}

fn whole(key: &'static str, text: &str) -> Result<u64, Reason> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => in_key(key, Err(not_a("a whole number of at least 0", text))),
    }
}

/// Hours, minutes, seconds; none when all are zero, which is without end.
fn run_time(line: &str) -> Result<Option<Nanos>, QuantityError> {
    let wrong = not_a("hours, minutes and seconds", line);
    let fields: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
    let Ok([hours, minutes, seconds]) = fields.as_deref() else { return Err(wrong) };
    let mut time = Some(Nanos::ZERO);
    for (count, unit) in [(hours, 3600), (minutes, 60), (seconds, 1)] {
        let part = Nanos::from_secs(unit).get().checked_mul(*count);
        time = match (time, part) {
            (Some(time), Some(part)) => time.checked_add(Nanos::new(part)),
            _ => None,
        };
    }
    match time {
        None => Err(wrong),
        Some(Nanos::ZERO) => Ok(None),
        time => Ok(time),
    }
}

fn extent(line: &str) -> Result<(Bytes, Bytes), Reason> {
    let mut fields = line.split(',').map(str::trim).map(str::parse::<u64>);
    match (fields.next(), fields.next()) {
        (Some(Ok(size)), Some(Ok(first))) => Ok((sectors(size), sectors(first))),
        _ => Err(Reason::NotTwoNumbers(line.into())),
    }
}

fn sectors(count: u64) -> Bytes {
    Bytes::new(count.saturating_mul(SECTOR.get()))
}
