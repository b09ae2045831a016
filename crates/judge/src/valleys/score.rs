//! Verdicts: what was found of valleys against what is true.

use super::drives::{Case, Sort};
use crate::document::{Document, number, rows};
use crate::failure::Failure;
use model::finding::FindingCode;
use model::units::{KIB, MIB};
use serde_json::Value;
use sim::flash::housekeeping::{burst_interval_s, burst_width_s, fragmentation_after_pass};
use sim::flash::profile::{FlashProfile, HousekeepingProfile};

/// What an interval and a width may differ by from the truth.
pub const INTERVAL_ALLOWED: f64 = 0.05;
pub const WIDTH_ALLOWED: f64 = 0.2;
const BLOCK_BYTES: u64 = 64 * KIB;
/// Narrower bursts do not span a slice of time, in seconds.
const WIDTH_S_MIN: f64 = 0.05;

pub struct Score {
    pub name: String,
    pub sort: Sort,
    pub said: Said,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    None,
    Unknown(String),
    /// That its rate falls at the same places in each pass: by `place`, or `unknown` where bytes may do that too.
    AtPlaces(String),
    Recurring(Found),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub by: String,
    /// The errors of the interval and of the width, as shares.
    pub interval: Option<f64>,
    /// Of the width in the first pass that has any.
    pub width: Option<f64>,
    /// How many were counted in passes at full rate, and how few and how many it may have been.
    pub count: Option<(u64, f64, f64)>,
}

impl Found {
    pub fn is_count_right(&self) -> bool {
        matches!(self.count, Some((found, low, high)) if (low..=high).contains(&(found as f64)))
    }

    pub fn is_interval_right(&self) -> bool {
        matches!(self.interval, Some(error) if error.abs() <= INTERVAL_ALLOWED)
    }

    pub fn is_width_right(&self) -> bool {
        matches!(self.width, Some(error) if error.abs() <= WIDTH_ALLOWED)
    }
}

struct Pass {
    is_slowed: bool,
    bytes: u64,
    seconds: f64,
    valleys: u64,
    width_s: f64,
}

impl Score {
    pub fn of(case: &Case, document: &Document) -> Result<Score, Failure> {
        let Some(found) = document.finding(FindingCode::WriteValleys) else {
            return Err(Failure::cannot(format!("{}: nothing is said of valleys.", case.drive.name)));
        };
        let said = match (found["unknown"].as_str(), found["data"]["by"].as_str()) {
            (Some(why), _) => Said::Unknown(why.to_string()),
            (None, None) => Said::None,
            (None, Some(by)) if found["data"]["places"].is_array() => Said::AtPlaces(by.to_string()),
            (None, Some(by)) => Said::Recurring(judged(case, found, by)),
        };
        Ok(Score { name: case.drive.name.clone(), sort: case.sort, said })
    }
}

fn judged(case: &Case, found: &Value, by: &str) -> Found {
    let unjudged = Found { by: by.to_string(), ..Found::default() };
    let Some(flash) = &case.drive.profile.flash else { return unjudged };
    let data = &found["data"];
    let passes: Vec<Pass> = rows(&data["passes"]).iter().map(pass).collect();
    match (case.sort, &flash.housekeeping) {
        (Sort::ByTime, Some(housekeeping)) => {
            let area_share = passes.iter().map(|pass| pass.bytes).max().unwrap_or(0) as f64
                / case.drive.profile.capacity().map_or(f64::INFINITY, model::units::Bytes::as_f64);
            let widths = widths(housekeeping, passes.len(), area_share);
            let interval = number(data, "interval_s") / burst_interval_s(housekeeping, 0.0) - 1.0;
            let first = passes.iter().zip(&widths).find(|(pass, _)| !pass.is_slowed && pass.valleys > 0);
            let width = first.map(|(pass, width_s)| pass.width_s / width_s - 1.0);
            let count = Some(count_by_time(housekeeping, &passes, &widths));
            Found { interval: Some(interval), width, count, ..unjudged }
        }
        (Sort::ByBytes, _) => by_bytes(flash, &passes, data, unjudged),
        _ => unjudged,
    }
}

fn pass(row: &Value) -> Pass {
    Pass {
        is_slowed: row["slowed"] == true,
        bytes: number(row, "bytes") as u64,
        seconds: number(row, "seconds"),
        valleys: number(row, "valleys") as u64,
        width_s: number(row, "width_s"),
    }
}

/// How long a burst lasts in each pass over that share of the drive: passes take its fragmentation away, and leave the rest as it is.
fn widths(housekeeping: &HousekeepingProfile, passes: usize, area_share: f64) -> Vec<f64> {
    let (initial, elsewhere) = (housekeeping.initial_fragmentation, housekeeping.elsewhere_share);
    let mut here = initial;
    let mut widths = Vec::new();
    for _ in 0..passes {
        let everywhere = area_share * here + (1.0 - area_share) * initial;
        widths.push(burst_width_s(housekeeping, (1.0 - elsewhere) * here + elsewhere * everywhere));
        here = fragmentation_after_pass(housekeeping, here, BLOCK_BYTES);
    }
    widths
}

