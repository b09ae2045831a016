//! What else happens while a drive is measured.

use crate::failure::Failure;
use crate::virtual_drive::text;
use model::prng::Prng;

const DRAWS_STREAM: u64 = 0x6469_7374;

model::words! {
    pub enum Disturbance {
        /// Random reads of others at QD 1, in bursts of 0.1 to 3 s.
        OtherLoad = "other I/O for 10 to 30 % of the time",
        /// Completions are seen 15 to 100 µs late on average, and one in a hundred 1 ms later still.
        LateHost = "late host",
    }
}

impl Disturbance {
    /// The profile of that drive with this disturbance, as the number draws it.
    pub fn profile(self, drive: &str, number: u64) -> Result<String, Failure> {
        Ok(format!("{}\n[[faults]]\n{}\n", text(drive)?, self.fault(number)))
    }

    fn fault(self, number: u64) -> String {
        let mut prng = Prng::new(number, DRAWS_STREAM);
        match self {
            Disturbance::OtherLoad => {
                let seconds = 0.1 * 30_f64.powf(prng.unit());
                let every_s = seconds / (0.1 + 0.2 * prng.unit());
                let at_s = every_s * prng.unit();
                format!(
                    "kind = \"other-load\"\nqueue_depth = 1\nat_s = {at_s}\nseconds = {seconds}\nevery_s = {every_s}"
                )
            }
            Disturbance::LateHost => {
                let mean_us = 15.0 + 85.0 * prng.unit();
                format!("kind = \"host-delay\"\nmean_us = {mean_us}\nlate_share = 0.01\nlate_ms = 1")
            }
        }
    }
}
