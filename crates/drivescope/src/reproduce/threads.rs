//! Article B: reads of 4 KiB in shuffled order from one file, asked for by 1 to 1000 threads, on two disks and on a
//! mirror; and what the span of the file does to it.
//!
//! The listing takes `range(num_blocks)` and shuffles that: it reads each block of the first tenth of the file once, not
//! a tenth of the blocks of the whole file. So the arm stays within 100 MB, and every block next to one that was read is
//! asked for as well, sooner or later. Whatever reads more than it was asked for is rewarded.

use super::SEED;
use super::figure::{Figure, Published, Table, Unit};
use super::host::{Host, HostProfile, Order};
use super::picture::line;
use super::published::{Figures, THREADS};
use super::shelf::Shelf;
use super::{Article, Reproduction};
use crate::error::UserError;
use crate::virtual_run::VirtualRun;
use model::plan::StopCondition;
use model::range::ByteRange;
use model::request::Operation;
use model::units::{Bytes, KIB, MIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Numbers, Series, chart_of_series};
use sim::Drive;
use sim::profile::Profile;

/// The disks of the article, and a mirror of two of the first.
const ATA_DISK: &str = "st3250823a";
const SATA_DISK: &str = "sata-160gb";
const MIRROR: &str = "raid1-2";
/// The blocks of the article, and how many it reads: the tenth part of those in 999,997,440 bytes.
const BLOCK: Bytes = Bytes::from_kib(4);
const READS: u64 = 24_414;
/// The part of the file that the listing reads, and the whole file.
const TENTH: Bytes = Bytes(READS * 4096);
const FILE: Bytes = Bytes(999_997_440);
/// Where on its disk the file lies; the article does not say. The middle stands for anywhere.
const PLACE_SHARE: f64 = 0.5;
/// How far a rate may be off: what a short seek takes is not in any data sheet.
const TOLERANCE: f64 = 0.15;
/// Fitted to the figure of one thread; the others follow.
const OTHER_LOAD_PAUSE: Nanos = Nanos::from_millis(135);

const BY_MIRROR_DISKS: &str = "The article does not name the two disks. Theirs take 8 ms for a read within 100 MB, these 6 ms; what two of \
     them gain over one does not depend on that.";

/// A machine of the article.
struct Machine {
    title: &'static str,
    method: &'static str,
    drive: &'static str,
    column: &'static str,
    host: HostProfile,
    reason: Option<&'static str>,
}

/// A system that passes on what it is asked, in its order.
fn bare() -> HostProfile {
    HostProfile {
        block_bytes: 4 * KIB,
        read_ahead_bytes: 0,
        cached: 0..0,
        queue_depth: 4096,
        order: Order::FirstCome,
        write_back_after: Nanos::ZERO,
        other_load_pause: None,
    }
}

/// Linux 2.4: a read that does not continue the last one still asks for two pages more, since `do_generic_file_read`
/// (mm/filemap.c) sets the read-ahead to the pages that the read needs plus one, and a read of one whole page counts as
/// two.
fn linux_2_4() -> HostProfile {
    HostProfile { read_ahead_bytes: 8 * KIB, ..bare() }
}

/// UFS of Solaris reads whole blocks of 8 KiB.
fn solaris_10() -> HostProfile {
    HostProfile { block_bytes: 8 * KIB, ..bare() }
}

fn machines() -> [Machine; 3] {
    [
        Machine {
            title: "250 GB, ATA, Linux 2.4.36",
            method: "The disk takes one command at a time. The system reads two pages on after every read.",
            drive: ATA_DISK,
            column: "ata_250gb_linux24",
            host: linux_2_4(),
            reason: None,
        },
        Machine {
            title: "160 GB, SATA, Linux 2.6.13, with other load",
            method: "One command at a time, since that kernel could not yet pass on more. Another program reads at random places of \
                 the whole disk and pauses for 135 ms between its reads; that pause is fitted to the figure of one thread.",
            drive: SATA_DISK,
            column: "sata_160gb_linux26",
            host: HostProfile { queue_depth: 1, other_load_pause: Some(OTHER_LOAD_PAUSE), ..bare() },
            reason: None,
        },
        Machine {
            title: "Mirror of two disks of 250 GB, Solaris 10",
            method: "Reads go to the two disks in turns, one command at a time each. UFS reads whole blocks of 8 KiB, so every second \
                 read finds its page in memory.",
            drive: MIRROR,
            column: "mirror_2x250gb_solaris10",
            host: solaris_10(),
            reason: Some(BY_MIRROR_DISKS),
        },
    ]
}

