//! `cargo xtask compare-peers`: what fio, dd, bonnie++, zcav, ioping, hdparm and drivescope say of the same virtual drive, mounted in real time,
//! against the truth; and of a plain loop device, against each other. What they say is read by the importer that users have.

mod drives;
mod page;
mod peers;

use drives::{MountedDrive, PlainLoop, Truth};
use page::Row;
use peers::{Answer, Peer};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::bench::load_average;
use crate::workspace::{cargo, root, target_folder};

/// Where the page is kept, from the root of the workspace.
const PAGE: &str = "docs/generated/compare-peers.md";
/// A disk whose outer tracks are twice as fast as its inner ones, slow enough for a mount to keep its time exactly.
const DRIVE: &str = "wd20ears";

/// Runs all of them one after the other, and keeps the page.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let program = match arguments {
        [] => build()?,
        [option, file] if option == "--program" => PathBuf::from(file),
        _ => {
            return Err(Failure::cannot(
                "Usage: cargo xtask compare-peers [--program FILE]\nNeeds root, and of fio, dd, bonnie++, zcav, ioping and hdparm what is to be \
                 compared. FILE is a drivescope that was built already.",
            ));
        }
    };
    let load_before = load_average();
    let mut rows = Vec::new();
    {
        let mounted = MountedDrive::start(&program, DRIVE)?;
        let truth = Truth::of(&program, DRIVE)?;
        let device = mounted.device().to_owned();
        rows.extend(ours(&program, &device, "60s", &truth));
        for peer in peers::on_disk(&device, mounted.file(), truth.capacity) {
            rows.push(asked(&peer, &device, &truth));
        }
        rows.push(asked(&peers::bonnie(&device, &mounted.folder()), &device, &truth));
    }
    let mut plain_rows = Vec::new();
    {
        let plain = PlainLoop::make()?;
        plain_rows.extend(ours(&program, plain.device(), "15s", &Truth::unknown()));
        for peer in peers::on_memory(plain.device()) {
            plain_rows.push(asked(&peer, plain.device(), &Truth::unknown()));
        }
    }
    let text = page::page(DRIVE, &program, &load_before, &rows, &plain_rows);
    println!("{text}");
    std::fs::write(root().join(PAGE), &text)
        .map_err(|error| Failure::cannot(format!("Cannot write {PAGE}: {error}.")))
}

fn build() -> Result<PathBuf, Failure> {
    let status = cargo(&["build", "--release", "-p", "drivescope"]).status();
    match status {
        Ok(status) if status.success() => Ok(target_folder().join("release/drivescope")),
        _ => Err(Failure::cannot("drivescope does not build; its reason is above.")),
    }
}

/// One peer's answer beside the truth.
fn asked(peer: &Peer, device: &Path, truth: &Truth) -> Row {
    eprintln!("{}", peer.shown);
    // What another peer read before must not be in memory.
    let _ = Command::new("blockdev").arg("--flushbufs").arg(device).status();
    let answer = peer.ask();
    Row {
        question: peer.question,
        who: peer.shown.clone(),
        answer,
        truth: truth.of_question(peer.question),
        why: peer.why,
    }
}

/// What drivescope says, from one run of `check`.
fn ours(program: &Path, device: &Path, time: &str, truth: &Truth) -> Vec<Row> {
    let shown = format!("drivescope check --time-limit {time}");
    eprintln!("{shown}");
    let store = std::env::temp_dir().join(format!("drivescope-peers-{}", std::process::id()));
    let output = Command::new(program)
        .args(["check", "-q", "--json", "-", "--seed", "1", "--time-limit", time])
        .arg(device)
        .arg("--store")
        .arg(&store)
        .output();
    let _ = std::fs::remove_dir_all(&store);
    let document: Option<serde_json::Value> =
        output.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok());
    let rows = peers::Question::ALL.into_iter().map(|question| {
        let finding = document.as_ref().and_then(|document| {
            let code = question.code().name();
            document["findings"].as_array()?.iter().find(|finding| finding["code"] == code)
        });
        let answer = match finding.and_then(|finding| Some((finding, finding["value"].as_f64()?))) {
            Some((finding, value)) => {
                Answer::Interval(value, finding["low"].as_f64(), finding["high"].as_f64())
            }
            None => {
                Answer::None(finding.and_then(|f| f["unknown"].as_str()).unwrap_or("it does not say").into())
            }
        };
        let why = "past the page cache, many short visits and the interval of their mean";
        Row { question, who: shown.clone(), answer, truth: truth.of_question(question), why }
    });
    rows.collect()
}
