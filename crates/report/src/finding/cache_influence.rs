//! Words for the finding of cache influence.

use super::numbers::{rate, short_time};
use super::{Group, Subject, Wording};
use crate::style::Tone;
use model::finding::{CacheInfluence, CacheSign, FindingCode, Known};
use std::convert::Infallible;

impl Wording for CacheInfluence {
    fn place(_: FindingCode) -> (Group, &'static str) {
        (Group::Sound, "Cache influence")
    }

    /// The notices at the head of a page explain what was known of the target beforehand, so that only its name stands here.
    fn statement(known: &Known<CacheInfluence>, _: FindingCode, _: &Subject<'_>) -> String {
        let mut sentences = vec!["A cache or memory may have served requests.".to_string()];
        let mut names = Vec::new();
        for sign in &known.conclusion.reasons {
            match sign {
                CacheSign::Target(caveat) => names.push(caveat.name()),
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
        if !names.is_empty() {
            sentences.insert(1, format!("Known of the target: {}.", names.join(", ")));
        }
        sentences.join(" ")
    }

    fn advice(_: &Known<CacheInfluence>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        Some("Read these speeds as those of the whole path to the data, not of the drive.".into())
    }

    fn why(reason: &Infallible, _: FindingCode, _: &Subject<'_>) -> String {
        match *reason {}
    }

    fn alarm(_: &Known<CacheInfluence>, _: FindingCode) -> Option<Tone> {
        Some(Tone::Warning)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement};
    use super::*;
    use model::target::Caveat;

    #[test]
    fn signs_are_named_with_their_numbers() {
        let reasons = vec![
            CacheSign::Target(Caveat::NotDirect),
            CacheSign::FasterThanDisk { median_s: 1e-4 },
            CacheSign::FasterThanLink { read: 41.9e9, link: 600e6 },
        ];
        assert_eq!(
            statement(&known(CacheInfluence { reasons }), FindingCode::CacheInfluence),
            "A cache or memory may have served requests. Known of the target: not-direct. \
             The median random read took 100 µs; no disk is that fast. \
             Reads ran at 41.9 GB/s, but the link carries at most 600 MB/s."
        );
    }
}
