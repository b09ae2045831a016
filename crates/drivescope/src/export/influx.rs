//! Intervals as InfluxDB line protocol, which InfluxDB, Telegraf and VictoriaMetrics read: a point for each interval and operation.
//!
//! The time of a point is the start of its run and what the run's clock said; a virtual drive begins in 1970. Who queries by drive, run, phase
//! or operation does so by tags; everything else is a field, with the names and units of the table of intervals.

use super::job::{Export, ExportFile, ExportJob};
use crate::error::UserError;
use model::run::Run;
use report::hostile::harmless;
use std::io;
use store::table::Table;
use store::{Cell, Column, StoredRun};

pub const INFLUX: Export = Export {
    name: "influx",
    ending: Some("influx"),
    about: "Throughput and latency over time for InfluxDB, Telegraf, VictoriaMetrics",
    write,
};

const WHAT: &str = "the points";
const TAGS: [&str; 3] = ["run_id", "phase", "operation"];
/// An interval's start is the time of its point, and no field.
const TIME: &str = "start_ns";

fn write(job: &dyn ExportJob) -> Result<(), UserError> {
    let path = job.goal().path("drivescope.influx");
    let mut out = job.begin(path.as_deref(), WHAT)?;
    for name in job.names() {
        let stored = job.read(name)?;
        if let Err(error) = write_run(&stored, out.as_mut()) {
            return job.failed(path.as_deref(), WHAT, &error);
        }
    }
    out.finish()
}

fn write_run(stored: &StoredRun, out: &mut dyn ExportFile) -> io::Result<()> {
    let run = &stored.run;
    let started_ns = run.started.parse().map_or(0, |stamp: jiff::Timestamp| stamp.as_nanosecond());
    let drive = drive_tags(run);
    let columns = Table::Intervals.columns();
    Table::Intervals.rows(run, &[], &stored.series, &mut |row| {
        out.write_all(point(&drive, started_ns, &columns, &row).as_bytes())
    })
}

fn drive_tags(run: &Run) -> String {
    let mut tags = format!(",target={}", tag_value(&run.target.path));
    for (name, value) in [("model", &run.target.model), ("serial", &run.target.serial)] {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            tags.push_str(&format!(",{name}={}", tag_value(value)));
        }
    }
    tags
}

/// One line: `drivescope,TAG=VALUE… FIELD=VALUE,… NANOSECONDS`. An empty cell is no field.
fn point(drive: &str, started_ns: i128, columns: &[Column], row: &[Cell]) -> String {
    let (mut tags, mut fields, mut time_ns) = (drive.to_owned(), Vec::new(), started_ns);
    for (column, cell) in columns.iter().zip(row) {
        let name = column.name;
        match cell {
            Cell::Integer(value) if name == TIME => time_ns += i128::from(*value),
            Cell::Integer(value) if TAGS.contains(&name) => tags.push_str(&format!(",{name}={value}")),
            Cell::Integer(value) => fields.push(format!("{name}={value}i")),
            Cell::Float(value) => fields.push(format!("{name}={value}")),
            Cell::Text(text) if !text.is_empty() => tags.push_str(&format!(",{name}={}", tag_value(text))),
            _ => {}
        }
    }
    format!("drivescope{tags} {} {time_ns}\n", fields.join(","))
}

/// What a drive calls itself ends neither a tag nor a line.
fn tag_value(text: &str) -> String {
    let mut value = String::new();
    for character in harmless(text, usize::MAX).chars() {
        if matches!(character, ',' | '=' | ' ' | '\\') {
            value.push('\\');
        }
        value.push(character);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_one_line_with_its_time() {
        let columns = Table::Intervals.columns();
        let row = columns.iter().map(|column| match column.name {
            "run_id" => Cell::Text("a run".into()),
            "phase" => Cell::Integer(7),
            "start_ns" => Cell::Integer(40),
            "bytes" => Cell::Integer(4096),
            _ => Cell::Empty,
        });
        let row: Vec<Cell> = row.collect();
        let line = point(",target=/dev/sdx", 1_000_000_000, &columns, &row);
        assert_eq!(line, "drivescope,target=/dev/sdx,run_id=a\\ run,phase=7 bytes=4096i 1000000040\n");
    }

    #[test]
    fn no_name_of_a_drive_ends_a_tag_or_a_line() {
        assert_eq!(tag_value("WD 20,x=1\nfield=2"), "WD\\ 20\\,x\\=1\\\\u{a}field\\=2");
    }
}
