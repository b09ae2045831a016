//! Every article is done again: what agrees and what differs is as it was, its page is the one in the documentation,
//! and a wrong drive fails.

use super::figure::Table;
use super::*;
use crate::reproduce::published::{Figures, VALLEYS};
use model::units::Bytes;
use report::style::Style;
use sim::profile::Profile;

/// Nothing fails, the page in the documentation is what the program prints, and it fits a terminal of 100 columns.
fn check(article: Article, agrees: usize, differs: &[&str]) {
    let reproduction = reproduce(article).unwrap();
    let named = |verdict| -> Vec<&str> {
        let judged = reproduction.figures().filter(|figure| figure.verdict() == verdict);
        judged.map(|figure| figure.name.as_str()).collect()
    };
    assert_eq!(named(Verdict::Fails), [""; 0]);
    assert_eq!(named(Verdict::Differs), differs);
    assert_eq!(named(Verdict::Agrees).len(), agrees);
    let letter = article.name().to_lowercase();
    let file = format!("docs/generated/reproduce-{letter}.md");
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let command = format!("drivescope sim reproduce {letter} --markdown > {file}");
    assert!(committed == markdown(&reproduction), "{file} is not what the program prints: {command}");
    for (name, picture) in pictures(&reproduction) {
        let path = format!("{}/../../docs/pictures/{name}", env!("CARGO_MANIFEST_DIR"));
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let command = format!("drivescope sim reproduce {letter} --pictures docs/pictures");
        assert!(committed == picture, "docs/pictures/{name} is not what the program draws: {command}");
        assert!(picture.len() < 100_000, "{name}: {} bytes", picture.len());
    }
    let page = terminal(&reproduction, Style { width: 100, colour: false, unicode: true, draws: true });
    let too_wide = page.lines().find(|line| report::style::columns_of(line) > 100);
    assert_eq!(too_wide, None);
}

fn failing(table: &Table) -> Vec<&str> {
    let failing = table.figures.iter().filter(|figure| figure.verdict() == Verdict::Fails);
    failing.map(|figure| figure.name.as_str()).collect()
}

#[test]
fn outer_and_inner_partitions_read_as_published() {
    let writes = ["quarter 1, outermost", "quarter 2", "quarter 3", "quarter 4, innermost"];
    check(Article::A, 18, &writes);
}

#[test]
fn threads_gain_as_published() {
    let mut mirror: Vec<String> =
        [1, 2, 5, 10, 25, 100, 250, 1000].map(|count| format!("{count} threads")).into();
    mirror[0] = "1 thread".into();
    mirror.push("the whole disk".into());
    let differs: Vec<&str> = mirror.iter().map(String::as_str).collect();
    check(Article::B, 24, &differs);
}

#[test]
fn a_full_pass_takes_as_long_as_published() {
    check(Article::C, 18, &["mean, data sheet"]);
}

#[test]
fn sustained_writes_fall_as_published() {
    check(Article::D, 16, &[]);
}

#[test]
fn valleys_come_and_go_as_published() {
    check(Article::E, 14, &["distorted block sizes per trial", "slowest at first"]);
}

#[test]
fn a_disk_that_turns_too_slowly_fails() {
    let shelf = Shelf::changed(|profile: &mut Profile| {
        if let Some(disk) = &mut profile.disk {
            disk.turns_per_minute *= 0.9;
        }
    });
    let reproduction = reproduce_on(Article::A, &shelf).unwrap();
    let reads = failing(&reproduction.tables[0]);
    assert_eq!(reads, ["quarter 1, outermost", "quarter 2", "quarter 3", "quarter 4, innermost"]);
}

#[test]
fn caches_of_half_the_size_fail() {
    let shelf = Shelf::changed(|profile: &mut Profile| {
        if let Some(smr) = &mut profile.smr {
            smr.media_cache_bytes = smr.media_cache_bytes / 8192 * 4096;
        }
        if let Some(slc) = profile.flash.as_mut().and_then(|flash| flash.slc.as_mut()) {
            slc.static_bytes /= 2;
        }
    });
    for trial in [sustained_write::SMR_TRIAL, sustained_write::SSD_TRIAL] {
        let (table, _, _) = sustained_write::cliff_of(&shelf, &trial).unwrap();
        assert!(failing(&table).contains(&"written before the cliff"), "{:?}", failing(&table));
    }
}

#[test]
fn housekeeping_half_as_often_fails() {
    let shelf = Shelf::changed(|profile: &mut Profile| {
        if let Some(housekeeping) = profile.flash.as_mut().and_then(|flash| flash.housekeeping.as_mut()) {
            housekeeping.interval_s *= 2.0;
        }
    });
    let (table, _) = valleys::halves(&shelf, &Figures::read(VALLEYS)).unwrap();
    assert_eq!(failing(&table), ["valley interval, when stable"]);
}

#[test]
fn a_page_of_a_system_is_read_once() {
    use host::{Host, HostProfile, Order};
    use model::request::{Operation, Request, Tag};
    use model::units::{Instant, Nanos};
    use sim::Drive;
    let profile = HostProfile {
        block_bytes: 4096,
        read_ahead_bytes: 8192,
        cached: 1 << 20..2 << 20,
        queue_depth: 1,
        order: Order::FirstCome,
        write_back_after: Nanos::ZERO,
        other_load_pause: None,
    };
    let mut host = Host::new(Shelf::as_sold().drive("constant").unwrap(), profile);
    let mut now = Instant::START;
    let mut read = |offset_bytes| {
        let began = now;
        host.submit(
            Request { tag: Tag(0), operation: Operation::Read, offset_bytes, length_bytes: 4096 },
            now,
        );
        loop {
            now = host.next_completion_at().unwrap().max(now);
            if let Some(completion) = host.take_completion(now) {
                assert_eq!(Bytes::new(u64::from(completion.transferred_bytes)), Bytes::new(4096));
                return now.since(began).get();
            }
        }
    };
    // The drive needs 100 µs, the cache 5: two pages come along, and a megabyte was there from the start.
    let times = [0, 4096, 8192, 12_288, 0, 1 << 20].map(&mut read);
    assert_eq!(times, [100_000, 5_000, 5_000, 100_000, 5_000, 5_000]);
}
