//! Facts about host and drive while a run goes on: temperature, processors, and what the device says it moved.
//! What a host does not tell is none.

use model::record::TelemetryRecord;
use model::units::Instant;
use std::path::{Path, PathBuf};

/// A sector in the kernel's block counters, whatever the drive's is.
const COUNTER_SECTOR_BYTES: u64 = 512;

/// Reads the counters of the system and tells what changed since it last did.
pub struct Telemetry {
    disks: Vec<PathBuf>,
    temperature_files: Vec<PathBuf>,
    last: Counters,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counters {
    processors: Option<ProcessorTime>,
    own_ticks: Option<u64>,
    device: Option<DeviceBytes>,
}

/// Time of all processors, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProcessorTime {
    all: u64,
    idle: u64,
    steal: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DeviceBytes {
    read: u64,
    written: u64,
}

impl Telemetry {
    /// Watches the disks with these folders in `/sys/block`.
    pub fn start(disks: &[PathBuf]) -> Telemetry {
        let mut telemetry = Telemetry {
            disks: disks.to_vec(),
            temperature_files: disks.iter().filter_map(|disk| temperature_file(disk)).collect(),
            last: Counters::default(),
        };
        telemetry.last = telemetry.read();
        telemetry
    }

    /// What changed since the last time. `own_bytes` is what this program read and wrote meanwhile.
    pub fn record(&mut self, at: Instant, own_bytes: (u64, u64)) -> TelemetryRecord {
        let now = self.read();
        let last = std::mem::replace(&mut self.last, now);
        let processors = now.processors.zip(last.processors);
        let elapsed =
            processors.map(|(now, last)| now.all.saturating_sub(last.all)).filter(|ticks| *ticks > 0);
        let share = |ticks: u64| elapsed.map(|all| ticks as f64 / all as f64);
        let device = now.device.zip(last.device);
        TelemetryRecord {
            at_ns: at.0,
            temperature_celsius: self.temperature(),
            cpu_busy_share: processors
                .and_then(|(now, last)| share(elapsed?.saturating_sub(now.idle.saturating_sub(last.idle)))),
            cpu_steal_share: processors.and_then(|(now, last)| share(now.steal.saturating_sub(last.steal))),
            own_cpu_share: now
                .own_ticks
                .zip(last.own_ticks)
                .and_then(|(now, last)| share(now.saturating_sub(last))),
            device_read_bytes: device.map(|(now, last)| now.read.saturating_sub(last.read)),
            device_write_bytes: device.map(|(now, last)| now.written.saturating_sub(last.written)),
            own_read_bytes: own_bytes.0,
            own_write_bytes: own_bytes.1,
        }
    }

    fn read(&self) -> Counters {
        let text = |path: &Path| std::fs::read_to_string(path).ok();
        let device = self.disks.iter().map(|disk| parse_device(&text(&disk.join("stat"))?));
        let device = device.reduce(|a, b| {
            let (a, b) = (a?, b?);
            Some(DeviceBytes { read: a.read + b.read, written: a.written + b.written })
        });
        Counters {
            processors: text(Path::new("/proc/stat")).and_then(|text| parse_processors(&text)),
            own_ticks: text(Path::new("/proc/self/stat")).and_then(|text| parse_own(&text)),
            device: device.flatten(),
        }
    }

    /// The hottest of the drives, in degrees.
    fn temperature(&self) -> Option<f64> {
        let read = |path: &PathBuf| std::fs::read_to_string(path).ok()?.trim().parse::<f64>().ok();
        self.temperature_files
            .iter()
            .filter_map(read)
            .map(|thousandths| thousandths / 1000.0)
            .reduce(f64::max)
    }
}

/// Where the kernel's driver for drive temperatures (drivetemp, or that of NVMe) shows the first sensor of a disk.
fn temperature_file(disk: &Path) -> Option<PathBuf> {
    let device = disk.join("device");
    let folders = [device.join("hwmon"), device.clone()];
    folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hwmon")))
        .map(|path| path.join("temp1_input"))
        .find(|file| file.exists())
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal …; see proc(5).
fn parse_processors(text: &str) -> Option<ProcessorTime> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks.try_into().ok()?;
    Some(ProcessorTime {
        all: user + nice + system + idle + iowait + irq + softirq + steal,
        idle: idle + iowait,
        steal,
    })
}

/// Fields 14 and 15 of /proc/self/stat, user and system time; the name in field 2 may hold spaces and parentheses.
fn parse_own(text: &str) -> Option<u64> {
    let after_name = &text[text.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// /sys/block/…/stat: field 3 is sectors read, field 7 sectors written; see the kernel's block/stat.rst.
fn parse_device(text: &str) -> Option<DeviceBytes> {
    let fields: Vec<u64> = text.split_whitespace().map_while(|field| field.parse().ok()).collect();
    Some(DeviceBytes {
        read: fields.get(2)?.checked_mul(COUNTER_SECTOR_BYTES)?,
        written: fields.get(6)?.checked_mul(COUNTER_SECTOR_BYTES)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counters_are_read_as_documented() {
        let stat = "cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        assert_eq!(parse_processors(stat), Some(ProcessorTime { all: 531, idle: 450, steal: 8 }));
        let own = "42 (a ) b) S 1 1 1 0 -1 4194560 100 0 0 0 17 5 0 0 20 0 3 0 100 1000 10 1844";
        assert_eq!(parse_own(own), Some(22));
        let device = "  100  5  2048  30  50  2  1024  40  0  60  70 0 0 0 0 0 0\n";
        assert_eq!(parse_device(device), Some(DeviceBytes { read: 1_048_576, written: 524_288 }));
    }

    #[test]
    fn a_disk_that_is_not_there_tells_nothing() {
        let mut telemetry = Telemetry::start(&[PathBuf::from("/sys/block/no-such-disk")]);
        let record = telemetry.record(Instant(5), (1, 2));
        assert_eq!((record.device_read_bytes, record.temperature_celsius), (None, None));
        assert_eq!((record.at_ns, record.own_write_bytes), (5, 2));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse_processors(&text), parse_own(&text), parse_device(&text));
        }
    }
}
