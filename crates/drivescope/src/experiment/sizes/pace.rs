//! How long the points that are ahead take, by what the drive has shown: the same point before, and points that moved as much.

use super::LARGE;
use analysis::size_profile::PointKey;
use model::plan::{Phase, PhaseKind};
use model::request::Operation;
use model::run::RunView;
use model::units::Nanos;
use std::collections::BTreeMap;

/// What was measured so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// Phases that were looked at.
    seen: usize,
    /// Seconds of a point's rounds, and how many they are.
    points: BTreeMap<PointKey, (f64, u32)>,
    /// Bytes and seconds of large requests, in order.
    large: BTreeMap<Operation, (f64, f64)>,
}

impl Pace {
    /// Takes in the phases since it last did.
    pub fn look(&mut self, so_far: &RunView<'_>) {
        for summary in so_far.phases.iter().skip(self.seen) {
            let Some(key) = key_of(&summary.phase).filter(|_| summary.stopped.is_some()) else { continue };
            let seconds = Nanos(summary.lasting_ns()).seconds();
            let point = self.points.entry(key).or_default();
            *point = (point.0 + seconds, point.1 + 1);
            if key.in_order && key.size >= LARGE {
                let large = self.large.entry(key.operation).or_default();
                *large = (large.0 + summary.bytes() as f64, large.1 + seconds);
            }
        }
        self.seen = so_far.phases.len();
    }

    /// How long a phase takes; none where nothing like it was measured.
    pub fn time_of(&self, phase: &Phase) -> Option<Nanos> {
        let key = key_of(phase)?;
        if let Some((seconds, rounds)) = self.points.get(&key) {
            return Nanos::from_secs_f64(seconds / f64::from(*rounds));
        }
        let (bytes, seconds) = self.large.get(&key.operation).filter(|_| key.size >= LARGE)?;
        let moves = phase.stop.bytes_max(phase.workload.as_ref()?)?;
        Nanos::from_secs_f64(moves.0 as f64 * seconds / bytes.max(1.0))
    }
}

/// Which point a phase measures.
fn key_of(phase: &Phase) -> Option<PointKey> {
    let workload = phase.workload.as_ref().filter(|_| phase.kind == PhaseKind::Measure)?;
    PointKey::of(workload)
}
