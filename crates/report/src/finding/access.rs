//! Words for the findings of random access.

use super::numbers::{
    host_remark, listed, long_time, memory, number, rate, short_time, size, span, with_interval,
};
use super::{Group, NO_TIME, RATE_LIMITED, Reason, Subject, Wording, imported_remark};
use model::finding::{
    AccessTime, AccessTimeUnknown, CacheUnknown, CompletionPairs, ConcurrencyAxis, ConcurrencyGain,
    ConcurrencyKnee, ConcurrencyUnknown, DriveCache, FindingCode, Interference, Known, LatencyMode,
    LatencyModes, LatencyModesUnknown, MemberBegins, OperatingPoint, OtherKnee, PrefetchStreams, ReadAhead,
    StripeLayout, StripeLayoutUnknown, SystemReadAhead, SystemReadAheadUnknown, VolumeKind,
};
use model::target::StatedLayout;
use model::units::KIB;

/// Up to this gain nobody would change a program for it; an interval that reaches further leaves it open.
const NO_GAIN_MAX: f64 = 1.5;
const PARALLEL_MIN: f64 = 1.5;
pub(super) const REPEAT_ALONE: &str = "Repeat while nothing else uses the drive.";
/// What a disk shows that something else reads constantly.
pub(super) const CONSTANT: &str =
    "single reads within a small span take as long as over the whole drive, as with constant other I/O";

impl Wording for AccessTime {
    const PLACE: (Group, &'static str) = (Group::Access, "Access time");

    fn statement(known: &Known<AccessTime>, code: FindingCode, subject: &Subject<'_>) -> String {
        let AccessTime { mean, measured, .. } = &known.conclusion;
        let host = measured.map(|measured| host_remark(measured.host_s, mean.value));
        Self::headline(known, code, subject) + &host.unwrap_or_default()
    }

    fn headline(known: &Known<AccessTime>, _: FindingCode, subject: &Subject<'_>) -> String {
        let AccessTime { mean, block, median_s, range, parts, .. } = &known.conclusion;
        let mut text = format!("Random {block} reads at QD 1 average {}", short_time(mean.value));
        if let Some(parts) = parts {
            text += &format!(
                " (seek {}, rotational latency {}, overhead {})",
                short_time(parts.seek_s),
                short_time(parts.rotation_s),
                short_time(parts.overhead_s)
            );
        }
        if let Some(range) = range {
            text += &format!(" over {}", subject.extent(*range));
        }
        // No clock tells less than a nanosecond.
        if mean.value >= 1e-9 {
            text += &format!(", {} IOPS", number(1.0 / mean.value));
        }
        text += imported_remark(known.conclusion.imported);
        text += ".";
        if let Some(median_s) = median_s {
            text += &format!(" The median is {}.", short_time(*median_s));
        }
        text
    }
}

impl Reason for AccessTimeUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::NoReads => "Not measured: no random reads at QD 1.".into(),
            Self::TooFewReads { have, need } => {
                format!("Inconclusive: {have} random reads at QD 1 completed; {need} are needed.")
            }
            Self::RateLimited => RATE_LIMITED.into(),
            Self::NoTime => NO_TIME.into(),
            Self::OneRound => {
                "Inconclusive: one short round does not show its own spread. Measure longer.".into()
            }
            Self::TooImprecise => {
                "Inconclusive: latencies differ too much for a mean. Measure longer.".into()
            }
            Self::Interference { mean, by } => format!(
                "Inconclusive: random reads averaged {}; {}. {REPEAT_ALONE}",
                with_interval(mean.value, mean.low, mean.high, "s"),
                interference(*by)
            ),
            Self::OnlySeveral { in_flight, per_second, written_back } => format!(
                "Inconclusive: the random reads were made at QD {in_flight}{}; their {} IOPS do not give the latency of one.",
                if *written_back { ", mixed with writes" } else { "" },
                number(*per_second)
            ),
        }
    }
}

