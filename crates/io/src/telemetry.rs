//! Facts about host and drive during a run: temperature, processors, what the device says it moved.

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
        let mut record = TelemetryRecord {
            at_ns: at.get(),
            temperature_celsius: self.temperature(),
            cpu_busy_share: None,
            cpu_steal_share: None,
            own_cpu_share: None,
            device_read_bytes: None,
            device_write_bytes: None,
            own_read_bytes: own_bytes.0,
            own_write_bytes: own_bytes.1,
        };
        if let (Some(now), Some(last)) = (now.device, last.device) {
            record.device_read_bytes = Some(now.read.saturating_sub(last.read));
            record.device_write_bytes = Some(now.written.saturating_sub(last.written));
        }
        let (Some(ticks), Some(ticks_before)) = (now.processors, last.processors) else { return record };
        let elapsed = ticks.all.saturating_sub(ticks_before.all);
        if elapsed == 0 {
            return record;
        }
        let idle = ticks.idle.saturating_sub(ticks_before.idle);
        let steal = ticks.steal.saturating_sub(ticks_before.steal);
        record.cpu_busy_share = Some(elapsed.saturating_sub(idle) as f64 / elapsed as f64);
        record.cpu_steal_share = Some(steal as f64 / elapsed as f64);
        if let (Some(own), Some(own_before)) = (now.own_ticks, last.own_ticks) {
            record.own_cpu_share = Some(own.saturating_sub(own_before) as f64 / elapsed as f64);
        }
        record
    }

    fn read(&self) -> Counters {
        Counters {
            processors: parse_processors(&text(Path::new("/proc/stat"))),
            own_ticks: parse_own(&text(Path::new("/proc/self/stat"))),
            device: self.device_bytes(),
        }
    }

    fn device_bytes(&self) -> Option<DeviceBytes> {
        if self.disks.is_empty() {
            return None;
        }
        let mut sum = DeviceBytes::default();
        for disk in &self.disks {
            let of_disk = parse_device(&text(&disk.join("stat")))?;
            sum.read += of_disk.read;
            sum.written += of_disk.written;
        }
        Some(sum)
    }

    fn temperature(&self) -> Option<f64> {
        let mut hottest: Option<f64> = None;
        for file in &self.temperature_files {
            if let Ok(thousandths) = text(file).trim().parse::<f64>() {
                let degrees = thousandths / 1000.0;
                hottest = Some(degrees.max(hottest.unwrap_or(degrees)));
            }
        }
        hottest
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Where the kernel's driver for drive temperatures (drivetemp, or that of NVMe) shows the first sensor of a disk.
fn temperature_file(disk: &Path) -> Option<PathBuf> {
    let device = disk.join("device");
    for folder in [device.join("hwmon"), device] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.path().join("temp1_input");
            if entry.file_name().to_string_lossy().starts_with("hwmon") && file.exists() {
                return Some(file);
            }
        }
    }
    None
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal …; see proc(5).
fn parse_processors(text: &str) -> Option<ProcessorTime> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = numbers(line);
    let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks.as_slice() else { return None };
    Some(ProcessorTime {
        all: user + nice + system + idle + iowait + irq + softirq + steal,
        idle: idle + iowait,
        steal,
    })
}

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().map_while(|field| field.parse().ok()).collect()
}

/// Fields 14 and 15 of /proc/self/stat, user and system time; the name in field 2 may hold spaces and parentheses.
fn parse_own(text: &str) -> Option<u64> {
    let after_name = &text[text.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// /sys/block/…/stat: field 3 is sectors read, field 7 sectors written; see the kernel's block/stat.rst.
fn parse_device(text: &str) -> Option<DeviceBytes> {
    let fields = numbers(text);
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
        let record = telemetry.record(Instant::new(5), (1, 2));
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
