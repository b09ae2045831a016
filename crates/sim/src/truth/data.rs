//! The details of a truth, one type for each shape. Their names are keys of `drivescope.truth/1`; they share no code
//! with the findings of `model`, since what scores a detector must not be made of it.

use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum TruthData {
    Access {
        rotation_s: f64,
        overhead_s: f64,
    },
    BandZones {
        zones: Vec<Region>,
    },
    Corruption {
        regions: Vec<CorruptRegion>,
    },
    Cure {
        block_bytes: u64,
    },
    Levels {
        #[serde(flatten)]
        cliff: Cliff,
        levels: Vec<Level>,
    },
    Limit {
        by: &'static str,
        credit: f64,
        refill_s: f64,
    },
    Link {
        link: String,
        bytes: u64,
    },
    Lost {
        requests: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        at_s: Option<f64>,
    },
    MediaCache {
        #[serde(flatten)]
        cliff: Cliff,
        media_cache_bytes: u64,
    },
    Members {
        kind: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        chunk_bytes: Option<u64>,
    },
    Passes {
        read: f64,
        write: f64,
    },
    Prefetch {
        streams: u64,
        keeps_delivered: bool,
    },
    Regions {
        regions: Vec<Region>,
    },
    Rotation {
        rpm: f64,
    },
    Stalls {
        interval_bytes: f64,
        width_s: f64,
        depth_ratio: f64,
        by: &'static str,
    },
    Tracks {
        sectors_per_track: Vec<TrackZone>,
        skew: f64,
        surfaces: u64,
    },
    Valleys {
        interval_s: f64,
        width_s_after_mixed_writes: f64,
        depth_ratio: f64,
        by: &'static str,
    },
    Zones {
        zones: Vec<RateZone>,
    },
    #[default]
    #[serde(serialize_with = "no_details")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, ()>"))]
    None,
}

fn no_details<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serde::ser::SerializeMap::end(serializer.serialize_map(Some(0))?)
}

impl TruthData {
    pub fn cliff(&self) -> Option<Cliff> {
        match self {
            TruthData::Levels { cliff, .. } | TruthData::MediaCache { cliff, .. } => Some(*cliff),
            _ => None,
        }
    }

    pub fn zones(&self) -> &[RateZone] {
        if let TruthData::Zones { zones } = self { zones } else { &[] }
    }

    pub fn tracks(&self) -> &[TrackZone] {
        if let TruthData::Tracks { sectors_per_track, .. } = self { sectors_per_track } else { &[] }
    }

    pub fn regions(&self) -> &[Region] {
        if let TruthData::Regions { regions } = self { regions } else { &[] }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cliff {
    pub before: f64,
    pub after: f64,
    pub ratio: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    pub from_bytes: f64,
    pub bytes_per_second: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Region {
    pub first_byte: u64,
    pub bytes: u64,
}

/// One block of every `every_blocks` is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorruptRegion {
    pub first_byte: u64,
    pub bytes: u64,
    pub blocks: u64,
    pub every_blocks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateZone {
    pub first_byte: u64,
    pub bytes: u64,
    pub bytes_per_second: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrackZone {
    pub first_byte: u64,
    pub sectors: Vec<u32>,
}

impl Cliff {
    pub(super) fn new(before: f64, after: f64) -> Cliff {
        Cliff { before, after, ratio: after / before }
    }
}
