//! The same question many times: how often the intervals hold the truth, how often something is found that is not there,
//! how often what is planted is found, and what is said when somebody else uses the drive.

use std::fmt::Write as _;

use super::drives::{self, SPOTS};
use super::measured::{Figure, Measured, surface};
use super::options::Options;
use super::score::{Errors, Truth, regions};
use super::table::percent;
use super::{Page, on_two_threads};
use crate::Failure;
use crate::bench::program::Program;
use crate::bench::virtual_drive::{Folder, loaded, named};

/// The drive on which one seed after the other is tried.
const ONE_DRIVE: &str = "dt01aca300";
/// Drives on which nothing is to be found.
const NOTHING: &[&str] = &["null", "constant"];
/// Of so many runs for the coverage one is a run with weak spots.
const RUNS_FOR_ONE_WEAK: usize = 10;
/// Full passes over drives with weak spots.
const FULL_PASSES: usize = 3;
/// Runs with each other load.
const LOADED_RUNS: usize = 10;
/// The disk that others use too, and what they do.
const LOADED_DRIVE: &str = "st3000dm001";
const LOADS: &[(&str, &str)] = &[
    ("5 reads a second", "per_second = 5"),
    ("30 reads a second", "per_second = 30"),
    ("one read after the other", "queue_depth = 1"),
    ("8 reads at once for 10 s of each 20 s", "queue_depth = 8\nseconds = 10\nevery_s = 20"),
];

/// All trials, as sections of the page.
pub fn run(program: &Program, folder: &Folder, options: &Options, page: &mut Page) -> Result<(), Failure> {
    page.add(coverage(program, options)?);
    page.add(false_alarms(program, options)?);
    page.add(weak_spots(program, folder, options)?);
    page.add(other_load(program, folder, options)?);
    Ok(())
}

/// A figure and the truth that it is about.
struct Coded {
    code: &'static str,
    found: fn(&Measured) -> Option<Figure>,
    is: fn(&Truth) -> Option<f64>,
}

const CODES: &[Coded] = &[
    Coded { code: "full-pass-time", found: |found| found.pass_s, is: |truth| truth.pass_s },
    Coded { code: "read-rate-outer", found: |found| found.outer, is: |truth| truth.outer },
    Coded { code: "read-rate-inner", found: |found| found.inner, is: |truth| truth.inner },
    Coded { code: "read-rate-mean", found: |found| found.mean, is: |truth| truth.mean },
    Coded { code: "zone-ratio", found: |found| found.ratio, is: |truth| truth.ratio },
];

/// The drive of a run, by the number of the run.
type NameOfRun = fn(usize) -> String;

fn coverage(program: &Program, options: &Options) -> Result<String, Failure> {
    let mut text = format!(
        "\n## How often the intervals hold\n\nIntervals of 95 %, in {} runs each: of one disk ({ONE_DRIVE}) with as \
         many seeds, and of as many disks drawn at random.\n\n\
         | drives | finding | said | held | share | half width | mean error | error of 95 % below |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
        options.coverage
    );
    let sets: [(&str, NameOfRun); 2] = [
        ("one disk", |_| ONE_DRIVE.to_owned()),
        ("disks drawn at random", |number| format!("random-hard-disk-{number}")),
    ];
    for (name, name_of_drive) in sets {
        let runs = on_two_threads(options.coverage, |number| {
            let drive = named(&name_of_drive(number))?;
            let measured = surface(program, &drive.target, options.seed + number as u64, &[])?;
            Ok((Truth::of(&drive.profile)?, measured))
        });
        let runs: Result<Vec<(Truth, Measured)>, Failure> = runs.into_iter().collect();
        let runs = runs?;
        CODES.iter().for_each(|coded| text.push_str(&coverage_row(name, coded, &runs)));
    }
    Ok(text)
}

