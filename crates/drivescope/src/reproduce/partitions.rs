//! Article A: a 2 TB disk cut into four partitions of 500 GB, bonnie++ on each; then the outermost and the innermost
//! through USB 2.
//!
//! bonnie++ 1.03e writes a file twice as large as the memory block by block and flushes it, reads it block by block,
//! and then has three processes read 8 KiB at random places of it, 8000 times in all, and write every tenth back. What
//! the page cache holds of the file by then answers at once.

use super::SEED;
use super::figure::{Figure, Published, Table, Unit};
use super::host::{Host, HostProfile, Order};
use super::picture::{line, strokes};
use super::published::{Figures, PARTITIONS};
use super::shelf::Shelf;
use super::{Article, Reproduction};
use crate::error::UserError;
use crate::virtual_run::{PhaseResult, VirtualRun};
use model::plan::StopCondition;
use model::range::ByteRange;
use model::request::Operation;
use model::units::{Bytes, KIB, MIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};
use report::chart::{Axis, Chart, Series, chart_of_series};
use sim::Drive;

/// The disk of the article, by SATA and by USB 2.
const DRIVE: &str = "wd20ears";
const DRIVE_BY_USB: &str = "wd20ears-usb2";
/// The partitions of the article.
const PARTITION_BYTES: u64 = 500_000_000_000;
const PARTITIONS_COUNT: usize = 4;
/// The file of bonnie++, twice the memory; by USB it was another machine.
const FILE: Bytes = Bytes::from_mib(48_312);
const FILE_BY_USB: Bytes = Bytes::from_mib(6576);
/// What of the file was still in memory when the seeks began. The article does not say; each is fitted to the seeks on
/// the outermost partition.
const FILE_SHARE_IN_MEMORY: f64 = 0.19;
const FILE_SHARE_IN_MEMORY_BY_USB: f64 = 0.044;
/// What the system asks for at a time, and how many of them are under way: reading on asks for the next while the
/// program has not used up the last.
const BLOCK: Bytes = Bytes::from_kib(512);
const QUEUE_DEPTH: u32 = 2;
/// bonnie++: processes, seeks, bytes of each, and the share that is not written back.
const SEEKERS: u32 = 3;
const SEEKS: u64 = 8000;
const SEEK_BLOCK: Bytes = Bytes::from_kib(8);
const READS_SHARE: f64 = 10.0 / 11.0;
/// Linux writes a page back when it has been dirty for this long.
const WRITE_BACK_AFTER: Nanos = Nanos::from_secs(30);
/// How far a rate may be off: two disks of one model differ by as much.
const RATE_TOLERANCE: f64 = 0.03;
/// How far seeks may be off, which hang on what of the memory held the file.
const SEEKS_TOLERANCE: f64 = 0.1;

const BY_FILE_SYSTEM: &str = "A disk without a file system writes as fast as it reads. ext4 took a fifth of it: it allocates, keeps a journal and hands \
     the pages over late and in pieces. A virtual drive has no file system, so only the ratios between the partitions can be compared.";
const BY_PROCESSOR: &str = "What a character, a rewrite or a file costs is decided by the processor, the C library and ext4. There are none here.";

/// A machine of the article.
struct Machine {
    drive: &'static str,
    file: Bytes,
    file_share_in_memory: f64,
}

const BY_SATA: Machine = Machine { drive: DRIVE, file: FILE, file_share_in_memory: FILE_SHARE_IN_MEMORY };
const BY_USB: Machine =
    Machine { drive: DRIVE_BY_USB, file: FILE_BY_USB, file_share_in_memory: FILE_SHARE_IN_MEMORY_BY_USB };

/// What bonnie++ measured on one partition.
struct Partition {
    write: PhaseResult,
    read: PhaseResult,
    seeks: PhaseResult,
}

