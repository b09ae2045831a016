//! The peers: how each is asked, and how its answer is read.

use import::{Figure, Format, Hints, Work, read};
use model::finding::FindingCode;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The rate of reads in order at the start of the drive, B/s.
    RateAtStart,
    RateAtEnd,
    /// The time of a single random read, s.
    AccessTime,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Figure(f64),
    Interval(f64, Option<f64>, Option<f64>),
    None(String),
}

pub struct Peer {
    pub question: Question,
    pub shown: String,
    pub why: &'static str,
    command: Vec<String>,
    format: Format,
    /// Text that the importer needs before what it printed: dd does not repeat its command.
    before: String,
    figure: &'static str,
}

impl Question {
    pub const ALL: [Question; 3] = [Question::RateAtStart, Question::RateAtEnd, Question::AccessTime];

    pub fn code(self) -> FindingCode {
        match self {
            Question::RateAtStart => FindingCode::ReadRateOuter,
            Question::RateAtEnd => FindingCode::ReadRateInner,
            Question::AccessTime => FindingCode::AccessTime,
        }
    }

    pub fn heading(self) -> &'static str {
        match self {
            Question::RateAtStart => "Reads in order at the start, MB/s",
            Question::RateAtEnd => "Reads in order at the end, MB/s",
            Question::AccessTime => "A single random read of 4 KiB, ms",
        }
    }
}

const BUFFERED: &str =
    "through the page cache: the kernel asks for pieces of its own size ahead of it and copies them";
const DIRECT: &str =
    "past the page cache: one request at a time, and the pause between two is part of the time";
const SEEKS: &str =
    "several seeks at a time, a tenth of them written back, within the file: no time of one read";

impl Peer {
    fn new(question: Question, format: Format, shown: &str, why: &'static str) -> Peer {
        let command = shown.split(' ').map(str::to_owned).collect();
        Peer { question, shown: shown.to_owned(), why, command, format, before: String::new(), figure: "" }
    }

    pub fn ask(&self) -> Answer {
        let Some((program, words)) = self.command.split_first() else {
            return Answer::None("no command".into());
        };
        let output = match Command::new(program).args(words).output() {
            Ok(output) => output,
            Err(error) => return Answer::None(format!("{program} cannot be started: {error}")),
        };
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // dd reports on standard error; of all others that is only talk.
        let text = match self.format {
            Format::Dd => format!("{}\n{err}", self.before),
            _ => out.into_owned(),
        };
        let imported = match read(&text, self.format, &Hints::default()) {
            Ok(imported) => imported,
            Err(error) => {
                return Answer::None(format!("{error}. {}", err.lines().last().unwrap_or("").trim()));
            }
        };
        for figure in imported.sets.iter().flat_map(|set| &set.figures) {
            if figure.name.contains(self.figure)
                && let Some(value) = value(self.question, figure)
            {
                return Answer::Figure(value);
            }
        }
        Answer::None(format!("it printed no such figure. {}", imported.notes.join(" ")))
    }
}

fn value(question: Question, figure: &Figure) -> Option<f64> {
    let Work::Transfer(transfer) = &figure.work else { return None };
    let (_, requests, bytes) = *transfer.moved.first()?;
    match question {
        Question::AccessTime => Some(figure.seconds / requests as f64),
        Question::RateAtStart | Question::RateAtEnd => Some(bytes as f64 / figure.seconds),
    }
}

fn dd(question: Question, target: &Path, skip_mib: u64, direct: bool, count: u64) -> Peer {
    let flag = if direct { " iflag=direct" } else { "" };
    let shown = format!("dd if={} of=/dev/null bs=1M count={count} skip={skip_mib}{flag}", target.display());
    let before = shown.clone();
    Peer { before, ..Peer::new(question, Format::Dd, &shown, if direct { DIRECT } else { BUFFERED }) }
}

fn fio(question: Question, target: &Path, rest: &str, why: &'static str) -> Peer {
    let shown = format!(
        "fio --name=a --filename={} --direct=1 --ioengine=io_uring --readonly --output-format=json {rest}",
        target.display()
    );
    Peer::new(question, Format::FioJson, &shown, why)
}

