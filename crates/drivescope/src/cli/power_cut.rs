//! `verify --power-cut`: numbered records, each reported after its flush, and which of them a power cut lost.
//!
//! ```text
//! write   record ─► flush ─► report its number elsewhere ─► the next record, until the power goes
//! check   the reported numbers ─► the slot of each record ─► kept, lost, torn or stale
//! ```
//! A virtual drive does both at once: the seed draws the instant at which its power goes.

use super::{begun_run, output, output_file};
use crate::configuration;
use crate::error::{Cannot, UserError, exit};
use crate::interrupt;
use crate::target_choice::{VIRTUAL_PREFIX, range_on};
use crate::virtual_drive::{self, VirtualDrive};
use ::io::targets::preserve::{Medium, TargetMedium};
use ::io::targets::{Target, WriteConsent, WritePermit};
use analysis::power_cut::Judge;
use experiment::request::DriveOptions;
use experiment::verify::{PowerCutStep, VerifyRequest};
use model::power_cut::{Acknowledged, RECORD_BYTES, RING_MAX, Ring, SECTORS};
use model::prng::Prng;
use model::range::ByteRange;
use report::hostile::harmless;
use report::terminal::{PowerCutPage, power_cut_page};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use sim::contents::CAPACITY_MAX;
use sim::flush::FlushPolicy;
use sim::power::CachedContents;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The file in a folder that is tested. It has a name, so that it can be found after the cut.
const FILE: &str = "drivescope-power-cut.data";
/// 25 million reported records; a longer log is something else.
const LOG_BYTES_MAX: u64 = 256 << 20;
const READ_RECORDS: u64 = 256;
/// Of the instant at which a virtual drive loses its power.
const CUT_STREAM: u64 = 0x9cc7;
const VIRTUAL_RECORDS_MAX: u64 = 20_000;
const NOTICE_EVERY: Duration = Duration::from_secs(10);

/// Runs the step; the exit status.
///
/// # Errors
/// When the target may not be written, cannot be read, or the log of reports is none.
pub fn run(request: &VerifyRequest) -> Result<u8, UserError> {
    let drive = &request.drive;
    if !drive.output.fail_if.is_empty() || drive.output.line.is_some() || drive.output.post {
        return Err(UserError::usage(
            "a power cut has no findings. Omit --fail-if, --format and --post; status 3 means missing records",
        ));
    }
    let step = request.power_cut.expect("the caller has seen it");
    if let Some(name) = drive.target.strip_prefix(VIRTUAL_PREFIX) {
        if step == PowerCutStep::Write || request.to.is_some() {
            return Err(UserError::usage(
                "a virtual drive writes, loses its power and is checked in one run: --power-cut check without --to",
            ));
        }
        return check_virtual(drive, &virtual_drive::find(name)?);
    }
    let Some(to) = &request.to else {
        return Err(UserError::usage(
            "name where flushed records are reported: --to HOST:PORT, or --to FILE on another drive",
        ));
    };
    match step {
        PowerCutStep::Write => write(drive, to),
        PowerCutStep::Check => check(drive, Path::new(to)),
    }
}

fn file_of(target: &str) -> PathBuf {
    let path = Path::new(target);
    if path.is_dir() { path.join(FILE) } else { path.to_owned() }
}

fn shown(path: &Path) -> String {
    harmless(&path.display().to_string(), usize::MAX)
}

fn write(drive: &DriveOptions, to: &str) -> Result<u8, UserError> {
    let path = file_of(&drive.target);
    let is_ours = path != Path::new(&drive.target);
    if !is_ours && !drive.writing.write {
        return Err(UserError::usage(format!(
            "{} is overwritten by records. Add --write, or name a folder, in which a file is made",
            shown(&path)
        )));
    }
    let mut log = open_log(to, &path)?;
    let writing = &drive.writing;
    let mut consent = WriteConsent { destroy_data: writing.destroy_data, confirm: writing.confirm.clone() };
    if is_ours {
        make(&path).or_cannot(&format!("make {} for the records", shown(&path)))?;
        consent = WriteConsent { destroy_data: true, confirm: Some(path.display().to_string()) };
    }
    let target = Target::open(&path)?;
    let permit = WritePermit::grant(&target, &consent, &configuration::never_write()?)?;
    let range = range_on(drive.range, target.facts())?;
    let ring = ring_on(begun_run::random_seed(), range, &path)?;
    let mut medium = TargetMedium::new(&target, &permit)?;
    output::say(&format!(
        "writing records of {RECORD_BYTES} bytes to {}, each flushed and then reported to {to}. Cut the power now. \
         Afterwards: drivescope verify --power-cut check {} --to FILE",
        shown(&path),
        shown(&path)
    ));
    let limit = drive.time_limit.map(duration);
    let count = write_records(&mut medium, ring, &mut log, &shown(&path), limit)?;
    output::say(&format!("stopped without a power cut after {count} records"));
    Ok(exit::SUCCESS)
}

