//! Preserving against power cuts at every single moment, against drives that fail, and against journals made by an enemy.
//!
//! A power cut loses of what was not synced any part: each write that is not yet lasting is kept, cut or lost, as drawn.

use super::journal::{Journal, JournalError, Log};
use super::*;
use model::prng::Prng;
use proptest::prelude::*;
use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

const BLOCK: u64 = 512;
const CAPACITY: u64 = 64 * BLOCK;

/// How many calls until the power is cut, over journal and drive.
type Power = Rc<Cell<u32>>;

fn step(power: &Power) -> io::Result<()> {
    if power.get() == 0 {
        return Err(io::Error::other("no power"));
    }
    power.set(power.get() - 1);
    Ok(())
}

/// Bytes of which some are not lasting yet.
#[derive(Clone, Default)]
struct Lasting {
    now: Vec<u8>,
    lasting: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Write(at, data) => {
                bytes.resize(bytes.len().max(at + data.len()), 0);
                bytes[*at..at + data.len()].copy_from_slice(data);
            }
            Change::Cut(to) => bytes.truncate(*to),
        }
    }
}

impl Lasting {
    fn of(bytes: Vec<u8>) -> Lasting {
        Lasting { now: bytes.clone(), lasting: bytes, pending: Vec::new() }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.now);
        self.pending.push(change);
    }

    fn sync(&mut self) {
        self.lasting = self.now.clone();
        self.pending.clear();
    }

    /// What is there when the power is back: of writes whole sectors are kept or not.
    fn after_cut(&self, prng: &mut Prng) -> Vec<u8> {
        let mut bytes = self.lasting.clone();
        for change in &self.pending {
            match change {
                Change::Write(at, data) => {
                    for (index, sector) in data.chunks(BLOCK as usize).enumerate() {
                        if prng.below(3) > 0 {
                            Change::Write(at + index * BLOCK as usize, sector.into()).apply(&mut bytes);
                        }
                    }
                }
                Change::Cut(_) if prng.below(2) > 0 => change.apply(&mut bytes),
                Change::Cut(_) => {}
            }
        }
        bytes
    }
}

struct MemoryLog {
    bytes: Rc<std::cell::RefCell<Lasting>>,
    at: usize,
    power: Power,
}

impl Read for MemoryLog {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.borrow();
        let rest = bytes.now.get(self.at..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

impl Write for MemoryLog {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        step(&self.power)?;
        self.bytes.borrow_mut().change(Change::Write(self.at, data.into()));
        self.at += data.len();
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for MemoryLog {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at as usize,
            SeekFrom::End(_) => self.bytes.borrow().now.len(),
            SeekFrom::Current(_) => self.at,
        };
        Ok(self.at as u64)
    }
}

impl Log for MemoryLog {
    fn sync(&mut self) -> io::Result<()> {
        step(&self.power)?;
        self.bytes.borrow_mut().sync();
        Ok(())
    }

    fn cut(&mut self, to: u64) -> io::Result<()> {
        step(&self.power)?;
        self.bytes.borrow_mut().change(Change::Cut(to as usize));
        Ok(())
    }
}

struct MemoryDrive {
    bytes: Lasting,
    power: Power,
    /// Of each so many writes one fails; 0 is none.
    fails_every: u32,
    writes: u32,
    /// Never to be read, never to be written.
    dead: Option<(u64, u64)>,
}

impl MemoryDrive {
    fn new(bytes: Vec<u8>, power: &Power) -> MemoryDrive {
        MemoryDrive { bytes: Lasting::of(bytes), power: power.clone(), fails_every: 0, writes: 0, dead: None }
    }

    fn is_dead(&self, offset: u64, length: usize) -> bool {
        self.dead.is_some_and(|(first, end)| offset < end && offset + length as u64 > first)
    }
}

impl Medium for MemoryDrive {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        if self.is_dead(offset, into.len()) {
            return Err(io::Error::from_raw_os_error(5));
        }
        let at = offset as usize;
        into.copy_from_slice(&self.bytes.now[at..at + into.len()]);
        Ok(())
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        step(&self.power)?;
        self.writes += 1;
        if self.is_dead(offset, data.len()) || self.writes.is_multiple_of(self.fails_every) {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.bytes.change(Change::Write(offset as usize, data.into()));
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        step(&self.power)?;
        self.bytes.sync();
        Ok(())
    }

