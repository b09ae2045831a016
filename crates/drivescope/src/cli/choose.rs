//! `drivescope choose`: which kind of drive to take and how to use it, by answers and by how long a day's writes take.

use super::args::ChooseArguments;
use super::output;
use super::resolve;
use super::stored::{all_analysed, drive_name};
use crate::error::{UserError, exit};
use crate::{simulated_day, virtual_drive};
use analysis::choice::{DAY_S, DayOfWrites, DayTime, DriveWrites, Question, Way};
use model::finding::FindingCode;
use model::run::Run;
use model::units::{Bytes, Nanos};
use report::json::choice_document;
use report::quantity::{capacity, rough_share, rough_time};
use report::terminal::{AnsweredQuestion, ChoicePage, WeighedDrive, choice_page};
use sim::truth::{Answer, truth_of};
use std::path::Path;

/// Before the name of a virtual drive.
const VIRTUAL_PREFIX: &str = "sim:";
/// Of a virtual drive: draws its places and whatever is random in it.
const SEED: u64 = 1;
/// What holds for all of it.
const NOTES: [&str; 2] = [
    "Times are those of the third such day of a drive that was new on the first. Those of runs follow from their rates, with 95 % \
     confidence; those of virtual drives were simulated once.",
    "That shingled disks hold most for the money, and flash least, is taken for granted; prices are not looked up.",
];

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run or virtual drive.
pub fn run(arguments: &ChooseArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let wish = resolve::choose(arguments)?;
    let course = wish.answers.course();
    let mut drives = Vec::new();
    if let Some(day) = &wish.day {
        for name in arguments.drives.iter().filter(|name| name.starts_with(VIRTUAL_PREFIX)) {
            drives.push(on_virtual_drive(name, day)?);
        }
        drives.extend(on_measured_drives(arguments, store, day)?);
    }
    let page = ChoicePage {
        asked: course.asked.iter().map(|&(question, answer)| answered(question, answer)).collect(),
        open: course.end.err().map(|question| answered(question, question.option())),
        choice: course.end.ok().map(|choice| {
            (
                choice.kind.name(),
                choice.kind.words().to_string(),
                way_words(choice.way).to_string(),
                choice.reason.to_string(),
            )
        }),
        day: wish.day.as_ref().map(day_words),
        drives,
        notes: if wish.day.is_some() { NOTES.to_vec() } else { NOTES[1..].to_vec() },
    };
    output::give_page(|style| choice_page(&page, style), || choice_document(&page), &arguments.page)?;
    Ok(exit::SUCCESS)
}

fn answered(question: Question, answer: &'static str) -> AnsweredQuestion {
    AnsweredQuestion { question: question.words(), answer }
}

fn way_words(way: Way) -> &'static str {
    match way {
        Way::AsItComes => "Use it as it comes.",
        Way::PausesOrOrder => {
            "Leave it idle between the writes, or write in order and in pieces of tens of megabytes."
        }
        Way::Clipped => {
            "Use a part of it only: on a shingled disk what its cache holds, on an SSD two thirds or less."
        }
    }
}

fn day_words(day: &DayOfWrites) -> String {
    let bursts = day.bursts();
    let each = match bursts {
        1 => "at once".to_string(),
        _ => format!("in {bursts} bursts of {}", capacity(Bytes(day.burst_bytes() as u64))),
    };
    format!("{} a day, {each}, {} of it at random places", capacity(day.daily), rough_share(day.random_share))
}

fn on_virtual_drive(name: &str, day: &DayOfWrites) -> Result<WeighedDrive, UserError> {
    output::say(&format!("simulating a day on {name}"));
    let virtual_drive = virtual_drive::find(name)?;
    let kind = truth_of(&virtual_drive.profile).ok().and_then(|truths| {
        let word = truths.into_iter().find(|truth| truth.code == FindingCode::RecordingKind)?;
        if let Answer::Word(kind) = word.answer { Some(kind.to_string()) } else { None }
    });
    let time = simulated_day::simulate(virtual_drive.open(SEED)?, day, SEED)?;
    Ok(weighed(name.to_string(), kind, Ok(time), None, day))
}

/// Several runs of one drive are taken together.
fn on_measured_drives(
    arguments: &ChooseArguments,
    store: Option<&Path>,
    day: &DayOfWrites,
) -> Result<Vec<WeighedDrive>, UserError> {
    let is_stored = |name: &&String| !name.starts_with(VIRTUAL_PREFIX);
    let names: Vec<String> = arguments.drives.iter().filter(is_stored).cloned().collect();
    // Who names virtual drives only needs no store.
    let stored = if names.is_empty() { Vec::new() } else { all_analysed(&names, store)? };
    let runs: Vec<Run> = stored.into_iter().map(|stored| stored.run).collect();
    let identity = |run: &Run| (run.target.model.clone(), run.target.serial.clone(), run.target.path.clone());
    let mut drives: Vec<Vec<&Run>> = Vec::new();
    for run in &runs {
        match drives.iter_mut().find(|runs| identity(runs[0]) == identity(run)) {
            Some(same) => same.push(run),
            None => drives.push(vec![run]),
        }
    }
    let of_drive = |runs: &Vec<&Run>| {
        let drive = DriveWrites::of(runs);
        weighed(drive_name(runs[0]), drive.kind.clone(), day.on(&drive), Some(&drive), day)
    };
    Ok(drives.iter().map(of_drive).collect())
}

fn weighed(
    name: String,
    kind: Option<String>,
    time: Result<DayTime, String>,
    drive: Option<&DriveWrites>,
    day: &DayOfWrites,
) -> WeighedDrive {
    let advice = time.as_ref().map_or(Vec::new(), |time| advice(time, drive, day));
    let outcome = time.map(|time| (time.busy_s, time.burst_s, time.falls));
    WeighedDrive { name, kind, outcome, advice }
}

/// What would keep the rate from falling, as far as it is known.
fn advice(time: &DayTime, drive: Option<&DriveWrites>, day: &DayOfWrites) -> Vec<String> {
    let mut sentences = Vec::new();
    if time.busy_s.value > DAY_S {
        sentences.push("It does not keep up: the writes of a day take longer than a day.".to_string());
    }
    if !time.falls {
        return sentences;
    }
    let fall = drive.and_then(|drive| drive.at_random.as_ref().ok()).and_then(|random| random.fall.as_ref());
    if let Some(fall) = fall {
        let room = capacity(Bytes(fall.bytes.value as u64));
        sentences.push(format!("Stay within {room} at random places between rests, and it does not fall."));
    }
    match &time.pause_needed_s {
        Some(pause) => sentences.push(format!(
            "Leave it idle for {} after each burst: then its cache is empty again.",
            rough_time(Nanos::from_secs_f64(pause.value).unwrap_or_default())
        )),
        None if day.random_share > 0.0 && fall.is_some() => sentences.push(
            "No pause helps: a burst is more than its cache, or it regains nothing. Write in order, or in smaller bursts.".into(),
        ),
        None => {}
    }
    sentences
}
