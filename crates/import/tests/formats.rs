//! Every format on a sample of it: which one it is taken for, and the figures that come of it, as literals; and that no change of a sample,
//! however hostile, does worse than an error that names a place.

use import::{Commits, Figure, Format, Hints, Imported, Order, Work, read, read_all, recognised};
use model::commit::CommitMethod;
use model::request::Operation;
use model::units::{Bytes, Quantile};
use proptest::prelude::*;

macro_rules! samples {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("samples/", $name)))),*]
    };
}

const SAMPLES: [(&str, &str); 33] = samples![
    "bonnie-1.03-outer-1.txt",
    "bonnie-1.03-outer-2.txt",
    "bonnie-1.03-inner-3.txt",
    "bonnie-1.03-inner-4.txt",
    "bonnie-1.03-usb-outer.txt",
    "bonnie-1.03-usb-inner.txt",
    "bonnie-1.97.csv",
    "bonnie-2.00.txt",
    "dd-full-pass.txt",
    "dd-areas.txt",
    "dd-progress.txt",
    "zcav-1.03.txt",
    "zcav-2.00.txt",
    "fio.json",
    "job_lat.1.log",
    "job_bw.1.log",
    "ioping.txt",
    "ioping.json",
    "hdparm.txt",
    "crystaldiskmark-8.txt",
    "crystaldiskmark-5.txt",
    "kdiskmark.txt",
    "atto-2.txt",
    "atto-4.txt",
    "hdtune.txt",
    "iometer.csv",
    "as-ssd.txt",
    "fio-terse.txt",
    "fio-jobs.txt",
    "fio-two.txt",
    "fio-etcd.txt",
    "fio-etcd.json",
    "pg-test-fsync.txt",
];

fn sample(name: &str) -> &'static str {
    SAMPLES.iter().find(|(known, _)| *known == name).expect("a sample of that name").1
}

fn imported(name: &str) -> Imported {
    let hints = Hints { file_name: name.into(), operation: None };
    let mut all = read_all(sample(name), &hints).unwrap();
    assert_eq!(all.len(), 1, "{name}");
    all.remove(0)
}

fn figures(imported: &Imported) -> Vec<&Figure> {
    imported.sets.iter().flat_map(|set| &set.figures).collect()
}

/// Bytes a second, of all operations; or files a second.
fn rate(figure: &Figure) -> f64 {
    match &figure.work {
        Work::Transfer(transfer) => {
            transfer.moved.iter().map(|(_, _, bytes)| *bytes).sum::<u64>() as f64 / figure.seconds
        }
        Work::Files(count) | Work::Flushes(count) => *count as f64 / figure.seconds,
    }
}

fn shape(figure: &Figure) -> (Order, u64, u32) {
    match &figure.work {
        Work::Transfer(transfer) => {
            (transfer.order, transfer.block.get(), transfer.queue_depth * transfer.threads)
        }
        Work::Files(_) | Work::Flushes(_) => panic!("this is no transfer"),
    }
}

fn named<'figures>(figures: &[&'figures Figure], name: &str) -> &'figures Figure {
    figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn every_sample_is_recognised_by_what_stands_in_it() {
    let formats: Vec<&str> = SAMPLES
        .iter()
        .map(|(name, text)| {
            let formats = recognised(text, &Hints { file_name: (*name).into(), operation: None }).unwrap();
            assert_eq!(formats.len(), 1, "{name}: {formats:?}");
            formats[0].name()
        })
        .collect();
    let expected = [
        "bonnie++",
        "bonnie++",
        "bonnie++",
        "bonnie++",
        "bonnie++",
        "bonnie++",
        "bonnie++",
        "bonnie++",
        "dd",
        "dd",
        "dd",
        "zcav",
        "zcav",
        "fio",
        "fio-lat-log",
        "fio-bw-log",
        "ioping",
        "ioping",
        "hdparm",
        "crystaldiskmark",
        "crystaldiskmark",
        "crystaldiskmark",
        "atto",
        "atto",
        "hdtune",
        "iometer",
        "as-ssd",
        "fio-terse",
        "fio-text",
        "fio",
        "fio-text",
        "fio",
        "pg_test_fsync",
    ];
    assert_eq!(formats, expected);
}

