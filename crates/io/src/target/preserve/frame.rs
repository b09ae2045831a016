//! Frames of a journal: a head of 64 bytes with a checksum, and data with another.
//!
//! ```text
//! 0 "dsPRSV01"   8 kind   12 bytes of data   16 journal   24 number   32 place   40 length   48 crc of data   60 crc of 0..60
//! ```
//! Numbers are little-endian. Frames are numbered without a gap, so that one that is missing is noticed.

/// How a frame begins.
pub(super) const MAGIC: [u8; 8] = *b"dsPRSV01";
/// The size of a head.
pub(super) const HEAD_BYTES: usize = 64;
/// No data of a frame are larger: a chunk, or what names a drive.
pub(super) const DATA_BYTES_MAX: usize = 1 << 20;

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whose data the journal holds.
    Origin,
    /// What was at a place.
    Saved,
    /// All that was saved before is back at its place.
    GivenBack,
    /// All frames before it were lasting when it was written, so that one of them that is not whole was damaged since.
    Lasting,
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub kind: Kind,
    pub data_bytes: u32,
    /// Drawn once for each journal.
    pub journal: u64,
    pub number: u64,
    /// On the target.
    pub offset: u64,
    pub length: u64,
    pub data_crc: u32,
}

impl Head {
    /// As it stands in the file.
    pub fn bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8] = match self.kind {
            Kind::Origin => 1,
            Kind::Saved => 2,
            Kind::GivenBack => 3,
            Kind::Lasting => 4,
        };
        bytes[12..16].copy_from_slice(&self.data_bytes.to_le_bytes());
        for (at, number) in [(16, self.journal), (24, self.number), (32, self.offset), (40, self.length)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        bytes[48..52].copy_from_slice(&self.data_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..60]);
        bytes[60..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// A head that is whole, or none.
    pub fn parse(bytes: &[u8; HEAD_BYTES]) -> Option<Head> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let number = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if bytes[..8] != MAGIC || word(60) != crc32fast::hash(&bytes[..60]) {
            return None;
        }
        let kind = match bytes[8] {
            1 => Kind::Origin,
            2 => Kind::Saved,
            3 => Kind::GivenBack,
            4 => Kind::Lasting,
            _ => return None,
        };
        let data_bytes = word(12);
        let is_saved = kind == Kind::Saved;
        if data_bytes as usize > DATA_BYTES_MAX || is_saved && u64::from(data_bytes) != number(40) {
            return None;
        }
        Some(Head {
            kind,
            data_bytes,
            journal: number(16),
            number: number(24),
            offset: number(32),
            length: number(40),
            data_crc: word(48),
        })
    }
}
