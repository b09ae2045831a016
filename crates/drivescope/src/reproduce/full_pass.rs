//! Article C: a 3 TB disk read and written completely before the system is installed, then in areas of 50 GiB.

use super::article::{Article, Reproduction};
use super::figure::{Table, Unit, spread};
use super::picture::{COLUMNS, line, strokes};
use super::published::{AREAS, FULL_PASS, Figures};
use super::shelf::Shelf;
use crate::error::UserError;
use crate::virtual_run::{PhaseResult, VirtualRun};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, GIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Series, chart_of_series, reduced_line};

const DRIVE: &str = "st3000dm001";
const OTHER_DRIVE: &str = "hds723030ala640";
const OTHER_PLACES: u64 = 60;
const OTHER_PLACE: Bytes = Bytes::from_mib(64);
const MEANS: u32 = 30;
/// The requests of the system on behalf of dd.
const BLOCK: Bytes = Bytes::from_mib(2);
const QUEUE_DEPTH: u32 = 2;
const AREA: Bytes = Bytes::from_gib(50);
/// Of the article and of the data sheet.
const WRITE_PASS_S: f64 = 18_065.2;
const DATA_SHEET_MEAN: f64 = 156e6;
const BY_DATA_SHEET: &str =
    "The data sheet states 156 MB/s. The article's disk averaged 167 MB/s: better than its data sheet.";
/// Two disks of one model differ by as much.
const RATE_TOLERANCE: f64 = 0.02;

pub fn reproduce(shelf: &Shelf) -> Result<Reproduction, UserError> {
    let mut disk = shelf.run(DRIVE)?;
    let whole = ByteRange::whole(disk.capacity());
    let read = pass(&mut disk, whole, OperationMix::Read)?;
    let write = pass(&mut disk, whole, OperationMix::Write)?;
    let other = other_drive(shelf)?;
    Ok(Reproduction {
        article: Article::C,
        title: "A hard disk before its first use",
        setting: format!(
            "sim:{DRIVE} models a 3 TB, 7200 rpm disk, read and written in virtual time as dd does: a full pass, then areas of 50 GiB \
             with a flush after each write. Sectors per track are fitted to the article's read throughput, so those figures \
             agree by construction. The test is that one track layout fits means, areas and writes alike. The article lists \
             cumulative means below a write command, but they end with the time of its read pass. They are compared with \
             reads."
        ),
        conclusion: conclusion(&read, &write),
        pictures: vec![by_position(&read, &other), means_so_far(&read)],
        tables: vec![whole_disk(&read, &write), areas(&mut disk)?],
    })
}

fn pass(disk: &mut VirtualRun, range: ByteRange, mix: OperationMix) -> Result<PhaseResult, UserError> {
    let workload = Workload::new(range, Pattern::Sequential, mix, BLOCK, QUEUE_DEPTH);
    disk.measure(workload, StopCondition::one_pass(), Nanos::from_secs(1))
}

fn whole_disk(read: &PhaseResult, write: &PhaseResult) -> Table {
    let published = Figures::read(FULL_PASS);
    let mut table = Table::new("The whole disk", "");
    let last = published.len() - 1;
    for row in 0..last {
        let (bytes, seconds) = (published.number(row, "bytes"), published.number(row, "seconds"));
        let rates = (bytes / seconds, bytes / read.seconds_to(bytes as u64));
        let name = format!("mean of the first {}", Unit::Bytes.text(bytes));
        table.compare(name, Unit::Rate, rates, RATE_TOLERANCE);
    }
    let (bytes, seconds) = (published.number(last, "bytes"), published.number(last, "seconds"));
    table.compare("read pass", Unit::Seconds, (seconds, read.seconds), RATE_TOLERANCE);
    table.compare("read pass, mean", Unit::Rate, (bytes / seconds, read.rate()), RATE_TOLERANCE);
    let write_s = write.seconds + write.flush_s;
    table.compare("write pass", Unit::Seconds, (WRITE_PASS_S, write_s), RATE_TOLERANCE);
    let write_rates = (bytes / WRITE_PASS_S, write.lasting_rate());
    table.compare("write pass, mean", Unit::Rate, write_rates, RATE_TOLERANCE);
    let by_sheet = (DATA_SHEET_MEAN, read.rate());
    table.compare("mean, data sheet", Unit::Rate, by_sheet, RATE_TOLERANCE).because(BY_DATA_SHEET);
    table
}