/// Does it again.
///
/// # Errors
/// When a disk cannot be opened.
pub fn reproduce(shelf: &Shelf) -> Result<Reproduction, UserError> {
    let published = Figures::read(THREADS);
    let mut tables = Vec::new();
    for machine in machines() {
        tables.push(by_threads(shelf, &machine, &published)?);
    }
    tables.push(mechanisms(shelf)?);
    tables.push(queueing(shelf)?);
    tables.push(spans(shelf)?);
    Ok(Reproduction {
        article: Article::B,
        title: "Speed of random reads against the number of threads",
        setting: format!(
            "Virtual disks of 7200 rpm by their mechanism (sim:{ATA_DISK}, sim:{SATA_DISK}, sim:{MIRROR}), each behind a page \
             cache that reads as the system of the article did. 24,414 blocks of 4 KiB are read once each in shuffled order. \
             The listing of the article shuffles `range(num_blocks)`: that is each block of the first tenth of the file of \
             1 GB, not a tenth of all its blocks. So the arm stays within 100 MB, and the neighbours of every block are \
             asked for as well."
        ),
        conclusion: conclusion(&tables),
        pictures: vec![by_threads_drawn(&tables[..3]), spans_drawn(tables.last())],
        tables,
    })
}

/// Reads per second that so many threads get from a drive behind a system.
fn reads_per_second(
    drive: Box<dyn Drive>,
    host: &HostProfile,
    span: Bytes,
    threads: u32,
) -> Result<f64, UserError> {
    let capacity = drive.facts().capacity.0;
    let place = ((capacity as f64 * PLACE_SHARE) as u64).min(capacity - span.0) / MIB * MIB;
    let range = ByteRange::new(Offset(place), span).expect("the span lies on the disk");
    let mut run = VirtualRun::on(Box::new(Host::new(drive, host.clone())), SEED);
    let reads = Workload::new(range, Pattern::RandomOnce, OperationMix::Read, BLOCK, 1);
    let stop = StopCondition { operations: Some(READS), ..StopCondition::default() };
    let result = run.measure(Workload { threads, ..reads }, stop, Nanos::from_secs(1))?;
    Ok(result.per_second(Operation::Read))
}

fn by_threads(shelf: &Shelf, machine: &Machine, published: &Figures) -> Result<Table, UserError> {
    let mut figures = Vec::new();
    let mut of_one = None;
    for row in 0..published.len() {
        let threads = published.number(row, "threads");
        let was = published.number(row, machine.column);
        let reproduced = reads_per_second(shelf.drive(machine.drive)?, &machine.host, TENTH, threads as u32)?;
        let name = if threads == 1.0 { "1 thread".into() } else { format!("{threads} threads") };
        let figure = Figure::new(name, Unit::PerSecond, was, reproduced, TOLERANCE);
        figures.push(match machine.reason {
            Some(reason) => figure.because(reason),
            None => figure,
        });
        of_one.get_or_insert((was, reproduced));
        let (was_of_one, reproduced_of_one) = of_one.expect("the first row has one thread");
        if matches!(threads as u32, 2 | 1000) {
            let name = format!("{threads} threads to one");
            let (was, reproduced) = (was / was_of_one, reproduced / reproduced_of_one);
            figures.push(Figure::new(name, Unit::Ratio, was, reproduced, TOLERANCE));
        }
    }
    Ok(Table { title: machine.title.into(), method: machine.method.into(), figures })
}

