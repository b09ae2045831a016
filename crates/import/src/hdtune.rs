//! HD Tune and HD Tune Pro: the text of Benchmark, File Benchmark and Random Access, and lists of position and rate (GB; MB/s).
//!
//! It does not say whether its MB are of 10^6 or 2^20 bytes; 10^6 is taken. Its average, of equal distances, exceeds a full pass's rate.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Place, Set, Transfer};
use crate::text::{Field, Line, above_zero, lines, number, rounded, unit_bytes};
use model::request::Operation;
use model::units::Bytes;

/// The benchmark's blocks, unless it was told otherwise.
const BLOCK: u64 = 64 << 10;
/// A list of fewer places is no pass over a drive.
const POINTS_MIN: usize = 16;
const GB: f64 = 1e9;
const MB: f64 = 1e6;

pub(crate) fn fits(text: &str) -> bool {
    lines(text).any(|line| line.text.trim_start().starts_with("HD Tune"))
}

#[derive(Default)]
struct Reader {
    imported: Imported,
    set: Set,
    notes: Vec<String>,
    operation: Option<Operation>,
    curve: Vec<(f64, f64)>,
}

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
    imported.note("HD Tune does not say whether its MB are of 10^6 or 2^20 bytes; 10^6 is taken, which may be 5 % too low.");
    Ok(imported)
}

impl Reader {
    fn line(&mut self, line: Line<'_>) -> Result<(), ImportError> {
        let text = line.text.trim();
        let lower = text.to_ascii_lowercase();
        if text.starts_with("HD Tune") {
            self.title(text);
        } else if (lower.starts_with("read") || lower.starts_with("write"))
            && (lower.contains("test") || lower.contains("transfer rate"))
            && !text.contains(':')
        {
            let is_read = lower.starts_with("read");
            self.operation = Some(if is_read { Operation::Read } else { Operation::Write });
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

    /// The head of a result, such as "HD Tune Pro: ST3000DM001 Benchmark".
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
                let bytes = value.needs(above_zero(rate), "a rate above zero")?;
                let transfer = Transfer::of(Order::Sequential, operation, bytes, BLOCK);
                let name = format!("average of {} in order", operation.name());
                self.set.figures.push(Figure::of(name, transfer, 1.0));
            }
            "access time" => {
                let (milliseconds, _) = value.number_and_rest("a time in ms")?;
                if milliseconds > 0.0 {
                    let transfer = Transfer::of(Order::Random, Operation::Read, 512, 512);
                    self.set.figures.push(transfer.figure(milliseconds / 1e3));
                }
            }
            "transfer rate minimum" | "transfer rate maximum" | "burst rate" => {
                in_unit(&value, MB)?;
                self.notes
                    .push(format!("HD Tune's \"{key}\" of {} has no offset and was left out.", value.text));
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
        let depth = match lower.split_once("depth =") {
            Some((_, rest)) => {
                rest.trim_start().split([')', ' ']).next().and_then(|depth| depth.parse().ok())
            }
            None => None,
        };
        let transfer = if unit.text.eq_ignore_ascii_case("iops") {
            let count = value.needs(above_zero(measured), "a number above zero")?;
            Transfer::of(Order::Random, operation, count.saturating_mul(4096), 4096)
        } else {
            let factor = unit.needs(unit_bytes(unit.text, 1000.0), "KB/s, MB/s or IOPS")?;
            let bytes = value.needs(above_zero(measured * factor), "a rate above zero")?;
            let (order, block) = if is_random { (Order::Random, 4096) } else { (Order::Sequential, BLOCK) };
            Transfer::of(order, operation, bytes, block)
        };
        self.set.figures.push(transfer.deep(depth.unwrap_or(1), 1).figure(1.0));
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
        let block = unit.needs(above_zero(size * factor), "a size above zero")?;
        let operation = self.operation.unwrap_or(Operation::Read);
        if per_second > 0.0 {
            let transfer = Transfer::of(Order::Random, operation, block, block);
            self.set.figures.push(transfer.figure(1.0 / per_second));
        }
        Ok(())
    }

    /// A row of a list: a position in GB and a rate in MB/s, with a semicolon, a tabulator or blanks between.
    fn point(&mut self, line: Line<'_>) {
        let parts = line.text.split([';', '\t', ' ']).map(str::trim);
        let fields: Vec<f64> = parts.filter_map(number).collect();
        let [position, rate] = fields[..] else { return };
        let is_behind = match self.curve.last() {
            Some((last, _)) => position > *last,
            None => true,
        };
        if rate > 0.0 && is_behind {
            self.curve.push((position, rate));
        }
    }

    /// Each point is a sample at its position; the list says nothing of what lies between.
    fn finish_curve(&mut self) {
        let operation = self.operation.unwrap_or(Operation::Read);
        for (position, rate) in &self.curve {
            let (Some(first_byte), Some(bytes)) = (rounded(position * GB), rounded(rate * MB)) else {
                continue;
            };
            let transfer = Transfer::of(Order::Sequential, operation, bytes, BLOCK);
            let figure = Figure::of(format!("{} in order", operation.name()), transfer, 1.0);
            self.set.figures.push(figure.at(Some(Place { first_byte, bytes })));
        }
        if let Some((last, rate)) = self.curve.last()
            && self.curve.len() >= POINTS_MIN
        {
            self.notes.push("The capacity is taken from the last offset in HD Tune's list.".into());
            self.imported.capacity =
                self.imported.capacity.or(rounded(last * GB + rate * MB).map(Bytes::new));
        }
    }
}

fn in_unit(value: &Field<'_>, otherwise: f64) -> Result<f64, ImportError> {
    let (number, unit) = value.number_and_rest("a rate in MB/s")?;
    let unit = unit.split_whitespace().next().unwrap_or("");
    Ok(number * unit_bytes(unit.trim_end_matches(['.', ';']), 1000.0).unwrap_or(otherwise))
}
