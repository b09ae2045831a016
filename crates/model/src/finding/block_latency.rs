//! The finding of block latency.

use super::{Conclusion, Value};
use crate::estimate::Estimate;
use crate::latency_map::{LatencyClass, LatencyMap};
use crate::range::ByteRange;
use crate::request::Operation;
use serde::Serialize;
use std::convert::Infallible;

/// Requests of a pass over every block by latency class, with a map for each operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockLatency {
    pub classes: Vec<ClassCount>,
    pub maps: Vec<OperationMap>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassCount {
    #[serde(rename = "name")]
    pub class: LatencyClass,
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationMap {
    pub operation: Operation,
    #[serde(flatten)]
    pub map: LatencyMap,
}

impl BlockLatency {
    pub fn count(&self, class: LatencyClass) -> u64 {
        self.classes.iter().filter(|counted| counted.class == class).map(|counted| counted.count).sum()
    }
}

impl Conclusion for BlockLatency {
    type Unknown = Infallible;

    fn value(&self) -> Value {
        let late = self.count(LatencyClass::Slower) + self.count(LatencyClass::Failed);
        Value::Number(Estimate::exact(late as f64))
    }

    fn places(&self) -> Vec<ByteRange> {
        self.maps.iter().map(|map| map.map.range()).collect()
    }
}
