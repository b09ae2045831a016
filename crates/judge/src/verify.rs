//! `cargo xtask bench verify`: how near to the rate of its target `drivescope verify --full` writes and compares, beside what dd, fio
//! and drivescope itself without marks reach on the same loop device, in turns.

use crate::document::{Document, number};
use crate::engine::measurement::children_cpu_ns;
use crate::failure::{Doing, Failure};
use crate::machine::{conditions, load_average, publish, seed_of_now, spread, today};
use crate::options::TurnOptions;
use crate::place::{Place, command, json};
use crate::program::Program;
use crate::virtual_drive::Folder;
use model::prng::Prng;
use std::fs;
use std::path::Path;

const REPORT: &str = "docs/generated/bench-verify.md";
const ROUNDS: u64 = 15;
const GOAL_RATIO: f64 = 0.9;
/// Of a target that is quicker than this for each core, no more is asked.
const GOAL_RATE_MAX: f64 = 2e9;
const PEERS: [&str; 3] = ["drivescope without marks", "fio", "dd"];
/// What drivescope does without marks, with as much under way as in its other experiments.
const PLAN: &str = "version = 1

[[step]]
name = \"write\"
do = \"write\"
blocks = \"1MiB\"
depth = 4
passes = 1

[[step]]
name = \"read\"
do = \"read\"
blocks = \"1MiB\"
depth = 4
passes = 1
";

const FIO_ALWAYS: &str = "--name=one --bs=1m --ioengine=io_uring --iodepth=4 --direct=1 --allow_file_create=0 --output-format=json";

#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    write: f64,
    read: f64,
    /// Of verify: processor time of the program in all, in ns for each byte that it wrote or compared.
    processor_ns: f64,
}

impl Turn {
    fn write(&self) -> f64 {
        self.write
    }

    fn read(&self) -> f64 {
        self.read
    }
}

struct Round {
    verify: Turn,
    peers: [Turn; PEERS.len()],
}

pub fn run(options: &TurnOptions) -> Result<(), Failure> {
    let load_before = load_average();
    let place = Place::make()?;
    let folder = Folder::make()?;
    let program = Program::chosen(&options.program, folder.path())?;
    let measured = measure(&program, place.device(), options.rounds.unwrap_or(ROUNDS))?;
    publish(&report(&measured, options.program.is_ours(), &load_before), REPORT, options.program.is_ours())
}

fn measure(program: &Program, device: &str, rounds: u64) -> Result<Vec<Round>, Failure> {
    let plan = program.folder.join("plan.toml");
    fs::write(&plan, PLAN).doing(format_args!("write {}", plan.display()))?;
    let mut order = Prng::new(seed_of_now(), 0);
    let mut all = Vec::new();
    for number in 1..=rounds {
        let mut turns: Vec<usize> = (0..=PEERS.len()).collect();
        order.shuffle(&mut turns);
        let mut done = [Turn { write: 0.0, read: 0.0, processor_ns: 0.0 }; PEERS.len() + 1];
        for turn in turns {
            done[turn] = match turn {
                0 => plain(program, device, &plan)?,
                1 => fio(device)?,
                2 => dd(device)?,
                _ => verify(program, device)?,
            };
        }
        let [plain, fio, dd, verify] = done;
        eprintln!(
            "round {number} of {rounds}: write {:.0}, compare {:.0} MB/s; target {:.0}, {:.0}",
            verify.write / 1e6,
            verify.read / 1e6,
            plain.write.max(fio.write).max(dd.write) / 1e6,
            plain.read.max(fio.read).max(dd.read) / 1e6
        );
        all.push(Round { verify, peers: [plain, fio, dd] });
    }
    Ok(all)
}

fn verify(program: &Program, device: &str) -> Result<Turn, Failure> {
    let words = ["verify", device, "--full", "--write", "--destroy-data", "--confirm", device];
    let before_ns = children_cpu_ns()?;
    let document = program.run(&words)?;
    let processor_ns = (children_cpu_ns()? - before_ns) / document.bytes();
    let write = rate_of(&document, "write", " %")?;
    Ok(Turn { write, read: rate_of(&document, "compare", " %")?, processor_ns })
}

