//! Article C: a 3 TB disk read and written from end to end before the system goes on, then in areas of 50 GiB.

use super::figure::{Figure, Table, Unit};
use super::picture::{COLUMNS, line, strokes};
use super::published::{AREAS, FULL_PASS, Figures};
use super::shelf::Shelf;
use super::{Article, Reproduction};
use crate::error::UserError;
use crate::virtual_run::{PhaseResult, VirtualRun};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, GIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Series, chart_of_series, reduced_line};

/// The disk of the article.
const DRIVE: &str = "st3000dm001";
/// What the system asks for at a time on behalf of dd, and how many of them are under way.
/// The disk that the article draws beside it.
const OTHER_DRIVE: &str = "hds723030ala640";
const OTHER_PLACES: u64 = 60;
const OTHER_PLACE: Bytes = Bytes::from_mib(64);
/// Points of the line of means.
const MEANS: u32 = 30;
const BLOCK: Bytes = Bytes::from_mib(2);
const QUEUE_DEPTH: u32 = 2;
/// The areas of the article.
const AREA: Bytes = Bytes::from_gib(50);
/// The write pass of the article, and what the data sheet promises as the mean rate.
const WRITE_PASS_S: f64 = 18_065.2;
const DATA_SHEET_MEAN: f64 = 156e6;
const BY_DATA_SHEET: &str = "The data sheet gives 156 MB/s. The disk of the article read 167 MB/s on average: it is better than its data sheet.";
/// How far a rate may be off and still be that of the article's disk: two disks of one model differ by as much.
const RATE_TOLERANCE: f64 = 0.02;

/// Does it again.
///
/// # Errors
/// When the disk cannot be opened or is smaller than the article's.
pub fn reproduce(shelf: &Shelf) -> Result<Reproduction, UserError> {
    let mut disk = shelf.run(DRIVE)?;
    let whole = ByteRange::whole(disk.capacity());
    let read = pass(&mut disk, whole, OperationMix::Read)?;
    let write = pass(&mut disk, whole, OperationMix::Write)?;
    let other = other_drive(shelf)?;
    Ok(Reproduction {
        article: Article::C,
        title: "A hard disk before the system goes on",
        setting: format!(
            "sim:{DRIVE} is a 3 TB disk of 7200 rpm by its mechanism, read and written in virtual time as dd does it: from one \
             end to the other, then in areas of 50 GiB with a flush after each write. How many sectors its tracks hold was \
             fitted to the article's read rates, so those agree by construction; that one set of tracks fits the means, the \
             areas and the writes alike is what the table shows. The article's list of cumulative means stands below a \
             command that writes, but ends with the time of its read pass; it is compared with reading."
        ),
        conclusion: conclusion(&read, &write),
        pictures: vec![by_position(&read, &other), means_so_far(&read)],
        tables: vec![whole_disk(&read, &write), areas(&mut disk)?],
    })
}

/// Once through a part of the disk, as dd goes.
fn pass(disk: &mut VirtualRun, range: ByteRange, mix: OperationMix) -> Result<PhaseResult, UserError> {
    let workload = Workload::new(range, Pattern::Sequential, mix, BLOCK, QUEUE_DEPTH);
    disk.measure(workload, StopCondition::one_pass(), Nanos::from_secs(1))
}

/// The cumulative means of the read pass, and both passes as a whole.
fn whole_disk(read: &PhaseResult, write: &PhaseResult) -> Table {
    let published = Figures::read(FULL_PASS);
    let mut figures = Vec::new();
    for row in 0..published.len() - 1 {
        let (bytes, seconds) = (published.number(row, "bytes"), published.number(row, "seconds"));
        let reproduced = bytes / read.seconds_to(bytes as u64);
        let name = format!("mean of the first {}", Unit::Bytes.text(bytes));
        figures.push(Figure::new(name, Unit::Rate, bytes / seconds, reproduced, RATE_TOLERANCE));
    }
    let last = published.len() - 1;
    let (bytes, seconds) = (published.number(last, "bytes"), published.number(last, "seconds"));
    figures.push(Figure::new("read pass", Unit::Seconds, seconds, read.seconds, RATE_TOLERANCE));
    figures.push(Figure::new("read pass, mean", Unit::Rate, bytes / seconds, read.rate(), RATE_TOLERANCE));
    figures.push(Figure::new(
        "write pass",
        Unit::Seconds,
        WRITE_PASS_S,
        write.seconds + write.flush_s,
        RATE_TOLERANCE,
    ));
    figures.push(Figure::new(
        "write pass, mean",
        Unit::Rate,
        bytes / WRITE_PASS_S,
        write.lasting_rate(),
        RATE_TOLERANCE,
    ));
    figures.push(
        Figure::new("mean by the data sheet", Unit::Rate, DATA_SHEET_MEAN, read.rate(), RATE_TOLERANCE)
            .because(BY_DATA_SHEET),
    );
    Table { title: "The whole disk".into(), method: String::new(), figures }
}

