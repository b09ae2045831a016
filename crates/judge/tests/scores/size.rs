//! `sizes` against drives whose truth is known: the rates of large requests, what a stall spoils, and that it writes only where it may.

use crate::home::{Home, measured, shipped, truth};
use experiment::sizes::{Sizes, SizesRequest};
use experiment::{Experiment, Setup};
use judge::document::Document;
use model::finding::FindingCode;
use model::range::ByteRange;
use serde_json::Value;

fn sizes(target: &str, options: &[&str]) -> Document {
    measured("sizes", target, options)
}

fn points(document: &Document, code: FindingCode) -> &[Value] {
    document.rows(code, "points")
}

/// The rate of sequential requests of that size.
fn rate(document: &Document, operation: &str, depth: u64, bytes: u64) -> f64 {
    let is_it = |point: &&Value| {
        point["operation"] == operation
            && point["pattern"] == "sequential"
            && point["depth"] == depth
            && point["bytes"] == bytes
    };
    let point = points(document, FindingCode::SizeProfile).iter().find(is_it);
    point
        .and_then(|point| point["bytes_per_second"].as_f64())
        .unwrap_or_else(|| panic!("{operation} {depth} {bytes}"))
}

/// Large requests come to the rates that the profile makes true; small ones are bounded by commands.
#[test]
fn large_requests_have_the_rate_of_the_drive() {
    let document = sizes("sim:x25-m", &["--write"]);
    for (operation, code) in [("read", FindingCode::ReadRateOuter), ("write", FindingCode::WriteRateOuter)] {
        let (found, is) = (rate(&document, operation, 4, 1 << 20), truth(&shipped("x25-m"), code));
        assert!((found / is - 1.0).abs() < 0.03, "{operation}: {found}, truth {is}");
    }
    // 35,000 commands a second, four at a time.
    let small = rate(&document, "read", 4, 512) / 512.0;
    assert!((small / 35_000.0 - 1.0).abs() < 0.03, "{small}");
    assert_eq!(points(&document, FindingCode::SizeProfile).len(), 18 * 4 + 4);
}

/// A disk with 256 MB of cache, which holds what eight reads of 64 MiB began with when they come to the end of 256 MiB.
#[test]
fn nothing_is_read_again_out_of_the_cache() {
    let document = sizes("sim:exos-x20", &[]);
    let is = truth(&shipped("exos-x20"), FindingCode::ReadRateOuter);
    for bytes in (20..=26).map(|power| 1u64 << power) {
        let found = rate(&document, "read", 4, bytes);
        assert!(found < 1.05 * is, "{bytes}: {found}, truth {is}");
    }
}

/// Also where points are measured again, no more is written and done than the plan says.
fn assert_written_as_said(document: &Document) {
    let facts = sim::open("x25-m", 1).expect("a drive that ships").facts().clone();
    let range = ByteRange::whole(facts.capacity);
    let setup =
        Setup { facts, range, may_write: true, empty: false, seed: 1, time_limit: None, precision: None };
    let said = Sizes::new(setup, &SizesRequest::default()).expect("a plan").remaining();
    let phases = document.phases();
    let operations = phases.iter().flat_map(|phase| phase["by_operation"].as_array().expect("operations"));
    let writes = operations.filter(|of| of["operation"] == "write");
    let written: u64 = writes.filter_map(|of| of["bytes"].as_u64()).sum();
    let at_most = said.writes().expect("bytes bound it").get();
    assert!(written <= at_most, "{written} of {at_most} bytes");
    assert!(phases.len() as u32 <= said.phases(), "{} of {} phases", phases.len(), said.phases());
}

/// A drive that stands still for half a second after each 4 GiB: the sizes that it hits are noticed, and their curve is as if it did not.
#[test]
fn what_a_stall_spoils_is_measured_again() {
    let home = Home::new();
    let text = judge::virtual_drive::text("x25-m").expect("a drive that ships");
    let sound = text.rfind("[flash.housekeeping]").expect("it has valleys");
    let stalls = "[flash.map_flush]\nevery_mib = 1500\nstall_ms = 500\n";
    let drive = home.drive("stalls", &format!("{}{stalls}", &text[..sound]));
    let document = sizes(&drive.target, &["--write"]);
    assert_written_as_said(&document);
    let suspect = points(&document, FindingCode::SuspectPoints);
    assert!((2..=8).contains(&suspect.len()), "{suspect:#?}");
    for point in suspect {
        let (before, after) =
            (point["before"].as_f64().expect("a rate"), point["after"].as_f64().expect("a rate"));
        assert!(before < after, "{point}");
    }
    let plain = sizes("sim:x25-m", &["--write"]);
    for bytes in (16..=26).map(|power| 1u64 << power) {
        let (found, is) = (rate(&document, "write", 4, bytes), rate(&plain, "write", 4, bytes));
        assert!((found / is - 1.0).abs() < 0.05, "{bytes}: {found}, undisturbed {is}");
    }
}

#[test]
fn it_writes_only_where_it_may_and_finds_nothing_where_nothing_is() {
    let document = sizes("sim:constant", &[]);
    let phases = document.phases();
    assert!(phases.iter().all(|phase| !phase["name"].as_str().expect("a name").contains("write")));
    assert_eq!(document.said(FindingCode::SuspectPoints)["value"], 0.0);
    let document = sizes("sim:null", &[]);
    let found = document.findings();
    assert!(found.iter().all(|finding| finding["unknown"].is_string()), "{found:#?}");
}
