//! The page and the document of runs set side by side.

#[allow(dead_code, reason = "each test uses some of the runs")]
mod runs;

use model::comparison::{
    Change, ChangeUnknown, ChangedRegion, ComparedFigure, Comparison, Difference, RunContradiction,
    SurfaceChange,
};
use model::estimate::Estimate;
use model::finding::{Contradicting, FindingCode, SurveyUnknown, Value};
use model::range::ByteRange;
use model::request::Operation;
use model::units::{Bytes, Offset};
use report::json::{comparison_document, text_of};
use report::style::{Style, columns_of};
use report::terminal::{ComparePage, compare_page, run_letter};

fn estimate(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low, high, confidence: 0.95, effective_count: 24.0 }
}

/// A drive that lost 5 % at its start.
fn comparison() -> Comparison {
    let difference = |ratio, is_significant| Difference {
        first: 0,
        second: 1,
        ratio,
        probability: if is_significant { 1e-6 } else { 0.4 },
        is_significant,
    };
    Comparison {
        caveats: vec!["A and B used different engines: uring and psync.".into()],
        contradictions: vec![RunContradiction {
            first: 0,
            second: 1,
            between: [8.3333e-3, 11.111e-3].map(|period_s| Contradicting {
                code: FindingCode::RotationPeriod,
                value: Value::Number(estimate(period_s, 0.999 * period_s, 1.001 * period_s)),
            }),
        }],
        figures: vec![
            ComparedFigure {
                code: FindingCode::ReadRateOuter,
                unit: "B/s".into(),
                values: vec![Some(estimate(211e6, 209e6, 213e6)), Some(estimate(200.5e6, 198.5e6, 202.5e6))],
                differences: vec![difference(estimate(0.95, 0.94, 0.96), true)],
            },
            ComparedFigure {
                code: FindingCode::AccessTime,
                unit: "s".into(),
                values: vec![Some(estimate(0.0125, 0.012, 0.013)), Some(estimate(0.0128, 0.0124, 0.0132))],
                differences: vec![difference(estimate(1.02, 0.97, 1.08), false)],
            },
            ComparedFigure {
                code: FindingCode::ReadRateMean,
                unit: "B/s".into(),
                values: vec![None, Some(estimate(150e6, 149e6, 151e6))],
                differences: vec![],
            },
        ],
        changes: vec![
            Change {
                earlier: 0,
                later: 1,
                operation: Operation::Read,
                outcome: Ok(SurfaceChange {
                    regions: vec![ChangedRegion {
                        range: ByteRange::new(Offset::new(1_200_000_000_000), Bytes::new(150_000_000_000))
                            .unwrap(),
                        rate_ratio: estimate(0.88, 0.85, 0.91),
                    }],
                    cells: 40,
                    smallest_seen: 0.05,
                }),
            },
            Change {
                earlier: 0,
                later: 1,
                operation: Operation::Write,
                outcome: Err(ChangeUnknown::Run { name: "A".into(), reason: SurveyUnknown::NothingMeasured }),
            },
        ],
    }
}

fn page(comparison: &Comparison, width: usize, unicode: bool) -> String {
    let run = runs::hard_disk();
    let mut later = run.clone();
    later.id = "20271121-201507-b771".into();
    later.started = "2027-11-21T20:15:07Z".into();
    let page = ComparePage { runs: &[&run, &later], comparison, chart: None };
    compare_page(&page, Style { width, colour: false, unicode, draws: true })
}

#[test]
fn what_differs_is_listed() {
    assert_eq!(
        page(&comparison(), 100, true),
        "\
A  ST3000DM001-1CH166, 2026-11-21 20:15 UTC, 3.00 TB; run 20261121-201507-a3f1
B  ST3000DM001-1CH166, 2027-11-21 20:15 UTC, 3.00 TB; run 20271121-201507-b771

! A and B used different engines: uring and psync.

! Rotation period 8.333 ms (8.325 to 8.342) of A contradicts Rotation period 11.111 ms (11.100 to
  11.122) of B: same drive, same conditions. One is wrong, or the drive changed.

Side by side
                    A                            B
  Seq. read, start  211.0 MB/s (209.0 to 213.0)  200.5 MB/s (198.5 to 202.5)
  Access time       12.5 ms (12.0 to 13.0)       12.8 ms (12.4 to 13.2)
  Seq. read, mean   -                            150.0 MB/s (149.0 to 151.0)

B against A
  Seq. read, start  5.0 % less (4.0 to 6.0 %)
  No significant difference: Access time.

Same drive, then and now
  Reads, A to B: from 1.20 TB to 1.35 TB 12 % slower (9 to 15 %).
  Writes, A to B: cannot be compared by LBA. A: Not measured: no sequential phase.

  Ranges are 95 % confidence intervals. 2 differences were tested together at a false discovery rate
  of 5 % (Benjamini and Hochberg 1995).
"
    );
}

#[test]
fn nothing_is_said_where_nothing_differs() {
    let mut comparison = comparison();
    comparison.changes.truncate(1);
    comparison.changes[0].outcome = Ok(SurfaceChange { regions: vec![], cells: 40, smallest_seen: 0.049 });
    let words: Vec<String> = page(&comparison, 120, true).split_whitespace().map(String::from).collect();
    let expected = "Reads, A to B: no region changed significantly. 40 regions were compared; a change of 5 % would be \
                    detected in half of such comparisons.";
    assert!(words.join(" ").contains(expected), "{words:?}");
}

#[test]
fn every_line_fits() {
    for width in [40, 60, 80, 120] {
        for unicode in [true, false] {
            for line in page(&comparison(), width, unicode).lines() {
                assert!(columns_of(line) <= width, "{width}: {line:?}");
                assert!(unicode || line.is_ascii(), "{line:?}");
            }
        }
    }
}

#[test]
fn runs_have_letters() {
    assert_eq!((run_letter(0), run_letter(25), run_letter(26)), ("A".into(), "Z".into(), "run 27".into()));
}

#[test]
fn the_document_is_in_base_units() {
    let run = runs::hard_disk();
    let text = text_of(&comparison_document(&comparison(), &[&run, &run]));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "drivescope.compare/1");
    assert_eq!(document["runs"][0]["capacity_bytes"], 3_000_592_982_016u64);
    assert_eq!(document["figures"][0]["code"], "read-rate-outer");
    assert_eq!(document["figures"][0]["values"][0]["value"], 211e6);
    assert_eq!(document["figures"][0]["differences"][0]["significant"], true);
    assert_eq!(document["figures"][2]["values"][0], serde_json::Value::Null);
    assert_eq!(document["changes"][0]["regions"][0]["first_byte"], 1_200_000_000_000u64);
    assert_eq!(document["changes"][1]["unknown"], "A: Not measured: no sequential phase.");
}
