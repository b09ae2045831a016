//! The journal: what was at which place, on another drive, so that it can be given back after whatever happens.

use super::frame::{DATA_BYTES_MAX, HEAD_BYTES, Head, Kind, MAGIC};
use super::origin::Origin;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("cannot {operation} the journal {}: {source}", path.display())]
    System { operation: &'static str, path: PathBuf, source: io::Error },
    #[error("the journal {} belongs to a run in progress", path.display())]
    UnderWay { path: PathBuf },
    /// It is not one that this program made for its own use.
    #[error("{} is not a valid journal: {why}", path.display())]
    Untrusted { path: PathBuf, why: Distrust },
}

impl JournalError {
    fn at<Given>(
        operation: &'static str,
        path: &Path,
        result: io::Result<Given>,
    ) -> Result<Given, JournalError> {
        match result {
            Ok(given) => Ok(given),
            Err(source) => Err(JournalError::System { operation, path: path.into(), source }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it has several hard links")]
    SeveralNames,
    #[error("it belongs to another user")]
    OthersFile,
    #[error("its header is incomplete")]
    TornBeginning,
    #[error("it does not name the drive of its data")]
    NoOrigin,
    #[error("its frames are inconsistent")]
    Mixed,
    #[error("it names two drives")]
    TwoOrigins,
    #[error("it holds {length} bytes for byte {offset}, where the drive has none")]
    OutsideDrive { offset: u64, length: u64 },
    #[error("its data for byte {offset} are not whole blocks")]
    NotBlocks { offset: u64 },
    #[error("it holds two versions of byte {offset}")]
    TwoVersions { offset: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    pub offset: u64,
    pub length: u64,
    pub data_at: u64,
    pub crc: u32,
}

impl Saved {
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub origin: Origin,
    /// What has to be given back, in the order in which it was saved.
    pub saved: Vec<Saved>,
    end: u64,
    journal: u64,
    next_number: u64,
    /// A frame that was lasting is not whole: the file was damaged, not cut.
    pub is_damaged: bool,
}

/// A journal that is open and locked. The file goes only by [`Journal::delete`].
#[derive(Debug)]
pub struct Journal<Log = File> {
    log: Log,
    path: PathBuf,
    parsed: Parsed,
    /// Where frames begin again when everything is given back.
    origin_end: u64,
}

/// What a journal is kept in: a file, or in tests one that forgets what was not synced.
pub trait Log: Read + Write + Seek {
    fn sync(&mut self) -> io::Result<()>;
    fn cut(&mut self, to: u64) -> io::Result<()>;
}

impl Log for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    fn cut(&mut self, to: u64) -> io::Result<()> {
        self.set_len(to)
    }
}

impl Journal<File> {
    /// Makes one in a folder that exists, and locks it. It is lasting when this returns, and has its name only once it names its
    /// drive: at whatever moment the program is killed, it leaves no journal that nobody can assign.
    pub fn create(
        folder: &Path,
        name: &str,
        number: u64,
        origin: &Origin,
    ) -> Result<Journal<File>, JournalError> {
        let path = folder.join(name);
        let half = path.with_extension("half");
        // The name is a random number; one that is taken holds data.
        if path.symlink_metadata().is_ok() {
            return JournalError::at("make", &path, Err(io::ErrorKind::AlreadyExists.into()));
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&half);
        let file = JournalError::at("make", &half, file)?;
        lock(&file, &half)?;
        let journal = Journal::begin(file, path.clone(), number, origin)?;
        JournalError::at("name", &path, std::fs::rename(&half, &path).and_then(|()| sync_folder(folder)))?;
        Ok(journal)
    }

    /// Opens one that was left behind, and locks it.
    pub fn open(path: &Path) -> Result<Journal<File>, JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            // A link could lead to the drive itself, a pipe would be waited for.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path);
        let file = JournalError::at("open", path, file)?;
        let status = JournalError::at("look at", path, file.metadata())?;
        if !status.is_file() {
            return Err(JournalError::Untrusted { path: path.into(), why: Distrust::NotRegular });
        }
        if status.nlink() > 1 {
            return Err(JournalError::Untrusted { path: path.into(), why: Distrust::SeveralNames });
        }
        // The owner of this process is that of its folder in /proc.
        let ours = JournalError::at("look at", path, std::fs::metadata("/proc/self"))?.uid();
        if status.uid() != ours && status.uid() != 0 {
            return Err(JournalError::Untrusted { path: path.into(), why: Distrust::OthersFile });
        }
        lock(&file, path)?;
        Journal::read(file, path.into())
    }

    /// Removes it. Only when everything is given back, or nothing was saved.
    pub fn delete(self) -> Result<(), JournalError> {
        JournalError::at("remove", &self.path, std::fs::remove_file(&self.path))?;
        match self.path.parent() {
            Some(folder) => JournalError::at("make lasting the end of", &self.path, sync_folder(folder)),
            None => Ok(()),
        }
    }
}

impl<L: Log> Journal<L> {
    pub(super) fn begin(
        log: L,
        path: PathBuf,
        number: u64,
        origin: &Origin,
    ) -> Result<Journal<L>, JournalError> {
        let parsed = Parsed {
            origin: origin.clone(),
            saved: Vec::new(),
            end: 0,
            journal: number,
            next_number: 0,
            is_damaged: false,
        };
        let mut journal = Journal { log, path, parsed, origin_end: 0 };
        journal.append(Kind::Origin, 0, &origin.bytes())?;
        journal.sync()?;
        journal.origin_end = journal.parsed.end;
        Ok(journal)
    }

    pub(super) fn read(mut log: L, path: PathBuf) -> Result<Journal<L>, JournalError> {
        let size = JournalError::at("read", &path, log.seek(SeekFrom::End(0)))?;
        match parse(&mut log, size) {
            Ok((parsed, origin_end)) => Ok(Journal { log, path, parsed, origin_end }),
            Err(ParseError::Read(source)) => Err(JournalError::System { operation: "read", path, source }),
            Err(ParseError::Distrust(why)) => Err(JournalError::Untrusted { path, why }),
        }
    }

    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what is at a place. It is lasting after [`Journal::make_lasting`].
    pub fn save(&mut self, offset: u64, data: &[u8]) -> Result<(), JournalError> {
        let data_at = self.parsed.end + HEAD_BYTES as u64;
        let crc = self.append(Kind::Saved, offset, data)?;
        self.parsed.saved.push(Saved { offset, length: data.len() as u64, data_at, crc });
        Ok(())
    }

    /// Makes everything lasting that was added, and notes that: what stands behind the note was not overwritten.
    pub fn make_lasting(&mut self) -> Result<(), JournalError> {
        self.sync()?;
        self.append(Kind::Lasting, 0, &[])?;
        self.sync()
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        JournalError::at("make lasting", &self.path, self.log.sync())
    }

    /// The data of a stretch, if they are as they were.
    pub fn data(&mut self, saved: &Saved, into: &mut Vec<u8>) -> Result<bool, JournalError> {
        into.resize(saved.length as usize, 0);
        JournalError::at("read", &self.path, self.log.seek(SeekFrom::Start(saved.data_at)))?;
        match self.log.read_exact(into) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => {
                JournalError::at("read", &self.path, read)?;
                Ok(crc32fast::hash(into) == saved.crc)
            }
        }
    }

    /// Notes that everything is back at its place, lastingly, and gives the room free.
    /// Fails when it cannot be written; then everything is given back once more after a crash, which changes nothing.
    pub fn all_given_back(&mut self) -> Result<(), JournalError> {
        if self.parsed.is_damaged {
            return Ok(());
        }
        self.append(Kind::GivenBack, 0, &[])?;
        self.sync()?;
        self.parsed.saved.clear();
        // The number goes on, so that nothing that may reappear from behind the cut is taken for new.
        assert!(self.origin_end <= self.parsed.end, "a journal is only ever cut to its first frame");
        JournalError::at("shorten", &self.path, self.log.cut(self.origin_end))?;
        self.parsed.end = self.origin_end;
        self.sync()
    }

    fn append(&mut self, kind: Kind, offset: u64, data: &[u8]) -> Result<u32, JournalError> {
        assert!(data.len() <= DATA_BYTES_MAX, "a frame larger than this would not be read back");
        let data_crc = crc32fast::hash(data);
        let head = Head {
            kind,
            data_bytes: data.len() as u32,
            journal: self.parsed.journal,
            number: self.parsed.next_number,
            offset,
            length: data.len() as u64,
            data_crc,
        };
        JournalError::at("write", &self.path, write_frame(&mut self.log, self.parsed.end, &head, data))?;
        self.parsed.end += (HEAD_BYTES + data.len()) as u64;
        self.parsed.next_number += 1;
        Ok(data_crc)
    }
}

fn write_frame(log: &mut impl Log, at: u64, head: &Head, data: &[u8]) -> io::Result<()> {
    log.seek(SeekFrom::Start(at))?;
    log.write_all(&head.bytes())?;
    log.write_all(data)
}

/// By flock(2), which also excludes a second opening in this process: record locks would not, and would go with the
/// first descriptor that is closed. A child before its exec holds it on: the journal then seems to be under way.
fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalError::UnderWay { path: path.into() }),
        Err(TryLockError::Error(source)) => {
            Err(JournalError::System { operation: "lock", path: path.into(), source })
        }
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// A frame of a log at a place, its data, and whether these are as they were; none when its head is not whole or its data are cut.
fn frame_at(log: &mut impl Log, at: u64, size: u64, data: &mut Vec<u8>) -> io::Result<Option<(Head, bool)>> {
    let mut bytes = [0; HEAD_BYTES];
    if size.saturating_sub(at) < HEAD_BYTES as u64 {
        return Ok(None);
    }
    log.seek(SeekFrom::Start(at))?;
    log.read_exact(&mut bytes)?;
    let Some(head) = Head::parse(&bytes) else { return Ok(None) };
    if size - at - (HEAD_BYTES as u64) < u64::from(head.data_bytes) {
        return Ok(None);
    }
    data.resize(head.data_bytes as usize, 0);
    log.read_exact(data)?;
    Ok(Some((head, crc32fast::hash(data) == head.data_crc)))
}