impl Wording for LatencyModes {
    const PLACE: (Group, &'static str) = (Group::Access, "Latency distribution");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("mode", "modes"));

    fn statement(known: &Known<LatencyModes>, _: FindingCode, _: &Subject<'_>) -> String {
        let LatencyModes { block, missed_share, rounds, modes, host_s, .. } = &known.conclusion;
        let fastest_s = modes.iter().map(|mode| mode.seconds).fold(f64::INFINITY, f64::min);
        let text = match modes.as_slice() {
            [mode] => format!(
                "Latency of random {block} reads is unimodal around {}. A second mode with {} % or more of the reads would have been detected.",
                short_time(mode.seconds),
                number(100.0 * missed_share)
            ),
            several => {
                let name =
                    if several.len() == 2 { "bimodal".into() } else { format!("of {} modes", several.len()) };
                let modes: Vec<String> = several.iter().map(|mode| describe(mode, *rounds)).collect();
                format!("Latency of random {block} reads is {name}: {}.", modes.join("; "))
            }
        };
        text + &host_remark(*host_s, fastest_s)
    }
}

impl Reason for LatencyModesUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::RateLimited => RATE_LIMITED.into(),
            Self::NoTime => NO_TIME.into(),
            Self::NoReads => "Not measured: no random reads at QD 1 completed.".into(),
            Self::TooFewReads { have } => {
                format!("Inconclusive: {have} random reads are too few to tell two modes from chance.")
            }
            Self::Interference(by) => why_interference(*by),
        }
    }
}

pub(super) fn why_interference(by: Interference) -> String {
    format!("Inconclusive: {}. {REPEAT_ALONE}", interference(by))
}

fn interference(by: Interference) -> String {
    match by {
        Interference::HeldUp { share } => {
            format!("{} % of the reads were delayed by other I/O or retries", number(100.0 * share))
        }
        Interference::Counted { bytes_per_second } => {
            format!("the kernel counted {} on the drive besides these reads", rate(bytes_per_second))
        }
        Interference::InBursts => "slow reads came in bursts, as with other I/O".into(),
        Interference::Constant => CONSTANT.into(),
        Interference::InSamples => "sequential reads of the same run show other I/O".into(),
    }
}

fn describe(mode: &LatencyMode, rounds: usize) -> String {
    let mut text = format!(
        "{} %{} around {}",
        number(100.0 * mode.share),
        span(&number(100.0 * mode.share_low), &number(100.0 * mode.share_high)),
        short_time(mode.seconds)
    );
    if mode.is_memory {
        text += ", faster than any disk: a cache or an SSD";
    }
    // A mode that is there throughout misses one of many rounds only where it is rare.
    if mode.rounds == 1 && rounds > 1 {
        text += &format!(", all in one round of {rounds}");
    }
    text
}

impl Wording for ConcurrencyGain {
    const PLACE: (Group, &'static str) = (Group::Access, "IOPS scaling");

    fn statement(known: &Known<ConcurrencyGain>, code: FindingCode, subject: &Subject<'_>) -> String {
        let mut text = Self::headline(known, code, subject);
        if known.conclusion.limited_by_tool == Some(true) {
            text += " The engine may be the limit here, so the drive may gain more.";
        }
        text
    }

    fn headline(known: &Known<ConcurrencyGain>, _: FindingCode, _: &Subject<'_>) -> String {
        let ConcurrencyGain { gain, best, is_read, points, imported, .. } = &known.conclusion;
        let verb = if *is_read { "read" } else { "write" };
        let depth = best.count();
        let times = match imported {
            Some(_) => format!("{} ×", number(gain.value)),
            None => with_interval(gain.value, gain.low, gain.high, "ratio"),
        };
        // IOPS at QD 1 are those of the access time.
        let best = points.iter().find(|point| point.in_flight.count() == depth);
        let at_best = best.map_or(String::new(), |point| format!(" ({} IOPS)", number(point.iops)));
        let deepest = points.iter().map(|point| point.in_flight.count()).max();
        let text = if imported.is_some() {
            format!("Random {verb} IOPS at QD {depth}{at_best} are {times} those at QD 1")
        } else if gain.low > 1.0 && deepest > Some(depth) {
            // The gain rests on all depths that level off, and not on the first of them alone.
            format!("Random {verb} IOPS level off at QD {depth}{at_best}, {times} the QD 1 rate")
        } else if gain.low > 1.0 {
            format!(
                "Random {verb} IOPS reach {times} the QD 1 rate at QD {depth}, the deepest measured{at_best}"
            )
        } else if gain.high <= NO_GAIN_MAX {
            format!("Random {verb} IOPS do not rise with queue depth: at best {times} at QD {depth}")
        } else {
            format!("Random {verb} IOPS change by {times} at QD {depth}: measure longer to tell")
        };
        text + imported_remark(*imported) + "."
    }
}

impl Reason for ConcurrencyUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        why_no_concurrency(*self)
    }
}

