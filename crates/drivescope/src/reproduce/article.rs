//! The articles, and what came of repeating one.

use super::figure::{Figure, Table};
use report::chart::Chart;

/// Of all randomness, so that the page is the same each time.
pub const SEED: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Article {
    /// Outer against inner tracks of a hard disk (2011).
    A,
    /// Speed of random reads against the number of threads (2008).
    B,
    /// Basic performance of a hard disk before the system goes on (2012).
    C,
    /// Are hard disks with shingled tracks and SSDs alike? (2021).
    D,
    /// Valleys in the sequential writes of an Intel X25-M (2009).
    E,
}

impl Article {
    pub const ALL: [Article; 5] = [Article::A, Article::B, Article::C, Article::D, Article::E];

    pub fn letter(self) -> &'static str {
        match self {
            Article::A => "A",
            Article::B => "B",
            Article::C => "C",
            Article::D => "D",
            Article::E => "E",
        }
    }

    pub fn from_letter(letter: &str) -> Option<Article> {
        Article::ALL.into_iter().find(|article| article.letter().eq_ignore_ascii_case(letter))
    }
}

#[derive(Clone, Debug)]
pub struct Reproduction {
    pub article: Article,
    pub(super) title: &'static str,
    pub(super) setting: String,
    pub(super) tables: Vec<Table>,
    pub(super) pictures: Vec<Chart>,
    pub(super) conclusion: String,
}

impl Reproduction {
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.tables.iter().flat_map(|table| &table.figures)
    }
}
