//! How much may be written, and what share of the drive that is.

use super::request::{SustainRequest, Until};
use crate::Setup;
use crate::error::PlanError;
use analysis::datasheet;
use analysis::sustained::steady_bytes_max;
use model::units::Bytes;

/// The largest media cache of an SMR disk that was measured holds 25 GB (ST8000AS0002; Aghayev, Shafaei and Desnoyers, "Skylight",
/// 2015). Without a drop within twice that and a quarter more, a disk has none that is known.
const DISK_BYTES: Bytes = Bytes::new(64_000_000_000);
/// Cells of two bits and more that are written with one hold at most half of the drive: a cache of them is full within one pass.
const FLASH_FILLS: f64 = 1.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Budget {
    pub bytes: Bytes,
    /// Whether somebody chose it, so that no drop makes it larger.
    pub is_asked: bool,
}

impl Budget {
    /// Whether what is asked for can be. Fails when it is less than a block, or of an endurance that nobody knows.
    pub fn check(setup: &Setup, request: &SustainRequest) -> Result<(), PlanError> {
        if let Some(bytes) = request.bytes
            && bytes < request.block()
        {
            return Err(PlanError::LessThanABlock);
        }
        if request.endurance.is_some() && endurance(setup).is_none() {
            return Err(PlanError::EnduranceUnknown);
        }
        Ok(())
    }

    pub fn of(setup: &Setup, request: &SustainRequest, mechanical: bool) -> Budget {
        let by_endurance = match (request.endurance, endurance(setup)) {
            (Some(share), Some(endured)) => Some(Bytes::new((endured.as_f64() * share.get()) as u64)),
            _ => None,
        };
        if let Some(bytes) = [request.bytes, by_endurance].into_iter().flatten().min() {
            return Budget { bytes: bytes.max(request.block()), is_asked: true };
        }
        let bytes = match (mechanical, request.until == Until::Steady) {
            (_, true) => steady_bytes_max(setup.range.bytes(), mechanical),
            (true, false) => DISK_BYTES.min(fills(setup, FLASH_FILLS)),
            (false, false) => fills(setup, FLASH_FILLS),
        };
        Budget { bytes, is_asked: false }
    }

    /// "at most 64 GB, 0.032 drive fills and 0.1 % of its rated endurance".
    pub fn describe(&self, setup: &Setup) -> String {
        let bytes = self.bytes.as_f64();
        let fills = bytes / setup.facts.capacity.get().max(1) as f64;
        let endured = match endurance(setup) {
            Some(endured) => {
                let percent = short(100.0 * bytes / endured.as_f64());
                format!(" and {percent} % of its rated endurance")
            }
            None => String::new(),
        };
        format!("{} drive fills{endured}", short(fills))
    }
}

fn fills(setup: &Setup, fills: f64) -> Bytes {
    Bytes::new((setup.range.bytes().as_f64() * fills) as u64)
}

fn endurance(setup: &Setup) -> Option<Bytes> {
    let sheet = datasheet::find(setup.facts.model.as_deref()?)?;
    sheet.endurance_tbw.map(|terabytes| Bytes::new((terabytes * 1e12) as u64))
}

fn short(value: f64) -> String {
    let decimals = if value >= 9.95 || value <= 0.0 {
        0
    } else {
        (1.0 - value.log10().floor()).clamp(0.0, 6.0) as usize
    };
    format!("{value:.decimals$}")
}