fn duration(time: model::units::Nanos) -> Duration {
    Duration::from_nanos(time.get())
}

fn ring_on(key: u64, range: ByteRange, path: &Path) -> Result<Ring, UserError> {
    Ring::on(key, range).ok_or_else(|| {
        UserError::usage(format!(
            "there is no room for a record of {RECORD_BYTES} bytes in {}. Give a larger --range",
            shown(path)
        ))
    })
}

/// Until the power goes, the time is up, or somebody ends it. An error of the flush is final: a later success would hide the loss.
fn write_records(
    medium: &mut impl Medium,
    ring: Ring,
    log: &mut Log,
    path: &str,
    limit: Option<Duration>,
) -> Result<u64, UserError> {
    let interrupt = interrupt::flag()?;
    log.report(&ring.title())?;
    let mut payload = ring.payload();
    let mut buffer = [0; RECORD_BYTES];
    let begun = Instant::now();
    let mut noticed = begun;
    let mut record = 0;
    while !interrupt.load(Ordering::Relaxed) && limit.is_none_or(|limit| begun.elapsed() < limit) {
        ring.fill(&mut payload, record, &mut buffer);
        let failed = |what: &str, error: io::Error| {
            UserError::failure(format!(
                "cannot {what} record {record} on {path}: {error}. Its data are lost; {record} records before it were \
                 acknowledged. A second flush would hide the loss, so none is tried. Look at the kernel log: dmesg"
            ))
        };
        medium.write_at(ring.offset_of(record), &buffer).map_err(|error| failed("write", error))?;
        medium.flush().map_err(|error| failed("flush", error))?;
        log.report(&format!("{record}\n"))?;
        record += 1;
        if noticed.elapsed() >= NOTICE_EVERY {
            noticed = Instant::now();
            output::say(&format!("{record} records acknowledged"));
        }
    }
    Ok(record)
}

/// A file of a ring's size, reserved and named for good before the first record.
fn make(path: &Path) -> io::Result<()> {
    let file = File::options().write(true).create_new(true).open(path)?;
    let made = reserve(&file).and_then(|()| file.sync_all());
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let made = made.and_then(|()| File::open(folder)?.sync_all());
    if made.is_err() {
        let _ = fs::remove_file(path);
    }
    made
}

fn reserve(mut file: &File) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, RING_MAX.get()) {
        Err(Errno::OPNOTSUPP) => {}
        reserved => return Ok(reserved?),
    }
    let zeros = vec![0; 1 << 20];
    for _ in 0..RING_MAX.get() / zeros.len() as u64 {
        file.write_all(&zeros)?;
    }
    Ok(())
}

/// Where records are reported, after each is flushed.
enum Log {
    /// Made durable line by line: it may be of the machine that loses its power.
    File(File, PathBuf),
    Connection(TcpStream, String),
}

fn open_log(to: &str, target: &Path) -> Result<Log, UserError> {
    let is_address = matches!(to.rsplit_once(':'), Some((_, port)) if port.parse::<u16>().is_ok());
    if is_address && !to.contains('/') {
        let what = format!("connect to {to} (is there a listener, as `nc -l PORT > LOG`?)");
        let stream = TcpStream::connect(to).or_cannot(&what)?;
        stream.set_nodelay(true).or_cannot(&what)?;
        return Ok(Log::Connection(stream, to.into()));
    }
    let path = Path::new(to);
    output_file::must_take_result(path, &[target])?;
    let made = File::options().write(true).create_new(true).open(path);
    let file = made.or_cannot(&format!("make the log {} (an older one is not overwritten)", shown(path)))?;
    Ok(Log::File(file, path.into()))
}

impl Log {
    fn report(&mut self, line: &str) -> Result<(), UserError> {
        match self {
            Log::File(file, path) => {
                let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
                written.or_cannot(&format!("report to {}", shown(path)))
            }
            Log::Connection(stream, to) => {
                stream.write_all(line.as_bytes()).or_cannot(&format!("report to {to}"))
            }
        }
    }
}

