//! `cargo xtask bench verify`: how near to the rate of its target `drivescope verify --full` writes and compares, beside what dd, fio
//! and drivescope itself without marks reach on the same loop device, in turns.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::measurement::children_cpu_ns;
use super::place::{Place, command};
use super::program::Program;
use super::summary::{load_average, machine, today};
use super::turns::Turns;
use super::{Shuffle, keep};
use crate::Failure;

/// Where the table is kept, from the root of the workspace.
const REPORT: &str = "docs/generated/bench-verify.md";
const USAGE: &str = "Usage: cargo xtask bench verify [--rounds N] [--program FILE]\nNeeds root, dd and fio.";
/// How often each has its turn, if not told.
const ROUNDS: u64 = 15;
/// What verify has to reach of the rate of its target.
const GOAL_RATIO: f64 = 0.9;
/// Of a target that is quicker than this for each core, no more is asked.
const GOAL_RATE_MAX: f64 = 2e9;
/// What is set beside verify.
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

/// One turn of one program.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    /// Bytes in a second.
    write: f64,
    read: f64,
    /// Of verify: processor time of the program in all, in ns for each byte that it wrote or compared.
    processor_ns: f64,
}

/// The turns of one round: verify, and its peers in their order.
struct Round {
    verify: Turn,
    peers: [Turn; PEERS.len()],
}

/// Runs the comparison, prints its table, and keeps it when the program is the one that is shipped.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let turns = Turns::parse(arguments, ROUNDS, USAGE)?;
    let path = turns.program()?;
    let load_before = load_average();
    let place = Place::make()?;
    let folder = std::env::temp_dir().join(format!("drivescope-bench-verify-{}", std::process::id()));
    fs::create_dir(&folder)
        .map_err(|error| Failure::cannot(format!("Cannot make {}: {error}.", folder.display())))?;
    let measured = measure(&Program { path, folder: folder.clone() }, place.device(), turns.rounds);
    let _ = fs::remove_dir_all(&folder);
    let report = report(&measured?, turns.is_release(), &load_before);
    println!("{report}");
    if turns.is_release() { keep(REPORT, &report) } else { Ok(()) }
}