    fn capacity(&self) -> u64 {
        CAPACITY
    }

    fn block(&self) -> u64 {
        BLOCK
    }
}

fn origin() -> Origin {
    Origin {
        is_device: true,
        capacity: CAPACITY,
        block: BLOCK,
        path: "/dev/test".into(),
        confirmation: "SERIAL".into(),
        serial: Some("SERIAL".into()),
        is_marked: false,
        looks: Vec::new(),
        beneath: Vec::new(),
    }
}

fn original() -> Vec<u8> {
    let mut bytes = vec![0; CAPACITY as usize];
    Prng::new(1, 1).fill(&mut bytes);
    bytes
}

fn log(bytes: &Rc<std::cell::RefCell<Lasting>>, power: &Power) -> MemoryLog {
    MemoryLog { bytes: bytes.clone(), at: 0, power: power.clone() }
}

/// Three stretches, saved, overwritten and given back one after the other; two of them touch.
fn work(
    kept: &Rc<std::cell::RefCell<Lasting>>,
    drive: &mut MemoryDrive,
    power: &Power,
    began: &mut bool,
) -> Result<(), JournalError> {
    let journal = Journal::begin(log(kept, power), PathBuf::from("journal"), 7, &origin())?;
    let mut keeper = Keeper::new(journal, CAPACITY);
    for (round, stretches) in [vec![(3, 9)], vec![(7, 12), (20, 23)], vec![(60, 64)]].into_iter().enumerate()
    {
        let bytes: Vec<(u64, u64)> = stretches.iter().map(|&(a, b)| (a * BLOCK, b * BLOCK)).collect();
        let saved = keeper.save(drive, &bytes, &mut || true)?;
        assert!(matches!(saved, SaveEnd::Safe), "{saved:?}");
        for &(first, end) in &bytes {
            *began = true;
            // What the test writes may or may not become lasting.
            let junk = vec![0xa0 + round as u8; (end - first) as usize];
            if drive.write_at(first, &junk).is_err() {
                return Ok(());
            }
        }
        if round > 0 && !keeper.give_back(drive)?.is_complete() {
            return Ok(());
        }
    }
    Ok(())
}

#[test]
fn a_power_cut_at_any_moment_loses_nothing() {
    let mut prng = Prng::new(5, 5);
    let mut cuts = 0;
    for draw in 0..8 {
        for calls in 0.. {
            let power = Power::new(Cell::new(calls));
            let kept = Rc::default();
            let mut drive = MemoryDrive::new(original(), &power);
            drive.fails_every = draw % 3 * 5;
            let mut began = false;
            let _ = work(&kept, &mut drive, &power, &mut began);
            if power.get() > 0 {
                assert_eq!(drive.bytes.now, original(), "without a cut everything is back");
                break;
            }
            // The power comes back, and goes again while everything is given back, up to four times.
            let (mut on_drive, mut in_log) =
                (drive.bytes.after_cut(&mut prng), kept.borrow().after_cut(&mut prng));
            for again in 0..5 {
                cuts += 1;
                let power = Power::new(Cell::new(if again == 4 { u32::MAX } else { prng.below(30) as u32 }));
                let kept = Rc::new(std::cell::RefCell::new(Lasting::of(in_log.clone())));
                let mut drive = MemoryDrive::new(on_drive.clone(), &power);
                match Journal::read(log(&kept, &power), PathBuf::from("journal")) {
                    Ok(mut journal) => {
                        assert!(!journal.parsed().is_damaged, "a cut is no damage: {draw} {calls}");
                        let given = give_back(&mut journal, &mut drive);
                        if again == 4 {
                            assert!(given.expect("there is power").is_complete());
                        }
                    }
                    Err(error) => assert!(!began, "{error} at {calls} although it had begun"),
                }
                (on_drive, in_log) = (drive.bytes.after_cut(&mut prng), kept.borrow().after_cut(&mut prng));
            }
            assert!(on_drive == original(), "lost after a cut at call {calls}, draw {draw}");
        }
    }
    assert!(cuts > 1000, "{cuts} cuts");
}

#[test]
fn what_cannot_be_read_is_not_tested_and_what_cannot_be_written_stays_in_the_journal() {
    let power = Power::new(Cell::new(u32::MAX));
    let kept: Rc<std::cell::RefCell<Lasting>> = Rc::default();
    let mut drive = MemoryDrive::new(original(), &power);
    let journal = Journal::begin(log(&kept, &power), PathBuf::from("journal"), 7, &origin()).unwrap();
    let mut keeper = Keeper::new(journal, 40 * BLOCK);
    drive.dead = Some((10 * BLOCK, 11 * BLOCK));
    let end = keeper.save(&mut drive, &[(8 * BLOCK, 12 * BLOCK)], &mut || true).unwrap();
    assert!(matches!(end, SaveEnd::Unreadable { .. }), "{end:?}");
    let end = keeper.save(&mut drive, &[(0, CAPACITY)], &mut || true).unwrap();
    assert!(matches!(end, SaveEnd::NoRoom), "{end:?}");
    let end = keeper.save(&mut drive, &[(20 * BLOCK, 30 * BLOCK)], &mut || true).unwrap();
    assert!(matches!(end, SaveEnd::Safe), "{end:?}");
    drive.write_at(20 * BLOCK, &[1; 10 * BLOCK as usize]).unwrap();
    drive.dead = Some((25 * BLOCK, 26 * BLOCK));
    let given = keeper.give_back(&mut drive).unwrap();
    assert_eq!(given.missing, [(25 * BLOCK, BLOCK)], "{given:?}");
    assert_eq!(keeper.journal().parsed().saved.len(), 1, "all of it is still there");
    drive.dead = None;
    assert!(keeper.give_back(&mut drive).unwrap().is_complete());
    assert_eq!(drive.bytes.now, original());
    assert!(keeper.journal().parsed().saved.is_empty());
}

/// A journal with these stretches, as bytes.
fn made(stretches: &[(u64, u64)]) -> Vec<u8> {
    let power = Power::new(Cell::new(u32::MAX));
    let kept: Rc<std::cell::RefCell<Lasting>> = Rc::default();
    let mut journal = Journal::begin(log(&kept, &power), PathBuf::from("journal"), 7, &origin()).unwrap();
    for &(offset, length) in stretches {
        journal.save(offset, &vec![7; length as usize]).unwrap();
    }
    journal.make_lasting().unwrap();
    kept.borrow().now.clone()
}

fn parsed(bytes: Vec<u8>) -> Result<Parsed, String> {
    let power = Power::new(Cell::new(u32::MAX));
    let kept = Rc::new(std::cell::RefCell::new(Lasting::of(bytes)));
    let journal =
        Journal::read(log(&kept, &power), PathBuf::from("journal")).map_err(|error| error.to_string())?;
    Ok(journal.parsed().clone())
}

#[test]
fn a_hostile_journal_is_not_trusted() {
    for (stretches, why) in [
        (&[(CAPACITY, BLOCK)][..], "where the drive has none"),
        (&[(CAPACITY - BLOCK, 2 * BLOCK)], "where the drive has none"),
        (&[(u64::MAX - 511, BLOCK)], "where the drive has none"),
        (&[(1, BLOCK)], "not whole blocks"),
        (&[(0, 100)], "not whole blocks"),
        (&[(0, 2 * BLOCK), (BLOCK, BLOCK)], "two versions of byte 512"),
    ] {
        let refused = parsed(made(stretches)).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    let sound = made(&[(0, BLOCK), (BLOCK, BLOCK)]);
    assert_eq!(parsed(sound.clone()).unwrap().saved.len(), 2);
    assert!(parsed(vec![]).unwrap_err().contains("header"));
    let mut other = made(&[(4 * BLOCK, BLOCK)]);
    other.splice(0..0, sound);
    assert!(parsed(other).is_err(), "two journals in one file");
}

#[test]
fn frames_with_the_last_number_there_is_are_not_trusted() {
    let sound = made(&[(0, BLOCK)]);
    let first_data_bytes = u32::from_le_bytes(sound[12..16].try_into().unwrap()) as usize;
    for head in [0, 64 + first_data_bytes] {
        let mut hostile = sound.clone();
        hostile[head + 24..head + 32].copy_from_slice(&u64::MAX.to_le_bytes());
        let crc = crc32fast::hash(&hostile[head..head + 60]);
        hostile[head + 60..head + 64].copy_from_slice(&crc.to_le_bytes());
        assert!(parsed(hostile).unwrap_err().contains("are inconsistent"), "head at {head}");
    }
}

#[test]
fn a_journal_that_is_damaged_in_its_midst_says_so() {
    let sound = made(&[(0, BLOCK), (BLOCK, BLOCK), (4 * BLOCK, BLOCK)]);
    let frame = 64 + BLOCK as usize;
    let mut damaged = sound.clone();
    let at = sound.len() - 64 - 2 * frame + 100;
    damaged[at] ^= 1;
    let parsed_damaged = parsed(damaged).unwrap();
    assert!(parsed_damaged.is_damaged && parsed_damaged.saved.len() == 3);
    // Its head, behind which nothing tells where the next one begins.
    let mut damaged = sound.clone();
    damaged[at - 80] ^= 1;
    let parsed_damaged = parsed(damaged).unwrap();
    assert!(parsed_damaged.is_damaged && parsed_damaged.saved.len() == 1);
    let cut = parsed(sound[..sound.len() - 64 - 10].to_vec()).unwrap();
    assert!(!cut.is_damaged && cut.saved.len() == 2);
    // Without the note that it was whole once, it was torn by a crash.
    let mut torn = sound[..sound.len() - 64].to_vec();
    torn[at] ^= 1;
    let torn = parsed(torn).unwrap();
    assert!(!torn.is_damaged && torn.saved.len() == 1);
}

#[test]
fn a_damaged_stretch_does_not_keep_the_others_from_coming_back() {
    let power = Power::new(Cell::new(u32::MAX));
    let kept: Rc<std::cell::RefCell<Lasting>> = Rc::default();
    let mut drive = MemoryDrive::new(original(), &power);
    let mut journal = Journal::begin(log(&kept, &power), PathBuf::from("journal"), 7, &origin()).unwrap();
    for block in [2, 10, 30] {
        let (at, end) = ((block * BLOCK) as usize, ((block + 1) * BLOCK) as usize);
        journal.save(block * BLOCK, &original()[at..end]).unwrap();
        journal.make_lasting().unwrap();
        drive.write_at(block * BLOCK, &[0xa0; BLOCK as usize]).unwrap();
    }
    let at = journal.parsed().saved[0].data_at as usize;
    kept.borrow_mut().now[at + 5] ^= 1;
    let mut journal = Journal::read(log(&kept, &power), PathBuf::from("journal")).unwrap();
    assert!(journal.parsed().is_damaged && journal.parsed().saved.len() == 3);
    let given = give_back(&mut journal, &mut drive).unwrap();
    assert_eq!((given.bytes, &given.missing[..]), (2 * BLOCK, &[(2 * BLOCK, BLOCK)][..]), "{given:?}");
    assert!(given.why.unwrap().contains("damaged"));
    let mut expected = original();
    expected[2 * BLOCK as usize..3 * BLOCK as usize].fill(0xa0);
    assert!(drive.bytes.now == expected, "nothing that is damaged is written, all else is back");
    let again = Journal::read(log(&kept, &power), PathBuf::from("journal")).unwrap();
    assert!(again.parsed().is_damaged && again.parsed().saved.len() == 3, "it is kept");
}

/// A drive during whose flush the medium of the journal goes bad.
struct DamagingDrive {
    drive: MemoryDrive,
    journal: Rc<std::cell::RefCell<Lasting>>,
    at: usize,
}

impl Medium for DamagingDrive {
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.drive.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.drive.write_at(offset, data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.journal.borrow_mut().now[self.at] ^= 1;
        self.drive.flush()
    }

    fn capacity(&self) -> u64 {
        self.drive.capacity()
    }

    fn block(&self) -> u64 {
        self.drive.block()
    }
}

#[test]
fn data_that_fail_their_checksum_on_the_second_read_are_not_written() {
    let power = Power::new(Cell::new(u32::MAX));
    let kept: Rc<std::cell::RefCell<Lasting>> = Rc::default();
    let mut drive = MemoryDrive::new(original(), &power);
    let mut journal = Journal::begin(log(&kept, &power), PathBuf::from("journal"), 7, &origin()).unwrap();
    journal.save(0, &original()[..BLOCK as usize]).unwrap();
    journal.make_lasting().unwrap();
    drive.write_at(0, &[0xa0; BLOCK as usize]).unwrap();
    let at = journal.parsed().saved[0].data_at as usize;
    let mut damaging = DamagingDrive { drive, journal: kept.clone(), at };
    let given = give_back(&mut journal, &mut damaging).unwrap();
    assert_eq!((given.bytes, &given.missing[..]), (0, &[(0, BLOCK)][..]), "{given:?}");
    assert!(damaging.drive.bytes.now == original(), "what was restored before the damage stays");
    assert_eq!(journal.parsed().saved.len(), 1, "the journal is kept");
}

proptest! {
    /// Whatever stands in a journal, nothing of it is written outside of the drive or into half a block, and nothing panics.
    #[test]
    fn no_journal_writes_where_it_must_not(
        mut bytes in Just(made(&[(0, BLOCK), (8 * BLOCK, 2 * BLOCK), (60 * BLOCK, BLOCK)])),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        noise in prop::collection::vec(any::<u8>(), 0..200),
        is_noise in any::<bool>(),
    ) {
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if is_noise {
            bytes.extend(noise);
        }
        for (at, value) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
        }
        if let Ok(parsed) = parsed(bytes) {
            for saved in &parsed.saved {
                prop_assert!(saved.end() <= CAPACITY && saved.offset % BLOCK == 0 && saved.length % BLOCK == 0);
            }
        }
    }
}

#[test]
fn only_a_plain_file_of_ours_is_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let made = Journal::create(folder.path(), "journal", 7, &origin()).unwrap();
    assert!(matches!(Journal::open(&path), Err(JournalError::UnderWay { .. })), "it is locked");
    assert!(Journal::create(folder.path(), "journal", 8, &origin()).is_err(), "none is overwritten");
    drop(made);
    assert_eq!(Journal::open(&path).unwrap().parsed().origin, origin());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(Journal::open(&link).is_err(), "a link could lead anywhere");
    let second = folder.path().join("second");
    std::fs::hard_link(&path, &second).unwrap();
    assert!(matches!(Journal::open(&path), Err(JournalError::Untrusted { .. })), "somebody else may hold it");
    std::fs::remove_file(&second).unwrap();
    Journal::open(&path).unwrap().delete().unwrap();
    assert!(!path.exists());
    assert!(Journal::open(folder.path()).is_err(), "a folder");
    assert!(Journal::open(std::path::Path::new("/dev/null")).is_err(), "a device");
}

