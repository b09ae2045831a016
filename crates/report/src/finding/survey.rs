//! Throughput by offset, zones, links and regions, in words.

use super::access::{CONSTANT, REPEAT_ALONE};
use super::datasheet_claims::SHORTFALL_MIN;
use super::numbers::{long_time, number, plural, rate, short_time, size, span};
use super::{Group, NO_TIME, RATE_LIMITED, Reason, Subject, Wording, imported_remark};
use crate::quantity::count;
use model::experiment_name::ExperimentName;
use model::finding::{
    FigureRatio, FindingCode, FullPassTime, ImportedRatio, InterfaceLimit, Known, OtherLoad, PORT_DATA_SHARE,
    PassBasis, Quicker, RateOf, SequentialRate, SlowKind, SlowRegion, SlowRegions, Slowed, Streaming,
    SurveyUnknown, UnmappedRanges, ZoneCount, ZoneRatio, ZoneTable,
};
use model::range::ByteRange;
use model::request::Operation;

/// SATA began with 1.5 Gbit/s, which any port has.
const SLOWEST_PORT_GBIT: f64 = 1.5;
const FASTER_PORT: &str = "Connect the drive to a faster port, without a bridge or hub between.";
const WHOLE_SLOT: &str = "Check with `lspci -vv` that the slot gives the drive all its lanes at full speed (LnkSta against LnkCap).";

const AT_LIMIT: &str = ", slowed by the rate limit";

/// Imported ratios within this are equal: programs state three digits.
const EQUAL: f64 = 0.005;
/// From here on the processor limits a program more than the drive does.
const PROCESSOR_SHARE_MIN: f64 = 0.5;
/// From this probability on a region is certain to be met.
const CERTAIN: f64 = 0.999_999;

impl Wording for SequentialRate {
    const PLACE: (Group, &'static str) = (Group::Speed, "Seq. write, mean");

    fn label(code: FindingCode) -> &'static str {
        match code {
            FindingCode::ReadRateOuter => "Seq. read, start",
            FindingCode::ReadRateInner => "Seq. read, end",
            FindingCode::ReadRateMean => "Seq. read, mean",
            FindingCode::WriteRateOuter => "Seq. write, start",
            FindingCode::WriteRateInner => "Seq. write, end",
            _ => Self::PLACE.1,
        }
    }

    fn statement(known: &Known<SequentialRate>, code: FindingCode, subject: &Subject<'_>) -> String {
        let found = &known.conclusion;
        let verbs = if is_write(code) { "writes" } else { "reads" };
        let speed = rate(found.rate.value);
        let is_start = matches!(code, FindingCode::ReadRateOuter | FindingCode::WriteRateOuter);
        let sentence = match &found.of {
            RateOf::Edge { is_whole, may_rotate } => {
                format!(
                    "Sequential {verbs} run at {speed} {}.",
                    subject.place(is_start, *is_whole, *may_rotate)
                )
            }
            RateOf::EdgeBytes(bytes) => {
                let end = if is_start { "first" } else { "last" };
                let (bytes, noun) = (size(bytes.get()), subject.noun());
                format!("Sequential {verbs} run at {speed} in the {end} {bytes} of the {noun}.")
            }
            RateOf::Pass { range, sample, is_rate_limited } => {
                let bursts = if is_write(code) { format!(", in bursts of {sample}") } else { String::new() };
                let limited = if *is_rate_limited { AT_LIMIT } else { "" };
                format!(
                    "Sequential {verbs} average {speed} over {}{bursts}{limited}.",
                    subject.extent(*range)
                )
            }
            RateOf::ImportedEdge(range) => format!(
                "Sequential {verbs} run at {speed} in {} of the drive{}.",
                part_of_drive(*range, subject),
                imported_remark(found.imported)
            ),
            RateOf::ImportedPass(basis) => {
                format!("A full pass of {verbs} averages {speed}, {}.", basis_words(*basis))
            }
        };
        let streaming = found.streaming.as_ref().map(streaming_words).unwrap_or_default();
        sentence + &streaming + slowed_words(found.slowed)
    }

