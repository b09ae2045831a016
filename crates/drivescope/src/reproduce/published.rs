//! What the articles published, as data that comes with the program. Each file says in its head what was measured on
//! what.

/// Article A.
pub const PARTITIONS: &str = include_str!("../../data/articles/partitions.csv");
/// Article B.
pub const THREADS: &str = include_str!("../../data/articles/threads.csv");
/// Article C, the whole disk.
pub const FULL_PASS: &str = include_str!("../../data/articles/full_pass.csv");
/// Article C, areas.
pub const AREAS: &str = include_str!("../../data/articles/areas.csv");
/// Article D.
pub const SUSTAINED_WRITE: &str = include_str!("../../data/articles/sustained_write.csv");
/// Article E.
pub const VALLEYS: &str = include_str!("../../data/articles/valleys.csv");

/// A table of figures: a line of names, then lines of values; lines that begin with `#` are for people.
#[derive(Clone, Debug)]
pub struct Figures {
    columns: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Figures {
    /// Reads the text of a file that comes with the program.
    pub fn read(text: &'static str) -> Figures {
        let mut lines =
            text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect());
        let columns = lines.next().unwrap_or_default();
        Figures { columns, rows: lines.collect() }
    }

    /// How many lines of values there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A number of the line with that index.
    pub fn number(&self, row: usize, column: &str) -> f64 {
        let index = self.columns.iter().position(|name| *name == column);
        let cell = index.and_then(|index| self.rows.get(row)?.get(index));
        cell.and_then(|cell| cell.parse().ok()).expect("the figures that come with the program are complete")
    }

    /// A number of the first line that begins with that word.
    pub fn number_of(&self, word: &str, column: &str) -> f64 {
        let row = self.rows.iter().position(|row| row.first() == Some(&word));
        self.number(row.expect("the figures that come with the program are complete"), column)
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
            for row in 0..figures.len() {
                assert_eq!(figures.rows[row].len(), figures.columns.len());
                for column in &figures.columns[1..] {
                    figures.number(row, column);
                }
            }
        }
        assert_eq!(Figures::read(PARTITIONS).number(0, "block_read_kps"), 145_385.0);
        assert_eq!(Figures::read(SUSTAINED_WRITE).number_of("smr", "bytes_before_fall_gb"), 23.0);
    }
}
