//! Whether zones can be spoken of: the map of a drive that turns, seen without anything else in the way.

use super::wording::number;
use crate::measured::{is_surveyed, turns};
use crate::surface::SurfaceMap;
use model::request::Operation;
use model::run::RunView;
use model::target::Caveat;

/// With a larger share of visits slow for a moment, what looks like a zone may be a time at which the drive was busy.
const DISTURBED_SHARE_MAX: f64 = 0.05;
/// Visits that follow each other are alike beyond chance when their correlation is more than noise by so many standard errors, a
/// chance of 1 in 30,000, and large enough to matter.
const CORRELATION_SCORE_MAX: f64 = 4.0;
const CORRELATION_MAX: f64 = 0.15;

/// What a survey was made by: reads, unless there were only writes.
pub(super) fn operation(run: &RunView<'_>) -> Operation {
    if is_surveyed(run, Operation::Read) { Operation::Read } else { Operation::Write }
}

/// The map of a drive with zones, or why none can be drawn.
pub(super) fn map_of_disk(run: &RunView<'_>) -> Result<SurfaceMap, String> {
    match turns(run) {
        Some(true) => {}
        Some(false) => return Err("The drive does not turn, so it has no zones.".into()),
        None => {
            return Err("Whether the drive turns is not known: what it says of itself and how long random reads take do not \
                        tell, and only a drive that turns has zones."
                .into());
        }
    }
    if run.target.caveats.contains(&Caveat::Remapped) {
        return Err(Caveat::Remapped.statement().to_string());
    }
    let map = SurfaceMap::of(run, operation(run))?;
    match other_load(&map) {
        Some(why) => Err(why),
        None => Ok(map),
    }
}

/// The signs of other load, if there are any: a sentence.
pub(super) fn other_load(map: &SurfaceMap) -> Option<String> {
    let disturbances = &map.disturbances;
    let slow = disturbances.visits + map.suspects().len();
    let share = slow as f64 / map.visits.len().max(1) as f64;
    if share > DISTURBED_SHARE_MAX {
        return Some(format!(
            "Other load on the drive hides its zones: {slow} of {} visits were slow for a moment, not because of their place. \
             Measure again while nothing else uses the drive.",
            map.visits.len()
        ));
    }
    let correlation = disturbances.correlation?;
    (disturbances.correlation_score > CORRELATION_SCORE_MAX && correlation > CORRELATION_MAX).then(|| {
        format!(
            "Other load on the drive, or its temperature, hides its zones: visits that follow each other in time are alike \
             wherever they are (correlation {}). Measure again while nothing else uses the drive.",
            number(correlation)
        )
    })
}
