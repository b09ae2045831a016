//! What all single reads of a run show together.

use super::ends::{rotation_of, tracks_of};
use super::{Reading, Rotation, TrackCount, all_readings, sector_of};
use model::finding::NoGeometry;
use model::run::RunView;
use model::units::Bytes;
use std::cell::OnceCell;

pub(crate) struct Mechanics {
    pub readings: Vec<Reading>,
    pub rotation: Rotation,
    pub sector: Bytes,
    tracks: OnceCell<Tracks>,
}

pub(crate) struct Tracks {
    pub counts: Vec<TrackCount>,
    pub probes: usize,
}

impl Mechanics {
    pub fn of(run: &RunView<'_>) -> Result<Mechanics, NoGeometry> {
        let readings = all_readings(run)?;
        let rotation = rotation_of(&readings)?;
        Ok(Mechanics { readings, rotation, sector: sector_of(run), tracks: OnceCell::new() })
    }

    pub fn tracks(&self) -> &Tracks {
        self.tracks.get_or_init(|| {
            let (counts, probes) = tracks_of(&self.readings, &self.rotation, self.sector.get());
            Tracks { counts, probes }
        })
    }

    /// None where addresses follow no tracks: on a disk nearly all probes tell a number, but for those at defects and changes of surface.
    pub fn counts(&self) -> Result<&[TrackCount], NoGeometry> {
        let Tracks { counts, probes } = self.tracks();
        if 2 * counts.len() < *probes {
            let unfit = probes.saturating_sub(counts.len());
            return Err(NoGeometry::NoTracks { unfit, probes: *probes, rpm: self.rpm() });
        }
        Ok(counts)
    }

    pub fn rpm(&self) -> f64 {
        60.0 / self.rotation.turn_s()
    }
}
