//! Words for the finding of cache influence.

use super::numbers::{rate, short_time};
use super::{Group, Subject, Wording};
use crate::style::Tone;
use model::finding::{CacheInfluence, CacheSign, FindingCode, Known};
use model::target::Caveat;

impl Wording for CacheInfluence {
    const PLACE: (Group, &'static str) = (Group::Sound, "Read validity");

    /// The notices at the head of a page leave out the caveats that stand here.
    fn statement(known: &Known<CacheInfluence>, _: FindingCode, _: &Subject<'_>) -> String {
        let mut sentences: Vec<String> = Vec::new();
        for sign in &known.conclusion.reasons {
            match sign {
                CacheSign::Target(caveat) => sentences.push(caveat.statement().into()),
                CacheSign::FasterThanDisk { median_s } => {
                    sentences.push(format!(
                        "The median random read took {}; no disk is that fast.",
                        short_time(*median_s)
                    ));
                }
                CacheSign::FasterThanFlash { median_s } => {
                    sentences.push(format!(
                        "The median random read took {}; no flash is that fast.",
                        short_time(*median_s)
                    ));
                }
                CacheSign::FasterThanLink { read, link } => sentences.push(format!(
                    "Reads ran at {}, but the link carries at most {}.",
                    rate(*read),
                    rate(*link)
                )),
            }
        }
        sentences.join(" ")
    }

    fn advice(known: &Known<CacheInfluence>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        if known.conclusion.reasons == [CacheSign::Target(Caveat::Unmapped)] {
            return Some(
                "Write the measured range once, which destroys the data in it. Then repeat the run.".into(),
            );
        }
        Some("Attribute these results to the whole I/O path, not to the drive.".into())
    }

    fn alarm(_: &Known<CacheInfluence>, _: FindingCode) -> Option<Tone> {
        Some(Tone::Warning)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;

    #[test]
    fn signs_are_named_with_their_numbers() {
        let reasons = vec![
            CacheSign::Target(Caveat::NotDirect),
            CacheSign::FasterThanDisk { median_s: 1e-4 },
            CacheSign::FasterThanLink { read: 41.9e9, link: 600e6 },
        ];
        assert_eq!(
            statement(&known(CacheInfluence { reasons }), FindingCode::CacheInfluence),
            "Direct I/O is not available, so the page cache may have served requests. \
             The median random read took 100 µs; no disk is that fast. \
             Reads ran at 41.9 GB/s, but the link carries at most 600 MB/s."
        );
    }
}
