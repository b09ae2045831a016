//! What one turn came to, read from what the programs print and from what the system counted.

use crate::failure::{Doing, Failure};
use crate::place::parsed;
use serde_json::Value;
use std::fs;

/// The kernel counts processor time of processes in hundredths of a second: USER_HZ on every Linux of today.
const TICK_NS: f64 = 1e7;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    pub iops: f64,
    pub cpu_ns_per_io: f64,
}

impl Measurement {
    pub fn iops(&self) -> f64 {
        self.iops
    }

    pub fn cpu_ns_per_io(&self) -> f64 {
        self.cpu_ns_per_io
    }

    pub fn iops_per_core(&self) -> f64 {
        1e9 / self.cpu_ns_per_io
    }
}

/// From the line that our program prints. `cpu_ns` is that of the whole process; the null engine does `operations`.
pub fn of_ours(output: &str, operations: Option<u64>, cpu_ns: f64) -> Result<Measurement, Failure> {
    let printed = parsed(output)?;
    let done = match operations {
        Some(operations) => operations as f64,
        None if number(&printed, "/errors")? > 0.0 => {
            return Err(Failure::cannot("Reads failed; the numbers would mean nothing."));
        }
        None => number(&printed, "/operations")?,
    };
    Ok(Measurement { iops: number(&printed, "/iops")?, cpu_ns_per_io: cpu_ns / done.max(1.0) })
}

/// From fio's JSON, with the processor time that fio counted for its job: its start is left out.
pub fn of_fio(output: &str) -> Result<Measurement, Failure> {
    let printed = parsed(output)?;
    let busy_share = (number(&printed, "/jobs/0/usr_cpu")? + number(&printed, "/jobs/0/sys_cpu")?) / 100.0;
    let cpu_ns = busy_share * number(&printed, "/jobs/0/job_runtime")? * 1e6;
    Ok(Measurement {
        iops: number(&printed, "/jobs/0/read/iops")?,
        cpu_ns_per_io: cpu_ns / number(&printed, "/jobs/0/read/total_ios")?.max(1.0),
    })
}

pub fn number(document: &Value, pointer: &str) -> Result<f64, Failure> {
    let found = document.pointer(pointer).and_then(Value::as_f64);
    found.ok_or_else(|| Failure::cannot(format!("What a program printed has no number {pointer}.")))
}

pub fn children_cpu_ns() -> Result<f64, Failure> {
    let text = fs::read_to_string("/proc/self/stat").doing("read /proc/self/stat")?;
    parse_children(&text).ok_or_else(|| Failure::cannot("/proc/self/stat does not look as proc(5) says."))
}

/// Fields 16 and 17 of /proc/PID/stat by proc(5); the name in field 2 may hold spaces and parentheses.
fn parse_children(text: &str) -> Option<f64> {
    let after_name = &text[text.rfind(')')? + 1..];
    let mut fields = after_name.split_whitespace().skip(13);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::{Measurement, of_fio, of_ours, parse_children};

    #[test]
    fn what_fio_prints_is_understood() {
        let text = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
            {"jobs" : [{"job options" : {"rw" : "randread"}, "read" : {"iops" : 1000.5, "total_ios" : 2000 },
            "write" : {"iops" : 7}, "job_runtime" : 2000, "usr_cpu" : 10.0, "sys_cpu" : 30.0
            }]}"#;
        let measured = of_fio(text).expect("it is fio's");
        assert_eq!(measured, Measurement { iops: 1000.5, cpu_ns_per_io: 400_000.0 });
        assert_eq!(measured.iops_per_core(), 2500.0);
        assert!(of_fio("{\"jobs\": []}").is_err());
    }

    #[test]
    fn what_we_print_is_understood_and_errors_are_not_hidden() {
        let measured = of_ours(r#"{"iops": 500, "operations": 1000, "errors": 0}"#, None, 1e9).expect("ours");
        assert_eq!(measured, Measurement { iops: 500.0, cpu_ns_per_io: 1e6 });
        assert!(of_ours(r#"{"iops": 500, "operations": 1000, "errors": 3}"#, None, 1e9).is_err());
    }

    #[test]
    fn time_of_children_is_fields_16_and_17() {
        let text = "42 (a ) b) S 1 1 1 0 -1 4194560 100 0 0 0 17 5 300 21 20 0 3 0 100 1000 10 1844";
        assert_eq!(parse_children(text), Some(3.21e9));
    }
}
