//! The same question many times: how often the intervals hold the truth, how often something is found that is not there,
//! how often what is planted is found, and what is said when somebody else uses the drive.

use super::drives::{self, SPOTS};
use super::measured::{Measured, SCORED, surface};
use super::score::{Errors, Truth, regions};
use super::table::percent;
use crate::failure::Failure;
use crate::machine::worst;
use crate::options::SurfaceOptions;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::{Folder, named};
use model::finding::FindingCode;
use std::fmt::Write as _;

const ONE_DRIVE: &str = "dt01aca300";
const NOTHING: &[&str] = &["null", "constant"];
/// Of so many runs for the coverage one is a run with weak spots.
const RUNS_FOR_ONE_WEAK: usize = 10;
const FULL_PASSES: usize = 3;
const LOADED_RUNS: usize = 10;
const LOADED_DRIVE: &str = "st3000dm001";
const LOADS: &[(&str, &str)] = &[
    ("5 reads a second", "per_second = 5"),
    ("30 reads a second", "per_second = 30"),
    ("one read after the other", "queue_depth = 1"),
    ("8 reads at once for 10 s of each 20 s", "queue_depth = 8\nseconds = 10\nevery_s = 20"),
];

/// Words for what somebody else does, of which one is in a warning, a sentence, an advice or a reason.
const OTHER_LOAD: [&str; 4] = ["other load", "something else", "somebody else", "other programs"];

pub fn run(program: &Program, folder: &Folder, options: &SurfaceOptions) -> Result<String, Failure> {
    Ok([
        coverage(program, options)?,
        false_alarms(program, options)?,
        weak_spots(program, folder, options)?,
        other_load(program, folder, options)?,
    ]
    .concat())
}

type NameOfRun = fn(usize) -> String;

fn coverage(program: &Program, options: &SurfaceOptions) -> Result<String, Failure> {
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
        })?;
        for code in SCORED {
            text.push_str(&coverage_row(name, code, &runs));
        }
    }
    Ok(text)
}

fn coverage_row(drives: &str, code: FindingCode, runs: &[(Truth, Measured)]) -> String {
    let (mut intervals, mut held, mut widths, mut errors) = (0, 0, Vec::new(), Vec::new());
    for (truth, measured) in runs {
        let Some((found, truth)) = measured.figures.get(&code).zip(truth.truths.value(code)) else {
            continue;
        };
        errors.push(found.value / truth - 1.0);
        if let Some((low, high)) = found.interval {
            intervals += 1;
            held += usize::from((low..=high).contains(&truth));
            widths.push((high - low) / 2.0 / truth);
        }
    }
    let mut sizes: Vec<f64> = errors.iter().copied().map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get((0.95 * sizes.len() as f64) as usize).copied();
    format!(
        "| {drives} | `{}` | {} | {held} | {:.1} % | {:.2} % | {} | {} |\n",
        code.name(),
        intervals,
        100.0 * held as f64 / intervals as f64,
        100.0 * mean(widths.into_iter()),
        percent(Some(mean(errors.into_iter()))),
        percent(most).trim_start_matches('+'),
    )
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

fn false_alarms(program: &Program, options: &SurfaceOptions) -> Result<String, Failure> {
    let mut text = String::from(
        "\n## False alarms\n\nOn drives that have neither zones nor weak spots nor a link:\n\n\
         | drive | runs | zones | slow regions | limits | bad blocks |\n|---|---:|---:|---:|---:|---:|\n",
    );
    for name in NOTHING {
        let runs = on_two_threads(options.coverage, |number| {
            surface(program, &format!("sim:{name}"), options.seed + number as u64, &[])
        })?;
        let (mut zones, mut slow, mut limits, mut bad) = (0, 0, 0, 0);
        for run in &runs {
            zones += usize::from(matches!(&run.zones, Some(zones) if zones.len() > 1));
            slow += usize::from(!run.slow.is_empty());
            limits += usize::from(run.limit.is_some());
            bad += usize::from(run.document.value(FindingCode::BadBlocks).unwrap_or(0.0) > 0.0);
        }
        let _ = writeln!(text, "| {name} | {} | {zones} | {slow} | {limits} | {bad} |", runs.len());
    }
    Ok(text)
}

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

struct Catch {
    found: usize,
    invented: usize,
    said: Option<f64>,
}

fn weak_spots(program: &Program, folder: &Folder, options: &SurfaceOptions) -> Result<String, Failure> {
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
        })?;
        text.push_str(&hunt_row(hunt, &runs));
    }
    Ok(text)
}