/// In a stretch of passes at full rate there are as many as fit, or one more or less by when the last one was before it, and by how much
/// intervals differ: evenly by the jitter to both sides, so by the jitter over √3, of which twice is allowed.
fn count_by_time(housekeeping: &HousekeepingProfile, passes: &[Pass], widths: &[f64]) -> (u64, f64, f64) {
    let (mut seconds, mut found, mut stretches) = (0.0, 0, 1.0);
    for (index, (pass, width_s)) in passes.iter().zip(widths).enumerate() {
        if !pass.is_slowed && *width_s >= WIDTH_S_MIN {
            seconds += pass.seconds;
            found += pass.valleys;
        }
        if !pass.is_slowed && index > 0 && passes[index - 1].is_slowed {
            stretches += 1.0;
        }
    }
    let expected = seconds / burst_interval_s(housekeeping, 0.0);
    let spread = stretches + 2.0 * housekeeping.interval_jitter / 3f64.sqrt() * expected.sqrt();
    (found, expected - spread, expected + spread)
}

/// After so many bytes, and only passes write: how many there were is exact.
fn by_bytes(flash: &FlashProfile, passes: &[Pass], data: &Value, unjudged: Found) -> Found {
    let Some(flush) = &flash.map_flush else { return unjudged };
    let every = flush.every_mib * MIB;
    let (mut written, mut expected, mut found) = (0, 0, 0);
    for pass in passes {
        let until = written + pass.bytes;
        if !pass.is_slowed {
            expected += until / every - written / every;
            found += pass.valleys;
        }
        written = until;
    }
    let expected = expected as f64;
    Found {
        interval: Some(number(data, "interval_bytes") / every as f64 - 1.0),
        width: Some(number(data, "width_s") / (flush.stall_ms * 1e-3) - 1.0),
        count: Some((found, expected, expected)),
        ..unjudged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_drive::Folder;
    use serde_json::json;

    fn case(sort: Sort, more: &str) -> Case {
        let folder = Folder::make().expect("a folder");
        let text = crate::virtual_drive::text("x25-m").expect("a drive");
        // The first mention is a comment.
        let at = text.rfind("[flash.housekeeping]").expect("it has valleys");
        let rest = text[at..].replace("[flash.housekeeping]", &format!("[flash.housekeeping]\n{more}"));
        let text = format!("{}{}", &text[..at], if sort == Sort::ByTime { &rest } else { more });
        Case { drive: folder.drive("own", &text).expect("a drive"), sort }
    }

    fn found(case: &Case, finding: &Value) -> Said {
        let document = json!({ "findings": [finding] });
        Score::of(case, &document.into()).expect("a drive").said
    }

    fn row(slowed: bool, bytes: f64, seconds: f64, valleys: u64, width_s: f64) -> Value {
        json!({ "slowed": slowed, "bytes": bytes as u64, "seconds": seconds, "valleys": valleys, "width_s": width_s })
    }

    /// Stalls of 300 ms after 700 MiB each: 734 MB. A pass of 5 GB has six; the slowed one after it the seventh, and the third six more.
    #[test]
    fn stalls_by_bytes_are_counted_exactly() {
        let case = case(Sort::ByBytes, "[flash.map_flush]\nevery_mib = 700\nstall_ms = 300\n");
        let finding = |last: u64| {
            json!({ "code": "write-valleys", "value": last, "data": { "by": "bytes", "interval_bytes": 741_343_232.0, "width_s": 0.33,
                "passes": [row(false, 5e9, 60.0, 6, 0.3), row(true, 0.3e9, 9.0, 1, 0.0), row(false, 5e9, 60.0, last, 0.3)] } })
        };
        let Said::Recurring(right) = found(&case, &finding(7)) else { panic!("they recur") };
        assert_eq!(right.count, Some((13, 13.0, 13.0)));
        assert!(
            (right.interval.unwrap_or(9.0) - 0.01).abs() < 1e-3
                && (right.width.unwrap_or(9.0) - 0.1).abs() < 1e-9
        );
        let Said::Recurring(wrong) = found(&case, &finding(6)) else { panic!("they recur") };
        assert!(!wrong.is_count_right() && wrong.is_interval_right() && wrong.is_width_right());
    }

    /// Of an X25-M of which 0.8 is fragmented: 0.9·√0.8 = 0.805 s a minute.
    #[test]
    fn bursts_by_time_are_as_wide_as_what_is_fragmented() {
        let case = case(Sort::ByTime, "initial_fragmentation = 0.8\n");
        let finding = json!({ "code": "write-valleys", "value": 6, "data": { "by": "time", "interval_s": 66.0, "width_s": 0.3,
            "passes": [row(false, 24e9, 360.0, 6, 0.805), row(false, 24e9, 360.0, 9, 0.55)] } });
        let Said::Recurring(said) = found(&case, &finding) else { panic!("they recur") };
        assert!(said.width.is_some_and(|error| error.abs() < 0.01), "{said:?}");
        // 12 of them, or one more or less and what they jitter by.
        assert!(!said.is_interval_right() && !said.is_count_right(), "{said:?}");
    }

    #[test]
    fn nothing_and_not_knowing_are_told_apart() {
        let case = case(Sort::Quiet, "");
        assert_eq!(found(&case, &json!({ "code": "write-valleys", "value": 0.0, "data": {} })), Said::None);
        assert_eq!(
            found(&case, &json!({ "code": "write-valleys", "unknown": "why" })),
            Said::Unknown("why".into())
        );
        let at =
            json!({ "code": "write-valleys", "value": 5, "data": { "by": "place", "places": [0, 4096] } });
        assert_eq!(found(&case, &at), Said::AtPlaces("place".into()));
        let some = found(&case, &json!({ "code": "write-valleys", "value": 5, "data": { "by": "time" } }));
        assert_eq!(some, Said::Recurring(Found { by: "time".into(), ..Found::default() }));
    }
}
