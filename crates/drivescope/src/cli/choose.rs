//! `drivescope choose`: which kind of drive to buy and how to use it, by answers and by how long a day's writes take.

use super::args::{AnswerArguments, ChooseArguments, PreferenceArgument, YesOrNo};
use super::output;
use super::stored::{all_analysed, drive_name};
use crate::error::{UserError, exit};
use crate::target_choice::VIRTUAL_PREFIX;
use crate::{simulated_day, virtual_drive};
use analysis::choice::{
    Answers, DAY_S, DayOfWrites, DayTime, DriveWrites, Preference, Question, Way, WritesUnknown,
};
use model::finding::FindingCode;
use model::run::Run;
use model::units::{Bytes, Nanos};
use report::json::choice_document;
use report::quantity::{documented_capacity, rough_share, rough_time};
use report::terminal::{AnsweredQuestion, ChoicePage, Told, WeighedDrive, choice_page};
use sim::truth::{TruthValue, truth_of};
use std::path::Path;

const SEED: u64 = 1;
const NOTES: [&str; 2] = [
    "Times are those of the third such day of a drive that was new on the first. Those of measured drives follow from their throughput, \
     with 95 % CIs; those of virtual drives were simulated once.",
    "Assumed: shingled disks cost least per TB, flash costs most. Prices are not looked up.",
];

pub fn run(arguments: &ChooseArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let day = day(arguments)?;
    let course = answers(&arguments.answers).course();
    let mut drives = Vec::new();
    if let Some(day) = &day {
        for name in &arguments.drives {
            if !name.starts_with(VIRTUAL_PREFIX) {
                continue;
            }
            drives.push(on_virtual_drive(name, day)?);
        }
        drives.extend(on_measured_drives(arguments, store, day)?);
    }
    let (mut open, mut choice) = (None, None);
    match course.end {
        Err(question) => open = Some(answered(question, question.option())),
        Ok(end) => {
            let (kind, way) = (end.kind.words().to_string(), way_words(end.way).to_string());
            choice = Some((end.kind.name(), kind, way, end.reason.to_string()));
        }
    }
    let page = ChoicePage {
        asked: course.asked.iter().map(|&(question, answer)| answered(question, answer)).collect(),
        open,
        choice,
        day: day.as_ref().map(day_words),
        drives,
        notes: if day.is_some() { NOTES.to_vec() } else { NOTES[1..].to_vec() },
    };
    output::give_page(|style| choice_page(&page, style), &choice_document(&page), &arguments.page)?;
    Ok(exit::SUCCESS)
}

fn day(arguments: &ChooseArguments) -> Result<Option<DayOfWrites>, UserError> {
    let Some(daily) = arguments.day.daily else {
        if arguments.drives.is_empty() {
            return Ok(None);
        }
        return Err(UserError::usage(
            "drives are weighed by how long your writes take on them. Say what you write: --daily 60GB --burst 40GB --random 20%",
        ));
    };
    if arguments.drives.is_empty() {
        return Err(UserError::usage(
            "name the drives on which these writes are to be tried: runs that are kept, or virtual drives such as sim:smr-2tb \
             sim:sata-tlc-500gb sim:wd20ears (drivescope sim list)",
        ));
    }
    let burst = arguments.day.burst.unwrap_or(daily).min(daily);
    Ok(Some(DayOfWrites { daily, burst, random_share: arguments.day.random.unwrap_or(1.0) }))
}

fn answers(typed: &AnswerArguments) -> Answers {
    let says = |answer: Option<YesOrNo>| answer.map(|answer| answer == YesOrNo::Yes);
    Answers {
        tolerates_fall: says(typed.tolerate_fall),
        changes_workload: says(typed.change_workload),
        clips: says(typed.clip),
        prefers: typed.prefer.map(|preference| match preference {
            PreferenceArgument::Cost => Preference::Cost,
            PreferenceArgument::Performance => Preference::Performance,
            PreferenceArgument::Steadiness => Preference::Steadiness,
        }),
    }
}

fn answered(question: Question, answer: &'static str) -> AnsweredQuestion {
    AnsweredQuestion { question: question.words(), answer }
}

fn way_words(way: Way) -> &'static str {
    match way {
        Way::AsItComes => "Use it without special care.",
        Way::PausesOrOrder => {
            "Leave it idle between the writes, or write sequentially in blocks of tens of MB."
        }
        Way::Clipped => {
            "Use a part of it only: on a shingled disk the size of its media cache, on an SSD two thirds or less."
        }
    }
}

