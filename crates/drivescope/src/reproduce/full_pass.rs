//! Article C: a 3 TB disk read and written from end to end before the system goes on, then in areas of 50 GiB.

use super::figure::{Figure, Table, Unit};
use super::published::{AREAS, FULL_PASS, Figures};
use super::virtual_run::{PhaseResult, VirtualRun};
use super::{Article, Reproduction};
use crate::error::UserError;
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, GIB, Nanos, Offset};
use model::workload::{OperationMix, Pattern, Workload};

/// The disk of the article.
const DRIVE: &str = "disk-4tb";
/// What the system asks for at a time on behalf of dd, and how many of them are under way.
const BLOCK: Bytes = Bytes::from_mib(4);
const QUEUE_DEPTH: u32 = 2;
/// The areas of the article.
const AREA: Bytes = Bytes::from_gib(50);
/// How far a rate may be off and still be that of the article's disk: two disks of one model differ by as much.
const RATE_TOLERANCE: f64 = 0.02;

/// Does it again.
///
/// # Errors
/// When the disk cannot be opened or is smaller than the article's.
pub fn reproduce() -> Result<Reproduction, UserError> {
    on(|| VirtualRun::open(DRIVE))
}

/// On disks that `open` gives, a fresh one for each pass.
fn on(open: impl Fn() -> Result<VirtualRun, UserError>) -> Result<Reproduction, UserError> {
    let mut disk = open()?;
    let whole = ByteRange::whole(disk.capacity());
    let read = pass(&mut disk, whole, OperationMix::Read)?;
    let write = pass(&mut disk, whole, OperationMix::Write)?;
    Ok(Reproduction {
        article: Article::C,
        title: "A hard disk before the system goes on",
        setting: String::new(),
        tables: vec![whole_disk(&read, &write), areas(&mut disk)?],
        conclusion: String::new(),
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
    let _ = write;
    Table { title: "The whole disk".into(), method: String::new(), figures }
}

/// The areas of the article, read and written with a flush.
fn areas(disk: &mut VirtualRun) -> Result<Table, UserError> {
    let published = Figures::read(AREAS);
    let mut figures = Vec::new();
    for row in 0..published.len() {
        let first_gib = published.number(row, "offset_gib");
        let Some(area) = ByteRange::new(Offset(first_gib as u64 * GIB), AREA) else { continue };
        let bytes = AREA.0 as f64;
        let read = pass(disk, area, OperationMix::Read)?;
        let write = pass(disk, area, OperationMix::Write)?;
        let name = |what| format!("{what}, 50 GiB from {first_gib} GiB on");
        let read_rate = bytes / published.number(row, "read_s");
        let write_rate = bytes / published.number(row, "write_s");
        figures.push(Figure::new(name("read"), Unit::Rate, read_rate, read.rate(), RATE_TOLERANCE));
        figures.push(Figure::new(name("write"), Unit::Rate, write_rate, write.lasting_rate(), RATE_TOLERANCE));
    }
    Ok(Table { title: "Areas of 50 GiB".into(), method: String::new(), figures })
}