pub(crate) fn why_no_concurrency(reason: ConcurrencyUnknown) -> String {
    match reason {
        ConcurrencyUnknown::RateLimited => RATE_LIMITED.into(),
        ConcurrencyUnknown::NoTime => NO_TIME.into(),
        ConcurrencyUnknown::Interference(by) => why_interference(by),
        ConcurrencyUnknown::TooFewRounds => {
            "Inconclusive: fewer than two rounds without failures at QD 1 and at another depth.".into()
        }
        ConcurrencyUnknown::TooFewDepths { have, need } => {
            format!("Inconclusive: {have} queue depths were measured; {need} are needed.")
        }
        ConcurrencyUnknown::LimitedByTool => {
            "Inconclusive: at these IOPS the engine may be the limit, not the drive.".into()
        }
    }
}

impl Wording for ConcurrencyKnee {
    const PLACE: (Group, &'static str) = (Group::Access, "Best IOPS/latency");

    fn headline(known: &Known<ConcurrencyKnee>, _: FindingCode, _: &Subject<'_>) -> String {
        let ConcurrencyKnee { knee, one, next, most, .. } = &known.conclusion;
        if knee.in_flight > 1 {
            let (iops, latency) = (number(knee.iops), short_time(knee.latency_s()));
            match most {
                Some(_) => format!(
                    "Past QD {} ({iops} IOPS at {latency}) latency rises faster than IOPS.",
                    knee.in_flight
                ),
                None => format!(
                    "Past QD {} ({iops} IOPS at {latency}) latency rises, but IOPS do not.",
                    knee.in_flight
                ),
            }
        } else {
            let verdict = match most {
                Some(_) => "Queueing costs more in latency than it gains in IOPS",
                None => "IOPS level off at QD 1",
            };
            let raised = raised(next.latency_s() / one.latency_s(), next.iops / one.iops);
            format!("{verdict}: QD {} {raised}.", next.in_flight)
        }
    }

    fn statement(known: &Known<ConcurrencyKnee>, code: FindingCode, subject: &Subject<'_>) -> String {
        let ConcurrencyKnee { most, open_beyond, disagreeing, .. } = &known.conclusion;
        let mut text = Self::headline(known, code, subject);
        if let Some(most) = open_beyond {
            text += &format!(" Not measured past QD {most}, which may be better still.");
        }
        // The advice names the depth of the most IOPS; where other methods put the bend is of less use then.
        if most.is_some() {
            return text;
        }
        for other in disagreeing {
            text += &match other {
                OtherKnee::ScalabilityLaw(depth) => {
                    format!(" The universal scalability law gives QD {depth:.0}.")
                }
                OtherKnee::Kneedle(depth) => format!(" The Kneedle method gives QD {depth:.0}."),
            };
        }
        text
    }

    fn advice(known: &Known<ConcurrencyKnee>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let ConcurrencyKnee { knee, most, axis, .. } = &known.conclusion;
        let at_knee = in_flight(*axis, knee);
        Some(match most {
            Some(most) => format!(
                "Use {at_knee} for {}, {} for the most IOPS ({} at {}).",
                if knee.in_flight == 1 {
                    "the lowest latency"
                } else {
                    "the best balance of IOPS and latency"
                },
                in_flight(*axis, most),
                number(most.iops),
                long_time(most.latency_s())
            ),
            None => format!("Use {at_knee}; more only adds latency."),
        })
    }
}

/// "no" or "12 %": what a ratio adds.
fn raised(latency: f64, iops: f64) -> String {
    let percent = |ratio: f64| (100.0 * (ratio - 1.0)).round().max(0.0);
    match (percent(latency), percent(iops)) {
        (0.0, 0.0) => "raises neither latency nor IOPS".into(),
        (0.0, iops) => format!("raises IOPS by {iops:.0} % at the same latency"),
        (latency, 0.0) => format!("raises latency by {latency:.0} % but does not raise IOPS"),
        (latency, iops) => format!("raises latency by {latency:.0} % and IOPS by {iops:.0} %"),
    }
}

fn in_flight(axis: ConcurrencyAxis, point: &OperatingPoint) -> String {
    match (axis, point.in_flight) {
        (ConcurrencyAxis::Depth, depth) => format!("QD {depth}"),
        (ConcurrencyAxis::Threads, 1) => "one thread".into(),
        (ConcurrencyAxis::Threads, threads) => format!("{threads} threads"),
    }
}

impl Wording for StripeLayout {
    const PLACE: (Group, &'static str) = (Group::Access, "RAID members");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("drive", "drives"));

    fn statement(known: &Known<StripeLayout>, code: FindingCode, subject: &Subject<'_>) -> String {
        let StripeLayout { depth, kind, .. } = &known.conclusion;
        let text = match kind {
            VolumeKind::None => format!(
                "A single actuator serves all reads, judging by completion times at QD {depth}. A mirror that reads \
                 from only one member would look the same."
            ),
            VolumeKind::Stripe | VolumeKind::Mirror => {
                Self::headline(known, code, subject) + &evidence(&known.conclusion)
            }
            VolumeKind::Concatenation => {
                Self::headline(known, code, subject)
                    + &borders(&known.conclusion.begins)
                    + " A drive with an actuator for each part of its capacity looks the same."
            }
        };
        text + &stated_by_system(subject.target.stated_layout, *kind)
    }

    fn headline(known: &Known<StripeLayout>, _: FindingCode, _: &Subject<'_>) -> String {
        let StripeLayout { members, kind, chunk_bytes, copies, .. } = &known.conclusion;
        let members = members.value;
        let chunk = chunk_bytes.map_or(String::new(), |chunk| format!(", chunk size {} KiB", chunk / KIB));
        match (kind, copies) {
            (VolumeKind::None, _) => "A single actuator serves all reads.".into(),
            (VolumeKind::Stripe, Some(copies)) => {
                let mirrors = members / f64::from(*copies);
                format!(
                    "RAID 10 (striped mirrors), {members} drives as {mirrors} mirrors of {copies}{chunk}."
                )
            }
            (VolumeKind::Stripe, None) => format!("Striped (RAID 0, 5 or 6), {members} members{chunk}."),
            (VolumeKind::Mirror, _) => format!("RAID 1 (mirrored): {members} members share the reads."),
            (VolumeKind::Concatenation, _) => format!("Linear (concatenated) volume, {members} members."),
        }
    }

    fn advice(known: &Known<StripeLayout>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let StripeLayout { members, chunk_bytes, copies, .. } = &known.conclusion;
        let chunk = (*chunk_bytes)? / KIB;
        let count = members.value as u64 / u64::from(copies.unwrap_or(1));
        let stripe = count * chunk;
        Some(format!("Align large requests to {stripe} KiB, a full stripe ({count} × {chunk} KiB)."))
    }
}

impl Reason for StripeLayoutUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match *self {
            Self::RateLimited => RATE_LIMITED.into(),
            Self::TooFewSingleReads => "Inconclusive: fewer than 32 reads at QD 1 completed.".into(),
            Self::TooFewReadsInFlight => "Inconclusive: too few reads at high queue depth completed.".into(),
            Self::Memory => {
                "Inconclusive: reads complete as fast as from memory, so drives do not show.".into()
            }
            Self::UncertainActuators => {
                "Inconclusive: the completions fit one actuator as well as several. Measure longer.".into()
            }
            Self::NotParallel { depth } => format!(
                "Inconclusive: reads complete as if by several actuators, but QD {depth} brings hardly more IOPS than QD 1. A rate limit looks like that."
            ),
            Self::NotRotating => {
                "Inconclusive: reads take as long as on a hard disk, but nothing shows that anything rotates.".into()
            }
            Self::UnknownLayout => {
                "Inconclusive: there are fewer actuators than the most likely layout needs. No known layout fits.".into()
            }
            Self::LayoutOpen => {
                "Inconclusive: several actuators serve the reads; their layout takes more reads. Measure longer.".into()
            }
            Self::SeveralLayouts => {
                "Inconclusive: several actuators serve the reads, and several layouts explain them.".into()
            }
            Self::HalvesDiffer => {
                "Inconclusive: both halves of the reads point to different layouts. Measure longer.".into()
            }
            Self::Concatenated => {
                "Inconclusive: several actuators, but not for any two reads. Members may be concatenated or differ in size.".into()
            }
            Self::UncertainMembers { value, low, high } => format!(
                "Inconclusive: several members serve all reads, {value:.1} by estimate ({low:.1} to {high:.1})."
            ),
            Self::NoActuator { depth, gain, single_bytes, deep_bytes, parts } => {
                let gain = if single_bytes != deep_bytes {
                    String::new()
                } else if gain < PARALLEL_MIN {
                    format!(" IOPS at QD {depth} are {} × those at QD 1: no parallelism.", number(gain))
                } else {
                    format!(" IOPS at QD {depth} are {} × those at QD 1.", number(gain))
                };
                let parts = parts.map_or(String::new(), |(members, chunk)| {
                    format!(" {members} units of {} KiB take turns: channels of one drive or drives.", chunk / KIB)
                });
                format!("Inconclusive: no actuator serves these reads, and flash channels or servers look like separate drives.{gain}{parts}")
            }
        }
    }
}

