//! Runs set side by side: which figures differ, where a drive became slower, and what speaks against comparing at all.
//! ```text
//! runs ─┬► caveats   what differs besides the drives
//!       ├► figures   each finding's number in each run ─► ratios ─► which stand
//!       ├► contradictions   runs of one drive, alike in all else ─► what cannot both be true
//!       └► changes   runs of one drive ─► visits ─► cells ─► ratios ─► which stand ─► regions
//! ```
//! Many things are compared at once, and one in twenty would differ by chance. Of figures and of cells, each on their own, the
//! rule of Benjamini and Hochberg ([`multiplicity`]) decides which differences stand.

mod caveats;
mod cells;
mod changes;
mod compared_run;
mod contradictions;
mod figures;
pub(crate) mod multiplicity;

pub use compared_run::ComparedRun;
use model::comparison::Comparison;

pub fn compare(runs: &[ComparedRun<'_>]) -> Comparison {
    let figures = figures::of(runs);
    Comparison {
        caveats: caveats::of(runs),
        contradictions: contradictions::of(runs, &figures),
        figures,
        changes: changes::of(runs),
    }
}