fn plain(program: &Program, device: &str, plan: &Path) -> Result<Turn, Failure> {
    let plan = plan.to_string_lossy();
    let document = program.run(&["run", &plan, device, "--write", "--destroy-data", "--confirm", device])?;
    let write = rate_of(&document, "write", "write")?;
    Ok(Turn { write, read: rate_of(&document, "read", "read")?, processor_ns: 0.0 })
}

/// Of all phases whose names begin and end so.
fn rate_of(document: &Document, begin: &str, end: &str) -> Result<f64, Failure> {
    let (mut bytes, mut seconds) = (0.0, 0.0);
    for phase in document.phases() {
        let name = phase["name"].as_str().unwrap_or_default();
        if name.starts_with(begin) && name.ends_with(end) {
            bytes += number(phase, "bytes");
            seconds += number(phase, "seconds");
        }
    }
    if seconds > 0.0 {
        Ok(bytes / seconds)
    } else {
        Err(Failure::cannot("A part of the comparison was not run."))
    }
}

/// fio with as much under way as drivescope has in its other experiments.
fn fio(device: &str) -> Result<Turn, Failure> {
    let rate = |direction: &str| {
        let (file, way) = (format!("--filename={device}"), format!("--rw={direction}"));
        let printed =
            json("fio", &[&[file.as_str(), &way], &FIO_ALWAYS.split(' ').collect::<Vec<_>>()[..]].concat())?;
        crate::engine::measurement::number(&printed, &format!("/jobs/0/{direction}/bw_bytes"))
    };
    Ok(Turn { write: rate("write")?, read: rate("read")?, processor_ns: 0.0 })
}

fn dd(device: &str) -> Result<Turn, Failure> {
    let bytes = command("blockdev", &["--getsize64", device])?.trim().parse::<f64>().unwrap_or_default();
    let blocks = format!("count={}", (bytes / f64::from(1 << 20)) as u64);
    let run = |words: &[&str]| -> Result<f64, Failure> {
        let began = std::time::Instant::now();
        command("dd", &[words, &["bs=1M", &blocks, "status=none"]].concat())?;
        Ok(bytes / began.elapsed().as_secs_f64())
    };
    let write = run(&["if=/dev/zero", &format!("of={device}"), "oflag=direct"])?;
    let read = run(&[&format!("if={device}"), "of=/dev/null", "iflag=direct"])?;
    Ok(Turn { write, read, processor_ns: 0.0 })
}

fn spread_of(rounds: &[Round], value: impl Fn(&Round) -> f64) -> (f64, f64, f64) {
    spread(rounds.iter().map(value).collect()).expect("there is a round at least")
}

fn report(rounds: &[Round], is_release: bool, load_before: &str) -> String {
    let mut rows = String::new();
    for (direction, rate) in [("write", Turn::write as fn(&Turn) -> f64), ("read", Turn::read)] {
        rows += &row(direction, "verify", spread_of(rounds, |round| rate(&round.verify)), "");
        for (index, name) in PEERS.iter().enumerate() {
            let theirs = spread_of(rounds, |round| rate(&round.peers[index]));
            let (middle, least, most) =
                spread_of(rounds, |round| rate(&round.verify) / rate(&round.peers[index]));
            rows += &row(direction, name, theirs, &format!("{middle:.2} ({least:.2}–{most:.2})"));
        }
    }
    let build =
        if is_release { "as it is shipped" } else { "a program that was given, not as it is shipped" };
    let (own_ns, ..) = spread_of(rounds, |round| round.verify.processor_ns);
    format!(
        "# Verify against the rate of its target\n\n\
         Made by `cargo xtask bench verify --rounds {}` on {}, with drivescope {build}.\n{} All met the same noise: they ran in turns, in random order.\n\n\
         A loop device over 1 GiB of memory is written and read as a whole, in requests of 1 MiB past the page cache: by verify, \
         which marks and\ncompares every sector; by drivescope and fio with 4 requests under way; by dd with one. Medians, with \
         the range; a ratio is the median of\nthe ratios of the rounds.\n\n\
         | | program | rate | verify's rate over it |\n|---|---|---|---|\n{rows}\n{}\n\
         In all, start and analysis included, verify took {own_ns:.2} ns of processor time for each byte: {:.1} GB/s for each core, \
         of which the\nkernel's share in its name is a part; what the loop device itself does is on other threads.\n",
        rounds.len(),
        today(),
        conditions(load_before),
        verdicts(rounds),
        1.0 / own_ns,
    )
}

