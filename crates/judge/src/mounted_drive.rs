//! A virtual drive that a process of its own serves in real time, with a loop device; gone when dropped.

use crate::failure::{Doing, Failure};
use crate::program::Program;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub struct MountedDrive {
    child: Child,
    folder: PathBuf,
    file: PathBuf,
    device: PathBuf,
}

impl MountedDrive {
    pub fn start(program: &Program, name: &str) -> Result<MountedDrive, Failure> {
        let folder = program.folder.join("drivescope-judge-mount");
        let mut command = program.command(&["sim", "mount", name, "--loop", "--at"]);
        let child = command.arg(&folder).stdout(Stdio::piped()).spawn();
        let mut child = child.doing("start drivescope")?;
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

    pub fn file(&self) -> &Path {
        &self.file
    }

    pub fn device(&self) -> &Path {
        &self.device
    }

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
