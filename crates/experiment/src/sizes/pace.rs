//! How long the points that are ahead take, by what the drive has shown: the same point before, and points that moved as much.

use analysis::size_profile::PointKey;
use model::plan::{Phase, PhaseKind};
use model::request::Operation;
use model::run::RunView;
use model::units::{Bytes, Nanos};
use std::collections::BTreeMap;

/// From this size on requests are large: few of them fit into the time of a point.
pub(super) const LARGE: Bytes = Bytes::from_mib(1);

#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    seen: usize,
    points: BTreeMap<PointKey, (f64, u32)>,
    large: BTreeMap<Operation, (f64, f64)>,
}

impl Pace {
    pub fn look(&mut self, so_far: &RunView<'_>) {
        for summary in so_far.phases.iter().skip(self.seen) {
            let Some(key) = key_of(&summary.phase) else { continue };
            if summary.stopped.is_none() {
                continue;
            }
            let seconds = Nanos::new(summary.lasting_ns()).seconds();
            let point = self.points.entry(key).or_default();
            *point = (point.0 + seconds, point.1 + 1);
            if key.in_order && key.size >= LARGE {
                let large = self.large.entry(key.operation).or_default();
                *large = (large.0 + summary.bytes() as f64, large.1 + seconds);
            }
        }
        self.seen = so_far.phases.len();
    }

    pub fn time_of(&self, phase: &Phase) -> Option<Nanos> {
        let key = key_of(phase)?;
        if let Some((seconds, rounds)) = self.points.get(&key) {
            return Nanos::from_secs_f64(seconds / f64::from(*rounds));
        }
        if key.size < LARGE {
            return None;
        }
        let (bytes, seconds) = self.large.get(&key.operation)?;
        let moves = phase.stop.bytes_max(phase.workload.as_ref()?)?;
        Nanos::from_secs_f64(moves.as_f64() * seconds / bytes.max(1.0))
    }
}

fn key_of(phase: &Phase) -> Option<PointKey> {
    if phase.kind != PhaseKind::Measure {
        return None;
    }
    let workload = phase.workload.as_ref()?;
    PointKey::of(workload)
}
