//! The measurement that `access` grew out of: random reads of 4 KiB over 1 GB by 1 to 1000 threads, here on three virtual drives.

use crate::document::Document;
use crate::failure::Failure;
use crate::program::Program;
use model::finding::FindingCode;
use std::fmt::Write as _;

const THREADS: [u64; 8] = [1, 2, 5, 10, 25, 100, 250, 1000];
/// Its three systems: what is measured in their place, and its reads per second by threads.
const SYSTEMS: [(&str, &str, [f64; 8]); 3] = [
    ("250 GB, ATA", "sim:st3250823a", [300.0, 314.0, 311.0, 308.0, 306.0, 321.0, 317.0, 317.0]),
    ("160 GB, SATA", "sim:sata-160gb", [141.0, 150.0, 153.0, 153.0, 166.0, 167.0, 168.0, 162.0]),
    ("mirror of 2 × 250 GB", "sim:raid1-2", [251.0, 402.0, 411.0, 413.0, 433.0, 472.0, 489.0, 500.0]),
];
/// Where its file lay is not known; here it lies at the start.
const FILE: &str = "0..1GB";

const EXPLAINING: [FindingCode; 6] = [
    FindingCode::AccessTime,
    FindingCode::SpanEffect,
    FindingCode::ReadAhead,
    FindingCode::DriveCache,
    FindingCode::StripeLayout,
    FindingCode::ConcurrencyGain,
];

pub struct Column {
    system: usize,
    file: Document,
    whole: Document,
}

pub fn columns(program: &Program, seed: u64) -> Result<Vec<Column>, Failure> {
    let threads = THREADS.map(|number| number.to_string()).join(",");
    let mut columns = Vec::new();
    for (system, (_, target, _)) in SYSTEMS.iter().enumerate() {
        let whole = program.measure("access", target, &["--threads", &threads], seed)?;
        let file = program.measure("access", target, &["--threads", &threads, "--range", FILE], seed)?;
        columns.push(Column { system, file, whole });
    }
    Ok(columns)
}

fn iops(document: &Document, threads: u64) -> String {
    for point in document.rows(FindingCode::ConcurrencyGain, "points") {
        if point["threads"] == threads
            && let Some(iops) = point["iops"].as_f64()
        {
            return format!("{iops:.0}");
        }
    }
    "-".to_string()
}

pub fn table(columns: &[Column]) -> String {
    let mut text = String::from(
        "## Reads of 4 KiB by threads, beside the article\n\nOver a file of 1 GB at the start of the drive and over all of it, reads per second. The drives of \
         the article are not named; these are of their\nkind. `access` goes past the system's memory: what the system adds is left out.\n\n| threads |",
    );
    for column in columns {
        let (name, ..) = SYSTEMS[column.system];
        let _ = write!(text, " {name}: article | file | whole |");
    }
    text.push_str("\n|---:|");
    text.push_str(&"---:|---:|---:|".repeat(columns.len()));
    text.push('\n');
    for (row, threads) in THREADS.into_iter().enumerate() {
        let _ = write!(text, "| {threads} |");
        for column in columns {
            let published = SYSTEMS[column.system].2[row];
            let _ = write!(
                text,
                " {published:.0} | {} | {} |",
                iops(&column.file, threads),
                iops(&column.whole, threads)
            );
        }
        text.push('\n');
    }
    text.push_str("\nWhat the runs over the whole drive say themselves:\n\n");
    for column in columns {
        let (name, target, _) = SYSTEMS[column.system];
        let _ = writeln!(text, "- {name} (`{target}`):");
        for code in EXPLAINING {
            let Some(found) = column.whole.finding(code) else { continue };
            let said = found["statement"].as_str().or(found["unknown"].as_str()).unwrap_or_default();
            let _ = writeln!(text, "  - `{}`: {said}", code.name());
        }
    }
    text
}
