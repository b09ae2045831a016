//! The finding of cache influence.

use crate::estimate::Estimate;
use crate::target::Caveat;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::convert::Infallible;

concludes! {
    CacheInfluence(it): Infallible => Estimate::exact(it.reasons.len() as f64);
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheInfluence {
    pub reasons: Vec<CacheSign>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Serialize for CacheSign {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_struct("CacheSign", 2)?;
        parts.serialize_field("name", self.name())?;
        parts.serialize_field("statement", self.statement())?;
        parts.end()
    }
}
