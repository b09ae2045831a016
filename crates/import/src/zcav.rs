//! zcav: the rate of each block of a drive from its start on. Version 1 counts in MiB and KiB a second, version 2 in GiB and MiB a second;
//! the line before the blocks says which. With several loops each block's rate is a mean without its highest and lowest third.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Place, Set, Transfer};
use crate::text::{Line, above_zero, lines, rounded};
use model::request::Operation;

const MIB: f64 = 1024.0 * 1024.0;

pub(crate) fn fits(text: &str) -> bool {
    lines(text).any(|line| line.text.starts_with("#block"))
}

struct Units {
    position: f64,
    rate: f64,
}

/// Reads it; `told` is what was done: reads, unless somebody says that it was run with -w.
pub(crate) fn read(text: &str, told: Option<Operation>) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "zcav", direct: Some(false), ..Imported::default() };
    let operation = told.unwrap_or(Operation::Read);
    let mut units = Units { position: MIB, rate: 1024.0 };
    let mut set = Set::default();
    let (mut too_quick, mut last) = (0, None);
    for line in lines(text) {
        if let Some(header) = line.text.strip_prefix('#') {
            match header {
                _ if header.starts_with("block") && header.contains("MiB/s") => {
                    units = Units { position: 1024.0 * MIB, rate: MIB };
                }
                _ if header.starts_with("loops") => {
                    let version = line.after("version:").map(|field| field.text.to_owned());
                    imported.version = version.or(imported.version);
                }
                _ if header.contains("++++") => too_quick += 1,
                _ => {}
            }
        } else if !line.text.trim().is_empty() {
            let figure = block(line, &units, operation, last)?;
            last = figure.place;
            set.figures.push(figure);
        }
    }
    if too_quick > 0 {
        imported.notes.push(format!("Blocks served from memory, too fast for zcav to time: {too_quick}."));
    }
    imported.notes.push("zcav reads through the page cache, which reads ahead of it.".into());
    imported.sets.push(set);
    Ok(imported)
}

fn block(
    line: Line<'_>,
    units: &Units,
    operation: Operation,
    last: Option<Place>,
) -> Result<Figure, ImportError> {
    let words = line.words();
    let [position, rate, seconds] = words.as_slice() else {
        return Err(line.error("a position, a rate and a time"));
    };
    let first_byte = position.needs(
        rounded(position.number("a position")? * units.position),
        "a position that a drive can have",
    )?;
    if let Some(last) = last
        && first_byte <= last.first_byte
    {
        return Err(position.error("a position behind the one before"));
    }
    let bytes_per_second = rate.number("a rate")? * units.rate;
    let seconds_taken = seconds.number("a number of seconds")?;
    let bytes = above_zero(bytes_per_second * seconds_taken);
    let bytes = rate.needs(bytes, "a rate and a time above zero")?;
    let transfer = Transfer::of(Order::Sequential, operation, bytes, 1 << 20);
    let place = Place { first_byte, bytes };
    Ok(Figure::of(format!("{} in order", operation.name()), transfer, seconds_taken).at(Some(place)))
}
