//! The formats, and which one a text is in: told by what stands in it, never by the name of its file alone.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Work};
use crate::fio_log::LogKind;
use crate::{
    as_ssd, atto, blackmagic, bonnie, dd, diskmark, fio_json, fio_log, fio_terse, fio_text, hdparm, hdtune,
    iometer, ioping, pg_test_fsync, winsat, yabs, zcav,
};
use model::request::Operation;
use model::words;

/// The longest text that is read, in bytes. Results are pages; only logs of single requests come near.
pub const TEXT_BYTES_MAX: u64 = 16 << 20;
/// The most lines, so that the figures of a hostile text fit into some hundred megabytes.
const LINES_MAX: usize = 500_000;

/// A hundred years: nobody measured for longer, and the nanoseconds of some such figures fit into 64 bits.
const SECONDS_MAX: f64 = 3.2e9;

/// So many figures are compared with each other to find repeats.
const LOOKED_AT_MAX: usize = 200;

words! {
    pub enum Format {
        /// bonnie++: its table or its CSV, 1.03, 1.9x and 2.00.
        Bonnie = "bonnie++",
        /// dd: one transcript or several, with progress or without.
        Dd = "dd",
        Zcav = "zcav",
        FioJson = "fio",
        /// fio: what it prints without further options.
        FioText = "fio-text",
        FioTerse = "fio-terse",
        FioBandwidthLog = "fio-bw-log",
        FioIopsLog = "fio-iops-log",
        FioLatencyLog = "fio-lat-log",
        Ioping = "ioping",
        Hdparm = "hdparm",
        DiskMark = "crystaldiskmark",
        Atto = "atto",
        HdTune = "hdtune",
        Iometer = "iometer",
        Yabs = "yabs",
        WinSat = "winsat",
        PgTestFsync = "pg_test_fsync",
        AsSsd = "as-ssd",
        /// Two typed rates of Blackmagic Disk Speed Test.
        Blackmagic = "blackmagic",
    }
}

impl Format {
    /// What tells a text of it, and what reads one.
    fn row(self) -> (fn(&str) -> bool, Reader) {
        match self {
            Format::Bonnie => (bonnie::fits, Reader::Text(bonnie::read)),
            Format::Dd => (dd::fits, Reader::Told(dd::read)),
            Format::Zcav => (zcav::fits, Reader::Told(zcav::read)),
            Format::FioJson => (fio_json::fits, Reader::Text(fio_json::read)),
            Format::FioText => (fio_text::fits, Reader::Text(fio_text::read)),
            Format::FioTerse => (fio_terse::fits, Reader::Text(fio_terse::read)),
            // What a log counts is only in the name of its file.
            Format::FioBandwidthLog => (fio_log::fits, Reader::Log(LogKind::Bandwidth)),
            Format::FioIopsLog => (fio_log::fits, Reader::Log(LogKind::Iops)),
            Format::FioLatencyLog => (fio_log::fits, Reader::Log(LogKind::Latency)),
            Format::Ioping => (ioping::fits, Reader::Text(ioping::read)),
            Format::Hdparm => (hdparm::fits, Reader::Text(hdparm::read)),
            Format::DiskMark => (diskmark::fits, Reader::Text(diskmark::read)),
            Format::Atto => (atto::fits, Reader::Text(atto::read)),
            Format::HdTune => (hdtune::fits, Reader::Text(hdtune::read)),
            Format::Iometer => (iometer::fits, Reader::Text(iometer::read)),
            Format::Yabs => (yabs::fits, Reader::Text(yabs::read)),
            Format::WinSat => (winsat::fits, Reader::Text(winsat::read)),
            Format::PgTestFsync => (pg_test_fsync::fits, Reader::Text(pg_test_fsync::read)),
            Format::AsSsd => (as_ssd::fits, Reader::Text(as_ssd::read)),
            Format::Blackmagic => (blackmagic::fits, Reader::Text(blackmagic::read)),
        }
    }

    fn log_kind(self) -> Option<LogKind> {
        match self.row() {
            (_, Reader::Log(kind)) => Some(kind),
            _ => None,
        }
    }

    fn is_named(self, file_name: &str) -> bool {
        matches!(self.log_kind(), Some(kind) if kind.is_named(file_name))
    }

    fn fits(self, text: &str) -> bool {
        (self.row().0)(text)
    }
}

enum Reader {
    Text(fn(&str) -> Result<Imported, ImportError>),
    Told(fn(&str, Option<Operation>) -> Result<Imported, ImportError>),
    Log(LogKind),
}

#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// The name of the file: fio's logs say there what they count.
    pub file_name: String,
    pub operation: Option<Operation>,
}