#[test]
fn as_ssd_counts_in_mib_and_keeps_access_times_out() {
    let imported = imported("as-ssd.txt");
    assert_eq!(imported.drive.as_deref(), Some("Samsung SSD 840 PRO Series"));
    let figures = figures(&imported);
    assert_eq!(figures.len(), 6);
    assert_eq!(shape(figures[5]), (Order::Random, 4096, 64));
    assert!((rate(figures[5]) / 1_048_576.0 - 340.79).abs() < 0.01, "{}", rate(figures[5]));
    assert_eq!(shape(figures[2]), (Order::Random, 4096, 1));
}

#[test]
fn every_terse_version_of_fio_is_read_with_the_command_above_it() {
    let imported = imported("fio-terse.txt");
    let figures = figures(&imported);
    let shapes: Vec<_> = figures.iter().map(|figure| shape(figure)).collect();
    assert_eq!(shapes, [(Order::Random, 8192, 1), (Order::Random, 8192, 1), (Order::Random, 8192, 4)]);
    assert!((rate(figures[0]) / 1024.0 - 117_028.0).abs() < 10.0, "{}", rate(figures[0]));
    assert_eq!(figures[2].name, "random reads and writes");
    let Work::Transfer(transfer) = &figures[2].work else { panic!("no transfer") };
    let bytes: Vec<u64> = transfer.moved.iter().map(|(_, _, bytes)| *bytes).collect();
    assert_eq!(bytes, [3968 * 1024, 4224 * 1024]);
}

#[test]
fn jobs_that_ran_at_the_same_time_are_one_figure() {
    let imported = imported("fio-jobs.txt");
    let figures = figures(&imported);
    assert_eq!(figures.len(), 1);
    assert_eq!(shape(figures[0]), (Order::Random, 4096, 2));
    // fio's own sum: bw=51.3MiB/s, io=8192KiB, run=156msec.
    assert!((rate(figures[0]) - 8192.0 * 1024.0 / 0.156).abs() < 1.0, "{}", rate(figures[0]));
}

#[test]
fn several_documents_of_fio_and_its_flushes_are_read() {
    let imported = imported("fio-two.txt");
    let figures = figures(&imported);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names, ["sequential write", "sequential write", "flush"]);
    assert_eq!(figures[2].work, Work::Flushes(455));
    assert!((figures[2].seconds - 455.0 * 3.024_354_164_835e-3).abs() < 1e-9, "{}", figures[2].seconds);
    let latencies = figures[2].latencies.as_ref().unwrap();
    let p99 = latencies.quantile(Quantile::P99).unwrap().get();
    assert!(p99.abs_diff(8_290_304) < 40_000, "{p99}");
    assert_eq!(imported.direct, Some(false));
}

/// 10,029 writes of the usual recipe for etcd in 17.338 s, and in 56.140 s beside other load.
#[test]
fn writes_that_were_each_flushed_are_commits() {
    for (name, seconds) in [("fio-etcd.txt", 17.338), ("fio-etcd.json", 56.140)] {
        let imported = imported(name);
        let flush = named(&figures(&imported), "flush");
        let (method, write) = (CommitMethod::Fdatasync, Bytes::new(2300));
        assert_eq!(flush.work, Work::Flushes(10_029), "{name}");
        assert_eq!(flush.commits, Some(Commits { method, write, seconds }), "{name}");
    }
    let imported = imported("pg-test-fsync.txt");
    let figures = figures(&imported);
    let method = |name| named(&figures, name).commits.map(|commits| commits.method);
    assert_eq!(method("write with fdatasync"), Some(CommitMethod::Fdatasync));
    assert_eq!(method("write with open_datasync"), Some(CommitMethod::OpenDsync));
    assert_eq!([method("write with open_sync"), method("two writes with fsync")], [None; 2]);
}

#[test]
fn a_log_that_may_count_anything_asks_what_it_counts() {
    let error = recognised(sample("job_bw.1.log"), &Hints::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a text of one kind, and this may be of several. Say which: --as fio-bw-log or --as fio-iops-log or --as fio-lat-log"
    );
    assert!(
        recognised("hello\n", &Hints::default()).unwrap_err().to_string().contains("--as: bonnie++, dd,")
    );
}

