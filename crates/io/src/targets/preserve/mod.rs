//! Writing so that what was there comes back: each stretch is read, kept in a journal on another drive, synced, tested, given
//! back and compared.
//! ```text
//! save:       target ─read─► journal ─sync─► only now may the stretch be written
//! give back:  journal ─check─► target ─flush─► read again, compare ─► journal says so ─sync─► its room is free again
//! after a crash the same from the journal, as often as it takes: writing what was there twice changes nothing
//! ```
//! A journal is parsed as if an enemy had written it: what is outside the target, overlaps or was cut is never written, and a
//! journal that is damaged in its midst is never deleted.

mod frame;
mod give_back;
mod journal;
mod keeper;
mod medium;
mod origin;
mod place;
#[cfg(test)]
mod tests;

pub use give_back::{Given, give_back, written_by_others};
pub use journal::{Journal, JournalError, Parsed, Saved};
pub use keeper::{Keeper, SaveEnd, stretches};
pub use medium::{Medium, TargetMedium};
pub use origin::Origin;
pub use place::JournalPlace;

/// What is read and kept at once.
const CHUNK_BYTES: usize = 1 << 20;