/// The formats of a text: of a post with results of several programs there are several.
/// Fails when it looks like none, or like a log that may count several things: then it says which `--as` to give.
pub fn recognised(text: &str, hints: &Hints) -> Result<Vec<Format>, ImportError> {
    let mut fitting: Vec<Format> = Format::ALL.into_iter().filter(|format| format.fits(text)).collect();
    if fitting.is_empty() {
        let names = Format::ALL.map(Format::name);
        return Err(ImportError::whole(format!(
            "the output of a program that is known here, and this looks like none. If it is one of these, say so with --as: {}",
            names.join(", ")
        )));
    }
    let logs: Vec<Format> = fitting.iter().copied().filter(|format| format.log_kind().is_some()).collect();
    if let Some(named) = logs.iter().find(|format| format.is_named(&hints.file_name)) {
        return Ok(vec![*named]);
    }
    fitting.retain(|format| format.log_kind().is_none());
    if fitting.is_empty() {
        let names: Vec<String> = logs.iter().map(|format| format!("--as {}", format.name())).collect();
        return Err(ImportError::whole(format!(
            "a text of one kind, and this may be of several. Say which: {}",
            names.join(" or ")
        )));
    }
    Ok(fitting)
}

/// Reads a text in all formats that it is in. What cannot be read beside something that can is a note.
pub fn read_all(text: &str, hints: &Hints) -> Result<Vec<Imported>, ImportError> {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for format in recognised(text, hints)? {
        match read(text, format, hints) {
            Ok(imported) => all.push(imported),
            Err(error) => failed.push((format, error)),
        }
    }
    match (all.first_mut(), failed.first()) {
        (None, Some((_, error))) => return Err(error.clone()),
        (Some(first), _) => {
            for (format, error) in failed {
                first.note(format!("What looks like {} was left out: {error}.", format.name()));
            }
        }
        (None, None) => {}
    }
    Ok(all)
}

/// Reads a text in a format. One that breaks off within its last line is taken without it, which is said.
pub fn read(text: &str, format: Format, hints: &Hints) -> Result<Imported, ImportError> {
    if text.matches(['\n', '\r']).count() > LINES_MAX {
        return Err(ImportError::whole(format!(
            "at most {LINES_MAX} lines, and there are more. Import a part of it"
        )));
    }
    let breaks_off = !text.is_empty() && !text.ends_with(['\n', '\r', '}', ']']);
    let before = match text.rfind('\n') {
        Some(at) => &text[..=at],
        None => "",
    };
    let last_line = text.matches('\n').count() + 1;
    let (mut imported, note) = match parsed(text, format, hints) {
        Err(error) if breaks_off && error.line == last_line => {
            // Where the rest cannot be read either, the first reason is the better one.
            let Ok(rest) = parsed(before, format, hints) else { return Err(error) };
            (rest, Some("The text breaks off within its last line, which was left out."))
        }
        Ok(imported) if breaks_off => {
            (imported, Some("The text does not end with the end of a line: its last number may be cut off."))
        }
        other => (other?, None),
    };
    imported.notes.extend(note.map(str::to_owned));
    keep_what_took_time(&mut imported);
    if has_repeats(&imported) {
        imported.note("The text has several results of the same kind. If they are of different drives, import each alone.");
    }
    if imported.sets.iter().all(|set| set.figures.is_empty()) {
        return Err(ImportError::whole(format!(
            "at least one result of {}, and there is none",
            imported.tool
        )));
    }
    Ok(imported)
}

fn parsed(text: &str, format: Format, hints: &Hints) -> Result<Imported, ImportError> {
    match format.row().1 {
        Reader::Text(read) => read(text),
        Reader::Told(read) => read(text, hints.operation),
        Reader::Log(kind) => fio_log::read(text, kind),
    }
}

fn has_repeats(imported: &Imported) -> bool {
    let mut seen = Vec::new();
    for figure in imported.sets.iter().flat_map(|set| &set.figures) {
        let Work::Transfer(transfer) = &figure.work else { continue };
        if figure.place.is_some() || seen.len() > LOOKED_AT_MAX {
            continue;
        }
        let shape = (&figure.name, transfer.block, transfer.queue_depth, transfer.threads);
        if seen.contains(&shape) {
            return true;
        }
        seen.push(shape);
    }
    false
}

/// A figure in no time, or in more than any measurement takes, is none; that some were is said.
fn keep_what_took_time(imported: &mut Imported) {
    let mut has_unsound = false;
    for set in &mut imported.sets {
        let before = set.figures.len();
        set.figures.retain(takes_time);
        has_unsound |= set.figures.len() < before;
    }
    if has_unsound {
        imported.note("Figures of nothing, or of no time or endless time, were left out.");
    }
}

fn takes_time(figure: &Figure) -> bool {
    figure.seconds > 0.0 && figure.seconds < SECONDS_MAX
}
