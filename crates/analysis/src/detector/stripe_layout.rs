//! Whether the target is one drive or several.
//!
//! # What it finds
//! How many drives share the reads, whether as a stripe (each place has its drive; also how much lies on one before the next
//! comes) or as a mirror (each can answer all), without asking the system.
//! # Why it matters
//! A volume of several disks gains from many requests at a time what one disk cannot, and loses its data with the first of
//! them or with the last. Requests that do not match its chunks keep two drives busy instead of one.
//! # How
//! Reads at random places, first one at a time and then many. How many arms answer follows from how often two answers come
//! within the same millisecond, in which no arm can answer twice: of n arms, 1 − 1/n of the pairs that independent
//! answers would make. Which places share a drive follows from who waits for whom: each layout gives each answer the probability that
//! just this read was the next, and the one under which the answers are most likely is taken if the odds against all
//! others, and against none, are above 10,000 to 1, and both halves of the reads name it. A mirror takes that each layout is excluded: places that
//! it puts on one drive were answered within a moment.
//! # Cannot tell when
//! No arm moves (flash, memory): what shows then may be the dies of one drive, and the gain of many at a time is told
//! instead. Flash whose chunks are larger than any die reads at once is told. Too few reads; more than four mirrors;
//! drives that follow one another; other load so heavy that counts stay uncertain.
//! # Known problems
//! Of a mirror whose drives do not share reads only the one that reads is seen: it counts as one drive. RAID 5 and 6 lay out their data as
//! RAID 0 does and are told as stripes. Chunks are 1, 3, 5 or 7 times a power of two, from 4 KiB to 16 MiB, of at most 16 drives. Drives
//! of a stripe that are mirrors themselves count once.
//! # References
//! Cox, "Partial likelihood", Biometrika 62, 1975; Kimble, Dagenais, Mandel, "Photon antibunching in resonance
//! fluorescence", PRL 39, 1977 (counting emitters by coincidences); Chen, Lee, Zhang, "Essential roles of exploiting internal
//! parallelism of flash memory based solid state drives", HPCA 2011; Ruemmler, Wilkes, "An introduction to disk drive
//! modeling", IEEE Computer 27, 1994.

use super::trust::Subject;
use super::wording::number;
use super::{Detector, Need};
use crate::measured::evidence_of_phases;
use crate::stats::CONFIDENCE;
use crate::stripe::{Layout, Reads, Verdict, reads};
use model::estimate::Estimate;
use model::finding::{Datum, Finding, FindingCode};
use model::run::RunView;
use model::units::{Bytes, KIB};

/// See the head of this file.
pub(super) struct StripeLayout;

/// The experiment that puts the question.
const ASKED_BY: &str = "access";
/// Halfway between one request served at a time and two: what is below is nearer to one.
const PARALLEL_MIN: f64 = 1.5;

impl Detector for StripeLayout {
    fn codes(&self) -> &'static [FindingCode] {
        &[FindingCode::StripeLayout]
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Asked(ASKED_BY)]
    }

    fn detect(&self, run: &RunView<'_>) -> Vec<Finding> {
        let Some(reads) = reads(run, ASKED_BY) else { return Vec::new() };
        let finding = match reads.verdict() {
            Verdict::One => one(run, &reads),
            Verdict::Mirror { members } => mirror(run, &reads, members),
            Verdict::Stripe { layout, log_odds } => stripe(run, &reads, layout, log_odds),
            Verdict::Still { parallelism, layout } => unknown(&still(&reads, parallelism, layout)),
            Verdict::Open { why, .. } => unknown(&why),
        };
        vec![Subject::of(run).qualify(finding)]
    }
}

fn unknown(why: &str) -> Finding {
    Finding::unknown(FindingCode::StripeLayout, why)
}

fn one(run: &RunView<'_>, reads: &Reads) -> Finding {
    let statement = format!(
        "One drive answers all reads: with {} under way, no two answers come from different arms. A mirror of which only one drive \
         is read would look the same.{}",
        reads.depth,
        told_by_the_system(&run.target.stack, Kind::None)
    );
    found(run, reads, 1, statement, Kind::None)
}

fn mirror(run: &RunView<'_>, reads: &Reads, members: u32) -> Finding {
    let statement = format!(
        "{members} drives share the reads, and each can answer all of them: a mirror.{}",
        told_by_the_system(&run.target.stack, Kind::Mirror)
    );
    found(run, reads, members, statement, Kind::Mirror)
}

fn stripe(run: &RunView<'_>, reads: &Reads, layout: Layout, log_odds: f64) -> Finding {
    let Layout { members, chunk_bytes } = layout;
    let statement = format!(
        "{members} drives take turns, with {} KiB on each before the next comes: a stripe.{}",
        chunk_bytes / KIB,
        told_by_the_system(&run.target.stack, Kind::Stripe)
    );
    found(run, reads, members, statement, Kind::Stripe)
        .with_data("chunk_bytes", Datum::Integer(chunk_bytes))
        .with_data("log10_odds", Datum::Number(log_odds / std::f64::consts::LN_10))
        .with_advice(format!(
            "Align large requests to {} KiB, a row of chunks, so that all drives take part once.",
            u64::from(members) * chunk_bytes / KIB
        ))
}

