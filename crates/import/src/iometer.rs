//! Iometer's result file: a table of comma separated values below `'Results`, whose head names its columns, and the access specifications above
//! it. Only the rows of all workers together are taken.

use crate::error::ImportError;
use crate::figure::{Imported, Order, Set, Transfer};
use crate::text::{Field, Line, above_zero, lines};
use model::request::Operation;

pub(crate) fn fits(text: &str) -> bool {
    text.contains("'Access specification") && text.contains("'Results")
}

/// An access specification of one line; those of several mix what cannot be told apart in a rate.
#[derive(Default)]
struct Access<'text> {
    name: &'text str,
    block: u64,
    read_percent: f64,
    random_percent: f64,
    rows: usize,
}

impl Access<'_> {
    fn is_plain(&self) -> bool {
        self.rows == 1 && self.block > 0 && is_pure(self.read_percent) && is_pure(self.random_percent)
    }
}

fn is_pure(percent: f64) -> bool {
    percent == 0.0 || percent == 100.0
}

/// 1 where the column or a number in it is missing.
fn whole(fields: &[Field<'_>], column: Option<usize>) -> u32 {
    let Some(field) = column.and_then(|column| fields.get(column)) else { return 1 };
    field.text.parse().unwrap_or(1)
}

struct Columns {
    specification: usize,
    iops: usize,
    depth: Option<usize>,
    workers: Option<usize>,
}

#[derive(Default)]
struct Reader<'text> {
    accesses: Vec<Access<'text>>,
    columns: Option<Columns>,
    /// What the head of the lines to come was: a name of a specification, its sizes, a version.
    head: &'text str,
    set: Set,
    version: Option<String>,
    skipped: usize,
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut reader = Reader::default();
    for line in lines(text) {
        reader.line(line)?;
    }
    let mut imported =
        Imported { tool: "Iometer", version: reader.version, direct: Some(true), ..Imported::default() };
    if reader.skipped > 0 {
        imported.notes.push(format!(
            "Left out are {} of the results, of specifications that mix sizes, reads with writes or places, which one figure cannot separate.",
            reader.skipped
        ));
    }
    imported.sets.push(reader.set);
    Ok(imported)
}

impl<'text> Reader<'text> {
    fn line(&mut self, line: Line<'text>) -> Result<(), ImportError> {
        let text = line.text.trim();
        if let Some(head) = text.strip_prefix('\'') {
            self.head = head;
            if head.starts_with("Target Type") {
                self.columns = Some(columns(line)?);
            } else if head.starts_with("End") || head.starts_with("Time Stamp") {
                self.columns = None;
            }
            return Ok(());
        }
        if text.is_empty() {
            return Ok(());
        }
        let fields = line.by(',');
        match self.head {
            head if head.starts_with("Version") => {
                self.version = Some(fields[0].text.chars().take(20).collect())
            }
            head if head.starts_with("Access specification name") => {
                self.accesses.push(Access { name: fields[0].text, ..Access::default() });
            }
            head if head.starts_with("size") => self.size(line, &fields)?,
            _ if self.columns.is_some() => self.result(&fields)?,
            _ => {}
        }
        Ok(())
    }

    fn size(&mut self, line: Line<'_>, fields: &[Field<'_>]) -> Result<(), ImportError> {
        let [size, _, reads, random, ..] = fields else {
            return Err(line.error("size, share, reads, random and more"));
        };
        let Some(access) = self.accesses.last_mut() else {
            return Err(line.error("the name of a specification before its sizes"));
        };
        access.block = size.whole("a size in bytes")?;
        access.read_percent = reads.number("a share of reads in percent")?;
        access.random_percent = random.number("a share of random requests in percent")?;
        access.rows += 1;
        Ok(())
    }

    fn result(&mut self, fields: &[Field<'text>]) -> Result<(), ImportError> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let get = |at: usize| fields.get(at).copied();
        if fields[0].text != "ALL" {
            return Ok(());
        }
        let (Some(name), Some(iops)) = (get(columns.specification), get(columns.iops)) else {
            return Err(fields[0].error("a row with as many columns as its head"));
        };
        let per_second = iops.number("a number of requests per second")?;
        let access = match self.accesses.iter().find(|access| access.name == name.text) {
            Some(access) if access.is_plain() => access,
            _ => {
                self.skipped += 1;
                return Ok(());
            }
        };
        let operation = if access.read_percent > 0.0 { Operation::Read } else { Operation::Write };
        let order = if access.random_percent > 0.0 { Order::Random } else { Order::Sequential };
        let bytes = above_zero(per_second * access.block as f64);
        let bytes = iops.needs(bytes, "a number above zero")?;
        let transfer = Transfer::of(order, operation, bytes, access.block)
            .deep(whole(fields, columns.depth), whole(fields, columns.workers));
        self.set.figures.push(transfer.figure(1.0));
        Ok(())
    }
}

fn columns(line: Line<'_>) -> Result<Columns, ImportError> {
    let fields = line.by(',');
    let find = |name: &str| fields.iter().position(|field| field.text.trim_start_matches('\'') == name);
    let needed = |name: &str| line.needs(find(name), &format!("a column \"{name}\""));
    Ok(Columns {
        specification: needed("Access Specification Name")?,
        iops: needed("IOps")?,
        depth: find("Queue Depth").or(find("# of Outstanding I/Os")),
        workers: find("# Workers"),
    })
}
