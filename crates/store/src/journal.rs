//! The part of a series that is being written: an append-only file of records, each with its checksum.
//! ```text
//! header   "DSJ" version(1) series(1) 0 0 0 crc32(4, of the eight bytes before)
//! frame    length(4) crc32(4) row(length)      numbers little-endian
//! ```
//! The checksum of a frame covers its number in the file, its length and its row, so that a frame that is cut,
//! altered, or not where it was written is told from a good one. A frame is never longer than [`FRAME_BYTES_MAX`].
//!
//! Records are handed to the kernel in blocks, a second after they came at the latest ([`JournalWriter::write_due`]): that is what a killed
//! process loses. They are not synced: that would disturb the drive that is being measured.

use crate::column::{Cell, decode_row, encode_row};
use crate::disk::{Disk, SyncExtent};
use crate::error::StoreError;
use crate::series_kind::{FORMAT_VERSION, SeriesKind};
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HEADER_BYTES: usize = 12;
const FRAME_HEADER_BYTES: usize = 8;
/// The longest row: a histogram of 7,424 cells, each with a step of one or two bytes and a count of up to ten, and 64 bytes beside.
const FRAME_BYTES_MAX: usize = model::histogram::CELLS * 12 + 128;

/// Frames of an interval have some 120 bytes, and a write costs about as much as a thousand of those bytes.
const BLOCK_BYTES: usize = 1 << 16;
const BLOCK_AGE_MAX: Duration = Duration::from_secs(1);

pub(crate) struct JournalWriter {
    kind: SeriesKind,
    disk: Disk,
    path: PathBuf,
    file: File,
    length_bytes: u64,
    /// In the file; those of `frames` come behind them.
    written_records: u64,
    synced_records: u64,
    frames: Vec<u8>,
    pending: u64,
    written_at: Instant,
}

impl JournalWriter {
    /// Begins a journal. A file of that name must not exist.
    pub(crate) fn create(disk: Disk, path: &Path, kind: SeriesKind) -> Result<JournalWriter, StoreError> {
        Ok(JournalWriter {
            kind,
            disk,
            path: path.to_owned(),
            file: create_with_header(path, kind).map_err(StoreError::system("write", path))?,
            length_bytes: HEADER_BYTES as u64,
            written_records: 0,
            synced_records: 0,
            frames: Vec::new(),
            pending: 0,
            written_at: Instant::now(),
        })
    }

    pub(crate) fn records(&self) -> u64 {
        self.written_records + self.pending
    }

    /// Adds a row to those that the next [`JournalWriter::write`] writes.
    pub(crate) fn push(&mut self, row: &[Cell]) {
        let start = self.frames.len();
        self.frames.extend_from_slice(&[0; FRAME_HEADER_BYTES]);
        encode_row(self.kind.columns(), row, &mut self.frames);
        let row_start = start + FRAME_HEADER_BYTES;
        let length = self.frames.len() - row_start;
        assert!(length > 0, "a frame without a byte would end the journal");
        assert!(length <= FRAME_BYTES_MAX, "a row is never longer than the longest histogram");
        let length = length as u32;
        let checksum = frame_checksum(self.records(), length, &self.frames[row_start..]);
        self.frames[start..start + 4].copy_from_slice(&length.to_le_bytes());
        self.frames[start + 4..row_start].copy_from_slice(&checksum.to_le_bytes());
        self.pending += 1;
    }

    /// Hands the pushed rows to the kernel. When that fails the file is as it was before, and the next time tries again.
    pub(crate) fn write(&mut self) -> Result<(), StoreError> {
        if self.pending == 0 {
            return Ok(());
        }
        self.written_at = Instant::now();
        if let Err(source) = self.file.write_all(&self.frames) {
            self.cut_back().map_err(StoreError::system("cut back", &self.path))?;
            return Err(StoreError::system("write", &self.path)(source));
        }
        self.length_bytes += self.frames.len() as u64;
        self.written_records += self.pending;
        self.frames.clear();
        self.pending = 0;
        Ok(())
    }

    /// The same where a block is full, or a kill would lose more than a second.
    pub(crate) fn write_due(&mut self) -> Result<(), StoreError> {
        if self.frames.len() >= BLOCK_BYTES || self.written_at.elapsed() >= BLOCK_AGE_MAX {
            return self.write();
        }
        Ok(())
    }

    /// A part of a frame would hide all that follow it. Cutting a file needs no space.
    fn cut_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.length_bytes)?;
        self.file.seek(SeekFrom::Start(self.length_bytes))?;
        Ok(())
    }

    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        self.write()?;
        if self.synced_records < self.written_records {
            let synced = self.disk.sync_in_time(&self.file, SyncExtent::Data);
            synced.map_err(StoreError::system("sync", &self.path))?;
            self.synced_records = self.written_records;
        }
        Ok(())
    }
}