fn borders(begins: &[MemberBegins]) -> String {
    let mut places = Vec::new();
    for MemberBegins { low, high } in begins {
        places.push(size(low + (high - low) / 2) + &span(&size(*low), &size(*high)));
    }
    let noun = if places.len() == 1 { "Border" } else { "Borders" };
    format!(" {noun} between members: {}.", listed(&places))
}

/// What shows that several drives answer, and how they share the reads, as sentences that begin with a blank.
fn evidence(layout: &StripeLayout) -> String {
    let mut text = String::new();
    if let Some(CompletionPairs { share, low, high }) = layout.answers_together {
        let expected = 1.0 - 1.0 / layout.members.value;
        let [share, low, high, expected] = [share, low, high, expected].map(|share| number(100.0 * share));
        text += &format!(
            " At QD {}, {share} % ({low} to {high}) of pairs of concurrent reads go to different actuators; {expected} % is expected for {} members.",
            layout.depth, layout.members.value
        );
    }
    if let Some(log10_odds) = layout.log10_odds {
        text += &format!(" Odds in favour of this layout: 10^{:.0} to 1.", log10_odds.floor());
    }
    text
}

/// What the kernel states of the layers below, as a sentence that begins with a blank; nothing where it states nothing.
fn stated_by_system(stated: Option<StatedLayout>, found: VolumeKind) -> String {
    let (word, kind) = match stated {
        None => return String::new(),
        Some(StatedLayout::StripeOverMirrors) => {
            return " The kernel states RAID 10: a stripe over mirrors.".into();
        }
        Some(StatedLayout::OneDrive) => ("one drive", VolumeKind::None),
        Some(StatedLayout::Stripe) => ("a stripe", VolumeKind::Stripe),
        Some(StatedLayout::Mirror) => ("a mirror", VolumeKind::Mirror),
        Some(StatedLayout::Concatenation) => ("a concatenation", VolumeKind::Concatenation),
    };
    match (found, kind) {
        (found, stated) if found == stated => " The kernel states the same.".into(),
        (VolumeKind::None, _) => format!(" The kernel states {word}, but only one member is read."),
        (_, VolumeKind::None) => " The kernel states one drive: a layer below it hides several.".into(),
        _ => format!(" The kernel states {word}, which the reads contradict."),
    }
}

