//! Article B: reads of 4 KiB in shuffled order from one file by 1 to 1000 threads, on two disks and on a mirror; and the
//! effect of the span of the file.
//!
//! The listing shuffles `range(num_blocks)`: it reads each block of the first tenth of the file once, not a tenth of all its
//! blocks. So seeks stay within 100 MB, and every neighbour of a block is read too: read-ahead pays.

use super::article::{Article, Reproduction, SEED};
use super::figure::{Published, Table, Unit, highest};
use super::host::{Host, HostProfile, Order};
use super::picture::line;
use super::published::{Figures, THREADS};
use super::shelf::Shelf;
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

const ATA_DISK: &str = "st3250823a";
const SATA_DISK: &str = "sata-160gb";
const MIRROR: &str = "raid1-2";
/// A tenth of the blocks of 999,997,440 bytes.
const BLOCK: Bytes = Bytes::from_kib(4);
const READS: u64 = 24_414;
const TENTH: Bytes = Bytes::new(READS * 4096);
const FILE: Bytes = Bytes::new(999_997_440);
/// The article does not say where the file is; the middle stands for anywhere.
const PLACE_SHARE: f64 = 0.5;
/// No data sheet gives the time of short seeks.
const TOLERANCE: f64 = 0.15;
/// Fitted to the figure of one thread.
const OTHER_LOAD_PAUSE: Nanos = Nanos::from_millis(135);

const BY_MIRROR_DISKS: &str = "The article does not name the two disks. They need 8 ms for a read within 100 MB, the virtual ones 6 ms. The \
     gain of a mirror does not depend on it.";

struct Machine {
    title: &'static str,
    method: &'static str,
    drive: &'static str,
    column: &'static str,
    host: HostProfile,
    reason: Option<&'static str>,
}

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

/// Linux 2.4 reads two pages ahead after any read: `do_generic_file_read` (mm/filemap.c) sets the read-ahead to the pages of
/// the read plus one, and a read of one whole page counts as two.
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
            method: "The disk has no command queue (QD 1). The kernel reads ahead two pages after every read.",
            drive: ATA_DISK,
            column: "ata_250gb_linux24",
            host: linux_2_4(),
            reason: None,
        },
        Machine {
            title: "160 GB, SATA, Linux 2.6.13, with other load",
            method: "QD 1: that kernel had no NCQ support. Background load: random reads over the whole disk with pauses of 135 ms, \
                 fitted to the figure of one thread.",
            drive: SATA_DISK,
            column: "sata_160gb_linux26",
            host: HostProfile { queue_depth: 1, other_load_pause: Some(OTHER_LOAD_PAUSE), ..bare() },
            reason: None,
        },
        Machine {
            title: "Mirror of two disks of 250 GB, Solaris 10",
            method: "Reads alternate between the two disks, QD 1 each. UFS reads whole blocks of 8 KiB, so every second read is a \
                 page cache hit.",
            drive: MIRROR,
            column: "mirror_2x250gb_solaris10",
            host: solaris_10(),
            reason: Some(BY_MIRROR_DISKS),
        },
    ]
}

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
        title: "Random read IOPS by number of threads",
        setting: format!(
            "sim:{ATA_DISK}, sim:{SATA_DISK} and sim:{MIRROR} model the 7200 rpm disks, each behind the page cache of the article's \
             operating system. 24,414 blocks of 4 KiB are read once each, in shuffled order. The article's listing shuffles \
             `range(num_blocks)`: all blocks of the first tenth of a 1 GB file, not a tenth of all blocks. Seeks therefore \
             stay within 100 MB, and the neighbours of each block are read too."
        ),
        conclusion: conclusion(&tables),
        pictures: vec![by_threads_drawn(&tables[..3]), spans_drawn(&tables[5])],
        tables,
    })
}

