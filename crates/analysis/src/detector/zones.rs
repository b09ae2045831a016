//! Whether zones can be spoken of: the map of a drive that turns, seen without anything else in the way.

use super::wording::{number, rate};
use crate::measured::{is_surveyed, turns};
use crate::surface::{OtherLoad, SurfaceMap};
use model::request::Operation;
use model::run::RunView;
use model::target::Caveat;

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
    let seen = match map.other_load()? {
        OtherLoad::Late { visits, of } => {
            format!(
                "Other load on the drive hides its zones: {visits} of {of} visits were slow for a moment, not because of their place."
            )
        }
        OtherLoad::Alike { correlation } => format!(
            "Other load on the drive, or its temperature, hides its zones: visits that follow each other in time are alike \
             wherever they are (correlation {}).",
            number(correlation)
        ),
        OtherLoad::Most { quicker } => {
            format!("Other load on the drive hides its zones: {}", undisturbed(quicker))
        }
    };
    Some(seen + ALONE)
}

/// Why no rate of the drive alone can be told, if it is so: what it gave meanwhile is said, which is the least that it can.
pub(super) fn hidden_by_load(map: &SurfaceMap, seen_seconds_per_byte: f64) -> Option<String> {
    let Some(OtherLoad::Most { quicker }) = map.load_in_most_visits() else { return None };
    Some(format!(
        "Something else used the drive in most visits, so that only the rate beside it was seen, {}: {}{ALONE}",
        rate(1.0 / seen_seconds_per_byte),
        undisturbed(quicker)
    ))
}

const ALONE: &str = " Measure again while nothing else uses the drive.";

fn undisturbed(quicker: f64) -> String {
    format!(
        "one visit in twenty took {:.0} % less time than most next to it, which is more than the surfaces and tracks of a disk explain. \
         Drives that share the reads, as in a mirror, and are not equally fast look alike.",
        100.0 * quicker
    )
}

/// What to add to the statement of a rate or time that other load has changed.
pub(super) fn while_loaded(map: &SurfaceMap) -> &'static str {
    match map.other_load() {
        Some(_) => {
            " Something else used the drive, or held up this machine, meanwhile: alone it may be faster."
        }
        None => "",
    }
}
