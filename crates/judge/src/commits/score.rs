//! What `commit` finds on virtual drives, held against what is true of them. All are in virtual time.

use super::drives::{POLICIES, Tail, of_policy};
use crate::document::rows;
use crate::failure::Failure;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::truth::Truths;
use crate::virtual_drive::Folder;
use model::finding::FindingCode;
use sim::truth::TruthValue;

/// The 99th percentile that etcd asks for.
const LIMIT_S: f64 = 0.01;
/// Of the limit: how far off the true percentile is, at the edge and beyond twice the limit.
pub const EDGES: [f64; 4] = [0.9, 0.97, 1.03, 1.1];
pub const BEYOND: [f64; 2] = [1.0 / 2.2, 2.2];

#[derive(Clone, Copy, Debug, Default)]
pub struct Coverage {
    pub inside: usize,
    pub known: usize,
    pub targets: usize,
}

impl Coverage {
    fn add(&mut self, is_inside: Option<bool>) {
        self.targets += 1;
        if let Some(is_inside) = is_inside {
            self.known += 1;
            self.inside += usize::from(is_inside);
        }
    }
}

pub struct Percentiles {
    pub p99: Coverage,
    pub p999: Coverage,
}

/// Intervals of the 99th and the 99.9th percentile on targets with heavy tails.
pub fn percentiles(
    program: &Program,
    folder: &Folder,
    first: u64,
    targets: u64,
) -> Result<Percentiles, Failure> {
    let all = on_two_threads(targets as usize, |index| {
        let number = first + index as u64;
        let tail = Tail::drawn(number);
        let drive = tail.drive(folder, &format!("tail-{number}"))?;
        let options = ["--write", "--time-limit", "30s", "--sizes", "8KiB"];
        let document = program.measure("commit", &drive.target, &options, number)?;
        let point = rows(&document.said(FindingCode::CommitLatency)["data"]["points"]).first();
        let inside = |name: &str, truth: f64| {
            let (low, high) = (point?[name]["low"].as_f64()?, point?[name]["high"].as_f64()?);
            Some((low..=high).contains(&truth))
        };
        Ok((inside("p99", tail.p99_s()), inside("p999", tail.p999_s())))
    })?;
    let mut found = Percentiles { p99: Coverage::default(), p999: Coverage::default() };
    for (p99, p999) in all {
        found.p99.add(p99);
        found.p999.add(p999);
    }
    Ok(found)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    pub right: usize,
    pub wrong: usize,
    pub open: usize,
}

/// What a flush does, by what is true: of a drive without a write cache every policy is "honoured".
pub fn flushes(
    program: &Program,
    folder: &Folder,
    first: u64,
    targets: u64,
) -> Result<[Answers; 3], Failure> {
    let all = on_two_threads(targets as usize, |index| {
        let number = first + index as u64;
        let drive = of_policy(folder, number)?;
        let options = ["--write", "--time-limit", "10s"];
        let document = program.measure("commit", &drive.target, &options, number)?;
        let said = document.said(FindingCode::FlushHonoured);
        let truth = match Truths::of(&drive.profile)?.get(FindingCode::FlushHonoured).map(|truth| truth.value)
        {
            Some(TruthValue::Word(word)) => word,
            _ => return Err(Failure::cannot(format!("{} has no truth of its flushes.", drive.name))),
        };
        let found = said["value"].as_str().map(str::to_owned);
        if found.as_deref() != Some(truth) {
            eprintln!("{} is {truth}: {said}", drive.name);
        }
        Ok((truth, found))
    })?;
    let mut answers = [Answers::default(); 3];
    for (policy, answers) in POLICIES.into_iter().zip(&mut answers) {
        for (_, found) in all.iter().filter(|(truth, _)| *truth == policy) {
            match found.as_deref() {
                None => answers.open += 1,
                Some(found) if found == policy => answers.right += 1,
                Some(_) => answers.wrong += 1,
            }
        }
    }
    Ok(answers)
}

/// Whether a drive whose 99th percentile is so many times the limit is fast enough for etcd.
pub fn verdicts(
    program: &Program,
    folder: &Folder,
    first: u64,
    targets: u64,
    factors: &[f64],
) -> Result<Answers, Failure> {
    let all = on_two_threads(targets as usize, |index| {
        let number = first + index as u64;
        let factor = factors[index % factors.len()];
        let drive =
            Tail::of_p99(number, factor * LIMIT_S).drive(folder, &format!("edge-{factor}-{number}"))?;
        let options = ["--write", "--for", "etcd", "--time-limit", "30s"];
        let document = program.measure("commit", &drive.target, &options, number)?;
        let said = document.said(FindingCode::CommitVerdict)["value"].as_str().map(str::to_owned);
        Ok((factor < 1.0, said))
    })?;
    let mut answers = Answers::default();
    for (is_enough, said) in all {
        match (said.as_deref(), is_enough) {
            (Some("yes"), true) | (Some("no"), false) => answers.right += 1,
            (Some("yes" | "no"), _) => answers.wrong += 1,
            _ => answers.open += 1,
        }
    }
    Ok(answers)
}
