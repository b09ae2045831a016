//! Words for the findings of files and folders.

use super::numbers::{number, rate, short_time, size};
use super::{Group, Reason, Subject, Wording};
use model::file_work::FileTask;
use model::finding::{
    FilePart, FilePlaceEffect, FilePlacement, FilePlacementUnknown, FileRate, FileRateUnknown, FindingCode,
    Known, PlaceLimit, TaskEffect, TooFewCommonRounds,
};
use model::units::Bytes;

impl Wording for FileRate {
    const PLACE: (Group, &'static str) = (Group::Files, "Delete, random names");

    fn label(code: FindingCode) -> &'static str {
        match code {
            FindingCode::FileWriteRate => "Sequential write",
            FindingCode::FileRewriteRate => "Sequential rewrite",
            FindingCode::FileReadRate => "Sequential read",
            FindingCode::FilePerByteWriteRate => "Write, byte by byte",
            FindingCode::FilePerByteReadRate => "Read, byte by byte",
            FindingCode::FileSeeks => "Random seeks",
            FindingCode::FileCreateRate => "Create, sequential names",
            FindingCode::FileStatRate => "Stat, sequential names",
            FindingCode::FileOpenRate => "Open and read, sequential names",
            FindingCode::FileDeleteRate => "Delete, sequential names",
            FindingCode::FileRandomCreateRate => "Create, random names",
            FindingCode::FileRandomStatRate => "Stat, random names",
            FindingCode::FileRandomOpenRate => "Open and read, random names",
            _ => Self::PLACE.1,
        }
    }

    fn statement(known: &Known<FileRate>, _: FindingCode, _: &Subject<'_>) -> String {
        let file = &known.conclusion;
        let mut sentences = vec![in_folder((!file.is_only_folder).then_some(&file.folder)) + &what(file)];
        if let Some(processor) = file.processor {
            sentences.push(format!(
                "CPU {:.0} %, {:.0} % in the kernel.",
                processor.percent, processor.kernel_percent
            ));
        }
        if file.is_processor_bound() {
            sentences.push("The CPU is the limit, not the drive.".into());
        }
        if let (Some(median_s), Some(max_s)) = (file.latency_p50_s, file.latency_max_s) {
            let (median, max) = (short_time(median_s), short_time(max_s));
            sentences.push(format!("Latency of a call: median {median}, maximum {max}."));
        }
        sentences.join(" ")
    }
}

impl Reason for FileRateUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        match self {
            Self::TooFewRounds { folder, rounds } => format!(
                "{}Inconclusive: {rounds} rounds completed, and fewer than 2 have no interval.",
                in_folder(folder.as_ref())
            ),
            Self::Cached { folder, share } => format!(
                "{}Inconclusive: {:.0} % of the file stayed in the page cache although it was dropped. Memory answered, not the drive.",
                in_folder(folder.as_ref()),
                100.0 * share
            ),
        }
    }
}

/// "/data: ", or nothing for the only folder.
fn in_folder(folder: Option<&String>) -> String {
    match folder {
        Some(folder) => format!("{folder}: "),
        None => String::new(),
    }
}

/// "1 GiB in blocks of 1 MiB, including the flush."
fn what(rate: &FileRate) -> String {
    let bytes = rate.file_bytes.unwrap_or(Bytes::ZERO);
    let is_written = rate.task.changes_data();
    let flush = if is_written { ", including the flush" } else { "" };
    let mut text = match rate.task {
        FileTask::PerByteWrite | FileTask::PerByteRead => {
            format!("{bytes}, one call per byte into a 4 KiB buffer{flush}.")
        }
        FileTask::Seeks => format!(
            "{} threads read {} each in a file of {bytes}, 1 in 10 written back{flush}.",
            rate.threads, rate.block
        ),
        task if task.is_of_names() => {
            let size = if rate.block == Bytes::ZERO {
                "empty files".into()
            } else {
                format!("files up to {}", rate.block)
            };
            let folders =
                if rate.folders == 1 { "1 folder".into() } else { format!("{} folders", rate.folders) };
            format!("{} {size} in {folders}, {} rounds{flush}.", rate.amount, rate.rounds)
        }
        _ => format!("{bytes} in blocks of {}{flush}.", rate.block),
    };
    match rate.without_flush {
        Some(calls) if rate.task.is_of_names() => text += &format!(" {}/s without the flush.", number(calls)),
        Some(calls) if matches!(rate.task, FileTask::BlockWrite | FileTask::Rewrite) => {
            text += &format!(" {} without the flush.", self::rate(calls));
        }
        _ => {}
    }
    let is_large_read = matches!(rate.task, FileTask::PerByteRead | FileTask::BlockRead);
    if is_large_read && rate.cached_share.is_none() {
        text += " Whether the page cache held it is unknown.";
    }
    text
}