fn row(direction: &str, name: &str, (middle, least, most): (f64, f64, f64), ratio: &str) -> String {
    let [middle, least, most] = [middle, least, most].map(|rate| rate / 1e6);
    format!("| {direction} | {name} | {middle:.0} MB/s ({least:.0}–{most:.0}) | {ratio} |\n")
}

fn verdicts(rounds: &[Round]) -> String {
    format!(
        "The goal is {:.0} % of the target's rate, that of the others which is quickest by its median, up to {:.0} GB/s:\n\n{}{}",
        GOAL_RATIO * 100.0,
        GOAL_RATE_MAX / 1e9,
        verdict(rounds, "writing", Turn::write),
        verdict(rounds, "reading back and comparing", Turn::read)
    )
}

fn verdict(rounds: &[Round], name: &str, rate: fn(&Turn) -> f64) -> String {
    // Whichever was quickest by chance in a round would be another one in each.
    let (mut quickest, mut quickest_rate) = (0, 0.0);
    for peer in 0..PEERS.len() {
        let (middle, ..) = spread_of(rounds, |round| rate(&round.peers[peer]));
        if middle > quickest_rate {
            (quickest, quickest_rate) = (peer, middle);
        }
    }
    let (share, ..) =
        spread_of(rounds, |round| rate(&round.verify) / rate(&round.peers[quickest]).min(GOAL_RATE_MAX));
    let is_reached = if share >= GOAL_RATIO { "reached" } else { "not reached" };
    format!("- {name}: {:.0} % of {}, {is_reached}\n", share * 100.0, PEERS[quickest])
}

#[cfg(test)]
mod tests {
    use super::{Document, Round, Turn, rate_of, verdicts};

    fn turn(write: f64, read: f64) -> Turn {
        Turn { write, read, processor_ns: 0.5 }
    }

    #[test]
    fn the_goal_is_set_by_the_quickest_of_the_others_up_to_a_limit() {
        let peers = [turn(1.0e9, 3.0e9), turn(0.5e9, 5.0e9), turn(0.8e9, 1.0e9)];
        let of = |verify| verdicts(&[Round { verify, peers }]);
        let text = of(turn(0.91e9, 1.7e9));
        assert!(
            text.contains("writing: 91 % of drivescope without marks, reached")
                && text.contains("comparing: 85 % of fio, not reached"),
            "{text}"
        );
        let text = of(turn(0.8e9, 2.5e9));
        assert!(
            text.contains("writing: 80 % of drivescope without marks, not reached")
                && text.contains("comparing: 125 % of fio, reached"),
            "{text}"
        );
    }

    #[test]
    fn parts_are_one_rate() {
        let phase =
            |name: &str, bytes: f64| serde_json::json!({"name": name, "bytes": bytes, "seconds": 2.0});
        let phases =
            [phase("write 0.0 % to 50.0 %", 4.0), phase("write 50.0 % to 100.0 %", 8.0), phase("x", 9.0)];
        let document = Document::from(serde_json::json!({ "phases": phases }));
        assert_eq!(rate_of(&document, "", " %").ok(), Some(3.0));
        assert!(rate_of(&document, "y", "y").is_err());
    }
}
