//! The virtual drives that are written in order: some with valleys whose truth is known, and some without.

use crate::failure::Failure;
use crate::truth::Truths;
use crate::virtual_drive::{Drive, Folder, named, text};
use model::finding::FindingCode;
use model::prng::Prng;
use model::request::Operation;
use model::units::MIB;
use sim::flash::profile::FlashProfile;
use sim::profile::Profile;
use sim::truth::TruthValue;

const WITHOUT: u64 = 500;
/// Of these, one in so many has somebody else who uses it now and then.
const LOADED: u64 = 5;
/// Stalls are drawn as long as valleys were seen to be. What comes more often than every two seconds is told as how evenly a drive writes.
const STALL_MS: (f64, f64) = (80.0, 800.0);
const GAP_S: (f64, f64) = (3.0, 40.0);
/// Somebody else comes every so many seconds and stays for this share of them.
const LOAD_EVERY_S: (f64, f64) = (3.0, 30.0);
const LOAD_SHARE: f64 = 0.04;
/// What the link carries has to be more than the flash takes, by that share: behind a slower link a buffer hides the flash.
const FASTER_THAN_LINK: f64 = 0.7;
const STREAM: u64 = u64::from_le_bytes(*b"benchval");

model::words! {
    pub enum Sort {
        ByTime = "valleys by time",
        ByBytes = "valleys by bytes",
        Quiet = "none",
        Loaded = "none, but other load now and then",
    }
}

impl Sort {
    pub fn options(self) -> &'static [&'static str] {
        match self {
            Sort::ByTime | Sort::ByBytes => &["--write", "--range", "0..24GB"],
            Sort::Quiet => &["--write", "--range", "0..1GB", "--passes", "3"],
            Sort::Loaded => &["--write", "--range", "0..4GB", "--passes", "5"],
        }
    }
}

pub struct Case {
    pub drive: Drive,
    pub sort: Sort,
}

/// So many with valleys, by time and by bytes in turns, and 500 without, with numbers from `first` on.
pub fn drawn(folder: &Folder, first: u64, count: u64) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    let mut numbers = first..;
    while (cases.len() as u64) < count {
        let number = numbers.next().expect("numbers do not end");
        let wanted = if cases.len() % 2 == 0 { Sort::ByTime } else { Sort::ByBytes };
        let drive = match wanted {
            Sort::ByTime => by_time(number)?,
            _ => by_bytes(folder, number)?,
        };
        cases.extend(drive.map(|drive| Case { drive, sort: wanted }));
    }
    let mut without = 0;
    let mut numbers = first..;
    while without < WITHOUT {
        let number = numbers.next().expect("numbers do not end");
        let is_loaded = without % LOADED == LOADED - 1;
        if let Some(case) = quiet(folder, number, is_loaded)? {
            cases.push(case);
            without += 1;
        }
    }
    Ok(cases)
}

fn by_time(number: u64) -> Result<Option<Drive>, Failure> {
    let drive = named(&format!("random-flash-{number}"))?;
    let housekeeping = drive.profile.flash.as_ref().and_then(|flash| flash.housekeeping.as_ref());
    let has_any = matches!(housekeeping, Some(known) if known.initial_fragmentation > 0.0);
    Ok(has_any.then_some(drive))
}

fn by_bytes(folder: &Folder, number: u64) -> Result<Option<Drive>, Failure> {
    let name = format!("random-flash-{number}");
    let drive = named(&name)?;
    let Some(flash) = drive.profile.flash.as_ref().filter(|flash| can_stall(flash, &drive.profile)) else {
        return Ok(None);
    };
    let mut prng = Prng::new(number, STREAM);
    let mut by_ratio = |(low, high): (f64, f64)| low * (high / low).powf(prng.unit());
    let (gap_s, stall_ms) = (by_ratio(GAP_S), by_ratio(STALL_MS));
    let every_mib = (gap_s * flash.dense_write_rate()) as u64 / MIB;
    let own = "[flash.map_flush]";
    let text = text(&name)?;
    let text = match text.find(own) {
        Some(at) => {
            let end = text[at + own.len()..].find('[').map_or(text.len(), |next| at + own.len() + next);
            format!("{}{}", &text[..at], &text[end..])
        }
        None => text,
    };
    let text = format!("{text}\n{own}\nevery_mib = {every_mib}\nstall_ms = {stall_ms:.1}\n");
    folder.drive(&format!("{name}-stalls"), &text).map(Some)
}

/// Whether a stall of it would be seen, and nothing else is in the way.
fn can_stall(flash: &FlashProfile, profile: &Profile) -> bool {
    let carried = profile
        .link
        .as_ref()
        .and_then(|link| link.numbers().ok())
        .map(|link| link.bytes_per_second(Operation::Write, 64 << 10, 1));
    flash.slc.is_none()
        && flash.housekeeping.is_none()
        && flash.thermal.is_none()
        && matches!(carried, Some(carried) if flash.dense_write_rate() < FASTER_THAN_LINK * carried)
}

fn quiet(folder: &Folder, number: u64, is_loaded: bool) -> Result<Option<Case>, Failure> {
    const FAMILIES: [&str; 3] = ["random-hard-disk", "random-shingled", "random-flash"];
    let name = format!("{}-{number}", FAMILIES[(number % 3) as usize]);
    let drive = named(&name)?;
    let truths = Truths::of(&drive.profile)?;
    let truth = truths.get(FindingCode::WriteValleys);
    if truth.is_none_or(|truth| truth.value != TruthValue::Absent) {
        return Ok(None);
    }
    if !is_loaded {
        return Ok(Some(Case { drive, sort: Sort::Quiet }));
    }
    let mut prng = Prng::new(number, STREAM);
    let every_s = LOAD_EVERY_S.0 * (LOAD_EVERY_S.1 / LOAD_EVERY_S.0).powf(prng.unit());
    let load = format!("queue_depth = 4\nseconds = {:.2}\nevery_s = {every_s:.2}", every_s * LOAD_SHARE);
    let drive = folder.loaded(&name, &format!("{name}-loaded"), &load)?;
    Ok(Some(Case { drive, sort: Sort::Loaded }))
}