fn measure(program: &Program, device: &str, rounds: u64) -> Result<Vec<Round>, Failure> {
    let plan = program.folder.join("plan.toml");
    fs::write(&plan, PLAN)
        .map_err(|error| Failure::cannot(format!("Cannot write {}: {error}.", plan.display())))?;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let mut order = Shuffle(seed);
    let mut all = Vec::new();
    for number in 1..=rounds {
        let mut turns: Vec<usize> = (0..=PEERS.len()).collect();
        order.apply(&mut turns);
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

/// Writing all of the device with marks, and comparing all of it.
fn verify(program: &Program, device: &str) -> Result<Turn, Failure> {
    let words = ["verify", device, "--full", "--write", "--destroy-data", "--confirm", device];
    let before_ns = children_cpu_ns()?;
    let document = program.run(&words)?;
    let processor_ns = children_cpu_ns()? - before_ns;
    let phases = document["phases"].as_array().cloned().unwrap_or_default();
    let bytes: f64 = phases.iter().filter_map(|phase| phase["bytes"].as_f64()).sum();
    let rate = |verb: &str| {
        let is_part = |name: &str| name.starts_with(verb) && name.ends_with(" %");
        rate_of(&phases, is_part).ok_or_else(|| Failure::cannot(format!("verify did not {verb} all of it.")))
    };
    Ok(Turn { write: rate("write")?, read: rate("compare")?, processor_ns: processor_ns / bytes })
}

/// The same without marks.
fn plain(program: &Program, device: &str, plan: &Path) -> Result<Turn, Failure> {
    let plan = plan.to_string_lossy();
    let words = ["run", &plan, device, "--write", "--destroy-data", "--confirm", device];
    let document = program.run(&words)?;
    let phases = document["phases"].as_array().cloned().unwrap_or_default();
    let rate = |step: &str| {
        rate_of(&phases, |name| name == step)
            .ok_or_else(|| Failure::cannot(format!("no step {step} was run.")))
    };
    Ok(Turn { write: rate("write")?, read: rate("read")?, processor_ns: 0.0 })
}

/// Bytes over seconds of the phases with such a name.
fn rate_of(phases: &[Value], is_meant: impl Fn(&str) -> bool) -> Option<f64> {
    let meant = phases.iter().filter(|phase| phase["name"].as_str().is_some_and(&is_meant));
    let (bytes, seconds) = meant.fold((0.0, 0.0), |(bytes, seconds), phase| {
        let number = |key: &str| phase[key].as_f64().unwrap_or_default();
        (bytes + number("bytes"), seconds + number("seconds"))
    });
    (seconds > 0.0).then(|| bytes / seconds)
}

/// fio with as much under way as drivescope has in its other experiments.
fn fio(device: &str) -> Result<Turn, Failure> {
    let run = |direction: &str| -> Result<f64, Failure> {
        let (file, direction_word) = (format!("--filename={device}"), format!("--rw={direction}"));
        let fixed = [
            "--name=one",
            "--bs=1m",
            "--ioengine=io_uring",
            "--iodepth=4",
            "--direct=1",
            "--allow_file_create=0",
            "--output-format=json",
        ];
        let words: Vec<&str> = [file.as_str(), direction_word.as_str()].into_iter().chain(fixed).collect();
        let text = command("fio", &words)?;
        let document: Value = serde_json::from_str(&text[text.find('{').unwrap_or(0)..])
            .map_err(|error| Failure::cannot(format!("fio printed no JSON: {error}.")))?;
        document["jobs"][0][direction]["bw_bytes"]
            .as_f64()
            .ok_or_else(|| Failure::cannot("fio told no rate."))
    };
    Ok(Turn { write: run("write")?, read: run("read")?, processor_ns: 0.0 })
}

/// dd with one request after the other.
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

/// The median with the range of all.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[0], values[values.len() - 1])
}

fn report(rounds: &[Round], is_release: bool, load_before: &str) -> String {
    let mut rows = String::new();
    for (direction, rate) in
        [("write", (|turn: &Turn| turn.write) as fn(&Turn) -> f64), ("read", |turn| turn.read)]
    {
        let own = spread(rounds.iter().map(|round| rate(&round.verify)).collect());
        let row = |name: &str, (middle, least, most): (f64, f64, f64), ratio: String| {
            format!(
                "| {direction} | {name} | {:.0} MB/s ({:.0}–{:.0}) | {ratio} |\n",
                middle / 1e6,
                least / 1e6,
                most / 1e6
            )
        };
        rows += &row("verify", own, String::new());
        for (index, name) in PEERS.iter().enumerate() {
            let theirs = spread(rounds.iter().map(|round| rate(&round.peers[index])).collect());
            let (middle, least, most) =
                spread(rounds.iter().map(|round| rate(&round.verify) / rate(&round.peers[index])).collect());
            rows += &row(name, theirs, format!("{middle:.2} ({least:.2}–{most:.2})"));
        }
    }
    let build =
        if is_release { "as it is shipped" } else { "a program that was given, not as it is shipped" };
    let (own_ns, ..) = spread(rounds.iter().map(|round| round.verify.processor_ns).collect());
    format!(
        "# Verify against the rate of its target\n\n\
         Made by `cargo xtask bench verify --rounds {}` on {}, with drivescope {build}.\n{}\n\
         Load averages before and after: {load_before}; {}. All met the same noise: they ran in turns, in random order.\n\n\
         A loop device over 1 GiB of memory is written and read as a whole, in requests of 1 MiB past the page cache: by verify, \
         which marks and\ncompares every sector; by drivescope and fio with 4 requests under way; by dd with one. Medians, with \
         the range; a ratio is the median of\nthe ratios of the rounds.\n\n\
         | | program | rate | verify's rate over it |\n|---|---|---|---|\n{rows}\n{}\n\
         In all, start and analysis included, verify took {own_ns:.2} ns of processor time for each byte: {:.1} GB/s for each core, \
         of which the\nkernel's share in its name is a part; what the loop device itself does is on other threads.\n",
        rounds.len(),
        today(),
        machine(),
        load_average(),
        verdicts(rounds),
        1.0 / own_ns,
    )
}

/// Whether the goal is reached, for both directions.
fn verdicts(rounds: &[Round]) -> String {
    let verdict = |name: &str, rate: fn(&Turn) -> f64| {
        // Whichever was quickest by chance in a round would be another one in each.
        let middle = |peer: &usize| spread(rounds.iter().map(|round| rate(&round.peers[*peer])).collect()).0;
        let quickest = (0..PEERS.len()).max_by(|a, b| middle(a).total_cmp(&middle(b))).unwrap_or_default();
        let shares =
            rounds.iter().map(|round| rate(&round.verify) / rate(&round.peers[quickest]).min(GOAL_RATE_MAX));
        let (share, ..) = spread(shares.collect());
        let is_reached = if share >= GOAL_RATIO { "reached" } else { "not reached" };
        format!("- {name}: {:.0} % of {}, {is_reached}\n", share * 100.0, PEERS[quickest])
    };
    format!(
        "The goal is {:.0} % of the target's rate, that of the others which is quickest by its median, up to {:.0} GB/s:\n\n{}{}",
        GOAL_RATIO * 100.0,
        GOAL_RATE_MAX / 1e9,
        verdict("writing", |turn| turn.write),
        verdict("reading back and comparing", |turn| turn.read)
    )
}

#[cfg(test)]
mod tests {
    use super::{Round, Turn, rate_of, verdicts};

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
        assert_eq!(rate_of(&phases, |name| name.ends_with(" %")), Some(3.0));
        assert_eq!(rate_of(&phases, |name| name == "y"), None);
    }
}