/// Does it again.
///
/// # Errors
/// When a disk cannot be opened or is smaller than the article's.
pub fn reproduce(shelf: &Shelf) -> Result<Reproduction, UserError> {
    let published = Figures::read(PARTITIONS);
    let mut partitions = Vec::new();
    for index in 0..PARTITIONS_COUNT {
        partitions.push(measure(shelf, &BY_SATA, index)?);
    }
    let by_usb = [measure(shelf, &BY_USB, 0)?, measure(shelf, &BY_USB, PARTITIONS_COUNT - 1)?];
    Ok(Reproduction {
        article: Article::A,
        title: "Outer against inner tracks of a hard disk",
        setting: format!(
            "sim:{DRIVE} is a 2 TB disk of 5400 rpm by its mechanism. It was cut into four partitions of 500 GB; on each, \
             the block write, block read and seeks of bonnie++ 1.03e with a file of {} MiB were run in virtual time. \
             bonnie++ counts in KiB and the article calls 1024 of them a MB; here a MB is 1,000,000 bytes, so its \
             141.98 MB/s are 148.9 MB/s.",
            FILE.0 / MIB
        ),
        tables: vec![
            reads(&published, &partitions),
            writes(&published, &partitions),
            seeks(&published, &partitions),
            usb(&published, &by_usb),
            out_of_reach(&published),
        ],
        pictures: vec![picture(&published, &partitions, &by_usb)],
        conclusion: conclusion(&partitions, &by_usb),
    })
}

/// What bonnie++ does on one partition of a fresh disk.
fn measure(shelf: &Shelf, machine: &Machine, index: usize) -> Result<Partition, UserError> {
    let first = Offset(index as u64 * PARTITION_BYTES / MIB * MIB);
    let range = ByteRange::new(first, machine.file).expect("the partitions lie below 2 TB");
    let mut disk = shelf.run(machine.drive)?;
    let mut pass = |mix| {
        let workload = Workload::new(range, Pattern::Sequential, mix, BLOCK, QUEUE_DEPTH);
        disk.measure(workload, StopCondition::one_pass(), Nanos::from_secs(1))
    };
    let (write, read) = (pass(OperationMix::Write)?, pass(OperationMix::Read)?);
    let host = seeking_host(shelf.drive(machine.drive)?, range, machine.file_share_in_memory);
    let mut behind_host = VirtualRun::on(Box::new(host), SEED);
    let mix = OperationMix::ReadWrite { read_share: READS_SHARE };
    let seeks = Workload {
        threads: SEEKERS,
        ..Workload::new(range, Pattern::RandomWithReplacement, mix, SEEK_BLOCK, 1)
    };
    let operations = (SEEKS as f64 / READS_SHARE) as u64;
    let stop = StopCondition { operations: Some(operations), ..StopCondition::default() };
    let seeks = behind_host.measure(seeks, stop, Nanos::from_secs(1))?;
    Ok(Partition { write, read, seeks })
}

/// The system as it is when the file has been read: its last part is in the page cache.
fn seeking_host(drive: Box<dyn Drive>, file: ByteRange, share_in_memory: f64) -> Host {
    let cached = (file.bytes().0 as f64 * share_in_memory) as u64 / MIB * MIB;
    let profile = HostProfile {
        block_bytes: 4 * KIB,
        read_ahead_bytes: 0,
        cached: file.end().0 - cached..file.end().0,
        queue_depth: 31,
        order: Order::FirstCome,
        write_back_after: WRITE_BACK_AFTER,
        other_load_pause: None,
    };
    Host::new(drive, profile)
}

fn kib_per_second(published: &Figures, row: usize, column: &str) -> f64 {
    published.number(row, column) * KIB as f64
}

fn quarter(index: usize) -> String {
    let place = match index {
        0 => ", outermost",
        3 => ", innermost",
        _ => "",
    };
    format!("quarter {}{place}", index + 1)
}

