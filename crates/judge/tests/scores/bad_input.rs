//! Drives that are odd while they are measured: each run ends with an answer, and says nothing that is wrong.

use crate::home::{Home, ended, measured, truth};
use judge::document::Document;
use judge::virtual_drive::Drive;
use model::finding::FindingCode;

const DISK: &str = "wd20ears";
/// How far off a rate or a time may be without other load on a busy drive.
const ERROR_MAX: f64 = 0.02;

/// The disk with other lines and with more at its end.
fn disk(home: &Home, changes: &[(&str, &str)], more: &str) -> Drive {
    home.changed(DISK, changes, more)
}

fn near(document: &Document, drive: &Drive, code: FindingCode) {
    let is = truth(&drive.profile, code);
    let found = document.value(code).unwrap_or_else(|| panic!("{}", document.said(code)));
    assert!((found / is - 1.0).abs() < ERROR_MAX, "{}: {found}, truth {is}", code.name());
}

/// The first seconds find out how the drive streams best; what they see then is not the drive.
#[test]
fn a_drive_that_is_slow_while_it_is_calibrated_is_known_all_the_same() {
    let home = Home::new();
    let more = "\n[[faults]]\nkind = \"slow\"\nmilliseconds = 10\nat_s = 0.3\nseconds = 4\n";
    let drive = disk(&home, &[], more);
    let survey = measured("surface", &drive.target, &[]);
    for code in [FindingCode::ReadRateOuter, FindingCode::ReadRateInner, FindingCode::ReadRateMean] {
        near(&survey, &drive, code);
    }
}

/// A bridge that loses what it gets while it works: 62 timeouts in 14 places were 14 bad regions of a drive to be replaced.
#[test]
fn a_queue_that_hangs_is_no_bad_block() {
    let home = Home::new();
    let more = "\n[[faults]]\nkind = \"hangs-past-depth\"\nseconds = 2\n";
    let drive = disk(&home, &[], more);
    let run = ended("check", &drive.target, &[]);
    let said = run.said(FindingCode::BadBlocks);
    assert_eq!(run.value(FindingCode::BadBlocks), None, "{said}");
    assert!(said["unknown"].as_str().unwrap_or_default().contains("The queue hangs"), "{said}");
}

/// A cable that fails now and then: 194 places were bad blocks of a drive to be replaced. What cannot be read fails again at once, and is.
#[test]
fn what_does_not_fail_again_is_no_bad_block() {
    let home = Home::new();
    let now_and_then = "\n[[faults]]\nkind = \"short-reads\"\nevery_reads = 400\n";
    let lasting = "\n[[faults]]\nkind = \"unreadable\"\nfirst_byte = 100000000000\nbytes = 9000000000\n";
    for (more, rereads) in [(now_and_then, 24), (lasting, 1)] {
        let drive = disk(&home, &[], more);
        let run = ended("surface", &drive.target, &[]);
        let said = run.said(FindingCode::BadBlocks);
        let reread = run.phases().iter().filter(|phase| phase["kind"] == "reread").count();
        assert_eq!((run.value(FindingCode::BadBlocks).is_some(), reread), (rereads == 1, rereads), "{said}");
        let why = said["unknown"].as_str().unwrap_or_default();
        assert_eq!(
            why.contains("none of 24 reads of the same blocks did afterwards"),
            rereads == 24,
            "{said}"
        );
    }
}

/// Its credit ends after 27 s. A limit of bytes was told that there is not, or the time between two tokens as the access time.
#[test]
fn a_limit_that_changes_while_it_is_met_is_called_what_it_is() {
    let home = Home::new();
    for changes_at_s in ["30", "40", "45"] {
        let limit = format!("iops = 300\nchanges_at_s = {changes_at_s}\nchanges_by = 0.5");
        let changes = [("iops = 300", limit.as_str()), ("credit_requests = 40000", "credit_requests = 4000")];
        let volume = home.changed("cloud-volume", &changes, "");
        let run = measured("check", &volume.target, &[]);
        let said = run.said(FindingCode::RateLimit);
        let why = said["unknown"].as_str().unwrap_or_default();
        assert!(why.contains("the rate limit changed during the run, from 300 IOPS to 150 IOPS"), "{said}");
        assert_eq!(run.value(FindingCode::AccessTime), None, "{}", run.said(FindingCode::AccessTime));
    }
}

#[test]
fn blocks_of_4096_bytes_and_a_drive_of_a_gigabyte_change_nothing() {
    let home = Home::new();
    let native = disk(&home, &[("logical_block_bytes = 512", "logical_block_bytes = 4096")], "");
    let deep = measured("check", &native.target, &["--deep"]);
    for code in [FindingCode::ReadRateMean, FindingCode::AccessTime, FindingCode::RotationPeriod] {
        near(&deep, &native, code);
    }
    let small =
        home.changed("constant", &[("capacity_bytes = 1000000000000", "capacity_bytes = 1000001536")], "");
    let deep = measured("check", &small.target, &["--deep"]);
    for code in [FindingCode::ReadRateMean, FindingCode::AccessTime] {
        near(&deep, &small, code);
    }
}

#[test]
fn a_range_smaller_than_a_track_is_refused_with_what_it_takes() {
    let home = Home::new();
    for experiment in ["surface", "access", "geometry", "sizes"] {
        let outcome = home.run(&[experiment, "sim:wd20ears", "--range", "0..524288"]);
        assert_eq!(outcome.status, Some(2), "{experiment}: {}", outcome.err);
        assert!(outcome.err.contains("Give a larger --range"), "{experiment}: {}", outcome.err);
    }
}
