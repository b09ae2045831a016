//! The page: what was done, the table by drive and way, and a word on how to read it.

use std::fmt::Write as _;

use super::peer::PEERS;
use super::score::{LimitVerdict, Row, ZoneErrors};
use crate::machine::today;
use model::finding::FindingCode;

const SHOWN: [FindingCode; 4] = [
    FindingCode::FullPassTime,
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ZoneRatio,
];

pub fn head(seed: u64) -> String {
    let mut text = format!(
        "# `drivescope surface` against the truth, and beside what people do\n\n\
         Made by `cargo xtask bench surface --seed {seed}` on {}. All drives are virtual and all times are theirs: *device \
         time* is what a real drive\nof that kind would be busy. Errors are against what follows from the drive's \
         profile. `drivescope sim truth NAME` shows it.\n\n",
        today()
    );
    for peer in PEERS {
        let _ = writeln!(text, "- *{}*: {}.", peer.name, peer.what);
    }
    text.push_str(
        "\n*steps*: of the steps between zones of more than 2 %, how many have a border that was found within 0.5 % of \
         the capacity. *nothing*: borders\nthat were found where no zone changes by 0.2 % or more. *zone rate*: the \
         worst rate of a zone against the mean of what is true where it was found. *link*: whether the link was named where it \
         is the limit, and how far its rate is off.\n\n",
    );
    text
}

pub fn rows(rows: &[Row]) -> String {
    let mut text = String::from(
        "| drive | way | device time | read | of the drive | full pass | outer | inner | ratio | steps | nothing | zone rate | link |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
    );
    let mut drive_before = "";
    for row in rows {
        let drive = if row.drive == drive_before { "" } else { row.drive.as_str() };
        drive_before = &row.drive;
        let way = if row.is_ours { format!("**{}**", row.way) } else { row.way.to_owned() };
        let _ = writeln!(
            text,
            "| {drive} | {way} | {} | {} | {:.2} % | {} | {} | {} |",
            time(row.measured.device_s),
            size(row.measured.bytes),
            100.0 * row.measured.bytes / row.measured.capacity,
            SHOWN.map(|code| percent(row.errors.of(code))).join(" | "),
            zone_cells(row.errors.zones.as_ref()),
            if row.is_ours { link_cell(row.errors.limit) } else { "–".to_owned() },
        );
    }
    text.push('\n');
    text.push_str(&summary(rows));
    text
}

fn zone_cells(zones: Option<&ZoneErrors>) -> String {
    match zones {
        Some(ZoneErrors { steps, found, invented, worst_rate }) => {
            format!("{found} of {steps} | {invented} | {:.2} %", 100.0 * worst_rate)
        }
        None => "– | – | –".to_owned(),
    }
}

fn link_cell(limit: LimitVerdict) -> String {
    match limit {
        LimitVerdict::Nothing => "–".to_owned(),
        LimitVerdict::Found(error) => format!("found, {}", percent(Some(error))),
        LimitVerdict::Missed => "**missed**".to_owned(),
        LimitVerdict::Invented => "**none there**".to_owned(),
    }
}

fn summary(rows: &[Row]) -> String {
    let mut text = String::from(
        "The worst over all these drives:\n\n\
         | way | device time | of the drive | full pass | outer | inner | ratio | steps |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut ways: Vec<&str> = Vec::new();
    for row in rows {
        if !ways.contains(&row.way) {
            ways.push(row.way);
        }
    }
    for way in ways {
        let of_way: Vec<&Row> = rows.iter().filter(|row| row.way == way).collect();
        let (mut steps, mut found) = (0, 0);
        for row in &of_way {
            let Some(zones) = row.errors.zones.as_ref() else { continue };
            steps += zones.steps;
            found += zones.found;
        }
        let time_s = of_way.iter().map(|row| row.measured.device_s).fold(0.0, f64::max);
        let share = of_way.iter().map(|row| row.measured.bytes / row.measured.capacity).fold(0.0, f64::max);
        let errors = SHOWN.map(|code| percent(worst(&of_way, code)).trim_start_matches('+').to_owned());
        let steps = if steps > 0 { format!("{found} of {steps}") } else { "–".to_owned() };
        let _ = writeln!(
            text,
            "| {way} | {} | {:.2} % | {} | {steps} |",
            time(time_s),
            100.0 * share,
            errors.join(" | ")
        );
    }
    text
}

fn worst(rows: &[&Row], code: FindingCode) -> Option<f64> {
    rows.iter().filter_map(|row| row.errors.of(code)).map(f64::abs).reduce(f64::max)
}

/// A share in percent with its sign; a dash for none.
pub fn percent(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("{:+.2} %", 100.0 * share),
        None => "–".to_owned(),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds if seconds < 7200.0 => format!("{:.1} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

fn size(bytes: f64) -> String {
    if bytes < 1e12 { format!("{:.1} GB", bytes / 1e9) } else { format!("{:.2} TB", bytes / 1e12) }
}

#[cfg(test)]
mod tests {
    use super::{FindingCode, Row, percent, rows, time};
    use crate::surface::measured::Measured;
    use crate::surface::score::{Errors, ZoneErrors};

    #[test]
    fn times_and_shares_are_as_people_read_them() {
        assert_eq!([59.04, 300.0, 36_000.0].map(time), ["59.0 s", "5.0 min", "10.0 h"]);
        assert_eq!([Some(0.0123), Some(-0.5), None].map(percent), ["+1.23 %", "-50.00 %", "–"]);
    }

    #[test]
    fn the_worst_of_a_way_is_over_all_drives_and_signs() {
        let row = |drive: &str, pass: f64, found: usize| Row {
            drive: drive.to_owned(),
            way: "surface",
            is_ours: true,
            measured: Measured { device_s: 10.0, bytes: 1e9, capacity: 1e11, ..Measured::default() },
            errors: Errors {
                by_code: [(FindingCode::FullPassTime, pass)].into(),
                zones: Some(ZoneErrors { steps: 3, found, invented: 0, worst_rate: 0.001 }),
                ..Errors::default()
            },
        };
        let text = rows(&[row("a", 0.001, 3), row("b", -0.004, 2)]);
        assert!(
            text.contains("| b | **surface** | 10.0 s | 1.0 GB | 1.00 % | -0.40 % | – | – | – | 2 of 3 | 0 | 0.10 % | – |"),
            "{text}"
        );
        assert!(text.contains("| surface | 10.0 s | 1.00 % | 0.40 % | – | – | – | 5 of 6 |"), "{text}");
    }
}