#[test]
fn a_journal_has_its_name_only_once_it_names_its_drive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("7.journal");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..50 {
                Journal::create(folder.path(), "7.journal", 7, &origin()).unwrap().delete().unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            if let Ok(file) = std::fs::File::open(&path) {
                assert_eq!(Journal::read(file, path.clone()).expect("whole").parsed().origin, origin());
            }
        }
    });
}

#[test]
fn partitions_are_related_to_their_drive_and_to_nothing_else() {
    let named =
        |path: &str| Origin { path: path.into(), confirmation: path.into(), serial: None, ..origin() };
    let related = |one: &str, other: &str| named(one).is_related(&named(other));
    assert!(related("/dev/sdb1", "/dev/sdb") && related("/dev/nvme0n1", "/dev/nvme0n1p3"));
    assert!(!related("/dev/sdb", "/dev/sdba") && !related("/dev/loop1", "/dev/loop10"));
    assert!(!related("/dev/sdb1", "/dev/sdb2"), "beside each other");
}

#[test]
fn a_loop_device_is_related_to_what_it_shows() {
    let named = |path: &str, beneath: &[&str]| Origin {
        path: path.into(),
        confirmation: path.into(),
        serial: None,
        beneath: beneath.iter().map(|&path| path.into()).collect(),
        ..origin()
    };
    let file = Origin { is_device: false, ..named("/srv/image", &[]) };
    let device = named("/dev/loop3", &["/srv/image"]);
    assert!(device.is_related(&file) && file.is_related(&device));
    assert!(device.is_related(&named("/dev/loop4p1", &["/srv/image"])), "two over one file");
    assert!(named("/dev/loop5", &["/dev/loop3", "/srv/image"]).is_related(&file), "one over the other");
    assert!(named("/dev/loop5", &["/dev/sdb1"]).is_related(&named("/dev/sdb", &[])));
    assert!(!named("/dev/loop3", &["/srv/image2"]).is_related(&file));
    assert!(!named("/dev/loop3", &["/srv/image"]).is_related(&named("/dev/loop4", &["/srv/other"])));
    assert_eq!(Origin::parse(&device.bytes()), Some(device.clone()));
    // As older versions wrote it.
    let bytes = file.bytes();
    assert_eq!(Origin::parse(&bytes[..bytes.len() - 2]), Some(file));
}

