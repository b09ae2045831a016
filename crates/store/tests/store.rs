//! The store through its public face: what is kept comes back, and what is damaged is named.

mod store_support;

use model::request::Operation;
use model::run::{RunStatus, Series};
use model::target::TargetKind;
use std::fs;
use std::path::Path;
use store::{Follower, Store, StoreError};
use store_support::*;

fn open(folder: &Path) -> Store {
    Store::open(folder).unwrap()
}

fn ids(store: &Store) -> Vec<String> {
    store.runs().unwrap().into_iter().map(|run| run.id).collect()
}

#[test]
fn everything_comes_back_while_written_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut facts = run("all-kinds");
    let mut writer = store.begin(&facts).unwrap();
    facts.phases = vec![ended(phase("first"), 3), phase("second")];
    for number in 0..6000 {
        writer.append_interval(&interval(0, number)).unwrap();
    }
    writer.append_histogram(&histogram(0, &[100, 200])).unwrap();
    writer.append_histogram(&histogram(0, &[300])).unwrap();
    writer.end_phase(&facts).unwrap();
    writer.append_interval(&interval(1, 0)).unwrap();
    writer.append_error(&error(1, 7)).unwrap();
    writer.append_telemetry(&telemetry(9)).unwrap();
    writer.append_trace(&[io(0), io(1), io(2)]).unwrap();
    writer.write_out(&facts).unwrap();
    let check = |under_way: bool| {
        let stored = store.read("all-kinds").unwrap();
        assert!(stored.damage.is_empty(), "{:?}", stored.damage);
        assert_eq!(stored.under_way, under_way);
        assert_eq!(intervals(&stored, 0), (0..6000).map(|number| interval(0, number)).collect::<Vec<_>>());
        assert_eq!(intervals(&stored, 1), [interval(1, 0)]);
        assert_eq!(intervals(&stored, 2), []);
        assert_eq!(stored.series.errors(1).collect::<Vec<_>>(), [error(1, 7)]);
        assert_eq!(stored.series.errors(0).count(), 0);
        assert_eq!(stored.series.telemetry().collect::<Vec<_>>(), [telemetry(9)]);
        assert_eq!(stored.series.trace().map(Result::unwrap).collect::<Vec<_>>(), [io(0), io(1), io(2)]);
        assert_eq!(
            stored.run.phases[0].totals[0].histogram,
            histogram(0, &[100, 200, 300]).histogram,
            "histograms merge"
        );
        stored
    };
    let stored = check(true);
    assert_eq!(stored.run.status, RunStatus::Interrupted);
    let second = &stored.run.phases[1].totals;
    assert_eq!((second[0].operation, second[0].operations, second[0].bytes), (Operation::Read, 2, 8192));
    assert_eq!(stored.run.phases[1].duration_ns, 40_000_000);
    facts.phases[1] = ended(phase("second"), 1);
    let facts = complete(facts);
    writer.finish(&facts, &[]).unwrap();
    let mut stored = check(false);
    for totals in stored.run.phases.iter_mut().flat_map(|phase| &mut phase.totals) {
        totals.histogram.clear();
    }
    assert_eq!(stored.run, facts);
    let mut names: Vec<_> = fs::read_dir(writer.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "checksums.txt",
            "errors-000001.parquet",
            "histograms-000001.parquet",
            "intervals-000001.parquet",
            "run.json",
            "telemetry-000001.parquet",
            "trace-000001.parquet",
        ]
    );
}

#[test]
fn a_long_series_is_cut_into_segments() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let facts = run("long");
    let mut writer = store.begin(&facts).unwrap();
    let records: Vec<_> = (0..(1 << 16) + 5).map(|number| interval(0, number)).collect();
    records.iter().for_each(|record| writer.append_interval(record).unwrap());
    assert!(writer.folder().join("intervals-000001.parquet").exists());
    assert!(writer.folder().join("intervals-000002.journal").exists());
    writer.finish(&complete(facts), &[]).unwrap();
    assert!(store.read("long").unwrap().series.intervals(0).eq(records));
}