impl Drop for JournalWriter {
    /// A writer that is given up keeps what was appended; that it cannot is told by whoever finishes a run.
    fn drop(&mut self) {
        let _ = self.write();
    }
}

fn create_with_header(path: &Path, kind: SeriesKind) -> io::Result<File> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    if let Err(error) = file.write_all(&header(kind)) {
        // Without its header the file would stand in the way of the next attempt.
        fs::remove_file(path)?;
        return Err(error);
    }
    Ok(file)
}

fn header(kind: SeriesKind) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..5].copy_from_slice(&[b'D', b'S', b'J', FORMAT_VERSION, kind as u8]);
    let checksum = crc32fast::hash(&header[..8]);
    header[8..].copy_from_slice(&checksum.to_le_bytes());
    header
}

fn halves([a, b, c, d, e, f, g, h]: [u8; FRAME_HEADER_BYTES]) -> (u32, u32) {
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}

fn frame_checksum(number: u64, length: u32, row: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(row);
    hasher.finalize()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalEnd {
    Whole,
    /// Within a record: its writer was killed, or is writing it now.
    Cut,
    /// With bytes that are no record; what follows cannot be trusted.
    Damaged,
}

/// After which record of a journal somebody goes on to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JournalPosition {
    pub records: u64,
    bytes: u64,
}

pub(crate) struct JournalReader {
    kind: SeriesKind,
    path: PathBuf,
    file: BufReader<File>,
    position: JournalPosition,
    end: Option<JournalEnd>,
    row_bytes: Vec<u8>,
}

impl JournalReader {
    /// Opens a journal. A header that is cut or damaged reads as a journal without records.
    pub(crate) fn open(path: &Path, kind: SeriesKind) -> Result<JournalReader, StoreError> {
        JournalReader::open_at(path, kind, JournalPosition::default())
    }

    /// Opens a journal to go on where another reader of it stopped.
    pub(crate) fn open_at(
        path: &Path,
        kind: SeriesKind,
        position: JournalPosition,
    ) -> Result<JournalReader, StoreError> {
        let file = File::open(path).map_err(StoreError::system("read", path))?;
        let mut reader = JournalReader {
            kind,
            path: path.to_owned(),
            file: BufReader::with_capacity(1 << 16, file),
            position,
            end: None,
            row_bytes: Vec::new(),
        };
        let mut found = [0; HEADER_BYTES];
        reader.end = match reader.fill(&mut found)? {
            HEADER_BYTES if found == header(kind) => None,
            HEADER_BYTES => Some(JournalEnd::Damaged),
            _ => Some(JournalEnd::Cut),
        };
        let behind = SeekFrom::Start(HEADER_BYTES as u64 + position.bytes);
        reader.file.seek(behind).map_err(StoreError::system("read", path))?;
        Ok(reader)
    }

    pub(crate) fn kind(&self) -> SeriesKind {
        self.kind
    }

    pub(crate) fn records(&self) -> u64 {
        self.position.records
    }

    pub(crate) fn position(&self) -> JournalPosition {
        self.position
    }

    pub(crate) fn end(&self) -> Option<JournalEnd> {
        self.end
    }

    pub(crate) fn next_row(&mut self, row: &mut Vec<Cell>) -> Result<bool, StoreError> {
        if self.end.is_some() {
            return Ok(false);
        }
        self.end = self.read_frame(row)?;
        if self.end.is_none() {
            self.position.records += 1;
            self.position.bytes += (FRAME_HEADER_BYTES + self.row_bytes.len()) as u64;
        }
        Ok(self.end.is_none())
    }

    fn read_frame(&mut self, row: &mut Vec<Cell>) -> Result<Option<JournalEnd>, StoreError> {
        let mut header = [0; FRAME_HEADER_BYTES];
        match self.fill(&mut header)? {
            0 => return Ok(Some(JournalEnd::Whole)),
            FRAME_HEADER_BYTES => {}
            _ => return Ok(Some(JournalEnd::Cut)),
        }
        let (length, checksum) = halves(header);
        if length == 0 || length as usize > FRAME_BYTES_MAX {
            return Ok(Some(JournalEnd::Damaged));
        }
        let mut row_bytes = std::mem::take(&mut self.row_bytes);
        row_bytes.resize(length as usize, 0);
        let found = self.fill(&mut row_bytes)?;
        let end = if found < row_bytes.len() {
            Some(JournalEnd::Cut)
        } else if frame_checksum(self.position.records, length, &row_bytes) != checksum
            || decode_row(self.kind.columns(), &row_bytes, row).is_none()
        {
            Some(JournalEnd::Damaged)
        } else {
            None
        };
        self.row_bytes = row_bytes;
        Ok(end)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreError::system("read", &self.path)(error)),
            }
        }
        Ok(filled)
    }
}
