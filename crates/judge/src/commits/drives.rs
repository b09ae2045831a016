//! Virtual drives whose commits are known: what a flush does on them, and the distribution of their latencies.

use crate::failure::Failure;
use crate::virtual_drive::{Drive, Folder, text};

pub const POLICIES: [&str; 3] = ["honoured", "ignored", "protected"];
const FAMILIES: [&str; 3] = ["flash", "hard-disk", "shingled"];

/// A drawn drive of which flushes are as one of [`POLICIES`] says, in turns. Those of flash store the mapping table, in 0.2 to 5 ms.
pub fn of_policy(folder: &Folder, number: u64) -> Result<Drive, Failure> {
    let policy = POLICIES[(number % 3) as usize];
    let name = format!("random-{}-{number}", FAMILIES[(number / 3 % 3) as usize]);
    let text = text(&name)?.replace("flush = \"protected\"\n", "");
    let flush_us = 200.0 * 25f64.powf((number % 17) as f64 / 16.0);
    let disk = format!("[disk.write_cache]\nflush = \"{policy}\"\n");
    let flash = format!("[flash.buffer]\nflush = \"{policy}\"\nflush_us = {flush_us:.1}\n");
    let text = text.replace("[disk.write_cache]\n", &disk).replace("[flash.buffer]\n", &flash);
    folder.drive(&format!("flush-{number}"), &text)
}

/// A write's latency has a log-normal distribution with a heavy tail; a flush adds 5 µs, a four-hundredth at most.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    pub median_s: f64,
    pub jitter: f64,
}

/// Deviations above the mean of a normal distribution that 99 % and 99.9 % lie below.
const P99: f64 = 2.326_348;
const P999: f64 = 3.090_232;

impl Tail {
    pub fn drawn(number: u64) -> Tail {
        let median_s = 2e-3 * 4f64.powf((number % 29) as f64 / 28.0);
        Tail { median_s, jitter: 0.3 + 1.2 * (number % 13) as f64 / 12.0 }
    }

    pub fn of_p99(number: u64, p99_s: f64) -> Tail {
        let Tail { jitter, .. } = Tail::drawn(number);
        Tail { median_s: p99_s / (P99 * jitter).exp(), jitter }
    }

    pub fn p99_s(self) -> f64 {
        self.median_s * (P99 * self.jitter).exp()
    }

    pub fn p999_s(self) -> f64 {
        self.median_s * (P999 * self.jitter).exp()
    }

    pub fn drive(self, folder: &Folder, name: &str) -> Result<Drive, Failure> {
        let Tail { median_s, jitter } = self;
        let median_us = median_s * 1e6;
        let text = format!(
            "version = 1\nname = \"{name}\"\ndescription = \"heavy tail\"\n[identity]\ncapacity_bytes = 1000000000\n\
             [constant]\nlatency_us = 5\nwrite_latency_us = {median_us:.3}\njitter = {jitter:.4}\nservers = 64\n"
        );
        folder.drive(name, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn a_tail_has_the_percentile_that_was_asked_for() {
        let tail = Tail::of_p99(910_005, 0.01);
        assert!((tail.p99_s() - 0.01).abs() < 1e-9 && tail.p999_s() > 0.01);
    }
}
