//! Size of the bands of an SMR disk.
//! # What it finds
//! How much the disk rewrites as one when it cleans its media cache, at the sampled region.
//! # Why it matters
//! Sequential writes of whole bands bypass the media cache; a small write costs the rewrite of a band sooner or later.
//! # How
//! Small blocks are written 1 MiB apart and read between idle times. A read of a block in the media cache takes a seek there and
//! back, of a cleaned one it does not. Blocks of one band change together. The largest size of which all borders are multiples
//! apart is the band; the spacing of the blocks leaves the interval open.
//! # Cannot tell when
//! Reads from the cache take no longer than others. No cleaning within 90 s of idle time. Other I/O. Too few borders.
//! # Known problems
//! A drive that always cleans several neighbours is said to have bands of that size. Bands elsewhere may differ.
//! # References
//! Aghayev, Shafaei, Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015: bands of 15 to 40 MB.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::recording::bands::{Bands, Looks};
use model::experiment_name::ExperimentName;
use model::finding::{BandSize, Finding, FindingCode, Outcome};

const ASKED_BY: ExperimentName = ExperimentName::Sustain;

pub(super) const DETECTOR: Detector =
    Detector { codes: &[FindingCode::BandSize], needs: &[Need::Asked(ASKED_BY)], detect };

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some(looks) = Looks::of(run, &ASKED_BY) else { return Vec::new() };
    let outcome = match looks.bands() {
        // There are no bands: recording-kind says what it is.
        Bands::InPlace => return Vec::new(),
        Bands::Unknown(reason) => Outcome::Unknown(reason),
        Bands::Told { size, first_byte, borders } => {
            let bands = BandSize { size, first_byte, borders };
            Outcome::known(bands, evidence_of_phases(run, &looks.phases))
        }
    };
    vec![Finding::BandSize(outcome).with_caveats(&doubts(run))]
}