    fn advice(known: &Known<SequentialRate>, code: FindingCode, subject: &Subject<'_>) -> Option<String> {
        let found = &known.conclusion;
        if let Some(port) = found.port_gbit {
            // Each generation of SATA is twice as fast as the one before, and 8b/10b coding makes 100 MB/s of 1 Gbit/s before the protocol.
            let slower = port / 2.0;
            let carried = 100e6 * slower * PORT_DATA_SHARE;
            // A port is worth advice where the slower one costs more than drives of one model differ by.
            if slower < SLOWEST_PORT_GBIT || found.rate.value < (1.0 + SHORTFALL_MIN) * carried {
                return None;
            }
            return Some(format!(
                "Keep the drive on a SATA port of {port:.1} Gbit/s or faster: a {slower:.1} Gbit/s link carries about {}, and the \
                 drive reads at {}.",
                rate(carried),
                rate(found.rate.value)
            ));
        }
        match found.of {
            RateOf::Pass { .. } if is_write(code) => Some(format!(
                "Measure longer writes with {}: throughput may drop once a write cache is full.",
                subject.writing(&ExperimentName::Sustain, "")
            )),
            _ => None,
        }
    }
}

/// " Measured with 1 × 64 KiB: 4 × 1 MiB loses 40 % (38 to 42). The drive does not stream with requests in flight."
fn streaming_words(streaming: &Streaming) -> String {
    let Streaming { best, usual, .. } = streaming;
    let percent = |share: f64| number(100.0 * share);
    let why = if best.queue_depth == 1 {
        " The drive does not stream with several requests in flight."
    } else if best.queue_depth < usual.queue_depth {
        " The drive streams worse with more requests in flight."
    } else {
        ""
    };
    format!(
        " Measured with {} × {}: {} × {} loses {} %{}.{why}",
        best.queue_depth,
        best.block_bytes,
        usual.queue_depth,
        usual.block_bytes,
        percent(streaming.usual_loss),
        span(&percent(streaming.usual_loss_low), &percent(streaming.usual_loss_high)),
    )
}

fn is_write(code: FindingCode) -> bool {
    matches!(code, FindingCode::WriteRateOuter | FindingCode::WriteRateInner | FindingCode::WriteRateMean)
}

