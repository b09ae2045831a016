//! All levels of rate of a flash drive that is written once in order, by `sustain --until levels`, against those of its profile.

use std::fmt::Write as _;

use serde_json::Value;

use model::finding::FindingCode;
use model::request::Operation;
use sim::flash::profile::Initial;
use sim::flash::truth::WriteLevel;

use super::score::ALLOWED;
use crate::Failure;
use crate::bench::document::finding;
use crate::bench::on_two_threads;
use crate::bench::program::Program;
use crate::bench::virtual_drive::Drive;

/// With fewer levels than this the first fall is all there is.
const LEVELS_MIN: usize = 3;
/// What a request of `sustain` moves, and how many are under way.
const BLOCK_BYTES: u32 = 128 << 10;
const DEPTH: u32 = 32;

/// A drive and the levels that were found.
struct Row {
    name: String,
    truth: Vec<WriteLevel>,
    found: Vec<(f64, f64)>,
    /// What was said where no fall was found that lasts.
    said: String,
}

/// The table of those of these drives that have more than two levels.
pub fn table(drives: &[&[Drive]], program: &Program, seed: u64) -> Result<String, Failure> {
    let with_many: Vec<(&Drive, Vec<WriteLevel>)> =
        drives.iter().copied().flatten().filter_map(|drive| Some((drive, levels(drive)?))).collect();
    let seed = seed.to_string();
    let rows = on_two_threads(with_many.len(), |number| {
        let (drive, truth) = &with_many[number];
        let words = ["--until", "levels", "--pattern", "sequential", "--seed", &seed];
        let document = program.run(&[&["sustain", &drive.target, "--write"], &words[..]].concat())?;
        eprintln!("levels, {} of {}: {}", number + 1, with_many.len(), drive.name);
        Ok(Row {
            name: drive.name.clone(),
            truth: truth.clone(),
            found: found(&document),
            said: said(&document),
        })
    });
    Ok(text(&rows.into_iter().collect::<Result<Vec<Row>, Failure>>()?))
}

/// The levels of a drive that is written once in order, if there are enough.
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
    let lasts = |index: &usize| {
        levels.get(index + 1).is_none_or(|next| next.from_bytes - levels[*index].from_bytes > under_way)
    };
    let levels: Vec<WriteLevel> = (0..levels.len()).filter(lasts).map(|index| levels[index]).collect();
    (levels.len() >= LEVELS_MIN).then_some(levels)
}

/// From where on each rate was found.
fn found(document: &Value) -> Vec<(f64, f64)> {
    let Some(cliff) = finding(document, FindingCode::WriteCliff) else { return Vec::new() };
    let number = |row: &Value, key: &str| row[key].as_f64();
    let levels = cliff["data"]["levels"].as_array().into_iter().flatten();
    levels.filter_map(|row| number(row, "from_bytes").zip(number(row, "bytes_per_second"))).collect()
}

/// Why no fall was told.
fn said(document: &Value) -> String {
    let cliff = finding(document, FindingCode::WriteCliff);
    cliff.and_then(|cliff| cliff["unknown"].as_str()).unwrap_or_default().to_string()
}

/// The largest errors of places and of rates; none where not as many levels were found as there are.
fn errors(row: &Row) -> Option<(f64, f64)> {
    if row.found.len() != row.truth.len() {
        return None;
    }
    let pairs = || row.found.iter().zip(&row.truth);
    let largest = |errors: &mut dyn Iterator<Item = f64>| {
        errors.max_by(|one, two| one.abs().total_cmp(&two.abs())).unwrap_or(0.0)
    };
    let places = largest(&mut pairs().skip(1).map(|(found, is)| found.0 / is.from_bytes - 1.0));
    let rates = largest(&mut pairs().map(|(found, is)| found.1 / is.bytes_per_second - 1.0));
    Some((places, rates))
}

fn text(rows: &[Row]) -> String {
    let is_right = |row: &&Row| {
        errors(row).is_some_and(|(places, rates)| places.abs() <= ALLOWED && rates.abs() <= ALLOWED)
    };
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
        let truth =
            row.truth.iter().map(|level| (level.from_bytes, level.bytes_per_second)).collect::<Vec<_>>();
        let error = |of: fn((f64, f64)) -> f64| match errors(row).map(of) {
            Some(error) if error.abs() <= ALLOWED => format!("{:+.1} %", 100.0 * error),
            Some(error) => format!("**{:+.1} %**", 100.0 * error),
            None => "**not all**".into(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            row.name,
            listed(&truth),
            if row.found.is_empty() { row.said.clone() } else { listed(&row.found) },
            error(|errors| errors.0),
            error(|errors| errors.1)
        );
    }
    text.push('\n');
    text
}

/// "5000 MB/s, from 280 GB on 2500".
fn listed(levels: &[(f64, f64)]) -> String {
    let level = |(index, (from, rate)): (usize, &(f64, f64))| match index {
        0 => format!("{:.0} MB/s", rate / 1e6),
        _ => format!("from {:.1} GB on {:.0}", from / 1e9, rate / 1e6),
    };
    levels.iter().enumerate().map(level).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::virtual_drive::named;
    use serde_json::json;

    #[test]
    fn a_drive_of_four_levels_is_scored() {
        let drive = named("nm790").unwrap_or_else(|failure| panic!("{}", failure.message));
        let truth = levels(&drive).expect("it has more than two");
        assert_eq!(truth.len(), 4);
        let level = |from: f64, rate: f64| json!({ "from_bytes": from, "bytes_per_second": rate });
        let levels = [level(0.0, 5e9), level(280e9, 2.5e9), level(1.31e12, 0.8e9), level(1.86e12, 2.5e9)];
        let cliff = json!({ "code": "write-cliff", "value": 280e9, "data": { "levels": levels } });
        let row = Row {
            name: "nm790".into(),
            truth,
            found: found(&json!({ "findings": [cliff] })),
            said: String::new(),
        };
        let (place, rate) = errors(&row).expect("as many");
        assert!((place - 0.0077).abs() < 0.002 && rate.abs() < 0.02, "{place} {rate}");
        let few = Row { found: row.found[..2].to_vec(), ..row };
        assert!(text(&[few]).contains("of 1, 0 are told with all levels"));
    }

    #[test]
    fn a_drive_of_two_levels_is_not_in_the_table() {
        let drive = named("sata-tlc-500gb").unwrap_or_else(|failure| panic!("{}", failure.message));
        assert!(levels(&drive).is_none());
    }
}
