//! Telemetry once a second, and warnings of background load and busy CPUs at the end.

use io::load::phase::LoadOutcome;
use io::rig::Rig;
use io::telemetry::Telemetry;
use model::record::{IntervalRecord, TelemetryRecord};
use model::request::Operation;
use model::units::{Instant, MIB, NANOS_PER_SECOND, Nanos};
use std::path::PathBuf;

/// Background I/O below this share of our own is not reported: file-system metadata is about as much.
const BACKGROUND_SHARE_MIN: f64 = 0.05;
const BACKGROUND_BYTES_MIN: u64 = 16 * MIB;
/// From 1 % of steal time on, the 99th percentile of latency is the hypervisor's.
const STEAL_SHARE_MIN: f64 = 0.01;
/// The same holds for waiting for a CPU.
const WAIT_SHARE_MIN: f64 = STEAL_SHARE_MIN;
/// A worker that spins waits for the kernel's own threads 1 % of the time on an idle machine (measured); 5 % is more than these.
const SPINNING_WAIT_SHARE_MIN: f64 = 0.05;

#[derive(Default)]
pub struct LoadWatch {
    telemetry: Option<Telemetry>,
    recorded: Instant,
    own_bytes: (u64, u64),
    own_total: u64,
    device_total: u64,
    written: (u64, u64),
    /// Of failed requests the system may count the bytes, and we do not.
    failed: bool,
    steal_sum: f64,
    steal_count: u32,
    waited: Nanos,
    slept_or_worked: Nanos,
    spun: Nanos,
}

impl LoadWatch {
    pub fn start(rig: &Rig) -> LoadWatch {
        match rig.target() {
            Some(target) => LoadWatch::of_disks(target.disks(), rig.now()),
            None => LoadWatch::with(None, rig.now()),
        }
    }

    pub fn of_disks(disks: &[PathBuf], now: Instant) -> LoadWatch {
        LoadWatch::with(Some(Telemetry::start(disks)), now)
    }

    fn with(telemetry: Option<Telemetry>, recorded: Instant) -> LoadWatch {
        LoadWatch { telemetry, recorded, ..LoadWatch::default() }
    }

    pub fn count(&mut self, record: &IntervalRecord) {
        self.failed |= record.errors > 0;
        match record.operation {
            Operation::Read => self.own_bytes.0 += record.bytes,
            Operation::Write | Operation::Commit => self.own_bytes.1 += record.bytes,
            Operation::Flush | Operation::Discard => {}
        }
    }

    pub fn go_on_at(&mut self, now: Instant) {
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.record(now, std::mem::take(&mut self.own_bytes));
        }
        self.recorded = now;
    }

    pub fn count_phase(&mut self, outcome: &LoadOutcome) {
        self.own_total += outcome.late_bytes;
        self.count_wait(outcome.waited, outcome.ended.since(outcome.began), outcome.spun);
    }

    fn count_wait(&mut self, waited: Nanos, took: Nanos, spun: Nanos) {
        self.waited += waited;
        self.slept_or_worked += took.saturating_sub(spun);
        self.spun += spun;
    }

    pub fn telemetry_due(&mut self, now: Instant) -> Option<TelemetryRecord> {
        let telemetry = self.telemetry.as_mut()?;
        if now.since(self.recorded).get() < NANOS_PER_SECOND {
            return None;
        }
        self.recorded = now;
        let own = std::mem::take(&mut self.own_bytes);
        let record = telemetry.record(now, own);
        if let Some((read, written)) = record.device_read_bytes.zip(record.device_write_bytes) {
            self.own_total += own.0 + own.1;
            self.device_total += read + written;
            self.written.0 += own.1;
            self.written.1 += written;
        }
        if let Some(steal) = record.cpu_steal_share {
            self.steal_sum += steal;
            self.steal_count += 1;
        }
        Some(record)
    }

    pub fn warnings(&self) -> Vec<String> {
        let warnings = [self.background_warning(), self.steal_warning(), self.wait_warning()];
        warnings.into_iter().flatten().collect()
    }

    fn background_warning(&self) -> Option<String> {
        let bytes = self.device_total.saturating_sub(self.own_total);
        let is_much = bytes as f64 >= BACKGROUND_SHARE_MIN * self.own_total as f64;
        if self.failed || bytes < BACKGROUND_BYTES_MIN || !is_much {
            return None;
        }
        let written = match self.written.1.saturating_sub(self.written.0) {
            bytes if bytes >= BACKGROUND_BYTES_MIN => format!(" ({} MiB of it written)", bytes / MIB),
            _ => String::new(),
        };
        Some(format!(
            "Other programs moved {} MiB on the same drive meanwhile{written}; stop them and measure again for a \
             steadier result",
            bytes / MIB
        ))
    }

    pub fn steal_warning(&self) -> Option<String> {
        let steal = self.steal_sum / f64::from(self.steal_count.max(1));
        if steal < STEAL_SHARE_MIN {
            return None;
        }
        let percent = steal * 100.0;
        Some(format!("Steal time of this virtual machine was {percent:.0} %, which adds to every latency"))
    }

    fn wait_warning(&self) -> Option<String> {
        let (other_s, spun_s) = (self.slept_or_worked.seconds(), self.spun.seconds());
        let usual_s = WAIT_SHARE_MIN * other_s + SPINNING_WAIT_SHARE_MIN * spun_s;
        let share = self.waited.seconds() / (other_s + spun_s);
        if share.is_nan() || self.waited.seconds() < usual_s {
            return None;
        }
        Some(format!(
            "Busy CPUs: drivescope waited for a CPU {:.0} % of the time, which adds latency and can look like background load. \
             Repeat on an idle host.",
            share * 100.0
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_processors_is_told_from_a_hundredth_on() {
        let mut watch = LoadWatch::of_disks(&[], Instant::START);
        assert_eq!(watch.warnings(), Vec::<String>::new());
        watch.count_wait(Nanos::from_millis(50), Nanos::from_secs(6), Nanos::ZERO);
        assert_eq!(watch.warnings(), Vec::<String>::new(), "0.8 %");
        watch.count_wait(Nanos::from_millis(450), Nanos::from_secs(4), Nanos::ZERO);
        let warnings = watch.warnings();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("waited for a CPU 5 % of the time"), "{warnings:?}");
    }

    #[test]
    fn a_spinning_worker_waits_more_on_an_idle_machine() {
        let ten = Nanos::from_secs(10);
        let mut watch = LoadWatch::with(None, Instant::START);
        watch.count_wait(Nanos::from_millis(490), ten, ten);
        assert_eq!(watch.wait_warning(), None, "4.9 % of a worker that spins all the time");
        watch.count_wait(Nanos::from_millis(20), ten, ten);
        assert_eq!(watch.wait_warning(), None);
        watch.count_wait(Nanos::from_secs(1), ten, ten);
        assert!(watch.wait_warning().is_some_and(|warning| warning.contains("a CPU 5 % of the time")));
    }

    #[test]
    fn a_host_that_gets_busy_after_the_choice_to_spin_is_told() {
        let mut watch = LoadWatch::with(None, Instant::START);
        watch.count_wait(Nanos::from_millis(50), Nanos::from_secs(5), Nanos::from_secs(5));
        // Its spins end in sleep now.
        watch.count_wait(Nanos::from_millis(400), Nanos::from_secs(5), Nanos::from_millis(500));
        assert!(watch.wait_warning().is_some_and(|warning| warning.contains("a CPU 4 % of the time")));
    }
}
