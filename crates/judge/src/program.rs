//! The program that is judged, run as its users run it: as a process with a store of its own.

use crate::document::Document;
use crate::failure::{Doing, Failure};
use crate::options::ProgramOption;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

/// The word after which `judge` is drivescope itself, so that no older build is judged by mistake.
pub const AS_PROGRAM: &str = "drivescope";

pub struct Program {
    words: Vec<OsString>,
    pub folder: PathBuf,
}

#[derive(Debug)]
pub struct Outcome {
    /// The exit status; none when a signal ended it.
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Program {
    /// The one that was named, or the one in this program; fails when the system does not say which this is.
    pub fn chosen(option: &ProgramOption, folder: &Path) -> Result<Program, Failure> {
        match &option.program {
            Some(path) => Ok(Program { words: vec![path.into()], folder: folder.to_owned() }),
            None => Ok(Program::in_judge(&std::env::current_exe().doing("find this program")?, folder)),
        }
    }

    pub fn in_judge(judge: &Path, folder: &Path) -> Program {
        Program { words: vec![judge.into(), AS_PROGRAM.into()], folder: folder.to_owned() }
    }

    /// A command with nothing of the environment that changes what it prints.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).args(words);
        for name in ["NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        command
    }

    /// What a command prints, whatever its exit status; its runs are gone afterwards, since they would fill the memory.
    pub fn outcome(&self, words: &[&str]) -> Result<Outcome, Failure> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let store = self.folder.join(format!("store-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let output = self.command(words).env("XDG_DATA_HOME", &store).output();
        let _ = std::fs::remove_dir_all(&store);
        let Output { status, stdout, stderr } =
            output.doing(format_args!("start {}", self.words[0].display()))?;
        Ok(Outcome { status: status.code(), out: text(&stdout), err: text(&stderr) })
    }

    /// An experiment on a target, with these options and that seed.
    pub fn measure(
        &self,
        experiment: &str,
        target: &str,
        options: &[&str],
        seed: u64,
    ) -> Result<Document, Failure> {
        let seed = seed.to_string();
        self.run(&[&[experiment, target, "--seed", &seed], options].concat())
    }

    pub fn run(&self, words: &[&str]) -> Result<Document, Failure> {
        let outcome = self.outcome(&[words, &["-q", "--json", "-"]].concat())?;
        match serde_json::from_str(&outcome.out) {
            Ok(json) => Ok(Document { json, status: outcome.status }),
            Err(error) => {
                let command = words.join(" ");
                Err(Failure::cannot(format!("`{command}` printed no JSON ({error}): {}", outcome.err)))
            }
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
