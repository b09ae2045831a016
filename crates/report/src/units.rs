//! In which units pages show throughput and amounts of data: decimal, as drives are sold, or binary, as operating systems count.
//!
//! Documents and stored runs are decimal, so that neither depends on who made them.

use std::cell::Cell;
use std::sync::OnceLock;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    #[default]
    Decimal,
    Binary,
}

/// A number in bytes or bytes per second divided by the first is one in the second.
pub(crate) type Unit = (f64, &'static str);

const KIBI: f64 = 1024.0;
const MEBI: f64 = KIBI * KIBI;
const GIBI: f64 = MEBI * KIBI;
const TEBI: f64 = GIBI * KIBI;
const PEBI: f64 = TEBI * KIBI;

const DECIMAL_AMOUNTS: [Unit; 6] =
    [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes")];
pub(crate) const BINARY_AMOUNTS: [Unit; 6] =
    [(PEBI, "PiB"), (TEBI, "TiB"), (GIBI, "GiB"), (MEBI, "MiB"), (KIBI, "KiB"), (1.0, "bytes")];
const DECIMAL_RATES: [Unit; 4] = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")];
const BINARY_RATES: [Unit; 4] = [(GIBI, "GiB/s"), (MEBI, "MiB/s"), (KIBI, "KiB/s"), (1.0, "B/s")];

/// Of the whole program, as its console is: sentences are made in too many places to hand it on.
static CHOSEN: OnceLock<Units> = OnceLock::new();

thread_local! {
    /// Stronger than what was chosen, while a document is made.
    static HELD: Cell<Option<Units>> = const { Cell::new(None) };
}

/// The first choice stays: a program has one console.
pub fn choose(units: Units) {
    CHOSEN.get_or_init(|| units);
}

/// What is made for a document or a stored run.
pub fn in_decimal<Made>(make: impl FnOnce() -> Made) -> Made {
    holding(Units::Decimal, make)
}

pub(crate) fn holding<Made>(units: Units, make: impl FnOnce() -> Made) -> Made {
    struct Restore(Option<Units>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HELD.set(self.0);
        }
    }
    let _restore = Restore(HELD.replace(Some(units)));
    make()
}

fn current() -> Units {
    HELD.get().or(CHOSEN.get().copied()).unwrap_or_default()
}

pub(crate) fn amounts() -> [Unit; 6] {
    match current() {
        Units::Decimal => DECIMAL_AMOUNTS,
        Units::Binary => BINARY_AMOUNTS,
    }
}

pub(crate) fn rates() -> [Unit; 4] {
    match current() {
        Units::Decimal => DECIMAL_RATES,
        Units::Binary => BINARY_RATES,
    }
}
