//! A loop device over the mounted file, for tools that want a block device.
//!
//! It detaches itself when the last descriptor on it is closed. One is ours, so that it goes when we are killed.

use super::error::MountError;
use super::system_call::{self, LOOP_CONFIG_BYTES};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `LO_FLAGS_AUTOCLEAR` and `LO_FLAGS_DIRECT_IO`: goes with its last user; no page cache between it and the file.
const FLAGS: u32 = 4 | 16;
/// Others may take a free device before we do: so often we look for another.
const ATTEMPTS: usize = 64;
/// How long we wait for others, such as udev, to let go of the device: 50 times 10 ms.
const DETACH_LOOKS: usize = 50;
const DETACH_PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(super) struct LoopDevice {
    pub path: PathBuf,
    node: Option<File>,
}

impl LoopDevice {
    pub(super) fn attach(file: &Path, block_bytes: u32, rotational: bool) -> Result<LoopDevice, MountError> {
        let failed = |source| {
            let hint = "Loop devices need root and the kernel's loop driver (`modprobe loop`); the file itself can \
                        be used without";
            MountError::system("make a loop device over", file, source, hint)
        };
        let backing = OpenOptions::new().read(true).write(true).open(file).map_err(failed)?;
        let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control").map_err(failed)?;
        let configuration = configuration(&backing, file, block_bytes);
        let mut last = io::Error::from_raw_os_error(libc::EBUSY);
        for _ in 0..ATTEMPTS {
            let number = system_call::free_loop_device(control.as_fd()).map_err(failed)?;
            let path = PathBuf::from(format!("/dev/loop{number}"));
            match attach_to(&path, &configuration) {
                Ok(node) => {
                    // Only a remark that schedulers and tools read: without it the device is as good.
                    let remark = format!("/sys/block/loop{number}/queue/rotational");
                    let _ = fs::write(remark, if rotational { "1" } else { "0" });
                    return Ok(LoopDevice { path, node: Some(node) });
                }
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => last = error,
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(last))
    }

    /// Lets go of it. False when others still have it open: it stays until they close it.
    pub(super) fn detach(&mut self) -> bool {
        self.node = None;
        let name = self.path.file_name().unwrap_or_default();
        let attached = Path::new("/sys/block").join(name).join("loop");
        for _ in 0..DETACH_LOOKS {
            if !attached.exists() {
                return true;
            }
            std::thread::sleep(DETACH_PAUSE);
        }
        false
    }
}

fn attach_to(path: &Path, configuration: &[u8; LOOP_CONFIG_BYTES]) -> io::Result<File> {
    let writable = OpenOptions::new().read(true).write(true).open(path)?;
    system_call::configure_loop_device(writable.as_fd(), configuration)?;
    // A descriptor that can write would stand in the way of mounting the device.
    File::open(path)
}

/// `struct loop_config`: the descriptor, the logical block, and a `struct loop_info64` with flags and name.
fn configuration(backing: &File, name: &Path, block_bytes: u32) -> [u8; LOOP_CONFIG_BYTES] {
    const INFO: usize = 8;
    const FLAGS_AT: usize = INFO + 52;
    const NAME_AT: usize = INFO + 56;
    const NAME_BYTES_MAX: usize = 63;
    let mut bytes = [0; LOOP_CONFIG_BYTES];
    bytes[..4].copy_from_slice(&backing.as_raw_fd().to_ne_bytes());
    bytes[4..8].copy_from_slice(&block_bytes.to_ne_bytes());
    bytes[FLAGS_AT..FLAGS_AT + 4].copy_from_slice(&FLAGS.to_ne_bytes());
    let name = name.as_os_str().as_encoded_bytes();
    let name = &name[..name.len().min(NAME_BYTES_MAX)];
    bytes[NAME_AT..NAME_AT + name.len()].copy_from_slice(name);
    bytes
}
