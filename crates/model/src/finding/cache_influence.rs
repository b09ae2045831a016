//! The finding of cache influence.

use crate::estimate::Estimate;
use crate::target::Caveat;
use serde::Serialize;
use std::convert::Infallible;

concludes! {
    CacheInfluence(it): Infallible => Estimate::exact(it.reasons.len() as f64);
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheInfluence {
    pub reasons: Vec<CacheSign>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "SignDocument")]
pub enum CacheSign {
    Target(Caveat),
    /// The median of random reads at queue depth 1, in seconds.
    FasterThanDisk {
        median_s: f64,
    },
    FasterThanFlash {
        median_s: f64,
    },
    /// Reads outrun the link; both rates in bytes per second.
    FasterThanLink {
        read: f64,
        link: f64,
    },
}

impl CacheSign {
    pub fn name(self) -> &'static str {
        match self {
            CacheSign::Target(caveat) => caveat.name(),
            CacheSign::FasterThanDisk { .. } => "faster-than-a-disk",
            CacheSign::FasterThanFlash { .. } => "faster-than-flash",
            CacheSign::FasterThanLink { .. } => "faster-than-the-link",
        }
    }

    fn statement(self) -> &'static str {
        match self {
            CacheSign::Target(caveat) => caveat.statement(),
            CacheSign::FasterThanDisk { .. } => "Random reads complete faster than on any disk.",
            CacheSign::FasterThanFlash { .. } => "Random reads complete faster than flash can be read.",
            CacheSign::FasterThanLink { .. } => "Reads run faster than the link.",
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SignDocument {
    name: &'static str,
    statement: &'static str,
}

impl From<CacheSign> for SignDocument {
    fn from(sign: CacheSign) -> SignDocument {
        SignDocument { name: sign.name(), statement: sign.statement() }
    }
}
