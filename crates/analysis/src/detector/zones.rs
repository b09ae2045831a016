//! The map that zones are read from: of a rotating drive, without other load.

use crate::examined::Examined;
use crate::measured::is_surveyed;
use crate::moving_parts::turns;
use crate::surface::SurfaceMap;
use model::finding::SurveyUnknown;
use model::request::Operation;
use model::run::RunView;
use model::target::Caveat;

pub(super) fn operation(run: &RunView<'_>) -> Operation {
    if is_surveyed(run, Operation::Read) { Operation::Read } else { Operation::Write }
}

pub(super) fn map_of_disk<'run>(run: &'run Examined<'_>) -> Result<&'run SurfaceMap, SurveyUnknown> {
    match turns(run) {
        Some(true) => {}
        Some(false) => return Err(SurveyUnknown::NotRotating),
        None => return Err(SurveyUnknown::RotationUnknown),
    }
    if run.target.caveats.contains(&Caveat::Remapped) {
        return Err(SurveyUnknown::Remapped);
    }
    let map = run.surface(operation(run))?;
    match map.other_load() {
        Some(load) => Err(SurveyUnknown::OtherLoad(load)),
        None => Ok(map),
    }
}

/// Fails where other load hides the rate of the drive alone; the rate beside it is a lower bound.
pub(super) fn check_load(map: &SurfaceMap, seconds_per_byte: f64) -> Result<(), SurveyUnknown> {
    match map.load_in_most_visits() {
        Some(_) => Err(SurveyUnknown::OnlyLoaded { rate: 1.0 / seconds_per_byte }),
        None => Ok(()),
    }
}
