//! A day's writes on a virtual drive, in virtual time: bursts at equal distances, each of random and sequential writes.

use crate::error::UserError;
use crate::virtual_run::{PhaseResult, VirtualRun};
use analysis::choice::{DAY_S, DAYS_BEFORE, DayOfWrites, DayTime};
use model::estimate::Estimate;
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern, Workload};
use sim::Drive;

const RANDOM_BLOCK: Bytes = Bytes::from_kib(128);
const SEQUENTIAL_BLOCK: Bytes = Bytes::from_mib(1);
const SEQUENTIAL_DEPTH: u32 = 4;
/// A burst has this many parts, each first random and then sequential.
const PARTS: u64 = 32;
/// A part slower than this share of the fastest is past a write cliff: the mildest of article D is to 60 %, and parts differ by a few percent.
const CLIFF_SHARE: f64 = 0.75;

/// How long such a day takes on a drive that was new [`DAYS_BEFORE`] such days before. One seed: the numbers are exact.
pub fn simulate(drive: Box<dyn Drive>, day: &DayOfWrites, seed: u64) -> Result<DayTime, UserError> {
    let mut writer =
        Writer { run: VirtualRun::on(drive, seed), position: 0, fastest: 0.0, slowest: f64::INFINITY };
    let bursts = day.bursts();
    let (mut busy_s, mut longest_s) = (0.0, 0.0_f64);
    for number in 0..bursts * (DAYS_BEFORE + 1) {
        if number == bursts * DAYS_BEFORE {
            (busy_s, longest_s) = (0.0, 0.0);
            (writer.fastest, writer.slowest) = (0.0, f64::INFINITY);
        }
        let burst_s = writer.burst(day)?;
        busy_s += burst_s;
        longest_s = longest_s.max(burst_s);
        let pause_s = (DAY_S / bursts as f64 - burst_s).max(0.0);
        writer.run.idle(Nanos::from_secs_f64(pause_s).unwrap_or_default())?;
    }
    Ok(DayTime {
        busy_s: Estimate::exact(busy_s),
        burst_s: Estimate::exact(longest_s),
        falls: writer.slowest < CLIFF_SHARE * writer.fastest,
        pause_needed_s: None,
    })
}

struct Writer {
    run: VirtualRun,
    position: u64,
    /// Random throughput of the parts of this day, without the first of each burst, which fills buffers; B/s.
    fastest: f64,
    slowest: f64,
}

impl Writer {
    fn burst(&mut self, day: &DayOfWrites) -> Result<f64, UserError> {
        let random = Bytes::new((day.burst_bytes() * day.random_share / PARTS as f64) as u64);
        let sequential = Bytes::new((day.burst_bytes() * (1.0 - day.random_share) / PARTS as f64) as u64);
        let mut seconds = 0.0;
        for part in 0..PARTS {
            if random >= RANDOM_BLOCK {
                let result = self.random(random)?;
                seconds += result.seconds + result.flush_s;
                if part > 0 {
                    self.fastest = self.fastest.max(result.lasting_rate());
                    self.slowest = self.slowest.min(result.lasting_rate());
                }
            }
            if sequential >= SEQUENTIAL_BLOCK {
                seconds += self.sequential(sequential)?;
            }
        }
        Ok(seconds)
    }

    fn random(&mut self, bytes: Bytes) -> Result<PhaseResult, UserError> {
        let whole = ByteRange::whole(self.run.capacity());
        let pattern = Pattern::RandomWithReplacement;
        self.write(Workload::new(whole, pattern, OperationMix::Write, RANDOM_BLOCK, 1), bytes)
    }

    fn sequential(&mut self, bytes: Bytes) -> Result<f64, UserError> {
        let room = self.run.capacity().round_down_to(SEQUENTIAL_BLOCK).get();
        let (mut left, mut seconds) = (bytes.round_down_to(SEQUENTIAL_BLOCK).get(), 0.0);
        while left > 0 && room > 0 {
            let part = left.min(room - self.position);
            let range = ByteRange::new(model::units::Offset::new(self.position), Bytes::new(part));
            let range = range.expect("a part of the drive ends within 64 bits");
            let writes = Workload::new(
                range,
                Pattern::Sequential,
                OperationMix::Write,
                SEQUENTIAL_BLOCK,
                SEQUENTIAL_DEPTH,
            );
            let result = self.write(writes, Bytes::new(part))?;
            seconds += result.seconds + result.flush_s;
            self.position = (self.position + part) % room;
            left -= part;
        }
        Ok(seconds)
    }

    fn write(&mut self, workload: Workload, bytes: Bytes) -> Result<PhaseResult, UserError> {
        let stop = StopCondition { bytes: Some(bytes), ..StopCondition::default() };
        self.run.measure(workload, stop, Nanos::from_secs(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(daily_gb: u64, random_share: f64) -> DayOfWrites {
        let bytes = Bytes::new(daily_gb * 1_000_000_000);
        DayOfWrites { daily: bytes, burst: bytes, random_share }
    }

    fn on(drive: &str, day: &DayOfWrites) -> DayTime {
        simulate(sim::open(drive, 1).expect("a drive that ships"), day, 1).expect("it fits")
    }

    #[test]
    fn a_drive_of_constant_latency_takes_what_follows_from_it() {
        // 100 µs for each request: 1 GB at random are 7,629 of 128 KiB, one at a time.
        let time = on("constant", &day(1, 1.0));
        assert!((time.busy_s.value - 0.763).abs() < 0.01, "{time:?}");
        assert!(!time.falls);
    }

    #[test]
    fn a_shingled_disk_keeps_its_rate_within_its_cache() {
        let time = on("smr-2tb", &day(2, 1.0));
        // 15 MB/s.
        assert!((time.busy_s.value - 133.0).abs() < 8.0 && !time.falls, "{time:?}");
    }
}
