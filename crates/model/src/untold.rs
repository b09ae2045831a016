//! Why a system did not tell something about a phase, kept with the run under `unknown` where the answer would stand.

use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

/// What the system answered instead, in the words of the error: it is shown, never read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Untold(String);

impl Untold {
    pub fn new(why: impl Into<String>) -> Untold {
        Untold(why.into())
    }
}

impl fmt::Display for Untold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for Untold {}

/// The keys of an answer, or of none, beside `unknown`.
pub(crate) mod keys {
    use super::Untold;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub(crate) struct Keys<T> {
        unknown: Option<Untold>,
        #[serde(flatten)]
        told: T,
    }

    pub(crate) fn serialize<T: Clone + Default + Serialize, S: Serializer>(
        answer: &Option<Result<T, Untold>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let keys = match answer {
            None => None,
            Some(Ok(told)) => Some(Keys { unknown: None, told: told.clone() }),
            Some(Err(why)) => Some(Keys { unknown: Some(why.clone()), told: T::default() }),
        };
        keys.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Result<T, Untold>>, D::Error> {
        Ok(match Option::<Keys<T>>::deserialize(deserializer)? {
            None => None,
            Some(Keys { unknown: Some(why), .. }) => Some(Err(why)),
            Some(Keys { unknown: None, told }) => Some(Ok(told)),
        })
    }
}
