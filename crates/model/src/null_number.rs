//! Numbers that a stored document may have as null.

use serde::{Deserialize, Deserializer};

/// A number that is not finite is written as null, which JSON has.
pub(crate) fn null_as_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

pub(crate) fn null_as_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or_default())
}