#[test]
fn bonnie_1_03_gives_the_figures_of_article_a() {
    let imported = imported("bonnie-1.03-outer-1.txt");
    assert_eq!((imported.version.as_deref(), imported.host.as_deref()), (Some("1.03e"), Some("caviar")));
    let figures = figures(&imported);
    assert_eq!(figures.len(), 12);
    let block = named(&figures, "block read");
    assert!((rate(block) / 1024.0 - 145_385.0).abs() < 0.01, "{}", rate(block));
    assert_eq!(block.cpu_share, Some(0.05));
    let by_character = named(&figures, "read per character");
    assert_eq!((shape(by_character), by_character.cpu_share), ((Order::Sequential, 1, 1), Some(0.81)));
    let seeks = named(&figures, "random seeks");
    assert_eq!(shape(seeks), (Order::Random, 8192, 3));
    assert!((8000.0 / seeks.seconds - 210.6).abs() < 1e-9);
    let created = named(&figures, "create files in order");
    assert!((rate(created) - 97_039.0).abs() < 1e-6);
}

#[test]
fn later_bonnies_have_other_columns_and_plus_signs_are_said() {
    let imported_197 = imported("bonnie-1.97.csv");
    let all = figures(&imported_197);
    assert!((rate(named(&all, "block read")) / 1024.0 - 160_233.0).abs() < 0.01);
    assert!((rate(named(&all, "delete files at random")) - 24_011.0).abs() < 1e-6);
    assert!(
        imported_197
            .notes
            .iter()
            .any(|note| note.contains("plus signs: create files in order, look at files in order"))
    );
    let imported_200 = imported("bonnie-2.00.txt");
    let all = figures(&imported_200);
    assert!((rate(named(&all, "block write")) / 1024.0 - 138_240.0).abs() < 0.01);
    assert_eq!(shape(named(&all, "random seeks")), (Order::Random, 8192, 5));
    assert!((8192.0 / named(&all, "random seeks").seconds - 301.5).abs() < 1e-9);
}

#[test]
fn the_table_is_read_where_the_csv_is_missing() {
    let text = sample("bonnie-2.00.txt").lines().take(4).collect::<Vec<_>>().join("\n");
    let hints = Hints::default();
    let imported = read(&text, recognised(&text, &hints).unwrap()[0], &hints).unwrap();
    let all = figures(&imported);
    assert!((rate(named(&all, "block read")) / 1_048_576.0 - 171.0).abs() < 0.01);
    assert!((rate(named(&all, "write per character")) / 1024.0 - 665.0).abs() < 0.01);
}

#[test]
fn dd_that_reports_its_progress_gives_steps_at_places() {
    let imported = imported("dd-full-pass.txt");
    let all = figures(&imported);
    assert_eq!(imported.capacity.unwrap().get(), 3_000_592_982_016);
    assert_eq!(all.len(), 6);
    let places: Vec<u64> = all.iter().map(|figure| figure.place.unwrap().first_byte).collect();
    assert_eq!(
        places,
        [0, 125_627_793_408, 253_403_070_464, 381_178_347_520, 2_882_996_797_440, 2_947_421_306_880]
    );
    let total: f64 = all.iter().map(|figure| figure.seconds).sum();
    assert!((total - 17_922.9).abs() < 1e-6);
    assert!((rate(all[4]) / 1e6 - 107.96).abs() < 0.05, "{}", rate(all[4]));
    let progress = what_progress_gives();
    assert_eq!(progress, (3, Some(true), Some(3_000_000_000)));
}

fn what_progress_gives() -> (usize, Option<bool>, Option<u64>) {
    let imported = imported("dd-progress.txt");
    (figures(&imported).len(), imported.direct, imported.capacity.map(|capacity| capacity.get()))
}

#[test]
fn dd_over_areas_lies_where_skip_and_seek_say() {
    let imported = imported("dd-areas.txt");
    let all = figures(&imported);
    assert_eq!(all.len(), 8);
    let last = all[7];
    assert_eq!(last.place.unwrap().first_byte, 2743 << 30);
    assert!((rate(last) / 1e6 - 100.0).abs() < 0.1);
    assert_eq!((imported.capacity, imported.target.as_deref()), (None, Some("/dev/sdc")));
}

