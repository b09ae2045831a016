//! Key `phases[].workload`: everything about a workload, so that the phase can be run again from the document.

use super::{DocumentError, known, needed};
use model::payload::Mark;
use model::range::ByteRange;
use model::units::{Bytes, Offset};
use model::workload::{
    Arrival, BlockSizes, Caching, DataPattern, OperationMix, Pattern, Spacing, Workload, ZoneShare,
};
use serde::{Deserialize, Serialize};

/// A workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadDocument {
    /// Nothing outside is touched.
    pub range: RangeDocument,
    /// Where in the range requests go.
    pub pattern: PatternDocument,
    /// How large they are; the shares add up to 1.
    pub block_sizes: Vec<BlockSizeDocument>,
    /// Offsets are multiples of this.
    pub alignment_bytes: u64,
    /// How many of them read.
    pub mix: MixDocument,
    /// What is written.
    pub data: DataDocument,
    /// Requests under way in each thread.
    pub queue_depth: u32,
    /// Threads.
    pub threads: u32,
    /// When requests arrive.
    pub arrival: ArrivalDocument,
    /// `direct` or `buffered`.
    pub caching: String,
}

/// A stretch of the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RangeDocument {
    /// Where it begins.
    pub first_byte: u64,
    /// How long it is.
    pub bytes: u64,
}

/// Where requests go. Beside `kind` there are only the keys that the kind needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatternDocument {
    /// `sequential`, `random-once`, `random-with-replacement`, `strided`, `zoned`, `mixed` or `listed`.
    pub kind: String,
    /// Of `strided`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride_bytes: Option<u64>,
    /// Of `zoned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<ZoneDocument>>,
    /// Of `mixed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_share: Option<f64>,
    /// Of `listed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offsets_bytes: Option<Vec<u64>>,
}

/// A part of the range and its part of the traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZoneDocument {
    /// In [0, 1].
    #[serde(deserialize_with = "super::null_as_nan")]
    pub share_of_range: f64,
    /// In [0, 1].
    #[serde(deserialize_with = "super::null_as_nan")]
    pub share_of_requests: f64,
}

/// A block size and how often it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockSizeDocument {
    /// The size.
    pub bytes: u64,
    /// In [0, 1].
    #[serde(deserialize_with = "super::null_as_nan")]
    pub share: f64,
}

/// What requests do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixDocument {
    /// `read`, `write`, `discard` or `read-write`.
    pub kind: String,
    /// Of `read-write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_share: Option<f64>,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataDocument {
    /// `incompressible`, `marked`, `zero` or `given`.
    pub kind: String,
    /// Of `given`: two hexadecimal digits for each byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hexadecimal: Option<String>,
    /// Of `marked`: the key of the run, and how manyth write it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u64>,
    /// See `key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
}

/// When requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrivalDocument {
    /// `closed-loop` or `open-loop`.
    pub kind: String,
    /// Of `open-loop`: over all threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<f64>,
    /// Of `open-loop`: `even` or `poisson`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spacing: Option<String>,
}

impl WorkloadDocument {
    pub(super) fn of(workload: &Workload) -> WorkloadDocument {
        let block_size = |(size, share): &(Bytes, f64)| BlockSizeDocument { bytes: size.0, share: *share };
        WorkloadDocument {
            range: RangeDocument { first_byte: workload.range.first().0, bytes: workload.range.bytes().0 },
            pattern: PatternDocument::of(&workload.pattern),
            block_sizes: workload.block_sizes.parts().iter().map(block_size).collect(),
            alignment_bytes: workload.alignment.0,
            mix: MixDocument::of(workload.mix),
            data: DataDocument::of(&workload.data),
            queue_depth: workload.queue_depth,
            threads: workload.threads,
            arrival: ArrivalDocument::of(workload.arrival),
            caching: caching_name(workload.caching).into(),
        }
    }