fn found(run: &RunView<'_>, reads: &Reads, members: u32, statement: String, kind: Kind) -> Finding {
    // The only number that the answers allow, with odds and not with certainty.
    let estimate = Estimate { confidence: CONFIDENCE, ..Estimate::exact(f64::from(members)) };
    let finding = Finding::number(
        FindingCode::StripeLayout,
        estimate,
        "count",
        statement,
        evidence_of_phases(run, &reads.phases),
    )
    .with_data("kind", Datum::Text(kind.word().into()));
    match reads.arms_share().filter(|_| reads.has_arm()) {
        Some(share) => finding.with_data(
            "answers_together",
            Datum::record([
                ("share", Datum::Number(share.value)),
                ("low", Datum::Number(share.low)),
                ("high", Datum::Number(share.high)),
            ]),
        ),
        None => finding,
    }
}

fn still(reads: &Reads, parallelism: f64, layout: Option<Layout>) -> String {
    let inside = match layout {
        Some(Layout { members, chunk_bytes }) => format!(
            " {members} parts take turns, with {} KiB on each: these may be dies of one drive as well as drives.",
            chunk_bytes / KIB
        ),
        None => String::new(),
    };
    let (one, many) = (reads.single_bytes, reads.crowd_bytes());
    let gain = match one == many {
        true if parallelism < PARALLEL_MIN => format!(
            "{} reads at a time bring {} times as many per second as one: they are served one after the other",
            reads.depth,
            number(parallelism)
        ),
        true => format!(
            "{} reads at a time bring {} times as many per second as one: that is the parallelism inside, of whatever it is made",
            reads.depth,
            number(parallelism)
        ),
        // Another gain than that of reads of one size, which stands beside it.
        false => format!(
            "{} reads of {} at a time bring {} times as many per second as single reads of {}: at least so many are served at once \
             inside, by whatever it is made of",
            reads.depth,
            Bytes(many),
            number(parallelism),
            Bytes(one)
        ),
    };
    format!(
        "No arm moves, so one drive with many dies looks like several. {gain}.{inside} The makers' data or the system's tables tell how \
         many drives there are."
    )
}

/// How drives make a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Stripe,
    Mirror,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::None => "none",
            Kind::Stripe => "stripe",
            Kind::Mirror => "mirror",
        }
    }
}

/// What the system says of the layers below, as a sentence that begins with a blank; nothing where it says nothing.
fn told_by_the_system(stack: &[String], kind: Kind) -> String {
    // Where a layer is mounted is somebody's choice of a name, such as /srv/raid1.
    let kind_of = |layer: &String| layer.split(" mounted at ").next().unwrap_or_default().to_lowercase();
    let layers = || stack.iter().map(kind_of);
    let names = |words: &[&str]| layers().any(|layer| words.iter().any(|word| layer.contains(word)));
    let said = if names(&["raid10"]) {
        return String::from(" The system says RAID 10: a stripe over mirrors.");
    } else if names(&["raid0", "raid4", "raid5", "raid6"]) {
        Kind::Stripe
    } else if names(&["raid1"]) {
        Kind::Mirror
    } else if !names(&["volume "]) && layers().filter(|layer| layer.starts_with("disk ")).count() == 1 {
        Kind::None
    } else {
        return String::new();
    };
    match (kind, said) {
        (found, said) if found == said => String::from(" The system says the same."),
        (Kind::None, said) => {
            format!(" The system says {}, but only one of its drives is read.", said.word())
        }
        (_, Kind::None) => String::from(
            " The system shows one drive: something below it, a controller or a host, hides several.",
        ),
        (_, said) => format!(" The system says {}, which is not what is seen.", said.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::range::ByteRange;

    /// The gain of larger reads is told as one of larger reads: beside that of reads of one size it would look like a contradiction.
    #[test]
    fn reads_of_different_sizes_are_called_by_their_sizes() {
        let mut reads = Reads::over(ByteRange::whole(Bytes(1 << 30)));
        reads.depth = 64;
        reads.single_bytes = 4096;
        let text = still(&reads, 3.0, None);
        assert!(text.contains("64 reads of 0 bytes at a time"), "{text}");
        assert!(
            text.contains("times as many per second as single reads of 4 KiB: at least so many"),
            "{text}"
        );
        reads.single_bytes = 0;
        assert!(still(&reads, 3.0, None).contains("as one: that is the parallelism inside"));
    }

    /// A file in /srv/raid5 had a system that said what was found.
    #[test]
    fn a_folder_called_raid_says_nothing() {
        let stack = |layer: &str| [layer.to_string(), "disk sda (SATA)".to_string()];
        assert_eq!(
            told_by_the_system(&stack("file in fuse mounted at /srv/raid5"), Kind::Mirror).find("stripe"),
            None
        );
        let raid = told_by_the_system(&stack("volume md0 (raid5)"), Kind::Stripe);
        assert_eq!(raid, " The system says the same.");
    }

    /// A drive of one latency brought 1.01 times as many, which was called its parallelism.
    #[test]
    fn no_gain_is_no_parallelism() {
        let reads = Reads::over(ByteRange::whole(Bytes(1 << 30)));
        let text = still(&reads, 1.01, None);
        assert!(
            text.contains("they are served one after the other") && !text.contains("parallelism"),
            "{text}"
        );
    }
}