#[test]
fn a_dd_without_its_command_asks_what_it_did() {
    let text = "50+0 records in\n50+0 records out\n53687091200 bytes (54 GB) copied, 263,65 s, 204 MB/s\n";
    let error = read(text, Format::Dd, &Hints::default()).unwrap_err();
    assert!(error.to_string().contains("--operation read"), "{error}");
    let told = Hints { operation: Some(Operation::Read), ..Hints::default() };
    assert!((rate(figures(&read(text, Format::Dd, &told).unwrap())[0]) / 1e6 - 203.63).abs() < 0.01);
}

#[test]
fn zcav_of_both_versions_counts_in_its_own_units() {
    let old = imported("zcav-1.03.txt");
    let all = figures(&old);
    assert_eq!((all.len(), all[3].place.unwrap().first_byte), (4, 300 << 20));
    assert!((rate(all[0]) / 1024.0 - 143_210.0).abs() < 1.0);
    let new = imported("zcav-2.00.txt");
    let all = figures(&new);
    assert_eq!((all.len(), all[0].place.unwrap().first_byte), (2, 1 << 28));
    assert!((rate(all[0]) / 1_048_576.0 - 180.02).abs() < 0.01);
    assert!(new.notes[0].contains("for zcav to time: 1."), "{:?}", new.notes);
}

#[test]
fn fio_gives_jobs_and_distributions() {
    let imported = imported("fio.json");
    let all = figures(&imported);
    assert_eq!((imported.version.as_deref(), imported.direct), (Some("3.33"), Some(true)));
    assert_eq!(imported.measured_unix_s, Some(1_795_353_806));
    assert_eq!(shape(all[0]), (Order::Sequential, 1 << 20, 4));
    assert_eq!(all[0].place.unwrap().bytes, 1 << 30);
    assert_eq!(shape(all[2]), (Order::Random, 4096, 32));
    assert_eq!(all[1].latencies.as_ref().unwrap().count(), 100);
}

#[test]
fn logs_of_fio_are_series() {
    let latencies = imported("job_lat.1.log");
    let all = figures(&latencies);
    assert_eq!((all[0].requests.len(), shape(all[0])), (60, (Order::Random, 4096, 1)));
    let rates = imported("job_bw.1.log");
    let all = figures(&rates);
    assert_eq!((all[0].slices.len(), all[0].slices[19].bytes), (20, (200_000 - 1900) * 1024));
}

#[test]
fn ioping_leaves_its_warm_up_out() {
    let text = imported("ioping.txt");
    assert_eq!(figures(&text)[0].requests.len(), 39);
    let json = imported("ioping.json");
    assert_eq!(figures(&json)[0].requests.len(), 2);
    assert_eq!(json.capacity.unwrap().get(), 1_000_204_886_016);
}

#[test]
fn hdparm_is_of_one_place_and_memory_is_left_out() {
    let imported = imported("hdparm.txt");
    let all = figures(&imported);
    assert_eq!(all.len(), 3);
    assert!((rate(all[0]) / 1_048_576.0 - 182.06).abs() < 0.01);
    assert_eq!(all[2].place.unwrap().first_byte, 500 << 30);
    assert_eq!(imported.direct, Some(false));
}

#[test]
fn marks_of_disks_are_rates_by_size_and_depth() {
    let eight = imported("crystaldiskmark-8.txt");
    let all = figures(&eight);
    assert_eq!(
        (all.len(), shape(all[0]), shape(all[2])),
        (8, (Order::Sequential, 1 << 20, 8), (Order::Random, 4096, 32))
    );
    assert!((rate(all[7]) / 1e6 - 110.45).abs() < 1e-6);
    assert_eq!(eight.version.as_deref(), Some("8.0.4"));
    let five = imported("crystaldiskmark-5.txt");
    let all = figures(&five);
    assert_eq!(
        (all.len(), shape(all[0]), shape(all[3])),
        (5, (Order::Sequential, 128 << 10, 32), (Order::Sequential, 1 << 20, 1))
    );
    let linux = imported("kdiskmark.txt");
    assert_eq!(
        (linux.tool, linux.version.as_deref(), figures(&linux).len()),
        ("KDiskMark", Some("3.1.2"), 4)
    );
}