fn coverage_row(drives: &str, coded: &Coded, runs: &[(Truth, Measured)]) -> String {
    let pairs =
        runs.iter().filter_map(|(truth, measured)| Some(((coded.found)(measured)?, (coded.is)(truth)?)));
    let pairs: Vec<(Figure, f64)> = pairs.collect();
    let intervals: Vec<(f64, f64, f64)> = pairs
        .iter()
        .filter_map(|(found, truth)| found.interval.map(|(low, high)| (low, high, *truth)))
        .collect();
    let held = intervals.iter().filter(|(low, high, truth)| low <= truth && truth <= high).count();
    let widths = intervals.iter().map(|(low, high, truth)| (high - low) / 2.0 / truth);
    let errors: Vec<f64> = pairs.iter().map(|(found, truth)| found.value / truth - 1.0).collect();
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get((0.95 * sizes.len() as f64) as usize).copied();
    format!(
        "| {drives} | `{}` | {} | {held} | {:.1} % | {:.2} % | {} | {} |\n",
        coded.code,
        intervals.len(),
        100.0 * held as f64 / intervals.len() as f64,
        100.0 * mean(widths),
        percent(Some(mean(errors.into_iter()))),
        percent(most).trim_start_matches('+'),
    )
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

fn false_alarms(program: &Program, options: &Options) -> Result<String, Failure> {
    let mut text = String::from(
        "\n## False alarms\n\nOn drives that have neither zones nor weak spots nor a link:\n\n\
         | drive | runs | zones | slow regions | limits | bad blocks |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for name in NOTHING {
        let runs = on_two_threads(options.coverage, |number| {
            surface(program, &format!("sim:{name}"), options.seed + number as u64, &[])
        });
        let runs: Result<Vec<Measured>, Failure> = runs.into_iter().collect();
        let runs = runs?;
        let count = |alarm: fn(&Measured) -> bool| runs.iter().filter(|run| alarm(run)).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} |",
            runs.len(),
            count(|run| run.zones.as_ref().is_some_and(|zones| zones.len() > 1)),
            count(|run| !run.slow.is_empty()),
            count(|run| run.limit.is_some()),
            count(|run| run.bad > 0.0),
        );
    }
    Ok(text)
}

/// A way to look for weak spots, and how large they are.
struct Hunt {
    way: &'static str,
    words: &'static [&'static str],
    spot_bytes: u64,
    size: &'static str,
}

const MIB: u64 = 1 << 20;
const LIMITED: &[&str] = &["--time-limit", "5m"];
const HUNTS: &[Hunt] = &[
    Hunt { way: "surface --full", words: &["--full"], spot_bytes: 64 * MIB, size: "64 MiB" },
    Hunt { way: "surface", words: &[], spot_bytes: 64 * MIB, size: "64 MiB" },
    Hunt { way: "surface", words: &[], spot_bytes: 1024 * MIB, size: "1 GiB" },
    Hunt { way: "surface --time-limit 5m", words: LIMITED, spot_bytes: 64 * MIB, size: "64 MiB" },
    Hunt { way: "surface --time-limit 5m", words: LIMITED, spot_bytes: 1024 * MIB, size: "1 GiB" },
];

/// What one run made of the spots that were planted for it.
struct Catch {
    found: usize,
    invented: usize,
    /// The chance with which the run says that it meets a spot of that size, if it says so.
    said: Option<f64>,
}

fn weak_spots(program: &Program, folder: &Folder, options: &Options) -> Result<String, Failure> {
    let mut text = format!(
        "\n## Weak spots\n\n{SPOTS} spots on a disk of 4 TB, each read there 25 ms longer, at other places in each run. \
         *says*: the chance that the run states to have met a spot of\nthat size.\n\n\
         | way | spots | runs | found | of all | says | found where nothing is |\n|---|---|---:|---:|---:|---:|---:|\n"
    );
    for hunt in HUNTS {
        let is_full = hunt.words.contains(&"--full");
        let count = if is_full { FULL_PASSES } else { options.coverage.div_ceil(RUNS_FOR_ONE_WEAK) };
        let runs = on_two_threads(count, |number| {
            let seed = options.seed + number as u64;
            let drive = drives::weak(folder, seed, hunt.spot_bytes)?;
            let measured = surface(program, &drive.target, seed, hunt.words)?;
            let (found, invented) = regions(&measured.slow, &Truth::of(&drive.profile)?.slow);
            Ok(Catch { found, invented, said: chance_said(&measured, hunt.spot_bytes) })
        });
        let runs: Result<Vec<Catch>, Failure> = runs.into_iter().collect();
        text.push_str(&hunt_row(hunt, &runs?));
    }
    Ok(text)
}

fn hunt_row(hunt: &Hunt, runs: &[Catch]) -> String {
    let found: usize = runs.iter().map(|run| run.found).sum();
    let planted = runs.len() as u64 * SPOTS;
    let said: Vec<f64> = runs.iter().filter_map(|run| run.said).collect();
    format!(
        "| {} | {SPOTS} of {} | {} | {found} of {planted} | {:.1} % | {} | {} |\n",
        hunt.way,
        hunt.size,
        runs.len(),
        100.0 * found as f64 / planted as f64,
        if said.is_empty() { "–".to_owned() } else { format!("{:.1} %", 100.0 * mean(said.into_iter())) },
        runs.iter().map(|run| run.invented).sum::<usize>(),
    )
}

