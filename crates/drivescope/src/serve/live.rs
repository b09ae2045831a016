//! The state of a run in progress: its facts as last written, and of its intervals only those added since the last look.

use crate::store::{Follower, RunListing, Store, StoreError};
use model::record::IntervalRecord;
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::units::Nanos;
use report::quantity;
use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

/// Past this number the run that was looked at longest ago is read from its start when it is asked for again.
const FOLLOWED_MAX: usize = 8;
/// "Now" is the last second of the series.
const NOW_NS: u64 = 1_000_000_000;

#[derive(Default)]
pub(super) struct Live {
    followed: Mutex<Vec<FollowedRun>>,
}

pub(super) struct LiveState {
    pub under_way: bool,
    pub status: RunStatus,
    pub phase: Option<String>,
    pub phases: usize,
    pub elapsed: Nanos,
    pub totals: Totals,
    pub now: Option<String>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Totals {
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub failed: u64,
    end_ns: u64,
}

struct FollowedRun {
    /// Inode of the folder, which a repeated run of the same name does not share.
    folder: Option<u64>,
    stamp: String,
    id: String,
    follower: Follower,
    facts: Run,
    phases: BTreeMap<u32, Totals>,
    recent: VecDeque<IntervalRecord>,
}

pub(super) fn facts_stamp(listing: &RunListing) -> String {
    let facts = match std::fs::metadata(listing.folder.join("run.json")) {
        Ok(facts) => Some((facts.ino(), facts.mtime(), facts.mtime_nsec(), facts.len())),
        Err(_) => None,
    };
    format!("{facts:?}{}", listing.under_way)
}

impl Live {
    pub(super) fn state(&self, store: &Store, listing: &RunListing) -> Result<LiveState, StoreError> {
        let mut all = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = std::fs::metadata(&listing.folder).as_ref().map(MetadataExt::ino).ok();
        let known = all.iter().position(|run| run.id == listing.id && run.folder == folder);
        let mut followed = match known {
            Some(index) => all.remove(index),
            None => FollowedRun::begin(store, listing, folder)?,
        };
        let read = followed.read(store, listing);
        let state = followed.state(listing.under_way);
        if listing.under_way {
            all.push(followed);
        }
        let forgotten = all.len().saturating_sub(FOLLOWED_MAX);
        all.drain(..forgotten);
        read?;
        Ok(state)
    }
}

impl FollowedRun {
    fn begin(store: &Store, listing: &RunListing, folder: Option<u64>) -> Result<FollowedRun, StoreError> {
        Ok(FollowedRun {
            folder,
            stamp: facts_stamp(listing),
            id: listing.id.clone(),
            follower: Follower::of(&listing.folder),
            facts: store.facts(&listing.id)?,
            phases: BTreeMap::new(),
            recent: VecDeque::new(),
        })
    }

    fn read(&mut self, store: &Store, listing: &RunListing) -> Result<(), StoreError> {
        let stamp = facts_stamp(listing);
        if stamp != self.stamp {
            self.facts = store.facts(&listing.id)?;
            self.stamp = stamp;
        }
        let (phases, recent) = (&mut self.phases, &mut self.recent);
        self.follower.added(|interval| {
            phases.entry(interval.phase).or_default().add_interval(&interval);
            push_recent(recent, interval);
        })?;
        Ok(())
    }

    fn state(&self, under_way: bool) -> LiveState {
        let mut totals = Totals::default();
        let known = self.facts.phases.len() as u32;
        for (number, phase) in (0u32..).zip(&self.facts.phases) {
            totals.add(&self.totals_of(number, phase));
        }
        for later in self.phases.range(known..) {
            totals.add(later.1);
        }
        LiveState {
            under_way,
            status: self.facts.status,
            phase: self.facts.phases.last().map(|last| last.phase.name.clone()),
            phases: self.facts.phases.len(),
            elapsed: Nanos::new(totals.end_ns),
            totals,
            now: if under_way { self.now() } else { None },
        }
    }

    fn totals_of(&self, number: u32, phase: &PhaseSummary) -> Totals {
        if phase.stopped.is_none() && phase.totals.is_empty() {
            let totals = self.phases.get(&number).copied().unwrap_or_default();
            return Totals { end_ns: totals.end_ns.max(phase.start_ns), ..totals };
        }
        Totals {
            bytes_read: phase.bytes_of(Operation::Read),
            bytes_written: phase.bytes_of(Operation::Write),
            failed: phase.errors(),
            end_ns: phase.end_ns(),
        }
    }

    fn now(&self) -> Option<String> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let seconds = Nanos::new(last.end_ns().saturating_sub(first.start_ns)).seconds();
        if seconds <= 0.0 {
            return Some("no request completed yet".into());
        }
        let (mut bytes, mut operations, mut median_ns, mut max_ns) = (0, 0, None, None);
        for interval in &self.recent {
            bytes += interval.bytes;
            operations += interval.operations;
            if let Some(latency) = interval.latency {
                median_ns = Some(latency.p50_ns);
                max_ns = max_ns.max(Some(latency.max_ns));
            }
        }
        Some(format!(
            "{}, {} IOPS, latency {} median, {} max",
            quantity::rough_rate(bytes as f64 / seconds),
            (operations as f64 / seconds).round(),
            latency_text(median_ns),
            latency_text(max_ns)
        ))
    }
}

fn push_recent(recent: &mut VecDeque<IntervalRecord>, interval: IntervalRecord) {
    let from_ns = interval.end_ns().saturating_sub(NOW_NS);
    while let Some(first) = recent.front()
        && (first.phase < interval.phase || first.start_ns < from_ns)
    {
        recent.pop_front();
    }
    recent.push_back(interval);
}

fn latency_text(latency_ns: Option<u64>) -> String {
    match latency_ns {
        Some(nanos) => quantity::rough_time(Nanos::new(nanos)),
        None => "unknown".into(),
    }
}

impl Totals {
    fn add_interval(&mut self, interval: &IntervalRecord) {
        let bytes = interval.bytes;
        let (bytes_read, bytes_written) = match interval.operation {
            Operation::Read => (bytes, 0),
            Operation::Write | Operation::Commit => (0, bytes),
            Operation::Flush | Operation::Discard => (0, 0),
        };
        let (failed, end_ns) = (interval.errors, interval.end_ns());
        self.add(&Totals { bytes_read, bytes_written, failed, end_ns });
    }

    fn add(&mut self, other: &Totals) {
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
        self.failed = self.failed.saturating_add(other.failed);
        self.end_ns = self.end_ns.max(other.end_ns);
    }
}
