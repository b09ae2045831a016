//! The whole program against drives whose truth is known: how often the intervals that it prints hold the truth, what
//! it finds on a faulty drive, and that it finds nothing on a drive that is none.
//!
//! A virtual run is the same for the same seed, so these tests cannot fail by chance. Bounds come from the binomial
//! distribution all the same: an interval of 95 % that holds the truth less often than they say is no such interval.

use crate::home::{measured, value};
use judge::document::{Document, covers, rows};
use judge::threads::on_two_threads;
use model::finding::FindingCode;
use serde_json::Value;

const CODES: [FindingCode; 5] = [
    FindingCode::ReadRateOuter,
    FindingCode::ReadRateInner,
    FindingCode::ReadRateMean,
    FindingCode::FullPassTime,
    FindingCode::AccessTime,
];
/// Runs, and how many of the intervals may miss: 30 with a probability of 0.05 have more than 7 misses once in 11,000
/// times; 200 have more than 23 once in 14,000 times.
const RUNS_AND_MISSES: (u64, usize) = if cfg!(debug_assertions) { (30, 7) } else { (200, 23) };

/// The one finding of that code.
fn finding(document: &Document, code: FindingCode) -> &Value {
    let count = document.findings().iter().filter(|finding| finding["code"] == code.name()).count();
    assert_eq!(count, 1, "findings of {}", code.name());
    document.said(code)
}

fn number(finding: &Value, key: &str) -> f64 {
    finding[key].as_f64().unwrap_or_else(|| panic!("{key} of {finding}"))
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let (runs, misses_max) = RUNS_AND_MISSES;
    let run = |seed: usize| Ok(measured("check", "sim:zoned", &["--seed", &seed.to_string()]));
    let documents = on_two_threads(runs as usize, run).expect("no run failed");
    let truth = sim::truth::truth("zoned").expect("a drive that ships");
    for code in CODES {
        let true_value = truth.iter().find(|truth| truth.code == code).and_then(|truth| truth.value());
        let true_value = true_value.expect("the truth is known");
        let findings: Vec<&Value> = documents.iter().map(|document| finding(document, code)).collect();
        let misses = findings.iter().filter(|found| covers(found, true_value) != Some(true)).count();
        let mean_of =
            |key: &str| findings.iter().map(|f| number(f, key)).sum::<f64>() / findings.len() as f64;
        let width = (mean_of("high") - mean_of("low")) / 2.0 / true_value;
        let bias = mean_of("value") / true_value - 1.0;
        eprintln!(
            "{:16} held the truth in {} of {runs} runs; half width {:.2} %, mean error {:+.2} %",
            code.name(),
            findings.len() - misses,
            width * 100.0,
            bias * 100.0
        );
        assert!(misses <= misses_max, "{}: {misses} of {runs} intervals miss {true_value}", code.name());
        // A width of 10 % would say little; the access time of a disk varies most.
        assert!(width < 0.1 && bias.abs() < 0.02, "{}: half width {width}, bias {bias}", code.name());
    }
}

#[test]
fn a_faulty_drive_has_one_bad_place_where_it_is_bad() {
    let document = measured("check", "sim:faulty", &[]);
    let bad = finding(&document, FindingCode::BadBlocks);
    assert_eq!(value(&document, FindingCode::BadBlocks), 1.0);
    let regions = rows(&bad["data"]["regions"]);
    assert_eq!(regions.len(), 1, "{regions:?}");
    let first = regions[0]["first_byte"].as_u64().expect("a place");
    let end = first + regions[0]["bytes"].as_u64().expect("a length");
    assert!((first..end).contains(&300_000_000_000), "{first}..{end}");
    // Blocks of 1 MiB that touch either end of the 16 MiB.
    assert!(first >= 300_000_000_000 - (1 << 20) && end <= 300_000_000_000 + (17 << 20), "{first}..{end}");
}

#[test]
fn nothing_is_found_on_a_drive_that_is_none() {
    let document = measured("check", "sim:null", &["--time-limit", "5s"]);
    for finding in document.findings() {
        // That no request failed is true of it too.
        let nothing =
            finding.get("unknown").is_some() || (finding["code"] == "bad-blocks" && finding["value"] == 0.0);
        assert!(nothing, "{finding}");
    }
}

#[test]
fn eight_servers_gain_eight() {
    let document = measured("check", "sim:constant", &["--time-limit", "10s"]);
    let gain = finding(&document, FindingCode::ConcurrencyGain);
    assert!((number(gain, "value") - 8.0).abs() < 0.01, "{gain}");
    assert!(number(gain, "low") <= 8.0 && 8.0 <= number(gain, "high"), "{gain}");
    let access = finding(&document, FindingCode::AccessTime);
    assert!((number(access, "value") - 100e-6).abs() < 0.1e-6, "{access}");
}
