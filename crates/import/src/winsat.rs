//! `winsat disk` of Windows: its three rates. Its rows are in English in every language of Windows. MB are taken as 10^6 bytes.

use crate::error::ImportError;
use crate::figure::{Imported, Order, Set, Transfer};
use crate::text::{Field, Line, above_zero, any_line, lines, number, position_of};
use model::request::Operation;

pub(crate) fn fits(text: &str) -> bool {
    any_line(text, row_of)
}

/// "> Disk  Random 16.0 Read   674.46 MB/s   8.5": order, KiB of a request, operation and rate.
fn row_of<'text>(line: Line<'text>) -> Option<(Order, f64, Operation, Field<'text>)> {
    let words = line.words();
    let at = position_of(&words, &["Disk"])?;
    let [order, size, operation, rate, unit, ..] = words.get(at + 1..)? else { return None };
    let order = match order.text {
        "Random" => Order::Random,
        "Sequential" => Order::Sequential,
        _ => return None,
    };
    let operation = match operation.text {
        "Read" => Operation::Read,
        "Write" => Operation::Write,
        _ => return None,
    };
    if unit.text.starts_with("MB") { Some((order, number(size.text)?, operation, *rate)) } else { None }
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "WinSAT", direct: Some(true), ..Imported::default() };
    let mut set = Set::default();
    for line in lines(text) {
        let Some((order, kib, operation, rate)) = row_of(line) else { continue };
        let bytes = rate.needs(above_zero(rate.number("a rate in MB/s")? * 1e6), "a rate above zero")?;
        let block = line.needs(above_zero(kib * 1024.0), "a size of requests in KiB")?;
        set.figures.push(Transfer::of(order, operation, bytes, block).figure(1.0));
    }
    imported.sets.push(set);
    imported.note("WinSAT does not say whether its MB are of 10^6 or 2^20 bytes; 10^6 is taken, which may be 5 % too low.");
    Ok(imported)
}
