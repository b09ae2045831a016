//! Commits: writes that are each made durable before the next, as a database's log does.

use crate::range::ByteRange;
use crate::request::Operation;
use crate::units::Bytes;
use crate::words;
use serde::{Deserialize, Serialize};

/// How writes are made durable, to which file, and what goes on beside them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commits {
    pub method: CommitMethod,
    pub log: Log,
    /// Whether it stands for the drive: others differ from it in one way, also in size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_main: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// The program whose limits they are held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Application>,
}

words! {
    pub enum CommitMethod {
        Fdatasync = "fdatasync",
        /// A write, then fsync, which stores the time of the change too.
        Fsync = "fsync",
        /// A write to a file that was opened with `O_DSYNC`.
        OpenDsync = "o_dsync",
        /// A write with the flag `RWF_DSYNC`: on a device with forced unit access (FUA) where the drive has it.
        WriteDsync = "rwf_dsync",
        /// A write and an fdatasync linked in io_uring: one system call for both.
        Linked = "io_uring-linked",
    }
}

words! {
    pub enum Log {
        /// The end of a file that grows: each commit changes the file's length.
        Extend = "extend",
        /// Space that was reserved and never written.
        Preallocated = "preallocated",
        /// Blocks that were written before, as in a log that is used again.
        Overwrite = "overwrite",
        /// The same, with a file for each committer.
        OverwriteEach = "overwrite-each",
        /// The target itself: blocks of a device, a file or a scratch file.
        Target = "target",
    }
}

words! {
    pub enum BesideLoad {
        RandomReads = "random-reads",
        SequentialWrites = "sequential-writes",
    }
}

/// Another load on the same drive, in other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    pub load: BesideLoad,
    pub range: ByteRange,
}

impl BesideLoad {
    pub const fn operation(self) -> Operation {
        match self {
            BesideLoad::RandomReads => Operation::Read,
            BesideLoad::SequentialWrites => Operation::Write,
        }
    }

    /// A page, as a database reads it; and what a file system writes back at once.
    pub const fn block(self) -> Bytes {
        match self {
            BesideLoad::RandomReads => Bytes::from_kib(4),
            BesideLoad::SequentialWrites => Bytes::from_mib(1),
        }
    }

    pub const fn depth(self) -> u32 {
        match self {
            BesideLoad::RandomReads => 4,
            BesideLoad::SequentialWrites => 1,
        }
    }
}

impl Commits {
    pub fn operations(self) -> &'static [Operation] {
        match self.beside {
            None => &[Operation::Commit],
            Some(Beside { load: BesideLoad::RandomReads, .. }) => &[Operation::Read, Operation::Commit],
            Some(Beside { load: BesideLoad::SequentialWrites, .. }) => &[Operation::Write, Operation::Commit],
        }
    }

    pub fn beside_depth(self) -> u32 {
        match self.beside {
            Some(beside) => beside.load.depth(),
            None => 0,
        }
    }
}

words! {
    pub enum Application {
        Etcd = "etcd",
        Postgresql = "postgresql",
        Mysql = "mysql",
        Kafka = "kafka",
        Zookeeper = "zookeeper",
        Consul = "consul",
        Sqlite = "sqlite",
    }
}
