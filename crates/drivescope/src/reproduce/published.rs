//! The figures of the articles. Each file says in its head what was measured on what.

use std::collections::BTreeMap;

pub const PARTITIONS: &str = include_str!("../../data/articles/partitions.csv");
pub const THREADS: &str = include_str!("../../data/articles/threads.csv");
pub const FULL_PASS: &str = include_str!("../../data/articles/full_pass.csv");
pub const AREAS: &str = include_str!("../../data/articles/areas.csv");
pub const SUSTAINED_WRITE: &str = include_str!("../../data/articles/sustained_write.csv");
pub const VALLEYS: &str = include_str!("../../data/articles/valleys.csv");

/// A line of names, then lines of a word and values; lines that begin with `#` are comments.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    rows: BTreeMap<&'static str, usize>,
    columns: BTreeMap<&'static str, Vec<f64>>,
    len: usize,
}

impl Figures {
    pub fn read(text: &'static str) -> Figures {
        let mut figures = Figures::default();
        let mut names: Vec<&str> = Vec::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split(',').collect();
            if line.starts_with('#') {
                continue;
            } else if names.is_empty() {
                names = fields;
                continue;
            }
            figures.rows.entry(fields[0]).or_insert(figures.len);
            for (name, field) in names.iter().zip(fields) {
                figures.columns.entry(name).or_default().push(field.parse().unwrap_or(f64::NAN));
            }
            figures.len += 1;
        }
        figures
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn number(&self, row: usize, column: &str) -> f64 {
        self.columns[column][row]
    }

    pub fn number_of(&self, word: &str, column: &str) -> f64 {
        self.number(self.rows[word], column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_a_number() {
        for text in [PARTITIONS, THREADS, FULL_PASS, AREAS, SUSTAINED_WRITE, VALLEYS] {
            assert!(text.starts_with("# "));
            let figures = Figures::read(text);
            let header = text.lines().find(|line| !line.starts_with('#')).unwrap();
            for column in header.split(',').skip(1) {
                assert_eq!(figures.columns[column].len(), figures.len());
                assert!((0..figures.len()).all(|row| !figures.number(row, column).is_nan()), "{column}");
            }
        }
        assert_eq!(Figures::read(PARTITIONS).number(0, "block_read_kps"), 145_385.0);
        assert_eq!(Figures::read(SUSTAINED_WRITE).number_of("smr", "bytes_before_fall_gb"), 23.0);
    }
}
