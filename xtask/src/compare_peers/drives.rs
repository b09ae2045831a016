//! What is measured: a virtual drive mounted in real time, and a plain loop device over a file in memory. Both are gone when dropped.

use super::peers::Question;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Failure;

/// What is true of a virtual drive.
pub struct Truth {
    /// How much it holds.
    pub capacity: u64,
    document: Value,
}

impl Truth {
    /// As the program computes it from the profile.
    pub fn of(program: &Path, name: &str) -> Result<Truth, Failure> {
        let output = Command::new(program)
            .args(["sim", "truth", name, "--json"])
            .output()
            .map_err(|error| Failure::cannot(format!("Cannot start {}: {error}.", program.display())))?;
        let document: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| Failure::cannot(format!("No truth of {name}: {error}.")))?;
        let mut truth = Truth { capacity: 0, document };
        truth.capacity = truth.value("capacity-true").unwrap_or(0.0) as u64;
        Ok(truth)
    }

    /// Of what nobody knows.
    pub fn unknown() -> Truth {
        Truth { capacity: 0, document: Value::Null }
    }

    fn value(&self, code: &str) -> Option<f64> {
        self.document["truths"].as_array()?.iter().find(|truth| truth["code"] == code)?["value"].as_f64()
    }

    /// The true answer, in the unit of the finding.
    pub fn of_question(&self, question: Question) -> Option<f64> {
        self.value(question.code().name())
    }
}

/// A virtual drive, mounted, with a loop device.
pub struct MountedDrive {
    child: Child,
    folder: PathBuf,
    file: PathBuf,
    device: PathBuf,
}

impl MountedDrive {
    /// Mounts it.
    pub fn start(program: &Path, name: &str) -> Result<MountedDrive, Failure> {
        let folder = std::env::temp_dir().join(format!("drivescope-peers-mount-{}", std::process::id()));
        let mut child = Command::new(program)
            .args(["sim", "mount", name, "--loop", "--at"])
            .arg(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::cannot(format!("Cannot start {}: {error}.", program.display())))?;
        let mut line = String::new();
        let said = child.stdout.take().map(BufReader::new);
        if let Some(mut said) = said {
            let _ = said.read_line(&mut line);
            // What it says further must not fill a pipe that nobody reads.
            std::thread::spawn(move || said.lines().map_while(Result::ok).for_each(drop));
        }
        let served = line.trim().strip_prefix("Serving ").and_then(|rest| rest.split_once(" and "));
        match served {
            Some((file, device)) => {
                let (file, device) = (PathBuf::from(file), PathBuf::from(device));
                Ok(MountedDrive { child, folder, file, device })
            }
            None => {
                let _ = child.kill();
                Err(Failure::cannot(format!(
                    "The drive cannot be mounted with a loop device (it takes root): {line}"
                )))
            }
        }
    }

    /// The drive as a file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The loop device over it.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// A folder beside it.
    pub fn folder(&self) -> PathBuf {
        let folder = self.folder.with_extension("beside");
        let _ = std::fs::create_dir_all(&folder);
        folder
    }
}

impl Drop for MountedDrive {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(self.folder.with_extension("beside"));
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// How large the file under the plain loop device is, in MiB.
const PLAIN_MIB: usize = 640;

/// A loop device over a file in memory.
pub struct PlainLoop {
    file: PathBuf,
    device: PathBuf,
}

impl PlainLoop {
    /// Makes it, filled, so that nothing in it is a hole.
    pub fn make() -> Result<PlainLoop, Failure> {
        let file = PathBuf::from("/dev/shm").join(format!("drivescope-peers-{}", std::process::id()));
        std::fs::write(&file, vec![0x5a_u8; PLAIN_MIB << 20])
            .map_err(|error| Failure::cannot(format!("Cannot write {}: {error}.", file.display())))?;
        let output = Command::new("losetup").args(["-f", "--show"]).arg(&file).output();
        let device = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        match device {
            Ok(device) if !device.is_empty() => Ok(PlainLoop { file, device: PathBuf::from(device) }),
            _ => {
                let _ = std::fs::remove_file(&file);
                Err(Failure::cannot("A loop device cannot be had: it takes root and losetup."))
            }
        }
    }

    /// Its path.
    pub fn device(&self) -> &Path {
        &self.device
    }
}

impl Drop for PlainLoop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).status();
        let _ = std::fs::remove_file(&self.file);
    }
}
