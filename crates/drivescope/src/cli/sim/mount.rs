//! `drivescope sim mount`: a virtual drive in real time, until it is unmounted or the program ends.

use crate::cli::args::SimMountArguments;
use crate::cli::output::{self, print, say};
use crate::error::{Cannot, UserError, exit};
use crate::virtual_drive::find;
use io::mount::{LATE, Lateness, Mount, MountOptions, Stopped};
use model::units::{Nanos, Quantile};
use report::shell_words::quoted;
use serde::Serialize;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
use signal_hook::iterator::Signals;
use std::fmt::Write;
use std::path::Path;

/// Signals that would end the program and leave a mount behind: of the keyboard, `kill`, `timeout`, and limits on CPU time.
const ENDS: [i32; 7] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGUSR2, SIGXCPU];

/// Schema `drivescope.mount/1`, given when the drive can be used. Keys may be added; none is renamed or changes its meaning.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "schema", rename = "drivescope.mount/1")]
pub(in crate::cli) struct MountDocument<'mount> {
    file: &'mount Path,
    loop_device: Option<&'mount Path>,
    /// Ends with SIGTERM, and the mount with it.
    process: u32,
}

pub fn run(arguments: &SimMountArguments) -> Result<u8, UserError> {
    let virtual_drive = find(&arguments.name)?;
    let drive = virtual_drive.open(arguments.seed)?;
    let contents = virtual_drive.contents(arguments.seed)?;
    let profile = virtual_drive.profile;
    let options = MountOptions {
        folder: arguments.at.clone(),
        file_name: profile.name.clone(),
        loop_device: arguments.loop_device,
        turn: profile.disk.and_then(|disk| Nanos::from_secs_f64(60.0 / disk.turns_per_minute)),
    };
    // Before the mount, so that no signal leaves it behind.
    let mut signals = Signals::new(ENDS.iter().chain(&[SIGUSR1])).or_cannot("listen for signals")?;
    let handle = signals.handle();
    let mut mount = Mount::start(drive, contents, &options, move || handle.close())?;
    if let Some(refusal) = mount.scheduling_refusal() {
        say(&format!(
            "completions may be some milliseconds late, since real-time scheduling was refused: {refusal}. Run it as root, \
             or allow it: ulimit -r 50"
        ));
    }
    let document =
        MountDocument { file: mount.file(), loop_device: mount.loop_device(), process: std::process::id() };
    let page = instructions(&mount, document.process);
    output::give_text(&page, &document, arguments.json.as_deref())?;
    // Ends with the first of these signals, or when the mount ends.
    for signal in signals.forever() {
        if signal != SIGUSR1 {
            break;
        }
        if let Some(lateness) = mount.lateness() {
            print(&report(&lateness))?;
        }
    }
    finish(mount.stop(), arguments.report)
}

fn finish(stopped: Stopped, wants_report: bool) -> Result<u8, UserError> {
    if let Some(user) = &stopped.still_in_use {
        say(&format!(
            "{} was still in use and is gone for its users. List them: fuser -v {0}",
            user.display()
        ));
    }
    let Some(lateness) = stopped.lateness else {
        return Err(UserError::failure("the virtual drive failed and was unmounted; its data are lost"));
    };
    if lateness.not_stored > 0 {
        say(&format!(
            "{} writes failed: the data of the virtual drive exceeded its memory. Write less, discard some, or write zeros, \
             which take no memory",
            lateness.not_stored
        ));
    }
    if wants_report {
        print(&report(&lateness))?;
    }
    Ok(exit::SUCCESS)
}

fn instructions(mount: &Mount, process: u32) -> String {
    let file = mount.file();
    let target = mount.loop_device().unwrap_or(file);
    let mut text = format!("Serving {}", file.display());
    if let Some(device) = mount.loop_device() {
        let _ = write!(text, " and {}", device.display());
    }
    let path = quoted(&target.display().to_string());
    let _ = write!(
        text,
        "\n  use    fio --name=random --filename={path} --direct=1 --rw=randread --bs=4k --ioengine=io_uring \
         --iodepth=8 --time_based --runtime=10\n         dd if={path} of=/dev/null bs=1M count=200 iflag=direct\n  stop   \
         Ctrl-C or kill {process}; its data are lost then\n"
    );
    text
}

fn report(lateness: &Lateness) -> String {
    let histogram = &lateness.histogram;
    let count = histogram.count();
    let mut text = format!("{count} {}", if count == 1 { "completion" } else { "completions" });
    if let (Some(mean), Some(max)) = (histogram.mean_ns(), histogram.max()) {
        let _ = write!(text, "; late by: mean {:.1} µs", mean / 1e3);
        for (name, quantile) in
            [("median", Quantile::MEDIAN), ("99 %", Quantile::P99), ("99.9 %", Quantile::P999)]
        {
            let late = histogram.quantile(quantile).unwrap_or(Nanos::ZERO);
            let _ = write!(text, ", {name} {}", microseconds(late));
        }
        let _ = write!(text, ", max {}", microseconds(max));
    }
    let _ = write!(text, "\n{} late by more than {}", lateness.late, microseconds(LATE));
    if let Some(late) = lateness.late_for_rotation {
        let _ = write!(text, ", {late} by more than 1 % of a revolution");
    }
    let _ = write!(text, "; the earliest was early by {}", microseconds(lateness.early_max));
    let share = 100.0 * lateness.processor_time.seconds() / lateness.served.seconds().max(1e-9);
    let _ = write!(
        text,
        "\nCPU time {:.2} s in {:.1} s ({share:.0} %); real-time scheduling: {}\n",
        lateness.processor_time.seconds(),
        lateness.served.seconds(),
        match &lateness.scheduling_refusal {
            Some(refusal) => format!("no ({refusal})"),
            None => "yes".to_owned(),
        },
    );
    text
}

fn microseconds(time: Nanos) -> String {
    format!("{:.1} µs", time.as_f64() / 1e3)
}
