//! Findings as metrics for the textfile collector of node_exporter and for whatever reads OpenMetrics 1.0.
//!
//! Each finding with a number is a gauge of its own with its unit in the name, and two more for the ends of its
//! interval: `drivescope_read_rate_outer_bytes_per_second`, `drivescope_read_rate_outer_low_bytes_per_second`,
//! `drivescope_read_rate_outer_high_bytes_per_second`. A finding that is a word carries it as a label. Everything is a
//! gauge, without time stamps: the collector reads the older Prometheus format, which this is too, and refuses stamps.
//!
//! Labels tell drives apart, not runs, so that a series goes on with the next run. Of several runs of a drive each
//! finding is taken from the last that has it.

use super::job::{Export, ExportJob, all_runs, give, started_s};
use crate::error::UserError;
use analysis::commit::{cells, main_cells};
use model::finding::{Finding, FindingCode, Value};
use model::run::{MemorySeries, Run, RunStatus};
use model::units::Nanos;
use report::hostile::harmless;
use std::collections::BTreeMap;

/// A label is an index of the reader's database: a drive that calls itself a novel must not fill it.
const LABEL_COLUMNS_MAX: usize = 120;

pub const OPENMETRICS: Export = Export {
    name: "openmetrics",
    ending: Some("prom"),
    about: "Metrics for Prometheus: the textfile collector of node_exporter",
    write,
};

fn write(job: &dyn ExportJob) -> Result<(), UserError> {
    let mut runs = all_runs(job)?;
    runs.sort_by_key(started_s);
    give(job, &metrics(&runs), "drivescope.prom")
}

#[derive(Default)]
struct Family {
    unit: &'static str,
    help: String,
    samples: BTreeMap<String, f64>,
}

type Families = BTreeMap<String, Family>;

fn metrics(runs: &[Run]) -> String {
    let mut families = Families::new();
    for run in runs {
        let drive = drive_labels(run);
        add_run(&mut families, run, &drive);
        for finding in &run.findings {
            forget(&mut families, finding.code(), &drive);
            add_finding(&mut families, finding, &drive);
        }
    }
    let mut text = String::new();
    for (name, family) in families {
        if family.samples.is_empty() {
            continue;
        }
        text.push_str(&format!("# HELP {name} {}\n# TYPE {name} gauge\n", escaped(&family.help)));
        if !family.unit.is_empty() {
            text.push_str(&format!("# UNIT {name} {}\n", family.unit));
        }
        for (labels, value) in family.samples {
            text.push_str(&format!("{name}{{{labels}}} {value}\n"));
        }
    }
    text.push_str(&commit_histograms(runs));
    text.push_str("# EOF\n");
    text
}

/// The name and the bounds, in seconds, of etcd's histogram of its log, so that dashboards made for etcd show a disk before etcd runs on it.
const ETCD_HISTOGRAM: &str = "etcd_disk_wal_fsync_duration_seconds";
const ETCD_BUCKETS: u32 = 14;

fn commit_histograms(runs: &[Run]) -> String {
    let mut samples = BTreeMap::new();
    for run in runs {
        let series = MemorySeries::default();
        let cells = cells(&run.view(&series));
        if let Some(cell) = main_cells(&cells).first() {
            samples.insert(drive_labels(run), cell.histogram.clone());
        }
    }
    if samples.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "# HELP {ETCD_HISTOGRAM} Commits as drivescope measured them.\n# TYPE {ETCD_HISTOGRAM} histogram\n"
    );
    for (labels, latencies) in samples {
        for power in 0..ETCD_BUCKETS {
            let bound = Nanos::from_millis(1 << power);
            let below = latencies.count_below(bound);
            text += &format!("{ETCD_HISTOGRAM}_bucket{{{labels},le=\"{}\"}} {below}\n", bound.seconds());
        }
        let (count, sum_s) = (latencies.count(), latencies.sum_ns() as f64 / 1e9);
        text += &format!("{ETCD_HISTOGRAM}_bucket{{{labels},le=\"+Inf\"}} {count}\n");
        text += &format!(
            "{ETCD_HISTOGRAM}_sum{{{labels}}} {sum_s}\n{ETCD_HISTOGRAM}_count{{{labels}}} {count}\n"
        );
    }
    text
}

fn add(families: &mut Families, name: &str, unit: &'static str, help: &str, labels: String, value: f64) {
    if value.is_finite() {
        let family = families.entry(name.into()).or_default();
        family.unit = unit;
        family.help = help.into();
        family.samples.insert(labels, value);
    }
}

fn add_run(families: &mut Families, run: &Run, drive: &str) {
    if let Some(started_s) = started_s(run) {
        let help = "When the last run of this drive began, since 1970.";
        let name = "drivescope_run_started_timestamp_seconds";
        add(families, name, "seconds", help, drive.into(), started_s as f64);
    }
    let is_complete = f64::from(u8::from(run.status == RunStatus::Complete));
    let help = "Whether the last run of this drive came to its end: 1 or 0.";
    add(families, "drivescope_run_complete", "", help, drive.into(), is_complete);
    let errors: u64 = run.phases.iter().map(model::run::PhaseSummary::errors).sum();
    let help = "Requests that failed in the last run of this drive.";
    add(families, "drivescope_run_failed_requests", "", help, drive.into(), errors as f64);
}