#[test]
fn runs_are_listed_newest_first_and_found_by_the_beginning_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (id, started) in
        [("b-1", "2026-03-02T00:00:00Z"), ("a-2", "2026-03-03T00:00:00Z"), ("a-1", "2026-03-01T00:00:00.5Z")]
    {
        let mut facts = run(id);
        facts.started = started.into();
        facts.phases = vec![phase("x"), phase("y")];
        store.begin(&facts).unwrap().finish(&complete(facts), &[]).unwrap();
    }
    assert_eq!(ids(&store), ["a-2", "b-1", "a-1"]);
    let listing = store.runs().unwrap().swap_remove(0);
    assert_eq!(listing.status, Some(RunStatus::Complete));
    assert_eq!(listing.target_model.as_deref(), Some("EXAMPLE 1000"));
    assert_eq!(listing.experiments, ["access"]);
    assert_eq!(store.read("last").unwrap().run.id, "a-2");
    assert_eq!(store.read("b").unwrap().run.id, "b-1");
    let message = |name: &str| store.read(name).unwrap_err().to_string();
    assert_eq!(message("a"), "\"a\" is the beginning of 2 runs: a-1, a-2; give more of the name");
    assert!(message("c").ends_with("is called \"c\"; `drivescope runs` lists them"), "{}", message("c"));
    assert!(message("").contains("no run in"), "{}", message(""));
    assert!(message("../runs/b-1").contains("no run in"));
}

#[test]
fn a_name_that_is_no_folder_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for id in ["", ".", "..", "a/b", "../a", ".hidden", "last", "-x", "a b", "a\n", &"x".repeat(129)] {
        assert!(matches!(store.begin(&run(id)), Err(StoreError::BadId { .. })), "{id:?}");
    }
}

#[test]
fn a_measurement_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    keep_small_run(&store, "one");
    assert!(matches!(store.begin(&run("one")), Err(StoreError::Exists { .. })));
    assert_eq!(intervals(&store.read("one").unwrap(), 0).len(), 3);
}

#[test]
fn a_repeated_run_of_a_virtual_drive_takes_the_place_of_the_old_one_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut facts = run("sim-1");
    facts.target.kind = TargetKind::Sim;
    let keep = |store: &Store, count: u64| {
        let mut writer = store.begin(&facts).unwrap();
        (0..count).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
        writer.write_records().unwrap();
        writer
    };
    let found = |store: &Store| intervals(&store.read("sim-1").unwrap(), 0).len();
    drop(keep(&store, 1));
    assert_eq!(store.read("sim-1").unwrap().run.status, RunStatus::Interrupted);
    let mut second = keep(&store, 2);
    assert_eq!(found(&store), 2, "what was killed is replaced at once");
    assert!(matches!(store.begin(&facts), Err(StoreError::UnderWay { .. })));
    second.finish(&complete(facts.clone()), &[]).unwrap();
    let third = keep(&store, 3);
    assert_eq!(found(&store), 2, "what is complete is kept until the next is complete");
    assert!(matches!(store.begin(&facts), Err(StoreError::UnderWay { .. })));
    drop(third);
    let mut fourth = keep(&store, 4);
    fourth.finish(&complete(facts.clone()), &[]).unwrap();
    assert_eq!(found(&store), 4);
    assert_eq!(fourth.folder(), folder.path().join("runs/sim-1"));
    assert_eq!(ids(&store), ["sim-1"]);
    let left = fs::read_dir(folder.path().join("runs")).unwrap().count();
    assert_eq!(left, 2, "the run and the lock of those that begin");
}

#[test]
fn a_killed_run_is_folded_by_the_next_writer() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut facts = run("killed");
    facts.phases.push(phase("only"));
    let mut writer = store.begin(&facts).unwrap();
    writer.append_interval(&interval(0, 0)).unwrap();
    let of_killed = folder.path().join("runs/killed");
    assert!(matches!(store.recover("killed"), Err(StoreError::UnderWay { .. })));
    assert!(store.runs().unwrap()[0].under_way);
    drop(writer);
    assert!(!store.runs().unwrap()[0].under_way);
    assert!(of_killed.join("intervals-000001.journal").exists());
    keep_small_run(&store, "next");
    assert!(!of_killed.join("intervals-000001.journal").exists());
    assert!(of_killed.join("intervals-000001.parquet").exists());
    let stored = store.read("killed").unwrap();
    assert_eq!(stored.run.status, RunStatus::Interrupted);
    assert_eq!(intervals(&stored, 0), [interval(0, 0)]);
    assert!(stored.damage.is_empty(), "{:?}", stored.damage);
}