fn check(drive: &DriveOptions, log: &Path) -> Result<u8, UserError> {
    let acknowledged = read_log(log)?;
    let ring = acknowledged.ring;
    let target = Target::open(&file_of(&drive.target))?;
    let end = ring.first.get() + ring.bytes().get();
    if end > target.facts().capacity.get() {
        return Err(UserError::usage(format!(
            "the records of {} end at byte {end}, and {} has {}. Name the target that was written",
            shown(log),
            shown(target.path()),
            target.facts().capacity.get()
        )));
    }
    let read = |offset: u64, into: &mut [u8]| Ok(target.read(offset, into)?);
    conclude(drive, shown(target.path()), judge(acknowledged, read)?)
}

fn read_log(path: &Path) -> Result<Acknowledged, UserError> {
    let reading = format!("read the log {}", shown(path));
    output_file::must_be_no_drive(path)?;
    let mut text = Vec::new();
    let file = File::open(path).or_cannot(&reading)?;
    file.take(LOG_BYTES_MAX + 1).read_to_end(&mut text).or_cannot(&reading)?;
    if text.len() as u64 > LOG_BYTES_MAX {
        return Err(UserError::usage(format!("cannot {reading}: it is larger than 256 MiB")));
    }
    Acknowledged::parse(&text).or_cannot(&reading)
}

/// Reads many slots in one request, as they lie.
fn judge(
    acknowledged: Acknowledged,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), UserError>,
) -> Result<Judge, UserError> {
    let mut judge = Judge::new(acknowledged);
    let ring = acknowledged.ring;
    let expected = acknowledged.expected();
    let mut buffer = vec![0; READ_RECORDS as usize * RECORD_BYTES];
    let mut record = expected.start;
    while record < expected.end {
        let to_lap = ring.slots - record % ring.slots;
        let count = READ_RECORDS.min(to_lap).min(expected.end - record);
        let part = &mut buffer[..count as usize * RECORD_BYTES];
        read(ring.offset_of(record), part)?;
        for found in part.as_chunks().0 {
            judge.slot(record, found);
            record += 1;
        }
    }
    Ok(judge)
}

fn check_virtual(drive: &DriveOptions, virtual_drive: &VirtualDrive) -> Result<u8, UserError> {
    let seed = drive.seed.unwrap_or_else(begun_run::random_seed);
    let opened = virtual_drive.open(seed)?;
    if opened.facts().capacity > CAPACITY_MAX {
        return Err(UserError::usage(format!(
            "{} is too large to keep data: at most 64 TiB",
            virtual_drive.path
        )));
    }
    let range = range_on(drive.range, opened.facts())?;
    let ring = ring_on(seed, range, Path::new(&virtual_drive.path))?;
    let (cache, policy) =
        virtual_drive.profile.write_cache().unwrap_or((model::units::Bytes::ZERO, FlushPolicy::Honoured));
    let mut contents = CachedContents::new(virtual_drive.contents(seed)?, policy, cache);
    let mut chance = Prng::new(seed, CUT_STREAM);
    let mut payload = ring.payload();
    let mut buffer = [0; RECORD_BYTES];
    let count = 1 + chance.below(VIRTUAL_RECORDS_MAX);
    for record in 0..count {
        ring.fill(&mut payload, record, &mut buffer);
        contents.write(ring.offset_of(record), &buffer).or_fail()?;
        contents.flush().or_fail()?;
    }
    // The power goes while the next one is written.
    ring.fill(&mut payload, count, &mut buffer);
    let sectors = chance.below(SECTORS as u64 + 1) as usize;
    contents.write(ring.offset_of(count), &buffer[..sectors * RECORD_BYTES / SECTORS]).or_fail()?;
    let (medium, _) = contents.cut(&mut chance).or_fail()?;
    let read = |offset: u64, into: &mut [u8]| {
        medium.read(offset, into);
        Ok(())
    };
    conclude(drive, virtual_drive.path.clone(), judge(Acknowledged { ring, count }, read)?)
}

fn conclude(drive: &DriveOptions, target: String, judge: Judge) -> Result<u8, UserError> {
    let page = PowerCutPage { target, survival: judge.finish() };
    let json = output::json(&page);
    match &drive.output.json {
        Some(path) if path == Path::new("-") => output::print(&json)?,
        Some(path) => {
            output_file::write(path, "what the power cut left", json.as_bytes())?;
            output::print(&power_cut_page(&page, output::page_style(drive.output.plain)))?;
        }
        None => output::print(&power_cut_page(&page, output::page_style(drive.output.plain)))?,
    }
    Ok(if page.survival.missing() > 0 { exit::WORSE } else { exit::SUCCESS })
}
