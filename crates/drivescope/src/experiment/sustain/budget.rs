//! How much may be written, and what share of the drive that is.

use super::{SustainWish, Until};
use crate::experiment::Question;
use analysis::datasheet;
use model::units::Bytes;

/// The largest media cache of an SMR disk that was measured holds 25 GB (ST8000AS0002; Aghayev, Shafaei and Desnoyers, "Skylight",
/// 2015). Without a fall within twice that and a quarter more, a disk has none that is known.
const DISK_BYTES: Bytes = Bytes(64_000_000_000);
/// Flash cells of two bits and more that are written with one hold at most half of the drive, so that a cache of them is full before
/// the range has been written once.
const FLASH_FILLS: f64 = 1.0;
/// To come to a steady rate: SNIA writes twice the capacity before it looks (Performance Test Specification 2.0), and then as often
/// as it takes, up to four times for write saturation.
const STEADY_FILLS: f64 = 5.0;
/// The same on a disk with moving parts, where it depends on its media cache: so many times the largest one.
const STEADY_DISK_BYTES: Bytes = Bytes(160_000_000_000);

/// How much may be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budget {
    /// At most, to see a fall.
    pub bytes: Bytes,
    /// Whether somebody chose it, so that no fall makes it larger.
    pub is_asked: bool,
}

impl Budget {
    /// Whether what is asked for can be.
    ///
    /// # Errors
    /// A sentence for a person.
    pub fn check(question: &Question, wish: &SustainWish) -> Result<(), String> {
        if wish.bytes.is_some_and(|bytes| bytes < wish.block) {
            return Err("--bytes: that is less than one block, and shows nothing. Give more".into());
        }
        if wish.endurance.is_some() && endurance(question).is_none() {
            return Err(
                "--endurance: what this drive endures is not in the table of data sheets. Give --bytes instead".into()
            );
        }
        Ok(())
    }

    /// Of a question.
    pub fn of(question: &Question, wish: &SustainWish, mechanical: bool) -> Budget {
        let by_endurance =
            wish.endurance.and_then(|share| Some(Bytes((endurance(question)?.0 as f64 * share) as u64)));
        if let Some(bytes) = [wish.bytes, by_endurance].into_iter().flatten().min() {
            return Budget { bytes: bytes.max(wish.block), is_asked: true };
        }
        let fills = |fills: f64| Bytes((question.range.bytes().0 as f64 * fills) as u64);
        let bytes = match (mechanical, wish.until == Until::Steady) {
            (true, false) => DISK_BYTES.min(fills(FLASH_FILLS)),
            (true, true) => STEADY_DISK_BYTES,
            (false, false) => fills(FLASH_FILLS),
            (false, true) => fills(STEADY_FILLS),
        };
        Budget { bytes, is_asked: false }
    }

    /// "at most 64 GB, 0.032 drive fills and 0.1 % of what its maker promises it to endure".
    pub fn describe(&self, question: &Question) -> String {
        let bytes = self.bytes.0 as f64;
        let fills = bytes / question.facts.capacity.0.max(1) as f64;
        let endured = endurance(question).map_or(String::new(), |endured| {
            format!(
                " and {} % of what its maker promises it to endure",
                short(100.0 * bytes / endured.0 as f64)
            )
        });
        format!("{} drive fills{endured}", short(fills))
    }
}

/// What its maker promises a drive to endure.
fn endurance(question: &Question) -> Option<Bytes> {
    let sheet = datasheet::find(question.facts.model.as_deref()?)?;
    sheet.endurance_tbw.map(|terabytes| Bytes((terabytes * 1e12) as u64))
}

/// Two significant digits.
fn short(value: f64) -> String {
    let decimals = if value >= 9.95 || value <= 0.0 {
        0
    } else {
        (1.0 - value.log10().floor()).clamp(0.0, 6.0) as usize
    };
    format!("{value:.decimals$}")
}
