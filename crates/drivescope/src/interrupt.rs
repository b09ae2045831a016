//! Ctrl-C and the wish to end: the first ends the run in good order, a second ends the program at once.

use crate::error::{UserError, exit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Set by the first of these signals. May be asked for more than once.
///
/// # Errors
/// When the system does not let us listen.
pub fn flag() -> Result<&'static AtomicBool, UserError> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if FLAG.get().is_none() {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the second signal finds the flag set and ends the program.
            let registered = signal_hook::flag::register_conditional_shutdown(
                signal,
                i32::from(exit::INTERRUPTED),
                Arc::clone(&flag),
            )
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
            registered
                .map_err(|error| UserError::failure(format!("cannot listen for signal {signal}: {error}")))?;
        }
        let _ = FLAG.set(flag);
    }
    Ok(FLAG.get().expect("the flag was just set"))
}
