//! What is to be tested, two beside each other: many tests wait for devices and clocks, and one row leaves a processor idle.
//!
//! The output of each is shown when it has ended.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::Mutex;

use super::programs::Program;
use super::python::{self, Suite};
use super::tally::Tally;
use crate::failure::Failure;

/// How many are under way. Tests that make loop devices hold a lock meanwhile.
const AT_ONCE: usize = 2;
/// The longest begin first, so that none is left alone at the end. Hosts of plays copy all mounts: they start beside the scores, which mount nothing.
const LONGEST: [&str; 5] =
    [python::ANSIBLE_NAME, "scores", "commands", python::FLEET_NAME, "instructions_per_io"];

pub enum Job {
    Program(Program),
    Suite(Suite),
}

impl Job {
    fn name(&self) -> &str {
        match self {
            Job::Program(program) => &program.name,
            Job::Suite(suite) => &suite.name,
        }
    }

    fn rank(&self) -> usize {
        LONGEST.iter().position(|name| *name == self.name()).unwrap_or(LONGEST.len())
    }

    /// Runs it to its end; gives what it printed.
    fn run(&self, prepare: impl Fn(&mut Command), tally: &mut Tally) -> Result<String, Failure> {
        match self {
            Job::Program(program) => program.run(prepare, tally),
            Job::Suite(suite) => suite.run(tally),
        }
    }
}

pub fn run(
    mut jobs: Vec<Job>,
    prepare: impl Fn(&mut Command) + Sync,
    tally: &mut Tally,
) -> Result<(), Failure> {
    jobs.sort_by_key(Job::rank);
    let (waiting, counted) = (Mutex::new(VecDeque::from(jobs)), Mutex::new(tally));
    std::thread::scope(|scope| {
        let rows = [0; AT_ONCE].map(|_| scope.spawn(|| run_row(&waiting, &counted, &prepare)));
        for row in rows {
            row.join().expect("no row panics")?;
        }
        Ok(())
    })
}

/// Runs one after the other until none waits.
fn run_row(
    waiting: &Mutex<VecDeque<Job>>,
    counted: &Mutex<&mut Tally>,
    prepare: impl Fn(&mut Command),
) -> Result<(), Failure> {
    loop {
        let Some(job) = waiting.lock().expect("no row panics").pop_front() else { return Ok(()) };
        let mut tally = Tally::default();
        let printed = job.run(&prepare, &mut tally)?;
        let mut counted = counted.lock().expect("no row panics");
        println!("\n== {printed}");
        counted.add_all(tally);
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, Program};

    #[test]
    fn the_longest_come_first_and_others_as_they_were_built() {
        let mut jobs = Vec::new();
        for name in ["posts", "commands", "mount", "scores"] {
            jobs.push(Job::Program(Program::called(name)));
        }
        jobs.sort_by_key(Job::rank);
        let names: Vec<&str> = jobs.iter().map(Job::name).collect();
        assert_eq!(names, ["scores", "commands", "posts", "mount"]);
    }
}