/// The disk that the article compares with, at places from end to end.
fn other_drive(shelf: &Shelf) -> Result<Vec<(f64, f64)>, UserError> {
    let mut disk = shelf.run(OTHER_DRIVE)?;
    let whole = ByteRange::whole(disk.capacity());
    let mut places = Vec::new();
    for index in 0..OTHER_PLACES {
        let first = whole.part(index, OTHER_PLACES).first();
        let Some(place) = ByteRange::new(first, OTHER_PLACE) else { continue };
        places.push((first.0 as f64, pass(&mut disk, place, OperationMix::Read)?.rate()));
    }
    Ok(places)
}

/// Read rates by position: the pass, the article's areas, and another disk.
fn by_position(read: &PhaseResult, other: &[(f64, f64)]) -> Chart {
    let published = Figures::read(AREAS);
    let area = |row: usize, column: &str| {
        let first = published.number(row, "offset_gib") * GIB as f64;
        let bytes = AREA.0 as f64;
        ((first, first + bytes), bytes / published.number(row, column))
    };
    let areas = |column: &'static str| strokes((0..published.len()).map(|row| area(row, column)));
    let mut first = 0.0;
    // The last slice ends with the pass, and is no whole one.
    let whole = read.slices.split_last().map_or(&[][..], |(_, whole)| whole);
    let course = whole.iter().map(|slice| {
        let at = first;
        first += slice.bytes as f64;
        (at, slice.bytes as f64 / slice.seconds)
    });
    let course: Vec<(f64, f64)> = course.collect();
    let end = read.bytes as f64;
    let series = vec![
        Series::new("ST3000DM001, here", reduced_line(course, end, COLUMNS)),
        Series::new("its areas of 50 GiB, published, read", areas("read_s")),
        Series::new("published, written", areas("write_s")),
        Series::new("HDS723030ALA640, here", line(other.iter().copied())),
    ];
    let axes = (Axis::of_positions(end, false), Axis::of_rates("Read rate", 215e6));
    chart_of_series("c-position", ("Rate by position", "two disks of 3 TB"), axes, series)
}

/// The mean rate up to each moment, as dd tells it.
fn means_so_far(read: &PhaseResult) -> Chart {
    let published = Figures::read(FULL_PASS);
    let row = |row: usize| (published.number(row, "bytes"), published.number(row, "seconds"));
    let was = (0..published.len()).map(row).map(|(bytes, seconds)| (bytes, bytes / seconds));
    let is = (1..=MEANS).map(|index| {
        let bytes = read.bytes as f64 * f64::from(index) / f64::from(MEANS);
        (bytes, bytes / read.seconds_to(bytes as u64))
    });
    let series = vec![Series::new("published", line(was)), Series::new("here", line(is))];
    let axes = (Axis::of_amounts("Read so far", read.bytes as f64), Axis::of_rates("Mean so far", 215e6));
    chart_of_series("c-mean", ("A full pass", "ST3000DM001, read from one end to the other"), axes, series)
}

fn conclusion(read: &PhaseResult, write: &PhaseResult) -> String {
    let hours = |seconds: f64| format!("{:.1} h", seconds / 3600.0);
    format!(
        "Reading all of it takes {}, writing {}: that is how long an image backup takes at least. The rate falls by half from \
         the outer edge to the inner, and not evenly: most of the fall comes in the last third, so a partition of the outer \
         tenth has nearly the best rate there is. The outermost 50 GiB are slower than the next, in all four passes of the \
         article: those tracks hold fewer sectors. At 213 MB/s a SATA port of 3 Gbit/s is not the limit.",
        hours(read.seconds),
        hours(write.seconds),
    )
}

/// The areas of the article, read and written with a flush.
fn areas(disk: &mut VirtualRun) -> Result<Table, UserError> {
    let published = Figures::read(AREAS);
    let mut figures = Vec::new();
    let mut rates = Vec::new();
    for row in 0..published.len() {
        let first_gib = published.number(row, "offset_gib");
        let Some(area) = ByteRange::new(Offset(first_gib as u64 * GIB), AREA) else { continue };
        let bytes = AREA.0 as f64;
        let read = pass(disk, area, OperationMix::Read)?;
        let write = pass(disk, area, OperationMix::Write)?;
        let name = |what| format!("{what}, from {first_gib} GiB on");
        let read_rate = bytes / published.number(row, "read_s");
        let write_rate = bytes / published.number(row, "write_s");
        figures.push(Figure::new(name("read"), Unit::Rate, read_rate, read.rate(), RATE_TOLERANCE));
        figures.push(Figure::new(
            name("write"),
            Unit::Rate,
            write_rate,
            write.lasting_rate(),
            RATE_TOLERANCE,
        ));
        rates.push((read_rate, read.rate()));
    }
    let fastest = |pick: fn(&(f64, f64)) -> f64| rates.iter().map(pick).fold(0.0, f64::max);
    let slowest = |pick: fn(&(f64, f64)) -> f64| rates.iter().map(pick).fold(f64::INFINITY, f64::min);
    let published_ratio = fastest(|rates| rates.0) / slowest(|rates| rates.0);
    let ratio = fastest(|rates| rates.1) / slowest(|rates| rates.1);
    figures.push(Figure::new(
        "read, fastest to slowest",
        Unit::Ratio,
        published_ratio,
        ratio,
        RATE_TOLERANCE,
    ));
    Ok(Table { title: "Areas of 50 GiB".into(), method: String::new(), figures })
}
