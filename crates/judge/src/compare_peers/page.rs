//! The page: who says what, against the truth, and why they differ.

use super::peers::{Answer, Question};
use crate::machine::{conditions, today};
use std::fmt::Write as _;

pub struct Row {
    pub question: Question,
    pub who: String,
    pub answer: Answer,
    pub truth: Option<f64>,
    pub why: &'static str,
}

pub fn page(drive: &str, load_before: &str, on_disk: &[Row], on_memory: &[Row]) -> String {
    let build = if cfg!(debug_assertions) { "a debug build" } else { "a release build" };
    let mut text = format!(
        "# Who says what of the same drive\n\n\
         Made by `cargo xtask compare-peers` on {}, with {build} of drivescope.\n{} What else runs makes answers late, and random reads more than others.\n\n\
         ## A hard disk whose truth is known\n\n\
         The virtual disk `{drive}` is mounted in real time, with a loop device over it. The truth follows from its tracks and its arm. Each \
         program ran alone,\none after the other, and what was in memory of the device was dropped before. What the others print is read by \
         `drivescope import`.\n",
        today(),
        conditions(load_before)
    );
    tables(&mut text, on_disk);
    let _ = write!(
        text,
        "\nThe seeks of bonnie++ are not in the last table: {}.\n\n## A loop device over memory\n\nNobody knows the truth here: it is the speed of \
         this machine at that moment. drivescope says that it was memory that answered.\n",
        super::peers::of_seeks()
    );
    tables(&mut text, on_memory);
    text
}

fn tables(text: &mut String, rows: &[Row]) {
    for question in Question::ALL {
        let of: Vec<&Row> = rows.iter().filter(|row| row.question == question).collect();
        if of.iter().all(|row| matches!(row.answer, Answer::None(_))) {
            continue;
        }
        let truth = of.iter().find_map(|row| row.truth);
        let _ = writeln!(
            text,
            "\n### {}\n\n| who | says | off by | how it measures |\n|---|---|---|---|",
            question.heading()
        );
        if let Some(truth) = truth {
            let _ = writeln!(text, "| *the truth* | **{}** | | |", number(question, truth));
        }
        for row in of {
            let (says, off) = says(question, row, truth);
            let _ = writeln!(text, "| `{}` | {says} | {off} | {} |", short(&row.who), row.why);
        }
    }
}

fn short(command: &str) -> String {
    let mut words = Vec::new();
    for word in command.split(' ') {
        match word.rsplit_once('/') {
            Some((start, name)) if start.contains("drivescope-peers") => words.push(format!("…/{name}")),
            _ => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}

fn says(question: Question, row: &Row, truth: Option<f64>) -> (String, String) {
    let (value, ends) = match &row.answer {
        Answer::None(why) => return (format!("nothing: {}", why.replace('|', "/")), String::new()),
        Answer::Interval(value, Some(low), Some(high)) => {
            (*value, format!(" ({} to {})", number(question, *low), number(question, *high)))
        }
        Answer::Figure(value) | Answer::Interval(value, ..) => (*value, String::new()),
    };
    let off = match truth {
        Some(truth) => format!("{:+.1} %", (value / truth - 1.0) * 100.0),
        None => String::new(),
    };
    (format!("{}{ends}", number(question, value)), off)
}

fn number(question: Question, value: f64) -> String {
    let scaled = match question {
        Question::AccessTime => value * 1e3,
        Question::RateAtStart | Question::RateAtEnd => value / 1e6,
    };
    match scaled {
        1000.0.. => format!("{scaled:.0}"),
        100.0.. => format!("{scaled:.1}"),
        10.0.. => format!("{scaled:.2}"),
        _ => format!("{scaled:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_set_beside_the_truth() {
        let row = Row {
            question: Question::RateAtStart,
            who: "dd if=/tmp/drivescope-peers-mount-7/wd20ears bs=1M".into(),
            answer: Answer::Interval(150.0e6, Some(148.0e6), Some(152.0e6)),
            truth: Some(151.0e6),
            why: "directly",
        };
        let mut text = String::new();
        tables(&mut text, &[row]);
        assert!(text.contains("| *the truth* | **151.0** | | |"), "{text}");
        assert!(
            text.contains("| `dd …/wd20ears bs=1M` | 150.0 (148.0 to 152.0) | -0.7 % | directly |"),
            "{text}"
        );
    }
}