impl Wording for FullPassTime {
    const PLACE: (Group, &'static str) = (Group::Speed, "Full-pass time");

    fn statement(known: &Known<FullPassTime>, _: FindingCode, subject: &Subject<'_>) -> String {
        let pass = &known.conclusion;
        let verb = if pass.operation == Operation::Write { "Writing" } else { "Reading" };
        let basis = match pass.basis {
            Some(basis) => format!(", {}", basis_words(basis)),
            None => String::new(),
        };
        let loaded = slowed_words(pass.slowed);
        let limited = if pass.is_rate_limited { AT_LIMIT } else { "" };
        format!(
            "{verb} {} once takes {}{basis}{limited}.{loaded}",
            subject.extent(pass.range),
            long_time(pass.time.value)
        )
    }
}

fn basis_words(basis: PassBasis) -> String {
    match basis {
        PassBasis::Measured => "measured as a whole".into(),
        PassBasis::Summed { figures } => format!("added up from {figures} figures, each for its extent"),
        PassBasis::Interpolated { figures } => format!("interpolated from {figures} figures"),
    }
}

/// "the first 25 %", "the last 53.7 GB", "42 % to 47 %", "all" of the drive.
fn part_of_drive(range: ByteRange, subject: &Subject<'_>) -> String {
    let capacity = subject.target.capacity.get();
    let percent = |bytes: u64| 100.0 * bytes as f64 / capacity.max(1) as f64;
    // Small parts are told in bytes: nobody thinks in thousandths of a drive.
    let part = |bytes| if percent(bytes) < 9.95 { size(bytes) } else { format!("{:.0} %", percent(bytes)) };
    let (first, end) = (range.first().get(), range.end().get());
    // A list ends before its last block, and a division leaves some bytes over.
    match (first == 0, percent(capacity.saturating_sub(end)) <= 2.0) {
        (true, true) => "all".into(),
        (true, false) => format!("the first {}", part(end)),
        (false, true) => format!("the last {}", part(capacity.saturating_sub(first))),
        (false, false) => format!("{:.0} % to {:.0} %", percent(first), percent(end)),
    }
}

impl Wording for ZoneRatio {
    const PLACE: (Group, &'static str) = (Group::Speed, "Start-to-end ratio");

    fn statement(known: &Known<ZoneRatio>, _: FindingCode, subject: &Subject<'_>) -> String {
        let ZoneRatio { ratio, imported, .. } = &known.conclusion;
        if let Some(imported) = imported {
            return imported_ratio(ratio.value, imported, subject);
        }
        let (start, end) = (subject.place(true, true, true), subject.place(false, true, true));
        if ratio.covers(1.0) {
            return format!("Throughput {start} equals that {end}.");
        }
        format!("Throughput {start} is {} × that {end}.", number(ratio.value))
    }
}

fn imported_ratio(ratio: f64, imported: &ImportedRatio, subject: &Subject<'_>) -> String {
    let verbs = plural(imported.operation);
    let (first, last) = (part_of_drive(imported.start, subject), part_of_drive(imported.end, subject));
    let remark = imported_remark(Some(imported.imported));
    let mut sentences = vec![if (ratio - 1.0).abs() < EQUAL {
        format!("{verbs} are as fast in {last} of the drive as in {first}{remark}.")
    } else {
        format!("{verbs} are {} × as fast in {first} of the drive as in {last}{remark}.", number(ratio))
    }];
    let others: Vec<&FigureRatio> = imported.by_figure.iter().filter(|figure| figure.is_other).collect();
    let sequential: Vec<String> = others
        .iter()
        .filter(|figure| figure.kind.sequential)
        .map(|figure| sequential_words(figure))
        .collect();
    if !sequential.is_empty() {
        sentences.push(format!("Other figures, start to end: {}.", sequential.join("; ")));
    }
    for figure in &others {
        if figure.kind.sequential {
            continue;
        }
        let depends = if figure.does_not_differ { ", no more apart than those between" } else { "" };
        let (start, end) = (number(figure.start), number(figure.end));
        let name = figure.kind.name();
        let name = name.replacen("random", "Random", 1);
        sentences.push(format!("{name}: {start} IOPS at the start, {end} at the end{depends}."));
    }
    sentences.join(" ")
}

/// "writes 1.55 ×", "reads byte by byte 1.16 × (processor busy 81 %)".
fn sequential_words(figure: &FigureRatio) -> String {
    let ratio = format!("{} {} ×", figure.kind.name(), number(figure.ratio));
    match figure.processor_share {
        Some(share) if share >= PROCESSOR_SHARE_MIN => {
            format!("{ratio} (processor busy {:.0} %)", 100.0 * share)
        }
        _ => ratio,
    }
}

impl Wording for ZoneCount {
    const PLACE: (Group, &'static str) = (Group::Speed, "Throughput zones");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("zone", "zones"));

    fn statement(known: &Known<ZoneCount>, _: FindingCode, _: &Subject<'_>) -> String {
        let ZoneCount { zones, step_missed } = known.conclusion;
        let step = number(100.0 * step_missed);
        // Of wide zones smaller steps show, too.
        match zones {
            1 => format!("Throughput is the same everywhere. Steps under {step} % may have been missed."),
            _ => format!(
                "Throughput shows at least {zones} zones; narrow zones whose throughput is within {step} % of their neighbours' may have been missed."
            ),
        }
    }
}

impl Wording for ZoneTable {
    const PLACE: (Group, &'static str) = (Group::Speed, "Zone table");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("zone", "zones"));

    fn statement(known: &Known<ZoneTable>, _: FindingCode, _: &Subject<'_>) -> String {
        match known.conclusion.zones.as_slice() {
            [] => String::new(),
            [all] => format!("The whole range runs at {}.", rate(all.bytes_per_second)),
            [first, .., last] => format!(
                "At least {} zones, from {} at the start to {} at the end.",
                known.conclusion.zones.len(),
                rate(first.bytes_per_second),
                rate(last.bytes_per_second)
            ),
        }
    }
}

impl Wording for InterfaceLimit {
    const PLACE: (Group, &'static str) = (Group::Speed, "Link limit");

    fn statement(known: &Known<InterfaceLimit>, _: FindingCode, subject: &Subject<'_>) -> String {
        let limit = &known.conclusion;
        let by = match limit.link.as_str() {
            "unknown" => "Something between drive and host".into(),
            link => format!("The link ({link})"),
        };
        let speed = rate(limit.rate.value);
        match &limit.reach {
            Some(reach) if reach.is_everywhere => {
                format!("{by} limits the drive to {speed} everywhere{}.", of_nominal(limit, subject))
            }
            Some(reach) => {
                let share = number(100.0 * reach.share);
                format!(
                    "{by} limits the drive to {speed} over {share} % of the range{}.",
                    of_nominal(limit, subject)
                )
            }
            None => format!(
                "{by} limits the drive to {speed}{}: a disk is not as fast at its end as at its start.",
                imported_remark(limit.imported)
            ),
        }
    }

    fn advice(known: &Known<InterfaceLimit>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let is_slot = known.conclusion.link.starts_with("PCIe");
        Some(if is_slot { WHOLE_SLOT } else { FASTER_PORT }.into())
    }
}

fn of_nominal(limit: &InterfaceLimit, subject: &Subject<'_>) -> String {
    let Some(link) = &subject.target.link else { return String::new() };
    match link.bytes_per_second_max {
        Some(nominal) if link.name == limit.link => {
            format!(", {:.0} % of its nominal {}", 100.0 * limit.rate.value / nominal, rate(nominal))
        }
        _ => String::new(),
    }
}

impl Wording for SlowRegions {
    const PLACE: (Group, &'static str) = (Group::Sound, "Slow regions");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("region", "regions"));

    fn headline(known: &Known<SlowRegions>, _: FindingCode, _: &Subject<'_>) -> String {
        let slow = &known.conclusion;
        let mut text = match slow.regions.as_slice() {
            [] => "No slow region found.".to_string(),
            [region] => format!("One region is slow: {}.", region_words(region)),
            [first, ..] => format!("{} regions are slow; the first: {}.", slow.count, region_words(first)),
        };
        match slow.disturbed_visits {
            0 => {}
            1 => text += " One sample was slow once, and not when repeated.",
            count => text += &format!(" {count} samples were slow once, and not when repeated."),
        }
        text
    }

    fn statement(known: &Known<SlowRegions>, code: FindingCode, subject: &Subject<'_>) -> String {
        let slow = &known.conclusion;
        let mut text = Self::headline(known, code, subject);
        let mut chances = Vec::new();
        for size in &slow.would_have_been_met {
            if size.probability < CERTAIN {
                chances.push(format!("{} % if it is {}", percent(size.probability), size.bytes));
            }
        }
        if chances.is_empty() {
            // Where every block was read, no share is left to chance.
            return text;
        }
        text += &format!(" Chance of detecting one: {}.", chances.join(", "));
        if let Some(share) = slow.share_max
            && share < 1.0
        {
            let more = if slow.regions.is_empty() { "" } else { "another " };
            text += &format!(
                " Scattered slow blocks cover at most {more}{} % of the {} (95 % confidence).",
                number(100.0 * share),
                subject.noun()
            );
        }
        text
    }

    fn advice(known: &Known<SlowRegions>, _: FindingCode, subject: &Subject<'_>) -> Option<String> {
        let slow = &known.conclusion;
        if !slow.regions.iter().any(|region| region.kind == SlowKind::WeakSectors) {
            let is_sample = slow.would_have_been_met.iter().any(|size| size.probability < CERTAIN);
            let full_scan = subject.command(&ExperimentName::Surface, "--full");
            return is_sample.then(|| {
                format!("Read every block with {full_scan}: a sample may miss slow or bad blocks.")
            });
        }
        Some("Copy your data from these regions first. Then check pending sectors with `smartctl -a`.".into())
    }
}

fn region_words(region: &SlowRegion) -> String {
    let weak = if region.kind == SlowKind::WeakSectors { "weak sectors, " } else { "" };
    format!(
        "{} at byte {}, {} × slower than around it ({weak}longest request {:.0} ms)",
        size(region.bytes),
        count(region.first_byte),
        number(region.times_slower),
        (region.longest_s * 1e3).floor()
    )
}

fn percent(probability: f64) -> String {
    let percent = probability * 100.0;
    if percent > 99.0 { format!("{:.2}", (percent * 100.0).floor() / 100.0) } else { number(percent) }
}

impl Wording for UnmappedRanges {
    const PLACE: (Group, &'static str) = (Group::Sound, "Unmapped ranges");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("range", "ranges"));

    fn statement(known: &Known<UnmappedRanges>, _: FindingCode, subject: &Subject<'_>) -> String {
        let found = &known.conclusion;
        // Behind a network or a hypervisor, a server may keep a part in memory.
        let holds = match &subject.target.link {
            Some(_) => "the fast part was never written, or discarded",
            None => "the fast part was never written, was discarded, or is cached",
        };
        let share = number(100.0 * found.share);
        match found.quicker {
            Quicker::Streams { mapped_bytes_per_second, unmapped_bytes_per_second } => format!(
                "About {share} % of the drive reads at {}, the rest at {}: {holds}.",
                rate(unmapped_bytes_per_second),
                rate(mapped_bytes_per_second)
            ),
            Quicker::SingleReads { mapped_read_s, unmapped_read_s } => format!(
                "Random reads take {} in about {share} % of the drive, and {} in the rest: {holds}.",
                short_time(unmapped_read_s),
                short_time(mapped_read_s)
            ),
        }
    }

    fn advice(_: &Known<UnmappedRanges>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        Some("Write the whole drive once before you measure its reads.".into())
    }
}

/// In the words of a code, which tells what other load hides.
impl Reason for SurveyUnknown {
    fn why(&self, code: FindingCode, _: &Subject<'_>) -> String {
        why_unknown(self, code)
    }
}

pub(crate) fn why_unknown(reason: &SurveyUnknown, code: FindingCode) -> String {
    let why = match reason {
        SurveyUnknown::RateLimited => return RATE_LIMITED.into(),
        SurveyUnknown::NoTime => return NO_TIME.into(),
        SurveyUnknown::NothingMeasured => return "Not measured: no sequential phase.".into(),
        SurveyUnknown::OnlyPart => {
            return "Not measured: the range covers only a part of the drive. Omit --range.".into();
        }
        SurveyUnknown::NotRotating => return "The drive does not rotate, so it has no zones.".into(),
        SurveyUnknown::OtherLoad(load) => other_load(*load, code),
        SurveyUnknown::Changed { before, after } => changed(*before, *after),
        SurveyUnknown::NoneUsable { samples } => format!("all {samples} samples failed or were too short."),
        SurveyUnknown::QueueNotFilled => {
            "every sample ended before its queue was full. Measure longer.".into()
        }
        SurveyUnknown::TooFewSamples { usable } => {
            format!("{usable} usable samples are too few. Measure longer.")
        }
        SurveyUnknown::TooFewAtEdge { start, needed } => {
            let edge = if *start { "start" } else { "end" };
            format!("fewer than {needed} usable samples at the {edge} of the range. Measure longer.")
        }
        SurveyUnknown::Uncovered => "a part of the range has no usable samples. Measure longer.".into(),
        SurveyUnknown::TooImprecise => {
            "samples differ too much to bound the throughput. Measure longer.".into()
        }
        SurveyUnknown::OnlyLoaded { rate } => only_loaded(*rate),
        SurveyUnknown::RotationUnknown => {
            "neither what the drive reports nor its latency tells whether it rotates; only disks have zones."
                .into()
        }
        SurveyUnknown::Remapped => {
            "the file system moves or transforms data, so offsets in the file are not offsets on the drive."
                .into()
        }
        SurveyUnknown::DeviceLost => "the drive went away before the end of the range was measured.".into(),
        SurveyUnknown::TwoMedia => "judging by single reads, only the slower part is a hard disk.".into(),
        SurveyUnknown::AllAlike => {
            "the whole drive reads at one speed, so it may be fully written or fully trimmed.".into()
        }
        SurveyUnknown::Interleaved { share } => interleaved(*share),
        SurveyUnknown::QuickerAgain { times } => quicker_again(*times),
        SurveyUnknown::SlowRegions => {
            "slow regions were found; whether they are weak or all else is unmapped does not show.".into()
        }
        SurveyUnknown::NotReadAgain { samples } => not_read_again(*samples),
        SurveyUnknown::Scattered { samples, of } => scattered(*samples, *of),
        SurveyUnknown::BurstsRewrite { write, read } => bursts_rewrite(*write, *read),
        SurveyUnknown::NoOffsets => {
            "the program does not say where it measured. If you know, import again with --position.".into()
        }
        SurveyUnknown::NoCapacity => "the capacity is not known. Import again with --capacity.".into(),
        SurveyUnknown::NoneInThird { start } => {
            format!("no figure of the {} third of the drive.", if *start { "first" } else { "last" })
        }
        SurveyUnknown::NoneAtBothEnds => "it takes figures of the drive's first and last third.".into(),
        SurveyUnknown::NoRate => "no throughput follows from the figures.".into(),
        SurveyUnknown::TooSparse { share } => format!(
            "the figures cover {:.0} % of the drive and lie too far apart to interpolate.",
            100.0 * share
        ),
        SurveyUnknown::FlatOfUnknownKind => {
            "the drive is as fast at its end as at its start. On a disk a link would be the limit. \
             Import again with --kind disk if it is one."
                .into()
        }
    };
    format!("Inconclusive: {why}")
}

fn only_loaded(bytes_per_second: f64) -> String {
    let reached = rate(bytes_per_second);
    format!("other load fell into most samples; under it the drive reached {reached}. {REPEAT_ALONE}")
}

fn quicker_again(times: f64) -> String {
    format!(
        "rereads are {} × as fast as first reads: a cache holds what was read, or blocks are fetched on first access, as on a volume restored from \
         a snapshot. Read the whole drive once, then repeat.",
        number(times)
    )
}

fn interleaved(share: f64) -> String {
    let share = number(100.0 * share);
    format!(
        "{share} % of random reads are fast, scattered too finely to tell unmapped ranges from cache hits."
    )
}

fn slowed_words(slowed: Option<Slowed>) -> &'static str {
    match slowed {
        Some(Slowed::ByOtherLoad) => {
            " Other load on the drive or host was seen meanwhile: alone it may be faster."
        }
        Some(Slowed::ByLostRevolutions) => {
            " Some samples lost a revolution, to other I/O or to late requests: without that, throughput is higher."
        }
        None => "",
    }
}

fn other_load(load: OtherLoad, code: FindingCode) -> String {
    let hidden = match code {
        FindingCode::InterfaceLimit => "a link limit",
        FindingCode::SlowRegions => "slow regions",
        FindingCode::UnmappedRanges => "unmapped ranges",
        _ => "zones",
    };
    let seen = match load {
        OtherLoad::Late { samples, of } => {
            format!("{samples} of {of} samples were slow for a moment, not because of their offset.")
        }
        OtherLoad::Paused { samples, of } => {
            format!("in {samples} of {of} samples the stream paused while the actuator was elsewhere.")
        }
        OtherLoad::Alike { correlation } => {
            format!(
                "samples that follow each other are alike at any offset (correlation {}).",
                number(correlation)
            )
        }
        OtherLoad::Most { quicker } => quicker_words(quicker),
        OtherLoad::Constant => format!("{CONSTANT}."),
        OtherLoad::InReads => "random reads of the same run show other I/O.".into(),
    };
    format!("other load on the drive hides {hidden}: {seen} {REPEAT_ALONE}")
}

fn bursts_rewrite(write: f64, read: f64) -> String {
    format!(
        "bursts average {} with flushes where reads average {}, as on SMR disks: a burst rewrites its band, and a pass in order does \
         not. Use `drivescope sustain` with --write --pattern sequential.",
        rate(write),
        rate(read)
    )
}

fn not_read_again(samples: usize) -> String {
    format!(
        "{samples} samples were slow, because of slow blocks or other I/O, and time was up before they could be read again. Raise --time-limit."
    )
}

fn scattered(samples: usize, of: usize) -> String {
    format!(
        "{samples} of {of} samples are slow, anywhere in the range and again later. Whether they are weak or all else is unmapped does not show."
    )
}

fn changed(before: f64, after: f64) -> String {
    let (before, after) = (rate(before), rate(after));
    format!(
        "throughput changed from {before} to {after} during the run, at any offset: a limit changed, the drive grew hot, or other load began \
         or ended. Repeat."
    )
}

fn quicker_words(quicker: f64) -> String {
    format!(
        "One sample in twenty took {:.0} % less time than the others, too much for surfaces and tracks.",
        100.0 * quicker
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, statement, target, why};
    use super::super::{Text, text};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::{Finding, LatencyClasses, Outcome, SampledSize, StreamSetting};
    use model::target::{Link, TargetFacts};
    use model::units::Bytes;

    fn rate_of(value: f64, of: RateOf) -> SequentialRate {
        SequentialRate::new(Estimate::exact(value), of)
    }

    /// "spans 5 h 30 min to 17 h 30 min h 30 min"
    #[test]
    fn an_interval_of_hours_has_its_units_once() {
        let time = Estimate { low: 19_800.0, high: 63_000.0, ..Estimate::exact(30_600.0) };
        let unsure = Finding::FullPassTime(Outcome::Inconclusive(time));
        let Text::TooWide { interval, .. } = text(&unsure, &target()) else { panic!("{unsure:?}") };
        assert_eq!(interval, "5 h 30 min to 17 h 30 min");
    }

    #[test]
    fn a_drive_that_streams_alone_only_says_so() {
        let setting = |queue_depth, block_bytes| StreamSetting { queue_depth, block_bytes };
        let streaming = Streaming {
            best: setting(1, Bytes::from_kib(64)),
            usual: setting(4, Bytes::from_mib(1)),
            usual_loss: 0.4,
            usual_loss_low: 0.382,
            usual_loss_high: 0.421,
        };
        let mut rate = rate_of(150e6, RateOf::Edge { is_whole: true, may_rotate: true });
        rate.streaming = Some(streaming);
        assert_eq!(
            statement(&known(rate), FindingCode::ReadRateOuter),
            "Sequential reads run at 150 MB/s at the start of the drive. Measured with 1 × 64 KiB: 4 × 1 MiB loses \
             40.0 % (38.2 to 42.1). The drive does not stream with several requests in flight."
        );
    }

    /// Of a stick of which Linux says that it rotates: "at the outer diameter".
    #[test]
    fn only_what_may_rotate_has_a_diameter() {
        let link = Some(Link { name: "USB 5 Gbit/s".into(), bytes_per_second_max: None });
        let target = TargetFacts { rotational: Some(true), link, ..target() };
        for (may_rotate, place) in [(true, "at the outer diameter."), (false, "at the start of the drive.")] {
            let edge = known(rate_of(150e6, RateOf::Edge { is_whole: true, may_rotate }));
            let said =
                SequentialRate::statement(&edge, FindingCode::ReadRateOuter, &Subject::new(&target, &[]));
            assert!(said.ends_with(place), "{said}");
        }
    }

    #[test]
    fn rates_name_their_place() {
        let edge = known(rate_of(150e6, RateOf::Edge { is_whole: true, may_rotate: true }));
        assert_eq!(
            statement(&edge, FindingCode::ReadRateOuter),
            "Sequential reads run at 150 MB/s at the start of the drive."
        );
        let of = RateOf::Pass {
            range: ByteRange::whole(Bytes::new(500_000_000_000)),
            sample: Bytes::from_mib(64),
            is_rate_limited: false,
        };
        assert_eq!(
            statement(&known(rate_of(111e6, of)), FindingCode::WriteRateMean),
            "Sequential writes average 111 MB/s over the whole drive, in bursts of 64 MiB."
        );
        let quarter = RateOf::ImportedEdge(ByteRange::whole(Bytes::new(125_000_000_000)));
        assert_eq!(
            statement(&known(rate_of(40e6, quarter)), FindingCode::ReadRateOuter),
            "Sequential reads run at 40.0 MB/s in the first 25 % of the drive."
        );
    }

    /// Three quiet disks behind USB bridges, which ask too late for the next block, were told under other load.
    #[test]
    fn why_a_drive_may_be_faster_is_said() {
        let slowed = |slowed| {
            let of = RateOf::Edge { is_whole: true, may_rotate: true };
            let rate = SequentialRate { slowed: Some(slowed), ..rate_of(22.4e6, of) };
            statement(&known(rate), FindingCode::ReadRateOuter)
        };
        assert_eq!(
            slowed(Slowed::ByLostRevolutions),
            "Sequential reads run at 22.4 MB/s at the start of the drive. Some samples lost a revolution, to other I/O or to late requests: without \
             that, throughput is higher."
        );
        assert_eq!(
            slowed(Slowed::ByOtherLoad),
            "Sequential reads run at 22.4 MB/s at the start of the drive. Other load on the drive or host was seen meanwhile: alone it may \
             be faster."
        );
    }

    #[test]
    fn a_full_pass_has_its_time() {
        let pass = FullPassTime {
            time: Estimate::exact(8040.0),
            operation: Operation::Read,
            range: ByteRange::whole(Bytes::new(500_000_000_000)),
            slowed: None,
            is_rate_limited: false,
            covers_bytes: Bytes::new(500_000_000_000),
            covers_capacity: true,
            measured_as_a_whole: None,
            read: Some(8040.0),
            write: None,
            imported: None,
            basis: None,
        };
        assert_eq!(
            statement(&known(pass), FindingCode::FullPassTime),
            "Reading the whole drive once takes 2 h 14 min."
        );
    }

    #[test]
    fn a_slow_region_names_its_latency_and_the_chance() {
        let region = SlowRegion {
            first_byte: 200_000_000_000,
            bytes: 2_147_483_648,
            within_first_byte: 0,
            within_end_byte: 0,
            times_slower: 4.9,
            kind: SlowKind::WeakSectors,
            longest_s: 0.8129,
            visits: 4,
        };
        let slow = SlowRegions {
            count: 1,
            regions: vec![region],
            would_have_been_met: vec![
                SampledSize { bytes: Bytes::from_mib(64), probability: 0.345 },
                SampledSize { bytes: Bytes::from_gib(1), probability: 0.999_99 },
            ],
            share_max: Some(0.0123),
            disturbed_visits: 0,
            not_settled: 0,
            latency_classes: LatencyClasses {
                below_10_ms: 1,
                to_50_ms: 0,
                to_200_ms: 0,
                to_500_ms: 0,
                from_500_ms: 1,
            },
        };
        assert_eq!(
            statement(&known(slow), FindingCode::SlowRegions),
            "One region is slow: 2.15 GB at byte 200,000,000,000, 4.90 × slower than around it (weak sectors, longest \
             request 812 ms). Chance of detecting one: 34.5 % if it is 64 MiB, 99.99 % if it is 1 GiB. Scattered slow blocks \
             cover at most another 1.23 % of the drive (95 % confidence)."
        );
    }

    #[test]
    fn what_holds_nothing_is_told_by_what_it_is_quicker_at() {
        let told = |quicker| {
            let found = UnmappedRanges { ranges: Vec::new(), share: 0.4213, quicker };
            statement(&known(found), FindingCode::UnmappedRanges)
        };
        assert_eq!(
            told(Quicker::Streams { mapped_bytes_per_second: 2.6e9, unmapped_bytes_per_second: 6.8e9 }),
            "About 42.1 % of the drive reads at 6.80 GB/s, the rest at 2.60 GB/s: the fast part was never written, was discarded, or is cached."
        );
        assert_eq!(
            told(Quicker::SingleReads { mapped_read_s: 133e-6, unmapped_read_s: 27.6e-6 }),
            "Random reads take 27.6 µs in about 42.1 % of the drive, and 133 µs in the rest: the fast part was never written, was \
             discarded, or is cached."
        );
    }

    #[test]
    fn a_link_is_named() {
        let limit = InterfaceLimit {
            rate: Estimate::exact(33.9e6),
            link: "USB 480 Mbit/s".into(),
            reach: None,
            imported: None,
        };
        assert_eq!(
            statement(&known(limit), FindingCode::InterfaceLimit),
            "The link (USB 480 Mbit/s) limits the drive to 33.9 MB/s: a disk is not as fast at its end as at its start."
        );
    }

    #[test]
    fn other_load_hides_what_was_asked_for() {
        let load = SurveyUnknown::OtherLoad(OtherLoad::Late { samples: 40, of: 600 });
        assert_eq!(
            why::<SlowRegions>(&load, FindingCode::SlowRegions),
            "Inconclusive: other load on the drive hides slow regions: 40 of 600 samples were slow for a moment, \
             not because of their offset. Repeat while nothing else uses the drive."
        );
        let few = SurveyUnknown::TooFewAtEdge { start: true, needed: 2 };
        assert_eq!(
            why::<SequentialRate>(&few, FindingCode::ReadRateOuter),
            "Inconclusive: fewer than 2 usable samples at the start of the range. Measure longer."
        );
    }
}
