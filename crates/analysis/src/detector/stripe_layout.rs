//! Whether the target is one drive or several.
//! # What it finds
//! How many drives share the reads, as a stripe (with its chunk), as a mirror (each can answer all), both, or one after the other.
//! # Why it matters
//! A volume of several disks gains from many requests what one cannot. Requests off its chunks keep two drives busy.
//! # How
//! Reads at random places, first one at a time and then many. How many arms answer follows from how often two answers come within the same
//! millisecond, in which no arm can answer twice: of n arms, 1 − 1/n of the pairs that independent answers would make. Which places share a
//! drive follows from who waits for whom: each layout gives each answer the probability that just this read was the next, and the one under
//! which the answers are most likely is taken if the odds against all others, and against none, are above 10,000 to 1, and both halves of the
//! reads name it. A mirror takes that each layout is excluded: places that it puts on one drive were answered within a moment. Where places near
//! each other seldom were, as where Linux asks the nearest head, reads of a hundredth of the range decide: those of a mirror come from several
//! arms. Otherwise drives follow one another: of the fewest borders one at least lies between the reads of each such pair.
//! # Cannot tell when
//! No actuator moves, or nothing rotates: what shows may be dies or a rate limit, unless chunks are larger than any die reads at once. Too few
//! reads; more than four mirrors; other load so heavy that counts stay uncertain.
//! # Known problems
//! Of a mirror whose drives do not share reads one drive is seen. RAID 5 and 6 are told as stripes. Chunks are 1, 3, 5 or 7 times a power
//! of two, from 4 KiB to 16 MiB, of at most 16 drives. Mirrors within a stripe of flash count once.
//! # References
//! Linux, drivers/md/raid1.c (read_balance); Cox, "Partial likelihood", Biometrika 62, 1975; Kimble, Dagenais, Mandel, "Photon antibunching",
//! PRL 39, 1977 (counting by coincidences); Chen, Lee, Zhang, "Essential roles of exploiting internal parallelism of flash …", HPCA 2011;
//! Ruemmler, Wilkes, "An introduction to disk drive modeling", IEEE Computer 27, 1994.

use super::detect::{Detector, Need};
use super::trust::doubts;
use crate::examined::Examined;
use crate::measured::evidence_of_phases;
use crate::stats::CONFIDENCE;
use crate::stripe::{Answered, Reads, Verdict};
use model::estimate::Estimate;
use model::experiment_name::ExperimentName;
use model::finding::{
    CompletionPairs, Finding, FindingCode, MemberBegins, Outcome, StripeLayout, StripeLayoutUnknown,
    VolumeKind,
};

pub(super) const DETECTOR: Detector = Detector {
    codes: &[FindingCode::StripeLayout],
    needs: &[Need::Asked(ExperimentName::Access), Need::Asked(ExperimentName::Geometry)],
    detect,
};

fn detect(run: &Examined<'_>) -> Vec<Finding> {
    let Some(members) = run.members() else { return Vec::new() };
    let outcome = Outcome::of(stripe_layout(members), evidence_of_phases(run, &members.reads.phases));
    vec![Finding::StripeLayout(outcome).with_caveats(&doubts(run))]
}

fn stripe_layout(Answered { reads, verdict, .. }: &Answered) -> Result<StripeLayout, StripeLayoutUnknown> {
    match verdict {
        Verdict::One => Ok(members(reads, 1, VolumeKind::None)),
        Verdict::Mirror { members: count } => Ok(members(reads, *count, VolumeKind::Mirror)),
        Verdict::Stripe { layout, log_odds } => {
            let copies = reads.copies(layout.members);
            Ok(StripeLayout {
                chunk_bytes: Some(layout.chunk_bytes),
                log10_odds: Some(log_odds / std::f64::consts::LN_10),
                copies,
                ..members(reads, layout.members * copies.unwrap_or(1), VolumeKind::Stripe)
            })
        }
        Verdict::Concatenation(concatenation) => Ok(StripeLayout {
            begins: concatenation.borders.iter().map(|&(low, high)| MemberBegins { low, high }).collect(),
            ..members(reads, concatenation.borders.len() as u32 + 1, VolumeKind::Concatenation)
        }),
        Verdict::Still { parallelism, layout } => Err(StripeLayoutUnknown::NoActuator {
            depth: reads.depth,
            gain: *parallelism,
            single_bytes: reads.single_bytes,
            deep_bytes: reads.crowd_bytes(),
            parts: layout.map(|layout| (layout.members, layout.chunk_bytes)),
        }),
        Verdict::Open { why, .. } => Err(*why),
    }
}

fn members(reads: &Reads, count: u32, kind: VolumeKind) -> StripeLayout {
    let share = if reads.has_arm() { reads.arms_share() } else { None };
    StripeLayout {
        // The only number that the reads allow, with odds and not with certainty.
        members: Estimate { confidence: CONFIDENCE, ..Estimate::exact(f64::from(count)) },
        depth: reads.depth,
        kind,
        answers_together: share.map(|share| CompletionPairs {
            share: share.value,
            low: share.low,
            high: share.high,
        }),
        chunk_bytes: None,
        log10_odds: None,
        copies: None,
        begins: Vec::new(),
    }
}