fn day_words(day: &DayOfWrites) -> String {
    let bursts = day.bursts();
    let each = match bursts {
        1 => "at once".to_string(),
        _ => format!("in {bursts} bursts of {}", documented_capacity(Bytes::new(day.burst_bytes() as u64))),
    };
    format!(
        "{} a day, {each}, {} of it random",
        documented_capacity(day.daily),
        rough_share(day.random_share)
    )
}

fn on_virtual_drive(name: &str, day: &DayOfWrites) -> Result<WeighedDrive, UserError> {
    output::say(&format!("simulating a day on {name}"));
    let virtual_drive = virtual_drive::find(name)?;
    let mut kind = None;
    for truth in truth_of(&virtual_drive.profile).unwrap_or_default() {
        if let (FindingCode::RecordingKind, TruthValue::Word(word)) = (truth.code, truth.value) {
            kind = Some(word.to_string());
        }
    }
    let time = simulated_day::simulate(virtual_drive.open(SEED)?, day, SEED)?;
    Ok(weighed(name.to_string(), kind, Ok(time), None, day))
}

fn on_measured_drives(
    arguments: &ChooseArguments,
    store: Option<&Path>,
    day: &DayOfWrites,
) -> Result<Vec<WeighedDrive>, UserError> {
    let mut names = arguments.drives.clone();
    names.retain(|name| !name.starts_with(VIRTUAL_PREFIX));
    let stored = if names.is_empty() { Vec::new() } else { all_analysed(&names, store)? };
    let runs: Vec<Run> = stored.into_iter().map(|stored| stored.run).collect();
    let mut drives: Vec<Vec<&Run>> = Vec::new();
    for run in &runs {
        match drives.iter_mut().find(|runs| are_of_one_drive(runs[0], run)) {
            Some(same) => same.push(run),
            None => drives.push(vec![run]),
        }
    }
    let mut weighed_drives = Vec::new();
    for runs in &drives {
        let drive = DriveWrites::of(runs);
        weighed_drives.push(weighed(
            drive_name(runs[0]),
            drive.kind.clone(),
            day.on(&drive),
            Some(&drive),
            day,
        ));
    }
    Ok(weighed_drives)
}

fn are_of_one_drive(a: &Run, b: &Run) -> bool {
    let (a, b) = (&a.target, &b.target);
    (&a.model, &a.serial, &a.path) == (&b.model, &b.serial, &b.path)
}

fn weighed(
    name: String,
    kind: Option<String>,
    time: Result<DayTime, WritesUnknown>,
    drive: Option<&DriveWrites>,
    day: &DayOfWrites,
) -> WeighedDrive {
    let (outcome, advice) = match time {
        Ok(time) => {
            let advice = advice(&time, drive, day);
            (Told::Known((time.busy_s, time.burst_s, time.falls)), advice)
        }
        Err(why) => (Told::Unknown(why.to_string()), Vec::new()),
    };
    WeighedDrive { name, kind, outcome, advice }
}

fn advice(time: &DayTime, drive: Option<&DriveWrites>, day: &DayOfWrites) -> Vec<String> {
    let mut sentences = Vec::new();
    if time.busy_s.value > DAY_S {
        sentences.push("It cannot keep up: the writes of a day take longer than a day.".to_string());
    }
    if !time.falls {
        return sentences;
    }
    let mut fall = None;
    if let Some(DriveWrites { at_random: Ok(random), .. }) = drive {
        fall = random.fall.as_ref();
    }
    if let Some(fall) = fall {
        let room = documented_capacity(Bytes::new(fall.bytes.value as u64));
        sentences
            .push(format!("Keep random writes under {room} between idle times to avoid the write cliff."));
    }
    match &time.pause_needed_s {
        Some(pause) => sentences.push(format!(
            "Leave it idle for {} after each burst, which empties its write cache.",
            rough_time(Nanos::from_secs_f64(pause.value).unwrap_or_default())
        )),
        None if day.random_share > 0.0 && fall.is_some() => sentences.push(
            "Idle time does not help: a burst exceeds its write cache, or it does not recover. Write sequentially, or in smaller bursts."
                .into(),
        ),
        None => {}
    }
    sentences
}