#[test]
fn atto_of_both_forms_is_a_sweep_of_sizes() {
    let two = imported("atto-2.txt");
    let all = figures(&two);
    assert_eq!((all.len(), shape(all[0])), (10, (Order::Sequential, 512, 4)));
    assert!((rate(all[9]) / 1024.0 - 271_000.0).abs() < 0.01);
    let four = imported("atto-4.txt");
    let all = figures(&four);
    assert_eq!((all.len(), shape(all[5])), (6, (Order::Sequential, 1 << 20, 4)));
    assert!((rate(all[5]) / 1e6 - 520.1).abs() < 0.01);
}

#[test]
fn hd_tune_gives_its_average_and_its_rows() {
    let imported = imported("hdtune.txt");
    assert_eq!(imported.drive.as_deref(), Some("ST3000DM001"));
    let all = figures(&imported);
    assert!((rate(named(&all, "average of read in order")) / 1e6 - 157.2).abs() < 1e-6);
    assert!((all[1].seconds - 0.0156).abs() < 1e-12);
    assert_eq!(all.len(), 9);
    let hints = Hints::default();
    let text = include_str!("samples/hdtune.csv");
    let curve = read(text, recognised(text, &hints).unwrap()[0], &hints).unwrap();
    assert_eq!((figures(&curve).len(), curve.capacity.unwrap().get()), (32, 961_099_400_000));
}

#[test]
fn iometer_gives_what_one_rate_can_tell() {
    let imported = imported("iometer.csv");
    let all = figures(&imported);
    assert_eq!((all.len(), shape(all[0])), (1, (Order::Random, 4096, 1)));
    assert!(imported.notes[0].starts_with("Left out are 1 of the results"));
}

#[test]
fn errors_name_line_and_column() {
    let broken = sample("bonnie-1.03-outer-1.txt").replace("145385", "fast");
    let error = read(&broken, Format::Bonnie, &Hints::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 9, column 51: expected a rate or plus signs, found `fast`");
    let error = read("#block K/s time\n0 abc 1\n", Format::Zcav, &Hints::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 3: expected a rate, found `abc`");
    let error = read("x\n{\"fio version\":", Format::FioJson, &Hints::default()).unwrap_err();
    assert_eq!((error.line, error.column), (2, 15));
}

#[test]
fn a_text_that_breaks_off_is_taken_as_far_as_it_is_whole() {
    let cut = "#block K/s time\n0 143210 0.715\n100 143";
    let taken = read(cut, Format::Zcav, &Hints::default()).unwrap();
    assert_eq!(figures(&taken).len(), 1);
    assert!(taken.notes.iter().any(|note| note.starts_with("The text breaks off within its last line")));
    let doubtful = read("#block K/s time\n0 143210 0.7", Format::Zcav, &Hints::default()).unwrap();
    assert!(doubtful.notes.iter().any(|note| note.contains("may be cut off")));
    let many = "0 1 1\n".repeat(500_001);
    assert!(
        read(&many, Format::Zcav, &Hints::default())
            .unwrap_err()
            .to_string()
            .contains("at most 500000 lines")
    );
}

/// What a hostile hand or a broken disk makes of a text.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Drop(usize, usize),
    Put(usize, String),
    Twice(usize, usize),
    /// Another number in the place of that one.
    Number(usize, String),
    Swap(usize, usize),
    Repeat(usize, usize),
    Foreign(usize, usize, usize),
}

/// Numbers at which arithmetic ends, and what is none.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "NaN",
    "inf",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0.0000000000000000001",
    "9999999999999999G",
    "",
];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = || 0usize..4000;
    let piece = prop_oneof![
        "[ -~\\n\\t]{0,12}",
        "[0-9.,+:;-]{1,30}",
        Just("18446744073709551616".to_string()),
        Just("99999999999999999999999999T".to_string()),
        Just("\u{0}\u{1b}[2J\u{202e}é漢".to_string()),
        Just("[[[[[[[[[[{{{{".to_string()),
        Just(",,,,,,,,,,,,,,,,,,,,,,,,,,,".to_string()),
    ];
    let change = prop_oneof![
        at().prop_map(Change::Cut),
        (at(), 1usize..60).prop_map(|(at, count)| Change::Drop(at, count)),
        (at(), piece).prop_map(|(at, text)| Change::Put(at, text)),
        (at(), 1usize..200).prop_map(|(at, count)| Change::Twice(at, count)),
        (at(), 0..NUMBERS.len()).prop_map(|(at, which)| Change::Number(at, NUMBERS[which].into())),
        (at(), "[0-9]{1,30}").prop_map(|(at, digits)| Change::Number(at, digits)),
        (at(), at()).prop_map(|(one, other)| Change::Swap(one, other)),
        (at(), 1usize..3000).prop_map(|(at, count)| Change::Repeat(at, count)),
        (at(), 0..SAMPLES.len(), at()).prop_map(|(at, which, from)| Change::Foreign(at, which, from)),
    ];
    prop::collection::vec(change, 1..5)
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for change in changes {
        let length = letters.len().max(1);
        match change {
            Change::Cut(at) => letters.truncate(at % length),
            Change::Drop(at, count) => {
                let from = (at % length).min(letters.len());
                letters.drain(from..(from + count).min(letters.len()));
            }
            Change::Put(at, text) => {
                let from = (at % length).min(letters.len());
                letters.splice(from..from, text.chars());
            }
            Change::Twice(at, count) => {
                let from = (at % length).min(letters.len());
                let again: Vec<char> = letters[from..(from + count).min(letters.len())].to_vec();
                letters.splice(from..from, again);
            }
            _ => letters = changed_by_lines(&letters.iter().collect::<String>(), change).chars().collect(),
        }
    }
    letters.into_iter().collect()
}

