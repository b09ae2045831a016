//! Programs on one processor and the kernel's workers on another, for turns beside peers on a loop device.

use crate::failure::{Doing, Failure};
use crate::place::command;
use std::fs::{self, File};
use std::io::Write as _;

/// The longest wake-up that whoever holds it open allows, in µs, 4 bytes: Linux, Documentation/power/pm_qos_interface.rst.
const WAKE_UP_LATENCY: &str = "/dev/cpu_dma_latency";
const KERNEL_WORKERS: &str = "/sys/devices/virtual/workqueue/cpumask";

/// While it lives, this process and those that it starts run on the first processor, and the kernel's workers, which serve a loop device,
/// on the second: left alone, Linux moves both, and a loop of 8 KiB writes and flushes over memory makes 6,200 commits/s where they are apart
/// and 78,000 where they share one. Neither goes to sleep: to wake one of a virtual machine takes a tenth to a quarter of that rate.
pub struct FixedProcessors {
    _awake: File,
    workers_before: String,
}

impl FixedProcessors {
    pub fn take() -> Result<FixedProcessors, Failure> {
        let workers_before =
            fs::read_to_string(KERNEL_WORKERS).doing(format_args!("read {KERNEL_WORKERS}"))?;
        let awake = File::options().write(true).open(WAKE_UP_LATENCY);
        let mut awake = awake.doing(format_args!("open {WAKE_UP_LATENCY}"))?;
        awake.write_all(&0_i32.to_ne_bytes()).doing(format_args!("write {WAKE_UP_LATENCY}"))?;
        let fixed = FixedProcessors { _awake: awake, workers_before };
        if std::thread::available_parallelism().is_ok_and(|count| count.get() >= 2) {
            fs::write(KERNEL_WORKERS, "2").doing(format_args!("write {KERNEL_WORKERS}"))?;
            run_on("0")?;
        }
        Ok(fixed)
    }
}

impl Drop for FixedProcessors {
    fn drop(&mut self) {
        let workers = fs::write(KERNEL_WORKERS, self.workers_before.trim());
        let workers = workers.doing(format_args!("write {} to {KERNEL_WORKERS}", self.workers_before.trim()));
        for undone in [workers, run_on(ALL_PROCESSORS)] {
            if let Err(Failure::Cannot(why)) = undone {
                eprintln!("{why}");
            }
        }
    }
}

const ALL_PROCESSORS: &str = "0-4095";

fn run_on(processors: &str) -> Result<(), Failure> {
    let process = std::process::id().to_string();
    command("taskset", &["--all-tasks", "--cpu-list", "--pid", processors, &process]).map(|_| ())
}
