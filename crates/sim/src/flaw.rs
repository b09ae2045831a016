//! What is wrong with a description of a drive: which key, and why.

/// A key of a profile that cannot be as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}{}{reason}", if key.is_empty() { "" } else { ": " })]
pub struct Flaw {
    /// From the section on that was checked: `zones.3.cylinders`. Empty for the section itself.
    pub key: String,
    pub reason: String,
}

impl Flaw {
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> Flaw {
        Flaw { key: key.into(), reason: reason.into() }
    }

    pub(crate) fn when(is_so: bool, key: impl Into<String>, reason: impl Into<String>) -> Result<(), Flaw> {
        if is_so { Err(Flaw::new(key, reason)) } else { Ok(()) }
    }
}

pub(crate) trait InSection {
    #[must_use]
    fn in_section(self, section: &str) -> Self;
}

impl InSection for Flaw {
    fn in_section(self, section: &str) -> Flaw {
        let key = if self.key.is_empty() { section.to_string() } else { format!("{section}.{}", self.key) };
        Flaw { key, reason: self.reason }
    }
}

impl<T> InSection for Result<T, Flaw> {
    fn in_section(self, section: &str) -> Result<T, Flaw> {
        self.map_err(|flaw| flaw.in_section(section))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_grows_outwards() {
        let flaw = Flaw::new("cylinders", "there are none").in_section("zones.3").in_section("disk");
        assert_eq!(flaw.to_string(), "disk.zones.3.cylinders: there are none");
        assert_eq!(Flaw::new("", "is empty").in_section("disk").to_string(), "disk: is empty");
        assert_eq!(Flaw::new("", "is empty").to_string(), "is empty");
    }
}
