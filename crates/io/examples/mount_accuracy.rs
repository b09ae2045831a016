//! How exactly a mounted drive keeps the time of its model, and whether fio and dd measure on it what drivescope
//! measures on the same drive in virtual time. The bench runs it as a process of its own.
//!
//! `mount_accuracy DRIVE`: prints a table; fails when a limit is not kept. It needs root, fio and dd.

use io::load::collect::Unobserved;
use io::mount::{Lateness, Mount, MountOptions};
use io::rig::Rig;
use model::plan::{Phase, PhaseKind, StopCondition};
use model::prng::Prng;
use model::range::ByteRange;
use model::request::{Completion, Request, Status};
use model::target::TargetFacts;
use model::units::{Bytes, Instant, Nanos, Offset, Quantile};
use model::workload::{OperationMix, Pattern, Workload};
use sim::Drive;
use sim::contents::Contents;
use sim::disk::drive::DiskDrive;
use sim::profile::preset;
use std::collections::VecDeque;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, ExitCode};

type Failure = Box<dyn Error>;

/// `O_DIRECT` of Linux on the processors that the bench knows.
const DIRECT: i32 = 0o40000;
const TURN: Nanos = Nanos::new(8_333_333);
const TURNS: usize = 600;
/// The period of rotation must be within this of the model, in parts per million.
const PERIOD_PPM_MAX: f64 = 10.0;
/// 99 of 100 answers of a hard disk must be within this of the model.
const LATE_MAX: Nanos = Nanos::new(50_000);
/// Peers must be within this share of what drivescope measures in virtual time.
const PEER_SHARE_MAX: f64 = 0.03;
/// Random reads of one comparison: half a turn's worth of chance in each leaves 0.5 % in their mean.
const RANDOM_READS: u64 = 2000;
const SEQUENTIAL_READS: u64 = 2000;

/// A drive whose answers can be foretold without any model: after a fixed time, or when a sector comes round.
struct Foretold {
    facts: TargetFacts,
    rule: Rule,
    free_at: VecDeque<Instant>,
    under_way: VecDeque<Completion>,
}

#[derive(Clone, Copy)]
enum Rule {
    /// So many servers, each of which takes this long.
    After(Nanos, usize),
    /// At the next multiple of this time.
    Turning(Nanos),
}

impl Foretold {
    fn new(rule: Rule) -> Result<Foretold, Failure> {
        let facts = sim::open("null", 1)?.facts().clone();
        let servers = if let Rule::After(_, servers) = rule { servers } else { 1 };
        Ok(Foretold {
            facts,
            rule,
            free_at: vec![Instant::START; servers].into(),
            under_way: VecDeque::new(),
        })
    }
}

impl Drive for Foretold {
    fn submit(&mut self, request: Request, now: Instant) {
        let free = self.free_at.pop_front().unwrap_or_default().max(now);
        let done = match self.rule {
            Rule::After(latency, _) => free + latency,
            Rule::Turning(turn) => Instant::new((free.get() / turn.get() + 1) * turn.get()),
        };
        self.free_at.push_back(done);
        self.under_way.push_back(Completion {
            tag: request.tag,
            status: Status::Done,
            transferred_bytes: request.length_bytes,
            completed_ns: done.get(),
        });
    }

    fn next_completion_at(&mut self) -> Option<Instant> {
        self.under_way.front().map(|completion| Instant::new(completion.completed_ns))
    }

    fn take_completion(&mut self, now: Instant) -> Option<Completion> {
        if self.next_completion_at()? > now {
            return None;
        }
        self.under_way.pop_front()
    }

    fn facts(&self) -> &TargetFacts {
        &self.facts
    }
}

/// A page at an address that direct I/O accepts.
#[repr(align(4096))]
struct Page([u8; 4096]);

