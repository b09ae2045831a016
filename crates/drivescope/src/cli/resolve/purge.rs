//! What the options of `purge` mean.

use super::super::args::PurgeArguments;
use super::{Resolved, consent, quoted, random_seed};
use crate::error::UserError;
use crate::target_choice::Choice;
use io::rig::EngineOptions;
use io::target::SCRATCH_SIZE_MIN;
use io::target::purge::PurgeMethod;
use std::path::Path;

/// Reads the options of `purge`, and the method that was asked for.
///
/// # Errors
/// When the target is none that can be purged.
pub fn purge(arguments: &PurgeArguments) -> Result<(Resolved, Option<PurgeMethod>), UserError> {
    let PurgeArguments { target, method, dry_run: _, writing, output: _ } = arguments;
    if target.starts_with("sim:") {
        return Err(UserError::usage(
            "a virtual drive begins anew with each run, so a purge would be lost. Within a run it is a step of a plan: \
             kind = \"purge\", do = \"discard\" (docs/patterns.md)",
        ));
    }
    if writing.preserve {
        return Err(UserError::usage("a purge is there to lose what is on the drive. Leave --preserve out"));
    }
    if Path::new(target).is_dir() {
        return Err(UserError::usage(format!(
            "{target} is a folder. Name a drive to purge; `drivescope list` shows them"
        )));
    }
    let method = method.map(|method| method.method());
    let mut words = vec!["drivescope".to_string(), "purge".into(), quoted(target)];
    if let Some(method) = method {
        words.extend(["--method".into(), method.name().into()]);
    }
    words.extend(writing.write.then(|| "--write".into()));
    words.extend(writing.destroy_data.then(|| "--destroy-data".into()));
    if let Some(confirm) = &writing.confirm {
        words.extend(["--confirm".into(), quoted(confirm)]);
    }
    let choice = Choice {
        target: target.clone(),
        write: consent(writing),
        preserve: None,
        is_only_planned: false,
        size_max: SCRATCH_SIZE_MIN,
        range: None,
        engine: EngineOptions::default(),
        seed: random_seed(),
    };
    Ok((Resolved { choice, time_limit: None, precision: None, command: words.join(" ") }, method))
}