/// The chance with which a run says that it meets a region of that size.
fn chance_said(measured: &Measured, bytes: u64) -> Option<f64> {
    let findings = measured.document["findings"].as_array()?;
    let slow = findings.iter().find(|finding| finding["code"] == "slow-regions")?;
    let chances = slow["data"]["would_have_been_met"].as_array()?;
    chances.iter().find(|row| row["bytes"] == bytes)?["probability"].as_f64()
}

fn other_load(program: &Program, folder: &Folder, options: &Options) -> Result<String, Failure> {
    let mut text = format!(
        "\n## Somebody else uses the drive\n\nThe disk {LOADED_DRIVE}, in {LOADED_RUNS} runs each. *says so*: runs with a \
         warning or a reason that names other load. *zones*: steps of more\nthan 2 % that were found, and borders where \
         there is none, all runs together. *full pass*: the worst error of what was said.\n\n\
         | the other one | says so | zones | nothing | slow regions | full pass said | full pass |\n|---|---:|---:|---:|---:|---:|---:|\n"
    );
    let alone = named(LOADED_DRIVE)?;
    let mut drives = vec![("nobody", alone)];
    for (number, (name, load)) in LOADS.iter().enumerate() {
        let drive = loaded(folder, LOADED_DRIVE, &format!("loaded-{number}"), load)?;
        drives.push((name, drive));
    }
    for (name, drive) in &drives {
        let truth = Truth::of(&drive.profile)?;
        let runs = on_two_threads(LOADED_RUNS, |number| {
            surface(program, &drive.target, options.seed + number as u64, &[])
        });
        let runs: Result<Vec<Measured>, Failure> = runs.into_iter().collect();
        text.push_str(&load_row(name, &runs?, &truth));
    }
    Ok(text)
}

fn load_row(name: &str, runs: &[Measured], truth: &Truth) -> String {
    let says = |run: &&Measured| run.said.iter().any(|text| names_load(text)) || statements_name_load(run);
    let errors: Vec<Errors> = runs.iter().map(|run| Errors::of(run, truth)).collect();
    let zones = |count: fn(&super::score::ZoneErrors) -> usize| -> usize {
        errors.iter().filter_map(|errors| errors.zones.as_ref()).map(count).sum()
    };
    let passes: Vec<f64> = errors.iter().filter_map(|errors| errors.pass).collect();
    let worst = passes.iter().copied().max_by(|one, other| one.abs().total_cmp(&other.abs()));
    format!(
        "| {name} | {} | {} of {} | {} | {} | {} | {} |\n",
        runs.iter().filter(says).count(),
        zones(|zones| zones.found),
        zones(|zones| zones.steps),
        zones(|zones| zones.invented),
        runs.iter().map(|run| run.slow.len()).sum::<usize>(),
        passes.len(),
        percent(worst),
    )
}

fn names_load(text: &str) -> bool {
    let text = text.to_lowercase();
    ["other load", "something else", "somebody else", "other programs"]
        .iter()
        .any(|words| text.contains(words))
}

/// Whether the sentence or the advice of a finding speaks of other load.
fn statements_name_load(run: &Measured) -> bool {
    let findings = run.document["findings"].as_array();
    let texts =
        findings.into_iter().flatten().flat_map(|finding| [&finding["statement"], &finding["advice"]]);
    texts.filter_map(|text| text.as_str()).any(names_load)
}

#[cfg(test)]
mod tests {
    use super::{CODES, Figure, Measured, Truth, coverage_row};

    #[test]
    fn an_interval_holds_what_lies_in_it() {
        let truth = || Truth {
            pass_s: Some(100.0),
            outer: None,
            inner: None,
            ratio: None,
            mean: None,
            zones: Vec::new(),
            slow: Vec::new(),
            limit: None,
        };
        let run = |value: f64, low: f64, high: f64| {
            let pass_s = Some(Figure { value, interval: Some((low, high)) });
            (truth(), Measured { pass_s, ..Measured::default() })
        };
        let runs = [run(101.0, 99.0, 103.0), run(103.0, 101.0, 105.0), (truth(), Measured::default())];
        let row = coverage_row("disks", &CODES[0], &runs);
        assert_eq!(row, "| disks | `full-pass-time` | 2 | 1 | 50.0 % | 2.00 % | +2.00 % | 3.00 % |\n");
    }
}
