//! Files of ours that somebody altered: stored runs, and journals of what was saved before a write. Checksums are made right again, since
//! a fuzzer does not find them, and whoever alters a file on purpose writes them too.

use crate::texts::in_memory;
use drivescope::store::read_folder;
use io::target::preserve::{Journal, Origin};
use report::chart::{ChartedRun, charts_of};
use report::html::{ReportPage, page};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A run of a few records that an older version kept, from the root of this crate; and one that is measured anew, by what is typed.
const KEPT: &str = "../crates/drivescope/tests/runs/v1/complete";
const MEASURED: [&str; 2] = ["check", "sim:wd20ears"];
/// More changes at once hide each other.
const CHANGES_MAX: u8 = 8;

/// A run as it was measured, and the name of each value in it.
struct Base {
    folder: PathBuf,
    facts: Value,
    pointers: Vec<String>,
}

/// Where everything of this process is, and the runs in it.
struct Place {
    folder: TempDir,
    bases: Vec<Base>,
}

/// The first byte says which run, the next how many of its values are changed to what, and what remains are rows of its intervals.
/// Whatever is read of it is analysed, charted and put on a page.
pub fn run(bytes: &[u8]) {
    let place = place();
    let mut rest = Rest(bytes);
    let base = &place.bases[usize::from(rest.byte()) % place.bases.len()];
    let mut facts = base.facts.clone();
    for _ in 0..rest.byte() % (CHANGES_MAX + 1) {
        let pointer = &base.pointers[usize::from(rest.short()) % base.pointers.len()];
        let (kind, number) = (rest.byte(), rest.number());
        if let Some(value) = facts.pointer_mut(pointer) {
            *value = changed(value, kind, number);
        }
    }
    fs::write(base.folder.join("run.json"), facts.to_string()).expect("memory has room for a run");
    let rows = base.folder.join("intervals-000099.journal");
    fs::write(&rows, journal_of_intervals(rest.0)).expect("memory has room for rows");
    if let Ok(mut stored) = read_folder(&base.folder) {
        stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
        let charted = [ChartedRun { run: &stored.run, series: Some(&stored.series), letter: None }];
        let charts = charts_of(&charted);
        let _ = page(&ReportPage { runs: &charted, charts: &charts, comparison: None });
        let _ = report::json::document(&stored.run);
    }
}

/// What stands there instead of a value.
fn changed(value: &Value, kind: u8, number: u64) -> Value {
    match kind % 9 {
        0 => Value::Null,
        1 => number.into(),
        2 => f64::from_bits(number).into(),
        3 => number.cast_signed().into(),
        4 => String::from_utf8_lossy(&number.to_le_bytes()).into(),
        5 => Value::Array(Vec::new()),
        6 => value.as_array().map_or(Value::Null, |list| list.iter().chain(list).cloned().collect()),
        7 => value.as_f64().map_or(Value::Null, |known| (known * f64::from(number as i8)).into()),
        _ => value
            .as_u64()
            .map_or(Value::Null, |known| known.wrapping_add_signed(i64::from(number as i8)).into()),
    }
}

/// Runs to begin with: as they were, with a value changed, and with rows of intervals added.
pub fn runs() -> Vec<Vec<u8>> {
    let mut row = vec![57];
    row.extend(0_u32.to_le_bytes());
    row.push(0);
    // start_ns, duration_ns, operations, bytes, errors, offset_bytes_first, offset_bytes_end; then five empty cells.
    for number in [1_000_000_000_u64, 40_000_000, 7, 28_672, 0, 0, 4096] {
        row.extend(number.to_le_bytes());
    }
    row.extend([0; 5]);
    row[0] = (row.len() - 1) as u8;
    let bases = 0..2;
    bases
        .flat_map(|base| {
            let with_rows = [&[base, 0][..], &row, &row].concat();
            let with_change = vec![base, 1, 9, base, 1, 0xff, 0, 0, 0, 0, 0, 0, 0];
            [vec![base, 0], with_rows, with_change]
        })
        .collect()
}

/// A journal of the store whose rows are the pieces of these bytes; how it is laid out stands at the head of the store's journal.
fn journal_of_intervals(bytes: &[u8]) -> Vec<u8> {
    let mut journal = b"DSJ\x01\0\0\0\0".to_vec();
    journal.extend(crc32fast::hash(&journal).to_le_bytes());
    let mut rest = Rest(bytes);
    let mut number = 0_u64;
    while !rest.0.is_empty() {
        let length = rest.byte();
        let row = rest.take(usize::from(length));
        let length = row.len() as u32;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&number.to_le_bytes());
        hasher.update(&length.to_le_bytes());
        hasher.update(row);
        journal.extend(length.to_le_bytes());
        journal.extend(hasher.finalize().to_le_bytes());
        journal.extend(row);
        number += 1;
    }
    journal
}

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let folder = in_memory().expect("a folder for runs");
        let bases = vec![kept(&folder.path().join("kept")), measured(&folder.path().join("measured"))];
        Place { folder, bases }
    })
}

fn kept(copy: &Path) -> Base {
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join(KEPT);
    fs::create_dir(copy).expect("a new folder");
    for file in fs::read_dir(&original).expect("the run is in the tree").flatten() {
        fs::copy(file.path(), copy.join(file.file_name())).expect("memory has room for a run");
    }
    base(copy.into())
}

