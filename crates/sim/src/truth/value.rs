//! What is said of a drive for one code.

use crate::flush::FlushPolicy;
use crate::link::LinkNumbers;
use crate::truth::data::TruthData;
use model::finding::FindingCode;

#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    pub code: FindingCode,
    pub value: TruthValue,
    pub data: TruthData,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TruthValue {
    Number(f64),
    Word(&'static str),
    /// There is none: a detector must not report one.
    Absent,
    /// It depends on what was written before; the details say how.
    Depends(&'static str),
}

impl Truth {
    pub(super) fn new(code: FindingCode, value: TruthValue) -> Truth {
        Truth { code, value, data: TruthData::None }
    }

    pub(super) fn number(code: FindingCode, value: f64) -> Truth {
        Truth::new(code, TruthValue::Number(value))
    }

    pub(super) fn word(code: FindingCode, word: &'static str) -> Truth {
        Truth::new(code, TruthValue::Word(word))
    }

    pub(super) fn absent(code: FindingCode) -> Truth {
        Truth::new(code, TruthValue::Absent)
    }

    pub(super) fn depends(code: FindingCode, why: &'static str) -> Truth {
        Truth::new(code, TruthValue::Depends(why))
    }

    pub(super) fn with(self, data: TruthData) -> Truth {
        Truth { data, ..self }
    }

    /// That of its code, but for a limit in bytes.
    pub fn unit(&self) -> Option<&'static str> {
        match self.data {
            TruthData::Limit { by: "bytes", .. } => Some("B/s"),
            _ => self.code.unit(),
        }
    }

    pub fn value(&self) -> Option<f64> {
        match self.value {
            TruthValue::Number(value) => Some(value),
            TruthValue::Word(_) | TruthValue::Absent | TruthValue::Depends(_) => None,
        }
    }
}

pub fn of_code(truths: &[Truth], code: FindingCode) -> Option<&Truth> {
    truths.iter().find(|truth| truth.code == code)
}

/// Access time is that of a read of this size.
pub(super) const ACCESS_BYTES: u32 = 4096;
/// The span effect is that of this share of a drive.
pub(super) const SPAN_SHARE: f64 = 0.01;

pub(super) fn takes_one_command(link: &LinkNumbers) -> bool {
    link.queue_depth_max == 1
}

pub(super) fn span_effect(access_s: f64, access_within_s: f64) -> Truth {
    Truth::number(FindingCode::SpanEffect, access_s / access_within_s)
}

/// A cache of so many bytes that a flush writes out.
pub(super) fn write_cache(bytes: u64) -> Truth {
    match bytes {
        0 => Truth::absent(FindingCode::WriteCache),
        _ => Truth::number(FindingCode::WriteCache, bytes as f64),
    }
}

/// What a flush does, where there is a cache; without one everything is on the medium.
pub(super) fn flush(policy: Option<FlushPolicy>) -> Truth {
    let word = match policy {
        None | Some(FlushPolicy::Honoured) => "honoured",
        Some(FlushPolicy::Ignored) => "ignored",
        Some(FlushPolicy::Protected) => "protected",
    };
    Truth::word(FindingCode::FlushHonoured, word)
}

/// `stripe-layout` of a drive that is not several.
pub(super) fn one_drive() -> Truth {
    members("none", 1)
}

pub(super) fn members(kind: &'static str, count: usize) -> Truth {
    let data = TruthData::Members { kind, chunk_bytes: None };
    Truth::number(FindingCode::StripeLayout, count as f64).with(data)
}