#[test]
fn what_cannot_be_read_any_more_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let facts = run("cut-later");
    let mut writer = store.begin(&facts).unwrap();
    (0..(1 << 16) + 5).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
    let segment = writer.folder().join("intervals-000001.parquet");
    writer.finish(&complete(facts), &[]).unwrap();
    let stored = store.read("cut-later").unwrap();
    assert!(stored.damage.is_empty() && stored.series.take_unread().is_empty());
    fs::File::options().write(true).open(&segment).unwrap().set_len(1000).unwrap();
    assert_eq!(stored.series.intervals(0).count(), 5, "those of the other segment");
    let unread = stored.series.take_unread();
    let [damage] = unread.as_slice() else { panic!("{unread:?}") };
    assert!(damage.to_string().contains("intervals-000001.parquet"), "{damage}");
}

/// Detectors go through one series at once. A reader that two of them shared gave each other's bytes, and rows were missing.
#[test]
fn threads_that_read_one_series_at_once_all_see_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let facts = run("read-at-once");
    let mut writer = store.begin(&facts).unwrap();
    let records: Vec<_> = (0..150_000).map(|number| interval(0, number)).collect();
    records.iter().for_each(|record| writer.append_interval(record).unwrap());
    writer.finish(&complete(facts), &[]).unwrap();
    let stored = store.read("read-at-once").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(stored.series.intervals(0).eq(records.iter().copied())));
        }
    });
}

#[test]
fn two_readers_see_what_one_writer_has_appended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut facts = run("shared");
    facts.phases.push(phase("only"));
    let mut writer = store.begin(&facts).unwrap();
    let (readers, mut known) = ([open(folder.path()), open(folder.path())], 0);
    for round in 0..20 {
        let first = store.read("shared").unwrap();
        (0..1000).for_each(|number| writer.append_interval(&interval(0, round * 1000 + number)).unwrap());
        writer.write_records().unwrap();
        known += 1000;
        if round % 5 == 4 {
            writer.end_phase(&facts).unwrap();
        }
        for reader in &readers {
            let stored = reader.read("shared").unwrap();
            assert!(stored.series.intervals(0).eq((0..known).map(|number| interval(0, number))));
            assert!(stored.damage.is_empty(), "{:?}", stored.damage);
            assert_eq!(ids(reader), ["shared"]);
        }
        // Opened before the journal became a segment, read after.
        assert!(first.series.intervals(0).count() as u64 >= known - 1000);
    }
}

#[test]
fn every_good_run_is_listed_beside_the_bad_ones() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for id in ["good", "cut", "garbage", "other", "not-text"] {
        keep_small_run(&store, id);
    }
    let runs = folder.path().join("runs");
    let facts = |id: &str| runs.join(id).join("run.json");
    let text = fs::read_to_string(facts("cut")).unwrap();
    fs::write(facts("cut"), &text[..text.len() / 2]).unwrap();
    fs::write(facts("garbage"), "").unwrap();
    fs::write(facts("other"), text.replace("drivescope.run/1", "drivescope.run/9")).unwrap();
    fs::write(facts("not-text"), [0xff, 0, 0xfe]).unwrap();
    fs::create_dir(runs.join("stranger")).unwrap();
    fs::write(runs.join("stray-file"), "x").unwrap();
    let damage: Vec<_> = store.runs().unwrap().into_iter().map(|run| (run.id, run.damage)).collect();
    let of = |id: &str| damage.iter().find(|(found, _)| found == id).and_then(|(_, damage)| damage.clone());
    assert_eq!(damage.len(), 6);
    assert_eq!(of("good"), None);
    assert!(of("cut").unwrap().contains("EOF while parsing"), "{:?}", of("cut"));
    assert!(of("garbage").unwrap().contains("EOF while parsing"));
    assert!(of("other").unwrap().contains("its schema is \"drivescope.run/9\""), "{:?}", of("other"));
    assert!(of("not-text").unwrap().contains("run.json"));
    assert!(of("stranger").unwrap().contains("it is no run"), "{:?}", of("stranger"));
    assert!(of("other").unwrap().contains("Read it with the version"), "{:?}", of("other"));
    for id in ["cut", "garbage", "not-text", "stranger"] {
        assert!(of(id).unwrap().contains("copy"), "{:?}", of(id));
    }
    assert_eq!(store.read("last").unwrap().run.id, "good");
    assert!(store.read("cut").unwrap_err().to_string().contains("`drivescope runs`"));
    keep_small_run(&store, "another");
    assert_eq!(store.read("last").unwrap().run.id, "good", "the same time: the later name");
}