#[test]
fn what_a_phase_may_overwrite_is_all_that_it_does() {
    use model::plan::{PhaseKind, StopCondition};
    use model::range::ByteRange;
    use model::units::{Bytes, Offset};
    use model::workload::{BlockSizes, OperationMix, Pattern, Workload};
    let range = ByteRange::new(Offset::new(1 << 20), Bytes::new(64 << 20)).unwrap();
    let phase = |pattern, mix, stop| model::plan::Phase {
        name: "a phase".into(),
        experiment: "verify".into(),
        kind: PhaseKind::Measure,
        workload: Some(Workload::new(range, pattern, mix, Bytes::new(1 << 20), 4)),
        stop,
    };
    let once = StopCondition::one_pass();
    let (write, whole) = (OperationMix::Write, [(1 << 20, 65 << 20)]);
    assert_eq!(stretches(&phase(Pattern::Sequential, OperationMix::Read, once)), []);
    assert_eq!(stretches(&phase(Pattern::Sequential, write, once)), whole);
    assert_eq!(stretches(&phase(Pattern::Sequential, OperationMix::Discard, once)), whole);
    assert_eq!(stretches(&phase(Pattern::RandomWithReplacement, write, once)), whole);
    let mixed = OperationMix::ReadWrite { read_share: 0.9 };
    assert_eq!(stretches(&phase(Pattern::RandomOnce, mixed, once)), whole);
    let bytes = StopCondition::default().or_bytes(Bytes::new(2 << 20));
    // Two requests, and up to five more.
    assert_eq!(stretches(&phase(Pattern::Sequential, write, bytes)), [(1 << 20, 8 << 20)]);
    let mut several = phase(Pattern::Sequential, write, bytes);
    let sizes = vec![(Bytes::new(4 << 10), 0.99), (Bytes::new(4 << 20), 0.01)];
    several.workload.as_mut().unwrap().block_sizes = BlockSizes::mix(sizes).unwrap();
    assert_eq!(stretches(&several), whole, "small requests at large steps reach far for few bytes");
    let listed = Pattern::Listed { offsets: vec![Offset::new(5 << 20), Offset::new(2 << 20)] };
    assert_eq!(stretches(&phase(listed, write, once)), [(2 << 20, 3 << 20), (5 << 20, 6 << 20)]);
}
