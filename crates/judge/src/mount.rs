//! `cargo xtask bench mount`: how exactly a mounted virtual drive keeps its model's time, for fio and dd as well.

use crate::failure::{Doing, Failure};
use crate::machine::{conditions, load_average, publish, today};
use crate::workspace::build_example;
use std::path::Path;
use std::process::{Command, Stdio};

const REPORT: &str = "docs/generated/bench-mount.md";
/// The drive on which the peers are compared when none is named.
const DRIVE: &str = "disk-4tb";
/// The real-time priority of the clients: below that of the mount, which is 50.
const PRIORITY: &str = "40";

pub fn run(drive: Option<&str>) -> Result<(), Failure> {
    let program = build_example("mount_accuracy")?;
    let before = load_average();
    let mut command = measuring(&program);
    command.arg(drive.unwrap_or(DRIVE)).stderr(Stdio::inherit());
    let output = command.output().doing(format_args!("start {}", program.display()))?;
    let table = String::from_utf8_lossy(&output.stdout);
    let is_whole = drive.is_none_or(|drive| drive == DRIVE) && table.lines().count() > 2;
    publish(&report(&table, &before), REPORT, is_whole)?;
    if output.status.success() { Ok(()) } else { Err(Failure::Missed) }
}

/// The measuring program, before ordinary ones where that is allowed: otherwise a busy machine is measured.
fn measuring(program: &Path) -> Command {
    let may = Command::new("chrt").args(["--fifo", PRIORITY, "true"]).output();
    if matches!(may, Ok(output) if output.status.success()) {
        let mut command = Command::new("chrt");
        command.args(["--fifo", PRIORITY]).arg(program);
        return command;
    }
    Command::new(program)
}

fn report(table: &str, load_before: &str) -> String {
    format!(
        "# Mounted drives against their models\n\n\
         Made by `cargo xtask bench mount` on {}.\n{}\n\n\
         The first rows are drives that need no model: a fixed time, a turn of a platter, servers in a row. The last \
         compare fio and dd\non a mounted disk with drivescope in virtual time on the same disk, the same places in the \
         same order. *late by*: when an answer\nhad been given, less when the model says; what lies between the client \
         and the mount is not in it.\nThe queues have no limit: the way through the kernel and back takes 10 to 25 µs \
         for each request, which the model does not know.\n\n{table}",
        today(),
        conditions(load_before),
    )
}
