//! A loop device over a file in memory: a block device with the whole path of a real one, and no disk behind it.

use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::failure::{Doing, Failure};

/// Size of the file: larger than any cache of a processor.
const FILE_MIB: usize = 1024;
/// Between its search for a free device and the attaching another program may take that device.
const ATTEMPTS: u32 = 50;

/// The device, the file and the file system in memory; dropping it takes all of it away.
pub struct Place {
    folder: PathBuf,
    is_mounted: bool,
    device: Option<String>,
}

impl Place {
    pub fn make() -> Result<Place, Failure> {
        if command("id", &["-u"])?.trim() != "0" {
            return Err(Failure::cannot(
                "Mounting memory and attaching a loop device need root. Run it as root, \
                 or compare without them: 'cargo xtask bench engine --only zero' and '--only null'.",
            ));
        }
        let folder = std::env::temp_dir().join(format!("drivescope-bench-{}", std::process::id()));
        fs::create_dir(&folder).doing(format_args!("make {}", folder.display()))?;
        let mut place = Place { folder, is_mounted: false, device: None };
        let folder = place.folder.to_string_lossy().into_owned();
        let size = format!("size={}m", FILE_MIB + 16);
        command("mount", &["-t", "tmpfs", "-o", &size, "drivescope-bench", &folder])?;
        place.is_mounted = true;
        let file = place.folder.join("image");
        fill(&file).doing(format_args!("fill {}", file.display()))?;
        place.device = Some(attach(&file.to_string_lossy())?);
        Ok(place)
    }

    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap_or_default()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let folder = self.folder.to_string_lossy().into_owned();
        if let Some(device) = &self.device {
            say_failure(command("losetup", &["--detach", device]));
        }
        if self.is_mounted {
            // The kernel may still hold the image for a moment after the detach.
            say_failure(command("umount", &["--lazy", &folder]));
        }
        if let Err(error) = fs::remove_dir(&self.folder) {
            eprintln!("Cannot remove {folder}: {error}. Unmount it and remove it by hand.");
        }
    }
}

/// Every page is written, since reading a hole would not read memory.
fn fill(path: &std::path::Path) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let chunk = vec![0x5a; 1 << 20];
    for _ in 0..FILE_MIB {
        file.write_all(&chunk)?;
    }
    Ok(())
}

fn attach(file: &str) -> Result<String, Failure> {
    let mut last = Failure::cannot("No loop device was tried.");
    for _ in 0..ATTEMPTS {
        match command("losetup", &["--find", "--show", "--direct-io=on", file]) {
            Ok(device) => return Ok(device.trim().to_owned()),
            Err(Failure::Cannot(why)) if why.contains("busy") => last = Failure::Cannot(why),
            Err(failure) => return Err(failure),
        }
    }
    Err(last)
}

pub fn command(program: &str, arguments: &[&str]) -> Result<String, Failure> {
    output(Command::new(program).args(arguments))
}

pub fn output(command: &mut Command) -> Result<String, Failure> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            Err(Failure::to(format_args!("run {command:?}"), String::from_utf8_lossy(&output.stderr).trim()))
        }
        Err(error) => Err(Failure::to(format_args!("run {command:?}"), error)),
    }
}

pub fn json(program: &str, arguments: &[&str]) -> Result<Value, Failure> {
    parsed(&command(program, arguments)?)
}

pub fn parsed(printed: &str) -> Result<Value, Failure> {
    let document = &printed[printed.find('{').unwrap_or(0)..];
    serde_json::from_str(document).doing("read JSON")
}

fn say_failure(result: Result<impl Sized, Failure>) {
    if let Err(Failure::Cannot(why)) = result {
        eprintln!("{why}");
    }
}
