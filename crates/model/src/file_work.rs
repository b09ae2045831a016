//! What a phase did through a file system instead of with blocks of a drive: the task, in which folder, what it cost the
//! processor, and where the file lay.

use crate::units::Bytes;

/// One task in one folder, once.
#[derive(Clone, Debug, PartialEq)]
pub struct FileWork {
    /// The folder, as it was typed.
    pub folder: String,
    /// The kind of its file system: `ext4`.
    pub file_system: String,
    /// What was done.
    pub task: FileTask,
    /// Rounds repeat all tasks in all folders; counted from 0.
    pub round: u32,
    /// What one call moves; of small files, what the largest holds.
    pub block: Bytes,
    /// The length of the one large file; none where there are many small ones.
    pub file_bytes: Option<Bytes>,
    /// How many files there are.
    pub files: u64,
    /// Over how many folders they are spread.
    pub folders: u32,
    /// How many threads did it.
    pub threads: u32,
    /// Processor time of this program while it went on; none where the system did not tell.
    pub processor: Option<ProcessorTime>,
    /// Of a task that reads: the share of the file that was still in memory when it began, in [0, 1]; none where the system
    /// did not tell.
    pub cached_share: Option<f64>,
    /// Where the file lies, for a task that has just written it; or why that cannot be told.
    pub layout: Option<Result<FileLayout, String>>,
}

/// Processor time of all threads of this program. The kernel's own threads, which carry out what was put off, are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// In the program: its own cost.
    pub user_ns: u64,
    /// In the kernel, on behalf of the program: the cost of the file system.
    pub system_ns: u64,
}

/// Where a file lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileLayout {
    /// Pieces that the file system keeps apart.
    pub extents: u64,
    /// Pieces that do not follow each other on the device either: 1 is a contiguous file.
    pub fragments: u64,
    /// On which disks, in the order in which the file comes to them. Empty where only the file system knows.
    pub disks: Vec<DiskShare>,
    /// Why the place on a disk cannot be told, for all of the file or for a part of it.
    pub unplaced: Option<String>,
}

/// The part of a file that lies on one disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskShare {
    /// The disk: `sda`.
    pub disk: String,
    /// What the disk holds.
    pub disk_bytes: u64,
    /// How much of the file is on it.
    pub bytes: u64,
    /// Its first byte on the disk.
    pub first: u64,
    /// The end of its last byte.
    pub end: u64,
    /// The mean place of its bytes.
    pub middle: f64,
}

impl DiskShare {
    /// Where it lies, from 0 for the start of the disk to 1 for its end. On a hard disk the start is on the outermost tracks.
    pub fn position(&self) -> f64 {
        if self.disk_bytes == 0 { 0.0 } else { self.middle / self.disk_bytes as f64 }
    }
}

macro_rules! file_tasks {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $words:literal;)*) => {
        /// What is done with files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FileTask { $($(#[$doc])* $variant,)* }

        impl FileTask {
            /// All of them, in the order in which they are done.
            pub const ALL: &'static [FileTask] = &[$(FileTask::$variant,)*];

            /// The word in files.
            pub fn name(self) -> &'static str {
                match self { $(FileTask::$variant => $name,)* }
            }

            /// For people: what is done.
            pub fn words(self) -> &'static str {
                match self { $(FileTask::$variant => $words,)* }
            }
        }
    };
}

file_tasks! {
    /// A new file, byte after byte through a small buffer, and its flush.
    PerByteWrite = "per-byte-write", "write byte by byte";
    /// A new file, block after block, and its flush.
    BlockWrite = "block-write", "write in blocks";
    /// Each block is read, changed and written back; and the flush.
    Rewrite = "rewrite", "read, change and write back";
    /// The file, byte after byte through a small buffer.
    PerByteRead = "per-byte-read", "read byte by byte";
    /// The file, block after block.
    BlockRead = "block-read", "read in blocks";
    /// Reads at random places by several threads; one in ten is changed and written back.
    Seeks = "seeks", "seek and read, 1 in 10 written back";
    /// Files are made, their names in order.
    CreateInOrder = "create-in-order", "create files, names in order";
    /// What is known of each is asked for, in that order.
    StatInOrder = "stat-in-order", "look at files in order";
    /// Each is opened and read, in that order.
    OpenInOrder = "open-in-order", "open and read files in order";
    /// Each is removed, in that order.
    DeleteInOrder = "delete-in-order", "delete files in order";
    /// Files are made, with random names.
    CreateAtRandom = "create-at-random", "create files, random names";
    /// What is known of each is asked for, in random order.
    StatAtRandom = "stat-at-random", "look at files at random";
    /// Each is opened and read, in random order.
    OpenAtRandom = "open-at-random", "open and read files at random";
    /// Each is removed, in random order.
    DeleteAtRandom = "delete-at-random", "delete files at random";
}

impl FileTask {
    /// The task with that word.
    pub fn from_name(name: &str) -> Option<FileTask> {
        FileTask::ALL.iter().copied().find(|task| task.name() == name)
    }

    /// Whether it is about many small files and their names, and not about the bytes of a large one.
    pub fn is_of_names(self) -> bool {
        self >= FileTask::CreateInOrder
    }

    /// Whether its figure is bytes a second; otherwise it is operations a second.
    pub fn is_of_bytes(self) -> bool {
        self < FileTask::Seeks
    }

    /// Whether it changes something, so that a flush at its end makes it lasting.
    pub fn changes_data(self) -> bool {
        !matches!(
            self,
            FileTask::PerByteRead
                | FileTask::BlockRead
                | FileTask::StatInOrder
                | FileTask::OpenInOrder
                | FileTask::StatAtRandom
                | FileTask::OpenAtRandom
        )
    }
}

impl ProcessorTime {
    /// Both together, in seconds.
    pub fn seconds(self) -> f64 {
        (self.user_ns as f64 + self.system_ns as f64) / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_back_by_their_words() {
        for task in FileTask::ALL {
            assert_eq!(FileTask::from_name(task.name()), Some(*task));
        }
        assert!(
            FileTask::Seeks.changes_data()
                && !FileTask::Seeks.is_of_bytes()
                && !FileTask::Seeks.is_of_names()
        );
    }

    #[test]
    fn a_position_is_a_share_of_the_disk() {
        let share = DiskShare {
            disk: "sda".into(),
            disk_bytes: 1000,
            bytes: 10,
            first: 245,
            end: 255,
            middle: 250.0,
        };
        assert_eq!(share.position(), 0.25);
        assert_eq!(DiskShare { disk_bytes: 0, ..share }.position(), 0.0);
    }
}
