//! Words for the finding of capacity true.

use super::numbers::size;
use super::{Group, Reason, Subject, Wording};
use crate::quantity::count;
use crate::style::Tone;
use model::finding::{CapacityTrue, CapacityTrueUnknown, FindingCode, Known, PastTheEnd};

impl Wording for CapacityTrue {
    const PLACE: (Group, &'static str) = (Group::Sound, "True capacity");

    fn statement(known: &Known<CapacityTrue>, _: FindingCode, _: &Subject<'_>) -> String {
        let CapacityTrue { capacity, claimed_bytes, past_the_end, probes } = known.conclusion;
        let (real, claimed) = (size(capacity.value as u64), size(claimed_bytes.get()));
        let about = if capacity.low == capacity.high { "" } else { "about " };
        match (past_the_end, probes) {
            (PastTheEnd::Wraps, _) => {
                format!(
                    "Fake capacity: the drive claims {claimed} but holds {about}{real}. Writes past that wrap around and overwrite earlier data."
                )
            }
            (PastTheEnd::Lost, _) => {
                format!(
                    "Fake capacity: the drive claims {claimed} but holds {about}{real}. Writes past that are lost."
                )
            }
            (PastTheEnd::All, None) => format!("The drive holds all of the claimed {claimed}."),
            (PastTheEnd::All, Some(probes)) => {
                format!(
                    "The drive holds the claimed {claimed}: all {} probes up to its end read back. Only writing every block (--full) rules out a drive that \
                     redirects some writes.",
                    count(probes as u64)
                )
            }
        }
    }

    fn advice(known: &Known<CapacityTrue>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let CapacityTrue { capacity, past_the_end, .. } = &known.conclusion;
        let fate = match past_the_end {
            PastTheEnd::All => return None,
            PastTheEnd::Wraps => "overwrote earlier data",
            PastTheEnd::Lost => "are lost",
        };
        Some(format!(
            "Copy what is still readable and check every file, then return the drive: data written past {}, including by this test, {fate}.",
            size(capacity.low as u64)
        ))
    }

    fn alarm(known: &Known<CapacityTrue>, _: FindingCode) -> Option<Tone> {
        if known.conclusion.past_the_end == PastTheEnd::All { None } else { Some(Tone::Bad) }
    }
}

impl Reason for CapacityTrueUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NothingCompared => "Not measured: nothing was written and compared.".into(),
            Self::OnlyPart { held_to } => {
                format!(
                    "Inconclusive: the drive holds data up to {}; not measured past that.",
                    size(held_to.get())
                )
            }
            Self::TooFewLost { lost, held_to } => format!(
                "Inconclusive: the last {lost} probes, past byte {}, did not hold; too few to tell an end from damage. `verify --full` decides.",
                held_to.get()
            ),
            Self::Redirected { first_byte } => format!(
                "Inconclusive: from byte {first_byte} on, probes hold data written to other offsets, as on a fake drive that redirects writes past its \
                 end. `verify --full` decides."
            ),
            Self::NothingHeld => "Inconclusive: no probe held what was written, so no end shows.".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::estimate::Estimate;
    use model::units::Bytes;

    #[test]
    fn a_counterfeit_drive_is_called_so() {
        let mut found = CapacityTrue {
            capacity: Estimate { high: 8.1e9, ..Estimate::exact(8e9) },
            claimed_bytes: Bytes::new(64_000_000_000),
            past_the_end: PastTheEnd::Lost,
            probes: Some(280),
        };
        assert_eq!(
            statement(&known(found.clone()), FindingCode::CapacityTrue),
            "Fake capacity: the drive claims 64.0 GB but holds about 8.00 GB. Writes past that are lost."
        );
        (found.capacity, found.past_the_end) = (Estimate::exact(64e9), PastTheEnd::All);
        assert_eq!(
            statement(&known(found), FindingCode::CapacityTrue),
            "The drive holds the claimed 64.0 GB: all 280 probes up to its end read back. Only writing every block (--full) rules out a drive that \
             redirects some writes."
        );
    }
}
