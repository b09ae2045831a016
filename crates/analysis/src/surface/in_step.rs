//! The throughput of several disks once their actuators go in step.
//!
//! At a random offset each actuator finds its sectors first, and requests in flight wait for the last. How long that lasts depends on the
//! requests and on the host: later throughput shows it.

use crate::measured::Visit;
use crate::stats::CONFIDENCE;
use crate::stats::mean::Mean;
use crate::stats::sample::Sample;
use model::request::Operation;
use model::run::RunView;

/// The fewest requests behind the leading slices that show a rate to 1 or 2 %.
const REQUESTS_MIN: u64 = 8;
/// Slices that are looked at: those of 2.5 s. A pass over the drive has a million.
const SLICES_MAX: usize = 64;

pub(super) struct InStep {
    /// Slices of time at the start of each sample that are left out.
    slices: usize,
}

impl InStep {
    pub(super) fn of(run: &RunView<'_>, visits: &[Visit<'_>]) -> InStep {
        let mut samples = Vec::new();
        for visit in visits {
            let mut bytes = Vec::new();
            for slice in run.slices(visit.phase, Operation::Read).take(SLICES_MAX) {
                bytes.push(slice.bytes as f64);
            }
            samples.push(bytes);
        }
        InStep { slices: leading(&samples) }
    }

    /// None where too few requests follow. Between two completions the first slices end half a request after the first on average.
    pub(super) fn s_per_byte(&self, run: &RunView<'_>, visit: &Visit<'_>) -> Option<f64> {
        let mut slices = run.slices(visit.phase, Operation::Read);
        let (mut lead_bytes, mut lead_end_ns) = (0, 0);
        for slice in slices.by_ref().take(self.slices) {
            lead_bytes += slice.bytes;
            lead_end_ns = slice.end_ns();
        }
        let later: u64 = slices.map(|slice| slice.operations).sum();
        if later < REQUESTS_MIN {
            return None;
        }
        let totals = visit.summary.totals_of(Operation::Read)?;
        let half_request = visit.workload.block_sizes.largest().as_f64() / 2.0;
        let bytes = visit.summary.bytes() as f64 - lead_bytes as f64 - half_request;
        Some(totals.stretch?.last_ns.saturating_sub(lead_end_ns) as f64 / 1e9 / bytes)
    }
}

/// How many slices come first in which less is read for certain than in those after them, by all samples together: single ones would be
/// told by chance. The very first is always one.
fn leading(samples: &[Vec<f64>]) -> usize {
    let mut leading = 1;
    while falls_short(samples, leading) {
        leading += 1;
    }
    leading
}

fn falls_short(samples: &[Vec<f64>], index: usize) -> bool {
    let mut shares = Vec::new();
    for bytes in samples {
        if let Some([slice, later @ .., _]) = bytes.get(index..)
            && !later.is_empty()
        {
            shares.push(1.0 - slice * later.len() as f64 / later.iter().sum::<f64>());
        }
    }
    let Some(shares) = Sample::new(shares) else { return false };
    Mean::about(shares.mean(), shares.values()).interval(CONFIDENCE).low > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests completed in slices of 40 ms: on three disks whose host was late, and on the same without.
    #[test]
    fn slices_in_which_arms_still_look_for_their_places_lead() {
        let late: [&[f64]; 5] = [
            &[2.0, 7.0, 15.0, 15.0, 15.0, 2.0],
            &[2.0, 10.0, 19.0, 20.0, 5.0],
            &[2.0, 4.0, 18.0, 17.0, 15.0],
            &[2.0, 8.0, 22.0, 23.0, 1.0],
            &[2.0, 6.0, 15.0, 16.0, 15.0, 2.0],
        ];
        assert_eq!(leading(&late.map(<[f64]>::to_vec)), 2);
        let prompt: [&[f64]; 4] = [
            &[10.0, 19.0, 20.0, 5.0],
            &[12.0, 24.0, 23.0, 1.0],
            &[9.0, 15.0, 16.0, 15.0, 2.0],
            &[11.0, 31.0, 4.0],
        ];
        assert_eq!(leading(&prompt.map(<[f64]>::to_vec)), 1);
    }

    #[test]
    fn samples_of_one_slice_tell_nothing() {
        assert_eq!(leading(&[vec![8.0], vec![], vec![7.0]]), 1);
    }
}
