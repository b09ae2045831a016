//! The pages of estimates and partition plans, as people see them.

use model::estimate::Estimate;
use model::range::ByteRange;
use model::units::{Bytes, Offset};
use report::json::{estimate_document, partition_document, text_of};
use report::style::Style;
use report::terminal::{
    EstimatePage, EstimatedDrive, EstimatedRow, EstimatedWork, PartitionPage, PlannedCut, PlannedPartition,
    Told, estimate_page, partition_page, partition_script,
};

const MIB: u64 = 1 << 20;

fn style(width: usize) -> Style {
    Style { width, colour: false, unicode: true, draws: true }
}

fn about(value: f64, share: f64) -> Estimate {
    Estimate {
        value,
        low: value * (1.0 - share),
        high: value * (1.0 + share),
        confidence: 0.95,
        effective_count: 50.0,
    }
}

fn drive(name: &str) -> EstimatedDrive {
    EstimatedDrive {
        name: name.into(),
        capacity: Bytes::new(3_000_592_982_016),
        run: "20261122-check".into(),
        basis: vec!["Reads: 30 zones.".into()],
    }
}

fn row(drive: usize, outcome: Told<(Estimate, Estimate)>) -> EstimatedRow {
    let range = ByteRange::whole(Bytes::new(3_000_592_982_016));
    EstimatedRow { drive, is_of_all: false, range, outcome, is_open: false }
}

fn page() -> EstimatePage {
    let seconds = about(17_941.0, 0.005);
    let open = Estimate { high: f64::INFINITY, ..seconds };
    let rate = about(167.2e6, 0.005);
    EstimatePage {
        drives: vec![drive("ST3000DM001-1CH166")],
        works: vec![
            EstimatedWork {
                name: "full-read",
                what: "Read the whole drive".into(),
                rows: vec![row(0, Told::Known((seconds, rate)))],
            },
            EstimatedWork {
                name: "rebuild",
                what: "Rebuild it in a RAID".into(),
                rows: vec![EstimatedRow { is_open: true, ..row(0, Told::Known((open, rate))) }],
            },
            EstimatedWork {
                name: "surface-check-write",
                what: "Check its surface by writing".into(),
                rows: vec![row(0, Told::Unknown("All 9 visits met errors.".into()))],
            },
        ],
        budgets: Vec::new(),
        notes: vec!["For drives that do nothing else meanwhile.".into()],
    }
}

#[test]
fn one_drive_has_a_table_of_its_work() {
    assert_eq!(
        estimate_page(&page(), style(100)),
        "\
ST3000DM001-1CH166, 3.00 TB
  From the run 20261122-check. Reads: 30 zones.

task                          time        range                    rate
Read the whole drive          4 h 59 min  4 h 58 min to 5 h 1 min  167.2 MB/s
Rebuild it in a RAID          4 h 59 min  4 h 58 min or more       -
Check its surface by writing  unknown     -                        -
    All 9 visits met errors.

  For drives that do nothing else meanwhile.
"
    );
}

#[test]
fn several_drives_have_a_table_for_each_work() {
    let mut several = page();
    several.drives.push(drive("WDC WD20EARS-00MVWB0"));
    let (seconds, rate) = (about(17_347.0, 0.005), about(115.3e6, 0.005));
    several.works.truncate(1);
    several.works[0].rows.push(row(1, Told::Known((seconds, rate))));
    several.works[0].rows.push(EstimatedRow { is_of_all: true, ..row(1, Told::Known((seconds, rate))) });
    let page = estimate_page(&several, style(100));
    assert!(page.contains("in parallel, limited by WDC WD20EARS-00MVWB0  4 h 49 min"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    let document: serde_json::Value = serde_json::from_str(&text_of(&estimate_document(&several))).unwrap();
    assert_eq!(document["works"][0]["times"][2]["all_at_once"], true);
}

#[test]
fn an_open_end_is_null_in_json() {
    let document: serde_json::Value = serde_json::from_str(&text_of(&estimate_document(&page()))).unwrap();
    assert_eq!(document["schema"], "drivescope.estimate/1");
    let rebuild = &document["works"][1]["times"][0];
    assert!(rebuild["seconds"]["high"].is_null() && rebuild["seconds"]["value"] == 17_941.0);
    assert_eq!(document["works"][2]["times"][0]["unknown"], "All 9 visits met errors.");
}

fn plan(name: &str, block: u64) -> PartitionPage {
    let range = |first, bytes| ByteRange::new(Offset::new(first * MIB), Bytes::new(bytes * MIB)).unwrap();
    let partition = |name: &str, range, mean, fastest, slowest| PlannedPartition {
        name: name.into(),
        range,
        mean: about(mean, 0.01),
        fastest: about(fastest, 0.01),
        slowest: about(slowest, 0.01),
    };
    PartitionPage {
        drive: name.into(),
        capacity: Bytes::new(3_000_592_982_016),
        logical_block: Bytes::new(block),
        run: "20261122-surface".into(),
        wish: "The fastest 10 % as one partition".into(),
        basis: vec!["Reads: 30 zones.".into()],
        warnings: Vec::new(),
        partitions: vec![
            partition("fast", range(1, 286_101), 202e6, 203.6e6, 199e6),
            partition("rest", range(286_102, 2_575_485), 164e6, 199e6, 101.9e6),
        ],
        cuts: vec![PlannedCut {
            at: Offset::new(286_102 * MIB),
            asked: Offset::new(286_102 * MIB - 12_000_000_000),
            is_zone_border: true,
        }],
        has_zones: true,
        has_script: true,
        chart: None,
    }
}

#[test]
fn a_plan_shows_its_parts_its_cuts_and_a_script() {
    let page = partition_page(&plan("ST3000DM001-1CH166", 512), style(120));
    for line in [
        "ST3000DM001-1CH166, 3.00 TB",
        "The fastest 10 % as one partition",
        "fast       300 GB   202.0 MB/s  200.0 to 204.0  203.6 MB/s to 199.0 MB/s  1 MiB",
        "  Cut 1 moved to a zone boundary, 12.0 GB further in than requested.",
        "# It replaces the partition table: EVERYTHING ON THE DRIVE IS LOST.",
        "start=2048, size=585934848, type=linux, name=\"fast\"",
        "start=585936896, size=5274593280, type=linux, name=\"rest\"",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
}

#[test]
fn sectors_are_those_of_the_drive() {
    let script = partition_script(&plan("a drive", 4096));
    assert!(script.contains("start=256, size=73241856, type=linux, name=\"fast\"\n"), "{script}");
    assert!(script.contains("in sectors of 4 KiB"), "{script}");
}

#[test]
fn the_name_of_a_drive_stays_in_its_comment() {
    let script = partition_script(&plan("evil\nstart=0, size=1\u{1b}[2J\u{202e}東芝", 512));
    let commands: Vec<&str> = script.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(commands.len(), 4, "{script}");
    assert!(script.is_ascii() && commands[..2] == ["label: gpt", "unit: sectors"], "{script}");
    let document: serde_json::Value =
        serde_json::from_str(&text_of(&partition_document(&plan("x", 512)))).unwrap();
    assert_eq!(
        (&document["schema"], &document["cuts"][0]["zone_border"]),
        (&"drivescope.plan/1".into(), &true.into())
    );
    assert_eq!(document["partitions"][1]["first_byte"], 286_102 * MIB);
}
