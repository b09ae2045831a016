//! How the model names that drives report are compared.

/// What may stand in front of a model: the maker, the translation layer of SCSI (`ATA`), or a seller.
const VENDOR_WORDS: [&str; 14] = [
    "APPLE", "ATA", "CRUCIAL", "HDD", "HGST", "HITACHI", "INTEL", "KINGSTON", "NVME", "SAMSUNG", "SEAGATE",
    "TOSHIBA", "WD", "WDC",
];

pub(super) fn normalised(model: &str) -> String {
    let capitals = model.to_ascii_uppercase();
    let mut words: Vec<&str> = Vec::new();
    for word in capitals.split(is_separator) {
        let is_vendor_in_front = words.is_empty() && VENDOR_WORDS.contains(&word);
        if !word.is_empty() && !is_vendor_in_front {
            words.push(word);
        }
    }
    words.join(" ")
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || character == '_' || character == '\0'
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelPattern {
    before: String,
    /// What must follow; nothing when the pattern is a whole name.
    after: Option<String>,
}

impl ModelPattern {
    /// Nothing for a pattern with two stars or more.
    pub fn new(pattern: &str) -> Option<Self> {
        let Some((before, after)) = pattern.split_once('*') else {
            return Some(ModelPattern { before: normalised(pattern), after: None });
        };
        if after.contains('*') {
            return None;
        }
        Some(ModelPattern { before: normalised(before), after: Some(after.to_ascii_uppercase()) })
    }

    pub fn matches(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(self.before.as_str()) else {
            return false;
        };
        match &self.after {
            Some(after) => rest.ends_with(after),
            None => rest.is_empty(),
        }
    }

    pub fn specificity(&self) -> usize {
        self.before.len() + self.after.as_ref().map_or(0, String::len)
    }
}
