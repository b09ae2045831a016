//! `cargo xtask bench commits`: what `commit` says against the truth of virtual drives, and beside fio's recipe and pg_test_fsync.

pub mod drives;
mod peers;
mod score;

use crate::failure::{Doing, Failure};
use crate::files::Mounted;
use crate::fixed_processors::FixedProcessors;
use crate::machine::{conditions, load_average, publish, today};
use crate::mounted_drive::MountedDrive;
use crate::options::CommitsOptions;
use crate::place::Place;
use crate::program::Program;
use crate::virtual_drive::Folder;
use drives::POLICIES;
use peers::Compared;
use score::{Answers, BEYOND, Coverage, EDGES};
use std::fmt::Write as _;

const REPORT: &str = "docs/generated/bench-commits.md";
/// Peers also commit to this virtual disk, mounted in real time: small, so that a file system is made in seconds.
const DISK: &str = "sata-160gb";

pub fn run(options: &CommitsOptions) -> Result<(), Failure> {
    let before = load_average();
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let CommitsOptions { first, tails, flushes, edges, rounds, .. } = *options;
    let mut page = String::new();
    let percentiles = score::percentiles(&program, &folder, first, tails)?;
    page += "## Percentiles\n\nWrites with a log-normal latency: median 2 to 8 ms, deviation of its logarithm 0.3 to 1.5.\n\n";
    page += "| percentile | targets | with an interval | truth inside |\n|---|---|---|---|\n";
    coverage(&mut page, "99th", percentiles.p99);
    coverage(&mut page, "99.9th", percentiles.p999);
    page += "\n## Flushes\n\n| flushes are | right | wrong | inconclusive |\n|---|---|---|---|\n";
    for (policy, found) in POLICIES.iter().zip(score::flushes(&program, &folder, first, flushes)?) {
        answers(&mut page, policy, found);
    }
    page += "\n## Verdict\n\nOf `--for etcd`, by the true 99th percentile over the limit. Inconclusive is \"at the edge\".\n\n";
    page += "| percentile over limit | right | wrong | inconclusive |\n|---|---|---|---|\n";
    answers(&mut page, "0.9 to 1.1", score::verdicts(&program, &folder, first, edges, &EDGES)?);
    answers(&mut page, "below 1/2, above 2", score::verdicts(&program, &folder, first, edges, &BEYOND)?);
    if rounds > 0 {
        page += &beside_peers(&program, rounds)?;
    }
    let page = format!(
        "# Commits against the truth and beside peers\n\n\
         Made by `cargo xtask bench commits` on {}: virtual drives and seeds from {first} on.\n{}\n\n{page}",
        today(),
        conditions(&before),
    );
    publish(&page, REPORT, options.is_complete())
}

fn coverage(page: &mut String, name: &str, found: Coverage) {
    let Coverage { inside, known, targets } = found;
    let share = 100.0 * inside as f64 / known.max(1) as f64;
    let _ = writeln!(page, "| {name} | {targets} | {known} | {share:.1} % |");
}

fn answers(page: &mut String, name: &str, found: Answers) {
    let Answers { right, wrong, open } = found;
    let _ = writeln!(page, "| {name} | {right} | {wrong} | {open} |");
}

/// Processors of the kernel's workers that are bound to none, in hexadecimal.
fn beside_peers(program: &Program, rounds: u64) -> Result<String, Failure> {
    let mut rows = Vec::new();
    let fixed = FixedProcessors::take()?;
    let place = Place::make()?;
    let mounted = Mounted::over(place.device())?;
    rows.push(("ext4 on a loop device over memory", peers::compared(program, &mounted.folder, rounds)?));
    drop(mounted);
    drop(place);
    let disk = tempfile::tempdir().doing("make a temporary folder")?;
    rows.push(("this machine's disk", peers::compared(program, disk.path(), rounds)?));
    // The process that serves a virtual disk needs a processor at its own times.
    drop(fixed);
    let served = MountedDrive::start(program, DISK)?;
    let mounted = Mounted::over(&served.device().to_string_lossy())?;
    rows.push(("ext4 on a mounted virtual disk", peers::compared(program, &mounted.folder, rounds)?));
    drop(mounted);
    drop(served);
    let mut text = String::from(
        "\n## Beside peers\n\nOne write and fdatasync after the other, in rounds: theirs, ours, theirs. Ours writes what theirs does: `commit` beside fio and the bare loop, and \
         beside pg_test_fsync, which stays at one offset, a phase of `commit` that does. Nobody can be faster than the bare loop.\nfio's p99 is that of its flushes and the median of its writes. A ratio is the median of rounds, with its range. On the loop device and \
         this machine's disk, all run on the first processor and the kernel's \
         workers on the second, and neither goes to sleep.\n\n\
         | file system | beside | rounds | our commits/s | ratio | p99 agree |\n|---|---|---|---|---|---|\n",
    );
    for (place, compared) in rows {
        for Compared { peer, rounds, ratio: (ratio, least, most), per_second, agree } in compared {
            let agree = agree.map_or(String::new(), |(agree, all)| format!("{agree} of {all}"));
            let _ = writeln!(
                text,
                "| {place} | {} | {rounds} | {per_second:.0} | {ratio:.3} ({least:.2}–{most:.2}) | {agree} |",
                peer.name()
            );
        }
    }
    Ok(text)
}