impl Wording for FilePlacement {
    const PLACE: (Group, &'static str) = (Group::Files, "File extents");
    const COUNTED: Option<(&'static str, &'static str)> = Some(("extent", "extents"));

    fn statement(known: &Known<FilePlacement>, _: FindingCode, _: &Subject<'_>) -> String {
        let file = &known.conclusion;
        let folder = in_folder((!file.is_only_folder).then_some(&file.folder));
        let fragments = match file.fragments {
            0 | 1 => "The test file is contiguous".to_string(),
            fragments => format!("The test file has {fragments} extents"),
        };
        let place = match (file.disks.as_slice(), &file.unplaced) {
            ([], Some(why)) => format!(". Its place on a disk is unknown: {why}"),
            ([], None) => String::new(),
            ([part], None) => format!(
                ", centred at {} ({} %) on {} ({}){}",
                size(part.middle as u64),
                number(100.0 * part.position),
                part.disk,
                size(part.disk_bytes),
                if file.is_on_disk { diameter(part) } else { "" }
            ),
            (parts, unplaced) => {
                let mut names = Vec::new();
                for part in parts {
                    let (bytes, percent) = (size(part.bytes), number(100.0 * part.position));
                    names.push(format!("{bytes} on {} at {percent} %", part.disk));
                }
                let rest = match unplaced {
                    Some(why) => format!(". The rest: {why}"),
                    None => String::new(),
                };
                format!(", on {} disks: {}{rest}", parts.len(), names.join(", "))
            }
        };
        format!("{folder}{fragments}{place}.")
    }
}

impl Reason for FilePlacementUnknown {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        format!("{}{}.", in_folder(self.folder.as_ref()), self.why)
    }
}

fn diameter(part: &FilePart) -> &'static str {
    match part.position {
        position if position < 0.1 => ", near the outer diameter",
        position if position > 0.9 => ", near the inner diameter",
        _ => "",
    }
}

