//! The journal: what was at which place, on another drive, so that it can be given back after whatever happens.

use super::frame::{DATA_BYTES_MAX, HEAD_BYTES, Head, Kind, MAGIC};
use super::origin::Origin;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The first frame, which names the drive, is smaller.
const ORIGIN_BYTES_MAX: u64 = 128 << 10;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A call to the system failed.
    #[error("cannot {operation} the journal {}: {source}", path.display())]
    System {
        /// What was tried, as a verb.
        operation: &'static str,
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process uses it.
    #[error("the journal {} belongs to a run that is under way", path.display())]
    UnderWay {
        /// The journal.
        path: PathBuf,
    },
    /// It is not one that this program made for its own use.
    #[error("{} is no journal to trust: {why}", path.display())]
    Untrusted {
        /// The journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A stretch that was saved: its data stand in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// On the target.
    pub offset: u64,
    /// How long.
    pub length: u64,
    /// Where its data begin in the journal.
    pub data_at: u64,
    /// Their checksum.
    pub crc: u32,
}

impl Saved {
    /// Past its last byte.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// What a journal says.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Whose data.
    pub origin: Origin,
    /// What has to be given back, in the order in which it was saved.
    pub saved: Vec<Saved>,
    /// Where the next frame goes: past the last that is whole.
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
    /// What it says.
    parsed: Parsed,
    /// Where frames begin again when everything is given back.
    origin_end: u64,
}

/// What a journal is kept in: a file, or in tests one that forgets what was not synced.
pub trait Log: Read + Write + Seek {
    /// Makes everything lasting.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts it.
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
    /// Makes one in a folder that exists, and locks it. It is lasting when this returns.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(
        folder: &Path,
        name: &str,
        number: u64,
        origin: &Origin,
    ) -> Result<Journal<File>, JournalError> {
        let path = folder.join(name);
        let fail = |operation| failed(operation, &path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(fail("make"))?;
        lock(&file, &path)?;
        let journal = Journal::begin(file, path.clone(), number, origin)?;
        sync_folder(folder).map_err(fail("make lasting"))?;
        Ok(journal)
    }

    /// Opens one that was left behind, and locks it.
    ///
    /// # Errors
    /// When it cannot be read, is in use, or is not a file of ours.
    pub fn open(path: &Path) -> Result<Journal<File>, JournalError> {
        let fail = |operation| failed(operation, path);
        let untrusted = |why: &str| JournalError::Untrusted { path: path.into(), why: why.into() };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            // A link could lead to the drive itself, a pipe would be waited for.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .map_err(fail("open"))?;
        let status = file.metadata().map_err(fail("look at"))?;
        if !status.is_file() {
            return Err(untrusted("it is no regular file"));
        }
        if status.nlink() > 1 {
            return Err(untrusted("it has more than one name, so that somebody else may hold it"));
        }
        // The owner of this process is that of its folder in /proc.
        let ours = std::fs::metadata("/proc/self").map_err(fail("look at"))?.uid();
        if status.uid() != ours && status.uid() != 0 {
            return Err(untrusted("it belongs to somebody else"));
        }
        lock(&file, path)?;
        Journal::read(file, path.into())
    }

    /// Whether a file that is no journal to trust was left when one was made, before anything was saved: no second frame begins
    /// where one would. What cannot be read may hold something.
    pub fn holds_nothing(path: &Path) -> bool {
        let read = || {
            let file =
                OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
            let mut bytes = Vec::new();
            file.take(ORIGIN_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        let goes_on = |bytes: &[u8]| bytes.windows(MAGIC.len()).skip(1).any(|window| window == MAGIC);
        read().is_ok_and(|bytes| bytes.len() as u64 <= ORIGIN_BYTES_MAX && !goes_on(&bytes))
    }

    /// Removes it. Only when everything is given back, or nothing was saved.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn delete(self) -> Result<(), JournalError> {
        let fail = |operation| failed(operation, &self.path);
        std::fs::remove_file(&self.path).map_err(fail("remove"))?;
        self.path.parent().map_or(Ok(()), sync_folder).map_err(fail("make lasting the end of"))
    }
}

impl<L: Log> Journal<L> {
    /// Begins one in an empty log.
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

    /// Reads one.
    pub(super) fn read(mut log: L, path: PathBuf) -> Result<Journal<L>, JournalError> {
        let fail = |operation| failed(operation, &path);
        let size = log.seek(SeekFrom::End(0)).map_err(fail("read"))?;
        let (parsed, origin_end) = parse(&mut log, size)
            .map_err(fail("read"))?
            .map_err(|why| JournalError::Untrusted { path: path.clone(), why })?;
        Ok(Journal { log, path, parsed, origin_end })
    }

    /// What it says.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what is at a place. It is lasting after [`Journal::make_lasting`].
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&mut self, offset: u64, data: &[u8]) -> Result<(), JournalError> {
        let data_at = self.parsed.end + HEAD_BYTES as u64;
        let crc = self.append(Kind::Saved, offset, data)?;
        self.parsed.saved.push(Saved { offset, length: data.len() as u64, data_at, crc });
        Ok(())
    }

    /// Makes everything lasting that was added, and notes that it is: what stands behind that note may have been cut by a crash, and
    /// nothing of it was overwritten on the target.
    ///
    /// # Errors
    /// When the system cannot.
    pub fn make_lasting(&mut self) -> Result<(), JournalError> {
        self.sync()?;
        self.append(Kind::Lasting, 0, &[])?;
        self.sync()
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        let path = self.path.clone();
        self.log.sync().map_err(failed("make lasting", &path))
    }

    /// The data of a stretch, if they are as they were.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn data(&mut self, saved: &Saved, into: &mut Vec<u8>) -> Result<bool, JournalError> {
        let path = self.path.clone();
        into.resize(saved.length as usize, 0);
        self.log.seek(SeekFrom::Start(saved.data_at)).map_err(failed("read", &path))?;
        match self.log.read_exact(into) {
            Ok(()) => Ok(crc32fast::hash(into) == saved.crc),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(failed("read", &path)(error)),
        }
    }

    /// Notes that everything is back at its place, lastingly, and gives the room free.
    ///
    /// # Errors
    /// When it cannot be written; then everything is given back once more after a crash, which changes nothing.
    pub fn all_given_back(&mut self) -> Result<(), JournalError> {
        let path = self.path.clone();
        if self.parsed.is_damaged {
            return Ok(());
        }
        self.append(Kind::GivenBack, 0, &[])?;
        self.sync()?;
        self.parsed.saved.clear();
        // The number goes on, so that nothing that may reappear from behind the cut is taken for new.
        self.log.cut(self.origin_end).map_err(failed("shorten", &path))?;
        self.parsed.end = self.origin_end;
        self.sync()
    }

    fn append(&mut self, kind: Kind, offset: u64, data: &[u8]) -> Result<u32, JournalError> {
        let path = self.path.clone();
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
        let mut write = || {
            self.log.seek(SeekFrom::Start(self.parsed.end))?;
            self.log.write_all(&head.bytes())?;
            self.log.write_all(data)
        };
        write().map_err(failed("write", &path))?;
        self.parsed.end += (HEAD_BYTES + data.len()) as u64;
        self.parsed.next_number += 1;
        Ok(data_crc)
    }
}

