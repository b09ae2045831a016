//! hdparm -t and -T. Its MB are of 2^20 bytes. `-t` reads for three seconds from the start of the drive, or from where `--offset` says, in GiB;
//! `-T` reads memory and says nothing of a drive.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Place, Set, Transfer};
use crate::text::{Field, Line, any_line, lines, rounded};
use model::request::Operation;

const MIB: u64 = 1 << 20;
const GIB: f64 = 1_073_741_824.0;
const BLOCK: u64 = 2 * MIB;

pub(crate) fn fits(text: &str) -> bool {
    any_line(text, timing)
}

/// "Timing buffered disk reads: …": what was timed, and what came of it.
fn timing<'text>(line: Line<'text>) -> Option<(&'text str, Field<'text>)> {
    let what = line.text.trim_start_matches(['>', '#', '*', ' ', '\t']).strip_prefix("Timing ")?;
    let (what, _) = what.split_once(':')?;
    if what.contains("reads") { Some((what, line.after(":")?)) } else { None }
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "hdparm", ..Imported::default() };
    let mut set = Set::default();
    for line in lines(text) {
        if let Some((what, result)) = timing(line) {
            if what.contains("cached") {
                let note = format!(
                    "hdparm -T is the speed of memory, not of the drive, and was left out: {}.",
                    short(result.text)
                );
                imported.notes.push(note);
                continue;
            }
            let direct = what.contains("O_DIRECT");
            imported.direct = Some(imported.direct.unwrap_or(true) && direct);
            set.figures.push(timed(line, what, &result)?);
        } else if line.text.starts_with("/dev/")
            && line.text.trim_end().ends_with(':')
            && imported.target.is_none()
        {
            imported.target = Some(line.text.trim().trim_end_matches(':').to_owned());
        }
    }
    if imported.direct == Some(false) {
        imported.note("hdparm -t without --direct goes through the page cache, which reads ahead of it.");
    }
    imported
        .note("hdparm -t reads for some seconds at one offset and says nothing about the rest of the drive.");
    imported.sets.push(set);
    Ok(imported)
}

fn short(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(60).collect()
}

/// "300 MB in  1.38 seconds = 216.98 MB/sec".
fn timed(line: Line<'_>, what: &str, result: &Field<'_>) -> Result<Figure, ImportError> {
    let all = line.words();
    let words: Vec<Field<'_>> = all.into_iter().filter(|word| word.column >= result.column).collect();
    let [size, unit, within, seconds, ..] = words.as_slice() else {
        return Err(result.error("so many MB in so many seconds"));
    };
    if unit.text != "MB" || within.text != "in" {
        return Err(unit.error("MB in"));
    }
    let bytes = size.needs(size.whole("a number of MB")?.checked_mul(MIB), "a number of MB")?;
    let taken = seconds.number("a number of seconds")?;
    if taken <= 0.0 || bytes == 0 {
        return Err(seconds.error("a time and a size above zero"));
    }
    let offset = match what.split_once("offset").and_then(|(_, rest)| rest.split_whitespace().next()) {
        Some(gib) => {
            let gib = line.needs(gib.parse::<f64>().ok(), "an offset in GB")?;
            line.needs(rounded(gib * GIB), "an offset in GB")?
        }
        None => 0,
    };
    let transfer = Transfer::of(Order::Sequential, Operation::Read, bytes, BLOCK);
    let place = Place { first_byte: offset, bytes };
    Ok(Figure::of("read in order", transfer, taken).at(Some(place)))
}
