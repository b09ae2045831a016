//! What programs that commit need of a drive, as they publish it: the one place for limits, each with source and date.

use crate::commit::{Application, CommitMethod, Log};
use crate::units::{Bytes, Nanos, Quantile};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommitNeed {
    pub write: Bytes,
    pub method: CommitMethod,
    pub log: Log,
    /// A percentile and its limit; none where the program publishes none.
    pub limit: Option<CommitLimit>,
    /// The text that has the limit, or the default of the method, with its date.
    pub source: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommitLimit {
    pub percentile: Quantile,
    pub latency: Nanos,
}

const P99_IN_10_MS: CommitLimit = CommitLimit { percentile: Quantile::P99, latency: Nanos::from_millis(10) };
/// Of timeouts and warnings, which are meant to be rare: one in a thousand.
const fn rarely(latency: Nanos) -> Option<CommitLimit> {
    Some(CommitLimit { percentile: Quantile::P999, latency })
}

impl Application {
    pub const fn need(self) -> CommitNeed {
        match self {
            Application::Etcd => CommitNeed {
                write: Bytes::from_kib(2),
                method: CommitMethod::Fdatasync,
                log: Log::Preallocated,
                limit: Some(P99_IN_10_MS),
                source: "etcd 3.5 FAQ, 2021: p99 of wal_fsync_duration_seconds below 10 ms",
            },
            Application::Postgresql => CommitNeed {
                write: Bytes::from_kib(8),
                method: CommitMethod::Fdatasync,
                log: Log::Overwrite,
                limit: None,
                source: "PostgreSQL 17 manual, 2024: wal_sync_method fdatasync, wal_recycle on",
            },
            Application::Mysql => CommitNeed {
                write: Bytes::from_kib(2),
                method: CommitMethod::Fsync,
                log: Log::Overwrite,
                limit: None,
                source: "MySQL 8.4 manual, 2024: innodb_flush_log_at_trx_commit 1",
            },
            Application::Kafka => CommitNeed {
                write: Bytes::from_kib(8),
                method: CommitMethod::Fsync,
                log: Log::Extend,
                limit: rarely(Nanos::from_secs(2)),
                source: "Kafka 3.9 configuration, 2024: controller.quorum.fetch.timeout.ms 2000",
            },
            Application::Zookeeper => CommitNeed {
                write: Bytes::from_kib(2),
                method: CommitMethod::Fdatasync,
                log: Log::Preallocated,
                limit: rarely(Nanos::from_secs(1)),
                source: "ZooKeeper 3.9 administrator's guide, 2023: fsync.warningthresholdms 1000",
            },
            Application::Consul => CommitNeed {
                write: Bytes::from_kib(8),
                method: CommitMethod::Fdatasync,
                log: Log::Extend,
                limit: rarely(Nanos::from_millis(500)),
                source: "Consul manual, server performance, 2024: leader lease of 500 ms at raft_multiplier 1",
            },
            Application::Sqlite => CommitNeed {
                write: Bytes::from_kib(8),
                method: CommitMethod::Fdatasync,
                log: Log::Extend,
                limit: None,
                source: "SQLite manual, 2024: synchronous FULL",
            },
        }
    }
}
