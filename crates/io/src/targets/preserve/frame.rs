//! Frames of a journal: a head of 64 bytes with a checksum, and data with another.
//! ```text
//! 0 "dsPRSV01"   8 kind   12 bytes of data   16 journal   24 number   32 place   40 length   48 crc of data   60 crc of 0..60
//! ```
//! Numbers are little-endian. Frames are numbered without a gap, so that one that is missing is noticed.

pub(super) const MAGIC: [u8; 8] = *b"dsPRSV01";
pub(super) const HEAD_BYTES: usize = 64;
/// No data of a frame are larger: a chunk, or what names a drive.
pub(super) const DATA_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Origin,
    Saved,
    /// All that was saved before is back at its place.
    GivenBack,
    /// All frames before it were lasting when it was written, so that one of them that is not whole was damaged since.
    Lasting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub kind: Kind,
    pub data_bytes: u32,
    pub journal: u64,
    pub number: u64,
    pub offset: u64,
    pub length: u64,
    pub data_crc: u32,
}

impl Head {
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

    pub fn parse(bytes: &[u8; HEAD_BYTES]) -> Option<Head> {
        let (words, _) = bytes.as_chunks::<4>();
        let (numbers, _) = bytes.as_chunks::<8>();
        if bytes[..8] != MAGIC || u32::from_le_bytes(words[15]) != crc32fast::hash(&bytes[..60]) {
            return None;
        }
        let kind = match bytes[8] {
            1 => Kind::Origin,
            2 => Kind::Saved,
            3 => Kind::GivenBack,
            4 => Kind::Lasting,
            _ => return None,
        };
        let data_bytes = u32::from_le_bytes(words[3]);
        let length = u64::from_le_bytes(numbers[5]);
        if data_bytes as usize > DATA_BYTES_MAX || kind == Kind::Saved && u64::from(data_bytes) != length {
            return None;
        }
        Some(Head {
            kind,
            data_bytes,
            journal: u64::from_le_bytes(numbers[2]),
            number: u64::from_le_bytes(numbers[3]),
            offset: u64::from_le_bytes(numbers[4]),
            length,
            data_crc: u32::from_le_bytes(words[12]),
        })
    }
}