impl Wording for FilePlaceEffect {
    const PLACE: (Group, &'static str) = (Group::Files, "Fastest/slowest folder");

    fn statement(known: &Known<FilePlaceEffect>, _: FindingCode, _: &Subject<'_>) -> String {
        let FilePlaceEffect { tasks, limit, .. } = &known.conclusion;
        let mut sentences = differing(tasks);
        let same: Vec<&str> =
            tasks.iter().filter(|task| !task.differs).map(|task| task.task.words()).collect();
        if !same.is_empty() && same.len() < tasks.len() {
            sentences.push(format!("No significant difference: {}.", same.join("; ")));
        }
        sentences.extend(limit.as_ref().map(limit_sentence));
        sentences.join(" ")
    }

    fn advice(known: &Known<FilePlaceEffect>, _: FindingCode, _: &Subject<'_>) -> Option<String> {
        let read = known.conclusion.tasks.iter().find(|effect| effect.task == FileTask::BlockRead)?;
        if !read.differs {
            return None;
        }
        Some(format!("Put large files that are read often into {}.", read.fastest))
    }
}

impl Reason for TooFewCommonRounds {
    fn why(&self, _: FindingCode, _: &Subject<'_>) -> String {
        "Inconclusive: fewer than 3 rounds in which all folders were read.".into()
    }
}

/// "/outer over /inner: read in blocks 1.50 ×; …" for each pair of folders.
fn differing(tasks: &[TaskEffect]) -> Vec<String> {
    let mut pairs: Vec<((&str, &str), Vec<String>)> = Vec::new();
    for effect in tasks {
        if !(effect.differs) {
            continue;
        }
        let pair = (effect.fastest.as_str(), effect.slowest.as_str());
        let text = format!("{} {} ×", effect.task.words(), number(effect.ratio.value));
        match pairs.iter_mut().find(|(known, _)| *known == pair) {
            Some((_, texts)) => texts.push(text),
            None => pairs.push((pair, vec![text])),
        }
    }
    if pairs.is_empty() {
        return vec!["No task differs significantly between the folders.".into()];
    }
    pairs.sort_unstable();
    let mut sentences = Vec::new();
    for ((fastest, slowest), texts) in pairs {
        sentences.push(format!("Faster in {fastest} than in {slowest}: {}.", texts.join("; ")));
    }
    sentences
}

fn limit_sentence(limit: &PlaceLimit) -> String {
    match *limit {
        PlaceLimit::DifferentDisks => "The folders are on different disks.".into(),
        PlaceLimit::BeforeMedium { is_processor, expected, bytes_per_second, is_disk } => {
            let limit = if is_processor { "the CPU" } else { "the link" };
            let disk = if is_disk { "The disk" } else { "If it rotates, the disk" };
            format!(
                "{disk} should read at least {} × as fast at the outer place, but does not: {limit} is the limit, at {}.",
                number(expected),
                rate(bytes_per_second)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{advice, known, statement, why};
    use super::*;
    use model::estimate::Estimate;
    use model::finding::ProcessorShare;

    fn block_write() -> FileRate {
        FileRate {
            rate: Estimate::exact(120e6),
            folder: "/data".into(),
            file_system: "ext4".into(),
            task: FileTask::BlockWrite,
            rounds: 3,
            processor: Some(ProcessorShare { percent: 12.0, program_percent: 3.0, kernel_percent: 9.0 }),
            latency_p50_s: Some(0.0002),
            latency_p90_s: None,
            latency_p99_s: None,
            latency_max_s: Some(0.03),
            without_flush: Some(180e6),
            cached_share: None,
            file_bytes: Some(Bytes::from_gib(1)),
            block: Bytes::from_mib(1),
            folders: 1,
            threads: 1,
            amount: 3e9,
            is_only_folder: true,
        }
    }

    #[test]
    fn a_rate_says_what_was_done_and_what_it_cost() {
        assert_eq!(
            statement(&known(block_write()), FindingCode::FileWriteRate),
            "1 GiB in blocks of 1 MiB, including the flush. 180 MB/s without the flush. CPU 12 %, 9 % in the kernel. Latency of a \
             call: median 200 µs, maximum 30.0 ms."
        );
        let names = FileRate {
            task: FileTask::CreateInOrder,
            amount: 300.0,
            block: Bytes::ZERO,
            is_only_folder: false,
            without_flush: None,
            processor: Some(ProcessorShare { percent: 95.0, program_percent: 3.0, kernel_percent: 92.0 }),
            latency_max_s: None,
            ..block_write()
        };
        assert_eq!(
            statement(&known(names), FindingCode::FileCreateRate),
            "/data: 300 empty files in 1 folder, 3 rounds, including the flush. CPU 95 %, 92 % in the kernel. The CPU is the \
             limit, not the drive."
        );
        let cached = FileRateUnknown::Cached { folder: None, share: 0.3 };
        assert!(
            why::<FileRate>(&cached, FindingCode::FileReadRate)
                .contains("30 % of the file stayed in the page cache")
        );
    }

    #[test]
    fn a_file_is_at_a_place() {
        let part = FilePart {
            disk: "sda".into(),
            disk_bytes: 500_000_000_000,
            bytes: 1 << 30,
            first: 0,
            end: 1 << 30,
            position: 0.5,
            middle: 250e9,
        };
        let file = FilePlacement {
            folder: "/data".into(),
            extents: 3,
            fragments: 1,
            is_contiguous: true,
            disks: vec![part],
            unplaced: None,
            is_on_disk: true,
            is_only_folder: true,
        };
        assert_eq!(
            statement(&known(file), FindingCode::FileLayout),
            "The test file is contiguous, centred at 250 GB (50.0 %) on sda (500 GB)."
        );
    }

    #[test]
    fn folders_are_compared_task_by_task() {
        let effect = |task, differs| TaskEffect {
            task,
            fastest: "/outer".into(),
            slowest: "/inner".into(),
            ratio: Estimate::exact(1.5),
            differs,
        };
        let limit = PlaceLimit::BeforeMedium {
            is_processor: false,
            expected: 1.4,
            bytes_per_second: 33.4e6,
            is_disk: true,
        };
        let tasks = vec![effect(FileTask::BlockRead, true), effect(FileTask::Seeks, false)];
        let compared =
            known(FilePlaceEffect { ratio: Estimate::exact(1.5), tasks, places: vec![], limit: Some(limit) });
        assert_eq!(
            statement(&compared, FindingCode::FilePlaceEffect),
            "Faster in /outer than in /inner: read in blocks 1.50 ×. No significant difference: seek and read, 1 in 10 written \
             back. The disk should read at least 1.40 × as fast at the outer place, but does not: the link is the limit, at 33.4 MB/s."
        );
        assert_eq!(
            advice(&compared, FindingCode::FilePlaceEffect).as_deref(),
            Some("Put large files that are read often into /outer.")
        );
    }
}
