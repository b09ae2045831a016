//! Latency percentiles as HdrHistogram prints them, for its plotter and for scripts that read that: in milliseconds, one file for each
//! kind of request. Phases that asked the same of the drive are one distribution.

use super::job::{Export, ExportJob, Goal, give, write_text};
use crate::error::UserError;
use model::histogram::LatencyHistogram;
use model::plan::PhaseKind;
use model::run::Run;
use model::units::{Nanos, Quantile};
use std::collections::BTreeMap;

/// Lines for each halving of the distance to 100 %, as HdrHistogram prints by default.
const LINES_PER_HALF: i32 = 5;

pub const HGRM: Export = Export {
    name: "hgrm",
    ending: Some("hgrm"),
    about: "Latency percentiles, for the plotter of HdrHistogram",
    write,
};

fn write(job: &dyn ExportJob) -> Result<(), UserError> {
    let Goal::Folder(folder) = job.goal() else {
        let mut all = Vec::new();
        for name in job.names() {
            all.extend(distributions(&job.read(name)?.run));
        }
        let [(_, latencies)] = all.as_slice() else {
            let message = "a .hgrm file holds one distribution, and there are ";
            return Err(UserError::usage(format!("{message}{}. Name a folder: -o latency", all.len())));
        };
        return give(job, &text(latencies), "");
    };
    for name in job.names() {
        let run = job.read(name)?.run;
        for (what, latencies) in distributions(&run) {
            write_text(job, Some(&folder.join(&run.id).join(format!("{what}.hgrm"))), &text(&latencies))?;
        }
    }
    Ok(())
}

/// What was measured of each kind of request: `read-random-4096-qd1`.
fn distributions(run: &Run) -> BTreeMap<String, LatencyHistogram> {
    let mut found: BTreeMap<String, LatencyHistogram> = BTreeMap::new();
    for summary in &run.phases {
        let (PhaseKind::Measure, Some(workload)) = (summary.phase.kind, &summary.phase.workload) else {
            continue;
        };
        let block = match workload.block_sizes.single() {
            Some(block) => block.get().to_string(),
            None => "mixed".into(),
        };
        let (pattern, depth) = (workload.pattern.name(), workload.in_flight_max());
        for totals in &summary.totals {
            if totals.histogram.count() > 0 {
                let what = format!("{}-{pattern}-{block}-qd{depth}", totals.operation.name());
                found.entry(what).or_default().merge(&totals.histogram);
            }
        }
    }
    found
}

fn text(latencies: &LatencyHistogram) -> String {
    let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    let count = latencies.count();
    for line in 0.. {
        // Half of what is left is walked in equal steps.
        let left = 0.5_f64.powi(line / LINES_PER_HALF);
        let share = 1.0 - left + left / 2.0 * f64::from(line % LINES_PER_HALF) / f64::from(LINES_PER_HALF);
        let total = ((share * count as f64).ceil() as u64).max(1);
        let latency = Quantile::new(share).and_then(|quantile| latencies.quantile(quantile));
        let (Some(latency), true) = (latency, total < count) else { break };
        let beyond = 1.0 / (1.0 - share);
        text.push_str(&format!("{:12.3} {share:14.12} {total:10} {beyond:14.2}\n", milliseconds(latency)));
    }
    let most = milliseconds(latencies.max().unwrap_or_default());
    let mean = latencies.mean_ns().unwrap_or_default() / 1e6;
    let deviation = latencies.deviation_ns().unwrap_or_default() / 1e6;
    text.push_str(&format!("{most:12.3} {:14.12} {count:10}\n", 1.0));
    text.push_str(&format!("#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]\n"));
    text.push_str(&format!("#[Max     = {most:12.3}, Total count    = {count:12}]\n"));
    text
}

fn milliseconds(latency: Nanos) -> f64 {
    latency.as_f64() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1 to 4 ms, one each: the last line before 100 % is the first share at which three are counted.
    #[test]
    fn percentiles_come_closer_to_all_by_halves() {
        let mut latencies = LatencyHistogram::default();
        for latency_ns in [1_000_000, 2_000_000, 3_000_000, 4_000_000] {
            latencies.record(latency_ns);
        }
        let text = text(&latencies);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
        assert_eq!(lines[2], "       1.000 0.000000000000          1           1.00");
        let shares: Vec<&str> = lines[2..lines.len() - 3].iter().map(|line| &line[13..17]).collect();
        assert_eq!(
            shares,
            ["0.00", "0.10", "0.20", "0.30", "0.40", "0.50", "0.55", "0.60", "0.65", "0.70", "0.75"]
        );
        assert_eq!(lines[lines.len() - 3], "       4.000 1.000000000000          4");
        assert_eq!(lines[lines.len() - 1], "#[Max     =        4.000, Total count    =            4]");
    }
}