fn reads_per_second(
    drive: Box<dyn Drive>,
    host: &HostProfile,
    span: Bytes,
    threads: u32,
) -> Result<f64, UserError> {
    let capacity = drive.facts().capacity.get();
    let place = ((capacity as f64 * PLACE_SHARE) as u64).min(capacity - span.get()) / MIB * MIB;
    let range = ByteRange::new(Offset::new(place), span).expect("the span lies on the disk");
    let mut run = VirtualRun::on(Box::new(Host::new(drive, host.clone())), SEED);
    let reads = Workload::new(range, Pattern::RandomOnce, OperationMix::Read, BLOCK, 1);
    let stop = StopCondition { operations: Some(READS), ..StopCondition::default() };
    let result = run.measure(Workload { threads, ..reads }, stop, Nanos::from_secs(1))?;
    Ok(result.per_second(Operation::Read))
}

fn by_threads(shelf: &Shelf, machine: &Machine, published: &Figures) -> Result<Table, UserError> {
    let mut table = Table::new(machine.title, machine.method);
    for row in 0..published.len() {
        let threads = published.number(row, "threads");
        let was = published.number(row, machine.column);
        let is = reads_per_second(shelf.drive(machine.drive)?, &machine.host, TENTH, threads as u32)?;
        let name = if threads == 1.0 { "1 thread".into() } else { format!("{threads} threads") };
        let figure = table.compare(name, Unit::PerSecond, (was, is), TOLERANCE);
        figure.reason = machine.reason.map(str::to_owned);
        if matches!(threads as u32, 2 | 1000) {
            let one = &table.figures[0];
            let ratios = (was / one.published_value(), is / one.reproduced_value());
            table.compare(format!("{threads} threads to one"), Unit::Ratio, ratios, TOLERANCE);
        }
    }
    Ok(table)
}

fn mechanisms(shelf: &Shelf) -> Result<Table, UserError> {
    let whole = shelf.drive(ATA_DISK)?.facts().capacity.round_down_to(BLOCK);
    let cases = [
        ("random reads over the whole disk", 0, whole, None),
        ("random reads over a 1 GB file", 0, FILE, None),
        ("each block of 100 MB once, no read-ahead", 0, TENTH, None),
        ("the same, read-ahead of 1 page", 4 * KIB, TENTH, None),
        ("the same, read-ahead of 2 pages", 8 * KIB, TENTH, Some(300.0)),
        ("1 GB, read-ahead of 2 pages", 8 * KIB, FILE, None),
    ];
    let method = "One thread on the 250 GB disk. A prefetched page pays off only if it is read later: always within 100 MB, one time in ten \
         within 1 GB.";
    let mut table = Table::new("From 80 to 300 IOPS", method);
    for (name, read_ahead_bytes, span, published) in cases {
        let host = HostProfile { read_ahead_bytes, ..bare() };
        let rate = reads_per_second(shelf.drive(ATA_DISK)?, &host, span, 1)?;
        match published {
            Some(published) => table.compare(name, Unit::PerSecond, (published, rate), TOLERANCE),
            None => table.show(name, Unit::PerSecond, rate),
        };
    }
    Ok(table)
}

fn take_32_commands(profile: &mut Profile) {
    if let Some(link) = &mut profile.link {
        link.queue_depth_max = Some(32);
    }
}

fn queueing(shelf: &Shelf) -> Result<Table, UserError> {
    let elevator = HostProfile { queue_depth: 1, order: Order::Elevator, ..linux_2_4() };
    let cases = [
        ("first in, first out", shelf.drive(ATA_DISK)?, linux_2_4()),
        ("elevator (kernel sorts by LBA)", shelf.drive(ATA_DISK)?, elevator),
        ("NCQ, QD 32", shelf.drive_with(ATA_DISK, take_32_commands)?, linux_2_4()),
    ];
    let method = "100 threads on the 250 GB disk. Sorting by LBA shortens seeks, which within 100 MB are short anyway. The rest is \
         rotational latency, and only the disk's own queue (NCQ) can reduce that.";
    let mut table = Table::new("Effect of a queue", method);
    for (index, (name, drive, host)) in cases.into_iter().enumerate() {
        let rate = reads_per_second(drive, &host, TENTH, 100)?;
        match index {
            0 => table.compare(name, Unit::PerSecond, (321.0, rate), TOLERANCE),
            _ => table.show(name, Unit::PerSecond, rate),
        };
    }
    Ok(table)
}

