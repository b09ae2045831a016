//! How a run that goes on stands: its facts as they were written last, and of its slices only what was added since somebody looked.

use crate::store::{Follower, RunListing, Store, StoreError};
use model::record::IntervalRecord;
use model::request::Operation;
use model::run::{PhaseSummary, Run, RunStatus};
use model::units::Nanos;
use report::quantity;
use std::collections::{BTreeMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, PoisonError};

/// Runs that are followed at once; who looks at more begins anew with the one that was looked at longest ago.
const FOLLOWED_MAX: usize = 8;
/// "Now" is the end of the series: so much of it.
const NOW_NS: u64 = 1_000_000_000;

/// The runs that somebody looks at while they go on.
#[derive(Default)]
pub(super) struct Live {
    followed: Mutex<Vec<Followed>>,
}

/// How a run stands.
pub(super) struct Standing {
    pub under_way: bool,
    pub status: RunStatus,
    /// The step that was begun last, and how many there are; as its experiment calls it.
    pub step: Option<String>,
    pub steps: usize,
    pub elapsed: Nanos,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub failed: u64,
    /// The last second, in words.
    pub now: Option<String>,
}

/// A run, and what was read of it.
struct Followed {
    /// The folder, which a repeated run of the same name does not share, and the stamp of its facts.
    folder: Option<u64>,
    stamp: String,
    id: String,
    follower: Follower,
    facts: Run,
    phases: BTreeMap<u32, Moved>,
    recent: VecDeque<IntervalRecord>,
}

/// What the slices of a phase say.
#[derive(Clone, Copy, Default)]
struct Moved {
    bytes_read: u64,
    bytes_written: u64,
    failed: u64,
    end_ns: u64,
}

impl Live {
    /// How a run stands now. Reads what was added since it was asked last.
    pub(super) fn standing(&self, store: &Store, listing: &RunListing) -> Result<Standing, StoreError> {
        let mut all = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = std::fs::metadata(&listing.folder).map(|folder| folder.ino()).ok();
        let place = all.iter().position(|one| one.id == listing.id && one.folder == folder);
        let mut followed = match place {
            Some(place) => all.remove(place),
            None => Followed::begin(store, listing, folder)?,
        };
        let looked = followed.look(store, listing);
        let standing = looked.map(|()| followed.standing(listing.under_way));
        if listing.under_way {
            all.push(followed);
        }
        let forgotten = all.len().saturating_sub(FOLLOWED_MAX);
        all.drain(..forgotten);
        standing
    }
}

impl Followed {
    fn begin(store: &Store, listing: &RunListing, folder: Option<u64>) -> Result<Followed, StoreError> {
        Ok(Followed {
            folder,
            stamp: super::route::state(listing),
            id: listing.id.clone(),
            follower: Follower::of(&listing.folder),
            facts: store.facts(&listing.id)?,
            phases: BTreeMap::new(),
            recent: VecDeque::new(),
        })
    }

    fn look(&mut self, store: &Store, listing: &RunListing) -> Result<(), StoreError> {
        let stamp = super::route::state(listing);
        if stamp != self.stamp {
            self.facts = store.facts(&listing.id)?;
            self.stamp = stamp;
        }
        let (phases, recent) = (&mut self.phases, &mut self.recent);
        self.follower.added(|slice| {
            phases.entry(slice.phase).or_default().add(&slice);
            let from_ns = slice.end_ns().saturating_sub(NOW_NS);
            while recent.front().is_some_and(|first| first.phase < slice.phase || first.start_ns < from_ns) {
                recent.pop_front();
            }
            recent.push_back(slice);
        })?;
        Ok(())
    }

    fn standing(&self, under_way: bool) -> Standing {
        let known = self.facts.phases.len() as u32;
        let of_facts = (0u32..).zip(&self.facts.phases).map(|(number, phase)| self.moved(number, phase));
        let later = self.phases.range(known..).map(|(_, moved)| *moved);
        let all: Vec<Moved> = of_facts.chain(later).collect();
        let sum = |of: fn(&Moved) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
        Standing {
            under_way,
            status: self.facts.status,
            step: self.facts.phases.last().map(|last| last.phase.name.clone()),
            steps: self.facts.phases.len(),
            elapsed: Nanos(all.iter().map(|moved| moved.end_ns).max().unwrap_or(0)),
            bytes_read: sum(|moved| moved.bytes_read),
            bytes_written: sum(|moved| moved.bytes_written),
            failed: sum(|moved| moved.failed),
            now: self.now().filter(|_| under_way),
        }
    }

    /// What the facts say of a phase; of one that goes on they say nothing yet, and its slices do.
    fn moved(&self, number: u32, phase: &PhaseSummary) -> Moved {
        if phase.stopped.is_none() && phase.totals.is_empty() {
            let moved = self.phases.get(&number).copied().unwrap_or_default();
            return Moved { end_ns: moved.end_ns.max(phase.start_ns), ..moved };
        }
        let bytes = |operation| phase.totals_of(operation).map_or(0, |totals| totals.bytes);
        Moved {
            bytes_read: bytes(Operation::Read),
            bytes_written: bytes(Operation::Write),
            failed: phase.errors(),
            end_ns: phase.end_ns(),
        }
    }

    /// The last second: how fast it goes, and how long requests take.
    fn now(&self) -> Option<String> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let seconds = Nanos(last.end_ns().saturating_sub(first.start_ns)).seconds();
        if seconds <= 0.0 {
            return Some("no request answered yet".into());
        }
        let bytes: u64 = self.recent.iter().map(|slice| slice.bytes).sum();
        let operations: u64 = self.recent.iter().map(|slice| slice.operations).sum();
        let latencies = || self.recent.iter().filter_map(|slice| slice.latency);
        let time =
            |nanos: Option<u64>| nanos.map_or("unknown".into(), |nanos| quantity::rough_time(Nanos(nanos)));
        Some(format!(
            "{}, {} requests a second, half of them within {}, the slowest {}",
            quantity::rough_rate(bytes as f64 / seconds),
            (operations as f64 / seconds).round(),
            time(latencies().next_back().map(|latency| latency.p50_ns)),
            time(latencies().map(|latency| latency.max_ns).max())
        ))
    }
}

impl Moved {
    fn add(&mut self, slice: &IntervalRecord) {
        let bytes = match slice.operation {
            Operation::Read => Some(&mut self.bytes_read),
            Operation::Write => Some(&mut self.bytes_written),
            _ => None,
        };
        if let Some(bytes) = bytes {
            *bytes = bytes.saturating_add(slice.bytes);
        }
        self.failed = self.failed.saturating_add(slice.errors);
        self.end_ns = self.end_ns.max(slice.end_ns());
    }
}
