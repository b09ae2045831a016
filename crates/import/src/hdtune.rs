//! HD Tune and HD Tune Pro: the text of Benchmark, File Benchmark and Random Access, and lists of position and rate (GB; MB/s).
//!
//! It does not say whether its MB are of 10^6 or 2^20 bytes; 10^6 is taken. Its average is that of samples at equal distances, so that it is
//! higher than the rate of a full pass.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Place, Set, Transfer, Work};
use crate::text::{Field, Line, lines, number, rounded, unit_bytes};
use model::request::Operation;
use model::units::Bytes;

/// The benchmark's blocks, unless it was told otherwise.
const BLOCK: u64 = 64 << 10;
/// A list of fewer places is no pass over a drive.
const POINTS_MIN: usize = 16;
const GB: f64 = 1e9;
const MB: f64 = 1e6;

/// Whether it looks like one.
pub(crate) fn fits(text: &str) -> bool {
    lines(text).any(|line| line.text.trim_start().starts_with("HD Tune"))
}

#[derive(Default)]
struct Reader {
    imported: Imported,
    set: Set,
    notes: Vec<String>,
    operation: Option<Operation>,
    /// Positions and rates of a list.
    curve: Vec<(f64, f64)>,
}

/// Reads all results of a text.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let imported = Imported { tool: "HD Tune", direct: Some(true), ..Imported::default() };
    let mut reader = Reader { imported, ..Reader::default() };
    for line in lines(text) {
        reader.line(line)?;
    }
    reader.finish_curve();
    let Reader { mut imported, set, notes, .. } = reader;
    imported.sets.push(set);
    imported.notes.extend(notes);
    imported.notes.push("HD Tune does not say whether its MB are of 10^6 or 2^20 bytes; 10^6 is taken, which may be 5 % too low.".into());
    Ok(imported)
}

impl Reader {
    fn line(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text.trim();
        let lower = text.to_ascii_lowercase();
        if text.starts_with("HD Tune") {
            self.title(text);
        } else if lower.starts_with("read")
            && (lower.contains("test") || lower.contains("transfer rate"))
            && !text.contains(':')
        {
            self.operation = Some(Operation::Read);
        } else if lower.starts_with("write")
            && (lower.contains("test") || lower.contains("transfer rate"))
            && !text.contains(':')
        {
            self.operation = Some(Operation::Write);
        } else if let Some((key, _)) = text.split_once(':') {
            let value = line.after(":").expect("the line has a colon");
            self.keyed(key.trim(), value)?;
        } else if lower.starts_with("sequential ") || lower.starts_with("4 kb random") {
            self.file_row(line, &lower)?;
        } else if lower.contains("iops") && lower.contains("ms") {
            self.random_row(line)?;
        } else {
            self.point(line);
        }
        Ok(())
    }

    /// "HD Tune Pro: ST3000DM001 Benchmark".
    fn title(&mut self, text: &str) {
        self.operation = None;
        let (_, rest) = text.split_once(':').unwrap_or((text, ""));
        let ends = ["File Benchmark", "Random Access", "Benchmark", "Extra Tests"];
        let drive = ends.iter().find_map(|end| rest.trim().strip_suffix(end)).unwrap_or("").trim();
        if !drive.is_empty() {
            self.imported.drive = Some(drive.to_owned());
        }
        let version = text
            .split(':')
            .next()
            .unwrap_or("")
            .trim_start_matches("HD Tune")
            .trim_start_matches(" Pro")
            .trim();
        if number(version).is_some() {
            self.imported.version = Some(version.to_owned());
        }
    }