fn failed(operation: &'static str, path: &Path) -> impl Fn(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::System { operation, path: path.clone(), source }
}

fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalError::UnderWay { path: path.into() }),
        Err(TryLockError::Error(source)) => Err(failed("lock", path)(source)),
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

/// Where a journal ends if what stands there was torn by a crash.
struct Unsure {
    saved: usize,
    end: u64,
    next_number: u64,
}

/// Why frames of several journals, or of none, are not given back.
const MIXED: &str = "its frames do not belong together";

/// What a log says, and where its first frame ends; why it says nothing, if it does not.
fn parse(log: &mut impl Log, size: u64) -> io::Result<Result<(Parsed, u64), String>> {
    let mut data = Vec::new();
    let Some((first, true)) = frame_at(log, 0, size, &mut data)? else {
        return Ok(Err("its beginning is not whole".into()));
    };
    let origin = Some(&data).filter(|_| first.kind == Kind::Origin).and_then(|data| Origin::parse(data));
    let Some(origin) = origin else { return Ok(Err("it does not say whose data it holds".into())) };
    let Some(next_number) = first.number.checked_add(1) else { return Ok(Err(MIXED.into())) };
    let origin_end = (HEAD_BYTES + data.len()) as u64;
    let mut parsed = Parsed {
        origin,
        saved: Vec::new(),
        end: origin_end,
        journal: first.journal,
        next_number,
        is_damaged: false,
    };
    let mut is_first = true;
    // Since the last note: the first stretch of which the data are not whole, and where its frame begins.
    let mut unsure: Option<Unsure> = None;
    while let Some((head, is_whole)) = frame_at(log, parsed.end, size, &mut data)? {
        if !is_whole && head.kind != Kind::Saved {
            break;
        }
        // After a cut the numbers go on from where they were.
        let is_next = head.number == parsed.next_number || is_first && head.number > parsed.next_number;
        // No journal is written up to the last number there is.
        let Some(number_behind) =
            head.number.checked_add(1).filter(|_| is_next && head.journal == parsed.journal)
        else {
            return Ok(Err(MIXED.into()));
        };
        is_first = false;
        match head.kind {
            Kind::Origin => return Ok(Err("it names two drives".into())),
            // The note says that they were whole: they were damaged since, and the others can be given back.
            Kind::Lasting => parsed.is_damaged |= unsure.take().is_some(),
            Kind::GivenBack => {
                parsed.saved.clear();
                (unsure, parsed.is_damaged) = (None, false);
            }
            Kind::Saved => {
                let data_at = parsed.end + HEAD_BYTES as u64;
                let saved = Saved { offset: head.offset, length: head.length, data_at, crc: head.data_crc };
                if let Err(why) = fits(&saved, &parsed.origin) {
                    return Ok(Err(why));
                }
                if !is_whole && unsure.is_none() {
                    unsure = Some(Unsure {
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
    }
    let goes_on = goes_on_behind(log, &parsed, size)?;
    parsed.is_damaged |= goes_on;
    if let Some(first) = unsure.filter(|_| !goes_on) {
        // Torn by a crash behind the last note: nothing of it was overwritten on the target.
        parsed.saved.truncate(first.saved);
        (parsed.end, parsed.next_number) = (first.end, first.next_number);
    }
    if let Some(why) = overlap(&parsed.saved) {
        return Ok(Err(why));
    }
    Ok(Ok((parsed, origin_end)))
}

fn fits(saved: &Saved, origin: &Origin) -> Result<(), String> {
    let end = saved.offset.checked_add(saved.length);
    if saved.length == 0 || end.is_none_or(|end| end > origin.capacity) {
        return Err(format!(
            "it holds {} bytes for byte {}, where the drive has none",
            saved.length, saved.offset
        ));
    }
    if !saved.offset.is_multiple_of(origin.block) || !saved.length.is_multiple_of(origin.block) {
        return Err(format!("what it holds for byte {} is no whole block", saved.offset));
    }
    Ok(())
}

fn overlap(saved: &[Saved]) -> Option<String> {
    let mut in_order: Vec<(u64, u64)> = saved.iter().map(|saved| (saved.offset, saved.end())).collect();
    in_order.sort_unstable();
    let pair = in_order.windows(2).find(|pair| pair[0].1 > pair[1].0)?;
    Some(format!("it holds two versions of byte {}", pair[1].0))
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
            let Some(head) = Some(bytes).filter(|bytes| bytes[0] == b'd').and_then(Head::parse) else {
                continue;
            };
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
