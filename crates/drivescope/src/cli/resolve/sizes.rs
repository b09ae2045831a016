//! What the options of `sizes` mean.

use super::super::args::{SizesArguments, SweepArguments};
use super::{Resolved, experiment, list, quoted};
use crate::error::UserError;
use crate::experiment::sizes::SizesWish;
use model::quantity_text::parse_size;

/// Reads the options of `sizes`.
///
/// # Errors
/// As [`super::check`].
pub fn sizes(arguments: &SizesArguments) -> Result<(Resolved, SizesWish), UserError> {
    let SizesArguments { experiment: typed, sweep, writing } = arguments;
    let usual = SizesWish::default();
    let sizes = list("--sizes", &sweep.sizes, |text| Ok(parse_size(text)?))?;
    let wish = SizesWish {
        sizes: if sizes.is_empty() { usual.sizes } else { sizes },
        depths: if sweep.depths.is_empty() { usual.depths } else { sweep.depths.clone() },
        rounds: sweep.rounds.unwrap_or(usual.rounds),
    };
    Ok((experiment("sizes", &words(sweep), typed, Some(writing))?, wish))
}

/// The words that ask for it again.
fn words(sweep: &SweepArguments) -> Vec<String> {
    let depths: Vec<String> = sweep.depths.iter().map(u32::to_string).collect();
    let mut words = Vec::new();
    for (name, typed) in [("--sizes", &sweep.sizes), ("--depths", &depths)] {
        if !typed.is_empty() {
            words.extend([name.to_string(), quoted(&typed.join(","))]);
        }
    }
    words.extend(sweep.rounds.into_iter().flat_map(|rounds| ["--rounds".to_string(), rounds.to_string()]));
    words
}
