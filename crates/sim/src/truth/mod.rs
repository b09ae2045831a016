//! What a virtual drive really is, by finding code: computed from its profile, never from running it. Whoever looks for
//! it in the records of a run must not be able to see this; only what scores them may.
//!
//! | medium | exact | approximate, and by how much | left out, and why |
//! |---|---|---|---|
//! | `[constant]` | all of it | | |
//! | `[zoned]` | all of it | | gain and knee: no closed form |
//! | `[disk]` | rates, zones, pass, turn, seeks, layout, caches | access time and span effect: 1000 places stand for all, 0.1 % | gain and knee: no closed form |
//! | `[disk]` with `[smr]` | the same, of a clean drive; the size of the media cache | cliff and rates of random writes: see [`crate::smr::truth`] | |
//! | `[flash]` | rates and levels of a fresh drive written once, in order or at random | steady state: 3 % | gain and knee; reading what was never written |
//! | `[volume]` | members, chunk, capacity, sequential rates of a stripe: 3 % | single reads of drives of one make | reading a mirror: it depends on which disk is nearer, and on how far one may skip what the other reads |
//! | a link of one command | gain and knee: there is none | | |
//!
//! A link clips the rates: what is said is what a host can see with requests of 1 MiB, four at a time.

mod disk;
mod flash;
mod medium;
mod mishaps;
mod stretches;
mod volume;

use crate::ProfileError;
use crate::flaw::Flaw;
use crate::link::LinkNumbers;
use crate::profile::{Medium, Profile, preset};
use crate::zoned::ZonedProfile;
use model::finding::{Datum, FindingCode, Name};
use stretches::Stretch;

/// What is true of a drive for one code.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// What it is about.
    pub code: FindingCode,
    /// What is true.
    pub answer: Answer,
    /// Details by name, as findings have them.
    pub data: Vec<(Name, Datum)>,
}

/// What is true.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A number in the unit of the code.
    Number(f64),
    /// A word, such as `cmr`.
    Word(&'static str),
    /// There is none: it must not be found with a value.
    Absent,
    /// It depends on what the drive went through before; the details say how.
    Depends(&'static str),
}

impl Truth {
    fn number(code: FindingCode, value: f64) -> Truth {
        Truth { code, answer: Answer::Number(value), data: Vec::new() }
    }

    fn absent(code: FindingCode) -> Truth {
        Truth { code, answer: Answer::Absent, data: Vec::new() }
    }

    fn with(mut self, name: &'static str, datum: Datum) -> Truth {
        self.data.push((name.into(), datum));
        self
    }

    /// The number, if it is one.
    pub fn value(&self) -> Option<f64> {
        match self.answer {
            Answer::Number(value) => Some(value),
            _ => None,
        }
    }
}

/// The small request of an access time, in bytes.
const ACCESS_BYTES: u32 = 4096;
/// The part of a drive of which the span effect is said.
const SPAN_SHARE: f64 = 0.01;

/// What is true of the drive of that name.
///
/// # Errors
/// When no drive of that name comes with the program.
pub fn truth(name: &str) -> Result<Vec<Truth>, ProfileError> {
    let profile = preset(name)?;
    truth_of(&profile).map_err(|flaw| ProfileError::Unsound {
        file: format!("{name}.toml"),
        line: None,
        reason: flaw.to_string(),
    })
}

/// What is true of the drive of a profile. A code that is not among the answers is one of which nothing is said: there
/// is no closed form, or the experiment that asks for it does not fit the drive.
///
/// # Errors
/// When such a drive cannot be.
pub fn truth_of(profile: &Profile) -> Result<Vec<Truth>, Flaw> {
    profile.check()?;
    let mut truths = without_faults(profile, 0)?;
    if !profile.faults.is_empty() {
        truths.retain(|truth| truth.code != FindingCode::LatencyModes);
    }
    let capacity = profile.capacity()?;
    if !answers_at_once(profile)? {
        truths.extend(mishaps::truths(profile, capacity)?);
    }
    truths.sort_by_key(|truth| truth.code);
    Ok(truths)
}

/// What is true of a disk by its rates. Its gain by concurrency has no closed form and is left out.
pub fn zoned(profile: &ZonedProfile) -> Vec<Truth> {
    medium::zoned(profile, None)
}

/// A drive that answers at once has no mechanism: nothing is true of it.
fn answers_at_once(profile: &Profile) -> Result<bool, Flaw> {
    Ok(matches!(profile.medium()?, Medium::Constant(constant) if constant.latency_us == 0.0))
}

fn without_faults(profile: &Profile, depth: u32) -> Result<Vec<Truth>, Flaw> {
    let capacity = profile.capacity()?;
    let link = profile.link.as_ref().map(|link| link.numbers()).transpose()?;
    let link = link.as_ref();
    if answers_at_once(profile)? {
        return Ok(Vec::new());
    }
    let mut truths = match profile.medium()? {
        Medium::Constant(constant) => medium::constant(constant, capacity, link),
        Medium::Zoned(zoned) => medium::zoned(zoned, link),
        Medium::Disk(disk) => disk::truths(disk, capacity, link),
        Medium::Shingled(disk, smr) => disk::shingled_truths(disk, smr, capacity, link),
        Medium::Flash(flash) => flash::truths(flash, capacity, link),
        Medium::Volume(volume) => volume::truths(volume, capacity, link, depth)?,
    };
    truths.extend(one_command_at_a_time(link));
    Ok(truths)
}

/// Where the link carries one command at a time, whatever else is asked for waits at the host: more requests at once bring
/// nothing.
fn one_command_at_a_time(link: Option<&LinkNumbers>) -> Vec<Truth> {
    if link.is_none_or(|link| link.queue_depth_max > 1) {
        return Vec::new();
    }
    vec![Truth::number(FindingCode::ConcurrencyGain, 1.0), Truth::number(FindingCode::ConcurrencyKnee, 1.0)]
}

/// How much faster single random reads are within the first hundredth.
fn span_effect(access_s: f64, access_within_s: f64) -> Truth {
    Truth::number(FindingCode::SpanEffect, access_s / access_within_s)
}

/// A drive that is not several: what `stripe-layout` says of it.
fn one_drive() -> Truth {
    Truth::number(FindingCode::StripeLayout, 1.0).with("kind", Datum::Text("none".into()))
}

/// The stretches of one rate of whatever a member is.
fn member_stretches(profile: &Profile, depth: u32) -> Result<Vec<Stretch>, Flaw> {
    let capacity = profile.capacity()?;
    let link = profile.link.as_ref().map(|link| link.numbers()).transpose()?;
    let stretches = match profile.medium()? {
        Medium::Constant(constant) => medium::constant_stretches(constant, capacity),
        Medium::Zoned(zoned) => medium::zoned_stretches(zoned),
        Medium::Disk(disk) => disk::stretches(disk, capacity),
        Medium::Shingled(disk, smr) => disk::shingled_stretches(disk, smr, capacity),
        Medium::Flash(flash) => flash::stretches(flash, capacity),
        Medium::Volume(volume) => volume::stretches(volume, depth)?,
    };
    Ok(stretches.into_iter().map(|stretch| stretch.clipped(link.as_ref())).collect())
}

#[cfg(test)]
mod tests;
