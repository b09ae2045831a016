//! The fuzzer: libFuzzer's loop around the one target that `DRIVESCOPE_FUZZ_TARGET` names. `cargo xtask fuzz` builds and starts it.
#![no_main]
#![forbid(unsafe_code)]

use fuzz::{Target, target};
use std::sync::OnceLock;

/// The variable that names the target: libFuzzer has the arguments for itself.
const VARIABLE: &str = "DRIVESCOPE_FUZZ_TARGET";

static CHOSEN: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let chosen = CHOSEN.get_or_init(|| {
        let name = std::env::var(VARIABLE).unwrap_or_default();
        let Some(target) = target(&name) else {
            panic!("{VARIABLE} is '{name}', and there is no such target");
        };
        target
    });
    (chosen.read)(bytes);
});
