//! From the ledger of a drive to its past: what drivescope wrote, what others wrote, and when it was purged.

use crate::store::{EventKind, LedgerEvent, LedgerRun, Snapshot};
use jiff::Timestamp;
use model::units::MIB;

/// Less than this in all is no traffic: the store itself and file-system metadata make about as much.
pub(super) const OTHERS_BYTES_MIN: u64 = 16 * MIB;

/// A run's clock is started when its target is opened, and its date is taken when all is measured that comes before: some
/// tenths of a second later, on a busy machine seconds. So far may an event seem to lie ahead.
const CLOCKS_APART_S: f64 = 5.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Past<'runs> {
    pub own_bytes: u64,
    pub writing_runs: usize,
    /// The last time that drivescope wrote to it or discarded, and the run.
    pub last_change: Option<(&'runs LedgerRun, &'runs LedgerEvent)>,
    pub purge: Option<(&'runs LedgerRun, &'runs LedgerEvent)>,
    pub own_since_purge_bytes: u64,
    pub rest_seconds: Option<f64>,
    /// What others wrote since the first run that noted the counters; none when no run did.
    pub others: Option<Others>,
    /// Runs after which the clock was set back, or a counter was: their order is not sure.
    pub backwards: Vec<String>,
    /// Runs that did not come to their end, and so may lack their very last requests.
    pub killed: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Others {
    pub bytes: u64,
    /// Whether only the kernel's counters told, or those of the drive too.
    pub by_drive: bool,
    pub unknown: Vec<(String, Untold)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untold {
    /// Nothing counts what is written to it, as with a file on a network, or it lies on other drives than before.
    NotCounted,
    /// The machine began to count anew, and the drive has no count of its own.
    Restarted,
    WentBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    Bytes(u64),
    /// The counter was smaller later: another drive, or another order.
    Backwards,
    Unknown(Untold),
}

/// What was written to all drives between two moments, by the kernel's counters where the machine ran on, else by the drives'.
pub(super) fn grown(from: &Snapshot, to: &Snapshot) -> Growth {
    let same_start = from.start_of_machine.is_some() && from.start_of_machine == to.start_of_machine;
    if to.drives.is_empty() {
        return Growth::Unknown(Untold::NotCounted);
    }
    let mut sum = 0u64;
    for now in &to.drives {
        let Some(then) = from.drives.iter().find(|then| then.drive == now.drive) else {
            return Growth::Unknown(Untold::NotCounted);
        };
        let kernel = if same_start { then.since_start_bytes.zip(now.since_start_bytes) } else { None };
        let same_source = then.in_life_source == now.in_life_source;
        let drive = if same_source { then.in_life_bytes.zip(now.in_life_bytes) } else { None };
        let Some((then, now)) = kernel.or(drive) else {
            return Growth::Unknown(if same_start { Untold::NotCounted } else { Untold::Restarted });
        };
        match now.checked_sub(then) {
            Some(bytes) => sum = sum.saturating_add(bytes),
            None => return Growth::Backwards,
        }
    }
    Growth::Bytes(sum)
}

impl<'runs> Past<'runs> {
    pub fn of(runs: &'runs [LedgerRun], now: &Snapshot) -> Past<'runs> {
        let mut past = Past::default();
        for run in runs {
            past.own_bytes = past.own_bytes.saturating_add(run.written_bytes());
            past.writing_runs += usize::from(run.written_bytes() > 0);
            if !run.is_finished {
                past.killed.push(run.id.clone());
            }
            for event in &run.events {
                past.add(run, event);
            }
        }
        if let Some((_, event)) = past.last_change {
            past.rest_seconds = seconds_from_end(event, &now.at);
        }
        past.count_others(runs, now);
        past
    }

    fn add(&mut self, run: &'runs LedgerRun, event: &'runs LedgerEvent) {
        match event.kind {
            EventKind::Idle => {}
            EventKind::Purge => {
                (self.purge, self.own_since_purge_bytes) = (Some((run, event)), 0);
                self.last_change = Some((run, event));
            }
            EventKind::Write => {
                self.own_since_purge_bytes = self.own_since_purge_bytes.saturating_add(event.bytes);
                self.last_change = Some((run, event));
            }
            EventKind::Discard => self.last_change = Some((run, event)),
        }
    }

    /// Goes from snapshot to snapshot: what the counters grew by and drivescope did not write, others did.
    fn count_others(&mut self, runs: &[LedgerRun], now: &Snapshot) {
        let mut last: Option<(&Snapshot, u64, &str)> = None;
        let mut others = Others::default();
        for run in runs {
            let Some(note) = &run.note else { continue };
            if let Some((then, own, id)) = last {
                self.add_growth(
                    &mut others,
                    then,
                    &note.before,
                    own,
                    &format!("between the runs {id} and {}", run.id),
                    id,
                );
            }
            let is_one_drive = note.drives.len() == 1;
            last = match &note.after {
                // What went to several drives may have gone to each of them, so that it cannot be taken off.
                Some(after) if !is_one_drive => Some((after, 0, &run.id)),
                Some(after) => {
                    let own = run.counted_bytes();
                    self.add_growth(
                        &mut others,
                        &note.before,
                        after,
                        own,
                        &format!("during the run {}", run.id),
                        &run.id,
                    );
                    Some((after, 0, &run.id))
                }
                None if is_one_drive => Some((&note.before, run.counted_bytes(), &run.id)),
                None => None,
            };
        }
        if let Some((then, own, id)) = last {
            self.add_growth(&mut others, then, now, own, &format!("since the run {id}"), id);
            others.by_drive = now.drives.iter().any(|drive| drive.in_life_bytes.is_some());
            self.others = Some(others);
        }
    }

    fn add_growth(
        &mut self,
        others: &mut Others,
        from: &Snapshot,
        to: &Snapshot,
        own: u64,
        when: &str,
        id: &str,
    ) {
        let clock_went_back = match (from.at.parse::<Timestamp>(), to.at.parse::<Timestamp>()) {
            (Ok(from), Ok(to)) => to < from,
            _ => false,
        };
        match grown(from, to) {
            Growth::Bytes(bytes) => others.bytes = others.bytes.saturating_add(bytes.saturating_sub(own)),
            Growth::Unknown(why) => others.unknown.push((when.into(), why)),
            Growth::Backwards => {
                others.unknown.push((when.into(), Untold::WentBack));
                self.backwards.push(id.into());
            }
        }
        if clock_went_back && !self.backwards.contains(&id.to_owned()) {
            self.backwards.push(id.into());
        }
    }
}

fn seconds_from_end(event: &LedgerEvent, now: &str) -> Option<f64> {
    let from = event.at.parse::<Timestamp>().ok()?;
    let now = now.parse::<Timestamp>().ok()?;
    let seconds = now.duration_since(from).as_secs_f64() - event.seconds;
    if seconds >= -CLOCKS_APART_S { Some(seconds.max(0.0)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DriveNote, DriveSnapshot};
    use model::run::RunStatus;

    fn snapshot(at: &str, start: &str, kernel: u64, life: Option<u64>) -> Snapshot {
        Snapshot {
            at: at.into(),
            start_of_machine: Some(start.into()),
            drives: vec![DriveSnapshot {
                drive: "Maker S1".into(),
                since_start_bytes: Some(kernel),
                in_life_bytes: life,
                in_life_source: life.map(|_| "nvme".into()),
                in_life_step_bytes: life.map(|_| 512_000),
            }],
        }
    }

    fn write(at: &str, bytes: u64) -> LedgerEvent {
        LedgerEvent {
            kind: EventKind::Write,
            at: at.into(),
            pattern: "sequential".into(),
            first_byte: 0,
            span_bytes: bytes,
            bytes,
            block_bytes: 1 << 20,
            seconds: 10.0,
        }
    }

    fn run(id: &str, before: Snapshot, after: Option<Snapshot>, events: Vec<LedgerEvent>) -> LedgerRun {
        let mut note =
            DriveNote::begin("Maker S1".into(), vec!["Maker S1".into()], String::new(), false, before);
        note.after = after;
        LedgerRun {
            id: id.into(),
            started: "2026-11-22T10:00:00Z".into(),
            status: RunStatus::Complete,
            is_finished: note.after.is_some(),
            path: "/dev/sdz".into(),
            events,
            note: Some(note),
        }
    }

    const GB: u64 = 1_000_000_000;

    #[test]
    fn what_the_counters_show_beyond_our_own_writes_was_others() {
        let runs = [run(
            "a",
            snapshot("2026-11-22T10:00:00Z", "one", 5 * GB, None),
            Some(snapshot("2026-11-22T10:10:00Z", "one", 9 * GB, None)),
            vec![write("2026-11-22T10:01:00Z", 3 * GB)],
        )];
        let past = Past::of(&runs, &snapshot("2026-11-22T11:00:00Z", "one", 11 * GB, None));
        // 1 GB during the run, and 2 GB after it.
        assert_eq!(past.others.as_ref().unwrap().bytes, 3 * GB);
        assert!(past.others.unwrap().unknown.is_empty());
        assert_eq!((past.own_bytes, past.writing_runs), (3 * GB, 1));
        assert_eq!(past.rest_seconds, Some(59.0 * 60.0 - 10.0));
    }

    #[test]
    fn after_a_restart_only_the_drive_can_tell() {
        let made = |life: Option<u64>| {
            [run(
                "a",
                snapshot("2026-11-22T10:00:00Z", "one", 5 * GB, life),
                Some(snapshot("2026-11-22T10:10:00Z", "one", 5 * GB, life)),
                vec![],
            )]
        };
        let runs = made(None);
        let past = Past::of(&runs, &snapshot("2026-11-22T11:00:00Z", "two", GB, None));
        assert_eq!(past.others.unwrap().unknown, [("since the run a".into(), Untold::Restarted)]);
        let runs = made(Some(100 * GB));
        let past = Past::of(&runs, &snapshot("2026-11-22T11:00:00Z", "two", GB, Some(107 * GB)));
        assert_eq!(past.others.unwrap(), Others { bytes: 7 * GB, by_drive: true, unknown: vec![] });
    }

    #[test]
    fn what_nothing_counts_is_not_blamed_on_a_restart() {
        let without = |at: &str| Snapshot { drives: vec![], ..snapshot(at, "one", 0, None) };
        let after = Some(without("2026-11-22T10:10:00Z"));
        let runs = [run("a", without("2026-11-22T10:00:00Z"), after, vec![])];
        let past = Past::of(&runs, &without("2026-11-22T11:00:00Z"));
        let unknown = past.others.unwrap().unknown;
        assert_eq!(unknown.last(), Some(&("since the run a".to_string(), Untold::NotCounted)));
    }

    #[test]
    fn a_killed_run_counts_with_what_it_wrote() {
        let runs = [run(
            "a",
            snapshot("2026-11-22T10:00:00Z", "one", 5 * GB, None),
            None,
            vec![write("2026-11-22T10:01:00Z", 2 * GB)],
        )];
        let past = Past::of(&runs, &snapshot("2026-11-22T11:00:00Z", "one", 8 * GB, None));
        assert_eq!(past.others.unwrap().bytes, GB);
        assert_eq!(past.killed, ["a"]);
    }

    #[test]
    fn a_clock_or_counter_that_goes_back_is_noticed() {
        let runs = [run(
            "a",
            snapshot("2026-11-22T10:00:00Z", "one", 5 * GB, None),
            Some(snapshot("2026-11-22T10:10:00Z", "one", 5 * GB, None)),
            vec![write("2026-11-22T10:01:00Z", GB)],
        )];
        let earlier = Past::of(&runs, &snapshot("2026-11-22T09:00:00Z", "one", 6 * GB, None));
        assert_eq!((earlier.backwards, earlier.rest_seconds), (vec!["a".to_string()], None));
        let at_once = Past::of(&runs, &snapshot("2026-11-22T10:01:09.7Z", "one", 6 * GB, None));
        assert_eq!(at_once.rest_seconds, Some(0.0));
        let smaller = Past::of(&runs, &snapshot("2026-11-22T12:00:00Z", "one", GB, None));
        assert_eq!(smaller.backwards, ["a"]);
    }

    #[test]
    fn a_purge_begins_a_new_count() {
        let purge = LedgerEvent {
            kind: EventKind::Purge,
            pattern: "discard".into(),
            ..write("2026-11-22T10:02:00Z", 0)
        };
        let events = vec![write("2026-11-22T10:01:00Z", 2 * GB), purge, write("2026-11-22T10:03:00Z", GB)];
        let before = snapshot("2026-11-22T10:00:00Z", "one", 0, None);
        let runs = [run("a", before.clone(), Some(before.clone()), events)];
        let past = Past::of(&runs, &before);
        assert_eq!((past.own_bytes, past.own_since_purge_bytes), (3 * GB, GB));
        assert_eq!(past.purge.unwrap().1.pattern, "discard");
    }
}