fn reads(published: &Figures, partitions: &[Partition]) -> Table {
    let rate = |row| kib_per_second(published, row, "block_read_kps");
    let mut figures: Vec<Figure> = partitions
        .iter()
        .enumerate()
        .map(|(row, partition)| {
            Figure::new(quarter(row), Unit::Rate, rate(row), partition.read.rate(), RATE_TOLERANCE)
        })
        .collect();
    let ratio = partitions[0].read.rate() / partitions[3].read.rate();
    figures.push(Figure::new(
        "outermost to innermost",
        Unit::Ratio,
        rate(0) / rate(3),
        ratio,
        RATE_TOLERANCE,
    ));
    Table { title: "Block read".into(), method: String::new(), figures }
}

fn writes(published: &Figures, partitions: &[Partition]) -> Table {
    let rate = |row| kib_per_second(published, row, "block_write_kps");
    let mut figures: Vec<Figure> = partitions
        .iter()
        .enumerate()
        .map(|(row, partition)| {
            let reproduced = partition.write.lasting_rate();
            Figure::new(quarter(row), Unit::Rate, rate(row), reproduced, RATE_TOLERANCE)
                .because(BY_FILE_SYSTEM)
        })
        .collect();
    let ratio = partitions[0].write.lasting_rate() / partitions[3].write.lasting_rate();
    // The file system took between 17 and 21 % of the four partitions' rates, so the ratio may be off by as much.
    figures.push(Figure::new("outermost to innermost", Unit::Ratio, rate(0) / rate(3), ratio, 0.04));
    Table {
        title: "Block write".into(),
        method: "The time ends when all is on the platters, since bonnie++ waits for that.".into(),
        figures,
    }
}

fn seeks(published: &Figures, partitions: &[Partition]) -> Table {
    let rates: Vec<f64> =
        partitions.iter().map(|partition| partition.seeks.per_second(Operation::Read)).collect();
    let rate = |row| published.number(row, "seeks_per_s");
    let mut figures: Vec<Figure> = rates
        .iter()
        .enumerate()
        .map(|(row, reproduced)| {
            Figure::new(quarter(row), Unit::PerSecond, rate(row), *reproduced, SEEKS_TOLERANCE)
        })
        .collect();
    figures.push(Figure::bounded("fastest to slowest", Unit::Ratio, Published::AtMost(1.06), spread(&rates)));
    let method = format!(
        "Three processes, 8 KiB each, every tenth written back. What of the file is still in memory answers at once. The \
         article does not say how much that is; {:.0} % is fitted to quarter 1, and the other quarters follow.",
        FILE_SHARE_IN_MEMORY * 100.0
    );
    Table { title: "Seeks".into(), method, figures }
}

fn spread(rates: &[f64]) -> f64 {
    let highest = rates.iter().copied().fold(0.0, f64::max);
    highest / rates.iter().copied().fold(f64::INFINITY, f64::min)
}

fn usb(published: &Figures, by_usb: &[Partition; 2]) -> Table {
    let mut figures = Vec::new();
    for (index, (word, partition)) in
        [("usb2_outer", &by_usb[0]), ("usb2_inner", &by_usb[1])].into_iter().enumerate()
    {
        let place = ["outermost", "innermost"][index];
        let number = |column| published.number_of(word, column);
        let read = number("block_read_kps") * KIB as f64;
        let write = number("block_write_kps") * KIB as f64;
        figures.push(Figure::new(
            format!("block read, {place}"),
            Unit::Rate,
            read,
            partition.read.rate(),
            RATE_TOLERANCE,
        ));
        let written = partition.write.lasting_rate();
        figures.push(
            Figure::new(format!("block write, {place}"), Unit::Rate, write, written, 0.06)
                .because(BY_FILE_SYSTEM),
        );
        let seeks = partition.seeks.per_second(Operation::Read);
        figures.push(Figure::new(
            format!("seeks, {place}"),
            Unit::PerSecond,
            number("seeks_per_s"),
            seeks,
            SEEKS_TOLERANCE,
        ));
    }
    let ratio = by_usb[0].read.rate() / by_usb[1].read.rate();
    let published_ratio = published.number_of("usb2_outer", "block_read_kps")
        / published.number_of("usb2_inner", "block_read_kps");
    figures.push(Figure::new(
        "block read, outermost to innermost",
        Unit::Ratio,
        published_ratio,
        ratio,
        0.01,
    ));
    let method = format!(
        "The same disk behind USB 2.0: one command at a time, 120 KiB each, on another machine with a file of 6576 MiB. \
         That {:.1} % of the file are still in memory is fitted to the outermost seeks.",
        FILE_SHARE_IN_MEMORY_BY_USB * 100.0
    );
    Table { title: "By USB 2".into(), method, figures }
}

