//! Bytes as two hexadecimal digits each, for `#[serde(with = …)]`.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        digits.push_str(&format!("{byte:02x}"));
    }
    serializer.serialize_str(&digits)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let expected = "two hexadecimal digits for each byte";
    bytes_of(&digits).ok_or(Error::invalid_value(Unexpected::Str(&digits), &expected))
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    for pair in digits.as_bytes().chunks(2) {
        let [high, low] = *pair else { return None };
        bytes.push((char::from(high).to_digit(16)? << 4 | char::from(low).to_digit(16)?) as u8);
    }
    Some(bytes)
}
