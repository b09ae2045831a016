//! What the kernel and a file system in user space say to each other, as far as one file needs it.
//!
//! The numbers and layouts are those of `linux/fuse.h`, protocol 7.31 and later. A call is 40 bytes of header and its
//! arguments; an answer 16 bytes of header and its body. All of it is in the byte order of the machine.

pub(super) const FOLDER_NODE: u64 = 1;
pub(super) const FILE_NODE: u64 = 2;
const CALL_HEADER_BYTES: usize = 40;
const WRITE_ARGUMENT_BYTES: usize = 40;
pub(super) const WRITE_OVERHEAD_BYTES: usize = CALL_HEADER_BYTES + WRITE_ARGUMENT_BYTES;

pub(super) const KEEP_SIZE: u32 = 1;
/// `fallocate`: the range holds nothing any more.
pub(super) const PUNCH_HOLE: u32 = 2;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub unique: u64,
    pub node: u64,
    /// Who calls: the user that is not root is told so by the kernel, not by us.
    pub what: What<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// Who is called this in the folder.
    Lookup {
        name: &'a [u8],
    },
    /// Nothing that is answered: forgotten names, interrupted callers (who get their answer when the drive has it).
    Unanswered,
    Attributes,
    Change(Change),
    Open,
    OpenFolder,
    /// What is in the folder, from the entry of that number on.
    ReadFolder {
        first: u64,
        room: u32,
    },
    /// The last user of an opened file is gone.
    Close,
    Read {
        offset: u64,
        length: u32,
        is_direct: bool,
    },
    Write {
        offset: u64,
        data: &'a [u8],
        is_direct: bool,
    },
    Synchronise,
    /// Reserves or gives up a range.
    Allocate {
        offset: u64,
        length: u64,
        mode: u32,
    },
    FileSystem,
    ChangeFolder,
    /// The file system is gone after this.
    Destroy,
    Unknown,
}

/// Attributes to be changed; none where one stays.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub size: Option<u64>,
    pub permissions: Option<u32>,
    pub user: Option<u32>,
    pub group: Option<u32>,
    /// Whether it came through an open file, as `ftruncate` does and opening with `O_TRUNC` does not.
    pub through_file: bool,
}

/// Reads a call; none when it is shorter than it says.
pub(super) fn parse(bytes: &[u8]) -> Option<Call<'_>> {
    let (length, opcode) = (number(bytes, 0)?, number(bytes, 4)?);
    let arguments = bytes.get(CALL_HEADER_BYTES..length as usize)?;
    Some(Call { unique: long(bytes, 8)?, node: long(bytes, 16)?, what: what(opcode, arguments)? })
}

fn what(opcode: u32, arguments: &[u8]) -> Option<What<'_>> {
    Some(match opcode {
        1 => What::Lookup { name: arguments.split(|byte| *byte == 0).next()? },
        2 | 36 | 42 => What::Unanswered,
        3 => What::Attributes,
        4 => What::Change(change(arguments)?),
        14 => What::Open,
        27 => What::OpenFolder,
        28 => What::ReadFolder { first: long(arguments, 8)?, room: number(arguments, 16)? },
        18 | 29 => What::Close,
        15 => What::Read {
            offset: long(arguments, 8)?,
            length: number(arguments, 16)?,
            is_direct: is_direct(number(arguments, 32)?),
        },
        16 => What::Write {
            offset: long(arguments, 8)?,
            data: arguments.get(WRITE_ARGUMENT_BYTES..)?.get(..number(arguments, 16)? as usize)?,
            is_direct: is_direct(number(arguments, 32)?),
        },
        20 => What::Synchronise,
        43 => What::Allocate {
            offset: long(arguments, 8)?,
            length: long(arguments, 16)?,
            mode: number(arguments, 24)?,
        },
        17 => What::FileSystem,
        6 | 8..=13 | 35 | 45 => What::ChangeFolder,
        38 => What::Destroy,
        _ => What::Unknown,
    })
}