struct Unsure {
    saved: usize,
    end: u64,
    next_number: u64,
}

#[derive(Debug, thiserror::Error)]
enum ParseError {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error(transparent)]
    Distrust(#[from] Distrust),
}

fn parse(log: &mut impl Log, size: u64) -> Result<(Parsed, u64), ParseError> {
    let mut data = Vec::new();
    let Some((first, true)) = frame_at(log, 0, size, &mut data)? else {
        return Err(Distrust::TornBeginning.into());
    };
    let origin = if first.kind == Kind::Origin { Origin::parse(&data) } else { None };
    let origin = origin.ok_or(Distrust::NoOrigin)?;
    let origin_end = (HEAD_BYTES + data.len()) as u64;
    let parsed = Parsed {
        origin,
        saved: Vec::new(),
        end: origin_end,
        journal: first.journal,
        next_number: first.number.checked_add(1).ok_or(Distrust::Mixed)?,
        is_damaged: false,
    };
    let mut replay = Replay { parsed, is_first: true, unsure: None };
    while let Some((head, is_whole)) = frame_at(log, replay.parsed.end, size, &mut data)? {
        if !is_whole && head.kind != Kind::Saved {
            break;
        }
        replay.take(&head, is_whole)?;
    }
    let Replay { mut parsed, unsure, .. } = replay;
    let goes_on = goes_on_behind(log, &parsed, size)?;
    parsed.is_damaged |= goes_on;
    if let Some(first) = unsure
        && !goes_on
    {
        // Torn by a crash behind the last note: nothing of it was overwritten on the target.
        parsed.saved.truncate(first.saved);
        (parsed.end, parsed.next_number) = (first.end, first.next_number);
    }
    check_overlap(&parsed.saved)?;
    assert!(origin_end <= parsed.end && parsed.end <= size, "frames lie in the log behind the first");
    Ok((parsed, origin_end))
}

