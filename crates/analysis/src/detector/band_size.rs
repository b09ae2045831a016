//! How large the bands of a shingled disk are.
//!
//! # What it finds
//! How much such a disk rewrites at a time when it makes room in its media cache, at the place that was looked at.
//! # Why it matters
//! Whatever is written in whole bands and in order goes to its place at once; a small write costs the rewriting of a band sooner or
//! later. Whoever lays out logs, segments or images for such a disk wants to know the size.
//! # How
//! Small blocks are written one MiB apart, and read between rests: over one that is in the media cache a read takes the way there and back,
//! over one that the drive has put into its band it does not. Blocks of one band change together, those of the next one in another rest. Of
//! all sizes of which the borders that were seen are whole multiples apart it is the largest; the interval is what the distance of the blocks
//! leaves open.
//! # Cannot tell when
//! Reads of what is in the cache take no longer than others: the cache lies near, or is memory. The drive does not clean while it is left
//! alone for a minute and a half. Something else reads or writes. Fewer than three borders lie in the 256 MiB at the end that are looked at.
//! # Known problems
//! A drive that always cleans several neighbours at once is said to have bands of that size. Bands elsewhere may have another size.
//! # References
//! Aghayev, Shafaei, Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015: bands of 15 to 40 MB.

use super::trust::Subject;
use super::wording::memory;
use super::{Detector, Need};
use crate::measured::evidence_of_phases;
use crate::recording::bands::{Bands, Looks};
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;

/// See the head of this file.
pub(super) struct BandSize;

/// The experiment that puts the question.
const ASKED_BY: &str = "sustain";

impl Detector for BandSize {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::BandSize]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(ASKED_BY)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(looks) = Looks::of(run, ASKED_BY) else { return Vec::new() };
        let finding = match looks.bands() {
            // Nothing lies in bands: recording-kind says what it is.
            Bands::InPlace => return Vec::new(),
            Bands::Unknown(why) => Finding::unknown(FindingCode::BandSize, why),
            Bands::Told { size: bytes, first_byte, borders } => {
                let statement = format!(
                    "It rewrites bands of {} when it makes room in its media cache: {borders} borders between them were seen from byte \
                     {first_byte} on.",
                    memory(bytes.value)
                );
                Finding::number(
                    FindingCode::BandSize,
                    bytes,
                    "bytes",
                    statement,
                    evidence_of_phases(run, &looks.phases),
                )
                .with_advice(
                    "What is written in order in longer stretches than that goes to its place at once.",
                )
                .with_data("first_byte", Datum::Integer(first_byte))
                .with_data("borders", Datum::Integer(borders as u64))
            }
        };
        vec![Subject::of(run).qualify(finding)]
    }
}