fn other_drive(shelf: &Shelf) -> Result<Vec<(f64, f64)>, UserError> {
    let mut disk = shelf.run(OTHER_DRIVE)?;
    let whole = ByteRange::whole(disk.capacity());
    let mut places = Vec::new();
    for index in 0..OTHER_PLACES {
        let first = whole.part(index, OTHER_PLACES).first();
        let Some(place) = ByteRange::new(first, OTHER_PLACE) else { continue };
        places.push((first.as_f64(), pass(&mut disk, place, OperationMix::Read)?.rate()));
    }
    Ok(places)
}

fn by_position(read: &PhaseResult, other: &[(f64, f64)]) -> Chart {
    let published = Figures::read(AREAS);
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for row in 0..published.len() {
        let first = published.number(row, "offset_gib") * GIB as f64;
        let bytes = AREA.as_f64();
        let area = (first, first + bytes);
        reads.push((area, bytes / published.number(row, "read_s")));
        writes.push((area, bytes / published.number(row, "write_s")));
    }
    let mut line_of_pass = read.rates_by_bytes();
    line_of_pass.pop();
    let end = read.bytes as f64;
    let series = vec![
        Series::new("ST3000DM001, reproduced", reduced_line(line_of_pass, end, COLUMNS)),
        Series::new("areas of 50 GiB, published, read", strokes(reads)),
        Series::new("areas of 50 GiB, published, write", strokes(writes)),
        Series::new("HDS723030ALA640, virtual", line(other.iter().copied())),
    ];
    let axes = (Axis::of_positions(end, false), Axis::of_rates("Read throughput", 215e6));
    chart_of_series("c-position", ("Sequential throughput by LBA", "two 3 TB disks"), axes, series)
}

fn means_so_far(read: &PhaseResult) -> Chart {
    let published = Figures::read(FULL_PASS);
    let (mut was, mut is) = (Vec::new(), Vec::new());
    for row in 0..published.len() {
        let bytes = published.number(row, "bytes");
        was.push((bytes, bytes / published.number(row, "seconds")));
    }
    for index in 1..=MEANS {
        let bytes = read.bytes as f64 * f64::from(index) / f64::from(MEANS);
        is.push((bytes, bytes / read.seconds_to(bytes as u64)));
    }
    let series = vec![Series::new("published", line(was)), Series::new("reproduced", line(is))];
    let axes = (Axis::of_amounts("Bytes read", read.bytes as f64), Axis::of_rates("Cumulative mean", 215e6));
    chart_of_series(
        "c-mean",
        ("Cumulative mean of a full pass", "ST3000DM001, sequential read"),
        axes,
        series,
    )
}

fn conclusion(read: &PhaseResult, write: &PhaseResult) -> String {
    format!(
        "A full read takes {:.1} h, a full write {:.1} h, the minimum for an image backup. Throughput halves from the outer to \
         the inner diameter, mostly in the last third. A partition on the outer tenth gets nearly full throughput. The \
         outermost 50 GiB are slower than the next in all four passes of the article: their tracks hold fewer sectors. At \
         213 MB/s, a 3 Gbit/s SATA port is not the limit.",
        read.seconds / 3600.0,
        write.seconds / 3600.0,
    )
}

fn areas(disk: &mut VirtualRun) -> Result<Table, UserError> {
    let published = Figures::read(AREAS);
    let mut table = Table::new("Areas of 50 GiB", "");
    let (mut was, mut is) = (Vec::new(), Vec::new());
    for row in 0..published.len() {
        let first_gib = published.number(row, "offset_gib");
        let Some(area) = ByteRange::new(Offset::new(first_gib as u64 * GIB), AREA) else { continue };
        let bytes = AREA.as_f64();
        let read = pass(disk, area, OperationMix::Read)?;
        let write = pass(disk, area, OperationMix::Write)?;
        was.push(bytes / published.number(row, "read_s"));
        is.push(read.rate());
        let name = format!("read, from {first_gib} GiB");
        table.compare(name, Unit::Rate, (was[was.len() - 1], read.rate()), RATE_TOLERANCE);
        let write_rates = (bytes / published.number(row, "write_s"), write.lasting_rate());
        let name = format!("write, from {first_gib} GiB");
        table.compare(name, Unit::Rate, write_rates, RATE_TOLERANCE);
    }
    let name = "read, fastest to slowest";
    table.compare(name, Unit::Ratio, (spread(&was), spread(&is)), RATE_TOLERANCE);
    Ok(table)
}
