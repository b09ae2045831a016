//! `cargo xtask compare-peers`: what fio, dd, bonnie++, zcav, ioping, hdparm and drivescope say of the same virtual drive, mounted in real time,
//! against the truth; and of a plain loop device, against each other. What they say is read by the importer that users have.

mod page;
mod peers;

use crate::failure::{Doing, Failure};
use crate::machine::{load_average, publish};
use crate::mounted_drive::MountedDrive;
use crate::options::ProgramOption;
use crate::place::Place;
use crate::program::Program;
use crate::truth::Truths;
use crate::virtual_drive::{Folder, named};
use page::Row;
use peers::{Answer, Peer};
use std::path::Path;
use std::process::Command;

const PAGE: &str = "docs/generated/compare-peers.md";
/// A disk whose outer tracks are twice as fast as its inner ones, slow enough for a mount to keep its time exactly.
const DRIVE: &str = "wd20ears";

pub fn run(options: &ProgramOption) -> Result<(), Failure> {
    let folder = Folder::make()?;
    let program = Program::chosen(options, folder.path())?;
    let drive = named(DRIVE)?;
    let (truth, unknown) = (Truths::of(&drive.profile)?, Truths { list: Vec::new() });
    let capacity = drive.profile.capacity().doing("open the drive")?;
    let load_before = load_average();
    let mut rows = Vec::new();
    {
        let mounted = MountedDrive::start(&program, DRIVE)?;
        let device = mounted.device().to_owned();
        rows.extend(ours(&program, &device, "60s", &truth));
        for peer in peers::on_disk(&device, mounted.file(), capacity.get()) {
            rows.push(asked(&peer, &device, &truth));
        }
        rows.push(asked(&peers::bonnie(&device, &mounted.folder()), &device, &truth));
    }
    let mut plain_rows = Vec::new();
    {
        let plain = Place::make()?;
        let device = Path::new(plain.device());
        plain_rows.extend(ours(&program, device, "15s", &unknown));
        for peer in peers::on_memory(device) {
            plain_rows.push(asked(&peer, device, &unknown));
        }
    }
    publish(&page::page(DRIVE, &load_before, &rows, &plain_rows), PAGE, true)
}

fn asked(peer: &Peer, device: &Path, truth: &Truths) -> Row {
    eprintln!("{}", peer.shown);
    // What another peer read before must not be in memory.
    let _ = Command::new("blockdev").arg("--flushbufs").arg(device).status();
    let answer = peer.ask();
    Row {
        question: peer.question,
        who: peer.shown.clone(),
        answer,
        truth: truth.value(peer.question.code()),
        why: peer.why,
    }
}

fn ours(program: &Program, device: &Path, time: &str, truth: &Truths) -> Vec<Row> {
    let shown = format!("drivescope check --time-limit {time}");
    eprintln!("{shown}");
    let device = device.to_string_lossy();
    let document = program.measure("check", &device, &["--time-limit", time], 1);
    let mut rows = Vec::new();
    for question in peers::Question::ALL {
        let code = question.code();
        let answer = match &document {
            Err(failure) => Answer::None(format!("{failure:?}")),
            Ok(document) => match document.value(code) {
                Some(value) => {
                    let found = document.said(code);
                    Answer::Interval(value, found["low"].as_f64(), found["high"].as_f64())
                }
                None => Answer::None(document.why(code).to_owned()),
            },
        };
        let why = "past the page cache, many short visits and the interval of their mean";
        rows.push(Row { question, who: shown.clone(), answer, truth: truth.value(code), why });
    }
    rows
}
