//! What is wrong with a description of a drive: which key, and why.

use std::fmt;

/// A key of a profile that cannot be as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where, from the section on that was checked: `zones.3.cylinders`. Empty for the section itself.
    pub key: String,
    /// Why it cannot be: a sentence without its full stop.
    pub reason: String,
}

impl Flaw {
    /// A flaw of that key.
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> Flaw {
        Flaw { key: key.into(), reason: reason.into() }
    }

    /// The same flaw, seen from the section around it.
    #[must_use]
    pub fn within(self, section: &str) -> Flaw {
        let key = if self.key.is_empty() { section.to_string() } else { format!("{section}.{}", self.key) };
        Flaw { key, reason: self.reason }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_grows_outwards() {
        let flaw = Flaw::new("cylinders", "there are none").within("zones.3").within("disk");
        assert_eq!(flaw.to_string(), "disk.zones.3.cylinders: there are none");
        assert_eq!(Flaw::new("", "is empty").within("disk").to_string(), "disk: is empty");
    }
}
