//! A share of a whole.

use crate::quantity_text::{QuantityError, parse_share, share_text};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A share in [0, 1], typed in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "f64")]
pub struct Share(f64);

impl Share {
    /// A share; none for a number outside [0, 1].
    pub fn new(share: f64) -> Option<Share> {
        if (0.0..=1.0).contains(&share) { Some(Share(share)) } else { None }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Share {
    type Error = QuantityError;

    fn try_from(share: f64) -> Result<Share, QuantityError> {
        Share::new(share)
            .ok_or_else(|| QuantityError { text: share.to_string(), expected: "a share of 0 to 1" })
    }
}

impl FromStr for Share {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Share, QuantityError> {
        parse_share(text).map(Share)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&share_text(self.0))
    }
}