fn spans(shelf: &Shelf) -> Result<Table, UserError> {
    const BY_SEEK: &str = "The article uses the 8 ms of the data sheet as access time. That is the average seek time; rotational latency adds \
         4.2 ms.";
    let whole = shelf.drive(ATA_DISK)?.facts().capacity.round_down_to(BLOCK);
    let method = "One thread on the 250 GB disk, no read-ahead, 24,414 different blocks within the span.";
    let mut table = Table::new("IOPS by span", method);
    for megabytes in [100, 1_000, 5_000, 20_000, 50_000, 100_000] {
        let span = Bytes::new(megabytes * 1_000_000).round_down_to(BLOCK);
        let rate = reads_per_second(shelf.drive(ATA_DISK)?, &bare(), span, 1)?;
        let name =
            if megabytes < 1000 { format!("{megabytes} MB") } else { format!("{} GB", megabytes / 1000) };
        table.show(name, Unit::PerSecond, rate);
    }
    let rate = reads_per_second(shelf.drive(ATA_DISK)?, &bare(), whole, 1)?;
    table.compare("the whole disk", Unit::PerSecond, (125.0, rate), TOLERANCE).because(BY_SEEK);
    Ok(table)
}

fn by_threads_drawn(tables: &[Table]) -> Chart {
    let (mut series, mut all) = (Vec::new(), Vec::new());
    for table in tables {
        let (mut was, mut is) = (Vec::new(), Vec::new());
        for figure in &table.figures {
            all.extend(figure.reproduced);
            if let Some(threads) = leading_number(&figure.name)
                && figure.unit == Unit::PerSecond
            {
                was.push((threads, figure.published_value()));
                is.push((threads, figure.reproduced_value()));
            }
        }
        // The name of a machine up to its first comma is enough in a legend.
        let machine = table.title.split(',').next().unwrap_or_default();
        series.push(Series::new(format!("{machine}, published"), line(was)));
        series.push(Series::new(format!("{machine}, reproduced"), line(is)));
    }
    let x = Axis::of_doublings("Threads", (1.0, 1000.0), Numbers::Counts);
    let y = Axis::of_counts("IOPS", highest(all));
    chart_of_series("b-threads", ("Random read IOPS by threads", "three machines of 2008"), (x, y), series)
}

fn spans_drawn(table: &Table) -> Chart {
    let (mut was, mut is) = (Vec::new(), Vec::new());
    for figure in &table.figures {
        let span = span_of(&figure.name);
        is.push((span, figure.reproduced_value()));
        if let Published::Value(value) = figure.published {
            was.push((span, value));
        }
    }
    let y = Axis::of_counts("IOPS", highest(is.iter().map(|point| point.1)));
    let series = vec![Series::new("published", line(was)), Series::new("reproduced", line(is))];
    let x = Axis::of_decades("Span, GB", (0.1, WHOLE_GB), Numbers::Counts);
    chart_of_series("b-span", ("Random read IOPS by span", "one thread, 250 GB disk"), (x, y), series)
}

const WHOLE_GB: f64 = 250.0;

/// The GB of "20 GB" or "100 MB"; without a number, of the whole disk.
fn span_of(name: &str) -> f64 {
    match leading_number(name) {
        Some(number) if name.ends_with("MB") => number * 1e-3,
        Some(number) => number,
        None => WHOLE_GB,
    }
}

fn leading_number(name: &str) -> Option<f64> {
    name.split(' ').next()?.parse().ok()
}

fn conclusion(tables: &[Table]) -> String {
    let (mechanisms, queueing) = (&tables[3].figures, &tables[4].figures);
    format!(
        "A 7200 rpm disk cannot reach 300 random IOPS: rotational latency alone averages 4.2 ms. Over the whole disk it reaches \
         {}, within 100 MB {}, because seeks are short. The rest is page cache hits: with a read-ahead of two pages it \
         reaches {}. Threads gain nothing on one disk without a command queue. On a mirror, two threads keep both disks \
         busy. A drive with NCQ gains from more requests in flight: {} instead of {} at 100 threads.",
        mechanisms[0].reproduced_text(),
        mechanisms[2].reproduced_text(),
        mechanisms[4].reproduced_text(),
        queueing[2].reproduced_text(),
        queueing[0].reproduced_text(),
    )
}