    pub(super) fn into_model(self, key: &str) -> Result<Workload, DocumentError> {
        let range =
            ByteRange::new(Offset(self.range.first_byte), Bytes(self.range.bytes)).ok_or_else(|| {
                DocumentError::Value {
                    key: format!("{key}.range"),
                    value: format!("{} bytes from byte {}", self.range.bytes, self.range.first_byte),
                    problem: "which ends past 64 bits",
                }
            })?;
        let parts = self.block_sizes.iter().map(|part| (Bytes(part.bytes), part.share)).collect();
        let block_sizes = BlockSizes::mix(parts).map_err(|_| DocumentError::Value {
            key: format!("{key}.block_sizes"),
            value: format!("{:?}", self.block_sizes),
            problem: "whose shares do not add up to 1",
        })?;
        Ok(Workload {
            range,
            pattern: self.pattern.into_model(&format!("{key}.pattern"))?,
            block_sizes,
            alignment: Bytes(self.alignment_bytes),
            mix: self.mix.into_model(&format!("{key}.mix"))?,
            data: self.data.into_model(&format!("{key}.data"))?,
            queue_depth: self.queue_depth,
            threads: self.threads,
            arrival: self.arrival.into_model(&format!("{key}.arrival"))?,
            caching: known(&format!("{key}.caching"), &self.caching, |name| {
                [Caching::Direct, Caching::Buffered]
                    .into_iter()
                    .find(|caching| caching_name(*caching) == name)
            })?,
        })
    }
}

fn caching_name(caching: Caching) -> &'static str {
    match caching {
        Caching::Direct => "direct",
        Caching::Buffered => "buffered",
    }
}

impl PatternDocument {
    fn of(pattern: &Pattern) -> PatternDocument {
        let kind = PatternDocument { kind: pattern.name().into(), ..PatternDocument::default() };
        match pattern {
            Pattern::Sequential | Pattern::RandomOnce | Pattern::RandomWithReplacement => kind,
            Pattern::Strided { stride } => PatternDocument { stride_bytes: Some(stride.0), ..kind },
            Pattern::Zoned { zones } => {
                let zone = |zone: &ZoneShare| ZoneDocument {
                    share_of_range: zone.share_of_range,
                    share_of_requests: zone.share_of_requests,
                };
                PatternDocument { zones: Some(zones.iter().map(zone).collect()), ..kind }
            }
            Pattern::Mixed { random_share } => PatternDocument { random_share: Some(*random_share), ..kind },
            Pattern::Listed { offsets } => {
                let offsets = offsets.iter().map(|offset| offset.0).collect();
                PatternDocument { offsets_bytes: Some(offsets), ..kind }
            }
        }
    }

    fn into_model(self, key: &str) -> Result<Pattern, DocumentError> {
        let zone = |zone: ZoneDocument| ZoneShare {
            share_of_range: zone.share_of_range,
            share_of_requests: zone.share_of_requests,
        };
        Ok(match self.kind.as_str() {
            "sequential" => Pattern::Sequential,
            "random-once" => Pattern::RandomOnce,
            "random-with-replacement" => Pattern::RandomWithReplacement,
            "strided" => {
                Pattern::Strided { stride: Bytes(needed(self.stride_bytes, format!("{key}.stride_bytes"))?) }
            }
            "zoned" => {
                let zones = needed(self.zones, format!("{key}.zones"))?;
                Pattern::Zoned { zones: zones.into_iter().map(zone).collect() }
            }
            "mixed" => {
                Pattern::Mixed { random_share: needed(self.random_share, format!("{key}.random_share"))? }
            }
            "listed" => {
                let offsets = needed(self.offsets_bytes, format!("{key}.offsets_bytes"))?;
                Pattern::Listed { offsets: offsets.into_iter().map(Offset).collect() }
            }
            other => known(&format!("{key}.kind"), other, |_| None)?,
        })
    }
}

