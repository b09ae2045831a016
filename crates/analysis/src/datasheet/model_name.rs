//! How the model names that drives report are compared.

/// What may stand in front of a model: the maker, the translation layer of SCSI (`ATA`), or a seller.
const VENDOR_WORDS: [&str; 14] = [
    "APPLE", "ATA", "CRUCIAL", "HDD", "HGST", "HITACHI", "INTEL", "KINGSTON", "NVME", "SAMSUNG", "SEAGATE",
    "TOSHIBA", "WD", "WDC",
];

/// The name in capitals, with single spaces and without the vendor's words in front.
pub(super) fn normalised(model: &str) -> String {
    let capitals = model.to_ascii_uppercase();
    let words =
        capitals.split(|character: char| character.is_whitespace() || character == '_' || character == '\0');
    let words: Vec<&str> =
        words.filter(|word| !word.is_empty()).skip_while(|word| VENDOR_WORDS.contains(word)).collect();
    words.join(" ")
}

/// A model name with at most one `*`.
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
        let after = (!after.contains('*')).then(|| after.to_ascii_uppercase())?;
        Some(ModelPattern { before: normalised(before), after: Some(after) })
    }

    /// Whether a normalised name is meant.
    pub fn matches(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(self.before.as_str()) else {
            return false;
        };
        self.after.as_deref().map_or(rest.is_empty(), |after| rest.ends_with(after))
    }

    /// How many characters it fixes.
    pub fn specificity(&self) -> usize {
        self.before.len() + self.after.as_ref().map_or(0, String::len)
    }
}
