//! The machine on which something was measured, and where tables are kept.

use crate::failure::{Doing, Failure};
use crate::place::command;
use crate::workspace::root;
use std::fs;
use std::time::Duration;

pub fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

pub fn today() -> String {
    match command("date", &["-u", "+%Y-%m-%d"]) {
        Ok(day) => day.trim().to_owned(),
        Err(_) => "an unknown day".to_owned(),
    }
}

fn machine() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let fio = command("fio", &["--version"]).unwrap_or_default();
    format!(
        "Machine: {}, {} cores, Linux {}, {}.",
        model.trim_start_matches([' ', '\t', ':']),
        cores(),
        kernel.trim(),
        fio.trim()
    )
}

/// The machine and what else it did, for the head of a page.
pub fn conditions(load_before: &str) -> String {
    format!("{}\nLoad averages before and after: {load_before}; {}.", machine(), load_average())
}

pub fn cores() -> usize {
    match std::thread::available_parallelism() {
        Ok(cores) => cores.get(),
        Err(_) => 1,
    }
}

/// Share of all processors' time that others used during half a second, in [0, 1]; what the hypervisor took counts, too.
pub fn busy_share() -> Result<f64, Failure> {
    let before = processor_ticks()?;
    std::thread::sleep(Duration::from_millis(500));
    let after = processor_ticks()?;
    let (idle, all) = (after.0 - before.0, after.1 - before.1);
    Ok(if all > 0.0 { 1.0 - idle / all } else { 1.0 })
}

/// Idle and all ticks since the start, from /proc/stat (proc_stat(5)): fields 4 and 5 are idle, 9 and 10 within user time.
fn processor_ticks() -> Result<(f64, f64), Failure> {
    let text = fs::read_to_string("/proc/stat").doing("read /proc/stat")?;
    let mut ticks = Vec::new();
    for field in text.lines().next().unwrap_or_default().split_whitespace().skip(1).take(8) {
        ticks.push(field.parse::<f64>().doing("understand /proc/stat")?);
    }
    match ticks.as_slice() {
        [_, _, _, idle, iowait, ..] => Ok((idle + iowait, ticks.iter().sum())),
        _ => Err(Failure::cannot("/proc/stat does not look as proc_stat(5) says.")),
    }
}

pub fn seed_of_now() -> u64 {
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(time) => time.as_secs(),
        Err(_) => 1,
    }
}

pub fn publish(page: &str, place: &str, is_whole: bool) -> Result<(), Failure> {
    println!("{page}");
    if is_whole { keep(page, place) } else { Ok(()) }
}

pub fn keep(page: &str, place: &str) -> Result<(), Failure> {
    fs::write(root().join(place), page).doing(format_args!("write {place}"))?;
    eprintln!("Kept as {place}.");
    Ok(())
}

pub fn spread(mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let median = match values.len() {
        0 => return None,
        count if count % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    };
    Some((median, values[0], values[values.len() - 1]))
}

pub fn median(values: Vec<f64>) -> f64 {
    spread(values).map_or(f64::NAN, |(median, ..)| median)
}

pub fn worst(errors: impl Iterator<Item = f64>) -> Option<f64> {
    errors.max_by(|one, other| one.abs().total_cmp(&other.abs()))
}

#[cfg(test)]
mod tests {
    use super::{spread, worst};

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(spread(vec![3.0, 1.0, 2.0, 10.0]), Some((2.5, 1.0, 10.0)));
        assert_eq!(spread(vec![9.0, 1.0, 4.0]), Some((4.0, 1.0, 9.0)));
        assert_eq!(spread(Vec::new()), None);
    }

    #[test]
    fn the_worst_keeps_its_sign() {
        assert_eq!(worst([0.1, -0.3, 0.2].into_iter()), Some(-0.3));
    }
}
