//! Blackmagic Disk Speed Test shows two dials and no text: people type the two rates below its name, in their language.

use crate::error::ImportError;
use crate::figure::{Imported, Order, Set, Transfer};
use crate::text::{Field, Line, above_zero, lines, number};
use model::request::Operation;

/// The rates follow the name of the program within so many lines.
const LINES_MAX: usize = 12;
/// It moves frames of videos and does not say their size.
const BLOCK: u64 = 1 << 20;
const READS: [&str; 5] = ["read", "lecture", "lesen", "lectura", "lettura"];
const WRITES: [&str; 6] = ["write", "ecriture", "écriture", "schreiben", "escritura", "scrittura"];

pub(crate) fn fits(text: &str) -> bool {
    text.contains("Blackmagic") && !rates(text).is_empty()
}

/// "Lecture: 5598 MB/s", "write 2800 MB/s": all below the name.
fn rates(text: &str) -> Vec<(Operation, Field<'_>, Line<'_>)> {
    let (mut all, mut left) = (Vec::new(), 0);
    for line in lines(text) {
        if line.text.contains("Blackmagic") {
            left = LINES_MAX;
        }
        if left == 0 {
            continue;
        }
        left -= 1;
        let mut operation = None;
        let words = line.words();
        for (at, word) in words.iter().enumerate() {
            let lower = word.text.trim_end_matches([':', ',', 's']).to_lowercase();
            if READS.contains(&lower.as_str()) {
                operation = Some(Operation::Read);
            } else if WRITES.contains(&lower.as_str()) {
                operation = Some(Operation::Write);
            }
            let is_rate = matches!(words.get(at + 1), Some(unit) if unit.text.starts_with("MB/s"));
            if let (Some(operation), true, Some(_)) = (operation, is_rate, number(word.text)) {
                all.push((operation, *word, line));
            }
        }
    }
    all
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "Blackmagic Disk Speed Test", ..Imported::default() };
    let mut set = Set::default();
    for (operation, value, line) in rates(text) {
        let bytes = line.needs(above_zero(value.number("a rate in MB/s")? * 1e6), "a rate above zero")?;
        set.figures.push(Transfer::of(Order::Sequential, operation, bytes, BLOCK).figure(1.0));
    }
    imported.sets.push(set);
    imported.note("Blackmagic Disk Speed Test does not state the size of requests: 1 MiB is assumed.");
    Ok(imported)
}