/// What makes 300 of the 80 that a seek over the whole disk allows, one thing after the other.
fn mechanisms(shelf: &Shelf) -> Result<Table, UserError> {
    let whole = shelf.drive(ATA_DISK)?.facts().capacity.round_down_to(BLOCK);
    let pages = |read_ahead_bytes| HostProfile { read_ahead_bytes, ..bare() };
    let cases = [
        ("reads over the whole disk", pages(0), whole),
        ("reads over the file of 1 GB", pages(0), FILE),
        ("each block of 100 MB once", pages(0), TENTH),
        ("the same, the system reads 1 page on", pages(4 * KIB), TENTH),
        ("the same, the system reads 2 pages on", pages(8 * KIB), TENTH),
        ("1 GB, the system reads 2 pages on", pages(8 * KIB), FILE),
    ];
    let mut figures = Vec::new();
    for (index, (name, host, span)) in cases.into_iter().enumerate() {
        let rate = reads_per_second(shelf.drive(ATA_DISK)?, &host, span, 1)?;
        figures.push(match index {
            4 => Figure::new(name, Unit::PerSecond, 300.0, rate, TOLERANCE),
            _ => Figure::shown(name, Unit::PerSecond, rate),
        });
    }
    let method = "One thread on the 250 GB disk. A page that was read on counts only when its turn comes later and it is still in \
         memory: of 100 MB all are asked for, of 1 GB one in ten.";
    Ok(Table { title: "What makes 300 out of 80".into(), method: method.into(), figures })
}

/// The same disk with a link that lets 32 commands be under way.
fn take_32_commands(profile: &mut Profile) {
    if let Some(link) = &mut profile.link {
        link.queue_depth_max = Some(32);
    }
}

/// What a queue would have brought.
fn queueing(shelf: &Shelf) -> Result<Table, UserError> {
    let elevator = HostProfile { queue_depth: 1, order: Order::Elevator, ..linux_2_4() };
    let cases = [
        ("first come, first served", shelf.drive(ATA_DISK)?, linux_2_4()),
        ("the system sorts by place (elevator)", shelf.drive(ATA_DISK)?, elevator),
        (
            "the disk takes 32 and knows its angle (NCQ)",
            shelf.drive_with(ATA_DISK, take_32_commands)?,
            linux_2_4(),
        ),
    ];
    let mut figures = Vec::new();
    for (index, (name, drive, host)) in cases.into_iter().enumerate() {
        let rate = reads_per_second(drive, &host, TENTH, 100)?;
        figures.push(match index {
            0 => Figure::new(name, Unit::PerSecond, 321.0, rate, TOLERANCE),
            _ => Figure::shown(name, Unit::PerSecond, rate),
        });
    }
    let method = "100 threads on the 250 GB disk. Sorting by place saves seeks, and within 100 MB there is little to save: what is left is \
         half a turn. Only the disk, which knows where its platter stands, can save that.";
    Ok(Table { title: "What a queue can do".into(), method: method.into(), figures })
}

/// The fall with the span.
fn spans(shelf: &Shelf) -> Result<Table, UserError> {
    const BY_SEEK: &str = "The article takes the 8 ms of the data sheet for a whole access. They are the mean seek alone; half a turn of 4.2 ms \
         comes on top.";
    let whole = shelf.drive(ATA_DISK)?.facts().capacity.round_down_to(BLOCK);
    let mut figures = Vec::new();
    for megabytes in [100, 1_000, 5_000, 20_000, 50_000, 100_000] {
        let span = Bytes(megabytes * 1_000_000).round_down_to(BLOCK);
        let rate = reads_per_second(shelf.drive(ATA_DISK)?, &bare(), span, 1)?;
        let name =
            if megabytes < 1000 { format!("{megabytes} MB") } else { format!("{} GB", megabytes / 1000) };
        figures.push(Figure::shown(name, Unit::PerSecond, rate));
    }
    let rate = reads_per_second(shelf.drive(ATA_DISK)?, &bare(), whole, 1)?;
    figures.push(Figure::new("the whole disk", Unit::PerSecond, 125.0, rate, TOLERANCE).because(BY_SEEK));
    let method =
        "One thread on the 250 GB disk, nothing read on, 24,414 different blocks anywhere in the span.";
    Ok(Table { title: "The fall with the span".into(), method: method.into(), figures })
}