impl Wording for DriveCache {
    const PLACE: (Group, &'static str) = (Group::Access, "Read cache");

    fn statement(known: &Known<DriveCache>, _: FindingCode, _: &Subject<'_>) -> String {
        let DriveCache { bytes, drives } = &known.conclusion;
        let size = memory(bytes.value);
        match drives {
            1 => format!(
                "The drive caches about {size} of recent reads; rereads within a smaller range are served from the cache."
            ),
            drives => format!(
                "Each of the {drives} members caches about {} of recent reads, {size} together.",
                memory(bytes.value / *drives as f64)
            ),
        }
    }
}

impl Reason for CacheUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::RateLimited => RATE_LIMITED.into(),
            Self::TooFewReads => "Inconclusive: too few of the reads that would show it completed.".into(),
            Self::AllMemory => "Inconclusive: all reads are as fast as memory, so the drive does not show.".into(),
            Self::NoHits => {
                "Inconclusive: rereads are no faster than first reads, so cached or prefetched data cannot be recognized.".into()
            }
            Self::NearbyRereads => {
                "No read cache detected: rereads are read again from under the heads, or prefetch evicts them.".into()
            }
            Self::DeliveredDropped => {
                "No read cache detected: the drive prefetches, but drops delivered data. Rereads come from the medium.".into()
            }
            Self::QuickElsewhere => {
                "Inconclusive: some first reads are as fast as cache hits. An SSD or a larger cache answers for part of the drive.".into()
            }
            Self::LateHits => {
                format!("Inconclusive: cache hits were delayed by other I/O or a busy host. {REPEAT_ALONE}")
            }
            Self::Disorder => {
                "Inconclusive: hits near and far follow no order; other I/O interfered, or the cache is managed otherwise.".into()
            }
            Self::Interference => format!("Inconclusive: other I/O used the drive and its cache. {REPEAT_ALONE}"),
            Self::SeveralDrives => {
                "Inconclusive: several drives share the reads, each with a cache. Measure one of them alone.".into()
            }
            Self::OneStream => "Inconclusive: one stream does not show how it scatters. Measure longer.".into(),
            Self::AtLeast(bytes) => format!(
                "Inconclusive: rereads of all {} measured hit a cache, so it is larger.",
                memory(bytes.as_f64())
            ),
            Self::CalledAway => {
                format!("Inconclusive: other I/O moved the actuator, which stops prefetch. {REPEAT_ALONE}")
            }
        }
    }
}