/// Those that measure a disk; `file` is the same drive without a loop device above it.
pub fn on_disk(device: &Path, file: &Path, capacity: u64) -> Vec<Peer> {
    use Question::{AccessTime, RateAtEnd, RateAtStart};
    let name = device.display();
    let (end_mib, end_gib) = ((capacity >> 20) - 1024, (capacity >> 30) - 1);
    let ahead = "several requests under way, so that the drive is never without one";
    let of_500 = "the mean of 500 reads over all of it";
    let at_end = format!("--rw=read --bs=1m --iodepth=4 --offset={end_mib}m --size=1g");
    let hdparm = |question, options: &str, why| {
        Peer::new(question, Format::Hdparm, &format!("hdparm {options}-t {name}"), why)
    };
    let ioping = |options: &str, why| {
        Peer::new(AccessTime, Format::Ioping, &format!("ioping {options}-i 0 -c 500 {name}"), why)
    };
    vec![
        dd(RateAtStart, device, 0, false, 768),
        dd(RateAtStart, device, 0, true, 768),
        dd(RateAtStart, file, 0, true, 768),
        fio(RateAtStart, device, "--rw=read --bs=1m --iodepth=1 --size=768m", DIRECT),
        fio(RateAtStart, device, "--rw=read --bs=1m --iodepth=4 --size=768m", ahead),
        hdparm(RateAtStart, "", BUFFERED),
        hdparm(RateAtStart, "--direct ", DIRECT),
        Peer::new(
            RateAtStart,
            Format::Zcav,
            &format!("timeout -s INT 25 stdbuf -oL zcav -b 256 {name}"),
            BUFFERED,
        ),
        dd(RateAtEnd, device, end_mib, true, 512),
        fio(RateAtEnd, device, &at_end, ahead),
        hdparm(RateAtEnd, &format!("--direct --offset {end_gib} "), DIRECT),
        fio(AccessTime, device, RANDOM_READS, "the mean of some hundred reads over all of it"),
        ioping("-D ", of_500),
        ioping("", BUFFERED),
    ]
}

const RANDOM_READS: &str = "--rw=randread --bs=4k --iodepth=1 --time_based --runtime=8";

/// bonnie++ needs a file system: one is made, used and left behind on the virtual drive.
pub fn bonnie(device: &Path, folder: &Path) -> Peer {
    let at = folder.join("file-system");
    let script = format!(
        "mkdir -p {at} && mkfs.ext4 -q -F -N 16384 -O ^has_journal -E lazy_itable_init=1,nodiscard {device} && mount {device} {at} \
         && bonnie++ -D -f -q -u root -d {at} -s 512M -r 256 -n 0 2>/dev/null; umount {at}",
        at = at.display(),
        device = device.display()
    );
    let why = "through ext4, in blocks of 8 KiB; with -D past the page cache above the loop device, but not past the one below it, which still held what had just been written";
    Peer {
        command: vec!["sh".into(), "-c".into(), script],
        figure: "block read",
        ..Peer::new(
            Question::RateAtStart,
            Format::Bonnie,
            "bonnie++ -D -f -s 512M -r 256 -n 0 (on ext4)",
            why,
        )
    }
}

pub fn on_memory(device: &Path) -> Vec<Peer> {
    use Question::{AccessTime, RateAtStart};
    let name = device.display();
    let (deep, alone) = ("several requests under way", "one request at a time");
    let random = "--rw=randread --bs=4k --iodepth=1 --time_based --runtime=3";
    vec![
        dd(RateAtStart, device, 0, false, 512),
        dd(RateAtStart, device, 0, true, 512),
        fio(RateAtStart, device, "--rw=read --bs=1m --iodepth=4 --size=512m --loops=4", deep),
        Peer::new(RateAtStart, Format::Hdparm, &format!("hdparm -t {name}"), BUFFERED),
        Peer::new(RateAtStart, Format::Hdparm, &format!("hdparm --direct -t {name}"), DIRECT),
        fio(AccessTime, device, random, alone),
        Peer::new(AccessTime, Format::Ioping, &format!("ioping -D -i 0 -c 2000 {name}"), alone),
    ]
}

/// bonnie++'s seeks are no single reads, which the page says beside the others.
pub fn of_seeks() -> &'static str {
    SEEKS
}