impl MixDocument {
    fn of(mix: OperationMix) -> MixDocument {
        let (kind, read_share) = match mix {
            OperationMix::Read => ("read", None),
            OperationMix::Write => ("write", None),
            OperationMix::Discard => ("discard", None),
            OperationMix::ReadWrite { read_share } => ("read-write", Some(read_share)),
        };
        MixDocument { kind: kind.into(), read_share }
    }

    fn into_model(self, key: &str) -> Result<OperationMix, DocumentError> {
        Ok(match self.kind.as_str() {
            "read" => OperationMix::Read,
            "write" => OperationMix::Write,
            "discard" => OperationMix::Discard,
            "read-write" => {
                OperationMix::ReadWrite { read_share: needed(self.read_share, format!("{key}.read_share"))? }
            }
            other => known(&format!("{key}.kind"), other, |_| None)?,
        })
    }
}

impl DataDocument {
    fn of(data: &DataPattern) -> DataDocument {
        let plain =
            |kind: &str| DataDocument { kind: kind.into(), hexadecimal: None, key: None, generation: None };
        match data {
            DataPattern::Incompressible => plain("incompressible"),
            DataPattern::Marked(mark) => {
                DataDocument { key: Some(mark.key), generation: Some(mark.generation), ..plain("marked") }
            }
            DataPattern::Zero => plain("zero"),
            DataPattern::Given(bytes) => {
                let hexadecimal = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                DataDocument { hexadecimal: Some(hexadecimal), ..plain("given") }
            }
        }
    }

    fn into_model(self, key: &str) -> Result<DataPattern, DocumentError> {
        Ok(match self.kind.as_str() {
            "incompressible" => DataPattern::Incompressible,
            // Until version 0.1.0 there was one mark for a seed.
            "addressed" => DataPattern::Marked(Mark { key: 0, generation: 1 }),
            "marked" => DataPattern::Marked(Mark {
                key: needed(self.key, format!("{key}.key"))?,
                generation: needed(self.generation, format!("{key}.generation"))?,
            }),
            "zero" => DataPattern::Zero,
            "given" => {
                let key = format!("{key}.hexadecimal");
                let digits = needed(self.hexadecimal, key.clone())?;
                DataPattern::Given(bytes_of(&digits).ok_or(DocumentError::Value {
                    key,
                    value: format!("{digits:?}"),
                    problem: "which is not two hexadecimal digits for each byte",
                })?)
            }
            other => known(&format!("{key}.kind"), other, |_| None)?,
        })
    }
}

fn bytes_of(hexadecimal: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let pairs = hexadecimal.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

impl ArrivalDocument {
    fn of(arrival: Arrival) -> ArrivalDocument {
        match arrival {
            Arrival::ClosedLoop => {
                ArrivalDocument { kind: "closed-loop".into(), per_second: None, spacing: None }
            }
            Arrival::OpenLoop { per_second, spacing } => ArrivalDocument {
                kind: "open-loop".into(),
                per_second: Some(per_second),
                spacing: Some(spacing_name(spacing).into()),
            },
        }
    }

    fn into_model(self, key: &str) -> Result<Arrival, DocumentError> {
        Ok(match self.kind.as_str() {
            "closed-loop" => Arrival::ClosedLoop,
            "open-loop" => {
                let key = |name: &str| format!("{key}.{name}");
                let spacing = needed(self.spacing, key("spacing"))?;
                Arrival::OpenLoop {
                    per_second: needed(self.per_second, key("per_second"))?,
                    spacing: known(&key("spacing"), &spacing, |name| {
                        [Spacing::Even, Spacing::Poisson]
                            .into_iter()
                            .find(|spacing| spacing_name(*spacing) == name)
                    })?,
                }
            }
            other => known(&format!("{key}.kind"), other, |_| None)?,
        })
    }
}

fn spacing_name(spacing: Spacing) -> &'static str {
    match spacing {
        Spacing::Even => "even",
        Spacing::Poisson => "poisson",
    }
}
