//! Everything that reads bytes which others made, each behind one function that takes bytes. None of them may panic, hang or take memory
//! without bound, whatever the bytes are; what they answer is of no interest here.
//!
//! `cargo xtask fuzz` lets libFuzzer look for bytes that lead to new places in the program. The tests change the seeds at random, so that
//! the functions stay true without a fuzzer. Bytes that were found to do harm become a test of the module that they harmed.
#![forbid(unsafe_code)]

mod memory;
mod stored;
mod texts;
mod untrusted_drive;

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub name: &'static str,
    /// Reads the bytes, and forgets what they said.
    pub read: fn(&[u8]),
    /// A folder of this workspace with bytes to begin with.
    seeds: Seeds,
}

#[derive(Clone, Copy, Debug)]
enum Seeds {
    /// All files of a folder, named from the root of the workspace.
    Folder(&'static str),
    Made(fn() -> Vec<Vec<u8>>),
}

pub const TARGETS: [Target; 11] = [
    Target { name: "import", read: texts::import, seeds: Seeds::Folder("crates/import/tests/samples") },
    Target { name: "import-posts", read: texts::import, seeds: Seeds::Folder("crates/import/tests/posts") },
    Target { name: "profile", read: texts::profile, seeds: Seeds::Folder("crates/sim/presets") },
    Target {
        name: "plan-toml",
        read: texts::plan_toml,
        seeds: Seeds::Folder("crates/experiment/data/plans"),
    },
    Target { name: "plan-icf", read: texts::plan_icf, seeds: Seeds::Folder("fuzz/seeds/plan-icf") },
    Target { name: "plan-fio", read: texts::plan_fio, seeds: Seeds::Folder("fuzz/seeds/plan-fio") },
    Target { name: "power-cut-log", read: texts::power_cut_log, seeds: Seeds::Made(texts::power_cut_logs) },
    Target { name: "quantity", read: texts::quantity, seeds: Seeds::Made(texts::quantities) },
    Target {
        name: "drive",
        read: untrusted_drive::everything_it_tells,
        seeds: Seeds::Made(untrusted_drive::answers),
    },
    Target { name: "stored-run", read: stored::run, seeds: Seeds::Made(stored::runs) },
    Target {
        name: "preserve-journal",
        read: stored::preserve_journal,
        seeds: Seeds::Made(stored::preserve_journals),
    },
];

pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

impl Target {
    /// Bytes to begin with. `root` is that of the workspace.
    /// # Panics
    /// When the folder cannot be read: then this is no workspace.
    pub fn seeds(&self, root: &Path) -> Vec<Vec<u8>> {
        match self.seeds {
            Seeds::Made(make) => make(),
            Seeds::Folder(folder) => match contents(&root.join(folder)) {
                Ok(seeds) => seeds,
                Err(error) => panic!("{folder}: {error}"),
            },
        }
    }
}

/// What the files of a folder hold, in the order of their names.
fn contents(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            files.insert(path.clone(), fs::read(path)?);
        }
    }
    Ok(files.into_values().collect())
}