    fn keyed(&mut self, key: &str, value: Field<'_>) -> Result<(), ImportError> {
        match key.to_ascii_lowercase().as_str() {
            "transfer rate average" => {
                let rate = in_unit(&value, MB)?;
                let operation = self.operation.unwrap_or(Operation::Read);
                let bytes = rounded(rate)
                    .filter(|bytes| *bytes > 0)
                    .ok_or_else(|| value.error("a rate above zero"))?;
                let transfer = Transfer::of(Order::Sequential, operation, bytes, BLOCK);
                let name = format!("average of {} in order", operation.name());
                self.set.figures.push(Figure::of(name, Work::Transfer(transfer), 1.0));
            }
            "access time" => {
                let (milliseconds, _) = value.number_and_rest("a time in ms")?;
                if milliseconds > 0.0 {
                    let transfer = Transfer::of(Order::Random, Operation::Read, 512, 512);
                    self.set.figures.push(Figure::of(
                        "random read",
                        Work::Transfer(transfer),
                        milliseconds / 1e3,
                    ));
                }
            }
            "transfer rate minimum" | "transfer rate maximum" | "burst rate" => {
                in_unit(&value, MB)?;
                self.notes.push(format!(
                    "HD Tune's \"{key}\" of {} has no place on the drive and was left out.",
                    value.text
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// "Sequential read   116258 KB/s", "4 KB random read   214 IOPS", "4 KB random write (queue depth = 32)   300 IOPS".
    fn file_row(&mut self, line: Line<'_>, lower: &str) -> Result<(), ImportError> {
        let operation = if lower.contains("write") { Operation::Write } else { Operation::Read };
        let words = line.words();
        let [.., value, unit] = words.as_slice() else { return Err(line.error("a value and its unit")) };
        let measured = value.number("a rate or a number of requests per second")?;
        let is_random = lower.contains("random");
        let depth = lower
            .split_once("depth =")
            .and_then(|(_, rest)| rest.trim_start().split([')', ' ']).next()?.parse().ok());
        let transfer = if unit.text.eq_ignore_ascii_case("iops") {
            let count = rounded(measured)
                .filter(|count| *count > 0)
                .ok_or_else(|| value.error("a number above zero"))?;
            Transfer::of(Order::Random, operation, count.saturating_mul(4096), 4096)
        } else {
            let factor = unit_bytes(unit.text, 1000.0).ok_or_else(|| unit.error("KB/s, MB/s or IOPS"))?;
            let bytes = rounded(measured * factor)
                .filter(|bytes| *bytes > 0)
                .ok_or_else(|| value.error("a rate above zero"))?;
            let (order, block) = if is_random { (Order::Random, 4096) } else { (Order::Sequential, BLOCK) };
            Transfer::of(order, operation, bytes, block)
        };
        let name = format!("{} {}", if is_random { "random" } else { "sequential" }, operation.name());
        self.set.figures.push(Figure::of(name, Work::Transfer(transfer.deep(depth.unwrap_or(1), 1)), 1.0));
        Ok(())
    }

    /// "512 bytes   63 IOPS   15 ms   27 ms   0.031 MB/s".
    fn random_row(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let words = line.words();
        let [size, unit, count, _, ..] = words.as_slice() else { return Ok(()) };
        let (Some(size), Some(factor)) = (number(size.text), unit_bytes(unit.text, 1024.0)) else {
            return Ok(());
        };
        let per_second = count.number("a number of requests per second")?;
        let block = rounded(size * factor)
            .filter(|block| *block > 0)
            .ok_or_else(|| unit.error("a size above zero"))?;
        let operation = self.operation.unwrap_or(Operation::Read);
        if per_second > 0.0 {
            let transfer = Transfer::of(Order::Random, operation, block, block);
            self.set.figures.push(Figure::of(
                format!("random {}", operation.name()),
                Work::Transfer(transfer),
                1.0 / per_second,
            ));
        }
        Ok(())
    }

    /// A row of a list: a position in GB and a rate in MB/s, with a semicolon, a tabulator or blanks between.
    fn point(&mut self, line: Line<'_>) {
        let fields: Vec<f64> = line
            .text
            .split([';', '\t', ' '])
            .filter(|part| !part.trim().is_empty())
            .filter_map(|part| number(part.trim()))
            .collect();
        if let [position, rate] = fields.as_slice()
            && *rate > 0.0
            && self.curve.last().is_none_or(|(last, _)| position > last)
        {
            self.curve.push((*position, *rate));
        }
    }

    /// Each point is a sample at its position; the list says nothing of what lies between.
    fn finish_curve(&mut self) {
        let operation = self.operation.unwrap_or(Operation::Read);
        let figures = self.curve.iter().filter_map(|(position, rate)| {
            let place = Place { first_byte: rounded(position * GB)?, bytes: rounded(rate * MB)? };
            let transfer = Transfer::of(Order::Sequential, operation, place.bytes, BLOCK);
            Some(
                Figure::of(format!("{} in order", operation.name()), Work::Transfer(transfer), 1.0)
                    .at(Some(place)),
            )
        });
        self.set.figures.extend(figures);
        if let Some((last, rate)) = self.curve.last().filter(|_| self.curve.len() >= POINTS_MIN) {
            self.notes.push("How large the drive is, is taken from the last place of HD Tune's list.".into());
            self.imported.capacity = self.imported.capacity.or(rounded(last * GB + rate * MB).map(Bytes));
        }
    }
}

/// A rate in the unit that stands behind it.
fn in_unit(value: &Field<'_>, otherwise: f64) -> Result<f64, ImportError> {
    let (number, unit) = value.number_and_rest("a rate in MB/s")?;
    let unit = unit.split_whitespace().next().unwrap_or("");
    Ok(number * unit_bytes(unit.trim_end_matches(['.', ';']), 1000.0).unwrap_or(otherwise))
}
