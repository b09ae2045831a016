//! Files of ours that somebody altered: stored runs, and journals of what was saved before a write. Checksums are made right again, since
//! a fuzzer does not find them, and whoever alters a file on purpose writes them too.

use crate::memory::{in_memory, keep};
use ::io::targets::preserve::{Journal, Origin};
use report::chart::{ChartedRun, charts_of};
use report::html::{ReportPage, page};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use store::read_folder;
use tempfile::TempDir;

/// A run of a few records that an older version kept, from the root of this crate; and one that is measured anew, by what is typed.
const KEPT: &str = "../crates/store/tests/runs/v1/complete";
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
    keep(&base.folder.join("run.json"), facts.to_string().as_bytes());
    keep(&base.folder.join("intervals-000099.journal"), &journal_of_intervals(rest.0));
    if let Ok(mut stored) = read_folder(&base.folder) {
        stored.run.findings = analysis::analyse(&stored.run.view(&stored.series));
        let charted = [ChartedRun { run: &stored.run, series: Some(&stored.series), letter: None }];
        let charts = charts_of(&charted);
        let _ = page(&ReportPage { runs: &charted, charts: &charts, comparison: None, home: None });
        let _ = store::document::to_json(&stored.run, &report::finding::documents(&stored.run));
    }
}

/// What stands there instead of a value.
fn changed(value: &Value, kind: u8, number: u64) -> Value {
    let small = number as i8;
    match (kind % 9, value) {
        (1, _) => number.into(),
        (2, _) => f64::from_bits(number).into(),
        (3, _) => number.cast_signed().into(),
        (4, _) => String::from_utf8_lossy(&number.to_le_bytes()).into(),
        (5, _) => Value::Array(Vec::new()),
        (6, Value::Array(list)) => list.iter().chain(list).cloned().collect(),
        // What is no number is none, which JSON writes as null.
        (7, _) => (value.as_f64().unwrap_or(f64::NAN) * f64::from(small)).into(),
        (8, Value::Number(known)) if known.is_u64() => {
            known.as_u64().unwrap_or(0).wrapping_add_signed(i64::from(small)).into()
        }
        _ => Value::Null,
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
    let mut runs = Vec::new();
    for base in 0..2 {
        runs.push(vec![base, 0]);
        runs.push([&[base, 0][..], &row, &row].concat());
        runs.push(vec![base, 1, 9, base, 1, 0xff, 0, 0, 0, 0, 0, 0, 0]);
    }
    runs
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
    PLACE.get_or_init(|| with_runs().expect("memory has room for runs"))
}

fn with_runs() -> io::Result<Place> {
    let folder = in_memory()?;
    let bases = vec![kept(&folder.path().join("kept"))?, measured(&folder.path().join("measured"))?];
    Ok(Place { folder, bases })
}

fn kept(copy: &Path) -> io::Result<Base> {
    fs::create_dir(copy)?;
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(KEPT))? {
        let file = file?;
        fs::copy(file.path(), copy.join(file.file_name()))?;
    }
    base(copy.into())
}

fn measured(store: &Path) -> io::Result<Base> {
    let words = ["drivescope"].into_iter().chain(MEASURED).chain(["--quiet", "--store"]);
    let typed = words.map(OsString::from).chain([store.into()]);
    let status = drivescope::cli::run(typed);
    assert_eq!(status, 0, "{MEASURED:?} ended with another status");
    for folder in fs::read_dir(store.join("runs"))? {
        let folder = folder?.path();
        if folder.join("run.json").is_file() {
            return base(folder);
        }
    }
    Err(io::Error::other("the run was not kept"))
}

fn base(folder: PathBuf) -> io::Result<Base> {
    let facts: Value = serde_json::from_slice(&fs::read(folder.join("run.json"))?)?;
    let mut pointers = Vec::new();
    name_values(&facts, String::new(), &mut pointers);
    Ok(Base { folder, facts, pointers })
}

/// The names of a value and of all in it.
fn name_values(value: &Value, name: String, names: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                name_values(inner, format!("{name}/{at}"), names);
            }
        }
        Value::Object(fields) => {
            for (key, inner) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                name_values(inner, format!("{name}/{key}"), names);
            }
        }
        _ => {}
    }
    names.push(name);
}

/// Frames with right checksums around the pieces of these bytes, as a journal of what was saved; each is looked at as a restore would.
pub fn preserve_journal(bytes: &[u8]) {
    let path = place().folder.path().join("saved.journal");
    keep(&path, &frames(bytes));
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

fn piece(kind: u8, number: u64, offset: u64, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u16).to_le_bytes();
    [&[kind][..], &number.to_le_bytes(), &offset.to_le_bytes(), &length, data].concat()
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
    use model::run::Series;
    use store::read_folder;

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
