//! What a target holds, as far as it decides what a measurement means.

use super::Target;
use crate::error::IoError;

/// What was seen of the content; none where the system does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentProbe {
    /// The share of it that is in the page cache, in [0, 1].
    pub in_page_cache: Option<f64>,
    /// The share that is holes, in [0, 1].
    pub holes: Option<f64>,
    /// The share that is reserved but was never written, in [0, 1].
    pub unwritten: Option<f64>,
    /// The size after compression over the size before, estimated, in [0, 1].
    pub compressed_ratio: Option<f64>,
    /// The share of the blocks looked at that hold only zeroes, in [0, 1].
    pub zero_blocks: Option<f64>,
    /// The caveats that follow.
    pub caveats: Vec<model::target::Caveat>,
}

/// Looks at what the target holds.
pub fn probe_content(_target: &Target) -> Result<ContentProbe, IoError> {
    Ok(ContentProbe::default())
}