struct Replay {
    parsed: Parsed,
    is_first: bool,
    /// Since the last note: the first stretch of which the data are not whole, and where its frame begins.
    unsure: Option<Unsure>,
}

impl Replay {
    fn take(&mut self, head: &Head, is_whole: bool) -> Result<(), Distrust> {
        let parsed = &mut self.parsed;
        // After a cut the numbers go on from where they were.
        let is_next = head.number == parsed.next_number || self.is_first && head.number > parsed.next_number;
        if !is_next || head.journal != parsed.journal {
            return Err(Distrust::Mixed);
        }
        // No journal is written up to the last number there is.
        let number_behind = head.number.checked_add(1).ok_or(Distrust::Mixed)?;
        self.is_first = false;
        match head.kind {
            Kind::Origin => return Err(Distrust::TwoOrigins),
            // The note says that they were whole: they were damaged since, and the others can be given back.
            Kind::Lasting => parsed.is_damaged |= self.unsure.take().is_some(),
            Kind::GivenBack => {
                parsed.saved.clear();
                (self.unsure, parsed.is_damaged) = (None, false);
            }
            Kind::Saved => {
                let data_at = parsed.end + HEAD_BYTES as u64;
                let saved = Saved { offset: head.offset, length: head.length, data_at, crc: head.data_crc };
                check_place(&saved, &parsed.origin)?;
                if !is_whole && self.unsure.is_none() {
                    self.unsure = Some(Unsure {
                        saved: parsed.saved.len(),
                        end: parsed.end,
                        next_number: parsed.next_number,
                    });
                }
                parsed.saved.push(saved);
            }
        }
        parsed.end += HEAD_BYTES as u64 + u64::from(head.data_bytes);
        parsed.next_number = number_behind;
        Ok(())
    }
}