/// Accesses a second of the three machines by threads, published and here.
fn by_threads_drawn(tables: &[Table]) -> Chart {
    let mut series = Vec::new();
    for table in tables {
        let of = |pick: fn(&Figure) -> Option<f64>| {
            let figures = table.figures.iter().filter(|figure| figure.unit == Unit::PerSecond);
            line(figures.filter_map(|figure| Some((leading_number(&figure.name)?, pick(figure)?))))
        };
        // The name of a machine up to its first comma is enough beside the others.
        let machine = table.title.split(',').next().unwrap_or_default();
        let published = of(|figure| match figure.published {
            Published::Value(value) => Some(value),
            _ => None,
        });
        series.push(Series::new(format!("{machine}, published"), published));
        series.push(Series::new(format!("{machine}, here"), of(|figure| figure.reproduced)));
    }
    let x = Axis::of_doublings("Threads", (1.0, 1000.0), Numbers::Counts);
    let highest = tables.iter().flat_map(|table| &table.figures).filter_map(|figure| figure.reproduced);
    let y = Axis::of_counts("Reads a second", highest.fold(0.0, f64::max));
    chart_of_series("b-threads", ("Random reads by threads", "three machines of 2008"), (x, y), series)
}

/// Accesses a second of one thread by the span of its places.
fn spans_drawn(table: Option<&Table>) -> Chart {
    let figures = table.map_or(&[][..], |table| table.figures.as_slice());
    let reproduced = figures.iter().filter_map(|figure| Some((span_of(&figure.name), figure.reproduced?)));
    let published = figures.iter().filter_map(|figure| match figure.published {
        Published::Value(value) => Some((span_of(&figure.name), value)),
        _ => None,
    });
    let series = vec![Series::new("published", line(published)), Series::new("here", line(reproduced))];
    let x = Axis::of_decades("Span of the places, GB", (0.1, WHOLE_GB), Numbers::Counts);
    let y = Axis::of_counts(
        "Reads a second",
        figures.iter().filter_map(|figure| figure.reproduced).fold(0.0, f64::max),
    );
    chart_of_series("b-span", ("Random reads by their span", "one thread, a disk of 250 GB"), (x, y), series)
}

/// What the whole disk holds.
const WHOLE_GB: f64 = 250.0;

/// The GB of "20 GB" or "100 MB"; what has no number is the whole disk.
fn span_of(name: &str) -> f64 {
    let unit = if name.ends_with("MB") { 1e-3 } else { 1.0 };
    leading_number(name).map_or(WHOLE_GB, |number| number * unit)
}

fn leading_number(name: &str) -> Option<f64> {
    name.split(' ').next()?.parse().ok()
}

fn conclusion(tables: &[Table]) -> String {
    let rate = |table: usize, figure: usize| {
        let figure = tables.get(table).and_then(|table| table.figures.get(figure));
        figure
            .and_then(|figure| figure.reproduced)
            .map_or_else(String::new, |value| Unit::PerSecond.text(value))
    };
    format!(
        "No disk of 7200 rpm does 300 accesses a second: half a turn alone takes 4.2 ms. Over the whole disk it does {}, within \
         100 MB {}, since the seeks are short. The rest was answered from memory: the two pages that the system read on after \
         every read were asked for later themselves, and that makes {}. Threads gain nothing on one disk that takes a command \
         at a time; on a mirror two threads keep both disks busy. Where all objects are wanted at once, let a drive that can \
         queue see all requests: {} instead of {} at 100 threads.",
        rate(3, 0),
        rate(3, 2),
        rate(3, 4),
        rate(4, 2),
        rate(4, 0),
    )
}