/// What an earlier run said of this, a later one replaces, also where it cannot tell any more.
fn forget(families: &mut Families, code: FindingCode, drive: &str) {
    let prefix = name_of(code);
    let of_a_kind = format!("{drive},kind=");
    for (name, family) in families.iter_mut() {
        if is_of(name, &prefix, code.unit()) {
            family.samples.retain(|labels, _| labels != drive && !labels.starts_with(&of_a_kind));
        }
    }
    if let Some(unknown) = families.get_mut(UNKNOWN) {
        unknown.samples.remove(&unknown_labels(drive, code));
    }
}

/// Whether a family is one of the three of a finding: `drivescope_zone_count` is none of `drivescope_zone`.
fn is_of(name: &str, prefix: &str, unit: Option<&str>) -> bool {
    let (_, ending) = unit_words(unit.unwrap_or_default());
    ["", "_low", "_high"].into_iter().any(|bound| name == format!("{prefix}{bound}{ending}"))
}

const UNKNOWN: &str = "drivescope_finding_unknown";

fn unknown_labels(drive: &str, code: FindingCode) -> String {
    format!("{drive},code=\"{}\"", code.name())
}

fn add_finding(families: &mut Families, finding: &Finding, drive: &str) {
    let code = finding.code();
    let (unit, ending) = unit_words(code.unit().unwrap_or_default());
    match finding.value() {
        None => {
            let help = "1 for each finding that is inconclusive.";
            add(families, UNKNOWN, "", help, unknown_labels(drive, code), 1.0);
        }
        Some(Value::Word(kind)) => {
            let help =
                format!("Finding {}: the kind that was found is a label, the value is 1.", code.name());
            let labels = format!("{drive},kind=\"{}\"", label_value(&kind));
            add(families, &name_of(code), "", &help, labels, 1.0);
        }
        Some(Value::Number(estimate)) => {
            for (bound, words, value) in [
                ("", "", estimate.value),
                ("_low", ", lower end of the interval", estimate.low),
                ("_high", ", upper end of the interval", estimate.high),
            ] {
                let help = format!("Finding {}{words}.", code.name());
                let name = format!("{}{bound}{ending}", name_of(code));
                add(families, &name, unit, &help, drive.into(), value);
            }
        }
    }
}

/// A unit in the words of OpenMetrics, and how it ends a name.
fn unit_words(unit: &str) -> (&'static str, &'static str) {
    match unit {
        "B/s" => ("bytes_per_second", "_bytes_per_second"),
        "s" => ("seconds", "_seconds"),
        "1/s" => ("per_second", "_per_second"),
        "bytes" => ("bytes", "_bytes"),
        "ratio" => ("ratio", "_ratio"),
        // A count has no unit, and `_count` ends the names of histograms only.
        _ => ("", ""),
    }
}

/// `zone-count` counts, and so would its name: what OpenMetrics keeps for histograms is put differently.
fn name_of(code: FindingCode) -> String {
    let words = code.name().replace('-', "_");
    match words.strip_suffix("_count") {
        Some(what) => format!("drivescope_number_of_{what}s"),
        None => format!("drivescope_{words}"),
    }
}

fn drive_labels(run: &Run) -> String {
    let target = &run.target;
    let device = label_value(&target.path);
    let model = label_value(target.model.as_deref().unwrap_or_default());
    let serial = label_value(target.serial.as_deref().unwrap_or_default());
    format!("device=\"{device}\",model=\"{model}\",serial=\"{serial}\"")
}

fn label_value(text: &str) -> String {
    escaped(&harmless(text, LABEL_COLUMNS_MAX))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_their_units() {
        assert_eq!(name_of(FindingCode::ZoneCount), "drivescope_number_of_zones");
        assert_eq!(name_of(FindingCode::BadBlocks), "drivescope_bad_blocks");
        for code in FindingCode::ALL {
            let (unit, ending) = unit_words(code.unit().unwrap_or_default());
            assert_eq!(unit.is_empty(), ending.is_empty());
            let name = format!("{}{ending}", name_of(*code));
            let reserved = ["_count", "_sum", "_bucket", "_total", "_created", "_info"];
            assert!(!reserved.iter().any(|suffix| name.ends_with(suffix)), "{name}");
        }
    }

    #[test]
    fn no_two_findings_share_a_name() {
        let mut names: Vec<String> = FindingCode::ALL
            .iter()
            .flat_map(|code| {
                let (_, ending) = unit_words(code.unit().unwrap_or_default());
                ["", "_low", "_high"].map(|bound| format!("{}{bound}{ending}", name_of(*code)))
            })
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn labels_are_escaped() {
        assert_eq!(label_value("a\"b\\c\nd"), "a\\\"b\\\\c\\\\u{a}d");
    }
}