#[test]
fn a_damaged_segment_is_named_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    keep_small_run(&store, "hurt");
    let path = folder.path().join("runs/hurt/intervals-000001.parquet");
    let sound = fs::read(&path).unwrap();
    let damage_of = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let stored = store.read("hurt").unwrap();
        assert_eq!(intervals(&stored, 0), []);
        assert_eq!(stored.run.phases[0].totals[0].histogram.count(), 3);
        assert_eq!(stored.damage.len(), 1, "{:?}", stored.damage);
        stored.damage[0].to_string()
    };
    let cut = damage_of(&sound[..sound.len() - 1]);
    assert!(cut.contains("intervals-000001.parquet: it has ") && cut.ends_with("can be read."), "{cut}");
    assert!(damage_of(b"garbage").contains("it has 7 bytes"));
    for place in [4, sound.len() / 2, sound.len() - 5] {
        let mut altered = sound.clone();
        altered[place] ^= 0x10;
        assert!(damage_of(&altered).contains("was altered after it was written"));
    }
    fs::remove_file(&path).unwrap();
    fs::write(path.with_file_name("intervals-000002.parquet"), &sound).unwrap();
    let stored = store.read("hurt").unwrap();
    assert!(
        stored.damage[0]
            .to_string()
            .contains("intervals-000001.parquet to intervals-000001.parquet are missing")
    );
    assert!(stored.damage[1].to_string().contains("does not list intervals-000002.parquet"));
    assert_eq!(intervals(&stored, 0).len(), 3);
}

#[test]
fn an_index_is_made_again_whatever_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    keep_small_run(&store, "one");
    keep_small_run(&store, "two");
    let index = folder.path().join("index.sqlite");
    let indexed = || -> i64 {
        let connection = rusqlite::Connection::open(&index).unwrap();
        connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(indexed(), 2);
    for garbage in [
        &b"garbage that is no database, and longer than a header of one hundred bytes, so that it is read"[..],
        b"",
        b"SQLite format 3\0",
    ] {
        let _ = fs::remove_file(index.with_file_name("index.sqlite-wal"));
        fs::write(&index, garbage.repeat(50)).unwrap();
        assert_eq!(ids(&store), ["two", "one"]);
        assert_eq!(indexed(), 2);
    }
    rusqlite::Connection::open(&index)
        .unwrap()
        .execute_batch("DROP TABLE runs; CREATE TABLE runs (x)")
        .unwrap();
    assert_eq!(ids(&store), ["two", "one"]);
    fs::remove_dir_all(folder.path().join("runs/one")).unwrap();
    assert_eq!(ids(&store), ["two"]);
    assert_eq!(indexed(), 1);
    store.rebuild_index().unwrap();
    assert_eq!(indexed(), 1);
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert_eq!(ids(&store), ["two"], "also where there can be no index");
}

#[test]
fn an_index_older_than_a_run_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    keep_small_run(&store, "one");
    let facts = folder.path().join("runs/one/run.json");
    let text = fs::read_to_string(&facts).unwrap().replace("EXAMPLE 1000", "EXAMPLE 2000");
    fs::write(&facts, text).unwrap();
    assert_eq!(store.runs().unwrap()[0].target_model.as_deref(), Some("EXAMPLE 2000"));
}

#[test]
fn a_file_in_the_place_of_the_store_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("file");
    fs::write(&place, "x").unwrap();
    let message = Store::open(&place).unwrap_err().to_string();
    assert!(message.starts_with("cannot make ") && message.contains("--store DIR"), "{message}");
}

