//! Words for the finding of data integrity.

use super::{Group, Reason, Subject, Wording};
use crate::quantity::count;
use crate::style::Tone;
use model::finding::{DataIntegrity, DataIntegrityUnknown, FindingCode, Known, WrongKind};

impl Wording for DataIntegrity {
    const PLACE: (Group, &'static str) = (Group::Sound, "Data errors");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("block", "blocks"));

    fn narrower_label(known: &Known<DataIntegrity>) -> Option<&'static str> {
        known.conclusion.ends_early.then_some("Data errors below true capacity")
    }

    fn statement(known: &Known<DataIntegrity>, _: FindingCode, _: &Subject<'_>) -> String {
        let integrity = &known.conclusion;
        let checked = count(integrity.checked_blocks);
        let wrong = integrity.wrong.value as u64;
        if wrong == 0 {
            let before = if integrity.ends_early { " below the true capacity" } else { "" };
            let all = format!(
                "All {checked} blocks of {} checked{before} read back correctly.",
                integrity.block_bytes
            );
            return match integrity.share_max {
                Some(share) => {
                    let drawn = count(integrity.drawn_blocks);
                    let of = if integrity.ends_early {
                        "all blocks below the true capacity"
                    } else {
                        "all blocks"
                    };
                    format!(
                        "{all} {drawn} of them were random samples, so at most {} % of {of} are bad (95 % confidence).",
                        percent(share)
                    )
                }
                None => all,
            };
        }
        let at_least = if integrity.wrong.high > integrity.wrong.value { "At least " } else { "" };
        let first = integrity.regions.first().map_or(0, |region| region.first_byte);
        let mut kinds: Vec<String> = integrity
            .kinds
            .iter()
            .map(|(kind, blocks)| format!("{} {}", count(*blocks), held(*kind)))
            .collect();
        if integrity.swapped > 0 {
            kinds.push(format!("{} swapped with each other", count(integrity.swapped)));
        }
        format!(
            "{at_least}{} of {checked} blocks of {} were wrong, the first at byte {}: {}.",
            count(wrong),
            integrity.block_bytes,
            count(first),
            kinds.join("; ")
        )
    }

    fn advice(known: &Known<DataIntegrity>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let integrity = &known.conclusion;
        if integrity.wrong.value == 0.0 {
            return None;
        }
        Some("Save your data and replace the drive. Bad memory or a bad cable corrupts data too: test both first.".into())
    }

    fn alarm(known: &Known<DataIntegrity>, _: FindingCode) -> Option<Tone> {
        if known.conclusion.wrong.value == 0.0 { None } else { Some(Tone::Bad) }
    }
}

impl Reason for DataIntegrityUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NothingRead => "Inconclusive: nothing that was written could be read.".into(),
        }
    }
}

fn held(kind: WrongKind) -> &'static str {
    match kind {
        WrongKind::Stale => "stale (a lost write)",
        WrongKind::Misplaced => "misdirected (data of another offset)",
        WrongKind::Blank => "blank",
        WrongKind::Flipped => "with flipped bits",
        WrongKind::Other => "with other data",
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 1.0 { format!("{percent:.1}") } else { format!("{percent:.2}") }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::WrongRegion;
    use model::units::Bytes;
    use std::collections::BTreeMap;

    fn sound() -> DataIntegrity {
        DataIntegrity {
            wrong: Estimate::exact(0.0),
            checked_blocks: 16_384,
            block_bytes: Bytes::from_kib(4),
            kinds: BTreeMap::new(),
            swapped: 0,
            regions: Vec::new(),
            share_max: Some(0.0119),
            drawn_blocks: 250,
            ends_early: false,
        }
    }

    #[test]
    fn a_sound_drive_bounds_what_was_not_compared() {
        assert_eq!(
            statement(&known(sound()), FindingCode::DataIntegrity),
            "All 16,384 blocks of 4 KiB checked read back correctly. 250 of them were random samples, so at most 1.2 % of all \
             blocks are bad (95 % confidence)."
        );
    }

    #[test]
    fn wrong_blocks_are_told_by_kind() {
        let wrong = DataIntegrity {
            wrong: Estimate::exact(3.0),
            kinds: BTreeMap::from([(WrongKind::Stale, 1), (WrongKind::Blank, 2)]),
            regions: vec![WrongRegion { first_byte: 8192, bytes: 4096, blocks: 1 }],
            ..sound()
        };
        assert_eq!(
            statement(&known(wrong), FindingCode::DataIntegrity),
            "3 of 16,384 blocks of 4 KiB were wrong, the first at byte 8,192: 1 stale (a lost write); 2 blank."
        );
    }
}