impl Wording for ReadAhead {
    const PLACE: (Group, &'static str) = (Group::Access, "Prefetch");

    fn statement(known: &Known<ReadAhead>, _: FindingCode, _: &Subject<'_>) -> String {
        let ReadAhead {
            bytes, system_is_measured, system_says_bytes, pause_s, keeps_delivered, streams, ..
        } = &known.conclusion;
        let within = pause_s.map_or(String::new(), |pause_s| format!("within {}, ", short_time(pause_s)));
        let mut text = if bytes.value == 0.0 {
            "The drive does not prefetch after a single read.".to_string()
        } else {
            let prefetched = memory(bytes.value);
            let (least, cut_short) = match bytes.high.is_finite() {
                true => ("", ""),
                false => ("at least ", " Other I/O moved the actuator, which stops prefetch."),
            };
            format!(
                "After a single read the drive prefetches {least}{prefetched} ({within}kernel read-ahead excluded).{cut_short}"
            )
        };
        if let Some(streams) = streams {
            text += &side_by_side(streams);
        }
        if *keeps_delivered == Some(false) {
            text += " Delivered data are dropped: rereads miss.";
        }
        if let (false, Some(system)) = (system_is_measured, system_says_bytes) {
            let system = memory(*system as f64);
            text +=
                &format!(" The kernel states {system} of its own; drivescope access --buffered measures it.");
        }
        text
    }
}

fn side_by_side(streams: &PrefetchStreams) -> String {
    match *streams {
        PrefetchStreams { low: 1, high: Some(1), .. } => " A single stream keeps its prefetched data.".into(),
        PrefetchStreams { value, high: None, .. } => {
            format!(" The drive keeps prefetched data for {value} or more interleaved streams.")
        }
        PrefetchStreams { value, low, high: Some(high) } => {
            format!(" The drive keeps prefetched data for {value} interleaved streams ({low} to {high}).")
        }
    }
}

impl Wording for SystemReadAhead {
    const PLACE: (Group, &'static str) = (Group::Access, "Kernel read-ahead");

    fn statement(known: &Known<SystemReadAhead>, _: FindingCode, _: &Subject<'_>) -> String {
        let SystemReadAhead { most, after_one_bytes, after_two_bytes, system_says_bytes, .. } =
            &known.conclusion;
        if most.value == 0.0 {
            return "The kernel reads nothing ahead through the page cache.".into();
        }
        let mut text = format!(
            "Through the page cache the kernel reads {} ahead of one read, {} of two, up to {} of longer sequences.",
            ahead(*after_one_bytes),
            ahead(*after_two_bytes),
            memory(most.value)
        );
        if let Some(window) = system_says_bytes {
            text += &format!(" It states a window of {}, of which two may be ahead.", memory(*window as f64));
        }
        text
    }
}

impl Reason for SystemReadAheadUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::VirtualTime => {
                "Not measured: a virtual drive in virtual time has no page cache. Mount it with drivescope sim mount.".into()
            }
            Self::NotTold(why) => {
                format!("Inconclusive: the kernel does not tell what is in its page cache: {why}.")
            }
            Self::NotMeasured => "Not measured: it takes a range of 32 MiB or more and a minute.".into(),
            Self::Evicted => {
                "Inconclusive: what was read did not stay in the page cache. Another program uses the target, or memory is short.".into()
            }
            Self::AtLeast(bytes) => format!(
                "Inconclusive: the kernel read ahead as far as was measured, {} or more.",
                memory(bytes.as_f64())
            ),
        }
    }
}