fn change(arguments: &[u8]) -> Option<Change> {
    let valid = number(arguments, 0)?;
    let if_valid = |bit: u32, at: usize| Some((valid & bit != 0).then_some(number(arguments, at)?));
    Some(Change {
        size: (valid & 8 != 0).then_some(long(arguments, 16)?),
        permissions: if_valid(1, 68)?,
        user: if_valid(2, 76)?,
        group: if_valid(4, 80)?,
        through_file: valid & 64 != 0,
    })
}

fn is_direct(open_flags: u32) -> bool {
    open_flags & libc::O_DIRECT as u32 != 0
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The header of an answer to `unique` with a body of `body_bytes`; `errno` is 0 or a number of the system.
pub(super) fn answer_header(unique: u64, errno: i32, body_bytes: usize) -> [u8; 16] {
    let mut header = [0; 16];
    header[..4].copy_from_slice(&(16 + body_bytes as u32).to_ne_bytes());
    header[4..8].copy_from_slice(&(-errno).to_ne_bytes());
    header[8..].copy_from_slice(&unique.to_ne_bytes());
    header
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attributes {
    pub node: u64,
    pub size: u64,
    /// Seconds since 1970 of the last change; all three times are this.
    pub changed_s: u64,
    /// With the kind of file, as `stat` gives it.
    pub mode: u32,
    pub links: u32,
    pub user: u32,
    pub group: u32,
    pub block_bytes: u32,
}

/// How long the kernel may keep attributes before it asks again.
const ATTRIBUTES_KEPT_S: u64 = 1;

/// The body of an answer, written field by field.
#[derive(Default)]
pub(super) struct Body(Vec<u8>);

impl Body {
    pub(super) fn entry(attributes: &Attributes) -> Vec<u8> {
        // Node, generation, how long the name and the attributes are good for.
        let long =
            Body::default().long(attributes.node).long(0).long(ATTRIBUTES_KEPT_S).long(ATTRIBUTES_KEPT_S);
        long.number(0).number(0).attributes(attributes).0
    }

    /// To a question for attributes, or a change of them.
    pub(super) fn attributes_of(attributes: &Attributes) -> Vec<u8> {
        Body::default().long(ATTRIBUTES_KEPT_S).number(0).number(0).attributes(attributes).0
    }

    pub(super) fn opened(flags: u32) -> Vec<u8> {
        Body::default().long(0).number(flags).number(0).0
    }

    pub(super) fn written(bytes: u32) -> Vec<u8> {
        Body::default().number(bytes).number(0).0
    }

    /// To a question for the size of the file system, all of which the file takes.
    pub(super) fn file_system(capacity: u64, block_bytes: u32, name_bytes_max: u32) -> Vec<u8> {
        let blocks = capacity / u64::from(block_bytes);
        let counts = Body::default().long(blocks).long(0).long(0).long(1).long(0);
        let sizes = counts.number(block_bytes).number(name_bytes_max).number(block_bytes);
        (0..7).fold(sizes, |body, _| body.number(0)).0
    }

    /// To a reading of the folder: the entries from `first` on, as many as fit into `room`.
    pub(super) fn folder(file_name: &[u8], first: u64, room: u32) -> Vec<u8> {
        const REGULAR_FILE: u32 = 8;
        const FOLDER: u32 = 4;
        let entries: [(u64, u32, &[u8]); 3] =
            [(FOLDER_NODE, FOLDER, b"."), (FOLDER_NODE, FOLDER, b".."), (FILE_NODE, REGULAR_FILE, file_name)];
        let mut all = Vec::new();
        for (index, (node, kind, name)) in entries.into_iter().enumerate().skip(first as usize) {
            let mut entry =
                Body::default().long(node).long(index as u64 + 1).number(name.len() as u32).number(kind).0;
            entry.extend_from_slice(name);
            entry.resize(entry.len().next_multiple_of(8), 0);
            if all.len() + entry.len() > room as usize {
                break;
            }
            all.extend(entry);
        }
        all
    }

    fn attributes(self, attributes: &Attributes) -> Body {
        let Attributes { node, size, changed_s, mode, links, user, group, block_bytes } = *attributes;
        let body = self.long(node).long(size).long(size.div_ceil(512));
        let body = (0..3).fold(body, |body, _| body.long(changed_s));
        let body = (0..3).fold(body, |body, _| body.number(0));
        body.number(mode).number(links).number(user).number(group).number(0).number(block_bytes).number(0)
    }

    fn long(mut self, value: u64) -> Body {
        self.0.extend(value.to_ne_bytes());
        self
    }

    fn number(mut self, value: u32) -> Body {
        self.0.extend(value.to_ne_bytes());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(opcode: u32, arguments: &[u8]) -> Vec<u8> {
        let mut bytes = ((40 + arguments.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(opcode.to_ne_bytes());
        bytes.extend(77u64.to_ne_bytes());
        bytes.extend(FILE_NODE.to_ne_bytes());
        bytes.extend([0; 16]);
        bytes.extend(arguments);
        bytes
    }

    /// `struct fuse_read_in` and `struct fuse_write_in` have their fields at the same places.
    fn transfer(offset: u64, size: u32, open_flags: u32) -> Vec<u8> {
        let mut arguments = 5u64.to_ne_bytes().to_vec();
        arguments.extend(offset.to_ne_bytes());
        arguments.extend(size.to_ne_bytes());
        arguments.extend([0; 12]);
        arguments.extend(open_flags.to_ne_bytes());
        arguments.extend([0; 4]);
        arguments
    }

    #[test]
    fn a_read_is_understood() {
        let bytes = call(15, &transfer(1 << 40, 8192, 0o40002));
        let what = What::Read { offset: 1 << 40, length: 8192, is_direct: true };
        assert_eq!(parse(&bytes), Some(Call { unique: 77, node: FILE_NODE, what }));
    }

    #[test]
    fn a_write_brings_its_data() {
        let mut arguments = transfer(512, 3, 0);
        arguments.extend(b"abc");
        let bytes = call(16, &arguments);
        let what = What::Write { offset: 512, data: b"abc", is_direct: false };
        assert_eq!(parse(&bytes).unwrap().what, what);
        let cut_short = call(16, &transfer(512, 3, 0));
        assert_eq!(parse(&cut_short), None);
    }

    #[test]
    fn answers_have_the_sizes_of_the_protocol() {
        let attributes = Attributes {
            node: FILE_NODE,
            size: 1000,
            changed_s: 1,
            mode: 0o100600,
            links: 1,
            user: 0,
            group: 0,
            block_bytes: 512,
        };
        assert_eq!(Body::entry(&attributes).len(), 128);
        assert_eq!(Body::attributes_of(&attributes).len(), 104);
        assert_eq!(Body::opened(1).len(), 16);
        assert_eq!(Body::written(1).len(), 8);
        assert_eq!(Body::file_system(1 << 40, 512, 255).len(), 80);
        let header = answer_header(9, 5, 8);
        assert_eq!(header[..8], [24i32.to_ne_bytes(), (-5i32).to_ne_bytes()].concat()[..]);
    }

    #[test]
    fn the_folder_holds_itself_and_the_file() {
        let all = Body::folder(b"disk-4tb", 0, 4096);
        // 24 bytes and the name, in steps of eight.
        assert_eq!(all.len(), 32 + 32 + 32);
        assert_eq!(&all[64 + 24..64 + 32], b"disk-4tb");
        assert_eq!(Body::folder(b"disk-4tb", 2, 4096).len(), 32);
        assert_eq!(Body::folder(b"disk-4tb", 0, 40).len(), 32);
        assert!(Body::folder(b"disk-4tb", 3, 4096).is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), opcode in 0u32..60) {
            let _ = parse(&bytes);
            let _ = parse(&call(opcode, &bytes));
        }
    }
}