/// Each slice comes once and in order, also when its journal becomes a segment between two looks; what was read is not read again.
#[test]
fn who_follows_a_run_reads_each_slice_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let mut facts = run("followed");
    let mut writer = store.begin(&facts).unwrap();
    facts.phases.push(phase("only"));
    writer.begin_phase(&facts).unwrap();
    let mut follower = Follower::of(&folder.path().join("runs/followed"));
    let mut seen: Vec<u64> = Vec::new();
    let mut kept = 0;
    // A segment has 65,536 records: one is made between the third look and the fourth.
    for (more, read) in [(3, 3), (0, 0), (60_000, 60_000), (10_000, 10_000), (1, 1), (0, 0)] {
        (kept..kept + more).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
        writer.write_records().unwrap();
        kept += more;
        let count = follower.added(|slice| seen.push(slice.offset_first / 8192)).unwrap();
        assert_eq!(count, read, "after {kept}");
    }
    (kept..kept + 5).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
    facts.phases = vec![ended(phase("only"), kept + 5)];
    writer.finish(&complete(facts), &[]).unwrap();
    assert_eq!(follower.added(|slice| seen.push(slice.offset_first / 8192)).unwrap(), 5);
    assert_eq!(follower.added(|_| panic!("all was read")).unwrap(), 0);
    assert!(seen.iter().copied().eq(0..kept + 5), "{} of {}", seen.len(), kept + 5);
}

/// What an experiment asks after each phase costs what the phase brought: a series that was opened once finds what came later, in a journal that
/// grew and in one that became a segment.
#[test]
fn a_series_that_was_opened_once_finds_what_came_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut writer = store.begin(&run("grows")).unwrap();
    let mut series = writer.series().unwrap();
    let mut number = 0;
    // The journal becomes a segment with its record 65,536, in phase 2.
    for (phase, count) in [(0, 30_000), (1, 1), (2, 40_000), (3, 7)] {
        (number..number + count).for_each(|n| writer.append_interval(&interval(phase, n)).unwrap());
        let expected = (number..number + count).map(|n| interval(phase, n));
        number += count;
        writer.write_records().unwrap();
        series.refresh().unwrap();
        assert!(series.intervals(phase).eq(expected), "phase {phase}");
        assert_eq!(series.intervals(0).count(), 30_000, "the first phase after phase {phase}");
        writer.append_trace(&[io(number)]).unwrap();
        writer.write_records().unwrap();
        series.refresh().unwrap();
        assert_eq!(series.trace().count() as u32, phase + 1);
    }
}

/// Records wait for a block to be full; a writer that is dropped hands over the rest.
#[test]
fn records_are_written_in_blocks_and_a_dropped_writer_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let mut writer = store.begin(&run("blocks")).unwrap();
    let journal = folder.path().join("runs/blocks/intervals-000001.journal");
    let length = || fs::metadata(&journal).unwrap().len();
    writer.append_interval(&interval(0, 0)).unwrap();
    let header = length();
    (1..2000).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
    let written = length();
    assert!(header < 100 && written > 100_000, "{header} then {written} bytes");
    drop(writer);
    assert!(length() > written);
    let mut stored = store.read("blocks").unwrap();
    stored.run.phases.push(phase("only"));
    assert_eq!(intervals(&stored, 0).len(), 2000);
}

/// A record that is being written is read when it is whole.
#[test]
fn who_follows_a_run_waits_for_whole_records() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let facts = run("written");
    let mut writer = store.begin(&facts).unwrap();
    (0..4).for_each(|number| writer.append_interval(&interval(0, number)).unwrap());
    writer.write_records().unwrap();
    let name = "intervals-000001.journal";
    let whole = fs::read(folder.path().join("runs/written").join(name)).unwrap();
    let copy = tempfile::tempdir().unwrap();
    let mut follower = Follower::of(copy.path());
    assert_eq!(follower.added(|_| panic!("there is nothing yet")).unwrap(), 0);
    let mut seen: Vec<u64> = Vec::new();
    for length in 1..=whole.len() {
        fs::write(copy.path().join(name), &whole[..length]).unwrap();
        follower.added(|slice| seen.push(slice.offset_first / 8192)).unwrap();
    }
    assert_eq!(seen, [0, 1, 2, 3]);
}
