//! `drivescope sim mount`: a virtual drive in real time, until somebody unmounts it or ends the program.

use crate::cli::args::SimMountArguments;
use crate::cli::output::{print, say};
use crate::error::{UserError, exit};
use crate::virtual_drive::find;
use io::mount::{LATE, Lateness, Mount, MountError, MountOptions, Stopped};
use model::units::{Nanos, Quantile};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
use signal_hook::iterator::Signals;
use std::fmt::Write;
use std::path::Path;

/// What would end the program and leave a mount behind that nobody serves: from the keyboard, from `kill` and `timeout`, and
/// from a limit on the processor's time.
const ENDS: [i32; 7] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGUSR2, SIGXCPU];

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such drive, or it cannot be mounted there.
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
    // Before the mount, so that no signal finds it without somebody who unmounts it.
    let signals = Signals::new(ENDS.iter().chain(&[SIGUSR1]));
    let mut signals =
        signals.map_err(|error| UserError::failure(format!("cannot listen for signals: {error}")))?;
    let handle = signals.handle();
    let mut mount = Mount::start(drive, contents, &options, move || handle.close())?;
    if let Some(refusal) = mount.scheduling_refusal() {
        say(&format!(
            "answers may be some milliseconds late, since real-time scheduling was refused: {refusal}. Run it as root, \
             or allow it: ulimit -r 50"
        ));
    }
    print(&instructions(&mount, std::process::id()))?;
    // Ends with the first signal that asks for an end, or when the mount is served no more.
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
            "{} was still in use: who used it finds no drive there any more. See who: fuser -v {0}",
            user.display()
        ));
    }
    let Some(lateness) = stopped.lateness else {
        return Err(UserError::failure("the virtual drive failed and was unmounted; what was on it is lost"));
    };
    if lateness.not_stored > 0 {
        say(&format!(
            "{} writes failed, since what was on the virtual drive had used up its memory. Write less, discard some, or \
             write zeros, which take none",
            lateness.not_stored
        ));
    }
    if wants_report {
        print(&report(&lateness))?;
    }
    Ok(exit::SUCCESS)
}

/// What somebody can do with it now.
fn instructions(mount: &Mount, process: u32) -> String {
    let file = mount.file();
    let target = mount.loop_device().unwrap_or(file);
    let mut text = format!("Serving {}", file.display());
    if let Some(device) = mount.loop_device() {
        let _ = write!(text, " and {}", device.display());
    }
    let path = quoted(target);
    let _ = write!(
        text,
        "\n  use    fio --name=random --filename={path} --direct=1 --rw=randread --bs=4k --ioengine=io_uring \
         --iodepth=8 --time_based --runtime=10\n         dd if={path} of=/dev/null bs=1M count=200 iflag=direct\n  stop   \
         Ctrl-C or kill {process}; what was written to it is lost then\n"
    );
    text
}

/// A path that can be pasted into a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// How late the answers were, for a person.
fn report(lateness: &Lateness) -> String {
    let histogram = &lateness.histogram;
    let count = histogram.count();
    let mut text = format!("{count} {}", if count == 1 { "answer" } else { "answers" });
    let quantile = |quantile| histogram.quantile(quantile).unwrap_or(Nanos::ZERO);
    if let (Some(mean), Some(max)) = (histogram.mean_ns(), histogram.max()) {
        let _ = write!(
            text,
            "; late by: mean {:.1} µs, median {}, 99 % {}, 99.9 % {}, most {}",
            mean / 1e3,
            microseconds(quantile(Quantile::MEDIAN)),
            microseconds(quantile(Quantile::P99)),
            microseconds(quantile(Quantile::P999)),
            microseconds(max),
        );
    }
    let _ = write!(text, "\n{} late by more than {}", lateness.late, microseconds(LATE));
    if let Some(late) = lateness.late_for_rotation {
        let _ = write!(text, ", {late} by more than a hundredth of a turn");
    }
    let _ = write!(text, "; the earliest was early by {}", microseconds(lateness.early_max));
    let share = 100.0 * lateness.processor_time.seconds() / lateness.served.seconds().max(1e-9);
    let _ = write!(
        text,
        "\nprocessor time {:.2} s in {:.1} s ({share:.0} %); real-time scheduling: {}\n",
        lateness.processor_time.seconds(),
        lateness.served.seconds(),
        lateness.scheduling_refusal.as_deref().map_or("yes".to_owned(), |refusal| format!("no ({refusal})")),
    );
    text
}

fn microseconds(time: Nanos) -> String {
    format!("{:.1} µs", time.0 as f64 / 1e3)
}

impl From<MountError> for UserError {
    fn from(error: MountError) -> UserError {
        UserError::failure(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_quote_can_be_pasted() {
        assert_eq!(quoted(Path::new("/mnt/disk-4tb")), "/mnt/disk-4tb");
        assert_eq!(quoted(Path::new("/mnt/it's")), r"'/mnt/it'\''s'");
    }
}