fn hunt_row(hunt: &Hunt, runs: &[Catch]) -> String {
    let (mut found, mut invented, mut said) = (0, 0, Vec::new());
    for run in runs {
        found += run.found;
        invented += run.invented;
        said.extend(run.said);
    }
    let planted = runs.len() as u64 * SPOTS;
    format!(
        "| {} | {SPOTS} of {} | {} | {found} of {planted} | {:.1} % | {} | {} |\n",
        hunt.way,
        hunt.size,
        runs.len(),
        100.0 * found as f64 / planted as f64,
        if said.is_empty() { "–".to_owned() } else { format!("{:.1} %", 100.0 * mean(said.into_iter())) },
        invented,
    )
}

fn chance_said(measured: &Measured, bytes: u64) -> Option<f64> {
    let chances = measured.document.rows(FindingCode::SlowRegions, "would_have_been_met");
    chances.iter().find(|row| row["bytes"] == bytes)?["probability"].as_f64()
}

fn other_load(program: &Program, folder: &Folder, options: &SurfaceOptions) -> Result<String, Failure> {
    let mut text = format!(
        "\n## Somebody else uses the drive\n\nThe disk {LOADED_DRIVE}, in {LOADED_RUNS} runs each. *says so*: runs with a \
         warning or a reason that names other load. *zones*: steps of more\nthan 2 % that were found, and borders where \
         there is none, all runs together. *full pass*: the worst error of what was said.\n\n\
         | the other one | says so | zones | nothing | slow regions | full pass said | full pass |\n|---|---:|---:|---:|---:|---:|---:|\n"
    );
    let alone = named(LOADED_DRIVE)?;
    let mut drives = vec![("nobody", alone)];
    for (number, (name, load)) in LOADS.iter().enumerate() {
        let drive = folder.loaded(LOADED_DRIVE, &format!("loaded-{number}"), load)?;
        drives.push((name, drive));
    }
    for (name, drive) in &drives {
        let truth = Truth::of(&drive.profile)?;
        let runs = on_two_threads(LOADED_RUNS, |number| {
            surface(program, &drive.target, options.seed + number as u64, &[])
        })?;
        text.push_str(&load_row(name, &runs, &truth));
    }
    Ok(text)
}

fn load_row(name: &str, runs: &[Measured], truth: &Truth) -> String {
    let errors: Vec<Errors> = runs.iter().map(|run| Errors::of_run(run, truth)).collect();
    let (mut found, mut steps, mut invented) = (0, 0, 0);
    for errors in &errors {
        let Some(zones) = errors.zones.as_ref() else { continue };
        found += zones.found;
        steps += zones.steps;
        invented += zones.invented;
    }
    let passes: Vec<f64> = errors.iter().filter_map(|errors| errors.of(FindingCode::FullPassTime)).collect();
    let worst = worst(passes.iter().copied());
    format!(
        "| {name} | {} | {} of {} | {} | {} | {} | {} |\n",
        runs.iter().filter(|run| run.document.says(&OTHER_LOAD)).count(),
        found,
        steps,
        invented,
        runs.iter().map(|run| run.slow.len()).sum::<usize>(),
        passes.len(),
        percent(worst),
    )
}

#[cfg(test)]
mod tests {
    use super::{FindingCode, Measured, Truth, coverage_row};
    use crate::surface::measured::Figure;
    use crate::truth::Truths;

    const CODE: FindingCode = FindingCode::FullPassTime;

    fn truth() -> Truth {
        let truths = sim::truth::truth("zoned").expect("a drive that ships");
        let mut pass = truths.into_iter().find(|truth| truth.code == CODE).expect("it is known");
        pass.value = sim::truth::TruthValue::Number(100.0);
        Truth { truths: Truths { list: vec![pass] }, zones: Vec::new(), slow: Vec::new() }
    }

    #[test]
    fn an_interval_holds_what_lies_in_it() {
        let run = |value: f64, low: f64, high: f64| {
            let figures = [(CODE, Figure { value, interval: Some((low, high)) })].into();
            (truth(), Measured { figures, ..Measured::default() })
        };
        let runs = [run(101.0, 99.0, 103.0), run(103.0, 101.0, 105.0), (truth(), Measured::default())];
        let row = coverage_row("disks", CODE, &runs);
        assert_eq!(row, "| disks | `full-pass-time` | 2 | 1 | 50.0 % | 2.00 % | +2.00 % | 3.00 % |\n");
    }
}