fn out_of_reach(published: &Figures) -> Table {
    let rate = |column| kib_per_second(published, 0, column);
    let figures = vec![
        Figure::out_of_reach("write by character, quarter 1", Unit::Rate, rate("putc_kps"), BY_PROCESSOR),
        Figure::out_of_reach("read by character, quarter 1", Unit::Rate, rate("getc_kps"), BY_PROCESSOR),
        Figure::out_of_reach("rewrite, quarter 1", Unit::Rate, rate("rewrite_kps"), BY_PROCESSOR),
        Figure::out_of_reach(
            "processor, block read",
            Unit::Share,
            published.number(0, "block_read_cpu") / 100.0,
            BY_PROCESSOR,
        ),
    ];
    Table { title: "What a virtual drive cannot show".into(), method: String::new(), figures }
}

/// Block reads: each published one a stroke over its quarter, each reproduced one a point in the middle.
fn picture(published: &Figures, partitions: &[Partition], by_usb: &[Partition; 2]) -> Chart {
    let quarter = |index: usize| {
        let first = (index as u64 * PARTITION_BYTES) as f64;
        (first, first + PARTITION_BYTES as f64)
    };
    let middle = |index: usize| quarter(index).0 + PARTITION_BYTES as f64 / 2.0;
    let last = PARTITIONS_COUNT - 1;
    let rate = |row: usize| kib_per_second(published, row, "block_read_kps");
    let usb_rate = |word| published.number_of(word, "block_read_kps") * KIB as f64;
    let was = (0..PARTITIONS_COUNT).map(|index| (quarter(index), rate(index)));
    let was_by_usb = [(0, "usb2_outer"), (last, "usb2_inner")];
    let is = partitions.iter().enumerate().map(|(index, partition)| (middle(index), partition.read.rate()));
    let is_by_usb = [(0, &by_usb[0]), (last, &by_usb[1])];
    let series = vec![
        Series::new("published, by SATA", strokes(was)),
        Series::new("here, by SATA", line(is)),
        Series::new(
            "published, by USB 2",
            strokes(was_by_usb.map(|(index, word)| (quarter(index), usb_rate(word)))),
        ),
        Series::new(
            "here, by USB 2",
            line(is_by_usb.map(|(index, partition)| (middle(index), partition.read.rate()))),
        ),
    ];
    let x = Axis::of_positions((PARTITIONS_COUNT as u64 * PARTITION_BYTES) as f64, false);
    let y = Axis::of_rates("Block read", rate(0).max(partitions[0].read.rate()));
    chart_of_series("a-partitions", ("Outer and inner partitions", "a disk of 2 TB"), (x, y), series)
}

fn conclusion(partitions: &[Partition], by_usb: &[Partition; 2]) -> String {
    let read = |index: usize| Unit::Rate.text(partitions[index].read.rate());
    let rates: Vec<f64> =
        partitions.iter().map(|partition| partition.seeks.per_second(Operation::Read)).collect();
    format!(
        "The outermost tracks hold more sectors, so one turn reads more: {} against {} on the innermost quarter. A seek \
         moves the arm about as far and waits for half a turn wherever it is, so seeks differ by {:.0} % only. Behind USB 2 \
         both ends read {}: the link is slower than the innermost track, and hides the zones. Put what is read in long \
         stretches outside, and do not judge a disk behind a link that is slower than the disk.",
        read(0),
        read(3),
        (spread(&rates) - 1.0) * 100.0,
        Unit::Rate.text(by_usb[0].read.rate()),
    )
}
