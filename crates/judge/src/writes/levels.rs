//! All levels of rate of a flash drive that is written once in order, by `sustain --until levels`, against those of its profile.

use super::score::ALLOWED;
use super::table::percent;
use crate::document::Document;
use crate::failure::Failure;
use crate::machine::worst;
use crate::program::Program;
use crate::threads::on_two_threads;
use crate::virtual_drive::Drive;
use model::finding::FindingCode;
use model::request::Operation;
use sim::flash::profile::Initial;
use sim::flash::truth::WriteLevel;
use std::fmt::Write as _;

/// With fewer levels than this the first fall is all there is.
const LEVELS_MIN: usize = 3;
/// What a request of `sustain` moves, and how many are under way.
const BLOCK_BYTES: u32 = 128 << 10;
const DEPTH: u32 = 32;

struct Row {
    name: String,
    truth: Vec<WriteLevel>,
    found: Vec<(f64, f64)>,
    said: String,
}

pub fn table(drives: &[&[Drive]], program: &Program, seed: u64) -> Result<String, Failure> {
    let mut with_many = Vec::new();
    for drive in drives.iter().copied().flatten() {
        if let Some(levels) = levels(drive) {
            with_many.push((drive, levels));
        }
    }
    let rows = on_two_threads(with_many.len(), |number| {
        let (drive, truth) = &with_many[number];
        let options = ["--write", "--until", "levels", "--pattern", "sequential"];
        let document = program.measure("sustain", &drive.target, &options, seed)?;
        eprintln!("levels, {} of {}: {}", number + 1, with_many.len(), drive.name);
        let said = document.why(FindingCode::WriteCliff).to_owned();
        Ok(Row { name: drive.name.clone(), truth: truth.clone(), found: found(&document), said })
    })?;
    Ok(text(&rows))
}

fn levels(drive: &Drive) -> Option<Vec<WriteLevel>> {
    let profile = &drive.profile;
    let flash = profile.flash.as_ref().filter(|flash| flash.initial == Initial::Fresh)?;
    let link = profile.link.as_ref().and_then(|link| link.numbers().ok());
    let limit =
        link.map_or(f64::INFINITY, |link| link.bytes_per_second(Operation::Write, BLOCK_BYTES, DEPTH));
    let mut levels = flash.write_levels(profile.capacity().ok()?, limit);
    levels.dedup_by(|later, earlier| later.bytes_per_second == earlier.bytes_per_second);
    // What is over before the requests under way are answered is no level for anybody.
    let under_way = f64::from(BLOCK_BYTES) * f64::from(DEPTH);
    let mut lasting = Vec::new();
    for (index, level) in levels.iter().enumerate() {
        if levels.get(index + 1).is_none_or(|next| next.from_bytes - level.from_bytes > under_way) {
            lasting.push(*level);
        }
    }
    if lasting.len() >= LEVELS_MIN { Some(lasting) } else { None }
}

fn found(document: &Document) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    for level in document.rows(FindingCode::WriteCliff, "levels") {
        found.extend(level["from_bytes"].as_f64().zip(level["bytes_per_second"].as_f64()));
    }
    found
}

fn errors(row: &Row) -> Option<(f64, f64)> {
    if row.found.len() != row.truth.len() {
        return None;
    }
    let (mut places, mut rates) = (Vec::new(), Vec::new());
    for (index, (found, is)) in row.found.iter().zip(&row.truth).enumerate() {
        if index > 0 {
            places.push(found.0 / is.from_bytes - 1.0);
        }
        rates.push(found.1 / is.bytes_per_second - 1.0);
    }
    Some((worst(places.into_iter()).unwrap_or(0.0), worst(rates.into_iter()).unwrap_or(0.0)))
}

fn is_right(row: &&Row) -> bool {
    matches!(errors(row), Some((places, rates)) if places.abs() <= ALLOWED && rates.abs() <= ALLOWED)
}

fn text(rows: &[Row]) -> String {
    let complete = rows.iter().filter(|row| row.found.len() == row.truth.len()).count();
    let mut text = format!(
        "## Three levels and more\n\nNew flash drives of these that have more than two levels when they are written once in order, with `sustain --until levels \
         --pattern sequential`:\nof {}, {complete} are told with all levels, {} of them with all places and rates within {:.0} %. A level to which the \
         rate fell for a while and from which it came back is told as such, with the advice to look whether it comes again, since other load \
         looks alike in one run.\nWithout `--until \
         levels` it ends at the first fall, within 1.5 times the cache, and says that it has not looked for others.\n\n| drive | levels in truth | found | worst place | worst \
         rate |\n|---|---|---|---:|---:|\n",
        rows.len(),
        rows.iter().filter(is_right).count(),
        100.0 * ALLOWED
    );
    for row in rows {
        let truth: Vec<(f64, f64)> =
            row.truth.iter().map(|level| (level.from_bytes, level.bytes_per_second)).collect();
        let said = if row.found.is_empty() { row.said.clone() } else { listed(&row.found) };
        let (places, rates) = match errors(row) {
            Some((places, rates)) => (percent(places), percent(rates)),
            None => ("**not all**".to_owned(), "**not all**".to_owned()),
        };
        let _ = writeln!(text, "| {} | {} | {said} | {places} | {rates} |", row.name, listed(&truth));
    }
    text.push('\n');
    text
}

fn listed(levels: &[(f64, f64)]) -> String {
    let mut parts = Vec::new();
    for (index, (from, rate)) in levels.iter().enumerate() {
        parts.push(match index {
            0 => format!("{:.0} MB/s", rate / 1e6),
            _ => format!("from {:.1} GB on {:.0}", from / 1e9, rate / 1e6),
        });
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_drive::named;
    use serde_json::json;

    #[test]
    fn a_drive_of_four_levels_is_scored() {
        let drive = named("nm790").expect("a drive");
        let truth = levels(&drive).expect("it has more than two");
        assert_eq!(truth.len(), 4);
        let level = |from: f64, rate: f64| json!({ "from_bytes": from, "bytes_per_second": rate });
        let levels = [level(0.0, 5e9), level(280e9, 2.5e9), level(1.31e12, 0.8e9), level(1.86e12, 2.5e9)];
        let cliff = json!({ "code": "write-cliff", "value": 280e9, "data": { "levels": levels } });
        let row = Row {
            name: "nm790".into(),
            truth,
            found: found(&json!({ "findings": [cliff] }).into()),
            said: String::new(),
        };
        let (place, rate) = errors(&row).expect("as many");
        assert!((place - 0.0077).abs() < 0.002 && rate.abs() < 0.02, "{place} {rate}");
        let few = Row { found: row.found[..2].to_vec(), ..row };
        assert!(text(&[few]).contains("of 1, 0 are told with all levels"));
    }

    #[test]
    fn a_drive_of_two_levels_is_not_in_the_table() {
        let drive = named("sata-tlc-500gb").expect("a drive");
        assert!(levels(&drive).is_none());
    }
}