fn check_place(saved: &Saved, origin: &Origin) -> Result<(), Distrust> {
    let (offset, length) = (saved.offset, saved.length);
    match offset.checked_add(length) {
        Some(end) if length > 0 && end <= origin.capacity => {}
        _ => return Err(Distrust::OutsideDrive { offset, length }),
    }
    if !offset.is_multiple_of(origin.block) || !length.is_multiple_of(origin.block) {
        return Err(Distrust::NotBlocks { offset });
    }
    Ok(())
}

fn check_overlap(saved: &[Saved]) -> Result<(), Distrust> {
    let mut in_order: Vec<(u64, u64)> = saved.iter().map(|saved| (saved.offset, saved.end())).collect();
    in_order.sort_unstable();
    for pair in in_order.windows(2) {
        if pair[0].1 > pair[1].0 {
            return Err(Distrust::TwoVersions { offset: pair[1].0 });
        }
    }
    Ok(())
}

/// Whether a frame behind the first that is not whole says that this one was lasting once.
fn goes_on_behind(log: &mut impl Log, parsed: &Parsed, size: u64) -> io::Result<bool> {
    let mut from = parsed.end;
    let mut window = vec![0; 2 * (DATA_BYTES_MAX + HEAD_BYTES)];
    let mut data = Vec::new();
    while from < size {
        let count = (size - from).min(window.len() as u64) as usize;
        log.seek(SeekFrom::Start(from))?;
        log.read_exact(&mut window[..count])?;
        for at in 0..count.saturating_sub(HEAD_BYTES - 1) {
            let bytes: &[u8; HEAD_BYTES] = window[at..at + HEAD_BYTES].try_into().expect("a whole head");
            // Cheaper than a checksum at each byte.
            if bytes[0] != MAGIC[0] {
                continue;
            }
            let Some(head) = Head::parse(bytes) else { continue };
            if head.journal == parsed.journal
                && matches!(head.kind, Kind::Lasting | Kind::GivenBack)
                && head.number > parsed.next_number
                && matches!(frame_at(log, from + at as u64, size, &mut data)?, Some((_, true)))
            {
                return Ok(true);
            }
        }
        if count < window.len() {
            break;
        }
        from += (count - HEAD_BYTES) as u64;
    }
    Ok(false)
}
