//! Watches what else goes on: telemetry once a second, and at the end what of it the reader should know.

use io::rig::Rig;
use io::telemetry::Telemetry;
use model::record::{IntervalRecord, TelemetryRecord};
use model::request::Operation;
use model::units::{Instant, MIB, NANOS_PER_SECOND, Nanos};
use std::path::PathBuf;

/// Others' traffic below this share of ours is not worth a warning: file-system metadata makes about as much.
const OTHER_SHARE_MIN: f64 = 0.05;
/// And below this it is not traffic.
const OTHER_BYTES_MIN: u64 = 16 * MIB;
/// A virtual machine that is kept waiting for more of the time than this sees it in its latencies: at 1 %, the 99th
/// percentile is the hypervisor's.
const STEAL_SHARE_MIN: f64 = 0.01;

/// The same holds for processors that are busy with something else.
const WAIT_SHARE_MIN: f64 = STEAL_SHARE_MIN;

/// Counts our own traffic, and sets it against what the system counts.
pub struct LoadWatch {
    /// None in virtual time, where there is nothing else.
    telemetry: Option<Telemetry>,
    recorded: Instant,
    own_bytes: (u64, u64),
    own_total: u64,
    device_total: u64,
    /// The writes of both.
    written: (u64, u64),
    /// Whether requests of ours failed: the system may count what they would have moved, and we do not.
    failed: bool,
    steal_sum: f64,
    steal_count: u32,
    /// Of the time in which requests were made, that in which a worker was ready and waited for a processor.
    waited: Nanos,
    worked: Nanos,
}

impl LoadWatch {
    /// Begins to watch.
    pub fn start(rig: &Rig) -> LoadWatch {
        LoadWatch::with(rig.target().map(|target| Telemetry::start(target.disks())), rig.now())
    }

    /// Begins to watch these disks.
    pub fn of_disks(disks: &[PathBuf], now: Instant) -> LoadWatch {
        LoadWatch::with(Some(Telemetry::start(disks)), now)
    }

    fn with(telemetry: Option<Telemetry>, recorded: Instant) -> LoadWatch {
        LoadWatch {
            telemetry,
            recorded,
            own_bytes: (0, 0),
            own_total: 0,
            device_total: 0,
            written: (0, 0),
            failed: false,
            steal_sum: 0.0,
            steal_count: 0,
            waited: Nanos::ZERO,
            worked: Nanos::ZERO,
        }
    }

    /// Counts what this program moved.
    pub fn count(&mut self, record: &IntervalRecord) {
        self.failed |= record.errors > 0;
        match record.operation {
            Operation::Read => self.own_bytes.0 += record.bytes,
            Operation::Write => self.own_bytes.1 += record.bytes,
            Operation::Flush | Operation::Discard => {}
        }
    }

    /// Goes on after a pause: what others moved meanwhile is nothing to this run, whose clock did not count it either.
    pub fn go_on_at(&mut self, now: Instant) {
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.record(now, std::mem::take(&mut self.own_bytes));
        }
        self.recorded = now;
    }

    /// Counts what this program moved after a phase's time: the system counts it too, and it was nobody else.
    pub fn count_late(&mut self, bytes: u64) {
        self.own_total += bytes;
    }

    /// Counts how long the workers of a phase waited for a processor, and how long it took.
    pub fn count_wait(&mut self, waited: Nanos, took: Nanos) {
        self.waited = self.waited + waited;
        self.worked = self.worked + took;
    }

    /// The record of the last second, once it is over.
    pub fn telemetry_due(&mut self, now: Instant) -> Option<TelemetryRecord> {
        let telemetry = self.telemetry.as_mut().filter(|_| now.since(self.recorded).0 >= NANOS_PER_SECOND)?;
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

    /// What the reader should know, as sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let other = self.device_total.saturating_sub(self.own_total);
        if !self.failed && other >= OTHER_BYTES_MIN && other as f64 >= OTHER_SHARE_MIN * self.own_total as f64
        {
            let written = match self.written.1.saturating_sub(self.written.0) {
                bytes if bytes >= OTHER_BYTES_MIN => format!(" ({} MiB of it written)", bytes / MIB),
                _ => String::new(),
            };
            warnings.push(format!(
                "Other programs moved {} MiB on the same drive meanwhile{written}; stop them and measure again for a \
                 steadier result",
                other / MIB
            ));
        }
        warnings.extend(self.steal_warning());
        warnings.extend(self.wait_warning());
        warnings
    }

    /// Whether a virtual machine was kept from running.
    pub fn steal_warning(&self) -> Option<String> {
        let steal = self.steal_sum / f64::from(self.steal_count.max(1));
        (steal >= STEAL_SHARE_MIN).then(|| {
            format!(
                "This virtual machine was kept from running for {:.0} % of the time, which adds to every latency",
                steal * 100.0
            )
        })
    }

    /// Whether other programs on this machine kept this one from going on.
    fn wait_warning(&self) -> Option<String> {
        let share = self.waited.seconds() / self.worked.seconds();
        (share >= WAIT_SHARE_MIN).then(|| {
            format!(
                "The processors of this machine were busy: drivescope waited for one for {:.0} % of the time, which adds to latencies, takes \
                 from rates, and may look like other use of the drive. Stop what else runs and measure again",
                share * 100.0
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_processors_is_told_from_a_hundredth_on() {
        let mut watch = LoadWatch::of_disks(&[], Instant(0));
        assert_eq!(watch.warnings(), Vec::<String>::new());
        watch.count_wait(Nanos::from_millis(50), Nanos::from_secs(6));
        assert_eq!(watch.warnings(), Vec::<String>::new(), "0.8 %");
        watch.count_wait(Nanos::from_millis(450), Nanos::from_secs(4));
        let warnings = watch.warnings();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("waited for one for 5 % of the time"), "{warnings:?}");
    }
}