/// Changes that know lines and numbers, so that they come further into a parser.
fn changed_by_lines(text: &str, change: &Change) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let count = lines.len();
    match change {
        Change::Number(at, number) => {
            let is_digit = |letter: char| letter.is_ascii_digit();
            let starts: Vec<usize> = text
                .char_indices()
                .filter(|(place, letter)| is_digit(*letter) && !text[..*place].ends_with(is_digit))
                .map(|(place, _)| place)
                .collect();
            let Some(&start) = starts.get(at % starts.len().max(1)) else { return text.into() };
            let rest = text[start..].trim_start_matches(is_digit);
            return format!("{}{number}{rest}", &text[..start]);
        }
        Change::Swap(one, other) => lines.swap(one % count, other % count),
        Change::Repeat(at, times) => {
            let again = vec![lines[at % count]; *times];
            lines.splice(at % count..at % count, again);
        }
        Change::Foreign(at, which, from) => {
            let others: Vec<&str> = SAMPLES[*which].1.split('\n').collect();
            let from = from % others.len();
            lines.splice(at % count..at % count, others[from..(from + 20).min(others.len())].to_vec());
        }
        _ => {}
    }
    lines.join("\n")
}

proptest! {
    // PROPTEST_CASES sets how many.
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn no_change_of_a_sample_does_worse_than_an_error_with_its_place(
        which in 0..SAMPLES.len(),
        as_other in prop::option::of(0..Format::ALL.len()),
        changes in changes(),
    ) {
        let (name, text) = SAMPLES[which];
        let text = changed(text, &changes);
        let hints = Hints { file_name: name.into(), operation: Some(Operation::Read) };
        let format = match as_other {
            Some(other) => Some(Format::ALL[other]),
            None => recognised(&text, &hints).ok().map(|formats| formats[0]),
        };
        let Some(format) = format else { return Ok(()) };
        match read(&text, format, &hints) {
            Err(error) => prop_assert!(error.line <= text.matches('\n').count() + 1, "{error}"),
            Ok(imported) => {
                for figure in imported.sets.iter().flat_map(|set| &set.figures) {
                    prop_assert!(figure.seconds.is_finite() && figure.seconds > 0.0, "{figure:?}");
                    if let Work::Transfer(transfer) = &figure.work {
                        prop_assert!(transfer.block.get() > 0 && transfer.queue_depth > 0 && transfer.threads > 0);
                    }
                }
            }
        }
    }
}
