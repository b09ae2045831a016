//! Words of a command line that people paste into a shell.

/// A word as a shell reads it back. Ranges, lists and names of virtual drives stay plain.
pub fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-:%@+=,".contains(c));
    if plain { word.to_string() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_quote_can_be_pasted() {
        assert_eq!(quoted("/mnt/disk-4tb"), "/mnt/disk-4tb");
        assert_eq!(quoted("/mnt/it's"), r"'/mnt/it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