fn main() -> Result<ExitCode, Failure> {
    let name = std::env::args().nth(1).ok_or("usage: mount_accuracy DRIVE")?;
    println!("| drive | what | model | measured | difference | limit | late by: median, 99 %, most |");
    println!("|---|---|---|---|---|---|---|");
    let kept = [fixed_latency()?, rotation()?, queues()?, peers(&name)?];
    Ok(if kept.into_iter().all(|kept| kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn mounted<Measured>(
    drive: Box<dyn Drive + Send>,
    measure: impl FnOnce(&Path) -> Result<Measured, Failure>,
) -> Result<(Measured, Lateness), Failure> {
    let folder = tempfile::tempdir()?;
    let options = MountOptions {
        folder: folder.path().to_owned(),
        file_name: "drive".into(),
        loop_device: false,
        turn: None,
    };
    let contents = Contents::new(drive.facts().capacity, &[], 1);
    let mount = Mount::start(drive, contents, &options, || {})?;
    let measured = measure(mount.file());
    let lateness = mount.stop().lateness.ok_or("the mount has failed")?;
    Ok((measured?, lateness))
}

/// Reads the first page again and again; the moments when each came, in nanoseconds.
fn read_again_and_again(file: &Path, times: usize) -> Result<Vec<u64>, Failure> {
    let file: File = OpenOptions::new().read(true).custom_flags(DIRECT).open(file)?;
    let mut page = Box::new(Page([0; 4096]));
    let began = std::time::Instant::now();
    let mut moments = Vec::with_capacity(times);
    for _ in 0..times {
        file.read_exact_at(&mut page.0, 0)?;
        moments.push(began.elapsed().as_nanos() as u64);
    }
    Ok(moments)
}

fn fixed_latency() -> Result<bool, Failure> {
    let latency = Nanos::from_millis(8);
    let drive = Box::new(Foretold::new(Rule::After(latency, 1))?);
    let (moments, lateness) = mounted(drive, |file| read_again_and_again(file, TURNS))?;
    let mean = (moments[TURNS - 1] - moments[0]) as f64 / (TURNS - 1) as f64;
    let late = lateness.histogram.quantile(Quantile::P99).unwrap_or_default();
    row(
        ["8 ms", "latency of a 4 KiB read"],
        ["8000 µs", &format!("{:.1} µs", mean / 1e3)],
        &format!("{:+.1} µs", (mean - latency.as_f64()) / 1e3),
        "99 % late by 50 µs at most",
        &lateness,
    );
    Ok(late <= LATE_MAX)
}

/// A drive of which only the rotation is modelled; and all of a disk, but for the cache that would answer instead.
fn rotation() -> Result<bool, Failure> {
    let turning = Box::new(Foretold::new(Rule::Turning(TURN))?);
    let mut profile = preset("disk-4tb").expect("a drive that ships").disk.expect("a disk");
    profile.read_ahead.segments = 0;
    let mut facts = turning.facts().clone();
    facts.capacity = sim::open("disk-4tb", 1)?.facts().capacity;
    let turn = Nanos::from_secs_f64(60.0 / profile.turns_per_minute).ok_or("a disk that turns")?;
    let disk = Box::new(DiskDrive::new(facts, &profile, 1));
    Ok(period_of("7200 rpm", turning, TURN)? & period_of("disk-4tb without cache", disk, turn)?)
}

fn period_of(name: &str, drive: Box<dyn Drive + Send>, turn: Nanos) -> Result<bool, Failure> {
    let (moments, lateness) = mounted(drive, |file| read_again_and_again(file, TURNS + 1))?;
    let period = (moments[TURNS] - moments[0]) as f64 / TURNS as f64;
    let missed = moments.windows(2).filter(|pair| pair[1] - pair[0] > turn.get() * 3 / 2).count();
    let ppm = (period / turn.as_f64() - 1.0) * 1e6;
    row(
        [name, &format!("period over {TURNS} turns, {missed} missed")],
        [&format!("{:.3} µs", turn.as_f64() / 1e3), &format!("{:.3} µs", period / 1e3)],
        &format!("{ppm:+.1} ppm"),
        "10 ppm",
        &lateness,
    );
    Ok(ppm.abs() <= PERIOD_PPM_MAX)
}

/// Flash that would bring 50,000 and 100,000 reads a second, with queues of 1, 8 and 32. Without limit: the way through
/// the kernel and back takes 10 to 25 µs, which no model knows of.
fn queues() -> Result<bool, Failure> {
    for latency_us in [160, 80] {
        for depth in [1u64, 8, 32] {
            let drive = Box::new(Foretold::new(Rule::After(Nanos::new(latency_us * 1000), 8))?);
            let options = ["--rw=randread", "--bs=4k", "--time_based", "--runtime=3", "--ioengine=io_uring"];
            let (rate, lateness) = mounted(drive, |file| fio(file, depth, 4, &options))?;
            let ideal = depth.min(8) as f64 * 1e6 / latency_us as f64;
            row(
                [
                    &format!("8 × {latency_us} µs"),
                    &format!("random 4 KiB reads a second, depth {depth} (fio)"),
                ],
                [&format!("{ideal:.0}"), &format!("{rate:.0}")],
                &format!("{:+.1} %", 100.0 * (rate / ideal - 1.0)),
                "none",
                &lateness,
            );
        }
    }
    Ok(true)
}

/// The same places in the same order: by fio on the mounted drive, by drivescope in virtual time.
fn peers(name: &str) -> Result<bool, Failure> {
    let capacity = sim::open(name, 1)?.facts().capacity;
    let mut prng = Prng::new(11, 1);
    let blocks = capacity.get() / 4096;
    let offsets: Vec<Offset> = (0..RANDOM_READS).map(|_| Offset::new(prng.below(blocks) * 4096)).collect();
    let mut kept = true;
    for depth in [1u32, 8] {
        let pattern = Pattern::Listed { offsets: offsets.clone() };
        let expected = in_virtual_time(name, pattern, Bytes::from_kib(4), depth, RANDOM_READS)?;
        let (rate, lateness) = mounted(sim::open(name, 1)?, |file| replay(file, &offsets, depth))?;
        let what = format!("random 4 KiB reads a second, depth {depth}: fio");
        kept &= compare(name, &what, expected, rate, &lateness);
    }
    let size = Bytes::from_mib(1);
    let expected = in_virtual_time(name, Pattern::Sequential, size, 1, SEQUENTIAL_READS)?;
    let size = format!("--size={SEQUENTIAL_READS}m");
    let options = ["--rw=read", "--bs=1m", "--ioengine=psync", &size];
    let (rate, lateness) = mounted(sim::open(name, 1)?, |file| fio(file, 1, 1024, &options))?;
    kept &= compare(name, "1 MiB reads in a row a second: fio", expected, rate, &lateness);
    let (rate, lateness) = mounted(sim::open(name, 1)?, dd)?;
    kept &= compare(name, "1 MiB reads in a row a second: dd", expected, rate, &lateness);
    Ok(kept)
}

fn compare(name: &str, what: &str, expected: f64, rate: f64, lateness: &Lateness) -> bool {
    let share = rate / expected - 1.0;
    let numbers = [format!("{expected:.2}"), format!("{rate:.2}")];
    let difference = format!("{:+.2} %", 100.0 * share);
    row([name, what], [&numbers[0], &numbers[1]], &difference, "3 %", lateness);
    share.abs() <= PEER_SHARE_MAX
}

fn in_virtual_time(
    name: &str,
    pattern: Pattern,
    size: Bytes,
    depth: u32,
    reads: u64,
) -> Result<f64, Failure> {
    let mut rig = Rig::on_virtual_drive(sim::open(name, 1)?);
    let range = ByteRange::whole(rig.facts().capacity.round_down_to(size));
    let phase = Phase {
        name: "as the peer".into(),
        experiment: "bench".into(),
        kind: PhaseKind::Measure,
        workload: Some(Workload::new(range, pattern, OperationMix::Read, size, depth)),
        stop: StopCondition { operations: Some(reads), ..StopCondition::default() },
    };
    let outcome = rig.run_phase(&phase, 0, 1, false, &mut Unobserved)?;
    let operations = outcome.totals.first().ok_or("nothing was read")?.operations;
    Ok(operations as f64 / outcome.ended.since(outcome.began).seconds())
}

fn replay(file: &Path, offsets: &[Offset], depth: u32) -> Result<f64, Failure> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("places");
    let path = file.display();
    let reads: String = offsets.iter().map(|offset| format!("{path} read {} 4096\n", offset.get())).collect();
    std::fs::write(&log, format!("fio version 2 iolog\n{path} add\n{path} open\n{reads}{path} close\n"))?;
    let log = format!("--read_iolog={}", log.display());
    let engine = if depth == 1 { "--ioengine=psync" } else { "--ioengine=io_uring" };
    fio(file, u64::from(depth), 4, &[&log, "--replay_no_stall=1", engine])
}

/// Runs fio; operations of `block_kib` a second, from what it moved and how long it took, since the rate that it prints
/// is rounded to a whole number.
fn fio(file: &Path, depth: u64, block_kib: u64, options: &[&str]) -> Result<f64, Failure> {
    let (target, depth) = (format!("--filename={}", file.display()), format!("--iodepth={depth}"));
    let mut command = Command::new("fio");
    command.args(["--name=peer", "--direct=1", "--output-format=terse", &target, &depth]).args(options);
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    let fields: Vec<&str> = text.lines().last().unwrap_or_default().split(';').collect();
    let (Some(kib), Some(ms)) = (fields.get(5), fields.get(8)) else {
        return Err(format!("fio: {text}{}", String::from_utf8_lossy(&output.stderr)).into());
    };
    Ok(kib.parse::<f64>()? / block_kib as f64 / (ms.parse::<f64>()? / 1e3))
}

fn dd(file: &Path) -> Result<f64, Failure> {
    let (input, count) = (format!("if={}", file.display()), format!("count={SEQUENTIAL_READS}"));
    let mut command = Command::new("dd");
    command.args([&input, "of=/dev/null", "bs=1M", &count, "iflag=direct"]).env("LC_ALL", "C");
    let said = String::from_utf8(command.output()?.stderr)?;
    let seconds = said.rsplit_once(" copied, ").and_then(|(_, rest)| rest.split(' ').next());
    let seconds: f64 = seconds.ok_or_else(|| format!("dd: {said}"))?.parse()?;
    Ok(SEQUENTIAL_READS as f64 / seconds)
}

fn row(
    [drive, what]: [&str; 2],
    [model, measured]: [&str; 2],
    difference: &str,
    limit: &str,
    lateness: &Lateness,
) {
    let at = |quantile| lateness.histogram.quantile(quantile).unwrap_or_default().as_f64() / 1e3;
    let (median, p99, most) = (at(Quantile::MEDIAN), at(Quantile::P99), lateness.histogram.max());
    let most = most.unwrap_or_default().as_f64() / 1e3;
    println!(
        "| {drive} | {what} | {model} | {measured} | {difference} | {limit} | {median:.1}, {p99:.1}, {most:.0} µs |"
    );
}
