//! What a phase did through a file system instead of with blocks: the task, its folder, processor time, place of the file.

use crate::null_number::null_as_zero;
use crate::units::Bytes;
use crate::untold::{self, Untold};
use crate::words;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileWork {
    pub folder: String,
    /// The kind of its file system: `ext4`.
    pub file_system: String,
    pub task: FileTask,
    /// Rounds repeat all tasks in all folders; counted from 0.
    pub round: u32,
    /// What one call moves; of small files, what the largest holds.
    #[serde(rename = "block_bytes")]
    pub block: Bytes,
    /// The length of the one large file; none where there are many small ones.
    pub file_bytes: Option<Bytes>,
    pub files: u64,
    /// Over how many folders they are spread.
    pub folders: u32,
    pub threads: u32,
    /// Processor time of this program while it went on; none where the system did not tell.
    #[serde(flatten, with = "processor_keys")]
    #[cfg_attr(feature = "schema", schemars(with = "processor_keys::Keys"))]
    pub processor: Option<ProcessorTime>,
    /// Of a task that reads: the share of the file that was still in memory when it began, in [0, 1]; none where nothing told it.
    pub cached_share: Option<f64>,
    /// Where the file lies, for a task that has just written it; or why that cannot be told.
    #[serde(default, with = "untold::keys")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<untold::keys::Keys<FileLayout>>"))]
    pub layout: Option<Result<FileLayout, Untold>>,
}

/// Processor time of all threads of this program. The kernel's own threads, which carry out what was put off, are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// In the program: its own cost.
    pub user_ns: u64,
    /// In the kernel, on behalf of the program: the cost of the file system.
    pub system_ns: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiskShare {
    pub disk: String,
    pub disk_bytes: u64,
    pub bytes: u64,
    pub first: u64,
    pub end: u64,
    /// The mean place of its bytes.
    #[serde(deserialize_with = "null_as_zero")]
    pub middle: f64,
}

impl DiskShare {
    /// Where it lies, from 0 for the start of the disk to 1 for its end. On a hard disk the start is on the outermost tracks.
    pub fn position(&self) -> f64 {
        if self.disk_bytes == 0 { 0.0 } else { self.middle / self.disk_bytes as f64 }
    }
}

words! {
    pub enum FileTask {
        /// A new file, byte after byte through a small buffer, and its flush.
        PerByteWrite = "per-byte-write",
        /// A new file, block after block, and its flush.
        BlockWrite = "block-write",
        /// Each block is read, changed and written back; and the flush.
        Rewrite = "rewrite",
        /// The file, byte after byte through a small buffer.
        PerByteRead = "per-byte-read",
        BlockRead = "block-read",
        /// Reads at random places by several threads; one in ten is changed and written back.
        Seeks = "seeks",
        /// Files are made, their names in order.
        CreateInOrder = "create-in-order",
        /// What is known of each is asked for, in that order.
        StatInOrder = "stat-in-order",
        /// Each is opened and read, in that order.
        OpenInOrder = "open-in-order",
        /// Each is removed, in that order.
        DeleteInOrder = "delete-in-order",
        /// Files are made, with random names.
        CreateAtRandom = "create-at-random",
        /// What is known of each is asked for, in random order.
        StatAtRandom = "stat-at-random",
        /// Each is opened and read, in random order.
        OpenAtRandom = "open-at-random",
        /// Each is removed, in random order.
        DeleteAtRandom = "delete-at-random",
    }
}

impl FileTask {
    pub fn words(self) -> &'static str {
        match self {
            FileTask::PerByteWrite => "write byte by byte",
            FileTask::BlockWrite => "write in blocks",
            FileTask::Rewrite => "read-modify-write",
            FileTask::PerByteRead => "read byte by byte",
            FileTask::BlockRead => "read in blocks",
            FileTask::Seeks => "seek and read, 1 in 10 written back",
            FileTask::CreateInOrder => "create files, names in order",
            FileTask::StatInOrder => "look at files in order",
            FileTask::OpenInOrder => "open and read files in order",
            FileTask::DeleteInOrder => "delete files in order",
            FileTask::CreateAtRandom => "create files, random names",
            FileTask::StatAtRandom => "look at files at random",
            FileTask::OpenAtRandom => "open and read files at random",
            FileTask::DeleteAtRandom => "delete files at random",
        }
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
    pub fn seconds(self) -> f64 {
        (self.user_ns as f64 + self.system_ns as f64) / 1e9
    }
}

/// The keys of processor time stand beside those of the work, and are null where the system did not tell.
mod processor_keys {
    use super::ProcessorTime;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub(super) struct Keys {
        processor_user_ns: Option<u64>,
        processor_system_ns: Option<u64>,
    }

    pub(super) fn serialize<S: Serializer>(
        time: &Option<ProcessorTime>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = Keys {
            processor_user_ns: time.map(|time| time.user_ns),
            processor_system_ns: time.map(|time| time.system_ns),
        };
        keys.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<ProcessorTime>, D::Error> {
        let keys = Keys::deserialize(deserializer)?;
        let times = keys.processor_user_ns.zip(keys.processor_system_ns);
        Ok(times.map(|(user_ns, system_ns)| ProcessorTime { user_ns, system_ns }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeks_are_neither_of_bytes_nor_of_names() {
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