fn measured(store: &Path) -> Base {
    let store_words = ["--quiet", "--store", store.to_str().expect("a temporary folder has a plain name")];
    let typed = ["drivescope"].into_iter().chain(MEASURED).chain(store_words);
    let status = drivescope::cli::run(typed.map(Into::into));
    assert_eq!(status, 0, "{MEASURED:?} ended with another status");
    let runs = fs::read_dir(store.join("runs")).expect("the store has runs");
    let folder = runs.flatten().map(|entry| entry.path()).find(|path| path.join("run.json").is_file());
    base(folder.expect("the run was kept"))
}

fn base(folder: PathBuf) -> Base {
    let facts = fs::read(folder.join("run.json")).expect("the run can be read");
    let facts: Value = serde_json::from_slice(&facts).expect("a run is JSON");
    let mut pointers = Vec::new();
    name_values(&facts, String::new(), &mut pointers);
    Base { folder, facts, pointers }
}

/// The names of a value and of all in it.
fn name_values(value: &Value, name: String, names: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, inner)| name_values(inner, format!("{name}/{at}"), names));
        }
        Value::Object(fields) => {
            let named = |key: &str| format!("{name}/{}", key.replace('~', "~0").replace('/', "~1"));
            fields.iter().for_each(|(key, inner)| name_values(inner, named(key), names));
        }
        _ => {}
    }
    names.push(name);
}

/// Frames with right checksums around the pieces of these bytes, as a journal of what was saved; each is looked at as a restore would.
pub fn preserve_journal(bytes: &[u8]) {
    let path = place().folder.path().join("saved.journal");
    fs::write(&path, frames(bytes)).expect("memory has room for a journal");
    let _ = Journal::holds_nothing(&path);
    if let Ok(mut journal) = Journal::open(&path) {
        let saved = journal.parsed().saved.clone();
        let mut data = Vec::new();
        for stretch in &saved {
            let _ = journal.data(stretch, &mut data);
        }
    }
}

/// How a frame is laid out stands at the head of the frames of a journal. Of each piece the first byte says what it is: one to four a
/// frame of that kind, any other raw bytes.
fn frames(bytes: &[u8]) -> Vec<u8> {
    let (mut file, mut rest) = (Vec::new(), Rest(bytes));
    while !rest.0.is_empty() {
        let kind = rest.byte();
        let (number, offset, length) = (rest.number(), rest.number(), rest.short());
        let data = rest.take(usize::from(length));
        if matches!(kind, 1..=4) {
            let mut head = b"dsPRSV01".to_vec();
            head.extend([kind, 0, 0, 0]);
            head.extend((data.len() as u32).to_le_bytes());
            for word in [1, number, offset, data.len() as u64] {
                head.extend(word.to_le_bytes());
            }
            head.extend(crc32fast::hash(data).to_le_bytes());
            head.resize(60, 0);
            head.extend(crc32fast::hash(&head).to_le_bytes());
            file.extend(head);
        }
        file.extend(data);
    }
    file
}

/// Journals to begin with: a drive, a stretch of it that was saved, and notes.
pub fn preserve_journals() -> Vec<Vec<u8>> {
    let origin = Origin {
        is_device: false,
        capacity: 1 << 20,
        block: 512,
        path: "/a".into(),
        confirmation: "/a".into(),
        serial: None,
        is_marked: true,
        looks: vec![(0, 7)],
        beneath: Vec::new(),
    };
    let piece = |kind: u8, number: u64, offset: u64, data: &[u8]| {
        let mut piece = vec![kind];
        piece.extend(number.to_le_bytes());
        piece.extend(offset.to_le_bytes());
        piece.extend((data.len() as u16).to_le_bytes());
        piece.extend(data);
        piece
    };
    let first = piece(1, 0, 0, &origin.bytes());
    let saved = piece(2, 1, 4096, &[7; 512]);
    vec![
        [first.clone(), saved.clone(), piece(4, 2, 0, b""), piece(3, 3, 0, b"")].concat(),
        [first, saved, piece(9, 0, 0, b"torn")].concat(),
    ]
}

/// Bytes that are taken from the front; zeros behind their end.
struct Rest<'bytes>(&'bytes [u8]);

impl<'bytes> Rest<'bytes> {
    fn take(&mut self, count: usize) -> &'bytes [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    fn short(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let taken = self.take(8);
        bytes[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{Journal, frames, in_memory, journal_of_intervals, place, preserve_journals, runs};
    use drivescope::store::read_folder;
    use model::run::Series;

    #[test]
    fn rows_of_a_seed_are_intervals_to_the_store() {
        let base = &place().bases[1];
        let with_rows = runs().into_iter().max_by_key(Vec::len).expect("there are seeds");
        let journal = journal_of_intervals(&with_rows[2..]);
        std::fs::write(base.folder.join("intervals-000098.journal"), journal).unwrap();
        let stored = read_folder(&base.folder).unwrap();
        let added = stored.series.intervals(0).filter(|interval| interval.start_ns == 1_000_000_000);
        assert_eq!(added.count(), 2);
    }

    #[test]
    fn a_seed_is_a_journal_with_a_stretch_to_give_back() {
        let folder = in_memory().unwrap();
        let path = folder.path().join("journal");
        let [_, open] = &preserve_journals()[..] else { panic!("two seeds") };
        std::fs::write(&path, frames(open)).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        let saved = journal.parsed().saved.clone();
        let mut data = Vec::new();
        assert!(journal.data(&saved[0], &mut data).unwrap());
        assert_eq!((saved.len(), saved[0].offset, &data[..]), (1, 4096, &[7; 512][..]));
    }
}