fn ahead(bytes: u64) -> String {
    if bytes == 0 { "nothing".into() } else { memory(bytes as f64) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::{AccessParts, ConcurrencyPoint, InFlight};
    use model::units::Bytes;

    #[test]
    fn an_access_is_told_with_its_parts() {
        let access = AccessTime {
            mean: Estimate::exact(12.73e-3),
            block: Bytes::new(4096),
            median_s: None,
            range: None,
            parts: Some(AccessParts { seek_s: 8.35e-3, rotation_s: 4.17e-3, overhead_s: 0.21e-3 }),
            measured: None,
            imported: None,
        };
        assert_eq!(
            statement(&known(access), FindingCode::AccessTime),
            "Random 4 KiB reads at QD 1 average 12.7 ms (seek 8.35 ms, rotational latency 4.17 ms, overhead 210 µs), 78.6 IOPS."
        );
    }

    #[test]
    fn a_knee_at_one_says_what_two_cost() {
        let one = OperatingPoint { in_flight: 1, iops: 100.0 };
        let next = OperatingPoint { in_flight: 2, iops: 100.0 };
        let knee = ConcurrencyKnee {
            in_flight: Estimate::exact(1.0),
            knee: one,
            one,
            next,
            most: None,
            open_beyond: None,
            axis: ConcurrencyAxis::Depth,
            scalability_law: None,
            kneedle: None,
            disagreeing: vec![OtherKnee::Kneedle(8.0)],
        };
        assert_eq!(
            statement(&known(knee), FindingCode::ConcurrencyKnee),
            "IOPS level off at QD 1: QD 2 raises latency by 100 % but does not raise IOPS. The Kneedle method gives QD 8."
        );
    }

    /// A gain may rest on all depths: the IOPS beside it follow from it, not from those of one depth.
    #[test]
    fn a_gain_names_both_depths() {
        let point = |depth, iops| ConcurrencyPoint {
            in_flight: InFlight::Depth(depth),
            iops,
            low: None,
            high: None,
            p99_s: None,
        };
        let mut gain = ConcurrencyGain {
            gain: Estimate { low: 1.92, high: 2.21, ..Estimate::exact(2.06) },
            is_read: true,
            best: InFlight::Depth(100),
            points: vec![point(1, 77.8), point(100, 150.0)],
            limited_by_tool: Some(false),
            points_by_threads: None,
            write: None,
            imported: None,
        };
        assert_eq!(
            statement(&known(gain.clone()), FindingCode::ConcurrencyGain),
            "Random read IOPS reach 2.06 × (1.92 to 2.21) the QD 1 rate at QD 100, the deepest measured (150 IOPS)."
        );
        gain.points.push(point(250, 151.0));
        assert_eq!(
            statement(&known(gain), FindingCode::ConcurrencyGain),
            "Random read IOPS level off at QD 100 (150 IOPS), 2.06 × (1.92 to 2.21) the QD 1 rate."
        );
    }

    #[test]
    fn a_stripe_says_what_shows_it() {
        let layout = StripeLayout {
            members: Estimate::exact(3.0),
            depth: 16,
            kind: VolumeKind::Stripe,
            answers_together: Some(CompletionPairs { share: 0.669, low: 0.567, high: 0.772 }),
            chunk_bytes: Some(65_536),
            log10_odds: Some(6.96),
            copies: None,
            begins: Vec::new(),
        };
        assert_eq!(
            statement(&known(layout), FindingCode::StripeLayout),
            "Striped (RAID 0, 5 or 6), 3 members, chunk size 64 KiB. At QD 16, 66.9 % (56.7 to 77.2) of pairs of concurrent reads go to \
             different actuators; 66.7 % is expected for 3 members. Odds in favour of this layout: 10^6 to 1."
        );
    }

    #[test]
    fn concatenated_members_are_told_with_their_borders() {
        let layout = StripeLayout {
            members: Estimate::exact(3.0),
            depth: 16,
            kind: VolumeKind::Concatenation,
            answers_together: None,
            chunk_bytes: None,
            log10_odds: None,
            copies: None,
            begins: vec![
                MemberBegins { low: 990_000_000_000, high: 1_010_000_000_000 },
                MemberBegins { low: 2_000_100_000_000, high: 2_000_300_000_000 },
            ],
        };
        assert_eq!(
            statement(&known(layout), FindingCode::StripeLayout),
            "Linear (concatenated) volume, 3 members. Borders between members: 1.00 TB (990 GB to 1.01 TB) and 2.00 TB. A drive with an actuator \
             for each part of its capacity looks the same."
        );
    }

    #[test]
    fn a_stripe_over_mirrors_counts_all_drives_and_half_of_them_for_a_stripe() {
        let layout = StripeLayout {
            members: Estimate::exact(6.0),
            depth: 16,
            kind: VolumeKind::Stripe,
            answers_together: None,
            chunk_bytes: Some(65_536),
            log10_odds: None,
            copies: Some(2),
            begins: Vec::new(),
        };
        let known = known(layout);
        assert_eq!(
            statement(&known, FindingCode::StripeLayout),
            "RAID 10 (striped mirrors), 6 drives as 3 mirrors of 2, chunk size 64 KiB."
        );
        let aligned = "Align large requests to 192 KiB, a full stripe (3 × 64 KiB).";
        assert_eq!(advice(&known, FindingCode::StripeLayout).as_deref(), Some(aligned));
    }

    #[test]
    fn what_the_kernel_states_is_compared_with_what_was_found() {
        let stated = |layout, found| stated_by_system(Some(layout), found);
        assert_eq!(stated_by_system(None, VolumeKind::Stripe), "");
        assert_eq!(stated(StatedLayout::Stripe, VolumeKind::Stripe), " The kernel states the same.");
        assert_eq!(
            stated(StatedLayout::Concatenation, VolumeKind::Concatenation),
            " The kernel states the same."
        );
        let other = stated(StatedLayout::Mirror, VolumeKind::Stripe);
        assert_eq!(other, " The kernel states a mirror, which the reads contradict.");
        let one = stated(StatedLayout::OneDrive, VolumeKind::Stripe);
        assert_eq!(one, " The kernel states one drive: a layer below it hides several.");
    }
}
